'use strict';
// Charts on canvases. Each has a description in words, and a table with the numbers.

let liveCharts = [];  // of the visible dispatch

function removeCharts() {
  for (const chart of liveCharts) chart.destroy();
  liveCharts = [];
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

function drawChart(box, label, configuration) {
  const canvas = h('canvas', {role: 'img', 'aria-label': label}, label);
  box.replaceChildren(canvas);
  Object.assign(configuration.options, {animation: false, maintainAspectRatio: false, responsive: true});
  liveCharts.push(new Chart(canvas, configuration));
}

function dropChart(box) {
  const canvas = box.querySelector('canvas');
  const chart = canvas && Chart.getChart(canvas);
  if (!chart) return;
  liveCharts = liveCharts.filter(other => other !== chart);
  chart.destroy();
}

function axis(title, more) {
  return Object.assign({
    title: {display: title !== '', text: title, color: colour('quiet')},
    ticks: {color: colour('quiet'), maxRotation: 0, autoSkipPadding: 12},
    grid: {color: colour('line'), borderColor: colour('line'), tickColor: colour('line')},
  }, more);
}

function legend() {
  return {position: 'bottom', labels: {usePointStyle: true, boxWidth: 7, boxHeight: 7, padding: 16, color: colour('ink')}};
}

// Unit of a chart's times, from a typical time.
function timeUnit(seconds) {
  return [[1e-9, 'ns'], [1e-6, 'us'], [1e-3, 'ms'], [1, 's']].reverse()
      .find(([scale]) => seconds >= scale) || [1e-9, 'ns'];
}

function timeAxis(seconds, unit, more) {
  const low = Math.min(...seconds.slice(0, 1e4)), high = Math.max(...seconds.slice(0, 1e4));
  const wide = high > 6 * low;
  const scaled = axis(`${unit[1]} per launch${wide ? ' (logarithmic)' : ''}`, more);
  scaled.type = wide ? 'logarithmic' : 'linear';
  scaled.ticks.callback = value =>  // not the arbitrary ends of a logarithmic axis
      wide && Math.abs(value / Number(value.toPrecision(2)) - 1) > 1e-9 ? '' : String(Number(value.toPrecision(3)));
  Object.assign(scaled, wide ? {min: low / unit[0] / 1.15, max: high / unit[0] * 1.15} : {grace: '8%'});
  if (wide) scaled.ticks.autoSkipPadding = 18;
  return scaled;
}

// Spreads points of one value; a candidate always lies at the same place.
function spread(id) {
  return (((id * 2654435761) >>> 0) / 4294967296 - 0.5) * 0.56;
}

// Seconds of all candidates by a knob, or in the order tried if `knob` is null. A strip of crosses
// below shows each kind of failure.
function drawScatter(box, dispatch, knob) {
  const {rows, defaultSeconds} = dispatch;
  const place = row => knob === null ? row.order : knob.index[row.at] < 0 ? null : knob.index[row.at] + spread(row.id);
  const measured = rows.filter(row => row.measured && place(row) !== null);
  const failed = rows.filter(row => row.failureKind && place(row) !== null);
  const kinds = [...new Set(failed.map(row => row.failureKind))].sort();
  const unit = timeUnit(defaultSeconds || (measured[0] || {searched: 1e-3}).searched);
  const of = (chosen, style) => Object.assign({
    data: chosen.map(row => ({x: place(row), y: row.searched / unit[0], row})),
    pointHoverRadius: 6,
  }, style);
  const others = measured.filter(row => !row.winner && !row.tied && !row.isDefault);
  const datasets = [
    of(measured.filter(row => row.winner), {label: 'winner', pointStyle: 'rectRot', pointRadius: 8,
        backgroundColor: colour('good'), borderColor: colour('surface'), borderWidth: 1.5}),
    of(measured.filter(row => row.tied && !row.winner), {label: 'tied', pointStyle: 'rectRot',
        pointRadius: 6, backgroundColor: 'transparent', borderColor: colour('good'), borderWidth: 2}),
    of(others, {label: 'verified', pointStyle: 'circle',
        pointRadius: others.length > 3000 ? 1.5 : others.length > 400 ? 2.5 : 4,
        backgroundColor: colour('accent-soft'), borderColor: colour('accent'),
        borderWidth: others.length > 400 ? 0.5 : 1}),
  ].filter(set => set.data.length > 0);
  const last = knob === null ? rows.length - 1 : knob.values.length - 1;
  if (defaultSeconds)
    datasets.push({label: 'default', type: 'line', pointStyle: 'line', pointRadius: 0, pointHitRadius: 0,
      borderColor: colour('default'), borderDash: [6, 4], borderWidth: 2,
      data: [{x: -0.5, y: defaultSeconds / unit[0]}, {x: last + 0.5, y: defaultSeconds / unit[0]}]});
  if (kinds.length)
    datasets.push({label: 'failed', yAxisID: 'failures', pointStyle: 'crossRot', borderColor: colour('bad'),
      borderWidth: 1.5, pointRadius: failed.length > 1000 ? 2.5 : 4,
      data: failed.map(row => ({x: place(row), y: kinds.indexOf(row.failureKind), row}))});
  const x = axis(knob === null ? 'order tried' : knob.name,
      {type: 'linear', min: -0.5, max: last + 0.5});
  if (knob !== null) {
    x.afterBuildTicks = scale => {
      const step = Math.ceil(knob.values.length / 16);
      scale.ticks = knob.values.map((_, i) => ({value: i})).filter(tick => tick.value % step === 0);
    };
    x.ticks.callback = value => String(knob.values[value]);
    x.ticks.autoSkip = false;
    x.grid.display = false;
  } else {
    x.ticks.callback = value => value >= 0 && Number.isInteger(value) ? String(value + 1) : '';
  }
  const scales = {x, y: timeAxis(measured.map(row => row.searched).concat(defaultSeconds || []), unit,
      {stack: 'y', stackWeight: 5})};
  if (kinds.length)
    scales.failures = axis('', {type: 'category', labels: kinds, offset: true, stack: 'y',
      stackWeight: Math.min(2, 0.5 + 0.4 * kinds.length), position: 'left'});
  if (scales.failures) scales.failures.ticks.autoSkip = false;
  drawChart(box, `${plural(measured.length, 'measured candidate')} and ${failed.length} failed ones by ` +
      `${knob === null ? 'order' : knob.name}: the fastest takes ` +
      `${formatSeconds(measured.length ? measured.reduce((a, b) => a.searched < b.searched ? a : b).searched : null)}. ` +
      'The table below has the numbers.', {
    type: 'scatter', data: {datasets},
    options: {scales, parsing: false, normalized: true,
      plugins: {legend: legend(), tooltip: {callbacks: {label: scatterLabel}}}},
  });
}

function scatterLabel(item) {
  const row = item.raw.row;
  if (!row) return ` default ${digits(item.raw.y)}`;
  const words = row.failureKind ? row.failureKind : formatSeconds(row.searched);
  return ` #${row.id}: ${words}`;
}

// Fastest correct candidate so far, by number tried.
function drawProgress(box, dispatch) {
  const {rows, defaultSeconds} = dispatch;
  const unit = timeUnit(defaultSeconds || dispatch.tunedSeconds || 1e-3);
  const steps = bestSoFar(rows);
  const points = steps.map(row => ({x: row.order + 1, y: row.searched / unit[0]}));
  if (points.length) points.push({x: rows.length, y: points[points.length - 1].y});
  const datasets = [{label: 'best so far', data: points, stepped: 'after', borderColor: colour('accent'),
    backgroundColor: colour('accent'), borderWidth: 2, pointRadius: 3, pointStyle: 'circle'}];
  if (defaultSeconds)
    datasets.push({label: 'default', pointStyle: 'line', pointRadius: 0, borderColor: colour('default'), borderDash: [6, 4],
      borderWidth: 2, data: [{x: 1, y: defaultSeconds / unit[0]}, {x: rows.length, y: defaultSeconds / unit[0]}]});
  const label = steps.length ?
      `Best time so far: ${formatSeconds(steps[0].searched)} after ${steps[0].order + 1}, ` +
      `${formatSeconds(steps[steps.length - 1].searched)} after ${rows.length} candidates.` : 'No candidate was measured.';
  drawChart(box, label, {
    type: 'line', data: {datasets},
    options: {parsing: false, interaction: {mode: 'nearest', intersect: false},
      scales: {x: axis('candidates tried', {type: 'linear', min: 1, max: Math.max(2, rows.length)}),
        y: timeAxis(steps.map(row => row.searched).concat(defaultSeconds || []), unit)},
      plugins: {legend: legend()}},
  });
}

// Rows faster than all rows before them, in the order tried.
function bestSoFar(rows) {
  let best = Infinity;
  return rows.filter(row => {
    if (!row.measured || row.searched >= best) return false;
    best = row.searched;
    return true;
  });
}

// Achieved rate by arithmetic intensity, under the device's roofline.
function drawRoofline(box, dispatch) {
  const {peak_flops: peak, bandwidth, intensity} = dispatch.data.roofline;
  const ridge = peak / bandwidth;
  const low = Math.min(intensity, ridge) / 8, high = Math.max(intensity, ridge) * 8;
  const roof = [low, ridge, high].map(x => ({x, y: Math.min(peak, x * bandwidth) / 1e9}));
  const rate = seconds => dispatch.data.flops / seconds / 1e9;
  const point = (label, seconds, pointStyle, colourName) => ({label, type: 'scatter', pointStyle, pointRadius: 8,
    backgroundColor: colour(colourName), borderColor: colour(colourName), borderWidth: 2, data: [{x: intensity, y: rate(seconds)}]});
  const datasets = [{label: 'roofline', data: roof, borderColor: colour('quiet'), borderWidth: 2,
    pointRadius: 0, pointStyle: 'line'}];
  if (dispatch.tunedSeconds && dispatch.data.beaten) datasets.push(point('tuned', dispatch.tunedSeconds, 'rectRot', 'good'));
  if (dispatch.defaultSeconds) datasets.push(point('default', dispatch.defaultSeconds, 'triangle', 'default'));
  const logarithmic = title => axis(title, {type: 'logarithmic'});
  const scales = {x: logarithmic('operations per byte'), y: logarithmic('GFLOP/s')};
  Object.assign(scales.x, {min: low, max: high});
  Object.assign(scales.y, {max: 2 * peak / 1e9});
  for (const scale of [scales.x, scales.y]) {
    scale.ticks.callback = value => [1, 2, 5].includes(Number(String(value.toExponential())[0])) &&
        Math.abs(value / Number(value.toPrecision(1)) - 1) < 1e-6 ? String(Number(value.toPrecision(3))) : '';
    scale.ticks.autoSkip = true;
  }
  drawChart(box, rooflineWords(dispatch), {
    type: 'line', data: {datasets},
    options: {parsing: false, scales, plugins: {legend: legend(),
      tooltip: {callbacks: {label: item => ` ${item.dataset.label}: ${digits(item.raw.y)} GFLOP/s`}}}},
  });
}

function rooflineWords(dispatch) {
  const {peak_flops: peak, bandwidth, intensity, matrix_units: matrix} = dispatch.data.roofline;
  const seconds = dispatch.tunedSeconds;
  const roof = Math.min(peak, intensity * bandwidth);
  const rate = dispatch.data.flops / seconds;
  const limit = intensity * bandwidth < peak ? 'memory bandwidth' : matrix ? 'matrix units' : 'arithmetic';
  return `${digits(intensity)} operations per byte: limited by ${limit}, at ${formatRate(roof, 'FLOP/s')}. ` +
      `${dispatch.data.beaten ? 'The winner' : 'The default'} reaches ${formatRate(rate, 'FLOP/s')}, ${formatPercent(rate / roof)} of the roofline.`;
}
