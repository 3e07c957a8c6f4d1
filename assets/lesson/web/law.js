// SPDX-License-Identifier: Apache-2.0
// Bytes as powers of N, d and M: the reader draws a line, then the counters' points and the theorem's line appear.
const law = (figure, all) => {
  if (!all.plots) { figure.append(w('no_data')); return; }
  const room = make('div', {class: 'side-by-side plots'});
  // What says the answer is read after it.
  const said = [...figure.closest('section').querySelectorAll('.revealed')];
  const tell = () => said.forEach(part => { part.hidden = !all.plots.every(each => answers[`law-${each.variable}`]?.revealed); });
  all.plots.forEach(each => {
    const id = `law-${each.variable}`;
    const state = () => answers[id] || {};
    const first = each.points[0], xs = each.points.map(point => point[0]), last = xs[xs.length - 1];
    const reach = each.points.flatMap(point => [point[1], point[2]]);
    const slide = make('input', {type: 'range', min: -2, max: 3, step: 0.1, value: state().value || 0, 'aria-label': `${w('predict')}: ${each.variable}`,
                                 oninput: () => {
                                   if (state().locked) { slide.value = state().value; return; }  // the keys stay with it
                                   answers[id] = {value: slide.value};
                                   keep();
                                   draw();
                                 },
                                 onkeydown: event => { if (event.key === 'Enter') { event.stopPropagation(); const next = [lock, open].find(button => !button.disabled);
                                   next ? next.click() : room.querySelectorAll('input')[all.plots.indexOf(each) + 1]?.focus(); } }});
    const take = more => { answers[id] = {value: slide.value, ...state(), ...more}; keep(); draw(); tell(); };
    const lock = make('button', {class: 'lock', onclick: () => take({locked: true})}, w('lock'));
    const open = make('button', {class: 'reveal', onclick: () => take({revealed: true})}, w('reveal'));
    const note = make('output');
    const drawn = make('div');
    const draw = () => {
      const {value, locked, revealed} = state(), mine = +(value || 0);
      const plot = logPlot({across: [xs[0] / 1.3, last * 1.3], up: [Math.min(...reach) / 8, Math.max(...reach) * 8], ticks: xs, name: `${each.variable} (${each.fixed})`});
      const guess = xs.map(x => [x, first[1] * (x / first[0]) ** mine]);
      plot.picture.append(plot.line(guess, 'mine'), plot.label(guess[guess.length - 1], w('yours'), 'mine'), ...plot.dots([first], 'counted'));
      if (revealed) {
        plot.picture.append(plot.line(xs.map(x => [x, first[2] * (x / first[0]) ** each.theorem]), 'theorem'), ...plot.dots(each.points, 'counted'));
      }
      drawn.replaceChildren(plot.picture);
      lock.disabled = !!locked;
      open.disabled = !locked || !!revealed;
      note.textContent = `${w('your_exponent')} ${mine.toFixed(1)}` + (revealed
        ? ` · ${w('counted_exponent')} ${each.found.toFixed(2)} (${w(each.origin)}) · ${w('theorem_exponent')} ${each.theorem}` : locked ? ` · ${w('locked')}` : '');
    };
    refreshers.push(() => { slide.value = state().value || 0; draw(); tell(); });
    room.append(make('div', {class: 'prediction'}, make('strong', {}, w('law_ask', {variable: each.variable})), drawn, slide, make('div', {class: 'row'}, lock, open), note));
    draw();
  });
  tell();
  figure.append(room, make('figcaption', {}, `${all.algorithm} · ${all.of} · ${w('law_key')}`));
};
