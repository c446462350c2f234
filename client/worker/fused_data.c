/* Data of fused operations. See fused_data.h. */
#include "client/worker/fused_data.h"

#include <stdlib.h>

#include "base/random.h"
#include "client/worker/number.h"

static int64_t length_of(const Fused *op, FusedOperand o, int64_t m, int64_t n)
{
    const Along along = fused_along(op, o);
    return along == ALONG_M ? m : along == ALONG_N ? n : 1;
}

/* Small numbers that all types hold: factors are 1/2, 1, 3/2 or 2, a bias has halves from -2 to 2. */
static double value_of(FusedOperand o, int64_t i)
{
    const uint64_t z = random_at((uint64_t)o * 0xd1342543de82ef95u, (uint64_t)i);
    return o == FUSED_BIAS ? (double)(z % 9) / 2 - 2 : (double)(z % 4 + 1) / 2;
}

/* Makes the values of all operands; bytes: those of the device's copy, by the types. */
static Err make(FusedData *f, const Fused *op, int64_t m, int64_t n, int64_t batch, unsigned char **bytes,
                uint64_t *n_bytes, DataType compute)
{
    int64_t length[FUSED_OPERANDS] = {0}, all = 0;
    *n_bytes = 0;
    for (int o = 0; o < FUSED_OPERANDS; o++) {
        if (!fused_has(op, (FusedOperand)o)) continue;
        length[o] = length_of(op, (FusedOperand)o, m, n) * (o == FUSED_BIAS ? batch : 1);
        const DataType t = o == FUSED_BIAS ? op->bias_type : compute;
        f->at[o] = *n_bytes;
        *n_bytes += device_aligned((uint64_t)length[o] * (uint64_t)type_bytes(t));
        all += length[o];
    }
    f->data = malloc((size_t)all * sizeof *f->data + 1);
    *bytes = calloc(1, *n_bytes + 1);
    if (!f->data || !*bytes)
        FAIL(ERR_FAILED, "out of memory for %lld numbers of fused operations", (long long)all);
    double *next = f->data;
    for (int o = 0; o < FUSED_OPERANDS; o++) {
        const DataType t = o == FUSED_BIAS ? op->bias_type : compute;
        f->vectors.value[o] = next;
        for (int64_t i = 0; i < length[o]; i++) {
            next[i] = value_of((FusedOperand)o, i);
            number_store(t, *bytes + f->at[o], i, next[i], 0);
        }
        next += length[o];
    }
    return ERR_OK;
}

/* Does each matrix of the batch have operands of its own? */
static bool batch_is_of_both(const IndexSizes *x)
{
    for (int32_t i = 0; x && i < x->indices.group[INDICES_BATCH].n; i++)
        for (int t = 0; t < 2; t++) {
            const int32_t index = x->indices.group[INDICES_BATCH].v[i];
            if (x->stride[t][index_list_find(&x->indices.tensor[t], index)] == 0) return false;
        }
    return true;
}

Err fused_data_init(FusedData *f, const Fused *op, const Contraction *p, Device *d)
{
    const bool exchanged = p->dims && indices_rows_of_b(&p->dims->indices);
    const int64_t m = exchanged ? p->n : p->m, n = exchanged ? p->m : p->n;
    const int64_t batch = batch_is_of_both(p->dims) ? p->batch : 1;
    const DataType compute = (DataType)p->compute_type;
    unsigned char *bytes = NULL;
    uint64_t n_bytes;
    *f = (FusedData){.any = fused_any(op)};
    if (!f->any) return ERR_OK;
    f->vectors = (FusedVectors){.op = *op, .exchanged = exchanged, .number = {0.25, 1.5}};
    if (op->bias && batch == p->batch) f->vectors.bias_batch = length_of(op, FUSED_BIAS, m, n);
    for (int i = 0; i < 2; i++) number_store(compute, f->number, i, f->vectors.number[i], 0);
    Err e = make(f, op, m, n, batch, &bytes, &n_bytes, compute);
    if (!e && n_bytes) e = d->api->alloc(d, n_bytes, DEVICE_GUARD_NONE, &f->mem);
    if (!e && n_bytes) e = d->api->copy_to(d, &f->mem, 0, bytes, n_bytes);
    free(bytes);
    return e;
}

void fused_data_free(FusedData *f, Device *d)
{
    if (f->mem.bytes) d->api->free(d, &f->mem);
    free(f->data);
    *f = (FusedData){0};
}

void fused_data_inputs(const FusedData *f, LaunchInputs *in)
{
    if (!f->any) return;
    for (int o = 0; o < FUSED_OPERANDS; o++)
        if (fused_has(&f->vectors.op, (FusedOperand)o))
            in->fused[o] = (const void *)(uintptr_t)(f->mem.address + f->at[o]);
    in->bias_batch = f->vectors.bias_batch;
    in->activation = f->number;
}
