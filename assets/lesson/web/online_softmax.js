// SPDX-License-Identifier: Apache-2.0
// Simulation of the online softmax. It runs in the page because readers can enter scores; other numbers are exported.
// Rounds to the nearest fp16, ties to even.
const half = value => {
  const x = Math.fround(value);
  if (!Number.isFinite(x) || x === 0) return x;
  const unit = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(x)))) - 10);
  let steps = Math.round(x / unit);
  if (Math.abs(x / unit % 1) === 0.5 && steps % 2 !== 0) --steps;
  return Math.abs(steps * unit) > 65504 ? Math.sign(x) * Infinity : steps * unit;
};

// Simulates the rows block by block, optionally with a fault. Returns all steps and the error of the output.
const simulateOnlineSoftmax = ({columns, d, scores, values, hidden}, block, inner, fault) => {
  const [masksLate, skipsRescale] = [fault.startsWith('mask-after'), fault === 'forget-rescale'];
  const round = fault === 'sum-in-fp16' ? half : x => x;
  const trace = {steps: [], output: [], exact: [], error: 0, rescaled: 0, divisions: 0, memoryPasses: 0, faultHasNoEffect: masksLate && !hidden.includes(true)};
  for (let row = 0; row * columns < scores.length; ++row) {
    const score = j => scores[row * columns + j], isMasked = j => !!hidden[row * columns + j];
    let state = {m: -Infinity, l: 0, o: Array(d).fill(0)};
    for (let first = 0; first < columns; first += block) {
      const last = Math.min(first + block, columns), blockColumns = Array.from({length: last - first}, (ignored, i) => first + i);
      const m = Math.max(state.m, ...blockColumns.filter(j => masksLate || !isMasked(j)).map(score));
      const rises = state.m !== -Infinity && m > state.m, alpha = m === -Infinity ? 1 : Math.exp(state.m - m), scale = skipsRescale && rises ? 1 : alpha;
      const weights = blockColumns.map(j => isMasked(j) || m === -Infinity ? 0 : round(Math.exp(score(j) - m)));
      const sum = blockColumns.reduce((all, j, i) => round(all + (fault === 'mask-after-sum' && isMasked(j) ? Math.exp(score(j) - m) : weights[i])), 0);
      const l = round(round(state.l * scale) + sum);
      const o = state.o.map((old, c) => {
        const added = blockColumns.reduce((all, j, i) => round(all + weights[i] * values[j * d + c]), 0);
        const updated = round(round((inner ? old * state.l : old) * scale) + added);
        return inner ? (l > 0 ? round(updated / l) : 0) : updated;
      });
      const step = {row, first, last, before: state, after: {m, l, o}, alpha, scale, inner, rescaled: rises && !skipsRescale};
      trace.steps.push(step);
      trace.rescaled += (inner ? !skipsRescale : step.rescaled) ? 1 : 0;
      if (inner) { ++trace.divisions; ++trace.memoryPasses; }
      state = step.after;
    }
    if (!inner) ++trace.divisions;
    const all = Array.from({length: columns}, (ignored, j) => j).filter(j => !isMasked(j)), maximum = Math.max(...all.map(score));
    const total = all.reduce((sum, j) => sum + Math.exp(score(j) - maximum), 0);
    state.o.forEach((o, c) => {
      const got = inner ? o : state.l > 0 ? o / state.l : 0, exact = all.reduce((sum, j) => sum + Math.exp(score(j) - maximum) / total * values[j * d + c], 0);
      trace.output.push(got);
      trace.exact.push(exact);
      const error = Math.abs(got - exact);
      trace.error = error >= 0 ? Math.max(trace.error, error) : Infinity;
    });
  }
  return trace;
};
