"""Convolutions for the conformance runs: problem types, sizes, tensors in their formats, and what must come out, by the definition
of a convolution in double precision.

Not here: how a kernel is compiled and run (conv.py)."""
import itertools

import numpy as np

import numbers_gemm as num

IMAGES = ('NCHW', 'NHWC', 'CNHW', 'CHWN')
FILTERS = {'NCHW': 'KCYX', 'NHWC': 'KYXC', 'CNHW': 'CKYX', 'CHWN': 'CYXK'}
DIRECTIONS = {'forward': 'ConvolutionForward', 'data': 'ConvolutionBackwardData', 'weights': 'ConvolutionBackwardWeights'}
LETTERS = {'in': ('d', 'h', 'w'), 'filter': ('z', 'y', 'x'), 'stride': ('#', 'u', 'v'), 'dilation': ('^', 'l', 'j'),
           'pad': ('$', 'p', 'q'), 'pad_end': ('$_', 'p_', 'q_')}


def solid(name, spatial):
    """The format's name for that many spatial dimensions."""
    return name if spatial == 2 else name.replace('H', 'DH').replace('Y', 'ZY')


def problem(kind, direction, image, filters=None, spatial=2, groups=False, fixed=None):
    """A problem type with all numbers left to the sizes, but those of fixed."""
    f, i = solid(filters or FILTERS[image], spatial), solid(image, spatial)
    a, b, d = {'forward': (i, f, i), 'data': (i, f, i), 'weights': (i, i, f)}[direction]
    config = {'TensorAFormat': a, 'TensorBFormat': b, 'TensorDFormat': d, 'PackedSpatialDims': 0, 'PackedFilterDims': 0}
    config.update({k: 'x'.join('N' * spatial) for k in ('Filter', 'Stride', 'Dilation', 'PadStart', 'PadEnd')})
    if direction == 'weights' and image in ('NHWC', 'CNHW'):
        config['UnrollOnChannel'] = 0       # positions run faster than images
    if groups:
        config['GroupCount'] = 'N'
    config.update(fixed or {})
    return {**kind, 'OperationType': DIRECTIONS[direction], 'ConvolutionConfig': [{k: v} for k, v in config.items()]}


class Conv:
    """One convolution. Spatial numbers are lists, the slowest dimension first; 2-D ones have a first dimension of size 1."""

    def __init__(self, n, c, k, size, taps, stride=1, dilation=1, pad=0, pad_end=None, groups=1):
        self.spatial = len(size)
        self.n, self.c, self.k, self.groups = n, c, k, groups
        whole = lambda v, other: [other] * (3 - self.spatial) + (list(v) if isinstance(v, (list, tuple)) else [v] * self.spatial)
        self.size, self.taps, self.stride, self.dilation = whole(size, 1), whole(taps, 1), whole(stride, 1), whole(dilation, 1)
        self.pad = whole(pad, 0)
        self.pad_end = self.pad if pad_end is None else whole(pad_end, 0)
        self.out = [(i + p + q - (t - 1) * d - 1) // s + 1 for i, p, q, t, d, s in
                    zip(self.size, self.pad, self.pad_end, self.taps, self.dilation, self.stride)]

    def letters(self, part=0):
        """As emit reads it."""
        numbers = {'in': self.size, 'filter': self.taps, 'stride': self.stride, 'dilation': self.dilation, 'pad': self.pad,
                   'pad_end': self.pad_end}
        out = {'n': self.n, 'c': self.c, 'k': self.k, 'g': self.groups, 'part': part}
        for name, values in numbers.items():
            out.update({f"'{letter}'": v for letter, v in list(zip(LETTERS[name], values))[3 - self.spatial:]})
        return out

    def parts(self, direction):
        """Contractions that it is: of backward data one for each phase of the strides."""
        n = 1
        for s, i in zip(self.stride, self.size):
            n *= min(s, i) if direction == 'data' else 1
        return n

    def shape(self, tensor):
        """N C D H W, K C Z Y X."""
        return {'input': (self.n, self.c, *self.size), 'output': (self.n, self.k, *self.out),
                'filter': (self.k, self.c // self.groups, *self.taps)}[tensor]

    def compute(self, direction, value):
        """The result from the other two tensors."""
        g, n, c, k = self.groups, self.n, self.c // self.groups, self.k // self.groups
        room = [max(p + i, (o - 1) * s + (t - 1) * d + 1) for p, i, o, s, t, d in
                zip(self.pad, self.size, self.out, self.stride, self.taps, self.dilation)]
        padded = np.zeros((n, g, c, *room))
        inner = tuple(slice(p, p + i) for p, i in zip(self.pad, self.size))
        if direction != 'data':
            padded[(..., *inner)] = value['input'].reshape(n, g, c, *self.size)
        f = np.zeros((g, k, c, *self.taps)) if direction == 'weights' else value['filter'].reshape(g, k, c, *self.taps)
        o = np.zeros((n, g, k, *self.out)) if direction == 'forward' else value['output'].reshape(n, g, k, *self.out)
        for tap in itertools.product(*(range(t) for t in self.taps)):
            at = (..., *(slice(t * d, t * d + (e - 1) * s + 1, s) for t, d, e, s in zip(tap, self.dilation, self.out, self.stride)))
            if direction == 'forward':
                o += np.einsum('ngcdhw,gkc->ngkdhw', padded[at], f[(..., *tap)])
            elif direction == 'data':
                padded[at] += np.einsum('ngkdhw,gkc->ngcdhw', o, f[(..., *tap)])
            else:
                f[(..., *tap)] = np.einsum('ngkdhw,ngcdhw->gkc', o, padded[at])
        result = {'forward': o, 'data': padded[(..., *inner)], 'weights': f}[direction]
        return result.reshape(self.shape({'forward': 'output', 'data': 'input', 'weights': 'filter'}[direction]))


class Run:
    """The tensors of one run: a, b (operands), c and d as flat arrays in their formats, and the check of d. case['foreign']: operand a or b
    of one group has a NaN and infinities; what they reach by the definition is checked too, but of b in the other groups alone, as kernels
    may multiply the zeros of a pad or not."""
    ORDER = {'forward': ('input', 'filter', 'output'), 'data': ('output', 'filter', 'input'), 'weights': ('input', 'output', 'filter')}

    def __init__(self, rng, conv, case, store, dest):
        self.conv, self.direction, self.case = conv, case['direction'], case
        formats = case['formats']
        self.value, self.raw, self.axes, self.after = {}, {}, {}, lambda r: r
        for slot, tensor, form in zip('abd', self.ORDER[self.direction], formats):
            shape = conv.shape(tensor)
            kept = [0, 1, *range(5 - conv.spatial, 5)]          # without the first dimension of 2-D ones
            names = ('KC' + 'ZYX'[3 - conv.spatial:]) if tensor == 'filter' else 'NC' + 'DHW'[3 - conv.spatial:]
            self.axes[slot] = [names.index(letter) for letter in form]
            small = tuple(shape[i] for i in kept)
            if slot == 'd':
                self.shape, self.result = small, shape
                count = int(np.prod(small))
                self.raw['d'] = np.full(count, np.nan, dest) if np.issubdtype(dest, np.floating) else np.full(count, -7777777, dest)
                continue
            numbers = rng.integers(-4, 5, shape).astype(np.float64)
            if case.get('foreign') == slot:
                self.poison(rng, numbers, 0 if tensor == 'filter' else 1)
            self.value[tensor] = numbers
            self.raw[slot] = np.ascontiguousarray(numbers.reshape(small).transpose(self.axes[slot])).ravel().astype(store)

    def poison(self, rng, numbers, axis):
        """Makes some numbers of one group infinite or NaN. axis: of the channels of all groups."""
        n = numbers.shape[axis] // self.conv.groups
        self.group = int(rng.integers(self.conv.groups))
        for x in (np.nan, np.inf, -np.inf):
            at = [int(rng.integers(size)) for size in numbers.shape]
            at[axis] = self.group * n + int(rng.integers(n))
            numbers[tuple(at)] = x

    def is_right(self, have, want):
        """Of each element of D."""
        right = (have == want) | np.isnan(have) & np.isnan(want)
        right |= np.isfinite(want) & (abs(have - want) <= self.case['tolerance'] * (abs(want) + 1))
        if self.case.get('foreign') == 'b':
            by_group = np.moveaxis(right, 0 if self.direction == 'weights' else 1, 0)
            n = by_group.shape[0] // self.conv.groups
            by_group[self.group * n:(self.group + 1) * n] = True
        return right

    def fuse(self, rng, problem, arch, per_image):
        """Bytes of the operands of the problem's fused operations, by name. Vectors lie along the channels of D, scale factors along
        those of a group; a bias may be one of each image."""
        get = problem.get
        bias = num.type_of((get('BiasDataTypeList') or [get('DestDataType', get('DataType'))])[0], arch)
        f = num.Fused(problem, bias, num.type_of(get('ComputeDataType', get('DataType')), arch))
        if not f.any:
            return {}
        channels = self.shape[1] // self.conv.groups
        raw = f.make(rng, channels, channels, self.shape[0] if per_image else self.conv.groups)
        whole = (1, self.shape[1]) + (1,) * (len(self.shape) - 2)

        def value(x):
            v = f.values.get(x, np.array([0.0 if x == 'bias' else 1.0]))
            if x == 'bias' and per_image and f.along[x]:
                return v.reshape(self.shape[0], *whole[1:])
            return (v if v.size in (1, self.shape[1]) else np.tile(v, self.conv.groups)).reshape(whole if v.size > 1 else (1,) * len(whole))
        self.after = lambda r: value('scale_d') * num.ACTIVATIONS[f.activation](
            value('scale_a') * value('scale_b') * value('scale_alpha') * r + value('bias'), *num.NUMBERS)
        return raw

    def wrong(self, got, alpha):
        """None, or what is wrong with the elements of D."""
        have = got.reshape([self.shape[i] for i in self.axes['d']]).transpose(np.argsort(self.axes['d'])).astype(np.float64)
        with np.errstate(invalid='ignore'):     # of infinities
            want = self.after(alpha * self.conv.compute(self.direction, self.value).reshape(self.shape))
            bad = ~self.is_right(have, want)
        if not bad.any():
            return None
        at = tuple(int(v[0]) for v in np.where(bad))
        return f'{int(bad.sum())} of {want.size} elements: D{at} is {have[at]}, expected {want[at]}'


def sizes(spatial=2, channels=(8, 8)):
    """Convolutions that cover pads, strides, dilation, odd channels, one element, groups and depth-wise ones: (name, Conv)."""
    c, k = channels
    if spatial == 3:
        return [('3-d pad', Conv(2, c, k, (4, 5, 6), 3, pad=1)), ('3-d stride', Conv(1, c, k, (5, 4, 7), (2, 3, 3), stride=(1, 2, 2), pad=(0, 1, 2))),
                ('3-d 1x1', Conv(2, c, k, (3, 4, 5), 1))]
    return [('pad', Conv(2, c, k, (7, 6), 3, pad=1)),
            ('uneven pads', Conv(2, c, k, (6, 7), (3, 2), pad=(2, 0), pad_end=(1, 1))),
            ('stride 2', Conv(2, c, k, (9, 8), 3, stride=2, pad=1)),
            ('stride 3x2', Conv(1, c, k, (8, 11), (5, 4), stride=(3, 2), pad=(2, 1))),
            ('dilation 2', Conv(2, c, k, (9, 10), 3, dilation=2, pad=2)),
            ('stride 2, dilation 2', Conv(1, c, k, (9, 10), 3, dilation=2, stride=2, pad=(2, 1))),
            ('stride 3, dilation 2', Conv(1, c, k, (10, 9), 3, dilation=2, stride=3, pad=(2, 1))),
            ('1x1', Conv(2, c, k, (5, 6), 1)),
            ('1x1, stride 2', Conv(2, c, k, (6, 7), 1, stride=2)),
            ('odd channels', Conv(3, 5, 7, (6, 5), 3, pad=1)),
            ('one channel', Conv(2, 1, 1, (7, 7), 5, pad=2)),
            ('unpadded', Conv(1, c, k, (6, 6), 3))]


def grouped(channels=(8, 8)):
    c, k = channels
    return [('groups', Conv(2, c, k, (6, 7), 3, pad=1, groups=2)),
            ('groups, stride 2', Conv(1, c, 2 * k, (7, 8), 3, stride=2, pad=1, groups=4)),
            ('depth-wise', Conv(2, c, c, (7, 6), 3, pad=1, groups=c)),
            ('depth-wise, twice', Conv(2, 6, 12, (8, 7), 3, stride=2, pad=1, groups=6)),
            ('one group', Conv(1, c, k, (5, 6), 3, pad=1))]
