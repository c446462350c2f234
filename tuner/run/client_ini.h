/* ClientParameters.ini: what tuner-client is to measure and how, in Tensile's keys and order
 * (in Tensile terms).
 *
 * Also the key under which the store files times: the same text without what a time does not depend on
 * (paths, sizes, repeats of the sweep). Does not run the client. Called by the measure step.
 */
#ifndef TUNER_CLIENT_INI_H
#define TUNER_CLIENT_INI_H

#include "space/globals.h"
#include "problem/sizes.h"

typedef struct {
    const Globals *g;
    const ProblemType *pt;
    const ProblemSize *size;
    size_t n_sizes;
    Str library_file, results_file;
    const Str *code_object;
    size_t n_code_objects;
    Str device_kind; /* ours, behind Tensile's keys: "host" */
    int64_t device;
    Str sim; /* settings of a simulated device; n == 0: none */
    bool best_solution;
} ClientIni;

/* Of the global parameter Peer; "" none. */
const char *peer_name(int64_t peer);
Err client_ini_write(const ClientIni *c, Buf *out);
/* environment: the device and the toolchain as text. */
Err client_ini_setting(const ClientIni *c, Str environment, Buf *out);

#endif
