#!/usr/bin/env python3
"""scripts/tuner.py on PyTorch tensors of a GPU: results of all transposes, batches, strided views, streams and CUDA graphs against
products in double precision, and times beside torch.matmul.

usage: pytorch.py LIBRARY... [--types f16,bf16,f32] [--no-times] [--seed N] [--numpy]

Every case runs on the first library that has a solution for it. Operands lie in larger tensors full of NaN: an element that is read
beside a matrix makes the result NaN, one that is written there is found. --numpy: the same cases, but for streams, graphs and times,
on numpy arrays and libraries of the CPU. Exit codes: 0 all right, 1 a result is wrong, 2 usage, 3 a type has no result at
all, 4 no PyTorch or no device."""
import argparse
import itertools
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'scripts'))
import tuner  # noqa: E402

NAMES = {'f16': 'float16', 'bf16': 'bfloat16', 'f32': 'float32'}
ROUND_OFF = {'f16': 2.0**-11, 'bf16': 2.0**-8, 'f32': 2.0**-24}
SMALLEST = {'f16': 2.0**-24, 'bf16': 2.0**-133, 'f32': 2.0**-149}
SHAPES = ((256, 256, 256), (130, 71, 45), (64, 96, 1), (1, 300, 200), (500, 1, 77), (33, 1000, 2048))
TIMED = ((1024, 1024, 1024), (4096, 4096, 4096), (128, 4096, 4096), (4096, 4096, 128))
CALLS, REPLAYS = 10, 9  # of a CUDA graph, and how often it is timed


class Numpy:
    """The operations on arrays that the cases need, on the CPU."""
    def __init__(self, seed):
        import numpy
        self.np, self.rng = numpy, numpy.random.default_rng(seed)
        self.types = [t for t in NAMES if hasattr(numpy, NAMES[t])]

    def nan(self, shape, kind):
        return self.np.full(shape, self.np.nan, NAMES[kind])

    def draw(self, shape):
        return self.rng.uniform(-1, 1, shape)

    def swap(self, x):
        return self.np.swapaxes(x, -1, -2)

    def double(self, x):
        return x.astype('float64')

    def spread(self, x, batch):
        return self.np.broadcast_to(x, (batch, *x.shape))

    def all_nan(self, x):
        return bool(self.np.isnan(x).all())

    def first(self, mask):
        return tuple(int(i[0]) for i in mask.nonzero())

    def wait(self):
        pass


class Torch:
    """The same on a GPU."""
    def __init__(self, seed):
        import torch
        self.torch = torch
        if not torch.cuda.is_available():
            raise ImportError('PyTorch has no CUDA device here')
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.manual_seed(seed)
        self.types = list(NAMES)

    def nan(self, shape, kind):
        return self.torch.full(shape, float('nan'), dtype=getattr(self.torch, NAMES[kind]), device='cuda')

    def draw(self, shape):
        return self.torch.rand(shape, dtype=self.torch.float64, device='cuda') * 2 - 1

    def swap(self, x):
        return x.transpose(-1, -2)

    def double(self, x):
        return x.double()

    def spread(self, x, batch):
        return x.unsqueeze(0).expand(batch, *x.shape)

    def all_nan(self, x):
        return bool(self.torch.isnan(x).all())

    def first(self, mask):
        return tuple(int(i) for i in mask.nonzero()[0])

    def wait(self):
        self.torch.cuda.synchronize()


class Matrix:
    """A matrix or a batch of them inside a larger array of NaN, row by row (C) or column by column (F)."""
    def __init__(self, xp, kind, shape, order, gap=0, empty=False):
        rows, columns = shape[-2:] if order == 'C' else (shape[-1], shape[-2])
        self.xp = xp
        self.room = xp.nan((*shape[:-2], rows + 1, columns + gap), kind)
        at = self.room[..., :rows, :columns]
        self.view = at if order == 'C' else xp.swap(at)
        if not empty:
            self.view[...] = xp.draw(shape)
        self.rows, self.columns = rows, columns

    def beside_untouched(self):
        return self.xp.all_nan(self.room[..., self.rows:, :]) and self.xp.all_nan(self.room[..., self.columns:])


class Tally:
    def __init__(self):
        self.right, self.wrong, self.none = {}, 0, {}

    def add(self, kind, what, error):
        """error: None: right; otherwise what is wrong."""
        if error is None:
            self.right[kind] = self.right.get(kind, 0) + 1
            return
        self.wrong += 1
        if self.wrong <= 20:
            print(f'WRONG {kind} {what}: {error}')

    def without(self, kind, what):
        self.none.setdefault(kind, []).append(what)


def error_of(xp, kind, got, a, b, c, alpha, beta):
    """What is wrong with got = alpha * a @ b + beta * c, or None. Sums of k products in f32 err by at most k round-offs of the sum of
    magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, 3.1), the result by one of its own type."""
    a, b = xp.double(a), xp.double(b)
    want, size = alpha * (a @ b), abs(alpha) * (abs(a) @ abs(b))
    if beta:
        want, size = want + beta * xp.double(c), size + abs(beta * xp.double(c))
    off = abs(xp.double(got) - want)
    allowed = (a.shape[-1] + 2) * ROUND_OFF['f32'] * size + ROUND_OFF[kind] * abs(want) * 1.01 + SMALLEST[kind]
    worst = off - allowed
    if bool((worst <= 0).all()):
        return None
    at = xp.first(~(worst <= 0))
    return f'element {at}: {float(got[at])!r}, expected {float(want[at])!r} within {float(allowed[at]):.3g}'


def first_with(libraries, what, *args, **options):
    """Runs on the first library that has a solution; None: none has."""
    for lib in libraries:
        try:
            return what(lib, *args, **options)
        except tuner.Error as e:
            if e.status != tuner.NO_SOLUTION:
                raise
    return None


def run(lib, *args, **options):
    lib.gemm(*args, **options)
    return lib


def check_layouts(xp, libraries, kind, tally):
    """All shapes, transposes, orders of the result, batches, with and without C."""
    for (m, n, k), orders, batch, beta in itertools.product(SHAPES, itertools.product('CF', 'CF', 'CF'), (None, 3), (0, 2)):
        lead = (batch,) if batch else ()
        what = f'{m} x {n} x {k} {"".join(orders)} batch {batch or 1} beta {beta}'
        a, b = Matrix(xp, kind, (*lead, m, k), orders[0]), Matrix(xp, kind, (*lead, k, n), orders[1], 3)
        d, c = Matrix(xp, kind, (*lead, m, n), orders[2], 5, empty=True), Matrix(xp, kind, (*lead, m, n), orders[2], 2)
        if first_with(libraries, run, a.view, b.view, c.view, out=d.view, alpha=1.5, beta=beta) is None:
            tally.without(kind, what)
            continue
        xp.wait()
        error = error_of(xp, kind, d.view, a.view, b.view, c.view, 1.5, beta)
        tally.add(kind, what, error or (None if d.beside_untouched() else 'elements beside the result were written'))


def check_views(xp, libraries, kind, tally):
    """A matrix for all of a batch by a stride of 0 or by two dimensions; a result in place; parts of larger tensors."""
    a, b = Matrix(xp, kind, (4, 64, 48), 'C', 8), Matrix(xp, kind, (48, 80), 'F', 8)
    for name, y in ('stride of 0', xp.spread(b.view, 4)), ('two dimensions', b.view):
        d = Matrix(xp, kind, (4, 64, 80), 'C', 8, empty=True)
        if first_with(libraries, run, a.view, y, out=d.view) is None:
            tally.without(kind, name)
            continue
        xp.wait()
        tally.add(kind, name, error_of(xp, kind, d.view, a.view, b.view, None, 1, 0))
    a, b, d = (Matrix(xp, kind, shape, 'C') for shape in ((128, 128), (128, 64), (128, 64)))
    x, y, before = a.view[32:96, 64:], b.view[64:, 16:], xp.double(d.view[:64, 16:]) + 0
    if first_with(libraries, run, x, y, out=d.view[:64, 16:], beta=1) is None:
        return tally.without(kind, 'parts')
    xp.wait()
    tally.add(kind, 'parts, in place', error_of(xp, kind, d.view[:64, 16:], x, y, before, 1, 1))


def check_streams(xp, libraries, kind, tally):
    """A call waits for what is on PyTorch's current stream before it, on streams in turns; a graph computes with the numbers of its replay."""
    torch = xp.torch
    streams = [torch.cuda.Stream() for _ in range(2)]
    for i, stream in enumerate((*streams, *streams)):
        source, b = Matrix(xp, kind, (256, 256), 'C'), Matrix(xp, kind, (256, 256), 'C')
        a, d = Matrix(xp, kind, (256, 256), 'C', empty=True), Matrix(xp, kind, (256, 256), 'C', empty=True)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)  # cycles: A is NaN for some milliseconds
            a.view.copy_(source.view)
            lib = first_with(libraries, run, a.view, b.view, out=d.view)
            got = d.view.clone()
        stream.synchronize()
        if lib is None:
            return tally.without(kind, 'streams')
        tally.add(kind, f'stream {i}', error_of(xp, kind, got, a.view, b.view, None, 1, 0))
    a, b, d = (Matrix(xp, kind, (256, 256), 'C') for _ in range(3))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(streams[0]):  # a first call loads code and makes workspaces, which a capture must not do
        run(lib, a.view, b.view, out=d.view)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=streams[0]):
        run(lib, a.view, b.view, out=d.view)
    for i in range(3):
        a.view.copy_(xp.draw((256, 256)))
        d.view.fill_(float('nan'))
        graph.replay()
        torch.cuda.synchronize()
        tally.add(kind, f'graph, replay {i}', error_of(xp, kind, d.view, a.view, b.view, None, 1, 0))


def graph_of(torch, call):
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        call()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(CALLS):
            call()
    return graph


def replay_us(torch, graph):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1000 / CALLS


def times(xp, libraries, kinds):
    """Medians of graphs of calls, tuner's and PyTorch's in turns; operands stay in the cache where they fit."""
    torch = xp.torch
    print(f'\n{"type":5} {"layout":6} {"M":>6} {"N":>6} {"K":>6} {"us tuner":>10} {"us torch":>10} {"torch/tuner":>11}  why')
    for kind, (m, n, k), orders in itertools.product(kinds, TIMED, ('CC', 'FC', 'CF')):
        a, b, d, e = (x.view for x in (Matrix(xp, kind, (m, k), orders[0]), Matrix(xp, kind, (k, n), orders[1]),
                                       Matrix(xp, kind, (m, n), 'C'), Matrix(xp, kind, (m, n), 'C')))
        chosen = first_with(libraries, lambda lib: (lib, lib.select(a, b, out=d)))
        if chosen is None:
            continue
        lib, selection = chosen
        graphs = graph_of(torch, lambda: lib.gemm(a, b, out=d)), graph_of(torch, lambda: torch.matmul(a, b, out=e))
        us = [[], []]
        for i in range(REPLAYS + 1):
            for side in (i % 2, 1 - i % 2):
                us[side].append(replay_us(torch, graphs[side]))
        ours, theirs = (statistics.median(x[1:]) for x in us)
        print(f'{kind:5} {orders:6} {m:6} {n:6} {k:6} {ours:10.1f} {theirs:10.1f} {theirs / ours:11.3f}  {selection.why}')
    a, b, d = (Matrix(xp, kinds[0], (64, 64), 'C').view for _ in range(3))
    lib = first_with(libraries, run, a, b, out=d)
    if lib:
        for name, call in ('tuner', lambda: lib.gemm(a, b, out=d)), ('torch', lambda: torch.matmul(a, b, out=d)):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(1000):
                call()
            print(f'a call of {name} costs the host {(time.perf_counter() - start) * 1000:.1f} us')
            torch.cuda.synchronize()


def main():
    p = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1].removeprefix('usage: '))
    p.add_argument('library', nargs='+')
    p.add_argument('--types', default='f16,bf16,f32')
    p.add_argument('--no-times', action='store_true')
    p.add_argument('--numpy', action='store_true')
    p.add_argument('--seed', type=int, default=int(time.time()) % 100000)
    args = p.parse_args()
    kinds = args.types.split(',')
    for kind in kinds:
        if kind not in NAMES:
            p.error(f"--types: '{kind}' is none of {', '.join(NAMES)}")
    try:
        xp = (Numpy if args.numpy else Torch)(args.seed)
    except ImportError as e:
        print(f'pytorch.py: {e}', file=sys.stderr)
        sys.exit(4)
    start, tally = time.monotonic(), Tally()
    libraries = [tuner.open(path) for path in args.library]
    print(f'{libraries[0].device}, {libraries[0].arch}, libtuner {tuner.version()}, seed {args.seed}')
    kinds = [kind for kind in kinds if kind in xp.types]
    for kind in kinds:
        check_layouts(xp, libraries, kind, tally)
        check_views(xp, libraries, kind, tally)
        if not args.numpy:
            check_streams(xp, libraries, kind, tally)
    for kind in kinds:
        none = tally.none.get(kind, [])
        print(f'{kind}: {tally.right.get(kind, 0)} right, {len(none)} without a solution{": " + none[0] + " ..." if none else ""}')
    if not args.no_times and not args.numpy and not tally.wrong:
        times(xp, libraries, kinds)
    print(f'{tally.wrong} wrong, {time.monotonic() - start:.0f} s')
    sys.exit(1 if tally.wrong else 3 if any(kind not in tally.right for kind in kinds) else 0)


if __name__ == '__main__':
    main()
