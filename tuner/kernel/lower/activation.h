/* Activations (problem/fused.h) in the text of kernels. */
#ifndef KERNEL_LOWER_ACTIVATION_H
#define KERNEL_LOWER_ACTIVATION_H

#include "kernel/lower/stmt.h"

/* Prints @activate(x), with the activation's numbers as further arguments, of the compute type @TC. The text
 * has @exp(x) and @tanh(x) where activation_has_exp. */
void stmt_activation(Stmts *s, Activation a);
/* The call of it. number: of the activation's numbers, as many as it has. */
const Value *value_activated(Stmts *s, Activation a, const Value *x, const Value *const number[2]);

#endif
