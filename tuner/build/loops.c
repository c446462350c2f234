/* Finds main loops in the text that llvm-objdump prints. See loops.h.
 *
 * Lines are "0000000000001900 <NAME>:" and "\tv_fma_f32 v0, v1, v2, v0   // 000000001A00: D1CB0000 ...",
 * where a branch ends with its target, "<NAME+0x100>". A loop reaches from the target of a
 * backward branch to the branch; the main loop is the innermost one with the most matrix instructions, then
 * multiply-adds, then instructions.
 */
#include "build/loops.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/vec.h"

typedef enum { KIND_OTHER, KIND_MATRIX, KIND_FMA, KIND_FMA2 } InstructionKind;

typedef struct {
    uint64_t address;
    InstructionKind kind;
} Instruction;

typedef struct {
    uint64_t from, to; /* addresses of the target and of the branch */
} Loop;

typedef struct {
    Str symbol; /* in name */
    char *name;
    size_t name_cap;
    uint64_t start;
    VEC(Instruction) code;
    VEC(Loop) loop;
} Function;

static InstructionKind kind_of(const char *s)
{
    static const struct {
        const char *prefix;
        InstructionKind kind;
    } kinds[] = {
        {"v_mfma", KIND_MATRIX},   {"v_smfmac", KIND_MATRIX}, {"v_wmma", KIND_MATRIX},
        {"v_swmmac", KIND_MATRIX}, {"v_fma_", KIND_FMA},      {"v_fmac_", KIND_FMA},
        {"v_mac_f", KIND_FMA},     {"v_mad_f", KIND_FMA},     {"v_mad_mix", KIND_FMA},
        {"v_dot", KIND_FMA},       {"v_pk_fma", KIND_FMA},    {"v_pk_fmac", KIND_FMA},
        {"v_dual_fmac", KIND_FMA}, {"v_dual_dot2", KIND_FMA}, {"v_fmamk", KIND_FMA},
        {"v_fmaak", KIND_FMA},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strncmp(s, kinds[i].prefix, strlen(kinds[i].prefix))) continue;
        const char *pair = strstr(s, "::"); /* dual issue: "v_dual_fmac_f32 ... :: v_dual_fmac_f32 ..." */
        return pair && strstr(pair, "fmac") ? KIND_FMA2 : kinds[i].kind;
    }
    return KIND_OTHER;
}

static void counts(const Function *f, const Loop *l, CodeFacts *out)
{
    out->loop = out->loop_matrix = out->loop_fma = 0;
    for (size_t i = 0; i < f->code.n; i++) {
        const Instruction *x = &f->code.v[i];
        if (x->address < l->from || x->address > l->to) continue;
        out->loop++;
        out->loop_matrix += x->kind == KIND_MATRIX;
        out->loop_fma += x->kind == KIND_FMA ? 1 : x->kind == KIND_FMA2 ? 2 : 0;
    }
}

static bool innermost(const Function *f, size_t i)
{
    const Loop *l = &f->loop.v[i];
    for (size_t k = 0; k < f->loop.n; k++) {
        const Loop *x = &f->loop.v[k];
        bool inside = x->from >= l->from && x->to <= l->to, same = x->from == l->from && x->to == l->to;
        if (k != i && inside && !same) return false;
    }
    return true;
}

static bool better(const CodeFacts *a, const CodeFacts *b)
{
    if (a->loop_matrix != b->loop_matrix) return a->loop_matrix > b->loop_matrix;
    if (a->loop_fma != b->loop_fma) return a->loop_fma > b->loop_fma;
    return a->loop > b->loop;
}

static Err function_end(Function *f, Err (*fn)(void *user, Str symbol, const CodeFacts *f), void *user)
{
    CodeFacts best, x;
    if (f->code.n == 0) return 0;
    code_facts_init(&best);
    code_facts_init(&x);
    best.loop = best.loop_matrix = best.loop_fma = 0;
    for (size_t i = 0; i < f->loop.n; i++) {
        if (!innermost(f, i)) continue;
        counts(f, &f->loop.v[i], &x);
        if (better(&x, &best)) best = x;
    }
    best.instructions = (int64_t)f->code.n;
    f->code.n = f->loop.n = 0;
    return fn(user, f->symbol, &best);
}

/* Parses "0000000000001900 <NAME>:". */
static bool function_line(const char *line, size_t n, uint64_t *start, Str *name)
{
    char *end;
    if (n < 20 || line[0] == '\t' || line[0] == ' ' || line[n - 1] != ':' || line[n - 2] != '>') return false;
    *start = strtoull(line, &end, 16);
    if (end[0] != ' ' || end[1] != '<') return false;
    *name = (Str){end + 2, (size_t)(line + n - 2 - (end + 2))};
    return true;
}

static Err instruction_line(Function *f, const char *line)
{
    while (*line == '\t' || *line == ' ') line++;
    const char *comment = strstr(line, "// ");
    if (!comment) return 0;
    Instruction x = {strtoull(comment + 3, NULL, 16), kind_of(line)};
    if (!VEC_PUSH(&f->code, x)) FAIL(ERR_FAILED, "out of memory for a disassembly");
    bool branch = !strncmp(line, "s_branch", 8) || !strncmp(line, "s_cbranch", 9);
    const char *target = branch ? strchr(comment, '<') : NULL, *plus = target ? strrchr(target, '+') : NULL;
    if (!target) return 0;
    Loop l = {f->start + (plus ? strtoull(plus + 1, NULL, 16) : 0), x.address};
    if (l.from <= l.to && !VEC_PUSH(&f->loop, l)) FAIL(ERR_FAILED, "out of memory for a disassembly");
    return 0;
}

static Err text_read(FILE *text, Function *f, Err (*fn)(void *user, Str symbol, const CodeFacts *f),
                     void *user)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    Err e = 0;
    while (!e && (n = getline(&line, &cap, text)) >= 0) {
        Str name;
        uint64_t start;
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == ' ')) line[--n] = '\0';
        if (!function_line(line, (size_t)n, &start, &name)) {
            if (f->symbol.s) e = instruction_line(f, line);
            continue;
        }
        e = function_end(f, fn, user);
        char *copy = e ? NULL : strndup(name.s, name.n);
        if (!e && !copy) e = err_set(ERR_FAILED, "out of memory for a disassembly");
        free(f->name);
        f->name = copy;
        f->symbol = (Str){copy, name.n};
        f->start = start;
    }
    if (!e) e = function_end(f, fn, user);
    free(line);
    return e;
}

Err code_loops(const Toolchain *t, const char *code_object, const char *text_path,
               Err (*fn)(void *user, Str symbol, const CodeFacts *f), void *user)
{
    const char *const argv[] = {t->disassembler, "-d", code_object, NULL};
    static const char *const env[] = {"LC_ALL=C", NULL};
    ProcSpec spec = {.argv = argv, .stdout_path = text_path, .stderr_path = "/dev/null", .setenv = env};
    ProcResult r;
    Function f = {0};
    if (!t->disassembler) return 0;
    TRY(proc_run(&spec, UINT64_C(600000000000), &r));
    FILE *text = fopen(text_path, "re");
    Err e = text ? text_read(text, &f, fn, user)
                 : err_set(ERR_FAILED, "cannot read '%s': %s", text_path, strerror(errno));
    if (text) fclose(text);
    unlink(text_path);
    VEC_FINI(&f.code);
    VEC_FINI(&f.loop);
    free(f.name);
    return e;
}
