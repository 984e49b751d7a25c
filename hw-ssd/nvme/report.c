/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.c - what the controller says about itself to its keepers: statistics
 * as JSON, and the page docs/nvme-support.md made from its tables.
 */
#include "nvme-internal.h"

static void json_lateness(JsonWriter *w, const Hist *h)
{
    json_open(w, "lateness_ns", '{');
    json_u64(w, "n", h->n);
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
    json_u64(w, "runs", ctrl->runs);
    json_bool(w, "shadow_doorbells", ctrl->shadow_on);
    json_u64(w, "media_errors", ctrl->media_errors);
    json_u64(w, "unsafe_shutdowns", ctrl->unsafe_shutdowns);
    json_payload(ctrl, w);
    json_lateness(w, ctrl->lateness);
    json_close(w, '}');
}

static void document_commands(GString *out, const NvmeCommand *c, unsigned n)
{
    g_string_append(out, "| opcode | command | notes |\n|---|---|---|\n");
    for (unsigned i = 0; i < n; i++) {
        g_string_append_printf(out, "| %02Xh | %s | %s |\n", c[i].opcode,
                               c[i].name, c[i].help);
    }
}

void nvme_document(GString *out)
{
    unsigned n;
    const NvmeCommand *c = nvme_admin_commands(&n);

    g_string_append(out, "## Admin commands\n\n");
    document_commands(out, c, n);
    g_string_append(out, "\n## I/O commands\n\n");
    c = nvme_io_commands(&n);
    document_commands(out, c, n);
    g_string_append(out, "\n## Identify\n\n| CNS | structure |\n|---|---|\n");
    nvme_document_identify(out);
    g_string_append(out,
                    "\n## Features\n\n| FID | feature | notes |\n|---|---|---|\n");
    nvme_document_features(out);
    g_string_append(out, "\n## Log pages\n\n| LID | page | bytes |\n|---|---|---|\n");
    nvme_document_logs(out);
}
