/* Writes problem and hardware predicates as {type, [index], [value]}. A file of its own: libtuner only reads.
 * */
#include "fmt/write.h"
#include "problem/datatype.h"
#include "problem/predicate_operand.h"

static void emit_types(Emit *e, int64_t types)
{
    emit_seq(e, 4, true);
    for (int i = 0; i < 4; i++) emit_cstr(e, type_enum_name((DataType)(types >> (8 * i) & 0xff)));
    emit_end(e);
}

static void emit_operand(Emit *e, const PredOp *p)
{
    Operand kind = pred_rows[p->id].operand;
    switch (kind) {
    case OPERAND_NONE:
        return;
    case OPERAND_INT:
    case OPERAND_IDX_INT:
        emit_int(e, p->v.i[0]);
        return;
    case OPERAND_REAL:
        emit_real(e, p->v.r[0]);
        return;
    case OPERAND_BOOL:
    case OPERAND_FLAG:
        emit_bool(e, p->v.i[0] != 0);
        return;
    case OPERAND_TYPES:
        emit_types(e, p->v.i[0]);
        return;
    case OPERAND_TYPE:
        emit_cstr(e, type_enum_name((DataType)p->v.i[0]));
        return;
    case OPERAND_OP:
        emit_cstr(e, p->v.op.text);
        return;
    case OPERAND_LANG:
        emit_cstr(e, pred_languages[p->v.i[0]]);
        return;
    case OPERAND_UNIT:
        emit_cstr(e, pred_units[p->v.i[0]]);
        return;
    case OPERAND_SCALAR:
        emit_cstr(e, pred_scalars[p->v.i[0]]);
        return;
    case OPERAND_IDX_RANGE:
        emit_map(e, 2, true);
        emit_cstr(e, "max");
        emit_int(e, p->v.i[1]);
        emit_cstr(e, "min");
        emit_int(e, p->v.i[0]);
        emit_end(e);
        return;
    case OPERAND_LOADLIM:
        break;
    }
    emit_map(e, 4, true);
    for (int i = 3; i >= 0; i--) { /* sorted by name: DUorMT0, DUorMT1, ShiftPtrElemA, ShiftPtrElemB */
        int at = i >= 2 ? 5 - i : 1 - i;
        emit_cstr(e, pred_limit_keys[at]);
        emit_int(e, p->v.lim[at]);
    }
    emit_end(e);
}

/* Keys are written sorted: index, type, value. */
void predicate_emit(Emit *e, const PredOp *p)
{
    Operand kind = pred_rows[p->id].operand;
    bool group = p->id == PRED_AND || p->id == PRED_OR || p->id == PRED_NOT;
    bool indexed = kind == OPERAND_IDX_INT || kind == OPERAND_IDX_RANGE;
    bool value = group || kind != OPERAND_NONE;
    emit_map(e, 1u + indexed + value, !group && kind != OPERAND_TYPES && kind != OPERAND_LOADLIM);
    if (indexed) {
        emit_cstr(e, "index");
        emit_int(e, p->index);
    }
    emit_cstr(e, "type");
    emit_cstr(e, pred_rows[p->id].name);
    if (value) emit_cstr(e, "value");
    if (!group) {
        emit_operand(e, p);
    } else if (p->id == PRED_NOT) {
        predicate_emit(e, p + 1);
    } else {
        emit_seq(e, p->n_children, false);
        const PredOp *child = p + 1;
        for (unsigned i = 0; i < p->n_children; i++, child += child->span) predicate_emit(e, child);
        emit_end(e);
    }
    emit_end(e);
}

/* ---- hardware ---- */

static void emit_leaf(Emit *e, const char *type)
{
    emit_map(e, 2, true);
    emit_cstr(e, "type");
    emit_cstr(e, type);
    emit_cstr(e, "value");
}

void hardware_pred_emit(Emit *e, Str arch, int64_t n_cu, int is_apu)
{
    if (arch.n == 0) {
        emit_map(e, 1, true);
        emit_cstr(e, "type");
        emit_cstr(e, "TruePred");
        emit_end(e);
        return;
    }
    size_t n = 1u + (n_cu > 0) + (is_apu >= 0);
    emit_map(e, 2, false);
    emit_cstr(e, "type");
    emit_cstr(e, "AMDGPU");
    emit_cstr(e, "value");
    if (n > 1) {
        emit_map(e, 2, false);
        emit_cstr(e, "type");
        emit_cstr(e, "And");
        emit_cstr(e, "value");
        emit_seq(e, n, false);
    }
    emit_leaf(e, "Processor");
    emit_str(e, arch);
    emit_end(e);
    if (n_cu > 0) {
        emit_leaf(e, "CUCount");
        emit_int(e, n_cu);
        emit_end(e);
    }
    if (is_apu >= 0) {
        emit_leaf(e, "IsAPU");
        emit_int(e, is_apu);
        emit_end(e);
    }
    if (n > 1) {
        emit_end(e);
        emit_end(e);
    }
    emit_end(e);
}
