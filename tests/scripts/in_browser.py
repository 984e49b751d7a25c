# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Chromium for the tests of pages; import it after the packages and
libraries of the group "browser" are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

SHAPES = [(360, "light"), (768, "dark"), (2560, "light")]
MOST_STOPS = 120
# What PATH says of the element with the focus, and is its outline drawn?
FOCUS = """() => {
    const e = document.activeElement, style = getComputedStyle(e);
    return e === document.body ? null : [PATH,
        style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0]
}"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Without its sandbox, which root has not."""
    with sync_playwright() as kit:
        one = kit.chromium.launch(executable_path="/usr/bin/chromium",
                                  args=["--no-sandbox"])
        yield one
        one.close()


def shaped(page: Page, width: int, scheme: Literal["light", "dark"]) -> None:
    """Give the window this width and scheme: the page has the scheme, nothing in it
    is wider, and each section has its place."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    # Bokeh follows a frame later.
    page.wait_for_function("w => document.documentElement.scrollWidth <= w", arg=width)
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", back)[:3])) > 382) is (scheme == "light")
    for over, high in page.locator("section:visible").evaluate_all(
            "all => all.map(e => [e.scrollWidth - e.clientWidth, e.clientHeight])"):
        assert over <= 0 and high > 40


def stops(page: Page, of: str) -> list[str]:
    """From the element with the focus on, by Tab: what the JavaScript `of` says of
    each element e.  Each can be seen to have the focus."""
    seen: list[str] = []
    while (at := page.evaluate(FOCUS.replace("PATH", of))) is not None:
        assert at[1], f"{at[0]} does not show its focus"
        seen.append(at[0])
        assert len(seen) < MOST_STOPS
        page.keyboard.press("Tab")
    return seen
