// SPDX-License-Identifier: Apache-2.0
// What all pictures have: frames to step through, a copy for a slide, and plots with logarithmic axes.
const players = [];
// One transport for everything that has frames: play, pause, step, back, scrub, speed.
const transport = (figure, count, draw) => {
  let at = 0, timer = null;
  const scrub = make('input', {type: 'range', min: 0, max: count() - 1, value: 0, class: 'scrub', 'aria-label': w('scrub'), oninput: () => { stop(); set(+scrub.value); }});
  const playing = make('button', {class: 'play-button', onclick: () => timer === null ? start() : stop()}, w('play'));
  const speed = make('select', {'aria-label': w('speed'), onchange: () => { if (timer !== null) { stop(); start(); } }},
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
  const control = {figure, set, stop, step: by => { stop(); set(at + by); figure.scrollIntoView({block: 'nearest'}); },
                   toggle: () => timer === null ? start() : stop(), bar, scrub};
  players.push(control);
  return control;
};

// The picture as it stands, without its buttons, as one that programs for slides take. Its styles travel with it.
const pngOf = async figure => {
  const scale = 2;
  const copy = figure.cloneNode(true);
  copy.querySelectorAll('.row:not(.legend), .next, input, details').forEach(node => node.remove());
  copy.prepend(figure.closest('section').querySelector('h2').cloneNode(true));
  const body = make('div', {class: 'copied', style: `width:${figure.clientWidth + 48}px`}, copy);
  figure.after(body);
  const {width, height} = body.getBoundingClientRect();
  body.remove();
  const style = getComputedStyle(document.documentElement);
  const around = svg('svg', {width: width * scale, height: height * scale, viewBox: `0 0 ${width} ${height}`, 'data-theme': document.documentElement.dataset.theme,
                             style: `font-size:${style.fontSize};background:${getComputedStyle(document.body).backgroundColor}`});
  const inside = svg('foreignObject', {width, height});
  body.prepend(make('style', {}, document.querySelector('style').textContent));
  inside.append(body);
  around.append(inside);
  const image = new Image();
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(new XMLSerializer().serializeToString(around));
  await image.decode();
  const canvas = make('canvas', {width: Math.ceil(width * scale), height: Math.ceil(height * scale)});
  canvas.getContext('2d').drawImage(image, 0, 0);
  return new Promise(done => canvas.toBlob(done, 'image/png'));
};
const share = figure => {
  const note = make('output');
  const tell = async (act, word) => { try { await act(); note.textContent = w(word); } catch (error) { note.textContent = `${w('not_copied')} ${error.message}`; } };
  const save = async () => {
    const link = make('a', {href: URL.createObjectURL(await pngOf(figure)), download: `attnscope-${figure.closest('section').id}.png`});
    link.click();
    URL.revokeObjectURL(link.href);
  };
  figure.append(make('div', {class: 'row share'},
    make('button', {class: 'copy', onclick: () => tell(() => navigator.clipboard.write([new ClipboardItem({'image/png': pngOf(figure)})]), 'copied')}, w('copy_picture')),
    make('button', {class: 'save', onclick: () => tell(save, 'saved')}, w('save_picture')), note));
};

// Both axes logarithmic; `across` and `up` are the least and the most, `ticks` the marks across.
const logPlot = ({across, up, ticks, name}) => {
  const [left, right, top, bottom] = [96, 356, 14, 200];
  const place = ([low, high], from, to) => value => from + (to - from) * Math.log(value / low) / Math.log(high / low);
  const [x, y] = [place(across, left, right), place(up, bottom, top)];
  const picture = svg('svg', {viewBox: '0 0 480 240', role: 'img', class: 'plot'});
  picture.append(svg('path', {d: `M${left} ${top}V${bottom}H${right}`, class: 'axis'}));
  for (const value of ticks) picture.append(svg('path', {d: `M${x(value)} ${bottom}v5`, class: 'axis'}), svg('text', {x: x(value), y: bottom + 20, 'text-anchor': 'middle', class: 'size'}, tokens(value)));
  const apart = Math.max(1, Math.ceil(Math.log2(up[1] / up[0]) / 5));
  for (let k = Math.ceil(Math.log2(up[0])); 2 ** k <= up[1]; k += apart) {
    picture.append(svg('path', {d: `M${left} ${y(2 ** k)}h-5`, class: 'axis'}), svg('text', {x: left - 8, y: y(2 ** k) + 5, 'text-anchor': 'end', class: 'size'}, bytes(2 ** k)));
  }
  picture.append(svg('text', {x: (left + right) / 2, y: bottom + 38, 'text-anchor': 'middle'}, name));
  const line = (points, cls) => svg('polyline', {points: points.map(([a, b]) => `${x(a)},${Math.max(top, Math.min(bottom, y(b)))}`).join(' '), class: cls});
  const label = ([a, b], text, cls) => svg('text', {x: x(a) + 8, y: Math.max(top + 8, Math.min(bottom, y(b) + 5)), class: cls}, text);
  const dots = (points, cls) => points.map(([a, b]) => svg('circle', {cx: x(a), cy: y(b), r: 4.5, class: cls}));
  return {picture, line, label, dots};
};
