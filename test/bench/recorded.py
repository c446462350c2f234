#!/usr/bin/env python3
"""recorded.py OUTDIR GROUP WHAT [--rounds|--library]: the times that a run measured, as recorded.h reads them, on standard output.

GROUP is a problem type's name, for instance Cijk_Ailk_Bljk_HHS_BH. Without --rounds: all candidates of the group's plan, in their
order, on all its sizes. With --rounds: every kernel that was measured in the rounds of a search, on the sizes on which it was
measured there, those between the config's too. With --library: the candidates of the plan, as a library of a search has them, on
all these sizes: times of the last race, else those of the rounds at its clocks, as run/type_model.c has them. Samples of a race's stage are compared with those of the kernels that went on to the last: early samples have few
launches and cost more for each, and the clock falls later. Exit code 2: OUTDIR has no store of measurements, or no such group."""
import math
import os
import sqlite3
import statistics
import sys

BYTES = 2  # of an element of half precision


def samples_of(text):
    """{stage of the race: ns of a launch}: 'LAUNCHES*NS@TIME,CLOCK,..' (tuner/measure/result.h), TIME's last digits count them."""
    out = {}
    for sample in text.split(" "):
        launches, rest = sample.split("*")
        ns, rest = rest.split("@")
        out[int(rest.split(",")[0]) % 1000] = int(ns) / int(launches)
    return out


def late(x):
    """The median of a kernel's samples behind the first two stages."""
    return statistics.median([ns for i, ns in x.items() if i > 2] or x.values())


def race_times(store, problem, setting):
    """{kernel: ns} of one race on a size, and the kernels that were in its last stage."""
    rows = """SELECT kernel, samples FROM measurement WHERE problem = ? AND setting = ?
              AND status IN ('PASSED', 'NO_CHECK') AND samples != '' ORDER BY run"""
    samples = {k: samples_of(text) for k, text in store.execute(rows, (problem, setting))}
    if not samples:
        return {}, set()
    most = max(len(x) for x in samples.values())
    longest = [x for x in samples.values() if len(x) == most]
    level = statistics.median(late(x) for x in longest)
    stages = {i: statistics.median(x[i] for x in longest if i in x) for x in longest for i in x}
    out = {k: late(x) for k, x in samples.items() if len(x) == most}
    last = set(out)
    best = min(out.values())  # what was dropped early was not faster
    for kernel, x in samples.items():
        if kernel in out:
            continue
        known = [(i, ns) for i, ns in x.items() if i in stages and i > 1] or [(i, ns) for i, ns in x.items() if i in stages]
        if known:  # what early samples have too much is added to each launch; a higher clock is a factor
            at = (ns - stages[i] + level if stages[i] > level else ns * level / stages[i] for i, ns in known)
            out[kernel] = max(statistics.median(at), best)
    return out, last


def size_times(store, problem, settings):
    """{kernel: ns} of all races on a size; of a kernel that raced again, the first that it finished, else the last."""
    out, exact = {}, set()
    for setting in settings:
        race, last = race_times(store, problem, setting)
        out.update({k: ns for k, ns in race.items() if k not in exact})
        exact |= last
    return out


def library_times(store, problem, rounds, finals, kernels):
    """{kernel: ns} of some kernels: of the last race, and of the rounds at its level; none of these is below the race's best."""
    final = {k: ns for k, ns in size_times(store, problem, finals).items() if k in kernels}
    out = {k: ns for k, ns in size_times(store, problem, rounds).items() if k in kernels}
    both = [math.log(final[k] / ns) for k, ns in out.items() if k in final]
    level = math.exp(statistics.mean(both)) if both else 1
    least = min(final.values(), default=0)
    return {**{k: max(ns * level, least) for k, ns in out.items()}, **final}


def alignment(elements):
    return min(128, (elements * BYTES) & -(elements * BYTES))


def type_of(problem):
    return problem[1].split()[0]


def fail(text):
    print(f"recorded.py: {text}", file=sys.stderr)
    sys.exit(2)


def main():
    rounds, library = "--rounds" in sys.argv, "--library" in sys.argv
    args = [a for a in sys.argv[1:] if a not in ("--rounds", "--library")]
    if len(args) != 3 or (rounds and library):
        fail("usage: recorded.py OUTDIR GROUP WHAT [--rounds|--library]")
    path = os.path.join(args[0], "tuning.db")
    if not os.path.isfile(path):
        fail(f"'{path}': no such file, expected the store of a run")
    store = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    plan = store.execute("SELECT max(id) FROM plan WHERE grp LIKE ?", (args[1] + "%",)).fetchone()[0]
    if plan is None:
        fail(f"'{path}': no group '{args[1]}'")
    of_plan = "SELECT p.id, p.key FROM size s JOIN problem p ON p.id = s.problem WHERE s.plan = ? ORDER BY s.i"
    sizes = store.execute(of_plan, (plan,)).fetchall()
    if rounds or library:  # and those between the config's, which no plan has
        planned = {p for p, _ in sizes}
        sizes += [x for x in store.execute("SELECT id, key FROM problem ORDER BY id") if x[0] not in planned and type_of(x) == type_of(sizes[0])]
    settings = store.execute("SELECT id, key LIKE '%search=%', key LIKE '%search=-1%' FROM setting ORDER BY id").fetchall()
    of_rounds, finals = [s for s, search, _ in settings if search], [s for s, search, _ in settings if not search]
    candidates = [k for (k,) in store.execute("SELECT kernel FROM candidate WHERE plan = ? ORDER BY i", (plan,))]
    if library:
        raced = [s for s, search, copies in settings if search and not copies]
        times = {p: library_times(store, p, raced, finals, set(candidates)) for p, _ in sizes}
    else:
        times = {p: size_times(store, p, of_rounds if rounds else finals) for p, _ in sizes}
    sizes = [(p, key) for p, key in sizes if times[p]]
    numbers = dict(store.execute("SELECT kernel, numbers FROM model_kernel"))
    if rounds:
        kernels = sorted({k for t in times.values() for k in t if k in numbers})  # a peer's are none of ours
    else:
        kernels = candidates
    print(f"recorded times 1, {args[2]}\nsizes {len(sizes)}")
    for _, key in sizes:
        m, n, batch, k, ldd, _, lda, ldb = (int(x) for x in key.split()[1].split(","))
        print(m, n, batch, k, alignment(lda), alignment(ldb), alignment(ldd))
    print(f"kernels {len(kernels)}")
    for k in kernels:
        if k not in numbers:
            fail(f"'{path}': kernel {k} has no numbers of the performance model")
        print(numbers[k], ":", *(f"{times[p].get(k, 0) * 1e-3:.5g}" for p, _ in sizes))


main()
