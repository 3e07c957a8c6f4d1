// SPDX-License-Identifier: Apache-2.0
// Shows one claim at a time.
const cards = [...document.querySelectorAll('.claim')];
const showCard = at => {
  cards.forEach((card, i) => { card.hidden = i !== at; });
  cards[at].scrollIntoView({block: 'nearest'});
};
cards.forEach((card, at) => card.prepend(make('p', {class: 'card-turn'},
  make('button', {onclick: () => showCard(at - 1), disabled: at === 0}, '←'), ` ${at + 1} / ${cards.length} `,
  make('button', {onclick: () => showCard(at + 1), disabled: at === cards.length - 1}, '→'))));
if (cards.length > 0) cards.forEach((card, i) => { card.hidden = i !== 0; });
