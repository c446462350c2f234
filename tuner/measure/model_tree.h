/* A decision tree that chooses a kernel by the size, trained on measured and predicted times.
 *
 * Its questions are those that Tensile's decision tree libraries can ask ("is feature f <= threshold?", in
 * 32-bit floats), so that createlib and Tensile's host library give the same answers as
 * model_tree_choose. Training is deterministic: CART (Breiman et al. 1984) with the loss of a leaf's kernel
 * over the best one in place of an impurity, and the split that saves most first.
 */
#ifndef MEASURE_MODEL_TREE_H
#define MEASURE_MODEL_TREE_H

#include "measure/model_store.h"
#include "problem/model_select.h"

/* Tensile's reader has keys of fixed length for up to 10 features
 * (Serialization/DecisionTreeLibrary.hpp, mappingKey); rocBLAS's trees stay below that too. */
enum { MODEL_TREE_FEATURES = 10, MODEL_TREE_DEPTH = 12, MODEL_TREE_LEAVES = 64 };

/* x = ceil(M * mt0) * ceil(N * mt1) * cus, the rounds of tiles */
typedef enum {
    TREE_FREE_A,         /* M */
    TREE_FREE_B,         /* N */
    TREE_BOUND,          /* K */
    TREE_BATCH,          /* batch count */
    TREE_CU_GRANULARITY, /* the filling of the rounds: x / ceil(x) */
    TREE_WAVES           /* ceil(x) */
} ModelTreeKind;

typedef struct {
    ModelTreeKind kind;
    float mt0, mt1, cus; /* the last two kinds: 1 / rows of a tile, 1 / columns, 1 / compute units */
} ModelTreeFeature;

/* A child >= 0 is a node; otherwise ~child is a kernel of the matrix. Children come after their parent. */
typedef struct {
    int32_t feature;
    float threshold;
    int32_t lte, gt;
} ModelTreeNode;

typedef struct {
    ModelTreeFeature feature[MODEL_TREE_FEATURES];
    int32_t n_features;
    ModelTreeNode node[MODEL_TREE_LEAVES];
    int32_t n_nodes; /* 0: `root` for every size */
    int32_t root;    /* a child as in the nodes */
} ModelTree;

/* Trains on the sizes for which out (may be NULL) is false, and on sizes around them. Only kernels are chosen
 * that win one of them, and for which usable (may be NULL) is true. selector: over the matrix's kernels and
 * these sizes. Where no kernel can be chosen n_nodes is 0 and root is MODEL_TREE_NONE. */
#define MODEL_TREE_NONE INT32_MAX
Err model_tree_train(const ModelMatrix *m, const bool *out, const bool *usable, const ModelSelector *s,
                     const ModelDevice *d, ModelTree *tree);
/* The kernel's position in the matrix; SIZE_MAX: the tree chooses none. */
size_t model_tree_choose(const ModelTree *t, const ModelSize *z);

#endif
