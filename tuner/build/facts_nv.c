/* Facts of a cubin's kernel: the sections .nv.info (registers and stack of every function), .nv.info.NAME,
 * .nv.shared.NAME and .text.NAME. NVIDIA documents none of this; the attribute numbers are those that ptxas
 * of CUDA 11 to 13 writes, checked against `ptxas -v` in the unit test.
 */
#include "build/facts_family.h"

#include <inttypes.h>
#include <string.h>

#include "base/integer.h"

/* An entry is a byte of format, a byte of attribute and a 16-bit value; with format 4 the value is the number
 * of bytes that follow. */
enum { FORMAT_BYTES = 4, ATTR_THREADS = 0x05, ATTR_FRAME = 0x11, ATTR_PARAMS = 0x19, ATTR_REGISTERS = 0x2f };
/* Bytes of shared memory that the driver reserves in every block. .nv.shared includes them if the file has a
 * section for them. */
enum { RESERVED_SHARED = 1024 };

/* Limits of an SM: table "Technical specifications per compute capability" of the CUDA programming guide. */
typedef struct {
    int major, minor, warps, blocks, shared_kib;
} Sm;
static const Sm sms[] = {{8, 0, 64, 32, 164}, {8, 6, 48, 16, 100}, {8, 9, 48, 24, 100}, {9, 0, 64, 32, 228}};
enum { SM_REGISTERS = 65536, REGISTER_GRANULE = 256, SM_PARTS = 4, SHARED_GRANULE = 128 };

typedef struct {
    const Elf *elf;
    Str symbol;
    CodeFacts *out;
} Reader;

static Err is_kernel(const Reader *r, uint32_t index, bool *yes)
{
    ElfSymbol s;
    TRY(elf_symbol(r->elf, index, &s));
    *yes = str_eq(s.name, r->symbol);
    return 0;
}

static Err attribute(const Reader *r, int id, uint32_t half, Str value)
{
    bool own = false;
    switch (id) {
    case ATTR_REGISTERS:
    case ATTR_FRAME:
        if (value.n < 8) FAIL(ERR_INPUT, "attribute %d of .nv.info has %zu bytes, expected 8", id, value.n);
        TRY(is_kernel(r, elf_u32(value, 0), &own));
        if (own && id == ATTR_REGISTERS) r->out->vgpr = elf_u32(value, 4);
        if (own && id == ATTR_FRAME) r->out->scratch = elf_u32(value, 4);
        break;
    case ATTR_THREADS:
        r->out->threads = (int64_t)elf_u32(value, 0) * elf_u32(value, 4) * elf_u32(value, 8);
        break;
    case ATTR_PARAMS:
        r->out->kernarg = half;
        break;
    default:
        break;
    }
    return 0;
}

static Err attributes(const Reader *r, Str data)
{
    for (size_t at = 0; at < data.n;) {
        if (data.n - at < 4) FAIL(ERR_INPUT, ".nv.info ends in the middle of an entry");
        int format = (unsigned char)data.s[at], id = (unsigned char)data.s[at + 1];
        uint32_t half = elf_u16(data, at + 2);
        Str value = STR("");
        at += 4;
        if (format == FORMAT_BYTES) {
            if (half > data.n - at)
                FAIL(ERR_INPUT, "attribute %d of .nv.info has %u bytes, %zu are left", id, half, data.n - at);
            value = (Str){data.s + at, half};
            at += half;
        }
        TRY(attribute(r, id, half, value));
    }
    return 0;
}

static Err section_named(const Elf *e, const char *prefix, Str symbol, ElfSection *out, bool *found)
{
    size_t n = strlen(prefix);
    *found = false;
    for (size_t i = 1; !*found && i < e->n_sections; i++) {
        TRY(elf_section(e, i, out));
        *found = str_starts(out->name, prefix) && str_eq(str_sub(out->name, n, out->name.n), symbol);
    }
    return 0;
}

/* Since version 8 of the ABI (CUDA 13) the architecture is in the second byte. */
static int sm_of(const Elf *e) { return (int)(e->abi_version >= 8 ? e->flags >> 8 & 0xff : e->flags & 0xff); }

/* Warps that each of the SM's four partitions runs at once; -1 when the SM is not in the table. */
static int64_t waves(const CodeFacts *f, const Target *t)
{
    const Sm *sm = NULL;
    for (size_t i = 0; i < sizeof sms / sizeof *sms; i++)
        if (sms[i].major == t->isa[0] && sms[i].minor == t->isa[1]) sm = &sms[i];
    if (!sm || f->vgpr <= 0 || f->threads <= 0) return -1;
    int64_t warps = int_ceil_div(f->threads, 32), blocks = sm->blocks;
    int64_t by_registers =
        SM_REGISTERS / SM_PARTS / int_round_up(f->vgpr * 32, REGISTER_GRANULE) * SM_PARTS / warps;
    int64_t shared = int_round_up((f->lds > 0 ? f->lds : 0) + RESERVED_SHARED, SHARED_GRANULE);
    int64_t limit[] = {sm->warps / warps, by_registers, (int64_t)sm->shared_kib * 1024 / shared};
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++)
        if (limit[i] < blocks) blocks = limit[i];
    return int_ceil_div(blocks * warps, SM_PARTS);
}

/* Dynamic shared memory that a launch requests: the kernel's text stores it in the constant
 * SYMBOL_dynamic_lds. */
static Err dynamic_shared(const Elf *e, Str symbol, int64_t *bytes)
{
    static const char suffix[] = "_dynamic_lds";
    *bytes = 0;
    for (size_t i = 1; i < e->n_symbols; i++) {
        ElfSymbol s;
        Str data;
        TRY(elf_symbol(e, i, &s));
        if (s.name.n != symbol.n + sizeof suffix - 1 || !str_ends(s.name, suffix) ||
            memcmp(s.name.s, symbol.s, symbol.n) || !s.section)
            continue;
        s.size = 4;
        TRY(elf_symbol_data(e, &s, &data));
        *bytes = elf_u32(data, 0);
        return 0;
    }
    return 0;
}

Err facts_nv(Arena *a, const Elf *e, const Target *t, Str symbol, CodeFacts *out)
{
    (void)a;
    Reader r = {e, symbol, out};
    ElfSection s;
    bool found;
    int64_t dynamic;
    if (sm_of(e) != t->isa[0] * 10 + t->isa[1])
        FAIL(ERR_INPUT, "a cubin for sm_%d, expected %s", sm_of(e), t->name);
    TRY(section_named(e, ".text.", symbol, &s, &found));
    if (!found) FAIL(ERR_INPUT, "no kernel '%.*s' in it", STR_ARG(symbol));
    out->bytes = (int64_t)s.size;
    out->instructions = out->bytes / 16; /* instructions have 128 bits since sm_70 */
    TRY(elf_section_find(e, STR(".nv.info"), &s, &found));
    if (found) TRY(attributes(&r, s.data));
    TRY(section_named(e, ".nv.info.", symbol, &s, &found));
    if (found) TRY(attributes(&r, s.data));
    TRY(section_named(e, ".nv.shared.", symbol, &s, &found));
    out->lds = found ? (int64_t)s.size : 0;
    TRY(elf_section_find(e, STR(".nv.shared.reserved.0"), &s, &found));
    if (found && out->lds >= RESERVED_SHARED) out->lds -= RESERVED_SHARED;
    TRY(dynamic_shared(e, symbol, &dynamic));
    out->lds += dynamic;
    out->waves = waves(out, t);
    return 0;
}
