/* stub */
#include "logic/logic_internal.h"
Err logic_scan(LogicReader *r, Str text, bool *done)
{
    (void)r;
    (void)text;
    *done = false;
    return ERR_OK;
}
