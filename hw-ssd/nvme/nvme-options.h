/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-options.h - the properties that a drive has in QEMU and in vssd-server.
 *
 * The table is the one place of their names, ranges, defaults and help:
 * `-device vssd` has its rows as properties (hw-ssd/qemu/vssd.c), vssd-server
 * as options of the command line (hw-ssd/vfio-user/main.c).  What only one of
 * them can have (block nodes, threads, virtual functions, sockets) is its own.
 */
#ifndef VSSD_NVME_OPTIONS_H
#define VSSD_NVME_OPTIONS_H

#include "nvme.h"
#include "options.h"
#include "ssd-report.h"

/* Checks of texts; false: *error is one line with name and range. */
bool nvme_serial_ok(const char *serial, GError **error);
bool nvme_model_ok(const char *model, GError **error);
bool nvme_pi_at_ok(const char *text, GError **error);
bool nvme_metadata_at_ok(const char *text, GError **error);

/*
 * X(kind, C type, name, least, most, default, further members of the OptDesc).
 * The name is that of the member and of the property.  Ranges with gaps are
 * checked by the controller, too (nvme_attach()).
 */
#define NVME_OPTIONS(X)                                                        \
    X(STRING, char *, state, 0, 0, NULL,                                       \
      "go on with the drive saved in this file, and save it there at the end") \
    X(STRING, char *, oplog, 0, 0, NULL,                                       \
      "file for all that the drive does, for vssd-oplog-check")                \
    X(STRING, char *, durable_log, 0, 0, NULL,                                 \
      "file for each change of the durable data, and the I/O commands")        \
    X(STRING, char *, timeline, 0, 0, NULL,                                    \
      "file for commands, operations and GC, for Perfetto")                    \
    X(STRING, char *, timeline_from, 0, 0, NULL,                               \
      "begin of the timeline, in modelled time, with a unit: 10ms")            \
    X(STRING, char *, timeline_for, 0, 0, NULL,                                \
      "length of the timeline, in modelled time, with a unit")                 \
    X(STRING, char *, timeline_size, 0, 0, NULL,                               \
      "memory of the timeline, 1MiB to 16GiB")                                 \
    X(STRING, char *, live, 0, 0, NULL,                                        \
      "file for pictures of the running drive, for those who read it")         \
    X(STRING, char *, trace, 0, 0, NULL,                                       \
      "file for a trace of the guest's commands")                              \
    X(STRING, char *, serial, 0, 0, NULL, "serial number, 1 to 20 characters", \
      .check = nvme_serial_ok)                                                 \
    X(STRING, char *, model, 0, 0, NULL, "model number, 1 to 40 characters",   \
      .check = nvme_model_ok)                                                  \
    X(U64, uint64_t, eui64, 0, UINT64_MAX, 0,                                  \
      "EUI-64 of the namespace; 0: none")                                      \
    X(U32, uint32_t, num_queues, 1, 64, 16, "pairs of I/O queues")             \
    X(U32, uint32_t, num_vectors, 0, 65, 0,                                    \
      "MSI-X vectors; 0: one more than queues")                                \
    X(U32, uint32_t, queue_size, 2, 65536, 1024,                               \
      "entries of the largest queue")                                          \
    X(U32, uint32_t, mdts, 1, 10, 7, "largest transfer, 2^N pages of 4 KiB")   \
    X(BOOL, bool, sgl, 0, 0, false, "I/O commands may have SGLs")              \
    X(STRING, char *, namespaces, 0, 0, NULL,                                  \
      "a number of equal ones, or a size for each: 8G;4G:4096;rest")           \
    X(U32, uint32_t, controllers, 1, 32, 1,                                    \
      "the most controllers that the drive may have at a time")                \
    X(U32, uint32_t, metadata, 0, 64, 0,                                       \
      "bytes of metadata of a block: 0, 8, 16, 64")                            \
    X(STRING, char *, metadata_at, 0, 0, NULL,                                 \
      "where the host has it: separate, extended",                             \
      .check = nvme_metadata_at_ok)                                            \
    X(U32, uint32_t, pi, 0, 3, 0, "type of protection information; 0: none")   \
    X(STRING, char *, pi_at, 0, 0, NULL, "place in the metadata: last, first", \
      .check = nvme_pi_at_ok)                                                  \
    X(U32, uint32_t, pi_guard, 0, 64, 16, "bits of its guard: 16, 64")         \
    X(U32, uint32_t, pi_sts, 0, 48, 0,                                         \
      "bits of its storage tag, with a guard of 64")                           \
    X(SIZE, uint64_t, cmb, 0, 1ULL << 30, 0,                                   \
      "controller memory buffer, 1M to 1G, a power of two; 0: none")           \
    X(STRING, char *, cmb_uses, 0, 0, NULL,                                    \
      "use of it: sqs+cqs+lists+rds+wds")                                      \
    X(BOOL, bool, legacy_cmb, 0, 0, false,                                     \
      "always at its BAR, as before NVMe 1.4")                                 \
    X(SIZE, uint64_t, backlog, NVME_BACKLOG_MIN, NVME_BACKLOG_MAX,             \
      NVME_BACKLOG, "host memory that may wait for the image")                 \
    X(SIZE, uint64_t, kv_cache, NVME_KV_CACHE_MIN, NVME_KV_CACHE_MAX,          \
      NVME_KV_CACHE, "memory for pages of the index of key-value pairs")       \
    X(U32, uint32_t, fw_slots, 1, 7, 3, "firmware slots")                      \
    X(BOOL, bool, fw_slot1_read_only, 0, 0, true, "slot 1 keeps its image")    \
    X(U32, uint32_t, fw_activation_ms, 0, 60000, 0,                            \
      "an image without a reset is active after so long")                      \
    X(BOOL, bool, dsm_hints, 0, 0, false,                                      \
      "attributes of Dataset Management act")                                  \
    X(BOOL, bool, sanitize_nodas, 0, 0, true,                                  \
      "Sanitize takes No-Deallocate After Sanitize")                           \
    X(U32, uint32_t, power_return_ms, 0, 3600000, 1000,                        \
      "after a power cut the drive is back after so long; 0: by a reset only")

#define NVME_ATOMIC_DEFAULT 65536

/* The members of NvmeOptions.atomic: as fields of Identify, in blocks less one;
 * NVME_ATOMIC_DEFAULT: as the drive keeps it (namespace/atomic.c). */
#define NVME_ATOMIC_OPTIONS(X)                                                 \
    NVME_ATOMIC_ROW(X, atomic.awun, "changed as a whole, for other commands")  \
    NVME_ATOMIC_ROW(X, atomic.awupf, "changed as a whole, in a power cut")     \
    NVME_ATOMIC_ROW(X, atomic.nawun, "awun of each namespace")                 \
    NVME_ATOMIC_ROW(X, atomic.nawupf, "awupf of each namespace")               \
    NVME_ATOMIC_ROW(X, atomic.nabsn, "boundaries of nawun")                    \
    NVME_ATOMIC_ROW(X, atomic.nabspf, "boundaries of nawupf")                  \
    NVME_ATOMIC_ROW(X, atomic.nabo, "first boundary")                          \
    X(BOOL, bool, atomic.dn, 0, 0, false, "feature Write Atomicity Normal")

#define NVME_ATOMIC_ROW(X, name, help)                                         \
    X(U32, uint32_t, name, 0, NVME_ATOMIC_DEFAULT, NVME_ATOMIC_DEFAULT, help)

/* Strings are the caller's; NULL: the default. */
typedef struct NvmeOptions {
#define NVME_OPTION_MEMBER(kind, ctype, name, ...) ctype name;
    NVME_OPTIONS(NVME_OPTION_MEMBER)
#undef NVME_OPTION_MEMBER
    NvmeAtomic atomic;
} NvmeOptions;

/* The rows of both tables. */
extern const OptDesc nvme_options[];
extern const unsigned nvme_n_options;

void nvme_options_init(NvmeOptions *o);

/* Is each value in its range, and do they go together?  has_pmr: there is a
 * persistent memory region.  false: *error is one line with name and range. */
bool nvme_options_ok(const NvmeOptions *o, bool has_pmr, GError **error);

/* The members of a configuration that they give; strings are not copied. */
NvmeConfig nvme_options_config(const NvmeOptions *o);

/* Of the timeline, all but queue_of and opaque. */
bool nvme_options_timeline(const NvmeOptions *o, SsdTimelineOptions *t,
                           GError **error);

#endif
