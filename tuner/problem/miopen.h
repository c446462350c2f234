/* MIOpenDriver's command lines as convolutions: "convfp16 -n 64 -c 64 -H 56 -W 56 -k 64 -y 3 -x 3 -p 1 -q 1
 * -F 1". Options have MIOpenDriver's short and long names and its defaults. Beyond them: --out_d, --out_h,
 * --out_w (compared with what follows), --pad_d_end, --pad_h_end, --pad_w_end (pads that are not equal on
 * both sides) and --xf32.
 *
 * A transposed convolution (-m trans) is the convolution whose input is its output: its forward pass is
 * backward data there, and the other way round. Options of the run (-i -V -t ..) have no meaning for the
 * problem. What changes the problem and has no counterpart here (other pad values, cast types, vectorised
 * layouts) is refused. */
#ifndef PROBLEM_MIOPEN_H
#define PROBLEM_MIOPEN_H

#include "problem/conv_desc.h"

enum { MIOPEN_DIRECTIONS = 3 };

typedef struct {
    ConvDesc conv[MIOPEN_DIRECTIONS]; /* checked; in the order forward, data, weights of the line */
    int n;
    bool bias;     /* -b: a bias is added beside the convolution */
    int64_t iters; /* -i */
    bool verify;   /* -V */
} MiopenConv;

/* What options have set so far. */
typedef struct {
    ConvDesc c; /* pads at the end may be CONV_ANY: not given */
    int64_t forw, spatial_dim;
    int64_t out[CONV_SPATIAL], out_pad[CONV_SPATIAL], iters, xf32; /* out: CONV_ANY, not given */
    bool transposed, same, valid, bias, verify;
    Str format[CONV_TENSORS]; /* as given; empty: the default */
} MiopenOptions;

/* MIOpenDriver's defaults for a base argument: conv, convfp16, convbfp16, convint8, convfp8, convbfp8.
 * False: another one. */
bool miopen_init(MiopenOptions *o, Str base);
/* Sets an option by its name without dashes. ERR_INPUT: "-H: 'x' is not ..."; *known false: there is no
 * such option. */
Err miopen_set(MiopenOptions *o, Str name, Str value, bool *known);
/* Checks all and makes the convolutions. */
Err miopen_finish(MiopenOptions *o, MiopenConv *out);

/* Reads a whole line, from the base argument on. ERR_INPUT with the reason when it is no such line. */
Err miopen_read(Str line, MiopenConv *out);
/* The line of one convolution: "conv -n 64 ...", which miopen_read takes again. */
void miopen_print(const ConvDesc *c, Buf *out);
/* The same as columns of a CSV file, which are called "base" (the first argument) and as the options. */
void miopen_csv_header(Buf *out);
void miopen_csv_row(const ConvDesc *c, Buf *out);

#endif
