# SPDX-License-Identifier: GPL-2.0-or-later
"""Power cuts that a guest asks for: the program POWER_CUT_CMD of our tests for
blktests and xfstests (docs/lab/suites.md).

The program writes a line to the console, and waits until Linux has removed the
drive from its slot.  The host sees the line and cuts the power by QMP; the
drive is back in the slot a second later (docs/power.md).
"""

from __future__ import annotations

import asyncio

from vssd.guest.guest import Guest

PROGRAM = "/usr/local/bin/power-cut"
LINE = b"vssd: cut the power of the drive"
# Installs the program.  The guest's kernel removes a drive that lost its power
# within seconds; the limit is for a busy host.
INSTALL = f"""
cat > {PROGRAM} <<'END'
#!/bin/sh
# power-cut DEVICE
name=$(basename "$(readlink -f "$1")")
echo '{LINE.decode()}' > /dev/console
for i in $(seq 1200); do
    [ -e "/sys/class/block/$name" ] || exit 0
    sleep 0.1
done
echo "power-cut: $name is still there after two minutes" >&2
exit 1
END
chmod +x {PROGRAM}
"""


class Watch:
    """Counts the program's lines in the console's output, however it is cut
    into pieces."""

    def __init__(self) -> None:
        self.tail = b""

    def seen(self, data: bytes) -> int:
        """New lines in the next piece."""
        text = self.tail + data
        found = text.count(LINE)
        # A line that has been counted is not kept.
        rest = text[text.rindex(LINE) + len(LINE):] if found else text
        self.tail = rest[-len(LINE) + 1:]
        return found


def serve(guest: Guest, drive: str) -> None:
    """Cut the power of the device of this id whenever the guest's program asks
    for it, and install the program; without a device there is none."""
    if not drive:
        return
    watch, machine = Watch(), guest.live
    asked: set[asyncio.Task[None]] = set()

    async def cut() -> None:
        await machine.qmp.execute("qom-set", {
            "path": f"/machine/peripheral/{drive}", "property": "power-cut",
            "value": "running"})

    def heard(data: bytes) -> None:
        for _ in range(watch.seen(data)):
            task = asyncio.get_running_loop().create_task(cut())
            asked.add(task)
            task.add_done_callback(asked.discard)

    machine.on_console = heard
    guest.run(INSTALL)
