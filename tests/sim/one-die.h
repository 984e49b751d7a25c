/* SPDX-License-Identifier: GPL-2.0-or-later */
/* one-die.h - options of a small drive with one die, whose times are known. */
#ifndef VSSD_TESTS_SIM_ONE_DIE_H
#define VSSD_TESTS_SIM_ONE_DIE_H

#define ONE_DIE                                                                \
    "nand.channels=1;nand.chips=1;nand.dies=1;nand.planes=1;nand.blocks=24;"   \
    "nand.pages=8;nand.page_size=16KiB;nand.read=50us;nand.program=500us;"     \
    "nand.erase=3ms;nand.command=200ns;nand.bus_mt_s=400;ftl.unit=4KiB;"       \
    "ftl.op_percent=60%;buffer.size=128KiB;buffer.access=500ns;"               \
    "host.firmware=3us;host.link_mb_s=4096;"

#endif
