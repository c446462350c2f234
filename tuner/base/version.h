/* The version of all programs, of libtuner and of the files that they write. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define TUNER_VERSION "0.1.0"
/* The version of Tensile whose file formats are read and written. */
#define TENSILE_VERSION "4.44.0"

#endif
