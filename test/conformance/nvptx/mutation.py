#!/usr/bin/env python3
"""Does the conformance of NVIDIA texts on the CPU notice a wrong kernel? As ../amd/mutation.py, for changes of what concerns
alpha, beta, sums of parts, strides, edges and the rest of K: asynchronous copies are done at once there, so that waits are not checked.

usage: mutation.py [--build DIR] [--count N] [--family NAME,...] [--seed S] [-v]
Prints a line per family and every change that was not found; exit code 1 when there is one without a reason."""
import argparse
import concurrent.futures
import importlib.util
import multiprocessing
import os
import resource
import shutil
import sys
import time
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'amd'))     # where another module is called emulate, too
texts = importlib.util.spec_from_file_location('texts', os.path.join(HERE, 'emulate.py'))
emulate = importlib.util.module_from_spec(texts)
texts.loader.exec_module(emulate)
import cases
import equivalent
import mutate

ABOUT = ('alpha', 'beta', 'split', 'stride', 'tail', 'edge')
_ALL = {'StaggerU': 0, 'WorkGroupMapping': 2, 'KernelLanguage': 'Source'}
FAMILIES = {
    'ring': ('S', 'NT', {**_ALL, 'WorkGroup': [8, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16, 'NvRing': 1, 'PrefetchGlobalRead': 2}),
    'ring-mma': ('HHS', 'TN', {**_ALL, 'MatrixInstruction': [16, 8, 16, 1, 1, 2, 4, 2, 2], 'DepthU': 32, 'NvRing': 1,
                               'PrefetchGlobalRead': 2}),
    'registers': ('D', 'NN', {**_ALL, 'WorkGroup': [8, 8, 1], 'ThreadTile': [4, 4], 'DepthU': 16, 'NvRing': 0, 'PrefetchGlobalRead': 1}),
    'split': ('S', 'TN', {**_ALL, 'WorkGroup': [8, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16, 'NvRing': 1, 'PrefetchGlobalRead': 2,
                          **emulate.PARTS}),
}
SIZES = [*emulate.SIZES, [129, 64, 1, 200], [64, 64, 2, 48, 68, 72, 76, 77], [64, 64, 2, 40, 72, 68, 75, 80], [33, 40, 2, 35],
         [65, 33, 1, 32, 66, 68, 66, 68],
         [72, 72, 1, 48, 80, 88, 88, 96], [40, 40, 1, 40, 40, 48, 44, 46], [40, 40, 1, 40, 48, 40, 46, 44],
         [64, 64, 1, 32, 65, 72, 64, 64], [64, 64, 1, 32, 72, 65, 64, 64]]
FLAGS = ['-s', '-Wl,--build-id=none']
CPU_SECONDS = 20    # of all problems, which take two


def judge(case, answer, path, symbols, out):
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    objects = {(answer['arch'], s): path for s in symbols}
    for machine in emulate.machines():
        for i, x in enumerate(answer['launches']):
            bad = machine.run(case, answer, objects, {**x, 'size': x['size'][:4]}, i)
            if bad:
                return out.put(bad)
    return out.put(None)


def wrong(case, answer, path, symbols):
    """What is wrong with a shared object; judged in a process that may crash, and is killed when it runs on."""
    out = multiprocessing.SimpleQueue()
    p = multiprocessing.Process(target=judge, args=(case, answer, path, symbols, out))
    p.start()
    p.join(30 * CPU_SECONDS)
    if p.is_alive():
        p.kill()
        p.join()
        return 'waits for ever'
    return out.get() if p.exitcode == 0 else f'ends with {p.exitcode}'


def build(compiler, path, text, symbols):
    """The shared object's path, or None."""
    with open(path, 'w') as f:
        f.write(text)
    try:
        out = emulate.compile_text(compiler, path, symbols, FLAGS)
    except (SystemExit, ValueError):
        return None
    return None if out.startswith('compile: ') else out


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def run_family(args, name, compiler, kernels):
    """The number of changes that were not found and have no reason."""
    kind, trans, solution = FAMILIES[name]
    c = emulate.given(cases.case('sm_90', kind, trans, solution), 'k_' + name[:4], 0)
    c['sizes'], c['scalars'] = SIZES, cases.scalars(np.random.default_rng(args.seed), c, len(SIZES))
    a = kernels.make([c])[0]
    if 'file' not in a:
        raise SystemExit(f"{name}: no text: {a.get('rule') or a['error']}")
    symbols = sorted({call['symbol'] for x in a['launches'] for call in x['calls']})
    text = open(a['file']).read()
    right = build(compiler, a['file'], text, symbols)
    bad = wrong(c, a, right, symbols)
    if bad:
        raise SystemExit(f'{name}: wrong as it is: {bad}')
    folder = os.path.join(kernels.dir, name)
    os.makedirs(folder)
    n, start = dict(found=0, reason=0, survived=0), time.time()
    todo = [m for m in mutate.mutants(text) if m.about in ABOUT and 'asm' not in m.before]
    todo = mutate.sample(todo, np.random.default_rng(args.seed), 4 * args.count)

    def compiled(m):
        os.makedirs(own := os.path.join(folder, f'{zlib.crc32(m.text.encode()):08x}'), exist_ok=True)
        return build(compiler, os.path.join(own, os.path.basename(a['file'])), m.text, symbols)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        while todo and n['found'] + n['reason'] < args.count:
            some, todo = todo[:8], todo[8:]
            for m, path in zip(some, pool.map(compiled, some)):
                if not path or read(path) == read(right):
                    continue
                bad = wrong(c, a, path, symbols)
                why = None if bad else equivalent.reason(m)
                n['found' if bad else 'reason' if why else 'survived'] += 1
                if args.verbose > bool(bad) or not bad and not why:
                    print(f'{name}: line {m.line}, {m.about}, {m.function}: {m.before}\n    became {m.after or "nothing"}\n'
                          f'    {bad or why or "SURVIVED"}', flush=True)
    print(f"{name}: {n['found']} changes found, {n['reason']} make no difference for a reason, {n['survived']} survived; "
          f'{time.time() - start:.0f} s', flush=True)
    return n['survived']


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--count', type=int, default=40, help='changes of each family that make other code')
    p.add_argument('--family', default=','.join(FAMILIES))
    p.add_argument('--seed', type=int, default=1, help='other changes, and other alpha and beta')
    p.add_argument('-v', '--verbose', action='count', default=0)
    p.add_argument('--jobs', type=int, default=2)
    args = p.parse_args()
    compiler = shutil.which(os.environ.get('CXX', 'g++'))
    if not compiler:
        print('skipped: changed NVIDIA kernels on the CPU: no g++')
        return 0
    kernels = emulate.amd.Kernels(f'{args.build}/conformance/emit', None, f'{args.build}/conformance/nvptx.cache')
    try:
        return 1 if sum(run_family(args, name, compiler, kernels) for name in args.family.split(',')) else 0
    finally:
        kernels.close()


if __name__ == '__main__':
    sys.exit(main())
