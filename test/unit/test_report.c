/* Unit tests of tuner/report and tuner/fmt/json: readers of CSV files, parameters in names, comparisons,
 * pages. */
#include "test/support.h"

#include <math.h>

#include "fmt/json.h"
#include "report/page.h"
#include "report/page_text.h"

static void take(ReportData *d, const char *path, const char *part, const char *text)
{
    *d = (ReportData){0};
    arena_init(&d->arena, 0);
    assert_ok(data_csv_take(d, path, part, str_from(text)));
    assert_ok(report_data_finish(d));
}

static void refused(const char *text, const char *message)
{
    ReportData d = {0};
    arena_init(&d.arena, 0);
    assert_int_equal(data_csv_take(&d, "x.csv", NULL, str_from(text)), ERR_INPUT);
    if (!strstr(err_message(), message)) fail_msg("'%s' has no '%s'", err_message(), message);
    report_data_fini(&d);
}

/* ---- JSON ---- */

static void test_json_text(void **state)
{
    (void)state;
    static const char all[] = "a\"\\\n\t</script>&\x7f\xc3\xa9\xff\xc0\xaf\xed\xa0\x80";
    Buf out;
    buf_init(&out);
    Json j = json_to(&out);
    json_object(&j, NULL);
    json_str(&j, "s", STR(all));
    json_int(&j, "i", INT64_MIN);
    json_real(&j, "r", 0.25);
    json_real(&j, "none", NAN);
    json_real(&j, "much", INFINITY);
    json_array(&j, "list");
    json_array_end(&j);
    json_bool(&j, "b", true);
    json_object_end(&j);
    assert_string_equal(
        buf_cstr(&out),
        "{\"s\":\"a\\\"\\\\\\u000a\\u0009\\u003c/script\\u003e\\u0026\\u007f\xc3\xa9\\ufffd\\ufffd"
        "\\ufffd\\ufffd\\ufffd\\ufffd\",\"i\":-9223372036854775808,\"r\":0.25,\"none\":null,"
        "\"much\":null,\"list\":[],\"b\":true}");
    buf_fini(&out);
}

/* ---- parameters ---- */

static const ReportParam *param_named(const ReportParam *p, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq_c(p[i].name, name)) return &p[i];
    fail_msg("there is no parameter '%s'", name);
    return NULL;
}

static void test_params(void **state)
{
    (void)state;
    const Str name[] = {STR("Cijk_Ailk_Bljk_SB_MT64x32x16_SN_GRVWn1_K1_PGR0_TT8_4_WG8_8_1"),
                        STR("Cijk_Ailk_Bljk_SB_MT64x64x16_SN_GRVW4_K1_PGR1_TT8_4_WG8_16_1"),
                        STR("Cijk_Ailk_Bljk_SB_MT64x64x8_SN_ETSP_GRVW4_K1_PGR1_TT8_4_WG8_16_1"),
                        STR("\xff<b>_"),
                        STR("_"),
                        STR("")};
    Arena a;
    ReportParam *p;
    size_t n;
    arena_init(&a, 0);
    assert_ok(params_of_names(&a, STR("Cijk_Ailk_Bljk_SB"), name, 3, &p, &n));
    assert_str(param_named(p, n, "MacroTile")->value[0].text, "64x32");
    assert_str(param_named(p, n, "DepthU")->value[1].text, "8");
    assert_str(param_named(p, n, "GlobalReadVectorWidth")->value[0].text, "n1");
    const ReportParam *edge = param_named(p, n, "EdgeType");
    assert_int_equal(edge->n_values, 2);
    assert_str(edge->value[edge->of[2]].text, "SP");
    assert_str(edge->value[edge->of[0]].text, "-");
    assert_int_equal(param_named(p, n, "PrefetchGlobalRead")->value[1].n_kernels, 2);
    for (size_t i = 0; i < n; i++) assert_false(str_eq_c(p[i].name, "ThreadTile")); /* all have the same */
    assert_ok(params_of_names(&a, STR("Cijk_Ailk_Bljk_SB"), name, 6, &p, &n));
    arena_fini(&a);
}

static const int32_t *two_sizes(const void *ctx, size_t size) { return (const int32_t *)ctx + 3 * size; }
static size_t best_of(const void *ctx, size_t size)
{
    const int32_t *s = two_sizes(ctx, size);
    for (size_t k = 0; k < 3; k++)
        if (s[k] == 10000) return k;
    return SIZE_MAX;
}

static void test_effects(void **state)
{
    (void)state;
    const Str name[] = {STR("T_MT1x1x1_PGR0"), STR("T_MT1x1x1_PGR1"), STR("T_MT1x1x1_PGR1")};
    const int32_t speed[] = {10000,        5000,          8000,         2500, 10000,
                             SPEED_FAILED, SPEED_MISSING, SPEED_FAILED, 10000};
    Arena a;
    ReportParam *p;
    size_t n;
    arena_init(&a, 0);
    assert_ok(params_of_names(&a, STR("T"), name, 3, &p, &n));
    assert_int_equal(n, 1);
    assert_ok(params_effects(&a, p, n, 3, 3, two_sizes, best_of, speed));
    const ReportValue *v = p[0].value;
    assert_int_equal(v[0].n_wins, 1);
    assert_int_equal(v[1].n_wins, 2);
    assert_int_equal(v[0].n_sizes, 2); /* the third size has no kernel with the other value */
    assert_true(fabs(v[0].mean_speed - sqrt(1 * 0.25)) < 1e-9 && fabs(v[0].worst_speed - 0.25) < 1e-9);
    assert_true(fabs(v[1].mean_speed - sqrt(0.8 * 1)) < 1e-9 && fabs(v[1].worst_speed - 0.8) < 1e-9);
    arena_fini(&a);
}

/* ---- CSV files ---- */

static void test_results(void **state)
{
    (void)state;
    ReportData d;
    take(&d, "out/Cijk_Ailk_Bljk_HHS_BH_00.csv", "H200",
         "GFlops, SizeI, SizeJ, SizeK, SizeL, LDD, LDC, LDA, LDB, TotalFlops, "
         "Cijk_Ailk_Bljk_HHS_BH_MT16x16x8_PGR0, Cijk_Ailk_Bljk_HHS_BH_MT32x32x8_PGR1, C_third\n"
         "0, 128, 64, 2, 32, 128, 128, 128, 32, 1048576, 50, 100, -1\n"
         "1, 128, 64, 1, 32, 128, 128, 128, 32, 524288, nan, -1, nan\n");
    assert_int_equal(d.n_groups, 1);
    const ReportGroup *g = d.group;
    assert_str(g->type, "Cijk_Ailk_Bljk_HHS_BH");
    assert_int_equal(g->n_kernels, 3);
    assert_int_equal(g->n_sizes, 2);
    const ReportSize *z = g->size;
    assert_str(z->numbers, "128,64,2,32,128,128,128,32");
    assert_true(z->m == 128 && z->n == 64 && z->batch == 2 && z->k == 32);
    assert_true(z->flops == 1048576 && z->bytes == 2 * 2 * (128 * 32 + 32 * 64 + 128 * 64));
    assert_int_equal(z->n_places, 2);
    assert_int_equal(z->place[0].kernel, 1);
    assert_true(fabs(z->place[0].ns - 10485.76) < 1e-6 && z->gflops == 100);
    assert_true(z->speed[0] == 5000 && z->speed[1] == 10000 && z->speed[2] == SPEED_FAILED);
    assert_true(z[1].n_places == 0 && z[1].n_failed == 1 && z[1].n_missing == 2);
    /* the ceiling at 42.7 operations for each byte is DRAM's */
    assert_true(g->dram_gbs > 4000 && g->peak_gflops > 9e5);
    assert_true(fabs(report_efficiency(g, z) - 100 / (g->dram_gbs * z->flops / z->bytes)) < 1e-9);
    report_data_fini(&d);
}

static void test_table(void **state)
{
    (void)state;
    ReportData d;
    take(&d, "peer.csv", NULL,
         "# device: cuda 0: NVIDIA H200, sm_90, 132 CUs\n# command: tuner x\n"
         "group,sizes,gflops,time_us,time_lo_us,time_hi_us,n,peer,peer_gflops,peer_time_us,ratio,ratio_lo,"
         "ratio_hi,"
         "runner_up,solution,no_ratio\n"
         "Cijk_Ailk_Bljk_DB_00,\"64,4,1,128\",31.14,2.1,2.0,2.2,7,cublas 13,22.6,2.9,1.38,1.37,1.39,slower,"
         "Cijk_Ailk_Bljk_DB_MT16x16x64,\n"
         "Cijk_Alik_Bljk_DB_00,\"64,4,1,129\",,,,,,,,,,,,none,,no winner\n");
    assert_int_equal(d.n_groups, 2);
    assert_str(d.run[0].device, "cuda 0: NVIDIA H200, sm_90, 132 CUs");
    assert_str(d.peer, "cublas 13");
    const ReportSize *z = d.group[0].size;
    assert_true(z->place[0].n == 7 && fabs(z->place[0].lo_ns - 2000) < 1e-9);
    assert_true(z->versus.verdict == STATS_FASTER && z->peer.ratio.verdict == STATS_FASTER);
    assert_true(d.group[0].peak_gflops > 0);
    assert_int_equal(d.group[1].size[0].n_places, 0);
    assert_str(d.group[1].size[0].peer.why, "no winner");
    RatioSummary s = report_ratios(&d, RATIO_PEER);
    assert_true(s.n == 1 && s.n_faster == 1 && s.n_without == 1 && fabs(s.mean - 1.38) < 1e-12);
    report_data_fini(&d);
}

static void test_bench(void **state)
{
    (void)state;
    ReportData d;
    take(&d, "ref.1", NULL,
         "Query device success: there are 1 devices\r\n"
         "transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,rocblas-Gflops,us\r\n"
         "T,N,128,64,32,1,32,0,32,128, 100, 5.24288\r\n"
         "transA,transB,M,N,K,alpha,lda,stride_a,beta,ldb,stride_b,ldc,stride_c,batch_count,rocblas-Gflops,"
         "us\r\n"
         "N,N,128,64,32,1,128,4096,0,32,2048,128,8192,2, 200, 5.24288\r\n"
         "N,N,cut");
    assert_int_equal(d.n_groups, 2);
    assert_str(d.group[0].type, "Cijk_Alik_Bljk");
    assert_str(d.group[0].size[0].numbers, "128,64,1,32,128,128,32,32");
    assert_int_equal(d.group[1].size[0].batch, 2);
    assert_true(d.group[1].size[0].gflops == 200);
    report_data_fini(&d);
}

static void test_bad_files(void **state)
{
    (void)state;
    refused("", "no results");
    refused("a,b,c\n1,2,3\n", "no results");
    refused("GFlops,SizeI,SizeJ,SizeK,SizeL,TotalFlops,k\n0,1,1,1,1,2\n",
            "x.csv:2: a row of 6 cells, expected 7");
    refused("GFlops,SizeI,SizeJ,SizeK,SizeL,TotalFlops,k\n0,1,one,1,1,2,3\n",
            "x.csv:2: 'one' in the place of a size");
    refused("GFlops,SizeI,SizeJ,SizeK,SizeL,TotalFlops,k,k\n0,1,1,1,1,2,3,3\n",
            "two columns have the name 'k'");
    refused("group,sizes,gflops\nC_00,,1\n", "x.csv:2: a row without sizes");
    refused("transA,transB,M,N,K,us\nN,N,1,x,1,1\n", "x.csv:2: 'x' in the place of N");
}

/* ---- comparisons ---- */

static void test_compare(void **state)
{
    (void)state;
    static const char head[] =
        "GFlops,SizeI,SizeJ,SizeK,SizeL,LDD,LDC,LDA,LDB,TotalFlops,Cijk_Ailk_Bljk_SB_MT1x1x1\n";
    char now[600], old[600];
    snprintf(now, sizeof now, "%s0,8,8,1,8,8,8,8,8,1024,20\n1,9,8,1,8,9,9,9,8,1152,10\n", head);
    snprintf(old, sizeof old, "%s0,9,8,1,8,9,9,9,8,1152,10.05\n1,8,8,1,8,8,8,8,8,1024,10\n", head);
    ReportData d, before;
    take(&d, "now.csv", NULL, now);
    take(&before, "old.csv", NULL, old);
    assert_ok(data_compare(&d, &before, STR("old.csv")));
    report_data_fini(&before); /* nothing of it is needed any more */
    const ReportSize *z = d.group[0].size;
    assert_true(z[0].before.ratio.ratio == 2 && z[0].before.ratio.verdict == STATS_FASTER);
    assert_true(z[1].before.ratio.verdict == STATS_TIE);
    assert_str(z[0].before.kernel, "Cijk_Ailk_Bljk_SB_MT1x1x1");
    Buf md;
    buf_init(&md);
    report_md(&d, 1, &md);
    assert_non_null(
        strstr(buf_cstr(&md), "geometric mean **1.411** of 2 sizes; 1 faster, 1 equal, 0 slower"));
    assert_non_null(strstr(buf_cstr(&md), "and 1 more size."));
    buf_fini(&md);
    report_data_fini(&d);
    /* output of rocblas-bench knows no types: the shape decides */
    take(&d, "now.csv", NULL, now);
    take(&before, "ref.1", NULL,
         "transA,transB,M,N,K,lda,ldb,ldc,rocblas-Gflops,us\nN,N,8,8,8,8,8,8,40,0.1\n");
    assert_ok(data_compare(&d, &before, STR("ref.1")));
    report_data_fini(&before);
    take(&before, "other.csv", NULL,
         "transA,transB,M,N,K,lda,ldb,ldc,rocblas-Gflops,us\nN,T,8,8,8,8,8,8,40,0.1\n");
    assert_int_equal(data_compare(&d, &before, STR("other.csv")), ERR_INPUT);
    report_data_fini(&before);
    report_data_fini(&d);
}

/* ---- pages ---- */

/* Names from outside cannot leave the data: the page has the tags of its own text only. */
static void test_page_is_safe(void **state)
{
    (void)state;
    ReportData d;
    PageOptions o = {.reload_s = 5};
    Buf page, md;
    buf_init(&page);
    buf_init(&md);
    take(&d, "<script>alert(1)</script>.csv", NULL,
         "# device: \"><img src=x onerror=alert(1)>\n"
         "group,sizes,gflops,time_us,solution\n"
         "\"</script><script>alert(2)</"
         "script>\",\"8,8,1,8\",1,1,\"<!--<script>|`[x](javascript:alert(3))\"\n");
    assert_ok(report_page(&d, &o, &page));
    const char *html = buf_cstr(&page);
    size_t scripts = 0, ends = 0;
    for (const char *at = html; (at = strstr(at, "<script")); at++) scripts++;
    for (const char *at = html; (at = strstr(at, "</script")); at++) ends++;
    assert_int_equal(scripts, 2);
    assert_int_equal(ends, 2);
    assert_null(strstr(html, "<img"));
    assert_null(strstr(html, "<!--"));
    assert_null(strstr(html, "@SCRIPT"));
    assert_non_null(strstr(html, "script-src 'sha256-"));
    report_md(&d, 10, &md);
    assert_null(strpbrk(buf_cstr(&md) + strlen("### Tuning report"), "<>[]`"));
    report_data_fini(&d);
    buf_fini(&page);
    buf_fini(&md);
}

/* ---- history ---- */

/* Only the losses of the last session that has any count; a store without the tables has none. */
static void test_history(void **state)
{
    (void)state;
    char *dir = test_dir();
    Store s;
    Arena a;
    Regret *regret;
    ClientTime *client;
    int64_t session[2];
    size_t n;
    arena_init(&a, 0);
    assert_ok(store_open(&s, dir, STORE_WRITE));
    assert_true(store_at_work(dir));
    assert_ok(query_regrets(&s, &a, &regret, &n));
    assert_int_equal(n, 0);
    assert_ok(query_clients(&s, &a, &client, &n));
    assert_int_equal(n, 0);
    for (int i = 0; i < 2; i++) {
        assert_ok(store_session_begin(&s, STR("tuner x"), &session[i]));
        const Regret r = {STR("Cijk_Ailk_Bljk_SB"), STR("libtuner"), STR("8,8,1,8"), true, 0.25 * i};
        assert_ok(store_regret_add(&s, session[i], &r));
    }
    const ClientTime ended = {STR("Cijk_Ailk_Bljk_SB_00"), STR("sim 0"), STR("exit status 0"), 0, 1.5};
    assert_ok(store_client_add(&s, session[1], &ended));
    store_close(&s);
    assert_false(store_at_work(dir));
    assert_ok(store_open(&s, dir, STORE_READ));
    assert_ok(query_regrets(&s, &a, &regret, &n));
    assert_true(n == 1 && regret[0].loss == 0.25 && regret[0].aligned);
    assert_str(regret[0].numbers, "8,8,1,8");
    assert_ok(query_clients(&s, &a, &client, &n));
    assert_true(n == 1 && client[0].seconds == 1.5 && client[0].started_s > 1.7e9);
    assert_str(client[0].end, "exit status 0");
    store_close(&s);
    assert_ok(dir_remove(dir));
    free(dir);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_text), cmocka_unit_test(test_params),  cmocka_unit_test(test_effects),
        cmocka_unit_test(test_results),   cmocka_unit_test(test_table),   cmocka_unit_test(test_bench),
        cmocka_unit_test(test_bad_files), cmocka_unit_test(test_compare), cmocka_unit_test(test_page_is_safe),
        cmocka_unit_test(test_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
