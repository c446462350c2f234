/* Facts of compiled kernels: the table, limits, occupancy. See facts.h. */
#include "build/facts_family.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} facts[] = {
#define FACT_ROW(name, help) {#name, offsetof(CodeFacts, name)},
    CODE_FACTS(FACT_ROW)
#undef FACT_ROW
};
enum { N_FACTS = sizeof facts / sizeof *facts };

static int64_t *field(CodeFacts *f, size_t i) { return (int64_t *)(void *)((char *)f + facts[i].offset); }

const char *code_fact_name(size_t i) { return i < N_FACTS ? facts[i].name : NULL; }

int64_t code_fact(const CodeFacts *f, size_t i)
{
    int64_t v;
    memcpy(&v, (const char *)f + facts[i].offset, sizeof v);
    return v;
}

void code_facts_init(CodeFacts *f)
{
    for (size_t i = 0; i < N_FACTS; i++) *field(f, i) = -1;
}

void code_facts_print(const CodeFacts *f, Buf *out)
{
    bool more = false;
    for (size_t i = 0; i < N_FACTS; i++) {
        if (code_fact(f, i) < 0) continue;
        buf_printf(out, "%s%s=%" PRId64, more ? " " : "", facts[i].name, code_fact(f, i));
        more = true;
    }
}

void code_facts_parse(Str text, CodeFacts *out)
{
    Str rest = text, word;
    code_facts_init(out);
    while (str_split(&rest, ' ', &word)) {
        size_t eq = str_find(word, '=', 0);
        int64_t v;
        for (size_t i = 0; i < N_FACTS; i++)
            if (str_eq_c(str_sub(word, 0, eq), facts[i].name) &&
                str_to_i64(str_sub(word, eq + 1, word.n), &v))
                *field(out, i) = v;
    }
}

bool code_facts_spill(const CodeFacts *f) { return f->scratch > 0 || f->vgpr_spills > 0; }

Err code_facts_check(const CodeFacts *f, const Target *t)
{
    if (t->lds_bytes && f->lds > t->lds_bytes)
        FAIL(ERR_INPUT, "%" PRId64 " bytes of local memory, %s has %d for a work-group", f->lds, t->name,
             t->lds_bytes);
    if (f->vgpr > t->n_vector_regs)
        FAIL(ERR_INPUT, "%" PRId64 " vector registers, %s has %d", f->vgpr, t->name, t->n_vector_regs);
    if (f->waves == 0)
        FAIL(ERR_INPUT,
             "a work-group of %" PRId64 " threads with %" PRId64 " registers each and %" PRId64
             " bytes of local memory does not fit on %s",
             f->threads, f->vgpr, f->lds, t->name);
    return 0;
}

Err code_facts_read(Arena *a, Str object, const Target *t, Str symbol, CodeFacts *out)
{
    typedef Err (*Reader)(Arena * a, const Elf *elf, const Target *t, Str symbol, CodeFacts *out);
    static const struct {
        int machine;
        Reader read;
    } formats[] = {[TARGET_AMDGCN] = {ELF_AMDGPU, facts_amd}, [TARGET_NVPTX] = {ELF_CUDA, facts_nv}};
    Elf elf;
    code_facts_init(out);
    if (!target_family(t)->is_gpu) return 0;
    TRY(elf_open(object, &elf));
    int machine = formats[t->family].machine;
    if (elf.machine != machine)
        FAIL(ERR_INPUT, "a code object of another machine (%d, expected %d for %s)", elf.machine, machine,
             t->name);
    return formats[t->family].read(a, &elf, t, symbol, out);
}
