'use strict';
// Reads the data and shows the page of the address: #, or #dispatch-3.

const report = JSON.parse(document.getElementById('data').textContent);
const opened = new Map();  // dispatches shown before, by index

function show(moveFocus) {
  const main = document.getElementById('main');
  removeCharts();
  main.replaceChildren();
  const wanted = /^#dispatch-(\d+)$/.exec(location.hash);
  const data = wanted && !report.profile && report.dispatches[Number(wanted[1])];
  if (report.profile) {
    showProfile(main, report.profile);
  } else if (data) {
    if (!opened.has(data)) opened.set(data, openDispatch(report, data));
    showDispatch(main, opened.get(data));
  } else {
    showSummary(main, report);
  }
  const title = document.getElementById('title');
  document.title = `${title.textContent} – hone report`;
  if (moveFocus) {
    scrollTo(0, 0);
    title.focus({preventScroll: true});
  }
  document.documentElement.dataset.shown = data ? wanted[1] : 'summary';
}

document.getElementById('where').textContent = report.store;
document.getElementById('foot').textContent = `Made by hone from ${report.store}. This page makes no requests. Charts: Chart.js, MIT.`;
addEventListener('hashchange', () => { if (location.hash !== '#main') show(true); });
// Charts keep their colours, so a change of scheme redraws them.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => show(false));
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
show(false);
