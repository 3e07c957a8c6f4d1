// SPDX-License-Identifier: Apache-2.0
// Playback controls, image export and log-log plots for all figures.
const players = [];
// Playback controls of a figure with frames: play, pause, step, back, scrub, speed.
const playbackControls = (figure, count, draw) => {
  let at = 0, timer = null;
  const scrub = make('input', {type: 'range', min: 0, max: count() - 1, value: 0, class: 'scrub', 'aria-label': tr('scrub'), oninput: () => { stop(); set(+scrub.value); }});
  const playButton = make('button', {class: 'play-button', onclick: () => timer === null ? start() : stop()}, tr('play'));
  const speed = make('select', {'aria-label': tr('speed'), onchange: () => { if (timer !== null) { stop(); start(); } }},
                     ...[1, 2, 5, 10, 30, 60].map(n => make('option', {value: n, selected: n === 5}, `${n}/s`)));
  const set = to => {
    at = Math.max(0, Math.min(count() - 1, to));
    scrub.max = count() - 1;
    scrub.value = at;
    figure.dataset.frame = at;
    draw(at);
  };
  const stop = () => { clearInterval(timer); timer = null; playButton.textContent = tr('play'); };
  const start = () => {
    if (at >= count() - 1) set(0);
    playButton.textContent = tr('pause');
    timer = setInterval(() => at >= count() - 1 ? stop() : set(at + 1), 1000 / +speed.value);
  };
  const button = (key, name, act) => make('button', {title: tr(key), class: name, onclick: () => { stop(); act(); }}, {first: '|◀', back: '◀', forward: '▶', last: '▶|'}[key]);
  const buttons = make('div', {class: 'row'}, button('first', 'to-first', () => set(0)), button('back', 'step-back', () => set(at - 1)), playButton,
                   button('forward', 'step', () => set(at + 1)), button('last', 'to-last', () => set(count() - 1)), speed);
  const control = {figure, set, stop, step: by => { stop(); set(at + by); figure.scrollIntoView({block: 'nearest'}); },
                   toggle: () => timer === null ? start() : stop(), buttons, scrub};
  players.push(control);
  return control;
};

// Renders the figure without its buttons as a PNG, with the styles of the page.
const renderPng = async figure => {
  const scale = 2;
  const copy = figure.cloneNode(true);
  copy.querySelectorAll('.row:not(.legend), .next, input, details').forEach(node => node.remove());
  copy.prepend(figure.closest('section').querySelector('h2').cloneNode(true));
  const body = make('div', {class: 'copied', style: `width:${figure.clientWidth + 48}px`}, copy);
  figure.after(body);
  const {width, height} = body.getBoundingClientRect();
  body.remove();
  const style = getComputedStyle(document.documentElement);
  const root = svg('svg', {width: width * scale, height: height * scale, viewBox: `0 0 ${width} ${height}`, 'data-theme': document.documentElement.dataset.theme,
                             style: `font-size:${style.fontSize};background:${getComputedStyle(document.body).backgroundColor}`});
  const content = svg('foreignObject', {width, height});
  body.prepend(make('style', {}, document.querySelector('style').textContent));
  content.append(body);
  root.append(content);
  const image = new Image();
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(new XMLSerializer().serializeToString(root));
  await image.decode();
  const canvas = make('canvas', {width: Math.ceil(width * scale), height: Math.ceil(height * scale)});
  canvas.getContext('2d').drawImage(image, 0, 0);
  return new Promise(done => canvas.toBlob(done, 'image/png'));
};
const addExportButtons = figure => {
  const note = make('output');
  const report = async (act, key) => { try { await act(); note.textContent = tr(key); } catch (error) { note.textContent = `${tr('not_copied')} ${error.message}`; } };
  const save = async () => {
    const link = make('a', {href: URL.createObjectURL(await renderPng(figure)), download: `attnscope-${figure.closest('section').id}.png`});
    link.click();
    URL.revokeObjectURL(link.href);
  };
  figure.append(make('div', {class: 'row share'},
    make('button', {class: 'copy', onclick: () => report(() => navigator.clipboard.write([new ClipboardItem({'image/png': renderPng(figure)})]), 'copied')}, tr('copy_picture')),
    make('button', {class: 'save', onclick: () => report(save, 'saved')}, tr('save_picture')), note));
};

// Log-log plot. `across` and `up` are the ranges [min, max] of x and y, `ticks` the x ticks.
const logPlot = ({across, up, ticks, name}) => {
  const [left, right, top, bottom] = [96, 356, 14, 200];
  const place = ([low, high], from, to) => value => from + (to - from) * Math.log(value / low) / Math.log(high / low);
  const [x, y] = [place(across, left, right), place(up, bottom, top)];
  const picture = svg('svg', {viewBox: '0 0 480 240', role: 'img', class: 'plot'});
  picture.append(svg('path', {d: `M${left} ${top}V${bottom}H${right}`, class: 'axis'}));
  for (const value of ticks) picture.append(svg('path', {d: `M${x(value)} ${bottom}v5`, class: 'axis'}), svg('text', {x: x(value), y: bottom + 20, 'text-anchor': 'middle', class: 'size'}, tokens(value)));
  const tickStep = Math.max(1, Math.ceil(Math.log2(up[1] / up[0]) / 5));
  for (let k = Math.ceil(Math.log2(up[0])); 2 ** k <= up[1]; k += tickStep) {
    picture.append(svg('path', {d: `M${left} ${y(2 ** k)}h-5`, class: 'axis'}), svg('text', {x: left - 8, y: y(2 ** k) + 5, 'text-anchor': 'end', class: 'size'}, bytes(2 ** k)));
  }
  picture.append(svg('text', {x: (left + right) / 2, y: bottom + 38, 'text-anchor': 'middle'}, name));
  const line = (points, cls) => svg('polyline', {points: points.map(([a, b]) => `${x(a)},${Math.max(top, Math.min(bottom, y(b)))}`).join(' '), class: cls});
  const label = ([a, b], text, cls) => svg('text', {x: x(a) + 8, y: Math.max(top + 8, Math.min(bottom, y(b) + 5)), class: cls}, text);
  const dots = (points, cls) => points.map(([a, b]) => svg('circle', {cx: x(a), cy: y(b), r: 4.5, class: cls}));
  return {picture, line, label, dots};
};
