/* What the copy engine takes. See copy_engine.h. */
#include "problem/copy_engine.h"

static DataType type_of(const Contraction *p, unsigned t) { return (DataType)(p->types >> (8 * t) & 0xff); }

static bool stride_fits(int64_t elements, DataType type)
{
    enum { STEP = 16 };
    return elements > 0 && (uint64_t)elements * (uint64_t)type_bytes(type) % STEP == 0;
}

bool engine_takes(const Contraction *p, unsigned t)
{
    const int64_t *const stride[] = {p->a, p->b, p->c, p->d};
    DataType type = type_of(p, t);
    if (p->unaligned & 1u << t) return false;
    if (stride[t][0] != 1 || !stride_fits(stride[t][1], type)) return false;
    return p->batch <= 1 || stride_fits(stride[t][2], type);
}

bool engine_map_fits(const Contraction *p, unsigned t, bool is_copied, bool sums)
{
    enum { RUN = 16 }; /* a store writes 16 bytes at once, even across the edge of D */
    const DataType type = t >= 2 && sums ? (DataType)p->compute_type : type_of(p, t);
    if (t < 2) return p->k == 0 || is_copied || engine_takes(p, t);
    return p->m * type_bytes(type) % RUN == 0 && (sums || engine_takes(p, t));
}
