// SPDX-License-Identifier: Apache-2.0
// Screens 7 to 9: roofline, decoding and the backward pass.
const rooflineLanes = scene.curves.lanes;
rooflineLanes.forEach(lane => { params[`n_${lane.name}`] = 4096; });
const pointsOf = lane => lane.rows.map((row, i) => row && {n: scene.curves.lengths[i], x: row.flops / row.dram, y: row.flops / row.ns / 1e3}).filter(Boolean);
const rooflineItems = (view, lanes = rooflineLanes) => {
  const {w, h, pad, text} = view, left = pad + text * 3.4, right = w - pad, top = pad + text * 1.5, bottom = h - pad - text * 3, all = rooflineLanes.flatMap(pointsOf), items = [];
  if (!all.length) return [T('none', pad, h / 2, tr('no_data'), text)];
  const high = (hardware.wgmma?.value || Math.max(...all.map(point => point.y)) * 1e12) / 1e12, band = hardware.dram_rate?.value / 1e12 || 0;
  const xs = [Math.min(...all.map(point => point.x)) / 1.6, Math.max(...all.map(point => point.x)) * 1.6], ys = [Math.min(...all.map(point => point.y)) / 1.3, high * 1.5];
  const log = (value, [low, most]) => Math.log(value / low) / Math.log(most / low), px = value => left + (right - left) * log(value, xs), py = value => bottom - (bottom - top) * log(value, ys);
  for (let k = Math.ceil(Math.log10(xs[0])); 10 ** k <= xs[1]; ++k) items.push(L(`x${k}`, px(10 ** k), top, px(10 ** k), bottom, 'grid'), T(`x${k}.t`, px(10 ** k), bottom + text * 1.3, grouped(10 ** k), text * 0.85, {anchor: 'middle', fill: 'muted'}));
  for (let k = Math.ceil(Math.log10(ys[0])); 10 ** k <= ys[1]; ++k) items.push(L(`y${k}`, left, py(10 ** k), right, py(10 ** k), 'grid'), T(`y${k}.t`, left - 6, py(10 ** k) + text * 0.3, grouped(10 ** k), text * 0.85, {anchor: 'end', fill: 'muted'}));
  items.push(T('x.name', right, bottom + text * 2.6, tr('intensity'), text * 0.9, {anchor: 'end'}), T('y.name', pad, top - text * 0.6, 'TFLOP/s', text * 0.9));
  const roof = (id, figure, name) => figure && band && [L(id, px(Math.min(xs[1], Math.max(xs[0], figure.value / 1e12 / band))), py(figure.value / 1e12), right, py(figure.value / 1e12), 'ink', {width: 2}),
    T(`${id}.t`, right, py(figure.value / 1e12) + text * (id === 'roof.mma' ? 1.1 : -0.4), `${name} ${grouped(figure.value / 1e12)}`, text * 0.9, {anchor: 'end'})];
  items.push(...(roof('roof.wgmma', hardware.wgmma, 'wgmma') || []), ...(roof('roof.mma', hardware.mma, 'mma.sync') || []));
  if (band) items.push(L('roof.dram', px(Math.max(xs[0], ys[0] / band)), py(Math.max(xs[0], ys[0] / band) * band), px(Math.min(high / band, xs[1])), py(Math.min(high, xs[1] * band)), 'bytes', {width: 2}),
    T('roof.dram.t', px(xs[0] * 3), py(xs[0] * 3 * band) - text * 0.9, rate(band * 1e12), text * 0.9, {fill: 'bytes', bold: true, anchor: 'end'}), ...[['wgmma', high], ['mma', hardware.mma?.value / 1e12]].flatMap(([name, top], i) => top ? [L(`ridge.${name}`, px(top / band), py(top), px(top / band), bottom, 'reference', {dash: '3 5'}),
      T(`ridge.${name}.t`, px(top / band) + (i ? -5 : 5), bottom - text * 0.6, `${tr('ridge_point')} ${grouped(top / band)}`, text * 0.85, {fill: 'muted', anchor: i ? 'end' : 'start'})] : []));
  for (const lane of lanes) {
    const points = pointsOf(lane), now = points.reduce((a, b) => Math.abs(Math.log(b.n / params[`n_${lane.name}`])) < Math.abs(Math.log(a.n / params[`n_${lane.name}`])) ? b : a);
    const drag = point => {
      const near = points.reduce((a, b) => Math.hypot(px(b.x) - point.x, py(b.y) - point.y) < Math.hypot(px(a.x) - point.x, py(a.y) - point.y) ? b : a);
      params[`n_${lane.name}`] = near.n;
      changed();
    };
    items.push(P(`track.${lane.name}`, points.map((point, i) => `${i ? 'L' : 'M'}${px(point.x).toFixed(1)} ${py(point.y).toFixed(1)}`).join(''), {stroke: lane.name, width: 2, opacity: 0.6}));
    points.forEach(point => items.push(C(`dot.${lane.name}.${point.n}`, px(point.x), py(point.y), 3.5, lane.name, {opacity: 0.7})));
    const at = {naive: [1, 0.35, 'start'], fa1: [0.3, 2, 'start'], fa2: [0, 2, 'middle'], fa3: [0, 2, 'middle']}[lane.name] || [0, -1, 'middle'];
    const end = px(now.x) > right - text * 8;
    items.push(C(`now.${lane.name}`, px(now.x), py(now.y), 11, lane.name, {stroke: 'surface', width: 2.5, drag}),
               T(`now.${lane.name}.t`, px(now.x) + (end ? -14 : at[0] * 16), py(now.y) + at[1] * text, `${view.small && lane.name.startsWith('fa') ? lane.name.toUpperCase() : tr(`title.${lane.name}`)}, N ${tokens(now.n)}: ${grouped(now.y)}`, text * 0.88, {anchor: end ? 'end' : at[2], bold: true, halo: true}));
  }
  return items;
};
states.roofline = {keys: rooflineLanes.map(lane => `n_${lane.name}`), draw: view => rooflineItems(view), caption: () => scene.curves.of ? `${tr('of_points', scene.curves.of)} · ${tr('roofline_caption')}` : '',
  controls: () => rooflineLanes.map(lane => slider(`n_${lane.name}`, tr(`title.${lane.name}`), {list: pointsOf(lane).map(point => point.n), text: tokens}))};

// The points are part of the answer.
states['roofline-roofs'] = {...states.roofline, draw: view => rooflineItems(view, answers[steps[current]?.dataset.question]?.revealed ? rooflineLanes : [])};

// Screen 8.
const decoding = scene.decode.lengths || [];
params.cache = decoding.length ? decoding[decoding.length - 1].n : 0;
params.splits = 1;
const decodePoint = () => decoding.find(each => each.n === params.cache) || decoding[decoding.length - 1];
const decodeNames = ['fa2', 'splitkv', 'torch-flash', 'torch-cudnn'];
const smGrid = (view, busy, {x, y, w, h}) => {
  const columns = Math.ceil(Math.sqrt(hardware.sms * w / h)), c = Math.min(w / columns, h / Math.ceil(hardware.sms / columns));
  return range(hardware.sms).map(k => R(`sm.${k}`, x + k % columns * c + 1, y + Math.floor(k / columns) * c + 1, c - 3, c - 3, k < busy ? 'matrix-p' : 'window', {stroke: k < busy ? 'ink' : 'reference', width: 0.8, r: 2}));
};
const cacheItems = (view, blocks, {x, y, w}, parts) => {
  const {text} = view, thick = text * 1.8, items = [];
  ['k', 'v'].forEach((name, r) => {
    items.push(R(`m.${name}`, x, y + r * thick * 1.35, w, thick, `matrix-${name}`, {stroke: 'ink'}), T(`t.${name}`, x - text * 0.6, y + r * thick * 1.35 + thick * 0.7, name.toUpperCase(), text * 1.2, {anchor: 'end', bold: true}));
    items.push(P(`parts.${name}`, range(parts - 1).map(k => `M${(x + w * (k + 1) / parts).toFixed(1)} ${(y + r * thick * 1.35).toFixed(1)}v${thick.toFixed(1)}`).join(''), {stroke: 'ink', width: parts > 40 ? 0.6 : 1.5}));
  });
  items.push(R('m.q', x, y - thick * 1.5, text * 3, text * 0.8, 'matrix-q', {stroke: 'ink'}), T('t.q', x - text * 0.6, y - thick * 1.5 + text * 0.8, 'Q', text * 1.2, {anchor: 'end', bold: true}),
             T('cache.t', x + w, y - thick * 0.4, tr('cache', {n: grouped(params.cache)}), text * 0.9, {anchor: 'end', fill: 'muted'}));
  return items;
};
const decodeItems = kind => view => {
  const {w, h, pad, text} = view, point = decodePoint();
  if (!point?.of.fa2) return [T('none', pad, h / 2, tr('no_data'), text)];
  const of = point.of, full = of.splitkv?.blocks || of.fa2.blocks, parts = kind === 1 ? params.splits : 1, blocks = kind === 1 && parts > 1 ? parts * scene.decode.heads_kv : of.fa2.blocks;
  const top = pad + text * 3.4, items = cacheItems(view, blocks, {x: pad + text * 2.4, y: top, w: w - pad * 2 - text * 2.4}, parts), below = top + text * 6.4;
  if (kind === 2) {
    const rows = ['fa2', 'splitkv'].filter(name => of[name]?.sm).flatMap(name => [{label: `${tr(`title.${name}`)}, SM ↔ L2`, value: of[name].sm, text: bytes(of[name].sm), fill: 'bytes', opacity: 0.5}, {label: `${tr(`title.${name}`)}, HBM`, value: of[name].dram, text: bytes(of[name].dram), fill: 'bytes'}]);
    const height = clamp((h - below - text * (view.small ? 8 : 5)) / (rows.length * 1.75), text * 0.9, text * 2.6);
    items.push(...barRows('l2', pad, below + text, w - 2 * pad, rows, view, height));
    return [...items, ...paragraph('l2.share', pad, below + text * 2.4 + height * rows.length * 1.75, tr('l2_share', {share: (100 * (1 - of.fa2.dram / of.fa2.sm)).toFixed(1), heads: scene.decode.heads_q / scene.decode.heads_kv}), text * 1.15, w - 2 * pad, {bold: true})];
  }
  const grid = {x: pad, y: below + text * 1.6, w: view.small ? w - 2 * pad : (w - 3 * pad) * 0.45, h: Math.max(text * 5, (h - below - pad - text * 2) * (view.small ? 0.42 : 0.86))};
  items.push(T('sms', pad, below + text * 0.8, tr('blocks_on', {name: tr(`title.${parts > 1 ? 'splitkv' : 'fa2'}`), blocks: grouped(blocks), sms: hardware.sms}), text, {bold: true}), ...smGrid(view, Math.min(hardware.sms, blocks), grid));
  const rows = decodeNames.filter(name => of[name]).map(name => ({label: tr(`title.${name}`), value: of[name].ns, text: duration(of[name].ns), fill: 'time', opacity: of[name].imported ? 0.55 : name === 'fa2' && parts > 1 || name === 'splitkv' && blocks !== full ? 0.3 : 1}));
  const bx = view.small ? pad : grid.x + grid.w + pad, by = view.small ? grid.y + grid.h + text * 1.2 : below + text * 1.6;
  if (kind === 0) return [...items, ...paragraph('decode.low', bx, by + text, tr('decode_low', {intensity: grouped(scene.decode.heads_q / scene.decode.heads_kv), ridge: hardware.dram_rate && hardware.wgmma ? grouped(hardware.wgmma.value / hardware.dram_rate.value) : '?'}), text, w - bx - pad)];
  items.push(...barRows('decode', bx, by, w - bx - pad, rows, view, text * (view.small ? 0.9 : 1.3)));
  const notes = [];
  if (!view.small && of.splitkv && of['torch-flash']) notes.push(['decode.gain', (parts > 1 && blocks !== full ? tr('not_timed', {blocks: grouped(full)}) + ' ' : '') + tr('decode_gain', {times: ratio(of['torch-flash'].ns / of.splitkv.ns), blocks: grouped(full), fa2: duration(of.fa2.ns), alone: grouped(of.fa2.blocks)}), {}]);
  if (!view.small && hardware.in_flight && hardware.dram_rate) notes.push(['decode.flight', tr('decode_flight', {bytes: bytes(hardware.in_flight.value), origin: tr(hardware.in_flight.origin), rate: rate(hardware.dram_rate.value), latency: `${(1e9 * hardware.in_flight.value / hardware.dram_rate.value).toFixed(0)} ns`}), {fill: 'muted'}]);
  let noteTop = by + text * 10.5;
  for (const [id, line, more] of notes) {
    const lines = paragraph(id, bx, noteTop, line, text, w - bx - pad, more);
    items.push(...lines);
    noteTop += (lines.length + 0.8) * text * 1.3;
  }
  return items;
};
const cacheSlider = () => slider('cache', tr('cache_keys'), {list: decoding.map(each => each.n), text: tokens});
const decodeCaption = () => tr('decode_caption', {gpu: hardware.name, q: scene.decode.heads_q, kv: scene.decode.heads_kv, d: scene.decode.d});
const mostSplits = () => Math.max(1, Math.round((decodePoint()?.of.splitkv?.blocks || 1) / (scene.decode.heads_kv || 1)));
// No split, or splits that give at least as many blocks as the query heads.
const splitCounts = () => [1, ...range(mostSplits() + 1).filter(k => k > 1 && k * scene.decode.heads_kv > scene.decode.heads_q)];
states.decode = {keys: ['cache'], draw: decodeItems(0), caption: decodeCaption, controls: () => [cacheSlider()]};
states['decode-split'] = {...states.decode, keys: ['cache', 'splits'], draw: decodeItems(1), enter: () => { params.splits = 1; }, controls: () => [slider('splits', tr('splits'), {list: splitCounts()}), cacheSlider()]};
states['decode-l2'] = {...states.decode, draw: decodeItems(2)};

// Screen 9.
const backward = scene.backward.lengths || [];
params.length = backward.length ? backward[backward.length - 1].n : 0;
params.recompute = 0;
const backwardItems = view => {
  const {w, h, pad, text} = view, point = backward.find(each => each.n === params.length), again = !!params.recompute;
  if (!point) return [T('none', pad, h / 2, tr('no_data'), text)];
  const n = point.n, side = Math.min(h * 0.4, w * 0.24), y = pad + text * 2.4, wall = view.small ? 26 : 64, sx = pad + wall + side * 0.75, items = [tornWall('hbm', pad, y, wall, side, 1), T('hbm.label', pad + wall / 2, y + side / 2, tr('memory'), text * 0.95, {anchor: 'middle', angle: -90, bold: true})];
  const arrow = (id, x1, x2, top, width, color) => [L(id, x1, top, x2, top, color, {width}), P(`${id}.head`, `M0 ${-width - 4}L${(width + 8) * Math.sign(x2 - x1)} 0L0 ${width + 4}Z`, {x: x2, y: top, fill: color})];
  items.push(...matrix('p', sx, y, side, side, view, {outline: again, label: again ? tr('p_again') : tr('p_stored', {bytes: bytes(scoreBytes(n))})}), ...arrow('read', pad + wall + 4, sx - (again ? 14 : side * 0.12 + 12), y + side * 0.5, again ? 2 : side * 0.12, 'bytes'));
  items.push(T('lse', sx - side * 0.36, y + side * 0.5 - text * 1.4, again ? `LSE ${bytes(4 * n)}` : bytes(scoreBytes(n)), text * 0.9, {anchor: 'middle', bold: true, fill: 'bytes'}));
  // P and dO are inputs; dQ, dK and dV are outputs.
  ['o', 'q', 'k', 'v'].forEach((name, i) => items.push(...matrix(name, sx + side * (i ? 1.44 + i * 0.27 : 1.14), y + side * 0.2, side * 0.2, side * 0.6, view, {letter: `d${name.toUpperCase()}`})));
  items.push(T('gradient.and', sx + side * 1.07, y + side * 0.5 + text * 0.4, '+', text * 1.2, {anchor: 'middle', bold: true}), ...arrow('gradient', sx + side * 1.38, sx + side * 1.66 - 14, y + side * 0.5, 3, 'ink'));
  const rows = (metric, fill, format) => ['naive', 'fa1', 'fa2', 'fa3'].filter(name => point.of[name]?.[metric]).map(name => ({label: tr(`title.${name}`), value: point.of[name][metric], text: format(point.of[name][metric]), fill, opacity: again === (name !== 'naive') ? 1 : 0.35}));
  const top = y + side + text * (view.small ? 3.4 : 4.4), half = view.small ? w - 2 * pad : (w - 3 * pad) / 2, height = view.small ? text * 0.72 : clamp((h - top - pad) / 8, text * 1.2, text * 2.2);
  items.push(T('bytes.t', pad, top - text * 0.6, tr('backward_bytes'), text * 0.9, {bold: true, opacity: view.small ? 0 : 1}), ...barRows('bytes', pad, top, half, rows('dram', 'bytes', bytes), view, height));
  if (view.small) items.push(...barRows('time', pad, top + height * 8, half, rows('ns', 'time', duration), view, height));
  else items.push(T('time.t', pad * 2 + half, top - text * 0.6, tr('backward_time'), text * 0.9, {bold: true}), ...barRows('time', pad * 2 + half, top, half, rows('ns', 'time', duration), view, height));
  return items;
};
const toggleBackward = () => choice('recompute', 'P', [[0, tr('store_p')], [1, tr('recompute_p')]]);
states.backward = {keys: ['length', 'recompute'], draw: backwardItems, enter: () => { params.recompute = 0; }, caption: () => tr('backward_caption', {gpu: hardware.name, d: scene.backward.d, heads: scene.backward.heads_q}),
  controls: () => [toggleBackward(), slider('length', 'N', {list: backward.map(each => each.n), text: grouped})]};
states['backward-recompute'] = {...states.backward, enter: () => { params.recompute = 1; }};
const paperItems = view => {
  const {w, h, pad, text} = view, half = w - 2 * pad, items = [], columns = ['naive', 'fa1'].filter(name => scene.paper[name]), gpu = hardware.name.replace('NVIDIA ', '');
  if (!columns.length) return [T('none', pad, h / 2, tr('no_data'), text)];
  [['dram', 'bytes', tr('paper_bytes')], ['time', 'time', tr('paper_time')]].forEach(([metric, fill, title], k) => {
    const x = pad, y = pad + text * 2 + k * h * 0.48;
    const rows = columns.flatMap(name => { const each = scene.paper[name][metric], label = tr(`title.${name}`); return [{label: `${label}, A100`, value: each.paper, text: `${each.paper} ${each.unit}`, fill, opacity: 0.55}, ...(each.ours ? [{label: `${label}, ${gpu}`, value: each.ours, text: `${+each.ours.toPrecision(3)} ${each.unit}`, fill}] : [])]; });
    items.push(T(`paper.${metric}`, x, y - text, title, text * 1.1, {bold: true}), ...barRows(`paper.${metric}`, x, y, half, rows, view, clamp((h * 0.48 - text * 2.4) / 7, text * 0.6, text * 2)));
  });
  return items;
};
states['backward-paper'] = {keys: [], draw: paperItems, caption: () => tr('paper_caption'), controls: () => []};
