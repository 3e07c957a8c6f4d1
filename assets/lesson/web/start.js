// SPDX-License-Identifier: Apache-2.0
// Sets up figures and keys, and shows the first page.
document.querySelectorAll('figure.frames').forEach(figure => {
  const frames = [...figure.querySelectorAll('.frame')];
  const control = playbackControls(figure, () => frames.length, at => frames.forEach((frame, i) => { frame.hidden = i !== at; }));
  figure.prepend(control.buttons, control.scrub);
  control.set(+figure.dataset.now);
});
const kinds = {tiles, softmax, law, race};
document.querySelectorAll('figure.play').forEach(figure => kinds[figure.dataset.kind](figure, JSON.parse(document.getElementById(figure.dataset.source).textContent)));
document.querySelectorAll('figure').forEach(addExportButtons);

addEventListener('keydown', event => {
  const target = event.target, kind = target.tagName === 'INPUT' ? target.type : target.tagName;
  if (event.ctrlKey || event.metaKey || event.altKey || /^(text|search|SELECT|TEXTAREA)$/.test(kind)) return;
  const native = /^(BUTTON|A|SUMMARY)$/.test(kind) ? /^( |Enter)$/ : kind === 'range' || kind === 'radio' ? /^(Arrow.*|Home|End|Page.*| )$/ : kind === 'checkbox' ? /^ $/ : kind === 'number' ? /^([0-9]|Arrow.*|Home|End|Tab|Backspace|Delete)$/ : /^$/;
  if (native.test(event.key)) return;
  // In full-screen mode a digit starts to enter a vote count.
  if (fullScreenQuestion() && kind !== 'number' && /^[0-9]$/.test(event.key)) { fullScreenQuestion().querySelector('.vote-count').focus(); return; }
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (handleQuestionKey(name)) { event.preventDefault(); return; }
  if (/^[0-9]$/.test(name)) { if (pageByNumber(name)) location.hash = pageByNumber(name).id; return; }
  const mine = players.filter(player => player.figure.closest('section').classList.contains('here'));
  const nearest = mine.find(player => player.figure.getBoundingClientRect().bottom > 80) || mine[0];
  const acts = {ArrowRight: () => nearest ? nearest.step(1) : turnPage(1), ArrowLeft: () => nearest ? nearest.step(-1) : turnPage(-1), ' ': () => nearest && nearest.toggle(),
                Enter: () => sections[currentIndex()].querySelector('.next a')?.click(), PageDown: () => turnPage(1), PageUp: () => turnPage(-1), l: toggleTheme, t: toggleBig};
  if (acts[name]) { event.preventDefault(); acts[name](); }
});
document.body.classList.add('ready');
// Shows the requested page, the exported start page or the last page visited.
showPage(requestedPage() || document.body.dataset.start || saved.page);
