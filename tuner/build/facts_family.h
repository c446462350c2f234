/* The readers of each family that code_facts_read calls. */
#ifndef BUILD_FACTS_FAMILY_H
#define BUILD_FACTS_FAMILY_H

#include "build/elf.h"
#include "build/facts.h"

Err facts_amd(Arena *a, const Elf *e, const Target *t, Str symbol, CodeFacts *out);
Err facts_nv(Arena *a, const Elf *e, const Target *t, Str symbol, CodeFacts *out);

#endif
