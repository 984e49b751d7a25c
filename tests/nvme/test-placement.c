/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-placement.c - directives: their effects, and the exact status of each
 * error.  FDP is in test-fdp.c.
 */
#include <inttypes.h>

#include "placement.h"
#include "ssd-report.h"

#define STREAMS "nand.blocks=64;ftl.op_percent=120%;streams.max=4"

typedef struct Parameters {
    unsigned msl, nssa, nsso, nsa, nso, sgs;
    uint32_t sws;
} Parameters;

static Parameters parameters(Host *h, uint32_t nsid)
{
    HostCqe c = receive(h, nsid, STREAM, NVME_DIR_RECEIVE_PARAMETERS, 8, 0);

    g_assert_cmphex(code(c), ==, 0);
    g_assert_cmphex(h->ram[BUF + 32], ==, 0xee); /* no more than asked for */
    return (Parameters){
        .msl = get16(h, 0), .nssa = get16(h, 2), .nsso = get16(h, 4),
        .sws = get_le32(h->ram + BUF + 16), .sgs = get16(h, 20),
        .nsa = get16(h, 22), .nso = get16(h, 24),
    };
}

/* The open streams, as the namespace's status says. */
static char *open_ids(Host *h, uint32_t nsid)
{
    GString *s = g_string_new("");

    g_assert_cmphex(code(receive(h, nsid, STREAM, NVME_DIR_RECEIVE_STATUS, 32,
                                 0)), ==, 0);
    for (unsigned i = 0; i < get16(h, 0); i++) {
        g_string_append_printf(s, "%u ", get16(h, 2 + 2 * i));
    }
    return g_string_free(s, FALSE);
}

static void assert_open(Host *h, const char *ids)
{
    g_autofree char *found = open_ids(h, 1);

    g_assert_cmpstr(found, ==, ids);
}

/* ---- a drive without either ---------------------------------------------- */

/* Nothing is offered, commands are unknown, fields of a Write are ignored. */
static void test_none(void)
{
    Host *h = start(NULL);

    identify(h, 0, 1);
    g_assert_cmphex(get16(h, 256) & 1 << 5, ==, 0);               /* OACS */
    g_assert_cmphex(get_le32(h->ram + BUF + 96) & 0x80000, ==, 0); /* CTRATT */
    g_assert_cmphex(effects(h, NVME_ADM_DIRECTIVE_SEND, false), ==, 0);
    g_assert_cmphex(effects(h, NVME_IO_MGMT_SEND, true), ==, 0);
    g_assert_cmphex(enable(h, ALL, STREAM, true), ==, NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(code(receive(h, 1, IDENTIFY, 1, 1024, 0)), ==,
                    NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(code(send_cmd(h, 1, NVME_IO_MGMT_RECEIVE, 1, 1, 15, 0)), ==,
                    NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(get_log(h, 0x20, 0, 1), ==, NVME_SC_INVALID_LOG_PAGE);
    g_assert_cmphex(code(send_cmd(h, 0, NVME_ADM_GET_FEATURES, 0, 0x1d, 1, 0)),
                    ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(put(h, 3, STREAM, 2), ==, 0);
    g_assert_cmphex(put(h, 4, 0xf, 2), ==, 0);
    host_free(h);
}

/* ---- Identify directive -------------------------------------------------- */

static void test_identify(void)
{
    Host *h = start(STREAMS);

    identify(h, 0, 1);
    g_assert_cmphex(get16(h, 256) & 1 << 5, !=, 0);
    g_assert_cmphex(effects(h, NVME_ADM_DIRECTIVE_SEND, false), ==,
                    1 | 1 << 21);
    g_assert_cmphex(effects(h, NVME_ADM_DIRECTIVE_RECEIVE, false), ==,
                    1 | 1 << 21);
    g_assert_cmphex(code(receive(h, 1, IDENTIFY, 1, 1024, 0)), ==, 0);
    g_assert_cmphex(h->ram[BUF], ==, 3);      /* supported */
    g_assert_cmphex(h->ram[BUF + 32], ==, 1); /* enabled */
    g_assert_cmphex(h->ram[BUF + 64], ==, 0); /* persistent */
    for (unsigned i = 65; i < 4096; i++) {
        g_assert_cmphex(h->ram[BUF + i], ==, 0);
    }
    /* Shorter, and longer than the structure. */
    g_assert_cmphex(code(receive(h, 1, IDENTIFY, 1, 1, 0)), ==, 0);
    g_assert_cmphex(h->ram[BUF + 4], ==, 0xee);
    g_assert_cmphex(code(receive(h, 1, IDENTIFY, 1, 2048, 0)), ==, 0);
    g_assert_cmphex(h->ram[BUF + 4095], ==, 0);
    g_assert_cmphex(h->ram[BUF + 4096], ==, 0xee);
    g_assert_cmphex(code(receive(h, 1, IDENTIFY, 1, 1 << 20, 0)), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
    g_assert_cmphex(code(receive(h, 1, IDENTIFY, 1, 1024, 0)), ==, 0);
    g_assert_cmphex(h->ram[BUF + 32], ==, 3);
    host_free(h);
}

static void test_identify_misuse(void)
{
    Host *h = start(STREAMS);

    g_assert_cmphex(code(receive(h, ALL, IDENTIFY, 1, 1024, 0)), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(receive(h, 0, IDENTIFY, 1, 1024, 0)), ==,
                    NVME_SC_INVALID_NSID);
    g_assert_cmphex(code(receive(h, 2, IDENTIFY, 1, 1024, 0)), ==,
                    NVME_SC_INVALID_NSID);
    g_assert_cmphex(code(receive(h, 1, IDENTIFY, 2, 1024, 0)), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(receive(h, 1, 15, 1, 1024, 0)), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(enable(h, 1, IDENTIFY, true), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(enable(h, 1, PLACEMENT, true), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(enable(h, 1, 15, true), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(enable(h, 2, STREAM, true), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(send_dir(h, 1, IDENTIFY, 2, 0, STREAM << 8 | 1), ==,
                    NVME_SC_INVALID_FIELD);
    /* libnvme's helper shifts the type by one bit instead of eight. */
    g_assert_cmphex(send_dir(h, 1, IDENTIFY, NVME_DIR_SEND_ENABLE, 0, 3), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(receive(h, 1, STREAM, NVME_DIR_RECEIVE_PARAMETERS, 8,
                                 0)), ==, NVME_SC_INVALID_FIELD);
    host_free(h);
}

/* ---- streams ------------------------------------------------------------- */

/* Commands of Linux 4.13 to 5.17 with nvme_core.streams=1. */
static void test_linux(void)
{
    Host *h = start(STREAMS);
    Parameters p;

    g_assert_cmphex(enable(h, ALL, STREAM, true), ==, 0);
    p = parameters(h, ALL);
    g_assert_cmpuint(p.msl, ==, 4);
    g_assert_cmpuint(p.nssa, ==, 4);
    p = parameters(h, 1);
    g_assert_cmpuint(p.sws * h->info->block_bytes, ==, 16384);
    g_assert_cmpuint(p.sgs, ==, 4 * 16); /* four planes, 16 pages a block */
    g_assert_cmpuint(p.nsa, ==, 0);
    for (uint16_t id = 1; id <= 4; id++) {
        g_assert_cmphex(put(h, id, STREAM, id), ==, 0);
    }
    for (uint16_t id = 1; id <= 4; id++) {
        g_assert_cmpuint(stream_of(h, id), ==, id);
        g_assert_cmpuint(bytes_of(h, id), ==, h->info->unit_bytes);
    }
    g_assert_cmphex(put(h, 5, STREAM, 0), ==, 0);
    g_assert_cmphex(put(h, 6, 0, 3), ==, 0);
    g_assert_cmpuint(stream_of(h, 5), ==, 0);
    g_assert_cmpuint(stream_of(h, 6), ==, 0);
    assert_open(h, "1 2 3 4 ");
    host_free(h);
}

static void test_write_misuse(void)
{
    Host *h = start(STREAMS);
    NvmeSqe sqe;

    g_assert_cmphex(put(h, 1, STREAM, 9), ==, 0); /* disabled: ignored */
    g_assert_cmpuint(stream_of(h, 1), ==, 0);
    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
    g_assert_cmphex(put(h, 1, PLACEMENT, 1), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(put(h, 1, 3, 1), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(put(h, 1, 15, 1), ==, NVME_SC_INVALID_FIELD);
    /* A write that fails opens nothing. */
    sqe = host_rw(h, NVME_IO_WRITE, h->nblocks, 1, BUF);
    sqe.dw[12] |= STREAM << 20;
    sqe.dw[13] = 7U << 16;
    g_assert_cmphex(code(host_do(h, 1, &sqe)), ==, NVME_SC_LBA_RANGE);
    assert_open(h, "");
    for (uint32_t s = 1; s <= 4; s++) {
        g_assert_cmpuint(bytes_of(h, s), ==, 0);
    }
    host_free(h);
}

/* All state that a refused command must not change. */
static GString *all_of_it(Host *h)
{
    GString *s = g_string_new("");
    SsdStreamCounters c;
    Parameters p = parameters(h, 1);
    g_autofree char *open = open_ids(h, 1);

    g_string_printf(s, "%s nssa %u nsso %u nsa %u nso %u", open, p.nssa,
                    p.nsso, p.nsa, p.nso);
    for (uint32_t i = 0; i <= h->info->nstreams; i++) {
        ssd_get_stream(h->ssd, i, &c);
        g_string_append_printf(
            s, " [%" PRIu64 " %" PRIu64 " %" PRIu64 " %u]",
            c.host_bytes_written, c.host_units, c.padded_units,
            i < h->info->nstreams ? ssd_stream_open_blocks(h->ssd, i) : 0);
    }
    return s;
}

static uint16_t write_from(Host *h, uint16_t spec, uint64_t addr)
{
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, 0, 8, addr);

    sqe.dw[12] |= STREAM << 20;
    sqe.dw[13] = (uint32_t)spec << 16;
    return code(host_do(h, 1, &sqe));
}

/* Whatever is refused leaves streams, resources and counters as they are. */
static void test_untouched(void)
{
    Host *h = start(STREAMS);
    g_autoptr(GString) before = NULL;
    g_autoptr(GString) after = NULL;

    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
    for (uint16_t id = 1; id <= 4; id++) {
        put(h, id, STREAM, 10 * id);
    }
    host_flush(h, 1);
    before = all_of_it(h);
    for (unsigned type = 2; type < 16; type++) {
        g_assert_cmphex(put(h, 9, type, 7), ==, NVME_SC_INVALID_FIELD);
    }
    /* Its data cannot be had: it opens no stream, and closes none. */
    g_assert_cmphex(write_from(h, 7, HOST_RAM_BYTES), ==,
                    NVME_SC_DATA_TRANSFER);
    for (unsigned op = 0; op < 256; op++) {
        if (op != NVME_DIR_SEND_RELEASE_ID && op != NVME_DIR_SEND_RELEASE) {
            g_assert_cmphex(send_dir(h, 1, STREAM, op, 10, 0), ==,
                            NVME_SC_INVALID_FIELD);
        }
        if (op == 0 || op > NVME_DIR_RECEIVE_ALLOCATE) {
            g_assert_cmphex(code(receive(h, 1, STREAM, op, 8, 2)), ==,
                            NVME_SC_INVALID_FIELD);
        }
    }
    g_assert_cmphex(send_dir(h, 0, STREAM, NVME_DIR_SEND_RELEASE, 0, 0), ==,
                    NVME_SC_INVALID_NSID);
    g_assert_cmphex(send_dir(h, 2, STREAM, NVME_DIR_SEND_RELEASE_ID, 10, 0),
                    ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(send_dir(h, ALL, STREAM, NVME_DIR_SEND_RELEASE, 0, 0), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(send_dir(h, 1, STREAM, NVME_DIR_SEND_RELEASE_ID, 11, 0),
                    ==, 0);
    g_assert_cmphex(code(receive(h, 2, STREAM, NVME_DIR_RECEIVE_ALLOCATE, 1,
                                 2)), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(enable(h, 1, IDENTIFY, false), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(enable(h, 1, PLACEMENT, false), ==, NVME_SC_INVALID_FIELD);
    after = all_of_it(h);
    g_assert_cmpstr(before->str, ==, after->str);
    host_free(h);
}

static uint16_t zero(Host *h, uint64_t lba, uint32_t n, unsigned type,
                     uint16_t spec)
{
    NvmeSqe sqe = host_sqe(NVME_IO_WRITE_ZEROES, 1, 0);

    sqe.dw[10] = (uint32_t)lba;
    sqe.dw[12] = (n - 1) | type << 20;
    sqe.dw[13] = (uint32_t)spec << 16;
    return code(host_do(h, 1, &sqe));
}

/* Its directive applies to the parts of units that it writes. */
static void test_write_zeroes(void)
{
    Host *h = start(STREAMS);
    uint32_t n = h->info->unit_bytes / h->info->block_bytes;

    g_assert_cmphex(zero(h, n + 1, 2, STREAM, 9), ==, 0); /* disabled: ignored */
    g_assert_cmpuint(stream_of(h, 1), ==, 0);
    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
    g_assert_cmphex(zero(h, n + 1, 2, STREAM, 9), ==, 0);
    assert_open(h, "9 ");
    g_assert_cmpuint(stream_of(h, 1), ==, 1);
    g_assert_cmpuint(bytes_of(h, 1), ==, 2 * h->info->block_bytes);
    g_assert_cmphex(zero(h, 2 * n + 1, 2, STREAM | 8, 9), ==, 0); /* bit 23 */
    g_assert_cmpuint(stream_of(h, 2), ==, 1);
    g_assert_cmphex(zero(h, 3 * n + 1, 2, PLACEMENT, 9), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(zero(h, h->nblocks, 2, STREAM, 10), ==, NVME_SC_LBA_RANGE);
    assert_open(h, "9 ");
    /* A part, two whole units, which are deallocated, and a part. */
    g_assert_cmphex(zero(h, 5 * n - 1, 2 * n + 2, STREAM, 11), ==, 0);
    assert_open(h, "9 11 ");
    g_assert_cmpuint(stream_of(h, 4), ==, 2);
    g_assert_cmpuint(stream_of(h, 7), ==, 2);
    g_assert_false(ssd_mapped(h->ssd, 5 * n, NULL));
    g_assert_cmpuint(bytes_of(h, 2), ==, 2 * h->info->block_bytes);
    host_free(h);
}

/* Get Status into less, and into more than there are streams. */
static void test_status_length(void)
{
    Host *h = start(STREAMS);

    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
    for (uint16_t id = 1; id <= 3; id++) {
        put(h, id, STREAM, id * 0x101);
    }
    g_assert_cmphex(code(receive(h, 1, STREAM, NVME_DIR_RECEIVE_STATUS, 1, 0)),
                    ==, 0);
    g_assert_cmphex(get_le32(h->ram + BUF), ==, 0x01010003);
    g_assert_cmphex(h->ram[BUF + 4], ==, 0xee);
    g_assert_cmphex(code(receive(h, 1, STREAM, NVME_DIR_RECEIVE_STATUS, 1024,
                                 0)), ==, 0);
    g_assert_cmphex(get16(h, 6), ==, 0x303);
    for (unsigned i = 8; i < 4096; i++) {
        g_assert_cmphex(h->ram[BUF + i], ==, 0);
    }
    g_assert_cmphex(h->ram[BUF + 4096], ==, 0xee);
    /* Return Parameters: 32 bytes, however much is asked for. */
    g_assert_cmphex(code(receive(h, 1, STREAM, NVME_DIR_RECEIVE_PARAMETERS,
                                 1024, 0)), ==, 0);
    g_assert_cmphex(get16(h, 24), ==, 3);
    g_assert_cmphex(h->ram[BUF + 32], ==, 0xee);
    g_assert_cmphex(code(receive(h, 1, STREAM, NVME_DIR_RECEIVE_PARAMETERS, 1,
                                 0)), ==, 0);
    g_assert_cmphex(get_le32(h->ram + BUF), ==, 0x00040004);
    g_assert_cmphex(h->ram[BUF + 4], ==, 0xee);
    host_free(h);
}

/* With all resources in use, the stream written least recently is closed. */
static void test_implicit(void)
{
    Host *h = start(STREAMS);
    uint32_t reused;

    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
    put(h, 1, STREAM, 100);
    put(h, 2, STREAM, 65535);
    put(h, 3, STREAM, 300);
    put(h, 4, STREAM, 7);
    put(h, 5, STREAM, 100);
    reused = stream_of(h, 2);
    assert_open(h, "7 100 300 65535 ");
    g_assert_cmpuint(parameters(h, 1).nso, ==, 4);
    g_assert_cmpuint(parameters(h, 1).nsso, ==, 4);
    put(h, 6, STREAM, 8);
    assert_open(h, "7 8 100 300 ");
    g_assert_cmpuint(stream_of(h, 6), ==, reused);
    put(h, 7, STREAM, 65535);
    assert_open(h, "7 8 100 65535 ");
    host_free(h);
}

static void test_release_id(void)
{
    Host *h = start(STREAMS);

    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
    put(h, 1, STREAM, 5);
    put(h, 2, STREAM, 6);
    g_assert_cmphex(send_dir(h, 1, STREAM, NVME_DIR_SEND_RELEASE_ID, 5, 0), ==,
                    0);
    assert_open(h, "6 ");
    /* Unknown, and not even an identifier: no error, no effect. */
    g_assert_cmphex(send_dir(h, 1, STREAM, NVME_DIR_SEND_RELEASE_ID, 5, 0), ==,
                    0);
    g_assert_cmphex(send_dir(h, 1, STREAM, NVME_DIR_SEND_RELEASE_ID, 0, 0), ==,
                    0);
    g_assert_cmphex(send_dir(h, ALL, STREAM, NVME_DIR_SEND_RELEASE_ID, 6, 0),
                    ==, NVME_SC_INVALID_FIELD);
    assert_open(h, "6 ");
    g_assert_cmpuint(parameters(h, 1).nso, ==, 1);
    host_free(h);
}

static HostCqe allocate(Host *h, uint32_t nsid, uint32_t n)
{
    return receive(h, nsid, STREAM, NVME_DIR_RECEIVE_ALLOCATE, 1, n);
}

static void test_resources(void)
{
    Host *h = start(STREAMS);
    g_autofree char *all = NULL;
    Parameters p;
    HostCqe c;

    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
    put(h, 1, STREAM, 1);
    put(h, 2, STREAM, 2);
    put(h, 3, STREAM, 3);
    c = allocate(h, 1, 2);
    g_assert_cmphex(code(c), ==, 0);
    g_assert_cmpuint(c.dw0, ==, 2);
    assert_open(h, "2 3 ");
    all = open_ids(h, ALL); /* none of them is the subsystem's */
    g_assert_cmpstr(all, ==, "");
    p = parameters(h, 1);
    g_assert_cmpuint(p.nsa, ==, 2);
    g_assert_cmpuint(p.nssa, ==, 2);
    g_assert_cmpuint(p.nsso, ==, 0);
    g_assert_cmpuint(p.nso, ==, 2);
    p = parameters(h, ALL);
    g_assert_cmpuint(p.nsa + p.nso, ==, 0); /* of a namespace */
    put(h, 4, STREAM, 4);
    assert_open(h, "3 4 ");
    g_assert_cmphex(code(allocate(h, 1, 4)), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(allocate(h, ALL, 1)), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(send_dir(h, 1, STREAM, NVME_DIR_SEND_RELEASE, 0, 0), ==, 0);
    assert_open(h, "");
    g_assert_cmpuint(parameters(h, 1).nssa, ==, 4);
    /* Again: no action, no error.  More than there is: as many as there are. */
    g_assert_cmphex(send_dir(h, 1, STREAM, NVME_DIR_SEND_RELEASE, 0, 0), ==, 0);
    g_assert_cmphex(send_dir(h, 1, STREAM, 3, 0, 0), ==, NVME_SC_INVALID_FIELD);
    c = allocate(h, 1, 0xffff);
    g_assert_cmpuint(c.dw0, ==, 4);
    g_assert_cmphex(code(receive(h, 1, STREAM, 4, 1, 0)), ==,
                    NVME_SC_INVALID_FIELD);
    host_free(h);
}

/* Disabling it, and a reset, release everything; data stays. */
static void test_reset(void)
{
    Host *h = start(STREAMS);

    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
    put(h, 1, STREAM, 1);
    allocate(h, 1, 3);
    g_assert_cmphex(enable(h, 1, STREAM, false), ==, 0);
    g_assert_cmphex(code(allocate(h, 1, 3)), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
    assert_open(h, "");
    g_assert_cmpuint(parameters(h, 1).nsa, ==, 0);
    put(h, 2, STREAM, 1);
    allocate(h, 1, 3);
    host_write32(h, NVME_REG_CC, 0);
    h->cq[1].size = 0;
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmphex(code(receive(h, 1, IDENTIFY, 1, 1024, 0)), ==, 0);
    g_assert_cmphex(h->ram[BUF + 32], ==, 1);
    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
    assert_open(h, "");
    g_assert_cmpuint(parameters(h, 1).nsa, ==, 0);
    g_assert_cmpuint(stream_of(h, 2), ==, 0); /* from the buffer */
    host_free(h);
}

typedef enum Reset { RESET_CC, RESET_FUNCTION, RESET_POWER, N_RESETS } Reset;

static void reset(Host *h, Reset how)
{
    if (how == RESET_CC) {
        host_write32(h, NVME_REG_CC, 0);
    } else if (how == RESET_FUNCTION) {
        nvme_reset(h->ctrl, h->now_ns);
    } else {
        nvme_power_cut(h->ctrl, h->now_ns);
        nvme_power_on(h->ctrl, h->now_ns);
    }
    h->cq[1].size = 0;
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
}

/* Every Controller Level Reset disables the directive and releases all. */
static void test_resets(void)
{
    for (Reset how = 0; how < N_RESETS; how++) {
        Host *h = start(STREAMS);
        Parameters p;

        g_assert_cmphex(enable(h, ALL, STREAM, true), ==, 0);
        put(h, 1, STREAM, 1);
        put(h, 2, STREAM, 2);
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        allocate(h, 1, 3);
        reset(h, how);
        g_assert_cmphex(code(receive(h, 1, STREAM, NVME_DIR_RECEIVE_PARAMETERS,
                                     8, 0)), ==, NVME_SC_INVALID_FIELD);
        g_assert_cmphex(put(h, 3, STREAM, 2), ==, 0); /* ignored */
        g_assert_cmpuint(stream_of(h, 3), ==, 0);
        g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
        p = parameters(h, 1);
        g_assert_cmpuint(p.nssa, ==, 4);
        g_assert_cmpuint(p.nsa + p.nso + p.nsso, ==, 0);
        g_assert_cmpuint(stream_of(h, 2), ==, 2); /* data stays */
        host_free(h);
    }
}

/* Every identifier there is, one after the other; then the drive still works. */
static void test_hostile(void)
{
    Host *h = start(STREAMS);

    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0);
    for (uint32_t id = 1; id < 65536; id += 13) {
        g_assert_cmphex(put(h, id % 200, STREAM, (uint16_t)id), ==, 0);
    }
    g_assert_cmpuint(parameters(h, 1).nso, ==, 4);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_true(ssd_check(h->ssd, NULL));
    host_free(h);
}

/* ---- several controllers ------------------------------------------------- */

/* Of host `id`; 0: one of its own. */
static Host *add(Host *first, uint16_t cntlid, uint8_t id)
{
    GError *error = NULL;
    Host *h = host_add(first, cntlid, &error);
    NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, BUF);

    g_assert_no_error(error);
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    memset(host_ram(h, BUF, 16), 0, 16);
    h->ram[BUF] = id;
    sqe.dw[10] = 0x81;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    return h;
}

static Host *first_of_many(void)
{
    Host *h = host_new(&(HostOptions){.set = STREAMS, .controllers = 4});

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

/* Controllers of one host have its streams; the same number of another host is
 * another stream. */
static void test_hosts(void)
{
    Host *h = first_of_many();
    Host *a = add(h, 5, 0x11);
    Host *b = add(h, 6, 0x11);
    Host *c = add(h, 7, 0x22);

    g_assert_cmphex(enable(a, 1, STREAM, true), ==, 0);
    g_assert_cmphex(put(c, 1, STREAM, 9), ==, 0); /* it has not enabled them */
    assert_open(a, "");
    g_assert_cmphex(put(b, 1, STREAM, 9), ==, 0); /* its host has */
    assert_open(a, "9 ");
    g_assert_cmphex(put(a, 2, STREAM, 9), ==, 0);
    assert_open(b, "9 ");
    g_assert_cmphex(code(receive(h, 1, STREAM, NVME_DIR_RECEIVE_STATUS, 1, 0)),
                    ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(enable(c, 1, STREAM, true), ==, 0);
    g_assert_cmphex(put(c, 3, STREAM, 9), ==, 0);
    g_assert_cmphex(put(c, 4, STREAM, 8), ==, 0);
    assert_open(c, "8 9 ");
    assert_open(a, "9 ");
    g_assert_cmpuint(parameters(a, 1).nsso, ==, 3); /* of the subsystem */
    g_assert_cmpuint(parameters(a, 1).nso, ==, 1);
    host_flush(h, 1);
    host_run(h);
    g_assert_cmpuint(stream_of(h, 1), ==, stream_of(h, 2));
    g_assert_cmpuint(stream_of(h, 1), !=, stream_of(h, 3));
    g_assert_cmpuint(stream_of(h, 3), !=, stream_of(h, 4));
    g_assert_cmphex(send_dir(c, 1, STREAM, NVME_DIR_SEND_RELEASE_ID, 9, 0), ==,
                    0);
    assert_open(c, "8 ");
    assert_open(b, "9 ");
    host_free(b); /* its host has another one */
    assert_open(a, "9 ");
    host_write32(a, NVME_REG_CC, 0); /* the last one of its host */
    g_assert_cmpuint(parameters(c, 1).nsso, ==, 1);
    host_free(a);
    host_free(c);
    host_free(h);
}

/* There are 4: what a host has for itself, the others have not. */
static void test_hosts_resources(void)
{
    Host *h = first_of_many();
    Host *a = add(h, 5, 0x11);
    Host *b = add(h, 6, 0);

    g_assert_cmphex(enable(a, 1, STREAM, true), ==, 0);
    g_assert_cmphex(enable(b, 1, STREAM, true), ==, 0);
    g_assert_cmphex(put(a, 1, STREAM, 1), ==, 0);
    g_assert_cmphex(put(a, 2, STREAM, 2), ==, 0);
    g_assert_cmphex(put(b, 3, STREAM, 1), ==, 0);
    g_assert_cmphex(put(b, 4, STREAM, 2), ==, 0);
    g_assert_cmphex(put(b, 5, STREAM, 3), ==, 0); /* the oldest one goes */
    assert_open(a, "2 ");
    g_assert_cmpuint(allocate(a, 1, 2).dw0, ==, 2);
    assert_open(a, "2 ");
    assert_open(b, "2 3 "); /* two are left for all others */
    g_assert_cmpuint(parameters(b, 1).nssa, ==, 2);
    g_assert_cmphex(put(b, 6, STREAM, 4), ==, 0);
    assert_open(a, "2 ");
    assert_open(b, "3 4 ");
    g_assert_cmphex(put(a, 7, STREAM, 3), ==, 0);
    g_assert_cmphex(put(a, 8, STREAM, 4), ==, 0);
    assert_open(a, "3 4 ");
    assert_open(b, "3 4 ");
    g_assert_cmpuint(allocate(b, 1, 9).dw0, ==, 2);
    g_assert_cmphex(enable(h, 1, STREAM, true), ==, 0); /* none is left */
    g_assert_cmphex(put(h, 9, STREAM, 1), ==, 0);
    assert_open(h, "");
    g_assert_cmpuint(allocate(h, 1, 1).dw0, ==, 0);
    g_assert_cmphex(enable(b, 1, STREAM, false), ==, 0);
    g_assert_cmphex(put(h, 9, STREAM, 1), ==, 0);
    assert_open(h, "1 ");
    /* Another Host Identifier: nothing of the former host is left. */
    host_free(b);
    b = add(h, 8, 0);
    g_assert_cmphex(enable(b, 1, STREAM, true), ==, 0);
    g_assert_cmphex(put(b, 1, STREAM, 5), ==, 0);
    assert_open(b, "5 ");
    memset(host_ram(b, BUF, 16), 0x33, 16);
    g_assert_cmphex(code(send_cmd(b, 0, NVME_ADM_SET_FEATURES, 0, 0x81, 0, 0)),
                    ==, 0);
    g_assert_cmphex(code(receive(b, 1, STREAM, NVME_DIR_RECEIVE_STATUS, 1, 0)),
                    ==, NVME_SC_INVALID_FIELD);
    g_assert_cmpuint(parameters(h, 1).nsso, ==, 1);
    host_free(b);
    host_free(a);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/placement/none", test_none);
    g_test_add_func("/placement/identify", test_identify);
    g_test_add_func("/placement/identify-misuse", test_identify_misuse);
    g_test_add_func("/placement/linux", test_linux);
    g_test_add_func("/placement/write-misuse", test_write_misuse);
    g_test_add_func("/placement/untouched", test_untouched);
    g_test_add_func("/placement/write-zeroes", test_write_zeroes);
    g_test_add_func("/placement/status-length", test_status_length);
    g_test_add_func("/placement/implicit", test_implicit);
    g_test_add_func("/placement/release-id", test_release_id);
    g_test_add_func("/placement/resources", test_resources);
    g_test_add_func("/placement/reset", test_reset);
    g_test_add_func("/placement/resets", test_resets);
    g_test_add_func("/placement/hosts", test_hosts);
    g_test_add_func("/placement/hosts-resources", test_hosts_resources);
    g_test_add_func("/placement/hostile", test_hostile);
    return g_test_run();
}
