/* Part: a product that contains a GPU: its architecture, compute units, PCI device ids and the schedule name
 * of its logic. Rows of parts.def.
 *
 * The table is for work without the device: --part, simulated and compile-only runs, conversion of logic,
 * selection for other hardware. Properties that a device reports take precedence. Names are compared without
 * case, blanks and brand words: "mi210", "AMD Instinct MI210". */
#ifndef MODEL_PART_H
#define MODEL_PART_H

#include "problem/datatype.h"
#include "problem/problem.h"
#include "problem/target.h"
#include "problem/traffic.h"

typedef struct {
    const char *arch;     /* "gfx90a" */
    const char *name;     /* "MI210" */
    const char *schedule; /* "aldebaran"; several: "vega10|mi25" */
    int n_cu;
    const char *ids;  /* "7408 740c"; "": unknown */
    const char *also; /* other names, separated by '|' */
} Part;

/* Rates of a part for the performance model; units as in parts.def. */
typedef struct {
    const char *part;
    double clock_mhz, vector_s, vector_d, vector_h, vector_i8;
    double matrix_h, matrix_b, matrix_x, matrix_s, matrix_d, matrix_i8, matrix_f8;
    double local_bytes, l2_kib, l2_gbs, dram_gbs, dies;
    double die_cus, llc_mib, llc_gbs;
} PartRates;

/* Rows in table order; NULL after the last. */
const Part *part_at(size_t i);
/* The row of the part; p NULL or without a row: the first of the architecture, else of one with the same
 * major version. NULL: of a CPU. */
const PartRates *part_rates(const Part *p, const Target *t);
/* A GPU for the traffic model: rates of the part with that architecture and number of compute units, else of
 * the architecture's first; as many dies as the compute units make up. n_cu 0: the part's. CPU: one die. */
TrafficDevice part_traffic(Str arch, int64_t n_cu);
/* Operations of a compute unit in a clock: of matrix instructions on that type (0: the part has none), and of
 * vector units. Real operations: a complex product is four. */
double part_matrix_rate(const PartRates *r, DataType math);
double part_vector_rate(const PartRates *r, DataType in, DataType sum);
/* Seconds of one GEMM of that size: the least that its arithmetic and the bytes of A, B and D allow, and a
 * launch. r NULL: a CPU's core, taken as 64 operations in a clock of 3 GHz, and 20 GB/s.
 */
double part_least_seconds(const PartRates *r, int64_t n_cu, const ProblemType *pt, double m, double n,
                          double k, double batch);
/* The larger of the two rates: that of the part's fastest instruction for the types. math: the type that
 * matrix instructions multiply, which differs from `in` where inputs are rounded (X for S). */
double part_peak_rate(const PartRates *r, DataType in, DataType math, DataType sum);
/* True when the part has that architecture; the parts of sm_90 are also parts of sm_90a. */
bool part_is_of(const Part *p, const Target *t);
/* True when the name denotes the part: a name of it, "Device 740c", "Vega 10 XT [Radeon RX Vega 64]". */
bool part_is_called(const Part *p, Str name);
/* The first part of that name; t: architecture, NULL: any. ERR_INPUT with the most similar name when there is
 * none. */
Err part_find(Str name, const Target *t, const Part **out);
/* True when text (a logic file's name) contains a schedule name of the architecture's parts as a word. */
bool target_schedule_in(const Target *t, Str text);

enum { PARTS_MAX = 24 };

/* The parts that a list of device names denotes. */
typedef struct {
    const Part *part[PARTS_MAX];
    size_t n;
    int n_cu;            /* of the largest part; 0: unknown */
    bool same;           /* all parts have the same number */
    const Part *foreign; /* the first part in the list that belongs to another architecture; NULL: none */
    Str foreign_name;    /* as the list has it */
} PartList;

/* Parts of the DeviceNames of a config or a logic file. Unknown names are skipped. */
void parts_of_devices(const Target *t, const Str *device, size_t n, PartList *out);
/* Prints "MI250X 110, MI250 104". */
void parts_print(const PartList *l, Buf *out);

#endif
