/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-ftrace.c - the kernel's trace buffer as text: `trace`, `trace_pipe`,
 * trace-cmd report, perf script.
 *
 * A line is "task [cpu] flags seconds: event: fields", where tools put the
 * flags or not.  Requests are events block_rq_issue if the file begins with
 * any, else nvme_setup_cmd; where both are recorded, both name each request.
 * Fields are those of TP_printk in the kernel's <trace/events/block.h> and
 * drivers/nvme/host/trace.h.  LBAs of NVMe count as 512 bytes.
 */
#include <string.h>

#include "blk-kind.h"
#include "fields.h"
#include "simtime.h"

typedef enum Event {
    EVENT_NONE, /* not decided */
    EVENT_BLOCK,
    EVENT_NVME,
} Event;

typedef struct FtraceState {
    Event event; /* which one is a request */
    BlkRequeued requeued;
} FtraceState;

#define BLOCK_ISSUE   "block_rq_issue"
#define BLOCK_REQUEUE "block_rq_requeue"
#define NVME_SETUP    "nvme_setup_cmd"

/* A word of the line. */
typedef struct Word {
    const char *text;
    size_t n;
} Word;

static bool word_is(const Word *w, const char *what)
{
    return strlen(what) == w->n && memcmp(w->text, what, w->n) == 0;
}

static bool begins(const char *s, const char *what)
{
    return strncmp(s, what, strlen(what)) == 0;
}

/* ---- the head of a line -------------------------------------------------- */

/* "[system:]event:", with the ':' in *s passed. */
static bool take_event(const char **s, Word *event)
{
    const char *p = field_skip_space(*s);

    event->text = p;
    while (g_ascii_isalnum(*p) || *p == '_') {
        p++;
        if (p[0] == ':' && (g_ascii_isalnum(p[1]) || p[1] == '_')) {
            event->text = ++p; /* perf names the system */
        }
    }
    event->n = (size_t)(p - event->text);
    if (event->n == 0 || *p != ':') {
        return false;
    }
    *s = p + 1;
    return true;
}

/*
 * "seconds: event:" wherever it begins, since a task's name can hold spaces
 * and colons.  *s ends behind the event.
 */
static bool take_head(const char **s, uint64_t *at_ns, Word *event)
{
    for (const char *p = strchr(*s, '.'); p; p = strchr(p + 1, '.')) {
        const char *from = p;

        while (from > *s && field_digit(from - 1) <= 9) {
            from--;
        }
        if (from < p && (from == *s || from[-1] == ' ' || from[-1] == '\t') &&
            field_time(&from, NS_PER_S, at_ns) && field_char(&from, ':') &&
            take_event(&from, event)) {
            *s = from;
            return true;
        }
    }
    return false;
}

/* Lines that are not of events, by how they begin. */
static bool is_note(const char *line)
{
    static const char *const notes[] = {
        "CPU", "cpus=", "version = ", "=>", "Attaching", "trace",
    };
    const char *s = field_skip_space(line);

    for (size_t i = 0; i < G_N_ELEMENTS(notes); i++) {
        if (begins(s, notes[i])) {
            return true;
        }
    }
    return false;
}

/* ---- block_rq_issue ------------------------------------------------------ */

/* "8,16 WS 4096 () 2048 + 8 [task]"; a requeued one has no bytes. */
static const char *take_block(const char **s, TraceRecord *out, BlkRequest *is,
                              uint64_t *sector, uint64_t *nsectors)
{
    uint64_t ignored;

    if (!blk_device(s, &out->device) || !field_space(s)) {
        return "block_rq_issue without a device, major,minor";
    }
    *is = blk_kind(s);
    field_space(s);
    if (field_u64(s, &ignored)) {
        field_space(s);
    }
    if (!field_char(s, '(')) {
        return "block_rq_issue is not: device RWBS bytes (command) sector + "
               "sectors";
    }
    if (**s != ')' && is->kind != BLK_LEFT_UNKNOWN) {
        is->kind = BLK_LEFT_COMMANDS; /* its bytes */
    }
    *s += strcspn(*s, ")");
    if (!field_char(s, ')') || !field_space(s) || !field_u64(s, sector) ||
        !field_space(s) || !field_char(s, '+') || !field_space(s) ||
        !field_u64(s, nsectors)) {
        return "block_rq_issue without: sector + sectors";
    }
    *nsectors = MIN(*nsectors, UINT64_MAX / TRACE_SECTOR_BYTES);
    return NULL;
}

static const char *block_request(FtraceState *state, const char *s, bool again,
                                 TraceRecord *out)
{
    BlkRequest is;
    uint64_t sector, nsectors;
    const char *fault = take_block(&s, out, &is, &sector, &nsectors);

    if (again) {
        if (!fault) {
            blk_requeue(&state->requeued, out->device, sector, nsectors);
        }
        return blk_leave(out, TRACE_LEFT_STAGES);
    }
    if (fault) {
        return fault;
    }
    if (blk_sent_again(&state->requeued, out->device, sector, nsectors)) {
        return blk_leave(out, TRACE_LEFT_STAGES);
    }
    return blk_to_record(&is, sector, nsectors * TRACE_SECTOR_BYTES, out);
}

/* ---- nvme_setup_cmd ------------------------------------------------------ */

/* Commands that are requests, and those that others may miss. */
static const struct {
    const char *name;
    BlkKind kind;
} commands[] = {
    {"nvme_cmd_read", BLK_READS},
    {"nvme_cmd_write", BLK_WRITES},
    {"nvme_cmd_zone_append", BLK_WRITES},
    {"nvme_cmd_write_zeroes", BLK_TRIM},
    {"nvme_cmd_flush", BLK_FLUSHES},
    {"nvme_cmd_zone_mgmt_send", BLK_LEFT_ZONES},
    {"nvme_cmd_zone_mgmt_recv", BLK_LEFT_ZONES},
};

#define NVME_FUA 0x4000 /* of ctrl */

/* "name=" somewhere in the rest of the line. */
static bool find_value(const char *s, const char *name, const char **value)
{
    const char *at = strstr(s, name);

    *value = at ? at + strlen(name) : NULL;
    return at != NULL;
}

static const char *nvme_range(const char *s, BlkKind kind, TraceRecord *out)
{
    BlkRequest is = {.kind = kind};
    const char *value;
    uint64_t slba, len;

    if (!find_value(s, "slba=", &value) || !field_u64(&value, &slba)) {
        return "nvme_setup_cmd without slba=";
    }
    if (!find_value(s, "len=", &value) || !field_u64(&value, &len) ||
        len > UINT16_MAX) {
        return "nvme_setup_cmd without len= of 0..65535";
    }
    if (kind == BLK_WRITES && find_value(s, "ctrl=", &value)) {
        is.fua = g_ascii_strtoull(value, NULL, 0) & NVME_FUA;
    }
    return blk_to_record(&is, slba, (len + 1) * TRACE_SECTOR_BYTES, out);
}

/* "nvme0: disk=nvme0n1, qid=1, ... cmd=(nvme_cmd_read slba=0, len=7, ...)" */
static const char *nvme_request(const char *s, TraceRecord *out)
{
    const char *disk, *cmd;
    Word name;

    if (!find_value(s, "cmd=(", &cmd)) {
        return "nvme_setup_cmd without cmd=(";
    }
    if (!find_value(s, "disk=", &disk)) {
        return blk_leave(out, TRACE_LEFT_COMMANDS); /* of the controller */
    }
    out->name = disk;
    out->name_len = strcspn(disk, ", ");
    out->device = field_hash(disk, out->name_len);
    name = (Word){cmd, strcspn(cmd, " )")};
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (word_is(&name, commands[i].name)) {
            BlkRequest is = {.kind = commands[i].kind};

            return is.kind <= BLK_TRIM ? nvme_range(cmd, is.kind, out)
                                       : blk_to_record(&is, 0, 0, out);
        }
    }
    return blk_leave(out, TRACE_LEFT_COMMANDS); /* dsm shows no ranges */
}

/* ---- lines --------------------------------------------------------------- */

static const char *ftrace_parse(void *opaque, const char *line,
                                TraceRecord *out)
{
    FtraceState *state = opaque;
    const char *s = line;
    Word event;
    Event kind;

    if (!take_head(&s, &out->at_ns, &event)) {
        return is_note(line) ? trace_skip
                             : "not: task [cpu] seconds: event: fields";
    }
    kind = word_is(&event, BLOCK_ISSUE)  ? EVENT_BLOCK
           : word_is(&event, NVME_SETUP) ? EVENT_NVME
                                         : EVENT_NONE;
    if (!state->event) {
        state->event = kind;
    }
    if (kind && kind == state->event) {
        return kind == EVENT_BLOCK ? block_request(state, s, false, out)
                                   : nvme_request(s, out);
    }
    if (state->event != EVENT_NVME && word_is(&event, BLOCK_REQUEUE)) {
        return block_request(state, s, true, out);
    }
    return blk_leave(out,
                     begins(event.text, "block_") || begins(event.text, "nvme_")
                         ? TRACE_LEFT_STAGES
                         : TRACE_LEFT_NOTES);
}

static bool ftrace_detect(const char *head, size_t n)
{
    return begins(head, "# tracer:") || strstr(head, BLOCK_ISSUE ": ") ||
           strstr(head, NVME_SETUP ": ");
}

static void ftrace_begin(void *opaque, const TraceOptions *o, const char *head,
                         size_t n)
{
    FtraceState *state = opaque;

    state->event = strstr(head, BLOCK_ISSUE ": ")  ? EVENT_BLOCK
                   : strstr(head, NVME_SETUP ": ") ? EVENT_NVME
                                                   : EVENT_NONE;
}

const TraceFormat trace_ftrace = {
    .name = "ftrace",
    .kernel_devices = true,
    .help = "ftrace, trace-cmd report: task seconds: block_rq_issue: ... (or "
            "nvme_setup_cmd)",
    .state_bytes = sizeof(FtraceState),
    .parse = ftrace_parse,
    .detect = ftrace_detect,
    .begin = ftrace_begin,
    .units = {NS_PER_S, TRACE_SECTOR_BYTES, TRACE_SECTOR_BYTES},
};
