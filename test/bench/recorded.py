#!/usr/bin/env python3
"""recorded.py OUTDIR GROUP WHAT [--rounds|--library]: the times that a run measured, as recorded.h reads them, on standard output.

GROUP is a problem type's name, for instance Cijk_Ailk_Bljk_HHS_BH. Without --rounds: all candidates of the group's plan, in their
order, on all its sizes. With --rounds: every kernel that was measured in the rounds of a search, on the sizes on which it was
measured there, those between the config's too. With --library: the candidates of the plan, as a library of a search has them, on
all these sizes: times of the last race, else those of the rounds at its clocks, as run/type_model.c has them. Exit code 2: OUTDIR has no store of measurements, or no such group."""
import math
import os
import sqlite3
import statistics
import sys

BYTES = 2  # of an element of half precision


def samples_of(text):
    """{stage of the race: ns of a launch}, and the same of its last stage: 'LAUNCHES*NS@TIME,CLOCK,..,f' (tuner/measure/result.h);
    TIME's last digits count the samples, f marks the last stage."""
    out, final = {}, {}
    for sample in text.split(" "):
        launches, rest = sample.split("*")
        ns, rest = rest.split("@")
        fields = rest.split(",")
        (final if fields[-1] == "f" else {})[int(fields[0]) % 1000] = out[int(fields[0]) % 1000] = int(ns) / int(launches)
    return out, final


def shared(x, y):
    """The stages that two kernels have in common, without the first one where there are others."""
    both = [i for i in x if i in y]
    return [i for i in both if i > 1] or both


def ratio(x, y):
    return math.exp(statistics.median(math.log(x[i] / y[i]) for i in shared(x, y)))


def race_times(store, problem, setting):
    """{kernel: ns} of one race on a size, and the kernels that were in its last stage. As measure/level.c has it: what was dropped
    early is compared with the winner in stages that both were in, and is not faster."""
    rows = """SELECT kernel, samples FROM measurement WHERE problem = ? AND setting = ?
              AND status IN ('PASSED', 'NO_CHECK') AND samples != '' ORDER BY run"""
    of = {k: samples_of(text) for k, text in store.execute(rows, (problem, setting))}
    if not of:
        return {}, set()
    all_of = {k: x for k, (x, _) in of.items()}
    last = {k for k, (_, final) in of.items() if final}
    own = {k: statistics.median((final or {i: ns for i, ns in x.items() if i > 1} or x).values()) for k, (x, final) in of.items()}
    raced = last or {k for k, x in all_of.items() if len(x) > 2} or set(of)
    winner = min(raced, key=lambda k: own[k])
    out = {winner: own[winner]}
    for k in sorted(all_of, key=lambda k: -len(shared(all_of[k], all_of[winner]))):
        both = shared(all_of[k], all_of[winner])
        if k in last and 2 * len(both) >= len(all_of[winner]):
            out[k] = own[k]
        elif both:
            out[k] = max(own[winner] * ratio(all_of[k], all_of[winner]), own[winner])
        else:
            by = [ns * ratio(all_of[k], all_of[j]) for j, ns in out.items() if shared(all_of[k], all_of[j])]
            out[k] = max(statistics.median(by) if by else own[k], own[winner])
    return out, raced


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
