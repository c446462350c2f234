"""Element types of the conformance runs: random data, bytes, tolerances, and what the GEMM must give.

Not here: kernels, problems, the emulator. Used by emulate.py."""
import numpy as np


def bf16_round(x):
    """float array -> the nearest bfloat16 values, as floats."""
    u = np.asarray(x, np.float32).view(np.uint32)
    return (((u + 0x7fff + (u >> 16 & 1)) >> 16) << 16).astype(np.uint32).view(np.float32)


class Small:
    """A float of 8 bits, `man` of them behind the point, exponent bias `bias`. fnuz (gfx94x): 0x80 is NaN, no infinities, no
    negative zero. Else OCP's (gfx12): with 5 bits of exponent the highest is for infinities and NaN, with 4 only 0x7f is NaN.
    Numbers that are too large become the largest one."""

    def __init__(self, man, bias, fnuz):
        code = np.arange(128)
        e, m = code >> man, code & (1 << man) - 1
        up = np.where(e == 0, m * 2.0 ** (1 - bias - man), (1 + m / 2.0 ** man) * 2.0 ** (e - bias))
        n = 128 if fnuz else 127 if man == 3 else 124
        up[n:] = np.nan
        if not fnuz and man == 2:
            up[n] = np.inf
        self.fnuz, self.nan, self.inf = fnuz, 128 if fnuz else 127, 128 if fnuz else n
        self.up, self.values = up[:n], np.concatenate([up, -up])    # finite ones from 0; all codes
        self.step = self.up[-1] - self.up[-2]
        if fnuz:
            self.values[128] = np.nan

    def pack(self, x):
        x = np.asarray(x, np.float64)
        n, a = self.up.size, np.minimum(abs(x), self.up[-1])
        above = np.minimum(np.searchsorted(self.up, a), n - 1)
        below = np.maximum(above - 1, 0)
        middle = (self.up[above] + self.up[below]) / 2
        code = np.where((a > middle) | (a == middle) & (above % 2 == 0), above, below)
        code = np.where(np.isnan(x), self.nan, np.where(np.isinf(x), self.inf, code))
        return np.where(np.signbit(x) & (code + self.fnuz * 128 != 128) & (code < 128), code + 128, code).astype(np.uint8)

    def round(self, x):
        return self.values[self.pack(x)]


FNUZ = {'f8': Small(3, 8, True), 'b8': Small(2, 16, True)}
OCP = {'f8': Small(3, 7, False), 'b8': Small(2, 15, False)}


def smalls(arch):
    """The 8-bit floats of an architecture, None when it has none."""
    return FNUZ if arch.startswith('gfx94') else OCP if arch.startswith(('gfx95', 'gfx12', 'sm_89', 'sm_9')) else None


class Type:
    """name: Tensile's letter; store: numpy type in memory; eps: half a unit in the last place."""

    def __init__(self, name, store, eps, wide, integer=False, small=None):
        self.name, self.store, self.eps, self.wide, self.integer = name, np.dtype(store), eps, wide, integer
        self.small = small

    def pack(self, x):
        if self.small:
            return self.small.pack(x)
        if self.name == 'b':
            return (bf16_round(x).view(np.uint32) >> 16).astype(np.uint16)
        return x.astype(self.store)

    def unpack(self, raw):
        if self.small:
            return self.small.values[raw]
        if self.name == 'b':
            return (raw.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        return raw.astype(self.wide)

    def poison(self, n):
        """What must not be read, and what is in D before."""
        if self.integer:
            return np.full(n, 0x5a5a5a5a & (2 ** (8 * self.store.itemsize - 1) - 1), self.store)
        if self.small:
            return np.full(n, self.small.nan, np.uint8)
        if self.name == 'b':
            return np.full(n, 0x7fc1, np.uint16)
        return np.full(n, np.nan, self.store)

    def random(self, rng, n):
        if self.name in ('i8', '4xi8'):
            if self.name == '4xi8':
                return rng.integers(-2 ** 31, 2 ** 31, n).astype(np.int32)
            return rng.integers(-128, 128, n).astype(self.store)
        if self.integer:
            return rng.integers(-1000, 1000, n).astype(self.store)
        x = rng.uniform(-1, 1, n)
        if self.wide == np.complex128:
            x = x + 1j * rng.uniform(-1, 1, n)
        if self.small:      # numbers below the least normal one, too
            x = x * 2.0 ** rng.integers(-9, 2, n)
        return self.pack(x)


class AltHalf(Type):
    """Half as kernels with Fp16AltImpl multiply it: its float's upper 16 bits; near: rounded, middles towards zero.
    flushed: what a processor makes of it whose matrix instructions take half's denormals for zero."""

    def __init__(self, near=False, most=0, flushed=False):
        super().__init__('h', np.float16, 2.0 ** -11, np.float64)
        self.near, self.most, self.flushed = near, most, flushed

    def random(self, rng, n):
        """Numbers of up to 2^most; the least ones are denormal."""
        return self.pack(rng.uniform(-1, 1, n) * 2.0 ** rng.integers(self.most - 16, self.most + 1, n))

    def unpack(self, raw):
        if self.flushed:
            return np.where(abs(raw) < np.float16(2.0 ** -14), 0, raw).astype(np.float64)
        u = raw.astype(np.float32).view(np.uint32)
        return ((u + 0x7fff * self.near) & 0xffff0000).astype(np.uint32).view(np.float32).astype(np.float64)


TYPES = {t.name: t for t in (
    Type('s', np.float32, 2.0 ** -24, np.float64), Type('d', np.float64, 2.0 ** -53, np.float64),
    Type('c', np.complex64, 2.0 ** -23, np.complex128), Type('z', np.complex128, 2.0 ** -52, np.complex128),
    Type('h', np.float16, 2.0 ** -11, np.float64), Type('b', np.uint16, 2.0 ** -8, np.float64),
    Type('i8', np.int8, 0, np.int64, True), Type('i', np.int32, 0, np.int64, True),
    Type('4xi8', np.int32, 0, np.int64, True))}


def type_of(name, arch):
    """The type of Tensile's letter on an architecture."""
    return TYPES[name] if name in TYPES else Type(name, np.uint8, 0, np.float64, small=smalls(arch)[name])


def columns(raw, rows, cols, ld, stride, batch):
    """View of a column-major matrix with padding: [rows, cols] of one batch."""
    return np.lib.stride_tricks.as_strided(raw[batch * stride:], (rows, cols), (raw.itemsize, ld * raw.itemsize))


FUSED = ('scale_a', 'scale_b', 'scale_c', 'scale_d', 'scale_alpha', 'bias')     # in the order of the kernels' arguments
NUMBERS = 0.25, 1.5     # of an activation, as emit passes them
ACTIVATIONS = {
    'none': lambda x, p, q: x, 'abs': lambda x, p, q: abs(x), 'relu': lambda x, p, q: np.maximum(x, 0),
    'clippedrelu': lambda x, p, q: np.where(x >= p, np.minimum(x, q), 0),
    'gelu': lambda x, p, q: 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x ** 3))),
    'leakyrelu': lambda x, p, q: np.where(x >= 0, x, p * x), 'sigmoid': lambda x, p, q: 1 / (1 + np.exp(-x)),
    'tanh': lambda x, p, q: p * np.tanh(q * x), 'silu': lambda x, p, q: x / (1 + np.exp(-x)),
    'clamp': lambda x, p, q: np.clip(x, p, q)}


class Fused:
    """Bias, activation and scale factors of a problem type, and their operands."""

    def __init__(self, problem, bias, compute):
        get = problem.get
        self.activation, along = get('ActivationType', 'none'), {1: 'm', 2: 'n'}
        ab = {'': None, 'Scalar': '1', 'Vector': 'mn'}[get('UseScaleAB', '')]
        cd = '1' if get('UseScaleCD') else None
        self.along = {'scale_a': ab and ab[0], 'scale_b': ab and ab[-1], 'scale_c': cd, 'scale_d': cd,
                      'scale_alpha': along.get(get('UseScaleAlphaVec')), 'bias': along.get(get('UseBias'))}
        self.types = {x: bias if x == 'bias' else compute for x in FUSED}
        self.any = self.activation != 'none' or any(self.along.values())

    def make(self, rng, m, n, batches):
        """The operands' bytes by name."""
        self.size, out = {'m': m, 'n': n, '1': 1}, {}
        for x in FUSED:
            if self.along[x]:
                count = self.size[self.along[x]] * (batches if x == 'bias' else 1)
                out[x] = self.types[x].pack(rng.integers(1, 5, count) / 2.0 if x != 'bias' else rng.uniform(-1, 1, count))
        self.values = {x: self.types[x].unpack(raw) for x, raw in out.items()}
        return out

    def value(self, x, batch=0):
        if not self.along[x]:
            return 0 if x == 'bias' else 1
        count = self.size[self.along[x]]
        v = self.values[x][batch * count:][:count]
        return v[:, None] if self.along[x] == 'm' else v[None, :]

    def apply(self, s, size, c, batch):
        """(D, sizes of what is added up, by how much an error of these may change D where the activation jumps) of alpha times the
        sums and beta times C."""
        factor = self.value('scale_a') * self.value('scale_b') * self.value('scale_alpha')
        c, bias = self.value('scale_c') * c, self.value('bias', batch)
        r, size = factor * s + c + bias, abs(factor) * size + abs(c) + abs(bias) + 1
        scale = self.value('scale_d')
        return scale * ACTIVATIONS[self.activation](r, *NUMBERS), 1.5 * scale * size, self.jump(r, scale)

    def jump(self, r, scale):
        """A function of the bound of D's error: what is added to it for numbers so near to a jump that D may be on either side."""
        if self.activation != 'clippedrelu':
            return lambda slack: 0
        return lambda slack: np.where(abs(r - NUMBERS[0]) <= slack / scale, scale * NUMBERS[0], 0)


def expect(kind, a, b, c, alpha, beta, batch=0):
    """(value, bound of the error) of one batch. a is M x K, b is K x N, as stored, and not looked at when alpha is 0; kind:
    Problem."""
    ti, td, tc = kind.input[0], kind.dest, kind.compute
    if ti.name == '4xi8':
        a8 = np.ascontiguousarray(a).view(np.int8).reshape(a.shape[0], -1).astype(np.int64)
        b8 = np.ascontiguousarray(b.T).view(np.int8).reshape(b.shape[1], -1).astype(np.int64).T
        r = alpha * (a8 @ b8)       # what is not read when alpha is 0 is a number, too
        return (r + beta * td.unpack(c) if beta else r), None
    k = max(1, a.shape[1])
    a, b = ti.unpack(a if alpha else a[:, :0]), kind.input[1].unpack(b if alpha else b[:0])
    if kind.conj[0]:
        a = a.conj()
    if kind.conj[1]:
        b = b.conj()
    r = alpha * (a @ b)
    size = abs(alpha) * (abs(a) @ abs(b))
    if kind.fused.any:
        r, size, jump = kind.fused.apply(r, size, beta * td.unpack(c) if beta else 0, batch)
    elif beta:
        r = r + beta * td.unpack(c)
        size = size + abs(beta) * abs(td.unpack(c))
    if ti.integer:
        return r, None
    eps = TYPES['s'].eps if tc.name in ('h', 's', 'c') else TYPES['d'].eps
    # both inputs of xf32 have 10 bits of their own, rounded or cut off
    slack = size * (eps * (4 + k) + (2.0 ** -9 if kind.xf32 else 0))
    if kind.fused.any:
        slack = slack + jump(slack)
    if td.small:    # what numbers near the exact one are rounded to
        low, high = (td.small.round(r + x * slack) for x in (-1, 1))
        return (low + high) / 2, (high - low) / 2
    return r, slack + abs(r) * td.eps * (4 if kind.split else 2) + (2.0 ** -24 if td.name == 'h' else 1e-37) + (
        size * td.eps * kind.parts if kind.split and td.name in ('h', 'b') else 0)


def wrong(kind, d, want, bound):
    """None, or what is wrong with the first bad element."""
    got = kind.dest.unpack(d)
    if bound is None:
        want = (want + 2 ** 31) % 2 ** 32 - 2 ** 31
        bad = got != want
    else:
        bad = ~(abs(got - want) <= bound)
    if not bad.any():
        return None
    i, j = np.argwhere(bad)[0]
    return f'{int(bad.sum())} of {bad.size} wrong, first at ({i}, {j}): {got[i, j]}, not {want[i, j]}'
