/* Answers of tuner-client to another program (option answer-fd): what --list-devices and --check-peer found,
 * as CSV records instead of the sentences that a user sees.
 *
 *   tuner-answer,1
 *   record,kind,index,name,architecture,n_cu,memory_bytes,cache_bytes,clock_mhz,driver,text
 *   device,host,0,Some CPU,x86-64-v4,8,68719476736,33554432,3000,,
 *   absent,hip,0,,,0,0,0,0,,libamdhip64.so: cannot open shared object file
 *   end,,,,,,,,,,
 *
 * Records: "device"; "closed": a device that cannot be opened; "absent": a kind that has no device; "peer":
 * the peer's name and version; "error": the program failed, index is its exit code. text holds the reason or
 * the version. An answer without the last row "end" is incomplete. An unknown version, record or column is
 * an error: both programs come from one build.
 */
#ifndef CLIENT_ANSWER_H
#define CLIENT_ANSWER_H

#include "base/arena.h"

enum { ANSWER_VERSION = 1, ANSWER_RECORDS_MAX = 4096 };

typedef enum { ANSWER_DEVICE, ANSWER_CLOSED, ANSWER_ABSENT, ANSWER_PEER, ANSWER_ERROR } AnswerRecordKind;

typedef struct {
    AnswerRecordKind record;
    Str kind; /* "host", "sim", "hip", "cuda" */
    int64_t index;
    Str name, arch, driver;                             /* driver: version, or empty */
    int64_t n_cu, memory_bytes, cache_bytes, clock_mhz; /* 0: unknown */
    Str text;
} AnswerRecord;

/* The first two lines; one record; the last line. Texts may hold any characters. */
void answer_begin(Buf *out);
void answer_add(const AnswerRecord *r, Buf *out);
void answer_end(Buf *out);

/* The records of a whole answer, in the arena. ERR_INPUT for text that is no answer of this version, or is
 * damaged: names the line. An "error" record is returned like the others. */
Err answer_parse(Arena *a, Str text, AnswerRecord **out, size_t *n);

/* The line that a user sees for a record: "cuda 0: NVIDIA H200, sm_90, 132 CUs, 140.4 GiB, ...". */
void answer_print(const AnswerRecord *r, Buf *out);

#endif
