# SPDX-License-Identifier: GPL-2.0-or-later
"""Output for the user: progress on stderr, tables on stdout.

On a terminal a stage is a bar; elsewhere it is a line when it starts, one now
and then, and one when it ends.  Bars and tables are rich's; without rich, which
the first stages install, a stage on a terminal is a line that is redrawn.
"""

from __future__ import annotations

import abc
import shutil
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

from . import proc
from .errors import printable

if TYPE_CHECKING:
    from rich.progress import Progress


RATE_S = 2.0     # a stage that is shorter tells neither rate nor rest
quiet = False    # --quiet: errors alone


def say(text: str) -> None:
    """One line to the user that is not a command's result."""
    if not quiet:
        print(f"vssd: {printable(text)}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Seconds for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _rate(per_second: float) -> str:
    if per_second < 1:
        return f"{60 * per_second:.2g}/min"
    for limit, unit in ((1e3, ""), (1e6, " k"), (1e9, " M")):
        if per_second < limit:
            return f"{per_second * 1e3 / limit:.3g}{unit}/s"
    return f"{per_second / 1e9:.3g} G/s"


def pace(done: int, total: int, seconds: float) -> str:
    """Rate and rest of a stage by its progress so far: "12/s, 8 s left"."""
    if done <= 0 or seconds < RATE_S:
        return ""
    rest = f", {duration(seconds / done * (total - done))} left" \
        if done < total else ""
    return _rate(done / seconds) + rest


class Stage:
    """A thing that takes a while; stages may be nested.

    with Stage("building QEMU") as stage:
        stage.step(3, 100, "block/nvme.c")
    """

    REPORT_S = 15.0

    def __init__(self, title: str) -> None:
        self.title = title
        self.begin = time.monotonic()
        self.line: Line = Lines(self)
        self.done = 0
        self.cpu_s = -proc.cpu_s()

    def __enter__(self) -> Stage:
        if quiet:
            self.line = Hidden(self)
        elif sys.stderr.isatty():
            try:
                self.line = Bar(self)
            except ImportError:  # the environment that has rich is being made
                self.line = Redrawn(self)
        self.line.start()
        return self

    def __exit__(self, kind: type[BaseException] | None,
                 value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.line.stop()
        what = "done" if kind is None else "failed"
        self.cpu_s += proc.cpu_s()
        say(f"{self.title}: {what} ({self.seconds():.0f} s,"
            f" {self.cpu_s:.0f} s of CPU time)")

    def step(self, done: int, total: int, detail: str = "") -> None:
        """So much of it is done; rate and rest follow from that."""
        self.done = done
        text = pace(done, total, self.seconds())
        self.line.step(done, max(total, 1), f"{text}  {detail}".strip())

    def add(self, total: int, detail: str = "") -> None:
        """One more of `total` is done."""
        self.step(self.done + 1, total, detail)

    def note(self, text: str) -> None:
        """What it does now."""
        self.line.note(text)

    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self.begin


class Line(abc.ABC):
    """How a stage is shown while it runs."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    @abc.abstractmethod
    def start(self) -> None:
        """The stage begins."""

    @abc.abstractmethod
    def stop(self) -> None:
        """It ends; further output begins on a line of its own."""

    @abc.abstractmethod
    def note(self, text: str) -> None:
        """What it does now."""

    def step(self, done: int, total: int, detail: str) -> None:
        """So much of it is done."""
        self.note(f"{100 * done // total:3d} % [{done}/{total}] {detail}"
                  .rstrip())


class Hidden(Line):
    """With --quiet."""

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def note(self, text: str) -> None:
        pass


class Lines(Line):
    """For a log: a line at the start, and one now and then."""

    def start(self) -> None:
        self.reported = self.stage.begin
        say(f"{self.stage.title} ...")

    def stop(self) -> None:
        pass

    def note(self, text: str) -> None:
        if time.monotonic() - self.reported > Stage.REPORT_S:
            self.reported = time.monotonic()
            say(f"{self.stage.title}: {text} ({self.stage.seconds():.0f} s)")


class Redrawn(Line):
    """For a terminal, by the standard library alone."""

    def start(self) -> None:
        self.text = ""
        self.end = threading.Event()
        self.ticker = threading.Thread(target=self._tick, daemon=True)
        self.ticker.start()

    def stop(self) -> None:
        self.end.set()
        self.ticker.join()
        sys.stderr.write("\r\033[K")

    def note(self, text: str) -> None:
        self.text = text

    def _tick(self) -> None:
        while not self.end.wait(0.2):
            line = (f"vssd: {self.stage.title} {self.stage.seconds():4.0f} s"
                    f"  {self.text}")
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\033[K" + line[:width])
            sys.stderr.flush()


class Bar(Line):
    """For a terminal: rich's bars, one below the other while stages are
    nested or run side by side."""

    lock = threading.Lock()
    shown: Progress | None = None  # of all stages that run

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        from rich import progress
        from rich.console import Console

        with Bar.lock:
            if Bar.shown is None:
                Bar.shown = progress.Progress(
                    progress.TextColumn("vssd: {task.description}",
                                        markup=False),
                    progress.BarColumn(20), progress.TimeElapsedColumn(),
                    progress.TextColumn("{task.fields[text]}", markup=False),
                    console=Console(stderr=True), transient=True,
                    redirect_stdout=False)
            self.progress = Bar.shown
            self.task = self.progress.add_task(stage.title, total=None, text="")

    def start(self) -> None:
        self.progress.start()

    def stop(self) -> None:
        with Bar.lock:
            self.progress.remove_task(self.task)
            if not self.progress.tasks:
                self.progress.stop()
                Bar.shown = None

    def note(self, text: str) -> None:
        self.progress.update(self.task, text=text)

    def step(self, done: int, total: int, detail: str) -> None:
        self.progress.update(self.task, completed=done, total=total,
                             text=f"[{done}/{total}] {detail}".rstrip())


def table(title: str, head: list[str], rows: list[list[str]]) -> None:
    """A table on stdout; the first column is text, the others are numbers.
    Cells are text as it is: no markup, and no control characters."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    out = Table(title=title, title_justify="left")
    for i, name in enumerate(head):
        out.add_column(name, justify="left" if i == 0 else "right",
                       overflow="fold")
    for row in rows:
        out.add_row(*(Text(printable(cell)) for cell in row))
    Console(width=None if sys.stdout.isatty() else 110).print(out)
