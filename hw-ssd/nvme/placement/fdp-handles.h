/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fdp-handles.h - placement identifiers and handles of namespaces. */
#ifndef VSSD_NVME_FDP_HANDLES_H
#define VSSD_NVME_FDP_HANDLES_H

#include "rooms.h"
#if NVME_ROOM < ROOM_PLACEMENT
#error "hw-ssd/nvme/placement is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* With FDP: the lists of fdp.handles; configuration 0 is enabled. */
void nvme_fdp_init(NvmeCtrl *ctrl);
void nvme_fdp_free(NvmeCtrl *ctrl);

/* Configurations that the drive has, and the handles of configuration i. */
unsigned nvme_fdp_n_configs(const NvmeCtrl *ctrl);
unsigned nvme_fdp_config_ruhs(const NvmeCtrl *ctrl, unsigned i);

/* Is FDP enabled (feature 1Dh)?  Handles of the present configuration. */
bool nvme_fdp_on(const NvmeCtrl *ctrl);
unsigned nvme_fdp_ruhs(const NvmeCtrl *ctrl);

/* Most significant bits of a placement identifier that hold the group. */
unsigned nvme_fdp_rgif(const NvmeCtrl *ctrl);

/* Placement handles of the namespace, and the reclaim unit handle of one. */
unsigned nvme_fdp_n_handles(const NvmeCtrl *ctrl, const NvmeNamespace *ns);
unsigned nvme_fdp_handle(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                         unsigned placement);

/* Is Data Placement enabled for the namespace? */
bool nvme_fdp_places(const NvmeCtrl *ctrl, const NvmeNamespace *ns);
void nvme_fdp_set_places(NvmeCtrl *ctrl, const NvmeNamespace *ns, bool on);

/* The drive's stream of a placement identifier; false: it does not exist. */
bool nvme_fdp_stream(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                     uint16_t pid, uint16_t *stream);
uint16_t nvme_fdp_pid(const NvmeCtrl *ctrl, unsigned group, unsigned placement);

/* The identifier by which the namespace knows the stream; false: it does not.
 */
bool nvme_fdp_pid_of(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                     uint32_t stream, uint16_t *pid);

/* NVME_RUHA_...: who has given the handle to a namespace. */
unsigned nvme_fdp_ruha(const NvmeCtrl *ctrl, unsigned ruh);

/* Of Namespace Management, Create: take the list of its data structure, and
 * check it; then give it to the namespace that was made. */
uint16_t nvme_fdp_take_list(NvmeCtrl *ctrl, const NvmeIdNamespace *id);
void nvme_fdp_give_list(NvmeCtrl *ctrl, uint32_t nsid);

/* A loaded NvmeFdpUnits may be forged: is it one of this drive? */
bool nvme_fdp_units_ok(const NvmeCtrl *ctrl);

#endif
