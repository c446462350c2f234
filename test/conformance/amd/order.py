#!/usr/bin/env python3
"""Work-group order as an argument, in machine code: every work-group runs by itself on the emulator; the tile
of D that it writes must be the one that the formulas of the order give. Then the blocks of A and B that the
work-groups of one die load are counted: memory with a hole tells which of them a work-group touches.

usage: order.py [--build DIR]
Prints each error and a line of counts, or the reason for skipping. Exit code 1 when a kernel failed."""
import builtins
import struct
import sys

import numpy as np

import emulate
import frame

TILE = {'WorkGroup': [8, 8, 1], 'ThreadTile': [2, 2], 'DepthU': 8}
SIDE, DEPTH = 16, 8
# tiles along M and N; WorkGroupMapping, XCC, group, chunk
GRIDS = [(6, 8), (8, 8), (38, 16), (7, 13)]
ORDERS = [(4, 1, 0, 0), (6, 8, 0, 0), (8, 8, 16, 0), (3, 4, 0, 2), (100, 8, 0, 0)]
BLOCKS = {(1, 1): 72, (1, 8): 72, (2, 8): 48, (4, 8): 48, (8, 8): 72}    # WorkGroupMapping, XCC; 8 x 8 tiles, along M


def remap(u, n, x, group, chunk):
    if chunk:
        if u >= n // (x * chunk) * (x * chunk):
            return u
        turn = u // x
        return turn // chunk * x * chunk + u % x * chunk + turn % chunk
    if group:
        if u >= n // x * x:
            return u
        size = n - n // group * group if u > n // group * group else group
        return u // group * group + u % group // x + u % x * (size // x)
    return u % x * (n // x) + min(u % x, n % x) + u // x


def place(u, grid, dim, order):
    """Row and column of the tile of work-group u."""
    w, x, group, chunk = order
    p, q = (grid[1], grid[0]) if dim else grid
    u = remap(u, p * q, x, group, chunk)
    full = p * q // (w * q) * w * q
    if u < full:
        along, across = u // w // q * w + u % w, u // w % q
    else:
        tail = p % w
        along, across = p // w * w + (u - full) % tail, (u - full) // tail
    return (across, along) if dim else (along, across)


class One(int):
    """A side of a grid of which one work-group runs."""

    def __new__(cls, size, only):
        self = int.__new__(cls, size)
        self.only = only
        return self


def ranges(*args):
    return [args[0].only] if isinstance(args[0], One) else builtins.range(*args)


class Hole:
    """Part of a buffer, as memory that a launch may touch."""

    def __init__(self, buffer, first, last):
        self.ptr, self.nbytes, self.writable, self.name = buffer.ptr + first, last - first, False, buffer.name


def cases():
    out, k = [], 8 * DEPTH
    for arch in ('gfx90a', 'gfx942'):
        for dim in (0, 1):
            for extra in ({}, {'KernelLanguage': 'Assembly'}, {'PersistentKernel': 1}):
                orders = ORDERS[:2] if extra else ORDERS
                for order in orders + [(w, x, 0, 0) for w, x in BLOCKS if not dim and not extra]:
                    blocks = order not in orders
                    grids = [(8, 8)] if blocks else GRIDS[:2] + [GRIDS[3]] if extra or order != ORDERS[0] else GRIDS
                    sizes = [[m * SIDE, n * SIDE, 1, k if blocks else DEPTH] for m, n in grids]
                    solution = dict(TILE, WorkGroupMappingDim=dim, WorkGroupMapping=order[0], WorkGroupMappingXCC=order[1],
                                    WorkGroupMappingXCCGroup=order[2], WorkGroupMappingXCCChunk=order[3], StaggerU=0, **extra)
                    out.append({'name': f'order_{len(out)}', 'arch': arch, 'cus': 4096, 'scalars': [[1, 0]] * len(sizes),
                                'problem': {'DataType': 's', 'TransposeA': False, 'TransposeB': False, 'Batched': True},
                                'solution': solution, 'sizes': sizes, 'blocks': blocks})
    return out


class Launch:
    def __init__(self, machine, case, answer, objects, launch):
        self.machine, self.arch, self.objects, self.launch = machine, answer['arch'], objects, launch
        m, n, _, k = launch['size']
        self.m, self.n, self.grid = m, n, (m // SIDE, n // SIDE)
        buffer = machine.emu.Buffer
        self.x = {o: buffer(np.ones(size, np.float32).tobytes(), end_aligned=True, name=o, writable=o == 'd')
                  for o, size in (('d', m * n), ('a', m * k), ('b', k * n))}
        self.poison = np.full(m * n, np.nan, np.float32).tobytes()
        self.call = launch['calls'][0]

    def run(self, u, extra=None):
        """None or an error. extra: buffers in place of A and B."""
        self.x['d'].write(np.frombuffer(self.poison, np.uint8))
        grid = self.call['grid']
        at = (u % grid[0], u // grid[0], 0)
        call = dict(self.call, grid=[One(size, i) for size, i in zip(grid, at)])
        address = {emulate.SLOTS.index(o): self.x[o].ptr for o in self.x}
        address[emulate.SLOTS.index('c')] = 0
        extra = list(extra or (self.x['a'], self.x['b']))
        return self.machine.call(self.arch, self.objects, call, address, [self.x['d']] + extra, {})

    def written(self):
        """Row and column of the tile that was written; None: something else was."""
        d = np.frombuffer(self.x['d'].read(), np.float32).reshape(self.n, self.m).T
        rows, columns = np.nonzero(~np.isnan(d))
        if not len(rows):
            return None
        row, column = rows.min() // SIDE, columns.min() // SIDE
        whole = len(rows) == SIDE * SIDE and rows.max() < (row + 1) * SIDE and columns.max() < (column + 1) * SIDE
        return (row, column) if whole else None

    def touches(self, u, operand, first, last):
        """Whether the work-group loads bytes first to last - 1 of A or B."""
        parts = [Hole(self.x[operand], 0, first), Hole(self.x[operand], last, self.x[operand].nbytes)]
        bad = self.run(u, [p for p in parts if p.nbytes] + [self.x['b' if operand == 'a' else 'a']])
        if bad and 'OutOfBounds' not in bad:
            raise ValueError(bad)
        return bad is not None


def tiles(launch, case):
    s = case['solution']
    order = [s['WorkGroupMapping'], s['WorkGroupMappingXCC'], s['WorkGroupMappingXCCGroup'], s['WorkGroupMappingXCCChunk']]
    for u in range(launch.grid[0] * launch.grid[1]):
        bad = launch.run(u)
        got, want = launch.written(), place(u, launch.grid, s['WorkGroupMappingDim'], order)
        if bad or got != want:
            return f'work-group {u} of {launch.grid} in order {order}: tile {got}, expected {want}: {bad}'
    return None


def blocks(launch, case):
    """Rows of A's tiles and columns of B's are both DEPTH elements of K deep: A's block is some of every column of
    a chunk, so that a hole spans its first column; B's is a piece of every column of the tile."""
    m, k = launch.m, launch.launch['size'][3]
    seen = set()
    for u in range(0, 64, 8):
        for chunk in range(k // DEPTH):
            for tile in range(8):
                a = (chunk * DEPTH * m + tile * SIDE) * 4
                b = (tile * SIDE * k + chunk * DEPTH) * 4
                if ('a', tile, chunk) not in seen and launch.touches(u, 'a', a, a + SIDE * 4):
                    seen.add(('a', tile, chunk))
                if ('b', tile, chunk) not in seen and launch.touches(u, 'b', b, b + DEPTH * 4):
                    seen.add(('b', tile, chunk))
    want = BLOCKS[case['solution']['WorkGroupMapping'], case['solution']['WorkGroupMappingXCC']]
    return None if len(seen) == want else f'die 0 loads {len(seen)} blocks of A and B, expected {want}'


def check(emu, kernels, _build):
    emu.range = ranges
    listed = cases()
    answers = kernels.make([{k: v for k, v in c.items() if k != 'blocks'} for c in listed])
    objects = kernels.compile(kernels.texts(answers))
    machine, n, wrong = emulate.Machine(emu), 0, []
    for case, answer in zip(listed, answers):
        for size in answer.get('launches', [None]):
            bad = answer['error'] if size is None else None
            if not bad:
                launch = Launch(machine, case, answer, objects, size)
                bad = (blocks if case['blocks'] else tiles)(launch, case)
            n += 1
            if bad:
                wrong.append(f'{answer["name"]} {answer["arch"]}: {bad}')
    return wrong, f'{len(wrong)} of {n} orders of work-groups wrong'


if __name__ == '__main__':
    sys.exit(frame.main(__doc__, 'order of work-groups', check))
