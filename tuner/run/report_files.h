/* The command `tuner report`: reads results and writes the files that were asked for. */
#ifndef TUNER_REPORT_FILES_H
#define TUNER_REPORT_FILES_H

#include "run/options.h"

Err report_files(const Options *o);

#endif
