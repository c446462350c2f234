/* The table of parts and its look-up. See part.h. */
#include "problem/part.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const Part parts[] = {
#define PART(arch, name, schedule, n_cu, ids, also) {arch, name, schedule, n_cu, ids, also},
#include "problem/parts.def"
#undef PART
};
static const PartRates rates[] = {
#define RATE(...) {__VA_ARGS__},
#include "problem/parts.def"
#undef RATE
};
enum { N_PARTS = sizeof parts / sizeof *parts, N_RATES = sizeof rates / sizeof *rates, KEY = 48 };

const Part *part_at(size_t i) { return i < N_PARTS ? &parts[i] : NULL; }

/* Operations of a compute unit in a clock, by the fastest unit for the problem type's types. */
static double unit_rate(const PartRates *r, const ProblemType *pt)
{
    const DataType in = (DataType)pt->DataType;
    const bool rounded = (DataType)pt->F32XdlMathOp == TYPE_X;
    return part_peak_rate(r, in, rounded ? TYPE_X : in, (DataType)pt->ComputeDataType);
}

double part_least_seconds(const PartRates *r, int64_t n_cu, const ProblemType *pt, double m, double n,
                          double k, double batch)
{
    const double ops = 2 * m * n * k * batch * (type_info((DataType)pt->DataType)->complex ? 4 : 1);
    const double bytes = batch * ((m * k + k * n) * type_bytes((DataType)pt->DataType) +
                                  m * n * type_bytes((DataType)pt->DestDataType));
    double rate = 64 * 3e9, dram = 20e9, launch = 1e-6;
    if (r) {
        rate = unit_rate(r, pt) * r->clock_mhz * 1e6 * (double)n_cu;
        dram = r->dram_gbs * 1e9;
        launch = 3e-6;
    }
    double math = ops / rate, memory = bytes / dram;
    return (math > memory ? math : memory) + launch;
}

bool part_is_of(const Part *p, const Target *t)
{
    const Target *own = target_find(str_from(p->arch));
    return own && own->family == t->family && own->isa[0] == t->isa[0] && own->isa[1] == t->isa[1] &&
           (t->family == TARGET_NVPTX || own->isa[2] == t->isa[2]);
}

/* ---- names ---- */

static bool is_makers(Str word)
{
    static const char *const words[] = {"amd", "nvidia", "radeon", "instinct", "geforce", "tesla", "tm"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq_nocase(word, str_from(words[i]))) return true;
    return false;
}

/* The key of a name: "rx7900xt" of "AMD Radeon (TM) RX 7900 XT"; "" when nothing is left or it is longer than
 * any part's. */
static void key_of(Str name, char key[KEY])
{
    size_t n = 0;
    for (size_t i = 0; i < name.n;) {
        size_t from = i;
        while (i < name.n && isalnum((unsigned char)name.s[i])) i++;
        Str word = str_sub(name, from, i);
        if (!word.n) i++;
        if (is_makers(word)) continue;
        if (n + word.n >= KEY) {
            n = 0;
            break;
        }
        for (size_t k = 0; k < word.n; k++) key[n++] = (char)tolower((unsigned char)word.s[k]);
    }
    key[n] = '\0';
}

/* True when one of the separated names has that key. */
static bool has_key(Str list, char separator, const char *key)
{
    Str name;
    char own[KEY];
    while (str_split(&list, separator, &name)) {
        key_of(name, own);
        if (own[0] && !strcmp(own, key)) return true;
    }
    return false;
}

static bool is_named(const Part *p, Str name)
{
    char key[KEY];
    key_of(name, key);
    return key[0] && (has_key(str_from(p->name), '|', key) || has_key(str_from(p->also), '|', key));
}

static bool has_id(const Part *p, Str id)
{
    Str rest = str_from(p->ids), own;
    while (str_split(&rest, ' ', &own))
        if (own.n && str_eq_nocase(own, id)) return true;
    return false;
}

bool part_is_called(const Part *p, Str name)
{
    name = str_trim(name);
    if (name.n > 7 && str_eq_nocase(str_sub(name, 0, 7), STR("Device ")))
        return has_id(p, str_sub(name, 7, name.n));
    if (is_named(p, name)) return true;
    size_t open = str_find(name, '[', 0), close = str_find(name, ']', open);
    Str rest = open < name.n ? str_sub(name, open + 1, close) : name, one;
    while (str_split(&rest, '/', &one))
        if (is_named(p, one)) return true;
    return false;
}

Err part_find(Str name, const Target *t, const Part **out)
{
    unsigned least = 5;
    const Part *near = NULL;
    for (size_t i = 0; i < N_PARTS; i++) {
        if (t && !part_is_of(&parts[i], t)) continue;
        if (part_is_called(&parts[i], name)) return *out = &parts[i], ERR_OK;
        unsigned d = str_distance(name, str_from(parts[i].name));
        if (d < least) least = d, near = &parts[i];
    }
    const char *of = t ? " of " : "", *arch = t ? t->name : "";
    if (near)
        FAIL(ERR_INPUT, "unknown part '%.*s'%s%s (did you mean '%s'?)", STR_ARG(name), of, arch, near->name);
    FAIL(ERR_INPUT, "unknown part '%.*s'%s%s (tuner --list-targets prints them)", STR_ARG(name), of, arch);
}

/* True when s contains `what` as a word: "aquavanjaram" is no word of "aquavanjaram942_Cijk". */
static bool contains_word(Str s, Str what)
{
    for (size_t i = 0; i + what.n <= s.n; i++) {
        bool starts = i == 0 || !isalnum((unsigned char)s.s[i - 1]);
        bool ends = i + what.n == s.n || !isalnum((unsigned char)s.s[i + what.n]);
        if (starts && ends && memcmp(s.s + i, what.s, what.n) == 0) return true;
    }
    return false;
}

bool target_schedule_in(const Target *t, Str text)
{
    for (size_t i = 0; i < N_PARTS; i++) {
        Str rest = str_from(parts[i].schedule), one;
        if (!part_is_of(&parts[i], t)) continue;
        while (str_split(&rest, '|', &one))
            if (contains_word(text, one)) return true;
    }
    return false;
}

/* ---- rates ---- */

double part_matrix_rate(const PartRates *r, DataType math)
{
    switch (math) {
    case TYPE_H:
        return r->matrix_h;
    case TYPE_B:
        return r->matrix_b;
    case TYPE_X:
        return r->matrix_x;
    case TYPE_S:
    case TYPE_C:
        return r->matrix_s;
    case TYPE_D:
    case TYPE_Z:
        return r->matrix_d;
    case TYPE_I8:
    case TYPE_4XI8:
        return r->matrix_i8;
    default:
        return r->matrix_f8;
    }
}

double part_vector_rate(const PartRates *r, DataType in, DataType sum)
{
    if (in == TYPE_D || in == TYPE_Z) return r->vector_d;
    if (in == TYPE_H && sum == TYPE_H) return r->vector_h;
    if (in == TYPE_4XI8) return r->vector_i8;
    return r->vector_s;
}

double part_peak_rate(const PartRates *r, DataType in, DataType math, DataType sum)
{
    const double matrix = part_matrix_rate(r, math), vector = part_vector_rate(r, in, sum);
    return matrix > vector ? matrix : vector;
}

/* Targets of the rows of rates, found by their parts' names once: models ask for a row for each candidate. */
static const Target *targets_of_rates[N_RATES];
static pthread_once_t targets_once = PTHREAD_ONCE_INIT;

static void targets_find(void)
{
    for (size_t k = 0; k < N_RATES; k++)
        for (size_t i = 0; i < N_PARTS && !targets_of_rates[k]; i++)
            if (!strcmp(parts[i].name, rates[k].part))
                targets_of_rates[k] = target_find(str_from(parts[i].arch));
}

const PartRates *part_rates(const Part *p, const Target *t)
{
    const PartRates *near = NULL;
    int least = INT32_MAX;
    pthread_once(&targets_once, targets_find);
    for (size_t i = 0; i < N_RATES; i++) {
        const Target *own = targets_of_rates[i];
        if (p && !strcmp(rates[i].part, p->name)) return &rates[i];
        if (!own || own->family != t->family || own->isa[0] != t->isa[0]) continue;
        int far = abs(own->isa[1] - t->isa[1]) * 16 +
                  (t->family == TARGET_NVPTX ? 0 : abs(own->isa[2] - t->isa[2]));
        if (far < least) least = far, near = &rates[i];
    }
    return near;
}

TrafficDevice part_traffic(Str arch, int64_t n_cu)
{
    const Target *t = target_find(arch);
    const Part *p = NULL;
    for (size_t i = 0; t && !p && i < N_PARTS; i++)
        if (part_is_of(&parts[i], t) && (n_cu <= 0 || parts[i].n_cu == n_cu)) p = &parts[i];
    const PartRates *r = t ? part_rates(p, t) : NULL;
    if (n_cu <= 0) n_cu = p ? p->n_cu : 1;
    if (n_cu > 1 << 20) n_cu = 1 << 20;
    if (!r) return (TrafficDevice){.dies = 1, .cus = (int32_t)n_cu, .l2_rate = 1, .llc_rate = 1};
    const int64_t dies = (int64_t)((double)n_cu / r->die_cus + 0.5);
    /* Parts of the cache (60 MiB), fitted to bytes that an H200's counters show for a persistent kernel in 40
     * orders (test/README.md). */
    const double cache = dies > 1 ? 0 : r->l2_kib * 1024;
    return (TrafficDevice){.held_bytes = 0.67 * cache,
                           .gone_bytes = 1.4 * cache,
                           .apart_bytes = 1.6 * cache,
                           .apart_rate = cache > 0 ? 0.16 / cache : 0,
                           .dies = dies > 1 ? (int32_t)dies : 1,
                           .cus = (int32_t)n_cu,
                           .l2_rate = (r->llc_gbs > 0 ? r->llc_gbs : r->dram_gbs) * 1e9,
                           .llc_rate = r->dram_gbs * 1e9};
}

/* ---- lists ---- */

static void list_add(PartList *l, const Part *p)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->part[i] == p) return;
    if (l->n == PARTS_MAX) return;
    if (l->n && p->n_cu != l->n_cu) l->same = false;
    if (p->n_cu > l->n_cu) l->n_cu = p->n_cu;
    l->part[l->n++] = p;
}

void parts_of_devices(const Target *t, const Str *device, size_t n, PartList *out)
{
    *out = (PartList){.same = true};
    for (size_t k = 0; k < n; k++) {
        const Part *foreign = NULL;
        bool found = false;
        for (size_t i = 0; i < N_PARTS; i++) {
            if (!part_is_called(&parts[i], device[k])) continue;
            if (part_is_of(&parts[i], t)) {
                list_add(out, &parts[i]);
                found = true;
            } else if (!foreign) {
                foreign = &parts[i];
            }
        }
        if (found || !foreign || out->foreign) continue;
        out->foreign = foreign;
        out->foreign_name = device[k];
    }
}

void parts_print(const PartList *l, Buf *out)
{
    for (size_t i = 0; i < l->n; i++)
        buf_printf(out, "%s%s %d", i ? ", " : "", l->part[i]->name, l->part[i]->n_cu);
}
