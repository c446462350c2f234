#!/usr/bin/env python3
"""Convolutions in the texts of NVIDIA kernels and in host kernels, both on the CPU: all directions and formats, pads, strides,
dilation, groups, 1x1, odd channels, 3-D.

usage: convolutions.py [--build DIR] [--short] [--only host|nvptx]
Prints each error and a line of counts, or the reason for skipping. Exit code 1 when something is wrong."""
import argparse
import concurrent.futures
import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'amd'))     # where another module is called emulate, too
texts = importlib.util.spec_from_file_location('texts', os.path.join(HERE, 'emulate.py'))
nv = importlib.util.module_from_spec(texts)
texts.loader.exec_module(nv)
import conv
import convolve

GPU = {'WorkGroup': [16, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16, 'PrefetchGlobalRead': 1, 'NvRing': 0, 'EdgeType': 'ShiftPtr',
       'StaggerU': 0, 'KernelLanguage': 'Source', 'GlobalReadVectorWidth': 1, 'VectorWidth': 1}
SMALL = {**GPU, 'WorkGroup': [8, 8, 1], 'DepthU': 8, 'StaggerU': 4}
HOST = {'EdgeType': 'ShiftPtr', 'WorkGroup': [4, 8, 1], 'ThreadTile': [8, 4], 'VectorWidth': 4, 'DepthU': 16}
# Rows of columns that taps share.
DIRECT = {'EdgeType': 'ShiftPtr', 'WorkGroup': [4, 8, 1], 'ThreadTile': [8, 8], 'VectorWidth': 8, 'DepthU': 16, 'HostDirectConv': 1}
WIDE = {'ThreadTile': [16, 16], 'VectorWidth': 16}     # AVX-512
ROWS = [(f'rows {i}', convolve.Conv(2, 5, 19, (5, 51), 3, stride=(1, 1 + i), dilation=(1, 1 + i // 2), pad=(1, 2), pad_end=(1, i)))
        for i in range(5)] + [('rows of one', convolve.Conv(2, 40, 70, (3, 4), 3, pad=1))]
# More elements of the filter along a pad than bits stand for (ring_gather.c).
LONG = [('long', convolve.Conv(2, 3, 5, (4, 40), (1, 18), pad=(0, 9))), ('high', convolve.Conv(1, 2, 6, (37, 3), (17, 2), pad=(8, 1)))]
# With a ring of stages; GlobalReadVectorWidth -1: vectors where the operand has them.
RING = {'WorkGroup': [8, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 8, 'PrefetchGlobalRead': 2, 'NvRing': 1, 'EdgeType': 'ShiftPtr',
        'StaggerU': 0, 'KernelLanguage': 'Source', 'GlobalReadVectorWidth': 1}
MMA = {**RING, 'MatrixInstruction': [16, 8, 16, 1, 1, 2, 4, 2, 2], 'DepthU': 32}
BYTES = {**RING, 'MatrixInstruction': [16, 8, 32, 1, 1, 2, 4, 2, 2], 'DepthU': 64, 'GlobalReadVectorWidth': 4}
XF32 = {**RING, 'MatrixInstruction': [16, 8, 8, 1, 1, 2, 4, 2, 2], 'DepthU': 16, 'GlobalReadVectorWidth': -1, 'NvRoundXF32': 0}
RINGS = [('S', RING), ('HHS', MMA), ('S', {**RING, 'WorkGroup': [8, 8, 2], 'DepthU': 16, 'PrefetchGlobalRead': 3, 'StaggerU': 4}),
         ('BBS', {**MMA, 'GlobalReadVectorWidth': -1, 'PrefetchGlobalRead': 1})]
# Work-groups of several tiles, which fill the stages of the next one while results are stored; with parts of K, too.
ACROSS = {'PersistentKernel': 1, 'PrefetchAcrossPersistent': 1}
KERNELS = {'ring': RINGS, 'nvptx': [('S', GPU), ('S', SMALL), ('HHS', GPU), ('I8II', GPU)],
           'host': [('S', HOST), ('S', {**HOST, 'DepthU': 64, 'WorkGroup': [8, 4, 1]}), ('HHS', HOST), ('BBS', {**HOST, 'DepthU': 8})],
           'direct': [('S', DIRECT), ('S', {**DIRECT, 'DepthU': 64, 'WorkGroup': [8, 4, 1], 'HostKeepB': 3}), ('HHS', DIRECT),
                      ('BBS', {**DIRECT, 'DepthU': 8})]}


class HostObject:
    def __init__(self, path, _arch):
        self.lib, self.kernels, self.meta_kernels = ctypes.CDLL(path), {}, {}


class Host(nv.Emulator):
    """Runs a host kernel as libtuner does: all work-groups by one thread."""
    CodeObject = HostObject

    def launch(self, co, symbol, grid, group, kernarg, extra, ambiguous, limit, waits=True):
        local = ctypes.c_uint64.in_dll(co.lib, symbol + '_local_bytes').value
        room = ctypes.create_string_buffer(local + 128)
        at = (ctypes.addressof(room) + 63) // 64 * 64
        getattr(co.lib, symbol)(kernarg + bytes(8), (ctypes.c_uint32 * 3)(*grid), ctypes.c_uint64(0),
                                ctypes.c_uint64(grid[0] * grid[1] * grid[2]), ctypes.c_void_p(at))
        return self


class Kernels(nv.amd.Kernels):
    """Compiles NVIDIA texts as C++, host texts as C."""

    def __init__(self, build, compiler):
        super().__init__(f'{build}/conformance/emit', compiler, f'{build}/conformance/nvptx.cache')
        self.headers = []

    def compile(self, wanted, watch=None):
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            self.headers = nv.precompiled(self.compiler, folder)
            made = list(pool.map(self.one, wanted))
        out = {(arch, symbol): path for (arch, symbol, _), path in zip(wanted, made)}
        out.update({w: path for w, path in zip(wanted, made)})      # helper kernels of one symbol differ
        return out

    def one(self, item):
        arch, symbol, path = item
        if arch.startswith('sm_'):
            return nv.compile_text(self.compiler, os.path.abspath(path), [symbol], self.headers)
        level = arch.replace('_', '-')
        r = subprocess.run(['cc', '-x', 'c', '-std=c11', '-O1', f'-march={level}', '-fPIC', '-shared', '-w', path, '-o', path + '.so'],
                           capture_output=True, text=True)
        return path + '.so' if r.returncode == 0 else 'compile: ' + r.stderr[:1000]


def given(name, short):
    out, arch = [], {'ring': 'sm_90', 'nvptx': 'sm_90'}.get(name, 'x86-64-v4' if name.endswith('512') else 'x86-64-v3')

    def kernel(i):
        kind, solution = KERNELS[name.replace('512', '')][i % 4]
        return kind, {**solution, **WIDE} if name.endswith('512') else solution

    def add(i, direction, image, **more):
        kind, solution = kernel(i)
        if short and name == 'ring' and direction == 'weights':
            solution = {**solution, **conv.PARTS[0]}
        if short and name == 'ring' and direction == 'data':
            solution = {**solution, **ACROSS, 'PersistentKernelAlongBatch': True}
        out.append(conv.case(arch, kind, solution, direction, image, len(out), **more))
    for d, direction in enumerate(convolve.DIRECTIONS):
        for f, image in enumerate(convolve.IMAGES):
            if short and f != (d + 1) % 4:
                continue
            if not short or d:
                add(d + f, direction, image)
            if not short or not d:
                add(d + f + 1, direction, image, groups=True)
            if not short:
                add(d + f + 2, direction, image, spatial=3)
        for v in range(4 if not short else 0):
            kind, solution = kernel(v)
            width = {'S': 4, 'I8II': 4}.get(kind, 8) // (1 + (v + d) % 2)
            wide = conv.widened(solution, width) if name == 'nvptx' else solution
            if name == 'ring':
                wide = {**solution, 'GlobalReadVectorWidth': width, 'DepthU': max(solution['DepthU'], 2 * width)}
            out.append(conv.case(arch, kind, wide, direction, 'NHWC', len(out), groups=direction == 'weights',
                                 list_=conv.vectors(width)))
        if not short and name == 'ring':
            add(d, direction, 'NCHW', list_=LONG)
            out.append(conv.case(arch, 'X', XF32, direction, 'NHWC', len(out), list_=conv.vectors(4)))
            if direction == 'forward':
                out.append(conv.case(arch, 'I8II', BYTES, direction, 'NHWC', len(out), list_=conv.vectors(4)))
        for i, parts in enumerate(conv.PARTS if arch == 'sm_90' and not short else []):
            kind, solution = kernel(d + i)
            for more in parts, {**parts, 'StaggerU': 4, 'PackBatchDims': 1}:
                out.append(conv.case(arch, kind, {**solution, **more}, direction, convolve.IMAGES[(d + i) % 4], len(out), packs=False,
                                     groups='PackBatchDims' not in more and (d + i) % 3 == 0))
        for i, parts in enumerate([{}, *conv.PARTS[:3]] if name == 'ring' and not short else []):
            kind, solution = RINGS[(d + i) % 4]
            own = {**solution, **ACROSS, **parts, 'PersistentKernelAlongBatch': not parts}
            out.append(conv.case(arch, kind, own, direction, convolve.IMAGES[(d + i) % 4], len(out), packs=False, groups=i % 2 == 1))
        if not short:
            add(d, direction, 'NHWC', filters='CYXK')
            add(d + 1, direction, 'NCHW', filters='KYXC')
            for i in range(2 if name.endswith('512') else 0):   # rows of more than two vectors
                add(i, direction, 'NCHW', list_=ROWS)
                add(i, direction, 'NHWC', list_=ROWS)
    if arch == 'sm_90' and not short:
        out += conv.fused_cases([(arch, *k) for k in KERNELS[name] if k[0] != 'I8II'])
    return out + conv.foreign_cases([(arch, *kernel(i)) for i in range(1 if short else 4)], short)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--short', action='store_true')
    p.add_argument('--only', choices=('host', 'direct', 'host512', 'direct512', 'nvptx', 'ring'))
    p.add_argument('--fused', action='store_true', help='kernels with fused operations alone')
    args = p.parse_args()
    compiler = shutil.which(os.environ.get('CXX', 'g++'))
    if not compiler:
        print('skipped: convolutions on the CPU: no g++')
        return 0
    bad = 0
    for name in ('nvptx', 'ring', 'host', 'direct', 'host512', 'direct512'):
        if args.only not in (None, name) or (args.short and name.endswith('512')):
            continue
        if name.endswith('512') and 'avx512vl' not in open('/proc/cpuinfo', encoding='ascii', errors='replace').read():
            print(f'skipped: {name}: no AVX-512')
            continue
        emulator = nv.Engine() if name in ('nvptx', 'ring') else Host()
        kernels, todo = Kernels(args.build, compiler), given(name, args.short)
        todo = [t for t in todo if not args.fused or 1000 <= int(t[0]['name'][1:]) < 2000]
        wrong, n = conv.check_all(todo, kernels, nv.Machine(emulator))
        kernels.close()
        for line in wrong:
            print(line)
        print(f'{name}: {len(todo)} kernels, {n} convolutions, {len(wrong) or "none"} wrong')
        bad += len(wrong)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
