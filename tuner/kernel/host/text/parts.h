
/* Several work-groups split the K of a tile into parts. Each part writes its sums to the workspace. The part that ends
 * last adds the sums of all parts, in the order of the parts, and writes D. No part waits for another one. sums: slots
 * of a tile each. flags: @FLAGS for each slot; the first one of part 0's slot counts the parts that have ended. */
typedef struct {
    @TC *sums;
    uint32_t *flags, part, parts;
    uint64_t slot, next_slot; /* slot of part 0; part i > 0 has slot next_slot + @SLOT_STEP * i */
} @Parts;
static inline @TC *@slot_of(const @Parts *q, uint32_t part)
{
    return q->sums + (part ? q->next_slot + (uint64_t)@SLOT_STEP * part : q->slot) * (@MT0 * @MT1);
}
static void @add_parts(const @Args *g, int64_t x, int64_t y, int64_t z, const @Parts *q)
{
    const int64_t m1 = x * @MT0, n1 = y * @MT1;
    const int64_t mt = g->m - m1 < @MT0 ? g->m - m1 : @MT0, nt = g->n - n1 < @MT1 ? g->n - n1 : @MT1;
    for (int64_t j = 0; j < nt; j++) {
        @TD *d = (@TD *)g->d + z * g->batchd + (n1 + j) * g->ldd + m1;
        const @TD *c = (const @TD *)g->c + z * g->batchc + (n1 + j) * g->ldc + m1;
        for (int64_t i = 0; i < mt; i++) {
            @TC s = @slot_of(q, 0)[j * @MT0 + i];
            for (uint32_t part = 1; part < q->parts; part++) s += @slot_of(q, part)[j * @MT0 + i];
            d[i] = @to(@whole_result(g, s, c + i, m1 + i, n1 + j, z));
        }
    }
}
/* Computes one part of a tile: chunks first, first + step, ... of K, `count` of them. */
static void @group_part(const @Args *g, int64_t x, int64_t y, int64_t z, uint32_t first, uint32_t step, uint32_t count,
                        const @Parts *q, @TC *la, @TC *lb, @TC *local)
{
    if (q->parts == 1) {
        @group(g, x, y, z, first, step, count, la, lb, local);
        return;
    }
    @PartArgs all = *(const @PartArgs *)g;
    @Args *own = @args_of_part(&all);
    own->ldd = @MT0, own->batchd = 0, own->ab[0] = 1, own->ab[1] = 0;
    own->d = (uint64_t)(uintptr_t)@slot_of(q, q->part) - (uint64_t)(y * @MT1 * @MT0 + x * @MT0) * sizeof(@TC);
    @group(own, x, y, z, first, step, count, la, lb, local);
    if (__atomic_add_fetch(q->flags + q->slot * @FLAGS, 1, __ATOMIC_ACQ_REL) == q->parts) @add_parts(g, x, y, z, q);
}
