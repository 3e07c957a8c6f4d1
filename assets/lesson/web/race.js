// SPDX-License-Identifier: Apache-2.0
// Screen 1: standard attention, FlashAttention-2 and FlashAttention-3 on one time axis: 2 s count-in, 14 s race. The end
// stays on the screen; a film shows it for 4 s.
const raceTiming = {begin: 2, length: 14, end: 4};
const raceFinish = raceTiming.begin + raceTiming.length, filmSeconds = raceFinish + raceTiming.end;
const raceLanes = scene.curves.lanes.filter(lane => ['naive', 'fa2', 'fa3'].includes(lane.name));
const raceLengths = (scene.curves.lengths || []).filter((n, i) => raceLanes.every(lane => lane.rows[i]));
const raceAt = n => {
  const i = scene.curves.lengths.indexOf(n);
  const lanes = raceLanes.map(lane => ({...lane, ...lane.rows[i]})), slow = lanes.reduce((a, b) => a.ns > b.ns ? a : b);
  const most = Math.max(...lanes.map(lane => lane.dram));
  let unit = 1;
  while (most / unit > 600) unit *= 2;
  return {n, lanes, slow, unit, eager: scene.curves.eager[i], least: scene.curves.least[i]};
};
// Bytes moved and share of the output that is final at time `ns`. Kernels run one after the other; O is final in the last.
const laneAt = (lane, ns) => {
  const total = lane.kernels.reduce((sum, kernel) => sum + kernel.ns, 0), all = lane.kernels.reduce((sum, kernel) => sum + kernel.dram, 0);
  const kernels = lane.kernels.length > 1 ? lane.kernels.map(kernel => ({name: kernel.name, ns: kernel.ns / total * lane.ns, dram: kernel.dram / all * lane.dram})) : [lane];
  let [moved, start, final, name, perNs] = [0, 0, 0, '', 0];
  kernels.forEach((kernel, i) => {
    const share = clamp((ns - start) / kernel.ns, 0, 1);
    moved += share * kernel.dram;
    if (share > 0 && share < 1) { name = kernels.length > 1 ? kernel.name : ''; perNs = kernel.dram / kernel.ns; }
    if (i === kernels.length - 1) final = share;
    start += kernel.ns;
  });
  return {moved, final, name, perNs, done: ns >= lane.ns};
};
const raceKey = race => tr('race_key', {unit: bytes(race.unit)});
const raceVerdict = race => {
  const fast = race.lanes.find(lane => lane.name === 'fa2') || race.lanes[0];
  return [fast, ...race.lanes.filter(lane => lane.name === 'fa3')].map(lane => tr('race_end', {name: tr(`title.${lane.name}`), bytes: ratio(race.slow.dram / lane.dram), time: ratio(race.slow.ns / lane.ns)}));
};
// Squares in a lane: the pile as one path, those in flight as outlines.
const laneSquares = (id, box, lane, now, race, nsPerSecond) => {
  const {x, y, h, side, from} = box, rows = Math.max(1, Math.floor(h / side)), count = now.moved / race.unit, whole = now.done ? Math.ceil(count - 1e-9) : Math.floor(count + 1e-9);
  const gap = Math.max(0.6, side * 0.09), place = k => [x + Math.floor(k / rows) * side, y + h - (k % rows + 1) * side];
  const items = [P(`${id}.pile`, squarePath(range(whole).map(place), +(side - gap).toFixed(2)), {fill: 'bytes'})];
  const perSecond = now.perNs * nsPerSecond / race.unit, flight = 0.45;
  for (let k = whole; !now.done && perSecond > 0 && k < whole + 24; ++k) {
    const left = (k + 1 - count) / perSecond, p = 1 - left / flight;
    if (p <= 0) break;
    const [to, top] = place(k);
    items.push(R(`${id}.f${k}`, from + (to - from) * p, y + h * 0.5 + (top - y - h * 0.5) * p, side - gap, side - gap, '', {stroke: 'bytes', width: 2}));
  }
  return items;
};
const raceLane = (lane, i, view, race, box, ns, nsPerSecond) => {
  const id = `race.${lane.name}`, now = laneAt(lane, Math.min(ns, lane.ns)), {left, right, top, height, from} = box, text = view.text;
  const head = text * 1.5, grid = Math.min(height - head - text * 1.3, (right - left) * 0.16), pile = {x: left, y: top + head, h: grid, side: box.side, from};
  const gx = right - grid, gy = top + head, cells = 8, final = Math.floor(now.final * cells * cells + 1e-9), c = grid / cells, slow = lane === race.slow;
  const clock = duration(Math.min(ns, lane.ns));
  return [
    T(`${id}.title`, left, top + text, tr(`title.${lane.name}`), text * (view.small ? 0.95 : 1.15), {bold: true}),
    T(`${id}.bytes`, gx - text * (view.small ? 7.8 : 9.8), top + text, bytes(now.moved), text, {anchor: 'end', fill: 'bytes', bold: true, halo: true}),
    T(`${id}.clock`, gx - text * 2.8, top + text, clock, text, {anchor: 'end', fill: 'time', bold: true, halo: true}),
    ...laneSquares(id, pile, lane, now, race, nsPerSecond),
    R(slow ? 'm.o' : `${id}.grid`, gx, gy, grid, grid, 'surface', {stroke: 'matrix-o', width: 1.5}),
    P(`${id}.cells`, range(final).map(k => `M${(gx + k % cells * c).toFixed(1)} ${(gy + Math.floor(k / cells) * c).toFixed(1)}h${(c + 0.5).toFixed(2)}v${(c + 0.5).toFixed(2)}h-${(c + 0.5).toFixed(2)}z`).join(''), {fill: 'matrix-o'}),
    T(slow ? 't.o' : `${id}.o`, gx + grid / 2, gy + grid / 2 + view.display * 0.33, 'O', Math.min(view.display, grid * 0.5), {anchor: 'middle', bold: true, fill: final > 40 ? '#ffffff' : 'ink'}),
    T(`${id}.state`, gx + grid, top + text, now.done ? tr('done') : now.name ? tr(`kernel_${now.name}`) : `${Math.round(100 * now.final)}%`, text * (view.small ? 0.85 : 1), {anchor: 'end', bold: true}),
    R(`${id}.track`, left, gy + grid + text * 0.35, right - left, text * 0.42, 'grid', {r: 2}),
    R(`${id}.time`, left, gy + grid + text * 0.35, (right - left) * Math.min(ns, lane.ns) / race.slow.ns, text * 0.42, 'time', {r: 2}),
  ];
};
// All items of the race at `seconds` after its start.
const raceItems = (view, race, seconds) => {
  const {pad, text, w, h} = view, wall = view.small ? 26 : 64, left = pad + wall + (view.small ? 12 : 40), right = w - pad;
  const footer = view.display * 1.5 + text * 2.4, height = (h - pad - footer) / race.lanes.length;
  const nsPerSecond = race.slow.ns / raceTiming.length, ns = clamp(seconds - raceTiming.begin, 0, raceTiming.length) * nsPerSecond;
  const grid = Math.min(height - text * 2.8, (right - left) * 0.16), room = (right - left - grid - text * 1.5) * grid, count = Math.ceil(race.slow.dram / race.unit);
  let side = Math.sqrt(room / count);
  side = grid / Math.ceil(grid / side);
  const base = h - footer + text * 0.4, ended = seconds >= raceFinish, before = seconds < raceTiming.begin;
  const items = [tornWall('hbm', pad, pad, wall, h - footer - pad - text, 1), T('hbm.label', pad + wall * 0.5, (h - footer) / 2, tr('memory'), text, {anchor: 'middle', angle: -90, bold: true})];
  if (!before) items.push(L('race.now', left + (right - left) * ns / race.slow.ns, pad, left + (right - left) * ns / race.slow.ns, base - text, 'time', {opacity: ended ? 0 : 0.6}));
  race.lanes.forEach((lane, i) => items.push(...raceLane(lane, i, view, race, {left, right, top: pad + i * height, height, side, from: pad + wall}, ns, nsPerSecond)));
  const steps = view.small ? 2 : 4;
  for (const i of range(steps + 1)) items.push(T(`race.tick${i}`, left + (right - left) * i / steps, base, i === 0 ? '0' : duration(race.slow.ns * i / steps), text * 0.85, {anchor: i === 0 ? 'start' : i === steps ? 'end' : 'middle', fill: 'muted'}));
  const scrub = point => { stopPlaying(); params.race = raceTiming.begin + clamp((point.x - left) / (right - left), 0, 1) * raceTiming.length; changed(); };
  items.push(R('race.scrub', left, pad, right - left, base - pad, 'surface', {opacity: 0, drag: scrub, pan: true}));
  if (before && seconds > 0) items.push(T('race.count', (left + right) / 2, h * 0.46, String(Math.ceil(raceTiming.begin - seconds)), view.display * 3, {anchor: 'middle', bold: true}));
  const [line, other = ''] = ended ? raceVerdict(race) : [`${raceKey(race)} ${tr('race_clock', {times: grouped(1e9 / nsPerSecond)})}`];
  if (ended) items.push(T('race.verdict', pad, h - footer + text * 1.6 + view.display * 0.8, line, Math.min(view.display * 0.95, textFit(line, w - 2 * pad)), {bold: true}),
    T('race.verdict2', pad, h - footer + text * 3 + view.display * 0.8, other, Math.min(text, textFit(other, w - 2 * pad))));
  else items.push(...paragraph('race.key', pad, h - footer + text * 2.6, line, text, w - 2 * pad, {fill: 'muted'}));
  return items;
};
const raceNow = () => raceAt(raceLengths.includes(params.n) ? params.n : raceLengths.reduce((a, b) => Math.abs(a - 4096) < Math.abs(b - 4096) ? a : b));
const raceCaption = () => {
  const {n, eager} = raceNow();
  return tr('race_caption', {of: tr('of_points', scene.curves.of), n: grouped(n)}) + (eager ? ' ' + tr('race_eager', {time: duration(eager)}) : '');
};
const drawRace = seconds => view => raceLengths.length ? raceItems(view, raceNow(), seconds()) : [T('none', view.pad, view.h / 2, tr('no_data'), view.text)];
const lengthSlider = (list, name = 'n') => slider(name, 'N', {list, text: grouped});
states.race = {
  keys: ['n'], draw: drawRace(() => params.race), caption: raceCaption,
  enter: () => { params.n = raceLengths.length ? raceNow().n : 0; },
  controls: () => [playButton('race', () => raceFinish, () => 1), slider('race', tr('scrub'), {low: 0, high: raceFinish, step: 0.05, text: value => `${(+value).toFixed(0)} s`}), lengthSlider(raceLengths), filmButton()],
};
states['race-end'] = {...states.race, draw: drawRace(() => raceFinish), caption: () => `${raceKey(raceNow())} ${raceCaption()}`, controls: () => [lengthSlider(raceLengths)]};
params.race = reducedMotion.matches ? raceFinish : 0;

// Records the race as WebM in real time: the same items on a canvas of 1280 x 720.
const recordFilm = async note => {
  const view = pictureView(1280, 720), canvas = make('canvas', {width: 1280, height: 720}), race = raceNow();
  paintCanvas(canvas, view, raceItems(view, race, 0), raceCaption());
  const recorder = new MediaRecorder(canvas.captureStream(30), {mimeType: 'video/webm', videoBitsPerSecond: 6e6}), parts = [];
  recorder.ondataavailable = event => parts.push(event.data);
  const ended = new Promise(done => { recorder.onstop = done; });
  recorder.start();
  const start = performance.now();
  await new Promise(done => {
    const tick = () => {
      const seconds = (performance.now() - start) / 1000;
      paintCanvas(canvas, view, raceItems(view, race, Math.min(filmSeconds, seconds)), raceCaption());
      note.textContent = tr('recording', {left: Math.max(0, Math.ceil(filmSeconds - seconds))});
      seconds >= filmSeconds ? done() : setTimeout(tick, 33);
    };
    tick();
  });
  recorder.stop();
  await ended;
  saveFile(new Blob(parts, {type: 'video/webm'}), `attnscope-race-${race.n}.webm`);
};
const filmButton = () => {
  const note = make('output'), button = buttonTo(tr('save_film'), async () => {
    button.disabled = true;
    try { await recordFilm(note); note.textContent = tr('saved'); } catch (error) { note.textContent = `${tr('not_copied')} ${error.message}`; }
    button.disabled = false;
  }, {class: 'film'});
  button.hidden = typeof MediaRecorder === 'undefined';
  return make('span', {}, button, ' ', note);
};
