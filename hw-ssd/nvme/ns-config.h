/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ns-config.h - the namespaces of a new drive. */
#ifndef VSSD_NVME_NS_CONFIG_H
#define VSSD_NVME_NS_CONFIG_H

#include "nvme-internal.h"

/* Make the namespaces of NvmeConfig.namespaces, attached.  false: *error says
 * what is wrong with it. */
bool nvme_ns_configure(NvmeCtrl *ctrl, GError **error);

#endif
