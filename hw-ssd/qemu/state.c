/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.c - state=FILE: load the drive of the last run, save that of this one.
 *
 * When the machine is switched off, the drive's power goes with it, and the
 * drive is saved as it is then.  Knows when that is; knows nothing of the
 * format (ftl/state/state.c).
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "system/runstate.h"
#include "system/system.h"
#include "trace.h"

#include "printable.h"
#include "ssd-save.h"
#include "vssd.h"

bool vssd_state_exists(const VssdDev *s)
{
    return s->prop.opt.state &&
           g_file_test(s->prop.opt.state, G_FILE_TEST_EXISTS);
}

Ssd *vssd_state_load(VssdDev *s, const SsdConfig *cfg, GError **error)
{
    Ssd *ssd = ssd_load_file_with(cfg, nvme_host_ops(), s->ctrl,
                                  s->prop.opt.state, &s->file.state_end, error);

    if (ssd && !ssd_powered(ssd)) {
        ssd_power_on(ssd, ssd_now_ns(ssd));
    }
    return ssd;
}

static bool save_kept(void *opaque, FILE *out, GError **error)
{
    return nvme_save_kept(opaque, out, error);
}

static bool load_kept(VssdDev *s, FILE *file, GError **error)
{
    bool namespaces;

    if (!nvme_load_kept(s->ctrl, file, &namespaces, error)) {
        g_prefix_error(error, "state file %s: ", s->prop.opt.state);
        return false;
    }
    if (!namespaces) {
        nvme_preloaded(s->ctrl, 0, s->nvme_cfg.nblocks);
    }
    return true;
}

/* It comes after the drive.  If the drive had one namespace for good when it
 * was saved, any unit may hold data. */
bool vssd_state_load_kept(VssdDev *s, GError **error)
{
    FILE *file;
    bool ok;

    if (!s->file.state_end) {
        return true;
    }
    file = fopen(s->prop.opt.state, "rb");
    if (!file || fseeko(file, s->file.state_end, SEEK_SET) != 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                    "state file %s: it cannot be read: %s", s->prop.opt.state,
                    g_strerror(errno));
        ok = false;
    } else {
        ok = load_kept(s, file, error);
    }
    if (file) {
        fclose(file);
    }
    return ok;
}

/* The drive's clock goes on where it stood. */
void vssd_state_set_clock(VssdDev *s)
{
    vssd_clock_begin(s, ssd_now_ns(s->ssd));
}

/* The drive has not come yet, or its machine has not, or has gone to another
 * QEMU, which saves it. */
bool vssd_is_elsewhere(const VssdDev *s)
{
    return s->incoming || runstate_check(RUN_STATE_INMIGRATE) ||
           runstate_check(RUN_STATE_POSTMIGRATE) ||
           runstate_check(RUN_STATE_FINISH_MIGRATE);
}

/* Nobody runs the controller any more; state_lost: it was in vain. */
static void save(VssdDev *s)
{
    SsdCompletion done[16];
    g_autoptr(GError) error = NULL;

    if (vssd_is_elsewhere(s)) {
        return;
    }
    if (ssd_powered(s->ssd)) {
        ssd_power_cut(s->ssd, s->clock.now_ns);
    }
    while (ssd_advance(s->ssd, s->clock.now_ns, done, ARRAY_SIZE(done)) > 0) {
    }
    if (!vssd_files_lock(s, &error) ||
        !ssd_save_file_with(s->ssd, s->prop.opt.state,
                            nvme_has_kept(s->ctrl) ? save_kept : NULL, s->ctrl,
                            &error)) {
        g_autofree char *message = printable(error->message);

        error_report("vssd: %s", message);
        s->file.state_lost = true;
    }
    trace_vssd_state(s, s->prop.opt.state, s->clock.now_ns);
}

/*
 * The machine is switched off (and may be switched on again by a reset, with
 * -no-shutdown): requests to the image end first; the block layer waits for
 * them when it has been notified.
 */
static void run_state_changed(void *opaque, bool running, RunState state)
{
    VssdDev *s = opaque;

    if (running) {
        s->file.state_saved = false;
        s->file.state_lost = false;
        return;
    }
    if (state != RUN_STATE_SHUTDOWN || !vssd_lock(s)) {
        return;
    }
    nvme_power_cut(s->ctrl, vssd_now(s));
    vssd_power_stays(s);
    save(s);
    s->file.state_saved = true;
    vssd_unlock(s);
}

/* QEMU ends; with a machine that was stopped before, this is the only
 * notification. */
static void at_exit(Notifier *n, void *data)
{
    VssdDev *s = container_of(n, VssdDev, file.exit_notifier);

    if (!s->file.state_saved && vssd_lock(s)) {
        vssd_serve_close(s);
        save(s);
        s->file.state_saved = true;
        vssd_unlock_last(s);
    }
    if (s->file.state_lost) {
        vssd_end_as_failure();
    }
}

void vssd_state_init(VssdDev *s)
{
    if (s->prop.opt.state) {
        s->file.vm_change =
            qemu_add_vm_change_state_handler(run_state_changed, s);
        s->file.exit_notifier.notify = at_exit;
        qemu_add_exit_notifier(&s->file.exit_notifier);
    }
}

void vssd_state_stop(VssdDev *s)
{
    if (s->prop.opt.state) {
        qemu_del_vm_change_state_handler(s->file.vm_change);
        qemu_remove_exit_notifier(&s->file.exit_notifier);
        s->file.state_lost = false;
        save(s);
        if (s->file.state_lost) {
            vssd_end_as_failure();
        }
    }
}
