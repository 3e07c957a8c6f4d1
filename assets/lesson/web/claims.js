// SPDX-License-Identifier: Apache-2.0
// Shows one claim at a time.
const cards = [...document.querySelectorAll('.claim')];
const turn = (at, label) => make('button', {onclick: () => goTo(stops.indexOf(cards[at])), disabled: !cards[at]}, label);
cards.forEach((card, at) => {
  card.prepend(make('p', {class: 'card-turn'}, turn(at - 1, '←'), ` ${at + 1} / ${cards.length} `, turn(at + 1, '→')));
  card.hidden = at !== 0;
});
