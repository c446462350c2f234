/* Part: what is known of a product before it is there: its architecture, compute units, PCI device ids, the
 * schedule name of its logic. Rows of parts.def.
 *
 * A running device's own figures always count before these. Used where no device is: --part, simulated and
 * compile-only runs, conversion of logic, selection for other hardware. Names are compared without case,
 * blanks and maker's words: "mi210", "AMD Instinct MI210". */
#ifndef MODEL_PART_H
#define MODEL_PART_H

#include "problem/target.h"

typedef struct {
    const char *arch;     /* "gfx90a" */
    const char *name;     /* "MI210" */
    const char *schedule; /* "aldebaran"; several: "vega10|mi25" */
    int n_cu;
    const char *ids;  /* "7408 740c", "" unknown */
    const char *also; /* other names, separated by '|' */
} Part;

/* Rows in table order; NULL behind the last. */
const Part *part_at(size_t i);
/* sm_90's parts are sm_90a's too. */
bool part_is_of(const Part *p, const Target *t);
/* Is it called that? name: a part's name, "Device 740c", "Vega 10 XT [Radeon RX Vega 64]". */
bool part_is_called(const Part *p, Str name);
/* The first of that name; t: only parts of that architecture, NULL: of any. ERR_INPUT with the nearest name
 * when there is none. */
Err part_find(Str name, const Target *t, const Part **out);
/* Does a schedule name of the architecture's parts stand in text (a logic file's name) as a word? */
bool target_schedule_in(const Target *t, Str text);

enum { PARTS_MAX = 24 };

/* The parts that a list of device names stands for. */
typedef struct {
    const Part *part[PARTS_MAX];
    size_t n;
    int n_cu;             /* of the largest; 0: none is known */
    bool same;            /* all have as many */
    const Part *stranger; /* a name that only parts of other architectures have; NULL: none */
    Str stranger_name;
} PartList;

/* DeviceNames of a config or a logic file. Unknown names are none. */
void parts_of_devices(const Target *t, const Str *device, size_t n, PartList *out);
/* "MI250X 110, MI250 104" */
void parts_print(const PartList *l, Buf *out);

#endif
