// SPDX-License-Identifier: Apache-2.0
// The online softmax is played here, since its scores may be a reader's own. All other numbers the program exported.
// To the nearest fp16, ties to even.
const half = value => {
  const x = Math.fround(value);
  if (!Number.isFinite(x) || x === 0) return x;
  const unit = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(x)))) - 10);
  let steps = Math.round(x / unit);
  if (Math.abs(x / unit % 1) === 0.5 && steps % 2 !== 0) --steps;
  return Math.abs(steps * unit) > 65504 ? Math.sign(x) * Infinity : steps * unit;
};

// The rows' blocks one after the other, with a fault or none.
const playOnline = ({columns, d, scores, values, hidden}, block, inner, fault) => {
  const [late, forgets] = [fault.startsWith('mask-after'), fault === 'forget-rescale'];
  const round = fault === 'sum-in-fp16' ? half : x => x;
  const trace = {steps: [], output: [], exact: [], error: 0, rescaled: 0, divisions: 0, through: 0, sleeps: late && !hidden.includes(true)};
  for (let row = 0; row * columns < scores.length; ++row) {
    const score = j => scores[row * columns + j], hides = j => !!hidden[row * columns + j];
    let state = {m: -Infinity, l: 0, o: Array(d).fill(0)};
    for (let first = 0; first < columns; first += block) {
      const last = Math.min(first + block, columns), js = Array.from({length: last - first}, (ignored, i) => first + i);
      const m = Math.max(state.m, ...js.filter(j => late || !hides(j)).map(score));
      const rises = state.m !== -Infinity && m > state.m, alpha = m === -Infinity ? 1 : Math.exp(state.m - m), scale = forgets && rises ? 1 : alpha;
      const weights = js.map(j => hides(j) || m === -Infinity ? 0 : round(Math.exp(score(j) - m)));
      const sum = js.reduce((all, j, i) => round(all + (fault === 'mask-after-sum' && hides(j) ? Math.exp(score(j) - m) : weights[i])), 0);
      const l = round(round(state.l * scale) + sum);
      const o = state.o.map((there, c) => {
        const added = js.reduce((all, j, i) => round(all + weights[i] * values[j * d + c]), 0);
        const whole = round(round((inner ? there * state.l : there) * scale) + added);
        return inner ? (l > 0 ? round(whole / l) : 0) : whole;
      });
      const step = {row, first, last, before: state, after: {m, l, o}, alpha, scale, inner, rescaled: rises && !forgets};
      trace.steps.push(step);
      trace.rescaled += (inner ? !forgets : step.rescaled) ? 1 : 0;
      if (inner) { ++trace.divisions; ++trace.through; }
      state = step.after;
    }
    if (!inner) ++trace.divisions;
    const all = Array.from({length: columns}, (ignored, j) => j).filter(j => !hides(j)), top = Math.max(...all.map(score));
    const total = all.reduce((sum, j) => sum + Math.exp(score(j) - top), 0);
    state.o.forEach((o, c) => {
      const got = inner ? o : state.l > 0 ? o / state.l : 0, exact = all.reduce((sum, j) => sum + Math.exp(score(j) - top) / total * values[j * d + c], 0);
      trace.output.push(got);
      trace.exact.push(exact);
      const error = Math.abs(got - exact);
      trace.error = error >= 0 ? Math.max(trace.error, error) : Infinity;
    });
  }
  return trace;
};
const merge = (a, b) => {
  const m = Math.max(a.m, b.m), [p, q] = [a, b].map(part => part.m === -Infinity ? 0 : Math.exp(part.m - m));
  return {m, l: a.l * p + b.l * q, o: a.o.map((o, c) => o * p + b.o[c] * q)};
};
