/* The command `tuner report`: reads results and writes the requested files. */
#ifndef TUNER_REPORT_FILES_H
#define TUNER_REPORT_FILES_H

#include "run/options.h"

Err report_files(const Options *o);

#endif
