/* Sums of a tile's parts, which are added up in the launch that makes them: stream-K, and GlobalSplitU with
 * GlobalSplitUAlgorithm MultipleBufferSingleKernel. The protocol is text/parts.h. */
#include "kernel/gpu/gpu.h"

/* Registers of a thread that are loaded at once, beside the accumulators. */
static int batch_words(const GpuPlan *p)
{
    const int words = p->n_acc * gpu_type_bytes(&p->acc) / 4;
    return words > 200 ? 8 : words > 100 ? 16 : 32;
}

void gpu_parts(const GpuPlan *p, Stmts *s)
{
    const int bytes = gpu_type_bytes(&p->acc), n = p->ring.used ? p->n_acc : gpu_share(p), wide = 16 / bytes;
    const int run = n % wide ? 1 : wide, batch = batch_words(p) * 4 / bytes / run * run;
    const int threads = n < p->n_acc || p->ring.used ? p->n_threads : p->n_threads / p->lsu;
    stmt_constant(s, "int", "@PARTS_N", n);
    stmt_constant(s, "int", "@PARTS_RUN", run);
    stmt_constant(s, "int", "@PARTS_BATCH", batch > run ? batch : run);
    stmt_constant(s, "unsigned", "@PARTS_THREADS", threads);
    stmt_constant(s, "unsigned", "@PARTS_SLOT", n / run * threads);
    stmt_constant(s, "unsigned", "@PARTS_GROUP", p->n_threads);
    stmt_file(s, p->dialect->parts);
    stmt_file(s, "gpu/parts.h");
}

const Value *gpu_joined(const GpuPlan *p, Stmts *s, const Value *lds)
{
    const bool of_last = p->walk.prefetches; /* of the tile before this turn's */
    const Value *first = value_reg(s, of_last ? "last_slot" : "first_slot"),
                *parts = value_reg(s, of_last ? "last_parts" : "parts"),
                *part = value_reg(s, of_last ? "last_part" : "part");
    const Value *slot = value_cast(s, "unsigned long long", first);
    const int64_t sums_of_slot = (int64_t)p->mt[0] * p->mt[1] * (p->ring.used ? p->lsu : 1);
    const Value *at = value_op(s, VALUE_MUL, slot, value_int(s, sums_of_slot));
    const Value *sums = value_op(s, VALUE_ADD, value_reg(s, "sums"), at);
    const Value *flags = value_op(s, VALUE_ADD, value_reg(s, "flags"), first);
    const Value *last =
        value_call(s, "@join", value_reg(s, "acc"), sums, flags, parts, part, lds, value_reg(s, "tid"));
    return value_op(s, VALUE_EITHER, value_op(s, VALUE_EQ, parts, value_int(s, 1)), last);
}
