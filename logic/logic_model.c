/* Keys of a solution that hold numbers of the performance model. See logic.h. */
#include "logic/logic_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Six digits are more than a prediction has, and keep files short. */
static Node number_node(double v)
{
    char text[32];
    if (v == floor(v) && fabs(v) < 1e15) return (Node){.kind = NODE_INT, .integer = (int64_t)v};
    snprintf(text, sizeof text, "%.6g", v);
    return (Node){.kind = NODE_FLOAT, .real = strtod(text, NULL)};
}

static Err replace(Arena *a, LogicSolution *s, const char *key, const Node *value)
{
    for (size_t i = 0; i < s->n_kept; i++)
        if (str_eq_c(s->kept[i].key, key)) {
            LogicKept *own = ARENA_ARRAY(a, s->n_kept, LogicKept); /* s may be a copy that shares its list */
            TRY_ALLOC(own);
            memcpy(own, s->kept, s->n_kept * sizeof *own);
            own[i].value = value;
            s->kept = own;
            return ERR_OK;
        }
    return logic_solution_keep(a, str_from(key), value, s);
}

static Node *list_of(Arena *a, size_t n)
{
    Node *list = ARENA_NEW(a, Node), *item = ARENA_ARRAY(a, n + 1, Node);
    if (!list || !item) return NULL;
    *list = (Node){.kind = NODE_SEQ};
    list->item = item;
    list->n = n;
    return list;
}

Err logic_solution_numbers(Arena *a, LogicSolution *s, const char *key, const double *v, size_t n)
{
    Node *list = list_of(a, n);
    TRY_ALLOC(list);
    for (size_t i = 0; i < n; i++) list->item[i] = number_node(v[i]);
    return replace(a, s, key, list);
}

Err logic_solution_lists(Arena *a, LogicSolution *s, const char *key, const int64_t *v, size_t n,
                         size_t n_each)
{
    Node *list = list_of(a, n);
    TRY_ALLOC(list);
    for (size_t i = 0; i < n; i++) {
        Node *one = list_of(a, n_each);
        TRY_ALLOC(one);
        for (size_t k = 0; k < n_each; k++)
            one->item[k] = (Node){.kind = NODE_INT, .integer = v[i * n_each + k]};
        list->item[i] = *one;
    }
    return replace(a, s, key, list);
}

const Node *logic_solution_kept(const LogicSolution *s, const char *key)
{
    for (size_t i = 0; i < s->n_kept; i++)
        if (str_eq_c(s->kept[i].key, key)) return s->kept[i].value;
    return NULL;
}
