# The Python bindings: structures as in tuner.h, results of all types and layouts against numpy, errors.
PATH=$OPTIMIZING
python=$(command -v /usr/bin/python3 || command -v python3) && "$python" -c 'import numpy' 2>/dev/null ||
  { echo 'skipped: no python3 with numpy here'; exit 0; }
# Six types without transposes, and f32 with all.
{
  sed -n '1,/^BenchmarkProblems/p' "$DATA"/run/bench.yaml
  problem() { # TYPES TRANSPOSE_A TRANSPOSE_B
    echo "  -"
    echo "    - {OperationType: GEMM, $1, TransposeA: $2, TransposeB: $3, UseBeta: True, Batched: True}"
    sed -n '/BenchmarkCommonParameters/,/ProblemSizes/p;/ProblemSizes/q' "$DATA"/run/bench.yaml
  }
  for t in s d c z; do problem "DataType: $t" False False; done
  problem 'DataType: h, DestDataType: h, ComputeDataType: s, HighPrecisionAccumulate: True' False False
  problem 'DataType: I8, DestDataType: I, ComputeDataType: I, HighPrecisionAccumulate: True' False False
  problem 'DataType: s' True False; problem 'DataType: s' False True; problem 'DataType: s' True True
  sed -n '/^LibraryLogic/,$p' "$DATA"/run/bench.yaml
} >config.yaml
"$BIN"/tuner config.yaml out >log 2>&1 || cat log
export TUNER_NUM_THREADS=2 PYTHONPATH="$ROOT/scripts" PYTHONDONTWRITEBYTECODE=1 TUNER_LIBRARY_FILE="$LIB/libtuner.so.0"
cat >layout.py <<'END'
import ctypes, tuner
print('#include <stdio.h>\n#include <stddef.h>\n#include "client/runtime/tuner.h"\nint main(void)\n{\n    int bad = 0;')
for mine, c in (tuner._Options, 'tuner_options'), (tuner._Gemm, 'tuner_gemm_desc'), (tuner._Selection, 'tuner_selection'):
    print(f'    bad += sizeof({c}) != {ctypes.sizeof(mine)};')
    for name, *_ in mine._fields_:
        f = getattr(mine, name)
        print(f'    bad += offsetof({c}, {name}) != {f.offset} || sizeof((({c} *)0)->{name}) != {f.size};')
print('    printf("structures: %d differences\\n", bad);\n    return bad;\n}')
END
"$python" layout.py >layout.c && cc -I"$ROOT" layout.c -o layout && ./layout
cat >use.py <<'END'
import numpy as np, tuner
rng = np.random.default_rng(0)
names = 'float32 float64 complex64 complex128 float16 int8'.split()

def draw(kind, shape):
    x = rng.integers(-3, 4, shape)
    return (x + 1j * rng.integers(-3, 4, shape) if kind.startswith('complex') else x).astype(kind)

def stored(x, order, gap):  # the same matrix row by row (C) or column by column (F), with a gap behind each
    at = x if order == 'C' else np.swapaxes(x, -1, -2)
    room = np.zeros((*at.shape[:-1], at.shape[-1] + gap), x.dtype)
    room[..., :at.shape[-1]] = at
    at = room[..., :at.shape[-1]]
    return at if order == 'C' else np.swapaxes(at, -1, -2)

n_right = n_wrong = n_none = 0
with tuner.open('out') as lib:
    print(lib.device, tuner.version(), lib.path.split('/')[-1])
    for kind in names:
        for orders in ('CCC', 'CFC', 'FCC', 'FFC', 'CCF', 'CFF', 'FCF', 'FFF'):
            for batch in ((), (3,)):
                a, b = draw(kind, (*batch, 40, 20)), draw(kind, (20, 36) if orders == 'CCC' else (*batch, 20, 36))
                d = draw('int32' if kind == 'int8' else kind, (*batch, 40, 36))
                want = (2 * np.matmul(a.astype('int32') if kind == 'int8' else a, b) + 3 * d).astype(d.dtype)
                out = stored(d, orders[2], 5)
                try:
                    got = lib.gemm(stored(a, orders[0], 0), stored(b, orders[1], 3), out=out, alpha=2, beta=3)
                except tuner.Error as e:
                    assert e.status == tuner.NO_SOLUTION and kind != 'float32', e
                    n_none += 1
                    continue
                assert got is out
                right = np.array_equal(got, want)
                n_right, n_wrong = n_right + right, n_wrong + (not right)
                if not right: print('WRONG', kind, orders, batch)
    a, b = draw('float32', (40, 20)), draw('float32', (20, 36))
    assert np.array_equal(lib.gemm(a, b), a @ b)
    c = draw('float32', (40, 36))
    assert np.array_equal(lib.gemm(a, b, c, beta=2), a @ b + 2 * c)
    x = draw('float32', (20, 1))
    assert np.array_equal(lib.gemm(a, x), a @ x) and np.array_equal(lib.gemm(x.T, b), x.T @ b)
    y = draw('float32', (20, 20))  # calls alike but for their addresses are described once
    for first, second in (y, y), (y, draw('float32', (20, 20))), (draw('float32', (20, 20)), y):
        assert np.array_equal(lib.gemm(first, second), first @ second)
        assert np.array_equal(lib.gemm(first.T, second, c[:20, :20].copy(), beta=3), first.T @ second + 3 * c[:20, :20])
        assert np.array_equal(lib.gemm(first, second, alpha=np.array([2])), 2 * first @ second)
    s = lib.select(a, b)
    print(s.why, s.key, s.n_kernels, s.kernel[:28])
    read_only = c.copy(); read_only.flags.writeable = False
    for what in (lambda: lib.gemm(a, a), lambda: lib.gemm(a[:, ::2], b[:10]), lambda: lib.gemm(a[0], b), lambda: lib.gemm([1], b),
                 lambda: lib.gemm(a.astype('uint8'), b), lambda: lib.gemm(a, b, out=c[1:]), lambda: lib.gemm(a, b, beta=1),
                 lambda: lib.gemm(a, b, np.asfortranarray(c), out=c.copy(), beta=1), lambda: lib.gemm(a, b, out=read_only),
                 lambda: lib.gemm(a.astype('>f4'), b), lambda: lib.gemm(a, b, compute_type='int64'), lambda: lib.gemm(a, b, metric=7),
                 lambda: lib.gemm(a[::-1], b), lambda: lib.gemm(np.zeros((2, 40, 20), 'f4'), np.zeros((3, 20, 36), 'f4'))):
        try: what(); print('no error')
        except (TypeError, ValueError, tuner.Error) as e: print(type(e).__name__ + ':', e)
for what in lambda: lib.gemm(a, b), lambda: tuner.open('nowhere'):
    try: what(); print('no error')
    except tuner.Error as e: print(e.status, e)
print(n_right, 'right,', n_wrong, 'wrong,', n_none, 'without a solution')
END
"$python" use.py
echo "--- test/conformance/pytorch.py on arrays of numpy, and what it says of results that are wrong"
cat >wrong.py <<'END2'
import sys, tuner, pytorch
pytorch.SHAPES, right, calls = ((33, 20, 40),), tuner.Library.gemm, []
def gemm(self, a, b, c=None, out=None, **options):
    right(self, a, b, c, out, **options)
    calls.append(out)
    if len(calls) == 1: out[2, 3] += 0.01
    if len(calls) == 2:
        while out.base is not None: out = out.base
        out[-1, 0] = 0
tuner.Library.gemm = gemm
pytorch.main()
END2
check() { PYTHONPATH="$PYTHONPATH:$ROOT/test/conformance" "$python" "$@" out --numpy --types f32 --seed 1; echo "exit $?"; }
hide() { sed 's/^host, .*/host/; s/, [0-9]* s$/, N s/; s/: -*[0-9.]*, expected .*/: VALUE/'; }
check "$ROOT/test/conformance/pytorch.py" | hide; check wrong.py | hide
