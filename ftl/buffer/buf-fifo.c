/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-fifo.c - a write buffer: units leave it in the order in which they came
 * (those that something waits for before the others); a unit that is written
 * again keeps its place.  streams.c keeps that order.
 */
#include "buffer/buffer-policy.h"

BUFFER_POLICY(fifo, "fifo",
              "a write buffer that is drained in order of arrival",
              BUFFER_PART());

/* Units pass through the buffer in order, and no write completes before its
 * units are in NAND. */
BUFFER_POLICY(none, "none",
              "write through: a write completes when it is in NAND",
              BUFFER_PART(.write_through = true));
