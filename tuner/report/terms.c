/* The performance model in `tuner explain`. See terms.h. */
#include "report/terms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/model_store.h"

enum { COLUMN = 13 };

/* The rates of the plan's run; *found is false for one that did not get as far as its logic. */
static Err record_of(Store *s, const PlanView *p, ModelRecord *out, bool *found)
{
    char key[48];
    snprintf(key, sizeof key, MODEL_PLAN_KEY, (long long)p->id);
    return store_model_get(s, str_from(key), out, found);
}

static void bytes_text(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;
    for (; bytes >= 1024 && u < 4; u++) bytes /= 1024;
    snprintf(text, size, "%.4g %s", bytes, units[u]);
}

Err terms_print(Store *s, const PlanView *p, size_t candidate, const SizeRow *z, double measured_ns, FILE *f)
{
    ModelKernel k;
    ModelRecord m;
    ModelTime t;
    bool found, known;
    TRY(record_of(s, p, &m, &found));
    TRY(store_model_kernel_get(s, p->candidate[candidate].kernel, &k, &known));
    if (!found || !known) return ERR_OK;
    ModelSize size;
    TRY(store_model_size_get(s, z, k.bytes_ab, k.bytes_d, &size));
    model_time(&k, &m.device, &m.rates[k.class], &size, &t);
    fprintf(f, "%*smodel: %.2f us, %s binds (%s);", COLUMN, "", t.seconds * 1e6, model_term_name(t.binds),
            model_term_help(t.binds));
    fprintf(f, " the hardware allows %.2f us", t.bound_seconds * 1e6);
    if (!isnan(measured_ns)) fprintf(f, ", of which this is %.0f%%", t.bound_seconds * 1e11 / measured_ns);
    fprintf(f, "\n%*sus:", COLUMN, "");
    for (int i = 0; i < MODEL_N_TERMS; i++)
        if (t.term[i] >= 5e-9) fprintf(f, " %s %.2f", model_term_name((ModelTerm)i), t.term[i] * 1e6);
    char l2[32], dram[32];
    bytes_text(t.l2_read, l2, sizeof l2);
    bytes_text(t.dram_read, dram, sizeof dram);
    fprintf(f,
            "\n%*s%.0f work-group%s in %.0f round%s, the last %.0f%% full; %.1f%% of the products outside of "
            "D; reads %s through L2, %s from memory\n",
            COLUMN, "", t.tiles, t.tiles == 1 ? "" : "s", t.waves, t.waves == 1 ? "" : "s", t.last_fill * 100,
            t.edge_waste * 100, l2, dram);
    return ERR_OK;
}

Err terms_source_print(Store *s, const PlanView *p, FILE *f)
{
    ModelRecord m;
    bool found;
    size_t n = 0;
    TRY(record_of(s, p, &m, &found));
    for (int c = 0; found && c < MODEL_CLASSES; c++) n += m.fit[c].n;
    if (!found) return ERR_OK;
    if (!n) {
        fprintf(f, "  model: rates of data sheets; a fit takes the times of more sizes\n");
        return ERR_OK;
    }
    fprintf(f, "  model: rates were fitted to");
    for (int c = 0, i = 0; c < MODEL_CLASSES; c++)
        if (m.fit[c].n)
            fprintf(f, "%s %zu times of %s kernels (median error %.0f%%)", i++ ? "," : "", m.fit[c].n,
                    model_class_name((ModelClass)c), m.fit[c].after * 100);
    fprintf(f, "\n");
    return ERR_OK;
}
