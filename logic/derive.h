/* Derives the solutions of a logic file again from their parameters. */
#ifndef LOGIC_DERIVE_H
#define LOGIC_DERIVE_H

#include "logic/logic.h"
#include "space/derive.h"

/* Derives the state of the file's parameters for d's target. False: *why is the rule that rejected it, or the
 * parameter with an unknown value; values that were not derived before that are those of the file, like in
 * Tensile. */
bool logic_solution_derive(const LogicKeys *k, const LogicSolution *s, const Deriver *d, Solution *out,
                           Buf *why);

typedef enum {
    DERIVED_VALID,
    DERIVED_WHOLE, /* rejected, but every value is derived: Tensile makes a kernel of it */
    DERIVED_PARTLY /* rejected where nothing could be derived any more, or a value is not known */
} Derived;

/* The same, with the kind of result. *rule: the rule that *why is of; RULE_NONE: of none. */
Derived logic_solution_derived(const LogicKeys *k, const LogicSolution *s, const Deriver *d, Solution *out,
                               Buf *why, RuleId *rule);

#endif
