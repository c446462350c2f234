// Puts the sections together: draws them when they come into view, keeps the filter and the order in the address, and reloads
// the page while a run goes on.
const state = new URLSearchParams(location.hash.slice(1));
const input = document.getElementById('filter'), select = document.getElementById('group'), main = document.getElementById('main');

const page = {
  sort: { key: state.get('sort') || 'label', descending: state.has('sort') ? state.get('down') === '1' : true },
  sorted(key, descending) { keep('sort', key); keep('down', descending ? '1' : ''); },
  filter(words) { input.value = words; changed(); document.getElementById('winners').scrollIntoView(); },
  redraw(id) { draw(drawn.find(d => d.section.id === id)); },
};
function keep(key, value) {
  if (value) state.set(key, value);
  else state.delete(key);
  const text = state.toString();
  history.replaceState(null, '', text ? '#' + text : location.pathname + location.search);
}

const drawn = sections.filter(s => s.show()).map(section => {
  const body = el('div', { class: 'content' });
  const lead = typeof section.lead === 'function' ? section.lead() : section.lead;
  const element = el('section', { id: section.id, 'aria-labelledby': section.id + '-title' },
    el('h2', { id: section.id + '-title' }, section.title), lead ? el('p', { class: 'lead' }, lead) : null, body);
  main.append(element);
  return { section, body, element, fresh: false, visible: false };
});

let list = rows;
function draw(d) {
  d.body.replaceChildren();
  d.section.draw(d.body, list, page);
  d.fresh = true;
}
function changed() {
  list = filtered(input.value, select.value);
  document.getElementById('matched').textContent = list.length === rows.length ? plural(rows.length, 'size') : `${grouped.format(list.length)} of ${plural(rows.length, 'size')}`;
  keep('f', input.value);
  keep('g', select.value);
  for (const d of drawn) { d.fresh = false; if (d.visible) draw(d); }
}

const observer = new IntersectionObserver(entries => {
  for (const e of entries) {
    const d = drawn.find(x => x.element === e.target);
    d.visible = e.isIntersecting;
    if (d.visible && !d.fresh) draw(d);
  }
}, { rootMargin: '400px' });
const current = new IntersectionObserver(entries => {
  for (const e of entries) document.querySelector(`nav a[href="#${e.target.id}"]`)?.toggleAttribute('aria-current', e.isIntersecting);
}, { rootMargin: '-30% 0px -60% 0px' });

// Links to sections scroll without touching the address, which keeps the filter.
const nav = document.getElementById('nav');
nav.append(...drawn.map(d => el('a', { href: '#' + d.section.id }, d.section.title)));
for (const a of document.querySelectorAll('nav a, .skip'))
  a.addEventListener('click', e => {
    e.preventDefault();
    const target = document.getElementById(a.getAttribute('href').slice(1));
    target.scrollIntoView();
    (target.querySelector('.grid, canvas, select') ?? target).focus?.({ preventScroll: true });
  });

select.append(el('option', { value: '' }, groups.length === 1 ? groups[0].name : `all ${groups.length} groups`));
if (groups.length > 1) groups.forEach((g, i) => select.append(el('option', { value: i }, runs.length > 1 ? `${runs[g.run].path}: ${g.name}` : g.name)));
input.value = state.get('f') || '';
if (groups[state.get('g')] && groups.length > 1) select.value = state.get('g');

let typing = 0;
input.addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(changed, 120); });
select.addEventListener('change', changed);
document.getElementById('filters').addEventListener('submit', e => { e.preventDefault(); changed(); });

const names = runs.map(r => r.path).join(', ');
document.title = 'tuner: ' + (names.length > 60 ? plural(runs.length, 'run') : names);
document.getElementById('made').textContent = `tuner ${report.tuner} · ${report.made.replace('T', ' ').replace('Z', ' UTC')}`;
const chip = document.getElementById('state'), states = [...new Set(runs.map(r => r.state).filter(Boolean))];
chip.textContent = report.live ? `running, updated every ${plural(report.reload_seconds, 'second')}` : states.join(', ');
chip.classList.add(report.live ? 'warn' : stateClass[states[0]] || 'muted');
chip.hidden = !chip.textContent;

changed();
for (const d of drawn) { observer.observe(d.element); current.observe(d.element); }
if (state.has('y')) { const y = Number(state.get('y')); requestAnimationFrame(() => setTimeout(() => { scrollTo(0, y); keep('y', ''); }, 50)); }
if (report.live) {
  const again = () => {
    if (document.getElementById('detail').open || document.activeElement === input) { setTimeout(again, 2000); return; }
    keep('y', Math.round(scrollY) ? String(Math.round(scrollY)) : '');
    location.reload();
  };
  setTimeout(again, 1000 * report.reload_seconds);
}
document.documentElement.dataset.ready = 'yes';
