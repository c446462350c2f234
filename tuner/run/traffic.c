/* The command `tuner traffic`. See traffic.h. */
#include "run/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "index/walk.h"
#include "problem/datatype.h"
#include "problem/part.h"
#include "problem/traffic.h"

enum { SIDE_MAX = 1 << 26, TILE_MAX = 16384, DRAWN_MAX = 1 << 16, DRAWN_SIDE_MAX = 1024 };

/* An order with the dimension of its bands; or Z order (WorkGroupMappingType Z), with the ids as the hardware
 * has them. */
typedef struct {
    const char *title;
    int32_t dim;
    Mapping m;
    bool z;
} Order;

typedef struct {
    const Part *part;
    TrafficDevice device;
    int64_t tile[3], size[3];
    TrafficGrid grid; /* its dim is that of the order whose traffic is being counted */
    Order drawn[3];   /* in the SVG: the default order, the chosen one, that of --order */
    int n_drawn;
} Command;

/* ---- options ---- */

/* Reads least to most numbers from 1 (lo: the least) to hi. */
static Err numbers(const char *option, const char *text, char separator, int least, int most, int64_t lo,
                   int64_t hi, const char *expected, int64_t *out)
{
    Str rest = str_from(text), part;
    int n = 0;
    while (str_split(&rest, separator, &part)) {
        if (n == most || !str_to_i64(part, &out[n]) || out[n] < lo || out[n] > hi)
            FAIL(ERR_INPUT, "--%s: '%s', expected %s, each from %lld to %lld", option, text, expected,
                 (long long)lo, (long long)hi);
        n++;
    }
    if (n < least)
        FAIL(ERR_INPUT, "--%s: '%s', expected %s, each from %lld to %lld", option, text, expected,
             (long long)lo, (long long)hi);
    return ERR_OK;
}

static Err order_option(const Options *o, Order *out)
{
    int64_t v[4] = {1, 1, 0, 0};
    if (!strcmp(o->traffic_order, "Z")) {
        *out = (Order){"--order", 1, {.wgm = 1, .dies = 1}, true};
        return ERR_OK;
    }
    TRY(numbers("order", o->traffic_order, ',', 1, 4, 0, MAPPING_WGM_MAX, "Z, or W, XCC, GROUP, CHUNK", v));
    *out = (Order){.title = "--order",
                   .dim = o->traffic_dim,
                   .m = {(int32_t)v[0], (int32_t)v[1], (int32_t)v[2], (int32_t)v[3]}};
    const char *fault = mapping_fault(&out->m);
    if (fault) FAIL(ERR_INPUT, "--order: '%s': %s", o->traffic_order, fault);
    return ERR_OK;
}

static Err command_read(const Options *o, Command *c)
{
    DataType type;
    const char *tile = o->traffic_tile ? o->traffic_tile : "128x256x64",
               *letter = o->traffic_type ? o->traffic_type : "h";
    if (!o->part || !o->traffic_size)
        FAIL(ERR_INPUT, "usage: tuner traffic --part NAME --size M,N,K (tuner traffic --help)");
    TRY(part_find(str_from(o->part), NULL, &c->part));
    TRY(numbers("tile", tile, 'x', 3, 3, 1, TILE_MAX, "MxNxK", c->tile));
    TRY(numbers("size", o->traffic_size, ',', 3, 3, 1, SIDE_MAX, "M,N,K", c->size));
    if (!type_find(str_from(letter), &type)) FAIL(ERR_INPUT, "--type: unknown data type '%s'", letter);
    c->device = part_traffic(str_from(c->part->arch), c->part->n_cu);
    const double k = (double)c->size[2] * type_bytes(type);
    c->grid = (TrafficGrid){.tiles_m = (c->size[0] + c->tile[0] - 1) / c->tile[0],
                            .tiles_n = (c->size[1] + c->tile[1] - 1) / c->tile[1],
                            .bytes_m = (double)c->tile[0] * k,
                            .bytes_n = (double)c->tile[1] * k,
                            .bytes_tile = (double)(c->tile[0] * c->tile[1]) * type_bytes(type)};
    if (c->grid.tiles_m * c->grid.tiles_n > UINT32_MAX)
        FAIL(ERR_INPUT, "--size: '%s': %lld x %lld tiles are more than a launch can have, 2^32 - 1",
             o->traffic_size, (long long)c->grid.tiles_m, (long long)c->grid.tiles_n);
    return ERR_OK;
}

/* ---- the kernel's own expressions ---- */

enum { NODES = 512 };
typedef struct {
    Expr node[NODES];
    ExprPool pool;
    WalkPlace at;
    int64_t value[WALK_SLOTS];
} Places;

static Err places_init(Places *p, const Command *c, const Order *o)
{
    static const WalkNames names = {.id = "id", .tiles_m = "tiles_m", .tiles_n = "tiles_n", .batch = "batch"};
    const Walk walk = {.persistent = true,
                       .split = 1,
                       .mapping = 1,
                       .mapping_z = o->z,
                       .mapping_words = !o->z,
                       .mapping_dim = o->dim};
    expr_pool_fixed(&p->pool, p->node, NODES);
    memset(p->value, 0, sizeof p->value);
    p->value[WALK_TILES_M] = c->grid.tiles_m, p->value[WALK_TILES_N] = c->grid.tiles_n;
    p->value[WALK_MAPPING] = mapping_word(&o->m), p->value[WALK_MAPPING_CHUNK] = mapping_chunk_word(&o->m);
    p->at = walk_place(&p->pool, &walk, &names);
    return expr_pool_check(&p->pool);
}

static void place_of(Places *p, int64_t id, int64_t *m, int64_t *n)
{
    p->value[WALK_ID] = id;
    if (!expr_eval(p->at.wg0, p->value, m) || !expr_eval(p->at.wg1, p->value, n))
        BUG("no tile for work-group %lld", (long long)id);
}

/* ---- the table ---- */

static int order_of_numbers(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static int64_t distinct(int64_t *v, int64_t n)
{
    int64_t different = n > 0;
    qsort(v, (size_t)n, sizeof *v, order_of_numbers);
    for (int64_t i = 1; i < n; i++) different += v[i] != v[i - 1];
    return different;
}

/* Distinct rows and columns of ids `from` to `to` - 1, of one die or with die < 0 of all. */
static TrafficSet set_by_places(const Command *c, Places *p, int64_t *room, int64_t from, int64_t to,
                                int32_t die)
{
    int64_t n = 0, *columns = room + c->device.cus;
    for (int64_t id = from; id < to; id++)
        if (die < 0 || id % c->device.dies == die) place_of(p, id, &room[n], &columns[n]), n++;
    return (TrafficSet){distinct(room, n), distinct(columns, n)};
}

/* Counts Z order tile by tile; of many waves some, evenly spaced, stand for the others. Memory's bytes are
 * those of waves by themselves. */
static Err count_z(const Command *c, const Order *o, Traffic *t, double *die_0)
{
    enum { WAVES_MAX = 1 << 9 };
    const int64_t n = c->grid.tiles_m * c->grid.tiles_n, cus = c->device.cus, waves = (n + cus - 1) / cus;
    const int64_t counted = waves < WAVES_MAX ? waves : WAVES_MAX;
    const double each = (double)waves / (double)counted;
    Places places;
    TRY(places_init(&places, c, o));
    int64_t *room = malloc(2 * (size_t)cus * sizeof *room);
    TRY_ALLOC(room);
    *t = (Traffic){.waves = waves};
    *die_0 = 0;
    for (int64_t i = 0; i < counted; i++) {
        const int64_t from = (int64_t)((double)i * each) * cus, to = from + cus < n ? from + cus : n;
        for (int32_t die = -1; die < c->device.dies; die++) {
            const TrafficSet s = set_by_places(c, &places, room, from, to, die);
            *(die < 0 ? &t->llc_rows : &t->l2_rows) += (double)s.rows * each;
            *(die < 0 ? &t->llc_columns : &t->l2_columns) += (double)s.columns * each;
            if (die == 0) *die_0 += (double)(s.rows + s.columns) * each;
        }
    }
    free(room);
    t->l2_bytes = t->l2_rows * c->grid.bytes_m + t->l2_columns * c->grid.bytes_n;
    t->llc_bytes = t->llc_rows * c->grid.bytes_m + t->llc_columns * c->grid.bytes_n;
    t->read_bytes = t->llc_bytes;
    return ERR_OK;
}

static Traffic count(const Command *c, const Order *o)
{
    TrafficGrid g = c->grid;
    g.dim = o->dim;
    return traffic_count(&c->device, &g, &o->m, 0);
}

static double chunks(const Command *c) { return (double)((c->size[2] + c->tile[2] - 1) / c->tile[2]); }

/* Blocks of tile side x DepthU elements of A and B that die 0 reads; of large grids in the first waves. */
static double blocks_of_die(const Command *c, const Order *o)
{
    TrafficGrid g = c->grid;
    double sum = 0;
    g.dim = o->dim;
    for (int64_t wave = 0; wave < TRAFFIC_WAVES_MAX; wave++) {
        const int64_t from = wave * c->device.cus;
        if (from >= g.tiles_m * g.tiles_n) break;
        const TrafficSet s = traffic_set(&g, &o->m, from, from + c->device.cus, c->device.dies, 0);
        sum += (double)(s.rows + s.columns);
    }
    return sum * chunks(c);
}

static Err row(const Command *c, const Order *o, FILE *f)
{
    const double mib = 1 << 20;
    Traffic t;
    double blocks;
    if (o->z) {
        TRY(count_z(c, o, &t, &blocks));
        blocks *= chunks(c);
        fprintf(f, "%-8s %3s %5s %4d %6d %6d", o->title, "Z", "", 1, 0, 0);
    } else {
        t = count(c, o), blocks = blocks_of_die(c, o);
        fprintf(f, "%-8s %3d %5d %4d %6d %6d", o->title ? o->title : "", o->dim, o->m.wgm, o->m.dies,
                o->m.group, o->m.chunk);
    }
    fprintf(f, " %9.0f %9.0f %10.1f %9.0f %9.0f %10.1f %12.0f %10.1f %10.1f\n", t.l2_rows, t.l2_columns,
            t.l2_bytes / mib, t.llc_rows, t.llc_columns, t.llc_bytes / mib, blocks, t.read_bytes / mib,
            traffic_seconds(&c->device, &t) * 1e6);
    return ERR_OK;
}

/* The better of both dimensions' best orders. */
static Order chosen(const Command *c)
{
    Order best = {.title = "chosen"};
    double least = -1;
    for (int32_t dim = 0; dim < 2; dim++) {
        TrafficGrid g = c->grid;
        g.dim = dim;
        const Order o = {.title = "chosen", .dim = dim, .m = traffic_best(&c->device, &g)};
        const Traffic t = count(c, &o);
        const double seconds = traffic_seconds(&c->device, &t);
        if (least < 0 || seconds < least) best = o, least = seconds;
    }
    return best;
}

static Err table(const Command *c, FILE *f)
{
    const TrafficGrid *g = &c->grid;
    const TrafficDevice *d = &c->device;
    fprintf(f,
            "%s: %d compute units, %d L2 cache%s, %.1f TB/s into %s, %.1f TB/s from memory\n"
            "%lld x %lld x %lld in tiles of %lld x %lld: %lld x %lld tiles, %lld waves\n",
            c->part->name, d->cus, d->dies, d->dies > 1 ? "s" : "", d->l2_rate / 1e12,
            d->dies > 1 ? "them" : "it", d->llc_rate / 1e12, (long long)c->size[0], (long long)c->size[1],
            (long long)c->size[2], (long long)c->tile[0], (long long)c->tile[1], (long long)g->tiles_m,
            (long long)g->tiles_n, (long long)((g->tiles_m * g->tiles_n + d->cus - 1) / d->cus));
    fprintf(f, "%-8s %3s %5s %4s %6s %6s %9s %9s %10s %9s %9s %10s %12s %10s %10s\n", "", "dim", "wgm", "xcc",
            "group", "chunk", "L2 rows", "columns", "MiB", "LLC rows", "columns", "MiB", "die 0 blocks",
            "memory MiB", "us");
    for (int i = 0; i < c->n_drawn; i++) TRY(row(c, &c->drawn[i], f));
    for (int32_t dim = 0; dim < 2; dim++) {
        TrafficGrid of_dim = *g;
        Order o = {.dim = dim};
        of_dim.dim = dim;
        for (int i = 0; traffic_order(d, &of_dim, i, &o.m); i++) TRY(row(c, &o, f));
    }
    const Order z = {"", 1, {.wgm = 1, .dies = 1}, true};
    return row(c, &z, f);
}

/* ---- the picture ---- */

/* Colours of dies, light enough for black numbers; further dies begin anew. */
static const char *const colours[] = {"#bdbdbd", "#9ecae1", "#fdae6b", "#a1d99b", "#dadaeb", "#fcbba1",
                                      "#ffe08a", "#c7e9e4", "#f4b6d2", "#b7c9a8", "#c6b89e", "#8fd0c5"};
enum { N_COLOURS = sizeof colours / sizeof *colours, CELL = 26, MARGIN = 24 };

/* Draws the tiles at x, y: rows are tiles along M. The kernel's own expressions say who has which. */
static Err grid_draw(const Command *c, const Order *o, int64_t x, int64_t y, Buf *out)
{
    const TrafficGrid *g = &c->grid;
    Places places;
    TRY(places_init(&places, c, o));
    buf_printf(out, "<text x=\"%lld\" y=\"%lld\">%s: ", (long long)x, (long long)(y - 8), o->title);
    if (o->z)
        buf_puts(out, "Z order</text>\n");
    else
        buf_printf(out, "dim %d, wgm %d, xcc %d, group %d, chunk %d</text>\n", o->dim, o->m.wgm, o->m.dies,
                   o->m.group, o->m.chunk);
    for (int64_t u = 0; u < g->tiles_m * g->tiles_n; u++) {
        int64_t m, n;
        place_of(&places, u, &m, &n);
        const long long left = x + n * CELL, top = y + m * CELL;
        buf_printf(out, "<rect x=\"%lld\" y=\"%lld\" width=\"%d\" height=\"%d\" fill=\"%s\"/>", left, top,
                   CELL, CELL, colours[u % c->device.dies % N_COLOURS]);
        buf_printf(out, "<text x=\"%lld\" y=\"%lld\" text-anchor=\"middle\">%lld</text>\n", left + CELL / 2,
                   top + CELL / 2 + 3, (long long)u);
    }
    return ERR_OK;
}

static Err draw(const Command *c, const char *path)
{
    const TrafficGrid *g = &c->grid;
    if (g->tiles_m > DRAWN_SIDE_MAX || g->tiles_n > DRAWN_SIDE_MAX || g->tiles_m * g->tiles_n > DRAWN_MAX)
        FAIL(ERR_INPUT,
             "--svg: %lld x %lld tiles are too many to be drawn, at most %d in all and %d on a side",
             (long long)g->tiles_m, (long long)g->tiles_n, DRAWN_MAX, DRAWN_SIDE_MAX);
    Buf out;
    buf_init(&out);
    const int64_t wide = g->tiles_n * CELL + MARGIN > 320 ? g->tiles_n * CELL + MARGIN : 320;
    buf_printf(
        &out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" font-family=\"sans-serif\" "
        "font-size=\"9\" stroke-width=\"0.5\">\n<title>%s: work-groups of %lld x %lld tiles by die</title>\n",
        (long long)(wide * c->n_drawn + MARGIN), (long long)(g->tiles_m * CELL + 3 * MARGIN), c->part->name,
        (long long)g->tiles_m, (long long)g->tiles_n);
    buf_puts(&out, "<style>rect{stroke:#666}</style>\n");
    for (int32_t die = 0; die < c->device.dies; die++)
        buf_printf(
            &out,
            "<rect x=\"%d\" y=\"6\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"%d\" y=\"14\">die %d"
            "</text>\n",
            MARGIN + 50 * die, colours[die % N_COLOURS], MARGIN + 50 * die + 13, die);
    Err e = ERR_OK;
    for (int i = 0; !e && i < c->n_drawn; i++)
        e = grid_draw(c, &c->drawn[i], MARGIN + i * wide, 2 * MARGIN, &out);
    buf_puts(&out, "</svg>\n");
    if (!e) e = buf_check(&out);
    if (!e) e = file_write(path, buf_view(&out));
    buf_fini(&out);
    return e;
}

Err traffic_command(const Options *o, FILE *f)
{
    Command c;
    memset(&c, 0, sizeof c);
    TRY(command_read(o, &c));
    c.drawn[0] = (Order){.title = "default", .dim = 1, .m = {.wgm = 1, .dies = 1}};
    c.drawn[1] = chosen(&c);
    c.n_drawn = 2;
    if (o->traffic_order) TRY(order_option(o, &c.drawn[c.n_drawn++]));
    if (o->traffic_svg) TRY(draw(&c, o->traffic_svg));
    return table(&c, f);
}
