# SPDX-License-Identifier: GPL-2.0-or-later
"""A flame graph as SVG: a box for each function, as wide as its share of the
samples, on the function that called it.

B. Gregg, "The Flame Graph", ACM Queue 14(2), 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape

WIDTH, HEIGHT, MARGIN = 1200, 17, 24
LEAST = 0.4         # width of a box that is drawn
CHARACTER = 6.6     # width of one
COLOURS = ("#e6a176", "#8fb8de", "#a3c585", "#d9b3d9", "#f2cc6b", "#b3b3b3",
           "#8fd0c5", "#e89aa5", "#c2a98a", "#9aa5e8", "#cfd98a", "#d7d7d7")


@dataclass
class Box:
    """A function with a certain stack below it."""

    total: int = 0
    above: dict[str, Box] = field(default_factory=dict)
    kind: str = ""


def tree(stacks: Mapping[tuple[tuple[str, str], ...], int]) -> Box:
    """Out of stacks of (function, kind), the outermost first."""
    root = Box()
    for stack, n in stacks.items():
        root.total += n
        box = root
        for name, kind in stack:
            box = box.above.setdefault(name, Box(kind=kind))
            box.total += n
    return root


def depth(box: Box) -> int:
    """Boxes on top of each other."""
    return 1 + max((depth(b) for b in box.above.values()), default=0)


def _text(name: str, width: float) -> str:
    room = int((width - 4) / CHARACTER)
    if room < 3:
        return ""
    return escape(name if len(name) <= room else name[:room - 2] + "..")


def svg(title: str, stacks: Mapping[tuple[tuple[str, str], ...], int],
        unit: Callable[[float], str]) -> str:
    """The picture.  A kind has its colour; unit() says a share in words, shown
    where the pointer is."""
    root = tree(stacks)
    kinds = sorted({kind for stack in stacks for _, kind in stack})
    colour = {k: COLOURS[i % len(COLOURS)] for i, k in enumerate(kinds)}
    height = depth(root) * HEIGHT + 2 * MARGIN + HEIGHT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}"'
           f' height="{height}" font-family="monospace" font-size="11">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           f'<text x="4" y="16" font-size="14">{escape(title)}</text>']
    for i, kind in enumerate(kinds):
        x = 4 + i * (WIDTH - 8) / max(len(kinds), 1)
        out.append(f'<text x="{x:.0f}" y="{MARGIN + 10}">'
                   f'<tspan fill="{colour[kind]}">&#9632;</tspan>'
                   f' {escape(kind)}</text>')
    bottom = height - HEIGHT - 4

    def draw(box: Box, x: float, y: float) -> None:
        for name, above in sorted(box.above.items()):
            width = WIDTH * above.total / root.total
            if width >= LEAST:
                share = above.total / root.total
                out.append(
                    f'<g><title>{escape(name)} ({escape(above.kind)}):'
                    f' {escape(unit(share))}</title><rect x="{x:.1f}" y="{y}"'
                    f' width="{width:.1f}" height="{HEIGHT - 1}"'
                    f' fill="{colour[above.kind]}"/><text x="{x + 2:.1f}"'
                    f' y="{y + 12}">{_text(name, width)}</text></g>')
                draw(above, x, y - HEIGHT)
            x += width

    if root.total:
        draw(root, 0, bottom)
    out.append("</svg>\n")
    return "\n".join(out)
