/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz-nvme.c - a guest made of bytes (nvme-input.h), in front of any drive.
 *
 * After each action the next event is in the future (nvme-guest.c); after the
 * input the memory that it took and the CPU time are within the bounds below, a
 * reset brings a controller that works, and the drive's invariants hold.  An
 * honest guest's commands all end, and its data is as written. The store never
 * gets requests outside of it, nor for two things at once (host.c).
 *
 * With libFuzzer (clang, -fsanitize=fuzzer) this is the target, with the
 * mutator of nvme-mutate.c; without, see replay.c.
 */
#include "fuzz.h"

#include <time.h>

#include "nvme-act.h"
#include "nvme-ledger.h"
#include "ssd-report.h"
#include "ssd-save.h"

/* Of one input.  Queues of three times 64 entries hold 24 MiB of data at most,
 * a tiny drive's tables and buffers are below a MiB. */
#define MOST_MEMORY (32U << 20)
#define MOST_LEFT   (1U << 20) /* beyond the memory before */
#define MOST_CPU_NS 5000000000ULL

#define METADATA 8 /* bytes of a block, with protection information */

bool fuzz_all_checks = true;

/* ---- the target ---------------------------------------------------------- */

#define FUZZ_ACT(name, fn) [FUZZ_##name] = act_##fn,
static void (*const actions[FUZZ_N_OPS])(Guest *g, const FuzzAction *x) = {
    FUZZ_OPS(FUZZ_ACT)
};
#undef FUZZ_ACT

static bool is_hostile(unsigned op)
{
    return op == FUZZ_IDLE || (op >= FUZZ_PATCH && op <= FUZZ_MEMORY) ||
           op == FUZZ_PEER || op == FUZZ_RESERVE || op == FUZZ_KEY;
}

static char namespaces[32]; /* HostOptions.namespaces */

/* The first one has the blocks of the ledger, or all. */
static void choose_namespaces(const Host *h)
{
    uint64_t bytes = h->nblocks * h->info->block_bytes;

    if (bytes % 1024) {
        g_strlcpy(namespaces, "rest", sizeof(namespaces));
    } else {
        g_snprintf(namespaces, sizeof(namespaces), "%uK",
                   (unsigned)(bytes / 1024));
    }
}

/* Data of the drive and the store at the start. */
static void prepare(Host *h, void *opaque)
{
    const uint8_t *head = opaque;
    bool empty = h->info->zones.n || fuzz_drive(head).kv;
    unsigned how = empty ? 0 : head[HEAD_CONTENT] & 7;
    uint32_t unit = h->info->unit_bytes / h->info->block_bytes;
    uint32_t nunits = (uint32_t)(h->drive_blocks / unit);
    g_autofree uint64_t *order = g_new(uint64_t, nunits + 1);
    uint32_t n = 0;

    choose_namespaces(h);
    /* They take as long as some actions: not with all inputs that ask. */
    if (fuzz_all_checks || head[HEAD_POLICY] % 4 == 0) {
        if (head[HEAD_HOST] & FUZZ_HOST_OPLOG) {
            ssd_oplog_open(h->ssd, "/dev/null", NULL);
        }
        if (head[HEAD_HOST] & FUZZ_HOST_TRACE) {
            ssd_trace_open(h->ssd, "/dev/null", "fuzz", NULL);
        }
    }
    for (uint32_t i = 0; i < nunits && how >= 2; i++) {
        bool known = how == 6 ? false : how == 2 ? i < nunits / 2
                                       : how == 5 ? i % 2 == 0 : true;

        for (uint32_t b = i * unit; b < (i + 1) * unit; b++) {
            uint32_t bytes = h->info->block_bytes;
            uint8_t *p = host_disk(h, (uint64_t)b * bytes, bytes);
            uint64_t stamp = 1ULL << 56 | b;

            put_le64(p, stamp);
            put_le64(p + bytes - 8, stamp);
            if (known) {
                ledger_preload(b, stamp);
            }
        }
        if (known) {
            g_assert_cmpint(ssd_preload(h->ssd, (uint64_t)i * unit, unit), ==,
                            0);
            order[n++] = (uint64_t)i * 7 % nunits;
        }
    }
    if (how == 4 || how == 7) { /* those are all known; some are written again */
        ssd_age(h->ssd, order, how == 4 ? n : n / 2);
    }
}

#define CMB_BYTES (1U << 20) /* the least */

static void begin(Guest *g, const uint8_t *head)
{
    static const uint8_t mdts[] = { 5, 1, 3, 5 };
    static const uint8_t nqueues[] = { 8, 3, 64, 8 };
    uint8_t flags = head[HEAD_HOST];
    uint8_t shape = head[HEAD_SHAPE];
    bool protected;
    uint64_t nblocks;
    static HostMemory *memory;

    memory = memory ? memory
                    : host_memory_new(LEDGER_MOST_BLOCKS * (512 + METADATA) +
                                      HOST_PAGE);
    g_assert_true(!fuzz_all_checks || host_memory_clean(memory));
    memset(g, 0, sizeof(*g));
    g->drive = fuzz_drive(head);
    g->memory = guest_memory();
    g->page_bits = 12;
    g->powered = true;
    g->honest = flags & FUZZ_HOST_HONEST && !g->drive.zoned && !g->drive.kv;
    g->shadow = flags & FUZZ_HOST_SHADOW;
  protected
    = head[HEAD_CONTENT] & 16 && !g->drive.zoned && !g->drive.kv;
    g->o = (HostOptions){
        .config = g->drive.config,
        .n_queues = nqueues[shape >> 2 & 3],
        .mdts = mdts[shape & 3],
        .pin = flags & FUZZ_HOST_PIN,
        .slow = flags & FUZZ_HOST_SLOW,
        .backlog = shape & 0x80 ? NVME_BACKLOG_MIN : 0,
        .write_through = shape & 0x40,
        .sgl = true,
        .metadata = protected ? METADATA : 0,
        .pi = protected ? 1 : 0,
        .cmb_bytes = g->drive.cmb ? CMB_BYTES : 0,
        .kv_cache = NVME_KV_CACHE_MIN,
        .dsm_hints = g->drive.hints,
        .no_nodas = g->drive.heats,
        .controllers = head[HEAD_CONTENT] & 64 ? 2 : 0,
        .no_preload = true,
        .lent = memory,
        .prepare = prepare,
        .opaque = (void *)head,
    };
    nblocks = g->drive.nblocks;
    ledger_init((uint32_t)nblocks);
    g->o.nblocks = (shape >> 4 & 3) == 1                     ? nblocks - 3
                   : (shape >> 4 & 3) == 2 && !g->drive.both ? nblocks / 2
                                                             : nblocks;
    g->o.namespaces =
        head[HEAD_CONTENT] & 8 && !g->drive.zoned ? namespaces : NULL;
    if (g->drive.kv) { /* the least that such a namespace may have */
        g->o.nblocks = nblocks;
        g->o.namespaces = "4M:kv";
    }
    if (head[HEAD_CONTENT] & 32) {
        g->o.controllers = 0;
        g->o.secondaries = FUZZ_VFS;
        g->o.vq_flexible = 6;
        g->o.vi_flexible = 5;
    }
    g->h = host_new(&g->o);
    guest_add_vfs(g, g->h);
    if (!g->drive.zoned && !g->drive.kv) {
        nvme_preloaded(g->h->ctrl, 0, g->h->drive_blocks);
    }
    guest_watch(g);
    if (!g->honest && !(flags & FUZZ_HOST_COLD)) {
        guest_enable(g, 12, 32, 32);
        for (unsigned i = 1; i <= 2 && g->powered; i++) {
            guest_create(g, i, i, 32, i);
        }
    }
}

static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static FuzzAction action_at(const uint8_t *p, size_t n)
{
    uint8_t b[FUZZ_ACTION_BYTES] = { 0 };

    memcpy(b, p, MIN(n, sizeof(b)));
    return (FuzzAction){ b[0], b[1], get_le16(b + 2), get_le32(b + 4) };
}

const char *fuzz_unreached(void)
{
    return guest_unreached();
}

static bool one_in_four(const uint8_t *data, size_t size)
{
    uint32_t hash = 2166136261; /* FNV-1a */

    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ data[i]) * 16777619;
    }
    return hash >> 30 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Guest guest;
    Guest *g = &guest;
    uint8_t head[FUZZ_HEAD_BYTES] = { 0 };
    uint64_t cpu = cpu_ns();
    size_t memory;

    memcpy(head, data, MIN(size, sizeof(head)));
    begin(g, head);
    for (size_t at = sizeof(head), n = 0; at < size && n < FUZZ_MOST_ACTIONS;
         at += FUZZ_ACTION_BYTES, n++) {
        FuzzAction x = action_at(data + at, size - at);
        unsigned op = x.op % FUZZ_N_OPS;

        if (!g->honest || !is_hostile(op)) {
            actions[op](g, &x);
        }
    }
    guest_end(g, fuzz_all_checks || one_in_four(data, size));
    g_assert_cmpuint(g->peak, <=,
                     MOST_MEMORY + g->o.secondaries * HOST_RAM_BYTES);
    memory = g->memory;
    guest_pull_vfs(g);
    host_free(g->h);
    g_assert_cmpuint(guest_memory(), <=, memory + MOST_LEFT);
    g_assert_cmpuint(cpu_ns() - cpu, <=, MOST_CPU_NS);
    return 0;
}
