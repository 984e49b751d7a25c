/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * input.h - a file as a stream of lines or bytes, unpacked on the way.
 *
 * Knows gzip, xz and zstd by their first bytes, and says how others are
 * unpacked; holds one buffer, so memory does not depend on the length of the
 * file.
 */
#ifndef VSSD_SIM_INPUT_H
#define VSSD_SIM_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <glib.h>

/* A line that is longer, or that holds a NUL, is INPUT_BAD. */
#define INPUT_LINE_BYTES 4096

/* Bytes behind the NUL of a line that can be read (FIELD_SLACK). */
#define INPUT_SLACK 8

typedef enum InputRead {
    INPUT_OK,
    INPUT_END,
    INPUT_BAD,   /* one line is no text; or the file ends within the bytes.
                    Reading may go on after the line */
    INPUT_ERROR, /* *error names the file: it cannot be read or unpacked */
} InputRead;

typedef struct Input Input;

/* "-" is standard input.  NULL: *error names the file. */
Input *input_open(const char *path, GError **error);

/* The same from memory, which must outlive it; for tests. */
Input *input_from_memory(const void *data, size_t n, GError **error);

void input_close(Input *in);

/* For messages: the path, or "standard input". */
const char *input_path(const Input *in);

/* What it gives is gone once it is read. */
bool input_is_pipe(const char *path);

/* false: it is a pipe; *error says that `what` reads it twice. */
bool input_again(const char *path, const char *what, GError **error);

/* The next line, NUL-terminated, without its end (LF or CR LF); valid until
 * the next call. */
InputRead input_line(Input *in, char **line, GError **error);

/* Exactly n bytes; data NULL: pass over them.  INPUT_END: there were none. */
InputRead input_bytes(Input *in, void *data, size_t n, GError **error);

/* The first bytes, NUL-terminated, before anything is read: as many as fit the
 * buffer.  NULL: *error is set. */
const char *input_head(Input *in, size_t *n, GError **error);

#endif
