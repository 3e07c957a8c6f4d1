// SPDX-License-Identifier: Apache-2.0
// Tile programs: what the blocks at work move in a step, the bytes so far, and what one of them holds.
const legend = () => make('div', {class: 'legend row'}, ...[['l2_hit', 'blue'], ['l2_miss', 'orange'], ['written', 'green'], ['added', 'red']].map(
  ([word, colour]) => make('span', {}, make('i', {style: `background:var(--${colour})`}), w(word))));

// A matrix as a panel a head, side by side where there is room; places(row) gives the panel and the row in it.
const panelsOf = (picture, name, heads, rows, cols, scale, x, y) => {
  const [wide, high] = [Math.max(5, cols * scale), Math.max(5, rows * scale)];
  const across = Math.max(1, Math.min(heads, Math.floor(160 / (wide + 4))));
  const at = head => [x + head % across * (wide + 4), y + Math.floor(head / across) * (high + 4)];
  picture.append(svg('text', {x, y: y - 5}, name));
  for (let head = 0; head < heads; ++head) {
    const [left, top] = at(head);
    picture.append(svg('rect', {class: 'matrix', x: left, y: top, width: wide, height: high}));
  }
  const rect = (row, down, col, right) => {
    const [left, top] = at(Math.floor(row / rows));
    return {x: left + col * wide / cols, y: top + row % rows * high / rows, width: Math.max(2, right * wide / cols), height: Math.max(2, down * high / rows)};
  };
  return {rect, width: across * (wide + 4), height: Math.ceil(heads / across) * (high + 4)};
};

// The tiles of S, which of them are in hand in a frame, and which were before.
const pairMap = ({heads, pairs, frames}, {rect}, picture) => {
  const tiles = new Map();
  frames.forEach((frame, i) => (frame.p || []).forEach(([top, left, down, right]) => {
    for (let r = top; r < top + down; ++r) {
      for (let c = left; c < left + right; ++c) {
        const at = r * pairs[1] + c;
        if (!tiles.has(at)) tiles.set(at, {first: i, now: new Set(), tile: picture.appendChild(svg('rect', {...rect(r, 1, c, 1), class: 'unseen'}))});
        tiles.get(at).now.add(i);
      }
    }
  }));
  return to => tiles.forEach(({first, now, tile}) => {
    const state = now.has(to) ? 'in-hand' : first <= to ? 'seen' : 'unseen';
    if (tile.getAttribute('class') !== state) tile.setAttribute('class', state);
  });
};

const tilePlayer = (shown, single, most) => {
  const picture = svg('svg', {role: 'img'});
  const now = make('p', {class: 'now', 'aria-live': single ? 'polite' : 'off'});
  const tally = make('table', {class: 'tally'});
  const chip = make('div', {class: 'chip'});
  const wall = make('p', {class: 'wall'});
  const live = svg('g');
  const longest = Math.max(...shown.matrices.map(m => Math.max(m.rows, m.cols)));
  const widest = single ? 640 : 420;
  let x = 8, y = 22, high = 0;
  const place = (name, heads, rows, cols, scale) => {
    const trial = panelsOf(svg('g'), name, heads, rows, cols, scale, 0, 0), wide = Math.max(trial.width, 48);
    if (x > 8 && x + wide > widest) { x = 8; y += high + 26; high = 0; }
    const placed = panelsOf(picture, name, heads, rows, cols, scale, x, y);
    x += wide + 12;
    high = Math.max(high, trial.height);
    return placed;
  };
  const side = shown.heads > 1 ? 74 : 150;
  const places = shown.matrices.map(m => place(m.name, shown.heads, m.rows, m.cols, side / longest));
  const map = shown.pairs ? pairMap(shown, place('q × k', shown.heads, ...shown.pairs, side * 0.9 / Math.max(...shown.pairs)), picture) : () => {};
  picture.setAttribute('viewBox', `0 0 ${widest + 10} ${y + high + 10}`);
  picture.append(live);
  const row = (name, ...cells) => make('tr', {}, make('th', {}, name), ...cells.map(cell => make('td', {class: 'number'}, cell)));
  const draw = to => {
    to = Math.min(to, shown.frames.length - 1);
    const frame = shown.frames[to];
    map(to);
    const kernel = shown.kernels[frame.k];
    live.replaceChildren(...frame.a.map(([m, r, rows, c, cols, kind]) => svg('rect', {class: ['hit', 'miss', 'store', 'add'][kind], ...places[m].rect(r, rows, c, cols)})));
    const steps = shown.frames.filter(each => each.k === frame.k).length, before = shown.frames.findIndex(each => each.k === frame.k);
    now.textContent = `${w('kernel')} ${kernel.name} · ${w('step')} ${to - before + 1} ${w('of')} ${steps} · ${w('blocks_at_work')} ${frame.b}`;
    const moved = frame.d[1] + frame.d[2];
    wall.replaceChildren(`${w('dram')} (${w('simulated')}): ${bytes(moved)}`, make('span', {class: 'meter'}, make('i', {style: `width:${100 * moved / most}%`})));
    tally.replaceChildren(make('tr', {}, make('th', {}, w('tally')), make('th', {}, w('read')), make('th', {}, w('written'))));
    let [read, written, closedRead, closedWritten] = [0, 0, 0, 0];
    shown.matrices.forEach((m, i) => {
      tally.append(row(m.name, bytes(frame.t[2 * i]), bytes(frame.t[2 * i + 1])));
      read += frame.t[2 * i]; written += frame.t[2 * i + 1];
      closedRead += shown.closed[2 * i]; closedWritten += shown.closed[2 * i + 1];
    });
    tally.append(row(w('sm_l2'), bytes(read), bytes(written)), row(`${w('dram')} (${w('simulated')})`, bytes(frame.d[1]), bytes(frame.d[2])));
    const closed = row(`${w('closed_form')} (${w('modeled')})`, bytes(closedRead), bytes(closedWritten));
    const meets = frame.t.every((value, i) => value === shown.closed[i]);
    if (meets) closed.className = 'meets';
    tally.append(closed);
    chip.replaceChildren();
    kernel.parts.forEach(part => {
      chip.append(make('span', {}, part.name), make('div', {}, make('b', {}, bytes(part.bytes))));
    });
    return meets;
  };
  const text = (shown.own ? w('own_tile') + ' ' : '') + (shown.shorter ? w('shorter_n') + ' ' : '') + w('program_order') + ' ' + w('settled');
  const details = [tally, make('p', {class: 'source'}, w('on_chip')), chip];
  const problem = make('p', {class: 'source'}, shown.problem);
  const node = single ? make('div', {class: 'single'}, make('div', {}, problem, picture, now), make('div', {}, ...details))
                      : make('div', {class: 'beside'}, make('strong', {}, shown.title), problem, wall, picture, now, ...details);
  return {node, draw, frames: shown.frames.length, text: single ? text : `${shown.title}: ${text}`};
};

const tiles = (figure, all) => {
  if (all.length === 0) { figure.append(w('no_data')); return; }
  const titles = [...new Set(all.map(each => each.title))];
  const variants = [...new Set(all.map(each => each.mask))];
  const option = (value, text) => make('option', {value}, text);
  const pick = make('select', {class: 'pick', 'aria-label': w('algorithm'), onchange: () => play()}, ...(titles.length > 1 ? [option(-1, w('side_by_side'))] : []), ...titles.map((title, i) => option(i, title)));
  const variant = make('select', {class: 'variant', 'aria-label': w('variant'), onchange: () => play()}, ...variants.map((name, i) => option(i, name)));
  const room = make('div');
  const order = make('details', {class: 'source'});
  let drawn = [];
  const draw = at => { figure.dataset.meets = drawn.map(each => each.draw(at)).every(each => each) ? 1 : 0; };
  const control = transport(figure, () => Math.max(1, ...drawn.map(each => each.frames)), draw);
  const play = () => {
    const one = +pick.value;
    // What refuses a choice is not among those that were played.
    const shown = all.filter(each => each.mask === variants[+variant.value] && (one < 0 || each.title === titles[one]));
    const most = Math.max(...shown.map(({frames}) => frames[frames.length - 1].d[1] + frames[frames.length - 1].d[2]));
    drawn = shown.map(each => tilePlayer(each, shown.length === 1, most));
    room.className = drawn.length > 1 ? 'side-by-side' : '';
    room.replaceChildren(...(drawn.length > 0 ? drawn.map(each => each.node) : [w('refused')]));
    order.replaceChildren(make('summary', {}, w('how_counted')), ...drawn.map(each => make('p', {}, each.text)));
    control.stop();
    control.set(0);
  };
  figure.append(make('div', {class: 'row'}, pick, make('label', {class: 'row'}, w('variant'), variant)), control.bar, control.scrub, room, legend(), order);
  play();
};
