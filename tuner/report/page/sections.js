// The sections of the page. Each is {id, title, show(): whether there is anything, draw(body, rows)}; draw runs when the section
// comes into view, and again after the filter changed.

const verdictWords = { faster: 'clear winner', tie: 'tie', slower: 'tie', dropped: 'runner-up left the race', unknown: 'one kernel, or too few samples' };
const stateClass = { done: 'good', running: 'warn', interrupted: 'warn', killed: 'bad', failed: 'bad' };
const sorted = values => values.filter(v => v !== null && !Number.isNaN(v)).sort((a, b) => a - b);

function sizeColumns() {
  const several = groups.length > 1;
  return [
    { key: 'label', name: 'M×N×K', width: '10.5rem', narrow: 'minmax(8.6rem, 1fr)', slim: true, num: true, value: r => r.get('flops'), text: r => r.label, help: 'sorted by operations' },
    several && { key: 'type', name: 'Type', width: '12rem', text: r => r.get('type'), mono: true, wide: true },
    ...['m', 'n', 'k', 'batch'].map(c => ({ key: c, name: c === 'batch' ? 'Batch' : c.toUpperCase(), num: true, ascending: true, width: '4.6rem', wide: true, value: r => r.get(c), text: r => grouped.format(r.get(c)) })),
    { key: 'gflops', name: 'GFlops', num: true, width: '6rem', narrow: '4.6rem', value: r => r.get('gflops'), text: r => number(r.get('gflops')) },
    has.efficiency && { key: 'efficiency', name: 'Of ceiling', short: 'Ceiling', num: true, width: '6.4rem', narrow: '4.4rem', value: r => r.get('efficiency'), text: r => percent(r.get('efficiency')), help: 'part of the roofline at the intensity of the size' },
    { key: 'us', name: 'Time µs', num: true, width: '5.6rem', wide: true, value: r => r.get('us'), text: r => number(r.get('us')) },
    has.intervals && { key: 'interval', name: '95% interval', num: true, width: '9.5rem', wide: true, value: r => (r.get('us_hi') - r.get('us_lo')) / r.get('us') || null,
      text: r => r.get('us_lo') === null ? '–' : `${number(r.get('us_lo'))} – ${number(r.get('us_hi'))}`, help: 'sorted by width' },
    { key: 'lead', name: 'Lead', num: true, width: '5.5rem', wide: true, value: r => r.get('lead'), text: r => ratio(r.get('lead')), help: 'time of the second place over the winner\'s' },
    { key: 'verdict', name: 'Race', width: '5.5rem', wide: true, value: r => r.get('verdict'), text: r => (r.get('lead') === null && r.get('verdict') === 'unknown' ? '–' : r.get('verdict') === 'faster' ? 'clear' : r.get('verdict')) },
    has.peer && { key: 'peer', name: '× peer', num: true, width: '5.5rem', short: 'Peer', narrow: '3.6rem', value: r => r.get('peer'), text: r => ratio(r.get('peer')), help: 'speed over the other library\'s', cell: r => ratioCell(r.get('peer')) },
    has.before && { key: 'before', name: '× before', num: true, width: '6rem', short: 'Before', narrow: '4rem', value: r => r.get('before'), text: r => ratio(r.get('before')), help: 'speed over the earlier results', cell: r => ratioCell(r.get('before')) },
    has.calls && { key: 'calls', name: 'Calls', num: true, width: '6rem', wide: true, value: r => r.get('calls'), text: r => number(r.get('calls')) },
    has.calls && { key: 'share', name: 'Time share', num: true, width: '6.5rem', wide: true, value: r => r.get('share'), text: r => percent(r.get('share'), 2) },
    { key: 'tried', name: 'Good/all', num: true, width: '5.4rem', wide: true, value: r => r.get('good'), text: r => `${r.get('good')}/${r.get('good') + r.get('failed') + r.get('missing')}` },
    { key: 'name', name: 'Kernel', width: 'minmax(30rem, 1fr)', mono: true, wide: true, text: r => r.get('name') || 'no kernel works' },
  ].filter(Boolean);
}
const ratioCell = x => el('span', { class: x === null ? 'muted' : x >= 1.01 ? 'good' : x <= 0.99 ? 'bad' : '' }, ratio(x));

function facts(list) {
  return el('div', { class: 'facts' }, list.filter(Boolean).map(([value, what]) => el('div', { class: 'fact' }, el('b', {}, value), el('span', {}, what))));
}
function stacked(parts) {
  const total = parts.reduce((sum, p) => sum + p.n, 0) || 1;
  return el('div', {}, el('div', { class: 'stack', role: 'img', 'aria-label': parts.map(p => `${p.name}: ${p.text ?? p.n}`).join(', ') },
    parts.map((p, i) => (p.n ? el('i', { title: p.name, style: { width: 100 * p.n / total + '%', background: p.color || color(i) } }) : null))),
    el('div', { class: 'keys' }, parts.map((p, i) => (p.n ? el('span', {}, el('i', { style: { background: p.color || color(i) } }), `${p.name} `, el('b', {}, p.text ?? grouped.format(p.n))) : null))));
}

// ---- one size ----

function openSize(row) {
  const dialog = document.getElementById('detail'), g = row.group, i = row.i;
  const places = g.races[i].map(([k, us, lo, hi, n]) => ({ name: g.kernels[k]?.name ?? '', us, lo, hi, n }));
  const speeds = g.speeds[i], list = [];
  if (speeds) speeds.forEach((s, k) => list.push({ k, s, name: g.kernels[k].name, compile: g.kernels[k].compile }));
  const grid = new Grid({ label: 'All kernels on this size', height: 11, sort: { key: 's', descending: true }, columns: [
    { key: 's', name: 'Speed', num: true, width: '7rem', narrow: '5.5rem', value: x => x.s, text: x => x.s > 0 ? percent(x.s / 1e4) : x.s === 0 ? 'failed' : x.compile && x.compile !== 'ok' ? x.compile : 'not run' },
    { key: 'bar', name: 'of the winner', width: '9rem', wide: true, value: x => x.s, cell: x => meter(x.s / 1e4), text: () => '' },
    { key: 'name', name: 'Kernel', width: 'minmax(32rem, 1fr)', mono: true, text: x => x.name }] });
  const facts0 = places.length ? g.kernels[g.sizes.kernel[i]].facts : '';
  const line = [[number(row.get('gflops')), g.per_cu ? 'GFlops per CU' : 'GFlops'], row.get('efficiency') !== null && [percent(row.get('efficiency')), 'of the ceiling'],
    [number(row.get('us')), 'µs'], row.get('lead') !== null && [ratio(row.get('lead')) + '×', `second place: ${verdictWords[row.get('verdict')]}`],
    row.get('peer') !== null && [ratio(row.get('peer')) + '×', `speed over ${report.peer.name}`], row.get('before') !== null && [ratio(row.get('before')) + '×', 'speed over the earlier results'],
    row.get('calls') ? [number(row.get('calls')), 'calls'] : null];
  const notes = [g.peer && row.get('peer') === null && g.peer.verdict[i] && `Peer: ${g.peer.verdict[i]}`, row.get('held_out') && 'Held out: the library did not get this size.'].filter(Boolean);
  dialog.replaceChildren(el('div', {}, el('button', { class: 'close', type: 'button', onclick: () => dialog.close() }, 'Close'),
    el('h2', { id: 'detail-title' }, row.label), el('p', { class: 'muted' }, `${g.name} `, el('span', { class: 'mono' }, row.get('size'))),
    facts(line), notes.map(n => el('p', {}, n)),
    el('h3', {}, 'First places, with 95% intervals'), raceChart(places), facts0 ? el('p', { class: 'name muted' }, facts0) : null,
    g.before?.kernel[i] ? el('p', { class: 'name muted' }, `before: ${g.before.kernel[i]}`) : null,
    el('h3', {}, speeds ? `All ${plural(list.length, 'kernel')}` : 'Times of other kernels are not in this page'), speeds ? grid.element : null));
  dialog.showModal();
  grid.set(list);
  dialog.scrollTop = 0;
}

// ---- sections ----

function drawOverview(body, list) {
  const with_ = list.filter(r => r.get('gflops') !== null), kernels = new Set(with_.map(r => r.get('name')));
  const used = [...new Set(list.map(r => r.group))];
  const best = with_.reduce((m, r) => (m && m.get('gflops') >= r.get('gflops') ? m : r), null);
  const eff = sorted(list.map(r => r.get('efficiency'))), without = list.length - with_.length;
  body.append(facts([
    [grouped.format(list.length), 'sizes'], without ? [grouped.format(without), 'sizes without a kernel that works'] : null,
    [grouped.format(used.reduce((n, g) => n + g.kernels.length, 0)), 'kernels tried'], [grouped.format(kernels.size), 'kernels that win a size'],
    best && [number(best.get('gflops')), (best.group.per_cu ? 'GFlops per CU' : 'GFlops') + `, the most: ${best.label}`],
    eff.length && [percent(quantile(eff, 0.5), 0), 'of the ceiling, in the median'],
    report.peer && [ratio(geomean(list.map(r => r.get('peer')))) + '×', `speed over ${report.peer.name}, geometric mean`],
    report.before && [ratio(geomean(list.map(r => r.get('before')))) + '×', 'speed over the earlier results, geometric mean'],
    has.calls && [duration(report.seconds_of_calls), 'the application\'s calls by the winners\' times'],
  ]));
  runs.forEach((r, at) => {
    if (!used.some(g => g.run === at) && groups.some(g => g.run === at)) return;
    const parts = r.steps.map(s => ({ name: s.name, n: s.seconds, text: duration(s.seconds) }));
    body.append(el('div', { class: 'card' },
      el('h3', {}, r.path, ' ', r.state ? el('span', { class: 'chip ' + (stateClass[r.state] || '') }, r.state) : null),
      r.detail ? el('p', { class: 'note' }, r.detail) : null, r.busy?.warning ? el('p', { class: 'note' }, r.busy.warning) : null,
      el('p', { class: 'muted' }, [r.device, r.driver, r.started && `started ${r.started}`].filter(Boolean).join(' · ') || { results: 'results CSV', table: 'table of sizes', bench: 'output of rocblas-bench', run: '' }[r.kind]),
      r.command ? el('p', { class: 'mono muted' }, r.command) : null,
      parts.length ? stacked(parts) : null,
      r.searches.map(s => el('p', {}, `Search of ${s.group} by ${s.method}: ${grouped.format(s.candidates)} candidates${s.sampled ? ' (a sample)' : ''} of ${grouped.format(s.permutations)} permutations, `,
        s.ended ? `${plural(s.kernels, 'kernel')} on ${plural(s.pairs, 'pair')} in ${plural(s.rounds, 'round')}, ${duration(s.seconds)}; stopped: ${s.reason}` : `${plural(s.rounds, 'round')} so far`))));
  });
}

let winners = null;
function drawWinners(body, list, page) {
  if (!winners) {
    winners = new Grid({ label: 'Winners by size', columns: sizeColumns(), open: openSize, sort: page.sort, height: 20 });
    winners.onsort = (key, descending) => page.sorted(key, descending);
  }
  body.append(winners.element);
  winners.set(list);
}

let roofline = null;
function drawRoofline(body, list) {
  roofline ??= new Roofline(openSize);
  const used = [...new Set(list.map(r => r.group))];
  body.append(roofline.element, used.length > 1 ? el('div', { class: 'keys' }, used.slice(0, 24).map(g => el('span', {}, el('i', { style: { background: color(groups.indexOf(g)) } }), g.name))) : '');
  roofline.set(list);
}

const heat = { x: 'n', y: 'm', column: null };
function drawHeat(body, list, page) {
  const columns = [['gflops', 'GFlops'], has.efficiency && ['efficiency', '% of ceiling'], has.peer && ['peer', 'speed over peer'], has.before && ['before', 'speed over before']].filter(Boolean);
  heat.column ??= columns[0][0];
  const select = (name, options, key) => el('label', {}, el('span', { class: 'label' }, name), el('select', { onchange: e => { heat[key] = e.target.value; page.redraw('heat'); } },
    options.map(([value, text]) => el('option', { value, selected: heat[key] === value }, text))));
  const sides = [['m', 'M'], ['n', 'N'], ['k', 'K'], ['batch', 'Batch']], isRatio = heat.column === 'peer' || heat.column === 'before';
  body.append(el('div', { class: 'controls' }, select('Across', sides, 'x'), select('Up', sides, 'y'), select('Colour', columns, 'column')));
  const map = heatMap(list, heat.x, heat.y, heat.column, isRatio, words => page.filter(words));
  if (!map.n) { body.append(el('p', { class: 'muted' }, 'No size matches the filter.')); return; }
  const ends = isRatio ? [heatColor(0.5, 0, 0, true), heatColor(1, 0, 0, true), heatColor(2, 0, 0, true)] : [heatColor(1, 1, 10), heatColor(10 ** 0.5, 1, 10), heatColor(10, 1, 10)];
  body.append(map.element, el('div', { class: 'scale' }, isRatio ? '0.5 or less' : map.lo, el('i', { style: { background: `linear-gradient(90deg, ${ends.map(c => c.background).join(', ')})` } }), isRatio ? '2 or more' : map.hi));
}

// Parameters of all groups in use, values of equal names added up.
function parameters(list) {
  const all = new Map();
  for (const g of new Set(list.map(r => r.group)))
    for (const p of g.parameters) {
      if (!all.has(p.name)) all.set(p.name, new Map());
      for (const v of p.values) {
        const x = all.get(p.name).get(v.value) ?? { value: v.value, kernels: 0, sizes: 0, wins: 0, logs: 0, worst: 1 };
        x.kernels += v.kernels; x.sizes += v.sizes; x.wins += v.wins;
        if (v.mean_speed !== null) { x.logs += v.sizes * Math.log(v.mean_speed); x.worst = Math.min(x.worst, v.worst_speed); }
        all.get(p.name).set(v.value, x);
      }
    }
  return [...all].map(([name, values]) => {
    const list_ = [...values.values()].map(v => ({ ...v, mean: v.sizes ? Math.exp(v.logs / v.sizes) : null }));
    const means = list_.map(v => v.mean).filter(v => v !== null);
    return { name, values: list_, effect: means.length > 1 ? Math.max(...means) - Math.min(...means) : null, wins: list_.reduce((n, v) => n + v.wins, 0) || 1 };
  }).sort((a, b) => (b.effect ?? -1) - (a.effect ?? -1));
}
function drawParameters(body, list) {
  const all = parameters(list);
  body.append(el('div', { class: 'cards' }, all.map(p => {
    const values = p.values.slice().sort((a, b) => b.wins - a.wins || (b.mean ?? 0) - (a.mean ?? 0)), most = values.slice(0, 12);
    return el('div', { class: 'card' }, el('h3', {}, p.name, ' ', el('span', { class: 'muted' }, p.effect !== null ? `matters ${percent(p.effect)}` : '')),
      el('div', { class: 'values' }, most.flatMap(v => [el('span', { class: 'v' }, v.value), meter(v.mean ?? v.wins / p.wins),
        el('span', { class: 'num', title: `${plural(v.kernels, 'kernel')}; worst size ${percent(v.sizes ? v.worst : null)} of the best` },
          (v.mean !== null ? percent(v.mean) + ' · ' : '') + `wins ${grouped.format(v.wins)} (${percent(v.wins / p.wins, 0)})`)])),
      values.length > most.length ? el('p', { class: 'muted' }, `and ${plural(values.length - most.length, 'more value')}`) : null);
  })));
}

let races = null;
function drawRaces(body, list) {
  const counts = new Map();
  for (const r of list) { const v = verdictWords[r.get('verdict')]; counts.set(v, (counts.get(v) || 0) + 1); }
  const order = ['clear winner', 'runner-up left the race', 'tie', 'one kernel, or too few samples'], colors = ['var(--good)', '#2a9d8f', '#e0832b', 'var(--muted)'];
  body.append(stacked(order.map((name, i) => ({ name, n: counts.get(name) || 0, color: colors[i] }))));
  races ??= new Grid({ label: 'Races', open: openSize, height: 12, sort: { key: 'lead', descending: false }, columns: [
    { key: 'label', name: 'M×N×K', num: true, width: '11rem', narrow: 'minmax(7.5rem, 1fr)', value: r => r.get('flops'), text: r => r.label },
    { key: 'lead', name: 'Lead', num: true, ascending: true, width: '6rem', narrow: '4.5rem', value: r => r.get('lead'), text: r => ratio(r.get('lead')) },
    { key: 'interval', name: '95% interval', num: true, ascending: true, width: '11rem', narrow: '8rem', value: r => r.get('lead_lo'), text: r => r.get('lead_lo') === null ? '–' : `${ratio(r.get('lead_lo'))} – ${ratio(r.get('lead_hi'))}` },
    { key: 'verdict', name: 'Race', width: '12rem', wide: true, text: r => verdictWords[r.get('verdict')] },
    { key: 'name', name: 'Winner', width: 'minmax(30rem, 1fr)', mono: true, wide: true, text: r => r.get('name') }] });
  body.append(races.element);
  races.set(list.filter(r => r.get('lead') !== null));
}

function drawFailures(body, list) {
  const used = [...new Set(list.map(r => r.group))], rules = new Map(), statuses = new Map();
  let permutations = 0, valid = 0, kernels = 0;
  for (const g of used) {
    permutations += g.permutations; valid += g.valid; kernels += g.kernels.length;
    for (const r of g.rejections) { const x = rules.get(r.rule) ?? { ...r, count: 0 }; x.count += r.count; rules.set(r.rule, x); }
    for (const s of g.statuses) { const x = statuses.get(s.status) ?? { ...s, count: 0 }; x.count += s.count; statuses.set(s.status, x); }
  }
  if (permutations) body.append(facts([[grouped.format(permutations), 'permutations of the config'], [grouped.format(valid), 'valid'], [grouped.format(kernels), 'kernels']]));
  if (statuses.size) body.append(el('h3', {}, 'Measurements'), stacked([...statuses.values()].map((s, i) => ({ name: s.status, n: s.count, color: s.good ? 'var(--good)' : color(i + 1) }))));
  const most = Math.max(1, ...[...rules.values()].map(r => r.count));
  if (rules.size) body.append(el('h3', {}, 'Rejected before compiling'), simpleTable([{ name: 'Count', num: true }, { name: '' }, { name: 'Rule' }, { name: 'As in', wide: true }],
    [...rules.values()].sort((a, b) => b.count - a.count).map(r => [grouped.format(r.count), el('span', { style: { display: 'block', width: '5rem' } }, meter(r.count / most)), r.rule, r.text])));
  const faults = runs.flatMap((r, at) => (used.some(g => g.run === at) ? r.faults : []));
  if (!faults.length) { body.append(el('p', { class: 'muted' }, permutations ? 'No kernel failed.' : 'The source has no reasons.')); return; }
  const grid = new Grid({ label: 'Failures', height: 12, columns: [
    { key: 'status', name: 'Status', width: '7rem', narrow: '6rem', text: f => f.status }, { key: 'detail', name: 'Reason', width: 'minmax(18rem, 2fr)', text: f => f.detail },
    { key: 'size', name: 'Size', width: '18rem', mono: true, wide: true, text: f => f.size }, { key: 'kernel', name: 'Kernel', width: 'minmax(24rem, 1fr)', mono: true, text: f => f.kernel }] });
  body.append(el('h3', {}, 'Failed'), grid.element);
  grid.set(faults);
}

function compared(column, name) {
  let grid = null;
  return (body, list) => {
    const own = list.filter(r => r.get(column) !== null), values = own.map(r => r.get(column));
    const slower = values.filter(v => v < 0.99).length, faster = values.filter(v => v > 1.01).length;
    body.append(facts([[ratio(geomean(values)) + '×', `geometric mean of ${plural(own.length, 'size')}`], [grouped.format(faster), 'faster by more than 1%'],
      [grouped.format(own.length - faster - slower), 'equal within 1%'], [grouped.format(slower), 'slower by more than 1%'],
      list.length > own.length ? [grouped.format(list.length - own.length), 'without a comparison'] : null]));
    grid ??= new Grid({ label: name, open: openSize, height: 12, sort: { key: column, descending: false }, columns: [
      { key: 'label', name: 'M×N×K', num: true, width: '11rem', narrow: 'minmax(7.5rem, 1fr)', value: r => r.get('flops'), text: r => r.label },
      { key: column, name: 'Ratio', num: true, ascending: true, width: '6rem', narrow: '4.5rem', value: r => r.get(column), text: r => ratio(r.get(column)), cell: r => ratioCell(r.get(column)) },
      { key: 'interval', name: '95% interval', num: true, ascending: true, width: '11rem', wide: true, value: r => r.group[column].ratio_lo[r.i], text: r => r.group[column].ratio_lo[r.i] === null ? '–' : `${ratio(r.group[column].ratio_lo[r.i])} – ${ratio(r.group[column].ratio_hi[r.i])}` },
      { key: 'gflops', name: 'GFlops', num: true, width: '7rem', narrow: '5.5rem', value: r => r.get('gflops'), text: r => number(r.get('gflops')) },
      { key: 'theirs', name: column === 'peer' ? 'Peer' : 'Before', num: true, width: '7rem', narrow: '5.5rem', value: r => r.group[column].gflops[r.i], text: r => number(r.group[column].gflops[r.i]) },
      { key: 'name', name: 'Kernel', width: 'minmax(30rem, 1fr)', mono: true, wide: true, text: r => r.get('name') }] });
    body.append(el('div', { class: 'cards' }, el('div', { class: 'card' }, el('h3', {}, 'Sizes by ratio'), ratioHistogram(values))), el('h3', {}, 'Sizes, the slowest ratio first'), grid.element);
    grid.set(own);
  };
}

function drawRegret(body, list) {
  const used = new Set(list.map(r => r.group)), sets = new Map();
  runs.forEach((r, at) => {
    if (![...used].some(g => g.run === at)) return;
    for (const x of r.regret) for (const part of ['all', x.aligned ? 'aligned' : 'ragged']) {
      const key = `${x.problem_type}\n${x.choice}\n${part}`;
      if (!sets.has(key)) sets.set(key, []);
      sets.get(key).push(x.loss);
    }
  });
  const head = ['Problem type', 'Choice', 'Sizes', 'Count', 'Mean', 'p50', 'p90', 'p95', 'Worst'].map((name, i) => ({ name, num: i > 2 }));
  body.append(simpleTable(head, [...sets].map(([key, losses]) => {
    const s = losses.slice().sort((a, b) => a - b), [type, choice, part] = key.split('\n');
    return [type, choice, part, s.length, percent(s.reduce((a, b) => a + b, 0) / s.length), ...[0.5, 0.9, 0.95, 1].map(q => percent(quantile(s, q)))];
  })));
}

const sections = [
  { id: 'overview', title: 'Overview', draw: drawOverview, show: () => true },
  { id: 'winners', title: 'Winners by size', draw: drawWinners, show: () => true, lead: 'The fastest kernel of each size. Click a column to sort, a row for its race and all kernels.' },
  { id: 'roofline', title: 'Roofline', draw: drawRoofline, show: () => true, lead: 'Speed against the operations for each byte of the operands; the lines are what the device\'s peak rate and memory allow.' },
  { id: 'heat', title: 'Speed by size', draw: drawHeat, show: () => true, lead: 'Geometric means of the sizes in each cell. Click a cell to filter.' },
  { id: 'parameters', title: 'Parameters', draw: drawParameters, show: () => groups.some(g => g.parameters.length), lead: () => (groups.some(g => g.speeds.some(Boolean)) ? 'For each value, how fast the best kernel with it is against the best of all, and on how many sizes it wins. A parameter matters by the difference between its best and its worst value.' : 'On how many sizes each value wins; times of the losers are not known.') },
  { id: 'races', title: 'Races', draw: drawRaces, show: () => rows.some(r => r.get('lead') !== null), lead: 'How certain the winners are: time of the second place over the winner\'s, closest first.' },
  { id: 'compare', title: 'Before and after', draw: compared('before', 'Before and after'), show: () => has.before, lead: () => `Speed over ${report.before.name}.` },
  { id: 'peer', title: 'Peer', draw: compared('peer', 'Peer'), show: () => has.peer, lead: () => `Speed over ${report.peer.name}.` },
  { id: 'failures', title: 'Rejected and failed', draw: drawFailures, show: () => groups.some(g => g.permutations) || runs.some(r => r.faults.length) },
  { id: 'regret', title: 'Held-out sizes', draw: drawRegret, show: () => runs.some(r => r.regret.length), lead: 'What the library\'s choices lose against the best kernel of the run, on sizes that it did not get.' },
];
