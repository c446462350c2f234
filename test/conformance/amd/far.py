#!/usr/bin/env python3
"""Operands of more than 2^31 elements on the emulator: leading dimensions of tens of millions, in memory that is
only touched where the numbers are. Every transpose of A, both copy modules, on both sides of what 32-bit
offsets reach.

usage: far.py [--build DIR]
Prints each error and a line of counts, or the reason for skipping. Exit code 1 when a kernel failed."""
import sys

import numpy as np

import emulate
import frame

# Every operand beyond 32 bits of bytes alone, D and C together, a column of D of more than 2 GiB.
TILE = {'WorkGroup': [8, 8, 1], 'ThreadTile': [4, 4], 'DepthU': 8}
M, N, K = 40, 36, 20
# leading dimensions: of A not transposed, of A transposed
FAR = {False: (120_000_000, 160_000_000), True: (30_000_000, 60_000_000)}


def cases():
    out = []
    for arch in ('gfx90a', 'gfx1030'):
        for buffer in (True, False):
            for trans in (False, True):
                near = K if trans else M
                lds = [(N, ld, M, M, K) for ld in FAR[trans]]      # n, leading dimensions of A, C, D, B
                lds += [(N, near, 90_000_000, 80_000_000, K), (N, near, M, 80_000_000, K), (N, near, 90_000_000, M, K),
                        (N, near, M, M, 60_000_000), (3, near, M, 540_000_000, K)]
                out.append({'name': f'far_{len(out)}', 'arch': arch, 'scalars': [[1, 2]] * len(lds),
                            'problem': {'DataType': 's', 'TransposeA': trans, 'TransposeB': False, 'Batched': True},
                            'solution': dict(TILE, BufferLoad=buffer),
                            'sizes': [[M, n, 1, K, d, c, a, b] for n, a, c, d, b in lds]})
    return out


class Far:
    """A column-major matrix in memory of its own, of which only the columns are written."""

    def __init__(self, emu, rng, rows, cols, ld, name):
        self.ld, self.x = ld, rng.integers(-8, 9, (rows, cols)).astype(np.float32)
        self.buffer = emu.Buffer(((cols - 1) * ld + rows) * 4, end_aligned=True, name=name, writable=name == 'd')
        for j in range(cols):
            self.buffer.write(np.ascontiguousarray(self.x[:, j]), j * ld * 4)

    def read(self):
        rows, cols = self.x.shape
        return np.stack([np.frombuffer(self.buffer.read(j * self.ld * 4, rows * 4), np.float32) for j in range(cols)], 1)


def one(machine, case, answer, objects, launch):
    trans, rng = case['problem']['TransposeA'], np.random.default_rng(1)
    n = launch['size'][1]
    shapes = {'d': (M, n), 'c': (M, n), 'a': (K, M) if trans else (M, K), 'b': (K, n)}
    x = {o: Far(machine.emu, rng, *shapes[o], launch[o][1], o) for o in shapes}
    address = {emulate.SLOTS.index(o): x[o].buffer.ptr for o in x}
    bad = machine.call(answer['arch'], objects, launch['calls'][0], address, [v.buffer for v in x.values()], {})
    if bad:
        return bad
    want = (x['a'].x.T if trans else x['a'].x) @ x['b'].x + 2 * x['c'].x
    return None if (x['d'].read() == want).all() else 'wrong numbers'


def check(emu, kernels, _build):
    listed = cases()
    answers = kernels.make(listed)
    objects = kernels.compile(kernels.texts(answers))
    machine, n, wrong = emulate.Machine(emu), 0, []
    for case, answer in zip(listed, answers):
        for launch in answer.get('launches', [{}]):
            bad = one(machine, case, answer, objects, launch) if launch else answer['error']
            n += 1
            if bad:
                wrong.append(f'{answer["name"]} {answer["arch"]}: {launch.get("a")} {launch.get("d")}: {bad}')
    return wrong, f'{len(wrong)} of {n} problems with far operands wrong'


if __name__ == '__main__':
    sys.exit(frame.main(__doc__, 'far operands', check))
