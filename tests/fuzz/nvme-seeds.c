/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-seeds.c - inputs for fuzz-nvme to begin with: make-nvme-seeds DIR [N]
 *
 * Histories of each drive with a correct guest and with a hostile one: bursts
 * of writes that make it clean, reads, trims, flushes, every admin command of
 * every kind, a store that is slow or fails, resets, power cuts, saving.  All
 * from one seed, so the same inputs every time; the corpus is what libFuzzer's
 * -merge leaves of them and of what it finds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glib.h>

#include "nvme-defs.h"
#include "nvme-input.h"
#include "prng.h"

typedef struct Life {
    GByteArray *bytes;
    Prng rng;
    bool honest;
} Life;

static uint32_t below(Life *l, uint32_t n)
{
    return (uint32_t)prng_below(&l->rng, n);
}

static void add(Life *l, FuzzOp op, unsigned k, unsigned a, uint32_t b)
{
    uint8_t x[FUZZ_ACTION_BYTES] = { (uint8_t)op, (uint8_t)k, (uint8_t)a,
                                     (uint8_t)(a >> 8) };

    put_le32(x + 4, b);
    g_byte_array_append(l->bytes, x, sizeof(x));
}

/* ---- phases of a life ---------------------------------------------------- */

static unsigned io_kind(Life *l, unsigned kind)
{
    return kind | below(l, 4) << 4 | (below(l, 6) == 0) << 6 |
           below(l, 2) << 7;
}

/* Small and large ones, mostly writes. */
static void some_io(Life *l, unsigned n)
{
    static const uint8_t kinds[] = { FUZZ_IO_READ, FUZZ_IO_WRITE, FUZZ_IO_WRITE,
                                     FUZZ_IO_WRITE, FUZZ_IO_ZEROES,
                                     FUZZ_IO_SAME, FUZZ_IO_COMPARE };

    for (unsigned i = 0; i < n; i++) {
        unsigned k = io_kind(l, kinds[below(l, sizeof(kinds))]);
        uint32_t nblocks = below(l, 2) ? below(l, 16) : below(l, 256);
        uint32_t directive = below(l, 3) == 0 ? 1 + below(l, 2) : 0;
        uint32_t b = nblocks | directive << 8 | below(l, 4) << 16;

        switch (below(l, 8)) {
        case 0:
            add(l, FUZZ_DSM, below(l, 256), below(l, 512),
                below(l, 64) | below(l, 32) << 8 | below(l, 2) << 23 |
                    below(l, 8) << 16 | below(l, 4) << 24);
            break;
        case 1:
            add(l, FUZZ_FLUSH, below(l, 4) | below(l, 2) << 6, 0, 0);
            break;
        case 2:
        case 3:
            add(l, FUZZ_BURST, k, below(l, 0x10000), b);
            break;
        default:
            add(l, FUZZ_IO, k, below(l, 600), b);
        }
        if (below(l, 2)) {
            add(l, FUZZ_STEPS, below(l, 64), 0, 0);
        }
    }
}

/* The whole drive, again and again: it has to clean. */
static void overwrite(Life *l, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        add(l, FUZZ_BURST, FUZZ_IO_WRITE | below(l, 3) << 4,
            0xf000 | below(l, 512), 0x80 | below(l, 128) | below(l, 3) << 8 |
                                        below(l, 4) << 16);
        add(l, FUZZ_STEPS, 63, 0, 0);
        if (below(l, 3) == 0) {
            add(l, FUZZ_IO, io_kind(l, FUZZ_IO_READ), below(l, 512),
                below(l, 256));
        }
    }
}

/* Commands whose data stays in the drive, and pairs. */
static void inside(Life *l, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned k = below(l, 4);

        add(l, FUZZ_IO, io_kind(l, FUZZ_IO_WRITE), below(l, 300),
            below(l, 60) | 0x4000);
        add(l, FUZZ_VERIFY, k, below(l, 300), below(l, 40));
        if (below(l, 3) == 0) {
            add(l, FUZZ_MARK, k, below(l, 300), below(l, 16));
        }
        add(l, FUZZ_FUSE, k | below(l, 2) << 7, below(l, 300), below(l, 8));
        add(l, FUZZ_IO, io_kind(l, FUZZ_IO_READ), below(l, 300),
            below(l, 60) | 0x4000);
        add(l, FUZZ_CANCEL, k | below(l, 4) << 6, below(l, 96), 0);
        add(l, FUZZ_STEPS, 63, 0, 0);
        if (below(l, 2)) {
            add(l, FUZZ_FLUSH, k, 0, 0);
            add(l, FUZZ_STEPS, 63, 0, 0);
        }
        add(l, FUZZ_POLL, 1, 0, 0);
        add(l, FUZZ_POLL, 2, 0, 0);
        add(l, FUZZ_POLL, 3, 0, 0);
        add(l, FUZZ_COPY, k | below(l, 8) << 2, 300 + below(l, 100),
            below(l, 200) | below(l, 16) << 16);
    }
}

static void all_admin(Life *l)
{
    for (unsigned i = 0; i < 16; i++) {
        add(l, FUZZ_IDENTIFY, i, below(l, 3), below(l, 4) ? 0 : below(l, 4));
        add(l, FUZZ_LOG, i | below(l, 2) << 4 | below(l, 2) << 5,
            below(l, 2) ? 1023 : below(l, 2048), below(l, 3) ? 0
                                                             : below(l, 4096));
        add(l, FUZZ_GET, i | below(l, 5) << 4, below(l, 3) ? 0 : below(l, 4),
            below(l, 2) ? 1 : below(l, 0x30000));
        add(l, FUZZ_SET, i, below(l, 3) ? 1U + (i != 3 && i != 12) : below(l, 8),
            below(l, 2) ? below(l, 8) : (uint32_t)prng_u64(&l->rng));
        add(l, FUZZ_STEPS, 8, 0, 0);
        add(l, FUZZ_POLL, 0, 0, 0);
    }
    add(l, FUZZ_SET, 6, 1, 0x0304);       /* coalescing */
    add(l, FUZZ_SET, 12, 0, 0x030000);    /* FDP events of a handle */
    add(l, FUZZ_SET, 12, 4, 0x030000);
    add(l, FUZZ_GET, 12, 0, 0x030000);
    add(l, FUZZ_SET, 2, 1, 0x0100);       /* too warm */
    add(l, FUZZ_SET, 2, 1, 0x100200);
    add(l, FUZZ_SET, 9, 1, 0xff);
}

/* Format NVM, Sanitize, Get LBA Status, and time for them. */
static void erase(Life *l)
{
    for (unsigned i = 0; i < 6; i++) {
        unsigned k = 12 + below(l, 3) + below(l, 2) * 16;
        unsigned a = k & 1 ? below(l, 4) << 9 | below(l, 2) : below(l, 0x400);

        add(l, FUZZ_ADMIN, k, a, below(l, 3));
        add(l, FUZZ_STEPS, 63, 0, 0);
        add(l, FUZZ_POLL, 0, 0, 0);
    }
}

static void placement(Life *l)
{
    static const uint8_t order[] = { 0, 1, 2, 4, 3, 5, 6, 7, 1, 2 };

    add(l, FUZZ_DIRECTIVE, 1, 0, 0x0101); /* enable Streams */
    add(l, FUZZ_DIRECTIVE, 7, 0, 0x0201); /* and Data Placement */
    add(l, FUZZ_STEPS, 4, 0, 0);
    some_io(l, 6);
    for (unsigned i = 0; i < sizeof(order); i++) {
        add(l, FUZZ_DIRECTIVE, order[i] | (below(l, 6) == 0) << 5 |
                                   below(l, 4) << 3,
            below(l, 4), order[i] == 4 ? 2 : order[i] == 1 ? 0x0101 : 0x0201);
        add(l, FUZZ_MANAGE, below(l, 8) ? below(l, 2) : below(l, 256),
            below(l, 3), below(l, 4) | below(l, 4) << 8);
        add(l, FUZZ_STEPS, 4, 0, 0);
    }
    some_io(l, 4);
}

static void bad_store(Life *l)
{
    add(l, FUZZ_STORE, 32 | below(l, 16) * below(l, 2), 0, 0);
    for (unsigned i = 0; i < 4; i++) {
        some_io(l, 2);
        add(l, FUZZ_STORE_END, below(l, 3) ? 0 : below(l, 4), below(l, 8),
            below(l, 16));
    }
    add(l, FUZZ_ABORT, below(l, 256), below(l, 8), 0);
    if (below(l, 2)) {
        add(l, FUZZ_STORE, below(l, 2) << 5, 0, 0);
        add(l, FUZZ_FLUSH, 0, 0, 0);
    }
}

static void change_queues(Life *l)
{
    unsigned q = 1 + below(l, 3);

    some_io(l, 3);
    add(l, FUZZ_DELETE, q, 0, 0);
    add(l, FUZZ_DELETE, 4 | q, 0, 0);
    add(l, FUZZ_CREATE, below(l, 9), below(l, 0x10000), 3 | below(l, 4) << 16);
    if (!l->honest && below(l, 2)) {
        add(l, FUZZ_SHADOW, 0, 0, 0);
    }
    some_io(l, 3);
    add(l, FUZZ_EVENT, 0, 0, 0);
    add(l, FUZZ_ABORT, below(l, 256), 0, 0);
}

static void power_and_resets(Life *l)
{
    switch (below(l, 6)) {
    case 0:
        add(l, FUZZ_SHUTDOWN, below(l, 2), 0, 0);
        add(l, FUZZ_STEPS, 40, 0, 0);
        add(l, FUZZ_POWER, 3, 0, 0);
        break;
    case 1:
        add(l, FUZZ_RESET, 0, 0, 0);
        break;
    case 2:
        add(l, FUZZ_DISABLE, 0, 0, 0);
        break;
    default:
        add(l, FUZZ_POWER, 1 + 2 * below(l, 2), 0, 0);
        add(l, FUZZ_ANY_REG, 2, 0x1c, 0);
        add(l, FUZZ_POWER, 2, 0, 0);
    }
    add(l, FUZZ_BRING_UP, below(l, 3) ? 0 : below(l, 5), 0, 0);
    if (!l->honest) {
        add(l, FUZZ_CREATE, 0, 30, 3 | 1 << 16);
        add(l, FUZZ_CREATE, 4, 30, 3 | 2 << 16);
    }
    some_io(l, 4);
}

static void hostile(Life *l)
{
    static const FuzzOp ops[] = { FUZZ_PATCH, FUZZ_RAW, FUZZ_DOORBELL,
                                  FUZZ_WRITE_REG, FUZZ_ANY_REG, FUZZ_MEMORY,
                                  FUZZ_IDLE, FUZZ_CREATE, FUZZ_DELETE,
                                  FUZZ_SHADOW, FUZZ_BRING_UP };

    for (unsigned i = 0; i < 12; i++) {
        add(l, ops[below(l, G_N_ELEMENTS(ops))], below(l, 256),
            below(l, 2) ? below(l, 64) : below(l, 0x10000),
            below(l, 2) ? below(l, 64) : (uint32_t)prng_u64(&l->rng));
        some_io(l, 1);
    }
}

static void look(Life *l)
{
    add(l, FUZZ_LOOK, below(l, 32), 0, 0);
    add(l, FUZZ_HOLD, below(l, 2), 8, 0);
    add(l, FUZZ_RELOAD, l->honest ? 0 : below(l, 3) ? 0 : below(l, 256),
        below(l, 0x10000), (uint32_t)prng_u64(&l->rng));
    add(l, FUZZ_HOLD, 0, 0, 0);
    add(l, FUZZ_MASK, below(l, 2), 0, (uint32_t)prng_u64(&l->rng));
    add(l, FUZZ_SLEEP, 10 + below(l, 20), below(l, 0x10000), 0);
    add(l, FUZZ_RUN, 0, 0, 0);
}

/* They come, are attached and written, and go. */
static void namespaces(Life *l)
{
    for (unsigned i = 0; i < 24; i++) {
        unsigned how = below(l, 8);

        add(l, FUZZ_DIRECTIVE, 0x80 | how,
            how < 2 ? below(l, 300) : below(l, 4), below(l, 5));
        if (how < 2 && below(l, 2)) { /* the one that has just come */
            add(l, FUZZ_DIRECTIVE, 0x84, 0, below(l, 2));
        }
        if (below(l, 2)) {
            add(l, FUZZ_STEPS, below(l, 64), 0, 0);
        }
        if (below(l, 3) == 0) {
            some_io(l, 1);
        }
    }
}

/* Another controller comes and goes; both hosts reserve the namespace. */
static void reservations(Life *l)
{
    static const uint8_t what[] = {0, 1, 2, 3, 4, 5, 6, 6, 7};

    add(l, FUZZ_PEER, 0, 0, 0);
    add(l, FUZZ_PEER, 1 << 5, 0, 0);
    add(l, FUZZ_SLEEP, 20, 1, 0);
    add(l, FUZZ_PEER, 2 << 5, 0, 0);
    for (unsigned i = 0; i < 40; i++) {
        unsigned by = below(l, 2) << 4;
        unsigned keys = below(l, 16);

        if (below(l, 3)) {
            add(l, FUZZ_RESERVE, by | below(l, 4), keys,
                below(l, 4) | below(l, 256) << 8 | below(l, 8) << 16);
        } else {
            add(l, FUZZ_PEER, what[below(l, sizeof(what))] << 5 | below(l, 32),
                below(l, 0x10000), (uint32_t)prng_u64(&l->rng));
        }
        if (below(l, 2)) {
            add(l, FUZZ_STEPS, below(l, 64), 0, 0);
        }
        if (below(l, 4) == 0) {
            some_io(l, 1);
        }
    }
}

static void phase(Life *l)
{
    switch (below(l, 10)) {
    case 0:
        all_admin(l);
        break;
    case 1:
        placement(l);
        break;
    case 2:
        bad_store(l);
        break;
    case 3:
        change_queues(l);
        break;
    case 4:
        power_and_resets(l);
        break;
    case 5:
        if (!l->honest) {
            hostile(l);
            erase(l);
        }
        break;
    case 6:
        overwrite(l, 4);
        break;
    case 7:
        inside(l, 6);
        break;
    default:
        some_io(l, 8);
    }
    if (below(l, 3) == 0) {
        look(l);
    }
}

/* ---- drives that came later ---------------------------------------------- */

#define UPPER   0x80000001U /* the upper half of a table; and NVM set 1 */
#define MODE_ON 0xfd05      /* feature 13h: on, two events; no namespace */

/* Predictable Latency Mode: on, windows, their log pages. */
static void latency(Life *l)
{
    add(l, FUZZ_SET, 9, 1, 0x1000); /* its notice */
    add(l, FUZZ_EVENT, 0, 0, 0);
    add(l, FUZZ_SET, 3, below(l, 4) ? MODE_ON : 0xbd06, UPPER);
    add(l, FUZZ_STEPS, 63, 0, 0);
    for (unsigned i = 0; i < 4; i++) {
        add(l, FUZZ_SET, 4, 5, UPPER); /* DTWIN */
        add(l, FUZZ_GET, 4, 1, UPPER);
        overwrite(l, 1);
        add(l, FUZZ_SLEEP, 14 + below(l, 10), 60, 0);
        add(l, FUZZ_GET, 3, 1, UPPER);
        add(l, FUZZ_LOG, 4 | below(l, 2) << 4, 127, 0x80000000U);
        add(l, FUZZ_LOG, 5 | below(l, 2) << 4, 2, 0x80000000U);
        add(l, FUZZ_STEPS, 63, 0, 0);
        add(l, FUZZ_POLL, 0, 0, 0);
        if (!l->honest) {
            add(l, FUZZ_PATCH, 12, 0, 2); /* NDWIN */
            add(l, FUZZ_SET, 4, 5, UPPER);
        }
    }
}

/* Dwords 12 and 13 of the next command. */
static void dwords(Life *l, uint32_t dw12, uint32_t dw13)
{
    add(l, FUZZ_PATCH, 12, 0, dw12);
    add(l, FUZZ_PATCH, 13, 0, dw13);
}

/* Zone Management Send and Receive, Zone Append, writes at the pointer and in
 * areas.  A zone has 8 blocks, in queue 1. */
static void zones(Life *l, unsigned n)
{
    static const uint32_t actions[] = {1,    2,     3,     4,     5,
                                       0x10, 0x203, 0x203, 0x104, 0x11};

    for (unsigned i = 0; i < n; i++) {
        uint32_t zone = below(l, 4) * 8;
        uint32_t action = actions[below(l, G_N_ELEMENTS(actions))];

        dwords(l, 0, action);
        add(l, FUZZ_RAW, NVME_IO_ZONE_SEND, 1,
            action == 0x11 ? zone + below(l, 8) : zone);
        dwords(l, below(l, 4), 0);
        add(l, FUZZ_RAW, below(l, 3) ? NVME_IO_WRITE : NVME_IO_ZONE_APPEND, 1,
            below(l, 2) ? zone : zone + below(l, 8));
        dwords(l, below(l, 2) ? 31 : below(l, 256), below(l, 2) << 16);
        add(l, FUZZ_RAW, NVME_IO_ZONE_RECEIVE, 1, zone);
        add(l, FUZZ_STEPS, below(l, 64), 0, 0);
        if (below(l, 4) == 0) {
            dwords(l, 7, 0);
            add(l, FUZZ_RAW, NVME_IO_READ, 1, zone);
        }
        add(l, FUZZ_POLL, 1, 0, 0);
    }
    if (below(l, 2)) {
        power_and_resets(l);
    }
}

/* The controller memory buffer at the addresses of the host's data. */
static void memory_buffer(Life *l)
{
    add(l, FUZZ_ANY_REG, 0, 0x50, 0x01000003); /* CMBMSC: CRE, CMSE, address */
    add(l, FUZZ_ANY_REG, 0, 0x54, 0);
    some_io(l, 4);
    add(l, FUZZ_RAW, NVME_IO_READ, 1, below(l, 16));
    add(l, FUZZ_RAW, NVME_IO_WRITE, 1, below(l, 16));
    add(l, FUZZ_STEPS, 63, 0, 0);
}

/* ---- the inputs ---------------------------------------------------------- */

/* Of six inputs of a drive, the first two are of the plain drive. */
static void add_head(Life *l, unsigned drive, unsigned i)
{
    uint8_t h[FUZZ_HEAD_BYTES] = { 0 };

    h[HEAD_DRIVE] = (uint8_t)drive;
    h[HEAD_HOST] = l->honest ? FUZZ_HOST_HONEST : 0;
    h[HEAD_CONTENT] = (uint8_t)below(l, 8);
    if (i >= 2) {
        h[HEAD_POLICY] = (uint8_t)below(l, 256);
        h[HEAD_BUFFER] = (uint8_t)below(l, 256);
        h[HEAD_ARRAY] = (uint8_t)below(l, 256);
        h[HEAD_HOST] |= (uint8_t)(below(l, 128) & ~FUZZ_HOST_HONEST);
        h[HEAD_SHAPE] = (uint8_t)below(l, 256);
    }
    if (i >= 4) {
        h[HEAD_MEDIA] = (uint8_t)below(l, 128);
    }
    g_byte_array_append(l->bytes, h, sizeof(h));
}

static void write_input(const char *dir, unsigned number, const Life *l)
{
    g_autofree char *path = g_strdup_printf("%s/seed-%05u", dir, number);
    GError *error = NULL;

    if (!g_file_set_contents(path, (const char *)l->bytes->data, l->bytes->len,
                             &error)) {
        g_printerr("make-nvme-seeds: %s\n", error->message);
        exit(1);
    }
}

/* Inputs of drives with several namespaces follow the others. */
static void write_namespaces(const char *dir, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        Life l = {.bytes = g_byte_array_new(), .honest = i % 2 == 0};

        prng_seed(&l.rng, i, 0x4a5eed);
        add_head(&l, i / 2 % 30, i / 60 % 6);
        l.bytes->data[HEAD_CONTENT] |= i % 3 ? 8 : 8 | 16;
        l.bytes->data[HEAD_SHAPE] = (uint8_t)(2 + i % 2) << 4;
        for (unsigned k = 0; k < 3; k++) {
            namespaces(&l);
            if (below(&l, 2)) {
                power_and_resets(&l);
            } else {
                look(&l);
            }
        }
        write_input(dir, first + i, &l);
        g_byte_array_free(l.bytes, TRUE);
    }
}

static void write_later(const char *dir, unsigned first, unsigned n)
{
    unsigned n_later = 5; /* of nvme-drives.c, without the first */

    for (unsigned i = 0; i < n; i++) {
        unsigned drive = i % n_later;
        Life l = {.bytes = g_byte_array_new(),
                  .honest = i / n_later % 2 == 0 && drive < 2};

        prng_seed(&l.rng, i, 0x1a7e);
        add_head(&l, 256 - n_later + drive, i / (2 * n_later) % 4);
        l.bytes->data[HEAD_CONTENT] |= i % 7 == 6 ? 16 : 0;
        for (unsigned k = 0; k < 2; k++) {
            if (!l.honest && below(&l, 2)) {
                memory_buffer(&l);
            }
            if (drive < 2) {
                latency(&l);
            } else if (drive < 4) {
                zones(&l, 16);
            } else {
                placement(&l);
            }
            look(&l);
        }
        write_input(dir, first + i, &l);
        g_byte_array_free(l.bytes, TRUE);
    }
}

/* Values of a unit and of many, of few keys; what loses them. */
static void keys(Life *l)
{
    for (unsigned i = 0; i < 30; i++) {
        uint32_t bytes = below(l, 3) ? below(l, 5000) : below(l, 100000);
        uint32_t option = below(l, 4) ? 0 : below(l, 4) << 24;

        add(l, FUZZ_KEY, below(l, 256), below(l, 40), bytes | option);
        if (below(l, 2)) {
            add(l, FUZZ_STEPS, below(l, 64), 0, 0);
        }
    }
    add(l, FUZZ_KEY, 7, 0, 0); /* Flush */
    add(l, FUZZ_KEY, 6, 0, 4096);
    add(l, FUZZ_SLEEP, 24, 1, 0);
}

static void write_keys(const char *dir, unsigned first, unsigned n)
{
    unsigned n_later = 6;

    for (unsigned i = 0; i < n; i++) {
        Life l = {.bytes = g_byte_array_new(), .honest = false};

        prng_seed(&l.rng, i, 0x4b5e);
        add_head(&l, 256 - n_later, i % 4);
        l.bytes->data[HEAD_HOST] &=
            (uint8_t)~(FUZZ_HOST_COLD | FUZZ_HOST_HONEST);
        for (unsigned k = 0; k < 2; k++) {
            keys(&l);
            switch (below(&l, 4)) {
            case 0:
                power_and_resets(&l);
                break;
            case 1:
                erase(&l);
                break;
            case 2:
                bad_store(&l);
                break;
            default:
                namespaces(&l);
            }
            keys(&l);
            look(&l);
        }
        write_input(dir, first + i, &l);
        g_byte_array_free(l.bytes, TRUE);
    }
}

static void write_reservations(const char *dir, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        Life l = {.bytes = g_byte_array_new(), .honest = false};

        prng_seed(&l.rng, i, 0x2e5e);
        add_head(&l, i % 30, i / 30 % 6);
        l.bytes->data[HEAD_CONTENT] =
            (uint8_t)((l.bytes->data[HEAD_CONTENT] & 7) | 64);
        for (unsigned k = 0; k < 2; k++) {
            reservations(&l);
            if (below(&l, 2)) {
                power_and_resets(&l);
            }
            look(&l);
        }
        write_input(dir, first + i, &l);
        g_byte_array_free(l.bytes, TRUE);
    }
}

/* RAW in the admin queue: NSID 1, 0 or of all; CDW11 */
static void raw_admin(Life *l, uint8_t opcode, unsigned of, uint32_t dw10,
                      uint32_t dw11)
{
    if (dw11) {
        add(l, FUZZ_PATCH, 11, 0, dw11);
    }
    add(l, FUZZ_RAW, opcode, of << 2, dw10);
    add(l, FUZZ_STEPS, 4, 0, 0);
    add(l, FUZZ_POLL, 0, 0, 0);
}

/* Each Identify structure, log page and feature, of the command set `csi`. */
static void tables(Life *l, unsigned csi, bool upper)
{
    static const uint8_t logs[] = {0x00, 0x04, 0x06, 0x07, 0x08, 0x0d, 0x0d,
                                   0x0e, 0x12, 0x13, 0x80, 0x81, 0xbf};
    static const uint8_t features[] = {0x0c, 0x0d, 0x0f, 0x10, 0x15, 0x16,
                                       0x17, 0x19, 0x1d, 0x82, 0x83, 0x84};

    for (unsigned cns = 0; !upper && cns <= 0x1f; cns++) {
        raw_admin(l, NVME_ADM_IDENTIFY, 0, cns, csi << 24);
        raw_admin(l, NVME_ADM_IDENTIFY, 1, cns, csi << 24);
    }
    for (unsigned i = 0; upper && i < sizeof(logs); i++) {
        unsigned action = logs[i] == 0x0d ? 1U << 8 : 0;

        raw_admin(l, NVME_ADM_GET_LOG_PAGE, 2, 127U << 16 | action | logs[i],
                  0);
        raw_admin(l, NVME_ADM_GET_LOG_PAGE, 0, 127U << 16 | logs[i], 0);
    }
    for (unsigned i = 0; upper && i < sizeof(features); i++) {
        unsigned of = features[i] >= 0x82 ? 0 : 1;

        raw_admin(l, NVME_ADM_SET_FEATURES, of, features[i], below(l, 2));
        raw_admin(l, NVME_ADM_SET_FEATURES, of, features[i], 0);
        raw_admin(l, NVME_ADM_GET_FEATURES, of, features[i], 0);
    }
    if (upper) { /* the short test; activate slot 1, which is active */
        raw_admin(l, NVME_ADM_SELF_TEST, 2, 1, 0);
        raw_admin(l, NVME_ADM_FIRMWARE_COMMIT, 1, 1 | 3 << 3, 0);
    }
}

/* Drives of all kinds: of one and of many namespaces, of several controllers,
 * with secondary ones. */
static void write_tables(const char *dir, unsigned first)
{
    static const struct {
        uint8_t drive, content, csi;
    } of[] = {{0, 8, 0},   {0, 64, 0},  {0, 32, 0},  {9, 0, 0},
              {250, 8, 1}, {253, 0, 2}, {249, 8, 2}, {251, 8, 0}};

    for (unsigned i = 0; i < 2 * G_N_ELEMENTS(of); i++) {
        Life l = {.bytes = g_byte_array_new()};

        prng_seed(&l.rng, i, 0x7ab1e);
        add_head(&l, of[i / 2].drive, 0);
        l.bytes->data[HEAD_CONTENT] = of[i / 2].content;
        l.bytes->data[HEAD_SHAPE] = 2 << 4;
        tables(&l, of[i / 2].csi, i % 2);
        write_input(dir, first + i, &l);
        g_byte_array_free(l.bytes, TRUE);
    }
}

/* Features 19h and 84h: each value and some that are reserved, each NSID, what
 * is read, and what the host does with its namespaces in between. */
static void values(Life *l, uint8_t fid)
{
    static const uint32_t value[] = {1, 2,     3,     4,         7,
                                     8, 0x1ff, 0x200, UINT32_MAX};

    for (unsigned i = 0; i < G_N_ELEMENTS(value); i++) {
        unsigned of = below(l, 3) ? 0 : below(l, 4);
        uint32_t save = below(l, 8) ? 0 : 1U << 31;

        raw_admin(l, NVME_ADM_SET_FEATURES, of, fid | save, value[i]);
        raw_admin(l, NVME_ADM_GET_FEATURES, of, fid | below(l, 8) << 8, 0);
        some_io(l, 2);
        if (below(l, 2)) {
            add(l, FUZZ_ADMIN, below(l, 256), below(l, 8), below(l, 64));
            add(l, FUZZ_STEPS, 16, 0, 0);
        }
    }
    raw_admin(l, NVME_ADM_SET_FEATURES, 0, fid, 0);
}

static void write_features(const char *dir, unsigned first, unsigned n)
{
    static const struct {
        uint8_t drive, content, fid;
    } of[] = {{250, 8, 0x19}, {249, 8, 0x84}, {0, 8, 0x84}, {250, 8, 0x84}};

    for (unsigned i = 0; i < n; i++) {
        Life l = {.bytes = g_byte_array_new()};
        unsigned k = i % G_N_ELEMENTS(of);

        prng_seed(&l.rng, i, 0xfea7);
        add_head(&l, of[k].drive, 0);
        l.bytes->data[HEAD_CONTENT] = of[k].content;
        l.bytes->data[HEAD_SHAPE] = 2 << 4;
        values(&l, of[k].fid);
        power_and_resets(&l);
        values(&l, of[k].fid);
        look(&l);
        write_input(dir, first + i, &l);
        g_byte_array_free(l.bytes, TRUE);
    }
}

/* The host says how often it will write ranges, and what it will read in
 * order. */
static void hints(Life *l)
{
    for (unsigned i = 0; i < 12; i++) {
        uint32_t attributes = below(l, 6) ? 0 : below(l, 8);

        add(l, FUZZ_DSM, below(l, 8), below(l, 512),
            below(l, 256) | below(l, 32) << 8 |
                (0x80 | below(l, 16) << 3 | attributes) << 16 |
                below(l, 3) << 24);
        some_io(l, 2);
        if (below(l, 3) == 0) {
            overwrite(l, 1);
        }
    }
}

/* Zones that are open or full for a long time: the controller recommends to
 * finish and to reset them, and finishes them. */
static void zone_limits(Life *l)
{
    for (unsigned i = 0; i < 3; i++) {
        zones(l, 4);
        dwords(l, 0, 3);
        add(l, FUZZ_RAW, NVME_IO_ZONE_SEND, 1, below(l, 4) * 8); /* Open */
        for (unsigned k = below(l, 8); k > 0; k--) {
            add(l, FUZZ_SLEEP, 16, 8000, 0); /* half a second */
            add(l, FUZZ_RAW, NVME_ADM_GET_LOG_PAGE, 0, 127U << 16 | 0xbf);
            dwords(l, 255, 9U << 8); /* those with a recommendation */
            add(l, FUZZ_RAW, NVME_IO_ZONE_RECEIVE, 1, 0);
            add(l, FUZZ_SLEEP, 16, 10, 0); /* not until the next limit */
            add(l, FUZZ_POLL, 0, 0, 0);
            add(l, FUZZ_POLL, 1, 0, 0);
        }
        if (below(l, 3) == 0) {
            look(l);
        }
    }
}

static void write_later_2(const char *dir, unsigned first, unsigned n)
{
    unsigned n_later = 9;

    for (unsigned i = 0; i < n; i++) {
        Life l = {.bytes = g_byte_array_new(), .honest = i % 4 == 0};

        prng_seed(&l.rng, i, 0x1a7e2);
        add_head(&l, 256 - n_later + i % 2, i % 10 / 2);
        l.bytes->data[HEAD_HOST] &= (uint8_t)~FUZZ_HOST_COLD;
        l.bytes->data[HEAD_CONTENT] |= i % 3 ? 0 : 8;
        for (unsigned k = 0; k < 2; k++) {
            if (i % 2) {
                zone_limits(&l);
            } else {
                hints(&l);
            }
            power_and_resets(&l);
        }
        write_input(dir, first + i, &l);
        g_byte_array_free(l.bytes, TRUE);
    }
}

/* Features of power, temperature, host memory and Sanitize; then time. */
static void write_states(const char *dir, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        Life l = {.bytes = g_byte_array_new()};

        prng_seed(&l.rng, i, 0x57a7e);
        add_head(&l, 246, i / 2 % 4);
        l.bytes->data[HEAD_HOST] &= (uint8_t)~FUZZ_HOST_COLD;
        add(&l, FUZZ_MEMORY, 0, 0, 1 << 3 | 1 << 8); /* to state 1 after 1 ms */
        raw_admin(&l, NVME_ADM_SET_FEATURES, 1, 0x0c, 1);
        for (unsigned k = 0; k < 2; k++) {
            tables(&l, 0, true);
            some_io(&l, 8);
            raw_admin(&l, NVME_ADM_SET_FEATURES, 1, 0x02, below(&l, 3));
            add(&l, FUZZ_SLEEP, 10 + below(&l, 16), below(&l, 0x10000), 0);
            some_io(&l, 4);
            power_and_resets(&l);
        }
        write_input(dir, first + i, &l);
        g_byte_array_free(l.bytes, TRUE);
    }
}

/* ADMIN of nvme-act-vf.c: what, which secondary, and its values. */
static void secondary(Life *l, unsigned what, unsigned a, uint32_t b)
{
    add(l, FUZZ_ADMIN, what << 4 | 7, a, b);
}

/* Assign and Online, a driver, its commands, and what ends it. */
static void secondaries(Life *l)
{
    unsigned which = below(l, 2);
    uint32_t id = which << 8;

    secondary(l, 8, which | 2, 0);
    secondary(l, 0, 2 << 1, id | (2 + below(l, 4)) << 16);     /* VQ */
    secondary(l, 0, 2 << 1, id | (1 + below(l, 4)) << 16 | 1); /* VI */
    secondary(l, 0, 5 << 1, id);
    add(l, FUZZ_POLL, 0, 0, 0);
    secondary(l, 11, which, 0);
    secondary(l, 12, which, 0);
    for (unsigned i = 0; i < 12; i++) {
        secondary(l, 13, which | 2 | below(l, 64) << 2, 1 + below(l, 2));
        secondary(l, 14, which | below(l, 64) << 2, below(l, 16));
    }
    add(l, FUZZ_STEPS, below(l, 40), 0, 0);
    switch (below(l, 5)) {
    case 0:
        secondary(l, 8, which, 0);
        break;
    case 1:
        secondary(l, 9, which, 0);
        break;
    case 2:
        add(l, FUZZ_RESET, 0, 0, 0);
        add(l, FUZZ_BRING_UP, 0, 0, 0);
        break;
    default:
        secondary(l, 0, 1 << 1, id); /* Offline */
    }
    secondary(l, 0, below(l, 16), below(l, 0x7fffffff));
    secondary(l, 10, below(l, 0x1100), below(l, 0x7fffffff));
    secondary(l, 0, 0, 2 << 8 | below(l, 4) << 16 | below(l, 2)); /* primary */
}

static void write_secondaries(const char *dir, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        Life l = {.bytes = g_byte_array_new()};

        prng_seed(&l.rng, i, 0x5ec0);
        add_head(&l, i % 30, i / 30 % 6);
        l.bytes->data[HEAD_CONTENT] |= 32;
        l.bytes->data[HEAD_HOST] &= ~(FUZZ_HOST_COLD | FUZZ_HOST_HONEST);
        for (unsigned k = 0; k < 3; k++) {
            secondaries(&l);
            look(&l);
        }
        write_input(dir, first + i, &l);
        g_byte_array_free(l.bytes, TRUE);
    }
}

int main(int argc, char **argv)
{
    unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 720;

    if (argc < 2) {
        g_printerr("usage: make-nvme-seeds DIR [N]\n");
        return 2;
    }
    for (unsigned i = 0; i < n; i++) {
        Life l = { .bytes = g_byte_array_new(), .honest = i % 2 == 0 };
        unsigned phases;

        prng_seed(&l.rng, i, 0x5eed);
        add_head(&l, i / 2 % 30, i / 60 % 6);
        l.bytes->data[HEAD_CONTENT] |= i % 8 == 4 ? 16 : 0;
        phases = 2 + below(&l, 4);
        for (unsigned k = 0; k < phases; k++) {
            phase(&l);
        }
        write_input(argv[1], i, &l);
        g_byte_array_free(l.bytes, TRUE);
    }
    write_namespaces(argv[1], n, n);
    write_later(argv[1], 2 * n, n / 4);
    write_reservations(argv[1], 2 * n + n / 4, n / 8);
    write_secondaries(argv[1], 2 * n + n / 4 + n / 8, n / 12);
    write_keys(argv[1], 2 * n + n / 4 + n / 8 + n / 12, n / 12);
    write_tables(argv[1], 2 * n + n / 4 + n / 8 + n / 12 + n / 12);
    write_features(argv[1], 2 * n + n / 4 + n / 8 + n / 12 + n / 12 + 16, 8);
    write_later_2(argv[1], 2 * n + n / 4 + n / 8 + n / 12 + n / 12 + 24,
                  n / 12);
    write_states(argv[1], 2 * n + n / 4 + n / 8 + 3 * (n / 12) + 24, 8);
    return 0;
}
