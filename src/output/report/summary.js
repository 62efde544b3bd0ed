'use strict';
// The first page: verdict and score, what to do next, every build and every kernel.

// The part of the tuning spec in the speedup, over the same flags without it.
function specWords({run}) {
  const proof = eventOf(run, 'program proof'), spec = proof && proof.recommended === proof.variant && proof.spec_against_flags;
  if (!spec) return null;
  const gains = spec.at_sizes.map(each => `${formatTimes(each.speedup)} (95 % CI ${formatInterval(each.speedup_low, each.speedup_high)})`);
  return h('p', {}, `Speedup by the tuning spec over the same flags without it: ${gains.join(', ')}.`);
}

function programTable(result) {
  const inverse = value => (value === null ? null : 1 / value);
  return dataTable('Builds of the whole program', [{title: 'build'}, {title: 'time', number: true},
    {title: 'speedup', number: true}, {title: '95 % CI', number: true}, {title: 'verdict'}, {title: 'outputs'}],
    result.rows.map(row => [row.variant + (row !== result.best ? '' : result.flags ? ' ✓ chosen' : ' (fastest)'), formatSeconds(row.seconds), formatTimes(inverse(row.ratio)),
      formatInterval(inverse(row.ratio_high), inverse(row.ratio_low)) || '–', row.verdict.split('\n')[0],
      row.right === true ? 'agree' : row.right === false ? 'differ' : '–']));
}

// A waterfall from the default's time to the proved build's: what flags and each entry of the spec take off it.
function gainTable({run}) {
  const gain = eventOf(run, 'program gain');
  if (!gain) return null;
  const parts = gain.kernels.map(kernel => ({name: kernel.dispatch, ...kernel}));
  if (gain.without_spec !== 'default')
    parts.unshift({name: `${gain.without_spec} alone`, promised: null, arrived: gain.seconds_default - gain.seconds_before});
  if (gain.between !== null)
    parts.push({name: 'kernels without an entry', promised: null, arrived: gain.in_others},
        {name: 'between kernels', promised: null, arrived: gain.between});
  // A kernel that replaces the compiler's has a provider with a version; only then is the provider worth a column.
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
  rows.push(['whole spec', ...made({}), formatSeconds(gain.promised), formatSeconds(gain.arrived), waterfallBar(0, gain.seconds_after, gain.seconds_default)]);
  return folded(`Gain of “${gain.variant}” by part, per call of the program`, () =>
      dataTable('Gain by part', [{title: 'part'}, ...(several ? [{title: 'provider'}] : []), {title: 'gain alone', number: true},
        {title: 'gain in the program', number: true}, {title: 'time left of the default’s'}], rows), true);
}

// Flags of the run if it kept them, else those of the measured build.
function nextSteps(report, {program, best, flags}) {
  if (!best) return null;
  const build = report.builds.find(each => each.id === best.build);
  const spec = best.spec === null ? null : report.specs[best.spec];
  const shown = flags || [].concat(build ? build.flags : []);
  return section('Next steps',
      h('p', {}, isDefault(best) ? 'Keep the compiler’s default flags.' : `Build with “${best.variant}”:`),
      isDefault(best) ? null : command(`iree-compile ${shellWord(program.path)} ${shown.map(shellWord).join(' ')} -o program.vmfb`),
      spec && !flags ? h('p', {class: 'note'}, 'Save the tuning spec below and add the flag in its first lines.') : null,
      !isDefault(best) && flags ? h('p', {class: 'note'}, 'The --out folder has the same flags in compile_flags.txt.') : null,
      spec ? folded('Tuning spec (tuning_spec.mlir)', () => command(spec)) : null);
}

// Next steps without a timed program: GEMMs, --no-program, compiling only.
function otherNextSteps(report) {
  if (report.programs.some(program => program.measurements.length)) return null;
  const run = report.runs[report.runs.length - 1], store = shellWord(report.store);
  const ofTriton = report.dispatches.some(data => data.candidates.providers.includes('triton'));
  const chosen = eventOf(run, 'compile flags'), parts = [];
  if (report.dispatches.every(data => data.tuned_seconds === null)) {
    parts.push(h('p', {}, 'Copy the store to a machine with the device and tune there without --compile-only. Compiled candidates are reused. ' +
        'The --out folder has the ranking by registers, shared memory and occupancy in compiled.json.'));
  } else if (ofTriton) {
    parts.push(h('p', {}, 'Write the winners as YAML, a Python module, cubins and a C header:'), command(`hone spec emit --store ${store} --out found`));
  } else if (chosen) {
    parts.push(h('p', {}, 'Build with these flags. The whole program was not timed:'),
        command(`iree-compile PROGRAM ${chosen.flags.map(shellWord).join(' ')} -o program.vmfb`));
  }
  return parts.length ? section('Next steps', parts) : null;
}

function programCard(result) {
  return section('The whole program', specWords(result), programTable(result), gainTable(result));
}

function dispatchTable(report) {
  const severalDevices = new Set(report.dispatches.map(data => data.device)).size > 1;
  const columns = [{title: 'dispatch'}, {title: 'default', number: true}, {title: 'tuned', number: true},
    {title: 'speedup', number: true}, {title: '95 % CI', number: true}, {title: 'tried', number: true},
    {title: 'verified', number: true}, {title: 'failed', number: true}];
  const failedOf = ({failed, wrong}) =>
      formatCount(Object.values(failed).reduce((a, b) => a + b, wrong)) + (wrong ? ` (${formatCount(wrong)} wrong)` : '');
  return dataTable('Dispatches', columns, report.dispatches.map((data, i) => [
    [h('a', {href: `#dispatch-${i}`}, h('span', {}, data.operation || data.name), h('small', {}, data.name)),
      severalDevices ? h('small', {}, nameOf(report.devices, data.device) || 'no device') : null],
    formatSeconds(data.default_seconds), formatSeconds(data.tuned_seconds),
    data.beaten ? formatTimes(data.speedup) : data.selection && data.counts.tried ? 'default kept' : '–',
    data.beaten ? formatInterval(data.speedup_low, data.speedup_high) || '–' : '–',
    formatCount(data.counts.tried), formatCount(data.counts.right), failedOf(data.counts),
  ]), {id: 'dispatches'});
}

function dispatchesSentence(report) {
  const measured = report.dispatches.filter(data => data.default_seconds !== null);
  const beaten = report.dispatches.filter(data => data.beaten && data.speedup);
  const candidates = report.dispatches.reduce((sum, data) => sum + data.counts.tried, 0);
  const tried = `${plural(candidates, 'candidate')} of ${plural(report.dispatches.length, 'dispatch', 'dispatches')} tried`;
  if (!measured.length) return `${tried}; compiled only, not measured.`;
  if (!beaten.length) return `${tried}; none is faster than the default.`;
  const mean = Math.exp(beaten.reduce((sum, data) => sum + Math.log(data.speedup), 0) / beaten.length);
  return `${tried}. ${beaten.length} of ${plural(measured.length, 'measured kernel')} ${beaten.length === 1 ? 'is' : 'are'} faster than the default, ` +
      `by ${formatTimes(mean)}${beaten.length === 1 ? '' : ' in the geometric mean'}. Every candidate is verified before it is timed.`;
}

// Noise of the machine, if it was too much.
function caution(report) {
  const run = report.runs[report.runs.length - 1], machine = eventOf(run, 'machine');
  if (!machine || !machine.too_noisy) return null;
  const smallest = machine.smallest_difference;
  return h('aside', {class: 'caution'}, h('strong', {}, 'Measured on a noisy machine. '),
      `${smallest ? `Differences below ${formatPercent(smallest)} cannot be detected. ` : ''}${(machine.findings || []).join('; ')}`);
}

function identitySection(report) {
  const rows = [];
  for (const device of report.devices) {
    const protocol = device.protocol || {};
    rows.push(['device', device.name], ['driver or kernel', device.driver]);
    if (protocol.threads) rows.push(['threads', String(protocol.threads)]);
    if (protocol.cache) rows.push(['operands', protocol.cache === 'warm' ? 'warm (in caches)' : 'cold (in memory)']);
    for (const fact of device.facts) rows.push([fact.name, formatRate(fact.value, fact.unit === 'flop/s' ? 'FLOP/s' : 'B/s')]);
  }
  for (const compiler of new Set(report.builds.map(build => build.compiler))) rows.push(['compiler', compiler]);
  for (const target of new Set(report.builds.map(build => build.target && (build.target.cpu || build.target.gpu)))) if (target) rows.push(['target', target]);
  for (const version of new Set(report.runs.map(run => run.version))) rows.push(['hone', version]);
  return section('Machine and compiler', dataTable('Machine and compiler', [{title: 'property'}, {title: 'value'}], rows));
}

function runsSection(report) {
  if (!report.runs.length) return null;
  return section('Runs', h('p', {class: 'note'}, 'A command continues where it stopped on the same store, and starts afresh on another. ' +
      'Paths are relative to its working folder.'),
      report.runs.slice(-20).map(run => h('div', {}, h('p', {}, `${formatDate(run.started)}, ${run.state}`), command(run.command))));
}

function showSummary(main, report) {
  const runOf = result => result.program.measurements[result.program.measurements.length - 1].run || 0;
  const results = report.programs.map(program => programResult(report, program)).filter(Boolean)
      .sort((a, b) => runOf(b) - runOf(a));
  const title = text => h('h2', {tabindex: '-1', id: 'title'}, text), subtitle = text => h('h2', {}, text);
  if (!results.length) main.append(kernelsHead(report, title));
  results.forEach((result, i) => {
    main.append(programHead(report, result, i ? subtitle : title));
    if (i === 0) main.append(caution(report) || '');
    main.append(nextSteps(report, result) || '', programCard(result));
  });
  if (!results.length) main.append(caution(report) || '', otherNextSteps(report) || '');
  main.append(
      section('Kernels', h('p', {}, dispatchesSentence(report)),
          h('p', {class: 'note'}, 'Each links to its charts, candidates and failures.'), dispatchTable(report)),
      identitySection(report), runsSection(report) || '');
}
