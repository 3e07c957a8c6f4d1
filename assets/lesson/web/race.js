// SPDX-License-Identifier: Apache-2.0
// The race: all algorithms at one N, each with its measured duration (scaled), while its bytes fill a bar.
const race = (figure, all) => {
  if (all.lanes.length === 0) { figure.append(tr('no_data')); return; }
  const seconds = 6;
  const n = make('input', {type: 'range', class: 'length', min: 0, max: all.lengths.length - 1, value: Math.max(0, all.lengths.indexOf(all.first)), 'aria-label': 'N', oninput: () => start()});
  const lengthLabel = make('output', {class: 'big'});
  const restart = make('button', {class: 'again', onclick: () => start()}, tr('race_again'));
  const verdict = make('p', {class: 'race-verdict', 'aria-live': 'polite'});
  const lanes = all.lanes.map(lane => {
    const picture = svg('svg', {viewBox: '0 0 100 130', role: 'img'});
    const map = drawPanels(picture, 'q × k', 1, ...lane.pairs, 84 / Math.max(...lane.pairs), 4, 20);
    const draw = drawTileMap({pairs: lane.pairs, frames: lane.rounds.map(round => ({p: round[1]}))}, map, picture);
    const kernel = picture.appendChild(svg('text', {x: 4, y: 122, class: 'size'}));
    const bar = make('i'), least = make('b');
    const column = make('div', {class: 'column'}, make('div', {}, bar, least), tr('dram'));
    const clock = make('p', {class: 'clock'}), moved = make('p', {class: 'moved'});
    const node = make('div', {class: 'lane'}, make('strong', {}, lane.title), make('div', {class: 'pair'}, picture, column), clock, moved);
    if (lane.other) node.append(make('p', {class: 'source'}, tr('another_function')));
    return {...lane, node, draw, bar, least, kernel, clock, moved, round: -1};
  });
  let lastUpdate = 0, startTime = null, rows = [], slowest = 1, maxBytes = 1;
  const frame = at => {
    startTime ??= at;
    const t = Math.min(1, (at - startTime) / 1000 / seconds) * slowest;
    const updateText = at - lastUpdate >= 80;
    lanes.forEach((lane, i) => {
      const row = rows[i];
      if (!row) return;
      const share = Math.min(1, t / row.ns), round = share < 1 ? Math.floor(share * lane.rounds.length) : Infinity;
      if (round !== lane.round) {
        lane.round = round;
        lane.draw(round);
        if (lane.kernels.length > 1) lane.kernel.textContent = lane.kernels[(lane.rounds[round] || lane.rounds.at(-1))[0]];
      }
      lane.bar.style.transform = `scaleY(${share * row.dram / maxBytes})`;
      if (share < 1 && !updateText) return;  // limits the update rate, for readable numbers
      lane.clock.textContent = duration(Math.min(t, row.ns));
      lane.moved.textContent = bytes(share * row.dram);
      lane.node.classList.toggle('done', share >= 1);
    });
    if (updateText) lastUpdate = at;
    if (t < slowest && figure.closest('section').classList.contains('here')) { requestAnimationFrame(frame); return; }
    running = false;
    if (t < slowest) return;
    const [slow, fast] = [all.slow, all.fast].map(place => rows[place] && {...rows[place], title: lanes[place].title});
    if (slow && fast) {
      verdict.textContent = tr('race_over', {n: all.lengths[+n.value], slow: slow.title, fast: fast.title, bytes_slow: bytes(slow.dram), bytes_fast: bytes(fast.dram),
                                            bytes: times(slow.dram / fast.dram), time: times(slow.ns / fast.ns)});
      if (all.rate) verdict.append(make('small', {}, tr('race_bound', {slow: slow.title, rate: `${(all.rate / 1e12).toFixed(2)} TB/s (${tr(all.rate_origin)})`, dram: duration(slow.dram / all.rate * 1e9), time: duration(slow.ns), fast: fast.title, other: duration(fast.dram / all.rate * 1e9), fast_time: duration(fast.ns)})));
    }
  };
  let running = false;
  const start = () => {
    rows = lanes.map(lane => lane.rows[+n.value]);
    [slowest, maxBytes] = [Math.max(...rows.map(row => row ? row.ns : 1)), Math.max(...rows.map(row => row ? row.dram : 1))];
    lengthLabel.textContent = `N ${all.lengths[+n.value]}`;
    verdict.textContent = '';
    lanes.forEach((lane, i) => {
      lane.round = -1;
      lane.least.style.bottom = `${100 * all.least[+n.value] / maxBytes}%`;
      lane.node.classList.remove('done');
      if (rows[i]) return;
      lane.draw(-1);
      [lane.clock.textContent, lane.moved.textContent, lane.kernel.textContent] = [tr('no_data'), '', ''];
      lane.bar.style.transform = 'scaleY(0)';
    });
    if (!rows.some(row => row)) return;
    clockNote.textContent = tr('race_clock', {gpu: all.gpu, origin: tr(all.times), times: Math.round(seconds * 1e9 / slowest).toLocaleString('en')});
    startTime = null;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) { startTime = -1e9; frame(0); return; }
    if (!running) { running = true; requestAnimationFrame(frame); }
  };
  const clockNote = make('p', {class: 'source'});
  figure.append(make('label', {class: 'row race-n'}, lengthLabel, n, restart), make('div', {class: 'lanes'}, ...lanes.map(lane => lane.node)), verdict, clockNote,
                make('figcaption', {}, `${all.of} · ${tr('race_key', {times: tr(all.times), bytes: tr(all.bytes), n: all.played})}`));
  const next = figure.closest('section').querySelector('.next');
  if (next) verdict.after(next);
  players.push({figure, step: by => { n.value = +n.value + by; start(); }, toggle: start});
  pageListeners.push(page => { if (page.contains(figure)) start(); });
};
