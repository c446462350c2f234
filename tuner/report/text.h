/* A stream for text from a store: it replaces control characters other than newline and tab by '?', so that
 * an untrusted store cannot send escape sequences to the terminal. */
#ifndef TUNER_REPORT_TEXT_H
#define TUNER_REPORT_TEXT_H

#include <stdio.h>

#include "base/err.h"

/* The stream writes to `to`, which stays open when the stream is closed. */
Err text_open(FILE *to, FILE **out);
/* Closes the stream. Returns e, or ERR_FAILED when e is 0 and something could not be written. */
Err text_close(FILE *f, Err e);

#endif
