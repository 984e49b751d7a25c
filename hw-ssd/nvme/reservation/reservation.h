/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reservation.h - reservations of shared namespaces. */
#ifndef VSSD_NVME_RESERVATION_H
#define VSSD_NVME_RESERVATION_H

#include "rooms.h"
#if NVME_ROOM < ROOM_RESERVATION
#error "hw-ssd/nvme/reservation is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* A subsystem that may have several controllers has reservations. */
bool nvme_has_reservations(const NvmeCtrl *ctrl);
void nvme_reservations_init(NvmeSubsys *sub);
void nvme_reservations_free(NvmeSubsys *sub);

/* The commands. */
uint16_t nvme_reservation_register(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe);
uint16_t nvme_reservation_report(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe);
uint16_t nvme_reservation_acquire(NvmeCtrl *ctrl, NvmeRequest *req,
                                  const NvmeSqe *sqe);
uint16_t nvme_reservation_release(NvmeCtrl *ctrl, NvmeRequest *req,
                                  const NvmeSqe *sqe);

/*
 * May the controller's host read, or write, the namespace?  Asked only if a
 * namespace is reserved: NvmeSubsys.n_reserved.
 */
bool nvme_reservation_allows(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                             bool write);

/* 0, or Reservation Conflict for a command that reads, writes or formats. */
uint16_t nvme_reservation_check(const NvmeCtrl *ctrl, const NvmeRequest *req,
                                NvmeWork work, const NvmeSqe *sqe);

/* The namespace is deleted; the controller is reset; the power is back. */
void nvme_reservation_forget(NvmeCtrl *ctrl, const NvmeNamespace *ns);
void nvme_reservations_reset(NvmeCtrl *ctrl);
void nvme_reservations_power_on(NvmeSubsys *sub);

/* Features 82h, Reservation Notification Mask, and 83h, Reservation
 * Persistence. */
uint16_t nvme_reservation_get_mask(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe, bool current);
uint16_t nvme_reservation_set_mask(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe);
uint16_t nvme_reservation_get_ptpl(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe, bool current);
uint16_t nvme_reservation_set_ptpl(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe);

/* Log page 80h: the oldest notification; it has been read. */
void nvme_fill_reservation_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                               uint64_t i, void *page);
void nvme_reservation_log_next(NvmeCtrl *ctrl);

/* Of a stream that was loaded; then the counts that follow from it. */
bool nvme_reservations_ok(const NvmeCtrl *ctrl);
void nvme_reservations_loaded(NvmeSubsys *sub);

/* reservation-state.c: reservations that persist without power, beside a saved
 * drive. */
bool nvme_has_persistent_reservations(const NvmeCtrl *ctrl);
bool nvme_save_reservations(const NvmeCtrl *ctrl, FILE *out, GError **error);
bool nvme_load_reservations(NvmeCtrl *ctrl, FILE *in, GError **error);

#endif
