/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link.c - the host link: one transfer at a time in each direction.
 *
 * With host.pcie_mps data goes in packets with headers, and data of the host is
 * fetched by read requests.  R. Neugebauer et al., "Understanding PCIe
 * performance for end host networking", SIGCOMM 2018, section 3, has the sums:
 *
 *   to the host    bytes + ceil(bytes / MPS) * (header of a write)
 *   from the host  bytes + ceil(bytes / MPS or RCB) * (header of a completion),
 *                  and ceil(bytes / MRRS) * (header of a read) the other way
 *
 * Requests, queue entries and the like go between the packets of a transfer:
 * they take their part of the link and do not wait for the transfers before
 * them.
 */
#include "controller/cmb.h"
#include "controller/controller-private.h"
#include "controller/controller.h"
#include "ssd-internal.h"

/*
 * Bytes of a packet beside its data: a header of 4 double words with a 64-bit
 * address (write, read) or of 3 (completion with data); and 8 bytes of framing,
 * sequence number and link CRC (PCI Express Base Specification 5.0, sections
 * 2.2.4, 2.2.9, 3.6.1 and 4.2.1.2), which flits of generation 6 have for many
 * packets together.
 */
#define WRITE_HEADER      16
#define READ_HEADER       16
#define COMPLETION_HEADER 12
#define FRAMING           8

/* NVM Express Base Specification 2.0, sections 3.1 (doorbells), 4.1 (entries of
 * submission queues), 4.2 (of completion queues) and 4.3 (PRPs); a message of
 * MSI-X: PCI Express Base Specification 5.0, section 6.1.4. */
#define DOORBELL_BYTES   4
#define SUBMISSION_BYTES 64
#define COMPLETION_BYTES 16
#define MESSAGE_BYTES    4
#define PRP_BYTES        8
#define HOST_PAGE_BYTES  4096
#define PRPS_OF_ENTRY    2

/*
 * PCIe carries GT/s x lanes bits, 8b/10b coded up to generation 2 and 128b/130b
 * from 3 to 5 (PCI Express Base Specification, section 4.2); generation 6 is
 * PAM4 in 256-byte flits of which 236 are transaction layer bytes.
 */
void link_init(Ssd *ssd)
{
    static const struct {
        uint64_t mt_s, code_num, code_den;
    } gen[] = {
        [1] = {2500, 8, 10},     [2] = {5000, 8, 10},
        [3] = {8000, 128, 130},  [4] = {16000, 128, 130},
        [5] = {32000, 128, 130}, [6] = {64000, 236, 256},
    };
    const SsdConfig *cfg = ssd->cfg;
    Controller *c = ssd->controller;

    c->link_num = 1000000;
    c->link_den = cfg->link_mb_s;
    if (cfg->pcie_gen) {
        c->link_num = 8 * 1000000 * gen[cfg->pcie_gen].code_den;
        c->link_den = gen[cfg->pcie_gen].mt_s * cfg->pcie_lanes *
                      gen[cfg->pcie_gen].code_num;
    }
    if (cfg->pcie_dllp_ppm) {
        c->link_num *= 1000000;
        c->link_den *= 1000000 - cfg->pcie_dllp_ppm;
    }
}

static uint64_t wire_ps(const Controller *c, uint64_t bytes)
{
    return c->link_den ? (uint64_t)(((unsigned __int128)bytes * c->link_num +
                                     c->link_den - 1) /
                                    c->link_den)
                       : 0;
}

uint64_t link_data_ps(const Ssd *ssd, uint64_t bytes)
{
    return wire_ps(ssd->controller, bytes);
}

/* Bytes on the wire: packets of at most so much data. */
static uint64_t packets(const SsdConfig *cfg, uint64_t bytes, uint64_t most,
                        uint64_t header)
{
    uint64_t framing = cfg->pcie_gen == 6 ? 0 : FRAMING;

    return cfg->pcie_mps == 0
               ? bytes
               : bytes + (bytes + most - 1) / most * (header + framing);
}

static uint64_t written(const Ssd *ssd, uint64_t bytes)
{
    return packets(ssd->cfg, bytes, ssd->cfg->pcie_mps, WRITE_HEADER);
}

static uint64_t answered(const Ssd *ssd, uint64_t bytes)
{
    uint32_t rcb = ssd->cfg->pcie_rcb;
    uint32_t mps = ssd->cfg->pcie_mps;

    return packets(ssd->cfg, bytes, rcb ? MIN(rcb, mps) : mps,
                   COMPLETION_HEADER);
}

/* Requests have no data. */
static uint64_t requested(const Ssd *ssd, uint64_t bytes)
{
    return packets(ssd->cfg, bytes, ssd->cfg->pcie_mrrs, READ_HEADER) - bytes;
}

/* Requests and entries go between the packets of a transfer: what comes later
 * is later. */
static uint64_t go_between(Controller *c, HostPart way, uint64_t *busy_ps,
                           uint64_t from_ps, uint64_t bytes)
{
    uint64_t ps = wire_ps(c, bytes);

    c->use.busy_ps[way] += ps;
    *busy_ps = MAX(*busy_ps, from_ps) + ps;
    return from_ps + ps;
}

static uint64_t between_in(Ssd *ssd, uint64_t from_ps, uint64_t bytes)
{
    Controller *c = ssd->controller;

    return go_between(c, HOST_LINK_IN, &c->link_in_ps, from_ps, bytes);
}

static uint64_t between_out(Ssd *ssd, uint64_t from_ps, uint64_t bytes)
{
    Controller *c = ssd->controller;

    return go_between(c, HOST_LINK_OUT, &c->link_out_ps, from_ps, bytes);
}

uint64_t link_from_host(Ssd *ssd, uint64_t from_ps, uint64_t bytes)
{
    Controller *c = ssd->controller;

    if (ssd->cfg->pcie_mps) {
        uint64_t first = requested(ssd, 1);
        uint64_t rest = requested(ssd, bytes) - first;

        from_ps = between_out(ssd, from_ps, first);
        between_out(ssd, from_ps, rest);
    }
    return part_serve(c, HOST_LINK_IN, &c->link_in_ps,
                      from_ps + ssd->cfg->t_round_trip_ps,
                      wire_ps(c, answered(ssd, bytes)));
}

uint64_t link_behind(Ssd *ssd, uint64_t from_ps)
{
    Controller *c = ssd->controller;

    c->link_in_ps = MAX(c->link_in_ps, from_ps);
    return c->link_in_ps;
}

uint64_t link_to_host(Ssd *ssd, uint64_t from_ps, uint64_t bytes)
{
    Controller *c = ssd->controller;

    return part_serve(c, HOST_LINK_OUT, &c->link_out_ps, from_ps,
                      wire_ps(c, written(ssd, bytes)));
}

uint64_t link_read_host(Ssd *ssd, uint64_t from_ps, uint64_t bytes)
{
    uint64_t asked_ps = between_out(ssd, from_ps, requested(ssd, bytes));

    return between_in(ssd, asked_ps + ssd->cfg->t_round_trip_ps,
                      answered(ssd, bytes));
}

uint64_t link_fetch_command(Ssd *ssd)
{
    uint64_t ps = between_in(ssd, ssd->now_ps, written(ssd, DOORBELL_BYTES));

    return link_read_host(ssd, ps, SUBMISSION_BYTES);
}

/* The second PRP of a longer command leads to a list of all others. */
static uint64_t list_bytes(uint64_t bytes)
{
    uint64_t pages = (bytes + HOST_PAGE_BYTES - 1) / HOST_PAGE_BYTES;

    return pages > PRPS_OF_ENTRY ? (pages - 1) * PRP_BYTES : 0;
}

uint64_t link_fetch_list(Ssd *ssd, uint64_t from_ps, uint64_t bytes)
{
    uint64_t n = list_bytes(bytes);

    return n ? link_read_host(ssd, from_ps, n) : from_ps;
}

uint64_t link_complete(Ssd *ssd, uint64_t from_ps)
{
    uint64_t ps = between_out(ssd, from_ps,
                              written(ssd, COMPLETION_BYTES) +
                                  written(ssd, MESSAGE_BYTES));

    between_in(ssd, ps, written(ssd, DOORBELL_BYTES));
    return ps;
}

/* ---- parts in a controller memory buffer --------------------------------- */

/* A posted write does not pass an earlier one, so the entry comes before its
 * doorbell (PCI Express Base Specification 5.0, section 2.4.1). */
uint64_t link_take_command(Ssd *ssd)
{
    uint64_t ps = between_in(ssd, ssd->now_ps, written(ssd, SUBMISSION_BYTES));

    return between_in(ssd, ps, written(ssd, DOORBELL_BYTES));
}

uint64_t link_take_list(Ssd *ssd, uint64_t from_ps, uint64_t bytes)
{
    uint64_t n = list_bytes(bytes);

    return n ? between_in(ssd, from_ps, written(ssd, n)) : from_ps;
}

uint64_t link_take_data(Ssd *ssd, uint64_t from_ps, uint64_t bytes)
{
    Controller *c = ssd->controller;

    return part_serve(c, HOST_LINK_IN, &c->link_in_ps, from_ps,
                      wire_ps(c, written(ssd, bytes)));
}

/* After the interrupt the host reads the entry, and then writes the doorbell.
 * The command waits for neither. */
uint64_t link_complete_inside(Ssd *ssd, uint64_t from_ps)
{
    uint64_t ps = between_out(ssd, from_ps, written(ssd, MESSAGE_BYTES));
    uint64_t asked_ps = between_in(ssd, ps, requested(ssd, COMPLETION_BYTES));

    between_out(ssd, asked_ps, answered(ssd, COMPLETION_BYTES));
    between_in(ssd, asked_ps, written(ssd, DOORBELL_BYTES));
    return ps;
}
