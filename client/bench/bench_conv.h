/* tuner-bench conv: convolutions as MIOpenDriver's lines give them, by a library of ours, by a peer, or by
 * both, alternating, timed and checked against the reference. bench_conv.c reads the command line and prints,
 * bench_conv_time.c runs one convolution. */
#ifndef CLIENT_BENCH_CONV_H
#define CLIENT_BENCH_CONV_H

#include "client/peer/peer.h"
#include "client/runtime/tuner.h"
#include "client/worker/block_timer.h"
#include "client/worker/validate.h"
#include "measure/stats.h"

enum { CONV_BLOCKS_MAX = 1000 };

/* The two parties that compute a convolution. */
typedef enum { CONV_OURS, CONV_PEER, CONV_SIDES } ConvSide;

/* A device with a library and a peer, kept between convolutions. */
typedef struct {
    Device *device;
    DeviceProps props;
    tuner_library *lib; /* NULL: none */
    Peer *peer;         /* NULL: none */
    BlockTimer timer;
    int n_threads; /* of the library, the peer, data, reference and checks */
    uint64_t seed;
    int64_t n_blocks; /* 0: results are checked, no times are taken */
    int64_t solution; /* of the library, from 1; 0: its choice */
    bool verify;
    InitType fill, fill_integers;
    /* of the convolution that is at work */
    const ConvDesc *conv;
    ConvSide side;
    tuner_conv2d_desc call;    /* ours, without tensors */
    tuner_conv3d_desc call_3d; /* the same of three dimensions */
    void *host[CONV_TENSORS];
    DeviceMem pool;
    uint64_t at[CONV_TENSORS], stride; /* tensors within a set, bytes of a set */
    int64_t n_sets, n_wanted, next;
} ConvBench;

typedef struct {
    bool ran;
    char why[512]; /* it did not: the reason */
    Summary ns;
    Check check;         /* where it was asked for */
    char algorithm[256]; /* the peer's fastest; our kernel, and why it was chosen */
    int n_algos, n_left; /* how many the peer has, how many fail */
    int64_t n_calls;     /* of a block */
    bool graph;
} ConvTimes;

/* What a bench is opened for; NULL: none. device: "host", "cuda:1"; NULL: the library's, or the peer's. */
typedef struct {
    const char *device, *library, *peer;
} ConvParties;

/* The caller must call close, even after an error. */
Err conv_bench_open(ConvBench *b, const ConvParties *parties);
void conv_bench_close(ConvBench *b);
/* Runs a convolution by each party, in alternating blocks. For a party that cannot do it, out has the
 * reason. */
Err conv_bench_run(ConvBench *b, const ConvDesc *c, ConvTimes out[CONV_SIDES]);
bool conv_bench_has(const ConvBench *b, ConvSide side);
/* Whether the library's solution b->solution can run the convolution. */
bool conv_bench_can(ConvBench *b, const ConvDesc *c);

/* The command; argv[0] is the word conv, convfp16, .. */
Err bench_conv(int argc, char **argv);

#endif
