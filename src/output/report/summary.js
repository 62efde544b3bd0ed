'use strict';
// The first page: what tuning came to, in words that need no knowledge of kernels, and what to do.

function last(list, wanted) {
  return [...list].reverse().find(wanted) || null;
}

function eventOf(run, kind) {
  const event = run && last(run.events, each => each.kind === kind);
  return event ? event.text : null;
}

// The newest comparison of whole programs, and what its run chose.
function programResult(report, program) {
  const newest = program.measurements[program.measurements.length - 1];
  if (!newest) return null;
  const rows = program.measurements.filter(row => row.run === newest.run && row.device === newest.device);
  const run = report.runs.find(each => each.id === newest.run) || null;
  const chosen = eventOf(run, 'compile flags');
  const faster = rows.filter(row => row.seconds !== null && row.verdict === 'faster').sort((a, b) => a.ratio - b.ratio);
  const best = (chosen && rows.find(row => row.variant === chosen.variant)) || faster[0] ||
      rows.find(isDefault) || null;
  return {rows, run, best, flags: chosen ? chosen.flags : null};
}

// A variant at one of several sizes is called “spec, M=16”.
const [wayOf, sizeOf] = [0, 1].map(part => variant => variant.split(', ')[part] || '');
const isDefault = row => wayOf(row.variant) === 'default';

function programSentence(program, result) {
  const {best} = result, verdict = eventOf(result.run, 'verdict');
  if (verdict && (verdict.outcome === 'not proved' || verdict.outcome === 'nothing usable'))
    return `${program.path}: ${verdict.outcome.toUpperCase()}: ${verdict.reason}`;
  if (!best || best.ratio === null || isDefault(best) || best.verdict !== 'faster')
    return `${program.path}: no way to build it was reliably faster than the compiler’s defaults.`;
  return `${program.path} runs ${formatTimes(1 / best.ratio)} as fast as with the compiler’s defaults when it is built with ` +
      `“${best.variant}” (95 % sure: ${formatInterval(1 / best.ratio_high, 1 / best.ratio_low)}).` + specSentence(result);
}

// What the spec gains over the same flags without it, where there are such flags.
function specSentence({run}) {
  const proof = eventOf(run, 'program proof'), spec = proof && proof.recommended === proof.variant && proof.spec_against_flags;
  if (!spec) return '';
  const gains = spec.at_sizes.map(each => `${formatTimes(each.speedup)} (95 % sure: ${formatInterval(each.speedup_low, each.speedup_high)})`);
  return ` Of that the spec gives ${gains.join(', ')} over the same flags without it.`;
}

function programTable(result) {
  const inverse = value => (value === null ? null : 1 / value);
  return dataTable('Ways to build the whole program', [{title: 'built with'}, {title: 'time', number: true},
    {title: 'over default', number: true}, {title: '95 %', number: true}, {title: 'verdict'}, {title: 'outputs'}],
    result.rows.map(row => [row.variant + (row !== result.best ? '' : result.flags ? ' ✓ chosen' : ' (fastest)'), formatSeconds(row.seconds), formatTimes(inverse(row.ratio)),
      formatInterval(inverse(row.ratio_high), inverse(row.ratio_low)) || '–', row.verdict.split('\n')[0],
      row.right === true ? 'agree' : row.right === false ? 'differ' : '–']));
}

// The way of a call's time from the default to what was proved: what flags and each entry take off it.
function gainTable({run}) {
  const gain = eventOf(run, 'program gain');
  if (!gain) return null;
  const parts = gain.kernels.map(kernel => ({name: kernel.dispatch, ...kernel}));
  if (gain.without_spec !== 'default')
    parts.unshift({name: `${gain.without_spec} alone`, promised: null, arrived: gain.seconds_default - gain.seconds_before});
  if (gain.between !== null)
    parts.push({name: 'kernels without an entry', promised: null, arrived: gain.in_others},
        {name: 'between kernels', promised: null, arrived: gain.between});
  // Who made a kernel is news where one stands in the compiler's place (its maker's name has a version).
  const maker = part => (part.provider || '').split('@')[0];
  const several = gain.kernels.some(kernel => (kernel.provider || '').includes('@'));
  const made = part => (several ? [maker(part)] : []);
  let left = gain.seconds_default;
  const rows = parts.map(part => {
    const from = left;
    left -= part.arrived || 0;
    return [part.name, ...made(part), formatSeconds(part.promised), formatSeconds(part.arrived),
      part.arrived === null ? '–' : waterfallBar(from, left, gain.seconds_default)];
  });
  rows.push(['all of the spec', ...made({}), formatSeconds(gain.promised), formatSeconds(gain.arrived), waterfallBar(0, gain.seconds_after, gain.seconds_default)]);
  return folded(`Where the gain of “${gain.variant}” comes from, in a call of the program`, () =>
      dataTable('Where the gain comes from', [{title: 'part'}, ...(several ? [{title: 'made by'}] : []), {title: 'alone it promises', number: true},
        {title: 'in the program', number: true}, {title: 'from the default’s time to what is left'}], rows), true);
}

// The exact flags where the run kept them; else those of the build that was measured.
function nextSteps(report, program, result) {
  const {best, flags} = result;
  if (!best) return null;
  const build = report.builds.find(each => each.id === best.build);
  const spec = best.spec === null ? null : report.specs[best.spec];
  const shown = flags || [].concat(build ? build.flags : []);
  return section('What to do next',
      h('p', {}, isDefault(best) ? 'Keep building as you do: the default flags were as fast as anything tried.' :
          `Build with the flags of “${best.variant}”:`),
      isDefault(best) ? null : command(`iree-compile ${shellWord(program.path)} ${shown.map(shellWord).join(' ')} -o program.vmfb`),
      spec && !flags ? h('p', {class: 'note'}, 'Save the tuning spec below, and add the flag that its first lines name.') : null,
      !isDefault(best) && flags ? h('p', {class: 'note'}, 'The same flags are in compile_flags.txt in the folder that --out named.') : null,
      spec ? folded('The tuning spec that goes with them (tuning_spec.mlir)', () => command(spec)) : null);
}

// For what no whole program was timed with: GEMMs, --no-program, compiling only.
function otherNextSteps(report) {
  if (report.programs.some(program => program.measurements.length)) return null;
  const run = report.runs[report.runs.length - 1], store = shellWord(report.store);
  const ofTriton = report.dispatches.some(data => data.candidates.providers.includes('triton'));
  const chosen = eventOf(run, 'compile flags'), parts = [];
  if (report.dispatches.every(data => data.tuned_seconds === null)) {
    parts.push(h('p', {}, 'Take the store to a machine with the device and tune there without --compile-only: what is compiled here is not ' +
        'compiled again. The ranking by what the code takes of the device is in compiled.json, in the folder that --out named.'));
  } else if (ofTriton) {
    parts.push(h('p', {}, 'Write the winners as gemms.yaml, a Python module and compiled kernels:'), command(`hone spec emit --store ${store} --out found`));
  } else if (chosen) {
    parts.push(h('p', {}, 'Build with these flags; how much the whole program gains was not measured:'),
        command(`iree-compile PROGRAM ${chosen.flags.map(shellWord).join(' ')} -o program.vmfb`));
  }
  return parts.length ? section('What to do next', parts) : null;
}

function programCard(report, program) {
  const result = programResult(report, program);
  if (!result) return null;
  const {best, rows} = result, size = best ? sizeOf(best.variant) : '',
    base = rows.find(row => isDefault(row) && sizeOf(row.variant) === size);
  const gain = best && best.ratio !== null && best.verdict === 'faster';
  return h('section', {class: 'card', 'data-program': program.id},
      h('h3', {}, 'The whole program'), h('p', {class: 'lead'}, programSentence(program, result)),
      h('dl', {class: 'tiles'},
        tile('Default flags', formatSeconds(base ? base.seconds : null)),
        best ? tile(result.flags ? 'Chosen build' : 'Fastest build', formatSeconds(best.seconds), best.variant, gain ? 'good' : '') : null,
        gain ? tile('Speed-up', formatTimes(1 / best.ratio), `95 %: ${formatInterval(1 / best.ratio_high, 1 / best.ratio_low)}`, 'good') : null),
      programTable(result), gainTable(result));
}

function dispatchTable(report) {
  const severalDevices = new Set(report.dispatches.map(data => data.device)).size > 1;
  const columns = [{title: 'dispatch'}, {title: 'default', number: true}, {title: 'tuned', number: true},
    {title: 'speed-up', number: true}, {title: '95 %', number: true}, {title: 'tried', number: true},
    {title: 'right', number: true}, {title: 'wrong', number: true}, {title: 'failed', number: true}];
  if (severalDevices) columns.push({title: 'device'});
  return dataTable('Dispatches', columns, report.dispatches.map((data, i) => [
    h('a', {href: `#dispatch-${i}`}, h('span', {}, data.operation || data.name), h('small', {}, data.name)),
    formatSeconds(data.default_seconds), formatSeconds(data.tuned_seconds),
    data.beaten ? formatTimes(data.speedup) : data.selection && data.counts.tried ? 'default kept' : '–',
    data.beaten ? formatInterval(data.speedup_low, data.speedup_high) || '–' : '–',
    formatCount(data.counts.tried), formatCount(data.counts.right), formatCount(data.counts.wrong),
    formatCount(Object.values(data.counts.failed).reduce((a, b) => a + b, 0)),
  ].concat(severalDevices ? [nameOf(report.devices, data.device) || '–'] : [])), {id: 'dispatches'});
}

function dispatchesSentence(report) {
  const measured = report.dispatches.filter(data => data.default_seconds !== null);
  const beaten = report.dispatches.filter(data => data.beaten && data.speedup);
  const candidates = report.dispatches.reduce((sum, data) => sum + data.counts.tried, 0);
  const tried = `${plural(candidates, 'configuration')} of ${plural(report.dispatches.length, 'kernel')} (“dispatches” of the compiler) were tried`;
  if (!measured.length) return `${tried}; they were compiled only, nothing was measured.`;
  if (!beaten.length) return `${tried}; none is reliably faster than the compiler’s own choice.`;
  const mean = Math.exp(beaten.reduce((sum, data) => sum + Math.log(data.speedup), 0) / beaten.length);
  return `${tried}. ${beaten.length} of ${measured.length} measured kernels ${beaten.length === 1 ? 'is' : 'are'} faster than the compiler’s own choice, ` +
      `${beaten.length === 1 ? 'by' : 'on (geometric) average by'} ${formatTimes(mean)}. Every time is of code whose output was checked first.`;
}

// A machine that was too noisy is said before any figure.
function caution(report) {
  const run = report.runs[report.runs.length - 1], machine = eventOf(run, 'machine');
  if (!machine || !machine.too_noisy) return null;
  const smallest = machine.smallest_difference;
  return h('aside', {class: 'caution'}, h('strong', {}, 'Measured on a noisy machine. '),
      `${smallest ? `Differences below ${formatPercent(smallest)} could not be told apart there. ` : ''}${(machine.findings || []).join('; ')}`);
}

function identitySection(report) {
  const rows = [];
  for (const device of report.devices) {
    const protocol = device.protocol || {};
    rows.push(['device', device.name], ['driver or kernel', device.driver]);
    if (protocol.threads) rows.push(['threads', String(protocol.threads)]);
    if (protocol.cache) rows.push(['operands', protocol.cache === 'warm' ? 'in the caches (warm)' : 'in memory (cold)']);
    for (const fact of device.facts) rows.push([fact.name, formatRate(fact.value, fact.unit === 'flop/s' ? 'FLOP/s' : 'B/s')]);
  }
  for (const compiler of new Set(report.builds.map(build => build.compiler))) rows.push(['compiler', compiler]);
  for (const target of new Set(report.builds.map(build => build.target && (build.target.cpu || build.target.gpu)))) if (target) rows.push(['target', target]);
  for (const version of new Set(report.runs.map(run => run.version))) rows.push(['hone', version]);
  return section('Machine and compiler', dataTable('Machine and compiler', [{title: 'what'}, {title: 'value'}], rows));
}

function runsSection(report) {
  if (!report.runs.length) return null;
  return section('Runs', h('p', {class: 'note'}, 'The same command on the same store goes on where it stopped; with another store it starts again. ' +
      'Paths are relative to the folder it was started in.'),
      report.runs.slice(-20).map(run => h('div', {}, h('p', {}, `${formatDate(run.started)}, ${run.state}`), command(run.command))));
}

function showSummary(main, report) {
  main.append(
      h('h2', {tabindex: '-1', id: 'title'}, 'Results'),
      h('p', {class: 'lead'}, dispatchesSentence(report)),
      caution(report) || '',
      otherNextSteps(report) || '',
      ...report.programs.flatMap(program => [programCard(report, program)]).filter(Boolean),
      ...report.programs.map(program => {
        const result = programResult(report, program);
        return result ? nextSteps(report, program, result) : null;
      }).filter(Boolean),
      section('Kernels', h('p', {class: 'note'}, 'Each leads to its charts, candidates and failures.'), dispatchTable(report)),
      identitySection(report), runsSection(report) || '');
}
