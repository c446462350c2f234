/* Host lowering: puts the pieces of a kernel's text together, names it and hashes it. */
#include "kernel/host/host.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/version.h"
#include "kernel/host/plan.h"

/* Every '@' becomes a prefix from the content's hash, so that texts can be concatenated. */
Err host_finish(Str title, Str body, Buf *out)
{
    char hex[SHA256_HEX + 1], prefix[16];
    sha256_hex(body, hex);
    snprintf(prefix, sizeof prefix, "k%.8s_", hex);
    buf_printf(out, "/* tuner " TUNER_VERSION " host kernel, format 1\n * %.*s\n * content %s */\n",
               STR_ARG(title), hex);
    for (size_t i = 0; i < body.n;) {
        size_t at = str_find(body, '@', i);
        buf_add(out, body.s + i, at - i);
        if (at < body.n) buf_puts(out, prefix);
        i = at + 1;
    }
    return buf_check(out);
}

Err host_lower(const Program *program, Str symbol, Buf *out)
{
    const HostPlan *p = program->host;
    Buf body, title;
    buf_init(&body);
    buf_init(&title);
    host_prelude(p, &body);
    host_packs(p, &body);
    host_tiles(p, program, &body);
    host_args(p, &body);
    Err e = host_groups(p, program, symbol, &body);
    buf_printf(&title, "%.*s for %s\n * ", STR_ARG(symbol), program->target->name);
    buf_str(&title, program->title);
    if (!e) e = buf_check(&body);
    if (!e) e = host_finish(buf_view(&title), buf_view(&body), out);
    buf_fini(&title);
    buf_fini(&body);
    return e;
}
