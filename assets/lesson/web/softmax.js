// SPDX-License-Identifier: Apache-2.0
// Bar charts of the online softmax: weights e^(s - m), and l and o with the old, the added and the missing or excess part.
const softmaxBars = () => {
  const picture = svg('svg', {role: 'img', class: 'bars'});
  const [base, high, right] = [150, 120, 300];
  const groups = Array.from({length: 3}, () => picture.appendChild(svg('g')));
  const bar = (group, x, from, to, wide, cls) => group.append(svg('rect', {x, y: Math.min(from, to), width: wide, height: Math.max(Math.abs(to - from), 0.5), class: cls}));
  // Draws the weights e^(s - m) of the processed columns, with the current m.
  const weights = (example, step, masksLate) => {
    const wide = Math.min(46, right / example.columns), gap = Math.min(3, wide / 4), group = groups[0];
    group.replaceChildren(svg('text', {x: 0, y: 14}, `e^(s − m), m = ${number(step.after.m)}`));
    for (let j = 0; j < example.columns; ++j) {
      const place = step.row * example.columns + j, hidden = !!example.hidden[place], processed = j < step.last, x = j * wide;
      const score = example.scores[place];
      if (processed && !hidden) bar(group, x + gap, base, base - high * Math.min(1, Math.exp(score - step.after.m)), wide - 2 * gap, j < step.first ? 'previous' : 'added');
      if (hidden) group.append(svg('rect', {x: x + gap, y: base - high, width: wide - 2 * gap, height: high, class: 'masked'}));
      if (example.columns > 16) continue;
      group.append(svg('text', {x: x + wide / 2, y: base + 18, 'text-anchor': 'middle', class: processed ? '' : 'size'}, hidden ? '−∞' : number(score)));
      if (hidden) group.append(svg('text', {x: x + wide / 2, y: base + 34, 'text-anchor': 'middle', class: 'size'}, masksLate ? number(score) : tr('masked')));
    }
    group.append(svg('path', {d: `M0 ${base}H${example.columns * wide}`, class: 'axis'}));
  };
  // Draws a sum: the rescaled old part, the added part, and (red) the deviation from the exact value.
  const sum = (group, x, name, before, after, right, scale, negative) => {
    const zero = negative ? base - high / 2 : base, reach = negative ? high / 2 : high, y = value => zero - reach * value / scale;
    bar(group, x, zero, y(before), 34, 'previous');
    bar(group, x, y(before), y(after), 34, 'added');
    if (Math.abs(right - after) > 1e-9 * Math.max(1, Math.abs(right))) bar(group, x, y(after), y(right), 34, 'deviation');
    group.append(svg('path', {d: `M${x - 4} ${zero}h42`, class: 'axis'}), svg('text', {x: x + 17, y: base + 18, 'text-anchor': 'middle'}, name),
                 svg('text', {x: x + 17, y: base + 34, 'text-anchor': 'middle', class: 'size'}, number(after)));
  };
  const draw = (example, trace, exact, at, masksLate) => {
    const step = trace.steps[at], expected = exact.steps[at].after;
    weights(example, step, masksLate);
    const largest = pick => Math.max(1e-9, ...[trace, exact].flatMap(each => each.steps.flatMap(s => [s.after, s.before].flatMap(pick))).map(Math.abs).filter(Number.isFinite));
    const left = Math.min(46, right / example.columns) * example.columns + 40;
    groups[1].replaceChildren();
    const scale = step.scale;
    sum(groups[1], left, 'ℓ', step.before.l * scale, step.after.l, expected.l, largest(s => [s.l]), false);
    groups[2].replaceChildren();
    const negative = [trace, exact].some(each => each.steps.some(s => s.after.o.some(o => o < 0)));
    const shown = Math.min(example.d, 4);
    for (let c = 0; c < shown; ++c) {
      const old = step.inner ? step.before.o[c] * step.before.l * scale / (step.after.l || 1) : step.before.o[c] * scale;
      sum(groups[2], left + 80 + c * 70, example.d > 1 ? `o${'₀₁₂₃'[c]}` : 'o', old, step.after.o[c], expected.o[c], largest(s => s.o), negative);
    }
    picture.setAttribute('viewBox', `0 0 ${left + 80 + shown * 70} ${base + 44}`);
    picture.style.maxWidth = `${(left + 80 + shown * 70) / 14}rem`;
  };
  return {picture, draw};
};

const softmax = (figure, all) => {
  const maxColumns = 64;
  let example = all[0], trace = simulateOnlineSoftmax(example, example.blocks[0], false, 'none'), exact = trace;
  const option = (value, text) => make('option', {value}, text);
  const choice = (name, key, ...options) => make('select', {class: name, 'aria-label': tr(key)}, ...options);
  const pick = choice('pick', 'example', ...all.map((each, i) => option(i, each.name)));
  const block = choice('block', 'block_size');
  const division = choice('division', 'division', option(0, tr('outer')), option(1, tr('inner')));
  const faults = [['forget-rescale', 'forget'], ['mask-after-maximum', 'mask-after-maximum'], ['mask-after-sum', 'mask-after-sum'], ['sum-in-fp16', 'half']];
  const fault = choice('fault', 'fault', option('none', tr('no_fault')), ...faults.map(([name, key]) => option(name, tr(key))));
  const customScores = make('input', {class: 'custom-scores', placeholder: tr('own_scores'), 'aria-label': tr('own_scores'), onchange: () => simulateCustomScores()});
  const inputError = make('output', {class: 'error'});
  const bars = softmaxBars();
  const table = make('table');
  const notes = make('p', {class: 'step-info'});
  const end = make('p', {class: 'result'});
  const halves = make('div');
  const simulate = () => {
    trace = simulateOnlineSoftmax(example, +block.value, division.value === '1', fault.value);
    exact = simulateOnlineSoftmax(example, +block.value, division.value === '1', 'none');
    control.set(0);
  };
  const selectExample = () => {
    example = all[+pick.value];
    block.replaceChildren(...example.blocks.map(b => option(b, `${tr('block_size')} ${b}`)));
    simulate();
  };
  const simulateCustomScores = () => {
    const scores = customScores.value.split(/[\s,;，；]+/).filter(text => text !== '').map(Number);
    const valid = scores.length <= maxColumns && scores.every(Number.isFinite);
    inputError.textContent = valid ? '' : tr('no_numbers');
    if (!valid || scores.length === 0) return;
    const blocks = [];
    for (let b = 1; b <= scores.length; b *= 2) blocks.push(b);
    const custom = {name: tr('own'), columns: scores.length, d: 1, scores, values: scores.map((ignored, i) => i + 1), hidden: [], blocks};
    const last = all.findIndex(each => each.name === custom.name);
    if (last < 0) { all.push(custom); pick.append(option(all.length - 1, custom.name)); } else all[last] = custom;
    pick.value = last < 0 ? all.length - 1 : last;
    selectExample();
  };
  const line = (name, state, extra = '') => make('tr', {}, make('th', {}, name), make('td', {class: 'number'}, number(state.m)), make('td', {class: 'number'}, number(state.l)), make('td', {class: 'number'}, state.o.map(number).join(', ')), make('td', {}, extra));
  const heading = () => make('tr', {}, ...['', 'm', 'ℓ', 'o', ''].map(name => make('th', {}, name)));
  // Merges the two halves of the first row, as separate tiles, splits or GPUs would.
  const showHalves = () => {
    const {columns, d} = example, middle = columns >> 1;
    const part = (from, to) => simulateOnlineSoftmax({columns: to - from, d, scores: example.scores.slice(from, to), values: example.values.slice(from * d, to * d), hidden: example.hidden.slice(from, to)}, to - from, false, 'none').steps[0].after;
    const [a, b] = [part(0, middle), part(middle, columns)];
    halves.append(make('p', {class: 'source'}, tr('merge_halves')), make('table', {}, heading(), line('A', a), line('B', b), line('A + B', merge(a, b))));
  };
  const draw = at => {
    const step = trace.steps[at];
    bars.draw(example, trace, exact, at, fault.value.startsWith('mask-after'));
    const change = step.rescaled ? ' · ' + tr('rescaled') : step.scale !== step.alpha ? ' · ' + tr('forgotten') : '';
    table.replaceChildren(heading(), line(tr('before'), step.before), line(tr('after'), step.after, `α = ${number(step.alpha)}${change}`));
    const values = Array.from({length: step.last - step.first}, (ignored, j) => '(' + example.values.slice((step.first + j) * example.d, (step.first + j + 1) * example.d).map(number).join(', ') + ')').join(' ');
    notes.textContent = `${tr('row')} ${step.row} · ${tr('values_of_block')}: ${values}`;
    const last = at === trace.steps.length - 1;
    end.className = 'result ' + (last && !(trace.error < 1e-9) ? 'error' : 'matches');
    end.textContent = last ? `${tr('output')}: ${trace.output.map(number).join(', ')} · ${tr('exact')}: ${trace.exact.map(number).join(', ')} · ${tr('error')}: ${number(trace.error)} · ${tr('rescaled')}: ${trace.rescaled} · ${tr('divisions')}: ${trace.divisions} · ${tr('through_memory')}: ${trace.memoryPasses}${trace.faultHasNoEffect ? ' · ' + tr('nothing_hidden') : ''}` : '';
    halves.replaceChildren();
    if (last && fault.value === 'none' && example.columns > 1) showHalves();
  };
  const control = playbackControls(figure, () => trace.steps.length, draw);
  pick.addEventListener('change', selectExample);
  [block, division, fault].forEach(select => select.addEventListener('change', simulate));
  const key = make('div', {class: 'legend row'}, ...[['previous', 'bar_was'], ['added', 'bar_came'], ['deviation', 'bar_gap']].map(([cls, key]) => make('span', {}, make('i', {class: cls}), tr(key))));
  figure.append(make('div', {class: 'row'}, pick, block, division, fault), make('div', {class: 'row'}, customScores, inputError), control.buttons, control.scrub, bars.picture, key, table, notes, end, halves);
  selectExample();
};
