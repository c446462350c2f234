/* Writes the calls of a workload: as a config, as CSV, as a table of problem types. */
#ifndef WORKLOAD_WRITE_H
#define WORKLOAD_WRITE_H

#include "problem/part.h"
#include "workload/workload.h"

/* The calls of one problem type, the most expensive first. */
typedef struct {
    ProblemType pt;
    const WorkloadCall **call;
    double *seconds; /* of all calls of a size, in the order of call */
    size_t n;
    int64_t n_calls;
    double total;
} WorkloadType;

typedef struct {
    WorkloadType *type; /* the most expensive first */
    size_t n;
    double total;   /* seconds of all calls */
    bool estimated; /* some times are estimates by the part's rates */
    size_t n_left;  /* sizes left out by the limits */
    double share;   /* of the time that the sizes kept have, 0 to 1 */
} WorkloadTypes;

typedef struct {
    double share; /* keep the most expensive sizes until they have this share of the time, 0 to 1 */
    int64_t top;  /* keep at most this number of sizes; 0: all */
} WorkloadLimits;

/* Groups the calls by problem type. Calls that no problem type fits are counted as skipped. Times are those
 * of the log; where it has none, the least time that the part's rates allow and a launch of 3 us. part NULL:
 * the first of the architecture. */
Err workload_types(Workload *w, const Target *t, const Part *part, const WorkloadLimits *limits,
                   WorkloadTypes *out);

/* A config for these sizes. base: parsed configs (their paths in path) whose search ranges and global
 * parameters are taken: of each problem type the first config that has it, else one with the same inputs and
 * transposes, else with the same inputs. Problem types that no config has are left out with a warning and
 * counted in *n_left. ERR_INPUT: all are. */
typedef struct {
    const char *path;
    const Node *root;
} WorkloadBase;
Err workload_config(const WorkloadTypes *w, const char *source, const WorkloadBase *base, size_t n_base,
                    Arena *a, Buf *out, size_t *n_left);

/* transA,transB,M,N,K,batch_count,lda,ldb,ldc,ldd,stride_a,..,types,call_count,us,share: a file that
 * workload_read takes again. */
void workload_csv(const WorkloadTypes *w, Buf *out);
/* What was read and skipped, a line per problem type, and the most expensive sizes. */
void workload_table(const Workload *w, const WorkloadTypes *types, Buf *out);
void workload_json(const Workload *w, const WorkloadTypes *types, Buf *out);

/* Appends "- Conv: {n: .., c: .., g: 1", a line of ProblemSizes without its end, with the letters of
 * MIOpen. */
void workload_conv_size(const ConvDesc *c, Buf *out);

#endif
