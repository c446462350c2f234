// A table of any number of rows, of which only the visible ones are elements. Columns: {key, name, num, width, narrow, short, mono, wide, slim,
// text(row), value(row), cell(row)}; wide: shown where there is room only, slim: only where there is not; narrow and short: width and name there. Rows open with a click or Enter.
class Grid {
  constructor({ label, columns, open, sort, height = 26 }) {
    this.columns = columns; this.open = open; this.rows = []; this.shown = []; this.active = -1; this.height = height;
    this.sortKey = sort?.key ?? null; this.descending = sort?.descending ?? false; this.onsort = () => {};
    this.head = el('div', { class: 'row head', role: 'row' });
    this.body = el('div', { class: 'body', role: 'rowgroup' });
    this.element = el('div', { class: 'grid', role: 'grid', tabindex: 0, 'aria-label': label,
      onscroll: () => this.draw(), onkeydown: e => this.key(e) }, this.head, this.body);
    this.narrow = matchMedia('(max-width: 640px)');
    this.narrow.addEventListener('change', () => { this.layout(); this.draw(); });
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.layout();
  }
  layout() {
    this.visible = this.columns.filter(c => !(this.narrow.matches ? c.wide : c.slim));
    const widths = this.visible.map(c => (this.narrow.matches && c.narrow) || c.width || '6rem');
    this.element.style.setProperty('--columns', widths.join(' '));
    this.element.style.setProperty('--least', widths.reduce((sum, w) => sum + parseFloat(/[0-9.]+(?=rem)/.exec(w)[0]), 0) + 'rem');
    this.head.replaceChildren(...this.visible.map(c => el('div', { class: 'th' + (c.num ? ' num' : ''), role: 'columnheader', 'data-key': c.key },
      el('button', { type: 'button', title: c.help || null, onclick: () => this.sortBy(c.key) }, (this.narrow.matches && c.short) || c.name))));
    this.element.setAttribute('aria-colcount', this.visible.length);
    this.marks();
    this.body.replaceChildren();
    this.drawn = new Map();
  }
  marks() {
    for (const th of this.head.children) {
      const on = th.dataset.key === this.sortKey;
      th.setAttribute('aria-sort', on ? (this.descending ? 'descending' : 'ascending') : 'none');
    }
  }
  get rowHeight() { return parseFloat(getComputedStyle(this.head).height) || 32; }
  set(rows) {
    this.rows = rows;
    this.active = -1;
    this.element.setAttribute('aria-rowcount', rows.length + 1);
    this.arrange();
  }
  sortBy(key) {
    const column = this.columns.find(c => c.key === key);
    if (this.sortKey === key) this.descending = !this.descending;
    else { this.sortKey = key; this.descending = Boolean(column.num && !column.ascending); }
    this.arrange();
    this.element.scrollTop = 0;
    this.onsort(this.sortKey, this.descending);
  }
  arrange() {
    const column = this.columns.find(c => c.key === this.sortKey);
    this.shown = this.rows.slice();
    if (column) {
      const value = column.value || column.text, sign = this.descending ? -1 : 1;
      const keyed = this.shown.map(r => [value(r), r]);
      const missing = v => v === null || v === undefined || v === '';
      keyed.sort(([a], [b]) => (missing(a) || missing(b) ? missing(a) - missing(b) : a < b ? -sign : a > b ? sign : 0));
      this.shown = keyed.map(([, r]) => r);
    }
    this.marks();
    this.drawn?.clear();
    this.body.replaceChildren();
    const height = this.rowHeight;
    this.body.style.height = this.shown.length * height + 'px';
    this.element.style.height = Math.min(this.shown.length + 1, this.height) * height + 18 + 'px';
    if (!this.shown.length) this.body.replaceChildren(el('div', { class: 'empty' }, 'No size matches the filter.'));
    this.draw();
  }
  draw() {
    if (!this.shown.length) return;
    const height = this.rowHeight, top = this.element.scrollTop, count = Math.ceil(this.element.clientHeight / height) + 6;
    const from = Math.max(0, Math.floor(top / height) - 3), to = Math.min(this.shown.length, from + count);
    for (const [i, e] of this.drawn) if (i < from || i >= to) { e.remove(); this.drawn.delete(i); }
    for (let i = from; i < to; i++) if (!this.drawn.has(i)) this.add(i, height);
  }
  add(i, height) {
    const row = this.shown[i];
    const e = el('div', { class: 'row' + (i === this.active ? ' active' : ''), role: 'row', 'aria-rowindex': i + 2, 'data-i': i,
      style: { top: i * height + 'px' }, onclick: () => { this.activate(i); this.open?.(row); } },
      this.visible.map(c => el('div', { class: 'cell' + (c.num ? ' num' : '') + (c.mono ? ' mono' : ''), role: 'gridcell',
        title: c.mono ? c.text(row) : null }, c.cell ? c.cell(row) : c.text(row))));
    this.drawn.set(i, e);
    this.body.append(e);
  }
  activate(i) {
    this.drawn.get(this.active)?.classList.remove('active');
    this.active = i;
    this.drawn.get(i)?.classList.add('active');
  }
  key(e) {
    if (e.target !== this.element) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 2), last = this.shown.length - 1;
    const to = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, PageDown: this.active + page, PageUp: this.active - page,
      Home: 0, End: last }[e.key];
    if (e.key === 'Enter' && this.active >= 0) { this.open?.(this.shown[this.active]); e.preventDefault(); }
    if (to === undefined || last < 0) return;
    e.preventDefault();
    const i = Math.min(last, Math.max(0, to)), height = this.rowHeight, view = this.element;
    if ((i + 2) * height > view.scrollTop + view.clientHeight) view.scrollTop = (i + 2) * height - view.clientHeight;
    if (i * height < view.scrollTop) view.scrollTop = i * height;
    this.draw();
    this.activate(i);
  }
}

const meter = share => el('span', { class: 'meter', 'aria-hidden': 'true' },
  el('i', { style: { width: Math.max(0, Math.min(100, 100 * (share || 0))) + '%' } }));
function simpleTable(head, body) {
  return el('div', { class: 'scroll' }, el('table', {},
    el('thead', {}, el('tr', {}, head.map(h => el('th', { class: h.num ? 'num' : '', scope: 'col' }, h.name)))),
    el('tbody', {}, body.map(cells => el('tr', {}, cells.map((c, i) => el('td', { class: (head[i].num ? 'num' : '') + (head[i].wide ? ' wide' : '') }, c)))))));
}
