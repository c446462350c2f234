/* createlib: a directory of logic files -> <output>/library: code objects, master solution library, manifest.
 *
 * Steps: choose the logic files, read them, name the kernels over the whole build, emit and compile them
 * (kernel, build), write the metadata. Does not choose winners and does not load libraries.
 *
 * The metadata holds what Tensile 4.44's own writer makes of the same files. Kept differences: - Keys of maps
 * are in byte order in msgpack too, and solutions in the order of their index (Tensile:
 *   those of the architecture before the fallback's). Readers look them up by name and by index.
 * - Tensile 4.44 packs solutions that it rejects when it derives them again. Those whose derivation stops at
 * the
 *   rejection are left out and reported, unless metadata_only is set.
 * - Solutions obey the same rules as those that `tuner` makes. A solution that the kernel writer rejects has
 *   an ordinary kernel in its place, with a name of its own, or is left out (create_stand_in.c). With
 *   metadata_only these rules are not applied.
 */
#ifndef CREATELIB_CREATELIB_H
#define CREATELIB_CREATELIB_H

#include "createlib/library_write.h"

typedef enum { CREATE_HIP, CREATE_HSA, CREATE_HOST, CREATE_CUDA } CreateRuntime;

typedef struct {
    const char *logic_path, *output_path;
    const Str *logic_file; /* of logic_path, a directory: only the files with these names; NULL: all */
    size_t n_logic_files;
    CreateRuntime runtime;
    LibraryFormat format;
    /* "gfx906;gfx90a", "gfx906_gfx908", "x86-64-v3". "all": the architectures of the files; fallback files
     * are then built for every GPU of the runtime that the compiler supports, or for this CPU. "gfx000": only
     * logic without an architecture. */
    const char *architecture;
    const char *version; /* NULL: no version key */
    const char *embed_library, *embed_key;
    const char *cxx_compiler, *c_compiler, *assembler, *offload_bundler; /* NULL: found by the build */
    const char *cache_dir; /* object cache; NULL: <output>/build_cache */
    int num_merged_files;  /* 1 */
    int jobs;              /* 0: as many as there are cores */
    int verbose;
    int code_object_version; /* AMD: 4 or 5; 0: 4; 2 and 3: the nearest that the compiler makes */
    bool merge_files, short_file_names, separate_architectures, lazy, write_master_index;
    bool generate_manifest_and_exit, generate_sources_and_exit, verify_manifest;
    bool metadata_only; /* no kernels */
    bool no_spills;     /* solutions whose kernels spill registers are left out */
    bool strict;        /* a solution that cannot be built, or has a stand-in, fails the run */
    bool print_debug;   /* libtuner prints each launch of this library on stderr */
    bool client_config; /* best-solution.ini in the output directory */
} CreateOptions;

typedef struct {
    size_t n_logic, n_solutions, n_left_out, n_stand_ins, n_kernels, n_helpers, n_files;
    size_t n_compiled, n_cached;
} CreateReport;

void createlib_options_init(CreateOptions *o);
/* Makes the library. ERR_PARTIAL when solutions were left out; TensileCreateLibrary.report.csv lists them
 * with the reasons, and those that have an ordinary kernel in their place. */
Err createlib_run(const CreateOptions *o, CreateReport *r);

#endif
