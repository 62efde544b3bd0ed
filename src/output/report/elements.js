'use strict';
// Pieces of the page. Text becomes text nodes only: compiler messages are never markup.

// h('p', {class: 'note'}, 'text', node, null) skips null and undefined.
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return element;
}

// columns: [{title, number, wrap}]; rows: arrays of text or nodes. The first cell heads its row.
function dataTable(caption, columns, rows, attributes) {
  const cell = (content, column, i) =>
      h(i === 0 ? 'th' : 'td',
        {class: [column.number ? 'number' : '', column.code ? 'code' : ''].join(' ').trim() || null,
         scope: i === 0 ? 'row' : null}, content);
  return h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption},
      h('table', attributes || {},
        h('caption', {class: 'hidden'}, caption),
        h('thead', {}, h('tr', {}, columns.map(column =>
            h('th', {scope: 'col', class: column.number ? 'number' : null}, column.title)))),
        h('tbody', {}, rows.map(row =>
            h('tr', {}, row.map((content, i) => cell(content, columns[i], i)))))));
}

// A table that is created on first opening.
function folded(summary, make, open) {
  const element = h('details', {}, h('summary', {}, summary));
  let made = false;
  const fill = () => {
    if (made || !element.open) return;
    made = true;
    element.append(make());
  };
  element.addEventListener('toggle', fill);
  if (open) {
    element.open = true;
    fill();
  }
  return element;
}

function choice(label, options, chosen, onChoice) {
  const select = h('select', {onchange: () => onChoice(select.value)},
      options.map(([value, text]) => h('option', {value, selected: value === chosen}, text)));
  return h('label', {class: 'choice'}, label, select);
}

// Command to copy; the keyboard selects it as a whole too.
function command(text) {
  const block = h('pre', {tabindex: '0'}, h('code', {}, text));
  const button = h('button', {type: 'button', class: 'copy'}, 'Copy');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch (refused) {  // a file:// page has no clipboard in some browsers
      const range = document.createRange();
      range.selectNodeContents(block);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = 'Selected';
      return;
    }
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
  return h('div', {class: 'command'}, block, button);
}

function tile(title, value, note, kind) {
  return h('div', {class: 'tile ' + (kind || '')}, h('dt', {}, title),
      h('dd', {}, h('span', {class: 'value'}, value), note ? h('span', {class: 'note'}, note) : null));
}

// A bar from one value to another on a scale from 0 to `whole`.
function waterfallBar(from, to, whole) {
  const low = Math.max(0, Math.min(from, to)), high = Math.max(from, to);
  const bar = h('span', {class: to <= from ? 'bar good' : from === 0 ? 'bar' : 'bar bad'});
  bar.style.marginLeft = `${100 * low / whole}%`;
  bar.style.width = `${Math.max(0.5, 100 * (Math.min(high, 1.2 * whole) - low) / whole)}%`;
  return bar;
}

function section(title, ...children) {
  return h('section', {class: 'card'}, h('h3', {}, title), children);
}
