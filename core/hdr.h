/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hdr.h - histograms as a log of HdrHistogram (G. Tene), for its tools.
 *
 * The text is "Histogram log format version 1.3": a line for each histogram,
 * in the compressed encoding V2 with two significant digits.  A bucket of Hist
 * has the width of two of its buckets; each value is at the upper end of its
 * bucket in Hist, as in hist_quantile(), so it is too high by less than 1/64.
 */
#ifndef VSSD_CORE_HDR_H
#define VSSD_CORE_HDR_H

#include <stdint.h>
#include <glib.h>

#include "hist.h"

/* Append the head of a log. */
void hdr_log_begin(GString *out);

/* Append a line: of values in ns since from_ns, for length_ns.  tag: without
 * comma or space.  Values above 2^55 ns count as 2^55. */
void hdr_log_add(GString *out, const char *tag, uint64_t from_ns,
                 uint64_t length_ns, const Hist *h);

#endif
