/* Chooses the solutions that become kernels. See candidates.h. */
#include "run/candidates.h"

#include "createlib/library_write.h"
#include "kernel/kernel.h"

void candidates_init(Candidates *c, const Target *target, Arena *arena)
{
    *c = (Candidates){.target = target, .arena = arena};
    map_init(&c->seen);
    buf_init(&c->text);
    buf_init(&c->entry);
}

void candidates_fini(Candidates *c)
{
    map_fini(&c->seen);
    buf_fini(&c->text);
    buf_fini(&c->entry);
}

/* Counts the message of the last error; equal messages are counted together. */
static Err note_unwritten(Candidates *c)
{
    size_t i = 0;
    Str why = str_from(err_message());
    while (i < c->n_unwritten && !str_eq(c->unwritten[i].why, why)) i++;
    if (i == UNWRITTEN_MAX) i--;
    if (i == c->n_unwritten) {
        c->unwritten[i].why = arena_dup(c->arena, why);
        TRY_ALLOC(c->unwritten[i].why.s);
        c->n_unwritten++;
    }
    c->unwritten[i].n++;
    return ERR_OK;
}

/* Appends the library's description of the solution without its name and index; always with MinKForGSU. */
static Err put_entry(const Solution *s, Buf *out)
{
    Emit *e = emit_msgpack(out);
    if (!e) FAIL(ERR_FAILED, "out of memory for a solution's library entry");
    Err err = library_emit_solution(e, &(LibrarySolution){.s = s, .name = STR(""), .checks_k = true});
    if (!err) err = emit_finish(e);
    emit_free(e);
    return err;
}

Err candidates_add(Candidates *c, const Solution *s, CandidateKind *kind, char hash[CONTENT_HEX + 1])
{
    bool added;
    buf_reset(&c->text);
    buf_reset(&c->entry);
    *kind = CANDIDATE_UNWRITTEN;
    Err e = kernel_emit(s, c->target, STR("kernel"), &c->text);
    if (e == ERR_INPUT) return note_unwritten(c);
    if (e) return e;
    TRY(buf_check(&c->text));
    buf_printf(&c->entry, "%s %.*s ", c->target->name, STR_ARG(kernel_content(buf_view(&c->text))));
    TRY(put_entry(s, &c->entry));
    TRY(buf_check(&c->entry));
    content_hex(buf_view(&c->entry), hash);
    if (!map_put(&c->seen, (Str){hash, CONTENT_HEX}, &added))
        FAIL(ERR_FAILED, "out of memory for %zu candidates", c->seen.n);
    *kind = added ? CANDIDATE_NEW : CANDIDATE_SAME;
    if (added)
        c->n_written++;
    else
        c->n_same++;
    return ERR_OK;
}
