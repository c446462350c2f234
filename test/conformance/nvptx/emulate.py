"""Kernels for NVIDIA GPUs on the CPU: `emit` makes the texts and the launches, a C++ compiler what runs them; functions of
the text that are instructions (asm) are replaced by those of warps.hpp; D is compared with numpy.

Buffers end at a page that cannot be read or written; every other one begins at a multiple of 16 bytes instead. Checked is what the text computes: layouts, edges, splits,
conversions by plain code; waits for cp.async; in kernels by wgmma also the protocol of mbarriers, the copy engine and wgmma
(hopper.hpp). Not checked: what other instructions do, races.
"""
import argparse
import concurrent.futures
import ctypes
import itertools
import mmap
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..'), os.path.join(HERE, '..', 'amd')]
import cases
import emulate as amd
import numpy as np
import progress

MMA = re.compile(r'mma\.sync\.aligned\.m16n8k\d+\.row\.col\.(\w+)\.(\w+)\.(\w+)')
# Functions that are instructions, as they stand in a text, and what they become.
INSTRUCTIONS = {
    'float g_h2f(unsigned short h)': 'return half_to_float(h);',
    'unsigned short g_f2h(float f)': 'return (unsigned short)float_to_half(f);',
    'float g_f8_to_f(unsigned char x)': 'return e4m3::get(x);',
    'void g_cp(g_u32 to, const void *from)': 'copy_async<W>(to, from, W);',
    'void g_cpz(g_u32 to, const void *from, int bytes)': 'copy_async<W>(to, from, bytes);',
    'void g_commit()': 'commit_copies();',
    'void g_prefetch(const void *p)': '(void)*(const volatile char *)p;',
    'void g_arrived()': 'await_copies(N);',
    'void wait_for_previous()': '',
    'float g_tanh(float x)': 'return tanhf(x);',
    'void flags_begin()': '',
    'void g_sts(g_u32 to, const g_u32 *v)': 'memcpy(at_shared<char>(to, W), v, W);',
    'void g_ldsm(g_u32 *d, g_u32 at)': 'ldmatrix(d, at, false);',
    'void g_ldsm_t(g_u32 *d, g_u32 at)': 'ldmatrix(d, at, true);',
    'void g_lds4(g_u32 *d, g_u32 at)': 'load_shared<16>(d, at);',
    'void g_lds1(g_u32 *d, g_u32 at)': 'load_shared<4>(d, at);',
    'void g_sts_half(g_u32 to, unsigned short v)': 'memcpy(at_shared<char>(to, 2), &v, 2);',
    'unsigned short g_lds_half(g_u32 at)': 'unsigned short v; memcpy(&v, at_shared<char>(at, 2), 2); return v;',
    'void g_ldsd(double *d, g_u32 at)': 'load_shared<8>(d, at);',
    'void g_keep_address(T *&p)': '',
    'void g_keep_number(int &x)': '',
    'T g_load_if(bool in, const T *from)': 'return in ? *from : T();',
    'void g_store_if(bool in, T *to, T x)': 'if (in) *to = x;',
    'void g_mma(g_TC *c, const g_F *x, const g_F *y)': 'mma<{1}, {2}>(c, x, y);',
    'void g_halves_a(unsigned &low, unsigned &high, unsigned x)': 'low = e4m3x2(x), high = e4m3x2(x >> 16);',
    'void g_halves_b(unsigned &low, unsigned &high, unsigned x)': 'low = e4m3x2(x), high = e4m3x2(x >> 16);'}

# The same of kernels by wgmma.
HOPPER = {
    'void bar_init(u32 bar, int count)': 'barrier_init(bar, count);',
    'void bars_fence()': '',
    'void bar_expect(u32 bar, int bytes)': 'barrier_expect(bar, bytes);',
    'void bar_wait(u32 bar, u32 parity)': 'barrier_wait(bar, parity);',
    'void bar_arrive(u32 bar, u32 rank)': 'barrier_arrive(bar, MULTICAST_WGS > 1 ? rank : rank_own());',
    'u32 cluster_rank()': 'return rank_own();',
    'void cluster_sync()': 'cluster_meet();',
    'void load_box(u32 to, const Map &map, u32 bar, int c0, int c1, int c2)': 'engine_load_own(to, &map, bar, c0, c1, c2);',
    'void load_box_shared(u32 to, const Map &map, u32 bar, int c0, int c1, int c2, int mask)':
        'engine_load(to, &map, bar, c0, c1, c2, mask);',
    'void load_box(u32 to, const Map &map, u32 bar, int c0, int c1, int c2, int c3)': 'engine_load_4(to, &map, bar, c0, c1, c2, c3);',
    'void load_box_shared(u32 to, const Map &map, u32 bar, int c0, int c1, int c2, int c3, int mask)':
        'engine_load_4(to, &map, bar, c0, c1, c2, c3, mask);',
    'void load_box(u32 to, const Map &map, u32 bar, int channel, int w, int h, int image, int x, int y)':
        'engine_load_pixels(to, &map, bar, channel, w, h, image, x, y);',
    'void load_box_shared(u32 to, const Map &map, u32 bar, int channel, int w, int h, int image, int x, int y, int mask)':
        'engine_load_pixels(to, &map, bar, channel, w, h, image, x, y, mask);',
    'void store_box(const Map &map, u32 from, int c0, int c1, int c2)': 'engine_store(&map, from, c0, c1, c2);',
    'void load_piece(u32 at, u32 (&v)[4])': 'for (int i = 0; i < 4; i++) v[i] = read_word(at + i * 4);',
    'void store_vector(void *to, const u32 (&v)[4])': 'if ((uintptr_t)to % 16) fail("a store of 16 bytes at %lld", (long long)(uintptr_t)to);\n    memcpy(to, v, 16);',
    'void store_pixels(const Map &map, u32 from, int channel, int w, int h, int image)':
        'engine_store_pixels(&map, from, channel, w, h, image);',
    'void store_commit()': 'engine_commit();',
    'void store_wait_read()': 'engine_wait(N);',
    'void store_wait()': 'engine_wait(0);',
    'void proxy_fence()': 'proxy_fence_own();',
    'void group_sync(int id)': 'named_meet(id, 128, true);',
    'void consumers_sync()': 'named_meet(1 + CONSUMERS, 128 * CONSUMERS, true);',
    'void dependent_begins()': 'launches_begin();',
    'void wait_for_launches()': 'launches_wait();',
    'void store_two(u32 at, u32 a, u32 b)': 'write_word(at, a), write_word(at + 4, b);',
    'void load_remote(u32 at, u32 rank, u32 (&v)[4])': 'read_there(at, rank, v);',
    'void put_sums(g_TC *to, u32 a, u32 b, u32 c, u32 d)': 'sums_put(to, a, b, c, d);',
    'void get_sums(const g_TC *from, u32 (&v)[4])': 'sums_get(from, v);',
    'void fence_all()': 'fence_gpu();',
    'u32 count_in(u32 *counter)': 'return sums_count(counter);',
    'bool wait_count(const u32 *counter, u32 n)': 'return sums_wait(counter, n);',
    'bool change_flag(u32 *flag, u32 from, u32 to)': 'return flag_change(flag, from, to);',
    'u64 word_now(const u64 *word)': 'return *word;',
    'void word_begin(u64 *word, u64 now)': 'if (now >> 32 != WORD_VALID >> 32 && *word == now) *word = WORD_VALID;',
    'u64 word_add(u64 *word, u64 x)': 'return word_change(word, x);',
    'void word_reset(u64 *word)': '*word = WORD_VALID;',
    'bool word_wait(const u64 *word, u32 n)': 'return word_awaits(word, n);',
    'bool any_of_group(int id, bool x)': 'return named_any(id, 128, x);',
    'void turn_wait(int wg)': 'named_meet(2 + CONSUMERS + wg, 256, true);',
    'void turn_arrive(int wg)': 'named_meet(2 + CONSUMERS + wg, 256, false);',
    'void fewer_registers()': 'registers_own(N);',
    'void more_registers()': 'registers_own(N);',
    'void prefetch_map(const Map &map)': '',
    'void wgmma_fence()': 'wgmma_fence_own();',
    'void wgmma_commit()': 'wgmma_commit_own();',
    'void wgmma_wait()': 'wgmma_wait_own(N);',
    'void keep(float &x)': '',
    'void keep(int &x)': '',
    'void keep(u32 &x)': '',
    'void store_matrices(u32 at, u32 a, u32 b, u32 c, u32 d)': 'stmatrix(at, a, b, c, d, !SWAP);',
    'void load_matrices(u32 at, u32 (&v)[4])': 'move_matrices(at, v, !SWAP, false);',
    'void store_matrices_2(u32 at, u32 a, u32 b)': 'stmatrix_2(at, a, b, !SWAP);',
    'void load_matrices_2(u32 at, u32 (&v)[4])': 'move_matrices(at, v, !SWAP, false, 2);',
    'u32 pair(float lo, float hi)': 'return PAIR_BF16 ? bf16_bits(lo) | bf16_bits(hi) << 16 : float_to_half(lo) | '
                                    'float_to_half(hi) << 16;',
    'u32 relu_pair(u32 p)': 'return relu_half(p, PAIR_BF16) | relu_half(p >> 16, PAIR_BF16) << 16;',
    'void load_pair(u32 at, u32 &a, u32 &b)': 'a = read_word(at), b = read_word(at + 4), rows_loaded();',
    'void store_word(u32 at, u32 v)': 'write_word(at, v);',
    'u32 load_word(u32 at)': 'return read_word(at);',
    'void copy_row(u32 to, const void *from, u32 bytes, u32 bar)': 'engine_copy(to, from, bytes, bar);',
    'u32 line_word(u32 at)': 'return read_word(at);',
    'void store_piece(u32 at, u32 a, u32 b, u32 c, u32 d)': 'write_words(at, {a, b, c, d});',
    'void store_place(u32 at, u32 a, u32 b)': 'write_words(at, {a, b});',
    'void load_place(u32 at, u32 &a, u32 &b)': 'a = read_word(at), b = read_word(at + 4);'}
WGMMA = re.compile(r'void wgmma\(g_TC \(&d\)\[\d+\], (unsigned long long x|const unsigned \(&x\)\[4\]), unsigned long long y, int add\)')
WGMMA_NAME = re.compile(r'wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k\d+\.\w+\.(\w+)\.(\w+) ')
WGMMA_MAJOR = re.compile(r', p(?:, 1, 1(?:, ([01]), ([01]))?)?;')


def wgmma(text):
    """The head and the new body of a text's wgmma, or nothing."""
    head = WGMMA.search(text)
    if not head:
        return {}
    columns, x, y = WGMMA_NAME.search(text, head.start()).groups()
    if 'unsigned (&x)' in head.group(1):
        return {head.group(0): f'wgmma_start_rows<{columns}, {x}, {y}, g_TC>(d, x, y, add);', **HOPPER}
    major = [m == '1' for m in WGMMA_MAJOR.search(text, head.start()).groups()]
    k_major = ', '.join('false' if m else 'true' for m in major)
    return {head.group(0): f'wgmma_start<{columns}, {x}, {y}, g_TC, {k_major}>(d, x, y, add);', **HOPPER}


def without_asm(text):
    """The text with its instructions replaced."""
    op = MMA.search(text)
    for head, body in {**INSTRUCTIONS, **wgmma(text)}.items():
        if op:
            body = body.format('', op.group(2), op.group(3))
        start = 0
        while (at := text.find(head, start)) >= 0:
            end = text.index('\n', at)
            if text[end - 1] != '}':
                end = text.index('\n}\n', at) + 2
            if 'asm' in text[at:end]:
                text = text[:at] + head + ' { ' + body + ' }' + text[end:]
            start = at + len(head)
    text = re.sub(r'extern (__shared__ .*)\[\];', r'\1[227 << 10];', text)     # as much as there can be
    left = re.search('^.*asm.*$', text, re.M)
    if left:
        raise SystemExit(f'an instruction that is not known here: {left.group(0)[:200]}')
    return text


class CodeObject:
    """A compiled text."""

    def __init__(self, path, arch):
        self.lib = ctypes.CDLL(path)
        with open(path + '.symbols') as f:
            symbols = f.read().split()
        self.symbols, self.clusters = symbols[::2], [int(c) for c in symbols[1::2]]
        self.meta_kernels, self.kernels = {}, {}


class Buffer:
    """Bytes that end at a page without access, which begin where that puts them."""

    def __init__(self, data, end_aligned=True, name='', writable=True):
        page = mmap.PAGESIZE
        self.n = len(data)
        self.room = -(-max(self.n, 1) // page) * page
        self.map = mmap.mmap(-1, self.room + 2 * page)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        if ctypes.CDLL(None).mprotect(ctypes.c_void_p(base + page + self.room), ctypes.c_size_t(page), 0):
            raise OSError('mprotect failed')
        self.ptr = base + page + self.room - self.n
        ctypes.memmove(self.ptr, data, self.n)

    def read(self, at, n):
        return ctypes.string_at(self.ptr + at, n)


class Aligned(Buffer):
    """One that begins at a multiple of 16 bytes, as tensor maps want, and as a device's memory is given out."""

    def __init__(self, data, **more):
        super().__init__(data + b'\xee' * (-len(data) % 16), **more)


class Emulator:
    """What amd's Machine calls."""
    Buffer, CodeObject = Buffer, CodeObject
    instructions = 0

    class Unsupported(Exception):
        pass

    class EmuError(Exception):
        pass

    def launch(self, co, symbol, grid, group, kernarg, extra, ambiguous, limit, waits=True):
        which = co.symbols.index(symbol)
        cluster = co.clusters[which]
        args = which, group[0], max(cluster, 1), (ctypes.c_uint * 3)(*grid), kernarg + bytes(8)
        if cluster:
            self.apart(co.lib.launch, args)
        else:
            co.lib.launch(*args)
        return self

    def apart(self, launch, args):
        """In a process of its own, which prints what is wrong and ends; buffers are shared with it."""
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.dup2(write, 1)
            signal.alarm(300)
            launch(*args)
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as f:
            said = f.read().strip()
        status = os.waitpid(child, 0)[1]
        if status:
            raise self.EmuError(said or f'ends with {status}')


class Engine(Emulator):
    """For kernels of the copy engine, and where only leading dimensions are to be unaligned."""
    Buffer = Aligned


class Machine(amd.Machine):
    def read_notes(self, co):
        pass


def machines():
    """One whose buffers end at the page, one whose buffers begin at multiples of 16 bytes."""
    return Machine(Emulator()), Machine(Engine())


CXXFLAGS = ['-std=c++17', '-Og', '-w', '-fPIC', '-fno-strict-aliasing', '-fsanitize=alignment', '-fsanitize-undefined-trap-on-error']


def precompiled(compiler, folder):
    """Flags by which compile_text finds warps.hpp precompiled in the folder: a third of the time of a compilation; none if it fails."""
    made = os.path.join(folder, 'warps.hpp.gch')
    r = subprocess.run([compiler, *CXXFLAGS, '-x', 'c++-header', f'{HERE}/warps.hpp', '-o', made], capture_output=True)
    return [f'-I{folder}'] if r.returncode == 0 else []


def compile_text(compiler, path, symbols, flags=()):
    """The shared object, or 'compile: why'."""
    with open(path) as f:
        text = without_asm(f.read())
    names = ''.join(f'using namespace {n};\n' for n in re.findall(r'^namespace (\w+)', text, re.M))
    with open(path + '.cpp', 'w') as f, open(path + '.so.symbols', 'w') as s:
        hopper = '#include "hopper.hpp"\n' if 'wgmma_start' in text else ''
        f.write(f'#include "warps.hpp"\n{hopper}{text}\n{names}namespace {{ template <class... A> void call(void (*)(A...), '
                'const char *);\nvoid (*const entries[])(const char *) = {')
        f.write(', '.join(f'[](const char *args) {{ call({k}, args); }}' for k in symbols))
        f.write('}; }\n#include "launch.hpp"\n')
        for k in symbols:   # work-groups of a cluster; 0: no kernel by wgmma
            dims = re.search(r'(?:__cluster_dims__\((\d+), 1, 1\) )?' + k + r'\([^)]*\bMap\b', text)
            s.write(f'{k} {int(dims.group(1) or 1) if dims else 0}\n')
    r = subprocess.run([compiler, *CXXFLAGS, '-shared', *flags, f'-I{HERE}', '-o', path + '.so', path + '.cpp'],
                       capture_output=True, text=True)
    return path + '.so' if r.returncode == 0 else 'compile: ' + r.stderr[:1000]


# ---- cases ----

KINDS = ['S', 'D', 'C', 'Z', 'HHS', 'BBS', 'I8II', 'X', *cases.F8]
SIZES = [[45, 37, 2, 51], [64, 64, 1, 128], [70, 65, 2, 150, 78, 77, 160, 176], [33, 1, 1, 7], [65, 130, 2, 17, 68, 66, 72, 140],
         [129, 64, 1, 64]]
SPLIT = {'GlobalSplitU': 3, 'GlobalSplitUAlgorithm': 'SingleBuffer', 'MinKForGSU': 16}
PARTS = {'GlobalSplitU': 2, 'GlobalSplitUAlgorithm': 'MultipleBuffer', 'MinKForGSU': 16}


def kernels(kind, trans):
    """Solutions of a data type: ring kernels as they are, with K split in the work-group, unaligned; register ones."""
    split = PARTS if kind in 'CZ' else SPLIT    # complex numbers cannot be added in place
    if kind in 'SDCZ':
        ring = [{'WorkGroup': [8, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16},
                {'WorkGroup': [8, 8, 2], 'ThreadTile': [4, 4], 'DepthU': 16, 'EdgeType': 'ShiftPtr', **split},
                {'WorkGroup': [8, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16, 'GlobalReadVectorWidth': 1, **PARTS}]
        along_k = {'UnrollMajorLDSA': trans[0] != 'N', 'UnrollMajorLDSB': trans[1] == 'N'}
        if any(along_k.values()):
            ring += [{'WorkGroup': [8, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16, **along_k},
                     {'WorkGroup': [1, 32, 4], 'ThreadTile': [4, 4], 'DepthU': 32, 'EdgeType': 'ShiftPtr', **split, **along_k},
                     {'WorkGroup': [4, 8, 8], 'ThreadTile': [8, 4], 'DepthU': 64, 'GlobalReadVectorWidth': 1, **along_k},
                     {'WorkGroup': [16, 8, 1], 'ThreadTile': [4, 8], 'DepthU': 8, 'PrefetchLocalRead': 0, 'NvLanesM': 8, **PARTS,
                      **along_k}]
    else:
        mi = {'HHS': 16, 'BBS': 16, 'X': 8}.get(kind, 32)
        ring = [{'MatrixInstruction': [16, 8, mi, 1, 1, 2, 4, 2, 2], 'DepthU': 2 * mi},
                {'MatrixInstruction': [16, 8, mi, 1, 1, 2, 4, 1, 1], 'WorkGroup': [16, 8, 2], 'DepthU': 4 * mi,
                 'EdgeType': 'ShiftPtr', **SPLIT},
                {'MatrixInstruction': [16, 8, mi, 1, 1, 4, 4, 2, 2], 'DepthU': 2 * mi, 'GlobalReadVectorWidth': 1, **PARTS}]
    registers = [{'WorkGroup': [16, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16},
                 {'WorkGroup': [8, 8, 1], 'ThreadTile': [4, 4], 'DepthU': 16, 'StaggerU': 4, **split}]
    if kind == 'X':     # rounding is instructions; there are no other xf32 kernels
        ring, registers = [{**s, 'NvRoundXF32': 0} for s in ring], []
    return ([{'StaggerU': 0, **s, 'NvRing': 1, 'PrefetchGlobalRead': 2} for s in ring] +
            [{'StaggerU': 0, **s, 'NvRing': 0, 'PrefetchGlobalRead': 1} for s in registers])


# By wgmma: rows of multiples of 16 bytes; more tiles than work-groups; edges in both directions; no alpha, no beta.
ENGINE_SIZES = [[144, 272, 2, 80], [256, 128, 1, 320], [64, 64, 3, 64], [45, 37, 2, 51, 160, 160, 176, 192],
                [304, 129, 1, 7, 304, 304, 352, 352], [16, 16, 1, 16]]


def by_wgmma(kind, trans):
    """Solutions: both schedules, clusters, more rows than one warp group's, parts of K, results with and without the engine."""
    k = 32 // cases.bytes_of(kind)
    wide = 128 if kind in cases.F8 else 256    # sums of 8-bit floats take twice the registers
    out = [{'MatrixInstruction': [wide, 64, k, 1, 1, 1, 1, 1, 2]},
           {'MatrixInstruction': [wide, 64, k, 1, 1, 1, 1, 1, 2], 'ClusterM': 2, 'WorkGroupMapping': -4},
           {'MatrixInstruction': [64, 128, k, 1, 1, 1, 1, 2, 1], 'ClusterM': 2, 'ClusterN': 2},
           {'MatrixInstruction': [128, 64, k, 1, 1, 1, wide // 128, 1, 1], 'ConsumerSchedule': 'PingPong', 'StaggerU': 4},
           {'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 1, 1], 'ConsumerSchedule': 'PingPong', 'EngineStore': False},
           {'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 1, 1], 'ConsumerSchedule': 'PingPong', 'ClusterN': 2, 'SourceSwap': True},
           {'MatrixInstruction': [64, 32 if trans[1] == 'N' else 64, k, 1, 1, 1, 1, 1, 1], 'RingStages': 5},
           {'MatrixInstruction': [128, 64, k, 1, 1, 1, 1, 1, 2], **PARTS},
           {'MatrixInstruction': [128, 64, k, 1, 1, 1, 1, 1, 2], 'ClusterK': 4, 'DependentLaunch': True},
           {'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'ClusterK': 2, 'ClusterM': 2, 'ClusterN': 2, 'StaggerU': 4},
           {'MatrixInstruction': [64, 128, k, 1, 1, 1, 1, 1, 1], 'ClusterK': 8, 'GlobalSplitUSummationAssignmentRoundRobin': False},
           {'MatrixInstruction': [128, 64, k, 1, 1, 1, 1, 1, 2], 'GlobalSplitU': 3, 'MinKForGSU': 16,
            'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel', 'DependentLaunch': True},
           {'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 1, 1], 'StreamK': 1, 'PersistentKernel': 0, 'ClusterM': 2},
           {'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'StreamK': 2, 'PersistentKernel': 0},
           {'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 1, 1], 'StreamK': 3, 'PersistentKernel': 0, 'ConsumerSchedule': 'PingPong'},
           {'MatrixInstruction': [64, wide * 3 // 4, k, 1, 1, 1, 1, 1, 1], 'EngineStore': False, 'WorkGroupMapping': 3},
           {'MatrixInstruction': [8, 64, k, 1, 1, 1, 1, 1, 1]},
           {'MatrixInstruction': [16, 64, k, 1, 1, 1, 1, 1, 2], 'ClusterN': 2},
           {'MatrixInstruction': [24, 64, k, 1, 1, 1, 2, 1, 1], **PARTS},
           {'MatrixInstruction': [64, 8, k, 1, 1, 1, 1, 1, 1]},
           {'MatrixInstruction': [64, 16, k, 1, 1, 2, 1, 1, 1], 'EngineStore': False, 'ClusterM': 2},
           {'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'EngineStore': False, **PARTS}]
    if trans[1] == 'N':
        out += [{'MatrixInstruction': [64, 80 if kind == 'I8II' else 72, k, 1, 1, 1, 1, 1, 1]}]    # int8 has few odd widths
    if kind in cases.F8:
        out += [{'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 1, 1], 'PromotionSets': 2, 'ClusterK': 2},
                {'MatrixInstruction': [16, 64, k, 1, 1, 1, 2, 1, 2], 'PromotionSets': 2}]
    counted = {'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel', 'SelfResetCounters': True, 'MinKForGSU': 16}
    out += [{'MatrixInstruction': [128, 64, k, 1, 1, 1, 1, 1, 2], 'GlobalSplitU': 3, 'DependentLaunch': True, **counted},
            {'MatrixInstruction': [64, 16, k, 1, 1, 1, 1, 2, 1], 'GlobalSplitU': 16, 'ClusterM': 2, 'PartsFirst': True, **counted},
            {'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 1, 1], 'ConsumerSchedule': 'PingPong', 'GlobalSplitU': 2, 'StaggerU': 4, **counted}]
    clusters = {'GlobalSplitUAlgorithm': 'MultipleBuffer', 'MinKForGSU': 16}
    out += [{'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'ClusterK': 2, 'GlobalSplitU': 3, 'DependentLaunch': True,
             'PartsFirst': True, **clusters},
            {'MatrixInstruction': [128, 64, k, 1, 1, 1, 1, 1, 2], 'ClusterK': 4, 'ClusterN': 2, 'GlobalSplitU': 2,
             'GlobalSplitUSummationAssignmentRoundRobin': False, **clusters}]
    far = {'GlobalSplitUWorkGroupMappingRoundRobin': True}
    out += [{'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 1, 1], 'ConsumerSchedule': 'PingPong', 'GlobalSplitU': 4, 'EngineStore': False,
             **counted, **far},
            {'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'GlobalSplitU': 3, 'ClusterN': 2, **clusters, **far},
            {'MatrixInstruction': [128, 64, k, 1, 1, 1, 1, 1, 2], 'GlobalSplitU': 5, 'EngineStore': False, **clusters, **far}]
    out += [{'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'ClusterM': 4, 'ClusterN': 2},
            {'MatrixInstruction': [128, 64, k, 1, 1, 1, 1, 1, 1], 'ConsumerSchedule': 'PingPong', 'ClusterM': 2, 'ClusterN': 4}]
    if kind not in cases.F8:
        out += [{'MatrixInstruction': [64, 64, k, 1, 1, 3, 1, 1, 1], 'ConsumerSchedule': 'PingPong', 'ClusterM': 4, 'WorkGroupMapping': 4},
                {'MatrixInstruction': [256, 64, k, 1, 1, 1, 1, 1, 2], 'ConsumerLag': 3},
                {'MatrixInstruction': [64, 128, k, 1, 1, 1, 1, 2, 1], 'ClusterM': 2, 'ClusterN': 2, 'ConsumerLag': 2},
                {'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'StreamK': 2, 'PersistentKernel': 0, 'ConsumerLag': 1, 'RingStages': 2},
                {'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 2, 1], 'ConsumerLag': 5, 'EngineStore': False}]
    return [{'StaggerU': 0, 'PersistentKernel': 1, 'PersistentKernelAlongBatch': True, **s} for s in out]


def by_wgmma_of_registers(trans):
    """Solutions of tf32 with one operand through registers: A, or with its rows along N, B; the other one is copied where its K is strided."""
    along_m = [{'MatrixInstruction': [64, 64, 8, 1, 1, 1, 1, 2, 1]},
               {'MatrixInstruction': [64, 128, 8, 1, 1, 2, 1, 1, 1], 'ConsumerSchedule': 'PingPong', 'StaggerU': 4},
               {'MatrixInstruction': [64, 32, 8, 1, 1, 2, 1, 2, 1], 'ClusterM': 2, 'ClusterN': 2, 'DepthU': 64},
               {'MatrixInstruction': [64, 64, 8, 1, 1, 1, 1, 1, 1], 'ClusterK': 4, 'DependentLaunch': True},
               {'MatrixInstruction': [64, 128, 8, 1, 1, 1, 1, 2, 1], **PARTS},
               {'MatrixInstruction': [64, 64, 8, 1, 1, 1, 1, 2, 1], 'GlobalSplitU': 3, 'MinKForGSU': 16,
                'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel'}]
    along_n = [{'MatrixInstruction': [128, 64, 8, 1, 1, 1, 1, 1, 2]},
               {'MatrixInstruction': [16, 64, 8, 1, 1, 1, 2, 1, 1], 'EngineStore': False}]
    out = [{**s, 'PackOperands': 2 if trans[1] == 'T' else 0} for s in along_m if trans[0] == 'N']
    out += [{**s, 'PackOperands': 1 if trans[0] == 'N' else 0} for s in along_n if trans[1] == 'T']
    return [{'StaggerU': 0, 'PersistentKernel': 1, 'PersistentKernelAlongBatch': True, 'RowsFromRegisters': True, **s} for s in out]


def by_wgmma_of_part_blocks(trans):
    """Solutions whose columns of the instruction lie along an operand's contiguous side, and fill part of its last block alone."""
    out = [{'MatrixInstruction': [96, 64, 16, 1, 1, 1, 1, 1, 2], 'ClusterN': 2}] if trans[0] == 'N' else []
    out += [{'MatrixInstruction': [64, 72, 16, 1, 1, 1, 1, 1, 1], 'ConsumerSchedule': 'PingPong'}] if trans[1] == 'T' else []
    return [{'StaggerU': 0, 'PersistentKernel': 1, 'PersistentKernelAlongBatch': True, **s} for s in out]


# Odd leading dimensions of one operand, of both, of none; lines shorter and longer than a tile of the copies, batches.
COPY_SIZES = [[45, 37, 2, 51], [129, 70, 1, 333, 129, 131, 337, 341], [144, 80, 2, 96, 144, 144, 144, 131], [64, 300, 3, 130, 65, 67, 160, 304],
              [1, 1, 1, 1], [258, 17, 2, 65, 260, 259, 263, 80]]


def by_wgmma_of_copies(kind):
    """Solutions that read copies of A and B; the last one of B alone where the instruction takes A in any case."""
    k = 32 // cases.bytes_of(kind)
    out = [{'MatrixInstruction': [64, 128, k, 1, 1, 1, 1, 2, 1], 'PackOperands': 3},
           {'MatrixInstruction': [128, 64, k, 1, 1, 1, 1, 1, 1], 'PackOperands': 3, 'ConsumerSchedule': 'PingPong', 'ClusterM': 2},
           {'MatrixInstruction': [64, 64, k, 1, 1, 1, 1, 1, 1], 'PackOperands': 3, **PARTS}]
    return [{'StaggerU': 0, 'PersistentKernel': 1, 'PersistentKernelAlongBatch': True, 'EngineStore': False, **s} for s in out]


SHORT_REGISTERS = [('NN', 2), ('TT', 0)]
SHORT_COPIES = [('HHS', 'NT', 0), ('X', 'NT', 0), ('I8II', 'NN', 1), ('F8SS', 'TT', 2)]
# type, transposes, number of by_wgmma's solution
SHORT_WGMMA = [('HHS', 'NT', 3), ('BBS', 'TN', 2), ('HSS', 'NN', 7), ('I8II', 'TN', 6), ('F8HS', 'TN', 3), ('F8SS', 'TN', 23),
               ('HHS', 'NN', 9), ('BBS', 'NT', 10), ('HSS', 'TN', 11), ('HHS', 'TT', 12), ('X', 'TN', 13)]


def wgmma_cases(short):
    for kind, trans in itertools.product(['HHS', 'HSS', 'BBS', 'X', 'I8II', 'F8SS', 'F8HS', 'B8F8SS', 'F8B8SS', 'F8F8S'], ('NN', 'NT', 'TN', 'TT')):
        if kind not in ('HHS', 'HSS', 'BBS') and trans != 'TN':
            continue    # the instruction reads K strided in 16-bit types alone
        for j, s in enumerate(by_wgmma(kind, trans)):
            if not short or (kind, trans, j) in SHORT_WGMMA:
                yield dict(cases.case('sm_90a', kind, trans, {**s, 'KernelLanguage': 'Source'}), sizes=ENGINE_SIZES)
    for trans in ('NN', 'NT', 'TT'):
        for s in by_wgmma_of_part_blocks(trans) if not short or trans == 'NT' else []:
            yield dict(cases.case('sm_90a', 'HHS' if trans == 'NT' else 'BBS', trans, {**s, 'KernelLanguage': 'Source'}), sizes=ENGINE_SIZES)
        for j, s in enumerate(by_wgmma_of_registers(trans)):
            if not short or (trans, j) in SHORT_REGISTERS:
                yield dict(cases.case('sm_90a', 'X', trans, {**s, 'KernelLanguage': 'Source'}), sizes=ENGINE_SIZES)
    for kind, trans in itertools.product(['HHS', 'BBS', 'X', 'I8II', 'F8SS', 'F8B8SS'], ('NN', 'NT', 'TN', 'TT')):
        for j, s in enumerate(by_wgmma_of_copies(kind)):
            if not short or (kind, trans, j) in SHORT_COPIES:
                yield dict(cases.case('sm_90a', kind, trans, {**s, 'KernelLanguage': 'Source'}), sizes=COPY_SIZES)


# A side of a few elements, vectors that hang over an edge, rests of K, misaligned rows.
SKINNY_SIZES = [[1, 70, 2, 150], [70, 1, 1, 520], [128, 2, 1, 512], [4, 128, 2, 300], [3, 45, 2, 51], [64, 4, 1, 64, 68, 66, 72, 140],
                [16, 16, 1, 1027], [33, 3, 2, 7]]


def without_local(kind, trans):
    """Solutions of kernels that load A and B straight into registers: a row, a column, several; narrow loads, parts of K."""
    split = PARTS if kind in 'CZ' else SPLIT
    width = 16 // cases.bytes_of(kind)
    along = [trans[0] == 'T', trans[1] == 'N']
    run = width if any(along) else 1
    m, n = (1 if a else min(width, 8) for a in along)
    return [{'WorkGroup': [1, 1, 64], 'ThreadTile': [1, n], 'DepthU': 64 * run},
            {'WorkGroup': [8, 1, 16], 'ThreadTile': [m, 1], 'DepthU': 32 * run, 'PrefetchGlobalRead': 0},
            {'WorkGroup': [4, 4, 4], 'ThreadTile': [min(m, 4), min(n, 4)], 'DepthU': 4 * run, **PARTS},
            {'WorkGroup': [2, 16, 1], 'ThreadTile': [2, 4], 'DepthU': 2, 'GlobalReadVectorWidth': min(width, 2), **split},
            {'WorkGroup': [2, 8, 2], 'ThreadTile': [4, 2], 'DepthU': 6, 'GlobalReadVectorWidth': 1}]


def direct_cases(short):
    for i, (kind, trans) in enumerate(itertools.product([k for k in KINDS if k != 'X'] + ['HSS'], ('NN', 'NT', 'TN', 'TT'))):
        for j, s in enumerate(without_local(kind, trans)):
            if (i + j) % (131 if short else 1 if kind in ('S', 'HHS') else 2):
                continue
            both = {'DirectToVgprA': True, 'DirectToVgprB': True, 'StaggerU': 0, 'PrefetchGlobalRead': 1}
            yield dict(cases.case('sm_90', kind, trans, {**both, **s, 'KernelLanguage': 'Source'}), sizes=SKINNY_SIZES)


# Fewer tiles than the 4 work-groups, as many, more; one tile of many chunks; none to add up.
WALK_SIZES = [[45, 37, 2, 51], [64, 64, 1, 528], [200, 129, 1, 96, 208, 208, 160, 176], [130, 150, 2, 17, 132, 134, 136, 168],
              [65, 64, 1, 0], [256, 128, 1, 64]]
# The same for tiles of a few elements: no more of them than a CPU works through in a second.
NARROW_WALK_SIZES = [[min(m, 24), min(n, 24), *others] for m, n, *others in WALK_SIZES]
WALKS = [{'PersistentKernel': 1}, {'PersistentKernel': 1, 'PersistentKernelAlongBatch': True}, {'StreamK': 1}, {'StreamK': 2}, {'StreamK': 3},
         {'GlobalSplitU': 3, 'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel', 'MinKForGSU': 16},
         {'GlobalSplitU': 2, 'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel', 'MinKForGSU': 16, 'PersistentKernel': 1},
         {'StreamK': 2, 'StreamKAtomic': 1}]


# Loads of the next tile before the results of this one; the same of parts of K, in a workspace, in place, and added up in the launch.
ACROSS = [{'PersistentKernel': 1, 'PrefetchAcrossPersistent': 1, **s} for s in
          ({'PersistentKernelAlongBatch': True, 'GlobalSplitU': 1}, SPLIT, PARTS,
           {'GlobalSplitU': 3, 'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel', 'MinKForGSU': 16})]


def across_cases(kind, trans, solutions):
    """PrefetchAcrossPersistent in kernels of all families, whatever parts of K these have otherwise."""
    for i, s in enumerate(solutions):
        narrow = 'DirectToVgprA' in s
        across = ACROSS[i % 4 if kind not in 'CZ' or i % 4 != 1 else 0]    # complex numbers are not added in place
        s = {k: v for k, v in s.items() if not k.startswith('GlobalSplitU') and k != 'MinKForGSU'}
        if kind == 'Z' and s['WorkGroup'][2] == 8:    # two stages and the sums of all groups fit in shared memory
            across = {**across, 'PrefetchGlobalRead': 1}
        yield dict(cases.case('sm_90', kind, trans, {'StaggerU': 0 if narrow else i % 2 * 4, **s, **across, 'KernelLanguage': 'Source'}),
                   sizes=NARROW_WALK_SIZES if narrow else WALK_SIZES)


def walk_cases(short):
    """Work-groups that take several tiles or parts of tiles, of kernels with a ring, without one, without local memory."""
    n, every = 0, 211 if short else 3
    for kind, trans in itertools.product(KINDS, ('NN', 'NT', 'TN', 'TT')):
        direct = [{'DirectToVgprA': True, 'DirectToVgprB': True, 'PrefetchGlobalRead': 1, **s} for s in without_local(kind, trans)]
        for s in kernels(kind, trans) + (direct if kind != 'X' else []):
            n += 1
            if n % every:
                continue
            own = {k: v for k, v in s.items() if not k.startswith('GlobalSplitU') and k != 'MinKForGSU'}
            walk = WALKS[n // every % (8 if kind in 'SX' else 7)]
            narrow = 'DirectToVgprA' in s
            yield dict(cases.case('sm_90', kind, trans, {'WorkGroupMapping': 1 + n % 3, 'StaggerU': 0 if narrow else n % 2 * 4, **own, **walk,
                                                         'KernelLanguage': 'Source'}),
                       sizes=NARROW_WALK_SIZES if narrow else WALK_SIZES)
        ahead = [s for s in kernels(kind, trans) + (direct if kind != 'X' else []) if s['PrefetchGlobalRead']]
        yield from across_cases(kind, trans, [] if short else ahead)
    if short:
        yield from across_cases('HHS', 'TN', [s for s in kernels('HHS', 'TN') if s['NvRing']][:1])


# The work-group order as an argument; the third is the traffic model's.
ORDERS = [{'WorkGroupMappingDim': 0, 'WorkGroupMapping': 2, 'WorkGroupMappingXCC': 4},
          {'WorkGroupMappingDim': 1, 'WorkGroupMapping': 3, 'WorkGroupMappingXCC': 8, 'WorkGroupMappingXCCGroup': 16},
          {'WorkGroupMappingDim': 0, 'WorkGroupMapping': 0},
          {'WorkGroupMappingDim': 1, 'WorkGroupMapping': 2, 'WorkGroupMappingXCC': 2, 'WorkGroupMappingXCCChunk': 1}]


Z_ORDER = {'WorkGroupMappingType': 'Z', 'WorkGroupMapping': 1}     # not by wgmma


def order_cases(short):
    engine = by_wgmma('HHS', 'TN')
    engine = [engine[i] for i in (0, 2, 7, 3, 13, 11, 8)]
    others = [(kind, s) for kind in ('S', 'HHS') for s in kernels(kind, 'NT') + without_local(kind, 'NT')[:3]]
    for i, (kind, s) in enumerate([('HHS', s) for s in engine] + others):
        if short and i not in (0, 1, 4, 9):
            continue
        arch, sizes = ('sm_90a', ENGINE_SIZES) if i < len(engine) else ('sm_90', SIZES)
        both = {'DirectToVgprA': True, 'DirectToVgprB': True, 'StaggerU': 0, 'PrefetchGlobalRead': 1} if 'NvRing' not in s and i >= len(engine) else {}
        orders = ORDERS + [Z_ORDER] * (i >= len(engine))
        order = orders[i % len(orders) if not s.get('StreamK') else 0]
        trans = 'TN' if i < len(engine) else 'NT'
        yield dict(cases.case(arch, kind, trans, {**both, **s, **order, 'KernelLanguage': 'Source'}), sizes=sizes)


def fused_solutions():
    """Kernels of every family, with and without parts of K: data type, transposes, solution, architecture, sizes."""
    whole = [{'GlobalSplitU': 3, 'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel', 'MinKForGSU': 16}, PARTS, {'StreamK': 2}, {}]
    none = {'GlobalSplitU': 1}
    for i, (kind, trans) in enumerate(itertools.product([k for k in KINDS if k not in ('C', 'Z', 'I8II')], ('NN', 'TT'))):
        for j, s in enumerate(kernels(kind, trans)):
            yield kind, trans, {**s, **none, **whole[(i + j) % 4]}, 'sm_90', SIZES
        for j, s in enumerate(without_local(kind, trans) if kind != 'X' else []):
            if (i + j) % 3 == 0:
                both = {'DirectToVgprA': True, 'DirectToVgprB': True, 'StaggerU': 0, 'PrefetchGlobalRead': 1}
                yield kind, trans, {**both, **s, **none, **whole[(i + j) // 3 % 4]}, 'sm_90', SKINNY_SIZES
    for kind, trans in (('HHS', 'NT'), ('BBS', 'TN'), ('HSS', 'NN'), ('X', 'TN'), ('F8HS', 'TN'), ('F8SS', 'TN')):
        for s in by_wgmma(kind, trans):
            yield kind, trans, s, 'sm_90a', ENGINE_SIZES


SHORT_FUSED = (1, 52, 236, 243, 271)


def fused_cases(short):
    """Bias, activations and scale factors, operands and activations in turn."""
    activations = list(amd.num.ACTIVATIONS)
    for i, (kind, trans, s, arch, sizes) in enumerate(fused_solutions()):
        if short and i not in SHORT_FUSED:
            continue
        more = {'UseBias': i % 3 or 1, 'ActivationType': activations[i % len(activations)],
                'UseScaleAB': ['Scalar', 'Vector'][i % 2], 'UseScaleCD': i % 5 < 2, 'UseScaleAlphaVec': (i + 1) % 3}
        if i % 4 == 1:
            more['BiasDataTypeList'] = ['d' if kind == 'D' else 's']
        yield dict(cases.case(arch, kind, trans, {'StaggerU': 0, **s, 'KernelLanguage': 'Source'}, **more), sizes=sizes)


# C and D are contiguous along N: their leading dimensions are N and more.
ALONG_N_SIZES = [[45, 67, 2, 51, 67, 70, 48, 72], [64, 128, 1, 64, 128, 128, 64, 128], [3, 3, 1, 7, 4, 4, 4, 8]]


def view_cases(short):
    """Programs whose views of C and D run along N."""
    kinds = [('S', 'NT', s) for s in kernels('S', 'NT')[:1] + kernels('S', 'NT')[3:4] + without_local('S', 'NT')[:1]]
    kinds += [('HHS', 'TN', s) for s in kernels('HHS', 'TN')[:2]] + [('HHS', 'TN', by_wgmma('HHS', 'TN')[i]) for i in (4, 8, 11)]
    for i, (kind, trans, s) in enumerate(kinds):
        if short and i not in (3, 7):
            continue
        wgmma, direct = s.get('MatrixInstruction', [0])[0] > 16, 'NvRing' not in s and 'MatrixInstruction' not in s
        both = {'DirectToVgprA': True, 'DirectToVgprB': True, 'PrefetchGlobalRead': 1} if direct else {}
        own = {'EngineStore': False} if wgmma else {}
        whole = {k: v for k, v in s.items() if wgmma or not k.startswith('GlobalSplitU')}
        yield dict(cases.case('sm_90a' if wgmma else 'sm_90', kind, trans, {'StaggerU': 0, **both, **whole, **own, 'KernelLanguage': 'Source'}),
                   sizes=ALONG_N_SIZES, results_along_n=True)


def all_cases(short):
    """All kernels; of the short list the last ones are few, but one of each type that has had none."""
    kinds = set()
    for c in itertools.chain(view_cases(short), fused_cases(short), wgmma_cases(short), order_cases(short), direct_cases(short),
                             walk_cases(short)):
        kinds.add(c['kind'])
        yield c
    for i, (kind, trans) in enumerate(itertools.product(KINDS, ('NN', 'NT', 'TN', 'TT'))):
        arch = 'sm_89' if kind in cases.F8 and i % 5 == 4 else 'sm_90'
        for j, s in enumerate(kernels(kind, trans)):
            if short and (i + j) % 61 and kind in kinds:
                continue
            kinds.add(kind)
            yield cases.case(arch, kind, trans, {**s, 'KernelLanguage': 'Source'})


def given(c, name, seed):
    """The case with problems; each has alpha and beta of its own, in another order for every kernel."""
    scalars = cases.scalars(np.random.default_rng(seed), c, 10)
    sizes = c.get('sizes', SIZES)
    return dict(c, name=name, sizes=sizes, scalars=[scalars[(i + seed) % 10] for i in range(len(sizes))], cus=4, apart=False)


def part(text):
    """I/N: the list's kernels I, I + N, .. from 0 on, so that several processes share it."""
    i, n = map(int, text.split('/'))
    if not 0 <= i < n:
        raise argparse.ArgumentTypeError(f'{text}: expected I/N with 0 <= I < N')
    return slice(i, None, n)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--short', action='store_true', help='some kernels of most types, every other of their problems')
    p.add_argument('--jobs', type=int, default=2)
    p.add_argument('--walks', action='store_true', help='persistent and stream-K kernels alone')
    p.add_argument('--fused', action='store_true', help='kernels with fused operations alone')
    p.add_argument('--orders', action='store_true', help='kernels with the work-group order as an argument alone')
    p.add_argument('--kind', help='kernels of one type alone')
    p.add_argument('--arch', help='kernels of one architecture alone: sm_89, sm_90, sm_90a')
    p.add_argument('--part', type=part, default=slice(None), help='I/N: every Nth of them, from I on')
    args = p.parse_args()
    compiler = shutil.which(os.environ.get('CXX', 'g++'))
    if not compiler:
        print('skipped: NVIDIA kernels on the CPU: no g++')
        return 0
    made = amd.Kernels(f'{args.build}/conformance/emit', None, f'{args.build}/conformance/nvptx.cache')
    of = walk_cases if args.walks else order_cases if args.orders else fused_cases if args.fused else all_cases
    todo = [given(c, f'k{i}', i) for i, c in enumerate(of(args.short))
            if args.arch in (None, c['arch']) and args.kind in (None, c['kind'])][args.part]
    at_end, aligned = machines()
    answers, failed, n = made.make(todo), [], 0

    def objects(a):
        symbols = sorted({call['symbol'] for x in a['launches'] for call in x['calls']})
        path = compile_text(compiler, os.path.abspath(a['file']), symbols, headers)
        return {(a['arch'], k): path for k in symbols}

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        headers = precompiled(compiler, folder)
        texts = [a for a in answers if 'file' in a]
        done = progress.each(pool.map(objects, texts), 'compile', len(texts), args.short)
        built = dict(zip((a['name'] for a in texts), done))
    for j, (c, a) in enumerate(progress.each(zip(todo, answers), 'run', len(todo), args.short)):
        what = f"{c['arch']} {c['kind']} {c['trans']} {c['solution']}"
        if 'file' not in a:
            failed.append(f'{what}: no text: {a.get("rule", a)}')
            continue
        for i, x in enumerate(a['launches']):
            if 'refused' in x or (args.short and (i + j) % 2):
                continue
            x['size'] = x['size'][:4]
            machine = aligned if c['arch'] == 'sm_90a' or (i + j) % 2 else at_end
            bad = machine.run(c, a, built[a['name']], x, i)
            n += 1
            if bad:
                failed.append(f"{what}, size {x['size']}: {bad}")
    for line in failed[:20]:
        print(line)
    made.close()
    print(f'{len(todo)} kernels of {len({c["kind"] for c in todo})} data types, {n} problems, {len(failed) or "none"} wrong')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
