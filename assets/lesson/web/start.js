// SPDX-License-Identifier: Apache-2.0
// Steps: maps scrolling and keys to states of the drawing, keeps the state in the address, and starts the page.
const steps = [...document.querySelectorAll('.step')];
const stops = [...steps, ...document.querySelectorAll('.claim, #results, #glossary')];
const links = [...document.querySelectorAll('nav a')];
const controlsBox = document.getElementById('controls');
const lastPage = saved.page;
let current = -1, view = currentView();
const stateNow = () => states[steps[current].dataset.state];
const caption = () => { document.getElementById('caption').textContent = stateNow().caption(view); };
const redraw = () => { if (current >= 0) { show(stateNow().draw(view)); caption(); } };
const resize = () => {
  view = currentView();
  root.setAttribute('viewBox', `0 0 ${view.w} ${view.h}`);
  if (current >= 0) show(stateNow().draw(view));
};
// "#race?n=8192": the step and the parameters of its state.
const writeAddress = () => {
  const stop = stops[currentStop], name = stop.dataset.step || stop.dataset.id || stop.id, values = currentStop < steps.length ? stateNow().keys.map(each => `${each}=${params[each]}`).join('&') : '';
  try { history.replaceState(null, '', `#${name}${values ? '?' + values : ''}`); } catch (ignored) { /* a sandboxed page */ }
  saved.page = name;
  saveState();
};
// Browsers limit how often the address may change.
let addressTimer = 0;
const rememberAddress = () => { clearTimeout(addressTimer); addressTimer = setTimeout(writeAddress, 200); };
const requested = () => {
  let address = location.hash.slice(1);
  try { address = decodeURIComponent(address); } catch (ignored) { /* malformed */ }
  const [name, query = ''] = address.split('?');
  return {name: name && document.querySelector(`section[data-number="${CSS.escape(name)}"]`)?.id || name,
          values: query.split('&').map(each => each.split('=')).filter(([parameter, value]) => parameter in params && Number.isFinite(+value))};
};
const setControls = () => {
  syncs.length = 0;
  const question = steps[current].dataset.question;
  controlsBox.replaceChildren(...(question ? [] : stateNow().controls()));
  document.querySelectorAll('#asked .question').forEach(box => { box.hidden = box.dataset.id !== question; });
  document.getElementById('drawing').classList.toggle('asks', !!question);
};
const setStep = (index, ms = 450) => {
  if (index === current) return;
  stopPlaying();
  const before = steps[current]?.dataset.state;
  current = index;
  if (steps[current].dataset.state !== before || ms === 0) stateNow().enter?.();
  steps.forEach((step, i) => step.classList.toggle('here', i === current));
  setControls();
  view = currentView();
  root.setAttribute('viewBox', `0 0 ${view.w} ${view.h}`);
  show(stateNow().draw(view), ms);
  root.setAttribute('aria-label', steps[current].innerText.slice(0, 200));
  caption();
  rememberAddress();
};
const showQuestion = box => { const index = steps.findIndex(step => step.dataset.question === box.dataset.id); if (index >= 0) goTo(index); };
const stepOf = name => {
  if (!name) return -1;
  const found = steps.findIndex(step => step.dataset.step === name);
  return found >= 0 ? found : stops.findIndex(stop => stop.id === name || stop.dataset.id === name || stop.closest('section').id === name);
};

// Scrolling selects the step nearest to the line of reading; a jump by key or link suspends that until it arrives.
let jumping = 0;
const lineOfReading = () => innerWidth <= 900 ? innerHeight * 0.74 : innerHeight * 0.52;
const middle = node => { const {top, height} = node.getBoundingClientRect(); return top + height / 2; };
// Claims may be shown one at a time: a hidden one replaces the others.
const unhide = stop => { if (stop.hidden) stops.filter(each => each.matches('.claim')).forEach(each => { each.hidden = each !== stop; }); };
const nearestStop = () => stops.reduce((best, stop, i) => !stop.hidden && Math.abs(middle(stop) - lineOfReading()) < Math.abs(middle(stops[best]) - lineOfReading()) ? i : best, 0);
let currentStop = 0;
// Speaker notes of the screen: in a window of their own, which the audience does not see; in a panel if the browser blocks it.
const speakerNotes = JSON.parse(document.getElementById('speaker-notes').textContent);
const notesPanel = document.getElementById('notes');
let notesWindow = null;
const showNotes = () => {
  if (notesPanel.hidden && !(notesWindow && !notesWindow.closed)) return;
  const section = stops[currentStop].closest('section'), [say, ask, answer, minutes] = speakerNotes[section.id] || [tr('no_notes'), '', '', ''];
  const html = `<h3>${section.querySelector('h2').innerHTML}</h3><p>${minutes}</p><p>${say}</p><p><em>${ask}</em></p><p>${answer}</p>`;
  notesPanel.innerHTML = html;
  if (notesWindow && !notesWindow.closed) notesWindow.document.body.innerHTML = html;
};
const toggleNotes = () => {
  const open = notesWindow && !notesWindow.closed;
  if (open) notesWindow.close();
  if (open || !notesPanel.hidden) { notesPanel.hidden = true; return; }
  notesWindow = window.open('', 'attnscope-notes', 'popup,width=560,height=420');
  notesPanel.hidden = !!notesWindow;
  if (notesWindow) {
    notesWindow.document.head.replaceChildren(make('title', {}, tr('notes')), document.querySelector('style').cloneNode(true));
    notesWindow.document.documentElement.dataset.theme = document.documentElement.dataset.theme;
    notesWindow.document.body.id = 'notes';
    notesWindow.addEventListener('keydown', event => document.body.dispatchEvent(new KeyboardEvent('keydown', {key: event.key, bubbles: true})));
  }
  showNotes();
};
const asked = document.getElementById('asked');
// All keys, on any screen.
const keysPanel = document.body.appendChild(make('aside', {id: 'keys', hidden: true}, make('h3', {}, tr('keys')), ...tr('keyboard').split(' · ').map(line => make('p', {}, line))));
const toggleKeys = () => { keysPanel.hidden = !keysPanel.hidden; };
const highlightLink = () => {
  showNotes();
  asked.hidden = currentStop >= steps.length && !fullScreenQuestion();
  links.forEach(link => link.classList.toggle('here', link.hash === `#${stops[currentStop].closest('section').id}`));
  const nav = document.querySelector('nav'), link = document.querySelector('nav .here');
  nav.scrollLeft = link.offsetLeft - nav.offsetLeft - nav.clientWidth / 3;
  rememberAddress();
};
const onScroll = () => {
  if (performance.now() < jumping) return;
  currentStop = nearestStop();
  if (currentStop < steps.length) setStep(currentStop);
  highlightLink();
};
const goTo = (index, smooth = true) => {
  currentStop = clamp(index, 0, stops.length - 1);
  jumping = performance.now() + 700;
  unhide(stops[currentStop]);
  const stop = stops[currentStop], target = stop.matches('.claim') ? stop.closest('section') : stop, {top, height} = target.getBoundingClientRect(), offset = currentStop < steps.length ? lineOfReading() - height / 2 : document.querySelector('header').offsetHeight;
  scrollTo({top: currentStop === 0 ? 0 : scrollY + top - offset, behavior: smooth && !reducedMotion.matches ? 'smooth' : 'instant'});
  if (currentStop < steps.length || current < 0) setStep(Math.min(currentStop, steps.length - 1), smooth ? 450 : 0);
  highlightLink();
};
addEventListener('scroll', onScroll, {passive: true});
addEventListener('resize', resize);
const openRequested = smooth => {
  const {name, values} = requested();
  for (const [parameter, value] of values) params[parameter] = +value;
  const index = stepOf(name);
  if (index < 0) return false;
  if (index === current) { redraw(); syncs.forEach(sync => sync()); }
  goTo(index, smooth);
  return true;
};
addEventListener('hashchange', () => { clearTimeout(addressTimer); if (fullScreenQuestion()) exitFullScreen(); openRequested(true); });
document.querySelectorAll('.language').forEach(link => link.addEventListener('click', () => { writeAddress(); link.hash = location.hash; }));

// Pictures of the drawing: PNG of 1600 x 900 on the clipboard.
const saveFile = (blob, name) => {
  const link = make('a', {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
const renderPng = () => {
  const picture = pictureView(1600, 900), canvas = make('canvas', {width: 1600, height: 900});
  paintCanvas(canvas, picture, stateNow().draw(picture), stateNow().caption(picture));
  return new Promise(done => canvas.toBlob(done, 'image/png'));
};
const pictureButtons = () => {
  const note = make('output'), report = async (act, key) => { try { await act(); note.textContent = tr(key); } catch (error) { note.textContent = `${tr('not_copied')} ${error.message}`; } };
  return make('span', {class: 'share'}, buttonTo(tr('copy_picture'), () => report(() => navigator.clipboard.write([new ClipboardItem({'image/png': renderPng()})]), 'copied'), {class: 'copy'}), ' ',
              buttonTo(tr('save_picture'), () => report(async () => saveFile(await renderPng(), `attnscope-${steps[current].dataset.state}.png`), 'saved'), {class: 'save'}), note);
};

addEventListener('keydown', event => {
  const target = event.target, kind = target.tagName === 'INPUT' ? target.type : target.tagName;
  if (event.ctrlKey || event.metaKey || event.altKey || /^(text|search|SELECT|TEXTAREA)$/.test(kind)) { if (event.key === 'Escape') target.blur(); return; }
  const native = /^(BUTTON|A|SUMMARY)$/.test(kind) ? /^( |Enter)$/ : kind === 'range' || kind === 'radio' ? /^(Arrow.*|Home|End| )$/ : kind === 'checkbox' ? /^ $/ : kind === 'number' ? /^([0-9]|Arrow.*|Home|End|Tab|Backspace|Delete)$/ : /^$/;
  if (native.test(event.key)) return;
  if (event.key === '?') { toggleKeys(); return; }
  if (event.key === 'Escape' && (/^(range|radio|checkbox|SELECT)$/.test(kind) || !keysPanel.hidden)) { target.blur(); keysPanel.hidden = true; return; }
  // In full-screen mode a digit starts to enter a vote count.
  if (fullScreenQuestion() && kind !== 'number' && /^[0-9]$/.test(event.key)) { fullScreenQuestion().querySelector('.vote-count').focus(); return; }
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (handleQuestionKey(name)) { event.preventDefault(); return; }
  if (name === 's') toggleNotes();
  if (name === 's' || fullScreenQuestion()) return;
  if (/^[0-9]$/.test(name)) { const section = document.querySelector(`section[data-number="${+name || 10}"]`); if (section) goTo(stepOf(section.id)); return; }
  const inLesson = currentStop < steps.length, forward = () => goTo(currentStop + 1), back = () => goTo(currentStop - 1);
  const acts = {ArrowRight: forward, ArrowLeft: back, PageDown: forward, PageUp: back, l: toggleTheme, t: toggleBig, h: toggleKeys, c: () => controlsBox.querySelector('input, select')?.focus(), ...(inLesson ? {ArrowDown: forward, ArrowUp: back, ' ': () => controlsBox.querySelector('.play')?.click()} : {})};
  if (acts[name]) { event.preventDefault(); acts[name](); }
});
// After a change by mouse, keyboard input goes to the page again.
let usingPointer = false;
addEventListener('pointerdown', () => { usingPointer = true; }, true);
addEventListener('keydown', () => { usingPointer = false; }, true);
addEventListener('change', event => { if (usingPointer && event.target.matches('select, input[type=range], input[type=radio]')) event.target.blur(); });
addEventListener('click', event => { if (event.detail > 0 && event.target.matches('button')) event.target.blur(); });
// A click shows what hovering shows: the meaning of a term, or the origin of a number.
const tip = document.body.appendChild(make('p', {id: 'tip', hidden: true, role: 'status'}));
addEventListener('click', event => {
  const term = event.target.closest?.('dfn, .v');
  tip.hidden = !term?.title;
  if (tip.hidden) return;
  tip.textContent = term.title;
  const {left, bottom} = term.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${bottom + tip.offsetHeight + 8 > innerHeight ? bottom - tip.offsetHeight - 34 : bottom + 6}px`;
});
addEventListener('scroll', () => { tip.hidden = true; }, {passive: true});
document.getElementById('foot').append(pictureButtons());
history.scrollRestoration = 'manual';
document.body.classList.add('ready');
// Shows the requested step, the exported start page or the last one visited.
if (!openRequested(false)) goTo(Math.max(0, stepOf(document.body.dataset.start || lastPage)), false);
