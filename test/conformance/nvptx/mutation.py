#!/usr/bin/env python3
"""Does the conformance of NVIDIA texts on the CPU notice a wrong kernel? As ../amd/mutation.py, for changes of what concerns
alpha, beta, strides, edges and the rest of K: asynchronous copies are done at once there, so that waits are not checked.

usage: mutation.py [--build DIR] [--count N] [-v]
Prints a line per family and every change that was not found; exit code 1 when there is one without a reason."""
import argparse
import importlib.util
import multiprocessing
import os
import shutil
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'amd'))     # where another module is called emulate, too
texts = importlib.util.spec_from_file_location('texts', os.path.join(HERE, 'emulate.py'))
emulate = importlib.util.module_from_spec(texts)
texts.loader.exec_module(emulate)
import cases
import equivalent
import mutate

ABOUT = ('alpha', 'beta', 'stride', 'tail')
FAMILIES = {
    'ring': ('S', 'NT', {'WorkGroup': [8, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16, 'NvRing': 1, 'PrefetchGlobalRead': 2}),
    'ring-mma': ('HHS', 'TN', {'MatrixInstruction': [16, 8, 16, 1, 1, 2, 4, 2, 2], 'DepthU': 32, 'NvRing': 1, 'PrefetchGlobalRead': 2}),
    'registers': ('D', 'NN', {'WorkGroup': [8, 8, 1], 'ThreadTile': [4, 4], 'DepthU': 16, 'NvRing': 0, 'PrefetchGlobalRead': 1}),
    'split': ('S', 'TN', {'WorkGroup': [8, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16, 'NvRing': 1, 'PrefetchGlobalRead': 2,
                          **emulate.PARTS}),
}
FLAGS = ['-s', '-Wl,--build-id=none']


def judge(case, answer, path, symbols, out):
    machine = emulate.Machine(emulate.Emulator())
    objects = {(answer['arch'], s): path for s in symbols}
    bad = None
    for i, x in enumerate(answer['launches']):
        bad = bad or machine.run(case, answer, objects, {**x, 'size': x['size'][:4]}, i)
    out.put(bad)


def wrong(case, answer, path, symbols):
    """What is wrong with a shared object; judged in a process that may crash or run on."""
    out = multiprocessing.SimpleQueue()
    p = multiprocessing.Process(target=judge, args=(case, answer, path, symbols, out))
    p.start()
    p.join(60)
    if p.is_alive():
        p.kill()
        p.join()
        return 'runs on'
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
    c = emulate.given(cases.case('sm_90', kind, trans, {'StaggerU': 0, **solution, 'KernelLanguage': 'Source'}), 'k_' + name[:4], 0)
    c['sizes'], c['scalars'] = emulate.SIZES, cases.scalars(np.random.default_rng(1), c, len(emulate.SIZES))
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
    n = dict(found=0, reason=0, survived=0)
    todo = [m for m in mutate.mutants(text) if m.about in ABOUT and 'asm' not in m.before]
    for m in mutate.sample(todo, np.random.default_rng(1), 4 * args.count):
        path = build(compiler, os.path.join(folder, os.path.basename(a['file'])), m.text, symbols)
        if not path or read(path) == read(right):
            continue
        bad = wrong(c, a, path, symbols)
        why = None if bad else equivalent.reason(m)
        n['found' if bad else 'reason' if why else 'survived'] += 1
        if args.verbose or not bad and not why:
            print(f'{"found" if bad else why or "SURVIVED"} {name}: line {m.line}, {m.about}, {m.function}: {m.before}\n    became '
                  f'{m.after or "nothing"}', flush=True)
        if n['found'] + n['reason'] >= args.count:
            break
    print(f"{name}: {n['found']} changes found, {n['reason']} make no difference for a reason, {n['survived']} survived", flush=True)
    return n['survived']


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--count', type=int, default=12, help='changes of each family that make other code')
    p.add_argument('--family', default=','.join(FAMILIES))
    p.add_argument('-v', '--verbose', action='store_true')
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
