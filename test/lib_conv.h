/* Random convolutions and their tensors, for tests of references and peers. */
#ifndef TEST_LIB_CONV_H
#define TEST_LIB_CONV_H

#include "test/support.h"

#include "client/worker/conv_reference.h"
#include "client/worker/init.h"
#include "client/worker/number.h"

static inline int64_t conv_pick(unsigned *seed, int64_t from, int64_t to)
{
    return from + (int64_t)rand_r(seed) % (to - from + 1);
}

/* op, n_spatial, types: given; the rest is random: groups, depth-wise, strides, dilations, pads that differ,
 * formats. */
static inline void conv_random(unsigned *seed, int32_t op, int n_spatial, DataType t, ConvDesc *c)
{
    static const char *const images[] = {"NCHW", "NHWC", "CNHW", "CHWN", "NCDHW", "NDHWC", "CNDHW", "CDHWN"};
    conv_desc_init(c);
    c->op = op, c->n_spatial = n_spatial;
    conv_desc_types(c, t);
    for (int i = 0; i < CONV_TENSORS; i++)
        assert_ok(conv_desc_format(c, (ConvTensor)i,
                                   str_from(images[conv_pick(seed, 0, 3) + (n_spatial == 3 ? 4 : 0)])));
    ConvSize *s = &c->size;
    s->groups = conv_pick(seed, 1, 4), s->n = conv_pick(seed, 1, 3);
    const bool depth_wise = conv_pick(seed, 0, 3) == 0;
    s->c = s->groups * (depth_wise ? 1 : conv_pick(seed, 1, 5));
    s->k = s->groups * conv_pick(seed, 1, depth_wise ? 2 : 5);
    for (int d = 0; d < n_spatial; d++) {
        s->filter[d] = conv_pick(seed, 1, 4), s->stride[d] = conv_pick(seed, 1, 3);
        s->dilation[d] = conv_pick(seed, 1, 3);
        s->pad[d] = conv_pick(seed, 0, 3), s->pad_end[d] = conv_pick(seed, 0, 3);
        s->in[d] = conv_pick(seed, 1, 9);
        while (conv_out(s, d) < 1) s->in[d]++;
    }
    assert_ok(conv_desc_check(c));
}

typedef struct {
    void *at[CONV_TENSORS];
    int64_t n[CONV_TENSORS];
} ConvMemory;

/* Operands with numbers of that kind; the result is poisoned. */
static inline void conv_memory(const ConvDesc *c, InitType how, uint64_t seed, ConvMemory *m)
{
    for (int t = 0; t < CONV_TENSORS; t++) {
        Tensor flat = {.type = (DataType)c->type[t], .size = {1, 1, 1}, .stride = {1, 1, 1}};
        const size_t bytes = (size_t)type_bytes(flat.type);
        m->n[t] = flat.size[0] = conv_elements(c, (ConvTensor)t);
        assert_ok(tensor_finish(&flat));
        m->at[t] = malloc((size_t)m->n[t] * bytes);
        assert_non_null(m->at[t]);
        if (t == (int)conv_result(c))
            memset(m->at[t], number_poison(flat.type), (size_t)m->n[t] * bytes);
        else
            init_tensor(&flat, how, seed + (uint64_t)t, 1, m->at[t]);
    }
}

static inline void conv_memory_free(ConvMemory *m)
{
    for (int t = 0; t < CONV_TENSORS; t++) free(m->at[t]);
}

static inline ConvData conv_data_of(const ConvDesc *c, const ConvMemory *m)
{
    return (ConvData){.c = c, .data = {m->at[0], m->at[1], m->at[2]}, .n_threads = 2};
}

#endif
