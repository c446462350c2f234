// The data of the page: groups with columns of sizes, one row object for each size, and the filter over them.
const report = JSON.parse(document.getElementById('data').textContent);
const groups = report.groups, runs = report.runs;

const has = {
  peer: groups.some(g => g.peer), before: groups.some(g => g.before), calls: report.seconds_of_calls !== null,
  intervals: groups.some(g => g.sizes.us_lo.some(x => x !== null)), efficiency: groups.some(g => g.peak_gflops !== null),
};

class Row {
  constructor(group, i) { this.group = group; this.i = i; }
  get(column) {
    const g = this.group, i = this.i;
    switch (column) {
      case 'type': return g.problem_type;
      case 'name': { const k = g.sizes.kernel[i]; return k >= 0 ? g.kernels[k].name : ''; }
      case 'peer': return g.peer ? g.peer.ratio[i] : null;
      case 'before': return g.before ? g.before.ratio[i] : null;
      case 'intensity': return g.sizes.bytes[i] > 0 ? g.sizes.flops[i] / g.sizes.bytes[i] : null;
      default: return g.sizes[column][i];
    }
  }
  get text() {
    this.words ??= `${this.get('size')} ${this.get('verdict')} ${this.group.name} ${this.get('name')} ` +
      (this.get('held_out') ? 'held-out' : '');
    return this.words.toLowerCase();
  }
  get label() {
    const b = this.get('batch');
    return `${this.get('m')}×\u200b${this.get('n')}×\u200b${this.get('k')}` + (b > 1 ? ` ×${b}` : ''); // may break behind ×
  }
}
const rows = groups.flatMap(g => g.sizes.size.map((_, i) => new Row(g, i)));

// ---- the filter: words, and comparisons of columns ----

const comparable = { m: 'm', n: 'n', k: 'k', batch: 'batch', b: 'batch', gflops: 'gflops', us: 'us', lead: 'lead', peer: 'peer',
  before: 'before', calls: 'calls', share: 'share', eff: 'efficiency', efficiency: 'efficiency', flops: 'flops', samples: 'samples',
  good: 'good', failed: 'failed', missing: 'missing' };
const operators = { '>=': (a, b) => a >= b, '<=': (a, b) => a <= b, '!=': (a, b) => a !== b, '>': (a, b) => a > b,
  '<': (a, b) => a < b, '=': (a, b) => a === b };

function term(word) {
  const no = word.startsWith('!') && word.length > 1;
  const rest = no ? word.slice(1) : word;
  const parts = /^([a-z]+)(>=|<=|!=|>|<|=)([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)$/.exec(rest);
  const column = parts && comparable[parts[1]];
  const test = column
    ? row => { const v = row.get(column); return v !== null && operators[parts[2]](v, Number(parts[3])); }
    : row => row.text.includes(rest);
  return no ? row => !test(row) : test;
}

function filtered(text, group) {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean).map(term);
  return rows.filter(r => (group === '' || r.group === groups[group]) && terms.every(t => t(r)));
}

// ---- numbers as text ----

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
function number(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  const a = Math.abs(x);
  if (a >= 1000) return grouped.format(x);
  if (a !== 0 && a < 0.001) return x.toExponential(2);
  return String(Number(x.toPrecision(4)));
}
const percent = (x, digits = 1) => (x === null || x === undefined || Number.isNaN(x) ? '–' : (100 * x).toFixed(digits) + ' %');
const ratio = x => (x === null || x === undefined ? '–' : x.toFixed(3));
const plural = (n, what) => `${grouped.format(n)} ${what}${n === 1 ? '' : 's'}`;
function duration(s) {
  if (s === null || Number.isNaN(s)) return '–';
  if (s < 1) return s < 0.001 ? '< 1 ms' : Math.round(1000 * s) + ' ms';
  if (s < 60) return number(s) + ' s';
  return s < 3600 ? `${Math.floor(s / 60)} min ${Math.round(s % 60)} s` : `${Math.floor(s / 3600)} h ${Math.round(s / 60 % 60)} min`;
}
function geomean(values) {
  const good = values.filter(v => v > 0);
  return good.length ? Math.exp(good.reduce((sum, v) => sum + Math.log(v), 0) / good.length) : null;
}
function quantile(sorted, q) {
  if (!sorted.length) return null;
  const at = q * (sorted.length - 1), lo = Math.floor(at);
  return sorted[lo] + (at - lo) * ((sorted[lo + 1] ?? sorted[lo]) - sorted[lo]);
}

// ---- elements: text is only ever set as text, so that names cannot become markup ----

function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'class') e.className = value;
    else if (name === 'style') Object.assign(e.style, value);
    else if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (value === true) e.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(name, value);
  }
  e.append(...children.flat().filter(c => c !== null && c !== undefined).map(c => (c instanceof Node ? c : String(c))));
  return e;
}
function svg(tag, attributes, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes || {})) e.setAttribute(name, value);
  e.append(...children);
  return e;
}
const palette = ['#3b7ddd', '#e0832b', '#2a9d8f', '#b5529b', '#7a6ff0', '#c94f4f', '#7d8c2c', '#4aa3c7', '#9b6a45', '#6b7785'];
const color = i => palette[i % palette.length];
const cssColor = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
