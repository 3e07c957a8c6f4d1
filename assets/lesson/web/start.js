// SPDX-License-Identifier: Apache-2.0
// What is on the page comes to life, and keys.
document.querySelectorAll('figure.frames').forEach(figure => {
  const frames = [...figure.querySelectorAll('.frame')];
  const control = transport(figure, () => frames.length, at => frames.forEach((frame, i) => { frame.hidden = i !== at; }));
  figure.prepend(control.bar, control.scrub);
  control.set(+figure.dataset.now);
});
const kinds = {tiles, softmax, law, race};
document.querySelectorAll('figure.play').forEach(figure => kinds[figure.dataset.kind](figure, JSON.parse(document.getElementById(figure.dataset.source).textContent)));
document.querySelectorAll('figure').forEach(share);

addEventListener('keydown', event => {
  const target = event.target, kind = target.tagName === 'INPUT' ? target.type : target.tagName;
  if (event.ctrlKey || event.metaKey || event.altKey || /^(text|search|SELECT|TEXTAREA)$/.test(kind)) return;
  const native = /^(BUTTON|A|SUMMARY)$/.test(kind) ? /^( |Enter)$/ : kind === 'range' || kind === 'radio' ? /^(Arrow.*|Home|End|Page.*| )$/ : kind === 'checkbox' ? /^ $/ : kind === 'number' ? /^([0-9]|Arrow.*|Home|End|Tab|Backspace|Delete)$/ : /^$/;
  if (native.test(event.key)) return;
  // A digit beside a whole question is a count of hands.
  if (alone() && kind !== 'number' && /^[0-9]$/.test(event.key)) { alone().querySelector('.hands').focus(); return; }
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (questionKey(name)) { event.preventDefault(); return; }
  if (/^[0-9]$/.test(name)) { if (numbered(name)) location.hash = numbered(name).id; return; }
  const mine = players.filter(player => player.figure.closest('section').classList.contains('here'));
  const nearest = mine.find(player => player.figure.getBoundingClientRect().bottom > 80) || mine[0];
  const acts = {ArrowRight: () => nearest ? nearest.step(1) : go(1), ArrowLeft: () => nearest ? nearest.step(-1) : go(-1), ' ': () => nearest && nearest.toggle(),
                Enter: () => sections[here()].querySelector('.next a')?.click(), PageDown: () => go(1), PageUp: () => go(-1), l: toggleTheme, t: toggleBig};
  if (acts[name]) { event.preventDefault(); acts[name](); }
});
document.body.classList.add('ready');
// Where it was asked for, else where the reader was.
show(asked() || document.body.dataset.start || memory.page);
