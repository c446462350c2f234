/* JSON of parts that several reports have. Schemas are in tuner/README.md. */
#ifndef REPORT_JSON_PARTS_H
#define REPORT_JSON_PARTS_H

#include "fmt/json.h"
#include "measure/query.h"
#include "measure/store_search.h"

/* "format" and "version", the first members of every document. */
void json_format(Json *j, const char *format, int version);
void json_rejections(Json *j, const Rejection *r, size_t n);
void json_statuses(Json *j, const StatusCount *s, size_t n);
void json_searches(Json *j, const SearchView *v, size_t n);
void json_busy(Json *j, const Busy *b, bool found);

#endif
