/* The numbers of a program as text: clauses of keys and values, made from and read into the structs by one
 * table (fields.def). */
#ifndef KERNEL_FIELDS_H
#define KERNEL_FIELDS_H

#include "kernel/gpu/gpu.h"
#include "kernel/host/plan.h"
#include "kernel/program.h"

typedef enum { FIELDS_WALK, FIELDS_GPU, FIELDS_HOST } FieldsOf;

/* One line for each clause that has a number which is not 0: "clause key value key value\n". */
void fields_put(FieldsOf of, const void *from, Buf *out);
/* Is there a clause of that name? */
bool fields_have(FieldsOf of, Str clause);
/* Reads "key value" into *to. ERR_INPUT: the clause has no such key, or the value is not of the key's
 * kind. */
Err fields_set(FieldsOf of, Str clause, Str key, Str value, void *to);
/* Checks that the numbers which lowerings divide by are not 0. ERR_INPUT names the first that is missing. */
Err fields_check(FieldsOf of, const void *from);

#endif
