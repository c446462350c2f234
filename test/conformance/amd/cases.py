"""Which kernels the AMD conformance test builds: one of each family and data type for certain, and random points
of the parameter space. A case is an entry of emit's list; most random points are refused by a rule.

Not here: running them (emulate.py)."""
ARCHES = ['gfx900', 'gfx906', 'gfx908', 'gfx90a', 'gfx942', 'gfx950', 'gfx1030', 'gfx1100', 'gfx1201']
MFMA_ARCHES = ('gfx908', 'gfx90a', 'gfx942', 'gfx950')

PROBLEMS = {
    'S': {'DataType': 's'}, 'D': {'DataType': 'd'}, 'C': {'DataType': 'c'}, 'Z': {'DataType': 'z'},
    'H': {'DataType': 'h'},
    'HHS': {'DataType': 'h', 'DestDataType': 'h', 'ComputeDataType': 's', 'HighPrecisionAccumulate': True},
    'HSS': {'DataType': 'h', 'DestDataType': 's', 'ComputeDataType': 's', 'HighPrecisionAccumulate': True},
    'BBS': {'DataType': 'b', 'DestDataType': 'b', 'ComputeDataType': 's', 'HighPrecisionAccumulate': True},
    'I8II': {'DataType': 'i8', 'DestDataType': 'i', 'ComputeDataType': 'i', 'HighPrecisionAccumulate': True},
    '4xi8': {'DataType': '4xi8', 'DestDataType': 'i', 'ComputeDataType': 'i', 'HighPrecisionAccumulate': True},
    'X': {'DataType': 's', 'F32XdlMathOp': 'x'}}
PROBLEMS.update({'HHSR': {**PROBLEMS['HHS'], 'Fp16AltImpl': True},
                 'HSSRZ': {**PROBLEMS['HSS'], 'Fp16AltImpl': True, 'Fp16AltImplRound': True}})
ALT = ('HHSR', 'HSSRZ')     # their matrix instructions are those of bf16, in the shapes of half's
F8 = {f'{i}{o}S'.upper(): {'DataType': i, 'DestDataType': o, 'ComputeDataType': 's', 'HighPrecisionAccumulate': True}
      for i in ('f8', 'b8', 'f8b8', 'b8f8') for o in ('s', 'h', 'f8' if i == 'f8' else 'b8')}
PROBLEMS.update(F8)

_S = [(32, 32, 1, 2), (32, 32, 2, 1), (16, 16, 1, 4), (16, 16, 4, 1), (4, 4, 1, 16)]
_H = [(32, 32, 4, 2), (32, 32, 8, 1), (16, 16, 4, 4), (16, 16, 16, 1), (4, 4, 4, 16)]
_B = [(32, 32, 2, 2), (32, 32, 4, 1), (16, 16, 2, 4), (16, 16, 8, 1), (4, 4, 2, 16)]
_D = [(16, 16, 4, 1), (4, 4, 4, 4)]
_W = [(16, 16, 16, 1)]
_F8 = [(32, 32, 16, 1), (16, 16, 32, 1)]
_CDNA4 = {1: [(32, 32, 32, 1), (16, 16, 64, 1)], 2: [(32, 32, 16, 1), (16, 16, 32, 1)], 'f8': [(32, 32, 64, 1), (16, 16, 128, 1)]}


def kinds(arch):
    """Names of the problem types that an architecture has kernels for."""
    return [k for k in PROBLEMS if arch == 'gfx942' or k != 'X' and (k not in F8 or arch in ('gfx950', 'gfx1201'))]


def matrix_shapes(arch, kind):
    """MatrixInstruction values [M, N, K, B] of an architecture for a data type."""
    if arch in ('gfx1100', 'gfx1201'):
        return _W if kind in ('HHS', 'HSS', 'BBS', 'I8II', *ALT) or kind in F8 and arch == 'gfx1201' else []
    if arch not in MFMA_ARCHES:
        return []
    newest = arch == 'gfx950'
    if kind in F8:
        return (_F8 if arch in ('gfx942', 'gfx950') else []) + (_CDNA4['f8'] if newest else [])
    if kind in ('S', 'C'):
        return _S
    if kind in ('D', 'Z'):
        return [] if arch == 'gfx908' else _D
    if kind in ('H', 'HHS', 'HSS'):
        return _H + (_CDNA4[2] if newest else [])
    if kind in ALT:
        return (_H if arch != 'gfx908' else []) + (_CDNA4[2] if newest else [])
    if kind == 'BBS':
        older = _B if arch in ('gfx908', 'gfx90a') else []
        return older + (_H if arch != 'gfx908' else []) + (_CDNA4[2] if newest else [])
    if kind == 'I8II':
        own = _F8 if arch in ('gfx942', 'gfx950') else [_H[1], _H[3]]
        return _H[:1] + _H[2:3] + _H[4:] + own + (_CDNA4[1] if newest else [])
    return [(32, 32, 4, 1), (16, 16, 8, 1)] if kind == 'X' and arch == 'gfx942' else []


def bytes_of(kind):
    return 1 if kind in F8 else {'S': 4, 'D': 8, 'C': 8, 'Z': 16, 'I8II': 1, '4xi8': 4, 'X': 4}.get(kind, 2)


def problem(kind, trans, **more):
    p = {'OperationType': 'GEMM', 'UseBeta': True, 'Batched': True, 'TransposeA': trans[0] != 'N',
         'TransposeB': trans[1] != 'N', **PROBLEMS[kind], **more}
    if 'C' in trans:
        p['ComplexConjugateA'], p['ComplexConjugateB'] = trans[0] == 'C', trans[1] == 'C'
    return p


def case(arch, kind, trans, solution, **more):
    return {'arch': arch, 'kind': kind, 'trans': trans, 'problem': problem(kind, trans, **more), 'solution': solution,
            'apart': True}


def transposes(kind):
    return ['NN', 'NT', 'TN', 'TT'] + (['NC', 'CN', 'CC', 'CT'] if kind in 'CZ' else [])


def families(arch):
    """Every data type and transpose: an ordinary kernel, and one of each matrix instruction."""
    out = []
    for kind in kinds(arch):
        size, lanes = bytes_of(kind), 32 if arch[3:5] in ('11', '12') else 64
        for trans in transposes(kind):
            if kind != 'X':
                out.append(case(arch, kind, trans, {'WorkGroup': [16, 16, 1], 'ThreadTile': [4, 4], 'DepthU': 16,
                                                    'KernelLanguage': 'Source'}))
            shapes = matrix_shapes(arch, kind)
            for i, shape in enumerate(shapes):
                m, n, k, b = shape
                tile = 1 if b > 1 or m == 32 and size > 4 else 2
                depth = max(16, 32 if size < 4 else 8, 2 * k)
                wide = {1: 8, 2: 4, 4: 2, 8: 2, 16: 1}[size]
                s = {'MatrixInstruction': [*shape, 1, tile, tile, 2, 2], 'DepthU': depth, 'KernelLanguage': 'Assembly',
                     'GlobalReadVectorWidth': wide, 'VectorWidth': 1, 'WorkGroup': [16, 16, 1], 'ThreadTile': [4, 4],
                     'PrefetchGlobalRead': 1 + (i + len(trans)) % 2, 'WavefrontSize': lanes}
                if m == 4:
                    s['GlobalReadVectorWidth'] = {1: 4, 2: 2}.get(size, 1)
                if size >= 8 or lanes == 32:
                    s['StoreVectorWidth'] = 1
                out.append(case(arch, kind, trans, s))
    return out + large(arch)


def large(arch):
    """Accumulators fill a file of 256 registers; stages of two that fill local memory."""
    if arch not in ('gfx90a', 'gfx942', 'gfx950'):
        return []
    common = {'KernelLanguage': 'Assembly', 'WorkGroup': [16, 16, 1], 'ThreadTile': [4, 4], 'ScheduleIterAlg': 3}
    full = {'MatrixInstruction': [16, 16, 16, 1, 1, 4, 16, 4, 1], 'DepthU': 32, 'GlobalReadVectorWidth': 8, '1LDSBuffer': 1, **common}
    two = {'MatrixInstruction': [16, 16, 4, 1, 1, 2, 8, 4, 1], 'DepthU': 16, 'GlobalReadVectorWidth': 2, 'PrefetchGlobalRead': 2,
           'StoreVectorWidth': 1, 'TransposeLDS': 1, **common}
    wide = {**full, 'MatrixInstruction': [32, 32, 8, 1, 1, 2, 8, 4, 1], 'PrefetchGlobalRead': 2}
    both = {**full, 'DepthU': 64}       # both operands transposed in registers
    pairs = {'MatrixInstruction': [16, 16, 4, 1, 1, 2, 8, 4, 1], 'DepthU': 8, 'GlobalReadVectorWidth': 1, 'StoreVectorWidth': 1, **common}
    return [case(arch, 'HHS', 'NN', full), case(arch, 'HHS', 'TN', full), case(arch, 'D', 'TN', two),
            case(arch, 'HHS', 'TT', wide), case(arch, 'HHS', 'NT', both), case(arch, 'Z', 'TN', pairs)]


def _pick(rng, *values):
    return values[rng.integers(len(values))]


def _common(rng, kind):
    """Parameters that VALU and matrix kernels share."""
    s = {'DepthU': _pick(rng, 8, 16, 16, 32, 32, 64), 'PrefetchGlobalRead': _pick(rng, 0, 1, 1, 1, 2),
         'PrefetchLocalRead': _pick(rng, 0, 1, 1, 3), 'EdgeType': _pick(rng, 'ShiftPtr', 'Branch'),
         'GlobalLoadVectorWidthA': _pick(rng, -1, 1, 2, 4, 8), 'GlobalLoadVectorWidthB': _pick(rng, -1, 1, 2, 4, 8),
         'WorkGroupMapping': _pick(rng, 1, 2, 3, 8), 'StaggerU': _pick(rng, 0, 0, 4, 32),
         'StaggerUStride': _pick(rng, 64, 256, 512), 'StaggerUMapping': _pick(rng, 0, 1, 2, 3),
         'BufferLoad': _pick(rng, True, True, False), 'BufferStore': _pick(rng, True, False),
         '1LDSBuffer': _pick(rng, 0, 0, 1), 'NumLoadsCoalescedA': _pick(rng, 1, 1, -1, 2),
         'NumLoadsCoalescedB': _pick(rng, 1, 1, -1, 2), 'GlobalReadCoalesceGroupA': _pick(rng, True, True, False),
         'NonTemporalA': _pick(rng, 0, 0, 0, 3), 'NonTemporalB': _pick(rng, 0, 0, 0, 2),
         'NonTemporalD': _pick(rng, 0, 0, 0, 4), 'NonTemporalC': _pick(rng, 0, 0, 0, 1),
         'VectorStore': _pick(rng, -1, -1, 0), 'ScheduleIterAlg': _pick(rng, 1, 3),
         'ExpandPointerSwap': _pick(rng, True, True, False),
         'ThreadSeparateGlobalReadA': _pick(rng, 0, 0, 0, 1, 2), 'ThreadSeparateGlobalReadB': _pick(rng, 0, 0, 0, 1, 2)}
    if rng.random() < .3:
        s['GlobalSplitU'] = int(_pick(rng, 2, 3, 4, 7))
        s['GlobalSplitUAlgorithm'] = _pick(rng, 'SingleBuffer', 'MultipleBuffer')
        s['GlobalSplitUWorkGroupMappingRoundRobin'] = _pick(rng, True, False)
        s['GlobalSplitUSummationAssignmentRoundRobin'] = _pick(rng, True, True, False)
    elif rng.random() < .2:
        s['PersistentKernel'] = int(_pick(rng, 1, 2, -1))
        s['PersistentKernelAlongBatch'] = _pick(rng, True, False)
    if rng.random() < .1:
        s.update({'WorkGroupMappingType': 'Z', 'WorkGroupMapping': 1})
    if rng.random() < .15:
        s['LoopTail'] = False
        s['AssertSummationElementMultiple'] = s['DepthU']
    if rng.random() < .15:
        s['AssertFree0ElementMultiple'] = s['AssertFree1ElementMultiple'] = int(_pick(rng, 2, 4))
    return s


def random_valu(rng, arch, kind):
    s = _common(rng, kind)
    s['WorkGroup'] = list(_pick(rng, (16, 16, 1), (8, 8, 1), (16, 8, 1), (8, 16, 1), (32, 8, 1), (8, 32, 1), (4, 16, 1),
                                (8, 8, 2), (8, 8, 4), (16, 4, 4), (16, 8, 2)))
    s['ThreadTile'] = list(_pick(rng, (4, 4), (8, 8), (2, 2), (4, 8), (8, 4), (2, 4), (6, 6), (4, 2), (1, 1), (5, 3), (8, 2)))
    s['VectorWidth'] = _pick(rng, -1, -1, 1, 2, 4)
    s['KernelLanguage'] = _pick(rng, 'Source', 'Source', 'Assembly')
    pad = _pick(rng, -1, 0, 1, 2, 4)
    s['LdsPadA'] = s['LdsPadB'] = pad
    s['ScheduleIterAlg'] = 1
    if kind in ('HHS', 'HSS', 'BBS', 'I8II', 'H'):
        s['InnerUnroll'] = _pick(rng, 1, 1, 2, 4)
        if s['InnerUnroll'] > 1:
            s['LocalDotLayout'] = s['InnerUnroll']
    return s


def random_matrix(rng, arch, kind):
    s = _common(rng, kind)
    shape = _pick(rng, *matrix_shapes(arch, kind))
    waves = _pick(rng, (2, 2), (4, 1), (1, 4), (2, 1), (1, 1), (1, 2))
    lanes = 32 if arch in ('gfx1100', 'gfx1201') else 64
    blocks = [b for b in (1, 2, 4) if b <= shape[3]]
    limit = 2 if shape[0] == 32 or shape[3] > 1 else 4
    tile = [int(rng.integers(1, limit + 1)) for _ in range(2)]
    s.update({'MatrixInstruction': [*shape, int(_pick(rng, *blocks)), *tile, *waves],
              'KernelLanguage': _pick(rng, 'Source', 'Assembly'),
              'WorkGroup': [16, 16, int(_pick(rng, 1, 1, 1, 2, 4))], 'ThreadTile': [4, 4], 'WavefrontSize': lanes,
              'VectorWidth': _pick(rng, -1, 1, 2), 'VectorWidthB': _pick(rng, -1, 1, 2),
              'StoreVectorWidth': _pick(rng, -1, 1, 2, 4), 'SourceSwap': _pick(rng, False, False, True),
              'TransposeLDS': _pick(rng, 0, 0, 1), 'LocalReadVectorWidth': _pick(rng, -1, -1, 2, 4, 8),
              'UnrollMajorLDSA': _pick(rng, False, False, True), 'UnrollMajorLDSB': _pick(rng, False, False, True)})
    return s


def to_local(rng, arch, kind, s):
    """DirectToLds of one operand or both, with what it asks for."""
    s.update({'DirectToLdsA': _pick(rng, True, True, False), 'DirectToLdsB': _pick(rng, True, True, False), 'BufferLoad': True,
              '1LDSBuffer': 0, 'GlobalLoadVectorWidthA': -1, 'GlobalLoadVectorWidthB': -1, 'GlobalReadVectorWidth': {1: 4, 2: 2}.get(bytes_of(kind), 1),
              'StaggerUStride': 256, 'NumLoadsCoalescedA': _pick(rng, 1, 1, 2), 'NumLoadsCoalescedB': _pick(rng, 1, 1, 2),
              'PrefetchGlobalRead': _pick(rng, 0, 1, 1, 2), 'PrefetchLocalRead': _pick(rng, 0, 1, 3), 'LdsPadA': 0, 'LdsPadB': 0, 'WorkGroup': [16, 16, 1], 'KernelLanguage': 'Assembly', 'GlobalReadCoalesceGroupA': True,
              'VectorWidth': {1: 4, 2: 2}.get(bytes_of(kind), 1), 'VectorWidthB': 1,
              'ScheduleIterAlg': 3 if 'MatrixInstruction' in s else 1,
              'AssertSummationElementMultiple': _pick(rng, 4, 64), 'AssertFree0ElementMultiple': 4, 'AssertFree1ElementMultiple': 4,
              'ThreadSeparateGlobalReadA': _pick(rng, 0, 0, 1, 2), 'ThreadSeparateGlobalReadB': _pick(rng, 0, 0, 1, 2)})
    for name in [x for x in s if x.startswith('GlobalSplitU')]:
        del s[name]
    if 'MatrixInstruction' in s:
        s['TransposeLDS'] = 1
        s.update({'LocalReadVectorWidth': -1, 'StoreVectorWidth': -1})
        s.pop('UnrollMajorLDSA'), s.pop('UnrollMajorLDSB')
    else:
        s['ThreadTile'] = list(_pick(rng, (4, 4), (8, 8), (4, 8), (2, 2)))
    if arch == 'gfx950' and rng.random() < .5:     # loads of 16 bytes
        s['GlobalReadVectorWidth'] = 16 // bytes_of(kind)


def in_parts(rng, s):
    """DepthULdsDivisor, with what Tensile asks for; the transposes must be TN."""
    s.update({'DepthULdsDivisor': int(_pick(rng, 2, 2, 4)), 'ScheduleIterAlg': 3, 'TransposeLDS': 1, 'DepthU': int(_pick(rng, 32, 64, 128)),
              'PrefetchGlobalRead': int(_pick(rng, 0, 1, 1)), 'PrefetchLocalRead': int(_pick(rng, 1, 3)), 'WorkGroup': [16, 16, 1],
              'GlobalLoadVectorWidthA': -1, 'GlobalLoadVectorWidthB': -1, 'GlobalReadVectorWidth': int(_pick(rng, 2, 4, 8, 16)),
              'LocalReadVectorWidth': -1, 'VectorWidth': -1, 'VectorWidthB': -1, 'KernelLanguage': 'Assembly', 'StaggerUStride': 1024,
              'ThreadSeparateGlobalReadA': 0, 'ThreadSeparateGlobalReadB': 0})
    s.pop('UnrollMajorLDSA'), s.pop('UnrollMajorLDSB')
    if rng.random() < .4:
        for name in [x for x in s if x.startswith('GlobalSplitU')]:
            del s[name]
        s.update({'PersistentKernel': 1, 'PersistentKernelAlongBatch': bool(rng.integers(2)), 'WorkGroupMapping': abs(s['WorkGroupMapping']),
                  'PrefetchAcrossPersistent': int(s['PrefetchGlobalRead'] and rng.integers(2))})


def random_case(rng, arch, kinds, parts=False):
    """A point of the space, legal or not. parts: with DepthULdsDivisor."""
    if parts:
        kind = _pick(rng, *[k for k in kinds if matrix_shapes(arch, k)] or kinds)
        s = random_matrix(rng, arch, kind) if matrix_shapes(arch, kind) else random_valu(rng, arch, kind)
        if matrix_shapes(arch, kind):
            in_parts(rng, s)
        return {**case(arch, kind, 'TN', s), **({'cus': 3} if s.get('PersistentKernel') else {})}
    kind = _pick(rng, *kinds)
    trans = _pick(rng, *transposes(kind))
    matrix = matrix_shapes(arch, kind) and (kind == 'X' or rng.random() < .6)
    s = random_matrix(rng, arch, kind) if matrix else random_valu(rng, arch, kind)
    if arch[3:5] not in ('11', '12') and rng.random() < .1:
        to_local(rng, arch, kind, s)
    more = {}
    if rng.random() < .15:
        more['StridedBatched'] = False
    elif rng.random() < .1:
        more['Batched'] = False
    if rng.random() < .1:
        more['UseBeta'] = False
    return case(arch, kind, trans, s, **more)


PRIMES = (1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107,
          109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199)


def _scalar(rng, kind):
    """A number that is not 0 and that all types have."""
    if kind in ('I8II', '4xi8'):
        return int(_pick(rng, -5, -4, -3, -2, 2, 3, 4, 5))
    x = float(_pick(rng, *[i / 8 for i in range(-20, 21) if i % 8]))
    return x if kind not in ('C', 'Z') else complex(x, _pick(rng, -1.25, -.375, .5, 1.75))


def scalars(rng, c, n):
    """alpha and beta of each of the n problems of sizes: any numbers, 1 and -1, and 0 for beta in whole tiles and at edges, for
    alpha at an edge. beta = 0 alone where the kernel takes none."""
    def number():
        return _scalar(rng, c['kind'])
    table = [lambda: (number(), number()), lambda: (number(), number()), lambda: (number(), 0), lambda: (_pick(rng, 1, -1), 0),
             lambda: (number(), _pick(rng, 1, -1)), lambda: (_pick(rng, 1, -1), number()), lambda: (number(), 0),
             lambda: (number(), number()), lambda: (0, number()), lambda: (1, 1), lambda: (number(), number()),
             lambda: (number(), 0), lambda: (0, 0)]
    out = [table[i % len(table)]() for i in range(n)]
    return [(alpha, beta if c['problem'].get('UseBeta', True) else 0) for alpha, beta in out]


def _edge(rng, tile):
    """An odd number, for most tiles, of rows or columns of up to two and a half tiles."""
    return int(tile * rng.integers(1, 3) + _pick(rng, *[x for x in (-tile // 2 - 1, -1, 1, tile // 2 + 1) if tile + x > 0]))


def _fifteen(tile):
    """At least a tile and a half; 3, 15, 27, ... more than a tile, so that vectors of 2 and 4 lack one, and of 6 three."""
    return tile + 3 - (3 - tile // 2) // 12 * 12


def sizes(rng, c, tile, n):
    """n sizes. The first twelve, in tiles of D and chunks of K: whole ones; edges of M and N with half a chunk of K; the same with
    a chunk and one of K; several; M alone at an edge and larger than N, one of K behind the last chunk; N so; one row; half a
    tile of M and several N, a chunk; one column; less than a chunk and 3 of 12 elements at the edges; half a tile of N and M larger
    than a tile is wide; half a tile of M and N larger than a tile is high. Others of 1, tile - 1, tile, tile + 1 and primes.
    Leading dimensions that differ; batches."""
    s, (mt0, mt1, du) = c['solution'], tile
    gsu = s.get('GlobalSplitU', 1)
    out = []
    for i in range(n):
        m = int(_pick(rng, 1, mt0 - 1, mt0, mt0 + 1, 2 * mt0, _pick(rng, *[p for p in PRIMES if p < 2 * mt0])))
        j = int(_pick(rng, 1, mt1 - 1, mt1, mt1 + 1, 2 * mt1, _pick(rng, *[p for p in PRIMES if p < 2 * mt1])))
        k = int(_pick(rng, 1, du - 1, du, du + 1, 2 * du, 3 * du + 1, 4 * du, du * gsu * 2 + 3, _pick(rng, *PRIMES)))
        few = 3 if mt0 * mt1 < 8192 else 1
        fixed = [(mt0, mt1, 3 * du * gsu), (_edge(rng, mt0), mt1 + mt1 // 2, du * (2 * gsu + 1) + du // 2 + 1),
                 (_edge(rng, mt0), _edge(rng, mt1), du + 1), (2 * mt0, few * mt1, 5 * du * min(gsu, 3)),
                 (2 * mt0 + 1, mt1, gsu * du + 1), (mt0, 2 * mt1 + 1, 2 * gsu * du + 1), (1, _edge(rng, mt1), 2 * du),
                 (mt0 + mt0 // 2, few * mt1, du), (_edge(rng, mt0), 1, du * gsu * 2 + 3),
                 (_fifteen(mt0), _fifteen(mt1), max(1, du - 1)),
                 (mt0 * (mt1 // mt0 + 2) + 1, min(mt0, mt1) // 2 + 1, 2 * du + 1),
                 (min(mt0, mt1) // 2 + 1, mt1 * (mt0 // mt1 + 2) + 1, 2 * du + 1)]
        if i < len(fixed):
            m, j, k = fixed[i]
        f0, f1 = s.get('AssertFree0ElementMultiple', 1), s.get('AssertFree1ElementMultiple', 1)
        ks = s.get('AssertSummationElementMultiple', 1) * (gsu if s.get('LoopTail') is False else 1)
        m, j, k = [max(1, -(-max(v, 1) // f) * f) for v, f in ((m, f0), (j, f1), (k, ks))]
        batch = int(2 if i in (1, 4) else 3 if i == 7 else _pick(rng, 1, 1, 2, 3)) if c['problem'].get('Batched', True) else 1
        pad = [int(x) for x in rng.permutation([0, 1, 3, 6])] if i else [0] * 4
        ta, tb = c['problem']['TransposeA'], c['problem']['TransposeB']
        out.append([m, j, batch, k, m + pad[0], m + pad[1], (k if ta else m) + pad[2], (j if tb else k) + pad[3]])
    return out
