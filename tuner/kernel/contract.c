/* See contract.h. */
#include "kernel/contract.h"

#include <string.h>

/* ---- names ---- */

static const char *const size_names[INDEX_MAX] = {"size_0", "size_1", "size_2",  "size_3",
                                                  "size_4", "size_5", "size_6",  "size_7",
                                                  "size_8", "size_9", "size_10", "size_11"};
#define STRIDES(t)                                                                                           \
    {                                                                                                        \
        "stride_" t "0", "stride_" t "1", "stride_" t "2", "stride_" t "3", "stride_" t "4",                 \
            "stride_" t "5", "stride_" t "6", "stride_" t "7", "stride_" t "8", "stride_" t "9",             \
            "stride_" t "10", "stride_" t "11"                                                               \
    }
static const char *const stride_names[INDICES_TENSORS][INDEX_MAX] = {STRIDES("a"), STRIDES("b"), STRIDES("c"),
                                                                     STRIDES("d")};

#define PADS(t)                                                                                              \
    {                                                                                                        \
        t "0", t "1", t "2", t "3", t "4", t "5"                                                             \
    }
static const char *const pad_names[2][2][TUPLE_MAX] = {{PADS("pad_start_a"), PADS("pad_end_a")},
                                                       {PADS("pad_start_b"), PADS("pad_end_b")}};
#define TEN(t) t "0", t "1", t "2", t "3", t "4", t "5", t "6", t "7", t "8", t "9"
static const char *const divisor_names[] = {TEN("divisor_"),  TEN("divisor_1"), TEN("divisor_2"),
                                            TEN("divisor_3"), TEN("divisor_4"), TEN("divisor_5"),
                                            TEN("divisor_6"), TEN("divisor_7")};

static const char *named(const ContractNames *n, const char *name)
{
    return n && n->s ? stmts_name(n->s, "%s%s", n->prefix, name) : name;
}

static const char *stride_name(const Indices *x, int t, int dim, const ContractNames *names)
{
    if (dim == 0 && !(t < 2 ? x->initial_ab : x->initial_cd)) return "1";
    return named(names, stride_names[t][dim]);
}

IndexGroup contract_side(int t, int coord)
{
    static const IndexGroup sides[INDICES_TENSORS][CONTRACT_COORDS] = {{INDICES_M, INDICES_K, INDICES_BATCH},
                                                                       {INDICES_K, INDICES_N, INDICES_BATCH},
                                                                       {INDICES_M, INDICES_N, INDICES_BATCH},
                                                                       {INDICES_M, INDICES_N, INDICES_BATCH}};
    return sides[t][coord];
}

/* ---- views ---- */

/* Is the index a part of the tensor's rows, columns or batch? One of the batch that is packed into the other
 * operand is not: its stride is 0. */
static bool has_side(const Indices *x, int t, int32_t index)
{
    for (int c = 0; c < CONTRACT_COORDS; c++)
        if (index_list_has(&x->group[contract_side(t, c)], index)) return true;
    return false;
}

static bool is_mirrored(const Indices *x, int t, int32_t index)
{
    return t < 2 && index_list_has(&x->mirror[t], index);
}

void contract_view(View *v, const Indices *x, int t, const ContractNames *names)
{
    static const char *const letters[INDEX_MAX] = {"i", "j", "k", "l", "m", "n",
                                                   "o", "p", "q", "r", "s", "t"};
    static const char *const tops[INDICES_GROUPS] = {"M", "N", "batch", "K"};
    int dim_of[INDEX_MAX], none[CONTRACT_COORDS];
    view_init(v);
    for (int i = 0; i < x->tensor[t].n; i++) {
        const int32_t index = x->tensor[t].v[i];
        if (!has_side(x, t, index)) continue;
        dim_of[index] =
            view_memory_dim(v, letters[index], named(names, size_names[index]), stride_name(x, t, i, names));
        if (dim_of[index] >= 0) v->dim[dim_of[index]].down = is_mirrored(x, t, index);
    }
    for (int c = 0; c < CONTRACT_COORDS; c++) {
        const IndexGroup g = contract_side(t, c);
        if (!x->group[g].n) none[c] = view_memory_dim(v, tops[g], "1", "0");
    }
    for (int c = 0; c < CONTRACT_COORDS; c++) {
        const IndexGroup g = contract_side(t, c);
        const IndexList *l = &x->group[g];
        int lower[INDEX_MAX];
        for (int32_t i = 0; i < l->n; i++) lower[i] = dim_of[l->v[l->n - 1 - i]];
        if (l->n < 2)
            view_pass(v, l->n ? lower[0] : none[c], tops[g]);
        else
            view_merge(v, lower, l->n, tops[g], tops[g]);
    }
}

static const Expr *size_of(ExprPool *p, const ContractNames *names, int32_t index)
{
    return expr_var(p, named(names, size_names[index]), 0, 1, UINT32_MAX);
}

static const Expr *stride_of(ExprPool *p, const Indices *x, int t, const ContractNames *names, int32_t index)
{
    const int32_t dim = index_list_find(&x->tensor[t], index);
    if (dim < 0) return expr_const(p, 0);
    const char *name = stride_name(x, t, dim, names);
    return strcmp(name, "1") ? expr_var(p, name, 0, 0, UINT32_MAX) : expr_const(p, 1);
}

static const Expr *pad_number(ExprPool *p, const ContractNames *names, int t, int pad, bool end)
{
    return expr_var(p, named(names, pad_names[t][end][pad]), 0, 0, INT32_MAX);
}

const Expr *contract_offset(const Indices *x, int t, const ContractNames *names,
                            const Expr *const coord[CONTRACT_COORDS])
{
    View v;
    contract_view(&v, x, t, names);
    return view_address(&names->s->pool, &v, coord);
}

const Expr *contract_address(const Indices *x, int t, const ContractNames *names,
                             const Expr *const coord[CONTRACT_COORDS])
{
    ExprPool *p = &names->s->pool;
    const Expr *at = contract_offset(x, t, names, coord);
    for (int32_t i = 0; t < 2 && i < x->n_pads[t]; i++)
        at = expr_sub(p, at, pad_number(p, names, t, i, false));
    for (int32_t i = 0; t < 2 && i < x->mirror[t].n; i++) { /* addresses begin at the last element */
        const int32_t index = x->mirror[t].v[i];
        const Expr *last = expr_add_i(p, size_of(p, names, index), -1);
        at = expr_add(p, at, expr_mul(p, last, stride_of(p, x, t, names, index)));
    }
    return at;
}

/* The digit of coordinate `at` of a group that is `index`; NULL: the group does not have it. */
static const Expr *digit(ExprPool *p, const Indices *x, IndexGroup group, const ContractNames *names,
                         const Expr *at, int32_t index)
{
    const IndexList *l = &x->group[group];
    for (int32_t i = 0; i < l->n; i++) {
        const Expr *size = size_of(p, names, l->v[i]);
        if (l->v[i] == index) return i + 1 < l->n ? expr_mod(p, at, size) : at;
        at = expr_div(p, at, size);
    }
    return NULL;
}

const Expr *contract_pad_position(const Indices *x, int t, const ContractNames *names, int pad, int coord,
                                  const Expr *at)
{
    ExprPool *p = &names->s->pool;
    const int32_t index[] = {x->pad[t][pad].free, x->pad[t][pad].sum};
    const Expr *sum = expr_const(p, 0);
    for (int i = 0; i < 2; i++) {
        const Expr *d = digit(p, x, contract_side(t, coord), names, at, index[i]);
        if (d) sum = expr_add(p, sum, expr_mul(p, d, stride_of(p, x, t, names, index[i])));
    }
    return sum;
}

const Expr *contract_pad_start(const Indices *x, int t, const ContractNames *names, int pad)
{
    (void)x;
    return pad_number(&names->s->pool, names, t, pad, false);
}

const Expr *contract_pad_edge(const Indices *x, int t, const ContractNames *names, int pad)
{
    ExprPool *p = &names->s->pool;
    const int32_t free = x->pad[t][pad].free, sum = x->pad[t][pad].sum;
    const Expr *edge = expr_mul(p, size_of(p, names, free), stride_of(p, x, t, names, free));
    const Expr *last = expr_add_i(p, size_of(p, names, sum), -1);
    edge = expr_add(p, edge, expr_mul(p, last, stride_of(p, x, t, names, sum)));
    return expr_sub(p, edge, pad_number(p, names, t, pad, true));
}

const Expr *contract_inside(const Indices *x, int t, const ContractNames *names, const Expr *row,
                            const Expr *column)
{
    ExprPool *p = &names->s->pool;
    const Expr *const at[2] = {row, column}, *inside = expr_const(p, 1);
    for (int32_t i = 0; t < 2 && i < x->n_pads[t]; i++) {
        const Expr *here = expr_const(p, 0), *start = contract_pad_start(x, t, names, i);
        for (int c = 0; c < 2; c++) here = expr_add(p, here, contract_pad_position(x, t, names, i, c, at[c]));
        inside = expr_op(p, EXPR_BOTH, inside, expr_op(p, EXPR_LE, start, here));
        inside = expr_op(p, EXPR_BOTH, inside, expr_op(p, EXPR_LT, here, contract_pad_edge(x, t, names, i)));
    }
    return inside;
}

const Expr *contract_digits_offset(const Indices *x, int t, const ContractNames *names, IndexGroup g,
                                   const Expr *const digit_of[])
{
    ExprPool *p = &names->s->pool;
    const Expr *sum = expr_const(p, 0);
    for (int32_t i = 0; i < x->group[g].n; i++) {
        const int32_t index = x->group[g].v[i];
        const Expr *part = expr_mul(p, digit_of[i], stride_of(p, x, t, names, index));
        sum = is_mirrored(x, t, index) ? expr_sub(p, sum, part) : expr_add(p, sum, part);
    }
    return sum;
}

const Expr *contract_digits_position(const Indices *x, int t, const ContractNames *names, int pad,
                                     IndexGroup g, const Expr *const digit_of[])
{
    ExprPool *p = &names->s->pool;
    const Expr *sum = expr_const(p, 0);
    for (int32_t i = 0; i < x->group[g].n; i++) {
        const int32_t index = x->group[g].v[i];
        if (index == x->pad[t][pad].free || index == x->pad[t][pad].sum)
            sum = expr_add(p, sum, expr_mul(p, digit_of[i], stride_of(p, x, t, names, index)));
    }
    return sum;
}

const Expr *contract_extent(const ContractNames *names, int32_t index)
{
    return size_of(&names->s->pool, names, index);
}

const Expr *contract_index_stride(const Indices *x, int t, const ContractNames *names, int32_t index)
{
    return stride_of(&names->s->pool, x, t, names, index);
}

bool contract_runs(const Indices *x, int t, int coord) { return indices_run(x, t, contract_side(t, coord)); }

int32_t contract_run_index(const Indices *x, int t, int coord)
{
    const IndexList *l = &x->group[contract_side(t, coord)];
    return l->n ? l->v[0] : -1;
}

const Expr *contract_index_step(const Indices *x, int t, const ContractNames *names, int32_t index)
{
    ExprPool *p = &names->s->pool;
    const Expr *step = stride_of(p, x, t, names, index);
    return is_mirrored(x, t, index) ? expr_sub(p, expr_const(p, 0), step) : step;
}

const Expr *contract_run_step(const Indices *x, int t, const ContractNames *names, int coord)
{
    const int32_t index = contract_run_index(x, t, coord);
    return index < 0 ? expr_const(&names->s->pool, 0) : contract_index_step(x, t, names, index);
}

const Expr *contract_size(const Indices *x, IndexGroup group, const ContractNames *names)
{
    ExprPool *p = &names->s->pool;
    const Expr *n = expr_const(p, 1);
    for (int32_t i = 0; i < x->group[group].n; i++)
        n = expr_mul(p, n, size_of(p, names, x->group[group].v[i]));
    return n;
}

/* ---- arguments ---- */

typedef struct {
    ContractArg *out;
    int n, n_divisors;
} ArgList;

static void add(ArgList *l, const char *name, bool is_signed)
{
    l->out[l->n++] = (ContractArg){.name = name, .is_signed = is_signed};
}

/* Two numbers for each division. */
static void unused(ArgList *l, int divisions)
{
    for (int i = 0; i < 2 * divisions; i++) {
        add(l, divisor_names[l->n_divisors++], false);
        l->out[l->n - 1].is_unused = true;
    }
}

_Static_assert(4 * INDEX_MAX + INDEX_MAX + 2 * (2 * INDEX_MAX + 1) + 4 * TUPLE_MAX <= CONTRACT_ARGS_MAX,
               "there is room for all arguments");

int contract_args(const Indices *x, bool splits, ContractArg out[CONTRACT_ARGS_MAX])
{
    const int first = x->exchanged, order[] = {3, 2, first, 1 - first};
    ArgList l = {out, 0, 0};
    for (int i = 0; i < INDICES_TENSORS; i++) {
        const int t = order[i];
        for (int d = (t < 2 ? x->initial_ab : x->initial_cd) ? 0 : 1; d < x->tensor[t].n; d++)
            add(&l, stride_names[t][d], false), out[l.n - 1].is_stride = true;
    }
    for (int i = 0; i < x->n; i++) add(&l, size_names[i], false);
    const int sums = x->group[INDICES_K].n;
    if (x->pack_sums) unused(&l, sums - 1 + (splits && sums > 1));
    for (int i = 0; i < 2; i++) {
        const int packed = x->group[order[2 + i] ? INDICES_N : INDICES_M].n;
        if (packed > 1) unused(&l, packed - 1);
    }
    for (int s = sums; s-- > 0;)
        for (int i = 0; i < 2; i++) {
            const int t = order[2 + i];
            for (int32_t pad = 0; pad < x->n_pads[t]; pad++) {
                if (x->pad[t][pad].sum != x->group[INDICES_K].v[s]) continue;
                add(&l, pad_names[t][0][pad], true);
                add(&l, pad_names[t][1][pad], true);
            }
        }
    return l.n;
}

/* ---- the clause ---- */

static void put_indices(const Indices *x, int t, Buf *out)
{
    const IndexList *l = &x->tensor[t];
    for (int32_t i = 0; i < l->n; i++)
        buf_putc(out, (char)((is_mirrored(x, t, l->v[i]) ? 'I' : 'i') + l->v[i]));
}

void contract_put(const Indices *x, Buf *out)
{
    buf_puts(out, "contraction Contraction_");
    for (int32_t i = x->group[INDICES_K].n; i-- > 0;) buf_putc(out, (char)('i' + x->group[INDICES_K].v[i]));
    for (int t = 0; t < INDICES_TENSORS; t++) {
        buf_printf(out, "_%c", "ABCD"[t]);
        put_indices(x, t, out);
        if (t < 2 && x->conj[t]) buf_putc(out, 'C');
    }
    buf_printf(out, " pack %d pack_sums %d initial_ab %d initial_cd %d", x->pack, x->pack_sums, x->initial_ab,
               x->initial_cd);
    for (int t = 0; t < 2; t++)
        for (int32_t i = 0; i < x->n_pads[t]; i++)
            buf_printf(out, " pad_%c %c %c", 'a' + t, 'i' + x->pad[t][i].free, 'i' + x->pad[t][i].sum);
    if (x->exchanged) buf_puts(out, " arguments b a");
    if (x->outputs_first) buf_puts(out, " copies along outputs");
    buf_putc(out, '\n');
}

static Err read_flag(const Str *word, const char *key, int most, int32_t *to)
{
    int64_t v;
    if (!str_eq_c(word[0], key) || !str_to_i64(word[1], &v) || v < 0 || v > most)
        FAIL(ERR_INPUT, "'%.*s %.*s', expected '%s' and 0 to %d", STR_ARG(word[0]), STR_ARG(word[1]), key,
             most);
    *to = (int32_t)v;
    return ERR_OK;
}

Err contract_read(const Str *word, int n, Indices *out)
{
    enum { FIXED = 9, PAD = 3 };
    int32_t pack, sums, ab, cd;
    if (n < FIXED || (n - FIXED) % PAD)
        FAIL(ERR_INPUT,
             "a contraction has its identifier, pack, pack_sums, initial_ab, initial_cd and pads, not "
             "%d words",
             n);
    TRY(indices_read(word[0], out));
    TRY(read_flag(&word[1], "pack", 2, &pack));
    TRY(read_flag(&word[3], "pack_sums", 1, &sums));
    TRY(read_flag(&word[5], "initial_ab", 1, &ab));
    TRY(read_flag(&word[7], "initial_cd", 1, &cd));
    out->pack_sums = sums, out->initial_ab = ab, out->initial_cd = cd;
    for (int i = FIXED; i < n; i += PAD) {
        if (str_eq_c(word[i], "arguments") && str_eq_c(word[i + 1], "b") && str_eq_c(word[i + 2], "a")) {
            out->exchanged = true;
            continue;
        }
        if (str_eq_c(word[i], "copies") && str_eq_c(word[i + 1], "along") &&
            str_eq_c(word[i + 2], "outputs")) {
            out->outputs_first = true;
            continue;
        }
        const int t = str_eq_c(word[i], "pad_b");
        const int32_t at = out->n_pads[t], free = word[i + 1].s[0] - 'i', sum = word[i + 2].s[0] - 'i';
        if ((!t && !str_eq_c(word[i], "pad_a")) || at == TUPLE_MAX || free < 0 || free >= out->of_d ||
            sum < out->of_d || sum >= out->n || !indices_has(out, t, free))
            FAIL(ERR_INPUT, "'%.*s %.*s %.*s' is no zero pad of the contraction", STR_ARG(word[i]),
                 STR_ARG(word[i + 1]), STR_ARG(word[i + 2]));
        out->pad[t][at].free = free, out->pad[t][at].sum = sum;
        out->n_pads[t]++;
    }
    indices_pack(out, pack);
    return ERR_OK;
}
