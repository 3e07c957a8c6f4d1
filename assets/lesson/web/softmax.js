// SPDX-License-Identifier: Apache-2.0
// Screen 4: the bars of one row of S, block by block, with faults and the reader's own scores.
const softmaxFaults = ['none', 'forget-rescale', 'mask-after-maximum', 'mask-after-sum', 'sum-in-fp16'];
const softmaxExamples = scene.softmax;
Object.assign(params, {example: softmaxExamples.length - 2, scores: null, block: 2, step: 0, fault: 'none', inner: 0});
// The current problem: an example, or the scores of the reader with values 1, 2, 3, ...
const softmaxProblem = () => {
  const base = softmaxExamples[params.example] || softmaxExamples[0];
  if (!params.scores) return base;
  return {columns: params.scores.length, d: 1, scores: params.scores, values: params.scores.map((ignored, i) => i + 1), hidden: []};
};
const softmaxTrace = fault => simulateOnlineSoftmax(softmaxProblem(), params.block, !!params.inner, fault);
const rowSteps = trace => trace.steps.filter(step => step.row === 0);
const numeral = value => Number.isFinite(value) ? number(+value.toPrecision(4)) : number(value);
const softmaxBars = (view, problem, step, count, box) => {
  const {x, y, w, h, text} = box, scores = problem.scores.slice(0, problem.columns), hidden = problem.hidden, shown = scores.filter((value, j) => !hidden[j]);
  const high = Math.max(1, ...shown) * 1.15, low = Math.min(0, ...shown), at = value => y + h - (clamp(value, low, high) - low) / (high - low) * h, c = w / scores.length, items = [];
  for (let first = 0, b = 0; first < scores.length; first += params.block, ++b) {
    const wide = Math.min(params.block, scores.length - first) * c;
    if (count > 0) items.push(R(`block.${b}`, x + first * c + 2, y - text * 0.8, wide - 4, h + text * 3, 'window', {r: 6, stroke: step && first === step.first ? 'ink' : 'grid', width: step && first === step.first ? 2 : 1}));
  }
  scores.forEach((value, j) => {
    const seen = count === 0 || !step || j < step.last, masked = !!hidden[j], m = step ? step.after.m : Math.max(...shown), weight = seen && !masked ? Math.exp(value - m) : 0;
    const top = Math.min(at(value), at(0)), height = Math.max(3, Math.abs(at(value) - at(0)));
    const drag = point => {
      const next = [...scores];
      next[j] = +(low + (y + h - point.y) / h * (high - low)).toFixed(1);
      params.scores = next.map(each => clamp(each, -20, 20));
      params.example = -1;
      changed();
    };
    items.push(R(`bar.${j}`, x + j * c + c * 0.12, top, c * 0.36, height, 'matrix-s', {stroke: masked ? 'grid' : 'ink', dash: masked ? '4 3' : '', opacity: seen ? 1 : 0.45, r: 2}),
               ...(masked ? [] : [L(`edge.${j}`, x + j * c + c * 0.08, at(value), x + j * c + c * 0.52, at(value), 'ink', {width: 4}), R(`grip.${j}`, x + j * c + c * 0.05, y, c * 0.5, h, 'surface', {opacity: 0, drag})]),
               R(`weight.${j}`, x + j * c + c * 0.52, at(0) - (at(low) - at(high)) * 0.75 * weight, c * 0.36, Math.max(0.5, (at(low) - at(high)) * 0.75 * weight), 'matrix-p', {r: 2}),
               T(`score.${j}`, x + j * c + c * 0.3, y + h + text * 1.3, masked ? tr('masked') : numeral(value), text * 0.9, {anchor: 'middle'}),
               T(`w.${j}`, x + j * c + c * 0.7, at(0) - (at(low) - at(high)) * 0.75 * weight - 4, seen && !masked ? weight.toPrecision(2) : '', text * 0.8, {anchor: 'middle', fill: 'matrix-p-text'}));
  });
  const m = step ? step.after.m : Math.max(...shown);
  items.push(L('axis', x, at(0), x + w, at(0), 'reference'));
  if (Number.isFinite(m)) items.push(L('maximum', x, at(m), x + w, at(m), 'matrix-o', {width: 2, dash: '7 5'}), T('maximum.t', x + 6, at(m) - 5, `m = ${numeral(m)}`, text, {bold: true, halo: true, fill: 'matrix-o-text'}));
  const rows = scores.map((ignored, j) => problem.values.slice(j * problem.d, (j + 1) * problem.d).map(number).join(' '));
  items.push(T('softmax.key', x, y - text * 2.3, tr('softmax_key'), text * 0.9, {fill: 'muted'}), T('softmax.values', x, y - text * 1.1, tr('softmax_values', {values: rows.map(row => problem.d > 1 ? `(${row})` : row).join(', ')}), text * 0.9, {bold: true}));
  return items;
};
// One card for each block: m, l and o after it, with the factor between two cards.
const softmaxCards = (view, steps, exact, at, box) => {
  const {x, y, w, text} = box, c = w / steps.length, items = [];
  steps.forEach((step, b) => {
    const seen = b <= at, wrong = Math.abs(step.after.l - exact[b].after.l) > 1e-3 * Math.max(1, exact[b].after.l);
    const wide = c > text * 11;
    items.push(R(`card.${b}`, x + b * c + 4, y, c - (wide ? text * 4.8 : 8), text * 5.2, 'window', {r: 6, stroke: seen && wrong ? 'error' : b === at ? 'ink' : 'grid', width: b === at ? 2 : 1, opacity: seen ? 1 : 0.35}));
    const lines = [`m = ${numeral(step.after.m)}`, `ℓ = ${numeral(step.after.l)}`, `o = ${step.after.o.slice(0, 2).map(numeral).join(', ')}`];
    if (seen && (c > text * 4.5 || b === at)) lines.forEach((line, i) => items.push(T(`card.${b}.${i}`, x + b * c + 4 + text * 0.6, y + text * (1.5 + 1.45 * i), line, text, {fill: wrong && i > 0 ? 'error' : 'ink'})));
    if (b > 0 && seen && wide) items.push(T(`alpha.${b}`, x + b * c - text * 2.2, y + text * 1.8, `× ${step.scale.toPrecision(2)}`, text * 0.8, {anchor: 'middle', fill: step.scale !== step.alpha ? 'error' : 'muted', bold: true}), T(`alpha.${b}a`, x + b * c - text * 2.2, y + text * 3, '→', text, {anchor: 'middle'}),
      T(`alpha.${b}b`, x + b * c - text * 2.2, y + text * 4.2, step.scale !== step.alpha ? `α ${step.alpha.toPrecision(2)}` : '', text * 0.75, {anchor: 'middle', fill: 'muted'}));
  });
  return items;
};
const softmaxItems = kind => view => {
  const {w, h, pad} = view, text = view.text, problem = softmaxProblem(), fault = kind === 2 ? params.fault : 'none', trace = softmaxTrace(fault), exact = softmaxTrace('none');
  const steps = rowSteps(trace), at = clamp(params.step, 0, steps.length - 1), box = {x: pad, w: w - 2 * pad, y: pad + text * 3, text};
  if (kind === 0) return softmaxBars(view, problem, null, 0, {...box, h: h - pad * 2 - text * 6});
  const items = [...softmaxBars(view, problem, steps[at], 1, {...box, h: h - pad * 2 - text * 16}), ...softmaxCards(view, steps, rowSteps(exact), at, {x: pad, w: w - 2 * pad, y: h - pad - text * 8.6, text})];
  if (at === steps.length - 1) {
    const output = trace.output.slice(0, problem.d), right = trace.exact.slice(0, problem.d), error = Math.max(...output.map((value, i) => Math.abs(value - right[i]))), good = error < 1e-6;
    const line = trace.faultHasNoEffect ? tr('nothing_hidden') : good ? tr('softmax_right', {value: output.map(numeral).join(', ')}) : tr('softmax_wrong', {value: output.map(numeral).join(', '), exact: right.map(numeral).join(', ')});
    items.push(...paragraph('softmax.result', pad + 4, h - pad - text * 1.8, line, text * 1.05, w - 2 * pad, {bold: true, fill: good ? 'ink' : 'error'}));
  }
  return items;
};
const blockCount = () => Math.ceil(softmaxProblem().columns / params.block);
const stepSlider = () => slider('step', tr('block_size'), {low: 0, high: 7, text: value => `${Math.min(value + 1, blockCount())} / ${blockCount()}`});
const ownScores = () => {
  const note = make('output'), field = make('input', {type: 'text', class: 'custom-scores', 'aria-label': tr('own_scores'), placeholder: tr('own_scores'), onchange: () => {
    const scores = field.value.split(/[\s,;]+/).filter(Boolean).map(Number);
    note.textContent = scores.length >= 1 && scores.length <= 16 && scores.every(Number.isFinite) ? '' : tr('no_numbers');
    if (note.textContent) return;
    params.scores = scores;
    params.example = -1;
    params.step = 15;
    changed();
  }});
  return make('label', {class: 'control'}, make('span', {}, tr('own')), field, note);
};
const exampleChoice = () => {
  const sync = choice('example', tr('example'), [...softmaxExamples.map((each, i) => [i, each.name]), [-1, tr('own')]]);
  sync.querySelector('select').addEventListener('change', () => {
    const chosen = softmaxExamples[params.example];
    if (chosen) { params.scores = null; params.block = chosen.blocks[0]; } else params.scores ??= [...softmaxExamples[0].scores.slice(0, softmaxExamples[0].columns)];
    params.step = 15;
    changed();
  });
  return sync;
};
states.softmax = {keys: [], draw: softmaxItems(0), caption: () => '', controls: () => [exampleChoice(), ownScores()]};
states['softmax-block'] = {...states.softmax, draw: softmaxItems(1), enter: () => { params.step = 0; }, controls: () => [stepSlider(), choice('block', tr('block'), [1, 2, 3, 4].map(value => [value, String(value)]))]};
states['softmax-rescale'] = {...states.softmax, draw: softmaxItems(2), caption: () => { const trace = softmaxTrace(params.fault); return [`${tr('output')}: ${trace.output.map(number).join(', ')}`, `${tr('error')}: ${number(trace.error)}`, `${tr('rescaled')}: ${trace.rescaled}`, `${tr('divisions')}: ${trace.divisions}`, `${tr('through_memory')}: ${trace.memoryPasses}`].join(' · '); },
  enter: () => { params.step = 15; params.fault = 'none'; },
  controls: () => [choice('fault', tr('fault'), softmaxFaults.map(fault => [fault, tr(fault === 'none' ? 'no_fault' : fault === 'forget-rescale' ? 'forget' : fault)])), stepSlider(), exampleChoice(),
                   choice('block', tr('block'), [1, 2, 3, 4].map(value => [value, String(value)])), choice('inner', tr('division'), [[0, tr('outer')], [1, tr('inner')]]), ownScores()]};
