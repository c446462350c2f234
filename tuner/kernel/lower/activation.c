/* Activations as C expressions. See activation.h. */
#include "kernel/lower/activation.h"

/* Constants are cast: in double they would make a kernel in single precision compute in double. */
static const char *const text[ACTIVATION_COUNT] = {
    [ACTIVATION_ABS] = "x < 0 ? -x : x",
    [ACTIVATION_CLIPPEDRELU] = "x >= number_0 ? (x < number_1 ? x : number_1) : 0",
    [ACTIVATION_GELU] = "x / 2 + x / 2 * @tanh(x * ((@TC).797884560802865 + (@TC).0356774081363001 * x * x))",
    [ACTIVATION_LEAKYRELU] = "x >= 0 ? x : number_0 * x",
    [ACTIVATION_RELU] = "x > 0 ? x : 0",
    [ACTIVATION_SIGMOID] = "@sigmoid(x)",
    [ACTIVATION_TANH] = "number_0 * @tanh(number_1 * x)",
    [ACTIVATION_SILU] = "x * @sigmoid(x)",
    [ACTIVATION_CLAMP] = "x > number_1 ? number_1 : x < number_0 ? number_0 : x"};

void stmt_activation(Stmts *s, Activation a)
{
    static const StmtParam param[] = {{"@TC", "x"}, {"@TC", "number_0"}, {"@TC", "number_1"}};
    stmt_function(
        s, (Function){
               .result = "@TC", .name = "@activate", .param = param, .n_params = 1 + activation_numbers(a)});
    stmt_return(s, value_cast(s, "@TC", value_reg(s, stmts_name(s, "(%s)", text[a]))));
    stmt_end(s);
}

const Value *value_activated(Stmts *s, Activation a, const Value *x, const Value *const number[2])
{
    const Value *const arg[] = {x, number[0], number[1]};
    return value_call_n(s, "@activate", 1 + activation_numbers(a), arg);
}
