/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * input.c - read and unpack a file.
 *
 * Unpacking is the libraries' (zlib, liblzma, libzstd); one row per packing.
 */
#include "input.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <lzma.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include "request.h"

#define BUFFER_BYTES (256 * 1024)
#define RAW_BYTES    (64 * 1024)

/* A file that needs more memory than this to unpack is refused. */
#define UNPACK_LIMIT_BYTES (1ULL << 30)

/* Input and output of an unpacker. */
typedef struct Flow {
    const uint8_t *in;
    size_t n_in;
    uint8_t *out;
    size_t n_out;
    bool eof;      /* nothing will come after in */
    bool complete; /* the file may end here */
} Flow;

typedef struct Packing {
    const char *name;
    const char *magic;
    size_t n_magic;
    void *(*open)(void); /* NULL: no memory */
    bool (*run)(void *state, Flow *f); /* false: damaged */
    void (*close)(void *state);
} Packing;

struct Input {
    char *path;
    FILE *f;
    const Packing *packing; /* NULL: none */
    void *state;
    Flow flow;
    uint8_t *raw; /* packed bytes */

    char *buffer; /* BUFFER_BYTES, 1 for a NUL, and INPUT_SLACK */
    size_t begin, end;
    size_t text_end; /* from begin to here there is no NUL, and here is one, or
                        the end */
    bool ended; /* nothing comes after end */
};

/* ---- gzip ---------------------------------------------------------------- */

static void *gzip_open(void)
{
    z_stream *z = g_new0(z_stream, 1);

    if (inflateInit2(z, 15 + 16) != Z_OK) {
        g_free(z);
        return NULL;
    }
    return z;
}

static bool gzip_run(void *state, Flow *f)
{
    z_stream *z = state;
    int r;

    if (f->n_in == 0) {
        return true;
    }
    if (f->complete) { /* zeroes of a tape, or one more member */
        for (; f->n_in && *f->in == 0; f->n_in--) {
            f->in++;
        }
        if (f->n_in == 0 || inflateReset(z) != Z_OK) {
            return f->n_in == 0;
        }
    }
    z->next_in = (Bytef *)f->in;
    z->avail_in = (uInt)f->n_in;
    z->next_out = f->out;
    z->avail_out = (uInt)f->n_out;
    r = inflate(z, Z_NO_FLUSH);
    f->in = z->next_in;
    f->n_in = z->avail_in;
    f->out = z->next_out;
    f->n_out = z->avail_out;
    f->complete = r == Z_STREAM_END;
    return r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR;
}

static void gzip_close(void *state)
{
    inflateEnd(state);
    g_free(state);
}

/* ---- xz ------------------------------------------------------------------ */

static void *xz_open(void)
{
    static const lzma_stream init = LZMA_STREAM_INIT;
    lzma_stream *z = g_new(lzma_stream, 1);

    *z = init;
    if (lzma_stream_decoder(z, UNPACK_LIMIT_BYTES, LZMA_CONCATENATED) !=
        LZMA_OK) {
        g_free(z);
        return NULL;
    }
    return z;
}

static bool xz_run(void *state, Flow *f)
{
    lzma_stream *z = state;
    lzma_ret r;

    if (f->complete) {
        return true;
    }
    z->next_in = f->in;
    z->avail_in = f->n_in;
    z->next_out = f->out;
    z->avail_out = f->n_out;
    r = lzma_code(z, f->eof ? LZMA_FINISH : LZMA_RUN);
    f->in = z->next_in;
    f->n_in = z->avail_in;
    f->out = z->next_out;
    f->n_out = z->avail_out;
    f->complete = r == LZMA_STREAM_END;
    return r == LZMA_OK || r == LZMA_STREAM_END || r == LZMA_BUF_ERROR;
}

static void xz_close(void *state)
{
    lzma_end(state);
    g_free(state);
}

/* ---- zstd ---------------------------------------------------------------- */

static void *zstd_open(void)
{
    ZSTD_DStream *z = ZSTD_createDStream();

    if (z) {
        ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, 30);
    }
    return z;
}

static bool zstd_run(void *state, Flow *f)
{
    ZSTD_inBuffer in = {f->in, f->n_in, 0};
    ZSTD_outBuffer out = {f->out, f->n_out, 0};
    size_t r;

    if (f->n_in == 0 && f->complete) {
        return true;
    }
    r = ZSTD_decompressStream(state, &out, &in);
    f->in += in.pos;
    f->n_in -= in.pos;
    f->out += out.pos;
    f->n_out -= out.pos;
    f->complete = r == 0;
    return !ZSTD_isError(r);
}

static void zstd_close(void *state)
{
    ZSTD_freeDStream(state);
}

#define ZSTD_SKIPPED "\x50\x2a\x4d\x18" /* the low four bits: any */

static const Packing packings[] = {
    {"gzip", "\x1f\x8b", 2, gzip_open, gzip_run, gzip_close},
    {"xz",
     "\xfd"
     "7zXZ\0",
     6, xz_open, xz_run, xz_close},
    {"zstd", "\x28\xb5\x2f\xfd", 4, zstd_open, zstd_run, zstd_close},
    /* A frame to be skipped comes first (pzstd). */
    {"zstd", ZSTD_SKIPPED, 4, zstd_open, zstd_run, zstd_close},
};

/* Packings and archives that a program must unpack. */
static const struct {
    const char *name;
    size_t at;
    const char *magic;
    size_t n_magic;
    const char *how; /* the command, before the file's name */
} others[] = {
#define MAGIC(text) text, sizeof(text) - 1
    {"packed by bzip2", 0, MAGIC("BZh"), "bzcat"},
    {"packed by lz4", 0, MAGIC("\x04\x22\x4d\x18"), "lz4 -dc"},
    {"packed by lz4", 0, MAGIC("\x02\x21\x4c\x18"), "lz4 -dc"},
    {"packed by lzop", 0, MAGIC("\x89LZO"), "lzop -dc"},
    {"packed by compress", 0, MAGIC("\x1f\x9d"), "gzip -dc"},
    {"packed by lzip", 0, MAGIC("LZIP"), "lzip -dc"},
    {"packed by snappy", 0, MAGIC("\xff\x06\0\0sNaPpY"), "snzip -dc"},
    {"a zip archive", 0, MAGIC("PK\3\4"), "unzip -p"},
    {"a 7z archive", 0, MAGIC("7z\xbc\xaf\x27\x1c"), "7z x -so"},
    {"a rar archive", 0, MAGIC("Rar!"), "unrar p -inul"},
    {"a tar archive", 257, MAGIC("ustar"), "tar -xOf"},
#undef MAGIC
};

#define OTHERS_BYTES 512 /* of the head, that tell them */

/* ---- the file ------------------------------------------------------------ */

static bool broken(const Input *in, const char *what, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE, "%s: %s", in->path, what);
    return false;
}

static bool read_raw(Input *in, GError **error)
{
    Flow *f = &in->flow;

    f->in = in->raw;
    f->n_in = fread(in->raw, 1, RAW_BYTES, in->f);
    f->eof = feof(in->f);
    return !ferror(in->f) || broken(in, g_strerror(errno), error);
}

static bool find_packing(Input *in, GError **error)
{
    if (!read_raw(in, error)) {
        return false;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(packings); i++) {
        const Packing *p = &packings[i];
        bool loose = strcmp(p->magic, ZSTD_SKIPPED) == 0;

        if (in->flow.n_in >= p->n_magic &&
            (in->raw[0] & (loose ? 0xf0 : 0xff)) == (uint8_t)p->magic[0] &&
            memcmp(in->raw + 1, p->magic + 1, p->n_magic - 1) == 0) {
            in->packing = p;
            in->state = p->open();
            return in->state || broken(in, "no memory to unpack it", error);
        }
    }
    return true;
}

/* The first bytes, in which no packing was found, and then the file itself. */
static bool take_plain(Input *in, GError **error)
{
    Flow *f = &in->flow;
    size_t n = MIN(f->n_in, f->n_out);

    if (n > 0) {
        memcpy(f->out, f->in, n);
        f->in += n;
        f->n_in -= n;
    } else if (!f->eof) {
        n = fread(f->out, 1, f->n_out, in->f);
        f->eof = feof(in->f);
    }
    f->out += n;
    f->n_out -= n;
    f->complete = true;
    return !ferror(in->f) || broken(in, g_strerror(errno), error);
}

/* Put something at out, or know that nothing is left. */
static bool unpack(Input *in, GError **error)
{
    Flow *f = &in->flow;
    size_t room = f->n_out;

    while (f->n_out == room) {
        if (!in->packing) {
            if (!take_plain(in, error)) {
                return false;
            }
        } else if (f->n_in == 0 && !f->eof && !read_raw(in, error)) {
            return false;
        } else if (!in->packing->run(in->state, f)) {
            g_autofree char *what = g_strdup_printf("the %s data is damaged",
                                                    in->packing->name);

            return broken(in, what, error);
        }
        if (f->n_out == room && f->n_in == 0 && f->eof) {
            break;
        }
        if (f->n_out == room && f->complete && in->packing &&
            f->n_in > 0 && f->eof && in->packing->open == xz_open) {
            break; /* padding after the last stream */
        }
    }
    if (f->n_out == room && !f->complete) {
        g_autofree char *what =
            g_strdup_printf("the %s data is cut off", in->packing->name);

        return broken(in, what, error);
    }
    in->ended = f->n_out == room;
    return true;
}

static void find_text_end(Input *in)
{
    const char *nul = memchr(in->buffer + in->begin, '\0', in->end - in->begin);

    in->text_end = nul ? (size_t)(nul - in->buffer) : in->end;
}

/* Bring the rest to the front of the buffer, and more behind it. */
static bool fill(Input *in, GError **error)
{
    Flow *f = &in->flow;

    memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    f->out = (uint8_t *)in->buffer + in->end;
    f->n_out = BUFFER_BYTES - in->end;
    if (f->n_out > 0) {
        if (!unpack(in, error)) {
            return false;
        }
        in->end = (size_t)((char *)f->out - in->buffer);
    }
    find_text_end(in);
    return true;
}

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static Input *input_new(FILE *f, const char *path)
{
    Input *in = g_new0(Input, 1);

    in->f = f;
    in->path = g_strdup(name_of(path));
    in->raw = g_malloc(RAW_BYTES);
    in->buffer = g_malloc0(BUFFER_BYTES + 1 + INPUT_SLACK);
    setvbuf(f, NULL, _IONBF, 0);
    return in;
}

/* false: what is in the file, or in what was packed, is packed once more. */
static bool no_other(Input *in, GError **error)
{
    g_autofree char *quoted = g_shell_quote(in->path);
    bool named = strcmp(in->path, name_of("-")) != 0;

    while (in->end < OTHERS_BYTES && !in->ended) {
        if (!fill(in, error)) {
            return false;
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        size_t n = others[i].n_magic;

        if (in->end >= others[i].at + n &&
            memcmp(in->buffer + others[i].at, others[i].magic, n) == 0) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                        "%s: %s; unpack it on the way: %s %s | ./vssd sim "
                        "replay -",
                        in->path, others[i].name, others[i].how,
                        named ? quoted : "FILE");
            return false;
        }
    }
    return true;
}

static Input *input_begin(Input *in, GError **error)
{
    if (!find_packing(in, error) || !no_other(in, error)) {
        g_clear_pointer(&in, input_close);
    }
    return in;
}

Input *input_open(const char *path, GError **error)
{
    FILE *f = strcmp(path, "-") == 0 ? fdopen(dup(STDIN_FILENO), "r")
                                     : fopen(path, "r");

    if (!f) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE, "%s: %s", name_of(path),
                    g_strerror(errno));
        return NULL;
    }
    return input_begin(input_new(f, path), error);
}

Input *input_from_memory(const void *data, size_t n, GError **error)
{
    FILE *f = n ? fmemopen((void *)data, n, "r") : fopen("/dev/null", "r");

    g_assert(f);
    return input_begin(input_new(f, "memory"), error);
}

bool input_is_pipe(const char *path)
{
    struct stat st;

    return strcmp(path, "-") == 0 ||
           (stat(path, &st) == 0 &&
            (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode) ||
             S_ISSOCK(st.st_mode)));
}

bool input_again(const char *path, const char *what, GError **error)
{
    if (input_is_pipe(path)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "%s: %s needs two readings, and a pipe has one; write it "
                    "to a file",
                    name_of(path), what);
        return false;
    }
    return true;
}

const char *input_path(const Input *in)
{
    return in->path;
}

void input_close(Input *in)
{
    if (in) {
        if (in->state) {
            in->packing->close(in->state);
        }
        fclose(in->f);
        g_free(in->buffer);
        g_free(in->raw);
        g_free(in->path);
        g_free(in);
    }
}

/* ---- reading ------------------------------------------------------------- */

/* Where the line ends that begins at begin, or NULL: not in the buffer. */
static char *line_end(const Input *in)
{
    return memchr(in->buffer + in->begin, '\n', in->end - in->begin);
}

/* Drop a line that does not fit the buffer. */
static InputRead drop_line(Input *in, GError **error)
{
    char *end;

    while (!(end = line_end(in)) && !in->ended) {
        in->begin = in->end;
        if (!fill(in, error)) {
            return INPUT_ERROR;
        }
    }
    in->begin = end ? (size_t)(end + 1 - in->buffer) : in->end;
    return INPUT_BAD;
}

InputRead input_line(Input *in, char **line, GError **error)
{
    char *end = line_end(in);
    size_t len;

    while (!end && !in->ended) {
        if (in->end - in->begin > INPUT_LINE_BYTES) {
            return drop_line(in, error);
        }
        if (!fill(in, error)) {
            return INPUT_ERROR;
        }
        end = line_end(in);
    }
    if (!end && in->begin == in->end) {
        return INPUT_END;
    }
    *line = in->buffer + in->begin;
    len = end ? (size_t)(end - *line) : in->end - in->begin;
    in->begin += len + (end != NULL);
    if (G_UNLIKELY(in->begin > in->text_end)) {
        bool has_nul = memchr(*line, '\0', len) != NULL;

        find_text_end(in);
        if (has_nul) {
            return INPUT_BAD;
        }
    }
    if (len >= INPUT_LINE_BYTES) {
        return INPUT_BAD;
    }
    if (len > 0 && (*line)[len - 1] == '\r') {
        len--;
    }
    (*line)[len] = '\0';
    return INPUT_OK;
}

InputRead input_bytes(Input *in, void *data, size_t n, GError **error)
{
    char *to = data;
    bool some = in->end > in->begin;

    if (G_LIKELY(to && n <= in->end - in->begin)) {
        memcpy(to, in->buffer + in->begin, n);
        in->begin += n;
        return INPUT_OK;
    }
    while (n > 0) {
        size_t part = MIN(n, in->end - in->begin);

        if (part == 0 && in->ended) {
            return some ? INPUT_BAD : INPUT_END;
        }
        if (part == 0 && !fill(in, error)) {
            return INPUT_ERROR;
        }
        if (to) {
            memcpy(to, in->buffer + in->begin, part);
            to += part;
        }
        some |= part > 0;
        in->begin += part;
        n -= part;
    }
    return INPUT_OK;
}

const char *input_head(Input *in, size_t *n, GError **error)
{
    while (in->end - in->begin < BUFFER_BYTES && !in->ended) {
        if (!fill(in, error)) {
            return NULL;
        }
    }
    *n = in->end - in->begin;
    in->buffer[in->end] = '\0';
    return in->buffer + in->begin;
}
