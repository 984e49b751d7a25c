/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kept-parts.h - signatures of the streams beside a saved drive. */
#ifndef VSSD_NVME_KEPT_PARTS_H
#define VSSD_NVME_KEPT_PARTS_H

#define KEPT_NAMESPACES   "vssdNS\0\0"
#define KEPT_CONTROLLER   "vssdKEPT"
#define KEPT_FDP          "vssdFDP\0"
#define KEPT_ERASURE      "vssdERA\0"
#define KEPT_RESERVATIONS "vssdRSV\0"
#define KEPT_RESOURCES    "vssdVIR\0"

#endif
