// SPDX-License-Identifier: Apache-2.0
// Translations, DOM helpers, storage and page navigation. All files of this folder are concatenated into one function.
const texts = JSON.parse(document.getElementById('words').textContent);
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
const svg = (tag, attributes = {}, text = '') => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.textContent = text;
  return node;
};
// Formats with three digits and a unit; `step` is the factor between units.
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

// Answers are stored in localStorage or, if the reader chose so, sessionStorage; if storage is blocked, until a reload.
const key = document.body.dataset.key;
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

const sections = [...document.querySelectorAll('section')];
const links = [...document.querySelectorAll('nav a')];
const menu = document.getElementById('menu');
const toggleMenu = open => {
  document.querySelector('header').classList.toggle('open', open);
  menu.setAttribute('aria-expanded', open);
};
const pageListeners = [];  // called with each page that is shown
const showPage = id => {
  const place = Math.max(0, sections.findIndex(section => section.id === id));
  sections.forEach((section, i) => section.classList.toggle('here', i === place));
  links.forEach((link, i) => { link.classList.toggle('here', i === place); if (i === place) menu.textContent = '☰ ' + link.textContent; });
  toggleMenu(false);
  saved.page = sections[place].id;
  saveState();
  pageListeners.forEach(listener => listener(sections[place]));
  scrollTo(0, 0);
};
menu.addEventListener('click', () => toggleMenu(menu.getAttribute('aria-expanded') !== 'true'));
const currentIndex = () => sections.findIndex(section => section.classList.contains('here'));
const turnPage = step => { location.hash = sections[Math.min(sections.length - 1, Math.max(0, currentIndex() + step))].id; };
// The fragment is an id ("#tiling") or a page number ("#5"); anything else shows the first page.
const pageByNumber = name => sections.find(section => section.dataset.number === name);
const requestedPage = () => {
  let name = '';
  try { name = decodeURIComponent(location.hash.slice(1)); } catch (ignored) { /* malformed fragment */ }
  return name !== '' && pageByNumber(name) ? pageByNumber(name).id : name;
};
addEventListener('hashchange', () => showPage(requestedPage()));

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
};
document.getElementById('theme').addEventListener('click', toggleTheme);
document.getElementById('big').addEventListener('click', toggleBig);
document.querySelectorAll('.language').forEach(link => link.addEventListener('click', () => { link.hash = sections[currentIndex()].id; }));
// After a change by mouse, keyboard input goes to the page again.
let usingPointer = false;
addEventListener('pointerdown', () => { usingPointer = true; }, true);
addEventListener('keydown', () => { usingPointer = false; }, true);
addEventListener('change', event => { if (usingPointer && event.target.matches('select, input[type=range]:not(.prediction input), input[type=radio]')) event.target.blur(); });
setTheme(saved.theme || document.body.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
if (saved.big) document.documentElement.setAttribute('data-big', '');
