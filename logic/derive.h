/* Re-derivation of a logic file's solutions. Used by createlib and tuner-logic check. */
#ifndef LOGIC_DERIVE_H
#define LOGIC_DERIVE_H

#include "logic/logic.h"
#include "space/derive.h"

/* The state that the file's parameters have today, for d's target. False: *why says which rule rejected it,
 * or which parameter has a value that we do not know; what was not derived up to there is as in the file, as
 * Tensile does it. */
bool logic_solution_derive(const LogicKeys *k, const LogicSolution *s, const Deriver *d, Solution *out,
                           Buf *why);

typedef enum {
    DERIVED_VALID,
    DERIVED_WHOLE, /* rejected, but every value is derived: Tensile makes a kernel of it */
    DERIVED_PARTLY /* rejected where nothing could be derived any more, or a value is not known */
} Derived;

/* The same, with what can be done with the state. */
Derived logic_solution_derived(const LogicKeys *k, const LogicSolution *s, const Deriver *d, Solution *out,
                               Buf *why);

#endif
