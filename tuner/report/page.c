/* The HTML page of a report. See page.h. */
#include "report/page.h"

#include <string.h>

#include "base/hash.h"
#include "report/page_text.h"

/* A source of a content security policy: 'sha256-...' of a text
 * (https://www.w3.org/TR/CSP3/#grammardef-hash-source). */
static void hash_source(const char *text, Buf *out)
{
    char hash[45];
    sha256_base64(str_from(text), hash);
    for (char *c = hash; *c; c++) *c = *c == '_' ? '+' : *c == '-' ? '/' : *c;
    buf_printf(out, "'sha256-%s'", hash);
}

Err report_page(const ReportData *d, const PageOptions *o, Buf *out)
{
    Str rest = str_from(page_html), part;
    bool is_name = false; /* every second part between '@' is the name of something else */
    while (str_split(&rest, '@', &part)) {
        if (!is_name)
            buf_str(out, part);
        else if (str_eq_c(part, "STYLE"))
            buf_puts(out, page_css);
        else if (str_eq_c(part, "SCRIPT"))
            buf_puts(out, page_js);
        else if (str_eq_c(part, "STYLE_HASH"))
            hash_source(page_css, out);
        else if (str_eq_c(part, "SCRIPT_HASH"))
            hash_source(page_js, out);
        else
            report_json(d, o, out);
        is_name = !is_name;
    }
    return buf_check(out);
}
