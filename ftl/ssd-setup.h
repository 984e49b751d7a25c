/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ssd-setup.h - the configuration of a drive: profiles and options. */
#ifndef VSSD_SSD_SETUP_H
#define VSSD_SSD_SETUP_H

#include "ssd.h"

/* A configuration with every option at its default; free with _free(). */
SsdConfig *ssd_config_new(void);
void ssd_config_free(SsdConfig *cfg);

/* Read a profile (INI: a section and a name make the key "section.name"; keys
 * of section [drive] have no prefix).  *error: file, key, range. */
bool ssd_config_load(SsdConfig *cfg, const char *path, GError **error);

/* Apply "key=value;key=value"; empty parts are skipped.  On failure the parts
 * before the bad one stay applied. */
bool ssd_config_set(SsdConfig *cfg, const char *options, GError **error);

/* Set the host's logical block size: 512 or 4096; ssd_config_check() refuses
 * one above ftl.unit. */
bool ssd_config_set_block_bytes(SsdConfig *cfg, uint32_t bytes, GError **error);

/* The value of key as a user would type it (g_free), or NULL: no such key. */
char *ssd_config_get(const SsdConfig *cfg, const char *key);

/*
 * A policy of the process (vssd-policy.h), in place of that of its kind's
 * option; it outlives the configuration and its drives.  false: *error says
 * what is wrong with it.  One of a shared object is a value of the option:
 * "ftl.gc=so:FILE".
 */
struct VssdPolicy;
bool ssd_config_set_policy(SsdConfig *cfg, const struct VssdPolicy *policy,
                           GError **error);

/* Can a drive be made of it?  ssd_create() calls it too. */
bool ssd_config_check(const SsdConfig *cfg, GError **error);

/*
 * A line of the file of the option faults=: is it a rule about commands of the
 * host, interrupts or a controller?  The drive skips these; who drives it
 * applies or refuses them.
 */
bool ssd_is_host_rule(const char *line);

/* Append every option as docs/options.md shows it, or as "key=value" lines. */
void ssd_config_document(GString *out);
void ssd_config_print(const SsdConfig *cfg, GString *out);

#endif
