/* What the groups of a search tell each other. Groups whose types differ in transposes, or in types of as
 * many bytes, and whose configs state the same ranges try each other's winners: a type with five sizes, of
 * which a round measures few kernels, gets what one with fifty found. */
#ifndef RUN_SEARCH_SHARE_H
#define RUN_SEARCH_SHARE_H

#include "run/search_group.h"

/* The pairs that the next batch of group i begins with (SearchOptions.first): on each of its own sizes the
 * best kernel that another group has measured on the nearest size, unless group i has measured it there, or
 * the kernel is none of its space. Sizes farther away than a factor of SHARE_FAR in all extents together
 * give nothing. Does nothing before the group has results. */
#define SHARE_FAR 2.0
Err search_share(SearchGroup *group, size_t n, size_t i);

#endif
