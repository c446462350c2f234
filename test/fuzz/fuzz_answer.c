/* Fuzz target: answers of the client (client/answer.h). What is read must be written to a text that reads
 * back to the same records. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "client/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_all(const AnswerRecord *r, size_t n, Buf *out)
{
    buf_init(out);
    answer_begin(out);
    for (size_t i = 0; i < n; i++) answer_add(&r[i], out);
    answer_end(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena a;
    AnswerRecord *r, *back;
    size_t n, n_back;
    arena_init(&a, (size_t)64 << 20);
    if (!answer_parse(&a, (Str){(const char *)data, size}, &r, &n)) {
        Buf first, second;
        write_all(r, n, &first);
        if (answer_parse(&a, buf_view(&first), &back, &n_back) || n != n_back) abort();
        write_all(back, n_back, &second);
        if (!str_eq(buf_view(&first), buf_view(&second))) abort();
        buf_fini(&first);
        buf_fini(&second);
    }
    arena_fini(&a);
    return 0;
}
