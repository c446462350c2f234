/* Looks texts up by their file's name. See text.h. */
#include "kernel/text.h"

#include <string.h>

#include "base/log.h"

void kernel_text_put(const char *name, Buf *out)
{
    for (const KernelText *t = kernel_texts; t->name; t++)
        if (!strcmp(t->name, name)) {
            buf_puts(out, t->text);
            return;
        }
    BUG("no kernel text '%s'", name);
}

void kernel_text_name(Str text, Str symbol, Buf *out)
{
    for (size_t i = 0; i < text.n;) {
        const size_t at = str_find(text, KERNEL_UNNAMED.s[0], i);
        buf_add(out, text.s + i, at - i);
        if (at < text.n) buf_str(out, symbol);
        i = at + 1;
    }
}
