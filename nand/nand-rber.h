/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-rber.h - raw bit error rate, codewords and failures as pure functions;
 * docs/reliability.md has the formulas.
 */
#ifndef VSSD_NAND_RBER_H
#define VSSD_NAND_RBER_H

#include "nand.h"

/* Raw bit error rate, 0..0.5, of a block after so many program/erase cycles,
 * t units of time (media.retention_unit) and reads per page. */
double media_rber(const NandConfig *cfg, double cycles, double t, double reads);

/* The same in two steps: factors of the three terms after so many cycles, and
 * the rate. */
typedef struct RberWear {
    double wear, retention, disturb;
} RberWear;

RberWear media_rber_wear(const NandConfig *cfg, double cycles);
double media_rber_at(const NandConfig *cfg, const RberWear *wear, double t,
                     double reads);

/* Probability that more than `correctable` of n bits are wrong, each with
 * probability p: the upper tail of the binomial distribution. */
double media_tail(uint32_t n, uint32_t correctable, double p);

/* Probability that a program or erase fails, without wear base, in a block that
 * is rated for so many cycles (0: it does not wear). */
double media_fail(const NandConfig *cfg, double base, double cycles,
                  uint32_t rated_cycles);

/*
 * How many times faster data ages at media.temperature than at
 * media.reference_temperature: Arrhenius, with media.activation_energy
 * (JEDEC JESD22-A117, JESD218: 1.1 eV).
 */
double media_arrhenius(const NandConfig *cfg);

#endif
