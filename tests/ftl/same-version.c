/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * same-version.c - recovery by a scan finds two copies of the same version of a
 * unit, one of them in a block that GC is emptying, and takes the one that was
 * programmed last.
 */
#include "media/media-internal.h"
#include "numtable.h"
#include "busy.h"

#define MOST 4096

typedef struct Copied {
    uint64_t lpn;
    uint64_t seq; /* of the newer copy */
} Copied;

static Copied copied[MOST];

static uint64_t seq_of(const Ssd *ssd, uint64_t lpn)
{
    uint64_t entry = ssd->nand_entry(ssd, lpn);

    g_assert_cmpuint(entry, !=, 0);
    return ssd->media->spare_seq[ppu_page(ssd, entry - 1)];
}

/* Units of victims of GC, of which the same version is elsewhere. */
static unsigned find_copied(const Ssd *ssd)
{
    const Media *m = ssd->media;
    unsigned n = 0;

    for (uint64_t ppu = 0; ppu < ssd->l.raw_units; ppu++) {
        uint64_t lpn = numtable_get(&m->spare_lpn, ppu) - 1;
        uint64_t entry;

        if (m->block[ppu_block(ssd, ppu)].state != BLOCK_VICTIM ||
            lpn >= ssd->l.user_units) {
            continue;
        }
        entry = ssd->nand_entry(ssd, lpn);
        if (entry && entry - 1 != ppu &&
            m->spare_version[ppu] == m->spare_version[entry - 1] && n < MOST) {
            copied[n++] = (Copied){.lpn = lpn, .seq = seq_of(ssd, lpn)};
        }
    }
    return n;
}

static void write_some(Ssd *ssd, uint64_t *now_ns, Prng *rng)
{
    SsdCompletion done[16];

    for (unsigned i = 0; i < 2000; i++) {
        *now_ns += prng_below(rng, 40000);
        ssd_advance(ssd, *now_ns, done, G_N_ELEMENTS(done));
        busy_submit(ssd, *now_ns, SSD_OP_WRITE,
                    prng_below(rng, ssd->l.user_units));
    }
}

static void test_scan(void)
{
    Ssd *ssd = busy_drive("ftl.recovery=scan");
    uint64_t now_ns = 0;
    unsigned checked = 0;
    Prng rng;

    prng_seed(&rng, 9, 9);
    g_assert_cmpint(ssd_preload(ssd, 0, ssd_info(ssd)->nblocks), ==, 0);
    for (unsigned round = 0; round < 20; round++) {
        unsigned n;

        write_some(ssd, &now_ns, &rng);
        n = find_copied(ssd);
        ssd_power_cut(ssd, now_ns);
        ssd_power_on(ssd, now_ns);
        busy_submit(ssd, now_ns, SSD_OP_READ, 0);
        busy_drain(ssd, &now_ns);
        for (unsigned i = 0; i < n; i++) { /* GC may have gone on */
            g_assert_cmpuint(seq_of(ssd, copied[i].lpn), >=, copied[i].seq);
        }
        checked += n;
    }
    g_test_message("%u units with two copies", checked);
    g_assert_cmpuint(checked, >, 50);
    ssd_destroy(ssd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/same-version/scan", test_scan);
    return g_test_run();
}
