/* Rules: the reasons to reject a solution, one row of rules.def each, with their texts and counts. A Verdict
 * is the first reason that a derivation found; its text is made on demand.
 */
#ifndef MODEL_RULES_H
#define MODEL_RULES_H

#include <stdio.h>

#include "base/str.h"

/* Families to which a rule applies. */
enum { RULE_AMD = 1, RULE_NV = 2, RULE_CPU = 4, RULE_GPU = 3, RULE_ALL = 7 };

typedef enum {
    RULE_NONE, /* valid */
#define RULE(id, name, families, text) RULE_##id,
#include "space/rules.def"
#undef RULE
    RULE_COUNT
} RuleId;

typedef struct {
    RuleId rule;
    int64_t arg[4]; /* the numbers in the text */
} Verdict;

/* How often each rule was the first reason; [RULE_NONE]: valid solutions. */
typedef struct {
    uint64_t n[RULE_COUNT];
} RuleCounts;

const char *rule_name(RuleId id); /* "lds-too-large"; "valid" */
unsigned rule_families(RuleId id);
/* "LDS of 70000 bytes exceeds the limit of 65536"; "valid". */
void verdict_text(const Verdict *v, Buf *out);
/* Rules that rejected something, most frequent first, equal counts in table order. Returns their number. */
int rule_counts_sorted(const RuleCounts *c, int order[RULE_COUNT]);
/* Rejections counted by rule and, where the rule's text names a parameter ({P}), by parameter. When the list
 * is full, further parameters are counted with the rule's first one. */
enum { RULE_CASES_MAX = RULE_COUNT + 64 };
typedef struct {
    Verdict first;
    uint64_t n;
} RuleCase;
typedef struct {
    RuleCase of[RULE_CASES_MAX];
    int n;
} RuleCases;
void rule_cases_add(RuleCases *c, const Verdict *v);
/* Most frequent first. */
void rule_cases_sort(RuleCases *c);

/* "3104 valid, 5120 lds-too-large, ..." */
void rule_counts_summary(const RuleCounts *c, Buf *out);

#endif
