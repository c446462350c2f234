/* The table of parts: it agrees with the architectures and the peak rates, names and ids are found as logic
 * files and devices have them. */
#include "test/support.h"

#include "problem/part.h"

/* Every part belongs to an architecture, and the largest one has the compute units of targets.def. */
static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; part_at(i); i++) {
        const Part *p = part_at(i), *again = NULL;
        const Target *t = target_find(str_from(p->arch));
        if (!t) fail_msg("%s: no architecture %s", p->name, p->arch);
        assert_string_equal(t->name, p->arch);
        assert_true(p->n_cu > 0 && p->n_cu <= t->n_cu && p->schedule[0]);
        assert_ok(part_find(str_from(p->name), t, &again));
        if (again != p) fail_msg("%s: %s has that name too", p->name, again->name);
        Str rest = str_from(p->ids), id;
        while (str_split(&rest, ' ', &id)) assert_true(id.n == 0 || id.n == 4);
    }
    for (size_t k = 0; target_at(k); k++) {
        const Target *t = target_at(k);
        int most = 0;
        for (size_t i = 0; part_at(i); i++)
            if (part_is_of(part_at(i), t) && part_at(i)->n_cu > most) most = part_at(i)->n_cu;
        if (most != t->n_cu) fail_msg("%s: %d CUs, its largest part has %d", t->name, t->n_cu, most);
    }
}

/* Peak rates are those of a part. */
static void test_specs(void **state)
{
    static const struct {
        const char *arch, *schedule;
        int n_cu;
    } specs[] = {
#define SPEC(arch, schedule, n_cu, type, vector, matrix) {arch, schedule, n_cu},
#include "logic/specs.def"
#undef SPEC
    };
    (void)state;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        bool found = false;
        for (size_t i = 0; part_at(i); i++)
            found |= !strcmp(part_at(i)->arch, specs[k].arch) && part_at(i)->n_cu == specs[k].n_cu;
        if (!found) fail_msg("%s: no part has %d CUs", specs[k].arch, specs[k].n_cu);
        assert_true(target_schedule_in(target_find(str_from(specs[k].arch)), str_from(specs[k].schedule)));
    }
}

static void test_names(void **state)
{
    static const struct {
        const char *name, *arch, *part;
        int n_cu;
    } cases[] = {
        {"mi210", NULL, "MI210", 104},
        {"AMD Instinct MI250X / MI250", NULL, "MI250X", 110},
        {"AMD Instinct(TM) MI300X", NULL, "MI300X", 304},
        {"MI300A", "gfx940", "MI300A", 228},
        {"radeon vii", NULL, "Radeon VII", 60},
        {"AMD Radeon RX 7900 XT", NULL, "RX 7900 XT", 84},
        {"AMD Radeon Pro W7900", NULL, "Pro W7900", 96},
        {"Device 66AF", NULL, "Radeon VII", 60},
        {"device 740f", "gfx90a", "MI210", 104},
        {"Vega 10 XT [Radeon RX Vega 64]", NULL, "RX Vega 64", 64},
        {"Vega 10 XTX [Radeon Vega Frontier Edition]", NULL, "Vega Frontier Edition", 64},
        {"Vega 10 [Radeon Instinct MI25 MxGPU]", NULL, "MI25", 64},
        {"NVIDIA H200", NULL, "H200", 132},
        {"NVIDIA H200", "sm_90a", "H200", 132},
        {"NVIDIA H100 PCIe", NULL, "H100 PCIe", 114},
        {"NVIDIA A100-SXM4-80GB", NULL, "A100", 108},
        {"NVIDIA GeForce RTX 4090", NULL, "RTX 4090", 128},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Part *p = NULL;
        const Target *t = cases[i].arch ? target_find(str_from(cases[i].arch)) : NULL;
        assert_ok(part_find(str_from(cases[i].name), t, &p));
        assert_string_equal(p->name, cases[i].part);
        assert_int_equal(p->n_cu, cases[i].n_cu);
    }
}

static void test_unknown(void **state)
{
    static const struct {
        const char *name, *arch, *why;
    } cases[] = {
        {"MI211", NULL, "unknown part 'MI211' (did you mean 'MI210'?)"},
        {"MI300X", "gfx90a", "unknown part 'MI300X' of gfx90a (did you mean 'MI250X'?)"},
        {"Device 0000", NULL, "unknown part 'Device 0000' (tuner --list-targets prints them)"},
        {"AMD Radeon", NULL, "unknown part 'AMD Radeon'"},
        {"", NULL, "unknown part ''"},
        {"Device ", NULL, "unknown part 'Device '"},
        {"[/]", NULL, "unknown part '[/]'"},
        {"a name that is longer than any name of a part that was ever sold", NULL, "unknown part 'a name"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Part *p = NULL;
        const Target *t = cases[i].arch ? target_find(str_from(cases[i].arch)) : NULL;
        assert_int_equal(part_find(str_from(cases[i].name), t, &p), ERR_INPUT);
        if (strncmp(err_message(), cases[i].why, strlen(cases[i].why)) != 0)
            fail_msg("'%s', expected '%s'", err_message(), cases[i].why);
    }
}

/* The lists of Tensile's appendix and of rocBLAS's files. */
static void test_lists(void **state)
{
    static const struct {
        const char *arch, *devices; /* separated by ';' */
        int n_cu;
        bool same;
        const char *parts, *foreign;
    } cases[] = {
        {"gfx906", "Device 66a0;Device 66a1;Device 66a7;Device 66af;Vega 20", 64, false,
         "MI60 64, MI50 60, Pro VII 60, Vega 20 64, Radeon VII 60", NULL},
        {"gfx900", "Device 6860", 64, true, "MI25 64", NULL},
        {"gfx900",
         "Device 6863;Device 6862;Device 687f;Device 6860;Device 6861;Vega 10 XTX [Radeon Vega Frontier "
         "Edition];Vega [Radeon RX Vega];Vega 10 XT [Radeon RX Vega 64];Vega;Device 6864;Device 686c;Vega 10 "
         "[Radeon Instinct MI25 MxGPU]",
         64, false,
         "Vega Frontier Edition 64, Pro SSG 64, RX Vega 64 64, RX Vega 56 56, MI25 64, Pro WX 9100 64, "
         "Vega 10 64, Pro V340 56",
         NULL},
        {"gfx803", "Device 7300", 64, false, "R9 Nano 64, R9 Fury 56, MI8 64", NULL},
        {"gfx908", "Device 7380;Device 7388;Device 738c;Device 7390", 120, true, "Arcturus 120, MI100 120",
         NULL},
        {"gfx90a", "Device 0050;Device 7400;Device 740c", 110, false, "MI250X 110, MI250 104", NULL},
        {"gfx90a", "Device 740f", 104, true, "MI210 104", NULL},
        {"gfx942", "Device 0049;Device 0050", 0, true, "", NULL},
        {"gfx942", "Device 74a0", 228, true, "MI300A 228", NULL},
        {"gfx1100", "Device 73bf;Device 744c", 96, false, "RX 7900 XTX 96, RX 7900 XT 84, RX 7900 GRE 80",
         "RX 6900 XT"},
        {"sm_90a", "NVIDIA H200", 132, true, "H200 132", NULL},
        {"x86-64-v3", "host", 0, true, "", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Str device[16], rest = str_from(cases[i].devices);
        size_t n = 0;
        PartList l;
        Buf b;
        while (n < 16 && str_split(&rest, ';', &device[n])) n++;
        buf_init(&b);
        parts_of_devices(target_find(str_from(cases[i].arch)), device, n, &l);
        parts_print(&l, &b);
        assert_string_equal(buf_cstr(&b), cases[i].parts);
        assert_int_equal(l.n_cu, cases[i].n_cu);
        assert_int_equal(l.same, cases[i].same);
        assert_int_equal(l.foreign != NULL, cases[i].foreign != NULL);
        if (l.foreign) assert_string_equal(l.foreign->name, cases[i].foreign);
        buf_fini(&b);
    }
}

static void test_schedules(void **state)
{
    (void)state;
    const Target *t = target_find(STR("gfx940"));
    assert_true(target_schedule_in(t, STR("aquavanjaram_Cijk_Ailk")));
    assert_false(target_schedule_in(t, STR("aquavanjaram942_Cijk_Ailk")));
    assert_true(target_schedule_in(target_find(STR("gfx900")), STR("mi25_Cijk_Ailk")));
    assert_false(target_schedule_in(target_find(STR("gfx900")), STR("mi250_Cijk_Ailk")));
    assert_true(target_schedule_in(target_find(STR("sm_90a")), STR("h200_Cijk")));
    assert_false(target_schedule_in(target_find(STR("x86-64-v3")), STR("host_Cijk")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),   cmocka_unit_test(test_specs), cmocka_unit_test(test_names),
        cmocka_unit_test(test_unknown), cmocka_unit_test(test_lists), cmocka_unit_test(test_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
