/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oplog-check.c - vssd-oplog-check: could a real drive produce this operation
 * log?
 *
 * Reads the format of docs/oplog-format.md and follows it with tables of its
 * own: the contents of each page, the place of each logical unit, the holder of
 * each channel, unit and plane.  It includes nothing of the model, on purpose:
 * a mistake in the model must not be made twice.
 *
 * Exit status: 0, every rule holds; 1, one is broken (its name and the history
 * of the block or the command are printed); 2, the file cannot be read, or has
 * nothing to judge.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

Check k;

/* ---- the file ------------------------------------------------------------ */

static void on_end(const Record *r)
{
    if (r->x != k.no - 1) {
        broken(NONE, 0, "format", "%" PRIu64 " records, the log says %" PRIu64,
               k.no - 1, r->x);
    }
    if (r->c != k.n_cmds) {
        broken(NONE, 0, "request",
               "%" PRIu64 " commands have not completed, "
               "the drive says %" PRIu64,
               k.n_cmds, r->c);
    }
    k.ended = true;
}

static void handle(const Record *r)
{
    if (r->at < k.now) {
        broken(NONE, 0, "time", "time goes back from %" PRIu64 " ps", k.now);
    }
    if (k.ended) {
        broken(NONE, 0, "format", "the log has ended already");
    }
    k.now = r->at;
    switch (r->type) {
    case SUBMIT:
        on_submit(r);
        break;
    case SPAN:
        on_span(r);
        break;
    case DONE:
        on_done(r);
        break;
    case CMD:
        on_cmd(r);
        break;
    case CMD_DONE:
        on_cmd_done(r);
        break;
    case BUFFER:
        on_buffer(r);
        break;
    case PLACE:
        on_place(r);
        break;
    case LOOKUP:
        on_lookup(r);
        break;
    case TRIM:
        on_trim(r);
        break;
    case PRELOAD:
        on_preload(r);
        break;
    case PRELOAD_PAGE:
        on_preload_page(r);
        break;
    case POWER_CUT:
        on_power_cut();
        break;
    case TAKE_BACK:
        on_take_back(r);
        break;
    case RESTORE:
        on_restore(r);
        break;
    case LOST_PAGE:
        on_lost_page(r);
        break;
    case END:
        on_end(r);
        break;
    default:
        broken(NONE, 0, "format", "there is no record of type %u", r->type);
    }
}

static uint64_t get(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    while (bytes-- > 0) {
        v = v << 8 | p[bytes];
    }
    return v;
}

/* Not more of anything than the tables have indices for. */
static bool is_too_large(uint64_t planes)
{
    const Header *h = &k.h;
    uint64_t per_page = h->page_bytes / h->unit_bytes;
    uint64_t pages;

    if (planes > 65536 || h->blocks > 1U << 24 || h->pages > 1U << 20 ||
        planes * h->blocks > UINT32_MAX) {
        return true;
    }
    pages = planes * h->blocks * h->pages;
    return pages > MOST_UNITS / per_page || h->user_units > MOST_UNITS ||
           h->meta_units > MOST_UNITS;
}

static bool header_is_bad(void)
{
    const Header *h = &k.h;
    uint64_t planes = (uint64_t)h->channels * h->chips * h->dies * h->planes;

    return planes == 0 || h->blocks == 0 || h->pages == 0 ||
           h->block_bytes == 0 || h->unit_bytes < h->block_bytes ||
           h->page_bytes < h->unit_bytes || is_too_large(planes) ||
           h->pages_per_program == 0 || h->lock > LOCK_CHIP || h->width < 8 ||
           h->slc_blocks > h->blocks || h->slc_pages > h->pages ||
           h->paired > 4 || (h->flags >> 24 && planes % (h->flags >> 24));
}

static void read_head(uint8_t *head)
{
    if (fread(head, HEADER_BYTES, 1, k.file) != 1) {
        unreadable("not an operation log");
    }
    if (memcmp(head, "VSSD", 4) == 0) {
        unreadable("a log of a version of vssd before 1.0: make it again");
    }
    if (memcmp(head, "vssdLOG1", 8) != 0 || get(head + 8, 4) != HEADER_BYTES ||
        get(head + 12, 4) != RECORD_BYTES) {
        unreadable("not an operation log of version 1");
    }
}

static void read_header(void)
{
    uint8_t head[HEADER_BYTES];
    uint32_t *word = &k.h.channels;
    uint64_t *wide = &k.h.ps_per_byte;

    read_head(head);
    for (unsigned i = 0; i < 14; i++) {
        word[i] = (uint32_t)get(head + 16 + 4 * i, 4);
    }
    for (unsigned i = 0; i < 6; i++) {
        wide[i] = get(head + 72 + 8 * i, 8);
    }
    k.h.slc_blocks = (uint32_t)get(head + 120, 4);
    k.h.slc_pages = (uint32_t)get(head + 124, 4);
    k.h.paired = (uint32_t)get(head + 128, 4);
    if (header_is_bad()) {
        unreadable("the header describes no possible drive");
    }
}

static void set_up(void)
{
    const Header *h = &k.h;

    k.planes_per_channel = h->chips * h->dies * h->planes;
    k.planes = h->channels * k.planes_per_channel;
    k.planes_per_unit = h->lock == LOCK_CHIP   ? h->planes * h->dies
                        : h->lock == LOCK_DIE ? h->planes
                                               : 1;
    k.units = k.planes / k.planes_per_unit;
    k.units_per_page = h->page_bytes / h->unit_bytes;
    k.blocks_per_unit = h->unit_bytes / h->block_bytes;
    k.pages = (uint64_t)k.planes * h->blocks * h->pages;
    k.ppus = k.pages * k.units_per_page;
    k.block = take_table(k.pages / h->pages, sizeof(Block));
    k.page = take_table(k.pages, 1);
    k.content = take_table(k.ppus, sizeof(Content));
    k.unit = take(k.units, sizeof(Unit));
    k.plane = take(k.planes, sizeof(Held));
    k.reads = take(k.planes, sizeof(Unit));
    k.channel_end = take(h->channels, sizeof(uint64_t));
    k.lpn = take_table(h->user_units + h->meta_units, sizeof(Lpn));
    k.chunk = take_table((h->user_units + h->meta_units) / CHUNK_UNITS + 1,
                         sizeof(Chunk));
    k.ring = take(HISTORY, sizeof(Record));
    for (uint32_t i = 0; i < k.units; i++) {
        k.unit[i].cell.group = k.unit[i].holder = NONE;
    }
    for (uint32_t i = 0; i < k.planes; i++) {
        k.plane[i].group = NONE;
    }
}

static Record record_of(const uint8_t *p)
{
    return (Record){
        .type = p[0],
        .a = p[1],
        .b = (uint16_t)get(p + 2, 2),
        .bytes = (uint32_t)get(p + 4, 4),
        .at = get(p + 8, 8),
        .x = get(p + 16, 8),
        .y = get(p + 24, 8),
        .c = get(p + 32, 8),
    };
}

static void read_records(void)
{
    uint8_t p[RECORD_BYTES];
    size_t n;

    while ((n = fread(p, 1, RECORD_BYTES, k.file)) == RECORD_BYTES) {
        k.r = record_of(p);
        k.no++;
        k.ring[k.no % HISTORY] = k.r;
        handle(&k.r);
    }
    if (ferror(k.file)) {
        unreadable("the log cannot be read");
    }
    if (n != 0 || !k.ended) {
        broken(NONE, 0, "format", "the log is cut short");
    }
}

/* A log without a command, an operation and a power cut proves nothing. */
static bool has_nothing(void)
{
    uint64_t n = k.n_done_cmds + k.n_cmds + k.cuts;

    for (unsigned i = 0; i < N_KINDS; i++) {
        n += k.n_ops[i];
    }
    return n == 0;
}

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: vssd-oplog-check LOG  (vssd-sim run --oplog "
                        "LOG writes one)\n");
        return 2;
    }
    k.file = fopen(argv[1], "rb");
    if (!k.file) {
        perror(argv[1]);
        return 2;
    }
    read_header();
    set_up();
    read_records();
    if (has_nothing()) {
        unreadable("the log has no command and no operation, so no rule was "
                   "checked; give the log of a run with requests");
    }
    printf("%" PRIu64 " records, %" PRIu64 " commands; %" PRIu64 " reads, %"
           PRIu64 " programs, %" PRIu64 " erases, %" PRIu64 " copybacks, %"
           PRIu64 " power cuts; every rule holds\n",
           k.no, k.n_done_cmds, k.n_ops[READ], k.n_ops[PROGRAM], k.n_ops[ERASE],
           k.n_ops[COPYBACK], k.cuts);
    printf("units: %" PRIu64 " written = %" PRIu64 " programmed + %" PRIu64
           " rewritten in the buffer + %" PRIu64 " trimmed there + those still "
           "in it; %" PRIu64 " copied, %" PRIu64 " padding, %" PRIu64
           " of the drive's own\n",
           k.entered, k.placed, k.rewritten, k.trimmed, k.copied, k.padded,
           k.meta);
    return 0;
}
