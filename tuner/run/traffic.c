/* The command `tuner traffic`. See traffic.h. */
#include "run/traffic.h"

#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "index/walk.h"
#include "problem/datatype.h"
#include "problem/part.h"
#include "problem/traffic.h"

enum { SIDE_MAX = 1 << 26, TILE_MAX = 16384, DRAWN_MAX = 1 << 16, DRAWN_SIDE_MAX = 1024 };

/* An order with the dimension of its bands. */
typedef struct {
    const char *title;
    int32_t dim;
    Mapping m;
} Order;

typedef struct {
    const Part *part;
    TrafficDevice device;
    int64_t tile[3], size[3];
    TrafficGrid grid; /* dim: of the order that is counted */
    Order drawn[3];   /* default, chosen, --order */
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
    TRY(numbers("order", o->traffic_order, ',', 1, 4, 0, MAPPING_WGM_MAX, "W, XCC, GROUP, CHUNK", v));
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
                            .bytes_n = (double)c->tile[1] * k};
    if (c->grid.tiles_m * c->grid.tiles_n > UINT32_MAX)
        FAIL(ERR_INPUT, "--size: '%s': %lld x %lld tiles are more than a launch can have, 2^32 - 1",
             o->traffic_size, (long long)c->grid.tiles_m, (long long)c->grid.tiles_n);
    return ERR_OK;
}

/* ---- the table ---- */

static Traffic count(const Command *c, const Order *o)
{
    TrafficGrid g = c->grid;
    g.dim = o->dim;
    return traffic_count(&c->device, &g, &o->m, 0);
}

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
    return sum * (double)((c->size[2] + c->tile[2] - 1) / c->tile[2]);
}

static void row(const Command *c, const Order *o, FILE *f)
{
    const Traffic t = count(c, o);
    const double mib = 1 << 20;
    fprintf(f, "%-8s %3d %5d %4d %6d %6d %9.0f %9.0f %10.1f %9.0f %9.0f %10.1f %12.0f %10.1f\n",
            o->title ? o->title : "", o->dim, o->m.wgm, o->m.dies, o->m.group, o->m.chunk, t.l2_rows,
            t.l2_columns, t.l2_bytes / mib, t.llc_rows, t.llc_columns, t.llc_bytes / mib, blocks_of_die(c, o),
            traffic_seconds(&c->device, &t) * 1e6);
}

/* The better of both dimensions' best orders. */
static Order chosen(const Command *c)
{
    Order best = {.title = "chosen"};
    double least = -1;
    for (int32_t dim = 0; dim < 2; dim++) {
        TrafficGrid g = c->grid;
        g.dim = dim;
        const Order o = {"chosen", dim, traffic_best(&c->device, &g)};
        const Traffic t = count(c, &o);
        const double seconds = traffic_seconds(&c->device, &t);
        if (least < 0 || seconds < least) best = o, least = seconds;
    }
    return best;
}

static void table(const Command *c, FILE *f)
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
    fprintf(f, "%-8s %3s %5s %4s %6s %6s %9s %9s %10s %9s %9s %10s %12s %10s\n", "", "dim", "wgm", "xcc",
            "group", "chunk", "L2 rows", "columns", "MiB", "LLC rows", "columns", "MiB", "die 0 blocks",
            "us");
    for (int i = 0; i < c->n_drawn; i++) row(c, &c->drawn[i], f);
    for (int32_t dim = 0; dim < 2; dim++) {
        TrafficGrid of_dim = *g;
        Order o = {.dim = dim};
        of_dim.dim = dim;
        for (int i = 0; traffic_order(d, &of_dim, i, &o.m); i++) row(c, &o, f);
    }
}

/* ---- the picture ---- */

/* Colours of dies, light enough for black numbers; further dies begin anew. */
static const char *const colours[] = {"#bdbdbd", "#9ecae1", "#fdae6b", "#a1d99b", "#dadaeb", "#fcbba1",
                                      "#ffe08a", "#c7e9e4", "#f4b6d2", "#b7c9a8", "#c6b89e", "#8fd0c5"};
enum { N_COLOURS = sizeof colours / sizeof *colours, CELL = 26, MARGIN = 24, NODES = 256 };

/* Draws the tiles at x, y: rows are tiles along M. The kernel's own expressions say who has which. */
static Err grid_draw(const Command *c, const Order *o, int64_t x, int64_t y, Buf *out)
{
    static const WalkNames names = {.id = "id", .tiles_m = "tiles_m", .tiles_n = "tiles_n", .batch = "batch"};
    const Walk walk = {.persistent = true, .split = 1, .mapping_words = true, .mapping_dim = o->dim};
    const TrafficGrid *g = &c->grid;
    int64_t v[WALK_SLOTS] = {[WALK_TILES_M] = g->tiles_m, [WALK_TILES_N] = g->tiles_n};
    Expr node[NODES];
    ExprPool pool;
    expr_pool_fixed(&pool, node, NODES);
    v[WALK_MAPPING] = mapping_word(&o->m), v[WALK_MAPPING_CHUNK] = mapping_chunk_word(&o->m);
    const WalkPlace at = walk_place(&pool, &walk, &names);
    TRY(expr_pool_check(&pool));
    buf_printf(out, "<text x=\"%lld\" y=\"%lld\">%s: dim %d, wgm %d, xcc %d, group %d, chunk %d</text>\n",
               (long long)x, (long long)(y - 8), o->title, o->dim, o->m.wgm, o->m.dies, o->m.group,
               o->m.chunk);
    for (int64_t u = 0; u < g->tiles_m * g->tiles_n; u++) {
        int64_t m, n;
        v[WALK_ID] = u;
        if (!expr_eval(at.wg0, v, &m) || !expr_eval(at.wg1, v, &n))
            BUG("no tile for work-group %lld", (long long)u);
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
    c.drawn[0] = (Order){"default", 1, {.wgm = 1, .dies = 1}};
    c.drawn[1] = chosen(&c);
    c.n_drawn = 2;
    if (o->traffic_order) TRY(order_option(o, &c.drawn[c.n_drawn++]));
    if (o->traffic_svg) TRY(draw(&c, o->traffic_svg));
    table(&c, f);
    return ERR_OK;
}
