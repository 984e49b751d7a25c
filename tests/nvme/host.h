/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.h - the other side of the controller, for tests and fuzzers: guest
 * memory, a clock, interrupts that are counted, a store in memory that can be
 * slow and can fail, and a driver that knows queues.
 *
 * A test that uses the driver gets a real controller and a real drive model.
 */
#ifndef VSSD_TESTS_NVME_HOST_H
#define VSSD_TESTS_NVME_HOST_H

#include "nvme-defs.h"
#include "nvme.h"
#include "prng.h"
#include "ssd.h"

#define HOST_RAM_BYTES (32U << 20)

/* Where the driver keeps its things; tests may use what is above. */
#define HOST_ADMIN_SQ 0x1000
#define HOST_ADMIN_CQ 0x2000
#define HOST_SHADOW_DB 0x4000
#define HOST_SHADOW_EI 0x5000
#define HOST_QUEUES 0x100000 /* 64 KiB for each queue */
#define HOST_DATA 0x1000000  /* data, and PRP lists in the last MiB */
#define HOST_LISTS 0x1f00000

typedef struct HostCqe {
    uint32_t dw0;
    uint16_t sqhd;
    uint16_t sqid;
    uint16_t cid;
    uint16_t status; /* without the phase bit */
} HostCqe;

typedef struct HostQueue {
    unsigned id;
    unsigned cqid;
    uint64_t sq_addr;
    uint32_t sq_size;
    uint32_t sq_tail;
    bool shadow; /* use shadow doorbells */
} HostQueue;

typedef struct HostCqRing {
    uint64_t addr;
    uint32_t size;
    uint32_t head;
    uint8_t phase;
    bool shadow;
} HostCqRing;

/*
 * Memory for one host after another.  It is all zeroes before a host has it, and
 * after host_free() again; what was written is known, so that this takes little
 * time and no system call.
 */
#define HOST_PAGE 4096
typedef struct HostMemory {
    uint8_t *ram; /* HOST_RAM_BYTES */
    uint8_t *disk;
    uint64_t disk_bytes; /* at least what the host's drive has */
    uint8_t *ram_used;   /* by page */
    uint8_t *disk_used;
} HostMemory;

/* disk_bytes: a multiple of HOST_PAGE. */
HostMemory *host_memory_new(uint64_t disk_bytes);
/* Is it all zeroes?  Looks at every byte. */
bool host_memory_clean(const HostMemory *m);

typedef struct Host {
    struct Host *first; /* of a further controller: the host of the first one */
    HostMemory *lent; /* NULL: ram and disk are the host's own */
    uint8_t *ram;     /* to read; who writes gets it from host_ram() */
    uint8_t *disk;
    uint64_t disk_bytes;
    Ssd *ssd;
    NvmeCtrl *ctrl;
    const SsdInfo *info;
    uint64_t nblocks;      /* of the first namespace, if there is one */
    uint64_t drive_blocks; /* of all namespaces */
    uint64_t now_ns;

    uint8_t *cmb; /* memory of BAR 2 and BAR 4, or NULL */
    uint64_t cmb_bytes;
    uint8_t *pmr;
    uint64_t pmr_bytes;
    uint64_t bar_address[6];
    bool bar_shown[6];
    unsigned bar_writes;
    unsigned pmr_syncs;
    bool fail_syncs;

    bool msix_on;
    bool pin;
    unsigned n_pin_rises;
    unsigned msix_count[65];
    unsigned unplugged[2]; /* its link failed; the drive was pulled out */
    uint64_t unplugged_ns; /* for so long */

    /* the store */
    bool slow;         /* requests end in host_store_step() only */
    bool null_store;   /* keep nothing: to measure the rest */
    bool fail_writes;
    bool fail_reads;
    bool fail_flushes;
    bool fail_zeroes;
    GPtrArray *at_store;
    unsigned flushes;
    uint8_t *durable; /* what the store had at its last FLUSH; NULL: not kept */

    /* called before each DMA read, so that a test may change memory */
    bool no_bus_master; /* DMA is refused */
    void (*before_read)(struct Host *h, uint64_t addr, size_t len);
    /* and before each DMA write takes effect */
    void (*before_write)(struct Host *h, uint64_t addr, size_t len);
    unsigned dma_reads;
    unsigned dma_writes;
    unsigned dma_faults;
    bool kicked; /* a register was written; for tests that clear it */
    void *user;  /* whatever the test wants these two to know */

    HostQueue q[65];
    HostCqRing cq[65];
    uint16_t next_cid;
    Prng prng;
} Host;

typedef struct HostOptions {
    const char *profile;  /* NULL: tiny */
    const char *set;      /* ssd_config_set() */
    const SsdConfig *config; /* the drive, in place of the three; the caller's */
    uint32_t block_bytes; /* 0: 512 */
    uint64_t nblocks;     /* 0: all */
    unsigned n_queues;    /* 0: 8 */
    uint8_t mdts;         /* 0: 7, 512 KiB */
    uint64_t backlog;     /* bytes; 0: the default */
    bool pin;             /* no MSI-X */
    bool slow;
    bool durable;
    HostMemory *lent; /* NULL: the host has memory of its own */
    uint8_t *disk; /* start from this store; taken over; not with lent */
    const char *serial; /* NULL: TEST0001 */
    const char *faults; /* as NvmeConfig has it */
    const char *namespaces; /* as NvmeConfig has it */
    bool namespaces_fixed;
    bool no_nodas;
    NvmeAtomic atomic; /* as NvmeConfig has it */
    uint64_t seed;     /* NvmeConfig.fault_seed */
    bool dsm_hints;
    uint64_t kv_cache; /* as NvmeConfig has it; 0: the default */
    bool serial_by_default;
    bool write_through;
    uint8_t firmware_slots; /* 0: 3 */
    bool firmware_slot1_writable;
    uint32_t firmware_activation_ms;
    bool sgl;
    /* as NvmeConfig has them */
    uint64_t cmb_bytes;
    const char *cmb_uses;
    bool cmb_legacy;
    uint64_t pmr_bytes;
    uint16_t metadata;
    uint8_t pi;
    bool pi_first;
    bool metadata_extended;
    uint8_t pi_guard;
    uint8_t pi_storage_bits;
    uint16_t controllers; /* as NvmeConfig has it, and the following */
    uint16_t secondaries;
    uint16_t vq_flexible;
    uint16_t vi_flexible;
    uint16_t vq_per_secondary;
    uint16_t vi_per_secondary;
    uint16_t n_vectors; /* 0: 65 */
    bool no_preload; /* the drive knows nothing of what is in it */
    /* NULL, or called when the drive has its controller, before that is loaded;
     * and before it is freed, if it could not be loaded */
    void (*attached)(struct Host *h, void *opaque, bool on);
    /* NULL, or called before the drive gets its controller */
    void (*prepare)(struct Host *h, void *opaque);
    void *opaque;
} HostOptions;

/* Power on, not enabled. */
Host *host_new(const HostOptions *o);
/* Is there such a drive?  false: *error says why not. */
bool host_try(const HostOptions *o, GError **error);
void host_free(Host *h);

/*
 * A host with a further controller of the drive of `first`, and memory of its
 * own; to be freed before `first`.  The store is that of `first`.  NULL: *error
 * says why not.
 */
Host *host_add(Host *first, uint16_t cntlid, GError **error);

/* The same of a secondary controller, whose function is enabled. */
Host *host_add_secondary(Host *first, uint16_t cntlid, uint16_t vfn,
                         GError **error);

/* Hold the controller and bring it to rest; save it, at rest, and its drive. */
void host_settle(Host *h);
void host_save(Host *h, GByteArray **drive, GByteArray **ctrl);

/* A machine like `from`, with a controller and a drive that were saved in it; held.
 * NULL: *error says what is wrong with the streams. */
Host *host_load(const HostOptions *o, const Host *from, const GByteArray *drive,
                const GByteArray *ctrl, GError **error);

/* The same in place of `from`, which goes, with its memory and its store.  NULL:
 * `from` is as it was. */
Host *host_reload(const HostOptions *o, Host *from, const GByteArray *drive,
                  const GByteArray *ctrl, GError **error);

/* Guest memory, and the store's, to be written. */
uint8_t *host_ram(Host *h, uint64_t addr, size_t len);
uint8_t *host_disk(Host *h, uint64_t offset, size_t len);

/* Registers. */
uint32_t host_read32(Host *h, uint64_t offset);
void host_write32(Host *h, uint64_t offset, uint32_t value);

/* Admin queue of 32 entries, CC.EN, wait for CSTS.RDY. */
void host_enable(Host *h);

/* Let the controller run; when nothing moves, go to the next event. */
void host_run(Host *h);
bool host_step(Host *h);      /* false: nothing will ever happen */
void host_sleep(Host *h, uint64_t ns);
bool host_store_step(Host *h); /* end one request at the store, any */
/* End request i of at_store; error, if not 0, is what it ends with, undone. */
void host_store_finish(Host *h, unsigned i, int error);

/* Requests of one kind that are at the store; end the oldest of them. */
unsigned host_at_store(const Host *h, NvmeStoreOp op);
bool host_store_end(Host *h, NvmeStoreOp op);

/* Put an entry in queue id and ring; the cid is chosen if it is 0 in dw[0]. */
uint16_t host_send(Host *h, unsigned id, const NvmeSqe *sqe);
void host_put(Host *h, unsigned id, const NvmeSqe *sqe); /* do not ring */
void host_ring(Host *h, unsigned id);
/* The next completion of completion queue id, if there is one. */
bool host_poll(Host *h, unsigned cqid, HostCqe *cqe);
/* Wait for one; aborts the test if it never comes. */
HostCqe host_wait(Host *h, unsigned cqid);
HostCqe host_do(Host *h, unsigned id, const NvmeSqe *sqe);

/* Commands. */
NvmeSqe host_sqe(uint8_t opcode, uint32_t nsid, uint64_t prp1);
void host_map(Host *h, NvmeSqe *sqe, uint64_t addr, uint64_t bytes);
/* The same, with the list, if one is needed, at `list`. */
void host_map_at(Host *h, NvmeSqe *sqe, uint64_t list, uint64_t addr,
                 uint64_t bytes);
uint16_t host_create_queues(Host *h, unsigned id, unsigned cqid, uint32_t size);
uint16_t host_delete_queues(Host *h, unsigned id);
NvmeSqe host_rw(Host *h, uint8_t opcode, uint64_t lba, uint32_t nblocks,
                uint64_t addr);
uint16_t host_io(Host *h, unsigned id, uint8_t opcode, uint64_t lba,
                 uint32_t nblocks, uint64_t addr);
uint16_t host_flush(Host *h, unsigned id);
uint16_t host_shadow_config(Host *h);
uint16_t host_code(uint16_t status); /* without More and DNR */

#endif
