# SPDX-License-Identifier: GPL-2.0-or-later
"""SQLite survives power cuts when it syncs, and loses rows when it does not."""

from pathlib import Path

from vssd_powercut import Campaigns

PROGRAM = Path(__file__).with_name("sqlite_rows.py")
RUN = "python3 $VSSD_FILES/sqlite_rows.py"


def test_wal(powercut: Campaigns) -> None:
    """Every committed row is there after every cut."""
    powercut(write=f"{RUN} write wal full", check=f"{RUN} check",
             files=[PROGRAM], cuts=4, seconds=6)


def test_without_sync(powercut: Campaigns) -> None:
    """The campaign finds the error."""
    result = powercut.run(write=f"{RUN} write wal off", check=f"{RUN} check",
                          files=[PROGRAM], cuts=4, seconds=6)
    assert result.violations
