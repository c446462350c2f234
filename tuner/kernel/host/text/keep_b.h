/* Packed blocks of B that stay in local memory from one work-group to the next. Behind the blocks stand records of what
 * they are: columns from `column` on and elements of K from `k0` on of the matrix at `from`. No block is kept from one
 * launch to the next, because B may change. */
typedef struct {
    const g_TI *from;
    int64_t column, k0, n, k;
} g_Kept;
static inline void g_keep_none(g_TC *lb)
{
    memset(lb + (int64_t)g_KEPT_BLOCKS * g_BLOCK_B, 0, g_KEPT_BLOCKS * sizeof(g_Kept));
}
/* Returns where the block is, or where it is to be packed because its place has another one. */
static inline g_TC *g_keep_b(g_TC *lb, const g_Kept *block, int64_t place, int *is_packed)
{
    g_Kept *its = (g_Kept *)(void *)(lb + (int64_t)g_KEPT_BLOCKS * g_BLOCK_B) + place % g_KEPT_BLOCKS;
    *is_packed = its->from == block->from && its->column == block->column && its->k0 == block->k0 &&
                 its->n == block->n && its->k == block->k;
    *its = *block;
    return lb + place % g_KEPT_BLOCKS * g_BLOCK_B;
}
