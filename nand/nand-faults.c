/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-faults.c - matching operations against the rules of scripted faults.
 *
 * Knows rules, not files (nand-faults-file.c).  Every rule counts its own
 * matches, so the history of the operations decides alone.
 */
#include "nand-faults.h"
#include "invariant.h"

uint64_t fault_stretch(uint64_t ps, uint32_t milli)
{
    return (uint64_t)(((unsigned __int128)ps * milli + 999) / 1000);
}

static bool in_range(const FaultRange *r, uint64_t v)
{
    return !r->given || (v >= r->first && v <= r->last);
}

static bool at_place(const FaultRule *r, const FaultPlace *p)
{
    return r->kinds >> p->kind & 1 && r->causes >> p->cause & 1 &&
           in_range(&r->channel, p->channel) && in_range(&r->die, p->die) &&
           in_range(&r->plane, p->plane) && in_range(&r->block, p->block) &&
           in_range(&r->page, p->page);
}

/* Is the rule about single operations that begin now, the n-th of all? */
static bool may_match(const FaultRule *r, const FaultPlace *p, uint64_t now_ps,
                      uint64_t n)
{
    return !r->cmd.given && in_range(&r->op, n) &&
           (!r->time.given || now_ps >= r->time.first) && at_place(r, p);
}

/* A rule that names nothing but a time acts by the clock. */
static bool by_clock(const FaultRule *r)
{
    return r->time.given && !r->on && !r->op.given && !r->cmd.given &&
           !r->nth.given && !r->channel.given && !r->die.given &&
           !r->plane.given && !r->block.given && !r->page.given &&
           !r->lba.given;
}

/* A window that the clock opens, at the places that the rule names. */
static bool clock_window(const FaultRule *r)
{
    return r->action == FAULT_LATENCY && r->for_ps && r->time.given &&
           !r->op.given && !r->cmd.given && !r->nth.given && !r->lba.given;
}

/* The rule matches; does it fire? */
static bool fires(FaultRule *r)
{
    r->n_matched++;
    if ((r->nth.given && r->n_matched < r->nth.first) ||
        r->n_fired >= r->times) {
        return false;
    }
    r->n_fired++;
    return true;
}

static void apply(FaultRule *r, uint64_t now_ps, FaultEffect *e)
{
    switch (r->action) {
    case FAULT_FAIL:
        e->fail = true;
        break;
    case FAULT_UNCORRECTABLE:
        e->uncorrectable = true;
        break;
    case FAULT_CUT:
        e->cut = true;
        break;
    case FAULT_DEAD:
        e->fail = true;
        e->uncorrectable = true;
        break;
    case FAULT_LATENCY:
        if (r->for_ps) {
            r->window_from_ps = now_ps;
            r->window_until_ps = now_ps + r->for_ps;
        } else {
            uint64_t milli = e->stretch_milli ? e->stretch_milli : 1000;

            milli = milli * r->stretch_milli / 1000;
            e->stretch_milli = (uint32_t)MIN(milli, UINT32_MAX);
        }
        break;
    default:
        g_assert_not_reached();
    }
}

void faults_op(Faults *f, const FaultPlace *place, uint64_t now_ps,
               FaultEffect *e)
{
    f->n_ops++;
    for (unsigned i = 0; i < f->n_rules; i++) {
        FaultRule *r = &f->rule[i];

        if (!r->lba.given && !clock_window(r) &&
            !(r->action == FAULT_CUT && by_clock(r)) &&
            may_match(r, place, now_ps, f->n_ops) && fires(r)) {
            apply(r, now_ps, e);
        }
    }
}

unsigned faults_lba_rules(const Faults *f)
{
    return f->n_lba_rules;
}

bool faults_lba_range(const Faults *f, unsigned i, const FaultPlace *place,
                      uint64_t now_ps, uint64_t *first, uint64_t *last)
{
    const FaultRule *r = &f->rule[f->lba_rule[i]];

    invariant(i < f->n_lba_rules);
    *first = r->lba.first;
    *last = r->lba.last;
    return may_match(r, place, now_ps, f->n_ops + 1);
}

void faults_lba_match(Faults *f, unsigned i, uint64_t now_ps, FaultEffect *e)
{
    FaultRule *r = &f->rule[f->lba_rule[i]];

    invariant(i < f->n_lba_rules);
    if (fires(r)) {
        apply(r, now_ps, e);
    }
}

bool faults_cmd(Faults *f, uint64_t now_ps)
{
    FaultEffect e = {.cut = false};

    f->n_cmds++;
    for (unsigned i = 0; i < f->n_rules; i++) {
        FaultRule *r = &f->rule[i];

        if (r->cmd.given && r->cmd.first == f->n_cmds && fires(r)) {
            apply(r, now_ps, &e);
        }
    }
    return e.cut;
}

uint64_t faults_next_cut_ps(const Faults *f, uint64_t now_ps)
{
    uint64_t next_ps = SIM_NEVER;

    for (unsigned i = 0; i < f->n_rules; i++) {
        const FaultRule *r = &f->rule[i];

        if (r->action == FAULT_CUT && by_clock(r) && r->time.first > now_ps) {
            next_ps = MIN(next_ps, r->time.first);
        }
    }
    return next_ps;
}

void faults_rebase(Faults *f, uint64_t by_ps)
{
    for (unsigned i = 0; i < f->n_rules; i++) {
        FaultRule *r = &f->rule[i];
        uint64_t *instants[] = {
            &r->time.first, &r->time.last, &r->window_from_ps,
            &r->window_until_ps,
        };

        for (size_t k = 0; k < G_N_ELEMENTS(instants); k++) {
            if (*instants[k] != UINT64_MAX) {
                *instants[k] -= MIN(*instants[k], by_ps);
            }
        }
    }
}

uint64_t faults_stretch(const Faults *f, const FaultPlace *place,
                        uint64_t now_ps, uint64_t ps)
{
    for (unsigned i = 0; i < f->n_rules; i++) {
        const FaultRule *r = &f->rule[i];

        if (r->window_from_ps <= now_ps && now_ps < r->window_until_ps &&
            at_place(r, place)) {
            ps = fault_stretch(ps, r->stretch_milli);
        }
    }
    return ps;
}

bool faults_may_fail(const Faults *f)
{
    for (unsigned i = 0; i < f->n_rules; i++) {
        if (f->rule[i].action == FAULT_FAIL ||
            f->rule[i].action == FAULT_DEAD) {
            return true;
        }
    }
    return false;
}

bool faults_is_empty(const Faults *f)
{
    return f->n_rules == 0;
}

void faults_free(Faults *f)
{
    if (f) {
        g_free(f->rule);
        g_free(f->lba_rule);
        g_free(f);
    }
}
