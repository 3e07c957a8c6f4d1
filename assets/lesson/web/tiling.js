// SPDX-License-Identifier: Apache-2.0
// Screens 5 and 6: an SM with its tiles, two loop orders on one clock, the passes of the theorem and its three powers.
const boardTiles = 8;
params.tick = 0;
// An SM with shared memory and registers, areas true to capacity; S of one head is drawn to the same scale.
const smItems = view => {
  const {w, h, pad, text} = view, side = Math.min(w * 0.42, h * 0.62), scale = side / Math.sqrt(hardware.shared + hardware.registers), x = w - pad - side, y = (h - side) / 2;
  const shared = side * hardware.shared / (hardware.shared + hardware.registers), tile = Math.sqrt(2 * 64 * 128) * scale, s = Math.sqrt(scoreBytes(4096)) * scale;
  const items = [R('m.s', x - pad * 2 - s - text * 2, h - s + s * 0.42, s, s, 'matrix-s', {stroke: 'ink'}), T('t.s', pad, h - s * 0.58 + text * 2 > pad * 2 ? Math.max(pad + text * 2, h - s * 0.58 + text * 2) : pad + text * 3, 'S', view.display, {bold: true, fill: letterColor.s}),
    ...paragraph('s.note', pad, Math.max(pad + text * 4, h - s * 0.58 + text * 4) + text, tr('sm_scores', {bytes: bytes(scoreBytes(4096)), times: grouped(scoreBytes(4096) / (hardware.shared + hardware.registers))}), text, Math.min(s * 0.9, w - side - pad * 4 - text * 2.5), {fill: letterColor.s})];
  items.push(R('sm', x - 6, y - 6, side + 12, side + 12, 'window', {r: 8, stroke: 'ink', width: 2}), R('hw.shared', x, y, side, shared, 'chip', {stroke: 'ink'}), R('hw.registers', x, y + shared, side, side - shared, 'chip', {stroke: 'ink'}),
    T('sm.t', x, y - text, tr('one_sm', {sms: hardware.sms}), text, {bold: true}), T('hw.shared.t', x + 8, y + text * 1.3, tr('shared_one', {bytes: bytes(hardware.shared)}), text * 0.9), T('hw.registers.t', x + 8, y + shared + text * 1.3, tr('registers_one', {bytes: bytes(hardware.registers)}), text * 0.9));
  ['q', 'k', 'v'].forEach((name, i) => items.push(...matrix(name, x + 12 + i * (tile + 10), y + shared - tile - 10, tile, tile, view)));
  items.push(...matrix('o', x + 12, y + side - tile * 1.42 - 10, tile * 1.42, tile * 1.42, view), ...matrix('p', x + 24 + tile * 1.42, y + side - tile * 2 - 10, tile * 2, tile * 2, view));
  return items;
};
states.tiling = {keys: [], draw: smItems, caption: () => tr('sm_caption'), controls: () => []};
// Tiles moved after `tick` steps. `keyed`: the outer loop is over K and V (FlashAttention), else over Q (FlashAttention-2).
const tilesMoved = (keyed, tick) => {
  const outer = Math.min(boardTiles, Math.ceil(tick / boardTiles));
  return keyed ? {kv: 2 * outer, q: tick, o: 2 * tick} : {kv: 2 * tick, q: outer, o: Math.floor(tick / boardTiles)};
};
const board = (keyed, view, box) => {
  const id = keyed ? 'fa1' : 'fa2', {x, y, c} = box, n = boardTiles, {text} = view, tick = Math.floor(params.tick), last = Math.max(0, Math.min(tick, n * n) - 1);
  const [major, minor] = [Math.floor(last / n), last % n], [i, j] = keyed ? [minor, major] : [major, minor], gx = x + c * 1.5, gy = y + c * 2.9, items = [];
  const strip = (name, px, py, down, held, letter) => range(n).flatMap(k => {
    const kept = k === held, busy = tick > 0 && kept, dx = busy && down ? c * 0.12 : 0, dy = busy && !down ? c * 0.12 : 0;
    return [R(`${id}.${name}${k}`, px + (down ? 0 : k * c) + dx + 1, py + (down ? k * c : 0) + dy + 1, c - 2, c - 2, `matrix-${name}`, {stroke: 'ink', width: busy ? 2.5 : 0.6, opacity: busy ? 1 : 0.4, r: 2}),
            ...(k === 0 ? [T(`${id}.${name}.t`, px + (down ? c / 2 : -text * 0.7), py + (down ? -text * 0.4 : c * 0.7), letter, text, {anchor: 'middle', bold: true})] : [])];
  });
  items.push(T(`${id}.title`, x, y - text * 0.8, keyed ? 'FlashAttention' : 'FlashAttention-2', text * (view.small ? 0.95 : 1.15), {bold: true}));
  items.push(...strip('k', gx, y + c * 0.15, false, j, 'K'), ...strip('v', gx, y + c * 1.3, false, j, 'V'), ...strip('q', x, gy, true, i, 'Q'), ...strip('o', gx + n * c + c * 0.5, gy, true, i, 'O'));
  items.push(P(`${id}.grid`, range(n + 1).map(k => `M${gx} ${gy + k * c}h${n * c}M${gx + k * c} ${gy}v${n * c}`).join(''), {stroke: 'grid'}));
  const done = range(Math.min(tick, n * n)).map(k => keyed ? [Math.floor(k / n), k % n] : [k % n, Math.floor(k / n)]);
  items.push(P(`${id}.done`, done.map(([a, b]) => `M${(gx + a * c + 1).toFixed(1)} ${(gy + b * c + 1).toFixed(1)}h${(c - 2).toFixed(1)}v${(c - 2).toFixed(1)}h-${(c - 2).toFixed(1)}z`).join(''), {fill: 'matrix-s', opacity: 0.9}));
  // The tiles of the next step fly to their place.
  const p = ease(params.tick - tick);
  if (p > 0 && tick < n * n) {
    const [ni, nj] = keyed ? [tick % n, Math.floor(tick / n)] : [Math.floor(tick / n), tick % n], fly = (name, fx, fy) => R(`${id}.fly.${name}`, fx + (gx + nj * c - fx) * p, fy + (gy + ni * c - fy) * p, c - 2, c - 2, `matrix-${name}`, {stroke: 'ink', r: 2});
    items.push(...(keyed ? [fly('q', x, gy + ni * c), fly('o', gx + n * c + c * 0.5, gy + ni * c)] : [fly('k', gx + nj * c, y + c * 0.15), fly('v', gx + nj * c, y + c * 1.3)]));
  }
  if (tick > 0) items.push(R(`${id}.now`, gx + j * c, gy + i * c, c, c, 'matrix-p', {stroke: 'ink', width: 2}), R(`${id}.held`, keyed ? gx + j * c - 2 : x - 3, keyed ? y + c * 0.1 : gy + i * c - 2, keyed ? c + 4 : c + 6, keyed ? c * 2.4 : c + 4, '', {stroke: 'accent', width: 3, r: 4}), ...(keyed ? [] : [R(`${id}.held.o`, gx + n * c + c * 0.5 - 3, gy + i * c - 2, c + 6, c + 4, '', {stroke: 'accent', width: 3, r: 4})]));
  return items;
};
const tilingItems = view => {
  const {w, h, pad, text} = view, n = boardTiles, c = Math.min((w - pad * 3) / 2 / (n + 3.2), (h - pad * 2 - text * 8) / (n + 3.2)), wide = (n + 3.2) * c, gap = (w - 2 * wide) / 3, top = Math.max(pad + text * 1.6, (h - c * (n + 3.2) - text * 5) / 2), items = [];
  [true, false].forEach((keyed, k) => {
    const x = gap + k * (wide + gap), moved = tilesMoved(keyed, Math.floor(params.tick)), total = moved.kv + moved.q + moved.o, id = keyed ? 'fa1' : 'fa2', most = 208, base = top + c * (n + 3.2) + text * 0.8;
    items.push(...board(keyed, view, {x, y: top, c}));
    let at = x;
    for (const [name, color] of [['kv', 'matrix-k'], ['q', 'matrix-q'], ['o', 'matrix-o']]) {
      const width = moved[name] / most * wide;
      items.push(R(`${id}.sum.${name}`, at, base, width, text * 1.3, color, {stroke: 'ink', width: 0.6}));
      at += width;
    }
    items.push(T(`${id}.total`, x, base + text * 2.8, tr('tiles_moved', {total}), text * 1.05, {bold: true, fill: 'bytes'}),
               T(`${id}.detail`, x, base + text * 4.2, `K, V ${moved.kv} · Q ${moved.q} · O ${moved.o}`, text * 0.9, {fill: 'muted'}));
  });
  return items;
};
const ticks = boardTiles * boardTiles;
states['tiling-orders'] = {keys: ['tick'], draw: tilingItems, caption: () => tr('tiling_caption'),
  controls: () => [playButton('tick', () => ticks, () => 8), slider('tick', tr('scrub'), {low: 0, high: ticks, text: value => `${Math.floor(value)} / ${ticks}`})]};

// Screen 6.
params.m = 16384;
const theorem = {n: 4096, d: 64};
const passes = m => 4 * theorem.n * theorem.d / m;
const memorySizes = [8192, 16384, 32768, 65536];
const theoremItems = view => {
  const {w, h, pad, text} = view, side = Math.min(h - pad * 2 - text * 7, w * 0.55), x = pad + side * 0.16 + text, y = pad + text * 3 + side * 0.12, grid = Math.min(side, h - y - pad - text * 3), count = passes(params.m), c = grid / count;
  const thin = Math.max(12, grid * 0.07), items = [];
  items.push(...matrix('k', x, y - thin * 1.4, grid, thin, view), ...matrix('q', x - thin * 1.4, y, thin, grid, view), ...matrix('o', x + grid + thin * 0.4, y, thin, grid, view), R('m.s', x, y, grid, grid, 'matrix-s', {stroke: 'ink'}));
  items.push(P('stripes', range(Math.round(count) + 1).map(k => `M${(x + k * c).toFixed(2)} ${y}v${grid}`).join(''), {stroke: '#1c2127', width: count > 64 ? 0.4 : 1, opacity: 0.7}));
  items.push(R('pass', x, y, c, grid, 'matrix-p', {opacity: 0.85}), R('pass.k', x, y - thin * 1.4, c, thin, 'ink', {opacity: 0.75}));
  // The tile's edge follows the pointer: its rows are M / 4d.
  const drag = point => { const m = clamp(point.x - x, 1, grid) / grid * 4 * theorem.n * theorem.d; params.m = memorySizes.reduce((a, b) => Math.abs(Math.log(b / m)) < Math.abs(Math.log(a / m)) ? b : a); changed(); };
  items.push(L('pass.edge', x + c, y - thin * 1.4 - 14, x + c, y, 'ink', {width: 2}), C('pass.grip', x + c, y - thin * 1.4 - 14, 10, 'surface', {stroke: 'ink', width: 2, drag}));
  const right = x + grid + thin * 1.4 + text * 2, narrow = w - right < text * 12, tx = narrow ? pad : right, ty = narrow ? y + grid + text * 1.6 : y + text * 2;
  items.push(T('passes', tx, ty, tr('passes', {count: grouped(count)}), narrow ? text * 1.1 : view.display, {bold: true}));
  items.push(...paragraph('passes.note', tx, ty + text * 2, tr('passes_note', {m: grouped(params.m), rows: grouped(params.m / (4 * theorem.d)), n: grouped(theorem.n), d: theorem.d}), text, w - tx - pad, {fill: 'muted'}));
  return items;
};
const countItems = view => {
  const {w, h, pad, text} = view, most = passes(memorySizes[0]), area = {x: pad + text * 6, y: pad + text * 2, w: w - pad * 2 - text * 7, h: h - pad * 2 - text * 10.5}, c = area.w / memorySizes.length, items = [];
  memorySizes.forEach((m, k) => {
    const count = passes(m), here = m === params.m, height = area.h * count / most, x = area.x + k * c + c * 0.15, wide = c * 0.7, base = area.y + area.h, one = height / count;
    const stripes = [['q', 0], ['o', 1], ['o', 2]];
    items.push(...stripes.map(([name, part], i) => P(`stack.${m}.${i}`, range(count).map(p => `M${x.toFixed(1)} ${(base - (p + (part + 1) / 3) * one).toFixed(2)}h${wide.toFixed(1)}v${(one / 3).toFixed(2)}h-${wide.toFixed(1)}z`).join(''), {fill: `matrix-${name}`, opacity: here ? 1 : 0.5})));
    items.push(R(`stack.${m}.box`, x, base - height, wide, height, 'surface', {opacity: 0.01, drag: () => { params.m = m; changed(); }}), T(`stack.${m}.t`, x + wide / 2, base + text * 1.3, tokens(m), text * 0.9, {anchor: 'middle', bold: here}),
               T(`stack.${m}.c`, x + wide / 2, base - height - text * 0.5, grouped(count), text * (here ? 1.1 : 0.9), {anchor: 'middle', bold: here}));
  });
  items.push(T('stack.axis', area.x + area.w / 2, area.y + area.h + text * 2.7, tr('stack_axis'), text * 0.9, {anchor: 'middle', fill: 'muted'}));
  const count = passes(params.m), each = 3 * theorem.n * theorem.d;
  items.push(...paragraph('stack.sum', pad, h - pad - text * 2.6, tr('stack_sum', {count: grouped(count), each: grouped(each), all: grouped(count * each)}), text * 1.15, w - 2 * pad, {bold: true, fill: 'bytes'}));
  return items;
};
const memorySlider = () => slider('m', 'M', {list: memorySizes, text: m => `${grouped(m)} (${bytes(2 * m)})`});
const theoremCaption = () => tr('theorem_caption', {m: grouped(hardware.block / 2), gpu: hardware.name});
states.theorem = {keys: ['m'], draw: theoremItems, caption: theoremCaption, controls: () => [memorySlider()]};
states['theorem-count'] = {...states.theorem, draw: countItems, caption: () => `${tr('stack_key')} ${theoremCaption()}`};
// Three log-log plots. The reader turns a line through the first point; the counters follow.
const powers = scene.law.plots || [];
powers.forEach(plot => { params[`slope${plot.variable}`] = 0; });
params.revealed = 0;
const powerPlot = (plot, k, view, {x, y, w, h}) => {
  const id = `law.${plot.variable}`, {text} = view, xs = plot.points.map(point => point[0]), ys = plot.points.map(point => point[1]), slope = params[`slope${plot.variable}`], first = plot.points[0];
  const last = xs[xs.length - 1], reach = Math.max(4, Math.max(...ys) / Math.min(...ys)), down = plot.theorem < 0, low = down ? first[1] / reach / 2 : first[1] / 6, high = down ? first[1] * 6 : first[1] * reach * 2;
  const px = value => x + w * Math.log(value / xs[0]) / Math.log(last / xs[0]), py = value => y + h - h * Math.log(clamp(value, low, high) / low) / Math.log(high / low);
  const guess = first[1] * (last / xs[0]) ** slope;
  const drag = point => { if (params.revealed) return; const value = low * (high / low) ** clamp((y + h - point.y) / h, 0, 1); params[`slope${plot.variable}`] = +clamp(Math.log(value / first[1]) / Math.log(last / xs[0]), -3, 3).toFixed(2); changed(); };
  // Powers of two, three or so.
  const octaves = Math.ceil(Math.log2(high / low) / 4), ticksUp = range(4).map(i => 2 ** ((Math.ceil(Math.log2(low) / octaves) + i) * octaves)).filter(value => value <= high);
  const items = [...ticksUp.map((value, i) => T(`${id}.y${i}`, x + 4, py(value) + text * 0.3, bytes(value), text * 0.85, {fill: 'muted', opacity: view.small ? 0 : 0.8})), P(`${id}.axes`, `M${x} ${y}v${h}h${w}`, {stroke: 'reference'}), T(`${id}.name`, x + w / 2, y + h + text * 2.7, view.small ? plot.variable : `${plot.variable}  (${plot.fixed})`, text * 0.85, {anchor: 'middle', fill: 'muted'}), ...paragraph(`${id}.title`, x, y - text * 2, tr('law_ask', {variable: plot.variable}), text * (view.small ? 0.8 : 0.95), w + text, {bold: true})];
  for (const value of view.small ? [xs[0], last] : xs) items.push(T(`${id}.x${value}`, px(value), y + h + text * 1.3, tokens(value), text * 0.8, {anchor: 'middle', fill: 'muted'}));
  items.push(L(`${id}.guess`, px(xs[0]), py(first[1]), px(last), py(guess), 'accent', {width: 3}), C(`${id}.grip`, px(last), py(guess), 9, 'accent', {stroke: 'surface', width: 2, drag}), C(`${id}.p0`, px(xs[0]), py(first[1]), 5, 'bytes'));
  if (params.revealed) {
    items.push(L(`${id}.theorem`, px(xs[0]), py(first[1]), px(last), py(first[1] * (last / xs[0]) ** plot.theorem), 'ink', {dash: '6 4', width: 1.5}));
    plot.points.forEach((point, i) => items.push(C(`${id}.p${i}`, px(point[0]), py(point[1]), 5, 'bytes')));
  }
  items.push(...paragraph(`${id}.note`, x, y + h + text * 4.2, params.revealed ? tr('law_found', {mine: number(slope), found: plot.found.toFixed(2).replace('-', '−'), theorem: number(plot.theorem)}) : tr('law_mine', {mine: number(slope)}), text * (view.small ? 0.85 : 0.95), w + text * 2, {bold: true}));
  return items;
};
const powerItems = view => {
  const {w, h, pad, text} = view, c = (w - 2 * pad) / 3, height = Math.min(h - pad * 2 - text * 9, c * 1.25), y = (h - height - text * 4) / 2;
  return powers.length ? powers.flatMap((plot, k) => powerPlot(plot, k, view, {x: pad + k * c + text * 0.6, y, w: c - text * 3.4, h: height})) : [T('none', pad, h / 2, tr('no_data'), text)];
};
states['theorem-powers'] = {keys: [], draw: powerItems, caption: () => powers.length ? `${tr(`title.${scene.law.name}`)} · ${tr('of_law', scene.law)} · ${tr('law_key')}` : '',
  controls: () => {
    const button = buttonTo(tr('reveal'), () => { params.revealed = 1; changed(); }, {class: 'reveal-law'});
    return [...powers.map(plot => slider(`slope${plot.variable}`, plot.variable, {low: -3, high: 3, step: 0.1, text: number})), button];
  }};
