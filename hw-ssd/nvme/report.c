/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.c - what the controller says about itself to its keepers: statistics
 * as JSON, and the page docs/nvme-support.md made from its tables.
 */
#include "nvme-internal.h"

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
    json_bool(w, "shadow_doorbells", ctrl->shadow_on);
    json_u64(w, "media_errors", ctrl->media_errors);
    json_u64(w, "unsafe_shutdowns", ctrl->unsafe_shutdowns);
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

static void document_commands(GString *out, const NvmeCommand *c, unsigned n)
{
    g_string_append(out, "| opcode | command | notes |\n|---|---|---|\n");
    for (unsigned i = 0; i < n; i++) {
        g_string_append_printf(out, "| %02Xh | %s | %s |\n", c[i].opcode,
                               c[i].name, c[i].help);
    }
}

static const char intro[] =
    "# What the controller supports\n"
    "\n"
    "NVM Express 1.4, one namespace, the NVM command set. This page is made "
    "from the\n"
    "controller's tables by `tests/nvme/test-document.c`, which fails when it "
    "is out of\n"
    "date; `VSSD_WRITE_DOCS=1` writes it anew. Each row is tested in "
    "`tests/nvme/`, with the\n"
    "status of every bad field.\n"
    "\n"
    "- Registers: CAP, VS, INTMS, INTMC, CC, CSTS, AQA, ASQ, ACQ, doorbells; "
    "no NSSR, no CMB,\n"
    "  no PMR. Host memory pages of 4 to 64 KiB. Round robin arbitration.\n"
    "- CSTS.RDY waits for a drive that looks for its map (`ftl.recovery`), and "
    "CAP.TO is at least\n"
    "  as long as that may take.\n"
    "- Queues: up to 64 pairs of up to 65536 entries, contiguous, any "
    "submission queue to any\n"
    "  completion queue. MSI-X, or the pin with INTMS/INTMC. Interrupt "
    "coalescing.\n"
    "- Data: PRP lists; no SGL, no metadata, no fused commands.\n"
    "- Shadow doorbells for the I/O queues; the admin queue goes by its "
    "registers.\n"
    "- Admin queues that cannot work, and queues that DMA cannot reach, end "
    "in CSTS.CFS.\n"
    "- A mapping unit is written whole or not at all when the power goes "
    "(NAWUPF, NABSPF). Deallocated\n"
    "  blocks read as zeroes.\n"
    "- More is set in every failing status: the Error Information log has "
    "the entry. Do Not\n"
    "  Retry is set unless the same command may succeed later.\n"
    "- SMART: available spare is of the blocks that may yet go bad, "
    "percentage used is of media.rated_cycles\n"
    "  erases of each block, on average; both warn, and the end is a read-only "
    "drive (docs/wear.md). Not modelled,\n"
    "  and constant: temperature (40 degrees).\n"
    "\n";

void nvme_document(GString *out)
{
    unsigned n;
    const NvmeCommand *c = nvme_admin_commands(&n);

    g_string_append(out, intro);
    g_string_append(out, "## Admin commands\n\n");
    document_commands(out, c, n);
    g_string_append(out, "\n## I/O commands\n\n");
    c = nvme_io_commands(&n);
    document_commands(out, c, n);
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
