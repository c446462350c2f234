/* Text out of a store on its way to a terminal: a stream that passes on what is written to it with a '?' in
 * place of control characters other than newline and tab, so that a store from elsewhere cannot steer the
 * terminal. */
#ifndef TUNER_REPORT_TEXT_H
#define TUNER_REPORT_TEXT_H

#include <stdio.h>

#include "base/err.h"

/* to stays open when the stream is closed. */
Err text_open(FILE *to, FILE **out);
/* Closes it; ERR_FAILED when e is 0 and something could not be written, else e. */
Err text_close(FILE *f, Err e);

#endif
