# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of ./vssd watch in Debian's Chromium: numbers, keys, widths, colours,
ends.  The live files are of live_writer.py, so that each number is known."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from long_form import of_part

from live_writer import COSTS, EDGES, FakeDrive
from started import ENV
from vssd.build import packages, venv
from vssd.paths import PROJECT
from vssd.watch import control, glossary

packages.ensure(packages.BROWSER)
for group in ("watch", "browser"):
    venv.extra(group)

from playwright.sync_api import Browser, Page, expect  # noqa: E402

import in_browser  # noqa: E402

expect.set_options(timeout=20_000)
pytestmark = of_part("scripts/vssd/watch/", "scripts/vssd/cli/watch.py",
                     "scripts/requirements-browser.txt", "scripts/requirements-watch.txt",
                     "docs/glossary.md", "ftl/inspect/", "sim/live.c", "sim/control.c")
PICTURES = PROJECT / "docs/watch"
CSS = PROJECT / "scripts/vssd/watch/page/watch.css"


class Server:
    """./vssd watch of a file."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "vssd", "watch", "--no-browser", str(path)],
            env=ENV, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        assert self.process.stdout
        self.url = self.process.stdout.readline().strip()

    def close(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.communicate()


class Watched(Server):
    """The same, of a drive that has written a picture."""

    def __init__(self, path: Path, **more: Any) -> None:
        self.drive = FakeDrive(path, **more)
        self.drive.write(1)
        super().__init__(path)

    def close(self) -> None:
        """End both."""
        super().close()
        self.drive.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests."""
    with in_browser.chromium() as one:
        yield one


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """For the tests that do not end it."""
    one = Watched(tmp_path_factory.mktemp("live") / "live.vssd")
    yield one
    one.close()


Open = Callable[[Watched], Page]


@pytest.fixture(scope="module")
def show(browser: Browser) -> Iterator[Open]:
    """Open a page.  At the end all pages have said nothing wrong on their consoles,
    and asked no other server."""
    wrong: list[str] = []
    contexts = []

    def opened(it: Watched) -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda e: wrong.append(str(e)))
        page.on("console", lambda m: wrong.append(m.text)
                if m.type in ("error", "warning") else None)
        page.on("request", lambda r: None if r.url.startswith(it.url)
                or r.url.startswith("data:") else wrong.append(r.url))
        page.goto(it.url)
        begin(page, it)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def begin(page: Page, it: Watched) -> None:
    """It shows picture 1 and then 21, a second later."""
    for n in (1, 21):
        it.drive.write(n)
        expect(page.locator("#n-free")).to_have_text(str(30 + n))


def expect_state(page: Page, write: Callable[[], None], text: str) -> None:
    """While pictures come: without one, the page soon says that."""
    end = time.monotonic() + 20
    while page.inner_text("#state") != text and time.monotonic() < end:
        write()
        page.wait_for_timeout(100)
    assert page.inner_text("#state") == text


@pytest.fixture(scope="module")
def opened(watched: Watched, show: Open) -> Page:
    """For the tests that do not end it."""
    return show(watched)


@pytest.fixture
def page(watched: Watched, opened: Page) -> Page:
    """The same, as after begin()."""
    if watched.drive.n != 21:
        begin(opened, watched)
    return opened


def number(page: Page, name: str) -> float:
    """What a number of the page stands for."""
    return float(page.get_attribute(f"#n-{name}", "data-value") or "nan")


def test_numbers_are_those_of_the_file(watched: Watched, page: Page) -> None:
    """Each panel, from pictures 1 and 21: a second of the host apart, half a second
    of the drive."""
    a, b = watched.drive.values(1), watched.drive.values(21)

    def quantile(op: str, share: float) -> float:
        bins = [y - x for x, y in zip(a[f"latency.{op}"], b[f"latency.{op}"])]
        rank, found = max(1, math.ceil(share * sum(bins))), 0
        for i, n in enumerate(bins):
            found += n
            if found >= rank:
                return EDGES[min(i + 1, len(EDGES) - 1)]
        raise AssertionError

    wanted = {
        "iops": 500 * 40, "read": 4096 * 300 * 40, "written": 4096 * 200 * 40,
        "failed": 4, "read-p50": quantile("read", 0.5), "read-p99": quantile("read", 0.99),
        "write-p50": quantile("write", 0.5), "write-p999": quantile("write", 0.999),
        "waf": 1.5, "waf-all": 1.5, "waf-gc": 0.5,
        "used": 0.121, "dirty": 0.061, "units": 121, "free": 51, "victims": 40,
        "copies": 1200, "erases": 40, "low": 20, "high": 40, "depth": 21 % 8 + 5,
        "celsius": 42.5, "watts": 6.25, "late": 2500, "late-p99": 9000}
    found = {name: number(page, name) for name in wanted}
    assert found == pytest.approx(wanted)
    shown = {name: page.inner_text(f"#n-{name}") for name in (
        "iops", "read", "used", "copies", "read-p50", "late", "celsius", "waf")}
    assert shown == {"iops": "20 k", "read": "49.15 MB/s", "used": "12 %",
                     "copies": "1200 units/s", "late": "2.5 µs", "waf": "1.5",
                     "celsius": "42.5 °C", "read-p50": "128 µs"}
    depths = page.locator("#p-queues [data-queue]").all_inner_texts()
    assert depths == ["5", "5"], "those that have had commands"
    rows = page.locator("#p-streams tbody tr").all_inner_texts()
    assert [r.split("\t") for r in rows] == [["0", "1,021", "16.38 MB/s", "1.2"],
                                             ["1", "500", "16.38 MB/s", "1.8"]]
    assert page.inner_text("#who") == "live.vssd · fake"
    expect_state(page, lambda: watched.drive.write(21),
                 "running at 0.5 times real time, 0.5 s of the drive")


def test_an_idle_drive(watched: Watched, page: Page) -> None:
    """Its time stands still: rates are 0, and there are no means."""
    still = watched.drive.values(21)
    changed = {name: still[name] for name in (
        "sim_ns", "counter", "die.busy_ns", "stream.host_bytes", "latency.read")}
    watched.drive.write(45, changed)
    expect(page.locator("#n-free")).to_have_text("35")
    expect_state(page, lambda: watched.drive.write(45, changed),
                 "idle, 0.5 s of the drive")
    found = [page.inner_text(f"#n-{name}") for name in
             ("iops", "read", "erases", "waf", "waf-all", "read-p50")]
    assert found == ["0", "0 B/s", "0 /s", "–", "1.5", "–"]


def test_curves_have_the_values(watched: Watched, page: Page) -> None:
    """Bokeh's figures: the last point of each curve is the number beside it.  They
    begin again where the drive's time went back."""
    ask = """() => Bokeh.documents.map(d => d.roots()[0].renderers[0])
        .map(r => Object.fromEntries(Object.entries(r.data_source.data)
            .map(([k, v]) => [k, v[v.length - 1]])))"""
    last: dict[str, float] = {}
    end = time.monotonic() + 20
    while not last.get("iops") and time.monotonic() < end:
        last = {k: v for one in page.evaluate(ask) for k, v in one.items()}
    wanted = {"iops": 20000, "now": 1.5, "free": 51, "low": 20, "high": 40,
              "used": 121, "dirty": 61, "depth": 10, "celsius": 42.5, "late": 2.5,
              "read50": 128, "write99": EDGES[6] / 1e3, "t": 0.525}
    assert {k: last.get(k) for k in wanted} == pytest.approx(wanted)
    watched.drive.write(1)
    times = """() => Bokeh.documents.map(d =>
        d.roots()[0].renderers[0].data_source.data.t)"""
    while not any(t[-1:] == [0.025] for t in page.evaluate(times)) \
            and time.monotonic() < end:
        pass
    assert all(t in ([], [0.025]) for t in page.evaluate(times))


def test_dies_by_keys_and_pointer(watched: Watched, page: Page) -> None:
    """State, cause, waiting and busy share of the chosen die."""
    page.focus("#p-dies canvas")
    detail = page.locator("#p-dies .detail")

    def says(die: int) -> None:
        now = watched.drive.values(21)
        state = ("idle", "read", "program", "erase",
                 "suspended")[int(now["die.state"][die])]
        cause = ("host", "gc", "wear")[int(now["die.cause"][die])]
        channel = die // 8
        doing = "idle" if state == "idle" else f"{state} for {cause}"
        bus = ("idle", "in", "status", "out")[int(now["channel.state"][channel])]
        assert detail.inner_text() == (
            f"Die {die}: {doing}, {die % 4} waiting, busy 50 %."
            f" Channel {channel}: {bus}, busy 20 %.")

    die = 0
    page.keyboard.press("Home")
    for key, step in (("ArrowRight", 1), ("ArrowDown", 8), ("ArrowLeft", -1),
                      ("End", 23), ("ArrowRight", 0), ("ArrowUp", -8),
                      ("Home", -23), ("ArrowUp", 0)):
        page.keyboard.press(key)
        die += step
        says(die)
    box = page.locator("#p-dies canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + box["height"] - 4)
    says(31)


def test_superblocks(page: Page) -> None:
    """By keys; and each shade is drawn by its own values."""
    page.focus("#p-superblocks canvas")
    detail = page.locator("#p-superblocks .detail")
    page.keyboard.press("Home")
    for wanted in ("Superblock 0: free, valid 0 %, age 0 pages of the host, 100 erases.",
                   "Superblock 1: free, valid 1 %, age 3 pages of the host, 101 erases."):
        assert detail.inner_text() == wanted
        page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    assert detail.inner_text() == (
        "Superblock 95: full, valid 100 %, age 285 pages of the host, 104 erases.")
    canvas = page.locator("#p-superblocks canvas")
    drawn = set()
    for by in ("valid", "age", "erases"):
        page.check(f"input[value={by}]")
        drawn.add(canvas.evaluate("c => c.toDataURL()"))
    assert len(drawn) == 3


def test_slow_commands(page: Page) -> None:
    """The list, and the costs of the one that is chosen by keys."""
    rows = page.locator(".list [role=option]")
    assert rows.count() == 21
    assert rows.first.inner_text().split("\n") == ["read 4 KiB at 0.02 s", "2.1 ms"]
    page.focus(".list")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    assert rows.nth(1).get_attribute("aria-selected") == "true"
    costs = page.locator(".where [data-cost]")
    assert costs.evaluate_all("all => all.map(e => e.dataset.cost)") == list(COSTS)
    assert costs.nth(8).inner_text() == "1 ms, 50 %"
    assert costs.nth(0).inner_text() == "100 µs, 5 %"
    assert page.inner_text(".where .waited") \
        == "Before it on die 19: gc program (outlined above)."
    page.keyboard.press("End")
    assert page.inner_text(".where .waited") == "No operation of NAND was before it."
    rows.nth(3).click()
    assert page.inner_text(".where h3") == "write, 1.8 ms"


def test_keys_alone(page: Page) -> None:
    """Tab reaches all that acts, in the order of the page, and shows where it is;
    the glossary comes with the focus and goes with Escape."""
    page.check("input[value=valid]")
    page.mouse.move(0, 0)  # away from all words
    page.focus(".skip")
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    seen = in_browser.stops(
        page, "e.id || e.dataset.word || e.className || e.value || e.tagName")
    assert seen[:3] == ["skip", "hold", "channel"]
    order = [seen.index(x) for x in ("hold", "die", "CANVAS", "valid", "list")]
    assert order == sorted(order) and seen.count("CANVAS") == 2
    page.focus("#p-waf [data-word=waf]")
    assert page.inner_text("#tip") == glossary.terms()["waf"]
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()
    words = page.locator("[data-word]").evaluate_all("all => all.map(e => e.dataset.word)")
    assert {*words} <= {*glossary.terms()} and len(words) > 10


def test_hold(watched: Watched, page: Page) -> None:
    """By the space key: the page stands still, and goes on."""
    page.focus("#hold")
    page.keyboard.press("Space")
    watched.drive.write(30)
    page.wait_for_timeout(700)
    assert page.inner_text("#n-free") == "51"
    assert page.inner_text("#state").startswith("held; ")
    page.keyboard.press("Space")
    watched.drive.write(31)
    expect(page.locator("#n-free")).to_have_text("61")


@pytest.mark.parametrize("width, scheme", in_browser.SHAPES)
def test_widths(page: Page, width: int, scheme: Literal["light", "dark"]) -> None:
    """Nothing is wider than the window; each map and curve has its place."""
    in_browser.shaped(page, width, scheme)


def test_reduced_motion(watched: Watched, page: Page) -> None:
    """The page changes once a second, not with each picture."""
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("""() => { window.changes = 0; new MutationObserver(() => changes++)
        .observe(document.querySelector('#n-free'), {childList: true}) }""")
    for n in range(22, 52):
        watched.drive.write(n)
        page.wait_for_timeout(50)
    assert 1 <= page.evaluate("changes") <= 3
    page.emulate_media(reduced_motion="no-preference")


def test_a_drive_that_ends(tmp_path: Path, show: Open) -> None:
    """The page says so and keeps the picture; another page is gone without a word.
    Then another drive has the file; then the server ends."""
    it = Watched(tmp_path / "live.vssd")
    try:
        one, lost = show(it), show(it)
        lost.context.close()
        it.drive.end()
        expect(one.locator("#state")).to_have_text(
            "the drive has ended; this is its last picture")
        assert one.inner_text("#n-free") == "51"
        new = FakeDrive(it.drive.path, channels=8, per_channel=2, without=(
            "gauge", "slow.count", "stream.units", "queue.depth", "superblock.state"))
        new.write(1)
        expect(one.locator("#p-heat")).to_be_hidden()
        hidden = one.locator("section[hidden]:not(.finished)").evaluate_all(
            "all => all.map(e => e.id)")
        assert {*hidden} == {"p-superblocks", "p-queues", "p-streams", "p-heat",
                             "p-lateness", "p-slow", "p-time"}
        assert one.inner_text("#n-free") == "–"
        one.focus("#p-dies canvas")  # here the dies of a channel are a column
        for key, die in (("Home", 0), ("ArrowDown", 1), ("ArrowRight", 3), ("ArrowUp", 2)):
            one.keyboard.press(key)
            assert one.inner_text("#p-dies .detail").startswith(f"Die {die}: ")
        it.process.terminate()
        expect(one.locator("#state")).to_have_text(
            "./vssd watch has ended; this is the last picture")
        assert one.locator("#again").is_visible()
        new.close()
    finally:
        it.close()


def pictures(page: Page) -> None:
    """Of a run that goes on: maps, curves, a slow command."""
    from io import BytesIO

    from PIL import Image

    PICTURES.mkdir(exist_ok=True)
    page.set_viewport_size({"width": 1240, "height": 2400})
    expect(page.locator("#n-read-p50")).not_to_have_text("–")  # the fill is over
    page.wait_for_timeout(6000)
    page.focus("#p-dies canvas")
    page.keyboard.press("Home")
    read = page.locator(".list [role=option]").evaluate_all(
        "all => (all.find(e => e.innerText.startsWith('read')) ?? all[0]).id")
    page.click(f"#{read}")
    for name, first, last in (("maps", "dies", "latency"), ("curves", "waf", "gc"),
                              ("slow", "slow", "slow")):
        a, b = (page.locator(f"#p-{one}").bounding_box() for one in (first, last))
        assert a and b
        right, low = b["x"] + b["width"] + 8, b["y"] + b["height"] + 8
        shot = page.screenshot(clip={
            "x": a["x"] - 8, "y": a["y"] - 8, "width": right - a["x"] + 8,
            "height": low - a["y"] + 8})
        Image.open(BytesIO(shot)).convert("RGB").quantize(96).save(
            PICTURES / f"{name}.png", optimize=True)


def test_a_run_of_vssd_sim(tmp_path: Path, browser: Browser) -> None:
    """A real drive while it runs, and after its end: the page has the numbers of
    the result, and the costs of a slow command add up.  With VSSD_WRITE_DOCS, a
    larger drive, and the pictures of docs/watch.md."""
    path = tmp_path / "live.vssd"
    writes = "VSSD_WRITE_DOCS" in os.environ
    drive = ["p5520", "--set", "nand.blocks=96"] if writes else ["tiny"]
    requests = 10**9  # until SIGTERM
    sim = subprocess.Popen(
        [PROJECT / "vssd", "sim", "run", "--profile", *drive, "--fill", "random",
         "--workload", "rw=randrw rwmixread=90 bs=4k iodepth=64"
         f" number_ios={requests}",
         "--live", str(path), "--json"], text=True, stdout=subprocess.PIPE)
    while sim.poll() is None and not path.exists():
        time.sleep(0.05)
    it = Server(path)
    page = browser.new_page()
    try:
        page.goto(it.url)
        expect(page.locator("#state")).to_have_text(re.compile("^running at "))
        expect(page.locator("#n-iops")).not_to_have_text("–")
        assert number(page, "iops") > 0 and number(page, "waf") > 1
        if writes:
            pictures(page)
        rates = number(page, "read"), number(page, "written")
        assert sum(rates) == pytest.approx(4096 * number(page, "iops"), rel=0.2)
        sim.terminate()
        result = json.loads(sim.communicate()[0])
        expect(page.locator("#state")).to_have_text(re.compile("^the drive has ended"))
        expect(page.locator("#n-free")).to_have_text(str(result["gc"]["free_blocks"]))
        assert number(page, "waf-all") == pytest.approx(result["waf"])
        assert number(page, "units") == result["buffer"]["units_used"]
        page.focus(".list")
        page.keyboard.press("Home")
        costs = page.locator(".where [data-cost]").all_inner_texts()
        shares = [int(text.rpartition(", ")[2].removesuffix(" %")) for text in costs]
        assert sum(shares) == pytest.approx(100, abs=len(shares))
    finally:
        page.close()
        it.close()
        sim.kill()
        sim.wait()


def test_time_of_a_run(tmp_path: Path, browser: Browser) -> None:
    """By keys alone: pause, step, mark, change an option, go back, go on.  What the
    page says is what the run answers."""
    path = tmp_path / "live.vssd"
    sim = subprocess.Popen(
        [PROJECT / "vssd", "sim", "run", "--profile", "tiny", "--fill", "preload",
         "--workload", f"rw=randrw bs=4k iodepth=8 number_ios={10**9}",
         "--live", str(path), "--control", "--json"], text=True,
        stdout=subprocess.PIPE)
    while sim.poll() is None and not path.exists():
        time.sleep(0.05)
    it = Server(path)
    page = browser.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda e: wrong.append(str(e)))

    def press(place: str, key: str) -> None:
        page.focus(place)
        page.keyboard.press(key)

    def stands(earlier: int) -> int:
        """The page shows the instant, another one, at which the run stands."""
        end = time.monotonic() + 20
        while (now := control.ask(path, "state"))["sim_ns"] == earlier \
                or now["state"] != "paused":
            assert time.monotonic() < end
            page.wait_for_timeout(20)
        expect(page.locator("#state")).to_have_text(
            f"paused at {now['sim_ns'] / 1e9:.6f} s of the drive")
        return int(now["sim_ns"])

    try:
        page.goto(it.url)
        expect(page.locator("#p-time")).to_be_visible()
        press("#go", "Space")
        expect(page.locator("#go")).to_have_text("Go")
        begun = stands(-1)
        page.focus("#kind")
        page.keyboard.type("victim")
        press("#step", "Enter")
        marked = stands(begun)
        press("#mark", "Enter")
        back = page.locator("#p-time .marks button")
        expect(back).to_have_text(f"Back to {marked / 1e9:.6f} s")
        press("summary", "Enter")
        firmware = "#p-time input[name='host.firmware']"
        expect(page.locator(firmware)).to_have_value("3us")
        for value, said in (("7us", "host.firmware=7us"),
                            ("9h", "host.firmware=9h: allowed")):
            page.fill(firmware, value)
            page.keyboard.press("Enter")
            expect(page.locator("#p-time .said")).to_contain_text(said)
        assert control.ask(path, "get host.firmware")["value"] == "7us"
        press("#step", "Enter")
        assert stands(marked) > marked
        press("#p-time .marks button", "Enter")
        assert stands(-1) == marked
        expect(page.locator(firmware)).to_have_value("3us")
        page.select_option("#speed", "0.001")
        press("#go", "Enter")
        expect(page.locator("#state")).to_have_text(re.compile("^running at "))
        assert control.ask(path, "state")["speed"] == 0.001
        sim.terminate()
        assert json.loads(sim.communicate()[0])["requests"] > 0
        expect(page.locator("#p-time")).to_be_hidden()
        assert wrong == []
    finally:
        page.close()
        it.close()
        sim.kill()
        sim.wait()


def test_no_control(page: Page) -> None:
    """A drive that takes no requests has no bar."""
    expect(page.locator("#p-time")).to_be_hidden()


def test_a_drive_that_stands_still(page: Page) -> None:
    """The page says for how long."""
    expect(page.locator("#state")).to_have_text(
        re.compile("^no picture for [2-9] s: the drive stands still$"))


# ---- colours ---------------------------------------------------------------

# Machado, Oliveira, Fernandes (2009): severity 1.0, of linear RGB.
BLIND = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1))}
Three = tuple[float, ...]


def linear(text: str) -> Three:
    """Of #rrggbb."""
    parts = [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                 for c in parts)


def lab(rgb: Three) -> Three:
    """CIE L*a*b* of linear sRGB (white D65)."""
    rows = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750),
            (0.0193339, 0.1191920, 0.9503041))
    xyz = [sum(a * b for a, b in zip(row, rgb)) / white
           for row, white in zip(rows, (0.95047, 1.0, 1.08883))]
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def colours(dark: bool) -> dict[str, str]:
    """The variables of the style sheet."""
    parts = re.split(r"@media screen and \(prefers-color-scheme: dark\)", CSS.read_text())
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", parts[0]))
    if dark:
        found |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", parts[1]))
    return found


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("sight", BLIND)
def test_colours_are_told_apart(sight: str, dark: bool) -> None:
    """States of dies, and the curves of a panel: a difference of 12 in CIE 1976
    (2.3 is just noticeable)."""
    found = colours(dark)

    def seen(name: str) -> Three:
        rgb = linear(found[name])
        return lab(tuple(max(0.0, min(sum(a * b for a, b in zip(row, rgb)), 1.0))
                         for row in BLIND[sight]))

    for names in (("idle", "read", "program", "erase", "suspended"),
                  ("one", "two", "three", "four", "five", "six", "panel")):
        for a, b in itertools.combinations(names, 2):
            assert math.dist(seen(a), seen(b)) > 12, (a, b)


@pytest.mark.parametrize("dark", [False, True])
def test_contrast(dark: bool) -> None:
    """WCAG 2.2: 4.5 of texts, 3 of curves and of the focus."""
    found = colours(dark) if not dark else {**colours(False), **colours(True)}
    found.setdefault("panel", "#ffffff")

    def contrast(a: str, b: str) -> float:
        x, y = sorted(sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722),
                                                linear(found[n]))) for n in (a, b))
        return (y + 0.05) / (x + 0.05)

    texts = [("text", "panel"), ("quiet", "panel"), ("text", "page"), ("text", "idle"),
             *(("ink", state) for state in ("read", "program", "erase", "suspended"))]
    assert [t for t in texts if contrast(*t) < 4.5] == []
    lines = [(name, "panel") for name in (
        "one", "two", "three", "four", "five", "six", "focus")]
    assert [t for t in lines if contrast(*t) < 3] == []


def test_the_cost_of_the_server(tmp_path: Path, show: Open) -> None:
    """A drive of 256 dies, 20 pictures a second: less than 5 % of a core."""
    it = Watched(tmp_path / "live.vssd", channels=16, per_channel=16,
                 superblocks=16384)

    def cpu_s() -> float:
        parts = Path(f"/proc/{it.process.pid}/stat").read_text().rpartition(")")[2]
        return sum(map(int, parts.split()[11:13])) / 100

    try:
        page = show(it)
        before, begin = cpu_s(), time.monotonic()
        for n in range(22, 62):
            it.drive.write(n)
            page.wait_for_timeout(50)
        share = (cpu_s() - before) / (time.monotonic() - begin)
        print(f"{100 * share:.1f} % of a core")
        assert share < 0.05
    finally:
        it.close()
