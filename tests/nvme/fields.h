/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields.h - commands with one bad field and the status that its clause names,
 * for test-fields.c and test-fields-sets.c.
 *
 * Clauses are of the Base Specification (2.1, "Base"), the NVM Command Set
 * (1.1, "NVM"), the Zoned Namespace Command Set (1.1, "ZNS") and the Key Value
 * Command Set (1.0, "KV").
 */
#ifndef VSSD_TESTS_NVME_FIELDS_H
#define VSSD_TESTS_NVME_FIELDS_H

#include "admin.h"

#define ALL NVME_NSID_ALL

/* The command may succeed when it is sent again: without Do Not Retry. */
#define RETRY 0x8000

typedef struct Row {
    uint8_t opcode;
    uint32_t nsid;
    uint32_t dw[6]; /* CDW10 and following */
    uint16_t code;  /* NVME_SC_..., and RETRY */
    uint64_t prp1;  /* 0: data */
    uint64_t prp2;
    uint32_t flags;   /* of CDW0 */
    const char *data; /* the first bytes, each as two digits; the rest is 0 */
} Row;

#define DW(...) {__VA_ARGS__}
#define ROW_OF(op, ns, words, sc, at, bits, bytes)                             \
    {.opcode = (op),                                                           \
     .nsid = (ns),                                                             \
     .dw = DW words,                                                           \
     .code = (sc),                                                             \
     .prp1 = (at),                                                             \
     .flags = (bits),                                                          \
     .data = (bytes)}
#define ROW(op, ns, words, sc)        ROW_OF(op, ns, words, sc, 0, 0, NULL)
#define ROW_AT(op, ns, words, sc, at) ROW_OF(op, ns, words, sc, at, 0, NULL)
#define ROW_FLAGS(op, ns, words, sc, bits)                                     \
    ROW_OF(op, ns, words, sc, 0, bits, NULL)
#define ROW_DATA(op, ns, words, sc, bytes)                                     \
    ROW_OF(op, ns, words, sc, 0, 0, bytes)

static inline void put_data(Host *h, const char *hex)
{
    uint8_t *d = admin_data(h);

    memset(d, 0, 4096);
    for (unsigned i = 0; hex && hex[2 * i]; i++) {
        char byte[3] = {hex[2 * i], hex[2 * i + 1], 0};

        d[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
}

static inline void check(Host *h, unsigned queue, const Row *row, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const Row *r = &row[i];
        NvmeSqe sqe =
            host_sqe(r->opcode, r->nsid, r->prp1 ? r->prp1 : HOST_DATA);
        uint16_t code = r->code & ~RETRY;
        uint16_t want =
            code | NVME_SC_MORE | (r->code & RETRY ? 0 : NVME_SC_DNR);
        uint16_t status;

        put_data(h, r->data);
        sqe.dw[0] |= r->flags;
        sqe.dw[8] = (uint32_t)r->prp2;
        sqe.dw[9] = r->prp2 >> 32;
        for (unsigned k = 0; k < 6; k++) {
            sqe.dw[10 + k] = r->dw[k];
        }
        status = host_do(h, queue, &sqe).status;
        if (status != (code ? want : 0)) {
            g_printerr("row %u: opcode %02x, NSID %x, CDW10 %x, CDW11 %x: "
                       "%04x, not %04x\n",
                       i, r->opcode, r->nsid, r->dw[0], r->dw[1], status,
                       code ? want : 0);
            g_test_fail();
            continue;
        }
        /* Each is in the error log, with its field of status. */
        if (code) {
            g_assert_cmphex(admin_log(h, 0x01, 0, 64, 0), ==, 0);
            g_assert_cmphex(get_le16(admin_data(h) + 12) >> 1, ==, want);
            g_assert_cmphex(get_le16(admin_data(h) + 8), ==, queue);
        }
    }
}

#define CHECK(h, queue, rows) check(h, queue, rows, G_N_ELEMENTS(rows))

static inline Host *ready(const HostOptions *o)
{
    Host *h = admin_host(o);

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

#endif
