'use strict';
// Tables of the charts' data, and heat maps.

// Counts and times of the candidates by value of a knob.
function valueTable(dispatch, knob) {
  const groups = knob.values.map(() => ({tried: 0, failed: 0, seconds: []}));
  for (const row of dispatch.rows) {
    const group = groups[knob.index[row.at]];
    if (!group) continue;
    group.tried += 1;
    if (row.failureKind) group.failed += 1;
    if (row.measured) group.seconds.push(row.searched);
  }
  return dataTable(`Times by ${knob.name}`, [{title: knob.name},
    {title: 'tried', number: true}, {title: 'failed', number: true}, {title: 'fastest', number: true},
    {title: 'median', number: true}, {title: 'slowest', number: true}],
    groups.map((group, i) => {
      const sorted = group.seconds.sort((a, b) => a - b);
      return [String(knob.values[i]), group.tried, group.failed, formatSeconds(sorted[0]),
        formatSeconds(sorted[Math.floor(sorted.length / 2)]), formatSeconds(sorted[sorted.length - 1])];
    }));
}

const mostHeatMapValues = 10;

// Groups of neighbouring values, at most mostHeatMapValues: [{text, from, to}], ends included.
function valueBins(knob) {
  const bins = [], size = Math.ceil(knob.values.length / mostHeatMapValues);
  for (let from = 0; from < knob.values.length; from += size) {
    const to = Math.min(from + size, knob.values.length) - 1;
    bins.push({from, to, text: from === to ? String(knob.values[from]) : `${knob.values[from]}–${knob.values[to]}`});
  }
  bins.of = index => Math.floor(index / size);
  return bins;
}

// Heat map: the fastest time at each pair of values, over the fastest of all.
function heatMap(dispatch, down, across) {
  const rows = valueBins(down), columns = valueBins(across);
  const cells = rows.map(() => columns.map(() => ({tried: 0, best: null})));
  for (const row of dispatch.rows) {
    const i = down.index[row.at], j = across.index[row.at];
    if (i < 0 || j < 0) continue;
    const cell = cells[rows.of(i)][columns.of(j)];
    cell.tried += 1;
    if (row.measured && (!cell.best || row.searched < cell.best.searched)) cell.best = row;
  }
  const all = cells.flat().filter(cell => cell.best).map(cell => cell.best.searched);
  const fastest = Math.min(...all), slowest = Math.max(...all);
  const body = cells.map((line, i) => h('tr', {}, h('th', {scope: 'row', class: 'number'}, rows[i].text),
      line.map(cell => heatCell(cell, fastest, slowest))));
  const name = `Fastest by ${down.name} and ${across.name}`;
  const words = `Fastest time by ${down.name} (down) and ${across.name} (across), ` +
      `as a multiple of ${formatSeconds(all.length ? fastest : null)}; · not tried, ✕ all failed.`;
  return h('div', {}, h('p', {class: 'note'}, words), h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name},
      h('table', {class: 'heat'}, h('caption', {class: 'hidden'}, name),
        h('thead', {}, h('tr', {}, h('th', {scope: 'col', class: 'corner'}, `${down.name} ↓  ${across.name} →`),
          columns.map(bin => h('th', {scope: 'col', class: 'number'}, bin.text)))),
        h('tbody', {}, body))));
}

function heatCell(cell, fastest, slowest) {
  if (!cell.best)
    return h('td', {class: 'none', 'aria-label': cell.tried ? 'all failed' : 'not tried'}, cell.tried ? '✕' : '·');
  const ratio = cell.best.searched / fastest;
  const part = slowest > fastest ? Math.log(ratio) / Math.log(slowest / fastest) : 0;
  const element = h('td', {title: `#${cell.best.id}: ${formatSeconds(cell.best.searched)}, ${cell.tried} tried`}, ratio.toFixed(2));
  element.style.setProperty('--heat', (100 * (1 - part)).toFixed(0) + '%');
  if (part < 0.35) element.className = 'hot';
  return element;
}

const candidatesAtOnce = 25;

// All candidates, fastest first, a page at a time.
function candidatesTable(dispatch) {
  const measured = dispatch.rows.filter(row => row.measured).sort((a, b) => a.seconds - b.seconds);
  const sorted = measured.concat(dispatch.rows.filter(row => !row.measured));
  const table = dataTable('All candidates, fastest first', [{title: 'id', number: true}, {title: 'time', number: true},
    {title: 'speedup', number: true}, {title: 'state'}, {title: 'configuration', code: true}], []);
  const body = table.querySelector('tbody');
  const more = h('button', {type: 'button'}, '');
  const shown = h('p', {class: 'note', role: 'status'});
  let next = 0;
  const add = () => {
    for (const row of sorted.slice(next, next + candidatesAtOnce))
      body.append(h('tr', {}, h('th', {scope: 'row', class: 'number'}, String(row.id)),
        h('td', {class: 'number'}, row.measured ? formatSeconds(row.seconds) : '–'),
        h('td', {class: 'number'}, row.measured && row.ratio ? formatTimes(1 / row.ratio) : '–'),
        h('td', {}, stateWords(row)), h('td', {class: 'code'}, formatConfiguration(dispatch.configuration(row)))));
    next = Math.min(next + candidatesAtOnce, sorted.length);
    shown.textContent = `${formatCount(next)} of ${plural(sorted.length, 'candidate')} shown`;
    more.textContent = `Show ${Math.min(candidatesAtOnce, sorted.length - next)} more`;
    more.hidden = next >= sorted.length;
  };
  more.addEventListener('click', add);
  add();
  return h('div', {}, table, shown, more);
}

function stateWords(row) {
  if (row.winner) return 'winner';
  if (row.tied) return 'tied with the winner';
  return row.failureKind || row.state;
}

// Failures by kind and compiler message, most frequent first.
function failureList(dispatch) {
  return h('ul', {class: 'failures'}, dispatch.data.failures.map(failure => {
    const lines = failure.message.split('\n'), first = lines[0] || 'no message';
    const long = failure.message.length > 220 || lines.length > 2;
    return h('li', {}, h('p', {}, h('strong', {}, `${formatCount(failure.count)} × ${failure.kind}`),
        ` first by candidate ${failure.example}`),
      long ? folded(first.slice(0, 200), () => h('pre', {tabindex: '0'}, failure.message)) : h('pre', {tabindex: '0'}, failure.message || 'no message'));
  }));
}

// Measured cost of changing each knob (src/output/report_dispatch.h).
function effectsTable(dispatch) {
  const ties = new Set(dispatch.data.selection ? dispatch.data.selection.ties : []);
  const words = change => {
    const told = ties.has(change.candidate) ? 'tied' : formatFaster(1 / change.slower);
    return `${change.value}: ${told} (#${change.candidate})`;
  };
  return dataTable('Cost of changing each knob', [{title: 'knob'}, {title: 'winner', number: true},
    {title: 'fastest with another value'}, {title: 'only this knob changed'}],
    dispatch.data.effects.map(effect => [effect.name, String(effect.value),
      effect.best_other ? words(effect.best_other) : 'none measured',
      effect.alone.length ? h('ul', {class: 'plain'}, effect.alone.slice(0, 6).map(change => h('li', {}, words(change)))) : 'none measured']));
}
