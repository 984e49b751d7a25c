/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-placement.c - directives and FDP: what they do, and the exact status of
 * everything that is wrong.
 */
#include "host.h"

#define ALL NVME_NSID_ALL
#define BUF HOST_DATA
#define STREAMS "nand.blocks=64;ftl.op_percent=120%;streams.max=4"
#define FDP "nand.blocks=64;ftl.op_percent=120%;fdp.ruhs=4"

enum { IDENTIFY = NVME_DIR_IDENTIFY, STREAM = NVME_DIR_STREAMS,
       PLACEMENT = NVME_DIR_PLACEMENT };

static Host *start(const char *set)
{
    HostOptions o = { .set = set };
    Host *h = host_new(&o);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

static HostCqe send_cmd(Host *h, unsigned queue, uint8_t opcode, uint32_t nsid,
                        uint32_t dw10, uint32_t dw11, uint32_t dw12)
{
    NvmeSqe sqe = host_sqe(opcode, nsid, BUF);

    sqe.dw[10] = dw10;
    sqe.dw[11] = dw11;
    sqe.dw[12] = dw12;
    return host_do(h, queue, &sqe);
}

static uint16_t code(HostCqe cqe)
{
    return host_code(cqe.status);
}

/* Directive Receive of n dwords, after the buffer is filled with 0xee. */
static HostCqe receive(Host *h, uint32_t nsid, unsigned type, unsigned op,
                       uint32_t dwords, uint32_t dw12)
{
    memset(h->ram + BUF, 0xee, 8192);
    return send_cmd(h, 0, NVME_ADM_DIRECTIVE_RECEIVE, nsid, dwords - 1,
                    type << 8 | op, dw12);
}

static uint16_t send_dir(Host *h, uint32_t nsid, unsigned type, unsigned op,
                         uint16_t spec, uint32_t dw12)
{
    return code(send_cmd(h, 0, NVME_ADM_DIRECTIVE_SEND, nsid, 0,
                         (uint32_t)spec << 16 | type << 8 | op, dw12));
}

static uint16_t enable(Host *h, uint32_t nsid, unsigned type, bool on)
{
    return send_dir(h, nsid, IDENTIFY, NVME_DIR_SEND_ENABLE, 0, type << 8 | on);
}

static uint16_t get16(const Host *h, unsigned offset)
{
    return get_le16(h->ram + BUF + offset);
}

/* Write one unit with a directive. */
static uint16_t put(Host *h, uint64_t unit, unsigned type, uint16_t spec)
{
    uint32_t n = h->info->unit_bytes / h->info->block_bytes;
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, unit * n, n, BUF + 0x10000);

    sqe.dw[12] |= type << 20;
    sqe.dw[13] = (uint32_t)spec << 16;
    return code(host_do(h, 1, &sqe));
}

static uint32_t stream_of(Host *h, uint64_t unit)
{
    SsdPlace p;

    ssd_place(h->ssd, unit * (h->info->unit_bytes / h->info->block_bytes), &p);
    g_assert_true(p.mapped);
    return p.stream;
}

static uint64_t bytes_of(Host *h, uint32_t stream)
{
    SsdStreamCounters c;

    ssd_get_stream(h->ssd, stream, &c);
    return c.host_bytes_written;
}

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

static void identify(Host *h, uint32_t nsid, unsigned cns)
{
    memset(h->ram + BUF, 0xee, 8192);
    g_assert_cmphex(code(send_cmd(h, 0, NVME_ADM_IDENTIFY, nsid, cns, 0, 0)),
                    ==, 0);
}

static uint32_t effects(Host *h, unsigned opcode, bool io)
{
    g_assert_cmphex(code(send_cmd(h, 0, NVME_ADM_GET_LOG_PAGE, 0,
                                  1023U << 16 | 0x05, 0, 0)), ==, 0);
    return get_le32(h->ram + BUF + (io ? 1024 : 0) + 4 * opcode);
}

static uint16_t get_log(Host *h, unsigned lid, unsigned lsp, unsigned group)
{
    memset(h->ram + BUF, 0xee, 8192);
    return code(send_cmd(h, 0, NVME_ADM_GET_LOG_PAGE, 0,
                         127U << 16 | lsp << 8 | lid, group << 16, 0));
}

/* Nothing is offered, commands are unknown, fields of a Write are ignored. */
static void test_none(void)
{
    Host *h = start(NULL);

    identify(h, 0, 1);
    g_assert_cmphex(get16(h, 256) & 1 << 5, ==, 0);               /* OACS */
    g_assert_cmphex(get_le32(h->ram + BUF + 96) & 0x80010, ==, 0); /* CTRATT */
    g_assert_cmphex(get16(h, 340), ==, 0);
    identify(h, 1, 0);
    g_assert_cmphex(get16(h, 102), ==, 0);
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

/* ---- Identify directive --------------------------------------------------- */

static void test_identify(void)
{
    Host *h = start(STREAMS);

    identify(h, 0, 1);
    g_assert_cmphex(get16(h, 256) & 1 << 5, !=, 0);
    g_assert_cmphex(effects(h, NVME_ADM_DIRECTIVE_SEND, false), ==, 1);
    g_assert_cmphex(effects(h, NVME_ADM_DIRECTIVE_RECEIVE, false), ==, 1);
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

/* ---- streams --------------------------------------------------------------- */

/* What Linux 4.13 to 5.17 does with nvme_core.streams=1. */
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

/* ---- FDP ------------------------------------------------------------------- */

static void test_fdp_identify(void)
{
    Host *h = start(FDP);

    identify(h, 0, 1);
    g_assert_cmphex(get_le32(h->ram + BUF + 96) & 0x80010, ==, 0x80010);
    g_assert_cmphex(get16(h, 340), ==, 1);
    identify(h, 1, 0);
    g_assert_cmphex(get16(h, 102), ==, 1); /* ENDGID */
    identify(h, 0, 0x19);
    g_assert_cmphex(get_le32(h->ram + BUF), ==, 0x10001);
    g_assert_cmphex(effects(h, NVME_IO_MGMT_SEND, true), ==, 1);
    g_assert_cmphex(code(receive(h, 1, IDENTIFY, 1, 1024, 0)), ==, 0);
    g_assert_cmphex(h->ram[BUF], ==, 5);
    g_assert_cmphex(h->ram[BUF + 32], ==, 5);
    g_assert_cmphex(h->ram[BUF + 64], ==, 4);
    /* Feature 1Dh: enabled, and not to be changed with a namespace there. */
    g_assert_cmphex(send_cmd(h, 0, NVME_ADM_GET_FEATURES, 0, 0x1d, 1, 0).dw0,
                    ==, 1);
    g_assert_cmphex(code(send_cmd(h, 0, NVME_ADM_GET_FEATURES, 0, 0x1d, 2, 0)),
                    ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(send_cmd(h, 0, NVME_ADM_SET_FEATURES, 0, 0x1d, 1, 0)),
                    ==, NVME_SC_COMMAND_SEQUENCE);
    g_assert_cmphex(code(send_cmd(h, 0, NVME_ADM_SET_FEATURES, 0, 0x1d, 2, 0)),
                    ==, NVME_SC_INVALID_FIELD);
    host_free(h);
}

static void test_fdp_logs(void)
{
    Host *h = start(FDP);
    const uint8_t *d = h->ram + BUF;

    g_assert_cmphex(get_log(h, 0x20, 0, 1), ==, 0);
    g_assert_cmpuint(get_le16(d), ==, 0);
    g_assert_cmpuint(get_le32(d + 4), ==, 16 + 64 + 16);
    g_assert_cmpuint(get_le16(d + 16), ==, 64 + 16);
    g_assert_cmphex(d[18], ==, 0x80);
    g_assert_cmpuint(get_le32(d + 20), ==, 1);  /* NRG */
    g_assert_cmpuint(get_le16(d + 24), ==, 4);  /* NRUH */
    g_assert_cmpuint(get_le16(d + 26), ==, 3);  /* MAXPIDS */
    g_assert_cmpuint(get_le64(d + 32), ==, 4 * 16 * 16384);
    g_assert_cmphex(d[16 + 64], ==, 2); /* persistently isolated */
    g_assert_cmphex(d[16 + 64 + 12], ==, 2);
    g_assert_cmphex(get_log(h, 0x21, 0, 1), ==, 0);
    g_assert_cmpuint(get_le16(d), ==, 4);
    g_assert_cmpuint(d[8] + d[16] + d[24] + d[32], ==, 4);
    g_assert_cmphex(get_log(h, 0x09, 0, 1), ==, 0);
    g_assert_cmpuint(d[3], ==, 100);
    for (unsigned lid = 0x20; lid <= 0x23; lid++) {
        g_assert_cmphex(get_log(h, lid, 1, 0), ==, NVME_SC_INVALID_FIELD);
        g_assert_cmphex(get_log(h, lid, 1, 2), ==, NVME_SC_INVALID_FIELD);
    }
    host_free(h);
    h = start(FDP ";streams.gc=merge");
    g_assert_cmphex(get_log(h, 0x20, 0, 1), ==, 0);
    g_assert_cmphex(h->ram[BUF + 16 + 64], ==, 1); /* initially isolated */
    host_free(h);
}

static void test_fdp_writes(void)
{
    Host *h = start(FDP);
    const uint8_t *d = h->ram + BUF;

    for (uint16_t pid = 0; pid < 4; pid++) {
        g_assert_cmphex(put(h, pid, PLACEMENT, pid), ==, 0);
        g_assert_cmpuint(stream_of(h, pid), ==, pid);
    }
    g_assert_cmphex(put(h, 5, 0, 3), ==, 0);
    g_assert_cmpuint(stream_of(h, 5), ==, 0);
    g_assert_cmphex(put(h, 6, PLACEMENT, 4), ==, 0); /* no such: the default */
    g_assert_cmpuint(stream_of(h, 6), ==, 0);
    g_assert_cmphex(put(h, 7, STREAM, 1), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(get_log(h, 0x22, 0, 1), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 6 * 4096);
    /* Four pages: flushed, so padded; handle 0 has three of the six units. */
    g_assert_cmpuint(get_le64(d + 16), ==, 4 * 16384);
    g_assert_cmpuint(get_le64(d + 32), ==, 0);
    /* Disabled for the namespace: fields of a Write are ignored. */
    g_assert_cmphex(enable(h, ALL, PLACEMENT, false), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(enable(h, 1, STREAM, true), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(enable(h, 1, PLACEMENT, false), ==, 0);
    g_assert_cmphex(put(h, 8, PLACEMENT, 2), ==, 0);
    g_assert_cmpuint(stream_of(h, 8), ==, 0);
    g_assert_cmphex(enable(h, 1, PLACEMENT, true), ==, 0);
    g_assert_cmphex(send_dir(h, 1, PLACEMENT, 1, 0, 0), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(receive(h, 1, PLACEMENT, 1, 8, 0)), ==,
                    NVME_SC_INVALID_FIELD);
    host_free(h);
}

static uint64_t room(Host *h, unsigned pid)
{
    memset(h->ram + BUF, 0xee, 4096);
    g_assert_cmphex(code(send_cmd(h, 1, NVME_IO_MGMT_RECEIVE, 1, 1, 63, 0)), ==,
                    0);
    g_assert_cmpuint(get16(h, 14), ==, 4);
    g_assert_cmpuint(get16(h, 16 + 32 * pid), ==, pid);
    g_assert_cmpuint(get16(h, 16 + 32 * pid + 2), ==, pid);
    g_assert_cmphex(h->ram[BUF + 16 + 4 * 32], ==, 0);   /* beyond its end */
    g_assert_cmphex(h->ram[BUF + 256], ==, 0xee); /* beyond what was asked */
    return get_le64(h->ram + BUF + 16 + 32 * pid + 8);
}

static uint16_t update(Host *h, uint32_t nsid, uint16_t pid, uint16_t npid)
{
    put_le16(h->ram + BUF, 0);
    put_le16(h->ram + BUF + 2 * npid, pid);
    return code(send_cmd(h, 1, NVME_IO_MGMT_SEND, nsid,
                         (uint32_t)npid << 16 | 1, 0, 0));
}

static void test_fdp_management(void)
{
    Host *h = start(FDP);
    uint64_t full = 4 * 16 * 16384 / h->info->block_bytes;

    g_assert_cmpuint(room(h, 2), ==, full);
    put(h, 1, PLACEMENT, 2);
    host_flush(h, 1);
    g_assert_cmpuint(room(h, 2), ==, full - 16384 / h->info->block_bytes);
    g_assert_cmphex(update(h, 1, 2, 0), ==, 0);
    g_assert_cmpuint(room(h, 2), ==, full);
    g_assert_cmphex(update(h, 1, 4, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(update(h, 1, 1, 4), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(update(h, 2, 1, 0), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(update(h, ALL, 1, 0), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(code(send_cmd(h, 1, NVME_IO_MGMT_SEND, 1, 0, 0, 0)), ==, 0);
    g_assert_cmphex(code(send_cmd(h, 1, NVME_IO_MGMT_SEND, 1, 2, 0, 0)), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(send_cmd(h, 1, NVME_IO_MGMT_RECEIVE, 1, 0, 0, 0)), ==,
                    0);
    g_assert_cmphex(code(send_cmd(h, 1, NVME_IO_MGMT_RECEIVE, 1, 2, 0, 0)), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(send_cmd(h, 1, NVME_IO_MGMT_RECEIVE, ALL, 1, 0, 0)),
                    ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(code(send_cmd(h, 1, NVME_IO_MGMT_RECEIVE, 1, 1, UINT32_MAX,
                                  0)), ==, NVME_SC_INVALID_FIELD);
    host_free(h);
}

static HostCqe set_events(Host *h, unsigned handle, unsigned type, bool on)
{
    h->ram[BUF] = type;
    return send_cmd(h, 0, NVME_ADM_SET_FEATURES, 1, 0x1e, 1U << 16 | handle, on);
}

static unsigned n_events(Host *h)
{
    g_assert_cmphex(get_log(h, 0x23, 1, 1), ==, 0);
    return get_le32(h->ram + BUF);
}

static void test_fdp_events(void)
{
    Host *h = start(FDP);
    const uint8_t *e = h->ram + BUF + 64;

    put(h, 1, PLACEMENT, 9); /* not wanted: not noted */
    g_assert_cmpuint(n_events(h), ==, 0);
    g_assert_cmphex(code(set_events(h, 0, 0x03, true)), ==, 0);
    g_assert_cmphex(code(set_events(h, 2, 0x00, true)), ==, 0);
    g_assert_cmphex(code(set_events(h, 0, 0x80, true)), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(set_events(h, 4, 0x03, true)), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmpuint(send_cmd(h, 0, NVME_ADM_GET_FEATURES, 1, 0x1e, 4U << 16,
                              0).dw0, ==, 2);
    g_assert_cmphex(get_le32(h->ram + BUF), ==, 0x01030000);
    put(h, 1, PLACEMENT, 9);
    g_assert_cmpuint(n_events(h), ==, 1);
    g_assert_cmphex(e[0], ==, 0x03);
    g_assert_cmphex(e[1], ==, 3);
    g_assert_cmpuint(get_le16(e + 2), ==, 9);
    g_assert_cmpuint(get_le32(e + 12), ==, 1);
    put(h, 1, PLACEMENT, 2);
    host_flush(h, 1);
    update(h, 1, 2, 0);
    update(h, 1, 2, 0); /* empty already */
    g_assert_cmpuint(n_events(h), ==, 2);
    g_assert_cmphex(e[64], ==, 0x00);
    g_assert_cmpuint(get_le16(e + 64 + 2), ==, 2);
    g_assert_cmphex(get_log(h, 0x23, 0, 1), ==, 0); /* the controller's */
    g_assert_cmpuint(get_le32(h->ram + BUF), ==, 0);
    g_assert_cmphex(code(set_events(h, 0, 0x03, false)), ==, 0);
    for (unsigned i = 0; i < 100; i++) {
        put(h, 1, PLACEMENT, 9);
    }
    g_assert_cmpuint(n_events(h), ==, 2);
    g_assert_cmphex(code(set_events(h, 0, 0x03, true)), ==, 0);
    for (unsigned i = 0; i < 100; i++) {
        put(h, 1, PLACEMENT, 100 + i);
    }
    g_assert_cmpuint(n_events(h), ==, 63); /* the newest; oldest first */
    g_assert_cmpuint(get_le16(e + 2), ==, 137);
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
    g_test_add_func("/placement/implicit", test_implicit);
    g_test_add_func("/placement/release-id", test_release_id);
    g_test_add_func("/placement/resources", test_resources);
    g_test_add_func("/placement/reset", test_reset);
    g_test_add_func("/placement/hostile", test_hostile);
    g_test_add_func("/placement/fdp-identify", test_fdp_identify);
    g_test_add_func("/placement/fdp-logs", test_fdp_logs);
    g_test_add_func("/placement/fdp-writes", test_fdp_writes);
    g_test_add_func("/placement/fdp-management", test_fdp_management);
    g_test_add_func("/placement/fdp-events", test_fdp_events);
    return g_test_run();
}
