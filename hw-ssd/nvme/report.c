/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.c - reports about the controller: statistics as JSON, the live view,
 * and the page docs/nvme-support.md made from its tables.
 */
#include "nvme-internal.h"
#include "about.h"
#include "kv/kv.h"
#include "kv/kv-index.h"
#include "admin/commands.h"
#include "admin/nvme-features.h"
#include "admin/identify.h"
#include "admin/log-pages.h"
#include "ssd-live.h"
#include "ssd-report.h"

/* Source of the values of NVME_STATS. */
typedef struct CtrlStats {
    const NvmeCtrl *ctrl;
    PayloadStats payload;
} CtrlStats;

static uint64_t late(const CtrlStats *v, uint32_t ppm)
{
    return hist_quantile(v->ctrl->sub->lateness, ppm);
}

#define COUNTER_GET(id, path, unit, reset, help)                               \
    STAT_FUNCTION(CtrlStats, COUNTER, id, &v->ctrl->sub->count.id)
#define COUNTER_ROW(id, path, unit, reset, help)                               \
    STAT_ROW(COUNTER, id, path, unit, reset, NULL, help)
#define VALUE_GET(type, id, path, unit, reset, value, help)                    \
    STAT_FUNCTION(CtrlStats, type, id, value)
#define VALUE_ROW(type, id, path, unit, reset, value, help)                    \
    STAT_ROW(type, id, path, unit, reset, NULL, help)

NVME_STATS(COUNTER_GET, VALUE_GET)

static const StatRow rows[] = {NVME_STATS(COUNTER_ROW, VALUE_ROW)};

const StatTable nvme_stats = {rows, G_N_ELEMENTS(rows), NULL, 0};

/* docs/key-value.md describes the members.  NULL: it has not been used. */
static void kv_json(const NvmeKv *kv, JsonWriter *w)
{
    static const NvmeKv none;
    const NvmeKv *k = kv ? kv : &none;

    json_open(w, "kv", '{');
    json_u64(w, "keys", k->tree.n_keys);
    json_u64(w, "height", k->tree.height);
    json_u64(w, "index_pages", k->tree.n_pages);
    json_u64(w, "value_units", k->tree.value_units);
    json_u64(w, "units", k->n_units);
    json_u64(w, "cache_pages", k->cache.n);
    json_u64(w, "index_hits", k->cache.count.hits);
    json_u64(w, "index_reads", k->cache.count.loads);
    json_u64(w, "index_writes", k->cache.count.stores);
    json_u64(w, "commits", k->n_commits);
    json_u64(w, "mounts", k->n_mounts);
    json_close(w, '}');
}

/* docs/namespaces.md describes the members. */
static void namespace_json(const NvmeNamespace *ns, JsonWriter *w)
{
    static const char *const name[NVME_N_WORKS] = {
        [NVME_WORK_READ] = "read",
        [NVME_WORK_WRITE] = "write",
        [NVME_WORK_FLUSH] = "flush",
        [NVME_WORK_TRIM] = "trim",
    };

    json_open(w, NULL, '{');
    json_u64(w, "nsid", ns->nsid);
    json_u64(w, "bytes", ns->nblocks << ns->block_shift);
    json_u64(w, "block_bytes", ns->block_bytes);
    json_bool(w, "attached", ns->attached != 0);
    json_u64(w, "write_protect", ns->protect);
    json_u64(w, "commands_failed", ns->count.failed);
    for (unsigned i = 0; i < NVME_N_WORKS; i++) {
        if (name[i]) {
            json_open(w, name[i], '{');
            json_u64(w, "commands", ns->count.commands[i]);
            json_u64(w, "bytes", ns->count.bytes[i]);
            json_close(w, '}');
        }
    }
    if (ns->kv) {
        kv_json(ns->index, w);
    }
    json_close(w, '}');
}

static void namespaces_json(const NvmeCtrl *ctrl, JsonWriter *w)
{
    json_open(w, "namespaces", '[');
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        if (ctrl->sub->namespaces.table[i].exists) {
            namespace_json(&ctrl->sub->namespaces.table[i], w);
        }
    }
    json_close(w, ']');
}

static void write_members(const NvmeCtrl *ctrl, JsonWriter *w)
{
    CtrlStats v = {.ctrl = ctrl};

    payload_get_stats(ctrl->payload, &v.payload);
    stats_write(&nvme_stats, &v, w);
    if (ctrl->sub->namespaces.managed) {
        namespaces_json(ctrl, w);
    }
}

void nvme_stats_json(const NvmeCtrl *ctrl, JsonWriter *w, const char *key)
{
    json_open(w, key, '{');
    write_members(ctrl, w);
    json_close(w, '}');
}

/* Comparing every option with its default takes longer than all else. */
static const char *origin(NvmeCtrl *ctrl)
{
    NvmeSubsys *sub = ctrl->sub;

    if (!sub->origin) {
        JsonWriter w = {.out = g_string_new(NULL)};

        about_write(NULL, &w);
        json_open(&w, "options", '{');
        ssd_options_json(ctrl->ssd, &w);
        json_close(&w, '}');
        sub->origin = w.out;
    }
    return sub->origin->str;
}

void nvme_drive_stats_json(NvmeCtrl *ctrl, JsonWriter *w)
{
    json_open(w, NULL, '{');
    ssd_stats_members(ctrl->ssd, w);
    write_members(ctrl, w);
    json_members(w, origin(ctrl));
    json_close(w, '}');
}

void nvme_reset_stats(NvmeCtrl *ctrl)
{
    CtrlStats v = {.ctrl = ctrl};

    stats_reset(&nvme_stats, &v);
    hist_init(ctrl->sub->lateness);
}

/* ---- the live view ------------------------------------------------------- */

typedef struct NvmeLive {
    const NvmeCtrl *ctrl; /* the first one */
    SsdLiveHost host;
    CtrlStats now;
} NvmeLive;

/* SsdLiveHost.stats_now */
static const void *stats_now(void *opaque)
{
    NvmeLive *l = opaque;

    l->now.ctrl = l->ctrl;
    payload_get_stats(l->ctrl->payload, &l->now.payload);
    return &l->now;
}

/* Commands that are not events of the future. */
static unsigned depth_of(const NvmeSq *sq)
{
    unsigned n = 0;

    for (const NvmeRequest *r = sq->list.sq_next; r != &sq->list;
         r = r->sq_next) {
        n += !r->waiting;
    }
    return n;
}

/* SsdLiveHost.queue_depths: of the queues of that number of all controllers. */
static void queue_depths(void *opaque, uint16_t *depth)
{
    const NvmeLive *l = opaque;

    for (unsigned i = 0; i < l->host.n_queues; i++) {
        unsigned n = 0;

        NVME_FOR_EACH_CTRL(l->ctrl->sub, c)
        {
            n += c->queues.sq[i].live ? depth_of(&c->queues.sq[i]) : 0;
        }
        depth[i] = (uint16_t)MIN(n, UINT16_MAX);
    }
}

bool nvme_live_open(NvmeCtrl *ctrl, const char *path, uint64_t host_ns,
                    GError **error)
{
    NvmeLive *l = g_new0(NvmeLive, 1);

    g_assert(!ctrl->sub->live);
    ctrl->sub->live = l;
    l->ctrl = ctrl;
    l->host = (SsdLiveHost){
        .name = ctrl->serial,
        .n_queues = ctrl->cfg.n_queues + 1,
        .queue_depths = queue_depths,
        .stats = &nvme_stats,
        .stats_now = stats_now,
        .opaque = l,
    };
    return ssd_live_open(ctrl->ssd, path, &l->host, host_ns, error);
}

static void document_commands(GString *out, const NvmeCommandTable *t)
{
    g_string_append(out, "| opcode | command | notes |\n|---|---|---|\n");
    for (unsigned i = 0; i < t->n; i++) {
        g_string_append_printf(out, "| %02Xh | %s | %s |\n", t->row[i].opcode,
                               t->row[i].name, t->row[i].help);
    }
}

static const char intro[] =
    "# NVMe support\n"
    "\n"
    "**Readers:** authors of host software and of guest tests. "
    "**Afterwards you can** look up each\n"
    "command, feature and log page that the controller supports.\n"
    "\n"
    "The controller implements the NVM Express Base Specification 2.0 and the "
    "NVM Command Set\nSpecification 1.0, with one namespace. With "
    "`namespaces=` it has up to 256 that the host\nmanages "
    "([namespaces.md](namespaces.md)).\n"
    "Rows with `controllers=` need a drive that may have several "
    "controllers, two or more with that\noption "
    "([subsystem.md](subsystem.md)).\n"
    "`tests/nvme/test-document.c` generates this page from the "
    "controller's tables and fails if it is\n"
    "out of date; `VSSD_WRITE_DOCS=1` rewrites it. Tests in "
    "`tests/nvme/` cover each row, with the\n"
    "status of every invalid field.\n"
    "\n"
    "| part | support |\n"
    "|---|---|\n"
    "| Registers | CAP, VS, INTMS, INTMC, CC, CSTS, AQA, ASQ, ACQ, "
    "NSSR, CRTO, doorbells; with `controllers=` NSSD; with `cmb=` CMBLOC, "
    "CMBSZ, CMBMSC, CMBSTS, with "
    "`pmr=` PMRCAP, PMRCTL, PMRSTS, PMRMSCL, PMRMSCU ([cmb.md](cmb.md)); "
    "CMBEBS, CMBSWTP, PMREBS and PMRSWTP are 0, not reported. Host memory "
    "pages of 4 to 64 "
    "KiB. Round robin arbitration, and weighted with urgent priority class. "
    "|\n"
    "| CSTS.RDY | set after the drive's recovery (`ftl.recovery`); "
    "CAP.TO is at least the longest recovery |\n"
    "| CSTS.CFS | set for admin queues that cannot work, and for queues "
    "that DMA cannot reach |\n"
    "| Queues | up to 64 pairs of up to 65536 entries, contiguous, any "
    "submission queue to any completion queue; shadow doorbells for I/O "
    "queues; the admin queue uses its registers |\n"
    "| Interrupts | MSI-X, or the pin with INTMS/INTMC; interrupt "
    "coalescing |\n"
    "| Data | PRP lists; with the property `sgl=on` SGLs of I/O commands "
    "(data block, bit bucket, segment, last segment; up to 1024 "
    "descriptors). With `metadata=` metadata of 8, 16 or 64 bytes, separate "
    "or extended, and protection information of types 1 to 3 "
    "([protection.md](protection.md)) |\n"
    "| Fused commands | Compare and Write; commands that may change the "
    "range wait until both have ended |\n"
    "| Atomicity | a power cut leaves all or nothing of a write that "
    "is promised whole: a mapping unit, or as the properties `atomic.*` and "
    "the option `buffer.atomic` say ([power.md](power.md#atomic-writes)) "
    "|\n"
    "| Deallocate | deallocated blocks read as zeroes, their protection "
    "information as FFh. With DULBE (feature 05h of the namespace) Read, "
    "Compare, Verify and Copy of a block without data fail; the drive knows "
    "by mapping units, and a Write Zeroes deallocates them |\n"
    "| Context attributes of Dataset Management | accepted, and without effect "
    "with `dsm_hints=off`. With `dsm_hints=on`: Sequential Read Range reads "
    "ahead (`host.read_ahead`); Access Frequency chooses the stream of later "
    "writes (`ftl.hot_cold=on`, [streams.md](streams.md)). Access Latency, "
    "Sequential Write Range, Write Prepare, Command Access Size and the two "
    "integral datasets (IDR, IDW) have no effect, nor has any attribute of a "
    "command with Deallocate (AD) |\n"
    "| NSID | 0 and numbers above NN are Invalid Namespace or Format; a number "
    "without an attached namespace is Invalid Field, and so is FFFFFFFFh where "
    "the command does not take it; in I/O Management Receive that is Invalid "
    "Namespace or Format. Commands and structures that use no namespace ignore "
    "NSID, as other drives do. Get Log Page takes 0, FFFFFFFFh and each "
    "attached namespace for every page but BFh; only SMART has counts of a "
    "namespace, with `namespaces=`. Set Features refuses a namespace where the "
    "feature is the controller's, as the standard says |\n"
    "| Errors | every failing status has More set, and an entry in the "
    "Error Information log; Do Not Retry is set unless the same command "
    "may succeed later |\n"
    "| SMART | available spare counts blocks that may still fail; "
    "percentage used is the mean erases of each block relative to "
    "`media.rated_cycles`; both raise warnings; the end of life is a "
    "read-only drive ([wear.md](wear.md)). With `thermal.resistance` "
    "the composite temperature, the time above its thresholds and the thermal "
    "management counts are those of the model ([thermal.md](thermal.md)); "
    "else the temperature is constant (40 degrees). |\n"
    "\n";

void nvme_document(GString *out)
{
    g_string_append(out, intro);
    g_string_append(out, "## Admin commands\n\n");
    document_commands(out, &nvme_admin_commands);
    g_string_append(out, "\n## I/O commands\n\n");
    document_commands(out, &nvme_io_commands);
    g_string_append(out, "\n## I/O commands of key-value namespaces\n\n"
                         "With `namespaces=` and `:kv` "
                         "([key-value.md](key-value.md)).\n\n");
    document_commands(out, &nvme_kv_commands);
    g_string_append(out, "\n## Identify\n\n| CNS | structure |\n|---|---|\n");
    nvme_document_identify(out);
    g_string_append(out,
                    "\n## Features\n\nA reset brings the saved value back, or "
                    "the default.\n\n"
                    "| FID | feature | saveable | notes |\n"
                    "|---|---|---|---|\n");
    nvme_document_features(out);
    g_string_append(out,
                    "\n## Log pages\n\n| LID | page | bytes |\n|---|---|---|\n");
    nvme_document_logs(out);
}
