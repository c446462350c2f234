#!/usr/bin/env python3
"""Fp16AltImpl on the emulator: kernels with and without matrix instructions multiply half as bf16, denormals included.

Each problem is compared with numpy twice: with half converted to bf16, which must agree, and with half as it is, its
denormals taken for zero (what gfx90a's matrix instructions of half do), which must not.

usage: fp16_alt.py [--build DIR]
Prints each error and a line of counts, or the reason for skipping. Exit code 1 when something is wrong."""
import re
import sys

import cases
import emulate
import frame
import numbers_gemm as num

MATRIX = {'MatrixInstruction': [32, 32, 8, 1, 1, 1, 1, 2, 2], 'DepthU': 32, 'KernelLanguage': 'Assembly',
          'GlobalReadVectorWidth': 8, 'WorkGroup': [16, 16, 1], 'ThreadTile': [4, 4], 'PrefetchGlobalRead': 1}
SMALL = {**MATRIX, 'MatrixInstruction': [16, 16, 16, 1, 1, 2, 1, 2, 2], 'GlobalReadVectorWidth': 4, 'PrefetchGlobalRead': 2}
PLAIN = {'WorkGroup': [16, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16, 'KernelLanguage': 'Source'}
SOLUTIONS = [   # architecture, transposes, solution, instruction of the text
    ('gfx90a', 'NN', MATRIX, 'mfma_f32_32x32x8bf16_1k'), ('gfx90a', 'TN', SMALL, 'mfma_f32_16x16x16bf16_1k'),
    ('gfx90a', 'NT', {**SMALL, 'KernelLanguage': 'Source', 'BufferLoad': False, 'PrefetchGlobalRead': 1}, 'mfma_f32_16x16x16bf16_1k'),
    ('gfx942', 'TT', MATRIX, 'mfma_f32_32x32x8bf16_1k'),
    ('gfx1100', 'TN', {**MATRIX, 'MatrixInstruction': [16, 16, 16, 1, 1, 2, 2, 2, 2], 'WavefrontSize': 32, 'StoreVectorWidth': 1,
                       'VectorWidth': 1}, 'wmma_f32_16x16x16_bf16'),
    ('gfx90a', 'TT', PLAIN, 'g_fma('), ('gfx906', 'NN', {**PLAIN, 'BufferLoad': False}, 'g_fma('),
    ('gfx900', 'NT', PLAIN, 'g_fma('), ('gfx1100', 'NT', PLAIN, 'fdot2_f32_bf16')]
SIZES = [[64, 64, 1, 96], [65, 33, 2, 49], [5, 7, 1, 3]]
MOST = {'denormal': -14, 'mixed': 0}    # binary exponents of the largest numbers


def kind_of(most, flushed):
    """A class of problems whose A and B are half of up to 2^most, flushed: multiplied as they are."""
    class Kind(emulate.Problem):
        def __init__(self, case):
            super().__init__(case)
            near = case['problem'].get('Fp16AltImplRound', False)
            self.input = (num.AltHalf(near, most, flushed),) * 2
    return Kind


def check(emu, kernels, _build):
    todo = [dict(cases.case(arch, 'HSSRZ', trans, s, Fp16AltImplRound=bool(near)), name=f'k{i}_{near}', sizes=SIZES,
                 text=text, scalars=[[1, 0]] * len(SIZES))
            for i, (arch, trans, s, text) in enumerate(SOLUTIONS) for near in (0, 1)]
    answers = kernels.make([{k: v for k, v in c.items() if k != 'text'} for c in todo])
    objects, machine, wrong, n = kernels.compile(kernels.texts(answers)), emulate.Machine(emu), [], 0
    plain = emulate.Problem
    for c, a in zip(todo, answers):
        name = f"{c['arch']} {'RZ' if c['problem']['Fp16AltImplRound'] else 'R'} {c['trans']} {c['text']}"
        if 'file' not in a:
            wrong.append(f"{name}: {a['error']}")
            continue
        with open(a['file']) as f:
            if not re.search(re.escape(c['text']), f.read()):
                wrong.append(f'{name}: no such instruction')
        for (what, most), launch in ((w, launch) for w in MOST.items() for launch in a['launches']):
            emulate.Problem = kind_of(most, False)
            bad = machine.run(c, a, objects, launch, n)
            emulate.Problem = kind_of(most, True)
            if bad:
                wrong.append(f"{name}, {what}, {launch['size']}: {bad}")
            elif not machine.run(c, a, objects, launch, n):
                wrong.append(f"{name}, {what}, {launch['size']}: the data give the same result with bf16 and half")
            n += 1
    emulate.Problem = plain
    return wrong, f'{len(todo)} kernels with Fp16AltImpl on {n} problems, {len(wrong) or "none"} wrong'


if __name__ == '__main__':
    sys.exit(frame.main(__doc__, 'Fp16AltImpl', check))
