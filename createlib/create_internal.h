/* What the steps of createlib share. Only createlib/ includes it. */
#ifndef CREATELIB_CREATE_INTERNAL_H
#define CREATELIB_CREATE_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "build/toolchain.h"
#include "createlib/createlib.h"
#include "createlib/library_tree.h"
#include "space/derive.h"
#include "space/naming.h"
#include "problem/target.h"

enum { CREATE_ARCHS_MAX = 64 };

typedef struct {
    Str why;      /* it is not in the library; "" when it is */
    Str stand_in; /* parameters that its kernel does without, as create_stand_in.c says; "": none */
} CreateSolution;

/* One logic file. */
typedef struct {
    Logic logic;
    LibraryPart part;
    Solution *state; /* of each solution, derived again */
    CreateSolution *solution;
    const Target *target[CREATE_ARCHS_MAX]; /* what its kernels are built for */
    size_t n_targets;
    bool fallback;
} CreateLogic;

/* One kernel for one target; solutions of several files may share it. */
typedef struct {
    Str symbol;
    const Target *target;
    const Solution *s;     /* NULL: a helper kernel */
    const ProblemType *pt; /* of a helper */
    bool post_gsu, ga;     /* which helper */
    bool is_shared;        /* by types that compute otherwise: told once, of metadata alone */
    Str source, object_path;
    Str linked; /* its symbol in the object; the file of kernels calls it symbol */
    Str why;    /* it cannot be had; "" otherwise */
} CreateUnit;

/* One file of kernels. */
typedef struct {
    Str file;
    const Target *target;
    VEC(size_t) unit;
    bool none; /* none of its kernels could be had: there is no such file */
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
    const Target *every[CREATE_ARCHS_MAX]; /* what fallback logic is built for when none was asked for */
    size_t n_every;
    VEC(const Target *) variant; /* architectures with a setting of xnack: "gfx90a:xnack-" */
    CreateLogic *logic;
    size_t n_logic;
    VEC(CreateUnit) unit;
    VEC(CreateObject) object;
    VEC(CreateTool) tool;
    bool compiler_told; /* that another compiler than the one asked for is taken */
    int version_told;   /* that this version of code objects is made in place of the one asked for */
    bool no_arch;       /* gfx000 was asked for: logic of no architecture alone */
    size_t n_spills;    /* kernels */
    VEC(Str) metadata;  /* files written, without directory */
    Map by_symbol;      /* "symbol target" -> unit + 1 */
    Map by_helper;      /* "helper target" -> unit + 1, whatever the setting */
    Map by_file;        /* object file -> object + 1 */
} Create;

/* --architecture: all, or names separated by ';' (AMD's also by '_'). */
Err create_archs(Create *c);
/* Chooses, reads and derives. */
Err create_read(Create *c);
/* What l's kernels are built for. */
Err create_targets(Create *c, CreateLogic *l);
/* Solution i of l, whose state is derived and cannot be honoured by the kernel writer: puts the state of an
 * ordinary kernel in its place, or says why there is none. */
Err create_stand_in(Create *c, const LogicKeys *keys, const Deriver *d, CreateLogic *l, size_t i);
/* Names over the whole build, and which kernels there are and in which files. */
Err create_plan(Create *c);
/* Text, compilation, linking; solutions whose kernel failed are left out. */
Err create_build(Create *c);
/* Files of kernels in the library's directory. A file that cannot be made takes its kernels along. */
Err create_files(Create *c);
/* Name of the file that has only this kernel. */
Err create_unmerged_file(Create *c, Str symbol, const Target *t, Str *out);
Err create_fail_unit(Create *c, CreateUnit *u, Str why);
Err create_toolchain(Create *c, const Target *t, const char *const *extra, Toolchain *out);
Str create_cache(Create *c); /* directory of objects */
/* Only the texts, below <output>/Kernels. */
Err create_sources(Create *c);
/* Indices, metadata files, master index. */
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
