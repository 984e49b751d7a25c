/* SPDX-License-Identifier: GPL-2.0-or-later */
/* io.h - callbacks of the payload. */
#ifndef VSSD_NVME_IO_H
#define VSSD_NVME_IO_H

#include "nvme-internal.h"

/* Read data has arrived: hand it to the guest, or compare. */
void nvme_io_read_done(NvmeCtrl *ctrl, NvmeRequest *req);

#endif
