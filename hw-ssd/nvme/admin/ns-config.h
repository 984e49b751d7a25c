/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ns-config.h - the namespaces of a new drive. */
#ifndef VSSD_NVME_NS_CONFIG_H
#define VSSD_NVME_NS_CONFIG_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* What text there is: of NvmeConfig, else of host.namespaces.  NULL: none. Once
 * the controller knows its drive; false: it cannot be had with these zones. */
bool nvme_ns_choose(NvmeCtrl *ctrl, GError **error);

/* Make the namespaces of NvmeConfig.namespaces, attached.  false: *error says
 * what is wrong with it. */
bool nvme_ns_configure(NvmeCtrl *ctrl, GError **error);

#endif
