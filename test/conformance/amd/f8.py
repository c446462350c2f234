#!/usr/bin/env python3
"""Conversions of 8-bit floats in AMD kernels, run on the emulator: all codes to float, and floats around every code
and every middle between two codes to both types.

usage: f8.py [--build DIR]
Prints each error and a line of counts, or the reason for skipping. Exit code 1 when a number is wrong."""
import re
import sys

import numpy as np

import cases
import frame
import numbers_gemm as num

KERNELS = '''
extern "C" __attribute__((global)) void up(const unsigned char *x, float *f8, float *b8)
{
    const unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    f8[i] = g_f8_to_f(x[i]), b8[i] = g_b8_to_f(x[i]);
}
extern "C" __attribute__((global)) void down(const float *x, unsigned char *f8, unsigned char *b8)
{
    const unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    f8[i] = g_f_to_f8(x[i]), b8[i] = g_f_to_b8(x[i]);
}
'''


ARCHES = ('gfx942', 'gfx1201')     # without infinities; OCP's


def text(emit, arch, clip):
    """The conversions of a kernel, with kernels around them."""
    c = cases.case(arch, 'F8F8S', 'NN', {'WorkGroup': [16, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16,
                                             'KernelLanguage': 'Source'}, Fp32toFp8SWClip=clip)
    answer, = emit.make([dict(c, name='conversions', sizes=[])])
    with open(answer['file']) as f:
        body = f.read()
    define = re.search(r'^#define g_DEV .*$', body, re.M).group(0)
    functions = re.findall(r'^g_DEV [a-z ]+ g_(?:h2f|[fb]8_to_f|f_to_[fb]8)\(.*?^}$', body, re.M | re.S)
    if len(functions) != 5:
        raise SystemExit(f'{len(functions)} conversions found, not 5')
    return '\n'.join([define, *functions]) + KERNELS


def floats(small):
    """Codes, middles and the floats next to them; what is too large; what is no number. A multiple of 64."""
    up = small.up.astype(np.float32)
    x = np.concatenate([up, (up[1:] + up[:-1]) / 2, up[-1] * np.float32([1.03125, 1.0625, 1.125, 2, 1e30]),
                        np.float32([up[-1] + small.step / 2, 2.0 ** -149, 2.0 ** -126])])
    x = np.concatenate([x, np.nextafter(x, np.float32(0)), np.nextafter(x, np.float32(np.inf)),
                        np.random.default_rng(1).uniform(-1, 1, 4096).astype(np.float32) * small.up[-1] / 16])
    x = np.concatenate([x, -x, np.float32([0., -0., np.inf, -np.inf, np.nan, -np.nan])]).astype(np.float32)
    return np.resize(x, -(-x.size // 64) * 64)


def want(small, x, clip):
    codes = small.pack(x)
    if not clip:    # what rounds to more than the largest number is infinite or none
        over = (abs(x) > small.up[-1] + small.step / 2) | (abs(x) == small.up[-1] + small.step / 2) & (small.up.size % 2 == 0)
        codes = np.where(over & ~np.isnan(x), small.pack(np.copysign(np.inf, x)), codes).astype(np.uint8)
    return codes


def wrong(emu, co, small, clip):
    """(lines that say what is wrong, numbers checked)"""
    out, n, codes = [], 0, np.arange(256, dtype=np.uint8)
    got = {'f8': np.zeros(256, np.float32), 'b8': np.zeros(256, np.float32)}
    emu.launch(co, 'up', (4,), (64,), [codes, got['f8'], got['b8']])
    for name, s in small.items():
        bad = ~((got[name] == s.values) & (np.signbit(got[name]) == np.signbit(s.values)) |
                np.isnan(got[name]) & np.isnan(s.values))
        out += [f'{name} code {i:#x}: {got[name][i]}, not {s.values[i]}' for i in np.flatnonzero(bad)[:5]]
        x = floats(s)
        down = {'f8': np.zeros(x.size, np.uint8), 'b8': np.zeros(x.size, np.uint8)}
        emu.launch(co, 'down', (x.size // 64,), (64,), [x, down['f8'], down['b8']])
        w = want(s, x, clip)
        out += [f'{x[i]} to {name}: {down[name][i]:#x}, not {w[i]:#x}' for i in np.flatnonzero(down[name] != w)[:5]]
        n += 256 + x.size
    return out, n


def run_arch(emu, kernels, arch):
    """(lines that say what is wrong, numbers checked)"""
    out, total = [], 0
    for clip in (True, False):
        source = f'{kernels.dir}/codes.hip'
        with open(source, 'w') as f:
            f.write(text(kernels, arch, clip))
        path, error = kernels.compile_one(arch, [source])
        if not path:
            raise SystemExit(error)
        lines, n = wrong(emu, emu.CodeObject(path, arch), num.smalls(arch), clip)
        out += [f'{arch}, Fp32toFp8SWClip {clip}: {line}' for line in lines]
        total += n
    return out, total


def check(emu, kernels, _build):
    failed, total = [], 0
    for arch in ARCHES:
        lines, n = run_arch(emu, kernels, arch)
        failed, total = failed + lines, total + n
    return failed, f'{total} conversions of 8-bit floats, {len(failed) or "none"} wrong'


if __name__ == '__main__':
    sys.exit(frame.main(__doc__, '8-bit floats', check))
