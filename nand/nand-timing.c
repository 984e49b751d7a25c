/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-timing.c - phase durations from ONFI cycles, or from a time per byte.
 *
 * Knows cycles and bytes; knows nothing of contention.
 */
#include "nand-timing.h"
#include "invariant.h"

typedef enum NandInterface {
    INTERFACE_SIMPLE,
    INTERFACE_SDR,
    INTERFACE_NV_DDR,
    INTERFACE_NV_DDR2,
    INTERFACE_NV_DDR3,
    INTERFACE_NV_LPDDR4,
    N_INTERFACES,
} NandInterface;

/*
 * Timing parameters of each interface at its fastest mode, in ns (ONFI 4.0
 * section 4.19, timing parameter tables; NV-LPDDR4: ONFI 5.0).  mt_s is the
 * default rate.
 */
typedef struct InterfacePreset {
    const char *name;
    uint32_t mt_s;
    uint32_t wc;        /* tWC, tCAD or tCK: a command or address cycle */
    uint32_t adl;       /* tADL: address to data loading */
    uint32_t whr;       /* tWHR: command to data output, as of a status read */
    uint32_t wb;        /* tWB: last cycle to busy */
    uint32_t rr;        /* tRR: ready to data output */
    uint32_t ccs;       /* tCCS: change of column or plane to data output */
    uint32_t pre, post; /* DQS around a data burst: tRPRE, tWPRE; tRPST, tWPST
                           + tWPSTH */
} InterfacePreset;

static const InterfacePreset presets[N_INTERFACES] = {
    [INTERFACE_SIMPLE] = {"simple", 800, 0, 0, 0, 0, 0, 0, 0, 0},
    [INTERFACE_SDR] = {"sdr", 50, 20, 70, 80, 100, 20, 200, 0, 0},
    [INTERFACE_NV_DDR] = {"nv-ddr", 200, 25, 70, 80, 100, 20, 200, 10, 15},
    [INTERFACE_NV_DDR2] = {"nv-ddr2", 533, 25, 150, 80, 100, 20, 300, 15, 27},
    [INTERFACE_NV_DDR3] = {"nv-ddr3", 800, 25, 150, 80, 100, 20, 300, 15, 27},
    [INTERFACE_NV_LPDDR4] = {"nv-lpddr4", 2400, 25, 150, 80, 100, 20, 300, 15,
                             27},
};

const char *nand_interface_name(unsigned i)
{
    return i < N_INTERFACES ? presets[i].name : NULL;
}

void nand_timing_preset(NandConfig *cfg)
{
    const InterfacePreset *p = &presets[cfg->interface];

    invariant(cfg->interface < N_INTERFACES);
    cfg->bus_mt_s = p->mt_s;
    cfg->bus_ps_per_byte = 0;
}

/* n bytes, without the burst's ends; one rounding. */
static uint64_t transfer_ps(const NandTiming *t, uint32_t bytes)
{
    uint64_t transfers = (bytes + t->bus_width_bytes - 1) / t->bus_width_bytes;

    if (t->mt_s) {
        return (transfers * 1000000 + t->mt_s - 1) / t->mt_s;
    }
    return transfers * t->ps_per_byte;
}

uint64_t nand_data_ps(const NandTiming *t, uint32_t bytes)
{
    if (bytes == t->page_bytes) {
        return t->page_ps;
    }
    return bytes ? t->burst_ps + transfer_ps(t, bytes) : 0;
}

static void init_cycles(NandTiming *t, const NandConfig *c)
{
    const InterfacePreset *p = &presets[c->interface];
    uint64_t wc_ps = p->wc * PS_PER_NS;

    invariant(c->interface < N_INTERFACES);
    if (c->interface == INTERFACE_SIMPLE) {
        t->read_cmd_ps = c->t_cmd_ps;
        t->program_cmd_ps = c->t_cmd_ps;
        t->erase_cmd_ps = c->t_cmd_ps;
        return;
    }
    t->read_cmd_ps = 7 * wc_ps;
    t->read_out_ps = p->rr * PS_PER_NS;
    t->change_ps = 7 * wc_ps + p->ccs * PS_PER_NS;
    t->program_cmd_ps = 7 * wc_ps + p->adl * PS_PER_NS;
    t->erase_cmd_ps = 5 * wc_ps;
    t->burst_ps = (p->pre + p->post) * PS_PER_NS;
    if (c->status_poll) {
        t->status_ps =
            wc_ps + p->whr * PS_PER_NS + t->burst_ps + transfer_ps(t, 1);
    }
}

static void init_array(NandTiming *t, const NandConfig *c)
{
    uint64_t wb = presets[c->interface].wb * PS_PER_NS;
    const uint64_t read[] = {c->t_read_ps, c->t_read2_ps, c->t_read3_ps,
                             c->t_read4_ps, c->t_slc_read_ps};
    const uint64_t prog[] = {c->t_prog_ps, c->t_prog2_ps, c->t_prog3_ps,
                             c->t_prog4_ps, c->t_slc_prog_ps};

    for (int i = 0; i <= NAND_SLC_MODE; i++) {
        t->read_ps[i] = wb + read[i];
        t->program_ps[i] = wb + prog[i];
    }
    t->erase_ps = wb + c->t_erase_ps;
    t->slc_erase_ps = wb + c->t_slc_erase_ps;
    t->wears = c->program_wear_ppm || c->erase_wear_ppm;
}

uint64_t nand_worn_ps(const NandConfig *c, bool program, uint64_t ps,
                      uint64_t cycles, uint32_t rated)
{
    const uint64_t whole = 1000000;
    uint64_t most = program ? c->program_wear_ppm : c->erase_wear_ppm;
    uint64_t share = rated ? most * MIN(cycles, rated) / rated : 0;
    uint64_t ppm = program ? whole - share : whole + share;

    return (ps * ppm + whole - 1) / whole;
}

void nand_timing_init(NandTiming *t, const NandConfig *c)
{
    invariant(c->bus_width == 8 || c->bus_width == 16);
    *t = (NandTiming){
        .n_page_types = c->cell + 1,
        .bus_width_bytes = c->bus_width / 8,
        .page_bytes = 0, /* so that the whole page is worked out below */
        .mt_s = c->bus_mt_s,
        .ps_per_byte = c->bus_ps_per_byte,
    };
    init_cycles(t, c);
    init_array(t, c);
    t->page_ps = nand_data_ps(t, (uint32_t)c->page_bytes);
    t->page_bytes = (uint32_t)c->page_bytes;
    invariant(t->n_page_types <= NAND_SLC_MODE);
}
