# SPDX-License-Identifier: GPL-2.0-or-later
"""Published figures of real drives beside those of their profiles.

Knows the file profiles/published.toml (docs/lab/validation.md describes its
drives), which run of vssd-sim gives a figure, and the page that shows all;
does not choose parameters (calibrate.py does).
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import tomlfile
from ..errors import UserError
from ..paths import PROJECT
from .run import Point, Result

PUBLISHED = PROJECT / "profiles/published.toml"
PAGE = PROJECT / "docs/lab/validation.md"
DOC = "docs/lab/validation.md"

# What a figure may be: how it is read from a result, its unit, its digits.
MEASURES = {
    "iops": ("IOPS", 0),
    "mb_s": ("MB/s", 0),
    "mean_us": ("us, mean", 1),
    "p50_us": ("us, p50", 1),
    "p99_us": ("us, p99", 1),
    "p999_us": ("us, p99.9", 1),
    "read.mean_us": ("us, mean of reads", 1),
    "read.p99_us": ("us, p99 of reads", 1),
}
USES = ("fitted", "predicted", "not-modelled")
DRIVE_KEYS = ("name", "profile", "set", "about", "free", "figures")
FIGURE_KEYS = ("run", "measure", "value", "source", "use", "why")


@dataclass(frozen=True)
class Figure:
    """One published number."""

    drive: str
    quantity: str
    measure: str
    published: float
    source: str
    use: str
    why: str  # of not-modelled: what the model lacks
    point: Point

    def row(self, ours: float | None) -> dict[str, Any]:
        """The row of ./vssd validate --json."""
        error = None if ours is None else ours / self.published - 1
        return {"drive": self.drive, "quantity": self.quantity,
                "unit": MEASURES[self.measure][0],
                "published": self.published, "ours": ours, "error": error,
                "fitted": self.use == "fitted",
                "modelled": self.use != "not-modelled", "why": self.why,
                "source": self.source}


@dataclass(frozen=True)
class Drive:
    """A drive, its profile, and the figures about it."""

    name: str
    profile: Path
    sets: tuple[str, ...]
    about: str
    free: str  # of ./vssd fit --published: KEY=LOW..HIGH,...
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Published:
    """The file, read."""

    drives: list[Drive]
    sources: dict[str, str]


# ---- the file -------------------------------------------------------------


def _bad(name: str, text: str) -> UserError:
    return UserError(f"{name}: {text} ({DOC})")


def _texts(name: str, where: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or \
            not all(isinstance(v, str) for v in value.values()):
        raise _bad(name, f"{where}: allowed a table of name = text")
    return value


def _keys(name: str, where: str, table: Any, allowed: tuple[str, ...],
          needed: tuple[str, ...]) -> None:
    if not isinstance(table, dict):
        raise _bad(name, f"{where}: allowed a table")
    for key in table:
        if key not in allowed:
            raise _bad(name, f"{where}.{key}: allowed " + ", ".join(allowed))
    for key in needed:
        if key not in table:
            raise _bad(name, f"{where}: {key} is missing")


def _runs(name: str, data: dict[str, Any]) -> dict[str, tuple[str, Point]]:
    """By name: the quantity in words, and the run without its drive."""
    out = {}
    for key, run in data.get("runs", {}).items():
        _keys(name, f"runs.{key}", run,
              ("what", "fill", "workload", "warm_up"),
              ("what", "fill", "workload"))
        texts = _texts(name, f"runs.{key}", run)
        out[key] = (texts["what"],
                    Point(Path(), texts["workload"],
                          args=("--fill", texts["fill"], "--warm-up",
                                texts.get("warm_up", "0"))))
    return out


def _figure(name: str, drive: str, where: str, table: Any, profile: Path,
            sets: tuple[str, ...], runs: dict[str, tuple[str, Point]],
            sources: dict[str, str]) -> Figure:
    _keys(name, where, table, FIGURE_KEYS,
          ("run", "measure", "value", "source", "use"))
    for key, allowed in (("run", runs), ("measure", MEASURES),
                         ("source", sources), ("use", USES)):
        if table[key] not in allowed:
            raise _bad(name, f"{where}.{key}={table[key]}: allowed "
                       + ", ".join(allowed))
    value = table["value"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) \
            or value <= 0:
        raise _bad(name, f"{where}.value={value}: allowed a number above 0")
    why = table.get("why", "")
    if (table["use"] == "not-modelled") != bool(why):
        raise _bad(name, f"{where}.why: given with use = \"not-modelled\", and"
                   " only with it")
    what, run = runs[table["run"]]
    return Figure(drive, what, table["measure"], float(value),
                  table["source"], table["use"], why,
                  Point(profile, run.workload, None, sets, run.args))


def read(path: Path = PUBLISHED) -> Published:
    """The drives of the file; UserError names the place that is wrong."""
    name, data = path.name, tomlfile.load(path, DOC)
    _keys(name, "file", data, ("sources", "runs", "drive", "short"),
          ("sources", "runs", "drive"))
    sources = _texts(name, "sources", data["sources"])
    runs = _runs(name, data)
    drives = []
    for table in data["drive"]:
        _keys(name, "drive", table, DRIVE_KEYS,
              ("name", "profile", "about", "figures"))
        where = f"drive {table['name']!r}"
        profile = path.parent / f"{table['profile']}.ini"
        if not profile.is_file():
            raise _bad(name, f"{where}: no profile {profile.name}")
        sets = tuple(table.get("set", []))
        figures = tuple(
            _figure(name, table["name"], f"{where}: figures[{i}]", one,
                    profile, sets, runs, sources)
            for i, one in enumerate(table["figures"]))
        drives.append(Drive(table["name"], profile, sets, table["about"],
                            table.get("free", ""), figures))
    return Published(drives, sources)


def chosen(published: Published, words: list[str]) -> list[Drive]:
    """The drives that have one of the words in their name or profile; all of
    them without words."""
    for word in words:
        if not any(_named(d, word) for d in published.drives):
            raise UserError(f"no drive {word!r}: there are " + ", ".join(
                d.name for d in published.drives))
    return [d for d in published.drives
            if not words or any(_named(d, w) for w in words)]


def _named(drive: Drive, word: str) -> bool:
    return word.lower() in (drive.name + " " + drive.profile.stem).lower()


# ---- figures of a run -----------------------------------------------------


def measured(measure: str, result: Result) -> float:
    """A figure of a result; "read." or "write." before a latency: of those
    requests alone."""
    if measure == "iops":
        return float(result["iops"])
    if measure == "mb_s":
        return float(sum(result["bytes_per_s"].values())) / 1e6
    side, _, name = measure.removesuffix("_us").rpartition(".")
    return float(result["latency_ns"][side or "all"][name]) / 1e3


def points(drives: list[Drive]) -> list[Point]:
    """The runs that they need, each once."""
    return list(dict.fromkeys(
        f.point for d in drives for f in d.figures
        if f.use != "not-modelled"))


def rows(drives: list[Drive], results: dict[Point, Result]) \
        -> list[dict[str, Any]]:
    """A row for each figure."""
    return [f.row(None if f.use == "not-modelled"
                  else measured(f.measure, results[f.point]))
            for d in drives for f in d.figures]


def compared(table: list[dict[str, Any]]) -> int:
    """How many figures have one of ours beside them."""
    return sum(r["error"] is not None for r in table)


def mean_error(table: list[dict[str, Any]], fitted: bool) -> float | None:
    """Mean absolute error of the fitted, or of the predicted figures."""
    errors = [abs(r["error"]) for r in table
              if r["error"] is not None and r["fitted"] == fitted]
    return statistics.fmean(errors) if errors else None


# ---- the page ---------------------------------------------------------------


def shown(row: dict[str, Any], key: str) -> str:
    """A number of a row for people."""
    value = row[key]
    if value is None:
        return "-"
    digits = 0 if value >= 1000 else 1
    return f"{value:,.{digits}f}"


def state(row: dict[str, Any]) -> str:
    """How the figure was used."""
    if not row["modelled"]:
        return "not modelled: " + str(row["why"])
    return "fitted" if row["fitted"] else "predicted"


def percent(value: float | None, sign: str = "+") -> str:
    """An error for people."""
    return "-" if value is None else f"{100 * value:{sign}.1f} %"


def _summary(drives: list[Drive], table: list[dict[str, Any]]) -> list[str]:
    out = ["| drive | profile | fitted figures | mean error |"
           " predicted figures | mean error |",
           "|---|---|---|---|---|---|"]

    def line(name: str, profile: str, some: list[dict[str, Any]]) -> str:
        cells = [name, profile]
        for fitted in (True, False):
            n = sum(r["modelled"] and r["fitted"] == fitted for r in some)
            cells += [str(n), percent(mean_error(some, fitted), "")]
        return "| " + " | ".join(cells) + " |"

    for d in drives:
        out.append(line(d.name, f"`{d.profile.stem}`",
                        [r for r in table if r["drive"] == d.name]))
    means = [percent(statistics.fmean(some), "") if some else "-"
             for some in _means(drives, table)]
    return [*out, line("all figures", "", table),
            f"| mean of the drives |  |  | {means[0]} |  | {means[1]} |"]


def _means(drives: list[Drive], table: list[dict[str, Any]]) \
        -> list[list[float]]:
    """The mean errors of drives: of their fitted, of their predicted
    figures."""
    return [[e for d in drives if (e := mean_error(
        [r for r in table if r["drive"] == d.name], fitted)) is not None]
        for fitted in (True, False)]


def page(published: Published, table: list[dict[str, Any]]) -> str:
    """docs/lab/validation.md."""
    out = HEAD.splitlines() + ["", "## Summary", ""]
    out += _summary(published.drives, table)
    for d in published.drives:
        out += ["", f"## {d.name}", "", *_wrapped(d.about)]
        if d.sets:
            out += ["", *_wrapped(f"Profile `{d.profile.stem}` with "
                                  + ", ".join(f"`{s}`" for s in d.sets)
                                  + ".")]
        else:
            out += ["", f"Profile `{d.profile.stem}`."]
        if d.free:
            out += ["", *_wrapped("Fitted parameters and their bounds: "
                                  + ", ".join(f"`{f}`" for f in
                                              d.free.split(",")) + ".")]
        out += ["", "| quantity | unit | published | ours | error | use |"
                " source |", "|---|---|---|---|---|---|---|"]
        for r in table:
            if r["drive"] == d.name:
                out.append("| " + " | ".join([
                    r["quantity"], r["unit"], shown(r, "published"),
                    shown(r, "ours"), percent(r["error"]), state(r),
                    r["source"]]) + " |")
    out += ["", "## Sources", "", "| name | source |", "|---|---|"]
    out += [f"| {k} | {v} |" for k, v in published.sources.items()]
    return "\n".join(out) + "\n"


def _wrapped(text: str, width: int = 100) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]


def of_page(text: str) -> list[tuple[str, ...]]:
    """What the page takes from the file: drive, quantity, unit, published
    number, use and source of each row; the rest are results."""
    found, drive = [], ""
    for line in text.splitlines():
        if line.startswith("## "):
            drive = line[3:]
        cells = [c.strip() for c in line.strip("|").split("|")]
        if len(cells) == 7 and cells[0] not in ("quantity", "---"):
            found.append((drive, *cells[:3], *cells[5:]))
    return found


HEAD = """\
# Validation

**Readers:** users who ask how far to trust a profile. **Afterwards you can** see each published
number beside ours, and repeat the comparison.

`./vssd validate --write-doc` makes this page from `profiles/published.toml`. That file lists
drives, their published numbers, the source of each, and the run that gives our number.

```sh
./vssd validate                 # all drives; minutes on two cores
./vssd validate p4500 --json    # origin, and a row for each number
./vssd fit --published "870 QVO 4 TB" --out mine.ini   # fit the profile again
```

| use | meaning |
|---|---|
| fitted | parameters of the profile were chosen to reproduce this number |
| predicted | the number had no influence on the profile |
| not modelled | the model or its run lacks the cause, or the number is an input; not in means |

The error is ours / published - 1. Means are of absolute errors; the last line of the summary counts
each drive once, however many figures there are about it. A drive of another capacity in the same
family differs from its brother only in the options named under its heading. Published numbers are
mostly "up to" figures of vendors. Where a source gives no queue depth, the run's is an assumption:
128 for random reads, 256 for random writes, 128 KiB x 128 for sequential requests.
[fitting.md](../fitting.md) describes the fit, [profiles.md](../profiles.md) the profiles."""
