#!/usr/bin/env python3
"""Contractions that are no GEMM in AMD kernels on the emulator: several free, batch and summation indices, first strides,
strides of 0, packed batches, zero padding; kernels with and without matrix instructions; the solutions of rocBLAS's logic for
contractions (those of data/tensile/contraction, or all of FILE...).

usage: contraction.py [--build DIR] [--logic FILE...]
Prints each error and a line of counts, or the reason for skipping. Exit code 1 when something is wrong."""
import glob
import os
import sys

import numpy as np

import cases
import emulate
import frame
import library

LOGIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../data/tensile/contraction/*.yaml')
PLAIN = {'WorkGroup': [8, 8, 1], 'ThreadTile': [4, 4], 'DepthU': 8, 'KernelLanguage': 'Source'}
WIDE = {**PLAIN, 'WorkGroup': [16, 16, 1], 'VectorWidth': 2, 'GlobalReadVectorWidth': 2, 'PrefetchGlobalRead': 1, 'KernelLanguage': 'Assembly'}
SPLIT = {**PLAIN, 'WorkGroup': [8, 8, 2], 'DepthU': 16}
MATRIX = {'MatrixInstruction': [32, 32, 8, 1, 1, 1, 1, 2, 2], 'DepthU': 32, 'KernelLanguage': 'Source', 'GlobalReadVectorWidth': 4,
          'WorkGroup': [16, 16, 1], 'ThreadTile': [4, 4], 'PrefetchGlobalRead': 1}
WAVE32 = {**MATRIX, 'MatrixInstruction': [16, 16, 16, 1, 1, 2, 2, 2, 2], 'WavefrontSize': 32, 'StoreVectorWidth': 1, 'VectorWidth': 1}

# indices of A and of B, indices of D; sizes; strides that are not packed: {tensor: {position: stride}}; zero pads of A
FORMS = {
    'sums': ([3, 4, 0, 1, 5], [3, 4, 1, 5, 2], 3, [37, 3, 18, 5, 3, 2], {}, []),
    'free': ([4, 0, 2, 5], [5, 1, 4, 3], 4, [11, 5, 4, 9, 7, 6], {}, []),
    'wide': ([0, 3, 2, 4], [1, 2, 3, 4], 3, [36, 22, 2, 9, 4], {'b': {2: 60}}, []),
    'first': ([3, 0, 2], [3, 1, 2], 3, [33, 20, 2, 19], {'a': {0: 2, 1: 41}, 'b': {0: 3, 2: 0}, 'c': {0: 2, 1: 70}, 'd': {0: 3, 1: 110}}, []),
    'pad': ([6, 5, 0, 1, 4, 3], [6, 5, 4, 2], 4, [5, 4, 9, 2, 3, 3, 3], {'a': {0: 1, 1: 10, 2: 2, 3: 20, 4: 90, 5: 270}},
            [[0, 6, 1, 1], [1, 5, 10, 10]]),
}


def letters(indices):
    return ''.join(chr(ord('i') + i) for i in indices)


def packed(sizes, indices, given):
    strides, step = [], 1
    for at, i in enumerate(indices):
        strides.append(given.get(at, step))
        step = strides[-1] * sizes[i]
    return strides


class Tensor:
    """The elements of a tensor by their indices, in a buffer that ends at the last one that may be read."""

    def __init__(self, rng, sizes, indices, strides, pads, dtype, fill):
        grid = np.indices([sizes[i] for i in indices])
        offset = sum(g * s for g, s in zip(grid, strides))
        self.inside = np.ones(offset.shape, bool)
        for free, total, start, end in pads:
            x = sum(grid[indices.index(i)] * strides[indices.index(i)] for i in (free, total))
            edge = sizes[free] * strides[indices.index(free)] + (sizes[total] - 1) * strides[indices.index(total)] - end
            self.inside &= (x >= start) & (x < edge)
            offset = offset - start
        self.offset = offset
        n = int(offset[self.inside].max()) + 1
        self.raw = rng.integers(-4, 5, n).astype(dtype) if fill else np.full(n, np.nan, dtype)

    def values(self, raw=None):
        raw = self.raw if raw is None else raw
        return np.where(self.inside, raw[np.where(self.inside, self.offset, 0)], 0).astype(np.float64)


def given():
    kernels = [('gfx906', 'S', PLAIN), ('gfx906', 'S', WIDE), ('gfx906', 'D', SPLIT), ('gfx90a', 'HHS', MATRIX), ('gfx90a', 'S', WIDE),
               ('gfx942', 'HHS', MATRIX), ('gfx942', 'S', SPLIT), ('gfx1100', 'HHS', WAVE32), ('gfx1100', 'S', PLAIN)]
    for i, (arch, kind, solution) in enumerate(kernels):
        for j, (form, (a, b, n, sizes, strides, pads)) in enumerate(FORMS.items()):
            problem = {**cases.PROBLEMS[kind], 'OperationType': 'TensorContraction', 'IndexAssignmentsA': a, 'IndexAssignmentsB': b,
                       'NumIndicesC': n, 'UseBeta': True, 'UseInitialStridesAB': form == 'first', 'UseInitialStridesCD': form == 'first'}
            if pads:
                problem['ZeroPadA'] = pads
            size = {'sizes': sizes, 'pads': [x for p in pads for x in p[2:]]}
            for name, list_ in (('a', a), ('b', b), ('c', list(range(n))), ('d', list(range(n)))):
                size[name] = packed(sizes, list_, strides.get(name, {}))
            more = {}
            if form == 'first' and i % 2:
                more['PackBatchDims'] = 1       # B's batch stride is 0
            if form != 'wide':       # vectors need neighbours in memory
                more['GlobalReadVectorWidth'] = more['VectorWidth'] = 1
            yield {'arch': arch, 'kind': kind, 'form': form, 'trans': '', 'problem': problem, 'solution': {**solution, 'EdgeType': 'ShiftPtr', **more},
                   'apart': True, 'name': f'k{i}_{j}', 'sizes': [size], 'scalars': [[[1, 0], [0.5, 2]][(i + j) % 2]]}


def of_logic(path):
    """The solutions of a logic file, each with strides that it asserts: those of 0 and 1, the others with gaps."""
    logic = library.read_logic(path)
    arch, problem = logic[2]['Architecture'] if isinstance(logic[2], dict) else logic[2], logic[4]
    lists = {'a': problem['IndexAssignmentsA'], 'b': problem['IndexAssignmentsB'], 'c': [0, 1, 2], 'd': [0, 1, 2]}
    for i, s in enumerate(logic[5]):
        sizes = [s['MacroTile0'] + 5, s['MacroTile1'] - 3, 2, 2 * s['DepthU'] + 3]
        size = {'sizes': sizes, 'pads': []}
        for name, list_ in lists.items():
            asserted = {int(k): v for k, v in s[f'AssertStride{name.upper()}Equal'].items()}
            fast = next((at for at, v in asserted.items() if v == 1), 0)
            row = sizes[list_[fast]] + 3      # the other index goes from row to row
            strides = [row, 1, row * sizes[list_[0]]] if fast else packed(sizes, list_, {1: row})
            size[name] = [asserted.get(at, v) for at, v in enumerate(strides)]
        name = os.path.basename(path)[:-5]
        yield {'arch': arch, 'kind': 'S', 'form': f'{name} {i}', 'logic': os.path.abspath(path), 'index': [i], 'problem': problem, 'name': name,
               'sizes': [size], 'scalars': [[[1, 0], [0.5, 2]][i % 2]]}


def run(machine, case, answer, objects, launch, seed):
    """None, or what is wrong."""
    rng, p, size = np.random.default_rng(seed), case['problem'], case['sizes'][0]
    alpha, beta = case['scalars'][0]
    dtype = {'S': np.float32, 'D': np.float64, 'HHS': np.float16}[case['kind']]
    d_indices = list(range(p['NumIndicesC']))
    lists = {'a': p['IndexAssignmentsA'], 'b': p['IndexAssignmentsB'], 'c': d_indices, 'd': d_indices}
    tensor, address, extra = {}, {}, []
    for slot, x in enumerate('dcab'):
        tensor[x] = Tensor(rng, size['sizes'], lists[x], size[x], p.get('ZeroPadA', []) if x == 'a' else [], dtype, x != 'd')
        buffer = machine.emu.Buffer(tensor[x].raw.tobytes(), end_aligned=True, name=x, writable=x == 'd')
        address[slot] = buffer.ptr
        extra.append(buffer)
    extra.append(machine.emu.Buffer(b'\x7f' * launch['workspace'], end_aligned=True, name='workspace', writable=True))
    address[4] = extra[-1].ptr
    for call in launch['calls']:
        bad = machine.call(answer['arch'], objects, call, address, extra, answer.get('helpers', {}))
        if bad:
            return bad
    got = np.frombuffer(extra[0].read(0, tensor['d'].raw.nbytes), dtype)
    sums = np.einsum(f"{letters(lists['a'])},{letters(lists['b'])}->{letters(d_indices)}", tensor['a'].values(), tensor['b'].values())
    want = alpha * sums + beta * tensor['c'].values()
    off = np.abs(tensor['d'].values(got) - want)
    limit = {'S': 1e-5, 'D': 1e-12, 'HHS': 2e-3}[case['kind']] * (np.abs(want) + 1)
    if not (off <= limit).all():
        at = tuple(int(v[0]) for v in np.where(~(off <= limit)))
        return f"{int((~(off <= limit)).sum())} of {want.size} elements: D{at} is {tensor['d'].values(got)[at]}, expected {want[at]}"
    rest = np.ones(got.size, bool)
    rest[tensor['d'].offset.ravel()] = False
    return None if np.isnan(got[rest]).all() else 'memory between the elements of D was written'


def check(emu, kernels, _build, given_logic):
    files = given_logic or (sorted(glob.glob(LOGIC)) if library.has_yaml() else [])
    todo, wrong = [*([] if given_logic else given()), *(c for f in files for c in of_logic(f))], []
    answers = kernels.make([{k: v for k, v in c.items() if k != 'problem' or 'logic' not in c} for c in todo])
    objects, machine = kernels.compile(kernels.texts(answers)), emulate.Machine(emu)
    for n, (c, a) in enumerate(zip(todo, answers)):
        name = f"{c['arch']} {c['kind']} {c['form']}"
        bad = a['error'] if 'file' not in a else run(machine, c, a, objects, a['launches'][0], n)
        if bad:
            wrong.append(f'{name}: {bad}')
    return wrong, f'{len(todo)} kernels of contractions, {len(wrong) or "none"} wrong'


if __name__ == '__main__':
    sys.exit(frame.main(__doc__, 'contractions', check, '--logic'))
