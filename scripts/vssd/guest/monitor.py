# SPDX-License-Identifier: GPL-2.0-or-later
"""A running guest's monitor, for commands that change something there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import rundir
from ..errors import UserError


@contextlib.contextmanager
def opened(run: rundir.Run, path: Path | None = None,
           remedy: str = "") -> Iterator[Any]:
    """The monitor of the guest's drives, or the one at `path`: it has cmd().
    UserError, with the remedy, if it does not answer or refuses a command."""
    from qemu.qmp import QMPError
    from qemu.qmp.legacy import QEMUMonitorProtocol

    qmp = QEMUMonitorProtocol(str(path or run.monitor))
    try:
        qmp.connect()
        yield qmp
    except (OSError, QMPError) as e:
        raise UserError(f"the guest {run.name} does not answer: {e}{remedy}") \
            from e
    finally:
        with contextlib.suppress(EOFError, OSError, QMPError):
            qmp.close()
