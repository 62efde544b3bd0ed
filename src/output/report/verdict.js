'use strict';
// The top of the page: the verdict that `hone tune` ends with, and the score (docs/measuring.md).

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
  const base = rows.find(row => isDefault(row) && sizeOf(row.variant) === (best ? sizeOf(best.variant) : '')) || null;
  return {program, rows, run, best, base, flags: chosen ? chosen.flags : null};
}

// A variant at one of several sizes is called “spec, M=16”.
const [wayOf, sizeOf] = [0, 1].map(part => variant => variant.split(', ')[part] || '');
const isDefault = row => wayOf(row.variant) === 'default';

// Speedups of the chosen build over the default, by size. Fresh rounds of a proof come before the rounds that chose.
function provenSpeedups({rows, run, best}) {
  const proof = eventOf(run, 'program proof') || eventOf(run, 'flags');
  if (proof) {
    const claim = proof.recommended === 'default' ? null :
        proof.recommended === proof.variant ? proof.against_default : proof.flags_against_default;
    const sizes = [...new Set(rows.map(row => sizeOf(row.variant)))];
    return claim ? claim.at_sizes.map((each, i) => ({...each, size: claim.at_sizes.length > 1 ? sizes[i] : ''})) : [];
  }
  if (!best || !best.ratio || isDefault(best) || best.verdict !== 'faster') return [];
  return [{speedup: 1 / best.ratio, speedup_low: 1 / best.ratio_high, speedup_high: 1 / best.ratio_low, size: ''}];
}

const atSize = each => (each.size ? ` at ${each.size}` : '');

// “2.31 ± 0.04 times faster”: half the width of the interval stands behind ±.
function timesFaster(each) {
  return `${each.speedup.toFixed(2)} ± ${((each.speedup_high - each.speedup_low) / 2).toFixed(2)} times faster${atSize(each)}`;
}

// Level, intervals, rounds and error rate of these speedups. The error is divided among sizes.
function certaintyOf(speedups, run) {
  const proof = eventOf(run, 'program proof') || eventOf(run, 'flags');
  const error = proof ? proof.recommended_in_error : 0.05;
  const level = Number((100 * (1 - error / speedups.length)).toFixed(1));
  const parts = [`${level} % CI ` + speedups.map(each => formatInterval(each.speedup_low, each.speedup_high) + atSize(each)).join(', ')];
  if (speedups[0].rounds) parts.push(plural(speedups[0].rounds, 'round'));
  if (proof) parts.push(`false-positive rate at most ${100 * error} %`);
  return parts.join(', ');
}

function sentence(words) {
  return words ? words[0].toUpperCase() + words.slice(1).replace(/\.?$/, '.') : '';
}

// Words of an outcome (src/tune/services/run_verdict.h), or null where the numbers say it.
function outcomeWords(report, {outcome, reason}) {
  const wrong = report.dispatches.filter(isWrongByDefault).map(data => data.name);
  if (outcome === 'repaired') return {title: 'Repaired', detail: sentence(reason)};
  if (outcome === 'not proved') return {title: wrong.length ? 'Wrong by default' : 'Not proved', detail: sentence(reason)};
  if (outcome === 'nothing usable') return {title: 'Nothing usable', detail: sentence(reason)};
  if (outcome === 'compiled') return {title: 'Compiled only', detail: 'Candidates compile; nothing was measured.'};
  return null;
}

// Whether the compiler’s own kernel of a dispatch failed verification.
function isWrongByDefault({candidates, default: id}) {
  return candidates.states[candidates.state[candidates.id.indexOf(id)]] === 'wrong';
}

// Words for a run without a verdict, because it was killed or still goes on.
function unfinishedWords(run) {
  if (!run || run.state === 'finished' || eventOf(run, 'verdict')) return null;
  return {title: 'No verdict', detail: `State of the run: ${run.state}. The same command continues it.`};
}

function programVerdict(report, result) {
  const verdict = eventOf(result.run, 'verdict') || {outcome: '', reason: ''};
  const words = outcomeWords(report, verdict);
  if (words) return words;
  const speedups = provenSpeedups(result);
  if (verdict.outcome !== 'nothing faster' && speedups.length)
    return {title: `${speedups.map(timesFaster).join(', ')} than the compiler’s defaults`, detail: certaintyOf(speedups, result.run)};
  return unfinishedWords(result.run) || (verdict.reason ? {title: 'Nothing faster was proved', detail: sentence(verdict.reason)} :
      {title: 'Nothing faster was found', detail: 'The default is the best of what was tried.'});
}

// The verdict of a store without a whole program: GEMMs, --no-program, compiling only.
function kernelsVerdict(report) {
  const run = report.runs[report.runs.length - 1], verdict = eventOf(run, 'verdict');
  const words = verdict ? outcomeWords(report, verdict) : unfinishedWords(run);
  if (words) return words;
  const measured = report.dispatches.filter(data => data.default_seconds !== null);
  const beaten = report.dispatches.filter(data => data.beaten && data.speedup);
  if (!measured.length) return {title: 'Compiled only', detail: 'Nothing was measured.'};
  if (!beaten.length) return {title: 'Nothing faster was found', detail: 'Every kernel keeps its default.'};
  const mean = Math.exp(beaten.reduce((sum, data) => sum + Math.log(data.speedup), 0) / beaten.length);
  return {title: `${beaten.length} of ${plural(measured.length, 'kernel')} faster than the default`,
    detail: `${formatTimes(mean)} faster${beaten.length > 1 ? ' in the geometric mean' : ''}`};
}

// The limit of a call on the device that was measured: of the chosen build’s own dispatches, else the least that is known.
function limitOf({program, best}) {
  const limits = program.limits.filter(each => each.device === best.device);
  const own = limits.find(each => each.build === best.build);
  const known = limits.filter(each => each.seconds !== null).sort((a, b) => a.seconds - b.seconds);
  return own || known[0] || limits[0] || {seconds: null, why_unknown: 'no dispatch of the program is known'};
}

// Share of the gap between the default’s time and the limit that was closed, or why it is not shown.
function scoreOf({best, base, run, ...result}) {
  const {outcome} = eventOf(run, 'verdict') || {};
  if (outcome === 'repaired') return {why: 'the time of a default that is wrong or does not run is no baseline'};
  if (outcome === 'not proved' || outcome === 'nothing usable') return {why: 'nothing was proved'};
  if (!best || !base || !best.seconds || !base.seconds) return {why: 'the default or the chosen build was not timed'};
  if (sizeOf(best.variant)) return {why: 'the program was timed at several sizes'};
  const limit = limitOf({best, ...result});
  if (limit.seconds === null) return {why: limit.why_unknown};
  if (limit.seconds >= Math.min(best.seconds, base.seconds))
    return {why: `the program is faster than its roofline of ${formatSeconds(limit.seconds)}, which reads all operands from memory`};
  return {share: (base.seconds - best.seconds) / (base.seconds - limit.seconds), limit: limit.seconds};
}

function scoreBlock(score) {
  if (score.share === undefined) return h('p', {class: 'score note'}, `Score: not shown, because ${score.why}.`);
  const done = h('span', {}), percent = `${Math.round(100 * score.share)} %`;
  done.style.width = `${100 * Math.min(1, Math.max(0, score.share))}%`;
  return h('div', {class: 'score'}, h('p', {}, h('strong', {}, percent), ' of the gap between the default and the machine’s limit closed'),
      h('div', {class: 'gap', 'aria-hidden': 'true'}, done));
}

function verdictBlock({title, detail}, heading) {
  return [heading(title), h('p', {class: 'lead'}, detail)];
}

function programHead(report, result, heading) {
  const {program, best, base, flags} = result, score = scoreOf(result);
  return h('section', {class: 'verdict', 'data-program': program.id}, h('p', {class: 'sub'}, program.path),
      verdictBlock(programVerdict(report, result), heading), scoreBlock(score),
      h('dl', {class: 'tiles'},
        base ? tile('Default', formatSeconds(base.seconds)) : null,
        best && !isDefault(best) ? tile(flags ? 'Chosen build' : 'Fastest build', formatSeconds(best.seconds), best.variant, 'good') : null,
        score.limit ? tile('Machine’s limit', formatSeconds(score.limit), 'roofline of its dispatches') : null));
}

function kernelsHead(report, heading) {
  return h('section', {class: 'verdict'}, verdictBlock(kernelsVerdict(report), heading),
      scoreBlock({why: 'no whole program was timed'}));
}
