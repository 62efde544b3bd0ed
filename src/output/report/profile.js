'use strict';
// A profile of operations: roofline, heat map over two swept dimensions, and table.

function showProfile(main, profile) {
  const measured = profile.rows.filter(row => row.seconds);
  const own = profile.rows.filter(row => row.own), wrong = own.filter(row => row.verification === 'FAILED');
  main.append(
      h('h2', {tabindex: '-1', id: 'title'}, 'Profile'),
      h('p', {class: 'lead'}, `${plural(own.length, 'dispatch', 'dispatches')}, ` +
          `${formatCount(own.filter(row => row.seconds).length)} measured` +
          (wrong.length ? `, ${formatCount(wrong.length)} failed.` : ', none failed.')),
      measured.length && profile.bandwidth ? profileRoofline(profile, measured) : '',
      measured.length ? profileHeat(measured) || '' : '',
      section('All dispatches', profileTable(profile)));
}

function profileRoofline(profile, measured) {
  const box = h('div', {class: 'chart tall'});
  const place = section('Roofline', box, h('p', {class: 'note'},
      'Operations and bytes are the operation’s own, each tensor once. Operands in a cache may lie above the slope.'));
  const intensity = row => row.flops / row.bytes, rate = row => row.flops / row.seconds / 1e9;
  const values = measured.map(intensity);
  const low = Math.min(...values) / 2, high = Math.max(...values) * 2;
  const roof = ({label, flops}, i) => ({label, borderColor: colour(i ? 'line' : 'quiet'), borderWidth: 2, pointRadius: 0,
    pointStyle: 'line', data: [low, Math.min(Math.max(flops / profile.bandwidth, low), high), high]
        .map(x => ({x, y: Math.min(flops, x * profile.bandwidth) / 1e9}))});
  const providers = [...new Set(measured.map(row => row.provider))];
  const points = providers.map((provider, i) => ({label: provider, type: 'scatter', pointRadius: 4,
    pointStyle: ['circle', 'rectRot', 'triangle'][i % 3], backgroundColor: colour(['accent-soft', 'default', 'good'][i % 3]),
    borderColor: colour(['accent', 'default', 'good'][i % 3]),
    data: measured.filter(row => row.provider === provider).map(row => ({x: intensity(row), y: rate(row), row}))}));
  const scales = {x: axis('operations per byte', {type: 'logarithmic', min: low, max: high}),
    y: axis('GFLOP/s', {type: 'logarithmic'})};
  const best = measured.reduce((a, b) => rate(a) > rate(b) ? a : b);
  // Drawn in the next frame: a chart takes its size from its box in the page.
  requestAnimationFrame(() => drawChart(box, `${plural(measured.length, 'dispatch', 'dispatches')} by operations per byte; the ` +
      `fastest, ${best.dispatch}, reaches ${digits(rate(best))} GFLOP/s. The table below has the numbers.`, {
    type: 'line', data: {datasets: points.concat(profile.roofs.map(roof))},
    options: {parsing: false, scales, plugins: {legend: legend(), tooltip: {callbacks: {label: item => item.raw.row ?
        ` ${item.raw.row.dispatch} (${item.raw.row.provider}): ${digits(item.raw.y)} GFLOP/s` : ` ${digits(item.raw.y)} GFLOP/s`}}}},
  }));
  return place;
}

// Dimensions that take several values among these rows.
function sweptDimensions(rows) {
  const names = [...new Set(rows.flatMap(row => Object.keys(row.dimensions)))];
  return names.filter(name => new Set(rows.map(row => row.dimensions[name])).size > 1);
}

function profileHeat(measured) {
  const own = measured.filter(row => row.own);
  const families = [...new Set(own.map(row => row.family))].filter(family => sweptDimensions(own.filter(row => row.family === family)).length > 1);
  if (!families.length) return null;
  const box = h('div', {}), choices = h('div', {class: 'choices'});
  let family = families[0], chosen = [];
  const draw = () => {
    const rows = own.filter(row => row.family === family), swept = sweptDimensions(rows);
    chosen = [0, 1].map(i => swept.includes(chosen[i]) ? chosen[i] : swept[i]);
    const pick = (label, i) => choice(label, swept.map(name => [name, name]), chosen[i], value => { chosen[i] = value; draw(); });
    choices.replaceChildren(choice('Of ', families.map(name => [name, name]), family, value => { family = value; draw(); }),
        pick('Down ', 0), pick('Across ', 1));
    box.replaceChildren(profileHeatMap(rows, ...chosen));
  };
  draw();
  return section('Two dimensions', choices, box);
}

// Best GFLOP/s at each pair of values.
function profileHeatMap(rows, down, across) {
  const valuesOf = name => [...new Set(rows.map(row => row.dimensions[name]))].sort((a, b) => a - b);
  const best = new Map();
  for (const row of rows) {
    const key = `${row.dimensions[down]},${row.dimensions[across]}`, rate = row.flops / row.seconds / 1e9;
    if (!best.has(key) || best.get(key).rate < rate) best.set(key, {rate, row});
  }
  const most = Math.max(...[...best.values()].map(cell => cell.rate));
  const cellOf = key => {
    const cell = best.get(key);
    if (!cell) return h('td', {class: 'none', 'aria-label': 'not measured'}, '·');
    const element = h('td', {title: `${cell.row.dispatch}: ${formatSeconds(cell.row.seconds)}`}, digits(cell.rate));
    element.style.setProperty('--heat', (100 * cell.rate / most).toFixed(0) + '%');
    return element;
  };
  const name = `Best GFLOP/s by ${down} and ${across}`;
  return h('div', {}, h('p', {class: 'note'}, `${name}, over all configurations and other dimensions; · not measured.`),
      h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name},
        h('table', {class: 'heat'}, h('caption', {class: 'hidden'}, name),
          h('thead', {}, h('tr', {}, h('th', {scope: 'col', class: 'corner'}, `${down} ↓  ${across} →`),
            valuesOf(across).map(value => h('th', {scope: 'col', class: 'number'}, String(value))))),
          h('tbody', {}, valuesOf(down).map(value => h('tr', {}, h('th', {scope: 'row', class: 'number'}, String(value)),
            valuesOf(across).map(other => cellOf(`${value},${other}`))))))));
}

function profileTable(profile) {
  const columns = [{title: 'dispatch'}, {title: 'provider'}, {title: 'verification'}, {title: 'time', number: true},
    {title: 'GFLOP/s', number: true}, {title: 'note'}];
  return dataTable('All dispatches', columns, profile.rows.map(row => [row.dispatch, row.provider, row.verification,
    formatSeconds(row.seconds), row.seconds ? digits(row.flops / row.seconds / 1e9) : '–', row.message]), {id: 'profile'});
}
