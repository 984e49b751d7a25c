# SPDX-License-Identifier: GPL-2.0-or-later
"""HTML pages for users: head, style, numbers."""

from __future__ import annotations

from html import escape
from typing import Any

STYLE = """\
body{font:15px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;font-size:13px}
td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left}
.deviates{background:#fbe3d6}.holds{background:#e3f3df}
.unstable{background:#fdf3c7}img,svg{max-width:100%;height:auto}
"""


def head(title: str) -> list[str]:
    """The start of a page, up to its heading."""
    name = escape(title)
    return ["<!DOCTYPE html><meta charset=utf-8>"
            f"<title>{name}</title><style>{STYLE}</style><h1>{name}</h1>"]


def number(value: Any) -> str:
    """A value for people."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)
