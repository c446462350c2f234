#!/usr/bin/env python3
"""Convolutions in AMD kernels on the emulator: all directions and formats, pads, strides, dilation, groups, 1x1, odd channels, 3-D.

usage: conv.py [--build DIR] [--short]
Prints each error and a line of counts, or the reason for skipping. Exit code 1 when something is wrong."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import numpy as np

import cases
import convolve
import emulate
import frame
import numbers_gemm
import progress

PLAIN = {'WorkGroup': [8, 8, 1], 'ThreadTile': [4, 4], 'DepthU': 8, 'KernelLanguage': 'Source', 'GlobalReadVectorWidth': 1,
         'VectorWidth': 1}
PLAIN = {**PLAIN, 'EdgeType': 'ShiftPtr'}
WIDE = {**PLAIN, 'WorkGroup': [16, 16, 1], 'PrefetchGlobalRead': 1, 'KernelLanguage': 'Assembly'}
SPLIT = {**PLAIN, 'WorkGroup': [8, 8, 2], 'DepthU': 16}
MATRIX = {**PLAIN, 'MatrixInstruction': [32, 32, 8, 1, 1, 1, 1, 2, 2], 'DepthU': 32, 'WorkGroup': [16, 16, 1], 'PrefetchGlobalRead': 1}
WAVE32 = {**MATRIX, 'MatrixInstruction': [16, 16, 16, 1, 1, 2, 2, 2, 2], 'WavefrontSize': 32, 'StoreVectorWidth': 1}

# architecture: (types, solution) of the formats in turn
KERNELS = {
    'gfx906': [('S', PLAIN), ('S', WIDE), ('HHS', PLAIN), ('I8II', PLAIN)],
    'gfx90a': [('HHS', MATRIX), ('S', WIDE), ('BBS', {**MATRIX, 'MatrixInstruction': [32, 32, 4, 1, 1, 1, 1, 2, 2]}), ('S', SPLIT)],
    'gfx942': [('S', SPLIT), ('HHS', MATRIX), ('S', PLAIN), ('HHS', MATRIX)],
    'gfx1100': [('HHS', WAVE32), ('S', PLAIN), ('HHS', WAVE32), ('S', WIDE)]}
# Parts of K: GlobalSplitU with each of its ways to add them up, StreamK.
PARTS = [{'GlobalSplitU': 3, 'GlobalSplitUAlgorithm': 'MultipleBuffer'}, {'GlobalSplitU': 2, 'GlobalSplitUAlgorithm': 'SingleBuffer'},
         {'GlobalSplitU': 4, 'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel'}, {'StreamK': 2}]
STORE = {'S': (np.float32, np.float32, 1e-5), 'X': (np.float32, np.float32, 1e-5),
         'HHS': (np.float16, np.float16, 2e-3), 'I8II': (np.int8, np.int32, 0)}


def case(arch, kind, solution, direction, image, number, spatial=2, groups=False, filters=None, list_=None, fixed=None, packs=True,
         fused=None, foreign=None):
    """An entry of emit's list, with its convolutions. fused: keys of the problem type; foreign: as convolve.Run's."""
    given = list_ or (convolve.grouped() if groups else convolve.sizes(spatial))
    runs = [(name, c, part) for name, c in given for part in range(c.parts(direction))]
    problem = convolve.problem(cases.PROBLEMS[kind], direction, image, filters, spatial, groups, fixed)
    problem.update(fused or {})
    formats = [x for m in problem['ConvolutionConfig'] for k, x in m.items() if k.endswith('Format')]
    alpha = [1, 0.5][number % 2] if kind != 'I8II' else 1
    if packs and not groups and number % 3 == 1:
        solution = {**solution, 'PackBatchDims': 1}
    return {'arch': arch, 'problem': problem, 'solution': solution, 'name': f'k{number}', 'apart': True,
            'sizes': [c.letters(part) for _, c, part in runs], 'scalars': [[alpha, 0]] * len(runs)}, {
                'runs': runs, 'direction': direction, 'formats': formats, 'kind': kind, 'alpha': alpha, 'image': image,
                'tolerance': 8e-3 if kind == 'BBS' else STORE[kind][2], 'problem': problem, 'foreign': foreign,
                'bias_per_image': not groups and not solution.get('PackBatchDims')}


ACTIVATIONS = ('relu', 'gelu', 'clamp', 'silu', 'leakyrelu', 'tanh', 'none')


def fused(i, image):
    """Keys of the i-th problem type with fused operations. Vectors lie along the channels of D: the rows of NHWC and CHWN's.. columns
    where the positions are the rows."""
    along = 1 if image == 'NHWC' else 2
    return {'UseBias': along, 'ActivationType': ACTIVATIONS[i % len(ACTIVATIONS)], 'UseScaleAB': ['', 'Scalar'][i % 2],
            'UseScaleCD': i % 3 == 0, 'UseScaleAlphaVec': along if i % 2 else 0, **({'BiasDataTypeList': ['s']} if i % 4 == 1 else {})}


def fused_cases(kernels):
    """Forward and backward data with fused operations: (architecture, type, solution) in turn, with and without groups, and with parts of
    K that the kernel adds up."""
    small = [(n, x) for n, x in convolve.sizes() if n in ('pad', 'stride 2', '1x1', 'odd channels')]
    out, n = [], 0
    for (arch, kind, solution), image, direction in [(k, i, d) for k in kernels for i in ('NHWC', 'NCHW') for d in ('forward', 'data')]:
        groups, parts = n % 3 == 1, ({}, PARTS[2], {}, PARTS[3])[n % 4]
        if 'MatrixInstruction' in solution and arch != 'gfx1100' or 'StreamK' not in parts:
            out.append(case(arch, kind, {**solution, **parts}, direction, image, 1000 + n, groups=groups, list_=None if groups else small,
                            packs=n % 2, fused=fused(n, image)))
        n += 1
    return out


def foreign_cases(kernels, short=False):
    """One group's elements are infinite and NaN: (architecture, type, solution) in turn, all directions, NHWC and NCHW, either operand."""
    alone = [(n, x) for n, x in convolve.sizes() if n in ('pad', 'stride 2', 'odd channels')]
    out = []
    for i, (arch, kind, solution) in enumerate(k for k in kernels if k[1] != 'I8II'):
        for d, direction in enumerate(convolve.DIRECTIONS):
            for foreign in 'ab':
                more = {'list_': alone} if foreign == 'a' and (i + d) % 2 else {'groups': True}
                out.append(case(arch, kind, solution, direction, ('NHWC', 'NCHW')[(i + d + (foreign == 'b')) % 2], 2000 + len(out),
                                foreign=foreign, **more))
    return [c for i, c in enumerate(out) if not short or i % 6 in (0, 3, 4)]


def vectors(width):
    """Formats with channels last, whose loads are vectors of that many elements: channels that are multiples of it; a chunk
    of K that holds several filter elements, or a part of one; tiles that are stored in vectors; and channels that are no multiple,
    which take the slow way."""
    c, k = 2 * width, 4 * width
    return convolve.sizes(channels=(c, k)) + [('many channels', convolve.Conv(1, 10 * width, 3 * width, (5, 6), 3, pad=1)),
                                              ('whole tiles', convolve.Conv(1, 128, 136, (12, 12), 1)),
                                              ('odd width', convolve.Conv(1, width + 1, width + 3, (6, 5), 3, pad=1))]


def widened(solution, width):
    own = {} if 'MatrixInstruction' in solution else {'VectorWidth': width, 'ThreadTile': [max(width, 4)] * 2}
    own['VectorStore'] = -1
    if 'MatrixInstruction' in solution and 'WavefrontSize' not in solution:
        own['StoreVectorWidth'] = 4
    own.update({f'AssertFree{i}ElementMultiple': width for i in (0, 1)})
    return {**solution, 'GlobalReadVectorWidth': width, 'DepthU': max(solution['DepthU'], 2 * width), **own}


def given(short):
    """All (entry, case)."""
    out = []

    def add(arch, i, direction, image, **more):
        kind, solution = KERNELS[arch][i % 4]
        out.append(case(arch, kind, solution, direction, image, len(out), **more))
    for a, arch in enumerate(KERNELS):
        for d, direction in enumerate(convolve.DIRECTIONS):
            for f, image in enumerate(convolve.IMAGES):
                if short and (f != (a + d) % 4 or arch != 'gfx90a'):
                    continue
                add(arch, a + f, direction, image)
                add(arch, d + f, direction, image, groups=True)
                if not short:
                    add(arch, a + d + f, direction, image, spatial=3)
            if not short:
                for v in range(4):
                    kind, solution = KERNELS[arch][v]
                    width = {'S': 4, 'I8II': 4}.get(kind, 8) // (1 + (v + d) % 2)
                    out.append(case(arch, kind, widened(solution, width), direction, 'NHWC', len(out),
                                    groups=direction == 'weights', list_=vectors(width)))
                for i, parts in enumerate(PARTS):
                    kind, solution = KERNELS[arch][(a + d + i) % 4]
                    if 'StreamK' in parts and ('MatrixInstruction' not in solution or arch == 'gfx1100'):
                        continue        # AMD: by MFMA alone
                    out.append(case(arch, kind, {**solution, **parts}, direction, convolve.IMAGES[(d + i) % 4], len(out), packs=False,
                                    groups=(d + i) % 3 == 0, spatial=2 + (i == 1 and (d + i) % 3 != 0)))
                add(arch, a + d, direction, 'NHWC', filters='CYXK')
                add(arch, a + d + 1, direction, 'NCHW', filters='KYXC')
    if not short:
        out += fused_cases([(arch, *k) for arch in KERNELS for k in KERNELS[arch][:2]])
    out += foreign_cases([(arch, *k) for arch in (['gfx90a'] if short else KERNELS) for k in KERNELS[arch][:1 if short else 4]], short)
    return out


def bf16(x):
    return (np.asarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def store(kind, raw):
    """Bytes of the small integers in memory."""
    return bf16(raw).tobytes() if kind == 'BBS' else raw.tobytes()


def run(machine, entry, case_, answer, objects, rng, first, conv):
    """The parts of one convolution, from launch `first` on. None, or what is wrong."""
    kind = case_['kind']
    types = STORE.get(kind, (np.float32, np.float32, 0))
    r = convolve.Run(rng, conv, case_, *types[:2])
    size = {'BBS': (2, 2)}.get(kind, tuple(np.dtype(t).itemsize for t in types[:2]))
    raw_d = np.full(r.raw['d'].size, 0x7fff, np.uint16) if kind == 'BBS' else r.raw['d']
    n_bytes = raw_d.nbytes
    held = {'a': machine.emu.Buffer(store(kind, r.raw['a']), end_aligned=True, name='a', writable=False),
            'b': machine.emu.Buffer(store(kind, r.raw['b']), end_aligned=True, name='b', writable=False),
            'd': machine.emu.Buffer(raw_d.tobytes(), end_aligned=True, name='d', writable=True)}
    vectors = r.fuse(rng, case_['problem'], answer['arch'], case_['bias_per_image'])
    held.update({x: machine.emu.Buffer(raw.tobytes(), end_aligned=True, name=x, writable=False) for x, raw in vectors.items()})
    for part in range(conv.parts(case_['direction'])):
        launch = answer['launches'][first + part]
        offset = launch['offset']
        held['w'] = machine.emu.Buffer(b'\x7f' * launch['workspace'], end_aligned=True, name='workspace', writable=True)
        address = {4: held['w'].ptr, 0: held['d'].ptr + offset['d'] * size[1], 1: held['d'].ptr + offset['c'] * size[1],
                   **{5 + i: held[x].ptr for i, x in enumerate(numbers_gemm.FUSED) if x in held},
                   2: held['a'].ptr + offset['a'] * size[0], 3: held['b'].ptr + offset['b'] * size[0]}
        for call in launch['calls']:
            bad = machine.call(answer['arch'], objects, call, address, list(held.values()), answer.get('helpers', {}))
            if bad:
                return bad
    got = held['d'].read(0, n_bytes)
    if kind == 'BBS':
        got = (np.frombuffer(got, np.uint16).astype(np.uint32) << 16).view(np.float32)
    else:
        got = np.frombuffer(got, types[1])
    return r.wrong(got, case_['alpha'])


def answers_of(todo, make):
    """What emit makes of the entries. Parts of backward data without a filter element only write zeros: their alpha is 0."""
    answers, zeros = make([e for e, _ in todo]), False
    for (e, _), a in zip(todo, answers):
        for i, launch in enumerate(a.get('launches', [])):
            if launch.get('zero'):
                e['scalars'][i] = [0, 0]
                zeros = True
    return make([e for e, _ in todo]) if zeros else answers


def random_numbers():
    return np.random.default_rng(int(os.environ.get('SEED', '0')) or None)


def check_all(todo, kernels, machine):
    """Lines that say what is wrong, and how many convolutions ran."""
    answers = answers_of(todo, kernels.make)
    objects = kernels.compile(kernels.texts([a for a in answers if 'file' in a]))
    wrong, n, _ = check_launches([(e, dict(c, what=f"{e['arch']} {c['kind']} {c['direction']} {' '.join(c['formats'])}")) for e, c in todo],
                                 answers, lambda _: objects, machine)
    return wrong, n


def check_launches(todo, answers, objects_of, machine, refused=lambda *_: False, quiet=True):
    """Runs all convolutions of each entry. objects_of(answer): its kernels; refused(entry, case, name, convolution): whether the launch
    has to refuse it, None: either. Lines that say what is wrong, how many convolutions ran, and how many were refused."""
    wrong, n, n_refused, rng = [], 0, 0, random_numbers()
    for (e, c), a in progress.each(zip(todo, answers), 'run', len(todo), quiet):
        if 'file' not in a:
            wrong.append(f"{c['what']}: no text: {a.get('error', a)}")
            continue
        for i, (name, x, part) in enumerate(c['runs']):
            if part:
                continue
            expected = refused(e, c, name, x)
            got = any('refused' in launch for launch in a['launches'][i:i + x.parts(c['direction'])])
            if expected is not None and got != expected:
                wrong.append(f"{c['what']}, {name}: {'not ' if expected else ''}refused")
            elif got:
                n_refused += 1
            else:
                n += 1
                bad = run(machine, e, c, a, objects_of(a), rng, i, x)
                wrong += [f"{c['what']}, {name}: {bad[:500]}"] if bad else []
    return wrong, n, n_refused


def report(n_kernels, wrong, n, n_refused):
    """Prints the first errors and the counts; the exit code."""
    for line in wrong[:20]:
        print(line)
    print(f'{n_kernels} kernels, {n} convolutions, {n_refused} refused, {len(wrong) or "none"} wrong')
    return 1 if wrong else 0


def check(emu, kernels, _build):
    todo = given('--short' in sys.argv)
    wrong, n = check_all(todo, kernels, emulate.Machine(emu))
    return wrong, f'{len(todo)} kernels, {n} convolutions, {len(wrong) or "none"} wrong'


if __name__ == '__main__':
    sys.exit(frame.main(__doc__, 'convolutions', check))
