'use strict';
// One dispatch: its figures, charts, and how to reproduce them.

// The columns of src/output/report_dispatch.h as rows, made when the dispatch is first shown.
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
      // Charts compare times of the search, which all have; finalists were measured again after it.
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
    return `Tuned ${formatTimes(data.speedup)} as fast as the default` +
        (data.speedup_low ? ` (95 % sure: ${formatInterval(data.speedup_low, data.speedup_high)})` : '') +
        (data.selection.shipped ? '; the spec uses it.' : '.');
  if (data.counts.tried === 0) return 'Nothing was tried yet.';
  if (data.selection) return 'Nothing beats the default, which is kept.';
  if (data.tuned_seconds === null) return 'Compiled only: nothing was measured on a device.';
  return 'The search did not end: no winner is declared.';
}

function tilesOf(data) {
  const peak = data.roofline.peak_flops, rate = data.flops > 0 && data.tuned_seconds ? data.flops / data.tuned_seconds : null;
  const failed = Object.values(data.counts.failed).reduce((a, b) => a + b, 0);
  if (data.tuned_seconds === null) {
    const codes = new Set(data.candidates.code.filter(code => code >= 0)).size;
    return h('dl', {class: 'tiles'}, tile('Tried', formatCount(data.counts.tried)),
        tile('Compiled', formatCount(data.counts.compiled), plural(codes, 'different code')), tile('Failed', formatCount(failed)));
  }
  return h('dl', {class: 'tiles'},
      tile('Default', formatSeconds(data.default_seconds)),
      tile('Tuned', formatSeconds(data.tuned_seconds), data.beaten ? null : 'the default', data.beaten ? 'good' : ''),
      data.beaten ? tile('Speed-up', formatTimes(data.speedup), data.speedup_low ? `95 %: ${formatInterval(data.speedup_low, data.speedup_high)}` : null, 'good') : null,
      rate ? tile('Rate', formatRate(rate, 'FLOP/s'), peak ? `${formatPercent(rate / peak)} of the peak` : null) : null,
      data.libraries.map(library => tile(library.name, formatSeconds(library.seconds),
          library.over_tuned ? `tuned is ${formatTimes(library.over_tuned)} as fast` : null)),
      tile('Tried', formatCount(data.counts.tried), `${formatCount(data.counts.right)} right, ${formatCount(failed + data.counts.wrong)} failed or wrong`));
}

function showDispatch(main, dispatch) {
  const {data} = dispatch;
  const parts = [
      h('nav', {'aria-label': 'Back'}, h('a', {href: '#'}, '← All results')),
      h('h2', {tabindex: '-1', id: 'title'}, data.operation || data.name),
      h('p', {class: 'sub'}, h('code', {}, data.name), data.device === null ? null : ` on ${nameOf(dispatch.report.devices, data.device)}`),
      h('p', {class: 'lead'}, dispatchVerdict(data)),
      data.selection && data.selection.reason ? h('p', {class: 'note'}, `How it was chosen: ${data.selection.reason}.`) : null,
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

// The share of the differences between (logarithms of) times that goes with a knob's value: adjusted
// for the number of its values, as adjusted R² of a one-way analysis of variance.
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

// The knob whose value goes with most of the differences comes first.
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
    table.replaceChildren(knob ? folded(`The same as a table: times by ${knob.name}`, () => valueTable(dispatch, knob)) :
        h('p', {class: 'note'}, 'The table “All candidates” has the same numbers.'));
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
  return section('Two knobs together', h('div', {class: 'choices'}, pick('Down ', 0), pick('Across ', 1)), box);
}

function progressSection(dispatch) {
  const steps = bestSoFar(dispatch.rows);
  if (!steps.length) return null;
  const box = h('div', {class: 'chart'});
  dispatch.draw.push(() => drawProgress(box, dispatch));
  return section('How the search went', box,
      h('p', {class: 'note'}, 'Times of the search, one short measurement each: the lucky ones of a noisy machine are here too. The finalists’ second measurement decides.'),
      folded('The same as a table', () => dataTable('Best so far', [{title: 'after', number: true},
        {title: 'best so far', number: true}, {title: 'candidate', number: true}],
        steps.map(row => [String(row.order + 1), formatSeconds(row.searched), row.id]))));
}

function rooflineSection(dispatch) {
  const {peak_flops: peak, bandwidth, intensity, least_seconds: least} = dispatch.data.roofline;
  if (!dispatch.tunedSeconds || !bandwidth || !peak) return null;
  if (!intensity) {
    if (!least) return null;
    return section('Against what the device can do', h('p', {}, `Moving its operands once takes at least ${formatSeconds(least)} at ` +
        `${formatRate(bandwidth, 'B/s')}: it runs at ${formatPercent(least / dispatch.tunedSeconds)} of that.`));
  }
  const box = h('div', {class: 'chart'});
  dispatch.draw.push(() => drawRoofline(box, dispatch));
  return section('Against what the device can do', box, h('p', {class: 'words'}, rooflineWords(dispatch)),
      h('p', {class: 'note'}, `Peak ${formatRate(peak, 'FLOP/s')}, memory ${formatRate(bandwidth, 'B/s')}, as hone knows them of this device; ` +
          'operands that stay in a cache can be read faster than the slope.'));
}

// Which knobs matter, by the measurements of this store.
function whyWords(dispatch) {
  const shares = knobsByEffect(dispatch).map(knob => [knob.name, shareOfVariance(dispatch.rows, knob)]).filter(([, share]) => share > 0.02);
  if (!shares.length) return null;
  return h('p', {}, 'Of the differences between all measured times, the value of ' +
      shares.slice(0, 4).map(([name, share]) => `${name} goes with ${formatPercent(share)}`).join(', ') +
      '. (Shares overlap: knobs were changed together.)');
}

function whySection(dispatch) {
  if (!dispatch.data.effects.length) return null;
  return section(dispatch.data.beaten ? 'Why the winner wins' : 'What the knobs do',
      h('p', {class: 'note'}, `Measured, not explained: what the fastest candidate with another value takes, over the time of #${dispatch.data.best}. ` +
          '“Only this knob changed” is this knob’s doing alone; “none measured”: the search did not try it. Times of the search ' +
          'are one short measurement each, so that small differences there are noise.'),
      whyWords(dispatch),
      effectsTable(dispatch));
}

function tieSection(dispatch) {
  const ties = dispatch.data.selection ? dispatch.data.selection.ties : [];
  if (!ties.length) return null;
  const row = id => dispatch.byId.get(id);
  return section('Tie set',
      h('p', {class: 'note'}, ties.length === 1 ? 'The winner was told apart from every other finalist.' :
          `${ties.length} candidates could not be told apart; any of them is as good a choice.`),
      dataTable('Candidates not told apart from the winner', [{title: 'id', number: true}, {title: 'time', number: true},
        {title: '95 %', number: true}, {title: 'default / it', number: true}, {title: 'configuration', code: true}],
        ties.filter(row).map(id => [String(id) + (id === dispatch.data.best ? ' (winner)' : ''), formatSeconds(row(id).seconds),
          `${formatSeconds(row(id).low)} to ${formatSeconds(row(id).high)}`, row(id).ratio ? formatTimes(1 / row(id).ratio) : '–',
          formatConfiguration(dispatch.configuration(row(id)))])));
}

function failureSection(dispatch) {
  if (!dispatch.data.failures.length) return null;
  return section('Failures', h('p', {class: 'note'}, `${dispatch.data.counts.reason}. Below: by kind, in the words of the compiler or the system. None of them can win.`),
      failureList(dispatch));
}

function reproduceSection(dispatch) {
  const {data, report} = dispatch, store = shellWord(report.store);
  const build = report.builds.find(each => each.id === data.build);
  const run = report.runs.find(each => data.selection && each.id === data.selection.run) || report.runs[report.runs.length - 1];
  const best = data.best === null ? data.default : data.best;
  return section('Reproduce',
      run ? h('p', {}, 'The run that chose it:') : null, run ? command(run.command) : null,
      best === null ? null : h('p', {}, 'Its configuration, code, samples, and the compiler’s own commands (reproduce.sh):'),
      best === null ? null : command(`hone show ${best} --store ${store} --out candidate_${best}`),
      data.best_configured ? h('p', {}, 'As the compiler was told it:') : null,
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
