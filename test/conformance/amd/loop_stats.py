#!/usr/bin/env python3
"""Main loops of our kernels beside those of Tensile's assembly kernels with the same tile.

usage: loop_stats.py [--build DIR] [--compiler clang-19,clang-15] [--only gfx90a] [--check TABLES.md]
Compiles each row and counts its main loop's instructions by amdemu's classes. Tensile's shares were counted by the
same rule in kernels of Tensile 4.44. 'single' counts a packed or dual-issued FMA as two instructions. 'conflicts':
extra cycles of a wave's read of A or B, or of its writes of one load (kernel/amdgcn/layout.c). Needs
AMDEMU_DIR (no tinygrad); no kernel is run.
--check prints no tables but the rows whose share is below that of the same compiler's table in the file, exit code 1."""
import argparse
import collections
import datetime
import os
import re
import shutil
import sys

import cases
import emulate

# arch, kind, trans, Tensile's share in %, solution
ROWS = []


def row(arch, kind, trans, share, tile, depth, wg, **more):
    s = {'DepthU': depth, 'KernelLanguage': 'Assembly', 'WorkGroup': list(wg), 'StaggerU': 32, **more}
    if 'mi' in more:
        mi = s.pop('mi')
        waves = s.pop('waves')
        blocks = s.pop('bm', 1)
        wt = [tile[0] // (mi[0] * blocks * waves[0]), tile[1] // (mi[1] * (mi[3] // blocks) * waves[1])]
        s['MatrixInstruction'] = [*mi, blocks, *wt, *waves]
        s['ThreadTile'] = [4, 4]
    else:
        s['ThreadTile'] = [tile[0] // wg[0], tile[1] // wg[1]]
    ROWS.append((arch, kind, trans, share, tile, depth, s))


W16 = (16, 16, 1)
row('gfx90a', 'S', 'NN', 86.9, (128, 128), 16, W16, GlobalReadVectorWidth=4, VectorWidth=4)
row('gfx90a', 'S', 'NN', 69.4, (64, 64), 16, W16, GlobalReadVectorWidth=4, VectorWidth=4)
row('gfx906', 'S', 'NN', None, (128, 128), 16, W16, GlobalReadVectorWidth=4, VectorWidth=4)
row('gfx906', 'S', 'NN', None, (64, 64), 16, W16, GlobalReadVectorWidth=4, VectorWidth=4)
row('gfx90a', 'H', 'NN', 63.9, (64, 128), 16, W16, GlobalReadVectorWidth=4, VectorWidth=4, AssertFree0ElementMultiple=2)
row('gfx90a', 'HHS', 'NN', 23.7, (128, 256), 32, W16, mi=(32, 32, 8, 1), waves=(2, 2), GlobalReadVectorWidth=8)
row('gfx90a', 'HHS', 'NN', 24.3, (128, 144), 32, W16, mi=(16, 16, 16, 1), waves=(4, 1), GlobalReadVectorWidth=2)
row('gfx90a', 'D', 'TN', 46.0, (128, 128), 16, W16, mi=(16, 16, 4, 1), waves=(4, 1), GlobalReadVectorWidth=2,
    StoreVectorWidth=1, TransposeLDS=1, ScheduleIterAlg=3, **{'1LDSBuffer': 1})
row('gfx90a', 'D', 'TN', 46.0, (128, 128), 16, W16, mi=(16, 16, 4, 1), waves=(4, 1), GlobalReadVectorWidth=2,
    PrefetchGlobalRead=2, StoreVectorWidth=1, TransposeLDS=1, ScheduleIterAlg=3)
row('gfx906', 'D', 'NT', 61.8, (128, 64), 8, (32, 16, 1), GlobalReadVectorWidth=2, VectorWidth=2)
row('gfx906', 'D', 'NT', 70.9, (96, 96), 4, W16, GlobalReadVectorWidth=2, VectorWidth=2)
row('gfx900', 'H', 'NN', 64.5, (128, 64), 16, W16, GlobalReadVectorWidth=4, VectorWidth=4)
row('gfx906', 'H', 'TN', 80.5, (128, 128), 32, W16, GlobalReadVectorWidth=8, VectorWidth=8, AssertFree0ElementMultiple=2)
row('gfx908', 'HHS', 'NN', 14.0, (64, 192), 32, W16, mi=(32, 32, 8, 1), waves=(2, 2), GlobalReadVectorWidth=8)
row('gfx908', 'S', 'TT', 31.4, (16, 32), 16, (8, 16, 2), GlobalReadVectorWidth=2, VectorWidth=2)
row('gfx90a', 'HHS', 'NN', 20.2, (128, 192), 32, W16, mi=(32, 32, 8, 1), waves=(2, 2), GlobalReadVectorWidth=8,
    PrefetchGlobalRead=2, ScheduleIterAlg=3)
row('gfx90a', 'S', 'NN', 31.4, (64, 32), 32, (16, 16, 4), mi=(16, 16, 4, 1), waves=(1, 1), GlobalReadVectorWidth=4)
row('gfx90a', 'BBS', 'TT', 36.4, (128, 256), 32, W16, mi=(16, 16, 16, 1), waves=(1, 4), GlobalReadVectorWidth=8,
    PrefetchGlobalRead=2, ScheduleIterAlg=3)
row('gfx90a', 'D', 'NT', 53.8, (64, 64), 4, W16, GlobalReadVectorWidth=2, VectorWidth=2)
row('gfx90a', 'I8II', 'TN', 50.4, (128, 256), 64, W16, mi=(32, 32, 8, 1), waves=(4, 1), GlobalReadVectorWidth=16,
    PrefetchGlobalRead=2, ScheduleIterAlg=3)
row('gfx942', 'HSS', 'TN', 61.5, (128, 256), 64, W16, mi=(16, 16, 16, 1), waves=(2, 2), GlobalReadVectorWidth=8,
    **{'1LDSBuffer': 1, 'ScheduleIterAlg': 3})
row('gfx942', 'HHS', 'TN', None, (256, 128), 64, W16, mi=(16, 16, 16, 1), waves=(2, 2), GlobalReadVectorWidth=8,
    **{'1LDSBuffer': 1, 'ScheduleIterAlg': 3})
row('gfx942', 'HHS', 'TN', None, (256, 128), 64, W16, mi=(32, 32, 8, 1), waves=(2, 2), GlobalReadVectorWidth=8,
    **{'1LDSBuffer': 1, 'ScheduleIterAlg': 3})
row('gfx942', 'HHS', 'TN', None, (256, 128), 32, W16, mi=(32, 32, 8, 1), waves=(2, 2), GlobalReadVectorWidth=8)
row('gfx942', 'BBS', 'NT', 13.3, (256, 128), 16, W16, mi=(32, 32, 8, 1), waves=(4, 1), GlobalReadVectorWidth=8,
    PrefetchGlobalRead=2, ScheduleIterAlg=3)
row('gfx942', 'I8II', 'NT', 14.7, (256, 256), 32, W16, mi=(32, 32, 16, 1), waves=(4, 1), GlobalReadVectorWidth=4,
    PrefetchGlobalRead=2, ScheduleIterAlg=3)
row('gfx942', 'S', 'NT', 29.8, (192, 48), 16, W16, mi=(16, 16, 4, 1), waves=(4, 1), GlobalReadVectorWidth=1,
    PrefetchGlobalRead=0)
row('gfx942', 'HHS', 'NN', 51.7, (256, 256), 64, W16, mi=(16, 16, 16, 1), waves=(4, 1), GlobalReadVectorWidth=8,
    **{'1LDSBuffer': 1, 'ScheduleIterAlg': 3})
row('gfx1030', 'S', 'NN', 85.6, (128, 64), 8, (16, 8, 1), GlobalReadVectorWidth=4, VectorWidth=4)
row('gfx1030', 'HHS', 'TN', 83.3, (128, 128), 16, W16, GlobalReadVectorWidth=8, VectorWidth=8)
row('gfx1100', 'HHS', 'NN', 12.8, (128, 128), 16, W16, mi=(16, 16, 16, 1), waves=(2, 2), GlobalReadVectorWidth=8,
    WavefrontSize=32, StoreVectorWidth=1)
row('gfx1100', 'S', 'NN', 85.6, (128, 64), 8, (16, 8, 1), GlobalReadVectorWidth=4, VectorWidth=4)
row('gfx1100', 'BBS', 'NT', 8.8, (128, 128), 16, W16, mi=(16, 16, 16, 1), waves=(2, 2), GlobalReadVectorWidth=8,
    WavefrontSize=32, StoreVectorWidth=1)


def name_of(r):
    arch, kind, trans, _, tile, depth, s = r
    mi = s.get('MatrixInstruction')
    shape = ' MI' + 'x'.join(map(str, mi[:4])) if mi else ''
    return f"{kind} {trans} {tile[0]}x{tile[1]}x{depth}{shape} PGR{s.get('PrefetchGlobalRead', 1)}"


def work_of(mnemonic, operands, kind):
    """Multiply-adds or matrix instructions in one instruction: packed and dual-issued FMA have two."""
    import amdemu
    if amdemu.inst_class(mnemonic) != kind:
        return 0
    if mnemonic.startswith('v_pk_fma_f32'):
        return 2
    return 1 + sum(amdemu.inst_class(x) == kind for x in re.findall(r'::\s*(v_\w+)', operands))


def main_loop(ins, kind):
    """(first, last): the innermost loop that loads from global memory and has the most work."""
    import amdemu
    at = {a: i for i, (a, *_) in enumerate(ins)}
    cl = [amdemu.inst_class(m) for _, m, _, _ in ins]
    loops = [(at[t], i) for i, (a, _, _, t) in enumerate(ins) if t is not None and t <= a and t in at]
    work = [(lo, hi) for lo, hi in loops if kind in cl[lo:hi] and 'vmem load' in cl[lo:hi]
            and not any((a, b) != (lo, hi) and lo <= a and b <= hi and kind in cl[a:b] for a, b in loops)]
    return max(work, key=lambda l: (cl[l[0]:l[1]].count(kind), l[0] - l[1]), default=None)


def stats(path, arch, symbol):
    """Numbers of the main loop: instructions, units of work, classes; registers of the kernel."""
    import amdemu
    co = amdemu.CodeObject(path, arch)
    ins = amdemu.disassemble(co, symbol)
    kind = 'matrix' if any(amdemu.inst_class(m) == 'matrix' for _, m, _, _ in ins) else 'fma'
    loop = main_loop(ins, kind)
    if not loop:
        return None
    body = ins[loop[0]:loop[1] + 1]
    classes = collections.Counter(amdemu.inst_class(m) for _, m, _, _ in body)
    k = co.kernel(symbol)
    return {'loop': len(body), 'unit': classes[kind], 'work': sum(work_of(m, o, kind) for _, m, o, _ in body), 'classes': classes,
            'registers': f'{k.vgprs}+{k.agprs}' if k.agprs else str(k.vgprs), 'lds': k.lds, 'scratch': k.private}


def conflicts(path):
    """Bank conflicts by the comment on the layout in the kernel's text: 0, or those of A and B."""
    out = []
    for which, reads, writes in re.findall(r'/\* ([AB]) in local memory:.* reads (\d+), writes (\d+) \*/', open(path).read()):
        out += [f'{which} {what} {n}' for what, n in (('read', reads), ('write', writes)) if n != '0']
    return ', '.join(out) or 0


def recorded(path, compiler):
    """{(arch, kernel): share} of that compiler's table."""
    out, wanted = {}, False
    for line in open(path):
        cells = [c.strip() for c in line.split('|')]
        if len(cells) == 1 and line.startswith('clang-'):
            wanted = line.startswith(compiler + ',')
        elif wanted and len(cells) > 5 and re.fullmatch(r'[0-9.]+', cells[5]):
            out[cells[1], cells[2]] = float(cells[5])
    return out


def below(lines, shares):
    """Prints the rows whose share is below the recorded one, and how many were compared."""
    worse, n = 0, 0
    for row in lines:
        landed = shares.get((row[0], row[1]))
        if landed is None:
            continue
        n += 1
        if row[2] == '-' or float(row[4]) < landed:
            worse += 1
            print(f'{row[0]} {row[1]}: share {row[4] if row[2] != "-" else row[3]}, recorded {landed}')
    print(f'main loops of AMD kernels: {worse} of {n} below the recorded share')
    return worse


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--compiler', default='clang-19')
    p.add_argument('--only', default='')
    p.add_argument('--check', default='')
    args = p.parse_args()
    if not os.environ.get('AMDEMU_DIR'):
        print('skipped: main loops of AMD kernels: AMDEMU_DIR is not set')
        return 0
    sys.path.insert(0, os.environ['AMDEMU_DIR'])
    rows = [r for r in ROWS if args.only in f'{r[0]} {name_of(r)}']
    todo = []
    for i, r in enumerate(rows):
        c = cases.case(r[0], r[1], r[2], r[6])
        c['name'] = f'loop{i}'
        todo.append(c)
    head = ['arch', 'kernel', 'loop', 'matrix or FMA', 'share', 'single', 'Tensile', 'valu', 'salu', 'lds read', 'lds write', 'load', 'wait',
            'registers', 'LDS', 'conflicts', 'scratch']
    worse = 0
    for compiler in args.compiler.split(','):
        if args.check and not shutil.which(compiler):
            print(f'skipped: main loops of AMD kernels: no {compiler}')
            continue
        k = emulate.Kernels(os.path.join(args.build, 'conformance', 'emit'), compiler,
                            os.path.join(args.build, 'conformance', 'amd.cache'), batch=1)
        answers = k.make(todo)
        objects = k.compile(k.texts(answers))
        lines = [head, ['---'] * len(head)]
        for r, a in zip(rows, answers):
            if int(re.search(r'(\d*)$', compiler)[1] or 0) < emulate.LEAST_CLANG.get(r[0], 0):
                continue
            path = objects.get((r[0], a.get('symbol')), a.get('error', '?'))
            s = stats(path, r[0], a['symbol']) if path.endswith('.co') else None
            if not s:
                lines.append([r[0], name_of(r), '-', path[:100]] + [''] * (len(head) - 4))
                continue
            c = s['classes']
            lines.append([r[0], name_of(r), s['loop'], s['unit'], f"{100 * s['unit'] / s['loop']:.1f}",
                          f"{100 * s['work'] / (s['loop'] - s['unit'] + s['work']):.1f}", r[3] or '', c['valu'], c['salu'], c['lds read'],
                          c['lds write'], c['vmem load'], c['wait'], s['registers'], s['lds'], conflicts(a['file']),
                          s['scratch'] or ''])
        k.close()
        if args.check:
            worse += below(lines[2:], recorded(args.check, compiler))
            continue
        print(f'{compiler}, {datetime.date.today()}\n')
        for line in lines:
            print('| ' + ' | '.join(map(str, line)) + ' |')
        print()
    return 1 if worse else 0


if __name__ == '__main__':
    sys.exit(main())
