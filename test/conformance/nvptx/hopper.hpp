/* What kernels by wgmma (sm_90a) need on the CPU, behind warps.hpp: the work-groups of a cluster run together, each
 * with a shared memory of its own that is reached by addresses alone; mbarriers; the copy engine (TMA); wgmma;
 * named barriers. From the PTX ISA (9.7.9.27 cp.async.bulk.tensor, 9.7.13.15 mbarrier, 9.7.15 wgmma), not from
 * the kernels.
 *
 * What a device does later is done as late as the protocol allows, and what it leaves undefined until then is
 * poison: copies of the engine land when every thread waits or at a random moment before, wgmma multiplies when it
 * is waited for, and its accumulators are NaN until then; the engine reads what it stores when that is waited for.
 * fail() ends a launch that breaks the protocol: a copy into a stage that wgmma still reads, a barrier with more
 * arrivals or bytes than it expects, a read of another work-group's memory with no barrier of the cluster behind
 * the write or before a write over it, a slice that the engine stores without a fence behind the writes or that is
 * written again while it is read, wgmma of such a slice, without its fence or off the boundary of its swizzle, an mbarrier that
 * other threads use before all have met, registers beyond those of a processor, a wait for ever. */
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <unistd.h>

#define HOPPER
#define __cluster_dims__(...)
#define __grid_constant__

namespace
{
enum { SHARED_BYTES_MAX = 227 << 10, NAMED_BARRIERS = 16, REGISTERS = 65536 };

/* A bad protocol ends the process with a line; emulate.py runs launches of these kernels in one of their own. */
[[noreturn]] void fail(const char *what, long long x = 0, long long y = 0)
{
    printf("protocol: work-group %u, thread %d: ", blockIdx.x, cur ? cur->tid : -1);
    printf(what, x, y);
    printf("\n");
    fflush(stdout);
    _exit(3);
}

struct Range {
    uint32_t at, bytes;
    bool meets(const Range &o) const { return at < o.at + o.bytes && o.at < at + bytes; }
};

/* cta, tid, turn: the thread that has set it, and the turn of the cluster's barrier then. */
struct MBarrier {
    int expected, pending;
    long long bytes;
    uint64_t phase;
    int cta, tid, turn;
};

/* any, answer: of a reduction that is under way, and of the last one. */
struct Named {
    int count, turn;
    bool any, answer;
    bool acquires, acquired; /* by a thread that meets now; by one that met last */
};

/* One wgmma of a thread that has not been waited for. */
struct Product {
    void *sums;
    int n, group;
    uint64_t x, y;
    bool add;
    void (*run)(const Product &, size_t number);
    std::vector<uint32_t> kept; /* the accumulators; NaN stands in their registers */
    std::vector<Range> reads;
    const uint32_t *rows; /* this thread's words of X, which stay in its registers until the product is made; or NULL */
};
using Words = std::array<uint32_t, 4>;

/* A store of the engine that has not been waited for. group: -1 before its commit. */
struct Stored {
    const void *map;
    Range from;
    std::array<int, 6> c;
    int group, tid;
};

/* What a thread of these kernels has under way. */
/* Words of shared memory. */
struct SharedWords {
    enum { WORD = 4 };
    std::set<uint32_t> at;
    void add(const Range &r)
    {
        for (uint32_t i = r.at / WORD * WORD; i < r.at + r.bytes; i += WORD) at.insert(i);
    }
    /* Whether one of them is in a range: its address, else -1. */
    int64_t in(const Range &r) const
    {
        if (at.empty() || *at.rbegin() + WORD <= r.at) return -1;
        const auto i = at.lower_bound(r.at / WORD * WORD);
        return i != at.end() && *i < r.at + r.bytes ? (int64_t)*i : -1;
    }
};
struct Thread {
    std::deque<Product> products;
    std::vector<Words> rows; /* words of X of the products that are made now, which other lanes need */
    int group = 0;       /* of wgmma: committed so far */
    bool fenced = false; /* wgmma.fence since the last wait */
    int store_group = 0;
    int registers = 0;        /* by setmaxnreg */
    std::vector<std::pair<void *, std::array<uint32_t, 4>>> sums; /* written to a workspace, with no fence behind them */
    int n_sums = 0;       /* written in all */
    bool acquired = true; /* a fence has followed the barrier that told of others' sums */
    bool acquires = false, keeps = false; /* a load has acquired others' sums; so that they may be read until new ones are written */
    bool begins = false, waited = false; /* before the launches in front have ended; for them */
    SharedWords dirty; /* writes that no fence of the proxy has followed */
};

/* Turns of the cluster's barrier in which a word of shared memory was written by a thread, and read by another
 * work-group's; 0: never. */
struct Turns {
    int written, read;
};

struct Cta {
    std::vector<char> memory;
    std::vector<Turns> turns;
    std::map<uint32_t, MBarrier> barrier;
    Named named[NAMED_BARRIERS];
    std::vector<Thread> thread;
    std::vector<Stored> stores;
    int running;
};
std::vector<Cta> ctas;
Barrier cluster_barrier, warp_group_barrier[CTAS * 8];
std::mt19937 engine_random(1);

/* A copy of the engine that has been started and has not landed. */
struct Box {
    uint32_t to, bar, swizzle;
    std::vector<char> data;
    int mask;
};
std::vector<Box> in_flight;

Cta &cta() { return ctas[cur->cta]; }
Thread &self() { return cta().thread[cur->tid]; }

void check_range(const Range &r)
{
    if (r.at < SHARED_AT || r.at + r.bytes > SHARED_AT + SHARED_BYTES_MAX) fail("shared address %lld, %lld bytes", r.at, r.bytes);
}
char *bytes_at(Cta &c, Range r)
{
    check_range(r);
    return c.memory.data() + (r.at - SHARED_AT);
}

int turn_now() { return cluster_barrier.turn + 1; }
Turns &turns_at(Cta &c, uint32_t at) { return c.turns[(at - SHARED_AT) / 4]; }
/* Bytes that are about to change. */
void check_read(Cta &c, const Range &r)
{
    for (uint32_t at = r.at & ~3u; at < r.at + r.bytes; at += 4)
        if (turns_at(c, at).read == turn_now()) fail("a write to shared address %lld, which other work-groups may still read", at);
}

/* ---- mbarriers ---- */

MBarrier &barrier_at(Cta &c, uint32_t bar)
{
    if (bar % 8) fail("mbarrier at %lld", bar);
    auto found = c.barrier.find(bar);
    if (found == c.barrier.end()) fail("no mbarrier at %lld", bar);
    const MBarrier &b = found->second;
    const bool own = b.cta == cur->cta && b.tid == cur->tid;
    if (!own && b.turn == cluster_barrier.turn) fail("no barrier of threads between setting the mbarrier at %lld and using it", bar);
    return found->second;
}
void barrier_init(uint32_t bar, int count)
{
    check_range({bar, 8});
    cta().barrier[bar] = {count, count, 0, 0, cur->cta, cur->tid, cluster_barrier.turn};
}
void barrier_turn(MBarrier &b)
{
    progress++;
    if (b.pending < 0) fail("an mbarrier has %lld arrivals more than it expects", -b.pending);
    if (b.pending) return; /* of a cluster's copies some may land before this work-group expects them */
    if (b.bytes < 0) fail("an mbarrier gets %lld bytes more than it expects", -b.bytes);
    if (b.bytes) return;
    b.pending = b.expected, b.phase++;
}
void barrier_arrive(uint32_t bar, uint32_t rank)
{
    if (rank >= ctas.size()) fail("work-group %lld of a cluster of %lld", rank, (long long)ctas.size());
    if (!ctas[rank].running) fail("an arrival at work-group %lld of the cluster, which has ended", rank);
    MBarrier &b = barrier_at(ctas[rank], bar);
    b.pending--;
    barrier_turn(b);
}
void barrier_expect(uint32_t bar, int bytes)
{
    MBarrier &b = barrier_at(cta(), bar);
    b.bytes += bytes, b.pending--;
    barrier_turn(b);
}
void barrier_wait(uint32_t bar, uint32_t parity)
{
    while ((barrier_at(cta(), bar).phase & 1) == parity) swapcontext(&cur->c, &scheduler);
    progress++;
}

/* ---- the copy engine ---- */

/* What emit writes instead of a CUtensorMap: tensor_map.h. */
enum { MAP_DIMS = 4 };
struct MapModel {
    uint64_t address, stride[MAP_DIMS - 1];
    uint32_t magic, size[MAP_DIMS];
    uint16_t box[MAP_DIMS], step[2], bytes, swizzle, rank, pixels;
    int16_t lower[2], upper[2];
};
/* The first element of a box, and of pixels the distances at which they are read. */
using Place = std::array<int, MAP_DIMS + 2>;
MapModel model_of(const void *map)
{
    MapModel m;
    memcpy(&m, map, sizeof m);
    if (m.magic != 0x70616d74) fail("no tensor map");
    return m;
}
uint32_t relu_half(uint32_t x, bool is_bf16)
{
    x &= 0xffff;
    return (is_bf16 ? bits<float>(x << 16) : half_to_float(x)) > 0 ? x : 0;
}
uint32_t bf16_bits(float x)
{
    const uint32_t u = bits<uint32_t>(x);
    return x != x ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}
/* Addresses in shared memory: bits 4 to 6 exchanged by bits 7 to 9, fewer of them for narrower swizzles. */
uint32_t swizzle_at(uint32_t at, uint32_t bytes)
{
    const uint32_t mask = bytes ? bytes / 16 - 1 : 0;
    return at ^ (at >> 7 & mask) << 4;
}
/* An element, or nullptr behind an edge. */
char *element_of(const MapModel &m, const long long *at)
{
    char *to = (char *)m.address;
    for (int d = 0; d < m.rank; d++) {
        if (at[d] < 0 || at[d] >= m.size[d]) return nullptr;
        to += at[d] * (d ? (int64_t)m.stride[d - 1] : m.bytes);
    }
    return to;
}
/* Calls f(bytes behind the box's start, element in memory or nullptr) for every element of pixels (PTX ISA, "im2col
 * mode"): their positions go through the bounding box of each image, from its lower corner to that behind the upper
 * one, line after line, image after image. */
template <class F> void each_pixel(const MapModel &m, const Place &c, F f)
{
    long long at[] = {c[0], c[1], c[2], c[3]};
    for (int d = 0; d < 2; d++) {
        const long long from = at[1 + d] - m.lower[d], end = (long long)m.size[1 + d] + m.upper[d];
        if (from < 0 || at[1 + d] >= end || from % m.step[d]) fail("pixels from position %lld of dimension %lld on, beside the bounding box", at[1 + d], d);
        if (c[4 + d] < 0 || c[4 + d] > 255) fail("pixels are read %lld apart", c[4 + d]);
    }
    for (uint32_t i = 0; i < m.box[1]; i++) {
        long long here[] = {0, at[1] + c[4], at[2] + c[5], at[3]};
        for (uint32_t k = 0; k < m.box[0]; k++) {
            here[0] = at[0] + k;
            f((i * m.box[0] + k) * m.bytes, element_of(m, here));
        }
        at[1] += m.step[0];
        if (at[1] < (long long)m.size[1] + m.upper[0]) continue;
        at[1] = m.lower[0], at[2] += m.step[1];
        if (at[2] < (long long)m.size[2] + m.upper[1]) continue;
        at[2] = m.lower[1], at[3]++;
    }
}
/* The same of a box. */
template <class F> void each_element(const MapModel &m, const Place &c, F f)
{
    long long at[MAP_DIMS];
    uint32_t i[MAP_DIMS] = {}, bytes = 0;
    if (m.pixels) return each_pixel(m, c, f);
    for (int d = 0; d < m.rank;) {
        for (int k = 0; k < m.rank; k++) at[k] = (long long)c[k] + i[k];
        f(bytes, element_of(m, at));
        bytes += m.bytes;
        for (d = 0; d < m.rank && ++i[d] == m.box[d]; d++) i[d] = 0;
    }
}
uint32_t box_bytes(const MapModel &m)
{
    uint32_t n = m.bytes;
    for (int d = 0; d < m.rank && !(m.pixels && d > 1); d++) n *= m.box[d];
    return n;
}
/* dims: of the instruction; pixels: it loads them. */
void check_box(const MapModel &m, uint32_t at, int dims, bool pixels)
{
    if (at % 128) fail("a box at shared address %lld", at);
    if (m.rank != dims || m.pixels != pixels) fail("a tensor map of %lld dimensions for an instruction of %lld", m.rank, dims);
    if (m.address % 16) fail("a tensor map of an address that is no multiple of 16");
    for (int d = 0; d + 1 < m.rank; d++)
        if (m.stride[d] % 16) fail("a tensor map of a stride that is no multiple of 16");
    if (m.swizzle && m.box[0] * m.bytes > m.swizzle) fail("a box of %lld bytes in a row is wider than its swizzle of %lld", m.box[0] * m.bytes, m.swizzle);
    for (int d = 0; d < m.rank; d++)
        if (m.box[d] < 1 || m.box[d] > (m.pixels ? 1024 : 256)) fail("a box of %lld elements", m.box[d]);
    for (int d = 0; d < 2 && m.pixels; d++)
        if (m.step[d] < 1 || m.step[d] > 8 || m.lower[d] < -128 || m.upper[d] < -128 || m.lower[d] > 127 || m.upper[d] > 127)
            fail("a window that a tensor map has not, along dimension %lld", d);
}
/* Nothing may read or hold what a box is about to overwrite. */
void check_unused(Cta &c, const Range &r)
{
    for (const Thread &t : c.thread)
        for (const Product &p : t.products)
            for (const Range &x : p.reads)
                if (x.meets(r)) fail("a copy into shared address %lld, which wgmma still reads", r.at);
    for (const Stored &s : c.stores)
        if (s.from.meets(r)) fail("a copy into shared address %lld, which a store still reads", r.at);
    for (const Thread &t : c.thread)
        if (t.dirty.in(r) >= 0) fail("a copy over shared address %lld, which was written without a fence of the proxy", t.dirty.in(r));
    check_read(c, r);
    for (const auto &b : c.barrier)
        if (r.meets({b.first, 8})) fail("a copy over the mbarrier at %lld", b.first);
}
void land(const Box &b)
{
    for (size_t i = 0; i < ctas.size(); i++) {
        if (!(b.mask >> i & 1)) continue;
        Cta &c = ctas[i];
        if (!c.running) fail("a copy into a work-group that has ended");
        const uint32_t n = (uint32_t)b.data.size();
        for (uint32_t k = 0; k < n; k += 16) memcpy(bytes_at(c, {swizzle_at(b.to + k, b.swizzle), 16}), &b.data[k], 16);
        MBarrier &bar = barrier_at(c, b.bar);
        bar.bytes -= n;
        barrier_turn(bar);
    }
}
/* Launches in front may still write what this one reads, and read what it writes. */
void check_waited()
{
    if (self().begins && !self().waited) fail("a copy before the launches in front have ended");
}
/* Starts a copy into the work-groups of the mask. */
void engine_start(uint32_t to, const void *map, uint32_t bar, const Place &c, int dims, bool pixels, int mask)
{
    const MapModel m = model_of(map);
    const Range r = {to, box_bytes(m)};
    Box b = {to, bar, m.swizzle, std::vector<char>(r.bytes), mask};
    check_box(m, to, dims, pixels);
    check_waited();
    each_element(m, c, [&](uint32_t at, const char *from) {
        if (from) memcpy(&b.data[at], from, m.bytes); /* zeros behind the edge */
    });
    for (size_t i = 0; i < ctas.size(); i++) {
        if (!(mask >> i & 1)) continue;
        check_unused(ctas[i], r);
        memset(bytes_at(ctas[i], r), 0xff, r.bytes); /* boxes are whole swizzled rows */
    }
    in_flight.push_back(b);
    progress++;
}
void engine_load(uint32_t to, const void *map, uint32_t bar, int c0, int c1, int c2, int mask)
{
    engine_start(to, map, bar, {c0, c1, c2}, 3, false, mask);
}
void engine_load_own(uint32_t to, const void *map, uint32_t bar, int c0, int c1, int c2) { engine_load(to, map, bar, c0, c1, c2, 1 << cur->cta); }
void engine_load_4(uint32_t to, const void *map, uint32_t bar, int c0, int c1, int c2, int c3, int mask = 1 << cur->cta)
{
    engine_start(to, map, bar, {c0, c1, c2, c3}, 4, false, mask);
}
void engine_load_pixels(uint32_t to, const void *map, uint32_t bar, int c, int w, int h, int n, int x, int y, int mask = 1 << cur->cta)
{
    engine_start(to, map, bar, {c, w, h, n, x, y}, 4, true, mask);
}
/* Copies bytes as they are (PTX ISA, "cp.async.bulk"). */
void engine_copy(uint32_t to, const void *from, uint32_t bytes, uint32_t bar)
{
    const Range r = {to, bytes};
    if (to % 16 || (uintptr_t)from % 16 || bytes % 16 || !bytes) fail("a copy of %lld bytes to shared address %lld", bytes, to);
    check_waited();
    check_unused(cta(), r);
    in_flight.push_back({to, bar, 0, std::vector<char>((const char *)from, (const char *)from + bytes), 1 << cur->cta});
    memset(bytes_at(cta(), r), 0xff, bytes);
    progress++;
}
/* One copy lands; false: there is none. */
bool engine_step()
{
    if (in_flight.empty()) return false;
    const size_t i = engine_random() % in_flight.size();
    const Box b = in_flight[i];
    in_flight.erase(in_flight.begin() + (long)i);
    land(b);
    progress++;
    return true;
}

void engine_store_to(const void *map, uint32_t from, const Place &c, int dims, bool pixels)
{
    const MapModel m = model_of(map);
    const Range r = {from, box_bytes(m)};
    check_box(m, from, dims, pixels);
    check_waited();
    check_range(r);
    for (const Thread &t : cta().thread)
        if (t.dirty.in(r) >= 0) fail("a store of shared address %lld, which was written without a fence of the proxy", t.dirty.in(r));
    cta().stores.push_back({map, r, c, -1, cur->tid});
}
void engine_store(const void *map, uint32_t from, int c0, int c1, int c2) { engine_store_to(map, from, {c0, c1, c2}, 3, false); }
void engine_store_pixels(const void *map, uint32_t from, int c, int w, int h, int n) { engine_store_to(map, from, {c, w, h, n}, 4, true); }
void engine_commit()
{
    for (Stored &s : cta().stores)
        if (s.tid == cur->tid && s.group < 0) s.group = self().store_group;
    self().store_group++;
}
/* All but the newest n groups have been read; their elements are in memory. */
void engine_wait(int n)
{
    std::vector<Stored> left;
    for (const Stored &s : cta().stores) {
        if (s.tid != cur->tid || s.group < 0 || s.group >= self().store_group - n) {
            left.push_back(s);
            continue;
        }
        const MapModel m = model_of(s.map);
        each_element(m, s.c, [&](uint32_t at, char *to) {
            if (!to) return;
            memcpy(to, bytes_at(cta(), {swizzle_at(s.from.at + at, m.swizzle), m.bytes}), m.bytes);
            /* whole pieces of 16 bytes, over the edge too, as an H200 does */
            const uint64_t edge = (uint64_t)to + m.bytes - m.address;
            if (!m.pixels && edge % m.stride[0] == m.size[0] * m.bytes) memset(to + m.bytes, 0xee, -edge % 16);
        });
    }
    cta().stores.swap(left);
}
void proxy_fence_own() { self().dirty.at.clear(); }

/* ---- shared memory by addresses ---- */

void written(Range r)
{
    check_range(r);
    if (r.at % r.bytes) fail("a write of %lld bytes to shared address %lld", r.bytes, r.at);
    for (const Stored &s : cta().stores)
        if (s.from.meets(r)) fail("a write to shared address %lld, which a store still reads", r.at);
    for (const Thread &t : cta().thread)
        for (const Product &p : t.products)
            for (const Range &x : p.reads)
                if (x.meets(r)) fail("a write to shared address %lld, which wgmma still reads", r.at);
    for (const Box &b : in_flight)
        if (b.mask >> cur->cta & 1 && r.meets({b.to, (uint32_t)b.data.size()})) fail("a write to shared address %lld, which a copy is to fill", r.at);
    check_read(cta(), r);
    turns_at(cta(), r.at).written = turn_now();
    self().dirty.add(r);
}
void write_word(uint32_t at, uint32_t v)
{
    written({at, 4});
    memcpy(bytes_at(cta(), {at, 4}), &v, 4);
}
void write_words(uint32_t at, std::initializer_list<uint32_t> v)
{
    written({at, (uint32_t)(4 * v.size())});
    memcpy(bytes_at(cta(), {at, (uint32_t)(4 * v.size())}), v.begin(), 4 * v.size());
}
uint32_t read_word(uint32_t at)
{
    uint32_t v;
    if (at % 4) fail("a read of shared address %lld", at);
    memcpy(&v, bytes_at(cta(), {at, 4}), 4);
    return v;
}
/* 16 bytes of the shared memory of a work-group of the cluster. */
void read_there(uint32_t at, uint32_t rank, uint32_t *v)
{
    check_range({at, 16});
    if (at % 16) fail("a read of 16 bytes at shared address %lld", at);
    if (rank >= ctas.size()) fail("work-group %lld of a cluster of %lld", rank, (long long)ctas.size());
    Cta &c = ctas[rank];
    if (!c.running) fail("a read of the memory of work-group %lld of the cluster, which has ended", rank);
    for (uint32_t i = 0; i < 4; i++) {
        Turns &t = turns_at(c, at + i * 4);
        if (t.written == turn_now()) fail("a read of shared address %lld with no barrier of the cluster behind the write", at);
        t.read = turn_now();
    }
    memcpy(v, bytes_at(c, {at, 16}), 16);
}
/* ldmatrix and stmatrix of n matrices: lane 8q + r has the address of row r of matrix q. */
void move_matrices(uint32_t at, uint32_t *v, bool trans, bool store, int n = 4)
{
    const int r = lane() / 4, c = lane() % 4 * 2;
    slot[warp()][lane()][0] = at;
    meet_warp();
    for (int q = 0; q < n; q++) {
        uint32_t got = 0;
        for (int e = 0; e < 2; e++) {
            const uint32_t row = slot[warp()][q * 8 + (trans ? c + e : r)][0], to = row + 2 * (trans ? r : c + e);
            if (row % 16) fail("a row of a matrix at shared address %lld", row);
            uint16_t half = (uint16_t)(v[q] >> 16 * e);
            if (store) written({to, 2}), memcpy(bytes_at(cta(), {to, 2}), &half, 2);
            memcpy(&half, bytes_at(cta(), {to, 2}), 2);
            got |= (uint32_t)half << 16 * e;
        }
        v[q] = got;
    }
    meet_warp();
}
void stmatrix(uint32_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d, bool trans)
{
    uint32_t v[4] = {a, b, c, d};
    move_matrices(at, v, trans, true);
}
void stmatrix_2(uint32_t at, uint32_t a, uint32_t b, bool trans)
{
    uint32_t v[4] = {a, b};
    move_matrices(at, v, trans, true, 2);
}

/* ---- wgmma ---- */

const uint32_t widths[] = {0, 128, 64, 32}; /* of a descriptor's swizzle, in bytes */
/* The swizzle is of addresses. An H200 reads operands from any row of its pattern of 8 rows on, with a base offset of 0. */
void check_descriptor(uint64_t descriptor)
{
    if (descriptor >> 49 & 7) fail("a descriptor with a base offset is not known here");
}
/* Address of element (row, k) of an operand in shared memory. */
template <int BYTES> uint32_t element_at(uint64_t descriptor, bool k_major, int row, int k)
{
    const uint32_t start = (uint32_t)(descriptor & 0x3fff) << 4, leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                   stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4, width = widths[descriptor >> 62];
    if (!width) fail("a descriptor without a swizzle is not known here");
    if (k_major) return swizzle_at(start + row / 8 * stride + row % 8 * width + k * BYTES, width);
    const int run = (int)width / BYTES;
    return swizzle_at(start + row / run * leading + k / 8 * stride + k % 8 * width + row % run * BYTES, width);
}
template <class T, int BYTES> auto number_at(uint64_t descriptor, bool k_major, int row, int k)
{
    uint32_t x = 0;
    memcpy(&x, bytes_at(cta(), {element_at<BYTES>(descriptor, k_major, row, k), BYTES}), BYTES);
    return T::get(x);
}
/* Element k of row lane / 4 or that + 8 of a fragment (PTX ISA 9.7.15.5.1, matrix A in registers). */
template <class X> auto number_in(size_t product, int half, int k)
{
    enum { PER = X::N };
    const int tid = (cur->tid & ~3) + k / PER % 4;
    return X::get(cta().thread[tid].rows[product][half + k / PER / 4 * 2] >> k % PER * (32 / PER));
}
/* 64 rows, N columns, 32 bytes of K: the elements of this thread. */
template <int N, class X, class Y, class Sum, bool X_K, bool Y_K> void multiply_now(const Product &p, size_t number)
{
    enum { BYTES = 4 / X::N, K = 32 / BYTES };
    Sum *sums = (Sum *)p.sums;
    const int row = warp() % 4 * 16 + lane() / 4;
    Sum x[2][K];
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < K; k++)
            x[r][k] = p.rows ? number_in<X>(number, r, k) : number_at<X, BYTES>(p.x, X_K, row + r * 8, k);
    for (int i = 0; i < N / 2; i += 4)
        for (int e = 0; e < 2; e++) {
            const int column = i * 2 + lane() % 4 * 2 + e;
            Sum y[K];
            for (int k = 0; k < K; k++) y[k] = number_at<Y, BYTES>(p.y, Y_K, column, k);
            for (int r = 0; r < 2; r++) {
                Sum s = p.add ? sums[i + r * 2 + e] : 0;
                for (int k = 0; k < K; k++) s += x[r][k] * y[k];
                sums[i + r * 2 + e] = s;
            }
        }
}
/* The bytes that a product reads, line by line. */
template <int BYTES> void reads_of(std::vector<Range> &to, uint64_t descriptor, bool k_major, int rows)
{
    const int run = k_major ? 1 : 16 / BYTES, k_run = k_major ? 16 / BYTES : 1;
    for (int r = 0; r < rows; r += run)
        for (int k = 0; k < 32 / BYTES; k += k_run) to.push_back({element_at<BYTES>(descriptor, k_major, r, k) & ~15u, 16});
}
template <int N, class X, class Y, class Sum, bool X_K, bool Y_K>
void wgmma_start(Sum *sums, uint64_t x, uint64_t y, int add, const uint32_t *rows = NULL)
{
    enum { BYTES = 4 / X::N };
    static_assert((X_K && Y_K) || BYTES == 2, "only 16-bit types have operands with K strided");
    Thread &t = self();
    if (!t.fenced) fail("wgmma without wgmma.fence before it");
    if (!rows) check_descriptor(x);
    check_descriptor(y);
    Product p = {sums, N / 2, t.group, x, y, add != 0, multiply_now<N, X, Y, Sum, X_K, Y_K>, {}, {}, rows};
    if (cur->tid % 128 == 0) { /* one thread's ranges stand for the warp group's */
        if (!rows) reads_of<BYTES>(p.reads, x, X_K, 64);
        reads_of<BYTES>(p.reads, y, Y_K, N);
        Range all = p.reads[0];
        for (const Range &r : p.reads) {
            const uint32_t end = std::max(all.at + all.bytes, r.at + r.bytes);
            all.at = std::min(all.at, r.at), all.bytes = end - all.at;
        }
        for (const Thread &o : cta().thread) {
            if (o.dirty.in(all) < 0) continue;
            for (const Range &r : p.reads)
                if (o.dirty.in(r) >= 0)
                    fail("wgmma reads shared address %lld, which was written without a fence of the proxy", o.dirty.in(r));
        }
    }
    bool first = true;
    for (const Product &o : t.products) first = first && o.sums != sums;
    if (first) {
        p.kept.resize(N / 2);
        memcpy(p.kept.data(), sums, N / 2 * 4);
        memset(sums, 0xff, N / 2 * 4);
    }
    t.products.push_back(p);
}
/* The same with X in registers; X: the type of its elements. */
template <int N, class X, class Y, class Sum> void wgmma_start_rows(Sum *sums, const uint32_t *rows, uint64_t y, int add)
{
    wgmma_start<N, X, Y, Sum, true, true>(sums, 0, y, add, rows);
}
void wgmma_commit_own() { self().group++; }
/* Multiplies all but the newest n groups; all threads of the warp group are here, and leave together. */
void wgmma_wait_own(int n)
{
    Thread &t = self();
    Barrier &all = warp_group_barrier[cur->cta * 8 + cur->tid / 128];
    meet(all);
    t.rows.clear();
    for (const Product &p : t.products)
        if (p.group < t.group - n) t.rows.push_back(p.rows ? Words{p.rows[0], p.rows[1], p.rows[2], p.rows[3]} : Words{});
    meet(all);
    for (size_t number = 0; !t.products.empty() && t.products.front().group < t.group - n; number++) {
        const Product p = t.products.front();
        t.products.pop_front();
        if (!p.kept.empty()) memcpy(p.sums, p.kept.data(), p.kept.size() * 4);
        p.run(p, number);
        for (Product &o : t.products) /* the next one of these accumulators has them */
            if (o.sums == p.sums) {
                o.kept.resize(o.n);
                memcpy(o.kept.data(), o.sums, o.n * 4);
                memset(o.sums, 0xff, o.n * 4);
                break;
            }
    }
    if (n == 0) t.fenced = false;
    meet(all);
}
/* Registers of X have changed, which a fence lets wgmma see. */
void rows_loaded() { self().fenced = false; }
void wgmma_fence_own() { self().fenced = true; }

/* ---- threads ---- */

void named_meet(int id, int n, bool waits)
{
    Named &b = cta().named[id];
    const int turn = b.turn;
    progress++;
    if (++b.count == n) {
        b.count = 0, b.turn++;
        return;
    }
    while (waits && b.turn == turn) swapcontext(&cur->c, &scheduler);
}
bool named_any(int id, int n, bool x)
{
    Named &b = cta().named[id];
    if (b.count == 0) b.any = b.acquires = false;
    b.any = b.any || x, b.acquires = b.acquires || self().acquires;
    if (b.count == n - 1) b.answer = b.any, b.acquired = b.acquires;
    self().acquires = false;
    named_meet(id, n, true);
    self().keeps |= b.acquired;
    self().acquired = self().keeps;
    return b.answer;
}

/* ---- sums of parts in a workspace ---- */

void sums_put(void *to, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    if ((uintptr_t)to % 16) fail("sums at an address that is no multiple of 16");
    check_waited();
    self().keeps = false;
    self().sums.push_back({to, {a, b, c, d}});
    self().n_sums++;
}
void fence_gpu()
{
    for (const auto &s : self().sums) memcpy(s.first, s.second.data(), 16);
    self().sums.clear();
    self().acquired = true;
}
void sums_get(const void *from, uint32_t *v)
{
    if ((uintptr_t)from % 16) fail("sums at an address that is no multiple of 16");
    if (!self().acquired) fail("sums are read with no fence behind the barrier");
    memcpy(v, from, 16);
}
/* All threads of the warp group have written and fenced. */
uint32_t sums_count(uint32_t *counter)
{
    for (int t = cur->tid / 128 * 128; t < cur->tid / 128 * 128 + 128; t++)
        if (!cta().thread[t].sums.empty() || cta().thread[t].n_sums != self().n_sums) fail("a part counts in before the sums of thread %lld are there", t);
    check_waited();
    return (*counter)++;
}

/* The counter of a kernel that resets it: of two words, to the lower one of which a part adds 1 when it counts in. */
std::map<const unsigned long long *, int> words_changed;
unsigned long long word_change(unsigned long long *word, unsigned long long x)
{
    uint32_t own = 0;
    const unsigned long long before = *word;
    words_changed[word]++;
    if (x & 255) sums_count(&own);
    *word += x;
    return before;
}
bool word_awaits(const unsigned long long *word, uint32_t n)
{
    self().acquires = (*word & 255) == n;
    return self().acquires;
}
/* The end of a launch: the next one finds the words as it needs them. */
void words_end()
{
    for (const auto &w : words_changed)
        if (*w.first & 0xffffffff) fail("a counter is not reset, it is %lld", (long long)(*w.first & 0xffffffff));
    words_changed.clear();
}

/* Work-groups run one after another here: what has not come yet does not come while one waits. */
bool sums_wait(const uint32_t *counter, uint32_t n) { return *counter == n; }
bool flag_change(uint32_t *flag, uint32_t from, uint32_t to)
{
    const uint32_t before = *flag;
    if (before == from) *flag = to;
    return before == from;
}

void registers_own(int n)
{
    long long all = 0;
    self().registers = n;
    for (const Thread &t : cta().thread) all += t.registers;
    const long long threads = (long long)cta().thread.size(), given = REGISTERS / threads / 8 * 8 * threads;
    if (n % 8 || all > given) fail("%lld registers of all threads after setmaxnreg %lld", all, n);
}
uint32_t rank_own() { return (uint32_t)cur->cta; }
void cluster_meet() { meet(cluster_barrier); }
/* Launches in front: there are none here. A thread has to wait before its work-group reads or writes memory. */
void launches_begin() { self().begins = true; }
void launches_wait() { self().waited = true; }

/* The work-groups of a cluster, and nothing under way. */
void ctas_begin(int n, int threads)
{
    ctas.assign(n, Cta{std::vector<char>(SHARED_BYTES_MAX, (char)0xff), std::vector<Turns>(SHARED_BYTES_MAX / 4), {}, {}, std::vector<Thread>(threads), {}, threads});
    cluster_barrier = {n * threads, 0, 0};
    for (Barrier &b : warp_group_barrier) b = {128, 0, 0};
    in_flight.clear();
}
void ctas_end()
{
    if (!in_flight.empty()) fail("ends with %lld copies under way", (long long)in_flight.size());
    for (const Cta &c : ctas)
        for (const auto &b : c.barrier)
            if (b.second.bytes) fail("ends with %lld bytes expected by the mbarrier at %lld", b.second.bytes, b.first);
}
void thread_ends()
{
    Thread &t = self();
    if (!t.products.empty()) fail("ends with wgmma under way");
    for (const Stored &s : cta().stores)
        if (s.tid == cur->tid) fail("ends before a store has read shared memory");
    cta().running--;
}
} // namespace
