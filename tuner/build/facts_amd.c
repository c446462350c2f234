/* Facts of a kernel in an AMD code object or relocatable object: the metadata note (msgpack) and the kernel
 * descriptor, as LLVM's "User Guide for AMDGPU Backend" describes them.
 */
#include "build/facts_family.h"

#include <inttypes.h>
#include <string.h>

#include "base/integer.h"
#include "fmt/node.h"

enum { NOTE_METADATA = 32, DESCRIPTOR_BYTES = 64, RSRC3 = 44, RSRC1 = 48 };

/* ---- metadata ---- */

/* The map of the kernel in one metadata document; *kernel is NULL when it is not there. */
static Err metadata_kernel(Arena *a, Str data, const Target *t, Str symbol, const Node **kernel)
{
    static const char name[] = "metadata";
    static const NodeLimits limits = {.max_bytes = (size_t)64 << 20, .max_nodes = 1000000, .max_depth = 16};
    Node *root;
    Str target;
    *kernel = NULL;
    TRY(msgpack_parse(a, name, data, &limits, &root));
    const Node *arch = node_get(root, "amdhsa.target"), *list = node_get(root, "amdhsa.kernels");
    if (arch) {
        TRY(node_str(arch, name, "amdhsa.target", &target));
        Str whole = str_from(t->name), base = str_sub(whole, 0, str_find(whole, ':', 0));
        Str own = str_sub(target, 0, str_find(target, ':', 0)); /* "amdgcn-amd-amdhsa--gfx90a:xnack-" */
        for (size_t dash = str_find(own, '-', 0); dash < own.n; dash = str_find(own, '-', 0))
            own = str_sub(own, dash + 1, own.n);
        if (!str_eq(own, base))
            FAIL(ERR_INPUT, "a code object for '%.*s', expected %s", STR_ARG(target), t->name);
    }
    if (!list) return 0;
    TRY(node_seq(list, name, "amdhsa.kernels", 0, 1000000));
    for (size_t i = 0; i < list->n; i++) {
        const Node *n = node_get(&list->item[i], ".name");
        Str found;
        if (!n || node_str(n, name, ".name", &found) || !str_eq(found, symbol)) continue;
        *kernel = &list->item[i];
        return 0;
    }
    return 0;
}

static size_t up4(size_t n) { return (n + 3) & ~(size_t)3; }

/* Searches the notes of one section for the kernel's metadata. */
static Err notes_search(Arena *a, Str notes, const Target *t, Str symbol, const Node **kernel)
{
    for (size_t at = 0; !*kernel && notes.n - at >= 12;) {
        size_t name_n = elf_u32(notes, at), data_n = elf_u32(notes, at + 4), type = elf_u32(notes, at + 8);
        at += 12;
        if (name_n > notes.n - at || up4(name_n) > notes.n - at || data_n > notes.n - at - up4(name_n))
            FAIL(ERR_INPUT, "a note of %zu and %zu bytes in a section of %zu", name_n, data_n, notes.n);
        Str owner = str_sub(notes, at, at + name_n),
            data = str_sub(notes, at + up4(name_n), at + up4(name_n) + data_n);
        bool own = name_n >= 6 && memcmp(owner.s, "AMDGPU", 6) == 0 && type == NOTE_METADATA;
        if (own) TRY(metadata_kernel(a, data, t, symbol, kernel));
        at += up4(name_n) + data_n;
        at = up4(at) < notes.n ? up4(at) : notes.n;
    }
    return 0;
}

static Err number(const Node *kernel, const char *key, int64_t *out)
{
    const Node *n = node_get(kernel, key);
    return n ? node_int(n, "metadata", key, 0, UINT32_MAX, out) : 0;
}

static Err metadata_read(const Node *k, CodeFacts *f)
{
    TRY(number(k, ".vgpr_count", &f->vgpr));
    TRY(number(k, ".agpr_count", &f->agpr));
    TRY(number(k, ".sgpr_count", &f->sgpr));
    TRY(number(k, ".group_segment_fixed_size", &f->lds));
    TRY(number(k, ".private_segment_fixed_size", &f->scratch));
    TRY(number(k, ".vgpr_spill_count", &f->vgpr_spills));
    TRY(number(k, ".sgpr_spill_count", &f->sgpr_spills));
    TRY(number(k, ".kernarg_segment_size", &f->kernarg));
    return number(k, ".max_flat_workgroup_size", &f->threads);
}

/* ---- occupancy ---- */

/* What shares local memory: a CU of four SIMDs, since gfx10 a WGP of four. groups: work-groups that it holds.
 */
typedef struct {
    int simds, lds_bytes, groups;
} Unit;

static Unit unit_of(const Target *t)
{
    return t->isa[0] >= 10 ? (Unit){4, 131072, 32} : (Unit){4, 65536, 16};
}

/* Waves that a SIMD runs at once. allocated: vector registers that the kernel descriptor asks for. */
static int64_t waves(const CodeFacts *f, const Target *t, int64_t allocated)
{
    enum { LDS_GRANULE = 512 };
    const TargetRegisters *s = target_registers(t);
    Unit u = unit_of(t);
    if (!s || f->threads <= 0 || allocated <= 0) return -1;
    int64_t per_group = int_ceil_div(f->threads, t->wave_size), n = s->waves;
    int64_t by_vgpr = (s->vgprs - s->agprs) / int_round_up(allocated, s->vgpr_granule);
    if (by_vgpr < n) n = by_vgpr;
    if (s->sgprs && f->sgpr > 0 && s->sgprs / int_round_up(f->sgpr, s->sgpr_granule) < n)
        n = s->sgprs / int_round_up(f->sgpr, s->sgpr_granule);
    int64_t groups = n * u.simds / per_group;
    if (f->lds > 0 && u.lds_bytes / int_round_up(f->lds, LDS_GRANULE) < groups)
        groups = u.lds_bytes / int_round_up(f->lds, LDS_GRANULE);
    if (per_group > 1 && groups > u.groups) groups = u.groups;
    return int_ceil_div(groups * per_group, u.simds);
}

/* ---- kernel descriptor ---- */

/* Vector registers from the descriptor's GRANULATED_WORKITEM_VGPR_COUNT: (field + 1) granules of the
 * encoding, which may be smaller than those of the allocation. */
static Err descriptor_read(Arena *a, const Elf *e, const Target *t, Str symbol, int64_t *allocated)
{
    ElfSymbol s;
    Str data, name = arena_printf(a, "%.*s.kd", STR_ARG(symbol));
    bool found;
    TRY_ALLOC(name.s);
    TRY(elf_symbol_find(e, name, &s, &found));
    if (!found) FAIL(ERR_INPUT, "no kernel descriptor '%s' in it", name.s);
    s.size = DESCRIPTOR_BYTES;
    TRY(elf_symbol_data(e, &s, &data));
    int64_t granules = (elf_u32(data, RSRC1) & 63) + 1;
    bool unified = t->isa[0] == 9 && ((t->isa[1] == 0 && t->isa[2] == 10) || t->isa[1] >= 4);
    *allocated = granules * (unified || t->isa[0] >= 10 ? 8 : 4);
    return 0;
}

Err facts_amd(Arena *a, const Elf *e, const Target *t, Str symbol, CodeFacts *out)
{
    const Node *kernel = NULL;
    ElfSymbol code;
    bool found;
    int64_t allocated = 0;
    for (size_t i = 1; !kernel && i < e->n_sections; i++) {
        ElfSection s;
        TRY(elf_section(e, i, &s));
        if (s.type == ELF_NOTE) TRY(notes_search(a, s.data, t, symbol, &kernel));
    }
    if (!kernel) FAIL(ERR_INPUT, "no kernel '%.*s' in it", STR_ARG(symbol));
    TRY(metadata_read(kernel, out));
    TRY(descriptor_read(a, e, t, symbol, &allocated));
    TRY(elf_symbol_find(e, symbol, &code, &found));
    if (!found) FAIL(ERR_INPUT, "no code of kernel '%.*s' in it", STR_ARG(symbol));
    out->bytes = (int64_t)code.size;
    out->waves = waves(out, t, allocated);
    return 0;
}
