/* Buffers of a problem. See tensors.h. */
#include "client/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/hash.h"

enum { PAD = 65536, COPIES_MAX = 64, KEPT_BYTES = 256 << 20 };

static const char tensor_letter[] = "ABCD";

static unsigned char poison_byte(DataType t) { return type_info(t)->integral ? 0xA5 : 0xFF; }

static bool shares(const Tensors *t, int tensor) { return tensor == TENSOR_D && t->session->o.c_equal_d; }

static Err make_pristine(Tensors *t, int tensor, InitType how)
{
    const Tensor *x = &t->problem->tensor[tensor];
    uint64_t size = (uint64_t)type_bytes(x->type), offset = (uint64_t)t->problem->offset[tensor];
    t->bytes[tensor] = (offset + (uint64_t)x->n_elements) * size;
    t->pristine[tensor] = malloc(t->bytes[tensor] + 1);
    if (!t->pristine[tensor])
        FAIL(ERR_FAILED, "out of memory for tensor %c (%llu bytes)", tensor_letter[tensor],
             (unsigned long long)t->bytes[tensor]);
    memset(t->pristine[tensor], poison_byte(x->type), offset * size);
    init_tensor(x, how, (uint64_t)tensor + 1, t->session->n_threads, t->pristine[tensor] + offset * size);
    t->hash[tensor] = hash64((Str){(const char *)t->pristine[tensor], t->bytes[tensor]});
    return 0;
}

static int copies_wanted(const Tensors *t)
{
    const Options *o = &t->session->o;
    uint64_t all = 1;
    for (int i = 0; i < TENSOR_COUNT; i++) all += shares(t, i) ? 0 : t->bytes[i];
    int64_t n = o->flush_count;
    if (o->flush_bytes > 0) {
        int64_t by_bytes = (int64_t)(((uint64_t)o->flush_bytes + all - 1) / all);
        if (by_bytes > n) n = by_bytes;
    }
    return n < 1 ? 1 : n > COPIES_MAX ? COPIES_MAX : (int)n;
}

Err tensors_new(const Session *s, const Problem *p, Device *d, Tensors **out)
{
    *out = NULL;
    Tensors *t = calloc(1, sizeof *t);
    if (!t) FAIL(ERR_FAILED, "out of memory for tensors (%zu bytes)", sizeof *t);
    *t = (Tensors){.session = s, .problem = p, .device = d};
    const InitType how[TENSOR_COUNT] = {s->o.init_a, s->o.init_b, s->o.init_c, s->o.init_d};
    Err e = 0;
    for (int i = 0; i < TENSOR_COUNT && !e; i++) e = make_pristine(t, i, shares(t, i) ? s->o.init_c : how[i]);
    if (!e && shares(t, TENSOR_D)) memcpy(t->pristine[TENSOR_D], t->pristine[TENSOR_C], t->bytes[TENSOR_D]);
    int wanted = e ? 0 : copies_wanted(t);
    t->copies = calloc((size_t)wanted + 1, sizeof *t->copies);
    if (!e && !t->copies) e = err_set(ERR_FAILED, "out of memory for %d sets of buffers", wanted);
    while (!e && t->n_copies < wanted) {
        e = set_alloc(t, DEVICE_GUARD_NONE, false, 0, &t->copies[t->n_copies]);
        if (!e) t->n_copies++;
    }
    if (e)
        tensors_free(t);
    else
        *out = t;
    return e;
}

void tensors_free(Tensors *t)
{
    if (!t) return;
    for (int i = 0; i < t->n_copies; i++) set_free(t, &t->copies[i]);
    for (int i = 0; i < 2; i++) set_free(t, &t->checked[i]);
    free(t->copies);
    for (int i = 0; i < TENSOR_COUNT; i++) free(t->pristine[i]);
    free(t->d_out);
    validator_free(t->validator);
    free(t);
}

static const void *pristine_data(const Tensors *t, int tensor)
{
    return t->pristine[tensor] +
           (size_t)t->problem->offset[tensor] * (size_t)type_bytes(t->problem->tensor[tensor].type);
}

Err tensors_validator(Tensors *t)
{
    if (t->validator) return 0;
    const Options *o = &t->session->o;
    Gemm g = t->problem->gemm;
    g.a.type = t->problem->tensor[TENSOR_A].type;
    g.b.type = t->problem->tensor[TENSOR_B].type;
    g.c.type = t->problem->tensor[TENSOR_C].type;
    g.a.data = pristine_data(t, TENSOR_A);
    g.b.data = pristine_data(t, TENSOR_B);
    g.c.data = pristine_data(t, TENSOR_C);
    ValidateOptions v = {.n_validate = o->n_validate,
                         .n_allocated = t->problem->tensor[TENSOR_D].n_elements,
                         .n_threads = t->session->n_threads,
                         .xf32 = o->f32_xdl == TYPE_X,
                         .print_max = o->print_max < 0 ? 0 : o->print_max,
                         .print_valids = o->print_valids};
    return validator_new(&g, &v, &t->validator);
}

uint64_t set_address(const TensorSet *s, int tensor) { return s->buffer[tensor].address + s->pad; }

static Err write_tensor(Tensors *t, TensorSet *s, int tensor)
{
    return t->device->api->copy_to(t->device, &s->buffer[tensor], s->pad, t->pristine[tensor],
                                   t->bytes[tensor]);
}

Err set_alloc(Tensors *t, DeviceGuard guard, bool nan_pads, uint64_t workspace_bytes, TensorSet *out)
{
    const DeviceApi *api = t->device->api;
    *out = (TensorSet){.guard = guard, .pad = nan_pads ? PAD : 0};
    Err e = 0;
    for (int i = 0; i < TENSOR_COUNT && !e; i++) {
        if (shares(t, i)) {
            out->buffer[i] = out->buffer[TENSOR_C];
            continue;
        }
        e = api->alloc(t->device, t->bytes[i] + 2 * out->pad, guard, &out->buffer[i]);
        if (!e && out->pad)
            e = api->fill(t->device, &out->buffer[i], poison_byte(t->problem->tensor[i].type));
        if (!e) e = write_tensor(t, out, i);
    }
    if (!e) e = set_workspace(t, out, workspace_bytes);
    if (e) set_free(t, out);
    return e;
}

void set_free(Tensors *t, TensorSet *s)
{
    if (t->session->o.c_equal_d) s->buffer[TENSOR_D] = (DeviceMem){0};
    for (int i = 0; i < TENSOR_COUNT; i++) t->device->api->free(t->device, &s->buffer[i]);
    t->device->api->free(t->device, &s->workspace);
}

static bool set_there(const TensorSet *s) { return s->buffer[TENSOR_D].handle != NULL; }

Err validated_set(Tensors *t, DeviceGuard guard, bool nan_pads, uint64_t workspace_bytes, TensorSet **out)
{
    TensorSet *s = *out = &t->checked[guard == DEVICE_GUARD_FRONT];
    if (set_there(s)) return set_workspace(t, s, workspace_bytes);
    return set_alloc(t, guard, nan_pads, workspace_bytes, s);
}

void set_done(Tensors *t, TensorSet *s)
{
    uint64_t all = s->workspace.bytes;
    for (int i = 0; i < TENSOR_COUNT; i++) all += t->bytes[i];
    if (all > KEPT_BYTES) set_free(t, s);
}

Err set_workspace(Tensors *t, TensorSet *s, uint64_t bytes)
{
    bool exact = s->guard != DEVICE_GUARD_NONE;
    if (bytes == 0 && !s->workspace.handle) return 0;
    if (exact ? s->workspace.bytes == bytes : s->workspace.bytes >= bytes) return 0;
    t->device->api->free(t->device, &s->workspace);
    return bytes ? t->device->api->alloc(t->device, bytes, s->guard, &s->workspace) : 0;
}

Err set_poison(Tensors *t, TensorSet *s)
{
    const DeviceApi *api = t->device->api;
    if (shares(t, TENSOR_D))
        TRY(write_tensor(t, s, TENSOR_C));
    else
        TRY(api->fill(t->device, &s->buffer[TENSOR_D], poison_byte(t->problem->tensor[TENSOR_D].type)));
    return s->workspace.handle ? api->fill(t->device, &s->workspace, 0xFF) : 0;
}

Err set_restore(Tensors *t, TensorSet *s)
{
    return write_tensor(t, s, shares(t, TENSOR_D) ? TENSOR_C : TENSOR_D);
}

/* Reads a whole buffer (with pads); points into device memory where the host sees it. */
static Err read_buffer(Tensors *t, const DeviceMem *m, unsigned char **scratch, const unsigned char **out)
{
    *out = m->host;
    if (*out) return 0;
    free(*scratch);
    *scratch = malloc(m->bytes + 1);
    if (!*scratch) FAIL(ERR_FAILED, "out of memory for %llu bytes of a result", (unsigned long long)m->bytes);
    *out = *scratch;
    return t->device->api->copy_from(t->device, *scratch, m, 0, m->bytes);
}

/* First byte of from..to that is not as it should be: poison, or in C's storage the pristine value. to when
 * all are. */
static uint64_t first_touched(const Tensors *t, const unsigned char *d, uint64_t pad, uint64_t from,
                              uint64_t to)
{
    unsigned char poison = poison_byte(t->problem->tensor[TENSOR_D].type);
    bool shared = shares(t, TENSOR_D);
    for (uint64_t i = from; i < to; i++) {
        bool inside = i >= pad && i < pad + t->bytes[TENSOR_D];
        unsigned char want = shared && inside ? t->pristine[TENSOR_C][i - pad] : poison;
        if (d[i] != want) return i;
    }
    return to;
}

/* What no element of D covers: the front, the gaps between columns and matrices, the back. */
static bool surroundings_good(const Tensors *t, const TensorSet *s, const unsigned char *d, char *text,
                              size_t size)
{
    const Tensor *x = &t->problem->tensor[TENSOR_D];
    int64_t bytes = type_bytes(x->type), offset = t->problem->offset[TENSOR_D];
    uint64_t at = 0;
    for (int64_t b = 0; b < x->size[2]; b++)
        for (int64_t j = 0; j < x->size[1]; j++) {
            uint64_t start = s->pad + (uint64_t)((offset + j * x->stride[1] + b * x->stride[2]) * bytes);
            uint64_t bad = first_touched(t, d, s->pad, at, start);
            if (bad < start) {
                snprintf(text, size,
                         "wrote outside D: byte %lld from its start (before column %lld of matrix %lld)",
                         (long long)bad - (long long)s->pad, (long long)j, (long long)b);
                return false;
            }
            at = start + (uint64_t)(x->size[0] * bytes);
        }
    uint64_t end = s->buffer[TENSOR_D].bytes, bad = first_touched(t, d, s->pad, at, end);
    if (bad < end)
        snprintf(text, size, "wrote outside D: %llu bytes behind its end", (unsigned long long)(bad - at));
    return bad == end;
}

Err set_check(Tensors *t, TensorSet *s, char *text, size_t size, bool *good, const unsigned char **d_host)
{
    unsigned char *scratch = NULL;
    *good = true;
    for (int i = 0; i < TENSOR_D && *good; i++) {
        if (i == TENSOR_C && t->session->o.c_equal_d) continue;
        const unsigned char *data;
        Err e = read_buffer(t, &s->buffer[i], &scratch, &data);
        if (e) {
            free(scratch);
            return e;
        }
        if (hash64((Str){(const char *)data + s->pad, t->bytes[i]}) == t->hash[i]) continue;
        snprintf(text, size, "wrote into its input %c", tensor_letter[i]);
        *good = false;
        TRY(write_tensor(t, s, i));
    }
    free(scratch);
    const unsigned char *d;
    TRY(read_buffer(t, &s->buffer[TENSOR_D], &t->d_out, &d));
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
