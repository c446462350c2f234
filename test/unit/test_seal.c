/* Seals of code objects: what is changed or cut is found; what has no seal has to be a whole ELF file. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/seal.h"

enum { BODY = 300 };

/* An ELF header whose section table ends the body. */
static void body_make(char body[BODY])
{
    Elf64_Ehdr h = {.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 2};
    memset(body, 'x', BODY);
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_shoff = BODY - 2 * sizeof(Elf64_Shdr);
    memcpy(body, &h, sizeof h);
}

static void test_every_bit(void **state)
{
    char file[BODY + SEAL_BYTES];
    (void)state;
    body_make(file);
    seal_make((Str){file, BODY}, file + BODY);
    assert_int_equal(seal_check("x.so", (Str){file, sizeof file}), 0);
    for (size_t i = 0; i < (size_t)BODY * 8; i++) {
        file[i / 8] = (char)(file[i / 8] ^ (1 << (i % 8)));
        assert_int_equal(seal_check("x.so", (Str){file, sizeof file}), ERR_INPUT);
        file[i / 8] = (char)(file[i / 8] ^ (1 << (i % 8)));
    }
    assert_non_null(strstr(err_message(), "its bytes changed since it was linked"));
}

static void test_every_length(void **state)
{
    char file[BODY + SEAL_BYTES];
    (void)state;
    body_make(file);
    seal_make((Str){file, BODY}, file + BODY);
    for (size_t n = 0; n < BODY; n++) assert_int_equal(seal_check("x.so", (Str){file, n}), ERR_INPUT);
    /* no seal is no fault as long as the file is whole */
    assert_int_equal(seal_check("x.so", (Str){file, BODY}), 0);
}

static void test_no_overflow(void **state)
{
    char file[BODY];
    uint64_t far = UINT64_MAX - 8;
    (void)state;
    body_make(file);
    memcpy(file + offsetof(Elf64_Ehdr, e_shoff), &far, sizeof far);
    assert_int_equal(seal_check("x.so", (Str){file, BODY}), ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_no_overflow),
    };
    return cmocka_run_group_tests_name("seal", tests, NULL, NULL);
}
