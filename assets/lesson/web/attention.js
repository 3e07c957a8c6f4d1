// SPDX-License-Identifier: Apache-2.0
// Screens 2 and 3: attention of six example tokens, and the size of S beside the memories of the GPU.
const example = (() => {
  const n = 6, d = 4, noise = (i, j, seed) => Math.sin(12.9898 * i + 78.233 * j + seed) * 1.6;
  const [q, k, v] = [1, 5, 9].map(seed => range(n).map(i => range(d).map(j => noise(i, j, seed))));
  const s = q.map(row => k.map(other => row.reduce((sum, x, j) => sum + x * other[j], 0) / Math.sqrt(d)));
  const p = s.map(row => { const e = row.map(x => Math.exp(x - Math.max(...row))), sum = e.reduce((a, b) => a + b); return e.map(x => x / sum); });
  const o = p.map(row => range(d).map(c => row.reduce((sum, x, j) => sum + x * v[j][c], 0)));
  return {n, d, q, k, v, s, p, o};
})();
params.query = 2;
// One row of matrices, or two where that makes the cells larger.
const attentionLayout = view => {
  const {n, d} = example, {w, h, pad, text} = view;
  const fit = (columns, rows) => Math.min((w - 2 * pad) / columns, (h - 2 * pad - text * 3) / rows);
  const one = fit(34, n + d + 4), two = fit(20, 2 * n + d + 5.4), folded = two > one, c = Math.max(one, two);
  const x0 = (w - c * (folded ? 20 : 34)) / 2 + c * 3.6, y0 = (h - c * (folded ? 2 * n + d + 4 : n + d + 2.4)) / 2 + c * (d + 1.2);
  const x = folded ? {q: x0, s: x0 + c * (d + 1.5), p: x0 - c * 2, v: x0 + c * 5.6, o: x0 + c * 11.4} : {q: x0, s: x0 + c * 5.5, p: x0 + c * 13.5, v: x0 + c * 21, o: x0 + c * 26.5};
  const second = folded ? y0 + c * (n + 3.2) : y0;
  return {c, folded, box: {q: [x.q, y0, d, n], k: [x.s, y0 - c * (d + 0.5), n, d], s: [x.s, y0, n, n], p: [x.p, second, n, n], v: [x.v, second, d, n], o: [x.o, second, d, n]}};
};
// Cells of a matrix with an opacity by their value; `rows` limits them to one row.
const cells = (id, [x, y], c, values, color, strength) => values.flatMap((row, i) => row.map((value, j) =>
  R(`${id}.${i}.${j}`, x + j * c + 1, y + i * c + 1, c - 2, c - 2, color, {r: 2, opacity: strength(value, i, j)})));
const attentionItems = stageNumber => view => {
  const {c, folded, box} = attentionLayout(view), {n, q, k, v, s, p, o} = example, i = params.query, {text} = view, items = [];
  const soft = value => clamp(0.45 + value / 5, 0.12, 1), known = {q: true, k: true, v: true, s: stageNumber >= 1, p: stageNumber >= 2, o: stageNumber >= 3};
  const shapes = {q: 'N × d', k: 'd × N', v: 'N × d', s: 'N × N', p: 'N × N', o: 'N × d'};
  for (const name of 'qkvspo') {
    const [x, y, columns, rows] = box[name];
    const name2 = name === 'k' ? 'Kᵀ' : name.toUpperCase(), under = name === 's';
    items.push(R(`m.${name}`, x - 2, y - 2, columns * c + 4, rows * c + 4, 'surface', {stroke: known[name] ? 'ink' : 'grid', width: 1, r: 3}),
               T(`t.${name}`, under ? x + columns * c + text * 0.9 : x + columns * c / 2, under ? y + text * 1.6 : y - text * 0.7, name2, view.display * 0.8, {anchor: under ? 'start' : 'middle', bold: true}),
               T(`l.${name}`, x + columns * c / 2, y + rows * c + text * 1.3, shapes[name], text * 0.85, {anchor: 'middle', fill: 'muted', opacity: name === 'k' ? 0 : 1}));
  }
  const row = (r, seen) => seen ? (r === i ? 1 : 0.22) : 0;
  items.push(...cells('c.q', box.q, c, q, 'matrix-q', (value, r) => soft(value) * (r === i ? 1 : 0.4)),
             ...cells('c.k', box.k, c, range(4).map(a => k.map(b => b[a])), 'matrix-k', value => soft(value)),
             ...cells('c.v', box.v, c, v, 'matrix-v', (value, r) => soft(value) * (stageNumber >= 3 ? 0.25 + 0.75 * p[i][r] / Math.max(...p[i]) : 0.7)),
             ...cells('c.s', box.s, c, s, 'matrix-p', (value, r) => row(r, known.s) * clamp(0.3 + value / 6, 0.06, 0.8)),
             ...cells('c.p', box.p, c, p, 'matrix-p', (value, r) => row(r, known.p) * clamp(value * 1.3, 0.04, 1)),
             ...cells('c.o', box.o, c, o, 'matrix-o', (value, r) => row(r, known.o) * soft(value)));
  tr('tokens').split(' ').slice(0, n).forEach((word, r) => items.push(T(`token.${r}`, box.q[0] - Math.max(c * 0.3, 9), box.q[1] + (r + 0.5) * c + text * 0.35, word, text, {anchor: 'end', bold: r === i})));
  const last = box[['q', 's', 'p', 'o'][stageNumber]], drag = point => { params.query = clamp(Math.floor((point.y - box.q[1]) / c), 0, n - 1); changed(); };
  const right = folded && stageNumber > 1 ? box.s[0] + 6 * c : last[0] + last[2] * c;
  items.push(R('query', box.q[0] - 5, box.q[1] + i * c - 3, right - box.q[0] + 10, c + 6, '', {stroke: 'ink', width: 2.5, r: 5}),
             R('query.hit', box.q[0] - c * 3, box.q[1] - 4, right - box.q[0] + c * 3, n * c + 8, 'surface', {opacity: 0, drag}));
  const line = [null, s, p][stageNumber], [sx, sy] = stageNumber === 2 ? box.p : box.s;
  if (line && c > 19) line[i].forEach((value, k) => items.push(T(`value.${k}`, sx + (k + 0.5) * c, sy + (i + 0.5) * c + text * 0.28, value.toFixed(stageNumber === 1 ? 1 : 2).replace('-', '−'), Math.min(text * 0.85, c * 0.36), {anchor: 'middle', halo: true})));
  return items;
};
['attention', 'attention-scores', 'attention-softmax', 'attention-mix'].forEach((name, k) => {
  states[name] = {keys: ['query'], draw: attentionItems(k), caption: () => tr('attention_caption'),
                  controls: () => [slider('query', tr('query'), {low: 0, high: example.n - 1, text: i => tr('tokens').split(' ')[i]})]};
});

// Screen 3. Areas are bytes at one scale, which follows the larger of S and the chip: L2 and the memory of the SMs side by side.
const hardware = scene.hardware;
params.size = 4096;
const sizeLimits = [512, 65536];
const sharedAll = hardware.shared * hardware.sms, registersAll = hardware.registers * hardware.sms;
const scoreBytes = n => 2 * n * n, tensorBytes = n => 2 * n * 64;
const sizeItems = view => {
  const {w, h, pad, text, display} = view, n = params.size, s = scoreBytes(n), chip = sharedAll + registersAll, gap = view.small ? 10 : pad;
  const roots = [s, hardware.l2, chip].map(Math.sqrt), top = pad + display + text * 5.5, ground = h - pad - text * 3.4, room = w - 2 * pad - 3 * gap;
  // S keeps room for its label.
  const label = tr('size_s', {n: grouped(n), bytes: bytes(s)}), least = text / textFit(label, 1);
  const fit = Math.min(room / (roots[0] + roots[1] + roots[2]), (ground - top) / Math.max(...roots)), scale = roots[0] * fit > least ? fit : Math.min((room - least) / (roots[1] + roots[2]), (ground - top) / Math.max(...roots)), [S, l2, sm] = roots.map(root => root * scale);
  const left = pad, smLeft = w - pad - sm, l2Left = smLeft - gap - l2, side = value => Math.sqrt(value) * scale, items = [];
  items.push(...matrix('s', left, ground - S, S, S, view, {}));
  items.push(T('s.bytes', left, ground - S - text * 0.4 - 14, label, text, {bold: true, fill: 'bytes'}));
  items.push(R('grip', left + S - 12, ground - S - 12, 24, 24, 'surface', {r: 12, stroke: 'ink', width: 2, drag: (point, start) => {
    const before = Math.sqrt(scoreBytes(start.params.size)) * (start.scale ??= scale), now = Math.max(8, (point.x - left + ground - point.y) / 2);
    params.size = Math.round(clamp(start.params.size * now / before, ...sizeLimits) / 256) * 256;
    changed();
  }}));
  const q = Math.max(2, side(tensorBytes(n)));
  ['q', 'k', 'v', 'o'].forEach((name, i) => items.push(R(`m.${name}`, left + i * (q + 14), ground + text * 0.8, q, q, `matrix-${name}`, {stroke: 'ink'}), T(`t.${name}`, left + i * (q + 14) + q / 2, ground + text * 0.8 + q + text, name.toUpperCase(), text * 0.9, {anchor: 'middle', bold: true})));
  items.push(T('qkvo', left + 4 * (q + 14) + 8, ground + text * 2 + q, tr('size_each', {bytes: bytes(tensorBytes(n))}), text * 0.85, {fill: 'muted'}));
  const shared = sm * sharedAll / chip, smTop = ground - sm;
  items.push(R('hw.l2', l2Left, ground - l2, l2, l2, 'cache', {stroke: 'ink'}), R('hw.shared', smLeft, smTop, sm, shared, 'chip', {stroke: 'ink'}), R('hw.registers', smLeft, smTop + shared, sm, sm - shared, 'chip', {stroke: 'ink'}));
  // Labels are inside, or in a list above where there is no room.
  const labels = [['hw.l2.t', `L2: ${bytes(hardware.l2)}`, l2Left, ground - l2], ['hw.shared.t', tr('shared_all', {bytes: bytes(sharedAll)}), smLeft, smTop], ['hw.registers.t', tr('registers_all', {bytes: bytes(registersAll)}), smLeft, smTop + shared]];
  const size = text * (view.small ? 0.8 : 0.88), inside = sm > size * 8.5;
  labels.forEach(([id, line, x, y], i) => items.push(...(inside ? paragraph(id, x + 8, y + size * 1.5, line, size, sm - 16) : [T(`${id}.0`, w - pad, Math.min(ground - l2, smTop) - size * (0.6 + 1.3 * (2 - i)), line, size, {anchor: 'end', halo: true})])));
  if (!inside) items.push(T('hw.l2.n', l2Left + l2 / 2, ground - l2 / 2 + size * 0.35, 'L2', size, {anchor: 'middle', bold: true}), T('hw.sm.n', smLeft + sm / 2, smTop + sm / 2 - size * 0.3, 'SM', size, {anchor: 'middle', bold: true}));
  const parts = [hardware.l2, chip, hardware.l2 + chip];
  items.push(T('size.state', pad, pad + display * 0.7, parts.every(part => s > part) ? tr('size_over_all') : s > hardware.l2 ? tr('size_over_l2') : tr('size_fits'), text * (view.small ? 1 : 1.3), {bold: true, fill: s > hardware.l2 ? 'error' : 'ink'}));
  return items;
};
const sizeSlider = () => slider('size', 'N', {low: sizeLimits[0], high: sizeLimits[1], step: 256, text: grouped});
states.size = {keys: ['size'], draw: sizeItems, caption: () => tr('size_caption', {gpu: hardware.name}), controls: () => [sizeSlider()]};
// HBM to scale, with S of all heads of the race, and the pipes, whose widths are bandwidths.
const zoomItems = view => {
  const {w, h, pad, text} = view, n = params.size, heads = 264, room = Math.min(w * 0.58, h - pad * 2 - text * 5), scale = room / Math.sqrt(hardware.dram), side = value => Math.sqrt(value) * scale;
  const top = pad + text * 2, s = side(scoreBytes(n)), items = [tornWall('hbm', pad, top, room, room, 1), T('hbm.label', pad + 10, top - text * 0.6, tr('hbm_size', {bytes: bytes(hardware.dram), times: grouped(hardware.dram / hardware.l2)}), text, {bold: true})];
  const across = Math.max(1, Math.floor((room * 0.94) / s)), fit = Math.min(heads, across * across);
  items.push(P('s.all', squarePath(range(fit).map(k => [pad + 6 + k % across * s, top + room - 6 - (Math.floor(k / across) + 1) * s]), +(s * 0.94).toFixed(2)), {fill: 'matrix-s', stroke: 'ink', width: 0.4}));
  items.push(T('s.bytes', pad + 10, top + room + text * 1.4, tr('hbm_scores', {n: grouped(n), heads: fit, bytes: bytes(fit * scoreBytes(n))}), text * 0.95, {fill: 'bytes', bold: true}));
  const l2 = side(hardware.l2), sm = side(sharedAll + registersAll), x = w - pad - Math.max(l2, view.small ? 70 : 150), middle = top + room * 0.5, wide = room * 0.12 / (hardware.l2_rate?.value || 1);
  const dram = (hardware.dram_rate?.value || 0) * wide, on = (hardware.l2_rate?.value || 0) * wide, half = pad + room + (x - pad - room) / 2;
  items.push(R('pipe', pad + room - 6, middle - dram / 2, half - pad - room + 6, dram, 'bytes', {opacity: 0.55}), R('pipe.l2', half + l2, middle - on / 2, x - half, on, 'bytes', {opacity: 0.35}));
  items.push(R('hw.l2', half, middle - l2 / 2, l2, l2, 'cache', {stroke: 'ink'}), T('hw.l2.t', half + l2 / 2, middle + on / 2 + text * 1.6, `L2 ${bytes(hardware.l2)}`, text * 0.85, {anchor: 'middle'}),
             R('hw.shared', x + l2, middle - sm / 2, sm, sm, 'chip', {stroke: 'ink'}), T('hw.shared.t', x + l2 + sm + 6, middle + text * 0.3, tr('sm_all', {sms: hardware.sms}), text * 0.85));
  if (hardware.dram_rate) items.push(T('pipe.t', half - 4, middle - dram / 2 - text * 0.5, rate(hardware.dram_rate.value), text * 0.9, {anchor: 'end', bold: true}));
  if (hardware.l2_rate) items.push(T('pipe.l2.t', half + l2 + 6, middle - on / 2 - text * 0.5, rate(hardware.l2_rate.value), text * 0.9, {bold: true, opacity: view.small ? 0 : 1}));
  return items;
};
states['size-zoom'] = {keys: ['size'], draw: zoomItems, controls: () => [sizeSlider()],
  caption: () => tr('zoom_caption', {gpu: hardware.name, origin: tr(hardware.dram_rate?.origin || 'datasheet')})};
