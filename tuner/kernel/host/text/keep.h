/* Packed blocks of an operand that stay in local memory from one work-group to the next. Behind the blocks stand records
 * of what they are: rows or columns from `side` on and elements of K from `k0` on of the matrix at `from`. No block is
 * kept from one launch to the next, because the operand may change. */
typedef struct {
    const g_TI *from;
    int64_t side, k0, n, k;
} g_Kept;
static inline void g_keep_none(g_TC *blocks)
{
    memset(blocks + (int64_t)g_KEPT_BLOCKS * g_KEPT_ELEMENTS, 0, g_KEPT_BLOCKS * sizeof(g_Kept));
}
/* Returns where the block is, or where it is to be packed because its place has another one. */
static inline g_TC *g_keep(g_TC *blocks, const g_Kept *block, int64_t place, int *is_packed)
{
    g_Kept *its = (g_Kept *)(void *)(blocks + (int64_t)g_KEPT_BLOCKS * g_KEPT_ELEMENTS) + place % g_KEPT_BLOCKS;
    *is_packed = its->from == block->from && its->side == block->side && its->k0 == block->k0 &&
                 its->n == block->n && its->k == block->k;
    *its = *block;
    return blocks + place % g_KEPT_BLOCKS * g_KEPT_ELEMENTS;
}
