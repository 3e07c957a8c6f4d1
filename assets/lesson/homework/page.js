// SPDX-License-Identifier: Apache-2.0
// Homework: keeps answers in the browser and writes the hand-in code. The page has no answers.
'use strict';
(() => {
  if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.dataset.theme = 'dark';
  const {seed, data, prefix, copied} = JSON.parse(document.getElementById('words').textContent);
  const items = [...document.querySelectorAll('li')], name = document.getElementById('name');
  const store = `attnscope-homework-${seed}`;
  let kept = {};
  try { kept = JSON.parse(localStorage.getItem(store)) || {}; } catch (ignored) { /* storage is blocked */ }
  const chosen = item => (item.querySelector('input:checked') || item.querySelector('input:not([type])') || {}).value || '';
  const checksum = text => [...text].reduce((hash, c) => Math.imul(hash ^ c.charCodeAt(0), 16777619) >>> 0, 2166136261).toString(16).padStart(8, '0');
  const write = () => {
    const answers = items.map(item => chosen(item).trim());
    const bytes = new TextEncoder().encode(JSON.stringify({seed, data, name: name.value.trim(), answers}));
    const payload = btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    document.getElementById('student').textContent = `${name.value} · ${answers.filter(Boolean).length} / ${items.length}`;
    document.getElementById('given').textContent = answers.map((answer, i) => `${i + 1}:\u00a0${answer || '–'}`).join('   ');
    document.getElementById('code').textContent = `${prefix}${payload}.${checksum(payload)}`;
    try { localStorage.setItem(store, JSON.stringify({name: name.value, answers})); } catch (ignored) { /* storage is blocked */ }
  };
  name.value = kept.name || '';
  for (const [i, item] of items.entries()) {
    for (const input of item.querySelectorAll('input')) {
      const answer = (kept.answers || [])[i];
      if (input.type === 'radio') input.checked = input.value === answer;
      else input.value = answer || '';
    }
  }
  document.addEventListener('input', write);
  document.getElementById('print').addEventListener('click', () => print());
  document.getElementById('copy').addEventListener('click', async () => {
    getSelection().selectAllChildren(document.getElementById('code'));
    try { await navigator.clipboard.writeText(document.getElementById('code').textContent); } catch (ignored) { document.execCommand('copy'); }
    document.getElementById('note').textContent = copied;
  });
  write();
})();
