# SPDX-License-Identifier: GPL-2.0-or-later
"""The page that collects the panels of figures, and a page of their runs."""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from vssd.origin import version_text
from vssd.pages import head, number

from .figure import CHOSEN, Panel, distance
from .judge import (
    DEVIATES,
    UNSTABLE,
    Row,
    settings,
    total_text,
    totals,
    where_holds,
)

LEGEND = (
    "A <b>statement</b> is the paper's, with the paper's range; other rows are"
    " shown and never counted.  It <b>holds</b> if the whole 95 % confidence"
    " interval of our mean over the seeds is in that range, <b>deviates</b> if"
    " the whole interval is outside, and is <b>unstable</b> if an end of the"
    " range is inside the interval.  A cell of a table is met by what is as"
    " good or better; \"better\" counts those beyond the cell's band.  In"
    " pictures, yellow is the paper's range,"
    " and crosses and bars named \"paper\" are its points, crosses with the"
    " error of reading them.  Each number"
    " under <b>runs</b> links the command line and the result of a run.")


@dataclass
class Figure:
    """A figure of the page."""

    name: str
    title: str
    seeds: int
    panels: list[tuple[Panel, str | None]] = field(default_factory=list)
    runs: list[tuple[str, Any, list[str], Any]] = field(
        default_factory=list)  # title, label, command line, result
    short: bool = False  # --quick: its totals are not claims

    def rows(self) -> list[Row]:
        """Of all panels."""
        return [r for panel, _ in self.panels for r in panel.rows]

    def total(self) -> str:
        """Its totals in a line."""
        noun = "rows of the short form" if self.short else "statements"
        return (f"{self.name}: {total_text(self.rows(), noun)};"
                f" seeds: {self.seeds}")

    def page(self) -> str:
        """The file name of the page of its runs."""
        return f"runs-{self.name}.html"


def measured(row: Row) -> str:
    """The mean of a row, and its interval; or what it says of itself."""
    if row.get("seen"):
        return str(escape(row["seen"]))
    text = number(row["ours"])
    if row["interval"] and len(row["samples"]) > 1:
        low, high = (number(x) for x in row["interval"])
        text += f" ({low} to {high})"
    return text


def judgement(row: Row) -> str:
    """Of a row, in a word."""
    if row["kind"] == "shown":
        return "shown"
    return str(row["verdict"] or "-")


def _reasons(r: Row) -> str:
    parts = [escape(r["why"])] if r["why"] else []
    if "hypothesis" in r:
        h = r["hypothesis"]
        word = "confirmed" if h["confirmed"] else "not confirmed"
        parts.append(f"<b>Hypothesis, {word}:</b> {escape(h['text'])}. Run:"
                     f" <code>{escape(h['run'])}</code>, {number(h['ours'])}"
                     f" (expected {escape(h['expected'])})")
    parts += [escape(where_holds(r, name)) for name in r.get("sweeps", {})]
    return "<br>".join(parts)


def _links(r: Row, figure: Figure, numbers: dict[str, int]) -> str:
    found = [numbers[repr(label)] for label in r["runs"]
             if repr(label) in numbers]
    return " ".join(f'<a href="{figure.page()}#run-{n}">{n}</a>'
                    for n in found)


def _claims(rows: list[Row], figure: Figure, numbers: dict[str, int]) \
        -> list[str]:
    if not rows:
        return []
    out = ["<table><tr><th>statement<th>ours<th>paper<th>source<th>verdict"
           "<th>why, and over what range<th>runs</tr>"]
    for r in rows:
        much = "" if r.get("seen") else distance(r)
        word = judgement(r) + (f" ({much})" if much and r["verdict"]
                               in (DEVIATES, UNSTABLE) else "")
        out.append(f'<tr class="{r["verdict"] or ""}">'
                   f'<td>{escape(str(r["point"]))}<td>{measured(r)}'
                   f'<td>{escape(str(r["paper"]))}<td>{escape(r["source"])}'
                   f"<td>{word}<td>{_reasons(r)}"
                   f"<td>{_links(r, figure, numbers)}</tr>")
    return out + ["</table>"]


def _beside(rows: list[Row]) -> list[str]:
    if not rows:
        return []
    out = ["<p>Not the paper's, not counted:</p>"
           "<table><tr><th>row<th>ours<th>paper<th>what it is</tr>"]
    out += [f'<tr><td>{escape(str(r["point"]))}<td>{measured(r)}'
            f'<td>{escape(str(r["paper"]))}<td>{escape(r["why"])}</tr>'
            for r in rows]
    return out + ["</table>"]


def _sweeps(rows: list[Row]) -> list[str]:
    """The open parameters: a table for each, a row for each claim."""
    names = list(dict.fromkeys(n for r in rows for n in r.get("sweeps", {})))
    out = []
    for name in names:
        some = [r for r in rows if name in r.get("sweeps", {})]
        values = [v["value"] + (" (used)" if v["used"] else "")
                  for v in some[0]["sweeps"][name]]
        out.append(f"<p>Open parameter: {escape(name)}</p><table><tr>"
                   "<th>statement" + "".join(f"<th>{escape(v)}"
                                             for v in values) + "</tr>")
        for r in some:
            cells = "".join(f'<td class="{v["verdict"] or ""}">'
                            f"{number(v['ours'])}"
                            for v in r["sweeps"][name])
            out.append(f'<tr><td>{escape(str(r["point"]))}{cells}</tr>')
        out.append("</table>")
    return out


def _panel(panel: Panel, picture: str | None, figure: Figure,
           numbers: dict[str, int]) -> list[str]:
    claims = any(r["verdict"] for r in panel.rows)
    said = total_text(panel.rows) if claims else "nothing to judge"
    out = [f"<h3>{escape(panel.title)}</h3>", f"<p><b>{escape(said)}</b></p>"]
    if picture:
        out.append(f'<p><img src="{escape(picture)}" alt='
                   f'"{escape(panel.title)}"></p>')
    out += [f"<p>{escape(i[0].upper() + i[1:])}.</p>" for i in panel.inputs
            if i.startswith(CHOSEN)]
    out += _claims([r for r in panel.rows if r["kind"] == "claim"], figure,
                   numbers)
    out += _sweeps(panel.rows)
    out += _beside([r for r in panel.rows if r["kind"] == "shown"])
    if panel.inputs:
        out.append("<details><summary>Inputs and settings</summary><ul>"
                   + "".join(f"<li>{escape(i)}" for i in panel.inputs
                             if not i.startswith(CHOSEN))
                   + "</ul></details>")
    return out


def _runs(figure: Figure) -> str:
    """The page of a figure's runs: command line and result of each."""
    out = head(f"Runs of vssd-sim for {figure.name}")
    for i, (title, label, command, result) in enumerate(figure.runs):
        out.append(f'<h3 id="run-{i}">{i}: {escape(title)},'
                   f" {escape(str(label))}</h3>"
                   f"<pre>{escape(shlex.join(command))}</pre><details>"
                   f"<summary>result</summary><pre>"
                   f"{escape(json.dumps(result, indent=1))}</pre></details>")
    return "\n".join(out) + "\n"


def _contents(figures: list[Figure]) -> list[str]:
    """The totals of each, with links."""
    out = ["<table><tr><th>figure<th>statements<th>hold<th>better<th>deviate"
           "<th>unstable<th>not judged<th>seeds<th></tr>"]
    for f in figures:
        runs = f'<a href="{f.page()}">runs</a>' if f.runs else ""
        for setting in settings(f.rows()):
            t = totals(f.rows(), setting)
            cells = "".join(f"<td>{t[n]}" for n in (
                "claims", "holds", "better", "deviates", "unstable",
                "not judged"))
            where = f", {escape(setting)}" if setting else ""
            short = ", short form: not claims" if f.short else ""
            out.append(f'<tr><td><a href="#{f.name}">{escape(f.title)}</a>'
                       f"{where}{short}{cells}<td>{f.seeds}<td>{runs}</tr>")
    return [*out, "</table>"]


def write(folder: Path, figures: list[Figure], how: str) -> None:
    """index.html, and a page of the runs of each figure."""
    out = head("Published figures on vssd")
    made = f"{version_text()}, {time.strftime('%Y-%m-%d', time.gmtime())}"
    out.append(f"<p>Made by <code>{escape(how)}</code>, {escape(made)}."
               "  Every number of ours"
               " is a result of that run, of vssd-sim or of a drive in a"
               f" guest.</p><p>{LEGEND}</p>")
    out += _contents(figures)
    for figure in figures:
        numbers = {repr(label): i
                   for i, (_, label, _, _) in enumerate(figure.runs)}
        link = f' (<a href="{figure.page()}">runs</a>)' if figure.runs else ""
        out.append(f'<h2 id="{figure.name}">{escape(figure.title)}{link}</h2>'
                   f"<p>{escape(figure.total())}</p>")
        for panel, picture in figure.panels:
            out += _panel(panel, picture, figure, numbers)
        if figure.runs:
            (folder / figure.page()).write_text(_runs(figure),
                                                encoding="utf-8")
    (folder / "index.html").write_text("\n".join(out) + "\n",
                                       encoding="utf-8")
