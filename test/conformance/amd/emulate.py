"""Runs cases on the emulator: `emit` makes the texts and the launches, clang the code objects, amdemu executes
them; D is compared with numpy.

A case is an entry of emit's list with 'problem' and 'solution' as in a config, 'sizes' and their 'scalars'. Texts of several kernels go
into one translation unit; code objects are kept in a cache by the hash of text and compiler.
Not here: which cases there are (cases.py), the command line (run.py)."""
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy as np

import numbers_gemm as num

# Older versions of clang do not know these architectures, or encode their instructions wrongly.
LEAST_CLANG = {'gfx942': 19, 'gfx1100': 19, 'gfx1201': 19, 'gfx950': 20}
SLOTS = ('d', 'c', 'a', 'b', 'workspace', *num.FUSED)   # numbers of emit's stand-ins for pointers


class Problem:
    """What the numbers need to know of a problem type."""

    def __init__(self, case):
        p, arch = case['problem'], case['arch']
        a, b = {'f8b8': ('f8', 'b8'), 'b8f8': ('b8', 'f8')}.get(p['DataType'], (p['DataType'],) * 2)
        self.input = num.type_of(a, arch), num.type_of(b, arch)
        if p.get('Fp16AltImpl'):
            self.input = (num.AltHalf(p.get('Fp16AltImplRound', False)),) * 2
        self.dest = num.type_of(p.get('DestDataType', p['DataType']), arch)
        self.compute = num.type_of(p.get('ComputeDataType', p['DataType']), arch)
        self.trans = (p.get('TransposeA', False), p.get('TransposeB', False))
        self.conj = (p.get('ComplexConjugateA', False), p.get('ComplexConjugateB', False))
        self.xf32 = p.get('F32XdlMathOp', 's') == 'x'
        self.strided = p.get('StridedBatched', True)
        self.parts = case['solution'].get('GlobalSplitU', 1)
        self.split = self.parts > 1
        self.fused = num.Fused(p, num.type_of((p.get('BiasDataTypeList') or [self.dest.name])[0], arch), self.compute)


def flow(x):
    """YAML flow text."""
    if isinstance(x, dict):
        return '{' + ', '.join(f'{k}: {flow(v)}' for k, v in x.items()) + '}'
    if isinstance(x, (list, tuple)):
        return '[' + ', '.join(flow(v) for v in x) + ']'
    if isinstance(x, bool):
        return 'True' if x else 'False'
    if isinstance(x, complex):
        return f'[{x.real}, {x.imag}]'
    return str(x)


class Kernels:
    """Texts, launches and code objects of a list of cases."""

    def __init__(self, tool, compiler, cache, jobs=2, batch=6, flags=()):
        self.tool, self.compiler, self.cache, self.jobs, self.batch = tool, compiler, cache, jobs, batch
        self.flags = list(flags)
        self.dir = tempfile.mkdtemp(prefix='amd-conformance.')
        os.makedirs(cache, exist_ok=True)

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def make(self, cases):
        """One answer of emit per case; its launches know their alpha and beta."""
        path = os.path.join(self.dir, 'cases.yaml')
        with open(path, 'w') as f:
            for c in cases:
                f.write('- ' + flow(c) + '\n')
        r = subprocess.run([self.tool, path, self.dir], capture_output=True, text=True)
        if r.returncode:
            raise SystemExit(r.stderr.strip() or f'{self.tool} failed')
        answers = [json.loads(line) for line in r.stdout.splitlines()]
        for c, a in zip(cases, answers):
            for launch, scalars in zip(a.get('launches', []), c.get('scalars', [])):
                launch['scalars'] = scalars
        return answers

    def texts(self, answers):
        """What compile takes: main and helper kernels of the answers that have any."""
        out = []
        for a in answers:
            if 'file' in a:
                out.append((a['arch'], a['symbol'], a['file']))
                out += [(a['arch'], s, f) for s, f in a['helpers'].items()]
        return out

    def compile(self, wanted, watch=lambda groups, n: groups):
        """wanted: (arch, symbol, path of the text). Returns {(arch, symbol): code object file or error text}, and
        the same by (arch, symbol, path): helper kernels of H and of HHS have one symbol. watch: goes over what is done."""
        groups, out = [], {}
        for arch in sorted({w[0] for w in wanted}):
            mine = sorted({(s, p) for a, s, p in wanted if a == arch})
            groups += [(arch, mine[i:i + self.batch]) for i in range(0, len(mine), self.batch)]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for part in watch(pool.map(lambda g: self.compile_group(*g), groups), len(groups)):
                out.update(part)
        return out

    def compile_group(self, arch, items):
        path, error = self.compile_one(arch, [p for _, p in items])
        if path or len(items) == 1:
            answer = path or 'compile: ' + error
            return {key: answer for s, p in items for key in ((arch, s), (arch, s, p))}
        out = {}
        for item in items:
            out.update(self.compile_group(arch, [item]))
        return out

    def compile_one(self, arch, paths):
        text = '\n'.join(open(p).read() for p in paths)
        key = hashlib.sha256('\0'.join([text, arch, self.compiler, *self.flags]).encode()).hexdigest()[:24]
        out = os.path.join(self.cache, key + '.co')
        if os.path.exists(out):
            return out, ''
        source = os.path.join(self.dir, key + '.hip')
        with open(source, 'w') as f:
            f.write(text)
        if os.path.basename(self.compiler).startswith('hipcc'):
            cmd = [self.compiler, '--genco', f'--offload-arch={arch}', '-O3', source, '-o', out + '.t']
        else:
            cmd = [self.compiler, '-x', 'hip', f'--offload-arch={arch}', '--offload-device-only', '-nogpulib',
                   '-nogpuinc', '-O3', '-std=c++17', '--no-gpu-bundle-output', '-c', source, '-o', out + '.t']
            own = f"/usr/lib/llvm-{self.compiler.rpartition('-')[2]}/bin"      # its own lld, not another version's
            cmd += ['-B', own] if os.path.exists(os.path.join(own, 'lld')) else []
        marked = '/* sums fill the accumulation registers */' in text     # as build/toolchain_rows.c has it
        cmd += ['-mllvm', '-greedy-reverse-local-assignment=1'] if marked else []
        r = subprocess.run(cmd + self.flags, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if r.returncode:
            lines = [line for line in r.stdout.splitlines() if 'error' in line] or r.stdout.splitlines()[:1] or ['?']
            return None, lines[0][:300]
        os.rename(out + '.t', out)
        return out, ''


class Matrix:
    """A batch of column-major matrices that ends at its last element; poison between the columns."""

    def __init__(self, t, rng, rows, cols, ld, stride, batches, fill):
        self.rows, self.cols, self.ld, self.stride, self.batches = rows, cols, ld, stride, batches
        empty = not rows or not cols
        self.raw = t.poison(1 if empty else (batches - 1) * stride + (cols - 1) * ld + rows)
        for i in range(0 if empty or not fill else batches):
            self.part(i)[:] = t.random(rng, rows * cols).reshape(rows, cols)

    def part(self, i, raw=None):
        return num.columns(self.raw if raw is None else raw, self.rows, self.cols, self.ld, self.stride, i)


def in_words(raw, front):
    """The bytes of an array; unless `front` is None, behind as many others, and followed by as many as make up whole words."""
    if front is None:
        return raw.tobytes()
    raw = b'\xa5' * front + raw.tobytes()
    return raw + b'\x5a' * (-len(raw) % 4)


class Machine:
    """The emulator, one process, with the code objects that are loaded."""
    limit = 2_000_000_000       # instructions of a launch

    def __init__(self, amdemu):
        self.emu, self.loaded, self.instructions, self.waits = amdemu, {}, 0, True

    def object(self, path, arch):
        if path not in self.loaded:
            self.loaded[path] = self.emu.CodeObject(path, arch)
            self.read_notes(self.loaded[path])
        return self.loaded[path]

    def read_notes(self, co):
        """The kernels of all notes: the linker concatenates the notes of its inputs, and HIP reads them all."""
        at, = struct.unpack_from('<Q', co.elf, 0x20)
        size, n = struct.unpack_from('<HH', co.elf, 0x36)
        for i in range(n):
            kind, _, offset, _, _, length = struct.unpack_from('<IIQQQQ', co.elf, at + i * size)
            end = offset + length
            while kind == 4 and offset + 12 <= end:
                name, data, note = struct.unpack_from('<III', co.elf, offset)
                offset += 12 + (name + 3 & ~3)
                if note == 32:
                    for k in self.emu._msgpack(co.elf, offset)[0].get('amdhsa.kernels', []):
                        co.meta_kernels[k['.name']] = k
                        co.kernels[k['.name']].meta, co.kernels[k['.name']].args = k, k.get('.args', [])
                offset += data + 3 & ~3

    def run(self, case, answer, objects, launch, seed):
        """None, or what went wrong with one size. There is no A and no B where alpha is 0, no C where beta is: they are not read."""
        kind, rng = Problem(case), np.random.default_rng(seed)
        alpha, beta = launch['scalars']
        m, n, batches, k = launch['size']
        ta, tb = kind.trans
        shapes = {'a': (k, m) if ta else (m, k), 'b': (n, k) if tb else (k, n), 'c': (m, n), 'd': (m, n)}
        # parts are added to 16-bit elements by compare and swap of whole words, of which D may begin and end with half a one
        solution = case.get('solution', {})
        adds = (np.dtype(kind.dest.store).itemsize == 2 and solution.get('GlobalSplitU', 1) > 1 and
                solution.get('GlobalSplitUAlgorithm', 'SingleBuffer') == 'SingleBuffer')
        front = 2 * int(rng.integers(2)) if adds else None
        along_n = bool(case.get('results_along_n'))     # C and D are contiguous along N
        if along_n:
            shapes['c'] = shapes['d'] = (n, m)
        data, buffers, address, extra = {}, {}, {}, []
        same = launch.get('same', False) or case.get('solution', {}).get('AtomicAddC', False)    # C and D are one buffer
        for x, (rows, cols) in shapes.items():
            t = kind.input['ab'.index(x)] if x in 'ab' else kind.dest
            if same and x == 'd':
                data[x] = data['c']
                buffers['c'] = buffers[x] = self.emu.Buffer(in_words(data[x].raw, front), end_aligned=True, name='c and d')
                continue
            stride = cols * launch[x][1] if not kind.strided else launch[x][2]
            there = x in 'ab' and alpha != 0 or x == 'c' and beta != 0
            data[x] = Matrix(t, rng, rows, cols, launch[x][1], stride, batches, there)
            if there or x == 'd' or x == 'c' and same:
                raw = in_words(data[x].raw, front) if x == 'd' or x == 'c' and same else data[x].raw.tobytes()
                buffers[x] = self.emu.Buffer(raw, end_aligned=True, name=x, writable=x == 'd')
        for x in 'abc':
            address[SLOTS.index(x)] = 0
        if launch['workspace']:
            buffers['workspace'] = self.emu.Buffer(b'\xff' * launch['workspace'], end_aligned=True, name='workspace')
        for x, raw in kind.fused.make(rng, m, n, batches).items():
            buffers[x] = self.emu.Buffer(raw.tobytes(), end_aligned=True, name=x, writable=False)
        for x, b in buffers.items():
            address[SLOTS.index(x)] = b.ptr + (front or 0 if b is buffers['d'] else 0)
            extra.append(b)
        if not kind.strided:
            for x in shapes:
                step = data[x].stride * data[x].raw.itemsize if x in buffers else 0
                before = launch.get('offsets', {}).get(x, 0) * data[x].raw.itemsize     # where the kernel is told to begin
                first = address[SLOTS.index(x)] - before if x in buffers else 0
                table = self.emu.Buffer(struct.pack(f'<{batches}Q', *[first + i * step for i in range(batches)]),
                                        end_aligned=True, name=f'pointers to {x}', writable=False)
                address[SLOTS.index(x)] = table.ptr
                extra.append(table)
        # the emulator calls it a fault when loads into local memory are under way at a barrier; here those of the chunk after the next
        # are on purpose (the number that each wait leaves is tested with the texts: test_amdgcn)
        s = case.get('solution', {})
        self.waits = not (s.get('PrefetchGlobalRead', 1) > 1 and (s.get('DirectToLdsA') or s.get('DirectToLdsB')))
        for call in launch['calls']:
            bad = self.call(answer['arch'], objects, call, address, extra, answer.get('helpers', {}))
            if bad:
                return bad
        return self.check(kind, data, buffers['d'], alpha, beta, along_n, front)

    def call(self, arch, objects, call, address, extra, helpers):
        args = bytearray(bytes.fromhex(call['args']))
        for at in range(0, len(args) - 7, 8):
            value, = struct.unpack_from('<Q', args, at)
            if value >> 48 == 0x7e50:
                struct.pack_into('<Q', args, at, address[value >> 40 & 255] + (value & (1 << 40) - 1))
        symbol = call['symbol']
        path = objects.get((arch, symbol, helpers.get(symbol)), objects.get((arch, symbol), 'compile: no text'))
        if path.startswith('compile: '):
            return path
        try:
            r = self.emu.launch(self.object(path, arch), call['symbol'], call['grid'], (call['group'],),
                                kernarg=bytes(args), extra=extra, ambiguous='error', limit=self.limit, waits=self.waits)
            self.instructions += r.instructions
        except self.emu.Unsupported as e:
            return f'not emulated: {str(e)[:200]}'
        except (self.emu.EmuError, KeyError, NotImplementedError, AssertionError) as e:
            return f'{type(e).__name__} in {call["role"]}: {str(e)[:2000]}'
        return None

    def check(self, kind, data, buffer, alpha, beta, along_n, front=None):
        d = data['d']
        whole, start = in_words(d.raw, front), front or 0
        left, end = buffer.read(0, len(whole)), start + d.raw.nbytes
        if left[:start] != whole[:start] or left[end:] != whole[end:]:
            return 'memory beside D was written'
        got = np.frombuffer(left[start:end], kind.dest.store).copy()
        for i in range(d.batches):
            a, b, c = (data[x].part(i) for x in 'abc')
            view, kept = d.part(i, got), d.part(i)
            if along_n:
                c, view, kept = c.T, view.T, kept.T
            want, bound = num.expect(kind, a.T if kind.trans[0] else a, b.T if kind.trans[1] else b, c, alpha, beta, i)
            bad = num.wrong(kind, view, want, bound)
            if bad:
                return f'batch {i}: {bad}'
            view[:] = kept
        if got.tobytes() != d.raw.tobytes():
            return 'memory between the columns of D was written'
        return None


def _scalar_results(decoder):
    """v_readlane_b32 and v_readfirstlane_b32 write a scalar register; the check of waits takes its number for that of a vector
    register, which a load may be returning into. The same with the second source of v_dual_mov_b32, which has none: its field is 0,
    not v0. Makes the decoder say what they read and write."""
    registers_of = decoder.jit_regs

    def jit_regs(self, i):
        known = len(self.regs)
        registers_of(self, i)
        if self.emu._op_name(i).startswith(('V_READLANE_B32', 'V_READFIRSTLANE_B32')):
            self.regs[known:] = [(2 if written and not file else file, written, *rest)
                                 for file, written, *rest in self.regs[known:]]
        for op, source in (('opx', 'vsrcx1'), ('opy', 'vsrcy1')):
            if type(i).__name__ == 'VOPD' and 'V_DUAL_MOV_B32' in str(getattr(i, op)):
                field = dict(type(i)._fields)[source]
                at = (i._raw >> field.lo) & field.mask
                unread = next((r for r in self.regs[known:] if list(r[:3]) == [0, 0, at]), None)
                if unread is not None:
                    self.regs.remove(unread)
    decoder.jit_regs = jit_regs


def load_emulator():
    """(module, None) or (None, why there is none)."""
    where, grad = os.environ.get('AMDEMU_DIR'), os.environ.get('TINYGRAD_DIR')
    if not where or not grad:
        return None, 'AMDEMU_DIR and TINYGRAD_DIR are not set'
    sys.path.insert(0, where)
    try:
        import amdemu
        _scalar_results(amdemu.Decoder)
        return amdemu, None
    except ImportError as e:
        return None, str(e)
