/* Buffers of a problem. See tensors.h. */
#include "client/worker/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "client/worker/number.h"

enum { PAD = 65536, COPIES_MAX = 64, GPU_COPIES_MAX = 2048, KEPT_BYTES = 256 << 20 };
/* On a GPU, results up to this size are copied and checked whole, and inputs up to this size after each
 * validated run (but where winners are not checked again, as in the rounds of a search): 1 ms over PCIe. */
static const uint64_t QUICK_BYTES = UINT64_C(8) << 20;

static const char tensor_letter[] = "ABCD";

/* ---- data ---- */

static bool shares(const Tensors *t, int tensor) { return tensor == TENSOR_D && t->session->o.c_equal_d; }
static bool on_gpu(const Tensors *t) { return t->device->api->is_gpu; }

/* Whether the tensor is C with beta 0: on a GPU, where the buffers are copies, it is poisoned. */
static bool is_unread_c(const Tensors *t, int tensor)
{
    return tensor == TENSOR_C && on_gpu(t) && t->problem->shape.beta == SCALAR_ZERO;
}

/* Whether nothing looks at a tensor's first data: on a GPU, D (which is zeroed), and C with beta 0. */
static bool needs_no_data(const Tensors *t, int tensor)
{
    if (tensor == TENSOR_D) return on_gpu(t) && !shares(t, tensor);
    return is_unread_c(t, tensor) && !t->session->o.c_equal_d && !t->session->o.print_c;
}

/* Data that are those of other problems, too. */
static Err take_shared(Tensors *t, int tensor, InitType how, uint64_t seed)
{
    Operand *o;
    TRY(operand_get(t->operands, tensor, &t->problem->tensor[tensor], how, seed + (uint64_t)tensor + 1, &o));
    t->shared[tensor] = o;
    t->pristine[tensor] = o->data;
    t->hash[tensor] = operand_hash(o, t->bytes[tensor], t->session->n_threads);
    return 0;
}

static Err make_pristine(Tensors *t, int tensor, InitType how, uint64_t seed)
{
    const Tensor *x = &t->problem->tensor[tensor];
    uint64_t size = (uint64_t)type_bytes(x->type), offset = (uint64_t)t->problem->offset[tensor];
    t->bytes[tensor] = (offset + (uint64_t)x->n_elements) * size;
    if (t->session->no_data || needs_no_data(t, tensor)) return 0;
    if (tensor < OPERANDS && !offset && operand_is_shared(how)) return take_shared(t, tensor, how, seed);
    if (!t->pristine[tensor]) t->pristine[tensor] = malloc(t->bytes[tensor] + 1);
    if (!t->pristine[tensor])
        FAIL(ERR_FAILED, "out of memory for tensor %c (%llu bytes)", tensor_letter[tensor],
             (unsigned long long)t->bytes[tensor]);
    memset(t->pristine[tensor], number_poison(x->type), offset * size);
    init_tensor(x, how, seed + (uint64_t)tensor + 1, t->session->n_threads,
                t->pristine[tensor] + offset * size);
    t->hash[tensor] = bytes_hash(t->pristine[tensor], t->bytes[tensor], t->session->n_threads);
    return 0;
}

static Err make_all(Tensors *t, uint64_t seed)
{
    const ClientOptions *o = &t->session->o;
    const InitType how[TENSOR_COUNT] = {o->init_a, o->init_b, o->init_c, o->init_d};
    for (int i = 0; i < TENSOR_COUNT; i++) TRY(make_pristine(t, i, shares(t, i) ? o->init_c : how[i], seed));
    if (shares(t, TENSOR_D) && t->pristine[TENSOR_D])
        memcpy(t->pristine[TENSOR_D], t->pristine[TENSOR_C], t->bytes[TENSOR_D]);
    return 0;
}

/* Copies a tensor's pristine data to the device. */
static Err data_write(Tensors *t, int tensor, const DeviceMem *to, uint64_t offset)
{
    if (t->shared[tensor]) return operand_write(t->operands, t->shared[tensor], to, offset, t->bytes[tensor]);
    return t->device->api->copy_to(t->device, to, offset, t->pristine[tensor], t->bytes[tensor]);
}

static Err upload_tensor(Tensors *t, TensorSet *s, int tensor)
{
    return data_write(t, tensor, &s->buffer[tensor], s->pad);
}

static Err write_tensor(Tensors *t, TensorSet *s, int tensor)
{
    const DeviceApi *api = t->device->api;
    if (t->session->no_data) return 0;
    if (is_unread_c(t, tensor))
        return api->fill(t->device, &s->buffer[tensor], number_poison(t->problem->tensor[tensor].type));
    if (!t->pristine[tensor]) return api->fill(t->device, &s->buffer[tensor], 0);
    bool written = tensor == TENSOR_C && t->session->o.c_equal_d;    /* by the timed launches */
    if (t->n_copies > 0 && on_gpu(t) && !t->refreshed && !written) { /* copy from the first timing set */
        DeviceMem to = {.address = s->buffer[tensor].address + s->pad, .bytes = t->bytes[tensor]};
        return api->copy(t->device, &to, &t->copies[0].buffer[tensor], t->bytes[tensor]);
    }
    return upload_tensor(t, s, tensor);
}

/* On a GPU all copies together exceed twice the last cache, so that no launch finds its operands there. */
static int copies_wanted(const Tensors *t)
{
    const ClientOptions *o = &t->session->o;
    uint64_t all = 1, cover = (uint64_t)o->flush_bytes;
    int64_t n = o->flush_count, most = on_gpu(t) ? GPU_COPIES_MAX : COPIES_MAX;
    for (int i = 0; i < TENSOR_COUNT; i++) all += shares(t, i) ? 0 : t->bytes[i];
    if (on_gpu(t) && cover < 2 * t->session->props.l2_bytes) cover = 2 * t->session->props.l2_bytes;
    if (cover > 0) {
        int64_t by_bytes = (int64_t)((cover + all - 1) / all);
        if (by_bytes > n) n = by_bytes;
    }
    return n < 1 ? 1 : n > most ? (int)most : (int)n;
}

/* ---- arrays of pointers ---- */

static uint64_t pointers_bytes(const Tensors *t)
{
    return t->problem->shape.strided_batched ? 0 : TENSOR_COUNT * 8 * (uint64_t)t->problem->shape.batch;
}

/* Addresses of the matrices of s, without the operand's offset, which kernels take as an argument. */
static void pointers_fill(const Tensors *t, const TensorSet *s, uint64_t *out)
{
    const int64_t batch = t->problem->shape.batch;
    for (int i = 0; i < TENSOR_COUNT; i++) {
        const Tensor *x = &t->problem->tensor[i];
        for (int64_t b = 0; b < batch; b++)
            *out++ = set_address(s, i) + (uint64_t)(b * x->stride[2] * type_bytes(x->type));
    }
}

static Err pointers_upload(Tensors *t, const TensorSet *sets, int n_sets, const DeviceMem *to)
{
    const uint64_t bytes = pointers_bytes(t);
    uint64_t *v = malloc(bytes * (uint64_t)n_sets);
    if (!v)
        FAIL(ERR_FAILED, "out of memory for %llu bytes of pointers",
             (unsigned long long)(bytes * (uint64_t)n_sets));
    for (int i = 0; i < n_sets; i++) pointers_fill(t, &sets[i], v + (uint64_t)i * (bytes / 8));
    Err e = t->device->api->copy_to(t->device, to, 0, v, bytes * (uint64_t)n_sets);
    free(v);
    return e;
}

/* Arrays of pointers of all copies of a GPU, in one allocation. */
static Err pool_pointers(Tensors *t)
{
    const uint64_t bytes = pointers_bytes(t);
    if (!bytes) return 0;
    TRY(t->device->api->alloc(t->device, bytes * (uint64_t)t->n_copies, DEVICE_GUARD_NONE,
                              &t->pool_pointers));
    for (int i = 0; i < t->n_copies; i++)
        t->copies[i].pointers =
            (DeviceMem){.address = t->pool_pointers.address + (uint64_t)i * bytes, .bytes = bytes};
    return pointers_upload(t, t->copies, t->n_copies, &t->pool_pointers);
}

static Err set_pointers(Tensors *t, TensorSet *s)
{
    if (!pointers_bytes(t)) return 0;
    TRY(t->device->api->alloc(t->device, pointers_bytes(t), s->guard, &s->pointers));
    return pointers_upload(t, s, 1, &s->pointers);
}

uint64_t set_operand(const TensorSet *s, const Problem *p, int tensor)
{
    if (p->shape.strided_batched) return set_address(s, tensor);
    return s->pointers.address + (uint64_t)tensor * 8 * (uint64_t)p->shape.batch;
}

/* One allocation for all copies: the first is filled from the host, the others by doubling on the device. */
static Err make_pool(Tensors *t, int wanted)
{
    const DeviceApi *api = t->device->api;
    uint64_t at[TENSOR_COUNT], stride = 0;
    for (int i = 0; i < TENSOR_COUNT; i++) {
        if (shares(t, i))
            at[i] = at[TENSOR_C];
        else
            at[i] = stride, stride += device_aligned(t->bytes[i]);
    }
    TRY(api->alloc(t->device, stride * (uint64_t)wanted, DEVICE_GUARD_NONE, &t->pool));
    for (int i = 0; i < TENSOR_COUNT; i++) {
        DeviceMem d = {.address = t->pool.address + at[i], .bytes = t->bytes[i]};
        if (t->pristine[i])
            TRY(data_write(t, i, &t->pool, at[i]));
        else
            TRY(api->fill(t->device, &d, is_unread_c(t, i) ? number_poison(t->problem->tensor[i].type) : 0));
    }
    for (uint64_t done = 1, n = (uint64_t)wanted; done < n;) {
        uint64_t more = done < n - done ? done : n - done;
        DeviceMem to = {.address = t->pool.address + done * stride, .bytes = more * stride};
        TRY(api->copy(t->device, &to, &t->pool, more * stride));
        done += more;
    }
    for (; t->n_copies < wanted; t->n_copies++)
        for (int i = 0; i < TENSOR_COUNT; i++)
            t->copies[t->n_copies].buffer[i] = (DeviceMem){
                .address = t->pool.address + (uint64_t)t->n_copies * stride + at[i], .bytes = t->bytes[i]};
    return pool_pointers(t);
}

static Err make_copies(Tensors *t)
{
    int wanted = copies_wanted(t);
    t->copies = calloc((size_t)wanted, sizeof *t->copies);
    if (!t->copies) FAIL(ERR_FAILED, "out of memory for %d sets of buffers", wanted);
    if (on_gpu(t)) return make_pool(t, wanted);
    for (; t->n_copies < wanted; t->n_copies++)
        TRY(set_alloc(t, DEVICE_GUARD_NONE, false, 0, &t->copies[t->n_copies]));
    return 0;
}

Err tensors_new(const Session *s, const Problem *p, Operands *o, Tensors **out)
{
    *out = NULL;
    Tensors *t = calloc(1, sizeof *t);
    if (!t) FAIL(ERR_FAILED, "out of memory for tensors (%zu bytes)", sizeof *t);
    *t = (Tensors){.session = s, .problem = p, .device = o->device, .operands = o};
    Err e = make_all(t, 0);
    if (!e) e = matrix_maps_init(&t->maps, p->shape.dims);
    if (!e && t->maps.offsets)
        e = matrix_map_used(&t->maps.map[TENSOR_D], p->shape.dims, p->tensor[TENSOR_D].n_elements,
                            &t->d_used);
    if (!e) e = make_copies(t);
    if (!e) e = fused_data_init(&t->fused, &p->fused, &p->shape, o->device);
    if (e)
        tensors_free(t);
    else
        *out = t;
    return e;
}

Err tensors_refresh(Tensors *t, uint64_t seed)
{
    validator_free(t->validator);
    t->validator = NULL;
    t->refreshed = true;
    TRY(make_all(t, seed));
    for (int i = 0; i < t->n_copies && !on_gpu(t); i++)
        for (int k = 0; k < TENSOR_D; k++) TRY(write_tensor(t, &t->copies[i], k));
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < TENSOR_D && t->checked[i].allocated; k++) TRY(write_tensor(t, &t->checked[i], k));
    return 0;
}

void tensors_free(Tensors *t)
{
    if (!t) return;
    for (int i = 0; i < t->n_copies; i++) set_free(t, &t->copies[i]);
    t->device->api->free(t->device, &t->pool);
    t->device->api->free(t->device, &t->pool_workspace);
    t->device->api->free(t->device, &t->pool_pointers);
    for (int i = 0; i < 2; i++) set_free(t, &t->checked[i]);
    free(t->copies);
    fused_data_free(&t->fused, t->device);
    for (int i = 0; i < TENSOR_COUNT; i++)
        if (!t->shared[i]) free(t->pristine[i]);
    validator_free(t->validator);
    matrix_maps_fini(&t->maps);
    free(t->d_used);
    free(t);
}

/* NULL: the tensor has no data on the host. */
static const void *pristine_data(const Tensors *t, int tensor)
{
    if (!t->pristine[tensor]) return NULL;
    return t->pristine[tensor] +
           (size_t)t->problem->offset[tensor] * (size_t)type_bytes(t->problem->tensor[tensor].type);
}

Gemm tensors_gemm(const Tensors *t)
{
    Gemm g = t->problem->gemm;
    g.a.type = t->problem->tensor[TENSOR_A].type;
    g.b.type = t->problem->tensor[TENSOR_B].type;
    g.c.type = t->problem->tensor[TENSOR_C].type;
    g.a.data = pristine_data(t, TENSOR_A);
    g.b.data = pristine_data(t, TENSOR_B);
    g.c.data = pristine_data(t, TENSOR_C);
    Matrix *const of[] = {&g.a, &g.b, &g.c};
    for (int i = 0; i < 3 && t->maps.offsets; i++) of[i]->map = &t->maps.map[i];
    g.fused = t->fused.any ? &t->fused.vectors : NULL;
    return g;
}

Matrix tensors_result(const Tensors *t, const void *data)
{
    const Tensor *x = &t->problem->tensor[TENSOR_D];
    return (Matrix){.type = x->type,
                    .data = data,
                    .row = x->stride[0],
                    .col = x->stride[1],
                    .batch = x->stride[2],
                    .map = t->maps.offsets ? &t->maps.map[TENSOR_D] : NULL};
}

uint64_t set_address(const TensorSet *s, int tensor) { return s->buffer[tensor].address + s->pad; }

Err set_alloc(Tensors *t, DeviceGuard guard, bool nan_pads, uint64_t workspace_bytes, TensorSet *out)
{
    const DeviceApi *api = t->device->api;
    *out = (TensorSet){.guard = guard, .pad = nan_pads ? PAD : 0, .allocated = true};
    Err e = 0;
    for (int i = 0; i < TENSOR_COUNT && !e; i++) {
        if (shares(t, i)) {
            out->buffer[i] = out->buffer[TENSOR_C];
            continue;
        }
        e = api->alloc(t->device, t->bytes[i] + 2 * out->pad, guard, &out->buffer[i]);
        if (!e && out->pad)
            e = api->fill(t->device, &out->buffer[i], number_poison(t->problem->tensor[i].type));
        if (!e) e = write_tensor(t, out, i);
    }
    if (!e) e = set_pointers(t, out);
    if (!e) e = set_workspace(t, out, workspace_bytes);
    if (e) set_free(t, out);
    return e;
}

void set_free(Tensors *t, TensorSet *s)
{
    if (!s->allocated) return;
    if (t->session->o.c_equal_d) s->buffer[TENSOR_D] = (DeviceMem){0};
    for (int i = 0; i < TENSOR_COUNT; i++) t->device->api->free(t->device, &s->buffer[i]);
    t->device->api->free(t->device, &s->workspace);
    t->device->api->free(t->device, &s->pointers);
    s->allocated = false;
}

Err validated_set(Tensors *t, DeviceGuard guard, bool nan_pads, uint64_t workspace_bytes, TensorSet **out)
{
    TensorSet *s = *out = &t->checked[guard == DEVICE_GUARD_FRONT];
    if (s->allocated) return set_workspace(t, s, workspace_bytes);
    return set_alloc(t, guard, nan_pads, workspace_bytes, s);
}

void set_done(Tensors *t, TensorSet *s)
{
    uint64_t all = s->workspace.bytes;
    for (int i = 0; i < TENSOR_COUNT; i++) all += t->bytes[i];
    if (all > KEPT_BYTES && !on_gpu(t)) set_free(t, s);
}

Err set_workspace(Tensors *t, TensorSet *s, uint64_t bytes)
{
    bool exact = s->guard != DEVICE_GUARD_NONE;
    if (bytes == 0 && !s->workspace.bytes) return 0;
    if (exact ? s->workspace.bytes == bytes : s->workspace.bytes >= bytes) return 0;
    t->device->api->free(t->device, &s->workspace);
    return bytes ? t->device->api->alloc(t->device, bytes, s->guard, &s->workspace) : 0;
}

Err copies_workspace(Tensors *t, uint64_t bytes)
{
    if (!on_gpu(t)) {
        for (int i = 0; i < t->n_copies; i++) TRY(set_workspace(t, &t->copies[i], bytes));
        return 0;
    }
    if (t->pool_workspace.bytes >= bytes) return 0;
    t->device->api->free(t->device, &t->pool_workspace);
    TRY(t->device->api->alloc(t->device, bytes, DEVICE_GUARD_NONE, &t->pool_workspace));
    for (int i = 0; i < t->n_copies; i++) t->copies[i].workspace = t->pool_workspace;
    return 0;
}

Err set_poison(Tensors *t, TensorSet *s)
{
    const DeviceApi *api = t->device->api;
    if (shares(t, TENSOR_D))
        TRY(write_tensor(t, s, TENSOR_C));
    else
        TRY(api->fill(t->device, &s->buffer[TENSOR_D], number_poison(t->problem->tensor[TENSOR_D].type)));
    return s->workspace.bytes ? api->fill(t->device, &s->workspace, 0xFF) : 0;
}

Err set_restore(Tensors *t, TensorSet *s)
{
    return write_tensor(t, s, shares(t, TENSOR_D) ? TENSOR_C : TENSOR_D);
}

/* Reads a whole buffer with its pads; *out points into device memory where the host can access it. */
static Err read_buffer(Tensors *t, const DeviceMem *m, Bounce *b, const unsigned char **out)
{
    *out = m->host;
    if (*out) return 0;
    TRY(bounce_room(t->operands, b, m->bytes));
    *out = b->data;
    return t->device->api->copy_from(t->device, b->data, m, 0, m->bytes);
}

/* The first byte in from..to that differs from v; to: there is none. */
static uint64_t first_other(const unsigned char *d, uint64_t from, uint64_t to, unsigned char v)
{
    /* all are equal if each equals the next one */
    if (from < to && d[from] == v && !memcmp(d + from, d + from + 1, to - from - 1)) return to;
    while (from < to && d[from] == v) from++;
    return from;
}

/* The first changed byte in from..to, where poison is expected, or the pristine value if D is stored in C; to
 * when none changed. */
static uint64_t first_touched(const Tensors *t, const unsigned char *d, uint64_t pad, uint64_t from,
                              uint64_t to)
{
    const unsigned char poison = number_poison(t->problem->tensor[TENSOR_D].type);
    const uint64_t end = pad + t->bytes[TENSOR_D];
    if (!shares(t, TENSOR_D)) return first_other(d, from, to, poison);
    for (uint64_t i = from; i < to; i++) {
        const bool inside = i >= pad && i < end;
        if (d[i] != (inside ? t->pristine[TENSOR_C][i - pad] : poison)) return i;
    }
    return to;
}

/* The first touched byte of the gaps of a D that is no matrix and starts at `start`; end: there is none. */
static uint64_t first_touched_gap(const Tensors *t, const TensorSet *s, const unsigned char *d,
                                  uint64_t start, uint64_t end)
{
    const uint64_t bytes = (uint64_t)type_bytes(t->problem->tensor[TENSOR_D].type);
    const int64_t n = t->d_used ? t->problem->tensor[TENSOR_D].n_elements : 0;
    for (int64_t i = 0; i < n; i++) {
        if (t->d_used[i / 64] == ~UINT64_C(0)) i |= 63;
        if (t->d_used[i / 64] >> i % 64 & 1) continue;
        const uint64_t at = start + (uint64_t)i * bytes, bad = first_touched(t, d, s->pad, at, at + bytes);
        if (bad != at + bytes) return bad;
    }
    return end;
}

/* The same checks for a D that is no matrix. */
static bool surroundings_of_map(const Tensors *t, const TensorSet *s, const unsigned char *d, char *text,
                                size_t size)
{
    const Tensor *x = &t->problem->tensor[TENSOR_D];
    const uint64_t bytes = (uint64_t)type_bytes(x->type);
    const uint64_t start = s->pad + (uint64_t)t->problem->offset[TENSOR_D] * bytes;
    const uint64_t behind = start + (uint64_t)x->n_elements * bytes, end = s->buffer[TENSOR_D].bytes;
    uint64_t bad = first_touched(t, d, s->pad, 0, start);
    bool good = bad == start;
    if (good) bad = first_touched_gap(t, s, d, start, end), good = bad == end;
    if (good) bad = first_touched(t, d, s->pad, behind, end), good = bad == end;
    if (!good)
        snprintf(text, size, "wrote outside D: byte %lld from its start", (long long)bad - (long long)s->pad);
    return good;
}

/* Checks the bytes outside the elements of D: the front, the gaps between columns and matrices, the back. */
static bool surroundings_good(const Tensors *t, const TensorSet *s, const unsigned char *d, char *text,
                              size_t size)
{
    const Tensor *x = &t->problem->tensor[TENSOR_D];
    if (t->maps.offsets) return surroundings_of_map(t, s, d, text, size);
    int64_t bytes = type_bytes(x->type), offset = t->problem->offset[TENSOR_D];
    const int inner = tensor_inner(x), outer = 3 - inner;
    uint64_t at = 0;
    for (int64_t o = 0; o < x->size[outer]; o++)
        for (int64_t i = 0; i < x->size[inner]; i++) {
            int64_t line = o * x->stride[outer] + i * x->stride[inner];
            uint64_t start = s->pad + (uint64_t)((offset + line) * bytes);
            uint64_t bad = at < start ? first_touched(t, d, s->pad, at, start) : start;
            if (bad < start) {
                snprintf(text, size,
                         "wrote outside D: byte %lld from its start (before column %lld of matrix %lld)",
                         (long long)bad - (long long)s->pad, (long long)(inner == 1 ? i : o),
                         (long long)(inner == 1 ? o : i));
                return false;
            }
            at = start + (uint64_t)(x->size[0] * bytes);
        }
    uint64_t end = s->buffer[TENSOR_D].bytes, bad = first_touched(t, d, s->pad, at, end);
    if (bad < end)
        snprintf(text, size, "wrote outside D: %llu bytes after its end", (unsigned long long)(bad - at));
    return bad == end;
}

/* Another kernel may have changed the data that sets are filled from. */
static Err input_restore(Tensors *t, TensorSet *s, int tensor)
{
    bool changed = false;
    if (t->shared[tensor]) TRY(operand_restore(t->operands, t->shared[tensor], t->bytes[tensor], &changed));
    t->was_changed |= changed;
    return upload_tensor(t, s, tensor);
}

Err set_inputs_check(Tensors *t, TensorSet *s, char *text, size_t size, bool *good)
{
    *good = true;
    for (int i = 0; i < TENSOR_D && *good; i++) {
        if (i == TENSOR_C && (t->session->o.c_equal_d || is_unread_c(t, i))) continue;
        const unsigned char *data;
        TRY(read_buffer(t, &s->buffer[i], &t->operands->in_out, &data));
        if (bytes_hash(data + s->pad, t->bytes[i], t->session->n_threads) == t->hash[i]) continue;
        snprintf(text, size, "wrote into its input %c", tensor_letter[i]);
        *good = false;
        TRY(input_restore(t, s, i));
    }
    return 0;
}

/* Whether D is large and its columns are contiguous. */
bool set_quick_pays(const Tensors *t)
{
    const Tensor *d = &t->problem->tensor[TENSOR_D];
    bool packed = d->n_elements == d->size[0] * d->size[1] * d->size[2] && tensor_inner(d) == 1;
    return on_gpu(t) && packed && t->bytes[TENSOR_D] > QUICK_BYTES && validator_has_ranges(t->validator);
}

static Err copy_range(Tensors *t, TensorSet *s, uint64_t from, uint64_t to)
{
    return t->device->api->copy_from(t->device, t->operands->d_out.data + from, &s->buffer[TENSOR_D], from,
                                     to - from);
}

/* Copies the columns that the product check needs, and the bytes before and after D. */
static Err read_some(Tensors *t, TensorSet *s)
{
    const Tensor *x = &t->problem->tensor[TENSOR_D];
    uint64_t size = (uint64_t)type_bytes(x->type),
             start = s->pad + (uint64_t)t->problem->offset[TENSOR_D] * size;
    uint64_t all = s->buffer[TENSOR_D].bytes;
    TRY(bounce_room(t->operands, &t->operands->d_out, all));
    TRY(copy_range(t, s, 0, start));
    TRY(copy_range(t, s, start + (uint64_t)x->n_elements * size, all));
    int64_t j0, j1, b;
    for (int64_t i = 0; validator_range(t->validator, i, &j0, &j1, &b); i++) {
        uint64_t at = (uint64_t)(j0 * x->stride[1] + b * x->stride[2]) * size;
        TRY(copy_range(t, s, start + at, start + at + (uint64_t)((j1 - j0) * x->stride[1]) * size));
    }
    return 0;
}

Err set_check(Tensors *t, TensorSet *s, CheckDepth depth, char *text, size_t size, bool *good,
              const unsigned char **d_host)
{
    const unsigned char *d;
    *good = true;
    const bool few = t->bytes[TENSOR_A] + t->bytes[TENSOR_B] + t->bytes[TENSOR_C] <= QUICK_BYTES;
    if (depth == CHECK_FULL || !on_gpu(t) || (few && t->session->o.check_winner))
        TRY(set_inputs_check(t, s, text, size, good));
    if (depth == CHECK_QUICK && set_quick_pays(t)) {
        TRY(read_some(t, s));
        d = t->operands->d_out.data;
    } else {
        TRY(read_buffer(t, &s->buffer[TENSOR_D], &t->operands->d_out, &d));
    }
    if (*good) *good = surroundings_good(t, s, d, text, size);
    *d_host = d + s->pad;
    return 0;
}

void matrix_print(const char *name, const Matrix *m, int64_t rows, int64_t cols, int64_t batches)
{
    for (int64_t b = 0; b < batches; b++) {
        fprintf(stderr, "%s, matrix %lld: %lld x %lld\n", name, (long long)b, (long long)rows,
                (long long)cols);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++) {
                Value v = matrix_at(m, i, j, b);
                if (type_info(m->type)->complex)
                    fprintf(stderr, "(%g,%g)", v.re, v.im);
                else
                    fprintf(stderr, "%g", v.re);
                fputc(j + 1 < cols ? ' ' : '\n', stderr);
            }
    }
}

Err tensor_dump(const char *name, const void *data, uint64_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "tensor_%s.bin", name);
    return file_write(path, (Str){data, bytes});
}
