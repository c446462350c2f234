/* Host lowering: puts the pieces of a kernel's text together. */
#include "kernel/host/host.h"
#include "kernel/host/text.h"

/* Checks that memory is contiguous along the dimension that the plan's vectors lie along. */
static Err check_views(const HostText *t)
{
    if (!t->p->pack[0] && t->contiguous[HOST_A])
        FAIL(ERR_INPUT, "host kernels read vectors of A along M; its view runs along K");
    for (int i = HOST_C; i <= HOST_D; i++)
        if (t->p->direct && t->contiguous[i])
            FAIL(ERR_INPUT, "host kernels write vectors along M; the view of %c runs along N", "ABCD"[i]);
    return ERR_OK;
}

static Err write_text(HostText *t, Str symbol, Buf *out)
{
    TRY(check_views(t));
    TRY(host_check_tiles(t));
    host_prelude(t);
    host_packs(t);
    host_tiles(t);
    host_groups(t, symbol);
    return host_finish(t, symbol, out);
}

Err host_lower(const Program *program, Str symbol, Buf *out)
{
    HostText t;
    TRY(host_text_init(&t, program->host, program->view));
    t.program = program;
    Err e = write_text(&t, symbol, out);
    host_text_fini(&t);
    return e;
}
