#!/usr/bin/env python3
"""Bias, activations and scale factors in AMD kernels on the emulator: each activation, each kind of operand, kernels
with and without matrix instructions, vectors and single elements, batches, parts of K that are added up by another
kernel, by the last part, and by stream-K's.

usage: fused.py [--build DIR]
Prints each error and a line of counts, or the reason for skipping. Exit code 1 when something is wrong."""
import sys

import cases
import emulate
import frame
import numbers_gemm as num

PLAIN = {'WorkGroup': [16, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16, 'KernelLanguage': 'Source'}
MATRIX = {'MatrixInstruction': [32, 32, 8, 1, 1, 1, 1, 2, 2], 'DepthU': 32, 'KernelLanguage': 'Assembly',
          'GlobalReadVectorWidth': 8, 'WorkGroup': [16, 16, 1], 'ThreadTile': [4, 4], 'PrefetchGlobalRead': 1}
WAVE32 = {**MATRIX, 'MatrixInstruction': [16, 16, 16, 1, 1, 2, 2, 2, 2], 'WavefrontSize': 32, 'StoreVectorWidth': 1, 'VectorWidth': 1}
SPLIT = {**PLAIN, 'WorkGroup': [8, 8, 2]}
PARTS = [{'GlobalSplitU': 3, 'GlobalSplitUAlgorithm': 'MultipleBuffer', 'MinKForGSU': 16},
         {'GlobalSplitU': 2, 'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel', 'MinKForGSU': 16}]
STREAM = {**MATRIX, 'StreamK': 2, 'PrefetchGlobalRead': 2}
EXP = ('gelu', 'sigmoid', 'tanh', 'silu')
SIZES = [[64, 64, 1, 32], [65, 33, 2, 49], [5, 7, 3, 3]]
SCALARS = [[1, 0], [0.5, 2], [0, 1]]


def given():
    """Every activation once on each kernel family, operands in turn."""
    kernels = [('gfx906', 'S', PLAIN), ('gfx90a', 'HHS', MATRIX), ('gfx1100', 'BBS', WAVE32), ('gfx906', 'D', SPLIT),
               ('gfx90a', 'HSS', MATRIX)]
    for i, (arch, kind, s) in enumerate(kernels):
        for j, activation in enumerate(num.ACTIVATIONS):
            n = i + j
            parts = PARTS[j // 2 % 2] if j % 2 else {}
            if kind == 'D' and activation in EXP or j % len(kernels) not in (i, (i + 1) % len(kernels), (i + 3) % len(kernels)):
                continue
            more = {'UseBias': n % 3 or 1, 'ActivationType': activation, 'UseScaleAB': ["''", 'Scalar', 'Vector'][n % 3],
                    'UseScaleCD': n % 2 == 0, 'UseScaleAlphaVec': (n + 1) % 3}
            if n % 2:
                more['BiasDataTypeList'] = ['d' if kind == 'D' else 's']
            yield dict(cases.case(arch, kind, ['NN', 'NT', 'TN', 'TT'][n % 4], {'BufferStore': bool(n % 3), **s, **parts}, **more), name=f'k{i}_{j}',
                       sizes=SIZES, scalars=SCALARS)
    yield dict(cases.case('gfx942', 'HHS', 'NT', STREAM, UseBias=2, ActivationType='gelu', UseScaleAB='Vector'), name='stream',
               sizes=[[130, 65, 2, 200], [64, 64, 1, 520]], scalars=SCALARS[:2])
    yield dict(cases.case('gfx90a', 'HHS', 'TN', MATRIX, UseBias=1, ActivationType='relu'), name='along_n', results_along_n=True,
               sizes=[[45, 67, 2, 51, 67, 70, 56, 72]], scalars=SCALARS[1:2])


def check(emu, kernels, _build):
    todo, wrong, n = list(given()), [], 0
    answers = kernels.make(todo)
    for c in todo:
        c['problem']['UseScaleAB'] = c['problem'].get('UseScaleAB', '').strip("'")
    objects, machine = kernels.compile(kernels.texts(answers)), emulate.Machine(emu)
    for c, a in zip(todo, answers):
        name = f"{c['arch']} {c['kind']} {c['trans']} {c['problem']}"
        if 'file' not in a:
            wrong.append(f"{name}: {a['error']}")
            continue
        for launch in a['launches']:
            bad = machine.run(c, a, objects, launch, n)
            n += 1
            if bad:
                wrong.append(f"{name}, {launch['size']}: {bad}")
    return wrong, f'{len(todo)} kernels with fused operations on {n} problems, {len(wrong) or "none"} wrong'


if __name__ == '__main__':
    sys.exit(frame.main(__doc__, 'fused operations', check))
