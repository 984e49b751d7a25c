/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-fdp.c - Flexible Data Placement: log pages, handles, events, and the
 * exact status of everything that is wrong.
 */
#include "placement.h"
#include "ssd-report.h"

#define FDP "nand.blocks=64;ftl.op_percent=120%;fdp.ruhs=4"

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
    g_assert_cmphex(effects(h, NVME_IO_MGMT_SEND, true), ==, 1 | 1 << 20);
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
    /* Configurations of 4, 2 and 1 handles. */
    g_assert_cmpuint(get_le16(d), ==, 3 - 1);
    g_assert_cmpuint(get_le32(d + 4), ==, 16 + (64 + 16) + (64 + 8) + (64 + 8));
    g_assert_cmpuint(get_le16(d + 16 + 80 + 8), ==, 2);
    g_assert_cmpuint(get_le16(d + 16 + 80 + 72 + 8), ==, 1);
    g_assert_cmpuint(get_le16(d + 16), ==, 64 + 16);
    g_assert_cmphex(d[18], ==, 0x90); /* valid, a volatile write cache */
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
    h = start(FDP ";streams.gc=merge;buffer.plp=on");
    g_assert_cmphex(get_log(h, 0x20, 0, 1), ==, 0);
    g_assert_cmphex(h->ram[BUF + 18], ==, 0x80); /* no volatile write cache */
    g_assert_cmphex(h->ram[BUF + 16 + 64], ==, 1); /* initially isolated */
    put(h, 1, PLACEMENT, 1);
    host_flush(h, 1);
    g_assert_cmphex(get_log(h, 0x09, 0, 1), ==, 0);
    /* Read, written by the host, written to media: in 10^9 bytes, rounded up. */
    g_assert_cmpuint(get_le64(h->ram + BUF + 48), ==, 0);
    g_assert_cmpuint(get_le64(h->ram + BUF + 64), ==, 1);
    g_assert_cmpuint(get_le64(h->ram + BUF + 80), ==, 0); /* not there yet */
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
    g_assert_cmpuint(room(h, 2), ==, full - 4096 / h->info->block_bytes);
    g_assert_cmphex(update(h, 1, 2, 0), ==, 0);
    g_assert_cmpuint(room(h, 2), ==, full);
    g_assert_cmphex(update(h, 1, 4, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(update(h, 1, 1, 4), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(update(h, 2, 1, 0), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(update(h, ALL, 1, 0), ==, NVME_SC_INVALID_FIELD);
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

/* ---- what fio's tests of FDP look at ------------------------------------- */

#define HANDLES 8

static void rooms(Host *h, uint64_t *ruamw)
{
    g_assert_cmphex(code(send_cmd(h, 1, NVME_IO_MGMT_RECEIVE, 1, 1, 1023, 0)),
                    ==, 0);
    g_assert_cmpuint(get16(h, 14), ==, HANDLES);
    for (unsigned i = 0; i < HANDLES; i++) {
        ruamw[i] = get_le64(h->ram + BUF + 16 + 32 * i + 8);
    }
}

/* One block by a handle, with PRACT as fio sets it. */
static void write_block(Host *h, uint64_t lba, uint16_t pid)
{
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, lba, 1, BUF + 0x10000);

    sqe.dw[12] |= PLACEMENT << 20 | 1 << 29;
    sqe.dw[13] = (uint32_t)pid << 16;
    g_assert_cmphex(code(host_do(h, 1, &sqe)), ==, 0);
}

/* All handles move on, some by one command; each has a whole reclaim unit. */
static void update_all(Host *h, uint64_t full)
{
    uint64_t ruamw[HANDLES];

    g_assert_cmphex(update(h, 1, 0, 0), ==, 0);
    for (uint16_t i = 0; i < HANDLES; i++) { /* one of them twice */
        put_le16(h->ram + BUF + 2 * i, MAX(i, 1));
    }
    g_assert_cmphex(code(send_cmd(h, 1, NVME_IO_MGMT_SEND, 1,
                                  (HANDLES - 1) << 16 | 1, 0, 0)), ==, 0);
    rooms(h, ruamw);
    for (unsigned i = 0; i < HANDLES; i++) {
        g_assert_cmpuint(ruamw[i], ==, full);
    }
}

/* n blocks anywhere, by handles in turns or by random ones.  RUAMW goes down by
 * just the blocks of each handle, as long as it has some left. */
static void write_blocks(Host *h, Prng *rng, unsigned n, bool random,
                         uint64_t full)
{
    uint64_t want[HANDLES];
    uint64_t ruamw[HANDLES];

    for (unsigned i = 0; i < HANDLES; i++) {
        want[i] = full;
    }
    for (unsigned i = 0; i < n; i++) {
        uint16_t pid = (uint16_t)(random ? prng_below(rng, HANDLES)
                                         : i % HANDLES);

        write_block(h, prng_below(rng, h->nblocks), pid);
        want[pid]--;
        if (prng_below(rng, 50) == 0) {
            g_assert_cmphex(host_flush(h, 1), ==, 0); /* which pads */
        }
        if (i % 16 == 0) {
            rooms(h, ruamw);
            g_assert_cmpmem(ruamw, sizeof(ruamw), want, sizeof(want));
        }
    }
    rooms(h, ruamw);
    g_assert_cmpmem(ruamw, sizeof(ruamw), want, sizeof(want));
}

static void fio_checks(uint32_t block_bytes, const char *options)
{
    g_autofree char *set = g_strconcat("nand.blocks=128;ftl.op_percent=200%;"
                                       "fdp.ruhs=8;", options, NULL);
    Host *h = host_new(&(HostOptions){ .set = set,
                                       .block_bytes = block_bytes });
    uint64_t full = 4 * 16 * 16384 / block_bytes;
    uint64_t ruamw[HANDLES];
    Prng rng;

    prng_seed(&rng, 3, block_bytes);
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    update_all(h, full);
    for (unsigned n = 1; n <= 4; n += 3) { /* one handle alone */
        for (unsigned i = 0; i < n; i++) {
            write_block(h, prng_below(&rng, h->nblocks), 3);
        }
        rooms(h, ruamw);
        g_assert_cmpuint(ruamw[3], ==, full - n);
        update_all(h, full);
    }
    write_blocks(h, &rng, 2 * HANDLES + 3, false, full);
    update_all(h, full);
    for (unsigned i = 0; i < 3; i++) {
        write_blocks(h, &rng, (unsigned)full - 1, true, full);
        update_all(h, full);
    }
    for (uint64_t i = 0; i < full; i++) { /* a whole one, and the next */
        write_block(h, i, 5);
    }
    rooms(h, ruamw);
    g_assert_cmpuint(ruamw[5], ==, full);
    write_block(h, 0, 5);
    rooms(h, ruamw);
    g_assert_cmpuint(ruamw[5], ==, full - 1);
    /* Reads are of no handle. */
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 8, BUF + 0x10000), ==, 0);
    rooms(h, ruamw);
    g_assert_cmpuint(ruamw[0], ==, full);
    host_free(h);
}

static void test_fio_checks(void)
{
    fio_checks(4096, "");
    fio_checks(512, "");
    fio_checks(512, "buffer.plp=on");
    fio_checks(4096, "ftl.alloc=in-order;buffer.flush_interval=2ms");
}

static uint32_t erase_block(Host *h, uint64_t unit)
{
    SsdPlace p;

    ssd_place(h->ssd, unit * (h->info->unit_bytes / h->info->block_bytes), &p);
    g_assert_true(p.in_nand);
    return p.erase_block;
}

/* What was written before an update, and is in the buffer, goes to the old reclaim
 * unit; the buffer of the other handles stays as it is. */
static void test_update_settles(void)
{
    Host *h = start(FDP);
    SsdPlace p;

    for (uint64_t i = 0; i < 6; i++) {
        g_assert_cmphex(put(h, i, PLACEMENT, 2), ==, 0);
    }
    g_assert_cmphex(put(h, 50, PLACEMENT, 1), ==, 0);
    g_assert_cmphex(update(h, 1, 2, 0), ==, 0);
    ssd_place(h->ssd, 50 * 8, &p);
    g_assert_false(p.in_nand);
    for (uint64_t i = 0; i < 6; i++) {
        erase_block(h, i); /* is in NAND */
        g_assert_cmphex(put(h, 100 + i, PLACEMENT, 2), ==, 0);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    for (uint64_t i = 0; i < 36; i++) {
        g_assert_cmpuint(erase_block(h, i / 6), !=, erase_block(h, 100 + i % 6));
    }
    /* Statistics: what the host wrote, and pages with padding. */
    g_assert_cmphex(get_log(h, 0x22, 0, 1), ==, 0);
    g_assert_cmpuint(get_le64(h->ram + BUF), ==, 13 * 4096);
    g_assert_cmpuint(get_le64(h->ram + BUF + 16), ==, (2 + 2 + 1) * 16384);
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
    g_assert_cmpuint(
        send_cmd(h, 0, NVME_ADM_GET_FEATURES, 1, 0x1e, 4U << 16, 0).dw0, ==, 3);
    g_assert_cmphex(get_le32(h->ram + BUF), ==, 0x01030000);
    g_assert_cmphex(get_le16(h->ram + BUF + 4), ==, 0x0081);
    put(h, 1, PLACEMENT, 9);
    g_assert_cmpuint(n_events(h), ==, 1);
    g_assert_cmphex(e[0], ==, 0x03);
    g_assert_cmphex(e[1], ==, 7); /* PIV, NSIDV, LV */
    g_assert_cmpuint(get_le16(e + 2), ==, 9);
    g_assert_cmpuint(get_le32(e + 12), ==, 1);
    g_assert_cmpuint(get_le32(e + 32), ==, 0); /* the handle that was taken */
    put(h, 1, PLACEMENT, 2);
    host_flush(h, 1);
    update(h, 1, 2, 0);
    update(h, 1, 2, 0); /* empty already */
    g_assert_cmpuint(n_events(h), ==, 2);
    g_assert_cmphex(e[64], ==, 0x00);
    g_assert_cmphex(e[64 + 1], ==, 7);
    g_assert_cmpuint(get_le16(e + 64 + 2), ==, 2);
    g_assert_cmpuint(get_le32(e + 64 + 32), ==, 2 << 16);
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

/* The drive is filled by handles 1 and 2 in turns, and written over. */
static void wear_down(Host *h, unsigned rounds)
{
    uint64_t n = h->nblocks * h->info->block_bytes / h->info->unit_bytes;
    Prng rng;

    prng_seed(&rng, 7, 7);
    for (uint64_t i = 0; i < n; i++) {
        g_assert_cmphex(put(h, i, PLACEMENT, 1 + i % 2), ==, 0);
    }
    for (uint64_t i = 0; i < rounds * n; i++) {
        uint64_t unit = prng_below(&rng, n);

        g_assert_cmphex(put(h, unit, PLACEMENT, 1 + unit % 2), ==, 0);
    }
    host_flush(h, 1);
}

static unsigned n_moves(Host *h)
{
    g_assert_cmphex(get_log(h, 0x23, 0, 1), ==, 0);
    return get_le32(h->ram + BUF);
}

/* Data of handles that isolate at first is copied by GC: Media
 * Reallocated, of the controller's kind. */
static void test_reallocated(void)
{
    Host *h = start("nand.blocks=40;ftl.op_percent=60%;fdp.ruhs=4;"
                    "streams.gc=merge");
    uint32_t unit = h->info->unit_bytes / h->info->block_bytes;
    unsigned named = 0;

    wear_down(h, 1);
    g_assert_cmpuint(n_moves(h), ==, 0); /* nobody wants them */
    g_assert_cmpuint(
        send_cmd(h, 0, NVME_ADM_GET_FEATURES, 1, 0x1e, 255U << 16, 0).dw0, ==,
        4);
    g_assert_cmphex(get_le32(h->ram + BUF + 2) & 0xffffff, ==, 0x800003);
    g_assert_cmphex(code(set_events(h, 1, 0x80, true)), ==, 0);
    wear_down(h, 1);
    g_assert_cmpuint(n_moves(h), ==, 63);
    for (unsigned i = 0; i < 63; i++) {
        const uint8_t *e = h->ram + BUF + 64 + i * 64;

        g_assert_cmphex(e[0], ==, 0x80);
        g_assert_cmphex(e[1], ==, e[1] & 1 ? 7 : 2);
        /* Handle 2 does not want them; units that GC mixed are of none. */
        g_assert_cmpuint(get_le16(e + 2), ==, e[1] & 1);
        g_assert_cmpuint(get_le16(e + 34), ==, e[1] & 1);
        named += e[1] & 1;
        g_assert_cmphex(e[16], ==, 1); /* LBAV */
        g_assert_cmpuint(get_le16(e + 18), >=, unit);
        g_assert_cmpuint(get_le16(e + 18) % unit, ==, 0);
        g_assert_cmpuint(get_le16(e + 18), <,
                         h->info->erase_bytes / h->info->block_bytes);
        g_assert_cmpuint(get_le64(e + 20), <, h->nblocks);
    }
    g_assert_cmpuint(named, >, 0);
    g_assert_cmpuint(named, <, 63);
    g_assert_cmpuint(n_events(h), ==, 0); /* the host's */
    host_free(h);
}

/* A host that writes a unit by each handle and leaves its reclaim unit, again
 * and again, uses up no room: what is left is collected. */
static void test_hostile(void)
{
    Host *h = start(FDP);
    uint64_t n = h->nblocks * h->info->block_bytes / h->info->unit_bytes;

    for (unsigned i = 0; i < 3000; i++) {
        g_assert_cmphex(put(h, i * 7 % n, PLACEMENT, (uint16_t)(i % 5)), ==, 0);
        if (i % 4 == 3) {
            host_flush(h, 1);
            for (uint16_t pid = 0; pid < 4; pid++) {
                put_le16(h->ram + BUF + 2 * pid, pid);
            }
            g_assert_cmphex(code(send_cmd(h, 1, NVME_IO_MGMT_SEND, 1,
                                          3U << 16 | 1, 0, 0)), ==, 0);
        }
    }
    for (uint64_t i = 0; i < 2 * n; i++) {
        g_assert_cmphex(put(h, i % n, PLACEMENT, 1), ==, 0);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_false(ssd_read_only(h->ssd));
    g_assert_true(ssd_check(h->ssd, NULL));
    host_free(h);
}

/* A reset disables no directive, and forgets no event. */
static void test_reset(void)
{
    Host *h = start(FDP);

    g_assert_cmphex(code(set_events(h, 0, 0x03, true)), ==, 0);
    put(h, 1, PLACEMENT, 9);
    g_assert_cmphex(enable(h, 1, PLACEMENT, false), ==, 0);
    for (unsigned i = 0; i < 2; i++) {
        nvme_reset(h->ctrl, h->now_ns);
        h->cq[1].size = 0;
        host_enable(h);
        g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
        g_assert_cmphex(code(receive(h, 1, IDENTIFY, 1, 1024, 0)), ==, 0);
        g_assert_cmphex(h->ram[BUF + 32], ==, i == 0 ? 1 : 5);
        g_assert_cmphex(put(h, 1, PLACEMENT, 9), ==, 0);
        g_assert_cmpuint(n_events(h), ==, 1 + i);
        g_assert_cmphex(enable(h, 1, PLACEMENT, true), ==, 0);
    }
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fdp/identify", test_fdp_identify);
    g_test_add_func("/fdp/logs", test_fdp_logs);
    g_test_add_func("/fdp/writes", test_fdp_writes);
    g_test_add_func("/fdp/management", test_fdp_management);
    g_test_add_func("/fdp/fio-checks", test_fio_checks);
    g_test_add_func("/fdp/update-settles", test_update_settles);
    g_test_add_func("/fdp/events", test_fdp_events);
    g_test_add_func("/fdp/reallocated", test_reallocated);
    g_test_add_func("/fdp/reset", test_reset);
    g_test_add_func("/fdp/hostile", test_hostile);
    return g_test_run();
}
