
struct g_Frag {
    g_FragA a;
    g_FragB b;
};
/* Multiplies the fragments of one step. A complex product is four real ones. */
template <typename F> g_DEV void g_frag_mac(g_Acc &acc, const F &f)
{
    constexpr bool complex = g_MI_PARTS == 2;
    g_UNROLL for (int e = 0; e < g_MI_INSTRUCTIONS; e++) {
        g_UNROLL for (int j = 0; j < g_MI_TILES_B; j++)
            g_UNROLL for (int i = 0; i < g_MI_TILES_A; i++) {
                const g_Op a = g_operand<g_Op, g_MI_KPL, complex>(f.a, i, e, 0);
                const g_Op b = g_operand<g_Op, g_MI_KPL, complex>(f.b, j, e, 0);
                g_AccV *c = &acc.c[0][j][i];
                *c = g_inst(a, b, *c);
                if constexpr (complex) {
                    const g_Op a_im = g_operand<g_Op, g_MI_KPL, complex>(f.a, i, e, 1);
                    const g_Op b_im = g_operand<g_Op, g_MI_KPL, complex>(f.b, j, e, 1);
                    g_AccV *c_im = &acc.c[g_MI_PARTS - 1][j][i];
                    *c_im = g_inst(a, b_im, *c_im);
                    *c = g_inst(-a_im, b_im, *c);
                    *c_im = g_inst(a_im, b, *c_im);
                }
            }
        if constexpr (g_MI_STEP_FENCES) g_keep_order();
    }
}
g_DEV void g_acc_zero(g_Acc &acc)
{
    g_UNROLL for (int j = 0; j < g_MI_TILES_B; j++)
        g_UNROLL for (int i = 0; i < g_MI_TILES_A; i++)
            g_UNROLL for (int part = 0; part < g_MI_PARTS; part++) acc.c[part][j][i] = 0;
}
template <typename A> g_DEV g_TC g_acc_get(const A &acc, int i)
{
    const g_Place q = g_place(i);
    if constexpr (g_MI_PARTS == 2) {
        const g_TC x = {g_acc_element(acc.c[0][q.t1][q.t0], q.v), g_acc_element(acc.c[1][q.t1][q.t0], q.v)};
        return x;
    } else
        return g_acc_element(acc.c[0][q.t1][q.t0], q.v);
}
template <typename E> g_DEV void g_acc_set(g_Acc &acc, int i, E x)
{
    const g_Place q = g_place(i);
    if constexpr (g_MI_PARTS == 2) {
        g_acc_set_element(acc.c[0][q.t1][q.t0], q.v, x.re);
        g_acc_set_element(acc.c[g_MI_PARTS - 1][q.t1][q.t0], q.v, x.im);
    } else
        g_acc_set_element(acc.c[0][q.t1][q.t0], q.v, x);
}
