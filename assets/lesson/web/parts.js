// SPDX-License-Identifier: Apache-2.0
// Parts that several screens share: lettered matrices, the torn wall of memory, grids of cells, and controls.
const letterColor = {q: '#1c2127', k: '#1c2127', v: '#1c2127', s: '#1c2127', p: '#ffffff', o: '#ffffff'};
// A matrix with its letter inside; `letter` replaces the letter. `label` is drawn below.
const matrix = (name, x, y, w, h, view, {label = '', letter = name.toUpperCase(), opacity = 1, outline = false, id = name} = {}) => {
  const size = clamp(Math.min(w, h) * 0.55, 8, view.display);
  const items = [R(`m.${id}`, x, y, w, h, outline ? 'surface' : `matrix-${name}`, {stroke: outline ? `matrix-${name}` : 'ink', width: outline ? 2 : 1, opacity, dash: outline ? '5 4' : ''})];
  const inside = Math.min(w, h) > size * 1.15;
  items.push(T(`t.${id}`, inside ? x + w / 2 : x + w / 2, inside ? y + h / 2 + size * 0.36 : y - 4, letter, inside ? size : view.text,
    {anchor: 'middle', bold: true, fill: inside && !outline ? letterColor[name] : 'ink', opacity}));
  if (label) items.push(T(`l.${id}`, x + w / 2, y + h + view.text * 1.2, label, view.text * 0.9, {anchor: 'middle', fill: 'muted', opacity}));
  return items;
};
// A wall with a torn edge on its right (`side` 1) or left (-1) side.
const tornWall = (id, x, y, w, h, side, more = {}) => {
  const teeth = 12, edge = range(teeth + 1).map(i => [side * (w + (i % 2 ? -1 : 0) * Math.min(10, w * 0.18) - (i % 3) * 1.5), h * i / teeth]);
  return P(id, `M0 0${edge.map(([a, b]) => `L${a.toFixed(1)} ${b.toFixed(1)}`).join('')}L0 ${h.toFixed(1)}Z`, {x, y, fill: 'memory', ...more});
};
const squarePath = (places, side) => places.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h${side}v${side}h-${side}z`).join('');
// Estimated width of a text in units of its size, and the size at which it fits `width`.
const charWidth = (char, bold) => char.codePointAt(0) > 0x2e7f ? 1 : bold ? 0.6 : 0.54;
const textWidth = (text, bold = false) => [...text].reduce((sum, char) => sum + charWidth(char, bold), 0);
const textFit = (text, width) => width / textWidth(text, true);
// Rows of text, wrapped at about `width` pixels.
const paragraph = (id, x, y, text, size, width, more = {}) => {
  const lines = [''];
  let used = 0;
  for (const word of text.match(/(?:[⺀-鿿＀-￯]|[^\s⺀-鿿＀-￯]+)[。，：；、）？！]*\s*|\s+/g) || []) {
    const length = textWidth(word, more.bold) * size;
    if (used + length > width + size * 0.3 && used > 0) { lines.push(''); used = 0; }
    lines[lines.length - 1] += word;
    used += length;
  }
  return lines.map((line, i) => T(`${id}.${i}`, x, y + i * size * 1.3, line.trimEnd(), size, more));
};
// A row of horizontal bars: [{label, value, text, fill}], to one scale.
const barRows = (id, x, y, w, rows, view, height) => {
  const most = Math.max(...rows.map(row => row.value)), labelWidth = Math.max(...rows.map(row => textWidth(row.label))) * view.text * 0.95 + 10, full = w - labelWidth - view.text * 5.5;
  return rows.flatMap((row, i) => {
    const top = y + i * height * 1.75;
    return [T(`${id}.l${i}`, x + labelWidth - 8, top + height * 0.78, row.label, view.text * 0.92, {anchor: 'end'}),
            R(`${id}.b${i}`, x + labelWidth, top, Math.max(1, full * row.value / most), height, row.fill, {r: 2, opacity: row.opacity ?? 1}),
            T(`${id}.v${i}`, x + labelWidth + Math.max(1, full * row.value / most) + 8, top + height * 0.78, row.text, view.text * 0.92, {bold: true})];
  });
};

// Controls write to `params`, redraw, and follow changes made by dragging.
const syncs = [];
const changed = () => { redraw(); syncs.forEach(sync => sync()); rememberAddress(); };
const slider = (name, label, {low, high, step = 1, list, text = String}) => {
  const output = make('output');
  const input = make('input', {type: 'range', min: list ? 0 : low, max: list ? list.length - 1 : high, step: list ? 1 : step, 'aria-label': label,
                               oninput: () => { params[name] = list ? list[+input.value] : +input.value; changed(); }});
  const sync = () => {
    input.value = list ? Math.max(0, list.indexOf(params[name])) : params[name];
    output.textContent = text(params[name]);
    input.setAttribute('aria-valuetext', output.textContent);
  };
  syncs.push(sync);
  sync();
  return make('label', {class: 'control'}, make('span', {}, label), input, output);
};
const choice = (name, label, options) => {
  const select = make('select', {'aria-label': label, onchange: () => { params[name] = options[select.selectedIndex][0]; changed(); }}, ...options.map(([, text]) => make('option', {}, text)));
  const sync = () => { select.selectedIndex = options.findIndex(([value]) => value === params[name]); };
  syncs.push(sync);
  sync();
  return make('label', {class: 'control'}, make('span', {}, label), select);
};
const buttonTo = (label, act, attributes = {}) => make('button', {type: 'button', onclick: act, ...attributes}, label);
// Plays a parameter from its value to `high` at `perSecond`; a second press pauses.
let playing = 0;
const stopPlaying = () => { cancelAnimationFrame(playing); playing = 0; syncs.forEach(sync => sync()); };
const play = (name, high, perSecond) => {
  if (playing) { stopPlaying(); return; }
  if (params[name] >= high) params[name] = 0;
  let last = performance.now();
  const tick = now => {
    params[name] = Math.min(high, params[name] + (now - last) / 1000 * perSecond);
    last = now;
    redraw();
    syncs.forEach(sync => sync());
    if (params[name] >= high) { stopPlaying(); return; }
    playing = requestAnimationFrame(tick);
  };
  playing = requestAnimationFrame(tick);
  syncs.forEach(sync => sync());
};
const playButton = (name, high, perSecond) => {
  const button = buttonTo(tr('play'), () => play(name, high(), perSecond()), {class: 'play'});
  syncs.push(() => { button.textContent = tr(playing ? 'pause' : 'play'); });
  return button;
};
