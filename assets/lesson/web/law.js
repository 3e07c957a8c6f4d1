// SPDX-License-Identifier: Apache-2.0
// Plots of bytes over N, d and M: the reader predicts a slope, then the measured points and the theorem's line appear.
const law = (figure, all) => {
  if (!all.plots) { figure.append(tr('no_data')); return; }
  const container = make('div', {class: 'side-by-side plots'});
  // Text that reveals the answer is hidden until all plots are revealed.
  const answerParts = [...figure.closest('section').querySelectorAll('.revealed')];
  const updateAnswerParts = () => answerParts.forEach(part => { part.hidden = !all.plots.every(each => answers[`law-${each.variable}`]?.revealed); });
  all.plots.forEach(each => {
    const id = `law-${each.variable}`;
    const state = () => answers[id] || {};
    const first = each.points[0], xs = each.points.map(point => point[0]), last = xs[xs.length - 1];
    const bytesRange = each.points.flatMap(point => [point[1], point[2]]);
    const slider = make('input', {type: 'range', min: -2, max: 3, step: 0.1, value: state().value || 0, 'aria-label': `${tr('predict')}: ${each.variable}`,
                                 oninput: () => {
                                   if (state().locked) { slider.value = state().value; return; }  // not disabled, so that Enter still works
                                   answers[id] = {value: slider.value};
                                   saveState();
                                   draw();
                                 },
                                 onkeydown: event => { if (event.key === 'Enter') { event.stopPropagation(); const next = [lock, reveal].find(button => !button.disabled);
                                   next ? next.click() : container.querySelectorAll('input')[all.plots.indexOf(each) + 1]?.focus(); } }});
    const update = more => { answers[id] = {value: slider.value, ...state(), ...more}; saveState(); draw(); updateAnswerParts(); };
    const lock = make('button', {class: 'lock', onclick: () => update({locked: true})}, tr('lock'));
    const reveal = make('button', {class: 'reveal', onclick: () => update({revealed: true})}, tr('reveal'));
    const note = make('output');
    const plotArea = make('div');
    const draw = () => {
      const {value, locked, revealed} = state(), slope = +(value || 0);
      const plot = logPlot({across: [xs[0] / 1.3, last * 1.3], up: [Math.min(...bytesRange) / 8, Math.max(...bytesRange) * 8], ticks: xs, name: `${each.variable} (${each.fixed})`});
      const guess = xs.map(x => [x, first[1] * (x / first[0]) ** slope]);
      plot.picture.append(plot.line(guess, 'mine'), plot.label(guess[guess.length - 1], tr('yours'), 'mine'), ...plot.dots([first], 'counted'));
      if (revealed) {
        plot.picture.append(plot.line(xs.map(x => [x, first[2] * (x / first[0]) ** each.theorem]), 'theorem'), ...plot.dots(each.points, 'counted'));
      }
      plotArea.replaceChildren(plot.picture);
      lock.disabled = !!locked;
      reveal.disabled = !locked || !!revealed;
      note.textContent = `${tr('your_exponent')} ${slope.toFixed(1)}` + (revealed
        ? ` · ${tr('counted_exponent')} ${each.found.toFixed(2)} (${tr(each.origin)}) · ${tr('theorem_exponent')} ${each.theorem}` : locked ? ` · ${tr('locked')}` : '');
    };
    refreshers.push(() => { slider.value = state().value || 0; draw(); updateAnswerParts(); });
    container.append(make('div', {class: 'prediction'}, make('strong', {}, tr('law_ask', {variable: each.variable})), plotArea, slider, make('div', {class: 'row'}, lock, reveal), note));
    draw();
  });
  updateAnswerParts();
  figure.append(container, make('figcaption', {}, `${all.algorithm} · ${all.of} · ${tr('law_key')}`));
};
