// SPDX-License-Identifier: Apache-2.0
// Questions and claims: selection, locking, revealing, full-screen questions with votes, and the results.
const refreshers = [];
const setUpChoices = (box, reveal) => {
  const id = box.dataset.id;
  const inputs = [...box.querySelectorAll('input[type=radio]')];
  const [lock, open] = [box.querySelector('.lock'), box.querySelector('.reveal')];
  const refresh = () => {
    // Discards a stored choice that this version of the page does not have.
    if (answers[id]?.value && !inputs.some(input => input.value === answers[id].value)) delete answers[id];
    const state = answers[id] || {};
    inputs.forEach(input => {
      input.checked = input.value === state.value;
      input.disabled = !!state.locked;
      input.closest('.choice').classList.toggle('chosen', input.checked);
    });
    lock.disabled = !(state.value || [...box.querySelectorAll('.vote-count')].some(input => input.value)) || !!state.locked;
    open.disabled = !state.locked || !!state.revealed;
    const note = box.querySelector('output');
    if (note) note.textContent = state.locked && !state.revealed ? tr('locked') : '';
    reveal(state);
  };
  const set = more => { answers[id] = {...answers[id], ...more}; saveState(); refresh(); showResults(); redraw(); };
  inputs.forEach(input => input.addEventListener('change', () => set({value: input.value})));
  lock.addEventListener('click', () => set({locked: true}));
  open.addEventListener('click', () => set({revealed: true}));
  refresh();
  refreshers.push(refresh);
  return refresh;
};

// Sums the votes per choice; once locked, suggests how to continue. A second vote keeps the first for comparison.
const setUpVotes = (box, choices) => {
  const counts = choices.map(choice => choice.querySelector('.vote-count'));
  const note = box.querySelector('.vote-summary');
  const sum = votes => votes.reduce((all, each) => all + each, 0);
  const shareRight = votes => 100 * votes[choices.findIndex(choice => choice.dataset.right === '1')] / sum(votes);
  const current = () => counts.map(input => Math.max(0, Math.floor(+input.value) || 0));
  let first = null;
  const again = make('button', {class: 'vote-again', onclick: () => { first = current(); counts.forEach(input => { input.value = ''; }); updateVotes(); }}, tr('vote_again'));
  const updateVotes = () => {
    const votes = current(), all = sum(votes), share = shareRight(votes);
    const advice = share < 35 ? 'vote_hint' : share < 70 ? 'vote_discuss' : 'vote_on';
    const {locked, revealed} = answers[box.dataset.id] || {};
    // The share of correct votes is shown only after the answer is revealed.
    const more = revealed ? tr('vote_right', {share: share.toFixed(0)}) : locked ? tr(advice) : '';
    const before = first && revealed ? ' ' + tr('vote_first', {share: shareRight(first).toFixed(0)}) : '';
    note.textContent = all === 0 ? '' : `${tr('vote', {all})} ${more}${before}`;
    again.hidden = all === 0 || !!first || !!revealed;
  };
  note.after(again);
  counts.forEach((input, i) => input.addEventListener('keydown', event => {
    if (!/^(Enter|Escape|ArrowUp|ArrowDown)$/.test(event.key)) return;
    event.stopPropagation();
    event.preventDefault();
    const next = event.key === 'Escape' ? null : counts[i + (event.key === 'ArrowUp' ? -1 : 1)];
    if (next) next.focus();
    else if (!event.key.startsWith('Arrow')) input.blur();
    // Enter in the last box goes on: it locks the answer.
    if (!next && event.key === 'Enter') handleQuestionKey('Enter');
  }));
  return updateVotes;
};

const isRight = (box, {value}) => !!box.querySelector(`.choice[data-right="1"] input[value="${value}"]`);
const questions = [...document.querySelectorAll('.question')];
questions.forEach(box => {
  const choices = [...box.querySelectorAll('.choice')];
  const updateVotes = setUpVotes(box, choices);
  const refresh = setUpChoices(box, state => {
    choices.forEach(choice => {
      const chosen = choice.querySelector('input').value === state.value;
      const right = choice.dataset.right === '1';
      choice.querySelector('.explanation').hidden = !state.revealed;
      choice.classList.toggle('is-right', !!state.revealed && right);
      choice.classList.toggle('is-wrong', !!state.revealed && chosen && !right);
    });
    if (state.revealed && state.value) box.querySelector('output').textContent = tr(isRight(box, state) ? 'right' : 'wrong');
    updateVotes();
  });
  box.querySelectorAll('.vote-count').forEach(input => input.addEventListener('input', refresh));
  box.querySelector('.full-screen-button').addEventListener('click', () => fullScreenQuestion() === box ? exitFullScreen() : enterFullScreen(box));
});
document.querySelectorAll('.claim').forEach(box => setUpChoices(box, state => {
  box.querySelector('.verdict').hidden = !state.revealed;
  if (state.revealed) box.querySelector('.prediction-result').textContent = tr(state.value === box.dataset.outcome ? 'agreed' : 'disagreed');
}));

// Full-screen mode of a question, with its drawing beside it.
const fullScreenQuestion = () => document.querySelector('.question.full-screen');
const exitFullScreen = () => {
  document.querySelectorAll('[inert]').forEach(part => { part.inert = false; });
  fullScreenQuestion()?.querySelectorAll('input[type=radio]').forEach(input => { input.tabIndex = 0; });
  fullScreenQuestion()?.querySelector('.full-screen-button').replaceChildren(`${tr('alone')} (Q)`);
  fullScreenQuestion()?.classList.remove('full-screen');
  document.body.classList.remove('question-open');
  dispatchEvent(new Event('resize'));
};
const enterFullScreen = box => {
  exitFullScreen();
  if (!box) return;
  showQuestion(box);
  box.classList.add('full-screen');
  box.querySelector('.full-screen-button').replaceChildren(tr('leave'));
  // Choices are selected by letter keys; Tab moves between the vote counts only.
  [document.querySelector('header'), document.querySelector('footer'), document.getElementById('steps'), ...document.querySelectorAll('main > section')].forEach(part => { part.inert = true; });
  box.querySelectorAll('input[type=radio]').forEach(input => { input.tabIndex = -1; });
  document.body.classList.add('question-open');
  dispatchEvent(new Event('resize'));
};
// Keys apply to the claim or the question that is shown, a question until it is revealed.
const activeQuestion = () => fullScreenQuestion() || (stops[currentStop].matches('.claim') ? stops[currentStop] : questions.find(box => !box.hidden && !asked.hidden && !answers[box.dataset.id]?.revealed));
// Keys: A to F, or arrow keys in full screen, choose; Enter locks, reveals or continues, H shows the hint, Q toggles full screen. Returns whether handled.
const handleQuestionKey = name => {
  const box = activeQuestion(), claim = box?.matches('.claim');
  if (name === 'q' && !claim) { fullScreenQuestion() ? exitFullScreen() : enterFullScreen(box || questions.find(each => !each.hidden)); return true; }
  if (name === 'Escape' && fullScreenQuestion()) { exitFullScreen(); return true; }
  if (!box) return false;
  const choice = 'abcdef'.indexOf(name);
  const inputs = [...box.querySelectorAll('input[type=radio]')];
  if (name.length === 1 && choice >= 0 && inputs[choice]) { if (!inputs[choice].disabled) inputs[choice].click(); return true; }
  if (fullScreenQuestion() && name.startsWith('Arrow')) {
    const chosen = inputs.findIndex(input => input.checked), next = inputs[clamp(chosen + (/Down|Right/.test(name) ? 1 : -1), 0, inputs.length - 1)];
    if (!next.disabled) next.click();
    return true;
  }
  const hint = box.querySelector('details');
  if (name === 'h' && hint) { hint.open = !hint.open; return true; }
  if (name !== 'Enter') return false;
  if (claim && answers[box.dataset.id]?.revealed) { goTo(currentStop + 1); return true; }
  const next = [...box.querySelectorAll('.lock, .reveal')].find(button => !button.disabled);
  if (next) next.click();
  else if (fullScreenQuestion() && answers[box.dataset.id]?.revealed) {
    const after = questions[questions.indexOf(box) + 1];
    enterFullScreen(after || null);
  }
  return true;
};

// Returns the text of a node without the origins of its numbers.
const plainText = node => {
  const copy = node.cloneNode(true);
  copy.querySelectorAll('small').forEach(origin => origin.remove());
  return copy.textContent;
};
const showResults = () => {
  const table = document.getElementById('result-table');
  table.replaceChildren();
  let [correct, questionCount, predicted, claimCount] = [0, 0, 0, 0];
  document.querySelectorAll('.question, .claim').forEach(box => {
    const state = answers[box.dataset.id] || {};
    const claim = box.classList.contains('claim');
    claim ? ++claimCount : ++questionCount;
    let mark = tr('not_answered');
    if (state.revealed && state.value) {
      const good = claim ? state.value === box.dataset.outcome : isRight(box, state);
      if (good) claim ? ++predicted : ++correct;
      mark = claim ? tr(good ? 'agreed' : 'disagreed') : tr(good ? 'right' : 'wrong');
    }
    table.append(make('tr', {}, make('td', {}, plainText(box.querySelector(claim ? 'h3' : 'p'))), make('td', {class: 'mark'}, mark)));
  });
  table.prepend(make('tr', {}, make('th', {}, tr('correct_answers')), make('th', {}, `${correct} ${tr('of')} ${questionCount}`)),
                make('tr', {}, make('th', {}, tr('verdicts_foreseen')), make('th', {}, `${predicted} ${tr('of')} ${claimCount}`)));
};
new IntersectionObserver(seen => { if (seen.some(each => each.isIntersecting)) showResults(); }).observe(document.getElementById('results'));
document.getElementById('print').addEventListener('click', () => print());
document.getElementById('forget').addEventListener('click', () => {
  if (!confirm(tr('forget_sure'))) return;
  for (const id of Object.keys(answers)) delete answers[id];
  saveState();
  refreshers.forEach(refresh => refresh());
  showResults();
});
const brief = document.getElementById('brief');
brief.checked = !!saved.brief;
brief.addEventListener('change', () => { saved.brief = brief.checked; saveState(); });
