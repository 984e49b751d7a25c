/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transitions.c - a state that may not follow aborts the drive, for each state
 * machine: blocks, slots, commands, page programs.
 *
 * Legal transitions are in the tables of the functions; all other tests show
 * that nothing else is needed.
 */
#include <string.h>

#include "buffer/slot-state.h"
#include "commands.h"
#include "media/block-state.h"
#include "media/jobs.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-setup.h"

/* ---- a drive at rest ---------------------------------------------------- */

static Ssd *make_drive(void)
{
    SsdConfig *cfg = ref_config("");
    GError *error = NULL;
    Ssd *ssd;

    ssd = ssd_create(cfg, NULL, NULL, &error);
    g_assert_no_error(error);
    ssd_config_free(cfg);
    return ssd;
}

typedef struct Step {
    const char *name;
    void (*legal)(Ssd *ssd);
    void (*illegal)(Ssd *ssd);
} Step;

static void open_and_close(Ssd *ssd)
{
    block_set_state(ssd, 0, BLOCK_OPEN);
    block_set_state(ssd, 0, BLOCK_CLOSING);
    block_set_state(ssd, 0, BLOCK_FULL);
    block_set_state(ssd, 0, BLOCK_VICTIM);
    block_set_state(ssd, 0, BLOCK_ERASING);
    block_set_state(ssd, 0, BLOCK_FREE);
}

/* An open block is not erased before it is a victim. */
static void erase_open(Ssd *ssd)
{
    block_set_state(ssd, 0, BLOCK_OPEN);
    block_set_state(ssd, 0, BLOCK_ERASING);
}

static void use_bad(Ssd *ssd)
{
    block_set_state(ssd, 0, BLOCK_BAD);
    block_set_state(ssd, 0, BLOCK_FREE);
}

static void write_unit(Ssd *ssd)
{
    slot_set_state(ssd, 0, SLOT_LOADING);
    slot_set_state(ssd, 0, SLOT_CLEAN);
    slot_set_state(ssd, 0, SLOT_DIRTY);
    slot_set_state(ssd, 0, SLOT_PROGRAMMING);
    slot_set_state(ssd, 0, SLOT_FREE);
}

/* A slot without data is not programmed. */
static void program_clean(Ssd *ssd)
{
    slot_set_state(ssd, 0, SLOT_LOADING);
    slot_set_state(ssd, 0, SLOT_CLEAN);
    slot_set_state(ssd, 0, SLOT_PROGRAMMING);
}

/* A new version goes to another slot while this one is programmed. */
static void rewrite_programming(Ssd *ssd)
{
    slot_set_state(ssd, 0, SLOT_DIRTY);
    slot_set_state(ssd, 0, SLOT_PROGRAMMING);
    slot_set_state(ssd, 0, SLOT_DIRTY);
}

static void run_command(Ssd *ssd)
{
    uint32_t i = cmd_take(ssd);
    Cmd *c = &ssd->commands.cmd[i];

    cmd_set_phase(c, CMD_SUBMITTED);
    cmd_set_phase(c, CMD_RUNNING);
    cmd_set_phase(c, CMD_DONE);
    cmd_give(ssd, i);
}

/* A completion that nobody has fetched is not lost. */
static void forget_command(Ssd *ssd)
{
    uint32_t i = cmd_take(ssd);

    cmd_set_phase(&ssd->commands.cmd[i], CMD_SUBMITTED);
    cmd_set_phase(&ssd->commands.cmd[i], CMD_RUNNING);
    cmd_give(ssd, i);
}

static void end_twice(Ssd *ssd)
{
    uint32_t i = cmd_take(ssd);
    Cmd *c = &ssd->commands.cmd[i];

    cmd_set_phase(c, CMD_SUBMITTED);
    cmd_set_phase(c, CMD_DONE);
    cmd_set_phase(c, CMD_DONE);
}

static void program_page(Ssd *ssd)
{
    JobFifo wait = IFIFO_EMPTY;
    uint32_t j = job_take(ssd);

    job_place(ssd, j, 0);
    job_wait(ssd, &wait, j);
    job_place(ssd, job_fifo_pop(ssd, &wait), 1);
    job_give(ssd, j);
}

/* It has units and no page: they would be lost. */
static void drop_program(Ssd *ssd)
{
    job_give(ssd, job_take(ssd));
}

static void program_twice(Ssd *ssd)
{
    uint32_t j = job_take(ssd);

    job_place(ssd, j, 0);
    job_place(ssd, j, 1);
}

static void give_program_twice(Ssd *ssd)
{
    uint32_t j = job_take(ssd);

    job_place(ssd, j, 0);
    job_give(ssd, j);
    job_give(ssd, j);
}

static const Step steps[] = {
    {"/transitions/block/erase-open", open_and_close, erase_open},
    {"/transitions/block/use-bad", open_and_close, use_bad},
    {"/transitions/slot/program-clean", write_unit, program_clean},
    {"/transitions/slot/rewrite-programming", write_unit, rewrite_programming},
    {"/transitions/command/forget", run_command, forget_command},
    {"/transitions/command/end-twice", run_command, end_twice},
    {"/transitions/program/drop", program_page, drop_program},
    {"/transitions/program/twice", program_page, program_twice},
    {"/transitions/program/give-twice", program_page, give_program_twice},
};

/* The legal steps pass, in this process; the illegal one aborts, in another. */
static void test_step(const void *data)
{
    const Step *s = data;
    Ssd *ssd = make_drive();

    if (g_test_subprocess()) {
        s->illegal(ssd);
        return;
    }
    s->legal(ssd);
    ssd_destroy(ssd);
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("*assertion failed*legal*");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
        g_test_add_data_func(steps[i].name, &steps[i], test_step);
    }
    return g_test_run();
}
