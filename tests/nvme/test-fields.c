/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-fields.c - the status of each bad field, command by command.
 *
 * Rows on NSID, opcodes and Identify were compared with the text of Base; the
 * others with the clauses that the code cites.  test-fields-sets.c has what a
 * drive has by option.
 */
#include "fields.h"
#include "key-value.h"

#define LBAS 10000

/* ---- fields of all commands ---------------------------------------------- */

/* Base 4.1, Common Command Format, NSID: a command that uses none should refuse
 * all but 0.  It need not: drives ignore it, and drivers set it. */
static void test_nsid_unused(void)
{
    static const uint32_t nsid[] = {0, 1, 2, 257, ALL};
    Host *h = ready(NULL);

    for (unsigned k = 0; k < G_N_ELEMENTS(nsid); k++) {
        const Row rows[] = {
            ROW(NVME_ADM_ABORT, nsid[k], (0x70001), 0),
            ROW(NVME_ADM_DELETE_SQ, nsid[k], (9), NVME_SC_QID_INVALID),
            ROW(NVME_ADM_DELETE_CQ, nsid[k], (9), NVME_SC_QID_INVALID),
            ROW(NVME_ADM_FIRMWARE_COMMIT, nsid[k], (7), NVME_SC_FW_SLOT),
        };

        CHECK(h, 0, rows);
    }
    host_free(h);
}

/* The same clause: an invalid NSID (0, and NN + 1 on), an inactive one, and
 * FFFFFFFFh where the command does not take it. */
static void test_nsid_used(void)
{
    static const uint8_t io[] = {
        NVME_IO_READ,    NVME_IO_WRITE,        NVME_IO_WRITE_UNCORRECTABLE,
        NVME_IO_COMPARE, NVME_IO_WRITE_ZEROES, NVME_IO_DSM,
        NVME_IO_VERIFY,  NVME_IO_COPY,
    };
    static const Row others[] = {
        ROW(NVME_IO_FLUSH, 0, (0), NVME_SC_INVALID_NSID),
        ROW(NVME_IO_FLUSH, 257, (0), NVME_SC_INVALID_NSID),
        ROW(NVME_IO_FLUSH, 3, (0), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_FLUSH, ALL, (0), 0),
        ROW(NVME_IO_CANCEL, 0, (0xffff0001, 1), NVME_SC_INVALID_NSID),
        ROW(NVME_IO_CANCEL, 257, (0xffff0001, 1), NVME_SC_INVALID_NSID),
        ROW(NVME_IO_CANCEL, 3, (0xffff0001, 1), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_CANCEL, ALL, (0xffff0001, 1), 0),
    };
    static const Row admin[] = {
        ROW(NVME_ADM_GET_LBA_STATUS, 0, (0, 0, 5, 0x11000000),
            NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_GET_LBA_STATUS, 3, (0, 0, 5, 0x11000000),
            NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_GET_LBA_STATUS, ALL, (0, 0, 5, 0x11000000),
            NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_NS_ATTACHMENT, 0, (0), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_NS_ATTACHMENT, 3, (0), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_NS_ATTACHMENT, 257, (0), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_NS_ATTACHMENT, ALL, (0), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_NS_MANAGEMENT, 0, (1), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_NS_MANAGEMENT, 3, (1), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_NS_MANAGEMENT, 257, (1), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_FORMAT, 0, (0), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_FORMAT, 3, (0), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_FORMAT, 257, (0), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_SELF_TEST, 3, (1), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_SELF_TEST, 257, (1), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_GET_FEATURES, 0, (0x05), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_GET_FEATURES, 3, (0x05), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_GET_FEATURES, 257, (0x05), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_GET_FEATURES, ALL, (0x05), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_SET_FEATURES, 0, (0x05), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_SET_FEATURES, 3, (0x05), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_SET_FEATURES, 257, (0x05), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_SET_FEATURES, ALL, (0x05), 0),
        /* Base 5.1.25: a feature that is not of a namespace, for one. */
        ROW(NVME_ADM_SET_FEATURES, 1, (0x06, 1), NVME_SC_FEATURE_NOT_NS),
        /* Base 5.1.12: pages of all scopes take a namespace that there is. */
        ROW(NVME_ADM_GET_LOG_PAGE, 1, (0x01 | 15 << 16), 0),
        ROW(NVME_ADM_GET_LOG_PAGE, 3, (0x01 | 15 << 16), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_GET_LOG_PAGE, 257, (0x02 | 15 << 16),
            NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_GET_LOG_PAGE, 3, (0x02 | 15 << 16), NVME_SC_INVALID_FIELD),
    };
    static const uint32_t invalid[] = {0, 257, 0xfffffffe};
    static const uint32_t bad_field[] = {3, ALL};
    Host *h = ready(&(HostOptions){.namespaces = "2"});

    for (unsigned i = 0; i < G_N_ELEMENTS(io); i++) {
        for (unsigned k = 0; k < G_N_ELEMENTS(invalid); k++) {
            Row r = ROW(io[i], invalid[k], (0), NVME_SC_INVALID_NSID);

            check(h, 1, &r, 1);
        }
        for (unsigned k = 0; k < G_N_ELEMENTS(bad_field); k++) {
            Row r = ROW(io[i], bad_field[k], (0), NVME_SC_INVALID_FIELD);

            check(h, 1, &r, 1);
        }
    }
    CHECK(h, 1, others);
    CHECK(h, 0, admin);
    host_free(h);
}

/* Base 4.1, Command Dword 0; Base 4.3, PRP entries; Base 4.1, opcodes. */
static void test_entry(void)
{
    static const Row admin[] = {
        ROW_FLAGS(NVME_ADM_IDENTIFY, 0, (1), NVME_SC_INVALID_FIELD, 1 << 8),
        ROW_FLAGS(NVME_ADM_IDENTIFY, 0, (1), NVME_SC_INVALID_FIELD, 3 << 8),
        /* Admin commands have PRPs. */
        ROW_FLAGS(NVME_ADM_IDENTIFY, 0, (1), NVME_SC_INVALID_FIELD, 1 << 14),
        ROW_FLAGS(NVME_ADM_IDENTIFY, 0, (1), NVME_SC_INVALID_FIELD, 2 << 14),
        ROW_FLAGS(NVME_ADM_IDENTIFY, 0, (1), NVME_SC_INVALID_FIELD, 3 << 14),
        ROW_AT(NVME_ADM_IDENTIFY, 0, (1), NVME_SC_PRP_OFFSET, HOST_DATA + 2),
        ROW_AT(NVME_ADM_IDENTIFY, 0, (1), NVME_SC_DATA_TRANSFER,
               HOST_RAM_BYTES),
        ROW(0x03, 0, (0), NVME_SC_INVALID_OPCODE), /* reserved */
        ROW(0x0d, 0, (0), NVME_SC_INVALID_OPCODE), /* not supported here */
        ROW(0x81, 0, (0), NVME_SC_INVALID_OPCODE),
        ROW(0xff, 0, (0), NVME_SC_INVALID_OPCODE),
    };
    static const Row io[] = {
        ROW_FLAGS(NVME_IO_READ, 1, (0), NVME_SC_INVALID_FIELD, 1 << 14),
        ROW_FLAGS(NVME_IO_READ, 1, (0), NVME_SC_INVALID_FIELD, 3 << 14),
        ROW_FLAGS(NVME_IO_READ, 1, (0), NVME_SC_INVALID_FIELD, 1 << 8),
        ROW_FLAGS(NVME_IO_READ, 1, (0), NVME_SC_INVALID_FIELD, 3 << 8),
        ROW_AT(NVME_IO_READ, 1, (0), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        ROW_AT(NVME_IO_WRITE, 1, (0, 0, 7), NVME_SC_DATA_TRANSFER,
               HOST_RAM_BYTES),
        ROW(0x06, 1, (0), NVME_SC_INVALID_OPCODE),
        ROW(0x79, 1, (0), NVME_SC_INVALID_OPCODE), /* of zones */
        ROW(0x7f, 1, (0), NVME_SC_INVALID_OPCODE),
        ROW(0xff, 1, (0), NVME_SC_INVALID_OPCODE),
    };
    Host *h = ready(NULL);

    CHECK(h, 0, admin);
    CHECK(h, 1, io);
    host_free(h);
}

/* ---- admin commands ------------------------------------------------------ */

/* Base 5.2.1 to 5.2.4. */
static void test_queues(void)
{
    enum { CQ = NVME_ADM_CREATE_CQ, SQ = NVME_ADM_CREATE_SQ };
    static const Row row[] = {
        ROW(CQ, 0, (63 << 16 | 0, 3), NVME_SC_QID_INVALID),
        ROW(CQ, 0, (63 << 16 | 9, 3), NVME_SC_QID_INVALID),
        ROW(CQ, 0, (63 << 16 | 1, 3), NVME_SC_QID_INVALID), /* in use */
        ROW(CQ, 0, (0 << 16 | 2, 3), NVME_SC_QUEUE_SIZE),
        ROW(CQ, 0, (1024 << 16 | 2, 3), NVME_SC_QUEUE_SIZE),  /* CAP.MQES */
        ROW(CQ, 0, (63 << 16 | 2, 2), NVME_SC_INVALID_FIELD), /* CAP.CQR */
        ROW_AT(CQ, 0, (63 << 16 | 2, 3), NVME_SC_PRP_OFFSET, HOST_DATA + 512),
        ROW(CQ, 0, (63 << 16 | 2, 3 | 65U << 16), NVME_SC_INTERRUPT_VECTOR),
        ROW(SQ, 0, (63 << 16 | 0, 1 | 1 << 16), NVME_SC_QID_INVALID),
        ROW(SQ, 0, (63 << 16 | 9, 1 | 1 << 16), NVME_SC_QID_INVALID),
        ROW(SQ, 0, (63 << 16 | 1, 1 | 1 << 16), NVME_SC_QID_INVALID),
        ROW(SQ, 0, (0 << 16 | 2, 1 | 1 << 16), NVME_SC_QUEUE_SIZE),
        ROW(SQ, 0, (1024 << 16 | 2, 1 | 1 << 16), NVME_SC_QUEUE_SIZE),
        ROW(SQ, 0, (63 << 16 | 2, 1 << 16), NVME_SC_INVALID_FIELD),
        ROW_AT(SQ, 0, (63 << 16 | 2, 1 | 1 << 16), NVME_SC_PRP_OFFSET,
               HOST_DATA + 64),
        ROW(SQ, 0, (63 << 16 | 2, 1), NVME_SC_QID_INVALID),
        ROW(SQ, 0, (63 << 16 | 2, 1 | 9 << 16), NVME_SC_QID_INVALID),
        ROW(SQ, 0, (63 << 16 | 2, 1 | 2 << 16), NVME_SC_CQ_INVALID),
        ROW(NVME_ADM_DELETE_SQ, 0, (0), NVME_SC_QID_INVALID),
        ROW(NVME_ADM_DELETE_SQ, 0, (2), NVME_SC_QID_INVALID),
        ROW(NVME_ADM_DELETE_SQ, 0, (0xffff), NVME_SC_QID_INVALID),
        ROW(NVME_ADM_DELETE_CQ, 0, (0), NVME_SC_QID_INVALID),
        ROW(NVME_ADM_DELETE_CQ, 0, (2), NVME_SC_QID_INVALID),
        ROW(NVME_ADM_DELETE_CQ, 0, (0xffff), NVME_SC_QID_INVALID),
        ROW(NVME_ADM_DELETE_CQ, 0, (1), NVME_SC_QUEUE_DELETION | RETRY),
        /* Base 5.2.5: the two buffers. */
        ROW_AT(NVME_ADM_DOORBELL_BUFFER, 0, (0), NVME_SC_PRP_OFFSET,
               HOST_DATA + 8),
        {.opcode = NVME_ADM_DOORBELL_BUFFER,
         .prp2 = HOST_DATA + 4096 + 8,
         .code = NVME_SC_PRP_OFFSET},
        {.opcode = NVME_ADM_DOORBELL_BUFFER,
         .prp2 = HOST_DATA,
         .code = NVME_SC_INVALID_FIELD},
        {.opcode = NVME_ADM_DOORBELL_BUFFER,
         .prp2 = HOST_RAM_BYTES,
         .code = NVME_SC_DATA_TRANSFER},
    };
    Host *h = ready(NULL);

    CHECK(h, 0, row);
    host_free(h);
}

/* Base 5.1.13. */
static void test_identify(void)
{
    static const Row row[] = {
        ROW(NVME_ADM_IDENTIFY, 0, (0x17), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0, (0x18), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0, (0x0b), NVME_SC_INVALID_FIELD), /* reserved */
        ROW(NVME_ADM_IDENTIFY, 0, (0x21), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0, (0xff), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0, (0x00), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 257, (0x00), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 3, (0x00), 0),   /* zeroes */
        ROW(NVME_ADM_IDENTIFY, ALL, (0x00), 0), /* what all have */
        ROW(NVME_ADM_IDENTIFY, 0xfffffffe, (0x02), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, ALL, (0x02), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 0, (0x03), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 3, (0x03), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0xfffffffe, (0x03), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, ALL, (0x03), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 0, (0x05), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 3, (0x05), 0), /* zeroes */
        ROW(NVME_ADM_IDENTIFY, ALL, (0x05), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 1, (0x05, 1 << 24), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0, (0x06, 1 << 24), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0, (0x07, 2 << 24), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, ALL, (0x07), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 0, (0x08), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, ALL, (0x08), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0, (0x09, 64), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0, (0x0a, 64), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, ALL, (0x10), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 0, (0x11), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 257, (0x11), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 3, (0x11), 0), /* zeroes */
        ROW(NVME_ADM_IDENTIFY, ALL, (0x11), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 0, (0x12), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 3, (0x12), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, ALL, (0x12), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0, (0x14),
            NVME_SC_INVALID_FIELD), /* no SR-IOV */
        ROW(NVME_ADM_IDENTIFY, 0, (0x1a, 1 << 24), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, ALL, (0x1a), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 3, (0x1b), 0), /* zeroes */
        ROW(NVME_ADM_IDENTIFY, 257, (0x1b), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, ALL, (0x1b), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 1, (0x1b, 2 << 24), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0, (0x1c | 7 << 16), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 3, (0x1f), 0), /* zeroes */
        ROW(NVME_ADM_IDENTIFY, 257, (0x1f), NVME_SC_INVALID_NSID),
    };
    static const Row unmanaged[] = {
        ROW(NVME_ADM_IDENTIFY, ALL, (0x00), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 2, (0x05), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 0, (0x16), NVME_SC_INVALID_FIELD),
    };
    /* Namespaces without logical blocks: CNS 00h and 11h. */
    static const Row pairs[] = {
        ROW(NVME_ADM_IDENTIFY, 1, (0x00), NVME_SC_WRONG_COMMAND_SET),
        ROW(NVME_ADM_IDENTIFY, 1, (0x11), NVME_SC_WRONG_COMMAND_SET),
        ROW(NVME_ADM_IDENTIFY, 1, (0x05), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 2, (0x05, 1 << 24), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 1, (0x1b), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 3, (0x05, 1 << 24), 0), /* zeroes */
        ROW(NVME_ADM_IDENTIFY, 1, (0x1a, 2 << 24), NVME_SC_INVALID_FIELD),
    };
    Host *h = ready(&(HostOptions){.namespaces = "2"});

    CHECK(h, 0, row);
    host_free(h);
    h = ready(NULL);
    CHECK(h, 0, unmanaged);
    host_free(h);
    h = kv_host(&(HostOptions){.namespaces = "8M:kv;rest"});
    CHECK(h, 0, pairs);
    host_free(h);
}

/* Base 5.1.12. */
static void test_logs(void)
{
    enum { LOG = NVME_ADM_GET_LOG_PAGE };
    static const Row row[] = {
        ROW(LOG, ALL, (0x0c | 15 << 16), NVME_SC_INVALID_LOG_PAGE),
        ROW(LOG, ALL, (0x20 | 15 << 16), NVME_SC_INVALID_LOG_PAGE), /* no FDP */
        ROW(LOG, ALL, (0x70 | 15 << 16), NVME_SC_INVALID_LOG_PAGE),
        ROW(LOG, ALL, (0xbf | 15 << 16),
            NVME_SC_INVALID_LOG_PAGE), /* no zones */
        /* LPOL: a multiple of 4, within the page. */
        ROW(LOG, ALL, (0x02 | 15 << 16, 0, 2), NVME_SC_INVALID_FIELD),
        ROW(LOG, ALL, (0x02 | 15 << 16, 0, 516), NVME_SC_INVALID_FIELD),
        ROW(LOG, ALL, (0x02 | 15 << 16, 0, 0, 1), NVME_SC_INVALID_FIELD),
        /* An index as the offset (OFT): no page has one. */
        ROW(LOG, ALL, (0x02 | 15 << 16, 0, 0, 0, 1 << 23),
            NVME_SC_INVALID_FIELD),
        /* More than MDTS. */
        ROW(LOG, ALL, (0x02 | 0xffffU << 16, 2), NVME_SC_INVALID_FIELD),
        /* The endurance group. */
        ROW(LOG, 0, (0x09 | 15 << 16, 2 << 16), NVME_SC_INVALID_FIELD),
        ROW_AT(LOG, ALL, (0x02 | 127 << 16), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
    };
    Host *h = ready(NULL);

    CHECK(h, 0, row);
    host_free(h);
}

/* Base 5.1.11 and 5.1.25. */
static void test_features(void)
{
    enum { GET = NVME_ADM_GET_FEATURES, SET = NVME_ADM_SET_FEATURES };
    static const Row row[] = {
        ROW(GET, 0, (0x00), NVME_SC_INVALID_FIELD), /* reserved */
        ROW(GET, 0, (0x03), NVME_SC_INVALID_FIELD),
        ROW(GET, 0, (0x20), NVME_SC_INVALID_FIELD),
        ROW(GET, 0, (0xff), NVME_SC_INVALID_FIELD),
        ROW(GET, 0, (0x0c), NVME_SC_INVALID_FIELD), /* not supported here */
        ROW(GET, 0, (0x19), NVME_SC_INVALID_FIELD),
        ROW(GET, 1, (0x84), NVME_SC_INVALID_FIELD),
        ROW(GET, 0, (0x01 | 4 << 8), NVME_SC_INVALID_FIELD), /* SEL */
        ROW(GET, 0, (0x01 | 7 << 8), NVME_SC_INVALID_FIELD),
        ROW(GET, 0, (0x04, 0xf << 16), NVME_SC_INVALID_FIELD), /* TMPSEL */
        ROW(GET, 0, (0x04, 1 << 16), NVME_SC_INVALID_FIELD),
        ROW(GET, 0, (0x04, 2 << 20), NVME_SC_INVALID_FIELD), /* THSEL */
        ROW(GET, 0, (0x09, 65), NVME_SC_INVALID_FIELD),      /* IV */
        ROW(SET, 0, (0x00), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x03), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0xff), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x19), NVME_SC_INVALID_FIELD),
        ROW(SET, 1, (0x84), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x07 | 1U << 31, 0), NVME_SC_FEATURE_NOT_SAVEABLE),
        ROW(SET, 0, (0x0e | 1U << 31, 0), NVME_SC_FEATURE_NOT_SAVEABLE),
        /* Reserved bits. */
        ROW(SET, 0, (0x01, 1 << 3), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x08, 1 << 16), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x0a, 2), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x15, 1 << 16), NVME_SC_INVALID_FIELD), /* LSIPI */
        ROW(SET, 0, (0x17, 1), NVME_SC_INVALID_FIELD), /* not supported here */
        ROW(SET, 0, (0x04, 0xf << 16 | 345), 0),       /* all sensors */
        ROW(SET, 0, (0x02, 1), NVME_SC_INVALID_FIELD), /* PS over NPSS */
        ROW(SET, 0, (0x04, 1 << 16), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x04, 3 << 20), NVME_SC_INVALID_FIELD),
        ROW(SET, 1, (0x05, 1 << 17), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x07, 0xffff), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x07, 0xffff0000), NVME_SC_INVALID_FIELD),
        /* After I/O queues were created. */
        ROW(SET, 0, (0x07, 0x10001), NVME_SC_COMMAND_SEQUENCE | RETRY),
        ROW(SET, 0, (0x09, 65), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x09, 0),
            NVME_SC_INVALID_FIELD), /* CD of the admin queue */
        ROW(SET, 0, (0x0f, UINT32_MAX), NVME_SC_KEEP_ALIVE_INVALID),
        ROW_DATA(SET, 0, (0x16), NVME_SC_INVALID_FIELD, "02"),   /* ACRE */
        ROW_DATA(SET, 0, (0x16), NVME_SC_INVALID_FIELD, "0002"), /* ETDAS */
        ROW_AT(SET, 0, (0x0e), NVME_SC_PRP_OFFSET, HOST_DATA + 2),
    };
    /* Base 5.1.25.1.32, Namespace Write Protection Config. */
    static const Row protect[] = {
        ROW(GET, 0, (0x84), NVME_SC_INVALID_NSID),
        ROW(GET, 3, (0x84), NVME_SC_INVALID_FIELD),
        ROW(GET, 257, (0x84), NVME_SC_INVALID_NSID),
        ROW(GET, ALL, (0x84), NVME_SC_INVALID_FIELD),
        ROW(GET, 1, (0x84 | 5 << 8), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x84, 1), NVME_SC_INVALID_NSID),
        ROW(SET, 3, (0x84, 1), NVME_SC_INVALID_FIELD),
        ROW(SET, 257, (0x84, 1), NVME_SC_INVALID_NSID),
        ROW(SET, 1, (0x84, 4), NVME_SC_INVALID_FIELD),
        ROW(SET, 1, (0x84, 7), NVME_SC_INVALID_FIELD),
        ROW(SET, 1, (0x84 | 1U << 31, 1), NVME_SC_FEATURE_NOT_SAVEABLE),
        ROW(SET, 1, (0x84, 2), 0), /* until a power cycle: not changed before */
        ROW(SET, 1, (0x84, 0), NVME_SC_FEATURE_NOT_CHANGEABLE),
        ROW(SET, 1, (0x84, 1), NVME_SC_FEATURE_NOT_CHANGEABLE),
        ROW(SET, ALL, (0x84, 0), NVME_SC_FEATURE_NOT_CHANGEABLE),
        ROW(SET, 2, (0x84, 3), 0), /* for ever */
        ROW(SET, 2, (0x84, 0), NVME_SC_FEATURE_NOT_CHANGEABLE),
    };
    static const Row protected[] = {
        ROW(NVME_IO_WRITE, 1, (0), NVME_SC_NS_PROTECTED),
        ROW(NVME_IO_WRITE_ZEROES, 1, (0), NVME_SC_NS_PROTECTED),
        ROW(NVME_IO_WRITE_UNCORRECTABLE, 1, (0), NVME_SC_NS_PROTECTED),
        ROW(NVME_IO_COPY, 1, (16), NVME_SC_NS_PROTECTED),
        ROW(NVME_IO_DSM, 1, (0, 4), NVME_SC_NS_PROTECTED),
        ROW(NVME_IO_READ, 1, (0), 0),
    };
    static const Row protected_admin[] = {
        ROW(NVME_ADM_FORMAT, 1, (0), NVME_SC_NS_PROTECTED),
        ROW(NVME_ADM_FORMAT, ALL, (0), NVME_SC_NS_PROTECTED),
        ROW(NVME_ADM_SANITIZE, 0, (4), NVME_SC_NS_PROTECTED),
        ROW(NVME_ADM_NS_MANAGEMENT, 1, (1), NVME_SC_NS_PROTECTED),
        ROW(NVME_ADM_NS_MANAGEMENT, ALL, (1), NVME_SC_NS_PROTECTED),
    };
    /* Base 5.1.25.1.17, I/O Command Set Profile: combination 0 is the only one
     * (CNS 1Ch). */
    static const Row profile[] = {
        ROW(GET, 0, (0x19), 0),
        ROW(GET, 0, (0x19 | 4 << 8), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x19, 0), 0),
        ROW(SET, 0, (0x19, 1), NVME_SC_COMMAND_SETS),
        ROW(SET, 0, (0x19, 0x1ff), NVME_SC_COMMAND_SETS),
        ROW(SET, 1, (0x19, 0), NVME_SC_FEATURE_NOT_NS),
        ROW(SET, 257, (0x19, 0), NVME_SC_INVALID_NSID),
        ROW(SET, 0, (0x19 | 1U << 31, 0), NVME_SC_FEATURE_NOT_SAVEABLE),
    };
    Host *h = ready(NULL);

    CHECK(h, 0, row);
    host_free(h);
    h = ready(&(HostOptions){.namespaces = "2"});
    CHECK(h, 0, protect);
    CHECK(h, 1, protected);
    CHECK(h, 0, protected_admin);
    host_free(h);
    h = kv_host(&(HostOptions){.namespaces = "8M:kv;rest"});
    CHECK(h, 0, profile);
    host_free(h);
}

/* Base 5.1.8, 5.1.9. */
static void test_firmware(void)
{
    enum { COMMIT = NVME_ADM_FIRMWARE_COMMIT };
    enum { LOAD = NVME_ADM_FIRMWARE_DOWNLOAD };
    static const Row row[] = {
        ROW(COMMIT, 0, (0 << 3 | 4), NVME_SC_FW_SLOT), /* 3 slots */
        ROW(COMMIT, 0, (2 << 3 | 0), NVME_SC_FW_SLOT),
        ROW(COMMIT, 0, (2 << 3 | 7), NVME_SC_FW_SLOT),
        ROW(COMMIT, 0, (0 << 3 | 1), NVME_SC_FW_SLOT),  /* read only */
        ROW(COMMIT, 0, (0 << 3 | 2), NVME_SC_FW_IMAGE), /* nothing there */
        ROW(COMMIT, 0, (2 << 3 | 2), NVME_SC_FW_IMAGE),
        ROW(COMMIT, 0, (3 << 3 | 2), NVME_SC_FW_IMAGE),
        ROW(COMMIT, 0, (4 << 3 | 2), NVME_SC_INVALID_FIELD), /* reserved */
        ROW(COMMIT, 0, (6 << 3 | 2),
            NVME_SC_INVALID_FIELD),                     /* boot partition */
        ROW(LOAD, 0, (1023, 1), NVME_SC_INVALID_FIELD), /* FWUG */
        ROW(LOAD, 0, (1023, 0x7fffffff), NVME_SC_INVALID_FIELD),
        ROW(LOAD, 0, (UINT32_MAX, 0), NVME_SC_INVALID_FIELD),
        ROW_AT(LOAD, 0, (1023, 0), NVME_SC_PRP_OFFSET, HOST_DATA + 2),
        ROW(LOAD, 0, (1023, 0), 0),
        ROW(LOAD, 0, (1023, 0), NVME_SC_OVERLAPPING_RANGE),
        ROW(COMMIT, 0, (1 << 3 | 2), NVME_SC_FW_IMAGE), /* it is no image */
    };
    Host *h = ready(NULL);

    CHECK(h, 0, row);
    host_free(h);
}

/* Base 5.1.20, 5.1.21; NVM 4.1.6. */
static void test_management(void)
{
    enum { MANAGE = NVME_ADM_NS_MANAGEMENT, ATTACH = NVME_ADM_NS_ATTACHMENT };
    static const char block[] = "01000000000000000100000000000000";
    static const char empty[] = "";
    static const char thin[] = "02000000000000000100000000000000";
    static const char large[] = "01000000000000000200000000000000";
    static const char huge[] = "ffffffffffffff0fffffffffffffff0f";
    static const char format[] =
        "01000000000000000100000000000000000000000000000000000f";
    static const char guard[] =
        "010000000000000001000000000000000000000000000000000000000001";
    static const Row row[] = {
        ROW(MANAGE, 0, (2), NVME_SC_INVALID_FIELD), /* SEL */
        ROW(MANAGE, 0, (15), NVME_SC_INVALID_FIELD),
        ROW_DATA(MANAGE, 0, (0, 1 << 24), NVME_SC_COMMAND_SET, block),
        ROW_DATA(MANAGE, 0, (0, 3 << 24), NVME_SC_COMMAND_SET, block),
        ROW_DATA(MANAGE, 0, (0), NVME_SC_INVALID_FIELD, empty),
        ROW_DATA(MANAGE, 0, (0), NVME_SC_NS_THIN, thin),
        ROW_DATA(MANAGE, 0, (0), NVME_SC_INVALID_FIELD, large),
        ROW_DATA(MANAGE, 0, (0), NVME_SC_NS_CAPACITY, huge),
        ROW_DATA(MANAGE, 0, (0), NVME_SC_INVALID_FORMAT, format),
        ROW_DATA(MANAGE, 0, (0), NVME_SC_INVALID_FORMAT, guard),
        ROW_AT(MANAGE, 0, (0), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        ROW(ATTACH, 1, (2), NVME_SC_INVALID_FIELD),   /* SEL */
        ROW(ATTACH, 1, (0), NVME_SC_CONTROLLER_LIST), /* it is empty */
        ROW_DATA(ATTACH, 1, (0), NVME_SC_CONTROLLER_LIST, "0100ff7f"),
        ROW_DATA(ATTACH, 1, (0), NVME_SC_CONTROLLER_LIST, "ffff"),
        ROW_DATA(ATTACH, 1, (0), NVME_SC_NS_ATTACHED, "01000100"),
        ROW_DATA(ATTACH, 1, (1), 0, "01000100"),
        ROW_DATA(ATTACH, 1, (1), NVME_SC_NS_NOT_ATTACHED, "01000100"),
        ROW_AT(ATTACH, 1, (0), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
    };
    Host *h = ready(&(HostOptions){.namespaces = "2"});

    CHECK(h, 0, row);
    host_free(h);
}

/* Base 5.1.4, 5.1.10, 5.1.22, 5.1.14; NVM 4.2. */
static void test_others(void)
{
    static const Row row[] = {
        ROW(NVME_ADM_SELF_TEST, 0, (0), NVME_SC_INVALID_FIELD), /* STC */
        ROW(NVME_ADM_SELF_TEST, 0, (3), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_SELF_TEST, 0, (0xe), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_SELF_TEST, 2, (1), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_FORMAT, 1, (3 << 9), NVME_SC_INVALID_FIELD), /* SES */
        ROW(NVME_ADM_FORMAT, 1, (7 << 9), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_FORMAT, 1, (15), NVME_SC_INVALID_FORMAT),
        ROW(NVME_ADM_FORMAT, 1, (3 << 12), NVME_SC_INVALID_FORMAT),
        ROW(NVME_ADM_FORMAT, 1, (1 << 5), NVME_SC_INVALID_FORMAT), /* PI */
        ROW(NVME_ADM_FORMAT, 1, (4 << 5), NVME_SC_INVALID_FORMAT),
        ROW(NVME_ADM_SANITIZE, 0, (0), NVME_SC_INVALID_FIELD), /* SANACT */
        ROW(NVME_ADM_SANITIZE, 0, (5), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_SANITIZE, 0, (7), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_SANITIZE, 0, (2 | 1 << 10),
            NVME_SC_INVALID_FIELD), /* EMVS */
        ROW(NVME_ADM_GET_LBA_STATUS, 1, (0, 0, 5, 0), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_GET_LBA_STATUS, 1, (0, 0, 5, 0xff000000),
            NVME_SC_INVALID_FIELD), /* ATYPE */
        ROW(NVME_ADM_GET_LBA_STATUS, 1, (LBAS, 0, 5, 0x11000000),
            NVME_SC_LBA_RANGE),
        ROW(NVME_ADM_GET_LBA_STATUS, 1, (LBAS - 1, 0, 5, 0x11000002),
            NVME_SC_LBA_RANGE),
        ROW(NVME_ADM_GET_LBA_STATUS, 1, (0, 0, UINT32_MAX, 0x11000000),
            NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_VIRTUALIZATION, 0, (0), NVME_SC_INVALID_OPCODE),
        ROW(NVME_ADM_DIRECTIVE_SEND, 1, (0), NVME_SC_INVALID_OPCODE),
    };
    /* Base 8.1.8, Directives. */
    static const Row directives[] = {
        ROW(NVME_ADM_DIRECTIVE_RECEIVE, 0, (0, 1), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_DIRECTIVE_RECEIVE, 2, (0, 1), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_DIRECTIVE_RECEIVE, ALL, (0, 1), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_DIRECTIVE_RECEIVE, 1, (0, 2),
            NVME_SC_INVALID_FIELD), /* DOPER */
        ROW(NVME_ADM_DIRECTIVE_RECEIVE, 1, (0, 3 << 8 | 1),
            NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_DIRECTIVE_RECEIVE, 1, (0, 1 << 8 | 1),
            NVME_SC_INVALID_FIELD), /* not enabled */
        ROW(NVME_ADM_DIRECTIVE_SEND, 1, (0, 2), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_DIRECTIVE_SEND, 1, (0, 1, 0), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_DIRECTIVE_SEND, 1, (0, 1, 3 << 8 | 1),
            NVME_SC_INVALID_FIELD),
    };
    Host *h = ready(&(HostOptions){.nblocks = LBAS});

    CHECK(h, 0, row);
    host_free(h);
    h = ready(&(HostOptions){
        .set = "streams.max=4;nand.blocks=64;ftl.op_percent=120%"});
    CHECK(h, 0, directives);
    host_free(h);
}

/* ---- I/O commands -------------------------------------------------------- */

/* NVM 3.2. */
static void test_io(void)
{
    static const uint8_t ranged[] = {
        NVME_IO_READ,    NVME_IO_WRITE,  NVME_IO_WRITE_UNCORRECTABLE,
        NVME_IO_COMPARE, NVME_IO_VERIFY, NVME_IO_WRITE_ZEROES,
    };
    static const Row row[] = {
        /* More than MDTS, VSL, WUSL. */
        ROW(NVME_IO_READ, 1, (0, 0, 1024), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_WRITE, 1, (0, 0, 1024), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_COMPARE, 1, (0, 0, 1024), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_VERIFY, 1, (0, 0, 1024), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_WRITE_UNCORRECTABLE, 1, (0, 0, 1024),
            NVME_SC_INVALID_FIELD),
        /* NVM 3.2.3: SLBA and length of each range. */
        ROW_DATA(NVME_IO_DSM, 1, (0, 4), 0, "0000000010270000"),
        ROW_DATA(NVME_IO_DSM, 1, (0, 4), NVME_SC_LBA_RANGE, "0000000011270000"),
        ROW_DATA(NVME_IO_DSM, 1, (0, 4), NVME_SC_LBA_RANGE,
                 "00000000010000001027000000000000"),
        ROW_DATA(NVME_IO_DSM, 1, (0, 4), NVME_SC_LBA_RANGE,
                 "00000000ffffffffffffffffffffffff"),
        ROW_AT(NVME_IO_DSM, 1, (0, 4), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        /* NVM 3.2.2: descriptor format, ranges, overlap. */
        ROW(NVME_IO_COPY, 1, (16, 0, 4 << 8), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_COPY, 1, (16, 0, 15 << 8), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_COPY, 1, (16, 0, 2 << 8), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_COPY, 1, (16, 0, 128), NVME_SC_COMMAND_SIZE), /* MSRC */
        ROW_DATA(NVME_IO_COPY, 1, (16), NVME_SC_COMMAND_SIZE,
                 "00000000000000000000000000000000ffff") /* MSSRL */,
        ROW(NVME_IO_COPY, 1, (LBAS), NVME_SC_LBA_RANGE),
        ROW_DATA(NVME_IO_COPY, 1, (16), NVME_SC_LBA_RANGE,
                 "00000000000000001027000000000000"),
        ROW(NVME_IO_COPY, 1, (0), NVME_SC_OVERLAPPING_IO),
        ROW_AT(NVME_IO_COPY, 1, (16), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        /* Base 7.1: SQID, action, CID. */
        ROW(NVME_IO_CANCEL, 1, (0xffff0002, 1), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_CANCEL, 1, (0xffff0001, 2), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_CANCEL, 1, (0x00050001, 1), NVME_SC_INVALID_FIELD),
        /* Base 3.4.2: the first of a pair, alone. */
        ROW_FLAGS(NVME_IO_COMPARE, 1, (0), NVME_SC_MISSING_FUSED, 1 << 8),
        ROW_FLAGS(NVME_IO_WRITE, 1, (0), NVME_SC_MISSING_FUSED, 2 << 8),
    };
    Host *h = ready(&(HostOptions){.nblocks = LBAS});

    for (unsigned i = 0; i < G_N_ELEMENTS(ranged); i++) {
        Row out[] = {
            ROW(ranged[i], 1, (LBAS), NVME_SC_LBA_RANGE),
            ROW(ranged[i], 1, (LBAS - 1, 0, 1), NVME_SC_LBA_RANGE),
            ROW(ranged[i], 1, (UINT32_MAX, UINT32_MAX), NVME_SC_LBA_RANGE),
            ROW(ranged[i], 1, (0, 1), NVME_SC_LBA_RANGE),
        };

        CHECK(h, 1, out);
    }
    CHECK(h, 1, row);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/fields/nsid-unused", test_nsid_unused);
    g_test_add_func("/nvme/fields/nsid-used", test_nsid_used);
    g_test_add_func("/nvme/fields/entry", test_entry);
    g_test_add_func("/nvme/fields/queues", test_queues);
    g_test_add_func("/nvme/fields/identify", test_identify);
    g_test_add_func("/nvme/fields/logs", test_logs);
    g_test_add_func("/nvme/fields/features", test_features);
    g_test_add_func("/nvme/fields/firmware", test_firmware);
    g_test_add_func("/nvme/fields/management", test_management);
    g_test_add_func("/nvme/fields/others", test_others);
    g_test_add_func("/nvme/fields/io", test_io);
    return g_test_run();
}
