"""Which persistent and stream-K kernels the AMD conformance test builds: random points of the parameter space whose work-groups take
several tiles, or parts of tiles, on devices of fewer and of more compute units than tiles.

Not here: the other parameters (cases.py), running them (emulate.py)."""
import itertools

import cases

ARCHES = ['gfx906', 'gfx90a', 'gfx942', 'gfx1100']


def random_case(rng, arch, kinds):
    """A point of the space, legal or not."""
    kind = cases._pick(rng, *kinds)
    trans = cases._pick(rng, *cases.transposes(kind))
    matrix = cases.matrix_shapes(arch, kind) and (kind == 'X' or rng.random() < .8)
    s = cases.random_matrix(rng, arch, kind) if matrix else cases.random_valu(rng, arch, kind)
    for name in ('PersistentKernel', 'PersistentKernelAlongBatch'):
        s.pop(name, None)
    stream = matrix and arch in cases.MFMA_ARCHES and rng.random() < .75
    more = {'Batched': bool(rng.random() > .1), 'UseBeta': bool(rng.random() > .1)}
    if 'WorkGroupMappingType' not in s:
        s['WorkGroupMapping'] = int(cases._pick(rng, 0, 1, 2, 8, -3))
    join = not stream and rng.random() < .3     # parts of K that are added up in the same launch
    if join:
        s.update({'GlobalSplitU': int(cases._pick(rng, 2, 3, 5)), 'GlobalSplitUAlgorithm': 'MultipleBufferSingleKernel', 'MinKForGSU': 16})
        s['PersistentKernel'] = int(s['KernelLanguage'] == 'Source' and rng.integers(2))
    elif stream:
        for name in [x for x in s if x.startswith('GlobalSplitU')]:
            del s[name]
        s.update({'StreamK': int(rng.integers(1, 4)), 'StreamKAtomic': int(kind == 'S' and rng.integers(2)), 'KernelLanguage': 'Assembly',
                  'StreamKXCCMapping': int(cases._pick(rng, 0, 0, 2, 3, 8)) if arch == 'gfx942' else 0})
        s['MatrixInstruction'] = s['MatrixInstruction'][:7] + list(cases._pick(rng, (2, 2), (4, 1), (1, 4)))
    else:
        s['PersistentKernel'] = int(cases._pick(rng, 1, 2, -1))
        s['PersistentKernelAlongBatch'] = bool(rng.integers(2))
        if s['KernelLanguage'] == 'Assembly':
            for name in [x for x in s if x.startswith('GlobalSplitU')]:
                del s[name]
            s['WorkGroupMapping'] = abs(s['WorkGroupMapping'])
            s['PrefetchAcrossPersistent'] = int(rng.integers(2))
            s['PrefetchAcrossPersistentMode'] = int(s['PrefetchAcrossPersistent'] and rng.integers(2))
            if s['PrefetchAcrossPersistentMode']:   # needs whole chunks of K
                s['AssertSummationElementMultiple'] = s['DepthU']
    c = cases.case(arch, kind, trans, s, **more)
    c['cus'] = int(cases._pick(rng, 1, 2, 3, 4, 5, 7, 8, 13, 24))
    if rng.random() < .5:
        c['full_tiles'] = int(rng.integers(0, 3))
    return c


def sizes(rng, c, tile, n):
    """n sizes of one to about twelve tiles and none to many chunks of K: one tile that all work-groups share; whole tiles, as many as
    work-groups, or in whole rounds; edges and a rest of K; several matrices; K of 0 and less than a chunk."""
    mt0, mt1, du = tile
    cus, out = c['cus'], []
    few = 3 if mt0 * mt1 <= 4096 else 2
    for i in range(n):
        across, along = int(rng.integers(1, few + 1)), int(rng.integers(1, few + 1))
        k = int(du * rng.integers(1, 8) + cases._pick(rng, 0, 0, 1, du // 2, du - 1))
        batch = int(cases._pick(rng, 1, 1, 2, 3)) if c['problem']['Batched'] else 1
        rows, columns = across * mt0 - int(cases._pick(rng, 0, 0, 1, mt0 // 2)), along * mt1 - int(cases._pick(rng, 0, 0, 1, mt1 // 2))
        fixed = [(mt0, mt1, 1, 9 * du + 3), (min(cus, 4) * mt0, mt1, batch, 3 * du), (2 * mt0 - 1, mt1 + 1, batch, 5 * du + 1),
                 (mt0, 2 * mt1, batch, 4 * du), (mt0 + 1, mt1 - 1, batch, max(1, du - 1)), (rows, columns, batch, 0)]
        if i < len(fixed):
            rows, columns, batch, k = fixed[i]
        s = c['solution']
        f0, f1 = s.get('AssertFree0ElementMultiple', 1), s.get('AssertFree1ElementMultiple', 1)
        rows, columns = [max(1, -(-max(v, 1) // f) * f) for v, f in ((rows, f0), (columns, f1))]
        multiple = s.get('AssertSummationElementMultiple', 1)
        k = -(-k // multiple) * multiple
        pad = [int(x) for x in rng.permutation([0, 1, 3, 6])] if i else [0] * 4
        ta, tb = c['problem']['TransposeA'], c['problem']['TransposeB']
        out.append([rows, columns, batch, k, rows + pad[0], rows + pad[1], (k if ta else rows) + pad[2],
                    (columns if tb else k) + pad[3]])
    return out


def kind_of(problem):
    """The name in cases.PROBLEMS of a config's problem type."""
    def letters(p):
        data = str(p['DataType']).lower()
        dest = str(p.get('DestDataType', data)).lower()
        wide = {'h': 's', 'b': 's', 'i8': dest}.get(data, data) if p.get('HighPrecisionAccumulate') else data
        return data, dest, str(p.get('ComputeDataType', wide)).lower()
    return next(k for k, p in cases.PROBLEMS.items() if letters(p) == letters(problem) and k != 'X')


def of_config(path, arch):
    """The kernels of a Tensile config: every permutation of its parameters, legal or not, with problems that fit the emulator."""
    import yaml     # only these need it
    out = []
    with open(path) as f:
        config = yaml.safe_load(f)
    for problem, *groups in config['BenchmarkProblems']:
        for group in groups:
            common = {k: v[0] for p in group.get('BenchmarkCommonParameters') or [] for k, v in p.items()}
            forks = [(k, v) for p in group.get('ForkParameters') or [] for k, v in p.items()]
            for values in itertools.product(*[v for _, v in forks]):
                s = {**common, **dict(zip([k for k, _ in forks], values))}
                for name in ('PrefetchLocalRead', 'PrefetchGlobalRead', 'PrefetchAcrossPersistent'):    # once True and False
                    if name in s:
                        s[name] = int(s[name])
                out.append({'arch': arch, 'kind': kind_of(problem), 'apart': True, 'solution': s,
                            'trans': ''.join('T' if problem[f'Transpose{x}'] else 'N' for x in 'AB'),
                            'problem': {**problem, **{k: str(v).lower() for k, v in problem.items() if k.endswith('DataType')}, **cases.PROBLEMS[kind_of(problem)]},
                            'cus': (3, 4, 7)[len(out) % 3]})
    return out
