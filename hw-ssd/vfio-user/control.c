/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control.c - the socket for those who watch the drive and break it.
 *
 * It speaks the part of QEMU's monitor protocol (QMP) that ./vssd stat, top,
 * metrics, fault and powercut use, with the names of the in-tree device:
 *
 *   qmp_capabilities, query-version, query-status, stop, cont, quit
 *   qom-list  /machine/peripheral        the drive, as child<vssd>
 *   qom-get   /machine/peripheral/ID     stats, stats-text, histograms, faults,
 *                                        powered, server, running-options
 *   qom-set   /machine/peripheral/ID     reset-stats, fault-add, fault-remove,
 *                                        powered, power-cut,
 *                                        namespace-remove, namespace-insert,
 *                                        set-option
 *
 * stop and cont are of the drive: it fetches no command.  Knows JSON and names.
 */
#include <errno.h>
/* Its type has the name of a function of core/json.h. */
#define json_bool json_c_bool
#include <json-c/json.h>
#undef json_bool
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <glib-unix.h>

#include "server.h"
#include "ssd-report.h"
#include "ssd-running.h"

/* A further one takes the place of the one that has been idle longest. */
#define MOST_CLIENTS 8
#define MOST_INPUT   65536
#define MOST_OUTPUT  (8u << 20)

#define PERIPHERAL "/machine/peripheral"

typedef struct Conn {
    Server *s;
    int fd;
    guint in, out; /* sources */
    json_tokener *tokener;
    size_t unread; /* bytes of a command that is not whole */
    GString *answer;
} Conn;

struct Control {
    int fd;
    guint source;
    GSList *conns; /* first the one that has said something last */
};

/* ---- properties ---------------------------------------------------------- */

static json_object *fail(GError **error, const char *format, ...)
    G_GNUC_PRINTF(2, 3);

static json_object *fail(GError **error, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list ap;

    va_start(ap, format);
    text = g_strdup_vprintf(format, ap);
    va_end(ap);
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, text);
    return NULL;
}

static GString *stats_text(Server *s)
{
    JsonWriter w = {.out = g_string_new(NULL)};

    nvme_drive_stats_json(s->ctrl, &w);
    return w.out;
}

static json_object *get_stats_text(Server *s)
{
    g_autoptr(GString) text = stats_text(s);

    return json_object_new_string(text->str);
}

static json_object *get_stats(Server *s)
{
    g_autoptr(GString) text = stats_text(s);

    return json_tokener_parse(text->str);
}

static json_object *get_histograms(Server *s)
{
    g_autoptr(GString) text = g_string_new(NULL);

    ssd_latency_log(s->ssd, text);
    return json_object_new_string(text->str);
}

static json_object *get_faults(Server *s)
{
    g_autoptr(GString) text = g_string_new(NULL);
    JsonWriter w = {.out = text};

    nvme_faults_json(s->ctrl, &w, NULL);
    return json_tokener_parse(text->str);
}

static json_object *get_powered(Server *s)
{
    return json_object_new_boolean(!s->power_off);
}

static void add_u64(json_object *to, const char *name, uint64_t value)
{
    json_object_object_add(to, name, json_object_new_uint64(value));
}

/* Of the process, not of the drive: of all controllers together. */
static json_object *get_server(Server *s)
{
    json_object *all = json_object_new_object();
    Function sum = {0};
    uint64_t bytes = 0;

    for (unsigned k = 0; k < s->n_functions; k++) {
        const Function *f = &s->function[k];

        sum.attached |= f->attached;
        sum.clients += f->clients;
        sum.messages += f->messages;
        sum.refused += f->refused;
        sum.n_ranges += f->n_ranges;
        sum.dma_refused += f->dma_refused;
        for (unsigned i = 0; i < f->n_ranges; i++) {
            bytes += f->range[i].bytes;
        }
    }
    json_object_object_add(all, "attached",
                           json_object_new_boolean(sum.attached));
    add_u64(all, "clients", sum.clients);
    add_u64(all, "messages", sum.messages);
    add_u64(all, "messages_refused", sum.refused);
    add_u64(all, "memory_ranges", sum.n_ranges);
    add_u64(all, "memory_bytes", bytes);
    add_u64(all, "dma_refused", sum.dma_refused);
    return all;
}

static bool set_reset_stats(Server *s, json_object *value, GError **error)
{
    if (json_object_get_boolean(value)) {
        ssd_reset_stats(s->ssd);
        nvme_reset_stats(s->ctrl);
    }
    return true;
}

/* "KEY=VALUE" */
static bool set_option(Server *s, json_object *value, GError **error)
{
    g_auto(GStrv) part = g_strsplit(json_object_get_string(value), "=", 2);
    bool ok;

    if (g_strv_length(part) != 2) {
        fail(error, "vssd: set-option=%s: not KEY=VALUE",
             json_object_get_string(value));
        return false;
    }
    vfio_serve_run(s); /* what was due before */
    ok = ssd_set_option(s->ssd, part[0], part[1], error);
    vfio_serve_run(s);
    return ok;
}

static json_object *get_options(Server *s)
{
    g_autoptr(GString) text = g_string_new(NULL);
    JsonWriter w = {.out = text};

    ssd_running_options_json(s->ssd, &w, NULL);
    return json_tokener_parse(text->str);
}

static bool set_fault_add(Server *s, json_object *value, GError **error)
{
    bool ok = nvme_fault_add(s->ctrl, vfio_now(s),
                             json_object_get_string(value), error) != 0;

    vfio_serve_run(s); /* a rule may act at once */
    return ok;
}

static bool set_fault_remove(Server *s, json_object *value, GError **error)
{
    int64_t id = json_object_get_int64(value);
    bool ok =
        nvme_fault_remove(s->ctrl, id >= 0 && id <= UINT32_MAX ? id : 0, error);

    vfio_serve_run(s);
    return ok;
}

static bool set_powered(Server *s, json_object *value, GError **error)
{
    vfio_power_set(s, json_object_get_boolean(value));
    return true;
}

static bool set_power_cut(Server *s, json_object *value, GError **error)
{
    const char *mode = json_object_get_string(value);

    if (!g_str_equal(mode, "running")) {
        fail(error,
             "vssd: power-cut=%s: allowed running: the machine belongs "
             "to another process",
             mode);
        return false;
    }
    vfio_power_cut(s);
    return true;
}

static bool set_namespace_remove(Server *s, json_object *value, GError **error)
{
    int64_t nsid = json_object_get_int64(value);

    return vfio_swap_remove(s, MAX(nsid, 0), error);
}

static bool set_namespace_insert(Server *s, json_object *value, GError **error)
{
    return vfio_swap_insert(s, json_object_get_string(value), error);
}

typedef struct Property {
    const char *name;
    json_type type; /* that set() takes */
    json_object *(*get)(Server *s);
    bool (*set)(Server *s, json_object *value, GError **error);
} Property;

static const Property properties[] = {
    {"stats", json_type_null, get_stats, NULL},
    {"stats-text", json_type_null, get_stats_text, NULL},
    {"histograms", json_type_null, get_histograms, NULL},
    {"faults", json_type_null, get_faults, NULL},
    {"server", json_type_null, get_server, NULL},
    {"powered", json_type_boolean, get_powered, set_powered},
    {"power-cut", json_type_string, NULL, set_power_cut},
    {"reset-stats", json_type_boolean, NULL, set_reset_stats},
    {"running-options", json_type_null, get_options, NULL},
    {"set-option", json_type_string, NULL, set_option},
    {"fault-add", json_type_string, NULL, set_fault_add},
    {"fault-remove", json_type_int, NULL, set_fault_remove},
    {"namespace-remove", json_type_int, NULL, set_namespace_remove},
    {"namespace-insert", json_type_string, NULL, set_namespace_insert},
};

/* ---- commands ------------------------------------------------------------ */

static const char *text_of(json_object *arguments, const char *name)
{
    json_object *value;

    return json_object_object_get_ex(arguments, name, &value) &&
                   json_object_is_type(value, json_type_string)
               ? json_object_get_string(value)
               : NULL;
}

static const Property *find_property(Server *s, json_object *arguments,
                                     GError **error)
{
    g_autofree char *own = g_strdup_printf(PERIPHERAL "/%s", s->opt->id);
    const char *path = text_of(arguments, "path");
    const char *name = text_of(arguments, "property");

    if (!path || !g_str_equal(path, own)) {
        fail(error, "path: there is only '%s'", own);
        return NULL;
    }
    for (unsigned i = 0; name && i < G_N_ELEMENTS(properties); i++) {
        if (g_str_equal(name, properties[i].name)) {
            return &properties[i];
        }
    }
    fail(error, "Property 'vssd.%s' not found", name ? name : "");
    return NULL;
}

static json_object *qom_get(Server *s, json_object *arguments, GError **error)
{
    const Property *p = find_property(s, arguments, error);

    if (p && !p->get) {
        return fail(error, "Property 'vssd.%s' is not readable", p->name);
    }
    return p ? p->get(s) : NULL;
}

static json_object *qom_set(Server *s, json_object *arguments, GError **error)
{
    const Property *p = find_property(s, arguments, error);
    json_object *value;

    if (!p) {
        return NULL;
    }
    if (!p->set) {
        return fail(error, "Property 'vssd.%s' is not writable", p->name);
    }
    if (!json_object_object_get_ex(arguments, "value", &value) ||
        !json_object_is_type(value, p->type)) {
        return fail(error, "Invalid parameter type for '%s', expected: %s",
                    p->name, json_type_to_name(p->type));
    }
    return p->set(s, value, error) ? json_object_new_object() : NULL;
}

static json_object *qom_list(Server *s, json_object *arguments, GError **error)
{
    const char *path = text_of(arguments, "path");
    json_object *list, *one;

    if (!path || !g_str_equal(path, PERIPHERAL)) {
        return fail(error, "path: there is only '%s'", PERIPHERAL);
    }
    list = json_object_new_array();
    one = json_object_new_object();
    json_object_object_add(one, "name", json_object_new_string(s->opt->id));
    json_object_object_add(one, "type", json_object_new_string("child<vssd>"));
    json_object_array_add(list, one);
    return list;
}

static json_object *nothing(Server *s, json_object *arguments, GError **error)
{
    return json_object_new_object();
}

static json_object *query_status(Server *s, json_object *arguments,
                                 GError **error)
{
    json_object *all = json_object_new_object();

    json_object_object_add(all, "running", json_object_new_boolean(true));
    json_object_object_add(all, "status", json_object_new_string("running"));
    return all;
}

static json_object *do_stop(Server *s, json_object *arguments, GError **error)
{
    vfio_serve_hold(s, true);
    return json_object_new_object();
}

static json_object *do_cont(Server *s, json_object *arguments, GError **error)
{
    vfio_serve_hold(s, false);
    return json_object_new_object();
}

static json_object *do_quit(Server *s, json_object *arguments, GError **error)
{
    g_main_loop_quit(s->loop);
    return json_object_new_object();
}

static const struct {
    const char *name;
    json_object *(*call)(Server *s, json_object *arguments, GError **error);
} commands[] = {
    {"qmp_capabilities", nothing},
    {"query-version", nothing},
    {"query-status", query_status},
    {"stop", do_stop},
    {"cont", do_cont},
    {"quit", do_quit},
    {"qom-list", qom_list},
    {"qom-get", qom_get},
    {"qom-set", qom_set},
};

static json_object *execute(Server *s, json_object *command, GError **error)
{
    const char *name = text_of(command, "execute");
    json_object *arguments = NULL;

    json_object_object_get_ex(command, "arguments", &arguments);
    if (!name) {
        return fail(error, "QMP input lacks member 'execute'");
    }
    if (arguments && !json_object_is_type(arguments, json_type_object)) {
        return fail(error, "QMP input member 'arguments' must be an object");
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (g_str_equal(name, commands[i].name)) {
            return commands[i].call(s, arguments, error);
        }
    }
    return fail(error, "The command %s has not been found", name);
}

/* ---- connections --------------------------------------------------------- */

static void conn_free(Conn *c)
{
    Control *control = c->s->control;

    control->conns = g_slist_remove(control->conns, c);
    if (c->in) {
        g_source_remove(c->in);
    }
    if (c->out) {
        g_source_remove(c->out);
    }
    close(c->fd);
    json_tokener_free(c->tokener);
    g_string_free(c->answer, TRUE);
    g_free(c);
}

static gboolean on_writable(gint fd, GIOCondition condition, gpointer opaque);

/* false: the client has gone, or does not read. */
static bool flush(Conn *c)
{
    while (c->answer->len) {
        ssize_t n = send(c->fd, c->answer->str, c->answer->len,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EAGAIN) {
            if (!c->out) {
                c->out = g_unix_fd_add(c->fd, G_IO_OUT, on_writable, c);
            }
            return c->answer->len <= MOST_OUTPUT;
        }
        if (n < 0 && errno != EINTR) {
            return false;
        }
        g_string_erase(c->answer, 0, MAX(n, 0));
    }
    return true;
}

static gboolean on_writable(gint fd, GIOCondition condition, gpointer opaque)
{
    Conn *c = opaque;

    c->out = 0;
    if (!flush(c)) {
        conn_free(c);
    }
    return G_SOURCE_REMOVE;
}

static void say(Conn *c, json_object *what)
{
    g_string_append(c->answer, json_object_to_json_string_ext(
                                   what, JSON_C_TO_STRING_PLAIN |
                                             JSON_C_TO_STRING_NOSLASHESCAPE));
    g_string_append(c->answer, "\r\n");
    json_object_put(what);
}

static json_object *error_object(const char *text)
{
    json_object *error = json_object_new_object();

    json_object_object_add(error, "class",
                           json_object_new_string("GenericError"));
    json_object_object_add(error, "desc", json_object_new_string(text));
    return error;
}

static void serve_command(Conn *c, json_object *command)
{
    g_autoptr(GError) error = NULL;
    json_object *answer = json_object_new_object();
    json_object *id = NULL;
    json_object *result = NULL;

    if (json_object_is_type(command, json_type_object)) {
        json_object_object_get_ex(command, "id", &id);
        result = execute(c->s, command, &error);
    } else {
        fail(&error, "QMP input must be a JSON object");
    }
    if (error) {
        json_object_object_add(answer, "error", error_object(error->message));
    } else {
        json_object_object_add(answer, "return", result);
    }
    if (id) {
        json_object_object_add(answer, "id", json_object_get(id));
    }
    say(c, answer);
}

/* The next ones to be dropped are those that say nothing. */
static void move_to_front(Conn *c)
{
    Control *control = c->s->control;

    control->conns = g_slist_remove(control->conns, c);
    control->conns = g_slist_prepend(control->conns, c);
}

/* false: what came is no JSON, or has no end. */
static bool parse(Conn *c, const char *bytes, size_t n)
{
    while (n) {
        json_object *command = json_tokener_parse_ex(c->tokener, bytes, n);
        enum json_tokener_error state = json_tokener_get_error(c->tokener);
        size_t used = json_tokener_get_parse_end(c->tokener);

        if (state == json_tokener_continue) {
            c->unread += n;
            return c->unread <= MOST_INPUT;
        }
        if (state != json_tokener_success) {
            return false;
        }
        serve_command(c, command);
        move_to_front(c);
        json_object_put(command);
        c->unread = 0;
        bytes += used;
        n -= used;
    }
    return true;
}

static gboolean on_command(gint fd, GIOCondition condition, gpointer opaque)
{
    Conn *c = opaque;
    char bytes[4096];
    ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return G_SOURCE_CONTINUE;
    }
    if (n > 0 && parse(c, bytes, n) && flush(c)) {
        return G_SOURCE_CONTINUE;
    }
    c->in = 0;
    conn_free(c);
    return G_SOURCE_REMOVE;
}

static void greet(Conn *c)
{
    say(c, json_tokener_parse(
               "{\"QMP\": {\"version\": {\"qemu\": {\"micro\": 0, \"minor\": 0,"
               " \"major\": 0}, \"package\": \"vssd-server\"},"
               " \"capabilities\": []}}"));
}

static gboolean on_connection(gint fd, GIOCondition condition, gpointer opaque)
{
    Server *s = opaque;
    int conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    Conn *c;

    if (conn < 0) {
        return G_SOURCE_CONTINUE;
    }
    if (g_slist_length(s->control->conns) >= MOST_CLIENTS) {
        conn_free(g_slist_last(s->control->conns)->data);
    }
    c = g_new0(Conn, 1);
    *c = (Conn){
        .s = s,
        .fd = conn,
        .tokener = json_tokener_new(),
        .answer = g_string_new(NULL),
    };
    s->control->conns = g_slist_prepend(s->control->conns, c);
    c->in = g_unix_fd_add(conn, G_IO_IN, on_command, c);
    greet(c);
    flush(c);
    return G_SOURCE_CONTINUE;
}

/* ---- life ---------------------------------------------------------------- */

bool vfio_control_init(Server *s, GError **error)
{
    int fd;

    if (!s->opt->control) {
        return true;
    }
    fd = listen_at("--qmp", s->opt->control, MOST_CLIENTS, error);
    if (fd < 0) {
        return false;
    }
    s->control = g_new0(Control, 1);
    s->control->fd = fd;
    s->control->source = g_unix_fd_add(fd, G_IO_IN, on_connection, s);
    return true;
}

void vfio_control_free(Server *s)
{
    if (!s->control) {
        return;
    }
    while (s->control->conns) {
        conn_free(s->control->conns->data);
    }
    g_source_remove(s->control->source);
    close(s->control->fd);
    unlink(s->opt->control);
    g_free(s->control);
    s->control = NULL;
}
