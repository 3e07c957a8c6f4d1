// SPDX-License-Identifier: Apache-2.0
// Translations, DOM helpers, storage and number formats. All files of this folder are concatenated into one function.
const texts = JSON.parse(document.getElementById('words').textContent);
const scene = JSON.parse(document.getElementById('scene').textContent);
const tr = (key, values = {}) => Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, value), texts[key] || key);
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
// Formats with three digits and a unit; `step` is the factor between units.
const scaled = (value, step, names) => {
  let i = 0;
  for (; value >= step && i + 1 < names.length; ++i) value /= step;
  return (Number.isInteger(value) ? value : value.toPrecision(value >= 1000 ? 4 : 3)) + ' ' + names[i];
};
const bytes = value => scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
const rate = value => scaled(value, 1000, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s']);
const duration = ns => scaled(ns / 1000, 1000, ['µs', 'ms', 's']);
const number = value => value === null || value === -Infinity ? '−∞' : value === Infinity ? '∞' : String(+value.toPrecision(5)).replaceAll('-', '−');
const ratio = value => value >= 10 ? value.toFixed(0) : value.toFixed(1);
const tokens = n => n >= 1024 && n % 1024 === 0 ? n / 1024 + 'k' : String(n);
const grouped = value => Math.round(value).toLocaleString('en-US');
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const range = count => Array.from({length: count}, (ignored, i) => i);

// Answers are stored in localStorage or, if the reader chose so, sessionStorage; if storage is blocked, until a reload.
const key = 'attnscope-lesson';
const storage = name => { try { return window[name]; } catch (ignored) { return null; } };
const readStorage = name => { try { return JSON.parse(storage(name).getItem(key)); } catch (ignored) { return null; } };
const saved = readStorage('localStorage') || {};
const answers = saved.answers = (saved.brief ? readStorage('sessionStorage') : saved.answers) || {};
const saveState = () => {
  try {
    storage('localStorage').setItem(key, JSON.stringify(saved.brief ? {...saved, answers: {}} : saved));
    storage('sessionStorage').setItem(key, JSON.stringify(saved.brief ? answers : null));
  } catch (ignored) { /* private window */ }
};

// States of the drawing by name: {draw(view), controls(), caption(view), keys}. `params` are the values that readers change.
const states = {none: {keys: [], draw: () => [], caption: () => '', controls: () => []}};
const params = {};
const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
const setTheme = name => {
  document.documentElement.dataset.theme = name;
  document.getElementById('theme').textContent = tr(name === 'dark' ? 'light' : 'dark');
};
const toggleTheme = () => {
  setTheme(saved.theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  saveState();
};
const toggleBig = () => {
  document.documentElement.toggleAttribute('data-big');
  saved.big = document.documentElement.hasAttribute('data-big');
  saveState();
  dispatchEvent(new Event('resize'));
};
document.getElementById('theme').addEventListener('click', toggleTheme);
document.getElementById('big').addEventListener('click', toggleBig);
setTheme(saved.theme || document.body.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
if (saved.big) document.documentElement.setAttribute('data-big', '');
