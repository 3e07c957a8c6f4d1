// SPDX-License-Identifier: Apache-2.0
// Questions and claims: chosen, locked, revealed; one alone on the screen with a tally of hands; what came of them.
const refreshers = [];
const wire = (box, reveal) => {
  const id = box.dataset.id;
  const inputs = [...box.querySelectorAll('input[type=radio]')];
  const [lock, open] = [box.querySelector('.lock'), box.querySelector('.reveal')];
  const refresh = () => {
    // A choice that a newer page has no more is none.
    if (answers[id]?.value && !inputs.some(input => input.value === answers[id].value)) delete answers[id];
    const state = answers[id] || {};
    inputs.forEach(input => {
      input.checked = input.value === state.value;
      input.disabled = !!state.locked;
      input.closest('.choice').classList.toggle('chosen', input.checked);
    });
    lock.disabled = !(state.value || [...box.querySelectorAll('.hands')].some(input => input.value)) || !!state.locked;
    open.disabled = !state.locked || !!state.revealed;
    const note = box.querySelector('output');
    if (note) note.textContent = state.locked && !state.revealed ? w('locked') : '';
    reveal(state);
  };
  const set = more => { answers[id] = {...answers[id], ...more}; keep(); refresh(); mark(); };
  inputs.forEach(input => input.addEventListener('change', () => set({value: input.value})));
  lock.addEventListener('click', () => set({locked: true}));
  open.addEventListener('click', () => set({revealed: true}));
  refresh();
  refreshers.push(refresh);
  return refresh;
};

// Hands that were raised for each choice, and what a room does with so many right.
const hands = (box, choices) => {
  const counts = choices.map(choice => choice.querySelector('.hands'));
  const note = box.querySelector('.vote');
  const tell = () => {
    const votes = counts.map(input => Math.max(0, Math.floor(+input.value) || 0));
    const all = votes.reduce((sum, each) => sum + each, 0);
    const right = votes[choices.findIndex(choice => choice.dataset.right === '1')];
    const share = 100 * right / all;
    const advice = share < 35 ? 'vote_hint' : share < 70 ? 'vote_discuss' : 'vote_on';
    const {locked, revealed} = answers[box.dataset.id] || {};
    // Before the answer is shown nobody is told which one so many chose.
    const more = revealed ? w('vote_right', {share: share.toFixed(0)}) : locked ? w(advice) : '';
    note.textContent = all === 0 ? '' : `${w('vote', {all})} ${more}`;
  };
  counts.forEach((input, i) => input.addEventListener('keydown', event => {
    if (!/^(Enter|Escape)$/.test(event.key)) return;
    event.stopPropagation();
    event.key === 'Enter' && counts[i + 1] ? counts[i + 1].focus() : input.blur();
  }));
  return tell;
};

const isRight = (box, {value}) => !!box.querySelector(`.choice[data-right="1"] input[value="${value}"]`);
const questions = [...document.querySelectorAll('.question')];
questions.forEach(box => {
  const choices = [...box.querySelectorAll('.choice')];
  const tell = hands(box, choices);
  const refresh = wire(box, state => {
    choices.forEach(choice => {
      const chosen = choice.querySelector('input').value === state.value;
      const right = choice.dataset.right === '1';
      choice.querySelector('.because').hidden = !state.revealed;
      choice.classList.toggle('is-right', !!state.revealed && right);
      choice.classList.toggle('is-wrong', !!state.revealed && chosen && !right);
    });
    if (state.revealed && state.value) box.querySelector('output').textContent = w(isRight(box, state) ? 'right' : 'wrong');
    tell();
  });
  box.querySelectorAll('.hands').forEach(input => input.addEventListener('input', refresh));
  box.querySelector('.alone').addEventListener('click', () => alone() === box ? leave() : askAlone(box));
});
document.querySelectorAll('.claim').forEach(box => wire(box, state => {
  box.querySelector('.verdict').hidden = !state.revealed;
  if (state.revealed) box.querySelector('.foreseen').textContent = w(state.value === box.dataset.outcome ? 'agreed' : 'disagreed');
}));

// One question on the whole screen.
const alone = () => document.querySelector('.question.now');
const leave = () => {
  document.querySelectorAll('[inert]').forEach(part => { part.inert = false; });
  alone()?.querySelectorAll('input[type=radio]').forEach(input => { input.tabIndex = 0; });
  alone()?.querySelector('.alone').replaceChildren(`${w('alone')} (Q)`);
  alone()?.classList.remove('now');
  document.body.classList.remove('asking');
};
const askAlone = box => {
  leave();
  if (!box) return;
  const page = box.closest('section');
  if (!page.classList.contains('here')) show(page.id);
  box.classList.add('now');
  box.querySelector('.alone').replaceChildren(w('leave'));
  // Letters choose: Tab goes from one count of hands to the next, and nowhere behind the question.
  [document.querySelector('header'), document.querySelector('footer'), ...page.children].forEach(part => { part.inert = part !== box; });
  box.querySelectorAll('input[type=radio]').forEach(input => { input.tabIndex = -1; });
  document.body.classList.add('asking');
};
shown.push(page => { if (alone() && alone().closest('section') !== page) leave(); });
// Keys go to the question of which the most is seen, if most of it is: it says so.
const seen = box => {
  const {top, bottom, height} = box.getBoundingClientRect();
  return height > 0 && !answers[box.dataset.id]?.revealed ? (Math.min(bottom, innerHeight) - Math.max(top, 0)) / height : 0;
};
const inSight = () => {
  if (alone()) return alone();
  const most = questions.reduce((best, box) => !best || seen(box) > seen(best) ? box : best, null);
  return most && seen(most) > 0.6 ? most : null;
};
const mark = () => { const keyed = inSight(); questions.forEach(box => box.classList.toggle('keyed', box === keyed)); };
addEventListener('scroll', mark, {passive: true});
shown.push(() => requestAnimationFrame(mark));
// A to F choose, Enter locks, reveals and goes on, H hints, Q asks on the whole screen. True where the key was one of them.
const questionKey = name => {
  const box = inSight();
  if (name === 'q') { alone() ? leave() : askAlone(box || questions.find(each => each.closest('section').classList.contains('here'))); return true; }
  if (name === 'Escape' && alone()) { leave(); return true; }
  if (!box) return false;
  const choice = 'abcdef'.indexOf(name);
  const inputs = [...box.querySelectorAll('input[type=radio]')];
  if (name.length === 1 && choice >= 0 && inputs[choice]) { if (!inputs[choice].disabled) inputs[choice].click(); return true; }
  const hint = box.querySelector('details');
  if (name === 'h' && hint) { hint.open = !hint.open; return true; }
  if (name !== 'Enter') return false;
  const next = [...box.querySelectorAll('.lock, .reveal')].find(button => !button.disabled);
  if (next) next.click();
  else if (alone() && answers[box.dataset.id]?.revealed) {
    const after = questions[questions.indexOf(box) + 1];
    askAlone(after && after.closest('section') === box.closest('section') ? after : null);
  }
  return true;
};

// What is asked, without where its numbers come from.
const prompt = node => {
  const copy = node.cloneNode(true);
  copy.querySelectorAll('small').forEach(origin => origin.remove());
  return copy.textContent;
};
const results = () => {
  const table = document.getElementById('result-table');
  table.replaceChildren();
  let [right, asked, foreseen, judged] = [0, 0, 0, 0];
  document.querySelectorAll('.question, .claim').forEach(box => {
    const state = answers[box.dataset.id] || {};
    const claim = box.classList.contains('claim');
    claim ? ++judged : ++asked;
    let mark = w('not_answered');
    if (state.revealed && state.value) {
      const good = claim ? state.value === box.dataset.outcome : isRight(box, state);
      if (good) claim ? ++foreseen : ++right;
      mark = claim ? w(good ? 'agreed' : 'disagreed') : w(good ? 'right' : 'wrong');
    }
    table.append(make('tr', {}, make('td', {}, prompt(box.querySelector(claim ? 'h3' : 'p'))), make('td', {class: 'mark'}, mark)));
  });
  table.prepend(make('tr', {}, make('th', {}, w('correct_answers')), make('th', {}, `${right} ${w('of')} ${asked}`)),
                make('tr', {}, make('th', {}, w('verdicts_foreseen')), make('th', {}, `${foreseen} ${w('of')} ${judged}`)));
};
shown.push(page => { if (page.id === 'results') results(); });
document.getElementById('print').addEventListener('click', () => print());
document.getElementById('forget').addEventListener('click', () => {
  if (!confirm(w('forget_sure'))) return;
  for (const id of Object.keys(answers)) delete answers[id];
  keep();
  refreshers.forEach(refresh => refresh());
  results();
});
const brief = document.getElementById('brief');
brief.checked = !!memory.brief;
brief.addEventListener('change', () => { memory.brief = brief.checked; keep(); });
