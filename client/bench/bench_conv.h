/* tuner-bench conv: convolutions as MIOpenDriver's lines give them, timed with a peer and checked against the
 * reference. bench_conv.c reads the command line and prints, bench_conv_time.c runs one convolution. */
#ifndef CLIENT_BENCH_CONV_H
#define CLIENT_BENCH_CONV_H

#include "client/peer/peer.h"
#include "client/worker/block_timer.h"
#include "client/worker/validate.h"
#include "measure/stats.h"

enum { CONV_BLOCKS_MAX = 1000 };

/* A device with a peer, kept between convolutions. */
typedef struct {
    Device *device;
    DeviceProps props;
    Peer *peer;
    BlockTimer timer;
    int n_threads; /* of data, reference and checks */
    uint64_t seed;
    int64_t n_blocks;
    bool verify;
    InitType fill, fill_integers;
    /* of the convolution that is at work */
    const ConvDesc *conv;
    void *host[CONV_TENSORS];
    DeviceMem pool;
    uint64_t at[CONV_TENSORS], stride; /* tensors within a set, bytes of a set */
    int64_t n_sets, n_wanted, next;
} ConvBench;

typedef struct {
    Summary ns;
    Check check;         /* where it was asked for */
    char algorithm[64];  /* the peer's fastest */
    int n_algos, n_left; /* how many it has, how many fail */
    int64_t n_sets, n_wanted;
    int64_t n_calls; /* of a block */
    bool graph;
} ConvTimes;

/* kind: "host", "cuda:1"; NULL: the peer's. The caller must call close, even after an error. */
Err conv_bench_open(ConvBench *b, const char *kind, const char *peer);
void conv_bench_close(ConvBench *b);
/* ERR_INPUT: the peer cannot do it, for the reason in the message. */
Err conv_bench_run(ConvBench *b, const ConvDesc *c, ConvTimes *out);

/* The command; argv[0] is the word conv, convfp16, .. */
Err bench_conv(int argc, char **argv);

#endif
