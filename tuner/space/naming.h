/* Names of solutions, kernels and their files.
 *
 * A name shows a parameter only if it differs within the set that is named (min naming), so that the same
 * kernel has different names in a benchmark, in a logic file and in a library: a name is never an identity.
 * The full name shows all; two solutions are the same exactly when their full names are, which solution_hash
 * gives without making it. Used by the fork, createlib, logic, client reports.
 */
#ifndef MODEL_NAMING_H
#define MODEL_NAMING_H

#include "base/hash.h"
#include "problem/problem.h"
#include "space/solution.h"

enum { ABBREVIATION_MAX = 28, PROBLEM_NAME_MAX = 160, ENUM_NAMES_MAX = 4, ENUM_LETTERS_MAX = 4 };

/* How one parameter is shown. */
typedef struct {
    const Param *param;
    uint8_t n_text;
    char text[ABBREVIATION_MAX];                 /* abbreviation */
    char word[ENUM_NAMES_MAX][ENUM_LETTERS_MAX]; /* ENUM: capitals of the names */
} NamePart;

typedef struct {
    char prefix[PROBLEM_NAME_MAX]; /* of the problem type, with '_' */
    uint64_t shown[PARAM_WORDS];   /* parameters that are part of the names */
    NamePart part[PARAM_COUNT];    /* nameable parameters sorted by name */
    int n_parts, kernel_at;        /* kernel_at: where 'K1' goes */
    bool has_first;
    Solution first;
} Namer;

/* K1: names of kernels, which Tensile marks with it, as against names of solutions in logic files. */
typedef enum { NAME_SOLUTION, NAME_KERNEL } NameKind;

/* Parameters that names may show; a solution has those of group HOST on the host alone. */
bool param_in_names(const Param *p);
Err namer_init(Namer *n, const ProblemType *pt);
/* First pass of min naming: call it for every solution of the set, in order. Hand-written kernels do not
 * count. */
void namer_note(Namer *n, const Solution *s);
/* Full names instead: every parameter that the solution has. */
void namer_show_all(Namer *n);
/* Appends the name. */
void solution_name(const Namer *n, const Solution *s, NameKind kind, Buf *out);
void solution_name_full(const Solution *s, Buf *out);

/* Equal for solutions of one problem type exactly when their full names are equal. */
Hash128 solution_hash(const Solution *s);

/* Base name of files of a kernel: names over max (MaxFileName, 64) keep 3/4 max characters and a hash of the
 * rest. */
void kernel_file_base(Str name, size_t max, Buf *out);

/* ShortNames: 'S', for kernels too, and a number with one digit position per parameter that varies. */
typedef struct SerialNamer SerialNamer;
Err serial_namer_new(SerialNamer **out);
void serial_namer_free(SerialNamer *n);
Err serial_namer_note(SerialNamer *n, const Solution *s);
/* Behind the last note. ERR_INPUT when the number does not fit 64 bits. */
Err serial_namer_done(SerialNamer *n);
void serial_name(const SerialNamer *n, const Solution *s, Buf *out);

#endif
