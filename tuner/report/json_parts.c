/* JSON of parts that several reports have. See json_parts.h. */
#include "report/json_parts.h"

void json_format(Json *j, const char *format, int version)
{
    json_cstr(j, "format", format);
    json_int(j, "version", version);
}

void json_rejections(Json *j, const Rejection *r, size_t n)
{
    json_array(j, "rejections");
    for (size_t i = 0; i < n; i++) {
        json_object(j, NULL);
        json_str(j, "rule", r[i].rule);
        json_str(j, "text", r[i].text);
        json_int(j, "count", r[i].n);
        json_object_end(j);
    }
    json_array_end(j);
}

void json_statuses(Json *j, const StatusCount *s, size_t n)
{
    json_array(j, "statuses");
    for (size_t i = 0; i < n; i++) {
        json_object(j, NULL);
        json_str(j, "status", s[i].status);
        json_int(j, "count", s[i].n);
        json_bool(j, "good", s[i].good);
        json_object_end(j);
    }
    json_array_end(j);
}

void json_searches(Json *j, const SearchView *v, size_t n)
{
    json_array(j, "searches");
    for (size_t i = 0; i < n; i++) {
        const SearchRecord *s = &v[i].search;
        const SearchEnd *end = &v[i].end;
        json_object(j, NULL);
        json_str(j, "group", s->group);
        json_str(j, "method", s->method);
        json_int(j, "permutations", s->n_permutations);
        json_int(j, "candidates", s->n_candidates);
        json_int(j, "sizes", s->n_sizes);
        json_bool(j, "sampled", s->sampled);
        json_bool(j, "ended", v[i].ended);
        json_int(j, "rounds", v[i].ended ? end->n_rounds : v[i].n_rounds);
        if (v[i].ended) {
            json_int(j, "kernels", end->n_candidates);
            json_int(j, "pairs", end->n_pairs);
            json_int(j, "finalists", end->n_finalists);
            json_real(j, "seconds", end->seconds);
            json_str(j, "reason", end->reason);
            json_real(j, "expected_gain", end->hope);
        }
        json_object_end(j);
    }
    json_array_end(j);
}

void json_busy(Json *j, const Busy *b, bool found)
{
    char text[256] = "";
    if (!found) {
        json_null(j, "busy");
        return;
    }
    json_object(j, "busy");
    json_real(j, "load", b->load);
    json_int(j, "cores", b->n_cores);
    json_int(j, "wide_intervals", b->n_wide);
    json_int(j, "sizes", b->n_sizes);
    json_cstr(j, "warning", busy_text(b, text, sizeof text) ? text : "");
    json_object_end(j);
}
