/* The msgpack side of Emit, over msgpack-c's packers. See write.h. */
#include <msgpack/pack.h>

#include "fmt/emit.h"

static int on_bytes(void *out, const char *data, size_t n)
{
    buf_add(out, data, n);
    return 0;
}

static msgpack_packer packer(const Emit *e) { return (msgpack_packer){e->out, on_bytes}; }

/* Sizes are 32 bits in the format. */
static bool fits(Emit *e, size_t n)
{
    if (n <= UINT32_MAX) return true;
    e->bug = "a size beyond 32 bits";
    return false;
}

static void on_open(Emit *e, EmitFrame *f, size_t n)
{
    msgpack_packer pk = packer(e);
    if (!fits(e, n)) return;
    if (f->map)
        msgpack_pack_map(&pk, n);
    else
        msgpack_pack_array(&pk, n);
}

static void on_close(Emit *e, const EmitFrame *f)
{
    (void)e;
    (void)f;
}

static void on_str(Emit *e, Str s)
{
    msgpack_packer pk = packer(e);
    if (!fits(e, s.n)) return;
    msgpack_pack_str(&pk, s.n);
    msgpack_pack_str_body(&pk, s.s, s.n);
}

static void on_integer(Emit *e, int64_t v)
{
    msgpack_packer pk = packer(e);
    msgpack_pack_int64(&pk, v);
}

static void on_boolean(Emit *e, bool v)
{
    msgpack_packer pk = packer(e);
    if (v)
        msgpack_pack_true(&pk);
    else
        msgpack_pack_false(&pk);
}

static void on_real(Emit *e, double v)
{
    msgpack_packer pk = packer(e);
    msgpack_pack_double(&pk, v);
}

static void on_null(Emit *e)
{
    msgpack_packer pk = packer(e);
    msgpack_pack_nil(&pk);
}

static void on_finish(Emit *e) { (void)e; }

Emit *emit_msgpack(Buf *out)
{
    static const EmitOps ops = {on_open,    on_close, on_str,  on_integer,
                                on_boolean, on_real,  on_null, on_finish};
    return emit_new(out, &ops);
}
