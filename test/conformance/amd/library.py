"""Libraries for library_run.py: tuned by `tuner` on the simulated device (the kernels are real), and made by
tuner-createlib from a few solutions of logic files that come from elsewhere.

Not here: running their kernels (library_run.py), how numbers are checked (emulate.py)."""
import os
import re
import shutil
import subprocess

import numpy as np

import cases
from emulate import flow

CUS = {'gfx803': 64, 'gfx900': 64, 'gfx906': 60, 'gfx908': 120, 'gfx90a': 104, 'gfx942': 304, 'gfx1030': 40, 'gfx1100': 48,
       'gfx1201': 32}
LETTERS = ('s', 'd', 'c', 'z', 'h', '4xi8', 'i', 'b', 'i8', 'x', 'f8', 'b8', 'f8b8', 'b8f8')     # of Tensile's type numbers
WORDS = {('h', 'h', 'h'): 'H', ('h', 'h', 's'): 'HHS', ('h', 's', 's'): 'HSS', ('b', 'b', 's'): 'BBS', ('b', 's', 's'): 'BSS',
         ('i8', 'i', 'i'): 'I8', ('4xi8', 'i', 'i'): 'I8x4'}    # in problem lines
WORDS.update({tuple(p[key] for key in ('DataType', 'DestDataType', 'ComputeDataType')): name for name, p in cases.F8.items()})


class Failed(Exception):
    """A program of this project that failed."""


class Library:
    """A directory with code objects and metadata, and what is asked of it."""

    def __init__(self, name, arch, problem, path, sizes, gsu, log=''):
        self.name, self.arch, self.problem, self.path, self.sizes, self.gsu = name, arch, problem, path, sizes, gsu
        self.log, self.cus = log, CUS[arch]

    def word(self):
        """TYPE TA TB of a problem line; None when it has no such lines."""
        p = self.problem
        kind = (p['DataType'], p.get('DestDataType', p['DataType']), p.get('ComputeDataType', p['DataType']))
        first = kind[0].upper() if len(set(kind)) == 1 and kind[0] in 'sdcz' else WORDS.get(kind)
        if not first or p.get('F32XdlMathOp', 's') == 'x':
            return None
        ops = ['C' if p.get('ComplexConjugate' + x) else 'T' if p.get('Transpose' + x) else 'N' for x in 'AB']
        return ' '.join([first] + ops)


def run(cmd, ok=(0,), **env):
    r = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **env})
    if r.returncode not in ok:
        raise Failed(f'{os.path.basename(cmd[0])} exits with {r.returncode}: {r.stdout.strip()[-500:]}')
    return r.stdout


# ---- tuned here ----

_MI = {'gfx90a': [32, 32, 8, 1], 'gfx942': [16, 16, 16, 1], 'gfx1100': [16, 16, 16, 1]}


def _valu(**more):
    return {'KernelLanguage': ['Assembly'], 'EdgeType': ['ShiftPtr'], 'WorkGroup': [[16, 16, 1], [8, 8, 4]],
            'ThreadTile': [[4, 4]], 'DepthU': [16], **more}


def _matrix(shape, **more):
    return {'KernelLanguage': ['Assembly'], 'EdgeType': ['ShiftPtr'], 'ScheduleIterAlg': [3], 'TransposeLDS': [1],
            'MatrixInstruction': [[*shape, 1, 1, 1, 2, 2], [*shape, 1, 2, 1, 1, 4]], 'DepthU': [32], **more}


def _gsu(*parts, algorithm='MultipleBuffer'):
    return {'GlobalSplitU': list(parts), 'GlobalSplitUAlgorithm': [algorithm], 'MinKForGSU': [32]}


_WMMA = {'WavefrontSize': [32], 'SourceSwap': [True], 'VectorWidth': [1], '1LDSBuffer': [0], 'TransposeLDS': [1]}
_F8 = {'GlobalReadVectorWidth': [8], 'DepthU': [64], 'TransposeLDS': [1]}
OWN = [   # name, architecture, data type, transposes, fork, problem type's own keys
    ('sgemm_split', 'gfx906', 'S', 'NN', _valu(**_gsu(2, 4, algorithm='SingleBuffer')), {}),
    ('sgemm_batches', 'gfx906', 'S', 'NT', _valu(), {'StridedBatched': False}),
    ('sgemm_source', 'gfx1030', 'S', 'TN', _valu(KernelLanguage=['Source'], WorkGroup=[[16, 16, 1], [8, 8, 1]]), {}),
    ('sgemm_matrix', 'gfx90a', 'S', 'NT', _matrix([32, 32, 2, 1], TransposeLDS=[0], DepthU=[16], **_gsu(2, 3)), {}),
    ('dgemm_matrix', 'gfx90a', 'D', 'TN', _matrix([16, 16, 4, 1], StoreVectorWidth=[1], DepthU=[16],
                                                  PrefetchGlobalRead=[1, 2]), {}),
    ('hgemm', 'gfx906', 'H', 'NN', _valu(WorkGroup=[[16, 16, 1]], VectorWidth=[2, 4], GlobalReadVectorWidth=[2],
                                         AssertFree0ElementMultiple=[2]), {}),
    ('hgemm_split', 'gfx90a', 'H', 'TN', _valu(VectorWidth=[2], GlobalReadVectorWidth=[2], AssertFree0ElementMultiple=[2],
                                               **_gsu(2, 3)), {}),
    ('hgemm_split_batches', 'gfx90a', 'H', 'TN', _valu(VectorWidth=[2], GlobalReadVectorWidth=[2], AssertFree0ElementMultiple=[2],
                                                       **_gsu(3)), {'StridedBatched': False}),
    ('hhs_split', 'gfx90a', 'HHS', 'NN', _matrix(_MI['gfx90a'], **_gsu(2, 4)), {}),
    ('hhs_single', 'gfx90a', 'HHS', 'TN', _matrix(_MI['gfx90a'], **_gsu(2, 3, algorithm='SingleBuffer')), {}),
    ('hhs_batches', 'gfx90a', 'HHS', 'NN', _matrix(_MI['gfx90a'], **_gsu(2)), {'StridedBatched': False}),
    ('hss', 'gfx942', 'HSS', 'TN', _matrix(_MI['gfx942'], PrefetchGlobalRead=[1, 2]), {}),
    ('bbs', 'gfx942', 'BBS', 'TN', _matrix(_MI['gfx942'], **_gsu(2, 4)), {}),
    ('bbs_nt', 'gfx90a', 'BBS', 'NT', _matrix(_MI['gfx90a'], TransposeLDS=[0]), {}),
    ('i8', 'gfx90a', 'I8II', 'TN', _matrix([32, 32, 8, 1], GlobalReadVectorWidth=[4]), {}),
    ('i8_wmma', 'gfx1100', 'I8II', 'TN', _matrix(_MI['gfx1100'], GlobalReadVectorWidth=[4], **_WMMA), {}),
    ('i8x4', 'gfx906', '4xi8', 'TN', _valu(VectorWidth=[2], AssertFree0ElementMultiple=[2],
                                            **_gsu(1, 3, algorithm='SingleBuffer')), {}),
    ('i8x4_split', 'gfx90a', '4xi8', 'NT', _valu(**_gsu(2, 4)), {}),
    ('i8x4_batches', 'gfx906', '4xi8', 'NN', _valu(KernelLanguage=['Source'], WorkGroup=[[16, 16, 1], [8, 8, 1]]),
     {'StridedBatched': False}),
    ('hhs_wmma', 'gfx1100', 'HHS', 'NN', _matrix(_MI['gfx1100'], **_gsu(2, 4), **_WMMA), {}),
    ('cgemm', 'gfx90a', 'C', 'NC', _valu(WorkGroup=[[16, 16, 1], [16, 8, 1]]), {}),
    ('f8', 'gfx942', 'F8SS', 'TN', _matrix([16, 16, 32, 1], **_F8, **_gsu(2, 3)), {}),
    ('f8b8', 'gfx942', 'F8B8B8S', 'NN', _matrix([32, 32, 16, 1], **_F8, **_gsu(2)), {}),
    ('b8_half', 'gfx942', 'B8HS', 'NT', _valu(KernelLanguage=['Source']), {}),
    ('f8_wmma', 'gfx1201', 'F8F8S', 'TN', _matrix([16, 16, 16, 1], **{**_WMMA, **_F8}), {}),
    ('b8f8_wmma', 'gfx1201', 'B8F8SS', 'NN', _matrix([16, 16, 16, 1], **{**_WMMA, **_F8}, **_gsu(2, 4)), {}),
    ('b8_source', 'gfx1201', 'B8B8S', 'NN', _valu(KernelLanguage=['Source'], WorkGroup=[[16, 16, 1], [8, 8, 1]]), {}),
    ('hhs_single_batches', 'gfx90a', 'HHS', 'TN', _matrix(_MI['gfx90a'], **_gsu(2, algorithm='SingleBuffer')),
     {'StridedBatched': False}),
    ('zgemm', 'gfx906', 'Z', 'CN', _valu(WorkGroup=[[16, 16, 1], [8, 8, 1]], ThreadTile=[[2, 2]]), {}),
]
# Rows of OWN in one library: post-GSU kernels of half have the same name whatever the sums' type
TOGETHER = [('hgemm_split', 'hhs_single', 'hhs_split'), ('hgemm_split_batches', 'hhs_single_batches', 'hhs_batches')]


def config(arch, problem, fork, sizes):
    """Text of a tuner config that measures nothing for long."""
    lines = ['GlobalParameters: {SyncsPerBenchmark: 2, NumWarmups: 0, SleepPercent: 0, NumElementsToValidate: 0}',
             'BenchmarkProblems:', '  -', '    - ' + flow(problem), '    - ForkParameters:']
    lines += [f'        - {k}: {flow(v)}' for k, v in fork.items()]
    lines += ['      BenchmarkFinalParameters:', '        - ProblemSizes:']
    lines += [f'          - Exact: {s}' for s in sizes]
    lines += ['LibraryLogic:', '  ScheduleName: "test"', '  DeviceNames: ["test"]', f'  ArchitectureName: "{arch}"',
              'LibraryClient:']
    return '\n'.join(lines) + '\n'


def own(bin_dir, root, row):
    """The library that `tuner` makes of a row of OWN; its directory stays, so that a second run compiles nothing."""
    name, arch, kind, trans, fork, more = row
    problem = cases.problem(kind, trans, **more)
    tuned = {**problem, 'StridedBatched': True}     # tuner-client measures no arrays of pointers
    rng, n = np.random.default_rng(len(name)), 8
    asserted, gsu = fork.get('AssertFree0ElementMultiple', [1])[0], max(fork.get('GlobalSplitU', [1]))
    least_k = 1 if gsu == 1 else 32 * gsu
    sizes = [[asserted * int(rng.integers(1, 150 // asserted)), int(rng.integers(1, 150)), int(rng.integers(1, 4)),
              least_k + int(rng.integers(0, 200))] for _ in range(n)] + [[64, 64, 1, 160], [130, 128, 2, 96]]
    directory = os.path.join(root, name)
    os.makedirs(directory, exist_ok=True)
    with open(directory + '.yaml', 'w') as f:
        f.write(config(arch, tuned, fork, sizes))
    log = run([os.path.join(bin_dir, 'tuner'), '--device', 'sim', directory + '.yaml', directory], (0, 3),
              TUNER_SIM=f'arch={arch};cus={CUS[arch]};gflops=1;noise=0.0001;overhead_ns=10')
    path = os.path.join(directory, '4_LibraryClient', 'library')
    if not problem.get('StridedBatched', True):
        log += pointer_arrays(bin_dir, directory)
        path = os.path.join(directory, 'arrays', 'library')
    return Library(name, arch, problem, path, [(s, None) for s in sizes], gsu, log)


def pointer_arrays(bin_dir, directory):
    """The library of the same logic for batches by arrays of pointers."""
    logic, out = os.path.join(directory, '3_LibraryLogic'), os.path.join(directory, 'arrays')
    os.makedirs(os.path.join(out, 'logic'), exist_ok=True)
    for name in os.listdir(logic):
        with open(os.path.join(logic, name)) as f, open(os.path.join(out, 'logic', name), 'w') as g:
            g.write(re.sub('StridedBatched: [Tt]rue', 'StridedBatched: false', f.read()))
    return run([os.path.join(bin_dir, 'tuner-createlib'), os.path.join(out, 'logic'), out, 'HIP'])


def together(bin_dir, root, names, name):
    """The library of all of names, asked for the problems of one of them."""
    out = os.path.join(root, '+'.join(names))
    shutil.rmtree(os.path.join(out, 'logic'), ignore_errors=True)
    os.makedirs(os.path.join(out, 'logic'))
    for row in (row for row in OWN if row[0] in names):
        lib = own(bin_dir, root, row)
        logic = os.path.join(os.path.dirname(lib.path), 'logic' if not row[5].get('StridedBatched', True) else '../3_LibraryLogic')
        for file in os.listdir(logic):
            shutil.copy(os.path.join(logic, file), os.path.join(out, 'logic', f'{row[0]}_{file}'))
        if row[0] == name:
            asked = lib
    log = run([os.path.join(bin_dir, 'tuner-createlib'), os.path.join(out, 'logic'), out, 'HIP'])
    return Library('+'.join([name, *(n for n in names if n != name)]), asked.arch, asked.problem, os.path.join(out, 'library'),
                   asked.sizes, asked.gsu, log)


# ---- from elsewhere ----

MODES = [[], ['--lazy-library-loading', '--separate-architectures'], ['--no-merge-files'], ['--separate-architectures'],
         ['--library-format', 'yaml']]


def has_yaml():
    try:
        import yaml  # noqa: F401
    except ImportError:
        return False
    return True


def read_logic(path):
    """A logic file in list form."""
    import yaml
    with open(path) as f:
        logic = yaml.load(f, getattr(yaml, 'CSafeLoader', yaml.SafeLoader))
    if not isinstance(logic, list):
        raise Failed(f'{path}: not in list form')
    return logic


def _problem(p):
    """A config's problem type from a logic file's."""
    dest = p.get('DestDataType', p['DataType'])
    if max(p['DataType'], dest) >= len(LETTERS):
        raise Failed(f"data types {p['DataType']} and {dest} are not checked here")
    out = {'DataType': LETTERS[p['DataType']], 'DestDataType': LETTERS[dest],
           'ComputeDataType': LETTERS[p.get('ComputeDataType', dest)]}
    for key in ('TransposeA', 'TransposeB', 'ComplexConjugateA', 'ComplexConjugateB', 'Batched', 'UseBeta'):
        out[key] = p.get(key, key == 'Batched')
    out['StridedBatched'] = p.get('StridedBatched', True)
    return out


def _sizes(rng, s, n, used):
    """n sizes at the edges of a solution's tile that no other solution has."""
    out = []
    case = {'solution': s, 'problem': {'Batched': s['ProblemType'].get('Batched', True), 'TransposeA': False,
                                       'TransposeB': False}}
    equal = {int(k): v for k, v in (s.get('AssertSizeEqual') or {}).items()}
    for size in cases.sizes(rng, case, (s['MacroTile0'], s['MacroTile1'], max(s['DepthU'], 1)), 4 * n):
        size = size[:4]
        unit = s.get('AssertSummationElementMultiple', 1) * (s.get('GlobalSplitU', 1) if not s.get('LoopTail', True) else 1)
        for i, v in equal.items():
            size[i] = v
        while tuple(size) in used:
            size[3] += unit
        used.add(tuple(size))
        out.append(size)
        if len(out) == n:
            break
    return out


def packed(run_dir, path, work):
    """The library of a run, for the sizes of one of its logic files that are small enough for the emulator."""
    logic = read_logic(path)
    arch = logic[2]['Architecture'] if isinstance(logic[2], dict) else logic[2]
    sizes = [(row[0][:4], row[1][0]) for row in logic[7] if np.prod([float(x) for x in row[0][:4]]) <= work]
    if not sizes:
        raise Failed(f'{path}: no size with at most {work:.0f} multiplications')
    name = os.path.basename(os.path.normpath(run_dir)) + '/' + os.path.basename(path)[:-5]
    gsu = max(s.get('GlobalSplitU', 1) for s in logic[5])
    return Library(name, arch, _problem(logic[4]), os.path.join(run_dir, 'packed', 'library'), sizes, gsu)


def foreign(bin_dir, root, path, cache, rng, n_solutions, n_sizes, mode):
    """The library of some solutions of a logic file, each the winner of sizes of its own."""
    import yaml
    logic = read_logic(path)
    name, arch = os.path.basename(path)[:-5], logic[2]
    arch = arch['Architecture'] if isinstance(arch, dict) else 'gfx906' if arch == 'fallback' else arch
    solutions = logic[5]
    if n_solutions and len(solutions) > n_solutions:
        solutions = [solutions[i] for i in sorted(rng.choice(len(solutions), n_solutions, replace=False))]
    used, table, sizes = set(), [], []
    for i, s in enumerate(solutions):
        s['SolutionIndex'] = i
        for size in _sizes(rng, s, n_sizes, used):
            table.append([size, [i, 1.0]])
            sizes.append((size, i))
    logic[5], logic[7] = solutions, table
    if len(logic) > 8:
        logic[8] = None
    folder = os.path.join(root, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, 'logic'))
    with open(os.path.join(folder, 'logic', f'{name}.yaml'), 'w') as f:
        yaml.dump(logic, f, getattr(yaml, 'CSafeDumper', yaml.SafeDumper), default_flow_style=None, width=120)
    log = run([os.path.join(bin_dir, 'tuner-createlib'), *mode, '--architecture', arch, '--cache', cache,
               os.path.join(folder, 'logic'), folder, 'HIP'], ok=(0, 3))
    library = os.path.join(folder, 'library')
    report = os.path.join(library, 'TensileCreateLibrary.report.csv')
    log += open(report).read() if os.path.exists(report) else ''
    if os.path.isdir(os.path.join(library, arch)) and not re.search('separate', ' '.join(mode)):
        library = os.path.join(library, arch)
    gsu = max(s.get('GlobalSplitU', 1) for s in solutions)
    return Library(name, arch, _problem(logic[4]), library, sizes, gsu, log)
