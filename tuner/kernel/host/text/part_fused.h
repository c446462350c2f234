/* The same with fused operations, which are for whole sums. */
typedef g_Fused g_PartArgs;
static inline g_Args *g_args_of_part(g_PartArgs *own)
{
    own->is_part = 1;
    return &own->args;
}
static inline g_TC g_whole_result(const g_Args *g, g_TC s, const g_TD *c, int64_t row, int64_t column, int64_t matrix)
{
    return g_result(g->ab, s, c, (const g_Fused *)g, row, column, matrix);
}
