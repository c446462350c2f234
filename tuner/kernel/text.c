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
