#!/usr/bin/env python3
"""common_rounds.py OUTDIR: speeds of all solutions of a run, from samples that were taken at like clocks.

A race drops slow solutions early. The GFlops of 2_BenchmarkData are medians of what each solution has: one sample at a high
clock of a solution that was dropped, tens of them at the clock that the GPU's power allows of one that stayed, up to 15 % less.
This prints the same table (CSV: GFlops, sizes, a column of GFlops for each solution; nothing where it failed) from the rounds
alone in which all solutions of a size took part: without the first, where there are others, because it has fewer launches. A
solution that was dropped after its first sample because it is FAR times the fastest's does not end the common rounds.
Exit code 2: OUTDIR has no store of measurements."""
import csv
import os
import sqlite3
import statistics
import sys


FAR = 1.25


def samples_ns(text):
    """Time of one launch of each sample: 'LAUNCHES*NS@TIME,CLOCK,..' (tuner/measure/result.h)."""
    for sample in text.split(" "):
        launches, ns = sample.split("@")[0].split("*")
        yield int(ns) / int(launches)


def main():
    if len(sys.argv) != 2:
        print("usage: common_rounds.py OUTDIR", file=sys.stderr)
        sys.exit(2)
    path = os.path.join(sys.argv[1], "tuning.db")
    if not os.path.isfile(path):
        print(f"common_rounds.py: '{path}': no such file, expected the store of a run", file=sys.stderr)
        sys.exit(2)
    store = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    out = csv.writer(sys.stdout, lineterminator="\n")
    for (plan,) in store.execute("SELECT max(id) FROM plan GROUP BY grp ORDER BY 1").fetchall():
        names = store.execute("SELECT kernel, name FROM candidate WHERE plan = ? ORDER BY i", (plan,)).fetchall()
        out.writerow(["GFlops", "SizeI", "SizeJ", "SizeK", "SizeL"] + [name for _, name in names])
        sizes = "SELECT p.id, p.key, p.flops FROM size s JOIN problem p ON p.id = s.problem WHERE s.plan = ? ORDER BY s.i"
        for problem, key, flops in store.execute(sizes, (plan,)).fetchall():
            rows = """SELECT kernel, samples FROM measurement
                      WHERE problem = ? AND status IN ('PASSED', 'NO_CHECK') AND samples != '' ORDER BY run"""
            times = {kernel: list(samples_ns(text)) for kernel, text in store.execute(rows, (problem,))}
            times = {kernel: times[kernel] for kernel, _ in names if kernel in times}
            if not times:
                continue
            first = min(ns[0] for ns in times.values())
            common = min([len(ns) for ns in times.values() if ns[0] < FAR * first])
            speed = {k: flops / statistics.median(ns[common > 1 : common] or ns[:1]) for k, ns in times.items()}
            size = key.split()[1].split(",")[:4]
            out.writerow([""] + size + [f"{speed[k]:.0f}" if k in speed else "" for k, _ in names])


main()
