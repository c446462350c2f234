/* ELF files of 64 bits, little-endian, as views into their bytes. Files are untrusted: every offset is
 * checked against the end of the file. What sections mean is in facts_amd.c and facts_nv.c.
 */
#ifndef BUILD_ELF_H
#define BUILD_ELF_H

#include "base/str.h"

enum { ELF_AMDGPU = 224, ELF_CUDA = 190, ELF_NOTE = 7, ELF_NOBITS = 8 };

typedef struct {
    Str file;
    int machine, abi_version;
    uint32_t flags;
    uint64_t sections; /* offset of the table of section headers */
    size_t n_sections;
    Str names; /* names of the sections */
    Str symbols, symbol_names;
    size_t n_symbols;
} Elf;

typedef struct {
    Str name;
    uint32_t type;
    uint64_t address, size;
    Str data; /* empty where the file has none */
} ElfSection;

typedef struct {
    Str name;
    size_t section; /* 0: undefined or special */
    uint64_t value, size;
} ElfSymbol;

/* ERR_INPUT names what is wrong and where. */
Err elf_open(Str file, Elf *out);
Err elf_section(const Elf *e, size_t i, ElfSection *out);
/* *found is false when no section has that name. */
Err elf_section_find(const Elf *e, Str name, ElfSection *out, bool *found);
Err elf_symbol(const Elf *e, size_t i, ElfSymbol *out);
Err elf_symbol_find(const Elf *e, Str name, ElfSymbol *out, bool *found);
/* The bytes of a symbol; ERR_INPUT when they are not inside its section. */
Err elf_symbol_data(const Elf *e, const ElfSymbol *s, Str *out);

uint16_t elf_u16(Str s, size_t at); /* 0 beyond the end */
uint32_t elf_u32(Str s, size_t at);
uint64_t elf_u64(Str s, size_t at);

#endif
