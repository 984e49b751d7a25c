/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * convert.c - records of the project's own traces as lines of other tools.
 *
 * Holds the commands in flight, and for MSR's lines, which carry the response
 * time and stand in the order of arrival, those behind the oldest of them.
 */
#include "convert.h"

#include <inttypes.h>
#include <string.h>

#include "request.h"
#include "simtime.h"

#define SECTOR_BYTES 512

/* No line of blkparse is read back with more (trace-blk.c).  Pieces end at
 * multiples of it, and not within a block of the drive that reads them. */
#define PIECE_BYTES (2ULL << 30)

/* MSR's clock counts from 1601; the trace begins in 1970. */
#define MSR_EPOCH 116444736000000000ULL
#define MSR_TICK_NS 100

typedef struct Line {
    RecordedItem cmd;
    uint64_t latency_ns;
    bool ended;
} Line;

typedef struct Convert {
    FILE *out;
    uint32_t block_bytes;
    uint64_t n_left_out;
    uint64_t n_lines;
    GHashTable *in_flight; /* serial: Line */
    GQueue lines;       /* MSR: in order of arrival; Line, owned */
} Convert;

static const struct {
    const char *name;
    const char *help;
} formats[] = {
#define CONVERT_ROW(upper, name, help) {name, help},
    CONVERT_FORMATS(CONVERT_ROW)
#undef CONVERT_ROW
};

const char *convert_name(unsigned i)
{
    return i < CONVERT_N_FORMATS ? formats[i].name : NULL;
}

const char *convert_help(unsigned i)
{
    return formats[i].help;
}

bool convert_find(const char *name, ConvertFormat *format, GError **error)
{
    g_autoptr(GString) all = g_string_new(NULL);

    for (unsigned i = 0; convert_name(i); i++) {
        if (strcmp(convert_name(i), name) == 0) {
            *format = i;
            return true;
        }
        g_string_append_printf(all, "%s%s", i ? ", " : "", convert_name(i));
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                "--to=%s: allowed %s, binary", name, all->str);
    return false;
}

/* ---- blkparse ------------------------------------------------------------ */

static const char *kind_of(const RecordedItem *cmd)
{
    switch (cmd->op) {
    case SSD_OP_READ:
        return "R";
    case SSD_OP_WRITE:
        return cmd->fua ? "WF" : "W";
    case SSD_OP_TRIM:
        return "D";
    default:
        return "F";
    }
}

/* Of the end, blkparse shows the error; the trace's status is as good. */
static void blkparse_line(Convert *c, char action, uint64_t at_ns,
                          const RecordedItem *cmd, unsigned status)
{
    uint64_t offset = cmd->lba * c->block_bytes;
    uint64_t left = cmd->nblocks * c->block_bytes;

    do {
        uint64_t n = MIN(left, PIECE_BYTES - offset % PIECE_BYTES);

        fprintf(c->out,
                "259,0    0 %8" PRIu64 " %5" PRIu64 ".%09" PRIu64
                "     0  %c %3s %" PRIu64 " + %" PRIu64,
                ++c->n_lines, (uint64_t)(at_ns / NS_PER_S),
                (uint64_t)(at_ns % NS_PER_S), action,
                kind_of(cmd), offset / SECTOR_BYTES, n / SECTOR_BYTES);
        if (action == 'D') {
            fputs(" [vssd]\n", c->out);
        } else {
            fprintf(c->out, " [%u]\n", status);
        }
        offset += n;
        left -= n;
    } while (left > 0);
}

/* ---- msr ----------------------------------------------------------------- */

static void msr_line(Convert *c, const Line *l)
{
    uint64_t nbytes = l->cmd.nblocks * c->block_bytes;

    if ((l->cmd.op != SSD_OP_READ && l->cmd.op != SSD_OP_WRITE) ||
        nbytes > UINT32_MAX) {
        c->n_left_out++;
        return;
    }
    fprintf(c->out, "%" PRIu64 ",vssd,0,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64
                    "\n",
            (uint64_t)(MSR_EPOCH + l->cmd.at_ns / MSR_TICK_NS),
            l->cmd.op == SSD_OP_READ ? "Read" : "Write",
            l->cmd.lba * c->block_bytes, nbytes, l->latency_ns / MSR_TICK_NS);
}

/* Write those that no older one holds up; at the end, all. */
static void msr_drain(Convert *c, bool all)
{
    Line *l;

    while ((l = g_queue_peek_head(&c->lines)) && (l->ended || all)) {
        g_queue_pop_head(&c->lines);
        msr_line(c, l);
        g_free(l);
    }
}

/* ---- both ---------------------------------------------------------------- */

static void add(Convert *c, ConvertFormat format, const RecordedItem *cmd)
{
    Line *l = g_new0(Line, 1);

    l->cmd = *cmd;
    g_hash_table_insert(c->in_flight, &l->cmd.serial, l);
    if (format == CONVERT_MSR) {
        g_queue_push_tail(&c->lines, l);
    } else {
        blkparse_line(c, 'D', cmd->at_ns, cmd, 0);
    }
}

static void end(Convert *c, ConvertFormat format, const RecordedItem *done)
{
    Line *l = g_hash_table_lookup(c->in_flight, &done->serial);

    if (!l) {
        return; /* it ends twice, which --check would report */
    }
    g_hash_table_remove(c->in_flight, &done->serial);
    l->latency_ns = done->latency_ns;
    l->ended = true;
    if (format == CONVERT_MSR) {
        msr_drain(c, false);
    } else {
        blkparse_line(c, 'C', l->cmd.at_ns + l->latency_ns, &l->cmd,
                      done->status);
        g_free(l);
    }
}

static void free_in_flight(void *key, void *value, void *opaque)
{
    g_free(value);
}

bool convert(Recorded *from, ConvertFormat format, FILE *out,
             uint64_t *n_left_out, GError **error)
{
    g_autoptr(GError) local = NULL;
    Convert c = {
        .out = out,
        .block_bytes = recorded_state(from)->block_bytes,
    };
    RecordedItem item;

    g_queue_init(&c.lines);
    c.in_flight = g_hash_table_new(g_int64_hash, g_int64_equal);
    while (recorded_read(from, &item, &local)) {
        if (item.type == RECORDING_CMD) {
            add(&c, format, &item);
        } else if (item.type == RECORDING_DONE) {
            end(&c, format, &item);
        }
    }
    if (format == CONVERT_MSR) {
        msr_drain(&c, true);
    } else {
        g_hash_table_foreach(c.in_flight, free_in_flight, NULL);
    }
    g_hash_table_destroy(c.in_flight);
    *n_left_out = c.n_left_out;
    if (local) {
        g_propagate_error(error, g_steal_pointer(&local));
        return false;
    }
    return true;
}
