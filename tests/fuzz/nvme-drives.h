/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvme-drives.h - the drives of fuzz-nvme. */
#ifndef VSSD_TESTS_NVME_DRIVES_H
#define VSSD_TESTS_NVME_DRIVES_H

#include <stdbool.h>

#include "nvme-input.h"
#include "ssd.h"

/* The drive of a head.  The configuration stays the table's: many inputs
 * share it. */
typedef struct FuzzDrive {
    const SsdConfig *config;
    uint64_t nblocks; /* user capacity */
    bool lies;        /* it loses data that it has acknowledged as durable */
    bool fails;  /* commands may end with errors of the medium */
    bool timed;  /* commands take modelled time */
    bool zoned;  /* no honest host: it knows no zones */
    bool both;   /* zones and a space behind them: its store has all zones */
    bool kv;     /* of key-value pairs, so that no host is honest */
    bool cmb;    /* with a controller memory buffer */
    bool hints;  /* attributes of Dataset Management act */
    bool heats;  /* it has states of power and temperature; no NDAS */
} FuzzDrive;

FuzzDrive fuzz_drive(const uint8_t *head);

#endif
