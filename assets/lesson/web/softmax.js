// SPDX-License-Identifier: Apache-2.0
// The online softmax, seen: weights e^(s - m) that shrink when m rises, l and o that shrink along, and what is missing
// where somebody forgot to.
const softmaxBars = () => {
  const picture = svg('svg', {role: 'img', class: 'bars'});
  const [base, high, right] = [150, 120, 300];
  const zone = Array.from({length: 3}, () => picture.appendChild(svg('g')));
  const bar = (group, x, from, to, wide, cls) => group.append(svg('rect', {x, y: Math.min(from, to), width: wide, height: Math.max(Math.abs(to - from), 0.5), class: cls}));
  // Of the row's columns those that came: e^(s - m) with the m of now.
  const weights = (example, step, late) => {
    const wide = Math.min(46, right / example.columns), gap = Math.min(3, wide / 4), group = zone[0];
    group.replaceChildren(svg('text', {x: 0, y: 14}, `e^(s − m), m = ${number(step.after.m)}`));
    for (let j = 0; j < example.columns; ++j) {
      const place = step.row * example.columns + j, hidden = !!example.hidden[place], came = j < step.last, x = j * wide;
      const score = example.scores[place];
      if (came && !hidden) bar(group, x + gap, base, base - high * Math.min(1, Math.exp(score - step.after.m)), wide - 2 * gap, j < step.first ? 'was' : 'came');
      if (hidden) group.append(svg('rect', {x: x + gap, y: base - high, width: wide - 2 * gap, height: high, class: 'masked'}));
      if (example.columns > 16) continue;
      group.append(svg('text', {x: x + wide / 2, y: base + 18, 'text-anchor': 'middle', class: came ? '' : 'size'}, hidden ? '−∞' : number(score)));
      if (hidden) group.append(svg('text', {x: x + wide / 2, y: base + 34, 'text-anchor': 'middle', class: 'size'}, late ? number(score) : w('masked')));
    }
    group.append(svg('path', {d: `M0 ${base}H${example.columns * wide}`, class: 'axis'}));
  };
  // A sum: what was there, scaled, and what came on top; red is what it lacks or has too much.
  const sum = (group, x, name, before, after, right, scale, negative) => {
    const zero = negative ? base - high / 2 : base, reach = negative ? high / 2 : high, y = value => zero - reach * value / scale;
    bar(group, x, zero, y(before), 34, 'was');
    bar(group, x, y(before), y(after), 34, 'came');
    if (Math.abs(right - after) > 1e-9 * Math.max(1, Math.abs(right))) bar(group, x, y(after), y(right), 34, 'gap');
    group.append(svg('path', {d: `M${x - 4} ${zero}h42`, class: 'axis'}), svg('text', {x: x + 17, y: base + 18, 'text-anchor': 'middle'}, name),
                 svg('text', {x: x + 17, y: base + 34, 'text-anchor': 'middle', class: 'size'}, number(after)));
  };
  const draw = (example, trace, exact, at, late) => {
    const step = trace.steps[at], good = exact.steps[at].after;
    weights(example, step, late);
    const top = pick => Math.max(1e-9, ...[trace, exact].flatMap(each => each.steps.flatMap(s => [s.after, s.before].flatMap(pick))).map(Math.abs).filter(Number.isFinite));
    const left = Math.min(46, right / example.columns) * example.columns + 40;
    zone[1].replaceChildren();
    const kept = step.scale;
    sum(zone[1], left, 'ℓ', step.before.l * kept, step.after.l, good.l, top(s => [s.l]), false);
    zone[2].replaceChildren();
    const negative = [trace, exact].some(each => each.steps.some(s => s.after.o.some(o => o < 0)));
    const shown = Math.min(example.d, 4);
    for (let c = 0; c < shown; ++c) {
      const there = step.inner ? step.before.o[c] * step.before.l * kept / (step.after.l || 1) : step.before.o[c] * kept;
      sum(zone[2], left + 80 + c * 70, example.d > 1 ? `o${'₀₁₂₃'[c]}` : 'o', there, step.after.o[c], good.o[c], top(s => s.o), negative);
    }
    picture.setAttribute('viewBox', `0 0 ${left + 80 + shown * 70} ${base + 44}`);
    picture.style.maxWidth = `${(left + 80 + shown * 70) / 14}rem`;
  };
  return {picture, draw};
};

const softmax = (figure, all) => {
  const most = 64;
  let example = all[0], trace = playOnline(example, example.blocks[0], false, 'none'), exact = trace;
  const option = (value, text) => make('option', {value}, text);
  const choice = (name, word, ...options) => make('select', {class: name, 'aria-label': w(word)}, ...options);
  const pick = choice('pick', 'example', ...all.map((each, i) => option(i, each.name)));
  const block = choice('block', 'block_size');
  const way = choice('way', 'division', option(0, w('outer')), option(1, w('inner')));
  const faults = [['forget-rescale', 'forget'], ['mask-after-maximum', 'mask-after-maximum'], ['mask-after-sum', 'mask-after-sum'], ['sum-in-fp16', 'half']];
  const fault = choice('fault', 'fault', option('none', w('no_fault')), ...faults.map(([name, word]) => option(name, w(word))));
  const own = make('input', {class: 'own', placeholder: w('own_scores'), 'aria-label': w('own_scores'), onchange: () => playOwn()});
  const wrong = make('output', {class: 'off'});
  const bars = softmaxBars();
  const table = make('table');
  const notes = make('p', {class: 'now'});
  const end = make('p', {class: 'result'});
  const halves = make('div');
  const choose = () => {
    trace = playOnline(example, +block.value, way.value === '1', fault.value);
    exact = playOnline(example, +block.value, way.value === '1', 'none');
    control.set(0);
  };
  const change = () => {
    example = all[+pick.value];
    block.replaceChildren(...example.blocks.map(b => option(b, `${w('block_size')} ${b}`)));
    choose();
  };
  const playOwn = () => {
    const mine = own.value.split(/[\s,;，；]+/).filter(text => text !== '').map(Number);
    const good = mine.length <= most && mine.every(Number.isFinite);
    wrong.textContent = good ? '' : w('no_numbers');
    if (!good || mine.length === 0) return;
    const blocks = [];
    for (let b = 1; b <= mine.length; b *= 2) blocks.push(b);
    const played = {name: w('own'), columns: mine.length, d: 1, scores: mine, values: mine.map((ignored, i) => i + 1), hidden: [], blocks};
    const last = all.findIndex(each => each.name === played.name);
    if (last < 0) { all.push(played); pick.append(option(all.length - 1, played.name)); } else all[last] = played;
    pick.value = last < 0 ? all.length - 1 : last;
    change();
  };
  const line = (name, state, extra = '') => make('tr', {}, make('th', {}, name), make('td', {class: 'number'}, number(state.m)), make('td', {class: 'number'}, number(state.l)), make('td', {class: 'number'}, state.o.map(number).join(', ')), make('td', {}, extra));
  const heading = () => make('tr', {}, ...['', 'm', 'ℓ', 'o', ''].map(name => make('th', {}, name)));
  // Two halves of the first row, as two tiles, two splits or two GPUs would have them.
  const showHalves = () => {
    const {columns, d} = example, middle = columns >> 1;
    const part = (from, to) => playOnline({columns: to - from, d, scores: example.scores.slice(from, to), values: example.values.slice(from * d, to * d), hidden: example.hidden.slice(from, to)}, to - from, false, 'none').steps[0].after;
    const [a, b] = [part(0, middle), part(middle, columns)];
    halves.append(make('p', {class: 'source'}, w('merge_halves')), make('table', {}, heading(), line('A', a), line('B', b), line('A + B', merge(a, b))));
  };
  const draw = at => {
    const step = trace.steps[at];
    bars.draw(example, trace, exact, at, fault.value.startsWith('mask-after'));
    const change = step.rescaled ? ' · ' + w('rescaled') : step.scale !== step.alpha ? ' · ' + w('forgotten') : '';
    table.replaceChildren(heading(), line(w('before'), step.before), line(w('after'), step.after, `α = ${number(step.alpha)}${change}`));
    const values = Array.from({length: step.last - step.first}, (ignored, j) => '(' + example.values.slice((step.first + j) * example.d, (step.first + j + 1) * example.d).map(number).join(', ') + ')').join(' ');
    notes.textContent = `${w('row')} ${step.row} · ${w('values_of_block')}: ${values}`;
    const last = at === trace.steps.length - 1;
    end.className = 'result ' + (last && !(trace.error < 1e-9) ? 'off' : 'meets');
    end.textContent = last ? `${w('output')}: ${trace.output.map(number).join(', ')} · ${w('exact')}: ${trace.exact.map(number).join(', ')} · ${w('error')}: ${number(trace.error)} · ${w('rescaled')}: ${trace.rescaled} · ${w('divisions')}: ${trace.divisions} · ${w('through_memory')}: ${trace.through}${trace.sleeps ? ' · ' + w('nothing_hidden') : ''}` : '';
    halves.replaceChildren();
    if (last && fault.value === 'none' && example.columns > 1) showHalves();
  };
  const control = transport(figure, () => trace.steps.length, draw);
  pick.addEventListener('change', change);
  [block, way, fault].forEach(select => select.addEventListener('change', choose));
  const key = make('div', {class: 'legend row'}, ...[['was', 'bar_was'], ['came', 'bar_came'], ['gap', 'bar_gap']].map(([cls, word]) => make('span', {}, make('i', {class: cls}), w(word))));
  figure.append(make('div', {class: 'row'}, pick, block, way, fault), make('div', {class: 'row'}, own, wrong), control.bar, control.scrub, bars.picture, key, table, notes, end, halves);
  change();
};
