
/* ---- multiply: mma.sync on wave tiles ---- */
/* The 16 rows of mma.sync lie along N and its 8 columns along M, so that a thread's accumulators are adjacent
   along M, where D is contiguous. */

constexpr int g_WT0 = g_MT0 / g_W0, g_WT1 = g_MT1 / g_W1, g_NX = g_WT1 / 16, g_NY = g_WT0 / 8;
constexpr int g_KS = g_DU / g_MK / g_LSU, g_N_RUN = g_NX * g_NY * 2, g_RUN = 2;
struct g_Frag {
    g_F x[g_NX][g_XR], y[g_NY][g_YR];
};
