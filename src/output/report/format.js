'use strict';
// Numbers as hone prints them (src/base/text.h).

function formatSeconds(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  for (const [scale, unit] of [[1e-9, 'ns'], [1e-6, 'us'], [1e-3, 'ms'], [1, 's']])
    if (Math.abs(seconds) < 999.5 * scale) return `${digits(seconds / scale)} ${unit}`;
  return `${digits(seconds / 60)} min`;
}

// Three significant digits, without an exponent.
function digits(value) {
  if (value === 0) return '0';
  const before = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toFixed(Math.max(0, 3 - before));
}

function formatCount(count) {
  return count.toLocaleString('en-US');
}

function formatRate(perSecond, unit) {
  if (perSecond === null || !isFinite(perSecond)) return '–';
  for (const [scale, prefix] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
    if (perSecond >= scale) return `${digits(perSecond / scale)} ${prefix}${unit}`;
  return `${digits(perSecond)} ${unit}`;
}

function formatTimes(ratio) {
  return ratio === null || ratio === undefined ? '–' : `${ratio.toFixed(2)}×`;
}

// “2.00× faster”, “1.25× slower”: a speedup in words.
function formatFaster(speedup) {
  return speedup >= 1 ? `${formatTimes(speedup)} faster` : `${formatTimes(1 / speedup)} slower`;
}

function formatInterval(low, high) {
  return low === null || high === null ? '' : `${low.toFixed(2)}-${high.toFixed(2)}`;
}

function formatPercent(share) {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

function plural(count, one, many) {
  return `${formatCount(count)} ${count === 1 ? one : many || one + 's'}`;
}

function formatDate(iso) {
  return iso ? `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC` : '–';
}

function formatConfiguration(configuration) {
  if (configuration === null || typeof configuration !== 'object') return String(configuration);
  const parts = Object.entries(configuration)
      .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`);
  return parts.length ? parts.join(' ') : 'default';
}
