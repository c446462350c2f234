/* ELF files. See elf.h; offsets are those of the System V ABI, Elf64_Ehdr, Elf64_Shdr and Elf64_Sym. */
#include "build/elf.h"

#include <inttypes.h>
#include <string.h>

enum { HEADER_BYTES = 64, SECTION_BYTES = 64, SYMBOL_BYTES = 24, SYMTAB = 2, MAX_SECTIONS = 1 << 20 };

static uint64_t little(Str s, size_t at, size_t n)
{
    uint64_t v = 0;
    if (at > s.n || n > s.n - at) return 0;
    for (size_t i = n; i-- > 0;) v = v << 8 | (unsigned char)s.s[at + i];
    return v;
}

uint16_t elf_u16(Str s, size_t at) { return (uint16_t)little(s, at, 2); }
uint32_t elf_u32(Str s, size_t at) { return (uint32_t)little(s, at, 4); }
uint64_t elf_u64(Str s, size_t at) { return little(s, at, 8); }

/* The text at an offset of a string table, up to its NUL. */
static Err text_at(Str table, uint64_t at, Str *out)
{
    const char *end = at < table.n ? memchr(table.s + at, 0, table.n - at) : NULL;
    if (!end) FAIL(ERR_INPUT, "a name at %" PRIu64 " of a string table of %zu bytes", at, table.n);
    *out = (Str){table.s + at, (size_t)(end - (table.s + at))};
    return 0;
}

static size_t section_offset(const Elf *e, size_t i) { return (size_t)e->sections + SECTION_BYTES * i; }

/* Reads all of a section but its name: the string table may not be known yet. */
static Err section_raw(const Elf *e, size_t i, ElfSection *out)
{
    if (i >= e->n_sections) FAIL(ERR_INPUT, "section %zu of %zu", i, e->n_sections);
    size_t h = section_offset(e, i);
    *out = (ElfSection){.type = elf_u32(e->file, h + 4),
                        .address = elf_u64(e->file, h + 16),
                        .size = elf_u64(e->file, h + 32),
                        .data = STR("")};
    uint64_t offset = elf_u64(e->file, h + 24);
    if (out->type == ELF_NOBITS) return 0;
    if (offset > e->file.n || out->size > e->file.n - offset)
        FAIL(ERR_INPUT, "section %zu has %" PRIu64 " bytes at %" PRIu64 " of a file of %zu", i, out->size,
             offset, e->file.n);
    out->data = (Str){e->file.s + offset, (size_t)out->size};
    return 0;
}

static Err symbols_open(Elf *e)
{
    for (size_t i = 0; i < e->n_sections; i++) {
        ElfSection s, names;
        TRY(section_raw(e, i, &s));
        if (s.type != SYMTAB) continue;
        TRY(section_raw(e, elf_u32(e->file, section_offset(e, i) + 40), &names));
        e->symbols = s.data;
        e->n_symbols = s.data.n / SYMBOL_BYTES;
        e->symbol_names = names.data;
        return 0;
    }
    return 0;
}

Err elf_open(Str file, Elf *out)
{
    *out = (Elf){.file = file, .names = STR(""), .symbols = STR(""), .symbol_names = STR("")};
    if (file.n < HEADER_BYTES || memcmp(file.s, "\177ELF", 4))
        FAIL(ERR_INPUT, "no ELF file (%zu bytes)", file.n);
    if (file.s[4] != 2 || file.s[5] != 1) FAIL(ERR_INPUT, "an ELF file, but not of 64 bits, little-endian");
    out->abi_version = (unsigned char)file.s[8];
    out->machine = elf_u16(file, 18);
    out->flags = elf_u32(file, 48);
    out->sections = elf_u64(file, 40);
    out->n_sections = elf_u16(file, 60);
    if (elf_u16(file, 58) != SECTION_BYTES && out->n_sections)
        FAIL(ERR_INPUT, "section headers of %d bytes, expected %d", elf_u16(file, 58), SECTION_BYTES);
    /* With more than 65279 sections the number is in the first header. */
    if (out->sections && out->n_sections == 0) out->n_sections = elf_u64(file, (size_t)out->sections + 32);
    if (out->n_sections > MAX_SECTIONS || out->sections > file.n ||
        out->n_sections * SECTION_BYTES > file.n - out->sections)
        FAIL(ERR_INPUT, "%zu section headers at %" PRIu64 " of a file of %zu bytes", out->n_sections,
             out->sections, file.n);
    size_t index = elf_u16(file, 62);
    if (index == 0xffff) index = elf_u32(file, (size_t)out->sections + 40);
    ElfSection names;
    if (out->n_sections == 0) return 0;
    TRY(section_raw(out, index, &names));
    out->names = names.data;
    return symbols_open(out);
}

Err elf_section(const Elf *e, size_t i, ElfSection *out)
{
    TRY(section_raw(e, i, out));
    return text_at(e->names, elf_u32(e->file, section_offset(e, i)), &out->name);
}

Err elf_section_find(const Elf *e, Str name, ElfSection *out, bool *found)
{
    *found = false;
    for (size_t i = 1; !*found && i < e->n_sections; i++) {
        TRY(elf_section(e, i, out));
        *found = str_eq(out->name, name);
    }
    return 0;
}

Err elf_symbol(const Elf *e, size_t i, ElfSymbol *out)
{
    enum { SECTION_SPECIAL = 0xff00 };
    if (i >= e->n_symbols) FAIL(ERR_INPUT, "symbol %zu of %zu", i, e->n_symbols);
    size_t at = SYMBOL_BYTES * i;
    *out = (ElfSymbol){.section = elf_u16(e->symbols, at + 6),
                       .value = elf_u64(e->symbols, at + 8),
                       .size = elf_u64(e->symbols, at + 16)};
    if (out->section >= SECTION_SPECIAL) out->section = 0;
    return text_at(e->symbol_names, elf_u32(e->symbols, at), &out->name);
}

Err elf_symbol_find(const Elf *e, Str name, ElfSymbol *out, bool *found)
{
    *found = false;
    for (size_t i = 1; !*found && i < e->n_symbols; i++) {
        TRY(elf_symbol(e, i, out));
        *found = str_eq(out->name, name) && out->section;
    }
    return 0;
}

Err elf_symbol_data(const Elf *e, const ElfSymbol *s, Str *out)
{
    ElfSection section;
    TRY(elf_section(e, s->section, &section));
    uint64_t at = s->value - section.address; /* relocatable files: addresses are 0 */
    if (s->value < section.address || at > section.data.n || s->size > section.data.n - at)
        FAIL(ERR_INPUT, "symbol '%.*s' has %" PRIu64 " bytes at %" PRIu64 " of a section of %zu",
             STR_ARG(s->name), s->size, at, section.data.n);
    *out = (Str){section.data.s + at, (size_t)s->size};
    return 0;
}
