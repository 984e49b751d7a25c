/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-media-options.h - the options of how the medium wears and fails, one row
 * each, as in nand-options.h.  All of it is off by default.
 *
 * docs/reliability.md has the formulas and where the defaults come from.
 */
#ifndef VSSD_NAND_MEDIA_OPTIONS_H
#define VSSD_NAND_MEDIA_OPTIONS_H

#include <stdint.h>

#define NAND_MEDIA_OPTIONS(X)                                                  \
    X(BOOL, bool, errors, "media.errors", 0, 0, "off", NULL,                   \
      "reads have bit errors: raw bit error rate base + wear PE^wear_exp + "   \
      "retention PE^retention_pe_exp t^retention_exp + disturb "               \
      "PE^disturb_pe_exp r^disturb_exp",                                       \
      .common = true)                                                          \
    X(DOUBLE, double, rber_base, "media.base", 0, 1, "1.48e-3", NULL,          \
      "raw bit error rate of a new block")                                     \
    X(DOUBLE, double, rber_wear, "media.wear", 0, 1, "3.9e-10", NULL,          \
      "factor of the wear term; PE counts program/erase cycles of the block")  \
    X(DOUBLE, double, rber_wear_exp, "media.wear_exp", 0, 16, "2.05", NULL,    \
      "exponent of PE in the wear term")                                       \
    X(DOUBLE, double, rber_ret, "media.retention", 0, 1, "6.28e-5", NULL,      \
      "factor of the retention term; t is the time since the block's first "   \
      "program, in media.retention_unit")                                      \
    X(DOUBLE, double, rber_ret_pe_exp, "media.retention_pe_exp", 0, 16,        \
      "0.14", NULL, "exponent of PE in the retention term")                    \
    X(DOUBLE, double, rber_ret_exp, "media.retention_exp", 0, 16, "0.54",      \
      NULL, "exponent of t in the retention term")                             \
    X(TIME, uint64_t, ret_unit_ps, "media.retention_unit", 1000000000,         \
      86400000000000000, "24h", NULL, "unit of t in the retention term")       \
    X(DOUBLE, double, rber_dist, "media.disturb", 0, 1, "3.73e-9", NULL,       \
      "factor of the disturb term; r is the number of reads of the block "     \
      "since its erase, divided by its pages")                                 \
    X(DOUBLE, double, rber_dist_pe_exp, "media.disturb_pe_exp", 0, 16, "0.33", \
      NULL, "exponent of PE in the disturb term")                              \
    X(DOUBLE, double, rber_dist_exp, "media.disturb_exp", 0, 16, "1.71", NULL, \
      "exponent of r in the disturb term")                                     \
    X(U32, uint32_t, ecc_bits, "media.ecc_bits", 0, 65535, "120", NULL,        \
      "wrong bits of a codeword (nand.ecc_codeword) that ECC corrects")        \
    X(U32, uint32_t, retry_limit, "media.retry_limit", 0, 64, "5", NULL,       \
      "maximum number of read retries of a page with uncorrectable "           \
      "codewords")                                                             \
    X(DOUBLE, double, retry_factor, "media.retry_factor", 0, 1, "0.7", NULL,   \
      "factor of the raw bit error rate for each read retry, without "         \
      "media.retry_levels")                                                    \
    X(TIME, uint64_t, t_retry_ps, "media.retry_time", 0, 10000000000, NULL,    \
      NULL, "array time of a read retry beyond tR")                            \
    X(BOOL, bool, retry_levels, "media.retry_levels", 0, 0, "off", NULL,       \
      "retries read at other levels of the reference voltage, "                \
      "media.retry_limit of them; the best one shifts with wear and age")      \
    X(DOUBLE, double, shift_wear, "media.shift_wear", 0, 64, "2", NULL,        \
      "media.retry_levels: the best level at media.rated_cycles, linear in "   \
      "PE")                                                                    \
    X(DOUBLE, double, shift_ret, "media.shift_retention", 0, 64, "1", NULL,    \
      "media.retry_levels: the best level rises by this times ln(1 + t)")      \
    X(DOUBLE, double, shift_sigma, "media.shift_sigma", 0, 16, "0", NULL,      \
      "media.retry_levels: standard deviation of the best level among word "   \
      "lines")                                                                 \
    X(DOUBLE, double, shift_factor, "media.shift_factor", 1, 1000, "1.1",      \
      NULL,                                                                    \
      "media.retry_levels: factor of the raw bit error rate one level "        \
      "away from the best; its fourth power two levels away, and so on")       \
    X(ENUM, uint32_t, retry_memory, "media.retry_memory", 0, 0, "off",         \
      nand_retry_memory_name,                                                  \
      "where the controller records the level that helped, to try it first; "  \
      "needs media.retry_levels=on")                                           \
    X(U32, uint32_t, soft_reads, "media.soft_reads", 0, 15, "0", NULL,         \
      "reads of a page for soft decoding, after media.retry_limit retries; "   \
      "0: no soft decoding")                                                   \
    X(TIME, uint64_t, t_soft_ps, "media.soft_time", 0, 10000000000, NULL,      \
      NULL, "time of soft decoding of a page, in the decoder")                 \
    X(DOUBLE, double, soft_factor, "media.soft_factor", 0, 1, "0.5", NULL,     \
      "soft decoding corrects as if the raw bit error rate were lower by "     \
      "this factor")                                                           \
    X(DOUBLE, double, block_sigma, "media.block_sigma", 0, 4, "0", NULL,       \
      "variation between blocks: standard deviation of the natural logarithm " \
      "of a factor of the raw bit error rate, whose mean is 1")                \
    X(DOUBLE, double, die_sigma, "media.die_sigma", 0, 4, "0", NULL,           \
      "the same between dies")                                                 \
    X(DOUBLE, double, layer_factor, "media.layer_factor", 1, 1000, "1", NULL,  \
      "raw bit error rate of the worst layer of a block, its last, relative "  \
      "to the best, its first; the mean of all layers stays")                  \
    X(U32, uint32_t, layers, "media.layers", 0, 16384, "0", NULL,              \
      "layers of a block, of as many word lines each; 0: each word line is "   \
      "one")                                                                   \
    X(DOUBLE, double, type2_factor, "media.type_2", 0, 1000, "1", NULL,        \
      "raw bit error rate of the second page of a word line, relative to the " \
      "first")                                                                 \
    X(DOUBLE, double, type3_factor, "media.type_3", 0, 1000, "1", NULL,        \
      "the same of the third page")                                            \
    X(DOUBLE, double, type4_factor, "media.type_4", 0, 1000, "1", NULL,        \
      "the same of the fourth page")                                           \
    X(U32, uint32_t, temperature_c, "media.temperature", 0, 150, "40", NULL,   \
      "temperature of the cells in degrees Celsius, for retention")            \
    X(U32, uint32_t, reference_c, "media.reference_temperature", 0, 150, "40", \
      NULL, "temperature for which media.retention holds")                     \
    X(DOUBLE, double, activation_ev, "media.activation_energy", 0, 4, "1.1",   \
      NULL, "eV; data ages faster with temperature, by Arrhenius' law")        \
    X(DOUBLE, double, slc_factor, "media.slc_factor", 0, 1, "0.01", NULL,      \
      "factor of the raw bit error rate of blocks in SLC mode "                \
      "(nand.slc_blocks)")                                                     \
    X(U32, uint32_t, start_cycles, "media.start_cycles", 0, 10000000, NULL,    \
      NULL, "initial program/erase cycles of every block")                     \
    X(U32, uint32_t, preload_hours, "media.preload_hours", 0, 1000000, NULL,   \
      NULL, "age of the initial data")                                         \
    X(U32, uint32_t, off_hours, "media.off_hours", 0, 1000000, NULL, NULL,     \
      "time without power after each power cut, for retention")                \
    X(ENUM, uint32_t, paired_pages, "media.paired_pages", 0, 0, "off",         \
      nand_paired_name,                                                        \
      "a program of a page that a power cut stops destroys the earlier pages " \
      "of its word line. off: no; on: yes; backup: yes, but the drive has a "  \
      "copy of each, for which such programs take longer")                     \
    X(DOUBLE, double, program_fail, "media.program_fail", 0, 1, NULL, NULL,    \
      "probability that a program on an unworn block fails")                   \
    X(DOUBLE, double, erase_fail, "media.erase_fail", 0, 1, NULL, NULL,        \
      "probability that an erase of an unworn block fails")                    \
    X(U32, uint32_t, rated_cycles, "media.rated_cycles", 0, 10000000, "3000",  \
      NULL,                                                                    \
      "PE at which the two failure probabilities have doubled; 0: they do "    \
      "not grow")                                                              \
    X(U32, uint32_t, slc_rated_cycles, "media.slc_rated_cycles", 0, 10000000,  \
      "60000", NULL, "media.rated_cycles of blocks in SLC mode")               \
    X(DOUBLE, double, fail_exp, "media.fail_exp", 0, 16, "4", NULL,            \
      "exponent of (PE / media.rated_cycles) in their growth")                 \
    X(PPM, uint32_t, factory_bad_ppm, "media.factory_bad", 0, 500000, NULL,    \
      NULL, "probability that a block is bad from the factory")

const char *nand_retry_memory_name(unsigned i);
const char *nand_paired_name(unsigned i);

#endif
