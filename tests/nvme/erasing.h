/* SPDX-License-Identifier: GPL-2.0-or-later */
/* erasing.h - for tests of Format NVM and Sanitize: data that can be found
 * again, wherever it is. */
#ifndef VSSD_TESTS_NVME_ERASING_H
#define VSSD_TESTS_NVME_ERASING_H

#include "admin.h"
#include "ssd-purge.h"
#include "ssd-report.h"

#define MARK 0x5ec2e7da7a51eeULL /* no other data has it */
#define MS   1000000ULL
#define S    1000000000ULL

static inline SsdCounters counters(const Host *h)
{
    SsdCounters c;

    ssd_get_counters(h->ssd, &c);
    return c;
}

/* Fill n blocks of 512 bytes of the namespace with marks: bytes, 64 KiB at a
 * time. */
static inline void write_marks(Host *h, uint32_t nsid, uint64_t bytes,
                               uint32_t block_bytes)
{
    for (uint64_t at = 0; at < bytes; at += 0x10000) {
        uint32_t n = (uint32_t)MIN(0x10000, bytes - at);
        NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, at / block_bytes,
                              n / block_bytes, HOST_DATA);
        uint8_t *p = host_ram(h, HOST_DATA, n);

        for (uint32_t i = 0; i < n; i += 8) {
            put_le64(p + i, MARK);
        }
        host_map(h, &sqe, HOST_DATA, n);
        sqe.dw[1] = nsid;
        g_assert_cmphex(host_code(host_do(h, 1, &sqe).status), ==, 0);
    }
}

/* 8-byte words with the mark that the store holds. */
static inline uint64_t marks_in_store(const Host *h)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i + 8 <= h->disk_bytes; i += 8) {
        n += get_le64(h->disk + i) == MARK;
    }
    return n;
}

/* Read blocks that have one word all over; status code.  *word: that. */
static inline uint16_t read_words(Host *h, uint32_t nsid, uint64_t lba,
                                  uint32_t nblocks, uint32_t block_bytes,
                                  uint64_t *word)
{
    uint32_t bytes = nblocks * block_bytes;
    NvmeSqe sqe = host_rw(h, NVME_IO_READ, lba, nblocks, HOST_DATA);
    const uint8_t *p = host_ram(h, HOST_DATA, bytes);
    uint16_t status;

    memset(h->ram + HOST_DATA, 0xee, bytes);
    host_map(h, &sqe, HOST_DATA, bytes);
    sqe.dw[1] = nsid;
    status = host_code(host_do(h, 1, &sqe).status);
    *word = get_le64(p);
    g_assert_true(status || memcmp(p, p + 8, bytes - 8) == 0);
    return status;
}

/* Read a block; status code.  *word: its first bytes. */
static inline uint16_t read_word(Host *h, uint32_t nsid, uint64_t lba,
                                 uint32_t block_bytes, uint64_t *word)
{
    return read_words(h, nsid, lba, 1, block_bytes, word);
}

/* Each block has the word: the first one, then 64 KiB at a time, which begin
 * and end within units. */
static inline void all_have(Host *h, uint32_t nsid, uint64_t nblocks,
                            uint32_t block_bytes, uint64_t want)
{
    uint64_t word;
    uint32_t n;

    for (uint64_t lba = 0; lba < nblocks; lba += n) {
        n = lba ? (uint32_t)MIN(0x10000 / block_bytes, nblocks - lba) : 1;
        g_assert_cmphex(read_words(h, nsid, lba, n, block_bytes, &word), ==, 0);
        g_assert_cmphex(word, ==, want);
    }
}

static inline void check_drive(const Host *h)
{
    g_autoptr(GError) error = NULL;

    ssd_check(h->ssd, &error);
    g_assert_no_error(error);
}

static inline void enable_again(Host *h)
{
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
}

static inline void power_cycle(Host *h)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    enable_again(h);
}

/* When a test cuts the power: so long after the command, or after so many
 * events of the drive. */
typedef struct Instant {
    uint64_t ns;
    unsigned events;
} Instant;

static inline void reach(Host *h, Instant at)
{
    if (at.ns) {
        host_sleep(h, at.ns);
    }
    for (unsigned i = 0; i < at.events; i++) {
        host_step(h);
    }
}

static inline void controller_reset(Host *h)
{
    host_write32(h, NVME_REG_CC, 0);
    enable_again(h);
}

static inline void subsystem_reset(Host *h)
{
    host_write32(h, NVME_REG_NSSR, NVME_NSSR_VALUE);
    host_write32(h, NVME_REG_CSTS, NVME_CSTS_NSSRO);
    enable_again(h);
}

/* Events of a type in the Persistent Event log. */
static inline unsigned persistent_events(Host *h, uint8_t type)
{
    uint64_t bytes;
    unsigned n = 0;

    g_assert_cmphex(admin_log(h, 0x0d, 1, 512, 0), ==, 0);
    bytes = ((const NvmePelHeader *)admin_data(h))->tll;
    g_assert_cmphex(admin_log(h, 0x0d, 0, (uint32_t)bytes, 0), ==, 0);
    for (uint64_t at = 512; at < bytes;) {
        const NvmePelEvent *e = (const void *)(admin_data(h) + at);

        n += e->type == type;
        at += sizeof(*e) + nvme_le16(e->el);
    }
    g_assert_cmphex(admin_log(h, 0x0d, 2, 512, 0), ==, 0);
    return n;
}

#endif
