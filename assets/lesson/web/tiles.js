// SPDX-License-Identifier: Apache-2.0
// Tile programs: accesses of the running blocks per step, accumulated bytes, and the on-chip memory of a block.
const legend = () => make('div', {class: 'legend row'}, ...[['l2_hit', 'matrix-q'], ['l2_miss', 'matrix-o'], ['written', 'matrix-v'], ['added', 'matrix-p']].map(
  ([key, color]) => make('span', {}, make('i', {style: `background:var(--${color})`}), tr(key))));

// Draws a matrix as one panel per head, side by side as space permits. rect() returns the position of a row of all heads.
const drawPanels = (picture, name, heads, rows, cols, scale, x, y) => {
  const [width, height] = [Math.max(5, cols * scale), Math.max(5, rows * scale)];
  const across = Math.max(1, Math.min(heads, Math.floor(160 / (width + 4))));
  const at = head => [x + head % across * (width + 4), y + Math.floor(head / across) * (height + 4)];
  picture.append(svg('text', {x, y: y - 5}, name));
  for (let head = 0; head < heads; ++head) {
    const [left, top] = at(head);
    picture.append(svg('rect', {class: 'matrix', x: left, y: top, width, height}));
  }
  const rect = (row, down, col, right) => {
    const [left, top] = at(Math.floor(row / rows));
    return {x: left + col * width / cols, y: top + row % rows * height / rows, width: Math.max(2, right * width / cols), height: Math.max(2, down * height / rows)};
  };
  return {rect, width: across * (width + 4), height: Math.ceil(heads / across) * (height + 4)};
};

// Draws the tiles of S and returns a function that marks the tiles of a frame, and those of earlier frames.
const drawTileMap = ({heads, pairs, frames}, {rect}, picture) => {
  const tiles = new Map();
  frames.forEach((frame, i) => (frame.p || []).forEach(([top, left, down, right]) => {
    for (let r = top; r < top + down; ++r) {
      for (let c = left; c < left + right; ++c) {
        const at = r * pairs[1] + c;
        if (!tiles.has(at)) tiles.set(at, {first: i, activeFrames: new Set(), tile: picture.appendChild(svg('rect', {...rect(r, 1, c, 1), class: 'pending'}))});
        tiles.get(at).activeFrames.add(i);
      }
    }
  }));
  return frameIndex => tiles.forEach(({first, activeFrames, tile}) => {
    const state = activeFrames.has(frameIndex) ? 'current' : first <= frameIndex ? 'visited' : 'pending';
    if (tile.getAttribute('class') !== state) tile.setAttribute('class', state);
  });
};

const tilePlayer = (shown, single, most) => {
  const picture = svg('svg', {role: 'img'});
  const stepInfo = make('p', {class: 'step-info', 'aria-live': single ? 'polite' : 'off'});
  const tally = make('table', {class: 'tally'});
  const chip = make('div', {class: 'chip'});
  const wall = make('p', {class: 'wall'});
  const live = svg('g');
  const longest = Math.max(...shown.matrices.map(m => Math.max(m.rows, m.cols)));
  const widest = single ? 640 : 420;
  let x = 8, y = 22, height = 0;
  const place = (name, heads, rows, cols, scale) => {
    const trial = drawPanels(svg('g'), name, heads, rows, cols, scale, 0, 0), width = Math.max(trial.width, 48);
    if (x > 8 && x + width > widest) { x = 8; y += height + 26; height = 0; }
    const placed = drawPanels(picture, name, heads, rows, cols, scale, x, y);
    x += width + 12;
    height = Math.max(height, trial.height);
    return placed;
  };
  const side = shown.heads > 1 ? 74 : 150;
  const places = shown.matrices.map(m => place(m.name, shown.heads, m.rows, m.cols, side / longest));
  const map = shown.pairs ? drawTileMap(shown, place('q × k', shown.heads, ...shown.pairs, side * 0.9 / Math.max(...shown.pairs)), picture) : () => {};
  picture.setAttribute('viewBox', `0 0 ${widest + 10} ${y + height + 10}`);
  picture.append(live);
  const row = (name, ...cells) => make('tr', {}, make('th', {}, name), ...cells.map(cell => make('td', {class: 'number'}, cell)));
  const draw = frameIndex => {
    frameIndex = Math.min(frameIndex, shown.frames.length - 1);
    const frame = shown.frames[frameIndex];
    map(frameIndex);
    const kernel = shown.kernels[frame.k];
    live.replaceChildren(...frame.a.map(([m, r, rows, c, cols, kind]) => svg('rect', {class: ['l2-hit', 'l2-miss', 'store', 'add'][kind], ...places[m].rect(r, rows, c, cols)})));
    const steps = shown.frames.filter(each => each.k === frame.k).length, before = shown.frames.findIndex(each => each.k === frame.k);
    stepInfo.textContent = `${tr('kernel')} ${kernel.name} · ${tr('step')} ${frameIndex - before + 1} ${tr('of')} ${steps} · ${tr('blocks_at_work')} ${frame.b}`;
    const moved = frame.d[1] + frame.d[2];
    wall.replaceChildren(`${tr('dram')} (${tr('simulated')}): ${bytes(moved)}`, make('span', {class: 'meter'}, make('i', {style: `width:${100 * moved / most}%`})));
    tally.replaceChildren(make('tr', {}, make('th', {}, tr('tally')), make('th', {}, tr('read')), make('th', {}, tr('written'))));
    let [read, written, closedRead, closedWritten] = [0, 0, 0, 0];
    shown.matrices.forEach((m, i) => {
      tally.append(row(m.name, bytes(frame.t[2 * i]), bytes(frame.t[2 * i + 1])));
      read += frame.t[2 * i]; written += frame.t[2 * i + 1];
      closedRead += shown.closed[2 * i]; closedWritten += shown.closed[2 * i + 1];
    });
    tally.append(row(tr('sm_l2'), bytes(read), bytes(written)), row(`${tr('dram')} (${tr('simulated')})`, bytes(frame.d[1]), bytes(frame.d[2])));
    const closed = row(`${tr('closed_form')} (${tr('modeled')})`, bytes(closedRead), bytes(closedWritten));
    const matches = frame.t.every((value, i) => value === shown.closed[i]);
    if (matches) closed.className = 'matches';
    tally.append(closed);
    chip.replaceChildren();
    kernel.parts.forEach(part => {
      chip.append(make('span', {}, part.name), make('div', {}, make('b', {}, bytes(part.bytes))));
    });
    return matches;
  };
  const text = (shown.own ? tr('own_tile') + ' ' : '') + (shown.shorter ? tr('shorter_n') + ' ' : '') + tr('program_order') + ' ' + tr('settled');
  const details = [tally, make('p', {class: 'source'}, tr('on_chip')), chip];
  const problem = make('p', {class: 'source'}, shown.problem);
  const node = single ? make('div', {class: 'single'}, make('div', {}, problem, picture, stepInfo), make('div', {}, ...details))
                      : make('div', {class: 'side-item'}, make('strong', {}, shown.title), problem, wall, picture, stepInfo, ...details);
  return {node, draw, frames: shown.frames.length, text: single ? text : `${shown.title}: ${text}`};
};

const tiles = (figure, all) => {
  if (all.length === 0) { figure.append(tr('no_data')); return; }
  const titles = [...new Set(all.map(each => each.title))];
  const variants = [...new Set(all.map(each => each.mask))];
  const option = (value, text) => make('option', {value}, text);
  const pick = make('select', {class: 'pick', 'aria-label': tr('algorithm'), onchange: () => play()}, ...(titles.length > 1 ? [option(-1, tr('side_by_side'))] : []), ...titles.map((title, i) => option(i, title)));
  const variant = make('select', {class: 'variant', 'aria-label': tr('variant'), onchange: () => play()}, ...variants.map((name, i) => option(i, name)));
  const room = make('div');
  const order = make('details', {class: 'source'});
  let drawn = [];
  const draw = at => { figure.dataset.matches = drawn.map(each => each.draw(at)).every(each => each) ? 1 : 0; };
  const control = playbackControls(figure, () => Math.max(1, ...drawn.map(each => each.frames)), draw);
  const play = () => {
    const one = +pick.value;
    // Algorithms that do not support the variant have no exported program.
    const shown = all.filter(each => each.mask === variants[+variant.value] && (one < 0 || each.title === titles[one]));
    const most = Math.max(...shown.map(({frames}) => frames[frames.length - 1].d[1] + frames[frames.length - 1].d[2]));
    drawn = shown.map(each => tilePlayer(each, shown.length === 1, most));
    room.className = drawn.length > 1 ? 'side-by-side' : '';
    room.replaceChildren(...(drawn.length > 0 ? drawn.map(each => each.node) : [tr('refused')]));
    order.replaceChildren(make('summary', {}, tr('how_counted')), ...drawn.map(each => make('p', {}, each.text)));
    control.stop();
    control.set(0);
  };
  figure.append(make('div', {class: 'row'}, pick, make('label', {class: 'row'}, tr('variant'), variant)), control.buttons, control.scrub, room, legend(), order);
  play();
};
