/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd-faults.c - scripted faults of commands, interrupts and controllers, of
 * one subsystem (docs/faults.md).
 *
 * Knows what an action does to a command that is fetched, to a message and to a
 * controller.  Knows nothing of the grammar (cmd-rules-file.c) or of matching
 * (cmd-rules.c), both in hw-ssd/rules.
 *
 * A delayed command is a request of its queue that has not begun.  It has one
 * part under way (pending), so a reset or a deletion of its queue leaves it an
 * orphan, which the next look frees.  While the controller is brought to rest,
 * delayed commands begin at once; so a saved controller has none.  Rules and
 * what they do at the moment are not saved.
 */
#include "nvme-internal.h"
#include "namespace/namespace.h"
#include "queue/bad-entry.h"
#include "cmd-faults.h"
#include "cmd-rules.h"
#include "data/data.h"
#include "admin/commands.h"
#include "dispatch.h"
#include "health/events.h"
#include "admin/firmware.h"
#include "fused.h"
#include "registers/registers.h"
#include "queue/request.h"
#include "queue/steps.h"

#include "options.h"

/* A command that waits. */
typedef struct Delayed {
    NvmeRequest *req;
    NvmeSqe sqe;
    uint64_t at_ns;
} Delayed;

/* What a rule that has fired still does. */
typedef struct Lasting {
    unsigned id; /* of the rule */
    CmdRuleAction action;
    uint64_t at_ns; /* its end, or the next message */
    unsigned ctrl;  /* STORM: index, and the following */
    unsigned vector;
    uint32_t left;
} Lasting;

typedef struct NvmeFaults {
    CmdRules *rules;
    GArray *delayed; /* Delayed, in the order of their coming */
    GArray *lasting;
} NvmeFaults;

/* ---- limits -------------------------------------------------------------- */

/* "Write Zeroes" is write-zeroes; "I/O Management Send" i/o-management-send. */
static bool same_name(const char *name, const char *title)
{
    for (; *name && *title; name++, title++) {
        if (*name != (*title == ' ' ? '-' : g_ascii_tolower(*title))) {
            return false;
        }
    }
    return *name == *title;
}

static bool find_opcode(const char *name, bool admin, uint8_t *opcode)
{
    const NvmeCommandTable *t =
        admin ? &nvme_admin_commands : &nvme_io_commands;

    if (!admin && strcmp(name, "trim") == 0) {
        *opcode = NVME_IO_DSM;
        return true;
    }
    for (unsigned i = 0; i < t->n; i++) {
        if (same_name(name, t->row[i].name)) {
            *opcode = t->row[i].opcode;
            return true;
        }
    }
    return false;
}

static CmdRuleLimits limits_of(const NvmeCtrl *ctrl)
{
    const NvmeCtrl *first = &ctrl->sub->first;
    const SsdInfo *info = ssd_info(first->ssd);

    return (CmdRuleLimits){
        .n_namespaces = ctrl->sub->namespaces.n,
        .n_queues = first->cfg.n_queues,
        .n_vectors = MAX(first->cfg.n_vectors, 1),
        .n_ctrls = MAX(first->cfg.controllers, 1),
        .n_lbas = info->nblocks * (info->block_bytes / 512),
        .now_ns = ctrl->sub->now_ns,
        .seed = first->cfg.fault_seed,
        .has_slot = first->machine->unplug != NULL,
        .opcode = find_opcode,
    };
}

/* ---- life ---------------------------------------------------------------- */

static NvmeFaults *faults_of(NvmeSubsys *sub)
{
    if (!sub->faults) {
        sub->faults = g_new0(NvmeFaults, 1);
        nvme_upkeep_wake(sub);
        sub->faults->rules = cmd_rules_new();
        sub->faults->rules->last_id = sub->last_fault;
        sub->faults->delayed = g_array_new(FALSE, FALSE, sizeof(Delayed));
        sub->faults->lasting = g_array_new(FALSE, FALSE, sizeof(Lasting));
    }
    return sub->faults;
}

void nvme_faults_free(NvmeSubsys *sub)
{
    NvmeFaults *f = sub->faults;

    if (f) {
        sub->last_fault = f->rules->last_id;
        cmd_rules_free(f->rules);
        g_array_free(f->delayed, TRUE);
        g_array_free(f->lasting, TRUE);
        g_free(f);
        sub->faults = NULL;
    }
}

/* Without rules nothing is asked for each command. */
static void maybe_free(NvmeSubsys *sub)
{
    NvmeFaults *f = sub->faults;

    if (!f->rules->rule->len && !f->delayed->len && !f->lasting->len) {
        nvme_faults_free(sub);
    }
}

bool nvme_faults_load(NvmeCtrl *ctrl, const char *path, GError **error)
{
    CmdRuleLimits l = limits_of(ctrl);
    bool ok;

    if (!path || !*path) {
        return true;
    }
    ok = cmd_rules_load(faults_of(ctrl->sub)->rules, path, &l, error);
    maybe_free(ctrl->sub);
    return ok;
}

/* ---- commands ------------------------------------------------------------ */

static CmdRule *told(NvmeCtrl *ctrl, CmdRule *rule)
{
    if (rule) {
        nvme_notify(ctrl, NVME_TELL_RULE, rule->id, rule->n_fired);
    }
    return rule;
}

static CmdRule *rule_for(NvmeCtrl *ctrl, const NvmeSq *sq, const NvmeSqe *sqe)
{
    CmdSeen seen = {
        .admin = sq->id == 0,
        .opcode = nvme_sqe_opcode(sqe),
        .sqid = sq->id,
        .ctrl = ctrl->index,
        .nsid = sqe->dw[1],
        .now_ns = ctrl->sub->now_ns,
    };

    if (sq->id && cmd_rules_has_range(seen.opcode)) {
        seen.lba = nvme_sqe_slba(sqe);
        seen.nblocks = (sqe->dw[12] & 0xffff) + 1;
        seen.fua = nvme_wants_fua(sqe);
    }
    return told(ctrl, cmd_rules_command(ctrl->sub->faults->rules, &seen));
}

/* CRD is 0 for a host that has not enabled it (Host Behavior Support, ACRE). */
static void end_with(NvmeCtrl *ctrl, NvmeRequest *req, uint16_t status)
{
    req->fault = NVME_FAULT_STATUS;
    nvme_refuse(ctrl, req,
                ctrl->features.behavior[0] & 1 ? status
                                               : status & ~NVME_SC_CRD);
}

static void delay(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                  CmdRule *rule)
{
    NvmeFaults *f = ctrl->sub->faults;
    Delayed d = {
        .req = req, .sqe = *sqe, .at_ns = ctrl->sub->now_ns + rule->for_ns};

    if (f->delayed->len == CMD_RULES_DELAYED) {
        rule->n_fired--;
        nvme_begin(ctrl, req, sqe);
        return;
    }
    req->delayed = true;
    req->pending = 1;
    g_array_append_val(f->delayed, d);
}

static void begin_spoiled(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                          CmdRuleAction action)
{
    static const uint8_t fault[] = {
        [CMD_RULE_LOSE] = NVME_FAULT_LOSE,
        [CMD_RULE_DUPLICATE] = NVME_FAULT_DUPLICATE,
        [CMD_RULE_WRONG_CID] = NVME_FAULT_CID,
        [CMD_RULE_WRONG_SQHD] = NVME_FAULT_SQHD,
        [CMD_RULE_BAD_PHASE] = NVME_FAULT_PHASE,
        [CMD_RULE_IGNORE_FUA] = NVME_FAULT_NO_FUA,
    };

    g_assert(action < G_N_ELEMENTS(fault) && fault[action]);
    req->fault = fault[action];
    nvme_begin(ctrl, req, sqe);
}

void nvme_faults_execute(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe)
{
    CmdRule *rule = ctrl->sub->faults ? rule_for(ctrl, sq, sqe) : NULL;
    NvmeRequest *req;

    if (!rule) {
        nvme_execute(ctrl, sq, sqe);
        return;
    }
    req = nvme_take(ctrl, sq, sqe);
    switch (rule->action) {
    case CMD_RULE_STATUS:
        end_with(ctrl, req, rule->status);
        break;
    case CMD_RULE_DROP:
        nvme_request_free(ctrl, req);
        break;
    case CMD_RULE_DELAY:
        delay(ctrl, req, sqe, rule);
        break;
    default:
        begin_spoiled(ctrl, req, sqe, rule->action);
        break;
    }
}

/* ---- delayed commands ---------------------------------------------------- */

/* As fetch.c asks before it takes an entry. */
static bool may_begin(const NvmeCtrl *ctrl, const Delayed *d)
{
    const NvmeSubsys *sub = ctrl->sub;

    if (nvme_firmware_busy(ctrl)) {
        return false;
    }
    return d->req->admin ||
           (!sub->requests.starved_first && sub->slots.in_use < sub->slots.n &&
            sub->kv_ops < sub->slots.n && !payload_congested(ctrl->payload) &&
            !(sub->requests.locks && nvme_fused_blocks(ctrl, &d->sqe)));
}

/* Its queue has gone; the host has aborted it; the controller comes to rest and
 * cannot execute it. */
static bool ends_unbegun(const Delayed *d)
{
    const NvmeCtrl *ctrl = d->req->ctrl;

    return !d->req->sq || d->req->aborted ||
           (ctrl->sub->held && !nvme_running(ctrl));
}

static void end_unbegun(const Delayed *d)
{
    NvmeRequest *req = d->req;

    req->delayed = false;
    if (req->sq && req->aborted) {
        nvme_request_complete(req->ctrl, req);
    } else {
        nvme_request_free(req->ctrl, req);
    }
}

static bool is_due(const Delayed *d)
{
    const NvmeSubsys *sub = d->req->ctrl->sub;

    return (d->at_ns <= sub->now_ns || sub->held) && nvme_running(d->req->ctrl);
}

/* The namespace may have gone meanwhile. */
static void begin_late(const Delayed *d)
{
    NvmeRequest *req = d->req;

    req->delayed = false;
    req->ns = nvme_ns_find(req->ctrl, req->nsid);
    nvme_begin(req->ctrl, req, &d->sqe);
}

static bool look_at_delayed(NvmeSubsys *sub)
{
    GArray *all = sub->faults->delayed;
    bool any = false;

    for (unsigned i = 0; i < all->len;) {
        Delayed d = g_array_index(all, Delayed, i);
        bool ends = ends_unbegun(&d);

        if (!ends && !(is_due(&d) && may_begin(d.req->ctrl, &d))) {
            i++;
            continue;
        }
        g_array_remove_index(all, i);
        any = true;
        if (ends) {
            end_unbegun(&d);
        } else {
            begin_late(&d);
        }
    }
    return any;
}

static uint64_t delayed_ns(const NvmeSubsys *sub)
{
    uint64_t next_ns = SSD_TIME_NEVER;

    for (unsigned i = 0; i < sub->faults->delayed->len; i++) {
        const Delayed *d = &g_array_index(sub->faults->delayed, Delayed, i);

        if (ends_unbegun(d)) {
            return sub->now_ns;
        }
        if (d->at_ns > sub->now_ns) { /* others wait for what else happens */
            next_ns = MIN(next_ns, d->at_ns);
        }
    }
    return next_ns;
}

/* ---- interrupts ---------------------------------------------------------- */

static void last(NvmeSubsys *sub, const CmdRule *rule, unsigned ctrl,
                 unsigned vector)
{
    Lasting l = {
        .id = rule->id,
        .action = rule->action,
        .at_ns = rule->for_ns ? sub->now_ns + rule->for_ns : SSD_TIME_NEVER,
        .ctrl = ctrl,
        .vector = vector,
        .left = rule->n,
    };

    g_array_append_val(sub->faults->lasting, l);
}

static bool has_storm(const NvmeSubsys *sub, unsigned id)
{
    for (unsigned i = 0; i < sub->faults->lasting->len; i++) {
        if (g_array_index(sub->faults->lasting, Lasting, i).id == id) {
            return true;
        }
    }
    return false;
}

bool nvme_faults_message(NvmeCtrl *ctrl, unsigned vector)
{
    NvmeSubsys *sub = ctrl->sub;
    CmdRule *rule = told(ctrl, cmd_rules_irq(sub->faults->rules, ctrl->index,
                                             vector, sub->now_ns));

    if (!rule || rule->action == CMD_RULE_DROP) {
        return !rule;
    }
    if (!has_storm(sub, rule->id)) { /* one at a time */
        last(sub, rule, ctrl->index, vector);
    }
    return true;
}

/* A message at a time: those of one instant would be one. */
static bool send_of_storm(NvmeSubsys *sub, Lasting *l, uint64_t every_ns)
{
    NvmeCtrl *ctrl = l->ctrl < sub->n_ctrls ? sub->ctrl[l->ctrl] : NULL;

    if (!ctrl || !nvme_running(ctrl) ||
        !ctrl->machine->msix_enabled(ctrl->opaque)) {
        return false;
    }
    ctrl->sub->count.interrupts++;
    ctrl->machine->msix(ctrl->opaque, l->vector);
    l->at_ns = sub->now_ns + every_ns;
    return --l->left;
}

/* ---- controllers --------------------------------------------------------- */

static bool concerns(const CmdRule *rule, const NvmeCtrl *ctrl)
{
    return !rule->ctrl.given ||
           (ctrl->index >= rule->ctrl.first && ctrl->index <= rule->ctrl.last);
}

static uint32_t stuck_bits(CmdRuleAction action)
{
    return action == CMD_RULE_STUCK_RDY    ? NVME_CSTS_RDY
           : action == CMD_RULE_STUCK_SHST ? NVME_CSTS_SHST_MASK
                                           : 0;
}

/* What the host reads in CSTS, and its temperature, follow from the rules that
 * last. */
static void apply_lasting(NvmeSubsys *sub)
{
    sub->fault_kelvin = 0;
    NVME_FOR_EACH_CTRL(sub, c)
    {
        c->stuck_mask = 0;
    }
    for (unsigned i = 0; i < sub->faults->lasting->len; i++) {
        const Lasting *l = &g_array_index(sub->faults->lasting, Lasting, i);
        const CmdRule *rule = cmd_rules_find(sub->faults->rules, l->id);

        NVME_FOR_EACH_CTRL(sub, c)
        {
            c->stuck_mask |= concerns(rule, c) ? stuck_bits(l->action) : 0;
        }
        if (l->action == CMD_RULE_TEMPERATURE) {
            sub->fault_kelvin = rule->kelvin;
        }
    }
}

static void freeze(NvmeCtrl *ctrl, uint32_t bits)
{
    bits &= ~ctrl->stuck_mask;
    ctrl->stuck_csts = (ctrl->stuck_csts & ~bits) | (ctrl->regs.csts & bits);
}

static void start_on(NvmeCtrl *ctrl, const CmdRule *rule)
{
    if (rule->action == CMD_RULE_CFS) {
        nvme_set_fatal(ctrl);
    } else if (rule->action == CMD_RULE_REMOVE ||
               rule->action == CMD_RULE_LINK_DOWN) {
        ctrl->machine->unplug(ctrl->opaque, rule->action == CMD_RULE_REMOVE,
                              rule->for_ns);
    } else {
        freeze(ctrl, stuck_bits(rule->action));
    }
}

/* The machine sees to the end of a removal; an event lasts until it has been
 * told. */
static void start(NvmeSubsys *sub, CmdRule *rule)
{
    told(&sub->first, rule);
    NVME_FOR_EACH_CTRL(sub, c)
    {
        if (concerns(rule, c)) {
            start_on(c, rule);
        }
    }
    if (rule->action == CMD_RULE_EVENT) {
        NVME_FOR_EACH_CTRL(sub, c)
        {
            if (concerns(rule, c)) {
                last(sub, rule, c->index, 0);
            }
        }
    } else if (stuck_bits(rule->action) ||
               rule->action == CMD_RULE_TEMPERATURE) {
        last(sub, rule, 0, 0);
        apply_lasting(sub);
    }
}

/* true: it goes on. */
static bool look_at(NvmeSubsys *sub, Lasting *l)
{
    const CmdRule *rule = cmd_rules_find(sub->faults->rules, l->id);

    if (l->action == CMD_RULE_EVENT) {
        NvmeCtrl *ctrl = l->ctrl < sub->n_ctrls ? sub->ctrl[l->ctrl] : NULL;

        return ctrl && !nvme_event_raw(ctrl, rule->event);
    }
    if (l->at_ns > sub->now_ns) {
        return true;
    }
    return l->action == CMD_RULE_STORM && send_of_storm(sub, l, rule->for_ns);
}

static bool look_at_lasting(NvmeSubsys *sub)
{
    GArray *all = sub->faults->lasting;
    bool any = false;

    for (unsigned i = 0; i < all->len;) {
        if (look_at(sub, &g_array_index(all, Lasting, i))) {
            i++;
        } else {
            g_array_remove_index(all, i);
            any = true;
        }
    }
    if (any) {
        apply_lasting(sub);
    }
    return any;
}

/* ---- in the run loop ----------------------------------------------------- */

bool nvme_faults_look(NvmeSubsys *sub)
{
    CmdRule *rule;
    bool any = false;

    if (G_LIKELY(!sub->faults)) {
        return false;
    }
    while (sub->powered &&
           (rule = cmd_rules_due(sub->faults->rules, sub->now_ns))) {
        start(sub, rule);
        any = true;
    }
    any |= look_at_lasting(sub);
    any |= look_at_delayed(sub);
    maybe_free(sub);
    return any;
}

uint64_t nvme_faults_ns(const NvmeSubsys *sub)
{
    uint64_t next_ns;

    if (G_LIKELY(!sub->faults)) {
        return SSD_TIME_NEVER;
    }
    next_ns = MIN(delayed_ns(sub), cmd_rules_next_ns(sub->faults->rules));
    for (unsigned i = 0; i < sub->faults->lasting->len; i++) {
        const Lasting *l = &g_array_index(sub->faults->lasting, Lasting, i);

        if (l->action != CMD_RULE_EVENT) { /* that waits for a request */
            next_ns = MIN(next_ns, l->at_ns);
        }
    }
    return next_ns;
}

void nvme_faults_rebase(NvmeSubsys *sub, uint64_t by_ns)
{
    if (!sub->faults) {
        return;
    }
    cmd_rules_rebase(sub->faults->rules, by_ns);
    for (unsigned i = 0; i < sub->faults->lasting->len; i++) {
        Lasting *l = &g_array_index(sub->faults->lasting, Lasting, i);

        if (l->at_ns != SSD_TIME_NEVER) {
            l->at_ns -= MIN(l->at_ns, by_ns);
        }
    }
}

/* ---- at run time --------------------------------------------------------- */

unsigned nvme_fault_add(NvmeCtrl *ctrl, uint64_t now_ns, const char *text,
                        GError **error)
{
    NvmeSubsys *sub = ctrl->sub;
    CmdRuleLimits l;
    CmdRule *rule;
    unsigned id;

    sub->now_ns = MAX(now_ns, sub->now_ns);
    l = limits_of(ctrl);
    rule = cmd_rules_add(faults_of(sub)->rules, text, &l, error);
    id = rule ? rule->id : 0;
    sub->more = true;
    maybe_free(sub);
    return id;
}

/* Delayed commands keep their instant. */
bool nvme_fault_remove(NvmeCtrl *ctrl, unsigned id, GError **error)
{
    NvmeSubsys *sub = ctrl->sub;
    CmdRule *rule = sub->faults ? cmd_rules_find(sub->faults->rules, id) : NULL;

    if (!rule) {
        return opt_fail(error, OPT_ERROR_VALUE,
                        "fault %u: there is no such "
                        "rule",
                        id);
    }
    for (unsigned i = sub->faults->lasting->len; i-- > 0;) {
        if (g_array_index(sub->faults->lasting, Lasting, i).id == id) {
            g_array_remove_index(sub->faults->lasting, i);
        }
    }
    cmd_rules_remove(sub->faults->rules, rule);
    apply_lasting(sub);
    sub->more = true;
    maybe_free(sub);
    return true;
}

void nvme_faults_json(const NvmeCtrl *ctrl, JsonWriter *w, const char *key)
{
    const NvmeFaults *f = ctrl->sub->faults;

    json_open(w, key, '[');
    for (unsigned i = 0; f && i < f->rules->rule->len; i++) {
        const CmdRule *rule = g_ptr_array_index(f->rules->rule, i);

        json_open(w, NULL, '{');
        json_u64(w, "id", rule->id);
        json_string(w, "rule", rule->text);
        json_u64(w, "matched", rule->n_matched);
        json_u64(w, "fired", rule->n_fired);
        json_bool(w, "lasts", has_storm(ctrl->sub, rule->id));
        json_close(w, '}');
    }
    json_close(w, ']');
}
