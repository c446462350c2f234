/* For tests of the rules that refuse solutions. */
#ifndef TEST_DERIVE_RULE_H
#define TEST_DERIVE_RULE_H

#include "test/support.h"

#include "space/derive.h"

static inline void assert_rule(const Deriver *d, Solution s, RuleId rule)
{
    Verdict v;
    assert_false(solution_derive(d, &s, &v));
    assert_string_equal(rule_name(v.rule), rule_name(rule));
}

#endif
