/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swap.c - the images of namespaces, with drive2= and following, at run time
 * (docs/namespaces.md).
 *
 *   qom-set PATH namespace-remove N      namespace N loses its image
 *   qom-set PATH namespace-insert TEXT   and gets one: N=NODE, or
 *                                        N=NODE;identity=new
 *
 * The machine stops meanwhile, as for savevm, so that the drive comes to rest.
 *
 * Knows properties and the order of things; nodes.c knows block nodes, and the
 * controller knows namespaces.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "system/runstate.h"

#include "vssd.h"

#define IDENTITY ";identity="

/* ---- the machine --------------------------------------------------------- */

/* true: it ran. */
static bool machine_stop(VssdDev *s)
{
    bool ran = runstate_is_running();

    if (ran) {
        vm_stop(RUN_STATE_SAVE_VM);
    } else {
        vssd_settle(s, true);
    }
    return ran;
}

static void machine_go_on(bool ran)
{
    if (ran) {
        vm_start();
    }
}

/* ---- what may be done ---------------------------------------------------- */

static bool check(VssdDev *s, uint64_t nsid, bool has, Error **errp)
{
    const char *without = s->prop.opt.oplog         ? "oplog="
                          : s->prop.opt.durable_log ? "durable_log="
                                                    : NULL;

    if (!DEVICE(s)->realized || s->incoming) {
        error_setg(errp, "vssd: no other images before the drive runs");
        return false;
    }
    if (without) {
        error_setg(errp, "vssd: no other images with %s", without);
        return false;
    }
    return vssd_nodes_check(s, nsid, has, errp);
}

static bool has_blocks(VssdDev *s, unsigned nsid)
{
    uint64_t first, n;

    return !nvme_namespace_place(s->ctrl, nsid, &first, &n) || n > 0;
}

/* ---- remove -------------------------------------------------------------- */

static bool begin_remove(VssdDev *s, unsigned nsid, Error **errp)
{
    GError *error = NULL;
    bool ok;

    if (!vssd_lock(s)) {
        error_setg(errp, "vssd: the drive is busy");
        return false;
    }
    ok = nvme_namespace_remove(s->ctrl, nsid, &error);
    vssd_unlock(s);
    if (!ok) {
        error_setg(errp, "vssd: %s", error->message);
        g_error_free(error);
    }
    return ok;
}

/* Of a machine that stands.  What the guest has trimmed is freed in the image
 * first, as far as there is time. */
static void take_out(VssdDev *s, unsigned nsid, Error **errp)
{
    if (!nvme_refused_bytes(s->ctrl)) {
        vssd_store_finish(s, NVME_SHUTDOWN_MS);
    }
    if (!begin_remove(s, nsid, errp)) {
        return;
    }
    vssd_settle(s, true);
    if (has_blocks(s, nsid)) {
        error_setg(errp, "vssd: namespace %u: the drive cannot free its data",
                   nsid);
        return;
    }
    vssd_nodes_remove(s, nsid - 1);
}

static void namespace_remove(Object *obj, Visitor *v, const char *name,
                             void *opaque, Error **errp)
{
    VssdDev *s = VSSD(obj);
    uint32_t nsid;
    bool ran;

    if (visit_type_uint32(v, name, &nsid, errp) && check(s, nsid, true, errp)) {
        ran = machine_stop(s);
        take_out(s, nsid, errp);
        machine_go_on(ran);
    }
}

/* ---- insert -------------------------------------------------------------- */

typedef struct Insert {
    uint64_t nsid;
    char *node;
    bool new_identity;
} Insert;

/* true: node is to be freed. */
static bool parse(const char *text, Insert *in, Error **errp)
{
    const char *end, *identity;

    if (parse_uint(text, &end, 10, &in->nsid) != 0 || *end != '=') {
        error_setg(errp,
                   "vssd: namespace-insert=%s: allowed is N=NODE, "
                   "N=NODE" IDENTITY "keep|new",
                   text);
        return false;
    }
    end++;
    identity = strstr(end, IDENTITY);
    in->new_identity = identity && g_str_equal(identity, IDENTITY "new");
    if (identity && !in->new_identity &&
        !g_str_equal(identity, IDENTITY "keep")) {
        error_setg(errp,
                   "vssd: namespace-insert=%s: identity: allowed keep, new",
                   text);
        return false;
    }
    in->node = identity ? g_strndup(end, identity - end) : g_strdup(end);
    return true;
}

static bool give(VssdDev *s, const Insert *in, uint64_t nblocks)
{
    if (!vssd_lock(s)) {
        return false;
    }
    nvme_namespace_insert(s->ctrl, in->nsid, nblocks, in->new_identity);
    vssd_unlock(s);
    return true;
}

/* Of a machine that stands. */
static void put_in(VssdDev *s, const Insert *in, Error **errp)
{
    uint32_t block_bytes = ssd_info(s->ssd)->block_bytes;
    uint64_t room = nvme_namespace_room(s->ctrl, in->nsid) * block_bytes;
    uint64_t bytes = vssd_nodes_insert(s, in->nsid - 1, in->node, room, errp);

    if (!bytes) {
        return;
    }
    if (!vssd_store_preload_image(s, in->nsid - 1, errp)) {
        vssd_nodes_remove(s, in->nsid - 1);
    } else if (!give(s, in, bytes / block_bytes)) {
        error_setg(errp, "vssd: the drive is busy");
        vssd_nodes_remove(s, in->nsid - 1);
    }
}

static void namespace_insert(Object *obj, const char *text, Error **errp)
{
    VssdDev *s = VSSD(obj);
    Insert in;
    bool ran;

    if (!parse(text, &in, errp)) {
        return;
    }
    if (check(s, in.nsid, false, errp)) {
        ran = machine_stop(s);
        put_in(s, &in, errp);
        machine_go_on(ran);
    }
    g_free(in.node);
}

void vssd_swap_class_init(ObjectClass *klass)
{
    object_class_property_add(klass, "namespace-remove", "uint32", NULL,
                              namespace_remove, NULL, NULL);
    object_class_property_set_description(
        klass, "namespace-remove",
        "number of a namespace that loses its image, docs/namespaces.md");
    object_class_property_add_str(klass, "namespace-insert", NULL,
                                  namespace_insert);
    object_class_property_set_description(
        klass, "namespace-insert", "N=NODE: the namespace gets an image");
}
