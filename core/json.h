/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - write JSON into a GString: commas, nesting and escaping, no more.
 *
 * Reading is left to Python and to QEMU.  json-glib would build a tree of
 * objects for every statistic; this writes each member at once.
 */
#ifndef VSSD_CORE_JSON_H
#define VSSD_CORE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

typedef struct JsonWriter {
    GString *out; /* the caller's */
    bool comma;   /* the next element needs one */
} JsonWriter;

/* key is NULL inside an array and for the outermost value. */
void json_open(JsonWriter *w, const char *key, char bracket); /* '{' or '[' */
void json_close(JsonWriter *w, char bracket);                 /* '}' or ']' */
void json_u64(JsonWriter *w, const char *key, uint64_t v);
void json_u128(JsonWriter *w, const char *key, unsigned __int128 v);
void json_double(JsonWriter *w, const char *key, double v); /* not finite: null */
void json_bool(JsonWriter *w, const char *key, bool v);
void json_string(JsonWriter *w, const char *key, const char *v);
/* Members as another writer wrote them, without their brackets; "": none. */
void json_members(JsonWriter *w, const char *text);

#endif
