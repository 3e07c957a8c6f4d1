// SPDX-License-Identifier: Apache-2.0
// The drawing: a list of items with stable ids, rendered as SVG, or on a canvas for pictures and films. An item is
// {id, kind, ...}; between two lists, items of the same id move and the others fade.
const svgNamespace = 'http://www.w3.org/2000/svg';
const R = (id, x, y, w, h, fill, more = {}) => ({id, kind: 'rect', x, y, w: Math.max(0, w), h: Math.max(0, h), fill, ...more});
const T = (id, x, y, text, size, more = {}) => ({id, kind: 'text', x, y, text, size, fill: 'ink', ...more});
const L = (id, x, y, x2, y2, stroke, more = {}) => ({id, kind: 'line', x, y, x2, y2, stroke, width: 1, ...more});
const P = (id, d, more = {}) => ({id, kind: 'path', x: 0, y: 0, d, ...more});
const C = (id, x, y, r, fill, more = {}) => ({id, kind: 'circle', x, y, r, fill, ...more});
const paint = name => !name ? 'none' : name.startsWith('#') ? name : `var(--${name})`;
const numbers = ['x', 'y', 'w', 'h', 'r', 'x2', 'y2', 'size', 'width', 'opacity', 'angle'];
const attributesOf = item => ({
  rect: () => ({x: item.x, y: item.y, width: item.w, height: item.h, rx: item.r || 0}),
  text: () => ({x: item.x, y: item.y, 'font-size': item.size, 'text-anchor': item.anchor || 'start', 'font-weight': item.bold ? 650 : 400,
                transform: item.angle ? `rotate(${item.angle} ${item.x} ${item.y})` : ''}),
  line: () => ({x1: item.x, y1: item.y, x2: item.x2, y2: item.y2}),
  path: () => ({d: item.d, transform: `translate(${item.x} ${item.y})`}),
  circle: () => ({cx: item.x, cy: item.y, r: item.r}),
})[item.kind]();

const stage = document.getElementById('stage');
const root = stage.appendChild(document.createElementNS(svgNamespace, 'svg'));
root.setAttribute('role', 'img');
let drawn = [];
const nodes = new Map();
const nodeOf = item => {
  let entry = nodes.get(item.id);
  if (entry && entry.kind !== item.kind) { entry.node.remove(); entry = null; }
  if (!entry) {
    entry = {kind: item.kind, node: document.createElementNS(svgNamespace, item.kind), last: {}};
    entry.node.dataset.id = item.id;
    nodes.set(item.id, entry);
  }
  const wanted = {...attributesOf(item), fill: paint(item.fill), stroke: item.halo ? 'var(--surface)' : paint(item.stroke), 'stroke-width': item.halo ? 4 : item.width ?? 1, opacity: item.opacity ?? 1,
                  'stroke-dasharray': item.dash || 'none', 'pointer-events': item.drag ? 'all' : 'none', class: item.drag ? (item.pan ? 'draggable pan' : 'draggable') : item.halo ? 'halo' : ''};
  for (const [name, value] of Object.entries(wanted)) {
    const shown = typeof value === 'number' ? Math.round(value * 100) / 100 : value;
    if (entry.last[name] !== shown) entry.node.setAttribute(name, entry.last[name] = shown);
  }
  if (item.kind === 'text' && entry.last.text !== item.text) entry.node.textContent = entry.last.text = item.text;
  return entry.node;
};
const render = items => {
  drawn = items;
  const kept = new Set(items.map(item => item.id));
  for (const [id, {node}] of nodes) if (!kept.has(id)) { node.remove(); nodes.delete(id); }
  let at = root.firstChild;
  for (const item of items) {
    const node = nodeOf(item);
    if (node === at) at = at.nextSibling;
    else root.insertBefore(node, at);
  }
};
const ease = p => p * p * (3 - 2 * p);
const mix = (from, to, p) => {
  const mixed = {...to};
  for (const name of numbers) if (typeof to[name] === 'number' || typeof from[name] === 'number') {
    const [a, b] = [from, to].map(item => item[name] ?? (name === 'opacity' || name === 'width' ? 1 : 0));
    mixed[name] = a + (b - a) * p;
  }
  return mixed;
};
let animation = 0;
// Shows the items after a transition of `ms`; 0 or reduced motion: at once.
const show = (items, ms = 0) => {
  cancelAnimationFrame(animation);
  if (ms <= 0 || reducedMotion.matches) { render(items); return; }
  const before = new Map(drawn.map(item => [item.id, item])), after = new Set(items.map(item => item.id));
  const leaving = drawn.filter(item => !after.has(item.id)), start = performance.now();
  const tick = now => {
    const p = clamp((now - start) / ms, 0, 1), e = ease(p);
    if (p === 1) { render(items); return; }
    const faded = (item, share) => ({...item, opacity: (item.opacity ?? 1) * share});
    render([...leaving.map(item => faded(item, 1 - e)),
            ...items.map(item => before.get(item.id)?.kind === item.kind ? mix(before.get(item.id), item, e) : faded(item, e))]);
    animation = requestAnimationFrame(tick);
  };
  animation = requestAnimationFrame(tick);
};

// Pointer input: an item with drag(point, start) is moved; `start` is the point of the press with a copy of the parameters.
// A vertical drag of a handle must not scroll the page.
root.addEventListener('touchstart', event => { const item = drawn.find(each => each.id === event.target.dataset?.id); if (item?.drag && !item.pan) event.preventDefault(); }, {passive: false});
const pointOf = event => { const box = root.getBoundingClientRect(); return {x: event.clientX - box.left, y: event.clientY - box.top}; };
let dragged = null;
root.addEventListener('pointerdown', event => {
  const item = drawn.find(each => each.id === event.target.dataset?.id);
  if (!item?.drag) return;
  dragged = {id: item.id, start: {...pointOf(event), params: {...params}}};
  root.setPointerCapture(event.pointerId);
  item.drag(pointOf(event), dragged.start);
  event.preventDefault();
});
root.addEventListener('pointermove', event => { if (dragged) drawn.find(each => each.id === dragged.id)?.drag?.(pointOf(event), dragged.start); });
for (const name of ['pointerup', 'pointercancel']) root.addEventListener(name, () => { dragged = null; });

// Size of a view and its two type sizes. `small`: a phone.
const makeView = (w, h, big = false) => {
  const small = w < 640, text = clamp(w / 54, small ? 11.5 : 14, 22) * (big ? 1.25 : 1);
  return {w, h, small, text, display: text * (small ? 1.4 : 1.9), pad: small ? 8 : 24};
};
const currentView = () => makeView(stage.clientWidth || 800, stage.clientHeight || 600, document.documentElement.hasAttribute('data-big'));

// Canvas rendering.
const canvasColor = name => name.startsWith('#') ? name : getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const fontFamily = () => getComputedStyle(document.body).fontFamily;
const paintItem = (context, item, colors, family) => {
  const color = name => colors[name] ??= canvasColor(name);
  context.globalAlpha = item.opacity ?? 1;
  context.lineWidth = item.width ?? 1;
  context.setLineDash(item.dash ? item.dash.split(' ').map(Number) : []);
  if (item.kind === 'text') {
    context.save();
    context.translate(item.x, item.y);
    context.rotate((item.angle || 0) * Math.PI / 180);
    context.font = `${item.bold ? 650 : 400} ${item.size}px ${family}`;
    context.textAlign = {middle: 'center', end: 'right'}[item.anchor] || 'left';
    if (item.halo) { context.strokeStyle = color('surface'); context.lineWidth = 4; context.lineJoin = 'round'; context.strokeText(item.text, 0, 0); }
    context.fillStyle = color(item.fill);
    context.fillText(item.text, 0, 0);
    context.restore();
    return;
  }
  const path = new Path2D(item.kind === 'path' ? item.d : undefined);
  if (item.kind === 'rect') path.roundRect(item.x, item.y, item.w, item.h, item.r || 0);
  if (item.kind === 'line') { path.moveTo(item.x, item.y); path.lineTo(item.x2, item.y2); }
  if (item.kind === 'circle') path.arc(item.x, item.y, Math.max(0, item.r), 0, 2 * Math.PI);
  context.save();
  if (item.kind === 'path') context.translate(item.x, item.y);
  if (item.fill) { context.fillStyle = color(item.fill); context.fill(path); }
  if (item.stroke) { context.strokeStyle = color(item.stroke); context.stroke(path); }
  context.restore();
};
// Pictures and films have the caption below the drawing.
const captionHeight = 64;
const pictureView = (w, h) => makeView(w, h - captionHeight);
// Paints the items and the caption on the canvas.
const paintCanvas = (canvas, view, items, caption) => {
  const context = canvas.getContext('2d'), colors = {}, family = fontFamily();
  context.globalAlpha = 1;
  context.fillStyle = canvasColor('surface');
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const item of [...items, ...paragraph('picture.caption', view.pad, view.h + 14, caption, 13, view.w - 2 * view.pad, {fill: 'muted'})]) paintItem(context, item, colors, family);
};
