#!/usr/bin/env python3
"""stream_k_choose.py N FEW.csv CANDIDATES [CSV...]: which N stream-K kernels lose least against the other kernels.

FEW.csv is few.csv of `KERNELS=CANDIDATES STEPS=few scripts/stream_k_speed.sh OUT` (further ones of other runs may follow), CANDIDATES the
file of stream-K kernels. The loss of a size is that of the best kernel chosen against the best kernel without StreamK, none where the
former is faster, all of it where none takes the size. Kernels are added one by one, and then exchanged one by one, until the mean loss
falls no further; which lines of CANDIDATES they are is printed, the mean loss as the last line of stderr.
"""
import csv
import re
import sys


def read(path):
    """[(GFlops of the best kernel without StreamK, [GFlops of each stream-K kernel])], a row for each size"""
    rows = []
    with open(path, newline="") as f:
        lines = list(csv.reader(f))
    header = []
    for line in lines:
        if line[0].startswith("#"):
            continue
        if line[0] == "GFlops":
            header = line
            continue
        plain, stream = 0.0, []
        for name, cell in zip(header, line):
            if not name.startswith("Cij"):
                continue
            speed = float(cell or 0)
            if re.search(r"_SK[123]", name):
                stream.append(max(speed, 0.0))
            else:
                plain = max(plain, speed)
        if plain > 0:
            rows.append((plain, stream))
    return rows


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    n = int(sys.argv[1])
    rows = [r for path in [sys.argv[2]] + sys.argv[4:] for r in read(path)]
    with open(sys.argv[3]) as f:
        candidates = f.read().splitlines()
    for _, stream in rows:
        if len(stream) != len(candidates):
            sys.exit(f"stream_k_choose.py: {sys.argv[2]} has {len(stream)} stream-K kernels, expected {len(candidates)}, those of {sys.argv[3]}")
    names = range(len(candidates))

    def loss(chosen):
        return sum(max(0.0, 1 - max((s[c] for c in chosen), default=0) / p) for p, s in rows) / len(rows)

    chosen = []
    while len(chosen) < min(n, len(names)):
        chosen.append(min((x for x in names if x not in chosen), key=lambda x: loss(chosen + [x])))
    best = loss(chosen)
    better = True
    while better:
        better = False
        for i in range(len(chosen)):
            for x in names:
                trial = chosen[:i] + [x] + chosen[i + 1:]
                if x not in chosen and loss(trial) < best - 1e-9:
                    chosen, best, better = trial, loss(trial), True
    for i in sorted(chosen):
        print(candidates[i])
    print(f"{len(chosen)} of {len(names)} stream-K kernels: mean loss {100 * best:.2f}% of {len(rows)} sizes, "
          f"all of them {100 * loss(names):.2f}%", file=sys.stderr)


main()
