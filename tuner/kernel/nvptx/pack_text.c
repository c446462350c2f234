/* The statements of the kernel that copies A and B into the workspace, so that lines (rows of contiguous
 * elements) begin at multiples of 128 bytes. For types of 1 and 4 bytes, whose wgmma needs contiguous K,
 * it also transposes them (problem/pack.h). A work-group copies a tile of 64 lines of 256 bytes; a warp
 * loads words of whole lines. */
#include "kernel/lower/build.h"
#include "kernel/lower/slices.h"
#include "kernel/nvptx/pack.h"
#include "problem/pack.h"

enum {
    WORD = 4,
    WORDS = PACK_TILE_BYTES / WORD, /* of a line */
    LANES = 32,
    HALVES = WORDS / LANES, /* words of a line that a lane copies */
    WARPS = 8,
    PITCH = WORDS + 1, /* words of a line in shared memory: lines 4, 8 or 16 apart are in different banks */
    VECTOR = 4,        /* words that are stored at once */
    PART = 0,          /* slots of variables */
    LINE,
    HALF,
    THREAD
};

typedef struct {
    Stmts *s;
    ExprPool *p;
    int bytes;       /* of an element */
    int parts, each; /* parts of a tile; lines of a part that a warp copies */
    const Expr *lane, *warp;
} Pack;

static Pack pack_of(Stmts *s, int bytes)
{
    /* Tiles of elements below 4 bytes, whose words may need shifts, are copied in two parts: half the
     * registers, and so a higher occupancy. */
    const int parts = bytes == WORD ? 1 : 2;
    const Expr *thread = expr_var(&s->pool, "threadIdx.x", THREAD, 0, WARPS * LANES - 1);
    return (Pack){.s = s,
                  .p = &s->pool,
                  .bytes = bytes,
                  .parts = parts,
                  .each = PACK_TILE_LINES / WARPS / parts,
                  .lane = expr_mod_i(&s->pool, thread, LANES),
                  .warp = expr_div_i(&s->pool, thread, LANES)};
}

static const Value *of(const Pack *k, const Expr *e) { return value_expr(k->s, e); }
static Access word_at(const Value *at) { return access_at(SPACE_GLOBAL, "u32", WORD, at, NULL); }

/* ---- types ---- */

static const StmtParam operand[] = {
#define OPERAND(kind, field) {PACK_TYPE_##kind("u8"), #field},
#include "problem/pack.def"
};
enum { FIELDS = sizeof operand / sizeof *operand, CHOSEN = FIELDS - 2 };

/* Prints Operand, which is PackArgs; Tile: its first byte in the operand, the matrix of the copy, the
 * number of its first line, its offset in its lines in bytes, its lines inside the matrix, and the bytes
 * of each, at most 8 past the tile; Vector. */
static void types(const Pack *k)
{
    static const StmtParam tile[] = {{"const u8 *", "from"}, {"u8 *", "to"},   {"u32", "line"},
                                     {"u64", "at"},          {"int", "lines"}, {"int", "bytes"}};
    Stmts *s = k->s;
    nvptx_pack_types(s);
    nvptx_pack_struct(s, "Operand", operand, FIELDS);
    nvptx_pack_struct(s, "Tile", tile, sizeof tile / sizeof *tile);
    stmt_struct(s, "Vector", VECTOR * WORD);
    stmt_array(s, "u32", "v", DIMS(VECTOR));
    stmt_end(s);
    stmt_typedef(s, "u32", "Words", stmts_name(s, "[%d][%d]", k->each, HALVES));
}

/* ---- words ---- */

/* Prints word_of_bytes(), bytes `at` to at + 3 of a line as a word. Bytes from n on are past its end, and
 * are zero. */
static void word_of_bytes(const Pack *k)
{
    Stmts *s = k->s;
    stmt_function(s, (Function){.result = "u32",
                                .name = "word_of_bytes",
                                STMT_PARAMS({"const u8 *", "line"}, {"int", "n"}, {"int", "at"})});
    const Value *word = stmt_var(s, "u32", "word", number(k, 0));
    const Expr *i = stmt_loop(
        s, (Loop){.var = "i", .type = "int", .start = expr_const(k->p, 0), .limit = expr_const(k->p, WORD)});
    const Value *at = sum(k, reg(k, "at"), of(k, i));
    stmt_if(s, op(k, VALUE_LT, at, reg(k, "n")));
    const Value *byte = value_load(s, access_at(SPACE_GLOBAL, "u8", 1, sum(k, reg(k, "line"), at), NULL));
    stmt_update(s, VALUE_OR, word,
                op(k, VALUE_SHL, value_cast(s, "u32", byte), of(k, expr_mul_i(k->p, i, 8))));
    stmt_end(s);
    stmt_end(s);
    stmt_return(s, word);
    stmt_end(s);
}

/* Opens the loops over a thread's words of a part: words lane and lane + 32 of some lines. Returns the
 * word's number in its line, and declares that of the line. */
static const Expr *each_word(const Pack *k)
{
    Stmts *s = k->s;
    const Expr *i = stmt_unrolled(s, "i", LINE, k->each), *h = stmt_unrolled(s, "h", HALF, HALVES);
    const Expr *part = expr_var(k->p, "part", PART, 0, k->parts - 1);
    const Expr *first = expr_add(k->p, expr_mul_i(k->p, part, k->each), i);
    stmt_define(s, "int", "number", of(k, expr_add(k->p, expr_mul_i(k->p, first, WARPS), k->warp)));
    return expr_add(k->p, k->lane, expr_mul_i(k->p, h, LANES));
}

static void end_words(const Pack *k) { stmt_end(k->s), stmt_end(k->s); }

static const Value *word_of(const Pack *k, const char *array)
{
    const Expr *i = expr_var(k->p, "i", LINE, 0, k->each - 1), *h = expr_var(k->p, "h", HALF, 0, HALVES - 1);
    return value_at(k->s, value_at(k->s, reg(k, array), i), h);
}

/* Declares the line of a word, the bytes from an aligned word to its first one, and the word's first byte. */
static void line_of(const Pack *k, const Expr *word)
{
    Stmts *s = k->s;
    const Value *line = stmt_define(
        s, "u8 *const", "line",
        value_cast(s, "u8 *", sum(k, reg(k, "t.from"), product(k, reg(k, "number"), reg(k, "o.ld")))));
    const Value *rest =
        value_cast(s, "int", op(k, VALUE_AND, value_cast(s, "u64", line), number(k, WORD - 1)));
    if (k->bytes < WORD) stmt_define(s, "int", "off", rest);
    stmt_define(s, "int", "at", of(k, expr_mul_i(k->p, word, WORD)));
}

static const Value *in_lines(const Pack *k) { return op(k, VALUE_LT, reg(k, "number"), reg(k, "t.lines")); }

/* Loads the two aligned words around each word where they are inside the line, else 0; words of 4-byte
 * elements are aligned. */
static void load_aligned(const Pack *k)
{
    Stmts *s = k->s;
    const Value *zero = number(k, 0), *off = reg(k, "off"), *at = reg(k, "at");
    line_of(k, each_word(k));
    if (k->bytes == WORD) {
        const Value *in = both(k, in_lines(k), op(k, VALUE_LT, at, reg(k, "t.bytes")));
        const Value *word = value_load(s, word_at(sum(k, reg(k, "line"), at)));
        stmt_set(s, word_of(k, "word"), value_select(s, in, word, zero));
        end_words(k);
        return;
    }
    const Value *first = stmt_define(s, "int", "first", op(k, VALUE_SUB, at, off));
    const Value *begins = op(k, VALUE_EITHER, op(k, VALUE_GE, first, zero), reg(k, "t.at"));
    const Value *there = stmt_define(s, "bool", "there", both(k, in_lines(k), begins));
    for (int i = 0; i < 2; i++) {
        const Value *end = sum(k, first, number(k, (int64_t)(i + 1) * WORD));
        const Value *inside = both(k, there, op(k, VALUE_LE, end, reg(k, "t.bytes")));
        const Value *from = sum(k, reg(k, "line"), first);
        if (i) from = sum(k, from, number(k, WORD)), inside = both(k, off, inside);
        stmt_set(s, word_of(k, i ? "high" : "low"),
                 value_select(s, inside, value_load(s, word_at(from)), zero));
    }
    end_words(k);
}

/* Shifts each word out of the two. Where these are not inside the line, it is loaded byte by byte. */
static void shift_words(const Pack *k)
{
    Stmts *s = k->s;
    const Value *off = reg(k, "off"), *at = reg(k, "at"), *bytes = reg(k, "t.bytes"),
                *word = word_of(k, "word");
    line_of(k, each_word(k));
    const Value *high = op(k, VALUE_SHL, value_cast(s, "u64", word_of(k, "high")), number(k, 32));
    const Value *pair = op(k, VALUE_OR, high, word_of(k, "low"));
    stmt_set(s, word, value_cast(s, "u32", op(k, VALUE_SHR, pair, product(k, number(k, 8), off))));
    const Value *begins = both(k, op(k, VALUE_LT, at, off), op(k, VALUE_NOT, reg(k, "t.at"), NULL));
    const Value *two = value_select(s, off, number(k, 2 * WORD), number(k, WORD));
    const Value *ends = op(k, VALUE_GT, sum(k, op(k, VALUE_SUB, at, off), two), bytes);
    const Value *inside = both(k, in_lines(k), op(k, VALUE_LT, at, bytes));
    stmt_if(s, both(k, inside, op(k, VALUE_EITHER, begins, ends)));
    stmt_set(s, word, value_call(s, "word_of_bytes", reg(k, "line"), bytes, at));
    stmt_end(s);
    end_words(k);
}

/* Prints load_words(). Lines need not be aligned to words. */
static void load_words(const Pack *k)
{
    Stmts *s = k->s;
    stmt_function(s, (Function){.name = "load_words",
                                STMT_PARAMS({"const Operand &", "o"}, {"const Tile &", "t"}, {"int", "part"},
                                            {"Words &", "word"})});
    if (k->bytes < WORD) {
        stmt_var(s, "Words", "low", NULL);
        stmt_var(s, "Words", "high", NULL);
    }
    load_aligned(k);
    if (k->bytes < WORD) shift_words(k);
    stmt_end(s);
}

/* Prints store_lines(), of a copy whose lines are those of the operand. */
static void store_lines(const Pack *k)
{
    Stmts *s = k->s;
    stmt_function(s, (Function){.name = "store_lines",
                                STMT_PARAMS({"const Operand &", "o"}, {"const Tile &", "t"}, {"int", "part"},
                                            {"const Words &", "word"})});
    const Value *at = of(k, expr_mul_i(k->p, each_word(k), WORD)),
                *row = sum(k, reg(k, "t.line"), reg(k, "number"));
    stmt_if(s, both(k, in_lines(k), op(k, VALUE_LT, at, reg(k, "t.bytes"))));
    const Value *line = sum(k, reg(k, "t.to"), product(k, row, reg(k, "o.to_ld")));
    stmt_store(s, word_at(sum(k, sum(k, line, reg(k, "t.at")), at)), word_of(k, "word"));
    stmt_end(s);
    end_words(k);
    stmt_end(s);
}

/* ---- across ---- */

/* Prints keep_lines(), words of a part to shared memory. */
static void keep_lines(const Pack *k)
{
    Stmts *s = k->s;
    stmt_function(s, (Function){.name = "keep_lines",
                                STMT_PARAMS({"int", "part"}, {"const Words &", "word"}, {"u32 *", "tile"})});
    const Expr *word = each_word(k), *line = expr_var(k->p, "number", LINE, 0, PACK_TILE_LINES - 1);
    const Expr *at = expr_add(k->p, expr_mul_i(k->p, line, PITCH), word);
    stmt_store(s, access_element(SPACE_LOCAL, "u32", WORD, reg(k, "tile"), at), word_of(k, "word"));
    end_words(k);
    stmt_end(s);
}

/* Prints tile_word(), a word of shared memory; store_vector(): 16 bytes of the transposed copy, element
 * number `element` of the tile's lines from `line` on. */
static void across_functions(const Pack *k)
{
    Stmts *s = k->s;
    const Value *element = reg(k, "element"), *line = reg(k, "line"), *bytes = number(k, k->bytes);
    stmt_function(s, (Function){.result = "u32",
                                .name = "tile_word",
                                STMT_PARAMS({"const u32 *", "tile"}, {"u32", "line"}, {"u32", "word"})});
    const Expr *row = expr_var(k->p, "line", LINE, 0, PACK_TILE_LINES - 1);
    const Expr *at = expr_add(k->p, expr_mul_i(k->p, row, PITCH), expr_var(k->p, "word", HALF, 0, WORDS - 1));
    stmt_return(s, value_load(s, access_element(SPACE_LOCAL, "u32", WORD, reg(k, "tile"), at)));
    stmt_end(s);
    stmt_function(s, (Function){.name = "store_vector",
                                STMT_PARAMS({"const Operand &", "o"}, {"const Tile &", "t"},
                                            {"int", "element"}, {"int", "line"}, {"const Vector &", "v"})});
    const Value *inside = op(k, VALUE_LT, product(k, element, bytes), reg(k, "t.bytes"));
    stmt_if(s, both(k, inside, op(k, VALUE_LT, line, reg(k, "t.lines"))));
    const Value *row_of =
        product(k, sum(k, op(k, VALUE_DIV, reg(k, "t.at"), bytes), element), reg(k, "o.to_ld"));
    const Value *column = product(k, value_cast(s, "u64", sum(k, reg(k, "t.line"), line)), bytes);
    const Value *to = sum(k, sum(k, reg(k, "t.to"), row_of), column);
    stmt_store(s, access_at(SPACE_GLOBAL, "Vector", VECTOR * WORD, to, NULL), reg(k, "v"));
    stmt_end(s);
    stmt_end(s);
}

/* Bits [at, at + n) of a number. */
static const Expr *bits(const Pack *k, const Expr *e, int at, int n)
{
    return expr_mod_i(k->p, expr_div_i(k->p, e, INT64_C(1) << at), INT64_C(1) << n);
}

static const Value *tile_word(const Pack *k, const Expr *line, const Expr *word)
{
    return value_call(k->s, "tile_word", reg(k, "tile"), of(k, line), of(k, word));
}

static void store_vector(const Pack *k, const Expr *element, const Expr *line, const Value *v)
{
    stmt_call(k->s, "store_vector", reg(k, "o"), reg(k, "t"), of(k, element), of(k, line), v);
}

/* Elements of 4 bytes. A warp stores 8 vectors in each of 4 lines of the copy. */
static void across_words(const Pack *k, const Expr *thread)
{
    Stmts *s = k->s;
    ExprPool *p = k->p;
    const Expr *i = stmt_unrolled(s, "i", LINE, VECTOR);
    const Expr *id = expr_add(p, thread, expr_mul_i(p, i, LANES * WARPS));
    const Expr *group = expr_add(p, bits(k, id, 0, 3), expr_mul_i(p, bits(k, id, 5, 1), 8));
    const Expr *line = stmt_let(s, "line", expr_mul_i(p, group, VECTOR));
    const Expr *column =
        stmt_let(s, "column", expr_add(p, bits(k, id, 3, 2), expr_mul_i(p, expr_div_i(p, id, 64), 4)));
    const Value *v = stmt_var(s, "Vector", "v", NULL);
    const Expr *j = stmt_unrolled(s, "j", HALF, VECTOR);
    stmt_set(s, value_at(s, value_field(s, v, "v"), j), tile_word(k, expr_add(p, line, j), column));
    stmt_end(s);
    store_vector(k, column, line, v);
    stmt_end(s);
}

/* Bytes of two words by the digits of `from`, 4 to 7 of the second one (PTX ISA, "prmt"). */
static const Value *permuted(const Pack *k, const Value *x, const Value *y, const char *from)
{
    return value_call(k->s, "__byte_perm", x, y, reg(k, from));
}

/* Elements of 1 byte, in blocks of 4x4 bytes. A warp has 2 vectors of 16 words each. */
static void across_bytes(const Pack *k, const Expr *thread)
{
    static const char *const halves[] = {"0x5140", "0x7362"}, *const quarters[] = {"0x5410", "0x7632"};
    Stmts *s = k->s;
    ExprPool *p = k->p;
    const Expr *group = expr_add(p, bits(k, thread, 0, 1), expr_mul_i(p, bits(k, thread, 5, 1), 2));
    const Expr *line = stmt_let(s, "line", expr_mul_i(p, group, 16));
    const Expr *column = stmt_let(
        s, "column", expr_add(p, bits(k, thread, 1, 4), expr_mul_i(p, expr_div_i(p, thread, 64), 16)));
    const Value *v = stmt_array(s, "Vector", "v", DIMS(VECTOR));
    const Expr *i = stmt_unrolled(s, "i", LINE, VECTOR);
    const Value *w = stmt_array(s, "u32", "w", DIMS(VECTOR));
    const Expr *j = stmt_unrolled(s, "j", HALF, VECTOR);
    const Expr *row = expr_add(p, expr_add(p, line, expr_mul_i(p, i, VECTOR)), j);
    stmt_set(s, value_at(s, w, j), tile_word(k, row, column));
    stmt_end(s);
    for (int half = 0; half < 2; half++) {
        const Value *pair[2];
        for (int n = 0; n < 2; n++)
            pair[n] =
                stmt_define(s, "u32", stmts_name(s, "%s_%d", half ? "high" : "low", n),
                            permuted(k, value_at_i(s, w, 2 * n), value_at_i(s, w, 2 * n + 1), halves[half]));
        for (int n = 0; n < 2; n++) {
            const Value *to = value_at(s, value_field(s, value_at_i(s, v, 2 * half + n), "v"), i);
            stmt_set(s, to, permuted(k, pair[0], pair[1], quarters[n]));
        }
    }
    stmt_end(s);
    const Expr *e = stmt_unrolled(s, "e", LINE, VECTOR);
    store_vector(k, expr_add(p, expr_mul_i(p, column, VECTOR), e), line, value_at(s, v, e));
    stmt_end(s);
}

/* Prints store_across(), the transposed tile. */
static void store_across(const Pack *k)
{
    Stmts *s = k->s;
    stmt_function(
        s, (Function){.name = "store_across",
                      STMT_PARAMS({"const Operand &", "o"}, {"const Tile &", "t"}, {"const u32 *", "tile"})});
    const Expr *thread = expr_var(k->p, "threadIdx.x", THREAD, 0, WARPS * LANES - 1);
    k->bytes == WORD ? across_words(k, thread) : across_bytes(k, thread);
    stmt_end(s);
}

/* ---- the kernel ---- */

/* Sets what is left of a side behind `at`, at most so much. */
static void at_most(const Pack *k, const char *to, const char *all, const char *at, int most)
{
    Stmts *s = k->s;
    const Value *left = op(k, VALUE_SUB, reg(k, all), reg(k, at)), *limit = number(k, most);
    stmt_set(s, reg(k, to), value_cast(s, "int", value_select(s, op(k, VALUE_LT, left, limit), left, limit)));
}

/* The tile of a work-group. */
static void tile(const Pack *k)
{
    Stmts *s = k->s;
    const Value *group = reg(k, "group"), *per = reg(k, "o.per_matrix"), *tiles = reg(k, "o.tiles");
    const Value *batch = stmt_define(s, "u32", "batch", op(k, VALUE_DIV, group, per));
    const Value *in = stmt_define(s, "u32", "in_matrix", op(k, VALUE_MOD, group, per));
    stmt_var(s, "Tile", "t", NULL);
    stmt_set(s, reg(k, "t.line"), product(k, op(k, VALUE_DIV, in, tiles), number(k, PACK_TILE_LINES)));
    const Value *column = value_cast(s, "u64", op(k, VALUE_MOD, in, tiles));
    stmt_set(s, reg(k, "t.at"), product(k, column, number(k, PACK_TILE_BYTES)));
    const Value *from = sum(k, reg(k, "o.from"), product(k, batch, reg(k, "o.matrix")));
    from = sum(k, from, product(k, reg(k, "t.line"), reg(k, "o.ld")));
    stmt_set(s, reg(k, "t.from"), sum(k, from, reg(k, "t.at")));
    stmt_set(s, reg(k, "t.to"), sum(k, reg(k, "o.to"), product(k, batch, reg(k, "o.to_matrix"))));
    at_most(k, "t.lines", "o.lines", "t.line", PACK_TILE_LINES);
    /* the two aligned words around a word end up to 7 bytes after its first byte */
    at_most(k, "t.bytes", "o.line_bytes", "t.at", PACK_TILE_BYTES + 2 * WORD);
}

/* Prints pack_operand(). Elements of 2 bytes are not transposed. */
static void pack_operand(const Pack *k)
{
    Stmts *s = k->s;
    const bool may_cross = k->bytes != 2;
    stmt_function(s, (Function){.name = "pack_operand",
                                STMT_PARAMS({"const Operand &", "o"}, {"u32", "group"}, {"u32 *", "tile"})});
    tile(k);
    const Value *o = reg(k, "o"), *t = reg(k, "t"), *part = reg(k, "part"), *word = reg(k, "word");
    stmt_loop(s, (Loop){.var = "part",
                        .type = "int",
                        .start = expr_const(k->p, 0),
                        .limit = expr_const(k->p, k->parts)});
    stmt_var(s, "Words", "word", NULL);
    stmt_call(s, "load_words", o, t, part, word);
    if (may_cross) {
        stmt_if(s, reg(k, "o.transposes"));
        stmt_call(s, "keep_lines", part, word, reg(k, "tile"));
        stmt_else(s);
    }
    stmt_call(s, "store_lines", o, t, part, word);
    if (may_cross) stmt_end(s);
    stmt_end(s);
    if (may_cross) {
        stmt_if(s, reg(k, "o.transposes"));
        stmt_do(s, value_call_0(s, "__syncthreads"));
        stmt_call(s, "store_across", o, t, reg(k, "tile"));
        stmt_end(s);
    }
    stmt_end(s);
}

/* Prints pack(). It selects the operand of a work-group field by field: selecting a pointer would make the
 * compiler copy both to local memory. */
static void pack(const Pack *k)
{
    Stmts *s = k->s;
    stmt_function(
        s, (Function){.name = "pack", STMT_PARAMS({"const Operand &", "a"}, {"const Operand &", "b"})});
    stmt_array(s, "__shared__ u32", "tile", DIMS(PACK_TILE_LINES * PITCH));
    stmt_do(s, value_call_0(s, "wait_for_previous"));
    const Value *group = reg(k, "blockIdx.x"), *groups = reg(k, "a.groups");
    const Value *first = stmt_define(s, "bool", "first", op(k, VALUE_LT, group, groups));
    stmt_var(s, "Operand", "o", NULL);
    for (int i = 0; i < CHOSEN; i++)
        stmt_set(s, value_named(s, "o.%s", operand[i].name),
                 value_select(s, first, value_named(s, "a.%s", operand[i].name),
                              value_named(s, "b.%s", operand[i].name)));
    stmt_call(s, "pack_operand", reg(k, "o"), value_select(s, first, group, op(k, VALUE_SUB, group, groups)),
              reg(k, "tile"));
    stmt_end(s);
}

Err nvptx_pack_text(Stmts *s, int bytes)
{
    const Pack k = pack_of(s, bytes);
    types(&k);
    if (bytes < WORD) word_of_bytes(&k);
    load_words(&k);
    store_lines(&k);
    if (bytes != 2) {
        keep_lines(&k);
        across_functions(&k);
        store_across(&k);
    }
    pack_operand(&k);
    pack(&k);
    if (bytes == 2) return ERR_OK;
    const Slices shared = {.function = "pack_operand",
                           .thread = "thread",
                           .group = "warp",
                           .phases = "phases",
                           .memory = "tile",
                           .n_buffers = 1,
                           .where = "o.transposes",
                           .once = true,
                           .read = "tile_word",
                           .meet = "__syncthreads"};
    return slices_verify(s, &shared);
}
