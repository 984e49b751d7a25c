/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * play.c - libvssd's example: a drive, single commands, an array of them,
 * statistics, a saved state.
 *
 *     cc play.c $(pkg-config --cflags --libs libvssd) -o play
 *     ./play pm9a3
 */
#include <stdio.h>
#include <stdlib.h>
#include <vssd.h>

#define N     10000
#define DEPTH 32

static void end_with(const char *what, const char *message)
{
    fprintf(stderr, "play: %s: %s\n", what, message);
    exit(EXIT_FAILURE);
}

static VssdDrive *open_drive(const VssdSetup *setup)
{
    char message[256];
    VssdDrive *drive;

    if (vssd_create(setup, &drive, message, sizeof(message)) < 0) {
        end_with("vssd_create", message);
    }
    return drive;
}

/* One write and its latency, by submission and completion. */
static void one_write(VssdDrive *drive)
{
    VssdRequest write = {.op = VSSD_WRITE, .lba = 0, .nblocks = 8};
    VssdCompletion done;

    if (vssd_submit(drive, vssd_now(drive), &write, 1) < 0) {
        end_with("vssd_submit", vssd_message(drive));
    }
    while (vssd_advance(drive, vssd_next_event(drive), &done, 1,
                        sizeof(done)) == 0) {
    }
    printf("a write of 4 KiB took %llu ns\n",
           (unsigned long long)(done.complete_ns - done.submit_ns));
    for (unsigned i = 0; i < VSSD_N_COSTS; i++) {
        if (done.cost_ns[i] > 0) {
            printf("  %-9s %llu\n", vssd_cost_name(i),
                   (unsigned long long)done.cost_ns[i]);
        }
    }
}

/* Random reads, all at once. */
static void many_reads(VssdDrive *drive)
{
    static VssdRequest read[N];
    static VssdCompletion done[N];
    VssdInfo info = {.size = sizeof(info)};
    uint64_t sum_ns = 0;
    uint64_t x = 1;

    vssd_get_info(drive, &info);
    for (int i = 0; i < N; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
        read[i] = (VssdRequest){
            .op = VSSD_READ,
            .lba = (x >> 11) % (info.nblocks / 8) * 8,
            .nblocks = 8,
        };
    }
    if (vssd_play(drive, read, sizeof(*read), N, DEPTH, done, sizeof(*done)) <
        N) {
        end_with("vssd_play", vssd_message(drive));
    }
    for (int i = 0; i < N; i++) {
        sum_ns += done[i].complete_ns - done[i].submit_ns;
    }
    printf("%d random reads took %llu ns on average\n", N,
           (unsigned long long)(sum_ns / N));
}

int main(int argc, char **argv)
{
    uint64_t seed = 7;
    VssdSetup setup = {
        .size = sizeof(setup),
        .profile = argc > 1 ? argv[1] : "pm9a3",
        .options = "ftl.gc=cost-benefit",
        .seed = &seed,
    };
    VssdDrive *drive = open_drive(&setup);
    VssdInfo info = {.size = sizeof(info)};
    VssdDrive *again;
    char message[256];
    char *json;
    void *state = NULL;
    size_t n = 0;

    vssd_get_info(drive, &info);
    vssd_preload(drive, 0, info.nblocks);
    one_write(drive);
    many_reads(drive);
    if (vssd_rest(drive, 1000000000) < 0 || vssd_save(drive, &state, &n) < 0) {
        end_with("vssd_save", vssd_message(drive));
    }
    if (vssd_load(&setup, state, n, &again, message, sizeof(message)) < 0) {
        end_with("vssd_load", message);
    }
    json = vssd_stats_json(again);
    printf("statistics of the loaded drive: %.60s...\n", json);
    vssd_free(json);
    vssd_free(state);
    vssd_destroy(again);
    vssd_destroy(drive);
    return EXIT_SUCCESS;
}
