"""GEMM with kernels of a tuned library: Python bindings of libtuner through ctypes alone.

    import numpy as np, tuner
    with tuner.open('out/4_LibraryClient/library') as lib:
        d = lib.gemm(a, b)                              # d = a @ b
        lib.gemm(a, b, out=d, alpha=2, beta=1)          # d = 2 * a @ b + d
        print(lib.select(a, b).kernel, lib.select(a, b).why)

Operands are numpy arrays for a library of the CPU; for a library of a GPU they are PyTorch tensors or any objects with
__cuda_array_interface__ (CuPy, Numba). Shapes are those of a @ b: a is m x k, b is k x n, c and the result are m x n; with a third
dimension in front they are batches, where a dimension of 1 or a stride of 0 is broadcast. Each matrix may lie row by row or column by
column in memory: one of its two strides must be 1 element, and that decides the transposes; no operand is copied. Types are those of
the arrays; bf16 and 8-bit floats are known by their names (PyTorch, ml_dtypes). Alpha, beta and the sums have the compute type: f32
for f16, bf16 and 8-bit floats, i32 for int8, otherwise the type of a.

On a GPU calls are put on a stream and return at once: the stream that open() or the call was given, otherwise PyTorch's current
stream if an operand is a PyTorch tensor, otherwise the device's default stream.

Errors of the library raise tuner.Error (with .status, a number of tuner.h); operands that do not fit raise ValueError or TypeError.
The shared object is $TUNER_LIBRARY_FILE, or libtuner.so.0 of the tree that this file
stands in (../build/lib, or ../.. when installed), or of the system."""
import collections
import ctypes as C
import os
import sys

FAILED, INPUT, NO_SOLUTION, NO_DEVICE = 1, 2, 3, 4
_N, _T = 0, 1

_Type = collections.namedtuple('_Type', 'number compute')
_TYPES = {  # name of a dtype: number in tuner.h, compute type
    'float32': _Type(0, 'float32'), 'float64': _Type(1, 'float64'), 'complex64': _Type(2, 'complex64'),
    'complex128': _Type(3, 'complex128'), 'float16': _Type(4, 'float32'), 'int32': _Type(6, 'int32'),
    'bfloat16': _Type(7, 'float32'), 'int8': _Type(8, 'int32'), 'float8_e4m3fn': _Type(10, 'float32'),
    'float8_e4m3fnuz': _Type(10, 'float32'), 'float8_e5m2': _Type(11, 'float32'), 'float8_e5m2fnuz': _Type(11, 'float32')}
_RESULT = {'int8': 'int32', 'float8_e4m3fn': 'float32', 'float8_e4m3fnuz': 'float32', 'float8_e5m2': 'float32', 'float8_e5m2fnuz': 'float32'}


class Error(RuntimeError):
    """An error of libtuner; status is FAILED, INPUT, NO_SOLUTION or NO_DEVICE."""
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class _Options(C.Structure):  # tuner_options
    _fields_ = [('arch', C.c_char_p), ('n_cu', C.c_int64), ('n_threads', C.c_int), ('select_only', C.c_int), ('deterministic', C.c_int),
                ('device', C.c_char_p), ('stream', C.c_void_p)]


class _Gemm(C.Structure):  # tuner_gemm_desc
    _fields_ = ([(x, C.c_int) for x in ('trans_a', 'trans_b', 'a_type', 'b_type', 'c_type', 'd_type', 'compute_type')] +
                [(x, C.c_int64) for x in 'mnk'] + [(x, C.c_void_p) for x in ('alpha', 'beta', 'a', 'b', 'c', 'd')] +
                [(x, C.c_int64) for x in ('lda', 'ldb', 'ldc', 'ldd', 'stride_a', 'stride_b', 'stride_c', 'stride_d', 'batch')] +
                [('pointer_arrays', C.c_int16), ('metric', C.c_int16), ('xf32', C.c_int16), ('fp16_alt', C.c_uint16),
                 ('solution_index', C.c_int64)])


class _Selection(C.Structure):  # tuner_selection
    _fields_ = [('kernel', C.c_char_p), ('solution_index', C.c_int64), ('why', C.c_char_p), ('fallback', C.c_int),
                ('distance', C.c_double), ('n_key', C.c_int), ('key', C.c_int64 * 4), ('speed', C.c_double),
                ('workspace_bytes', C.c_uint64), ('n_kernels', C.c_int)]


Selection = collections.namedtuple('Selection', 'kernel solution_index why fallback distance key speed workspace_bytes n_kernels')


def _load():
    here = os.path.dirname(os.path.realpath(__file__))
    name = os.environ.get('TUNER_LIBRARY_FILE')
    if name:
        return C.CDLL(name)
    for up in ('../build/lib', '../..'):
        path = os.path.join(here, up, 'libtuner.so.0')
        if os.path.exists(path):
            return C.CDLL(path)
    return C.CDLL('libtuner.so.0')


_lib = None


def _api():
    global _lib
    if _lib is None:
        lib = _load()
        handle, text = C.c_void_p, C.c_char_p
        for name, result, args in (
                ('open', C.c_int, [C.POINTER(handle), text, C.POINTER(_Options)]), ('close', None, [handle]),
                ('gemm', C.c_int, [handle, C.POINTER(_Gemm)]), ('synchronize', C.c_int, [handle]),
                ('select', C.c_int, [handle, C.POINTER(_Gemm), C.POINTER(_Selection)]), ('set_stream', C.c_int, [handle, C.c_void_p]),
                ('library_device', text, [handle]), ('library_path', text, [handle]), ('library_arch', text, [handle]),
                ('library_solutions', C.c_size_t, [handle]), ('error_message', text, []), ('version', text, [])):
            f = getattr(lib, 'tuner_' + name)
            f.restype, f.argtypes = result, args
        _lib = lib
    return _lib


def _check(status):
    if status:
        raise Error(status, os.fsdecode(_api().tuner_error_message()))


def version():
    """The version of libtuner."""
    return os.fsdecode(_api().tuner_version())


# A matrix or a batch of them, seen in memory. address: int; shape: (batch, rows, columns); strides: the same, in elements.
_View = collections.namedtuple('_View', 'address shape strides type on_gpu stream name')


def _strides_of(shape, itemsize, strides):
    if strides is None:  # __cuda_array_interface__: row by row without gaps
        strides, step = [], itemsize
        for n in reversed(shape):
            strides.insert(0, step)
            step *= n
    if any(s % itemsize for s in strides):
        raise ValueError(f'strides {tuple(strides)} are no multiples of the {itemsize} bytes of an element')
    return [s // itemsize for s in strides]


def _interface_type(name, typestr):
    kinds = {'f2': 'float16', 'f4': 'float32', 'f8': 'float64', 'c8': 'complex64', 'c16': 'complex128', 'i1': 'int8', 'i4': 'int32'}
    if typestr[0] == '>' or typestr[1:] not in kinds:
        raise TypeError(f"{name} has elements of type '{typestr}', expected one of {', '.join(kinds)}")
    return kinds[typestr[1:]]


def _torch_stream(x):
    on_gpu = hasattr(x, 'data_ptr') and x.device.type == 'cuda'
    return sys.modules['torch'].cuda.current_stream(x.device).cuda_stream if on_gpu else None


def _describe(name, x):
    """Address, shape, strides in elements, dtype's name, whether it is on a GPU, its stream."""
    if hasattr(x, 'data_ptr') and hasattr(x, 'stride'):  # a PyTorch tensor
        on_gpu = x.device.type == 'cuda'
        return x.data_ptr(), tuple(x.shape), list(x.stride()), str(x.dtype).split('.')[-1], on_gpu, _torch_stream(x)
    if hasattr(x, '__cuda_array_interface__'):
        i = x.__cuda_array_interface__
        kind = _interface_type(name, i['typestr'])
        return i['data'][0], tuple(i['shape']), _strides_of(i['shape'], int(i['typestr'][2:]), i.get('strides')), kind, True, i.get('stream')
    if hasattr(x, 'ctypes') and hasattr(x, 'strides'):  # a numpy array
        if not x.dtype.isnative:
            raise TypeError(f'{name} is not in the byte order of this machine')
        return x.ctypes.data, x.shape, _strides_of(x.shape, x.dtype.itemsize, x.strides), x.dtype.name, False, None
    raise TypeError(f'{name} is a {type(x).__name__}, expected a numpy array, a PyTorch tensor or an object with __cuda_array_interface__')


def _key(x):
    """What decides how an operand is passed, beside its address: equal for arrays that differ in that alone. None: not known."""
    if x is None:
        return ()
    if hasattr(x, 'data_ptr') and hasattr(x, 'stride'):
        return x.shape, x.stride(), x.dtype, x.device
    if hasattr(x, 'ctypes') and hasattr(x, 'strides'):
        return x.shape, x.strides, x.dtype.str, x.flags.writeable
    return None


def _address(x):
    return x.data_ptr() if hasattr(x, 'data_ptr') else x.ctypes.data


# A call that was made before, for operands at other addresses: the bytes of its description, whether a and b are exchanged, what its
# scalars point to, and the type and shape of a result that the call makes (None: out is given).
_Plan = collections.namedtuple('_Plan', 'description exchanged keep made')
_PLANS = 1024


def _view(name, x, written=False):
    address, shape, strides, kind, on_gpu, stream = _describe(name, x)
    if kind not in _TYPES:
        raise TypeError(f"{name} has elements of type '{kind}', expected one of {', '.join(_TYPES)}")
    if len(shape) not in (2, 3):
        raise ValueError(f'{name} has {len(shape)} dimensions, expected 2, or 3 for a batch')
    if written and hasattr(x, 'flags') and not getattr(x.flags, 'writeable', True):
        raise ValueError(f'{name} is read-only')
    if len(shape) == 2:
        shape, strides = (1, *shape), [0, *strides]
    if any(s < 0 for s in strides):
        raise ValueError(f'{name} has a negative stride')
    return _View(address, tuple(shape), strides, kind, on_gpu, stream, name)


def _orders(v):
    """{stored row by row: leading dimension}: by the stride that is 1; a dimension of length 1 may have any stride, so that both
    orders can be possible, column by column first."""
    _, rows, columns = v.shape
    _, along_rows, along_columns = v.strides
    orders = {}
    if (along_rows == 1 or rows <= 1) and (columns <= 1 or along_columns >= max(rows, 1)):
        orders[False] = along_columns if columns > 1 else max(rows, 1)
    if (along_columns == 1 or columns <= 1) and (rows <= 1 or along_rows >= max(columns, 1)):
        orders[True] = along_rows if rows > 1 else max(columns, 1)
    if not orders:
        raise ValueError(f'{v.name} has strides of {along_rows} and {along_columns} elements, expected 1 in one dimension and at '
                         'least the other length in the other')
    return orders


def _row_major(va, vb, vd):
    """Whether the transposed product is computed: out is stored row by row, or in either order and a or b is."""
    for v in (vd, va, vb):
        orders = _orders(v)
        if len(orders) == 1:
            break
    return list(orders) == [True]


def _shape(shape):
    return ' x '.join(str(n) for n in (shape if shape[0] != 1 else shape[1:]))


def _transposed(v):
    return v._replace(shape=(v.shape[0], v.shape[2], v.shape[1]), strides=[v.strides[0], v.strides[2], v.strides[1]])


def _batch_stride(v, batch):
    if v.shape[0] not in (1, batch):
        raise ValueError(f'{v.name} is a batch of {v.shape[0]}, expected {batch} or 1')
    return 0 if v.shape[0] == 1 else v.strides[0]


_SCALARS = {'float32': C.c_float, 'float64': C.c_double, 'int32': C.c_int32, 'complex64': C.c_float * 2, 'complex128': C.c_double * 2}


def _scalar(kind, value):
    if kind not in _SCALARS and kind != 'float16':
        raise TypeError(f"compute_type is '{kind}', expected one of {', '.join([*_SCALARS, 'float16'])}")
    if kind == 'float16':
        import struct
        return (C.c_char * 2).from_buffer_copy(struct.pack('e', value))
    make = _SCALARS[kind]
    if kind.startswith('complex'):
        return make(complex(value).real, complex(value).imag)
    return make(int(value) if kind == 'int32' else float(value))


def _empty(a, dtype, shape):
    """An array of a's kind."""
    if hasattr(a, 'data_ptr'):
        return sys.modules['torch'].empty(shape, dtype=dtype, device=a.device)
    import numpy
    return numpy.empty(shape, dtype=dtype)


def _empty_like(a, kind, shape):
    if hasattr(a, 'data_ptr'):
        return _empty(a, getattr(sys.modules['torch'], kind), shape)
    if hasattr(a, 'ctypes'):
        return _empty(a, kind if kind in _SCALARS or kind == 'float16' else a.dtype, shape)
    raise ValueError('out is missing: it is made only for numpy arrays and PyTorch tensors')


class Library:
    """An open library; see open()."""

    def __init__(self, path=None, device=None, arch=None, threads=0, select_only=False, deterministic=False, stream=None):
        self._handle, self._stream, self._plans = C.c_void_p(), stream, {}
        options = _Options(arch and os.fsencode(arch), 0, threads, select_only, deterministic, device and os.fsencode(device), stream)
        _check(_api().tuner_open(C.byref(self._handle), None if path is None else os.fsencode(path), C.byref(options)))

    def close(self):
        """Frees all that the library owns. Further calls raise Error."""
        handle, self._handle = self._handle, C.c_void_p()
        _api().tuner_close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, '_handle', None) and _lib is not None:
            self.close()

    @property
    def device(self):
        """'host', 'cuda:0' or 'hip:0'."""
        return os.fsdecode(_api().tuner_library_device(self._handle))

    @property
    def path(self):
        return os.fsdecode(_api().tuner_library_path(self._handle))

    @property
    def arch(self):
        return os.fsdecode(_api().tuner_library_arch(self._handle))

    @property
    def solutions(self):
        """The number of solutions that were read so far."""
        return _api().tuner_library_solutions(self._handle)

    def synchronize(self):
        """Waits until all calls on the library's stream have ended and raises their errors."""
        _check(_api().tuner_synchronize(self._handle))

    def select(self, a, b, c=None, out=None, **options):
        """The solution that gemm() with the same arguments would run, as a Selection; nothing runs."""
        gemm, _, _, keep, _ = self._gemm(a, b, c, out, **options)
        s = _Selection()
        _check(_api().tuner_select(self._handle, C.byref(gemm), C.byref(s)))
        del keep
        return Selection(os.fsdecode(s.kernel), s.solution_index, os.fsdecode(s.why), bool(s.fallback), s.distance,
                         tuple(s.key[:s.n_key]), s.speed, s.workspace_bytes, s.n_kernels)

    def gemm(self, a, b, c=None, out=None, **options):
        """out = alpha * a @ b + beta * c, and returns out.

        out: an array of the result's shape; made row by row if it is missing. c: another array of that shape, stored in the same
        order; without it c is out. Options: alpha (1), beta (0), compute_type (a dtype's name), xf32 (f32 operands may be rounded to
        11 bits), fp16_alt, metric (0: automatic, 1: per compute unit, 2: highest speed), solution_index (> 0: run this solution),
        stream (for this call and the following ones)."""
        stream = options.pop('stream', None)
        keys = _key(a), _key(b), _key(c), _key(out)
        key = None if None in keys else (*keys, *options.items())
        try:
            plan = self._plans.get(key)
        except TypeError:  # an option that cannot be looked up, as an array of one element
            plan = key = None
        if plan is None or not self._handle:
            made = out is None
            gemm, out, own, keep, exchanged = self._gemm(a, b, c, out, **options)
            if key is not None:
                if len(self._plans) >= _PLANS:
                    self._plans.clear()
                self._plans[key] = _Plan(bytes(gemm), exchanged, keep, (out.dtype, out.shape) if made else None)
        else:
            if plan.made:
                out = _empty(a, *plan.made)
            gemm = _Gemm.from_buffer_copy(plan.description)
            gemm.a, gemm.b = (_address(b), _address(a)) if plan.exchanged else (_address(a), _address(b))
            gemm.d = _address(out)
            gemm.c = gemm.d if c is None else _address(c)
            keep, own = plan.keep, _torch_stream(a)
        stream = own if stream is None else stream
        if stream is not None and stream != self._stream:
            _check(_api().tuner_set_stream(self._handle, stream))
            self._stream = stream
        _check(_api().tuner_gemm(self._handle, C.byref(gemm)))
        del keep
        return out

    def _gemm(self, a, b, c, out, alpha=1, beta=0, compute_type=None, xf32=False, fp16_alt=0, metric=0, solution_index=0, stream=None):
        va, vb = _view('a', a), _view('b', b)
        batch = max(va.shape[0], vb.shape[0])
        m, k, n = va.shape[1], va.shape[2], vb.shape[2]
        if vb.shape[1] != k:
            raise ValueError(f'a is {m} x {k} and b is {vb.shape[1]} x {n}: the columns of a must be the rows of b')
        if out is None:
            if c is None and beta != 0:
                raise ValueError(f'beta is {beta}, but neither c nor out was given')
            flat = getattr(a, 'ndim', 2) == 2 and getattr(b, 'ndim', 2) == 2
            kind = _view('c', c).type if c is not None else _RESULT.get(va.type, va.type)
            out = _empty_like(a, kind, (m, n) if flat else (batch, m, n))
        vd = _view('out', out, written=True)
        vc = vd if c is None else _view('c', c)
        for v in (vd, vc):
            if v.shape != (batch, m, n):
                raise ValueError(f'{v.name} is {_shape(v.shape)}, expected {_shape((batch, m, n))}')
        views = (va, vb, vc, vd)
        self._same_place(views)
        if batch > 1 and vd.strides[0] == 0:
            raise ValueError('out has a stride of 0 between the matrices of a batch')
        exchanged = _row_major(va, vb, vd)
        if exchanged:  # BLAS stores columns: the transposed product is the same numbers in memory
            va, vb, vc, vd, m, n = _transposed(vb), _transposed(va), _transposed(vc), _transposed(vd), n, m
        (ra, lda), (rb, ldb) = (next(iter(_orders(v).items())) for v in (va, vb))
        ldc, ldd = _orders(vc).get(False), _orders(vd)[False]
        if ldc is None:
            raise ValueError('c and out are stored in different orders, expected both row by row or both column by column')
        kind = compute_type or _TYPES[va.type].compute
        keep = _scalar(kind, alpha), _scalar(kind, beta)
        number = {'float16': 4}.get(kind, _TYPES[kind].number)
        gemm = _Gemm(_T if ra else _N, _T if rb else _N, *(_TYPES[v.type].number for v in (va, vb, vc, vd)), number, m, n, k,
                     C.addressof(keep[0]), C.addressof(keep[1]), va.address, vb.address, vc.address, vd.address, lda, ldb,
                     ldc, ldd, *(_batch_stride(v, batch) for v in (va, vb, vc, vd)), batch, 0, metric, bool(xf32),
                     fp16_alt, solution_index)
        streams = [v.stream for v in views if v.stream is not None]
        return gemm, out, stream if stream is not None else streams[0] if streams else None, keep, exchanged

    def _same_place(self, views):
        if not self._handle:
            raise Error(INPUT, 'the library is closed')
        wanted = self.device != 'host'
        for v in views:
            if v.on_gpu != wanted:
                raise ValueError(f"{v.name} is in {'device' if v.on_gpu else 'host'} memory, but the library's device is {self.device}")


def open(path=None, device=None, arch=None, threads=0, select_only=False, deterministic=False, stream=None):
    """Opens a library and returns a Library, which is also a context manager.

    path: a directory that tuner-createlib wrote or the output directory of tuner; None: $TUNER_LIBPATH. device: 'host', 'cuda', 'hip',
    'cuda:1'; None: the one that path has a library for. arch: select for this architecture. threads: 0 for all processors.
    select_only: code objects are not opened. deterministic: only solutions that always add in the same order. stream: of a GPU, an
    integer; None: see the module's text."""
    return Library(path, device, arch, threads, select_only, deterministic, stream)
