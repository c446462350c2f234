// Charts: roofline (canvas), heat map (buttons), races and histograms (SVG).

const tip = document.getElementById('tip');
function tipShow(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 6)) + 'px';
  tip.style.top = Math.max(4, y + tip.offsetHeight + 22 > innerHeight ? y - tip.offsetHeight - 10 : y + 16) + 'px';
}
const tipHide = () => { tip.hidden = true; };

// Powers of ten, with 2 and 5 between them where they are few.
function ticks(lo, hi) {
  const out = [], fine = Math.log10(hi / lo) < 2.2;
  for (let e = Math.floor(Math.log10(lo)); e <= Math.ceil(Math.log10(hi)); e++)
    for (const f of fine ? [1, 2, 5] : [1]) { const v = f * 10 ** e; if (v >= lo * 0.999 && v <= hi * 1.001) out.push(v); }
  return out;
}
const short = v => v >= 1e6 ? number(v / 1e6) + 'M' : v >= 1e4 ? number(v / 1e3) + 'k' : number(v);

class Roofline {
  constructor(open) {
    this.open = open;
    this.canvas = el('canvas', { role: 'img', tabindex: 0, onmousemove: e => this.hover(e), onmouseleave: () => { tipHide(); },
      onclick: e => { const p = this.nearest(e); if (p) this.open(p.row); } });
    this.element = el('div', {}, this.canvas);
    new ResizeObserver(() => this.draw()).observe(this.element);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }
  set(list) {
    this.points = list.map(row => ({ row, x: row.get('intensity'), y: row.get('gflops') })).filter(p => p.x > 0 && p.y > 0);
    const roofs = new Map();
    for (const g of new Set(list.map(r => r.group)))
      if (g.peak_gflops) roofs.set(`${g.peak_gflops} ${g.dram_gbs}`, { peak: g.peak_gflops, dram: g.dram_gbs, type: g.problem_type });
    this.roofs = [...roofs.values()];
    this.draw();
  }
  draw() {
    const width = this.element.clientWidth, height = Math.max(260, Math.min(460, width * 0.5));
    if (!width || !this.points) return;
    const scale = devicePixelRatio || 1, c = this.canvas, d = c.getContext('2d');
    c.width = width * scale; c.height = height * scale; c.style.height = height + 'px';
    d.scale(scale, scale);
    const ink = cssColor('--muted'), grid = cssColor('--grid'), strong = cssColor('--ink');
    d.font = '11px system-ui, sans-serif'; d.fillStyle = ink;
    if (!this.points.length) { d.fillText('No size matches the filter.', 12, 24); this.placed = []; return; }
    const xs = this.points.map(p => p.x), ys = this.points.map(p => p.y);
    const peaks = this.roofs.map(r => r.peak), ridges = this.roofs.filter(r => r.dram).map(r => r.peak / r.dram);
    const least = a => a.reduce((m, v) => Math.min(m, v), Infinity), most = a => a.reduce((m, v) => Math.max(m, v), 0);
    const x0 = Math.min(least(xs), ...ridges) / 1.6, x1 = Math.max(most(xs), ...ridges.map(r => r * 2)) * 1.6;
    const y0 = least(ys) / 1.6, y1 = Math.max(most(ys), ...peaks) * 1.6;
    const left = 52, right = 12, top = 12, bottom = 38;
    const X = v => left + (width - left - right) * Math.log(v / x0) / Math.log(x1 / x0);
    const Y = v => height - bottom - (height - top - bottom) * Math.log(v / y0) / Math.log(y1 / y0);
    d.strokeStyle = grid; d.lineWidth = 1;
    let last = -99;
    for (const t of ticks(x0, x1)) {
      d.beginPath(); d.moveTo(X(t), top); d.lineTo(X(t), height - bottom); d.stroke();
      if (X(t) - last > 38) { d.textAlign = 'center'; d.fillText(short(t), X(t), height - bottom + 15); last = X(t); }
    }
    last = 9999;
    for (const t of ticks(y0, y1)) {
      d.beginPath(); d.moveTo(left, Y(t)); d.lineTo(width - right, Y(t)); d.stroke();
      if (last - Y(t) > 16) { d.textAlign = 'right'; d.fillText(short(t), left - 6, Y(t) + 4); last = Y(t); }
    }
    d.textAlign = 'center'; d.fillText('floating-point operations per byte of A, B and D', left + (width - left - right) / 2, height - 6);
    d.save(); d.translate(11, top + (height - top - bottom) / 2); d.rotate(-Math.PI / 2); d.fillText('GFlops', 0, 0); d.restore();
    d.lineWidth = 2;
    let below = -99;
    this.roofs.slice().sort((a, b) => b.peak - a.peak).forEach((r, i) => {
      const ridge = r.dram ? r.peak / r.dram : x0;
      d.strokeStyle = strong; d.globalAlpha = 0.75;
      d.beginPath();
      if (r.dram) { const from = Math.max(x0, y0 / r.dram); d.moveTo(X(from), Y(from * r.dram)); d.lineTo(X(ridge), Y(r.peak)); }
      else d.moveTo(X(x0), Y(r.peak));
      d.lineTo(X(x1), Y(r.peak)); d.stroke();
      d.globalAlpha = 1; d.fillStyle = strong; d.textAlign = 'right';
      if (i === 0 || Y(r.peak) - below > 13) {
        d.fillText(`${short(r.peak)} GFlops` + (this.roofs.length > 1 ? ` (${r.type.split('_').slice(3).join('_')})` : ''), width - right - 4, Y(r.peak) - 4);
        below = Y(r.peak);
      }
      if (r.dram && i === 0) {
        const at = Math.sqrt(Math.max(x0, y0 / r.dram) * ridge);
        d.save(); d.translate(X(at), Y(at * r.dram) - 5); d.rotate(-Math.atan2(Y(at * r.dram) - Y(at * r.dram * 2), X(at * 2) - X(at)));
        d.textAlign = 'center'; d.fillText(`${short(r.dram)} GB/s`, 0, 0); d.restore();
      }
    });
    const many = this.points.length > 2000, size = many ? 2.2 : 4;
    d.globalAlpha = many ? 0.5 : 0.8;
    this.placed = this.points.map(p => ({ row: p.row, x: X(p.x), y: Y(p.y) }));
    for (const p of this.placed) {
      d.fillStyle = color(groups.indexOf(p.row.group));
      d.beginPath(); d.arc(p.x, p.y, size, 0, 7); d.fill();
    }
    d.globalAlpha = 1;
    c.setAttribute('aria-label', `Roofline: ${plural(this.points.length, 'size')}, the fastest ${number(most(ys))} GFlops` +
      (peaks.length ? `, the ceiling ${number(most(peaks))} GFlops` : ''));
  }
  nearest(e) {
    const box = this.canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    let best = null, far = 20 ** 2;
    for (const p of this.placed || []) { const f = (p.x - x) ** 2 + (p.y - y) ** 2; if (f < far) { far = f; best = p; } }
    return best;
  }
  hover(e) {
    const p = this.nearest(e);
    this.canvas.style.cursor = p ? 'pointer' : '';
    if (!p) { tipHide(); return; }
    tipShow(`${p.row.label}\n${number(p.row.get('gflops'))} GFlops` +
      (p.row.get('efficiency') !== null ? `, ${percent(p.row.get('efficiency'))} of the ceiling` : ''), e.clientX, e.clientY);
  }
}

// ---- heat map ----

// Bins of a dimension: its values where they are few, else powers of two.
function bins(list, column) {
  const values = [...new Set(list.map(r => r.get(column)))].sort((a, b) => a - b);
  if (values.length <= 16) return values.map(v => ({ lo: v, hi: v, name: String(v) }));
  const powers = [...new Set(values.map(v => Math.floor(Math.log2(Math.max(1, v)))))];
  return powers.map(p => ({ lo: 2 ** p, hi: 2 ** (p + 1) - 1, name: p >= 10 ? `${2 ** (p - 10)}Ki…` : `${2 ** p}…` }));
}
// Light to dark in one hue; ratios: red below 1, green above.
function heatColor(value, lo, hi, isRatio) {
  if (isRatio) {
    const t = Math.max(-1, Math.min(1, Math.log2(value))), a = Math.abs(t) ** 0.6;
    return { background: t < 0 ? `hsl(14 70% ${92 - 42 * a}%)` : `hsl(150 45% ${92 - 52 * a}%)`, ink: a > 0.72 ? '#fff' : '#10151d' };
  }
  const t = hi > lo ? (Math.log(value) - Math.log(lo)) / (Math.log(hi) - Math.log(lo)) : 1;
  return { background: `hsl(214 ${55 + 20 * t}% ${94 - 60 * t}%)`, ink: t > 0.5 ? '#fff' : '#10151d' };
}
function heatMap(list, xColumn, yColumn, column, isRatio, pick) {
  const xs = bins(list, xColumn), ys = bins(list, yColumn).reverse();
  const find = (all, v) => all.findIndex(b => v >= b.lo && v <= b.hi);
  const cells = ys.map(() => xs.map(() => []));
  for (const r of list) {
    const v = r.get(column), x = find(xs, r.get(xColumn)), y = find(ys, r.get(yColumn));
    if (v > 0 && x >= 0 && y >= 0) cells[y][x].push(v);
  }
  const means = cells.map(line => line.map(geomean)), all = means.flat().filter(v => v !== null);
  const lo = Math.min(...all), hi = Math.max(...all);
  const show = v => column === 'efficiency' ? Math.round(100 * v) + '%' : isRatio ? v.toFixed(2) : short(Number(v.toPrecision(3)));
  const out = el('div', { class: 'heat', style: {} });
  out.style.setProperty('--columns', `max-content repeat(${xs.length}, minmax(2.9rem, 1fr))`);
  ys.forEach((y, i) => {
    out.append(el('div', { class: 'axis y' }, y.name));
    xs.forEach((x, k) => {
      const v = means[i][k];
      if (v === null) { out.append(el('div', { class: 'void' })); return; }
      const c = heatColor(v, lo, hi, isRatio), n = cells[i][k].length;
      const what = `${yColumn.toUpperCase()} ${y.name}, ${xColumn.toUpperCase()} ${x.name}: ${show(v)} (${plural(n, 'size')})`;
      out.append(el('button', { type: 'button', 'aria-label': what, title: what, style: { background: c.background, color: c.ink },
        onclick: () => pick(`${xColumn}>=${x.lo} ${xColumn}<=${x.hi} ${yColumn}>=${y.lo} ${yColumn}<=${y.hi}`) }, show(v)));
    });
  });
  out.append(el('div', { class: 'axis y' }, `${yColumn.toUpperCase()} ↑ ${xColumn.toUpperCase()} →`), ...xs.map(x => el('div', { class: 'axis' }, x.name)));
  return { element: out, lo: all.length ? show(lo) : '', hi: all.length ? show(hi) : '', n: all.length };
}

// ---- intervals of a race ----

// places: [{name, us, lo, hi, n}], the fastest first.
function raceChart(places) {
  const known = places.filter(p => p.us !== null);
  if (!known.length) return el('p', { class: 'muted' }, 'No times are known.');
  const lo = Math.min(...known.map(p => p.lo ?? p.us)), hi = Math.max(...known.map(p => p.hi ?? p.us));
  const from = lo - (hi - lo || lo) * 0.06, to = hi + (hi - lo || hi) * 0.06;
  return el('div', {}, known.map((p, i) => {
    const x = us => 100 * (us - from) / (to - from);
    const line = svg('svg', { height: 18, 'aria-hidden': 'true' });
    line.append(svg('line', { x1: '0%', x2: '100%', y1: 9, y2: 9, class: 'axis' }));
    if (p.lo !== null && p.hi !== null) line.append(svg('line', { x1: x(p.lo) + '%', x2: x(p.hi) + '%', y1: 9, y2: 9, class: 'interval' }));
    line.append(svg('circle', { cx: x(p.us) + '%', cy: 9, r: 4.5, class: 'median' }));
    return el('div', { class: 'place' }, el('div', {}, el('b', {}, `${i + 1}. `), `${number(p.us)} µs`,
      p.lo !== null ? el('span', { class: 'muted' }, ` [${number(p.lo)}, ${number(p.hi)}]`) : null,
      p.n ? el('span', { class: 'muted' }, `, ${plural(p.n, 'sample')}`) : null), line, el('div', { class: 'name muted' }, p.name));
  }));
}

// Counts of ratios in steps of a factor, below and above 1.
function ratioHistogram(ratios) {
  const steps = [0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.01, 1.05, 1.1, 1.25, 1.5, 2, Infinity];
  const counts = steps.slice(1).map((hi, i) => ratios.filter(r => r >= steps[i] && r < hi).length), most = Math.max(...counts, 1);
  const name = i => i === 0 ? '< 0.5' : i === counts.length - 1 ? '≥ 2' : `${steps[i]} – ${steps[i + 1]}`;
  const list = el('div', { class: 'values', role: 'list' });
  counts.forEach((n, i) => {
    const bar = el('i', { style: { width: 100 * n / most + '%', background: steps[i + 1] <= 0.99 ? 'var(--bad)' : steps[i] >= 1.01 ? 'var(--good)' : 'var(--bar)' } });
    list.append(el('span', { class: 'v' }, name(i)), el('span', { class: 'meter' }, bar), el('span', { class: 'num' }, grouped.format(n)));
  });
  return list;
}
