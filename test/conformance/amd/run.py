#!/usr/bin/env python3
"""AMD kernels on the emulator: builds and runs every family and random points of the parameter space.

usage: run.py [--build DIR] [--count N] [--seed S] [--arch gfx90a,...] [--families] [--walks] [--short] [--compiler hipcc] [-v]
Prints a line per architecture, every failure with its case, and a summary; exit code 1 when a kernel failed.
Needs AMDEMU_DIR and TINYGRAD_DIR, clang; prints what it skips without them."""
import argparse
import collections
import os
import re
import shutil
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import cases
import emulate
import progress
import walks


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--count', type=int, default=60, help='random kernels per architecture')
    p.add_argument('--sizes', type=int, default=13, help='problem sizes per kernel')
    p.add_argument('--seed', type=int, default=None)
    p.add_argument('--arch', default=None)
    p.add_argument('--kinds', default='', help='data types: S,HHS,...')
    p.add_argument('--families', action='store_true', help='one kernel of each family as well')
    p.add_argument('--walks', action='store_true', help='persistent and stream-K kernels only')
    p.add_argument('--config', action='append', default=[], help='kernels of a Tensile config alone: --count of all, 0: all')
    p.add_argument('--having', default='', help='only kernels in which a parameter of this beginning is not 0')
    p.add_argument('--short', action='store_true', help='the slice of make check: few kernels, prints failures only')
    p.add_argument('--compiler', default=None, help='clang-19, hipcc, ... (default: the newest clang)')
    p.add_argument('--cache', default=None)
    p.add_argument('-v', '--verbose', action='store_true')
    return p.parse_args()


def newest_clang():
    for v in range(25, 14, -1):
        if shutil.which(f'clang-{v}'):
            return f'clang-{v}', v
    return None, 0


def has(case, beginning):
    """A parameter whose name begins so is not 0, DepthULdsDivisor not 1; '': always."""
    return not beginning or any(v and (k, v) != ('DepthULdsDivisor', 1) for k, v in case['solution'].items() if k.startswith(beginning))


def legal(cases_of_config, emit, rng, need):
    """`need` of the cases that have a text, in random order; 0: all cases."""
    order, out = [cases_of_config[i] for i in rng.permutation(len(cases_of_config))], []
    if not need:
        return order
    for i in range(0, len(order), 500):
        batch = order[i:i + 500]
        for j, c in enumerate(batch):
            c['name'] = f'legal{i + j}'
        out += [c for c, a in zip(batch, emit.make(batch)) if 'file' in a]
        if len(out) >= need:
            break
    return out[:need]


def wanted(args, arch, rng, emit):
    """Cases with text: families first, then random ones until there are enough. Also why others were refused."""
    kinds = args.kinds.split(',') if args.kinds else cases.kinds(arch)
    source = walks if args.walks else cases
    given = [c for c in cases.families(arch) if c['kind'] in kinds] if args.families or args.short else []
    if args.short:
        given = [given[i] for i in rng.choice(len(given), 3, replace=False)]
    need = args.count
    if args.config:
        given = [c for path in args.config for c in walks.of_config(path, arch)]
        given = legal([c for c in given if has(c, args.having)], emit, rng, need)
        source, need = walks, 0
    out, why, serial = [], collections.Counter(), 0
    for attempt in range(60):
        parts = {'parts': True} if args.having.startswith('DepthULds') and not args.walks else {}
        more = [source.random_case(rng, arch, kinds, **parts) for _ in range(min(20 * need, 800))]
        batch = given + [c for c in more if has(c, args.having)]
        if not batch:
            continue
        for c in batch:
            serial += 1
            c['name'] = f'k{serial}_{arch}'
        answers = emit.make(batch)
        for i, (c, a) in enumerate(zip(batch, answers)):
            if 'file' not in a:
                why[a.get('rule') or a['error']] += 1
            elif i < len(given) or need > 0:
                need -= i >= len(given)
                c['sizes'] = source.sizes(rng, c, a['tile'], args.sizes)
                c['scalars'] = cases.scalars(rng, c, args.sizes)
                if c['solution'].get('AtomicAddC'):     # its predicates ask for beta 1 and C in D
                    c['scalars'] = [[alpha, 1] for alpha, _ in c['scalars']]
                    c['sizes'] = [s[:5] + [s[4]] + s[6:] for s in map(list, c['sizes'])]
                out.append(c)
        given = []
        if need <= 0:
            break
    return out, why


def short_name(c):
    """What a kernel is, for people."""
    s = c['solution']
    shape = 'MI' + 'x'.join(map(str, s['MatrixInstruction'][:4])) if s.get('MatrixInstruction') else 'VALU'
    return f"{c['kind']} {c['trans']} {shape}"


def run_arch(args, arch, compiler, emu, rng, totals, say):
    start = time.time()
    cache = args.cache or os.path.join(args.build, 'conformance', 'amd.cache')
    emit = emulate.Kernels(os.path.join(args.build, 'conformance', 'emit'), compiler, cache)
    machine = emulate.Machine(emu)
    try:
        todo, why = wanted(args, arch, rng, emit)
        answers = emit.make(todo)
        objects = emit.compile(emit.texts(answers), lambda groups, n: progress.each(groups, f'{arch}: compile', n, args.short))
        failed, runs, kernels, skipped = 0, 0, collections.Counter(), collections.Counter()
        for c, a in progress.each(zip(todo, answers), arch, len(todo), args.short):
            bad = a.get('error')
            for i, launch in enumerate(a.get('launches', [])):
                bad = bad or machine.run(c, a, objects, launch, args.seed + i)
                runs += 1
                if bad and bad.startswith('not emulated: '):
                    break
                if bad:
                    print(f"FAILED {arch} {short_name(c)}: {bad}\n  size {launch['size']}, alpha and beta "
                          f"{launch['scalars']}: {emulate.flow(c)}", flush=True)
                    break
            if bad and bad.startswith('not emulated: '):
                skipped[re.sub(r'\(.*', '', bad)] += 1
                continue
            failed += bool(bad)
            kernels[c['kind']] += not bad
            totals[(arch, c['kind'])][bool(bad)] += 1
        n = len(todo) - sum(skipped.values())
        by = ', '.join(f'{k} {n}' for k, n in kernels.items())
        say(f'{arch}: {n - failed} of {n} kernels right on {runs} problems ({by}); '
              f'{machine.instructions / 1e6:.1f} M wave instructions, {time.time() - start:.0f} s', flush=True)
        for what, count in skipped.items():
            say(f'  {count} kernels skipped, {what}')
        if args.verbose:
            for name, n in why.most_common(12):
                say(f'  {n:6} {name}')
        return failed
    finally:
        emit.close()


def main():
    args = arguments()
    emu, why = emulate.load_emulator()
    if not emu:
        print(f'skipped: AMD kernels on the emulator: {why}')
        return 0
    compiler, version = newest_clang()
    if args.compiler:
        number = re.search(r'-(\d+)$', args.compiler)
        compiler, version = args.compiler, int(number[1]) if number else 0
    if not compiler:
        print('skipped: AMD kernels on the emulator: no clang from version 15 on')
        return 0
    if args.seed is None:
        args.seed = int(time.time())
    arches = args.arch.split(',') if args.arch else walks.ARCHES if args.walks else cases.ARCHES
    if args.short:
        args.count, args.sizes = 2, 3
        if version < 19:
            print(f'skipped: AMD kernels on the emulator: clang 19 or newer is needed for all processors, not {compiler}')
            return 0
    say = (lambda *text, **how: None) if args.short else print
    say(f'seed {args.seed}, {compiler}')
    totals, failed = collections.defaultdict(lambda: [0, 0]), 0
    for arch in arches:
        if version < emulate.LEAST_CLANG.get(arch, 0):
            say(f'skipped: {arch}: needs clang {emulate.LEAST_CLANG[arch]} or newer, not {compiler}')
            continue
        failed += run_arch(args, arch, compiler, emu, np.random.default_rng(args.seed + int(arch[3:], 16)), totals, say)
    if args.short:
        print(f'{failed} kernels failed')
        return 1 if failed else 0
    kinds = list(cases.PROBLEMS)
    print('right/built ' + ''.join(f'{k:>8}' for k in kinds))
    for arch in arches:
        row = [totals[(arch, k)] for k in kinds]
        print(f'{arch:12}' + ''.join(f'{f"{r[0]}/{sum(r)}" if sum(r) else "-":>8}' for r in row))
    ok, bad = sum(r[0] for r in totals.values()), sum(r[1] for r in totals.values())
    print(f'{ok} of {ok + bad} kernels right')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
