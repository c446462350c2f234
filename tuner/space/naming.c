/* Min and full names, hashes, file names. ShortNames are in naming_serial.c. */
#include "space/naming.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

bool param_in_names(const Param *p)
{
    return p->group == GROUP_FORK || p->group == GROUP_EXTRA || p->group == GROUP_ORDER ||
           p->group == GROUP_HOST || p->group == GROUP_NV;
}

/* Parameters that are always in the first part of a name, or in no name. */
static bool never_in_min(int id)
{
    return id == PARAM_DepthU || id == PARAM_LdcEqualsLdd || id == PARAM_MatrixInstruction ||
           id == PARAM_CustomKernelName || id == PARAM_Fp16AltImpl || id == PARAM_Fp16AltImplRound;
}

/* Capitals of a word; all_but_lower: also digits. Cut to max characters. */
static uint8_t capitals(Str word, bool all_but_lower, char *out, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < word.n && n + 1 < max; i++) {
        unsigned char c = (unsigned char)word.s[i];
        if (all_but_lower ? !islower(c) : isupper(c)) out[n++] = word.s[i];
    }
    out[n] = 0;
    return (uint8_t)n;
}

/* Tensile omits the abbreviation of MACInstruction, because that of MatrixInstruction is equal. */
static void part_init(NamePart *part, const Param *p)
{
    part->param = p;
    if (p->id != PARAM_MACInstruction)
        part->n_text = capitals(str_from(p->name), true, part->text, sizeof part->text);
    for (int i = 0; p->kind == KIND_ENUM && i < ENUM_NAMES_MAX; i++) {
        Str name = param_enum_name(p, i);
        if (p->id == PARAM_ForceStoreSC1 && i != SC1_AUTO) name = i == SC1_TRUE ? STR("1") : STR("0");
        if (name.s) capitals(name, p->id == PARAM_ForceStoreSC1, part->word[i], sizeof part->word[i]);
    }
}

Err namer_init(Namer *n, const ProblemType *pt)
{
    ParamId sorted[PARAM_COUNT];
    Buf b;
    memset(n, 0, sizeof *n);
    buf_init(&b);
    problem_type_name(pt, &b);
    buf_putc(&b, '_');
    size_t len = b.n < sizeof n->prefix ? b.n : sizeof n->prefix - 1;
    memcpy(n->prefix, buf_cstr(&b), len);
    Err e = buf_check(&b);
    buf_fini(&b);
    params_sorted(sorted);
    n->kernel_at = -1;
    for (int i = 0; i < PARAM_COUNT; i++) {
        const Param *p = param_at(sorted[i]);
        if (!param_in_names(p)) continue;
        if (n->kernel_at < 0 && strcmp(p->name, "Kernel") > 0) n->kernel_at = n->n_parts;
        part_init(&n->part[n->n_parts++], p);
    }
    return e;
}

static bool shows(const Namer *n, ParamId id) { return n->shown[id >> 6] >> (id & 63) & 1; }

static void show(Namer *n, ParamId id) { n->shown[id >> 6] |= UINT64_C(1) << (id & 63); }

void namer_note(Namer *n, const Solution *s)
{
    if (s->CustomKernelName.n) return;
    if (!n->has_first) {
        n->first = *s;
        n->has_first = true;
        return;
    }
    for (int i = 0; i < n->n_parts; i++) {
        ParamId id = (ParamId)n->part[i].param->id;
        const bool order = n->part[i].param->group == GROUP_ORDER; /* some solutions have it, others not */
        if (shows(n, id) || never_in_min((int)id)) continue;
        if (!solution_has(&n->first, id) && !(order && solution_has(s, id))) continue;
        if (solution_has(s, id) != solution_has(&n->first, id) ||
            !param_equal(n->part[i].param, &n->first, s))
            show(n, id);
    }
}

void namer_join(Namer *n, const uint64_t shown[PARAM_WORDS])
{
    for (size_t i = 0; i < PARAM_WORDS; i++) n->shown[i] |= shown[i];
}

void namer_show_all(Namer *n)
{
    for (int i = 0; i < n->n_parts; i++)
        if (n->part[i].param->id != PARAM_CustomKernelName) show(n, (ParamId)n->part[i].param->id);
}

/* A buffer of fixed size, because names are made for millions of solutions. */
enum { LINE_MAX_CHARS = 2048, LINE_ROOM = 256 }; /* no parameter needs more than LINE_ROOM */
typedef struct {
    char s[LINE_MAX_CHARS];
    size_t n;
    Buf *out;
} Line;

static void line_flush(Line *l)
{
    buf_add(l->out, l->s, l->n);
    l->n = 0;
}

static void put(Line *l, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) l->s[l->n + i] = s[i];
    l->n += n;
}

static void put_int(Line *l, int32_t v)
{
    uint32_t u = v < 0 ? 0u - (uint32_t)v : (uint32_t)v;
    char digit[12];
    size_t n = sizeof digit;
    if (v < 0) l->s[l->n++] = 'n';
    do digit[--n] = (char)('0' + u % 10);
    while (u /= 10);
    put(l, digit + n, sizeof digit - n);
}

static void put_hundredths(Line *l, int32_t v)
{
    put_int(l, v / 100);
    if (v > 0 && v % 100) {
        char rest[3] = {'p', (char)('0' + v / 10 % 10), (char)('0' + v % 10)};
        put(l, rest, 3);
    }
}

static void put_list(Line *l, const Param *p, const IntList *list)
{
    if (p->id == PARAM_ISA) { /* the stepping is one hexadecimal digit */
        put_int(l, list->v[0]);
        put_int(l, list->v[1]);
        l->s[l->n++] = "0123456789abcdef"[list->v[2] & 15];
        return;
    }
    for (int32_t i = 0; i < list->n; i++) {
        if (i) l->s[l->n++] = '_';
        put_int(l, list->v[i]);
    }
}

static void put_map(Line *l, const IntMap *map)
{
    for (int32_t i = 0; i < map->n; i++) {
        if (i) l->s[l->n++] = '_';
        put_int(l, map->key[i]);
        if (map->v[i] < 0) l->s[l->n++] = '-'; /* Tensile writes a minus sign only in maps */
        put_int(l, map->v[i] < 0 ? -map->v[i] : map->v[i]);
    }
}

static void put_value(Line *l, const NamePart *part, const Solution *s)
{
    const Param *p = part->param;
    const void *f = (const char *)s + p->offset;
    int32_t v = *(const int32_t *)f;
    switch ((ParamKind)p->kind) {
    case KIND_INT:
        if (v == 0 && param_is_load_width(p))
            put_hundredths(l, 400 / type_bytes((DataType)s->pt->DataType));
        else
            put_int(l, v);
        break;
    case KIND_BOOL:
        put_int(l, v);
        break;
    case KIND_FLOAT:
        put_hundredths(l, v);
        break;
    case KIND_ENUM:
        if (v >= 0 && v < ENUM_NAMES_MAX) put(l, part->word[v], strlen(part->word[v]));
        break;
    case KIND_LIST:
    case KIND_CHARS:
        put_list(l, p, f);
        break;
    case KIND_MAP:
        put_map(l, f);
        break;
    case KIND_STR:
        break; /* only CustomKernelName, which is in no name */
    }
}

static void put_front(const Namer *n, const Solution *s, Line *l)
{
    put(l, n->prefix, strlen(n->prefix));
    put(l, "MT", 2);
    put_int(l, s->MacroTile0);
    l->s[l->n++] = 'x';
    put_int(l, s->MacroTile1);
    l->s[l->n++] = 'x';
    put_int(l, s->DepthU);
    l->s[l->n++] = '_';
    if (solution_has(s, PARAM_MatrixInstM)) {
        const int32_t v[4] = {s->MatrixInstM, s->MatrixInstN, s->MatrixInstK, s->MatrixInstB};
        for (int i = 0; i < 4; i++) {
            put(l, i ? "x" : "MI", i ? 1 : 2);
            put_int(l, v[i]);
        }
        l->s[l->n++] = '_';
    }
    if (solution_has(s, PARAM_LdcEqualsLdd)) put(l, s->LdcEqualsLdd ? "SE_" : "SN_", 3);
}

void solution_name(const Namer *n, const Solution *s, NameKind kind, Buf *out)
{
    Line line;
    bool first = true;
    if (s->CustomKernelName.n) {
        buf_str(out, s->CustomKernelName);
        return;
    }
    line.n = 0;
    line.out = out;
    put_front(n, s, &line);
    for (int i = 0; i <= n->n_parts; i++) {
        if (line.n + LINE_ROOM > sizeof line.s) line_flush(&line);
        if (i == n->kernel_at && kind == NAME_KERNEL) {
            put(&line, first ? "K1" : "_K1", first ? 2 : 3);
            first = false;
        }
        if (i == n->n_parts) break;
        const NamePart *part = &n->part[i];
        ParamId id = (ParamId)part->param->id;
        if (!shows(n, id) || !solution_has(s, id)) continue;
        if (!first) line.s[line.n++] = '_';
        first = false;
        put(&line, part->text, part->n_text);
        put_value(&line, part, s);
    }
    line_flush(&line);
}

void solution_name_full(const Solution *s, Buf *out)
{
    Namer n;
    if (namer_init(&n, s->pt)) out->failed = true;
    namer_show_all(&n);
    solution_name(&n, s, NAME_SOLUTION, out);
}

/* The fields of names are contiguous in Solution (FORK, EXTRA and the first of STATE), except for HOST and NV
 * rows. Texts are hashed by content. */
Hash128 solution_hash(const Solution *s)
{
    enum {
        FROM = offsetof(Solution, LoopDoWhile),
        NAME = offsetof(Solution, CustomKernelName),
        REST = offsetof(Solution, NoReject),
        TO = offsetof(Solution, MatrixInstBM),
        ORDER = offsetof(Solution, WorkGroupMappingDim),
        HOST = offsetof(Solution, HostRepeatM),
        NV = offsetof(Solution, NvRing),
        END = offsetof(Solution, NvRoundXF32) + sizeof(int32_t)
    };
    _Static_assert(REST > NAME && NAME > FROM && TO > REST && ORDER > TO && HOST > ORDER,
                   "order of params.def");
    _Static_assert(PARAM_NvRoundXF32 == PARAM_COUNT - 1, "order of params.def");
    const char *bytes = (const char *)s;
    struct {
        Hash128 head, rest, family, name; /* name: of a kernel written by hand, or the work-group order */
    } all;
    memset(&all, 0, sizeof all);
    all.head = hash128((Str){bytes + FROM, NAME - FROM});
    all.rest = hash128((Str){bytes + REST, TO - REST});
    if (solution_has(s, PARAM_HostRepeatM)) all.family = hash128((Str){bytes + HOST, NV - HOST});
    if (solution_has(s, PARAM_NvRing)) all.family = hash128((Str){bytes + NV, END - NV});
    if (solution_has(s, PARAM_WorkGroupMappingDim)) all.name = hash128((Str){bytes + ORDER, HOST - ORDER});
    if (s->CustomKernelName.n) all.name = hash128(s->CustomKernelName);
    return hash128((Str){(const char *)&all, sizeof all});
}

void kernel_file_base(Str name, size_t max, Buf *out)
{
    char hash[45];
    if (name.n <= max) {
        buf_str(out, name);
        return;
    }
    size_t keep = max * 3 / 4;
    sha256_base64(str_sub(name, keep, name.n), hash);
    buf_str(out, str_sub(name, 0, keep));
    buf_puts(out, hash);
}
