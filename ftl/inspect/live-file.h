/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live-file.h - the file of the live view: header, layout, one picture
 * (docs/live-format.md).
 */
#ifndef VSSD_FTL_INSPECT_LIVE_FILE_H
#define VSSD_FTL_INSPECT_LIVE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <glib.h>

#define LIVE_SIGNATURE    "vssdLIV1"
#define LIVE_HEADER_BYTES 4096

/* A reader's wish is good for so long. */
#define LIVE_MOST_WANTED_NS 10000000000ULL

typedef enum LiveState {
    LIVE_RUNS = 1,
    LIVE_HAS_ENDED = 2,
} LiveState;

/* Little endian; the rest of LIVE_HEADER_BYTES is 0. */
typedef struct LiveHeader {
    char signature[8];
    uint32_t header_bytes;
    uint32_t state; /* LiveState */
    uint64_t file_bytes;
    uint64_t layout_at, layout_bytes;   /* JSON */
    uint64_t picture_at, picture_bytes; /* binary, as the layout says */
    uint64_t process;
    uint64_t sequence;  /* odd while the picture is written */
    uint64_t wanted_ns; /* written by readers: pictures are wanted until then */
    uint64_t written_ns; /* of the last picture */
    uint64_t pictures;   /* so far */
} LiveHeader;

typedef struct LiveFile LiveFile;

/* A new file with the layout and room for a picture.  NULL: *error is one line
 * that begins with the path. */
LiveFile *live_file_new(const char *path, const GString *layout,
                        size_t picture_bytes, GError **error);

/* Does a reader want pictures at this instant?  A file that cannot be read
 * wants none. */
bool live_file_wanted(LiveFile *f, uint64_t host_ns);

/* Another fork of this process has written pictures: go on behind them. */
void live_file_resume(LiveFile *f);

/* A whole picture.  false: it could not be written, nor will others be. */
bool live_file_write(LiveFile *f, uint64_t host_ns, const void *picture);

/* Say in the file that the drive has ended, and free f.  false: something could
 * not be written; *error is as above. */
bool live_file_end(LiveFile *f, GError **error);

/* Free f; the file stays as it is. */
void live_file_free(LiveFile *f);

#endif
