// SPDX-License-Identifier: Apache-2.0
// Shows what the program exported and computes no traffic; it plays the online softmax, whose scores may be one's own.
'use strict';
(() => {
  const words = JSON.parse(document.getElementById('words').textContent);
  const w = key => words[key] || key;
  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
      else if (value === true) node.setAttribute(key, '');
      else if (value !== false && value != null) node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  };
  const svg = (tag, attributes = {}, text = '') => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return node;
  };
  const bytes = value => {
    const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let i = 0;
    for (; value >= 1024 && i + 1 < names.length; ++i) value /= 1024;
    return (i === 0 ? value : value.toPrecision(value >= 1000 ? 4 : 3)) + ' ' + names[i];
  };
  const number = value => value === null || value === -Infinity ? '−∞' : value === Infinity ? '∞' : String(+value.toPrecision(5));

  // What was answered stays in this browser, if it lets us.
  const key = document.body.dataset.key;
  let memory = {};
  try { memory = JSON.parse(localStorage.getItem(key)) || {}; } catch (ignored) { memory = {}; }
  const keep = () => { try { localStorage.setItem(key, JSON.stringify(memory)); } catch (ignored) { /* private window */ } };

  // Pages.
  const sections = [...document.querySelectorAll('section')];
  const show = id => {
    const place = Math.max(0, sections.findIndex(section => section.id === id));
    sections.forEach((section, i) => section.classList.toggle('here', i === place));
    document.querySelectorAll('nav a').forEach((a, i) => a.classList.toggle('here', i === place));
    if (sections[place].id === 'results') results();
    memory.page = sections[place].id;
    keep();
    scrollTo(0, 0);
  };
  const here = () => sections.findIndex(section => section.classList.contains('here'));
  const go = step => { const to = sections[Math.min(sections.length - 1, Math.max(0, here() + step))]; location.hash = to.id; };
  // "#tiling" or "#5"; a name that nobody can have made is the first page.
  const asked = () => {
    let name = '';
    try { name = decodeURIComponent(location.hash.slice(1)); } catch (ignored) { /* no page's */ }
    return sections[name - 1] ? sections[name - 1].id : name;
  };
  addEventListener('hashchange', () => show(asked()));

  const theme = name => {
    document.documentElement.dataset.theme = name;
    document.getElementById('theme').textContent = w(name === 'dark' ? 'light' : 'dark');
    memory.theme = name;
    keep();
  };
  const toggleTheme = () => theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  const toggleBig = () => { document.documentElement.toggleAttribute('data-big'); memory.big = document.documentElement.hasAttribute('data-big'); keep(); };
  document.getElementById('theme').addEventListener('click', toggleTheme);
  document.getElementById('big').addEventListener('click', toggleBig);
  document.querySelectorAll('.language').forEach(link => link.addEventListener('click', () => { link.hash = sections[here()].id; }));
  theme(memory.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
  if (memory.big) document.documentElement.setAttribute('data-big', '');

  // Questions and claims: chosen, locked, revealed.
  const answers = memory.answers = memory.answers || {};
  const wire = (box, reveal) => {
    const id = box.dataset.id;
    const inputs = [...box.querySelectorAll('input[type=radio]')];
    const [lock, open] = [box.querySelector('.lock'), box.querySelector('.reveal')];
    const refresh = () => {
      // A choice that a newer page has no more is none.
      if (answers[id] && !inputs.some(input => input.value === answers[id].value)) delete answers[id];
      const state = answers[id] || {};
      inputs.forEach(input => {
        input.checked = input.value === state.value;
        input.disabled = !!state.locked;
        // Browsers draw the mark of what is locked in grey like the others'.
        input.closest('.choice').classList.toggle('chosen', input.checked && input.disabled);
      });
      lock.disabled = !state.value || !!state.locked;
      open.disabled = !state.locked || !!state.revealed;
      const note = box.querySelector('output');
      if (note) note.textContent = state.locked && !state.revealed ? w('locked') : '';
      reveal(state);
    };
    // After a click the arrow keys step again; who chooses by keys keeps them.
    inputs.forEach(input => input.addEventListener('click', event => { if (event.detail > 0) input.blur(); }));
    inputs.forEach(input => input.addEventListener('change', () => { answers[id] = {value: input.value}; keep(); refresh(); }));
    lock.addEventListener('click', () => { answers[id].locked = true; keep(); refresh(); });
    open.addEventListener('click', () => { answers[id].revealed = true; keep(); refresh(); });
    refresh();
    return refresh;
  };
  const refreshers = [];
  document.querySelectorAll('.question').forEach(box => {
    const choices = [...box.querySelectorAll('.choice')];
    refreshers.push(wire(box, state => {
      choices.forEach((choice, i) => {
        const chosen = String(i) === state.value;
        const right = choice.dataset.right === '1';
        choice.querySelector('.because').hidden = !state.revealed || !(chosen || right);
        choice.classList.toggle('is-right', !!state.revealed && right);
        choice.classList.toggle('is-wrong', !!state.revealed && chosen && !right);
      });
      if (state.revealed) box.querySelector('output').textContent = choices[+state.value].dataset.right === '1' ? w('right') : w('wrong');
    }));
  });
  document.querySelectorAll('.claim').forEach(box => refreshers.push(wire(box, state => {
    box.querySelector('.verdict').hidden = !state.revealed;
    if (state.revealed) box.querySelector('.foreseen').textContent = state.value === box.dataset.outcome ? w('agreed') : w('disagreed');
  })));

  const results = () => {
    const table = document.getElementById('result-table');
    table.replaceChildren();
    let [right, asked, foreseen, judged] = [0, 0, 0, 0];
    document.querySelectorAll('.question, .claim').forEach(box => {
      const state = answers[box.dataset.id] || {};
      const claim = box.classList.contains('claim');
      claim ? ++judged : ++asked;
      const title = claim ? box.querySelector('h3').textContent : box.querySelector('p').textContent;
      let mark = w('not_answered');
      if (state.revealed) {
        const good = claim ? state.value === box.dataset.outcome : box.querySelectorAll('.choice')[+state.value].dataset.right === '1';
        if (good) claim ? ++foreseen : ++right;
        mark = claim ? w(good ? 'agreed' : 'disagreed') : w(good ? 'right' : 'wrong');
      }
      table.append(make('tr', {}, make('td', {}, title), make('td', {}, mark)));
    });
    table.prepend(make('tr', {}, make('th', {}, w('correct_answers')), make('th', {}, `${right} ${w('of')} ${asked}`)),
                  make('tr', {}, make('th', {}, w('verdicts_foreseen')), make('th', {}, `${foreseen} ${w('of')} ${judged}`)));
  };
  document.getElementById('print').addEventListener('click', () => print());
  document.getElementById('forget').addEventListener('click', () => {
    for (const id of Object.keys(answers)) delete answers[id];
    keep();
    refreshers.forEach(refresh => refresh());
    results();
  });

  // One transport for everything that has frames: play, pause, step, back, scrub, speed.
  const players = [];
  const transport = (figure, count, draw) => {
    let at = 0, timer = null;
    const scrub = make('input', {type: 'range', min: 0, max: count() - 1, value: 0, class: 'scrub', 'aria-label': w('scrub'), oninput: () => { stop(); set(+scrub.value); }});
    const playing = make('button', {class: 'play-button', onclick: () => timer === null ? start() : stop()}, w('play'));
    const speed = make('select', {'aria-label': w('speed'), onchange: () => { draw(at); if (timer !== null) { stop(); start(); } }},
                       ...[1, 2, 5, 10, 30, 60].map(n => make('option', {value: n, selected: n === 5}, `${n}/s`)));
    const set = to => {
      at = Math.max(0, Math.min(count() - 1, to));
      scrub.max = count() - 1;
      scrub.value = at;
      figure.dataset.frame = at;
      draw(at);
    };
    const stop = () => { clearInterval(timer); timer = null; playing.textContent = w('play'); };
    const start = () => {
      if (at >= count() - 1) set(0);
      playing.textContent = w('pause');
      timer = setInterval(() => at >= count() - 1 ? stop() : set(at + 1), 1000 / +speed.value);
    };
    const button = (word, name, act) => make('button', {title: w(word), class: name, onclick: () => { stop(); act(); }}, {first: '|◀', back: '◀', forward: '▶', last: '▶|'}[word]);
    const bar = make('div', {class: 'row'}, button('first', 'to-first', () => set(0)), button('back', 'step-back', () => set(at - 1)), playing,
                     button('forward', 'step', () => set(at + 1)), button('last', 'to-last', () => set(count() - 1)), speed);
    const control = {figure, set, stop, step: by => { stop(); set(at + by); figure.scrollIntoView({block: 'nearest'}); }, toggle: () => timer === null ? start() : stop(), speed: () => +speed.value, bar, scrub};
    players.push(control);
    return control;
  };

  const legend = () => make('div', {class: 'legend row'}, ...[['hit', 'l2_hit', 'blue'], ['miss', 'l2_miss', 'orange'], ['store', 'written', 'green'], ['add', 'added', 'red']].map(
    ([, word, colour]) => make('span', {}, make('i', {style: `background:var(--${colour})`}), w(word))));

  // One algorithm: its matrices, what a step moves, the bytes so far, and what the block holds.
  const tilePlayer = (shown, single) => {
    const picture = svg('svg', {role: 'img'});
    const now = make('p', {class: 'now', 'aria-live': single ? 'polite' : 'off'});
    const tally = make('table', {class: 'tally'});
    const chip = make('div', {class: 'chip'});
    const live = svg('g');
    const longest = Math.max(...shown.matrices.map(m => Math.max(m.rows, m.cols)));
    const scale = 150 / longest;
    const widest = single ? 640 : 420;
    let x = 8, y = 22, high = 0;
    const place = (name, rows, cols, scale) => {
      const [width, height] = [Math.max(5, cols * scale), Math.max(5, rows * scale)];
      if (x > 8 && x + Math.max(width, 48) > widest) { x = 8; y += high + 30; high = 0; }
      picture.append(svg('text', {x, y: y - 5}, name), svg('rect', {class: 'matrix', x, y, width, height}));
      const placed = {x, y, sx: width / cols, sy: height / rows};
      x += Math.max(width, 48) + 14;
      high = Math.max(high, height);
      return placed;
    };
    const places = shown.matrices.map(m => place(m.name, m.rows, m.cols, scale));
    // Of each tile of S the frame that comes by it first; what the mask leaves out is in none.
    const seen = new Map();
    if (shown.pairs) {
      const [rows, cols] = shown.pairs, p = place('q × k', rows, cols, 120 / Math.max(rows, cols));
      shown.frames.forEach((frame, i) => {
        if (!frame.p) return;
        const [top, left, down, across] = frame.p;
        for (let r = top; r < top + down; ++r) {
          for (let c = left; c < left + across; ++c) {
            const key = r * cols + c;
            if (!seen.has(key)) seen.set(key, {first: i, r, c, tile: picture.appendChild(svg('rect', {x: p.x + c * p.sx, y: p.y + r * p.sy, width: p.sx, height: p.sy}))});
          }
        }
      });
    }
    picture.setAttribute('viewBox', `0 0 ${widest + 10} ${y + high + 10}`);
    picture.append(live);
    const row = (name, ...cells) => make('tr', {}, make('th', {}, name), ...cells.map(cell => make('td', {class: 'number'}, cell)));
    const draw = to => {
      to = Math.min(to, shown.frames.length - 1);
      const frame = shown.frames[to];
      const [top, left, down, across] = frame.p || [-1, -1, 0, 0];
      for (const {first, r, c, tile} of seen.values()) {
        tile.setAttribute('class', r >= top && r < top + down && c >= left && c < left + across ? 'in-hand' : first <= to ? 'seen' : 'unseen');
      }
      const kernel = shown.kernels[frame.k];
      live.replaceChildren();
      for (const [m, r, rows, c, cols, kind] of frame.a) {
        const p = places[m];
        live.append(svg('rect', {class: ['hit', 'miss', 'store', 'add'][kind], x: p.x + c * p.sx, y: p.y + r * p.sy, width: Math.max(2, cols * p.sx), height: Math.max(2, rows * p.sy)}));
      }
      now.textContent = `${w('kernel')} ${kernel.name} · ${w('block')} ${frame.b} · ${w('frame_of')} ${frame.s + 1} ${w('of')} ${frame.n}` + (frame.c.length ? ' · ' + frame.c.join('; ') : '');
      tally.replaceChildren(make('tr', {}, make('th', {}, w('tally')), make('th', {}, w('read')), make('th', {}, w('written'))));
      let [read, written, closedRead, closedWritten] = [0, 0, 0, 0];
      shown.matrices.forEach((m, i) => {
        tally.append(row(m.name, bytes(frame.t[2 * i]), bytes(frame.t[2 * i + 1])));
        read += frame.t[2 * i]; written += frame.t[2 * i + 1];
        closedRead += shown.closed[2 * i]; closedWritten += shown.closed[2 * i + 1];
      });
      tally.append(row(w('sm_l2'), bytes(read), bytes(written)), row(`${w('dram')} (${w('simulated')})`, bytes(frame.d[1]), bytes(frame.d[2])));
      const closed = row(`${w('closed_form')} (${w('modelled')})`, bytes(closedRead), bytes(closedWritten));
      const meets = frame.t.every((value, i) => value === shown.closed[i]);
      if (meets) closed.className = 'meets';
      tally.append(closed);
      chip.replaceChildren();
      kernel.parts.forEach((part, i) => {
        const [held, label] = frame.m[i];
        chip.append(make('span', {}, part.name), make('div', {}, make('div', {style: `width:${part.bytes ? Math.min(100, 100 * held / part.bytes) : 0}%`}), make('b', {}, held ? `${bytes(held)} ${label}` : '')));
      });
      return meets;
    };
    let text = shown.problem + '. ' + (shown.own ? w('own_tile') + ' ' : '') + (shown.shorter ? w('shorter_n') + ' ' : '') + shown.orders.join(' ') + ' ' + w('settled');
    if (shown.counter) text += ` — ${w('counter')} (${w(shown.counter.origin)}), ${shown.counter.point}: ${bytes(shown.counter.counted)}; ${w('closed_form')}: ${bytes(shown.counter.closed)} (${(100 * (shown.counter.counted / shown.counter.closed - 1)).toFixed(3)}%).`;
    const details = [tally, make('p', {class: 'source'}, w('on_chip')), chip];
    const node = single ? make('div', {class: 'alone'}, make('div', {}, picture, now), make('div', {}, ...details))
                        : make('div', {class: 'beside'}, make('strong', {}, shown.title), picture, now, ...details);
    return {node, draw, frames: shown.frames.length, text: single ? text : `${shown.title}: ${text}`};
  };

  const tiles = (figure, all) => {
    if (all.length === 0) { figure.append(w('no_data')); return; }
    const titles = [...new Set(all.map(each => each.title))];
    const variants = [...new Set(all.map(each => each.mask))];
    const option = (value, text) => make('option', {value}, text);
    const pick = make('select', {class: 'pick', onchange: () => play()}, ...(titles.length > 1 ? [option(-1, w('side_by_side'))] : []), ...titles.map((title, i) => option(i, title)));
    const variant = make('select', {class: 'variant', onchange: () => play()}, ...variants.map((name, i) => option(i, name)));
    const room = make('div');
    const order = make('div', {class: 'source'});
    let drawn = [];
    const draw = at => {
      const met = drawn.map(each => each.draw(at));
      figure.dataset.meets = met.every(each => each) ? 1 : 0;
    };
    const control = transport(figure, () => Math.max(1, ...drawn.map(each => each.frames)), draw);
    const play = () => {
      const one = +pick.value;
      // What refuses a choice is not among those that were played.
      const shown = all.filter(each => each.mask === variants[+variant.value] && (one < 0 || each.title === titles[one]));
      drawn = shown.map(each => tilePlayer(each, shown.length === 1));
      room.className = drawn.length > 1 ? 'side-by-side' : '';
      room.replaceChildren(...(drawn.length > 0 ? drawn.map(each => each.node) : [w('refused')]));
      order.replaceChildren(...drawn.map(each => make('p', {}, each.text)));
      control.stop();
      control.set(0);
    };
    figure.append(make('div', {class: 'row'}, pick, variant), control.bar, control.scrub, room, legend(), order);
    play();
  };

  // Lanes of the memory hierarchy: what is under way fills pipes, a load that is waited for goes along each.
  const flow = (figure, all) => {
    const high = 66, left = 250, long = 400, packetsOfFull = 24;
    const picture = svg('svg', {viewBox: `0 0 960 ${all.lanes.length * high}`, role: 'img'});
    const clock = make('p', {class: 'now'});
    const load = make('input', {type: 'range', class: 'loads', min: 0, max: Math.max(0, all.loads.length - 1), value: all.first, 'aria-label': w('under_way'), oninput: () => draw(at)});
    const under = make('output');
    const moving = svg('g');
    let at = 0, control = null;
    all.lanes.forEach((lane, i) => {
      const middle = high * (i + 0.5), across = Math.max(1, lane.pipe * (high - 10)), side = Math.max(1, lane.square * (high - 10));
      picture.append(svg('text', {x: 4, y: middle - 4}, lane.name), svg('text', {x: 4, y: middle + 16, class: 'size'}, lane.size));
      if (lane.square) picture.append(svg('rect', {x: 180, y: middle - side / 2, width: side, height: side, class: 'capacity'}));
      picture.append(svg('rect', {x: left, y: middle - across / 2, width: long, height: across, class: 'pipe'}));
    });
    picture.append(moving);
    const draw = to => {
      at = to;
      const frame = all.frames[at];
      const chosen = all.loads[+load.value];
      clock.textContent = frame.clock;
      if (control) clock.textContent += ` · ${w('slowed').replace('{speed}', control.speed())} ${Math.round(all.stretch / control.speed()).toLocaleString('en')}`;
      under.textContent = chosen ? chosen.label : '';
      moving.replaceChildren();
      all.lanes.forEach((lane, i) => {
        const middle = high * (i + 0.5), across = Math.max(1, lane.pipe * (high - 10)), trips = frame.trips[i];
        const share = chosen && chosen.rungs[i].share;
        const part = (x, width) => moving.append(svg('rect', {x, y: middle - across / 2, width, height: across, class: 'moving'}));
        if (share >= 1) part(left, long);
        else if (share != null) {
          const packets = Math.max(1, Math.ceil(share * packetsOfFull)), length = share * long / packets;
          for (let k = 0; k < packets; ++k) {
            const begin = (trips + k / packets) % 1 * long, beyond = Math.max(0, begin + length - long);
            part(left + begin, length - beyond);
            if (beyond > 0) part(left, beyond);
          }
        }
        if (trips !== null && all.frames.length > 1) moving.append(svg('circle', {cx: left + trips % 1 * long, cy: middle, r: 6, class: 'load'}));
        moving.append(svg('text', {x: left + long + 16, y: middle - 4}, chosen ? chosen.rungs[i].label : lane.bandwidth), svg('text', {x: left + long + 16, y: middle + 16, class: 'size'}, all.frames.length > 1 ? frame.labels[i] : ''));
      });
    };
    if (all.frames.length > 1) {
      control = transport(figure, () => all.frames.length, draw);
      figure.append(control.bar, control.scrub, clock, make('label', {class: 'row'}, under, load), picture);
      control.set(0);
    } else {
      figure.append(clock, picture);
      draw(0);
    }
    figure.append(make('figcaption', {}, w('flow_scale')));
  };

  // To the nearest fp16, ties to even.
  const half = value => {
    const x = Math.fround(value);
    if (!Number.isFinite(x) || x === 0) return x;
    const unit = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(x)))) - 10);
    let steps = Math.round(x / unit);
    if (Math.abs(x / unit % 1) === 0.5 && steps % 2 !== 0) --steps;
    return Math.abs(steps * unit) > 65504 ? Math.sign(x) * Infinity : steps * unit;
  };

  // The rows' blocks one after the other, as profiler/analysis/lesson/online_softmax.cpp plays them, faults as well.
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
        const step = {row, first, last, before: state, after: {m, l, o}, alpha, weights, rescaled: rises && !forgets};
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

  const softmax = (figure, all) => {
    const most = 64;
    let example = all[0], trace = playOnline(example, example.blocks[0], false, 'none');
    const option = (value, text) => make('option', {value}, text);
    const pick = make('select', {class: 'pick'}, ...all.map((each, i) => option(i, each.name)));
    const block = make('select', {class: 'block'});
    const way = make('select', {class: 'way'}, option(0, w('outer')), option(1, w('inner')));
    const fault = make('select', {class: 'fault'}, option('none', w('no_fault')), ...[['forget-rescale', 'forget'], ['mask-after-maximum', 'mask-after-maximum'], ['mask-after-sum', 'mask-after-sum'], ['sum-in-fp16', 'half']].map(([name, word]) => option(name, w(word))));
    const own = make('input', {class: 'own', placeholder: w('own_scores'), 'aria-label': w('own_scores'), onchange: () => playOwn()});
    const wrong = make('output', {class: 'off'});
    const scores = make('p', {class: 'scores'});
    const table = make('table');
    const notes = make('p', {class: 'now'});
    const end = make('p', {class: 'result'});
    const halves = make('div');
    const choose = () => {
      trace = playOnline(example, +block.value, way.value === '1', fault.value);
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
      scores.replaceChildren(...Array.from({length: example.columns}, (ignored, j) => {
        const place = step.row * example.columns + j;
        return make('span', {class: (j >= step.first && j < step.last ? 'in-hand' : j < step.first ? 'seen' : '') + (example.hidden[place] ? ' hidden' : '')}, number(example.scores[place]));
      }));
      table.replaceChildren(heading(), line(w('before'), step.before), line(w('after'), step.after, `α = ${number(step.alpha)}${step.rescaled ? ' · ' + w('rescaled') : ''}`));
      const values = Array.from({length: step.last - step.first}, (ignored, j) => '(' + example.values.slice((step.first + j) * example.d, (step.first + j + 1) * example.d).map(number).join(', ') + ')').join(' ');
      notes.textContent = `${w('row')} ${step.row} · exp(s − m) = ${step.weights.map(number).join(', ')} · ${w('values_of_block')}: ${values}`;
      const last = at === trace.steps.length - 1;
      end.className = 'result ' + (last && !(trace.error < 1e-9) ? 'off' : 'meets');
      end.textContent = last ? `${w('output')}: ${trace.output.map(number).join(', ')} · ${w('exact')}: ${trace.exact.map(number).join(', ')} · ${w('error')}: ${number(trace.error)} · ${w('rescaled')}: ${trace.rescaled} · ${w('divisions')}: ${trace.divisions} · ${w('through_memory')}: ${trace.through}${trace.sleeps ? ' · ' + w('nothing_hidden') : ''}` : '';
      halves.replaceChildren();
      if (last && fault.value === 'none' && example.columns > 1) showHalves();
    };
    const control = transport(figure, () => trace.steps.length, draw);
    pick.addEventListener('change', change);
    [block, way, fault].forEach(select => select.addEventListener('change', choose));
    figure.append(make('div', {class: 'row'}, pick, block, way, fault, own, wrong), control.bar, control.scrub, scores, table, notes, end, halves);
    change();
  };

  const program = (figure, all) => {
    let run = 0;
    const list = make('div');
    const end = make('p', {class: 'result'});
    const values = make('p', {class: 'now'});
    const draw = at => {
      const [row, block, line, value] = all.runs[run].moments[at];
      list.replaceChildren(...all.lines.map((each, i) => make('div', {class: 'line' + (i === line ? ' now' : '') + (run === i + 1 ? ' new' : '')},
        make('code', {}, run === i + 1 ? each.other : each.code), ' ', make('button', {class: 'rewrite', onclick: () => { run = run === i + 1 ? 0 : i + 1; control.set(0); }}, w('rewrite_line')))));
      values.textContent = `${w('row')} ${row} · ${w('block_size')} ${block} · ${all.lines[line].result} = ${value.map(number).join(', ')}`;
      const it = all.runs[run];
      end.className = 'result ' + (it.right ? 'meets' : 'off');
      end.textContent = `${w(it.right ? 'mended' : 'still_wrong')} ${w('largest_error')}: ${it.error === null ? '∞' : number(it.error)}`;
    };
    const control = transport(figure, () => all.runs[run].moments.length, draw);
    figure.append(list, control.bar, control.scrub, values, end);
    control.set(0);
  };

  // Drag, lock, reveal: factors from 1/8 to 16 on a logarithmic line.
  const theory = (figure, all) => {
    if (all.length === 0) { figure.append(w('no_data')); return; }
    const [low, high] = [-3, 4];
    all.forEach(each => {
      const id = `theory-${each.doubled}-${each.name}`;
      const state = () => answers[id] || {};
      const place = value => 30 + 540 * (Math.log2(value) - low) / (high - low);
      const picture = svg('svg', {viewBox: '0 0 600 62', role: 'img'});
      const slide = make('input', {type: 'range', min: low, max: high, step: 0.05, value: state().value || 0, 'aria-label': w('predict'), oninput: () => { answers[id] = {value: slide.value}; keep(); draw(); }});
      const drag = event => {
        if (slide.disabled || !(event.buttons & 1)) return;
        const box = picture.getBoundingClientRect();
        slide.value = low + ((event.clientX - box.left) / box.width * 600 - 30) / 540 * (high - low);
        slide.dispatchEvent(new Event('input'));
      };
      picture.addEventListener('pointerdown', drag);
      picture.addEventListener('pointermove', drag);
      const take = more => { Object.assign(answers[id], more); keep(); draw(); };
      const lock = make('button', {class: 'lock', onclick: () => take({locked: true})}, w('lock'));
      const open = make('button', {class: 'reveal', onclick: () => take({revealed: true})}, w('reveal'));
      const note = make('output');
      const draw = () => {
        picture.replaceChildren(svg('line', {x1: 30, x2: 570, y1: 34, y2: 34, stroke: 'currentColor'}));
        for (let k = low; k <= high; ++k) {
          picture.append(svg('line', {x1: place(2 ** k), x2: place(2 ** k), y1: 30, y2: 38, stroke: 'currentColor'}), svg('text', {x: place(2 ** k) - 10, y: 55}, k < 0 ? `1/${2 ** -k}` : `${2 ** k}×`));
        }
        picture.append(svg('circle', {cx: place(2 ** +slide.value), cy: 34, r: 9, class: 'add'}));
        const {value, locked, revealed} = state(), mine = value ? `${(2 ** +value).toFixed(2)}×` : '';
        slide.disabled = !!locked;
        lock.disabled = !value || !!locked;
        open.disabled = !locked || !!revealed;
        note.textContent = locked ? `${mine} · ${w('locked')}` : mine;
        if (!revealed) return;
        picture.append(svg('rect', {x: place(each.model) - 3, y: 18, width: 6, height: 32, class: 'hit'}), svg('rect', {x: place(each.found) - 1.5, y: 12, width: 3, height: 44, class: 'miss'}));
        note.textContent = `${mine} · ${w('modelled')}: ${each.model.toFixed(2)}× · ${w(each.origin)}: ${each.found.toFixed(2)}×${each.outside ? ' · ' + w('outside_theorem') : ''}`;
      };
      refreshers.push(() => { slide.value = state().value || 0; draw(); });
      const symbol = {n: 'N', d: 'd', m: 'M', br: 'Br', bc: 'Bc'}[each.doubled];
      figure.append(make('div', {class: 'prediction'}, make('p', {}, make('strong', {}, `${each.algorithm}: 2 × ${symbol}`), ` (${each.from})`), slide, picture, make('div', {class: 'row'}, lock, open, note)));
      draw();
    });
  };

  // Pictures that are all there, of which one is shown.
  document.querySelectorAll('figure.frames').forEach(figure => {
    const frames = [...figure.querySelectorAll('.frame')];
    const control = transport(figure, () => frames.length, at => frames.forEach((frame, i) => { frame.hidden = i !== at; }));
    figure.prepend(control.bar, control.scrub);
    control.set(+figure.dataset.now);
  });

  const kinds = {tiles, softmax, program, theory, flow};
  document.querySelectorAll('figure.play').forEach(figure => kinds[figure.dataset.kind](figure, JSON.parse(document.getElementById(figure.dataset.source).textContent)));

  addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const mine = players.filter(player => player.figure.closest('section').classList.contains('here'));
    const nearest = mine.find(player => player.figure.getBoundingClientRect().bottom > 80) || mine[0];
    const acts = {ArrowRight: () => nearest ? nearest.step(1) : go(1), ArrowLeft: () => nearest ? nearest.step(-1) : go(-1), ' ': () => nearest && event.target.tagName !== 'BUTTON' && nearest.toggle(),
                  PageDown: () => go(1), PageUp: () => go(-1), l: toggleTheme, b: toggleBig};
    if (/^[1-9]$/.test(event.key) && sections[+event.key - 1]) { location.hash = sections[+event.key - 1].id; return; }
    const act = acts[event.key];
    if (act && !(event.key === ' ' && event.target.tagName === 'BUTTON')) { event.preventDefault(); act(); }
  });
  document.body.classList.add('ready');
  // Where it was asked for, else where the reader was.
  show(asked() || document.body.dataset.start || memory.page);
})();
