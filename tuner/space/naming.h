/* Names of solutions, kernels and their files.
 *
 * With min naming a name has only the parameters that differ within the set of solutions, so that a kernel
 * has different names in a benchmark, a logic file and a library: names do not identify kernels. The full
 * name has all parameters: two solutions are equal exactly when their full names are. solution_hash computes
 * a hash of it without the text.
 */
#ifndef MODEL_NAMING_H
#define MODEL_NAMING_H

#include "base/hash.h"
#include "problem/problem.h"
#include "space/solution.h"

enum { ABBREVIATION_MAX = 28, PROBLEM_NAME_MAX = 160, ENUM_NAMES_MAX = 4, ENUM_LETTERS_MAX = 4 };

/* The text of one parameter in names. */
typedef struct {
    const Param *param;
    uint8_t n_text;
    char text[ABBREVIATION_MAX];                 /* abbreviation */
    char word[ENUM_NAMES_MAX][ENUM_LETTERS_MAX]; /* ENUM: capitals of the names */
} NamePart;

typedef struct Namer {
    char prefix[PROBLEM_NAME_MAX]; /* of the problem type, with '_' */
    uint64_t shown[PARAM_WORDS];   /* parameters that the names have */
    NamePart part[PARAM_COUNT];    /* nameable parameters sorted by name */
    int n_parts, kernel_at;        /* kernel_at: position of 'K1' */
    bool has_first;
    Solution first;
} Namer;

/* Tensile marks names of kernels with K1; names of solutions in logic files are without it. */
typedef enum { NAME_SOLUTION, NAME_KERNEL } NameKind;

/* True for parameters that names may have; those of group HOST only on the host. */
bool param_in_names(const Param *p);
Err namer_init(Namer *n, const ProblemType *pt);
/* First pass of min naming: call it for every solution of the set, in order. Hand-written kernels are
 * ignored. */
void namer_note(Namer *n, const Solution *s);
/* Also shows what another namer shows, which began with the same first solution. */
void namer_join(Namer *n, const uint64_t shown[PARAM_WORDS]);
/* Selects full names, with every parameter of the solution. */
void namer_show_all(Namer *n);
/* Appends the name. */
void solution_name(const Namer *n, const Solution *s, NameKind kind, Buf *out);
void solution_name_full(const Solution *s, Buf *out);

/* Equal for solutions of one problem type exactly when their full names are equal. */
Hash128 solution_hash(const Solution *s);

/* Base name of files of a kernel: names over max (MaxFileName, 64) keep 3/4 max characters and a hash of the
 * rest. */
void kernel_file_base(Str name, size_t max, Buf *out);

/* ShortNames: 'S' and a number that has one digit per parameter that varies. */
typedef struct SerialNamer SerialNamer;
Err serial_namer_new(SerialNamer **out);
void serial_namer_free(SerialNamer *n);
Err serial_namer_note(SerialNamer *n, const Solution *s);
/* Call it after the last note. ERR_INPUT when the number does not fit 64 bits. */
Err serial_namer_done(SerialNamer *n);
void serial_name(const SerialNamer *n, const Solution *s, Buf *out);

#endif
