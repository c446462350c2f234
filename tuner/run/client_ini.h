/* ClientParameters.ini: the problems and settings of tuner-client, with Tensile's keys in Tensile's order.
 * Also the key of a setting in the store: the same text without the lines that do not influence times (paths,
 * sizes, NumBenchmarks).
 */
#ifndef TUNER_CLIENT_INI_H
#define TUNER_CLIENT_INI_H

#include "space/globals.h"
#include "problem/sizes.h"

typedef struct {
    const Globals *g;
    const ProblemType *pt;
    const ProblemSize *size;
    size_t n_sizes, n_held_out; /* n_held_out: of n_sizes, at the end; they judge the library's choices */
    Str library_file, results_file;
    const Str *code_object;
    size_t n_code_objects;
    Str device_kind; /* an extension, written after Tensile's keys: "host" */
    int64_t device;
    Str sim; /* settings of a simulated device; n == 0: none */
    bool best_solution;
} ClientIni;

/* Name of a value of the global parameter Peer; "": none. */
const char *peer_name(int64_t peer);
Err client_ini_write(const ClientIni *c, Buf *out);
/* Appends the key of the setting. environment: device and toolchain as text. */
Err client_ini_setting(const ClientIni *c, Str environment, Buf *out);

#endif
