/* The state of a createlib run and the functions of its steps. Private to createlib/. */
#ifndef CREATELIB_CREATE_INTERNAL_H
#define CREATELIB_CREATE_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "build/toolchain.h"
#include "createlib/createlib.h"
#include "createlib/library_tree.h"
#include "kernel/helper.h"
#include "space/derive.h"
#include "space/naming.h"
#include "problem/target.h"

enum { CREATE_ARCHS_MAX = 64 };

typedef struct {
    Str why;      /* reason for which it is left out; "" when it is in the library */
    RuleId rule;  /* the rule that why is of; RULE_NONE: of none */
    Str stand_in; /* parameters that its ordinary kernel ignores (create_stand_in.c); "": none */
} CreateSolution;

/* One logic file. */
typedef struct {
    Logic logic;
    LibraryPart part;
    Solution *state; /* of each solution, derived again */
    CreateSolution *solution;
    const Target *target[CREATE_ARCHS_MAX]; /* the architectures for which its kernels are built */
    size_t n_targets;
    bool fallback;
} CreateLogic;

/* One kernel for one target; solutions of several files may share it. */
typedef struct {
    Str symbol;
    const Target *target;
    const Solution *s;        /* NULL: a helper kernel */
    const ProblemType *pt;    /* of a helper */
    HelperKernel helper;      /* which helper */
    bool name_clash_reported; /* a problem type with another compute type has a helper of the same name; the
                                 warning is printed once, in metadata-only runs */
    Str source, object_path;
    Str linked; /* its symbol in the object; linking renames it to symbol */
    Str why;    /* reason for which it was not built; "" otherwise */
} CreateUnit;

/* One file of kernels. */
typedef struct {
    Str file;
    const Target *target;
    VEC(size_t) unit;
    bool none; /* none of its kernels was built: the file is not written */
} CreateObject;

/* The compiler of a target that kernels were compiled for. */
typedef struct {
    const Target *target;
    Toolchain toolchain;
} CreateTool;

typedef struct {
    Arena a;
    const CreateOptions *o;
    CreateReport *r;
    Str library_dir; /* <output>/library */
    const Target *arch[CREATE_ARCHS_MAX];
    size_t n_archs;
    bool all_archs;
    const Target *every[CREATE_ARCHS_MAX]; /* architectures of fallback logic with --architecture all */
    size_t n_every;
    VEC(const Target *) variant; /* architectures with a setting of xnack: "gfx90a:xnack-" */
    CreateLogic *logic;
    size_t n_logic;
    VEC(CreateUnit) unit;
    VEC(CreateObject) object;
    VEC(CreateTool) tool;
    bool compiler_noticed; /* the notice about another compiler than the requested one was printed */
    int version_noticed;   /* the notice about this code object version was printed */
    bool no_arch;          /* --architecture gfx000: only logic without an architecture */
    size_t n_spills;       /* kernels that spill registers */
    VEC(Str) metadata;     /* files written, without directory */
    Map by_symbol;         /* "symbol target" -> unit + 1 */
    Map by_helper;         /* "helper target" -> unit + 1, for any setting of xnack */
    Map by_file;           /* object file -> object + 1 */
} Create;

/* --architecture: all, or names separated by ';' (AMD's also by '_'). */
Err create_archs(Create *c);
/* Chooses the logic files, reads them and derives their solutions. */
Err create_read(Create *c);
/* Sets the architectures for which l's kernels are built. */
Err create_targets(Create *c, CreateLogic *l);
/* Solution i of l is derived, but the kernel writer rejects it: replaces its state by that of an ordinary
 * kernel with the same results, or sets the reason why there is none. */
Err create_stand_in(Create *c, const LogicKeys *keys, const Deriver *d, CreateLogic *l, size_t i);
/* Makes the names of all kernels, and the lists of kernels and of files with their kernels. */
Err create_plan(Create *c);
/* Emits, compiles and links the kernels; solutions whose kernel failed are left out. */
Err create_build(Create *c);
/* Writes the files of kernels into the library's directory. When a file cannot be made, its kernels fail. */
Err create_files(Create *c);
/* Name of the file that has only this kernel. */
Err create_unmerged_file(Create *c, Str symbol, const Target *t, Str *out);
Err create_fail_unit(Create *c, CreateUnit *u, Str why);
Err create_toolchain(Create *c, const Target *t, const char *const *extra, Toolchain *out);
Str create_cache(Create *c); /* directory of objects */
/* Writes only the kernels' texts, below <output>/Kernels. */
Err create_sources(Create *c);
/* Writes indices, metadata files and the master index. */
Err create_metadata(Create *c);
Err create_manifest(Create *c);
Err create_verify(Create *c);
Err create_report(Create *c);
Err create_embed(Create *c);
Err create_client_config(Create *c);

/* First solution index of an architecture: Tensile's hex digits << 18 for gfx; 0x1b00 + level and 0x1c00 +
 * number << 18 for x86-64-vN and sm_NN, which no gfx number reaches; 0 for fallback. */
int64_t create_index_base(Str arch);

#endif
