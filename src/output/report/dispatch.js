'use strict';
// One dispatch: its figures, charts, and how to reproduce them.

// Rows from the columns of src/output/report_dispatch.h, created when the dispatch is first shown.
function openDispatch(report, data) {
  const table = data.candidates;
  const ties = new Set(data.selection ? data.selection.ties : []);
  let order = 0;
  const rows = table.id.map((id, at) => {
    const state = table.states[table.state[at]];
    const failure = table.failure[at] < 0 ? null : data.failures[table.failure[at]];
    const isDefault = id === data.default;
    return {
      id, at, state, isDefault, measured: state === 'measured',
      order: isDefault || state === 'untried' ? -1 : order++,
      // Charts compare times of the search, which all candidates have; finalists have later times too.
      searched: table.searched[at] === null ? table.seconds[at] : table.searched[at],
      seconds: table.seconds[at], low: table.low[at], high: table.high[at], ratio: table.ratio[at],
      winner: id === data.best && !isDefault, tied: ties.has(id) && id !== data.best,
      failureKind: failure && failure.kind,
    };
  });
  return {
    report, data, rows: rows.filter(row => row.order >= 0), knobs: table.knobs.filter(knob => knob.values.length > 1),
    byId: new Map(rows.map(row => [row.id, row])),
    defaultSeconds: data.default_seconds, tunedSeconds: data.tuned_seconds,
    configuration: row => Object.fromEntries(table.knobs.filter(knob => knob.index[row.at] >= 0)
        .map(knob => [knob.name, knob.values[knob.index[row.at]]])),
  };
}

function dispatchVerdict(data) {
  if (data.beaten)
    return `${formatTimes(data.speedup)} faster than the default` +
        (data.speedup_low ? ` (95 % CI ${formatInterval(data.speedup_low, data.speedup_high)})` : '') +
        (data.selection.shipped ? '; the spec has it.' : '; the spec does not have it.');
  if (data.counts.tried === 0) return 'No candidate was tried.';
  if (data.selection) return 'Nothing is faster than the default, which is kept.';
  if (data.tuned_seconds === null) return 'Compiled only, not measured.';
  return 'No winner: the search did not finish.';
}

function tilesOf(data) {
  const peak = data.roofline.peak_flops, rate = data.flops > 0 && data.tuned_seconds ? data.flops / data.tuned_seconds : null;
  const failed = Object.values(data.counts.failed).reduce((a, b) => a + b, 0);
  if (data.tuned_seconds === null) {
    const codes = new Set(data.candidates.code.filter(code => code >= 0)).size;
    return h('dl', {class: 'tiles'}, tile('Tried', formatCount(data.counts.tried)),
        tile('Compiled', formatCount(data.counts.compiled), plural(codes, 'distinct kernel')), tile('Failed', formatCount(failed)));
  }
  return h('dl', {class: 'tiles'},
      tile('Default', formatSeconds(data.default_seconds)),
      tile('Tuned', formatSeconds(data.tuned_seconds), data.beaten ? null : 'default kept', data.beaten ? 'good' : ''),
      data.beaten ? tile('Speedup', formatTimes(data.speedup), data.speedup_low ? `95 % CI ${formatInterval(data.speedup_low, data.speedup_high)}` : null, 'good') : null,
      rate ? tile('Rate', formatRate(rate, 'FLOP/s'), peak ? `${formatPercent(rate / peak)} of the peak` : null) : null,
      data.libraries.map(library => tile(library.name, formatSeconds(library.seconds),
          library.over_tuned ? `tuned is ${formatFaster(library.over_tuned)}` : null)),
      tile('Tried', formatCount(data.counts.tried), `${formatCount(data.counts.right)} verified, ${formatCount(failed + data.counts.wrong)} failed or wrong`));
}

function showDispatch(main, dispatch) {
  const {data} = dispatch;
  const parts = [
      h('nav', {'aria-label': 'Back'}, h('a', {href: '#'}, '← All results')),
      h('h2', {tabindex: '-1', id: 'title'}, data.operation || data.name),
      h('p', {class: 'sub'}, h('code', {}, data.name), data.device === null ? null : ` on ${nameOf(dispatch.report.devices, data.device)}`),
      h('p', {class: 'lead'}, dispatchVerdict(data)),
      data.selection && data.selection.reason ? h('p', {class: 'note'}, `Selection: ${data.selection.reason}.`) : null,
      tilesOf(data),
      h('div', {class: 'grid'}, chartSections(dispatch)),
      whySection(dispatch), tieSection(dispatch), failureSection(dispatch),
      section('All candidates', folded(plural(dispatch.rows.length, 'candidate') + ', fastest first', () => candidatesTable(dispatch))),
      reproduceSection(dispatch)];
  main.append(...parts.filter(part => part !== null));
  for (const draw of dispatch.draw) draw();
}

function chartSections(dispatch) {
  dispatch.draw = [];
  return [scatterSection(dispatch), heatSection(dispatch), progressSection(dispatch), rooflineSection(dispatch)].filter(Boolean);
}

// Share of the variance of the times' logarithms that a knob's value explains: adjusted R² of a
// one-way analysis of variance.
function shareOfVariance(rows, knob) {
  const chosen = rows.filter(row => row.measured && knob.index[row.at] >= 0);
  const groups = knob.values.map(() => ({count: 0, sum: 0}));
  let sum = 0, squares = 0;
  for (const row of chosen) {
    const value = Math.log(row.searched), group = groups[knob.index[row.at]];
    group.count += 1;
    group.sum += value;
    sum += value;
    squares += value * value;
  }
  const used = groups.filter(group => group.count > 0);
  const total = squares - sum * sum / chosen.length;
  if (used.length < 2 || chosen.length <= used.length || total <= 0) return -1;
  const within = squares - used.reduce((all, group) => all + group.sum * group.sum / group.count, 0);
  return 1 - within / total * (chosen.length - 1) / (chosen.length - used.length);
}

// Knobs by the variance that they explain, largest first.
function knobsByEffect(dispatch) {
  const share = new Map(dispatch.knobs.map(knob => [knob, shareOfVariance(dispatch.rows, knob)]));
  return [...dispatch.knobs].sort((a, b) => share.get(b) - share.get(a));
}

function scatterSection(dispatch) {
  if (!dispatch.rows.some(row => row.measured)) return null;
  const knobs = knobsByEffect(dispatch), box = h('div', {class: 'chart tall'}), table = h('div');
  let chosen = knobs.length ? knobs[0].name : '';
  const draw = () => {
    const knob = knobs.find(each => each.name === chosen) || null;
    dropChart(box);
    drawScatter(box, dispatch, knob);
    table.replaceChildren(knob ? folded(`Table: times by ${knob.name}`, () => valueTable(dispatch, knob)) :
        h('p', {class: 'note'}, '“All candidates” below has the numbers.'));
  };
  dispatch.draw.push(draw);
  return section('Every candidate',
      choice('Time against ', knobs.map(knob => [knob.name, knob.name]).concat([['', 'order tried']]), chosen,
          value => { chosen = value; draw(); }), box, table);
}

function heatSection(dispatch) {
  const knobs = knobsByEffect(dispatch);
  if (knobs.length < 2 || !dispatch.rows.some(row => row.measured)) return null;
  const box = h('div', {}), chosen = [knobs[0].name, knobs[1].name];
  const draw = () => box.replaceChildren(heatMap(dispatch, ...chosen.map(name => knobs.find(knob => knob.name === name))));
  const pick = (label, i) => choice(label, knobs.map(knob => [knob.name, knob.name]), chosen[i],
      value => { chosen[i] = value; draw(); });
  draw();
  return section('Two knobs', h('div', {class: 'choices'}, pick('Down ', 0), pick('Across ', 1)), box);
}

function progressSection(dispatch) {
  const steps = bestSoFar(dispatch.rows);
  if (!steps.length) return null;
  const box = h('div', {class: 'chart'});
  dispatch.draw.push(() => drawProgress(box, dispatch));
  return section('Search progress', box,
      h('p', {class: 'note'}, 'Each time is one short measurement of the search. The finalists’ rounds decide the winner.'),
      folded('Table: best so far', () => dataTable('Best so far', [{title: 'after', number: true},
        {title: 'best so far', number: true}, {title: 'candidate', number: true}],
        steps.map(row => [String(row.order + 1), formatSeconds(row.searched), row.id]))));
}

function rooflineSection(dispatch) {
  const {peak_flops: peak, bandwidth, intensity, least_seconds: least} = dispatch.data.roofline;
  if (!dispatch.tunedSeconds || !bandwidth || !peak) return null;
  if (!intensity) {
    if (!least) return null;
    return section('Roofline', h('p', {}, `Reading and writing its operands once takes ${formatSeconds(least)} at ` +
        `${formatRate(bandwidth, 'B/s')}: ${formatPercent(least / dispatch.tunedSeconds)} of the roofline.`));
  }
  const box = h('div', {class: 'chart'});
  dispatch.draw.push(() => drawRoofline(box, dispatch));
  return section('Roofline', box, h('p', {class: 'words'}, rooflineWords(dispatch)),
      h('p', {class: 'note'}, `Peak ${formatRate(peak, 'FLOP/s')}, memory ${formatRate(bandwidth, 'B/s')}. ` +
          'Operands in a cache can be read faster than the slope.'));
}

// Knobs that matter, by this store's measurements.
function whyWords(dispatch) {
  const shares = knobsByEffect(dispatch).map(knob => [knob.name, shareOfVariance(dispatch.rows, knob)]).filter(([, share]) => share > 0.02);
  if (!shares.length) return null;
  return h('p', {}, 'Variance of the measured times explained by each knob: ' +
      shares.slice(0, 4).map(([name, share]) => `${name} ${formatPercent(share)}`).join(', ') +
      '. Shares overlap, because knobs were changed together.');
}

function whySection(dispatch) {
  if (!dispatch.data.effects.length) return null;
  return section(dispatch.data.beaten ? 'Why the winner wins' : 'Effect of each knob',
      h('p', {class: 'note'}, `Times over that of the winner, #${dispatch.data.best}, by measurement. “Only this knob changed” isolates the knob. ` +
          '“None measured” means that the search did not try it. Small differences are noise: the search measures each candidate once.'),
      whyWords(dispatch),
      effectsTable(dispatch));
}

function tieSection(dispatch) {
  const ties = dispatch.data.selection ? dispatch.data.selection.ties : [];
  if (!ties.length) return null;
  const row = id => dispatch.byId.get(id);
  return section('Tie set',
      h('p', {class: 'note'}, ties.length === 1 ? 'The winner is significantly faster than every other finalist.' :
          `${ties.length} candidates do not differ significantly; each is as good a choice.`),
      dataTable('Candidates tied with the winner', [{title: 'id', number: true}, {title: 'time', number: true},
        {title: '95 % CI', number: true}, {title: 'speedup', number: true}, {title: 'configuration', code: true}],
        ties.filter(row).map(id => [String(id) + (id === dispatch.data.best ? ' (winner)' : ''), formatSeconds(row(id).seconds),
          `${formatSeconds(row(id).low)} to ${formatSeconds(row(id).high)}`, row(id).ratio ? formatTimes(1 / row(id).ratio) : '–',
          formatConfiguration(dispatch.configuration(row(id)))])));
}

function failureSection(dispatch) {
  if (!dispatch.data.failures.length) return null;
  return section('Failures', h('p', {class: 'note'}, `${dispatch.data.counts.reason}. By kind, with the compiler’s or the system’s message. None of these can win.`),
      failureList(dispatch));
}

function reproduceSection(dispatch) {
  const {data, report} = dispatch, store = shellWord(report.store);
  const build = report.builds.find(each => each.id === data.build);
  const run = report.runs.find(each => data.selection && each.id === data.selection.run) || report.runs[report.runs.length - 1];
  const best = data.best === null ? data.default : data.best;
  return section('Reproduce',
      run ? h('p', {}, data.selection ? 'Run that chose it:' : 'Newest run:') : null, run ? command(run.command) : null,
      best === null ? null : h('p', {}, 'Configuration, code, samples and compiler commands (reproduce.sh):'),
      best === null ? null : command(`hone show ${best} --store ${store} --out candidate_${best}`),
      data.best_configured ? h('p', {}, 'Configuration as passed to the compiler:') : null,
      data.best_configured ? command(data.best_configured) : null,
      build ? h('p', {class: 'note'}, `${build.compiler}; flags: ${[].concat(build.flags).join(' ') || 'none'}`) : null);
}

function nameOf(list, id) {
  const found = list.find(each => each.id === id);
  return found ? found.name : null;
}

function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}
