#!/usr/bin/env python3
"""Libraries for AMD GPUs end to end on the emulator: what tuner-bench --select-only --launches says of a problem (kernels,
grids, argument bytes) is run with the library's own code objects, and D is compared with numpy.

usage: library_run.py [--build DIR] [--own [NAME,...]] [--logic FILE]... [--packed RUN]... [--solutions N] [--sizes N] [--seed S] [--short] [-v]
Without --own and --logic: all libraries of library.py and the logic files of test/data/tensile. Prints a line per library,
every failure, a summary; exit code 1 when a problem failed. Needs AMDEMU_DIR and TINYGRAD_DIR, clang, python3-yaml for
logic files; prints what it skips without them."""
import argparse
import collections
import functools
import glob
import json
import os
import re
import subprocess
import sys
import time

import numpy as np

import emulate
import library
from run import newest_clang

POINTERS = {0x10: 'a', 0x20: 'b', 0x30: 'c', 0x40: 'd', 0x50: 'workspace'}       # upper bytes of the fixed pointers
TABLES = {0x60: 'a', 0x61: 'b', 0x62: 'c', 0x63: 'd'}


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--own', nargs='?', const='', default=None, help='libraries of library.py: NAME,... or all')
    p.add_argument('--logic', action='append', default=[], help='a logic file')
    p.add_argument('--packed', action='append', default=[], help='a run of scripts/pack_amd.sh: OUT/NAME')
    p.add_argument('--work', type=float, default=4e7, help='most multiplications of a problem of --packed')
    p.add_argument('--solutions', type=int, default=6, help='of a logic file; 0: all')
    p.add_argument('--sizes', type=int, default=4, help='of a solution')
    p.add_argument('--seed', type=int, default=None)
    p.add_argument('--short', action='store_true', help='the slice of make check')
    p.add_argument('-v', '--verbose', action='store_true')
    args = p.parse_args()
    logic = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../data/tensile/logic')
    if args.short:
        args.own = 'sgemm_split,sgemm_batches,i8x4,hhs_wmma,hgemm_split+hhs_single+hhs_split'
        args.solutions, args.seed = 2, 1
        args.logic = [os.path.join(logic, 'aldebaran_Cijk_Alik_Bjlk_BBS_BH.yaml')]
    elif args.own is None and not args.logic and not args.packed:
        args.own, args.logic = '', sorted(glob.glob(os.path.join(logic, '*.yaml')))
    return args


def scalars(lib, i):
    """alpha and beta of problem number i."""
    whole = lib.problem['DataType'] in ('i8', '4xi8')
    beta = lib.problem.get('UseBeta', True)
    values = ((1, 0), (2, 1), (1, -1), (0, 2), (-3, 3)) if whole else ((1, 0), (1.5, 1), (-1, 0), (.75, -.5), (0, 2), (0, 0))
    alpha, b = values[i % len(values)]
    return alpha, b if beta else 0


def problem_lines(lib, rng):
    """[(line, size, leading dimensions of a b c d, alpha, beta, C is D)]"""
    word, p, out = lib.word(), lib.problem, []
    for i, (size, _) in enumerate(lib.sizes):
        m, n, batch, k = size
        pad = [int(x) for x in rng.choice([0, 0, 1, 3, 8], 4)]
        lda, ldb = (k if p['TransposeA'] else m) + pad[0], (n if p['TransposeB'] else k) + pad[1]
        ldc, ldd = m + pad[2], m + pad[3]
        alpha, beta = scalars(lib, i)
        same = i % 4 == 1
        if same:
            ldd = ldc
        line = f'{word} {m} {n} {k} {batch} {lda} {ldb} {ldc} {ldd} {alpha} {beta}' + (' cd=1' if same else '')
        if not p.get('StridedBatched', True):
            line += ' gb=1'
        out.append((line, size, (lda, ldb, ldc, ldd), alpha, beta, same))
    return out


def select(bin_dir, lib, lines):
    """tuner-bench's answers."""
    r = subprocess.run([os.path.join(bin_dir, 'tuner-bench'), '--library', lib.path, '--select-only', '--launches', '--arch',
                        lib.arch, '--cus', str(lib.cus)], input='\n'.join(lines) + '\n', capture_output=True, text=True)
    if r.returncode not in (0, 3):
        raise library.Failed('tuner-bench: ' + r.stderr.strip()[-400:])
    return [json.loads(line) for line in r.stdout.splitlines()]


def code_objects(lib, machine):
    """{(arch, kernel): file} of everything that lies in the library."""
    out = {}
    for path in sorted(glob.glob(os.path.join(lib.path, '**', '*'), recursive=True)):
        if path.endswith(('.co', '.hsaco')):
            out.update({(lib.arch, name): path for name in machine.object(path, lib.arch).kernels})
    return out


def stand_in(value, strided):
    """The stand-in of emit's launches for a fixed pointer of tuner-bench; 0 when it is none."""
    which = POINTERS.get(value >> 32) if strided or value >> 32 == 0x50 else TABLES.get(value >> 32)
    return 0 if not which else 0x7e50 << 48 | emulate.SLOTS.index(which) << 40 | value & 0xffffffff


def call_of(call, kernel, strided):
    """A call as emulate.Machine takes it, or why its argument bytes are not what the kernel says of itself."""
    args = bytearray(bytes.fromhex(call['hex']))
    listed = [a for a in kernel['.args'] if not a['.value_kind'].startswith('hidden')]
    end = max(a['.offset'] + a['.size'] for a in listed)
    if call['kernel'].endswith('_H_PostGSU') or call['kernel'].endswith('_H_GB_PostGSU'):
        end = len(args) if len(args) == end + 4 else end        # also takes what is summed in float: kernel/helper.h
    if end != len(args):
        return None, f"{call['kernel']}: {len(args)} argument bytes, the kernel takes {end}"
    for a in listed:
        if a['.value_kind'] != 'global_buffer':
            continue
        at = a['.offset']
        value = stand_in(int.from_bytes(args[at:at + 8], 'little'), strided)
        if not value:
            return None, f"{call['kernel']}: no pointer in the {a['.size']} bytes at {at}"
        args[at:at + 8] = value.to_bytes(8, 'little')
    return {'symbol': call['kernel'], 'role': call['kernel'][:60], 'group': call['workGroupSize'][0],
            'grid': call['numWorkGroups'], 'args': args.hex()}, None


def launch_of(lib, question, best, objects, machine):
    """(launch as emulate.Machine takes it, None) or (None, what is wrong)."""
    _, size, ld, _, _, same = question
    m, n, batch, k = size
    p, calls = lib.problem, []
    wide = {'a': m if p['TransposeA'] else k, 'b': k if p['TransposeB'] else n, 'c': n, 'd': n}
    launch = {'size': [m, n, batch, k], 'workspace': best['workspace'], 'calls': calls, 'same': same, 'scalars': question[3:5]}
    for x, l in zip('abcd', ld):
        launch[x] = [1, l, l * wide[x]]
    for call in best['calls']:
        path = objects.get((lib.arch, call['kernel']))
        if not path:
            return None, f"no code object has kernel {call['kernel']}"
        made, bad = call_of(call, machine.object(path, lib.arch).meta_kernels[call['kernel']], p.get('StridedBatched', True))
        if bad:
            return None, bad
        calls.append(made)
    return launch, None


def run_library(args, lib, machine, totals):
    """Runs every problem of a library; counts, prints."""
    start, rng = time.time(), np.random.default_rng(args.seed)
    questions = problem_lines(lib, rng)
    answers = select(os.path.join(args.build, 'bin'), lib, [q[0] for q in questions])
    try:
        objects, used, count = code_objects(lib, machine), set(), collections.Counter()
    except ValueError as e:
        raise library.Failed(f'{lib.path}: {e}')
    for i, (q, a) in enumerate(zip(questions, answers)):
        best = a['best']
        if not best:
            count['refused'] += 1
            continue
        case = {'arch': lib.arch, 'problem': lib.problem,
                'solution': {'GlobalSplitU': int((re.findall(r'_GSU(\d+)', best['kernel']) or [lib.gsu])[0])}}
        launch, bad = launch_of(lib, q, best, objects, machine)
        bad = bad or machine.run(case, {'arch': lib.arch}, objects, launch, args.seed + i)
        count['not emulated' if bad and bad.startswith('not emulated') else 'wrong' if bad else 'right'] += 1
        if bad and (args.verbose or not bad.startswith('not emulated')):
            print(f"{'note' if bad.startswith('not emulated') else 'FAILED'} {lib.name} {lib.arch}: {q[0]}\n"
                  f"  {best['kernel']}: {bad}", flush=True)
        if not bad:
            used.add(best['kernel'])
            count['helpers'] += len(best['calls']) > 1
    totals.update(count)
    totals['kernels'] += len(used)
    totals['libraries'] += 1
    if args.short:
        return
    words = ', '.join(f'{n} {w}' for w, n in count.items() if w not in ('right', 'helpers'))
    print(f"{lib.name} ({lib.arch}, {lib.word()}): {count['right']} of {len(questions)} problems right, {len(used)} kernels, "
          f"{count['helpers']} with helper kernels{', ' + words if words else ''}, {time.time() - start:.0f} s", flush=True)
    left_out = [line for line in lib.log.splitlines() if re.match(r'[^ ].*,.*\d+,', line)]
    if args.verbose:
        print('\n'.join('  ' + line[:200] for line in left_out))


def libraries(args):
    """A function for each, that makes it."""
    bin_dir, root = os.path.join(args.build, 'bin'), os.path.join(args.build, 'conformance', 'library')
    rng, out = np.random.default_rng(args.seed), []
    if args.own is not None:
        out += [functools.partial(library.own, bin_dir, os.path.join(root, 'own'), row) for row in library.OWN
                if not args.own or row[0] in args.own.split(',')]
        out += [functools.partial(library.together, bin_dir, os.path.join(root, 'own'), names, name)
                for names in library.TOGETHER for name in names if not args.own or '+'.join(names) in args.own.split(',')]
    if args.logic + args.packed and not library.has_yaml():
        print('skipped: libraries of logic files: python3-yaml is not there')
        args.logic, args.packed = [], []
    for run in args.packed:
        out += [functools.partial(library.packed, run, path, args.work)
                for path in sorted(glob.glob(os.path.join(run, '3_LibraryLogic', '*.yaml')))]
    for i, path in enumerate(args.logic):
        out.append(functools.partial(library.foreign, bin_dir, os.path.join(root, 'logic'), path, os.path.join(root, 'cache'),
                                     rng, args.solutions, args.sizes, library.MODES[i % len(library.MODES)]))
    return out


def main():
    args = arguments()
    emu, why = emulate.load_emulator()
    if not emu:
        print(f'skipped: AMD libraries on the emulator: {why}')
        return 0
    if not newest_clang()[0]:
        print('skipped: AMD libraries on the emulator: no clang from version 15 on')
        return 0
    if args.seed is None:
        args.seed = int(time.time())
    if not args.short:
        print(f'seed {args.seed}')
    machine, totals = emulate.Machine(emu), collections.Counter()
    for make in libraries(args):
        try:
            lib = make()
            if lib.word():
                run_library(args, lib, machine, totals)
        except library.Failed as e:
            totals['wrong'] += 1
            print(f'FAILED: {e}', flush=True)
    if args.short:
        print(f"{totals['libraries']} libraries, {totals['wrong']} problems wrong")
        return 1 if totals['wrong'] or not totals['right'] else 0
    print(f"{totals['right']} of {totals['right'] + totals['wrong']} problems right: {totals['libraries']} libraries, "
          f"{totals['kernels']} kernels, {totals['helpers']} problems with helper kernels, {totals['refused']} refused")
    return 1 if totals['wrong'] or not totals['right'] else 0


if __name__ == '__main__':
    sys.exit(main())
