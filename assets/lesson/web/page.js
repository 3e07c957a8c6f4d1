// SPDX-License-Identifier: Apache-2.0
// Words, elements, what is remembered, and the pages. The files of this folder are joined in their order to one function.
const words = JSON.parse(document.getElementById('words').textContent);
const w = (key, values = {}) => Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, value), words[key] || key);
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
// Three digits and a unit; each unit is `step` of the one before it.
const scaled = (value, step, names) => {
  let i = 0;
  for (; value >= step && i + 1 < names.length; ++i) value /= step;
  return (i === 0 && step === 1024 ? value : value.toPrecision(value >= 1000 ? 4 : 3)) + ' ' + names[i];
};
const bytes = value => scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
const duration = ns => scaled(ns / 1000, 1000, ['µs', 'ms', 's']);
const number = value => value === null || value === -Infinity ? '−∞' : value === Infinity ? '∞' : String(+value.toPrecision(5));
const times = ratio => (ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(1)) + '×';
const tokens = n => n >= 1024 && n % 1024 === 0 ? n / 1024 + 'k' : String(n);

// What was answered stays in this browser, or until it is closed, where it lets us.
const key = document.body.dataset.key;
const store = name => { try { return window[name]; } catch (ignored) { return null; } };
const kept = name => { try { return JSON.parse(store(name).getItem(key)); } catch (ignored) { return null; } };
const memory = kept('localStorage') || {};
const answers = memory.answers = (memory.brief ? kept('sessionStorage') : memory.answers) || {};
const keep = () => {
  try {
    store('localStorage').setItem(key, JSON.stringify(memory.brief ? {...memory, answers: {}} : memory));
    store('sessionStorage').setItem(key, JSON.stringify(memory.brief ? answers : null));
  } catch (ignored) { /* private window */ }
};

const sections = [...document.querySelectorAll('section')];
const links = [...document.querySelectorAll('nav a')];
const menu = document.getElementById('menu');
const fold = open => {
  document.querySelector('header').classList.toggle('open', open);
  menu.setAttribute('aria-expanded', open);
};
const shown = [];  // what each page does when it is turned to
const show = id => {
  const place = Math.max(0, sections.findIndex(section => section.id === id));
  sections.forEach((section, i) => section.classList.toggle('here', i === place));
  links.forEach((link, i) => { link.classList.toggle('here', i === place); if (i === place) menu.textContent = '☰ ' + link.textContent; });
  fold(false);
  memory.page = sections[place].id;
  keep();
  shown.forEach(act => act(sections[place]));
  scrollTo(0, 0);
};
menu.addEventListener('click', () => fold(menu.getAttribute('aria-expanded') !== 'true'));
const here = () => sections.findIndex(section => section.classList.contains('here'));
const go = step => { location.hash = sections[Math.min(sections.length - 1, Math.max(0, here() + step))].id; };
// "#tiling" or "#5"; a name that nobody can have made is the first page.
const numbered = name => sections.find(section => section.dataset.number === name);
const asked = () => {
  let name = '';
  try { name = decodeURIComponent(location.hash.slice(1)); } catch (ignored) { /* no page's */ }
  return name !== '' && numbered(name) ? numbered(name).id : name;
};
addEventListener('hashchange', () => show(asked()));

const theme = name => {
  document.documentElement.dataset.theme = name;
  document.getElementById('theme').textContent = w(name === 'dark' ? 'light' : 'dark');
};
const toggleTheme = () => {
  theme(memory.theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  keep();
};
const toggleBig = () => {
  document.documentElement.toggleAttribute('data-big');
  memory.big = document.documentElement.hasAttribute('data-big');
  keep();
};
document.getElementById('theme').addEventListener('click', toggleTheme);
document.getElementById('big').addEventListener('click', toggleBig);
document.querySelectorAll('.language').forEach(link => link.addEventListener('click', () => { link.hash = sections[here()].id; }));
// What was set with the mouse gives the keys back to the page.
let pointer = false;
addEventListener('pointerdown', () => { pointer = true; }, true);
addEventListener('keydown', () => { pointer = false; }, true);
addEventListener('change', event => { if (pointer && event.target.matches('select, input[type=range]:not(.prediction input), input[type=radio]')) event.target.blur(); });
theme(memory.theme || document.body.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
if (memory.big) document.documentElement.setAttribute('data-big', '');
