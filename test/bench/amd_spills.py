#!/usr/bin/env python3
"""How many solutions of foreign logic are left out, and how many kernels of the others spill registers.

usage: amd_spills.py LOGIC --architecture gfx942 [--sample 300] [--seed 1] [--jobs 1] [--compiler clang-19]
                     [--build build] [--only REGEX] [--list] [--work DIR] [--minutes M]
LOGIC: a folder of logic files, such as one of rocBLAS's. tuner-createlib writes the texts of all kernels into DIR
and says what it leaves out; a sample of the texts is compiled. The sample is stratified: problem types and sizes of
macro tiles have their shares. Prints a table by data types. --list also prints the kernels that spill.
Answers of the compiler are kept in DIR by the hash of text and compiler."""
import argparse
import collections
import concurrent.futures
import csv
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

NAME = re.compile(r'^(C\w*?_A\w+?_B[a-z]+C?)_(.+?)_MT(\d+)x(\d+)x(\d+)')


def stratum(name):
    """(types, problem type, class of size) of a kernel's file name; None for helper kernels."""
    m = NAME.match(name)
    if not m:
        return None
    area, size = int(m[3]) * int(m[4]), 0
    while area > 1024 << size:
        size += 2
    return m[2], m[1] + '_' + m[2], size


def sampled(names, n, seed):
    """n of the names: every so many-th in the order of problem types and sizes, so that each has its share. In
    random order, so that a run that ends early has a sample, too."""
    rng = random.Random(seed)
    order = sorted(names)
    rng.shuffle(order)
    order.sort(key=lambda name: stratum(name)[1:])
    n = min(n, len(order))
    start = rng.random()
    out = [order[int((start + i) * len(order) / n)] for i in range(n)]
    rng.shuffle(out)
    return out


def facts(compiler, arch, path, cache):
    """Registers and spills of a text's kernel, by the compiler's own assembly; error: what it said."""
    with open(path, 'rb') as f:
        text = f.read()
    # as build/toolchain_rows.c has it
    marked = b'/* sums fill the accumulation registers */' in text
    extra = ['-mllvm', '-greedy-reverse-local-assignment=1'] if marked else []
    key = hashlib.sha256(b'\0'.join([text, arch.encode(), compiler.encode(), *[x.encode() for x in extra]])).hexdigest()[:32]
    kept = os.path.join(cache, key + '.json')
    if os.path.exists(kept):
        with open(kept) as f:
            return json.load(f)
    r = subprocess.run([compiler, '-x', 'hip', f'--offload-arch={arch}', '--offload-device-only', '-nogpulib',
                        '-nogpuinc', '-O3', '-std=c++17', *extra, '-S', path, '-o', '-'], capture_output=True, text=True)
    found = {k: [int(x) for x in re.findall(r'\.' + k + r':\s+(\d+)', r.stdout)]
             for k in ('vgpr_spill_count', 'sgpr_spill_count', 'private_segment_fixed_size', 'vgpr_count',
                       'agpr_count', 'group_segment_fixed_size')}
    out = {k: max(v) for k, v in found.items() if v}
    if r.returncode or 'vgpr_spill_count' not in out:
        out = {'error': (r.stderr.splitlines() or ['?'])[0][:200]}
    with open(kept, 'w') as f:
        json.dump(out, f)
    return out


def types_of(name):
    """Data types in the name of a kernel or solution: HHS, SB, ... without what follows B or H."""
    m = NAME.match(name)
    return re.sub(r'_BH.*|_GB$', '', m[2]) if m else '?'


def left_out(report):
    """What createlib leaves out: {types: Counter of reasons}."""
    gone = collections.defaultdict(collections.Counter)
    with open(report, newline='') as f:
        for row in csv.DictReader(f):
            if row['outcome'] == 'left out':
                gone[types_of(row['solutionName'])][re.sub(r'\d+', 'N', row['reason'].split(':')[0])] += 1
    return gone


def write_texts(args, work):
    """Runs createlib; prints its last line but one, the count of all solutions."""
    r = subprocess.run([os.path.join(args.build, 'bin', 'tuner-createlib'), '--generate-sources-and-exit',
                        args.logic, work, 'HIP', '--architecture', args.architecture, '-j', str(args.jobs)],
                       capture_output=True, text=True)
    if r.returncode not in (0, 3):
        raise SystemExit(r.stderr.strip().splitlines()[-1])
    print(next(line for line in (r.stdout + r.stderr).splitlines() if ' logic files, ' in line))


def table(names, answers, gone):
    every, sample, spills, most = (collections.Counter() for _ in range(4))
    for name in names:
        every[types_of(name)] += 1
    for name, a in answers.items():
        t = types_of(name)
        sample[t] += 1
        n = a.get('vgpr_spill_count', 1)
        spills[t] += n > 0
        most[t] = max(most[t], n)
    print('\n| types | kernels | left out | why | compiled | spill | most spilled |')
    print('| --- | --- | --- | --- | --- | --- | --- |')
    for t in sorted(set(every) | set(gone)):
        why = ', '.join(f'{r} {n}' for r, n in sorted(gone[t].items()))
        print(f'| {t} | {every[t]} | {sum(gone[t].values())} | {why} | {sample[t]} | {spills[t]} | {most[t] or ""} |')
    lost = sum(sum(c.values()) for c in gone.values())
    n, all_spills = sum(sample.values()), sum(spills.values())
    print(f'| all | {len(names)} | {lost} | | {n} | {all_spills} | |')
    share = 100 * all_spills / max(n, 1)
    print(f'\nleft out {100 * lost / max(1, lost + len(names)):.2f} %, spilling {share:.2f} % of the sample')


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('logic')
    p.add_argument('--architecture', required=True)
    p.add_argument('--sample', type=int, default=300)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--jobs', type=int, default=1)
    p.add_argument('--compiler', default='clang-19')
    p.add_argument('--build', default='build')
    p.add_argument('--only', default='', help='kernels whose names this regular expression finds')
    p.add_argument('--minutes', type=float, default=1e9, help='no compiler is started later')
    p.add_argument('--list', action='store_true')
    p.add_argument('--work', default='')
    args = p.parse_args()
    work = args.work or tempfile.mkdtemp(prefix='amd-spills.')
    cache = os.path.join(work, 'facts')
    os.makedirs(cache, exist_ok=True)
    texts = os.path.join(work, 'Kernels')
    for old in os.listdir(texts) if os.path.isdir(texts) else []:
        os.unlink(os.path.join(texts, old))
    write_texts(args, work)
    names = [n for n in os.listdir(texts) if stratum(n) and re.search(args.only, n)]
    chosen = sampled(names, args.sample, args.seed)
    end = time.time() + 60 * args.minutes

    def one(name):
        if time.time() < end:
            return facts(args.compiler, args.architecture, os.path.join(texts, name), cache)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        answers = {n: a for n, a in zip(chosen, pool.map(one, chosen)) if a}
    if args.list:
        for n, a in sorted(answers.items()):
            if a.get('vgpr_spill_count', 1):
                print(n, a)
    gone = left_out(os.path.join(work, 'library', 'TensileCreateLibrary.report.csv'))
    table(names, answers, gone)
    return 0


if __name__ == '__main__':
    sys.exit(main())
