/* Sections of a table. See library_section.h. */
#include "createlib/library_section.h"

bool library_has_sections(const LibraryPart *file, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const Logic *l = file[i].logic;
        if (l->trees || !problem_is_gemm(l->pt)) continue;
        for (size_t s = 0; s < l->n_solutions; s++)
            if (logic_solution_kept(&l->solution[s], LOGIC_PREDICTED_KEY)) return true;
    }
    return false;
}

int library_section_of(const ProblemType *pt, const LogicRow *row)
{
    const int64_t size[] = {row->size[0], row->size[1], row->size[pt->TotalIndices - 1]};
    return section_of(pt, size, pt->TotalIndices > 3 ? row->size[2] : 1);
}

Err library_emit_section(Emit *e, const ProblemType *pt, int section, bool batched)
{
    Arena a;
    PredList list = {.arena = &a};
    const PredOp *pred;
    arena_init(&a, 0);
    Err err = 0;
    if (batched && !(section & SECTION_BATCHED)) err = pred_add(&list, PRED_BATCH_EQUAL, 0, 1);
    for (int i = 0; !err && i < SECTION_OPERANDS; i++) {
        const SectionLines l = section_lines(pt, i);
        bool again = false;
        for (int k = 0; k < i; k++) {
            const SectionLines other = section_lines(pt, k);
            again |= section >> k & 1 && other.predicate == l.predicate && other.multiple >= l.multiple;
        }
        if (section >> i & 1 && l.multiple > 1 && !again) err = pred_add(&list, l.predicate, 0, l.multiple);
    }
    for (int dim = 0; !err && dim < 2; dim++) {
        const int64_t most = section_most(section, dim);
        if (most) err = pred_add(&list, PRED_SIZE_LESS, dim, most + 1);
    }
    if (!err) err = pred_finish(&list, &pred);
    if (!err) predicate_emit(e, pred);
    arena_fini(&a);
    return err;
}
