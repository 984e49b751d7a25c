# SPDX-License-Identifier: GPL-2.0-or-later
"""What the user sees: progress on stderr, tables on stdout.

On a terminal a stage is one line that is redrawn; elsewhere it is a line when
it starts, one now and then, and one when it ends.  Uses nothing outside the
standard library, because the first stages install the rest.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from types import TracebackType


def say(text: str) -> None:
    """One line to the user that is not a command's result."""
    print(f"vssd: {text}", file=sys.stderr, flush=True)


class Stage:
    """A thing that takes a while.

    with Stage("building QEMU") as stage:
        stage.step(3, 100, "block/nvme.c")
    """

    REPORT_S = 15.0

    def __init__(self, title: str) -> None:
        self.title = title
        self.tty = sys.stderr.isatty()
        self.begin = time.monotonic()
        self.reported = self.begin
        self.text = ""
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.ticker: threading.Thread | None = None

    def __enter__(self) -> Stage:
        if self.tty:
            self.ticker = threading.Thread(target=self._tick, daemon=True)
            self.ticker.start()
        else:
            say(f"{self.title} ...")
        return self

    def __exit__(self, kind: type[BaseException] | None,
                 value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.stop.set()
        if self.ticker:
            self.ticker.join()
            sys.stderr.write("\r\033[K")
        what = "done" if kind is None else "failed"
        say(f"{self.title}: {what} ({self._seconds():.0f} s)")

    def step(self, done: int, total: int, detail: str = "") -> None:
        """So much of it is done."""
        percent = 100 * done // max(total, 1)
        self.note(f"{percent:3d} % [{done}/{total}] {detail}".rstrip())

    def note(self, text: str) -> None:
        """What it does now."""
        with self.lock:
            self.text = text
        if not self.tty and time.monotonic() - self.reported > self.REPORT_S:
            self.reported = time.monotonic()
            say(f"{self.title}: {text} ({self._seconds():.0f} s)")

    def _seconds(self) -> float:
        return time.monotonic() - self.begin

    def _tick(self) -> None:
        while not self.stop.wait(0.2):
            with self.lock:
                line = f"vssd: {self.title} {self._seconds():4.0f} s  {self.text}"
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\033[K" + line[:width])
            sys.stderr.flush()


def table(title: str, head: list[str], rows: list[list[str]]) -> None:
    """A table on stdout; the first column is text, the others are numbers."""
    from rich.console import Console
    from rich.table import Table

    out = Table(title=title, title_justify="left")
    for i, name in enumerate(head):
        out.add_column(name, justify="left" if i == 0 else "right",
                       overflow="fold")
    for row in rows:
        out.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 110).print(out)
