/* Logic writer: the list form or the map form, with the bytes of PyYAML; and the report of unknown keys. */
#include <stdlib.h>

#include "base/fs.h"
#include "base/map.h"
#include "fmt/write.h"
#include "logic/logic_internal.h"

static void emit_text(Str s, Emit *e)
{
    if (s.s)
        emit_str(e, s);
    else
        emit_null(e);
}

static void emit_node(const Node *n, Emit *e)
{
    if (n)
        logic_node_emit(n, e);
    else
        emit_null(e);
}

static void emit_arch(const Logic *l, Emit *e)
{
    if (!l->cu_count && l->is_apu < 0) {
        emit_str(e, l->arch);
        return;
    }
    emit_map(e, 1u + (l->cu_count != 0) + (l->is_apu >= 0), true);
    emit_cstr(e, "Architecture");
    emit_str(e, l->arch);
    if (l->cu_count) {
        emit_cstr(e, "CUCount");
        emit_int(e, l->cu_count);
    }
    if (l->is_apu >= 0) {
        emit_cstr(e, "IsAPU");
        emit_int(e, l->is_apu);
    }
    emit_end(e);
}

static void emit_devices(const Logic *l, Emit *e)
{
    emit_seq(e, l->n_devices, true);
    for (size_t i = 0; i < l->n_devices; i++) emit_str(e, l->device[i]);
    emit_end(e);
}

static void emit_problem_type(const Logic *l, Emit *e)
{
    if (l->pt_node)
        logic_node_emit(l->pt_node, e);
    else
        logic_problem_type_emit(l->pt, e);
}

static Err emit_solutions(const Logic *l, bool derive_pt, Emit *e)
{
    LogicKeys keys;
    logic_keys_init(&keys);
    emit_seq(e, l->n_solutions, l->n_solutions == 0);
    for (size_t i = 0; i < l->n_solutions; i++)
        TRY(logic_solution_emit(&keys, &l->solution[i], derive_pt, e));
    emit_end(e);
    return ERR_OK;
}

static void emit_order(const Logic *l, Emit *e)
{
    emit_seq(e, l->n_index_order, true);
    for (size_t i = 0; i < l->n_index_order; i++) emit_int(e, l->index_order[i]);
    emit_end(e);
}

static void emit_table(const Logic *l, Emit *e)
{
    emit_seq(e, l->n_rows, l->n_rows == 0);
    for (size_t i = 0; i < l->n_rows; i++) {
        const LogicRow *row = &l->row[i];
        emit_seq(e, 2, false);
        emit_seq(e, (size_t)row->n, true);
        for (int32_t j = 0; j < row->n; j++) emit_int(e, row->size[j]);
        emit_end(e);
        emit_seq(e, 2, true);
        emit_int(e, row->solution);
        emit_real(e, row->speed);
        emit_end(e);
        emit_end(e);
    }
    emit_end(e);
}

static Err emit_list(const Logic *l, Emit *e)
{
    emit_seq(e, l->n_elements, false);
    emit_map(e, 1, true);
    emit_cstr(e, "MinimumRequiredVersion");
    emit_str(e, l->version);
    emit_end(e);
    emit_str(e, l->schedule);
    emit_arch(l, e);
    emit_devices(l, e);
    emit_problem_type(l, e);
    TRY(emit_solutions(l, false, e));
    emit_order(l, e);
    emit_table(l, e);
    emit_node(l->range, e);
    if (l->n_elements > LOGIC_AT_TILES) emit_node(l->tiles, e);
    if (l->n_elements > LOGIC_AT_METRIC) emit_text(l->metric, e);
    if (l->n_elements > LOGIC_AT_FP16ALT) emit_text(l->fp16_alt, e);
    if (l->n_elements > LOGIC_AT_DISTANCE) emit_text(l->distance, e);
    if (l->n_elements > LOGIC_AT_FP16ALT_ROUND) emit_text(l->fp16_alt_round, e);
    emit_end(e);
    return ERR_OK;
}

static void emit_library(const Logic *l, Emit *e)
{
    if (l->trees) {
        logic_node_emit(l->trees, e);
        return;
    }
    emit_map(e, 3, false);
    emit_cstr(e, "distance");
    emit_str(e, logic_distance(l));
    emit_cstr(e, "indexOrder");
    emit_order(l, e);
    emit_cstr(e, "table");
    emit_table(l, e);
    emit_end(e);
}

/* Keys in byte order. */
static Err emit_dict(const Logic *l, Emit *e)
{
    bool alt = l->fp16_alt.s || l->fp16_alt_said, round = l->fp16_alt_round.s || l->fp16_alt_round_said;
    size_t n = 8u + (l->cu_count != 0) + (l->is_apu >= 0) + alt + round + (l->metric.s != NULL);
    emit_map(e, n, false);
    emit_cstr(e, "ArchitectureName");
    emit_str(e, l->arch);
    if (l->cu_count) {
        emit_cstr(e, "CUCount");
        emit_int(e, l->cu_count);
    }
    emit_cstr(e, "DeviceNames");
    emit_devices(l, e);
    if (alt) {
        emit_cstr(e, "Fp16AltImpl");
        emit_bool(e, l->fp16_alt.s != NULL);
    }
    if (round) {
        emit_cstr(e, "Fp16AltImplRound");
        emit_bool(e, l->fp16_alt_round.s != NULL);
    }
    if (l->is_apu >= 0) {
        emit_cstr(e, "IsAPU");
        emit_int(e, l->is_apu);
    }
    emit_cstr(e, "Library");
    emit_library(l, e);
    emit_cstr(e, "LibraryType");
    emit_cstr(e, l->trees ? "DecisionTree" : "Matching");
    emit_cstr(e, "MinimumRequiredVersion");
    emit_str(e, l->version);
    if (l->metric.s) {
        emit_cstr(e, "PerfMetric");
        emit_str(e, l->metric);
    }
    emit_cstr(e, "ProblemType");
    emit_problem_type(l, e);
    emit_cstr(e, "ScheduleName");
    emit_str(e, l->schedule);
    emit_cstr(e, "Solutions");
    TRY(emit_solutions(l, true, e));
    emit_end(e);
    return ERR_OK;
}

Err logic_emit(const Logic *l, Buf *out)
{
    Emit *e = emit_yaml(out);
    TRY_ALLOC(e);
    Err err = l->dict ? emit_dict(l, e) : emit_list(l, e);
    if (!err) err = emit_finish(e);
    emit_free(e);
    return err ? err : buf_check(out);
}

Err logic_write(const Logic *l, const char *path)
{
    Buf b;
    buf_init(&b);
    Err e = logic_emit(l, &b);
    if (!e) e = file_write(path, buf_view(&b));
    buf_fini(&b);
    return e;
}

Err logic_report_kept(const Logic *l, Buf *out)
{
    Map m;
    map_init(&m);
    for (size_t i = 0; i < l->n_solutions; i++)
        for (size_t j = 0; j < l->solution[i].n_kept; j++) {
            int64_t *count = map_put(&m, l->solution[i].kept[j].key, NULL);
            if (count) ++*count;
        }
    for (size_t i = 0; i < m.n; i++)
        buf_printf(out, "%s'%.*s' (%lld)", i ? ", " : "", STR_ARG(m.entry[i].key),
                   (long long)m.entry[i].value);
    map_fini(&m);
    return buf_check(out);
}
