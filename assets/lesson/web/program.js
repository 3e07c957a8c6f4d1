// SPDX-License-Identifier: Apache-2.0
// The faulty program, of which lines can be rewritten.
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
