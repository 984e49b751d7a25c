# SPDX-License-Identifier: GPL-2.0-or-later
"""The page that collects the panels of a run."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from .figure import Panel, distance, verdict

STYLE = """\
body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;font-size:13px}
td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left}
.no{background:#fbe3d6}.yes{background:#e3f3df}img{max-width:100%}
"""


def number(value: Any) -> str:
    """A value of a row for people."""
    if value is None:
        return "-"
    if isinstance(value, (int, float)):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def judgement(holds: bool | None) -> str:
    """Of a row, in a word."""
    return {True: "holds", False: "deviates", None: "-"}[holds]


def _rows(panel: Panel) -> list[str]:
    out = ["<table><tr><th>point<th>ours<th>paper<th>holds<th>why</tr>"]
    for r in panel.rows:
        mark = {True: "yes", False: "no", None: ""}[r["holds"]]
        much = distance(r)
        word = judgement(r["holds"]) + (f" ({much})" if much
                                        and r["holds"] is False else "")
        out.append(f'<tr class="{mark}"><td>{escape(str(r["point"]))}'
                   f"<td>{number(r['ours'])}<td>{escape(str(r['paper']))}"
                   f"<td>{word}<td>{escape(r['why'])}</tr>")
    return out + ["</table>"]


def _panel(panel: Panel, picture: str | None) -> list[str]:
    out = [f"<h3>{escape(panel.title)}</h3>",
           f"<p><b>{escape(verdict(panel))}</b></p>"]
    if picture:
        out.append(f'<p><img src="{escape(picture)}" alt='
                   f'"{escape(panel.title)}"></p>')
    out += _rows(panel)
    if panel.inputs:
        out.append("<p>Inputs:</p><ul>" + "".join(
            f"<li>{escape(i)}" for i in panel.inputs) + "</ul>")
    return out


def write(path: Path, figures: list[tuple[str, list[tuple[Panel, str | None]]]],
          how: str) -> None:
    """The page: figures with their titles, panels, and pictures."""
    out = ["<!DOCTYPE html><meta charset=utf-8><title>vssd figures</title>",
           f"<style>{STYLE}</style><h1>Published figures on vssd</h1>",
           f"<p>Made by <code>{escape(how)}</code>.  Every number of ours is"
           " a result of that run, of vssd-sim or of a drive in a guest;"
           " yellow is what the paper gives.</p>"]
    for title, panels in figures:
        out.append(f"<h2>{escape(title)}</h2>")
        for panel, picture in panels:
            out += _panel(panel, picture)
    path.write_text("\n".join(out) + "\n", encoding="utf-8")
