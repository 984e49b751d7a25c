/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-stats.h - the statistics of the controller, one row each, in the order
 * of the JSON text; see core/stats.h.
 *
 * C(id, path, unit, reset, help): a counter that this row makes:
 * NvmeSubsys.count.id, from 0, saved with the controller.
 * V(type, id, path, unit, reset, value, help): a value of a CtrlStats *v.
 */
#ifndef VSSD_NVME_STATS_H
#define VSSD_NVME_STATS_H

#define NVME_STATS(C, V)                                                       \
    C(commands_admin, "commands_admin", "commands", LIFE, "admin commands")    \
    C(commands_io, "commands_io", "commands", LIFE, "I/O commands")            \
    C(commands_failed, "commands_failed", "commands", LIFE,                    \
      "commands with a status other than success")                             \
    C(doorbell_writes, "doorbell_writes", "writes", RESET,                     \
      "writes of the guest to doorbell registers; shadow doorbells save them") \
    C(sq_dma_reads, "fetches", "reads", RESET,                                 \
      "DMA reads of submission queues, of one entry or more")                  \
    C(interrupts, "interrupts", "", RESET, "interrupts sent")                  \
    V(BOOL, shadow_doorbells, "shadow_doorbells", "", NOW,                     \
      v->ctrl->queues.shadow_on, "the guest uses shadow doorbells")            \
    V(U64, media_errors, "media_errors", "commands", LIFE,                     \
      v->ctrl->sub->life.media_errors,                                         \
      "commands that lost data, as in the SMART log")                          \
    V(U64, unsafe_shutdowns, "unsafe_shutdowns", "", LIFE,                     \
      v->ctrl->sub->life.unsafe_shutdowns,                                     \
      "losses of power without a shutdown, as in the SMART log")               \
    V(U64, units, "overlay.units", "units", NOW, v->payload.units,             \
      "units whose data only the overlay has "                                 \
      "([architecture.md](architecture.md))")                                  \
    V(U64, units_peak, "overlay.units_peak", "units", LIFE,                    \
      v->payload.units_peak, "the most at a time")                             \
    V(U64, units_failed, "overlay.units_failed", "units", NOW,                 \
      v->payload.units_failed,                                                 \
      "of these, programmed in the model and refused by the block node")       \
    V(U64, destaged_units, "overlay.destaged_units", "units", LIFE,            \
      v->payload.destaged_units, "units written to the block node")            \
    V(U64, zero_ranges, "overlay.zero_ranges", "ranges", NOW,                  \
      v->payload.zero_ranges, "ranges that the block node has not zeroed yet") \
    V(U64, marked_blocks, "overlay.marked_blocks", "blocks", NOW,              \
      payload_marked_blocks(v->ctrl->payload),                                 \
      "blocks that Write Uncorrectable has marked, and the block node has")    \
    V(U64, backlog_bytes, "overlay.backlog_bytes", "bytes", NOW,               \
      v->payload.backlog_bytes,                                                \
      "host memory that waits for the block node, or was refused")             \
    V(U64, backlog_peak_bytes, "overlay.backlog_peak_bytes", "bytes", LIFE,    \
      v->payload.backlog_peak_bytes, "the most at a time")                     \
    V(U64, store_reads, "overlay.store_reads", "requests", LIFE,               \
      v->payload.store_reads, "reads of the block node")                       \
    V(U64, store_writes, "overlay.store_writes", "requests", LIFE,             \
      v->payload.store_writes, "writes to the block node")                     \
    V(U64, store_zeroes, "overlay.store_zeroes", "requests", LIFE,             \
      v->payload.store_zeroes, "requests to zero a range of the block node")   \
    V(U64, store_flushes, "overlay.store_flushes", "requests", LIFE,           \
      v->payload.store_flushes, "flushes of the block node")                   \
    V(U64, store_errors, "overlay.store_errors", "requests", LIFE,             \
      v->payload.store_errors, "requests that the block node refused")         \
    V(U64, late_count, "lateness_ns.count", "commands", RESET,                 \
      v->ctrl->sub->lateness->n,                                               \
      "completions that were delivered; lateness is the time from the "        \
      "modelled instant to the delivery")                                      \
    V(DOUBLE, late_mean, "lateness_ns.mean", "ns", RESET,                      \
      hist_mean(v->ctrl->sub->lateness), "mean lateness")                      \
    V(U64, late_p50, "lateness_ns.p50", "ns", RESET, late(v, 500000),          \
      "the median")                                                            \
    V(U64, late_p99, "lateness_ns.p99", "ns", RESET, late(v, 990000),          \
      "99 % are at most that late")                                            \
    V(U64, late_p999, "lateness_ns.p999", "ns", RESET, late(v, 999000),        \
      "99.9 % are at most that late")                                          \
    V(U64, late_max, "lateness_ns.max", "ns", RESET,                           \
      v->ctrl->sub->lateness->n ? v->ctrl->sub->lateness->max : 0, "the most")

#endif
