/* Hardware predicates of a library: which devices a table is for. Reads and evaluates them. */
#include <string.h>

#include "problem/predicate.h"

typedef struct {
    const char *name;
    const Hardware *hw;
    bool names_arch;
} HardwareReader;

static Err hardware_value(HardwareReader *r, const Node *n, unsigned depth, bool *holds);

static Err hardware_group(HardwareReader *r, const Node *n, Str type, const Node *value, unsigned depth,
                          bool *holds)
{
    bool all = str_eq_c(type, "And"), child;
    TRY(node_seq(value, r->name, "value of a hardware predicate", 0, PRED_CHILDREN_MAX));
    *holds = all;
    for (size_t i = 0; i < value->n; i++) {
        TRY(hardware_value(r, node_at(value, i), depth + 1, &child));
        *holds = all ? *holds && child : *holds || child;
    }
    (void)n;
    return ERR_OK;
}

static Err hardware_leaf(HardwareReader *r, const Node *n, Str type, const Node *value, bool *holds)
{
    int64_t count;
    bool apu = true;
    Str arch;
    if (str_eq_c(type, "Processor")) {
        TRY(node_str(value, r->name, "Processor", &arch));
        *holds = str_eq(arch, r->hw->arch);
        r->names_arch |= *holds;
    } else if (str_eq_c(type, "CUCount")) {
        TRY(node_int(value, r->name, "CUCount", 0, INT32_MAX, &count));
        *holds = count == r->hw->n_cu;
    } else if (str_eq_c(type, "IsAPU")) {
        if (value) TRY(node_bool(value, r->name, "IsAPU", &apu));
        *holds = apu == r->hw->is_apu;
    } else if (str_eq_c(type, "RunsKernelTargeting")) {
        TRY(node_str(value, r->name, "RunsKernelTargeting", &arch));
        *holds = str_eq(arch, r->hw->arch);
    } else {
        FAIL(ERR_INPUT, "%s:%d: hardware predicate type '%.*s' is unknown", r->name, n->line, STR_ARG(type));
    }
    return ERR_OK;
}

static Err hardware_value(HardwareReader *r, const Node *n, unsigned depth, bool *holds)
{
    if (depth > PRED_DEPTH_MAX)
        FAIL(ERR_INPUT, "%s:%d: predicates nested deeper than %d", r->name, n->line, PRED_DEPTH_MAX);
    TRY(node_map(n, r->name, "hardware predicate"));
    const Node *type_node = node_get(n, "type"), *value = node_get(n, "value");
    Str type;
    if (!type_node) FAIL(ERR_INPUT, "%s:%d: hardware predicate has no type", r->name, n->line);
    TRY(node_str(type_node, r->name, "hardware predicate type", &type));
    *holds = str_eq_c(type, "TruePred");
    if (*holds || str_eq_c(type, "FalsePred")) return ERR_OK;
    if (!value && !str_eq_c(type, "IsAPU"))
        FAIL(ERR_INPUT, "%s:%d: hardware predicate %.*s has no value", r->name, n->line, STR_ARG(type));
    if (str_eq_c(type, "AMDGPU")) return hardware_value(r, value, depth + 1, holds);
    if (str_eq_c(type, "Not")) {
        TRY(hardware_value(r, value, depth + 1, holds));
        *holds = !*holds;
        return ERR_OK;
    }
    if (str_eq_c(type, "And") || str_eq_c(type, "Or")) return hardware_group(r, n, type, value, depth, holds);
    return hardware_leaf(r, n, type, value, holds);
}

Err hardware_pred_holds(const char *name, const Node *n, const Hardware *hw, bool *holds, bool *names_arch)
{
    HardwareReader r = {.name = name, .hw = hw};
    TRY(hardware_value(&r, n, 0, holds));
    if (names_arch) *names_arch = r.names_arch;
    return ERR_OK;
}
