/* Statements: what a lowering makes of a program, as a typed tree over index expressions.
 *
 * A lowering calls the functions below in the order of the text: what they make is appended to the innermost
 * block that is open, and stmt_end closes that. Integers are Exprs (index/expr.h). Everything else (registers
 * with elements of matrices, pointers, calls of instructions) is a Value, whose leaves may be Exprs. A
 * statement says what a back end with registers of its own must know: the space, width, hint and guard of an
 * access, the type and dimensions of a register and the block in which it lives, how many loads a wait leaves
 * under way. Types are names: stmt_typedef and stmt_struct say what those of the text's own consist of.
 * stmt_print writes the tree as C, HIP C++ or CUDA C++.
 *
 * Memory: nodes, and Exprs of the pool, live in the arena of their Stmts until stmts_fini. A Stmts that runs
 * out of memory remembers it and drops what is added: check once, with stmts_check or stmt_print. Strings are
 * not copied: literals, or stmts_name. '@' in a name is the kernel's prefix, replaced when the text is
 * finished.
 */
#ifndef KERNEL_LOWER_STMT_H
#define KERNEL_LOWER_STMT_H

#include "index/expr.h"
#include "kernel/program.h"

typedef struct Value Value;
typedef struct Stmt Stmt;

typedef struct {
    Arena arena;
    ExprPool pool; /* for the Exprs of the statements */
    Stmt *first, **tail, *open;
    const Expr **known; /* named expressions that the open blocks declare */
    int n_known, cap_known;
    bool failed;
} Stmts;

/* limit_bytes: as in arena_init. */
void stmts_init(Stmts *s, size_t limit_bytes);
void stmts_fini(Stmts *s);
/* ERR_FAILED when memory was missing. Aborts when a block is still open. */
Err stmts_check(const Stmts *s);
/* A name in the arena, "" when there is no memory. */
const char *stmts_name(Stmts *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- values ---- */

typedef enum {
    VALUE_ADD,
    VALUE_SUB,
    VALUE_MUL,
    VALUE_DIV,
    VALUE_MOD,
    VALUE_SHL,
    VALUE_SHR,
    VALUE_AND,
    VALUE_XOR,
    VALUE_OR,
    VALUE_LT,
    VALUE_LE,
    VALUE_GT,
    VALUE_GE,
    VALUE_EQ,
    VALUE_NE,
    VALUE_BOTH,
    VALUE_EITHER,
    VALUE_NEG, /* of one operand, as the following */
    VALUE_NOT,
    VALUE_INVERT,
    VALUE_ADDRESS
} ValueOp;

/* An access to memory: `type` at `offset` from `base`. */
typedef struct {
    Space space;
    const char *type;   /* of what is loaded or stored, a vector's where it is one */
    int bytes;          /* its width */
    const Value *base;  /* a pointer */
    const Expr *offset; /* NULL: 0. In bytes, or with in_elements in elements of type, to which base points */
    bool in_elements;
    bool in_window;    /* base is a 32-bit address in the window of local memory, not a pointer */
    int hint;          /* NonTemporal's bits; 0: a plain access */
    const Expr *guard; /* NULL: always. Where it is 0 a load gives 0 and a store does nothing */
} Access;
/* Bytes behind a pointer; element i of an array. */
static inline Access access_at(Space space, const char *type, int bytes, const Value *base,
                               const Expr *offset)
{
    return (Access){.space = space, .type = type, .bytes = bytes, .base = base, .offset = offset};
}
static inline Access access_element(Space space, const char *type, int bytes, const Value *base,
                                    const Expr *i)
{
    return (Access){
        .space = space, .type = type, .bytes = bytes, .base = base, .offset = i, .in_elements = true};
}

/* width bytes in the window of local memory: copies to it, and stores of whole 32-bit words. */
static inline Access access_window(const Value *base, const Expr *offset, int width)
{
    return (Access){.space = SPACE_LOCAL,
                    .type = "char",
                    .bytes = width,
                    .base = base,
                    .offset = offset,
                    .in_window = true};
}

/* Stages of local memory that are filled and read in turn. A cursor is a variable with the number of a stage,
 * with the offset of its first byte (steps of `bytes`), or a structure with fields `stage` and `phase`. */
typedef struct {
    int n_stages;
    int bytes; /* of a stage */
    bool in_bytes;
    bool has_phase; /* the parity of the phase of the stage's mbarriers, which changes round by round */
    bool may_skip;  /* a stage may be filled again though nothing has read it */
} StageRing;
enum { STAGES_MAX = 64 };

/* An integer; a constant; a register, parameter or pointer under the name that the text has for it. */
const Value *value_expr(Stmts *s, const Expr *e);
const Value *value_int(Stmts *s, int64_t value);
const Value *value_reg(Stmts *s, const char *name);
/* The same under a name that is put together here. */
const Value *value_named(Stmts *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A number as it is to stand in the text: "0x1p-7f", "0xffu". */
const Value *value_literal(Stmts *s, const char *text);
/* Element i of an array or vector; a field of a struct. */
const Value *value_at(Stmts *s, const Value *x, const Expr *i);
const Value *value_at_i(Stmts *s, const Value *x, int64_t i);
const Value *value_field(Stmts *s, const Value *x, const char *field);
/* y is NULL for operators of one operand. */
const Value *value_op(Stmts *s, ValueOp op, const Value *x, const Value *y);
const Value *value_cast(Stmts *s, const char *type, const Value *x);
static inline const Value *value_sum(Stmts *s, const Value *x, const Value *y)
{
    return value_op(s, VALUE_ADD, x, y);
}
static inline const Value *value_difference(Stmts *s, const Value *x, const Value *y)
{
    return value_op(s, VALUE_SUB, x, y);
}
static inline const Value *value_product(Stmts *s, const Value *x, const Value *y)
{
    return value_op(s, VALUE_MUL, x, y);
}
static inline const Value *value_times(Stmts *s, const Value *x, int64_t n)
{
    return n == 1 ? x : value_product(s, x, value_int(s, n));
}
/* x NULL: y alone. */
static inline const Value *value_both(Stmts *s, const Value *x, const Value *y)
{
    return x ? value_op(s, VALUE_BOTH, x, y) : y;
}
static inline const Value *value_offset(Stmts *s, const Value *x, const Expr *e)
{
    return expr_is(e, 0) ? x : value_sum(s, x, value_cast(s, "int", value_expr(s, e)));
}
const Value *value_select(Stmts *s, const Value *condition, const Value *then, const Value *otherwise);
const Value *value_load(Stmts *s, Access a);
/* The address of an access, as a pointer to its type. */
const Value *value_place(Stmts *s, Access a);
/* The call of a function or named instruction, f(x0, x1, ...); what a struct or array is made of, {x0, x1}.
 * The array is copied. */
const Value *value_call_n(Stmts *s, const char *f, int n, const Value *const *x);
const Value *value_list_n(Stmts *s, int n, const Value *const *x);
#define VALUES_(...) ((const Value *const[]){__VA_ARGS__})
#define N_VALUES_(...) ((int)(sizeof VALUES_(__VA_ARGS__) / sizeof(Value *)))
#define value_call(s, f, ...) value_call_n(s, f, N_VALUES_(__VA_ARGS__), VALUES_(__VA_ARGS__))
#define value_list(s, ...) value_list_n(s, N_VALUES_(__VA_ARGS__), VALUES_(__VA_ARGS__))
/* The address of a stage: base + cursor, or base + cursor * bytes. cursor: a variable made by stmt_cursor, a
 * loop's counter, or a number. r must outlive s. */
const Value *value_stage(Stmts *s, const StageRing *r, const Value *base, const Value *cursor);
/* A call without operands. */
static inline const Value *value_call_0(Stmts *s, const char *f) { return value_call_n(s, f, 0, NULL); }

/* ---- functions and types ---- */

typedef struct {
    const char *type, *name; /* name NULL: not used in the body */
} StmtParam;

typedef enum { FUNCTION_INLINE, FUNCTION_STATIC, FUNCTION_NOINLINE, FUNCTION_EXPORTED } FunctionKind;

typedef struct {
    FunctionKind kind;
    const char *attribute; /* of an exported function: what stands in front of its result; may be NULL */
    const char *constant;  /* template parameter: an int that is a constant of the function; or NULL */
    const char *result;    /* NULL: void */
    const char *name;
    const char *qualifier; /* behind the parameters: "const"; or NULL */
    const StmtParam *param;
    int n_params;
} Function;
#define STMT_PARAMS(...)                                                                                     \
    .param = (const StmtParam[]){__VA_ARGS__},                                                               \
    .n_params = (int)(sizeof((StmtParam[]){__VA_ARGS__}) / sizeof(StmtParam))

/* Opens a function's body. f.param is copied. */
void stmt_function(Stmts *s, Function f);
/* Opens a struct, whose fields are stmt_var and stmt_array; align_bytes 0: as its fields are. */
void stmt_struct(Stmts *s, const char *name, int align_bytes);
/* attribute: text behind the name; or NULL. */
void stmt_typedef(Stmts *s, const char *type, const char *name, const char *attribute);
/* A named constant of the text. type: "int", "bool", "unsigned". */
void stmt_constant(Stmts *s, const char *type, const char *name, int64_t value);
/* A macro of the preprocessor: for embedded texts that are the same for several types. */
void stmt_macro(Stmts *s, const char *name, const char *text);
/* The embedded text of that file (kernel/text.h). */
void stmt_file(Stmts *s, const char *name);

/* ---- declarations and assignments; a declared name lives to the end of its block ---- */

/* Declares the integer e under that name, unless the block or one around it has done so, and the named
 * expressions that e consists of. Returns what stands for it from there on. */
const Expr *stmt_let(Stmts *s, const char *name, const Expr *e);
/* The text has the variable of the named expression e already. */
void stmt_known(Stmts *s, const Expr *e);
/* A register that is not changed. Returns its name as a value. */
const Value *stmt_define(Stmts *s, const char *type, const char *name, const Value *x);
/* A register that is; x NULL: without a value. */
const Value *stmt_var(Stmts *s, const char *type, const char *name, const Value *x);
/* An array of registers; sizes, 0 behind the last of four at most, as of DIMS. */
const Value *stmt_array(Stmts *s, const char *type, const char *name, const int *dims);
#define DIMS(...) ((const int[]){__VA_ARGS__, 0})
void stmt_set(Stmts *s, const Value *to, const Value *x);
/* The same, by the register's name. */
static inline void stmt_set_reg(Stmts *s, const char *name, const Value *x)
{
    stmt_set(s, value_reg(s, name), x);
}
/* to = to op x. */
void stmt_update(Stmts *s, ValueOp op, const Value *to, const Value *x);
/* In the window of local memory x is the address of the words. */
void stmt_store(Stmts *s, Access to, const Value *x);
/* x for what it does: a call, or (with "void" as value_cast's type) a name that is not used. */
void stmt_do(Stmts *s, const Value *x);
#define stmt_call(s, f, ...) stmt_do(s, value_call(s, f, __VA_ARGS__))

/* ---- control ---- */

typedef enum { UNROLL_AS_COMPILED, UNROLL_FULL, UNROLL_NONE, UNROLL_2, UNROLL_4, UNROLLS } Unroll;

/* for (type var = start; var < limit; var += step). */
typedef struct {
    const char *var;        /* NULL: while (condition) */
    const char *type;       /* NULL: "int" in a loop to be unrolled, else as wide as start and limit need */
    const Expr *start;      /* NULL: var is declared, and has its value */
    const Expr *limit;      /* or NULL: condition */
    const Value *condition; /* NULL: var < limit; with neither, stmt_leave ends it */
    int64_t step;           /* 0: 1; negative: downwards */
    const Expr *step_by;    /* in place of step */
    int slot;               /* of the Expr */
    Unroll unroll;
} Loop;
/* Opens a loop and returns its variable. */
const Expr *stmt_loop(Stmts *s, Loop l);
/* The usual one: var from 0 below n, unrolled. */
const Expr *stmt_unrolled(Stmts *s, const char *var, int slot, int64_t n);
void stmt_if(Stmts *s, const Value *condition);
void stmt_if_expr(Stmts *s, const Expr *condition);
/* The same, with a hint that it is seldom true: the body is placed behind the other code. */
void stmt_if_seldom(Stmts *s, const Value *condition);
/* Behind the body of stmt_if, before stmt_end. */
void stmt_else(Stmts *s);
void stmt_block(Stmts *s);
/* Closes the innermost function, struct, loop, if or block. */
void stmt_end(Stmts *s);
/* x NULL: of a function without a result. */
void stmt_return(Stmts *s, const Value *x);
/* Leaves the innermost loop; goes on with its next iteration. */
void stmt_leave(Stmts *s);
void stmt_next(Stmts *s);
/* Threads of the work-group meet; what they wrote to local memory is seen behind it. */
void stmt_barrier(Stmts *s);
/* All but the `pending` newest groups of asynchronous loads of this thread have arrived. */
void stmt_wait(Stmts *s, int pending);

/* ---- asynchronous copies into a ring of stages: async.h derives and checks their waits ---- */

/* Starts a copy of to.bytes (4, 8 or 16) from global memory into the window of local memory. to.guard: where
 * it is 0, nothing is copied. valid: bytes that are read, zeros are written behind them; NULL: all. */
void stmt_copy(Stmts *s, Access to, Access from, const Value *valid);
/* Ends a group of copies, those that this thread has started since the group before; it may be empty. */
void stmt_commit(Stmts *s);
/* This thread's groups have arrived up to the one that fills the stage `ahead` stages behind the cursor;
 * cursor NULL: all groups. The number of newer groups that may be under way is derived. */
void stmt_await(Stmts *s, const StageRing *r, const Value *cursor, int ahead);
/* A variable with the number or offset of a stage; sets it to stage number `first`. */
const Value *stmt_cursor(Stmts *s, const StageRing *r, const char *type, const char *name, int first);
void stmt_cursor_set(Stmts *s, const StageRing *r, const Value *cursor, int stage);
/* Moves it on to the next stage, behind the last one to the first. */
void stmt_advance(Stmts *s, const StageRing *r, const Value *cursor);

/* ---- copies by the copy engine (TMA), which mbarriers count: producer.h derives their bytes ---- */

/* A box of a tensor map. */
enum { BOX_NUMBERS = 6 };
typedef struct {
    const Value *map;
    /* Its first element: along the contiguous dimension, the other ones, the matrix or image; of pixels of a
     * window then the distances at which they are read. NULL behind the last. */
    const Value *at[BOX_NUMBERS];
    const Value *mask; /* multicast: work-groups of the cluster that get it; NULL: this one alone */
} Box;
/* Starts a copy of to.bytes to the window of local memory, which the mbarrier `full` counts. */
void stmt_box(Stmts *s, Access to, const Value *full, Box b);
/* Arrives at `full` and tells it how many bytes its phase gets by boxes. The number is derived. */
void stmt_expect(Stmts *s, const Value *full);
/* Waits until stores by the copy engine have read the memory at that address. The number of newer groups of
 * stores that may be under way is derived (slices.h). */
void stmt_store_await(Stmts *s, const Value *address);
/* Waits until an mbarrier's phase of that parity has completed. */
void stmt_phase(Stmts *s, const Value *barrier, const Value *parity);
/* Arrives at the mbarrier in work-group `rank` of the cluster. */
void stmt_arrive(Stmts *s, const Value *barrier, const Value *rank);

/* ---- asynchronous products of a warp group (wgmma): consumer.h derives and checks their waits ---- */

/* acc += x * y, or with `add` 0 acc = x * y. x: registers or a matrix descriptor; y: a matrix descriptor. */
typedef struct {
    const Value *acc, *x, *y, *add;
} Product;
void stmt_product(Stmts *s, Product p);
/* Registers that this thread has accessed are seen by the products behind it. */
void stmt_product_fence(Stmts *s);
/* Ends a group of products. */
void stmt_product_commit(Stmts *s);
/* The products that use these registers, or read the stage whose number is in that variable, are complete.
 * The number of newer groups that may be under way is derived. */
void stmt_product_await(Stmts *s, const Value *of);

/* The compiler moves nothing over this. */
void stmt_fence(Stmts *s);
void stmt_comment(Stmts *s, const char *text);
/* An empty line between functions. */
void stmt_gap(Stmts *s);

/* The body of a function that is one instruction of the machine, in the assembly text of the compiler: its
 * operands by %0, %1 ..: outputs, then inputs. Constraints are GCC's. */
typedef struct {
    const char *constraint;
    const Value *x;
} AsmOperand;
typedef struct {
    const char *text;
    const AsmOperand *operand;
    int n_outputs, n_inputs;
    bool is_volatile, touches_memory;
} Asm;
void stmt_asm(Stmts *s, Asm a);

/* ---- the tree, for printers and back ends ---- */

typedef enum {
    VALUE_EXPR,
    VALUE_NAME, /* a register, pointer or parameter; a literal */
    VALUE_AT,
    VALUE_FIELD,
    VALUE_OP,
    VALUE_SELECT,
    VALUE_CAST,
    VALUE_LOAD,
    VALUE_PLACE,
    VALUE_CALL,
    VALUE_LIST,
    VALUE_STAGE /* x: base, y: cursor */
} ValueKind;

struct Value {
    ValueKind kind;
    ValueOp op;
    const char *name; /* NAME, FIELD, CALL; type of CAST */
    const Expr *expr; /* EXPR; subscript of AT */
    const Value *x, *y, *z;
    const Value *const *list; /* CALL, LIST */
    int n;
    const Access *access;
    const StageRing *ring;
};

typedef enum {
    STMT_FUNCTION,
    STMT_STRUCT,
    STMT_TYPEDEF,
    STMT_CONSTANT,
    STMT_MACRO,
    STMT_FILE,
    STMT_LET,
    STMT_DEFINE,
    STMT_VAR,
    STMT_SET,
    STMT_UPDATE,
    STMT_STORE,
    STMT_DO,
    STMT_LOOP,
    STMT_IF,
    STMT_BLOCK,
    STMT_RETURN,
    STMT_LEAVE,
    STMT_NEXT,
    STMT_BARRIER,
    STMT_WAIT,
    STMT_FENCE,
    STMT_COPY, /* access[0]: to, access[1]: from; x: valid bytes */
    STMT_COMMIT,
    STMT_AWAIT,  /* to: the cursor, dims[0]: stages ahead; number: groups under way, or UNDERIVED */
    STMT_CURSOR, /* to: the cursor; number: the stage; type NULL: it is declared elsewhere */
    STMT_ADVANCE,
    STMT_BOX,         /* access: to; x: the mbarrier */
    STMT_EXPECT,      /* x: the mbarrier; number: bytes, or UNDERIVED */
    STMT_STORE_AWAIT, /* to: the address; number: groups under way, or UNDERIVED */
    STMT_PHASE,       /* to: the mbarrier; x: the parity */
    STMT_ARRIVE,      /* to: the mbarrier; x: the work-group */
    STMT_PRODUCT,
    STMT_PRODUCT_FENCE,
    STMT_PRODUCT_COMMIT,
    STMT_PRODUCT_AWAIT, /* x: registers or a stage; number: groups under way, or UNDERIVED */
    STMT_COMMENT,
    STMT_GAP,
    STMT_ASM
} StmtKind;

enum { STMT_MAX_DIMS = 4, UNDERIVED = -1 };
struct Stmt {
    StmtKind kind;
    ValueOp op;
    const char *name, *type, *attribute;
    const Expr *expr;
    const Value *to, *x;
    int64_t number; /* alignment, value of a constant, loads of a wait */
    int dims[STMT_MAX_DIMS + 1];
    const Function *function;
    const Loop *loop;
    const Access *access;
    const StageRing *ring;
    const Box *box;
    const Product *product;
    const Asm *assembly;
    Stmt *body, *otherwise, *parent, *next;
    bool has_else, is_seldom; /* of an if */
    int known;                /* n_known when the block was opened */
};

/* ---- printing ---- */

/* What a language calls things. '@' names are those of kernel/gpu/gpu.h. */
typedef struct {
    const ExprStyle *expr;
    const char *function[FUNCTION_EXPORTED]; /* in front of the result's type, by FunctionKind */
    const char *unroll[UNROLLS];             /* in front of a loop; NULL: nothing */
    const char *barrier, *wait, *fence;      /* functions, wait's of a number; NULL: not needed here */
    /* Templates: copies of whole pieces and of pieces with zeros behind; waits; stores of words. */
    const char *copy, *copy_valid, *arrived, *store_words;
    const char *commit; /* a function */
    /* Functions: copies of a box to this work-group and to several, bytes of a phase, its end, an arrival. */
    const char *box, *box_shared, *expect, *phase, *arrive;
    const char *store_await; /* a template */
    /* A function, two functions without operands, a template. */
    const char *product, *product_fence, *product_commit, *product_await;
    bool has_constexpr;   /* else a named constant is an enum's */
    const char *align[2]; /* in front of and behind a number of bytes */
    const char *load,
        *store;       /* functions of accesses with a hint: of a pointer; of a pointer and the value */
    bool hint_levels; /* they are templates of the hint */
} StmtWords;
extern const StmtWords stmt_words_c, stmt_words_hip, stmt_words_cuda;

/* Appends the text of all statements, `indent` levels in. ERR_FAILED as stmts_check. */
Err stmt_print(const Stmts *s, const StmtWords *words, int indent, Buf *out);

#endif
