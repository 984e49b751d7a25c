/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * migration.c - savevm, loadvm and live migration, with the drive inside.
 *
 * A machine that is stopped stops its drive, with commands in flight.  If it is
 * to be saved, the drive comes to rest: it finishes the commands that it has
 * fetched. That must be before guest memory is sent, since completions are
 * written there: when the machine stops for it, or else at the beginning.  The
 * drive's clock goes on meanwhile and the guest's does not; when the machine
 * runs again, both go on from where they are.
 *
 * Saved are the state of PCI, and two streams that the model writes and checks
 * itself (ftl/state/state.c, nvme-state.c).  The payload that is in the image
 * stays there; the source lets go of it before the destination takes it.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "hw/pci/msix.h"
#include "migration/blocker.h"
#include "migration/misc.h"
#include "migration/qemu-file.h"
#include "migration/register.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "system/block-backend.h"
#include "system/runstate.h"
#include "trace.h"

#include "compat.h"
#include "ssd-save.h"
#include "vssd.h"

/* Of a handler that brings nothing into the stream. */
#define REST_ID "vssd-rest"

/* A stream goes in pieces: length, bytes; a length of 0 ends it. */
#define MOST_PIECE 65536

/* ---- rest ---------------------------------------------------------------- */

static void hold_still(VssdDev *s)
{
    if (vssd_lock(s)) {
        vssd_serve_pause(s);
        vssd_unlock(s);
        vssd_irqfd_flush(s);
    }
}

/*
 * Block I/O ends, so that nothing of it reaches an image that loadvm has set
 * back.  A machine that is switched off ends as a power cut finds it (state.c).
 */
static void run_state_changed(void *opaque, bool running, RunState state)
{
    VssdDev *s = opaque;

    if (running) {
        vssd_serve_resume(s);
        vssd_store_restart(s);
        return;
    }
    hold_still(s);
    if (state == RUN_STATE_SHUTDOWN) {
        vssd_store_finish(s, NVME_SHUTDOWN_MS);
    } else {
        vssd_settle(s, state == RUN_STATE_SAVE_VM ||
                      state == RUN_STATE_FINISH_MIGRATE ||
                      migration_is_running());
    }
}

/* Of the block layer, with devices' requests that it keeps back. */
static void set_queuing(VssdDev *s, bool on)
{
    for (unsigned i = 0; i < s->store.images.n; i++) {
        blk_set_disable_request_queuing(s->store.blk[i], !on);
    }
}

/*
 * The machine is about to be saved or moved, and may have been stopped long ago.
 * savevm has told the block layer to keep devices' requests back, which it must
 * not do with these.
 */
static int save_prepare(void *opaque, Error **errp)
{
    VssdDev *s = opaque;

    if (s->serve.stopped) {
        set_queuing(s, false);
        vssd_settle(s, true);
        set_queuing(s, true);
    }
    if (vssd_store_has_parked(s)) {
        error_setg(errp,
                   "vssd: the image of '%s' has refused requests, which "
                   "wait: make room and continue the machine first",
                   blk_name(s->prop.conf.blk));
        return -EIO;
    }
    return 0;
}

static const SaveVMHandlers rest_handlers = {
    .save_prepare = save_prepare,
};

/* ---- the streams --------------------------------------------------------- */

typedef struct Pipe {
    QEMUFile *file;
    uint32_t left; /* reading: of this piece */
    bool ended;
} Pipe;

static ssize_t pipe_write(void *cookie, const char *bytes, size_t n)
{
    Pipe *pipe = cookie;

    for (size_t at = 0; at < n;) {
        size_t piece = MIN(n - at, MOST_PIECE);

        qemu_put_be32(pipe->file, piece);
        qemu_put_buffer(pipe->file, (const uint8_t *)bytes + at, piece);
        at += piece;
    }
    return qemu_file_get_error(pipe->file) ? 0 : n;
}

static ssize_t pipe_read(void *cookie, char *bytes, size_t n)
{
    Pipe *pipe = cookie;

    if (!pipe->left && !pipe->ended) {
        pipe->left = qemu_get_be32(pipe->file);
        pipe->ended = !pipe->left;
    }
    if (pipe->left > MOST_PIECE || qemu_file_get_error(pipe->file)) {
        return -1;
    }
    n = MIN(n, pipe->left);
    if (qemu_get_buffer(pipe->file, (uint8_t *)bytes, n) != n) {
        return -1;
    }
    pipe->left -= n;
    return n;
}

static FILE *pipe_open(Pipe *pipe, QEMUFile *file, bool write)
{
    const cookie_io_functions_t io = { .read = pipe_read,
                                       .write = pipe_write };

    *pipe = (Pipe){ .file = file };
    return fopencookie(pipe, write ? "wb" : "rb", io);
}

static int cannot(const char *what, GError *error)
{
    error_report("vssd: the drive cannot be %s: %s", what,
                 error ? error->message : "out of memory");
    g_clear_error(&error);
    return -EINVAL;
}

/* ---- out ----------------------------------------------------------------- */

static bool save_drive(VssdDev *s, FILE *out, GError **error)
{
    return ssd_save(s->ssd, out, error);
}

static bool save_controller(VssdDev *s, FILE *out, GError **error)
{
    return nvme_save(s->ctrl, out, error);
}

static bool put_stream(VssdDev *s, QEMUFile *file, GError **error,
                       bool (*save)(VssdDev *s, FILE *out, GError **error))
{
    Pipe pipe;
    FILE *out = pipe_open(&pipe, file, true);
    bool ok = out && save(s, out, error);

    if (out && fclose(out) != 0) {
        ok = false;
    }
    qemu_put_be32(file, 0);
    return ok;
}

/* The machine is stopped: nobody else runs the controller. */
static int put_model(QEMUFile *file, void *pv, size_t size,
                     const VMStateField *field, JSONWriter *vmdesc)
{
    VssdDev *s = pv;
    GError *error = NULL;

    vssd_files_pass(s);
    if (!put_stream(s, file, &error, save_drive) ||
        !put_stream(s, file, &error, save_controller)) {
        return qemu_file_get_error(file) ? qemu_file_get_error(file)
                                         : cannot("saved", error);
    }
    trace_vssd_saved(s, s->clock.now_ns);
    return 0;
}

/* ---- in ------------------------------------------------------------------ */

/* A drive and its controllers that are not yet the device's. */
typedef struct Model {
    Ssd *ssd;
    NvmeCtrl *ctrl;
    GPtrArray *further; /* NvmeCtrl, as the functions of the device follow */
} Model;

static Model model_new(NvmeCtrl *ctrl, Ssd *ssd)
{
    return (Model){
        .ssd = ssd,
        .ctrl = ctrl,
        .further = g_ptr_array_new(),
    };
}

static void model_free(Model *m)
{
    for (unsigned i = 0; i < m->further->len; i++) {
        nvme_remove_controller(g_ptr_array_index(m->further, i));
    }
    g_ptr_array_free(m->further, TRUE);
    if (m->ctrl) {
        nvme_free(m->ctrl);
    }
    if (m->ssd) {
        ssd_destroy(m->ssd);
    }
}

static bool load_drive(VssdDev *s, Model *m, FILE *in, GError **error)
{
    m->ssd = ssd_load(s->cfg, nvme_host_ops(), m->ctrl, in, error);
    return m->ssd != NULL;
}

/* As the device has them now; the stream says whether that is right. */
static bool add_further(VssdDev *s, Model *m, GError **error)
{
    VssdFunction *f = &s->fn;

    while ((f = QTAILQ_NEXT(f, next))) {
        NvmeCtrl *ctrl = pci_is_vf(PCI_DEVICE(f))
                             ? vssd_sriov_add(f, m->ctrl, error)
                             : nvme_add_controller(m->ctrl, &vssd_machine, f,
                                                   nvme_cntlid(f->ctrl), error);

        if (!ctrl) {
            return false;
        }
        g_ptr_array_add(m->further, ctrl);
    }
    return true;
}

static bool load_controllers(VssdDev *s, Model *m, FILE *in, GError **error)
{
    return nvme_attach(m->ctrl, m->ssd, &s->nvme_cfg, error) &&
           add_further(s, m, error) && nvme_load(m->ctrl, in, error) &&
           vssd_nodes_place(s, m->ctrl, error);
}

static bool get_stream(VssdDev *s, Model *m, QEMUFile *file, GError **error,
                       bool (*load)(VssdDev *s, Model *m, FILE *in,
                                    GError **error))
{
    Pipe pipe;
    FILE *in = pipe_open(&pipe, file, false);
    bool ok = in && load(s, m, in, error);

    if (ok && !pipe.ended) { /* reading it failed, at its end */
        g_set_error(error, G_FILE_ERROR, 0, "it is damaged: its end");
        ok = false;
    }
    if (in) {
        fclose(in);
    }
    return ok;
}

/* The device's own go. */
static void free_own(VssdDev *s)
{
    Model old = model_new(s->ctrl, s->ssd);
    VssdFunction *f = &s->fn;

    while ((f = QTAILQ_NEXT(f, next))) {
        g_ptr_array_add(old.further, f->ctrl);
    }
    model_free(&old);
}

static void function_loaded(VssdFunction *f)
{
    vssd_irq_loaded(f);
    vssd_kick_shadows(f, nvme_has_shadows(f->ctrl));
}

static void take_over(VssdDev *s, Model *m)
{
    VssdFunction *f = &s->fn;

    free_own(s);
    s->ssd = m->ssd;
    vssd_watch_policies(s);
    s->ctrl = m->ctrl;
    f->ctrl = m->ctrl;
    function_loaded(f);
    for (unsigned i = 0; i < m->further->len; i++) {
        f = QTAILQ_NEXT(f, next);
        f->ctrl = g_ptr_array_index(m->further, i);
        function_loaded(f);
    }
    g_ptr_array_free(m->further, TRUE);
    nvme_hold(s->ctrl, true);
    vssd_clock_set(s, nvme_now_ns(s->ctrl));
    vssd_irq_rung(s, -1);
    vssd_power_loaded(s);
    s->incoming = false;
}

/* The property of a file that tells all from the beginning; NULL: none. */
static const char *whole_log(const VssdDev *s)
{
    return s->prop.opt.oplog         ? "oplog"
           : s->prop.opt.trace       ? "trace"
           : s->prop.opt.durable_log ? "durable_log"
                                     : NULL;
}

/* The machine is stopped, and the drive that goes is at rest. */
static int get_model(QEMUFile *file, void *pv, size_t size,
                     const VMStateField *field)
{
    VssdDev *s = pv;
    Model m = model_new(vssd_new_controller(s), NULL);
    GError *error = NULL;

    vssd_store_drop(s); /* of the drive that goes */
    if (whole_log(s)) {
        g_set_error(&error, G_FILE_ERROR, 0,
                    "%s= must tell all from the "
                    "beginning",
                    whole_log(s));
    } else if (nvme_store_in_flight(s->ctrl)) {
        g_set_error(&error, G_FILE_ERROR, 0, "requests to its image are in "
                    "flight");
    }
    if (error || !get_stream(s, &m, file, &error, load_drive) ||
        !get_stream(s, &m, file, &error, load_controllers) ||
        !vssd_files_lock(s, &error)) {
        model_free(&m);
        return cannot("loaded", error);
    }
    if (!vssd_lock(s)) {
        g_assert_not_reached();
    }
    take_over(s, &m);
    vssd_unlock(s);
    trace_vssd_loaded(s, s->clock.now_ns);
    return 0;
}

/* ---- the size of the MSI-X table ----------------------------------------- */

/* VMSTATE_MSIX reads a table of its own size: with another one, all that
 * follows would be read from the wrong place. */
static int put_vectors(QEMUFile *file, void *pv, size_t size,
                       const VMStateField *field, JSONWriter *vmdesc)
{
    VssdDev *s = pv;

    qemu_put_be16(file, s->prop.opt.num_vectors);
    qemu_put_be16(file, PCI_DEVICE(s)->msix_entries_nr);
    return 0;
}

static int get_vectors(QEMUFile *file, void *pv, size_t size,
                       const VMStateField *field)
{
    VssdDev *s = pv;
    unsigned own = PCI_DEVICE(s)->msix_entries_nr;
    unsigned vectors = qemu_get_be16(file);
    unsigned table = qemu_get_be16(file);
    GError *error = NULL;

    if (vectors != s->prop.opt.num_vectors) {
        g_set_error(&error, G_FILE_ERROR, 0,
                    "it was saved with num_vectors=%u, this drive has "
                    "num_vectors=%u (by default num_queues + 1)",
                    vectors, s->prop.opt.num_vectors);
    } else if (table != own) {
        g_set_error(&error, G_FILE_ERROR, 0,
                    "sriov_vi_flexible: it was saved with %u interrupt "
                    "vectors of the physical function, this drive has %u",
                    table, own);
    }
    return error ? cannot("loaded", error) : 0;
}

static const VMStateInfo vectors_info = {
    .name = "vssd vectors",
    .get = get_vectors,
    .put = put_vectors,
};

static const VMStateInfo model_info = {
    .name = "vssd model",
    .get = get_model,
    .put = put_model,
};

const VMStateDescription vssd_vmstate = {
    .name = "vssd-drive", /* before version 1.0 it was vssd */
    /* Of the fields that follow.  The two streams of "model" carry versions of
     * their own (core/state.h). */
    .version_id = 1,
    .minimum_version_id = 1,
    .fields =
        (const VMStateField[]){
            {
                .name = "vectors",
                .info = &vectors_info,
                .size = sizeof(VssdDev),
                .flags = VMS_SINGLE,
            },
            VMSTATE_PCI_DEVICE(fn.parent_obj, VssdDev),
            VMSTATE_MSIX(fn.parent_obj, VssdDev),
            VMSTATE_TIMER_PTR(power.timer, VssdDev),
            {
                .name = "model",
                .info = &model_info,
                .size = sizeof(VssdDev),
                .flags = VMS_SINGLE,
            },
            VMSTATE_END_OF_LIST(),
        },
    .subsections =
        (const VMStateDescription *const[]){
            &vssd_sriov_vmstate,
            NULL,
        },
};

/* ---- life ---------------------------------------------------------------- */

/* A machine that was stopped before ends without a change of state. */
static void about_to_end(Notifier *n, void *data)
{
    VssdDev *s = container_of(n, VssdDev, shutdown_notifier);

    if (s->serve.stopped && !vssd_is_elsewhere(s)) {
        vssd_store_finish(s, NVME_SHUTDOWN_MS);
    }
}

bool vssd_migration_init(VssdDev *s, Error **errp)
{
    if (whole_log(s)) {
        error_setg(&s->migration_blocker,
                   "vssd: with %s= the machine can be neither saved nor moved: "
                   "it must tell all from the beginning to the end",
                   whole_log(s));
    }
    if (s->migration_blocker &&
        migrate_add_blocker(&s->migration_blocker, errp) < 0) {
        return false;
    }
    s->run_change = qemu_add_vm_change_state_handler(run_state_changed, s);
    s->shutdown_notifier.notify = about_to_end;
    qemu_register_shutdown_notifier(&s->shutdown_notifier);
    register_savevm_live(REST_ID, VMSTATE_INSTANCE_ID_ANY, 1, &rest_handlers, s);
    return true;
}

void vssd_migration_stop(VssdDev *s)
{
    migrate_del_blocker(&s->migration_blocker);
    if (s->run_change) {
        notifier_remove(&s->shutdown_notifier);
        qemu_del_vm_change_state_handler(s->run_change);
        unregister_savevm(NULL, REST_ID, s);
        s->run_change = NULL;
    }
}
