// SPDX-License-Identifier: Apache-2.0
// The race: every algorithm at one N, each as long as the GPU's clock had it, while its bytes fill a bar.
const race = (figure, all) => {
  if (all.lanes.length === 0) { figure.append(w('no_data')); return; }
  const seconds = 6;
  const n = make('input', {type: 'range', class: 'length', min: 0, max: all.lengths.length - 1, value: Math.max(0, all.lengths.indexOf(all.first)), 'aria-label': 'N', oninput: () => start()});
  const now = make('output', {class: 'big'});
  const again = make('button', {class: 'again', onclick: () => start()}, w('race_again'));
  const verdict = make('p', {class: 'verdict-of-race', 'aria-live': 'polite'});
  const lanes = all.lanes.map(lane => {
    const picture = svg('svg', {viewBox: '0 0 100 130', role: 'img'});
    const map = panelsOf(picture, 'q × k', 1, ...lane.pairs, 84 / Math.max(...lane.pairs), 4, 20);
    const draw = pairMap({pairs: lane.pairs, frames: lane.rounds.map(round => ({p: round[1]}))}, map, picture);
    const kernel = picture.appendChild(svg('text', {x: 4, y: 122, class: 'size'}));
    const bar = make('i'), least = make('b');
    const column = make('div', {class: 'column'}, make('div', {}, bar, least), w('dram'));
    const clock = make('p', {class: 'clock'}), moved = make('p', {class: 'moved'});
    const node = make('div', {class: 'lane'}, make('strong', {}, lane.title), make('div', {class: 'pair'}, picture, column), clock, moved);
    if (lane.other) node.append(make('p', {class: 'source'}, w('another_function')));
    return {...lane, node, draw, bar, least, kernel, clock, moved, round: -1};
  });
  let said = 0, began = null, rows = [], slowest = 1, most = 1;
  const frame = at => {
    began ??= at;
    const t = Math.min(1, (at - began) / 1000 / seconds) * slowest;
    const say = at - said >= 80;
    lanes.forEach((lane, i) => {
      const row = rows[i];
      if (!row) return;
      const share = Math.min(1, t / row.ns), round = share < 1 ? Math.floor(share * lane.rounds.length) : Infinity;
      if (round !== lane.round) {
        lane.round = round;
        lane.draw(round);
        if (lane.kernels.length > 1) lane.kernel.textContent = lane.kernels[(lane.rounds[round] || lane.rounds.at(-1))[0]];
      }
      lane.bar.style.transform = `scaleY(${share * row.dram / most})`;
      if (share < 1 && !say) return;  // figures that change faster are not read
      lane.clock.textContent = duration(Math.min(t, row.ns));
      lane.moved.textContent = bytes(share * row.dram);
      lane.node.classList.toggle('done', share >= 1);
    });
    if (say) said = at;
    if (t < slowest && figure.closest('section').classList.contains('here')) { requestAnimationFrame(frame); return; }
    running = false;
    if (t < slowest) return;
    const [slow, fast] = [all.slow, all.fast].map(place => rows[place] && {...rows[place], title: lanes[place].title});
    if (slow && fast) {
      verdict.textContent = w('race_over', {n: all.lengths[+n.value], slow: slow.title, fast: fast.title, bytes_slow: bytes(slow.dram), bytes_fast: bytes(fast.dram),
                                            bytes: times(slow.dram / fast.dram), time: times(slow.ns / fast.ns)});
      if (all.rate) verdict.append(make('small', {}, w('race_bound', {slow: slow.title, rate: `${(all.rate / 1e12).toFixed(2)} TB/s (${w(all.rate_origin)})`, dram: duration(slow.dram / all.rate * 1e9), time: duration(slow.ns), fast: fast.title, other: duration(fast.dram / all.rate * 1e9), fast_time: duration(fast.ns)})));
    }
  };
  let running = false;
  const start = () => {
    rows = lanes.map(lane => lane.rows[+n.value]);
    [slowest, most] = [Math.max(...rows.map(row => row ? row.ns : 1)), Math.max(...rows.map(row => row ? row.dram : 1))];
    now.textContent = `N ${all.lengths[+n.value]}`;
    verdict.textContent = '';
    lanes.forEach((lane, i) => {
      lane.round = -1;
      lane.least.style.bottom = `${100 * all.least[+n.value] / most}%`;
      lane.node.classList.remove('done');
      if (rows[i]) return;
      lane.draw(-1);
      [lane.clock.textContent, lane.moved.textContent, lane.kernel.textContent] = [w('no_data'), '', ''];
      lane.bar.style.transform = 'scaleY(0)';
    });
    if (!rows.some(row => row)) return;
    stretch.textContent = w('race_clock', {gpu: all.gpu, origin: w(all.times), times: Math.round(seconds * 1e9 / slowest).toLocaleString('en')});
    began = null;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) { began = -1e9; frame(0); return; }
    if (!running) { running = true; requestAnimationFrame(frame); }
  };
  const stretch = make('p', {class: 'source'});
  figure.append(make('label', {class: 'row race-n'}, now, n, again), make('div', {class: 'lanes'}, ...lanes.map(lane => lane.node)), verdict, stretch,
                make('figcaption', {}, `${all.of} · ${w('race_key', {times: w(all.times), bytes: w(all.bytes), n: all.played})}`));
  const next = figure.closest('section').querySelector('.next');
  if (next) verdict.after(next);
  players.push({figure, step: by => { n.value = +n.value + by; start(); }, toggle: start});
  shown.push(page => { if (page.contains(figure)) start(); });
};
