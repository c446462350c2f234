#!/usr/bin/env python3
"""Does the emulated conformance notice a wrong kernel? Texts of each family are changed in one place (mutate.py), compiled and
run on the problems that the conformance test gives such a kernel; a change that no problem shows is a hole in the test.

usage: mutation.py [--build DIR] [--count N] [--family NAME,...] [--seed S] [--short] [-v]
Changes that make the same code or none are passed over. What survives must stand in equivalent.py with its reason. Prints a
line per family and every survivor without a reason; exit code 1 when there is one, or a named change is not found. Needs
AMDEMU_DIR and TINYGRAD_DIR, clang 19."""
import argparse
import collections
import concurrent.futures
import os
import re
import sys
import time
import zlib

import numpy as np

import cases
import emulate
import equivalent
import mutate
from run import newest_clang

_VALU = {'WorkGroup': [8, 16, 1], 'ThreadTile': [4, 2], 'DepthU': 8, 'KernelLanguage': 'Source', 'EdgeType': 'ShiftPtr',
         'VectorWidth': 2, 'GlobalLoadVectorWidthA': 2, 'GlobalLoadVectorWidthB': 2, 'WorkGroupMapping': 2, 'StaggerU': 4}
_MFMA = {'MatrixInstruction': [16, 16, 16, 1, 1, 2, 2, 2, 2], 'DepthU': 32, 'KernelLanguage': 'Assembly', 'WorkGroup': [16, 16, 1],
         'ThreadTile': [4, 4], 'GlobalReadVectorWidth': 4, 'VectorWidth': 1, 'WorkGroupMapping': 2, 'StaggerU': 4}
_WMMA = {**_MFMA, 'WavefrontSize': 32, 'StoreVectorWidth': 1}


def _split(parts, how, **more):
    return {'GlobalSplitU': parts, 'GlobalSplitUAlgorithm': how, 'MinKForGSU': 16, **more}


# Name: architecture, data type, transposes, solution, keys of the problem type, whose text is changed
FAMILIES = {
    'valu': ('gfx906', 'S', 'NT', _VALU, {}, 'main'),
    'pointers': ('gfx1030', 'D', 'TN', {**_VALU, 'DepthU': 16, 'BufferLoad': False, 'BufferStore': False}, {}, 'main'),
    'complex': ('gfx90a', 'C', 'CN', {**_VALU, 'VectorWidth': 1, 'GlobalLoadVectorWidthA': 1, 'GlobalLoadVectorWidthB': 1}, {}, 'main'),
    'mfma': ('gfx90a', 'HHS', 'NN', _MFMA, {}, 'main'),
    'mfma-swapped': ('gfx942', 'BBS', 'TN', {**_MFMA, 'SourceSwap': True, 'TransposeLDS': 1, 'PrefetchGlobalRead': 2,
                                             'GlobalReadVectorWidth': 8}, {}, 'main'),
    'wmma': ('gfx1100', 'HHS', 'TN', _WMMA, {}, 'main'),
    'dot': ('gfx906', '4xi8', 'TN', _VALU, {}, 'main'),
    'dot2': ('gfx906', 'HHS', 'NT', {**_VALU, 'KernelLanguage': 'Assembly', 'DepthU': 16, 'InnerUnroll': 2, 'LocalDotLayout': 2}, {},
             'main'),
    'gsu-atomic': ('gfx90a', 'S', 'NN', {**_VALU, **_split(3, 'SingleBuffer')}, {}, 'main'),
    'gsu-cas': ('gfx906', 'S', 'NN', {**_VALU, **_split(2, 'SingleBuffer', GlobalSplitUWorkGroupMappingRoundRobin=True)}, {},
                'main'),
    'gsu-buffers': ('gfx906', 'S', 'NN', {**_VALU, **_split(3, 'MultipleBuffer')}, {}, 'main'),
    'gsu-half': ('gfx90a', 'HHS', 'NN', {**_MFMA, **_split(2, 'SingleBuffer')}, {}, 'main'),
    'lsu': ('gfx1030', 'S', 'NN', {**_VALU, 'WorkGroup': [8, 8, 4], 'DepthU': 16}, {}, 'main'),
    'lsu-mfma': ('gfx90a', 'HHS', 'NT', {**_MFMA, 'MatrixInstruction': [16, 16, 16, 1, 1, 1, 2, 1, 2], 'WorkGroup': [16, 16, 2],
                                         'DepthU': 64}, {}, 'main'),
    'persistent': ('gfx906', 'S', 'NT', {**_VALU, 'PersistentKernel': 1, 'PersistentKernelAlongBatch': True}, {}, 'main'),
    'batches': ('gfx90a', 'D', 'NN', _VALU, {'StridedBatched': False}, 'main'),
    'beta-only': ('gfx90a', 'S', 'NN', {**_VALU, **_split(2, 'SingleBuffer')}, {}, 'beta_only'),
    'post-gsu': ('gfx90a', 'HHS', 'NN', {**_MFMA, **_split(3, 'MultipleBuffer')}, {}, 'post_gsu'),
}
# What make check looks for: changes by name, in the family's text exactly or by a pattern that must be there.
NAMED = [
    ('valu', 'beta is negated', r'\bo\.beta = ', 'o.beta = -'),
    ('valu', 'alpha is ignored', r'(?:g_mul\(o\.alpha|g_scaled\(o), (g_acc_get\(acc, b \+ e(?: \+ q)?\))\)',
     r'\1'),
    ('valu', 'alpha and beta change places', r'o\.alpha = g_from_s\(alpha\);([\s\S]*?)o\.beta = g_from_s\(beta\);',
     r'o.alpha = g_from_s(beta);\1o.beta = g_from_s(alpha);'),
    ('pointers', 'one column too many', r't\.n0 \+ r < t\.n \? t\.n0 \+ r : ~0u', 't.n0 + r <= t.n ? t.n0 + r : ~0u'),
    ('valu', 'one row too many', r'\(at < t\.m\)', '(at <= t.m)'),
    ('valu', 'no barrier', r'asm volatile\("s_waitcnt lgkmcnt\(0\)\\n\\ts_barrier"', 'asm volatile("s_waitcnt lgkmcnt(0)"'),
    ('mfma', 'no wait before the barrier', r's_waitcnt lgkmcnt\(0\)\\n\\ts_barrier', 's_barrier'),
    ('mfma', 'C is read as D lies', r'\bo\.ldc = ldc;', 'o.ldc = ldd;'),
    ('mfma', 'one element of K too many', r'k < t\.k \? from', 'k <= t.k ? from'),
    ('gsu-buffers', 'parts share a buffer', r'\(unsigned long long\)part \* ', '0ull * '),
    ('lsu', 'one part of the sum is left out', r'for \(int l = 1; l < 4; l\+\+\)', 'for (int l = 1; l < 3; l++)'),
    ('post-gsu', 'the first part counts twice', r'g < gsu', 'g + 1 < gsu'),
]


class Limited(emulate.Machine):
    """A machine that forgets code objects and gives up early: most endless loops are seen at once."""
    limit = 3_000_000

    def object(self, path, arch):
        self.loaded = {p: o for p, o in self.loaded.items() if p == path or p in self.kept}
        return super().object(path, arch)

    kept = frozenset()


class Family:
    """A kernel of a family, its problems, and what is right without a change."""

    def __init__(self, name, kernels, n_sizes, seed=0):
        arch, kind, trans, solution, more, whose = FAMILIES[name]
        self.name, self.kernels, self.rng = name, kernels, np.random.default_rng(zlib.crc32(name.encode()) + seed)
        solution = {'StaggerUStride': max(32, solution['DepthU'] * cases.bytes_of(kind)), **solution}
        c = cases.case(arch, kind, trans, solution, **more)
        c.update(name=re.sub(r'\W', '_', name), cus=4)
        a = kernels.make([c])[0]
        if 'file' not in a:
            raise SystemExit(f"{name}: no text: {a.get('rule') or a['error']}")
        c['sizes'] = cases.sizes(self.rng, c, a['tile'], n_sizes)
        c['scalars'] = cases.scalars(self.rng, c, n_sizes)
        self.case, self.answer = c, kernels.make([c])[0]
        self.objects = kernels.compile(kernels.texts([self.answer]))
        calls = [call for x in self.answer['launches'] for call in x['calls']]
        roles = {call['symbol']: call['role'] for call in calls}
        self.symbols = [s for s, role in roles.items() if role == whose]
        if not self.symbols:
            raise SystemExit(f'{name}: no launch of {whose}')
        self.paths = {s: self.answer['helpers'].get(s, self.answer['file']) for s in self.symbols}
        self.texts = {s: open(p).read() for s, p in self.paths.items()}
        self.seeds = [int(x) for x in self.rng.integers(1 << 30, size=n_sizes)]

    def object_of(self, symbol):
        return self.objects[(self.answer['arch'], symbol, self.paths[symbol])]

    def all(self):
        """(symbol, change) of the texts of the family."""
        return [(s, m) for s in self.symbols for m in mutate.mutants(self.texts[s])]

    def sample(self, n):
        """Changes in the order in which they are tried: as many about each thing as there are."""
        every = self.all()
        by = {id(m): s for s, m in every}
        return [(by[id(m)], m) for m in mutate.sample([m for _, m in every], self.rng, n)]

    def named(self):
        """[(name, symbol, changed text)]; the name alone when the text has no such place."""
        out = []
        for family, name, pattern, to in NAMED:
            if family != self.name:
                continue
            found = [(name, s, re.sub(pattern, to, t)) for s, t in self.texts.items() if re.search(pattern, t)]
            out += found or [(name, None, None)]
        return out

    def compile(self, symbol, text):
        """The changed code object; None when it does not compile or is unchanged."""
        path = os.path.join(self.kernels.dir, f'{self.name}_{zlib.crc32(text.encode()):08x}.hip')
        with open(path, 'w') as f:
            f.write(text)
        out, _ = self.kernels.compile_one(self.answer['arch'], [path])
        if not out:
            return None
        with open(out, 'rb') as x, open(self.object_of(symbol), 'rb') as y:
            return None if x.read() == y.read() else out

    def wrong(self, machine, symbol=None, path=None):
        """What the problems show of a changed kernel: None, or the first thing that is wrong."""
        objects = dict(self.objects)
        if symbol:
            for key in list(objects):
                if key[:2] == (self.answer['arch'], symbol):
                    objects[key] = path
        machine.kept = frozenset(self.objects.values())
        for seed, launch in zip(self.seeds, self.answer['launches']):
            bad = machine.run(self.case, self.answer, objects, launch, seed)
            if bad:
                return bad
        return None


def describe(m):
    return f'line {m.line}, {m.about}: {m.before}\n    became {m.after or "nothing"}'


def run_family(args, family, machine, totals):
    """Counts what is found among a sample; prints and returns the survivors without a reason."""
    start, count, left = time.time(), collections.Counter(), []
    bad = family.wrong(machine)
    if bad:
        raise SystemExit(f'{family.name}: wrong as it is: {bad}')
    todo = family.sample(1 << 30 if args.all else 4 * args.count)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        while todo and (args.all or count['found'] + count['with a reason'] < args.count):
            some, todo = todo[:16], todo[16:]
            for (symbol, m), path in zip(some, pool.map(lambda x: family.compile(x[0], x[1].text), some)):
                if not path:
                    count['no other code'] += 1
                    continue
                bad = family.wrong(machine, symbol, path)
                os.remove(path)
                reason = None if bad else equivalent.reason(m)
                count['found' if bad else 'with a reason' if reason else 'survived'] += 1
                if args.verbose and not (bad and args.verbose < 2):
                    print(f'{family.name}: {describe(m)}\n    {bad or reason or "SURVIVED"}'[:600], flush=True)
                if not bad and not reason:
                    left.append(m)
    totals.update(count)
    print(f"{family.name}: {count['found']} changes found, {count['with a reason']} make no difference for a reason, "
          f"{count['survived']} survived ({count['no other code']} without other code); {time.time() - start:.0f} s", flush=True)
    for m in left:
        print(f'SURVIVED {family.name}: {describe(m)}', flush=True)
    return left


def run_named(family, machine):
    """(changes that were found, what is to be said of the others)"""
    n, out = 0, []
    for name, symbol, text in family.named():
        path = symbol and family.compile(symbol, text)
        if not path:
            out.append(f'{family.name}: {name}: ' + ('the text has no such place' if not symbol else 'this changes no code'))
        elif not family.wrong(machine, symbol, path):
            out.append(f'{family.name}: {name}: not found')
        else:
            n += 1
    return n, out


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--count', type=int, default=40, help='changes of each family that make other code')
    p.add_argument('--all', action='store_true', help='every change')
    p.add_argument('--family', default=','.join(FAMILIES))
    p.add_argument('--seed', type=int, default=0, help='other problems and other changes')
    p.add_argument('--sizes', type=int, default=13, help='problems of a kernel')
    p.add_argument('--jobs', type=int, default=2)
    p.add_argument('--short', action='store_true', help='the slice of make check: changes by name')
    p.add_argument('-v', '--verbose', action='count', default=0)
    return p.parse_args()


def main():
    args = arguments()
    emu, why = emulate.load_emulator()
    compiler, version = newest_clang()
    if not emu or version < 19:
        print(f'skipped: changed AMD kernels on the emulator: {why or "no clang 19 or newer"}')
        return 0
    names = args.family.split(',')
    if args.short:
        names = [n for n in names if any(n == row[0] for row in NAMED)]
    kernels = emulate.Kernels(f'{args.build}/conformance/emit', compiler, f'{args.build}/conformance/amd.cache', batch=1,
                              # so that equal code makes equal files, and what is not set is no number
                              flags=['-fuse-cuid=none', '-ftrivial-auto-var-init=pattern'])
    machine, totals, left, found = Limited(emu), collections.Counter(), [], 0
    try:
        for name in names:
            family = Family(name, kernels, args.sizes, args.seed)
            n, missing = run_named(family, machine)
            found, left = found + n, left + missing
            if missing:
                print('\n'.join(missing), flush=True)
            if not args.short:
                left += run_family(args, family, machine, totals)
    finally:
        kernels.close()
    if args.short:
        print(f'{found} of {found + len(left)} changes of {len(names)} kernels found')
    else:
        print(f"{totals['found'] + found} changes of {len(names)} families found, {totals['with a reason']} make no difference for "
              f'a reason, {len(left)} not found')
    return 1 if left else 0


if __name__ == '__main__':
    sys.exit(main())
