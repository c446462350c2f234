#!/usr/bin/env python3
"""Programs over tiles that are written by hand (configs/tile): AMD kernels of them on the emulator, which checks bounds,
races and waits, and NVIDIA kernels of them on the CPU; the main loop of AMD kernels beside that of a generated one.

usage: tile.py [--build DIR] [--only nvptx|amd]
Prints what is wrong and a line of counts; says why when it skips. Exit code 1 when something is wrong."""
import argparse
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..'), HERE]
import cases
import emulate
import loop_stats
import run

FOLDER = os.path.join(HERE, '../../../configs/tile')
PROGRAMS = ['plain', 'k_sliced', 'prefetching', 'transposed_a', 'padded', 'dual', 'wrapped', 'round_robin']
MATRIX = {'gfx90a': ['matrix_16x16x16'], 'gfx1100': ['matrix_16x16x16'], 'sm_90': ['matrix_16x8x16']}
HALF = ['transposed_a', 'matrix_16x16x16', 'matrix_16x8x16']
SIZES = [[64, 64, 1, 64], [128, 256, 1, 96], [45, 37, 2, 51], [100, 130, 1, 33, 103, 101, 107, 133], [1, 1, 1, 1]]
SCALARS = [[1, 0], [2, 0.5], [1, 2], [-2, 0.5], [0, 2]]


# matrix_16x16x16.tile with other types and instructions: architecture, kind, transposes, instruction; types of A and B, of sums
# and of D
VARIANTS = [('gfx90a', 'S', 'NN', '16, 16, 4', 'SSS'), ('gfx90a', 'D', 'TN', '16, 16, 4', 'DDD'),
            ('gfx90a', 'BBS', 'NN', '32, 32, 8', 'BSB'), ('gfx90a', 'I8II', 'TN', '16, 16, 16', ['I8', 'I', 'I']),
            ('gfx1100', 'BBS', 'NN', '16, 16, 16', 'BSB'), ('sm_90', 'BBS', 'NN', '16, 8, 16', 'BSB'),
            ('sm_90', 'I8II', 'TN', '16, 8, 32', ['I8', 'I', 'I']), ('sm_90', 'X', 'TN', '16, 8, 8', 'SSS')]


def variants(arches, to):
    """Entries of emit's list; the programs are written to that folder."""
    text, out = open(os.path.join(FOLDER, 'matrix_16x16x16.tile')).read(), []
    for arch, kind, trans, shape, types in VARIANTS:
        if arch not in arches:
            continue
        name = f'{kind}_{shape.replace(", ", "x")}_{arch}'
        c = cases.case(arch, kind, trans, {'CustomKernelName': name, 'KernelLanguage': 'Source'})
        keys = ' '.join(f'{k} {v}' for k, v in c['problem'].items())
        s = re.sub(r'(?m)^problem .*$', f'problem {keys}', text).replace('mma = [16, 16, 16]', f'mma = [{shape}]')
        for where, t in (('[AB] (?:global|local)', types[0]), ('P register', types[1]), ('[CD] (?:global|register)', types[2])):
            s = re.sub(f': ({where}) [HS]\\[', f': \\1 {t}[', s)
        if trans == 'NN':
            s = s.replace('[m 128, k 32]', '[k 32, m 128]').replace('[%m0, 0] shape [%M, %K]', '[0, %m0] shape [%K, %M]')
            s = s.replace(' {transpose = [1, 0]}', '')
        if kind == 'D':   # sums take two registers each
            s = s.replace('tile_m 128', 'tile_m 64').replace('m 128', 'm 64').replace('%wg0 * 128', '%wg0 * 64')
            s = s.replace('[32, 64]', '[32, 32]').replace('[32, 16]', '[32, 8]')
        with open(os.path.join(to, f'{name}.tile'), 'w') as f:
            f.write(s)
        out.append(dict(c, name=name, programs=to, sizes=[[128, 128, 1, 64], [45, 37, 2, 51]], scalars=[[1, 0], [2, 3]], cus=4,
                        apart=False))
    return out


def listed(arches):
    """Entries of emit's list."""
    out = []
    for arch in arches:
        for name in PROGRAMS + MATRIX[arch]:
            kind, trans = ('HHS', 'TN') if name in HALF else ('S', 'NN')
            c = cases.case(arch, kind, trans, {'CustomKernelName': name, 'KernelLanguage': 'Source'})
            out.append(dict(c, name=f'{name}_{arch}', programs=FOLDER, sizes=SIZES,
                            scalars=SCALARS, cus=4, apart=False))
    return out


def check(machine, todo, answers, objects):
    """(lines that say what is wrong, problems)"""
    failed, n = [], 0
    for c, a in zip(todo, answers):
        if 'file' not in a:
            failed.append(f'{c["name"]}: {a}')
            continue
        for i, x in enumerate(a['launches']):
            x['size'] = x['size'][:4]
            bad = machine.run(c, a, objects[a['name']], x, i)
            n += 1
            if bad:
                failed.append(f'{c["name"]}, size {x["size"]}, scalars {x["scalars"]}: {bad}')
    return failed, n


def main_loops(made):
    """The main loop of plain.tile beside that of the generated kernel of the same tile: at most 1 % more instructions."""
    failed = []
    for arch in ('gfx90a', 'gfx1100'):
        own = {'DepthU': 32, 'KernelLanguage': 'Assembly', 'WorkGroup': [16, 16, 1], 'ThreadTile': [4, 4], 'PrefetchGlobalRead': 1}
        todo = [dict(cases.case(arch, 'S', 'NN', own), name='generated'), next(c for c in listed([arch]) if c['name'] == f'plain_{arch}')]
        answers = made.make(todo)
        objects = made.compile(made.texts(answers))
        found = [loop_stats.stats(objects[(arch, a['symbol'])], arch, a['symbol']) for a in answers]
        if not all(found) or any(f['scratch'] for f in found) or found[1]['loop'] > 1.01 * found[0]['loop']:
            failed.append(f'plain_{arch}: instructions of the main loop of the generated kernel and of this: '
                          f'{[f and f["loop"] for f in found]}')
    return failed


def amd(build):
    emu, why = emulate.load_emulator()
    compiler, version = run.newest_clang()
    if not emu or version < 19:
        print(f'skipped: programs written by hand on the emulator: {why or "no clang 19 or newer"}')
        return [], 0
    made = emulate.Kernels(f'{build}/conformance/emit', compiler, f'{build}/conformance/amd.cache')
    folder = tempfile.TemporaryDirectory()
    todo = listed(['gfx90a', 'gfx1100']) + variants(['gfx90a', 'gfx1100'], folder.name)
    answers = made.make(todo)
    objects = made.compile(made.texts(answers))
    failed, n = check(emulate.Machine(emu), todo, answers, {a['name']: objects for a in answers})
    failed += main_loops(made)
    made.close()
    return failed, n


def nvptx(build):
    sys.path[:0] = [os.path.join(HERE, '../nvptx')]
    import importlib.util
    spec = importlib.util.spec_from_file_location('nvptx_emulate', os.path.join(HERE, '../nvptx/emulate.py'))
    nv = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(nv)
    compiler = shutil.which(os.environ.get('CXX', 'g++'))
    if not compiler:
        print('skipped: programs written by hand, NVIDIA kernels on the CPU: no g++')
        return [], 0
    made = emulate.Kernels(f'{build}/conformance/emit', None, f'{build}/conformance/nvptx.cache')
    folder = tempfile.TemporaryDirectory()
    todo = listed(['sm_90']) + variants(['sm_90'], folder.name)
    answers, objects, headers = made.make(todo), {}, nv.precompiled(compiler, folder.name)
    for a in answers:
        if 'file' in a:
            path = nv.compile_text(compiler, os.path.abspath(a['file']), [a['symbol']], headers)
            objects[a['name']] = {(a['arch'], a['symbol']): path}
    out = check(nv.Machine(nv.Emulator()), todo, answers, objects)
    made.close()
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--build', default='build')
    p.add_argument('--only', choices=['amd', 'nvptx'])
    args = p.parse_args()
    wrong = 0
    for name, test in (('amd', amd), ('nvptx', nvptx)):
        if args.only not in (None, name):
            continue
        failed, n = test(args.build)
        for line in failed[:20]:
            print(line)
        wrong += len(failed)
        if n:
            print(f'{name}: {len(PROGRAMS) + 1} programs and other types of one, {n} problems, {len(failed) or "none"} wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
