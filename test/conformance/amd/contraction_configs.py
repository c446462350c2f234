#!/usr/bin/env python3
"""Tensile's configs for contractions and convolutions (data/tensile/config-contraction): kernels of every one on the emulator, and host
kernels of their problem types on the CPU.

usage: contraction_configs.py [--build DIR] [--config FILE...]
Of each problem type COUNT permutations that have a text, drawn by SEED (environment; 3, 1). Sizes are small and fit what the solution
asserts. That the configs fork, name and list sizes as Tensile's is what test_config and golden/list_counts say. Prints each error and a
line of counts. Exit code 1 when something is wrong."""
import copy
import glob
import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys

import numpy as np

import contraction
import conv
import convolve
import emulate
import frame
import library
import run

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../nvptx'))
CONFIGS = os.path.join(HERE, '../../data/tensile/config-contraction/*.yaml')
HOST = {'EdgeType': 'ShiftPtr', 'WorkGroup': [4, 8, 1], 'ThreadTile': [8, 4], 'VectorWidth': 4, 'DepthU': 16}
ARCHS = 'gfx906', 'gfx90a'


def permutations(group):
    """The solutions of a size group, as dictionaries."""
    common = {k: v[0] for p in group.get('BenchmarkCommonParameters') or [] for k, v in p.items()}
    forks = [(k, v) for p in group.get('ForkParameters') or [] for k, v in p.items()]
    for values in itertools.product(*[v for _, v in forks]):
        s = {**common, **dict(zip([k for k, _ in forks], values))}
        yield {k: int(v) if k.startswith('Prefetch') else v for k, v in s.items()}      # once True and False


def strides(problem, s, name, sizes, list_):
    """Those of a tensor: what the problem type fixes or the solution asserts, a first one of 2 where it may be anything."""
    given = {list_.index(i): v for i, v in problem.get(f'SetConstStride{name.upper()}') or [] if i in list_}
    given.update({int(k): v for k, v in (s.get(f'AssertStride{name.upper()}Equal') or {}).items()})
    if name in 'ab' and problem.get('UseInitialStridesAB') or name in 'cd' and problem.get('UseInitialStridesCD'):
        given.setdefault(0, 2)
    return contraction.packed(sizes, list_, given)


def of_contraction(rng, arch, problem, s):
    lists = {'a': problem['IndexAssignmentsA'], 'b': problem['IndexAssignmentsB'], 'c': list(range(problem['NumIndicesC']))}
    lists['d'] = lists['c']
    n = 1 + max(lists['a'] + lists['b'])
    multiple = max([v for k, v in s.items() if k.startswith('AssertFree')] + [1])
    sizes = [int(rng.integers(1, 7)) * multiple if i < problem['NumIndicesC'] else int(rng.integers(2, 6)) for i in range(n)]
    sizes[0] += 30 // multiple * multiple
    for i, v in (s.get('AssertSizeEqual') or {}).items():
        sizes[int(i)] = v
    size = {'sizes': sizes, 'pads': [], **{x: strides(problem, s, x, sizes, l) for x, l in lists.items()}}
    return {'arch': arch, 'kind': 'S', 'problem': problem, 'solution': s, 'apart': True, 'sizes': [size],
            'scalars': [[0.5, 2] if problem.get('UseBeta', True) else [1, 0]]}


def of_convolution(arch, problem, s):
    """The same of a convolution, whose output has 8 x 4 positions, and its case for conv.py."""
    config = {k: v for p in problem['ConvolutionConfig'] for k, v in p.items()}
    numbers = {k: [int(x) for x in str(config.get(k, '1x1')).replace('N', '3').split('x')] for k in ('Filter', 'Stride', 'Dilation')}
    pad = 1 if 'PadStart' in config else 0
    image = [(o - 1) * u + (y - 1) * d + 1 - 2 * pad for o, u, y, d in zip((8, 4), numbers['Stride'], numbers['Filter'], numbers['Dilation'])]
    x = convolve.Conv(2, 8, 12, image, numbers['Filter'], numbers['Stride'], numbers['Dilation'], pad)
    direction = next(k for k, v in convolve.DIRECTIONS.items() if v == problem['OperationType'])
    image_format = config.get('TensorAFormat', 'NCHW')
    formats = [image_format, config.get('TensorBFormat', convolve.FILTERS[image_format]), config.get('TensorDFormat', image_format)]
    entry = {'arch': arch, 'problem': problem, 'solution': s, 'apart': True, 'sizes': [x.letters()], 'scalars': [[1, 0]]}
    return entry, {'runs': [('', x, 0)], 'direction': direction, 'formats': formats, 'kind': 'S', 'alpha': 1, 'image': image_format,
                   'tolerance': 1e-5, 'problem': problem, 'bias_per_image': False}


def of_indices(rng, arch, problem, s, name):
    """A convolution whose config has sizes of indices alone, as packed positions have under a long filter: the contraction that the
    solution's name says, with what it asserts. name: Cijk_Alimk_Bmljk_..._ASAE11_01_.."""
    d, a, b = ([ord(x) - ord('i') for x in word[1:].lower()] for word in name.split('_')[:3])
    asserted = {key: {int(x[0]): int(x[1:]) for x in found[1].split('_')} for key, short in (
        ('AssertSizeEqual', 'ASE'), ('AssertStrideAEqual', 'ASAE'), ('AssertStrideBEqual', 'ASBE'))
                if (found := re.search(rf'_{short}(\d+(?:_\d+)*)_', name))}
    indices = {'NumIndicesC': len(d), 'IndexAssignmentsA': a, 'IndexAssignmentsB': b, 'UseBeta': False}
    return {**of_contraction(rng, arch, indices, {**s, **asserted}), 'problem': problem, 'solution': s, 'indices': indices}


def drawn(rng, emit, build, path, arch, solution=None):
    """Kernels of a config that have a text: (entry, case of a convolution or None). solution: in place of the config's, but for
    PackBatchDims. And problem types of which there is none, as lines."""
    import yaml
    with open(path) as f:
        config = yaml.safe_load(f)
    out, none = [], []
    for problem, *groups in config['BenchmarkProblems']:
        if problem.get('OperationType') == 'GEMM':
            continue
        made, own = [], [s for g in groups for s in permutations(g)]
        for s in [{**solution, 'PackBatchDims': own[0].get('PackBatchDims', 0)}] if solution else own:
            if problem['OperationType'] == 'TensorContraction':
                made.append((of_contraction(rng, arch, problem, s), None))
            else:
                made.append(of_convolution(arch, problem, s))
        of, count = {id(e): c for e, c in made}, int(os.environ.get('COUNT', 3))
        chosen = run.legal([e for e, _ in made], emit, rng, count)
        if not chosen and made[0][1]:
            listed = subprocess.run([f'{build}/bin/tuner', '--list-solutions', '--names', '--arch', ARCHS[0], path], capture_output=True, text=True)
            made = [of_indices(rng, arch, problem, e['solution'], listed.stdout.split()[0]) for e, _ in made]
            chosen = run.legal(made, emit, rng, count)
        out += [(e, of.get(id(e))) for e in chosen]
        if not chosen:
            none.append(f'{os.path.basename(path)} {arch} {problem["OperationType"]}: no permutation has a text')
    for e, _ in out:
        e['form'] = os.path.basename(path)[:-5]
    return out, none


def check_on(rng, files, archs, kernels, machine, build, solution=None):
    todo, wrong = [], []
    for path, arch in itertools.product(files, archs):
        more, none = drawn(rng, kernels, build, path, arch, solution)
        todo += more
        wrong += none
    todo = [(dict(copy.copy(e), name=f'c{i}'), c) for i, (e, c) in enumerate(todo)]
    plain, convolutions = [e for e, c in todo if not c], [(e, c) for e, c in todo if c]
    answers = kernels.make(plain) if plain else []
    objects = kernels.compile(kernels.texts(answers))
    for i, (e, a) in enumerate(zip(plain, answers)):
        of = {**e, 'problem': e.get('indices', e['problem'])}
        bad = contraction.run(machine, of, a, objects, a['launches'][0], i) if 'file' in a else a['error']
        wrong += [f"{e['arch']} {e['form']}: {bad}"] if bad else []
    if convolutions:
        wrong += conv.check_all(convolutions, kernels, machine)[0]
    return wrong, len(todo)


def check(emu, kernels, build, files):
    if not library.has_yaml():
        return [], 'skipped: configs of contractions: no yaml'
    files, rng = files or sorted(glob.glob(CONFIGS)), np.random.default_rng(int(os.environ.get('SEED', 1)))
    wrong, n = check_on(rng, files, ARCHS, kernels, emulate.Machine(emu), build)
    spec = importlib.util.spec_from_file_location('on_cpu', os.path.join(HERE, '../nvptx/convolutions.py'))
    cpu = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cpu)
    host = cpu.Kernels(build, shutil.which(os.environ.get('CXX', 'g++')))
    more, on_host = check_on(rng, files, ['x86-64-v3'], host, cpu.nv.Machine(cpu.Host()), build, HOST)
    host.close()
    wrong += more
    return wrong, f'{len(files)} configs: {n} kernels on the emulator, {on_host} of the host, {len(wrong) or "none"} wrong'


if __name__ == '__main__':
    sys.exit(frame.main(__doc__, 'configs of contractions', check, '--config'))
