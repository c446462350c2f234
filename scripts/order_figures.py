#!/usr/bin/env python3
"""order_figures.py [--large M,N,K ...] OUTDIR...: what work-group orders gain, from the sweeps of device_order.sh.

Each run in OUTDIR has measured all its solutions one behind another, several times over (TimingMethod loop, NumBenchmarks). Two
solutions are compared within a sweep, in which they were measured moments apart and at the same clock. The best of many orders
looks better than it is by what its samples happened to be, so orders are chosen by one half of the sweeps and judged by the other
half, and the other way round. Tuned orders are chosen as tuner-logic does: where the samples cannot tell the best orders of a size
apart (95%), that which wins more other sizes of the same tile is taken. Every figure is a geometric mean over cells (a size, a tile, mostly a dimension) with the interval
in which the mean of such cells lies in 95 of 100 cases; 'least' is that of the cells' own means over the sweeps. Exit code 2: a run has
no store of measurements, or none with two sweeps."""
import collections
import math
import os
import re
import sqlite3
import statistics
import sys

FIXED = 8                                               # the order that all others are compared with
STEPS = re.compile(r'_(WGMD|WGMXCC|WGM)(n?\d+)(?=_|$)')
TILE = re.compile(r'_MT(\w+?)_')
# dimension (None: the order is a constant of the kernel, along N), order (0: the model's choice), dies
Word = collections.namedtuple('Word', 'dim order dies')


def word_of(name):
    found = {k: int(v.replace('n', '-')) for k, v in STEPS.findall(name)}
    return TILE.search(name).group(1), Word(found.get('WGMD', None), found.get('WGM', FIXED), found.get('WGMXCC', 1))


def sweeps_of(outdir):
    """{(size, tile): {word: [time in each sweep]}}"""
    path = os.path.join(outdir, 'tuning.db')
    if not os.path.isfile(path):
        sys.exit(fail(f"'{path}': no such file, expected the store of a run"))
    store = sqlite3.connect(f'file:{path}?mode=ro&immutable=1', uri=True)
    rows = store.execute("""SELECT p.key, c.name, m.run, m.samples FROM measurement m JOIN problem p ON p.id = m.problem
        JOIN candidate c ON c.kernel = m.kernel AND c.plan = (SELECT max(id) FROM plan)
        WHERE m.status IN ('PASSED', 'NO_CHECK') AND m.samples != '' ORDER BY m.run""")
    times = collections.defaultdict(dict)
    for key, name, run, samples in rows:
        m, n, _, k = key.split()[1].split(',')[:4]
        tile, word = word_of(name)
        pairs = [s.split('@')[0].split('*') for s in samples.split()]
        times[f'{m},{n},{k}', tile].setdefault(word, {})[run] = statistics.median(int(ns) / int(launches) for launches, ns in pairs)
    sweeps = min((len(t) for words in times.values() for t in words.values()), default=0)
    if sweeps < 2:
        sys.exit(fail(f"'{path}': {sweeps} sweeps of all solutions, expected at least 2 (NumBenchmarks)"))
    return {cell: {w: [t[r] for r in sorted(t)][:sweeps] for w, t in words.items()} for cell, words in times.items()}


def fail(text):
    print(f'order_figures.py: {text}', file=sys.stderr)
    return 2


def gain(slow, fast, sweeps):
    """Mean logarithm of the time of one over that of the other in these sweeps."""
    return statistics.mean(math.log(slow[i] / fast[i]) for i in sweeps)


def tuned(words, candidates, base):
    """Mean logarithm of the gain of the best candidate over the base (a word), chosen and judged by different sweeps."""
    n = len(words[base])
    halves = [range(0, n, 2), range(1, n, 2)]
    out = []
    for choose, judge in (halves, halves[::-1]):
        best = max(candidates, key=lambda w: gain(words[base], words[w], choose))
        out.append(gain(words[base], words[best], judge))
    return statistics.mean(out)


# Two-sided 95% quantiles of Student's t by degrees of freedom; above, that of 12.
STUDENT = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26, 10: 2.23, 11: 2.20}


def is_slower(slow, fast, sweeps):
    """Whether one is significantly slower than the other in these sweeps; of a single sweep every difference counts."""
    x = [math.log(slow[i] / fast[i]) for i in sweeps]
    if len(x) < 2:
        return x[0] > 0
    return statistics.mean(x) > STUDENT.get(len(x) - 1, 2.18) * statistics.stdev(x) / math.sqrt(len(x))


def choose(cells, candidates, sweeps):
    """{size: word} for the cells of one tile ({size: words}): the best candidate; ties go to the one that wins most sizes."""
    wins, tied, out = collections.Counter(), {}, {}
    for size, words in cells.items():
        mean = {w: statistics.mean(words[w][i] for i in sweeps) for w in candidates}
        best = min(candidates, key=lambda w: mean[w])
        rivals = [w for w in candidates if not is_slower(words[w], words[best], sweeps)]
        if len(rivals) > 1:
            tied[size] = sorted(rivals, key=lambda w: mean[w])
        else:
            wins[best] += 1
            out[size] = best
    for size, rivals in sorted(tied.items()):
        out[size] = max(rivals, key=lambda w: wins[w])  # the first of equal ones: the fastest
        wins[out[size]] += 1
    return out


def orders_of(words, dim=None):
    return sorted(w for w in words if w.dim is not None and w.order and w.dies == 1 and dim in (None, w.dim))


def chosen_gains(cells, dim):
    """{size: mean logarithm of the gain of the chosen order over FIXED}; dim None: of both, over FIXED along N."""
    base = Word(1 if dim is None else dim, FIXED, 1)
    cells = {size: words for size, words in cells.items() if base in words}
    shared = set.intersection(*(set(orders_of(words, dim)) for words in cells.values())) if cells else set()
    if len(shared) < 3:
        return {}
    n = min(len(t) for words in cells.values() for t in words.values())
    halves, out = [range(0, n, 2), range(1, n, 2)], collections.defaultdict(float)
    for chooses, judges in (halves, halves[::-1]):
        for size, word in choose(cells, sorted(shared), chooses).items():
            out[size] += gain(cells[size][base], cells[size][word], judges) / 2
    return out


class Figures:
    def __init__(self):
        self.cells = collections.defaultdict(list)

    def note(self, what, log_gain):
        self.cells[what].append(log_gain)

    def show(self):
        for what, x in self.cells.items():
            mean = statistics.mean(x)
            half = 1.96 * statistics.stdev(x) / math.sqrt(len(x)) if len(x) > 1 else math.inf
            print(f'{what:28} {math.exp(mean):.4f} [{math.exp(mean - half):.4f}, {math.exp(mean + half):.4f}], '
                  f'least {math.exp(min(x)):.4f} of {len(x)}')


def cell_figures(figures, near, size, words, large):
    constants = [w for w in words if w.dim is None]
    for w in constants:
        if Word(1, w.order, 1) in words:
            pair = words[w], words[Word(1, w.order, 1)]
            figures.note('argument / constant', gain(*pair, range(len(pair[0]))))
    if constants:
        return
    for dim in (0, 1):
        orders = orders_of(words, dim)
        if len(orders) > 2:
            if size in large and Word(dim, 1, 1) in orders:
                figures.note('tuned / 1, large sizes', tuned(words, orders, Word(dim, 1, 1)))
            model = Word(dim, 0, 1)
            if model in words:
                loss = -tuned(words, orders, model)
                figures.note('model / tuned', loss)
                near.append(loss >= math.log(0.98))
        dies = {w for w in words if w.dim == dim and w.dies > 1}
        if dies and orders:     # the best regrouped order and the best other one, both against the same word
            base = orders[0]
            figures.note('dies (nothing to gain)', tuned(words, dies, base) - tuned(words, orders, base))


def tile_figures(figures, cells, large, by_size):
    """cells: {size: words} of one tile."""
    for dim in (None, 0, 1):
        what = 'best of both / 8 along N' if dim is None else 'tuned / 8'
        for size, x in sorted(chosen_gains(cells, dim).items()):
            figures.note(what, x)
            if dim is None:
                continue
            by_size[size].append(x)
            if size in large:
                figures.note('tuned / 8, large sizes', x)


def main():
    args, large = sys.argv[1:], []
    if args[:1] == ['--large']:
        large, args = args[1].split() if len(args) > 1 else [], args[2:]
    if not args:
        print('usage: order_figures.py [--large "M,N,K ..."] OUTDIR...', file=sys.stderr)
        return 2
    figures, near, by_size, tiles = Figures(), [], collections.defaultdict(list), collections.defaultdict(dict)
    for outdir in args:
        for (size, tile), words in sorted(sweeps_of(outdir).items()):
            cell_figures(figures, near, size, words, large)
            if any(w.order == 0 for w in words):    # a run of orders; those of regrouped ones have few
                tiles[tile][size] = words
    for cells in tiles.values():
        tile_figures(figures, cells, large, by_size)
    figures.show()
    if by_size:
        means = {size: math.exp(statistics.mean(x)) for size, x in by_size.items()}
        lowest = sorted(means, key=means.get)
        print('tuned / 8 by size, lowest: ' + ', '.join(f'{size} {means[size]:.4f}' for size in lowest[:4]) + f' of {len(means)}')
    if near:
        print(f"the model's choice is within 2% of the best order on {100 * sum(near) / len(near):.0f}% of {len(near)} cells")
    return 0


if __name__ == '__main__':
    sys.exit(main())
