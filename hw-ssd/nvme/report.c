/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.c - what the controller says about itself to its keepers: statistics
 * as JSON, and the page docs/nvme-support.md made from its tables.
 */
#include "nvme-internal.h"
#include "command.h"
#include "nvme-features.h"
#include "identify.h"
#include "log-pages.h"

static void json_lateness(JsonWriter *w, const Hist *h)
{
    json_open(w, "lateness_ns", '{');
    json_u64(w, "count", h->n);
    json_double(w, "mean", hist_mean(h));
    json_u64(w, "p50", hist_quantile(h, 500000));
    json_u64(w, "p99", hist_quantile(h, 990000));
    json_u64(w, "p999", hist_quantile(h, 999000));
    json_u64(w, "max", h->n ? h->max : 0);
    json_close(w, '}');
}

static void json_payload(const NvmeCtrl *ctrl, JsonWriter *w)
{
    PayloadStats s;

    payload_get_stats(ctrl->payload, &s);
    json_open(w, "overlay", '{');
    json_u64(w, "units", s.units);
    json_u64(w, "units_peak", s.units_peak);
    json_u64(w, "units_failed", s.units_failed);
    json_u64(w, "destaged_units", s.destaged_units);
    json_u64(w, "zero_ranges", s.zero_ranges);
    json_u64(w, "backlog_bytes", s.backlog_bytes);
    json_u64(w, "backlog_peak_bytes", s.backlog_peak_bytes);
    json_u64(w, "store_reads", s.store_reads);
    json_u64(w, "store_writes", s.store_writes);
    json_u64(w, "store_zeroes", s.store_zeroes);
    json_u64(w, "store_flushes", s.store_flushes);
    json_u64(w, "store_errors", s.store_errors);
    json_close(w, '}');
}

void nvme_stats_json(const NvmeCtrl *ctrl, JsonWriter *w, const char *key)
{
    json_open(w, key, '{');
    json_u64(w, "commands_admin", ctrl->commands_admin);
    json_u64(w, "commands_io", ctrl->commands_io);
    json_u64(w, "commands_failed", ctrl->commands_failed);
    json_u64(w, "doorbell_writes", ctrl->doorbell_writes);
    json_u64(w, "fetches", ctrl->sq_dma_reads);
    json_u64(w, "interrupts", ctrl->interrupts);
    json_bool(w, "shadow_doorbells", ctrl->queues.shadow_on);
    json_u64(w, "media_errors", ctrl->life.media_errors);
    json_u64(w, "unsafe_shutdowns", ctrl->life.unsafe_shutdowns);
    json_payload(ctrl, w);
    json_lateness(w, ctrl->lateness);
    json_close(w, '}');
}

void nvme_reset_stats(NvmeCtrl *ctrl)
{
    hist_init(ctrl->lateness);
    ctrl->doorbell_writes = 0;
    ctrl->sq_dma_reads = 0;
    ctrl->interrupts = 0;
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
    "The controller implements NVM Express 1.4 with one namespace and "
    "the NVM command set.\n"
    "`tests/nvme/test-document.c` generates this page from the "
    "controller's tables and fails if it is\n"
    "out of date; `VSSD_WRITE_DOCS=1` rewrites it. Tests in "
    "`tests/nvme/` cover each row, with the\n"
    "status of every invalid field.\n"
    "\n"
    "| part | support |\n"
    "|---|---|\n"
    "| Registers | CAP, VS, INTMS, INTMC, CC, CSTS, AQA, ASQ, ACQ, "
    "doorbells; no NSSR, no CMB, no PMR. Host memory pages of 4 to 64 "
    "KiB. Round robin arbitration. |\n"
    "| CSTS.RDY | set after the drive's recovery (`ftl.recovery`); "
    "CAP.TO is at least the longest recovery |\n"
    "| CSTS.CFS | set for admin queues that cannot work, and for queues "
    "that DMA cannot reach |\n"
    "| Queues | up to 64 pairs of up to 65536 entries, contiguous, any "
    "submission queue to any completion queue; shadow doorbells for I/O "
    "queues; the admin queue uses its registers |\n"
    "| Interrupts | MSI-X, or the pin with INTMS/INTMC; interrupt "
    "coalescing |\n"
    "| Data | PRP lists; no SGL, no metadata, no fused commands |\n"
    "| Atomicity | a mapping unit is written as a whole or not at all in "
    "a power cut (NAWUPF, NABSPF) |\n"
    "| Deallocate | deallocated blocks read as zeroes |\n"
    "| Errors | every failing status has More set, and an entry in the "
    "Error Information log; Do Not Retry is set unless the same command "
    "may succeed later |\n"
    "| SMART | available spare counts blocks that may still fail; "
    "percentage used is the mean erases of each block relative to "
    "`media.rated_cycles`; both raise warnings; the end of life is a "
    "read-only drive ([wear.md](wear.md)). The temperature is not "
    "modelled and constant (40 degrees). |\n"
    "\n";

void nvme_document(GString *out)
{
    g_string_append(out, intro);
    g_string_append(out, "## Admin commands\n\n");
    document_commands(out, &nvme_admin_commands);
    g_string_append(out, "\n## I/O commands\n\n");
    document_commands(out, &nvme_io_commands);
    g_string_append(out, "\n## Identify\n\n| CNS | structure |\n|---|---|\n");
    nvme_document_identify(out);
    g_string_append(out, "\n## Features\n\nNone is saveable: a reset brings "
                         "the defaults back.\n\n"
                         "| FID | feature | notes |\n|---|---|---|\n");
    nvme_document_features(out);
    g_string_append(out,
                    "\n## Log pages\n\n| LID | page | bytes |\n|---|---|---|\n");
    nvme_document_logs(out);
}
