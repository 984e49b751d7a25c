# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs of the figures: stand-ins beside excerpts that were not fitted, and
the readers of trace files.

Limits of a volume, each of the mean over its excerpts and seeds:

| curve | distance | limit |
|---|---|---|
| variance of inter-arrival times over scales | mean of |log2| of the ratio | 2.2 |
| quantiles of sizes, 5 to 95 % | mean of |log2| of the ratio | 0.9 |
| reuse: accesses within a stack distance | largest difference | 0.22 |
| working set | largest difference | 0.22 |

They are about what two excerpts of a volume are apart from each other.
"""

from __future__ import annotations

import gzip
import json
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vssd.build import venv
from vssd.errors import UserError
from vssd.paths import PROJECT

venv.extra("figures")
np = pytest.importorskip("numpy")
from vssd_lab.figures import buffer_input, fit_inputs, measure, readers, shapes, standin  # noqa: E402
from vssd_lab.figures import traces as ft  # noqa: E402

TRACES = PROJECT.parent / "shared/traces"
HELD = json.loads(fit_inputs.HELD_OUT.read_text(encoding="ascii"))
LIMITS = {"intervals": 2.2, "sizes": 0.9, "reuse": 0.22, "working set": 0.22}
SEEDS = (1, 2, 3)
Make = Callable[[str, dict[str, Any], int], ft.Trace]


def fitted(name: str, held: dict[str, Any], seed: int) -> ft.Trace:
    """The stand-in."""
    return fit_inputs.stand_in(shapes.load()[name], held, seed)


def former(_name: str, held: dict[str, Any], seed: int) -> ft.Trace:
    """The stand-in before: Poisson arrivals, geometric sizes, Zipf places."""
    table, n = standin.Table(**held["table"]), held["requests"]
    rng = np.random.default_rng(seed)
    at = np.cumsum(rng.exponential(table.iat_s * 1e9, n)).astype("i8")
    write = rng.random(n) >= table.read_count()
    sizes = [np.minimum(rng.geometric(1 / max(m * 512 / table.grain, 1), n),
                        (1 << 20) // table.grain) * table.grain
             for m in (table.read_sectors, table.write_sectors)]
    nbytes = np.where(write, sizes[1], sizes[0])
    pages = table.footprint // 4096
    bound = np.cumsum(np.arange(1, pages + 1) ** -1.0)
    rank = np.searchsorted(bound, rng.random(n) * bound[-1])
    offset = rng.permutation(pages)[np.minimum(rank, pages - 1)] * 4096
    return ft.Trace(at, write, np.minimum(offset, table.footprint - nbytes),
                    nbytes, "former", tuple(held["lacks"]))


def changed(kind: Callable[[shapes.Kind], shapes.Kind]) -> Make:
    """A stand-in with one part of the shape replaced."""
    def make(name: str, held: dict[str, Any], seed: int) -> ft.Trace:
        shape = shapes.load()[name]
        return fit_inputs.stand_in(
            shapes.Shape(kind(shape.read), kind(shape.write)), held, seed)
    return make


def distances(name: str, make: Make) -> dict[str, float]:
    """The mean distance of each curve, over excerpts, kinds and seeds."""
    found = defaultdict(list)
    for held in HELD[name]:
        for seed in SEEDS:
            ours = measure.curves(make(name, held, seed))
            for curve, other in held["curves"].items():
                if curve in ours:
                    part = curve.removeprefix("read ").removeprefix("write ")
                    found[part].append(
                        measure.distance(curve, ours[curve], other))
    return {part: float(np.mean(d)) for part, d in found.items()}


def beyond(found: dict[str, float]) -> set[str]:
    """The curves over their limits."""
    return {part for part, d in found.items() if d > LIMITS[part]}


# ---- stand-ins ------------------------------------------------------------------


@pytest.mark.parametrize("name", HELD)
def test_beside_excerpts_that_were_not_fitted(name: str) -> None:
    """Every curve is within its limit, and the former stand-ins' are not."""
    found = distances(name, fitted)
    assert {"reuse", "working set"} <= set(found)
    assert not beyond(found), found
    assert beyond(distances(name, former)), "the limits let anything pass"


PARTS = {
    "intervals": changed(lambda k: replace(k, arrivals=replace(
        k.arrivals, bias=0.5))),
    "sizes": changed(lambda k: replace(k, sizes=replace(
        k.sizes, sectors=((1, 0.5), (256, 0.5))))),
    "reuse": changed(lambda k: replace(k, reuse=replace(
        k.reuse, near=(0.0,) * 10, zones=((1e9, 0.0),)))),
}


@pytest.mark.parametrize("part", PARTS)
def test_each_limit_finds_its_fault(part: str) -> None:
    """hm0 with Poisson arrivals, two sizes, or no reuse is found."""
    assert part in beyond(distances("hm0", PARTS[part]))


def test_nothing_is_checked_on_what_was_fitted() -> None:
    """No request of a check is in a fit; blocks of two files of the same
    trace, too."""
    same = {"ssdsim_example.ascii": "fin1", "leokang_fin1.trace": "fin1",
            "leokang_web1.trace": "web1", "mqsim_wsrch-small.trace": "web1"}
    for recipe in fit_inputs.RECIPES.values():
        for f in recipe.fit:
            for c in recipe.check:
                if same.get(f.file, f.file) == same.get(c.file, c.file):
                    assert f.end and c.end
                    assert f.end <= c.begin or c.end <= f.begin, (f, c)
    assert all(HELD[n] for n, r in fit_inputs.RECIPES.items() if r.check)


TABLE = standin.Table(0.3273, 14.74, 16.67, 0.15, 4096, 256 << 20)
WEB = replace(TABLE, read_sectors=30.0, write_sectors=20.0)  # none below 16


@pytest.mark.parametrize("name", shapes.load())
def test_means_are_the_tables(name: str) -> None:
    """Shares, sizes and rate are the table's whatever the shape is; the same
    seed gives the same trace, and the footprint grows up to the table's."""
    table = WEB if name.startswith("web") else TABLE
    t = standin.generate(name, table, 30_000, 1)
    reads, writes = t.nbytes[~t.write], t.nbytes[t.write]
    assert reads.sum() / t.nbytes.sum() == pytest.approx(0.3273, rel=0.03)
    assert reads.mean() / 512 == pytest.approx(table.read_sectors, rel=0.03)
    assert writes.mean() / 512 == pytest.approx(table.write_sectors, rel=0.03)
    assert t.at_ns[-1] / 1e9 <= 30_000 * 0.15
    assert (np.diff(t.at_ns) >= 0).all()
    assert t.offset.min() >= 0 and (t.nbytes % 4096 == 0).all()
    assert ft.extent(t) <= TABLE.footprint
    grown = measure.working_set(measure.pages(t, len(t)), 4)
    assert grown == sorted(set(grown)) and grown[0] < 0.6 * grown[-1]
    again = standin.generate(name, table, 30_000, 1)
    other = standin.generate(name, table, 30_000, 2)
    assert (again.offset == t.offset).all() and (again.at_ns == t.at_ns).all()
    assert (other.at_ns != t.at_ns).any()
    assert "generated" in t.source


def test_a_mean_that_no_size_has() -> None:
    """One line, and no trace with another mean."""
    with pytest.raises(UserError, match="100 sectors: .* 8 to 64"):
        standin.generate("web1", replace(WEB, read_sectors=100.0), 1000, 1)


@pytest.mark.parametrize("name,table", [
    ("hm0", standin.Table(0.33, 14.7, 16.7, 0.15, 4096, 2_500_000_000)),
    ("prxy0", standin.Table(0.054, 16.7, 9.3, 0.05, 4096, 960_000_000)),
    ("web0", standin.Table(0.6, 60.0, 17.2, 0.3, 4096, 7_300_000_000))])
def test_hot_places_stay_hot(name: str, table: standin.Table) -> None:
    """The hottest hundredth of the written places has the share that the
    week's histogram gives it, though each request only draws a stack
    distance.  (An LRU stack without popularity has less than half.)"""
    t = standin.generate(name, table, 60_000, 1)
    zones = shapes.load()[name].write.reuse.zones
    hot = int(sum(z[0] for z in zones[:5]))  # CUTS: to 1 %
    share = sum(z[1] for z in zones[:5])
    count = np.sort(np.unique(t.offset[t.write], return_counts=True)[1])[::-1]
    assert count[:hot].sum() / count.sum() == pytest.approx(share, abs=0.15)


def hits(t: ft.Trace, pages: int) -> float:
    """Of an LRU buffer of so many pages, %."""
    page = buffer_input.PAGE
    held: OrderedDict[int, None] = OrderedDict()
    hit = touched = 0
    for begin, end in zip((t.offset // page).tolist(),
                          ((t.offset + t.nbytes - 1) // page).tolist()):
        for p in range(begin, end + 1):
            touched += 1
            hit += p in held
            held[p] = None
            held.move_to_end(p)
            if len(held) > pages:
                held.popitem(last=False)
    return 100 * hit / touched


@pytest.mark.parametrize("name", ["hm0", "prxy0"])
def test_a_tenth_is_the_same_workload(name: str) -> None:
    """A tenth of the requests, addresses and buffers has the same hits, since
    stack distances and places shrink with the addresses."""
    seen = []
    for part, seeds in ((0.2, (1, 2)), (0.02, range(1, 9))):
        table = buffer_input.TABLE[name].table(part)
        made = [standin.generate(name, table, int(400_000 * part), s)
                for s in seeds]
        seen.append([np.mean([hits(t, int((mib << 20) * part
                                          / buffer_input.PAGE))
                              for t in made]) for mib in (64, 256)])
    print(f"# {name}: {np.round(seen, 1).tolist()}")
    assert seen[1] == pytest.approx(seen[0], abs=2.0)


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.1, 0.01])
def test_ranges_of_stack_distances(scale: float) -> None:
    """At full scale 1, 2, to 4, to 8, ...; else around the same share."""
    got = standin.ranges(13, scale)
    assert got.pop() == (0, 0)
    for k, (low, high) in enumerate(got):
        ends = (1 << k) // 2 + 1, 1 << k
        if scale == 1:
            assert (low, high) == ends
        else:
            assert 1 <= low <= max(scale * ends[0], 1) + 1
            assert high >= scale * ends[1]
            assert high <= 2 + scale * ends[1] + 2 * (scale * ends[1]) ** 0.5


def test_poisson_is_a_bias_of_a_half() -> None:
    """The b-model's end points, by the estimator of the entropy plot."""
    rng = np.random.default_rng(1)
    seen = []
    for b in (0.5, 0.7, 0.9):
        a = shapes.Arrivals(b, 1, 0, (), "")
        at = standin.arrivals(rng, 20_000, 10**12, a)
        assert len(at) == 20_000 and at.min() >= 0 and at.max() < 10**12
        seen.append(measure.bias(at))
    assert 0.55 < seen[0] < 0.65 < seen[1] < 0.8 < seen[2]
    poisson = measure.bias(np.cumsum(rng.exponential(1e6, 20_000)).astype("i8"))
    assert seen[0] == pytest.approx(poisson, abs=0.02)
    variance = measure.interval_variance(
        np.cumsum(rng.exponential(1e6, 50_000)).astype("i8"))
    assert variance[:8] == pytest.approx([1.0] * 8, rel=0.25)


def test_bursts_of_two_scales() -> None:
    """b of long parts shows above their least length, that of short ones
    within the busiest second."""
    a = shapes.Arrivals(0.5, 1, 0, (), "", 0.85, 10**9)
    at = standin.arrivals(np.random.default_rng(1), 50_000, 1024 * 10**9, a)
    assert measure.bias_above(at, 1.0) == pytest.approx(0.85, abs=0.03)
    second = at // 10**9
    busiest = at[second == np.bincount(second).argmax()]
    assert len(busiest) > 1000
    assert measure.bias(busiest) < 0.65


def test_peaks_limit_the_rate() -> None:
    """No k requests in less time; order and span stay."""
    at = np.concatenate([np.zeros(5000), np.full(5000, 1e9 - 1)])
    out = standin.limited(at, ((16, 1e4), (256, 1e6)), 10**9)
    assert (np.diff(out) >= 0).all() and (out >= at).all()
    assert (out[16:] - out[:-16]).min() >= 1e4 - 1
    assert (out[256:] - out[:-256]).min() >= 1e6 - 1
    a = shapes.load()["hm0"].read.arrivals
    assert a.peaks
    got = standin.arrivals(np.random.default_rng(1), 100_000, 10**13, a)
    assert (np.diff(got) >= 0).all() and got[0] >= 0 and got[-1] < 10**13
    for k, ns in a.peaks:
        assert (got[int(k):] - got[:-int(k)]).min() >= 0.5 * ns, k


def test_the_fit_finds_what_was_made() -> None:
    """A stand-in's own requests, fitted, have the parameters that made it."""
    kind = shapes.load()["hm0"].write
    kind = replace(kind, arrivals=replace(kind.arrivals, bias=0.75),
                   reuse=replace(kind.reuse, zones=((1e5, 0.9),)),
                   runs=shapes.Runs(0.3, 0.5, 0.999, 2, ""),
                   sizes=shapes.Sizes(((8, 0.7), (16, 0.3)), 0.0, ""))
    table = standin.Table(0.0, 8, 10.4, 0.01, 4096, 4 << 30)
    t = standin.made("", shapes.Shape(kind, kind), table, 20_000, 1)
    assert fit_inputs.fit_arrivals([t], []).bias == pytest.approx(0.75, abs=0.04)
    runs = fit_inputs.fit_runs([t])
    assert runs.start == pytest.approx(0.3, abs=0.05)
    assert runs.go_on == pytest.approx(0.5, abs=0.05)
    assert runs.at_once > 0.9
    sizes = dict(fit_inputs.fit_sizes([t]).sectors)
    assert sizes[8] == pytest.approx(0.7, abs=0.05)
    near = np.cumsum(fit_inputs.fit_reuse([t], True).near)
    asked = np.cumsum(kind.reuse.near)
    n = min(len(near), len(asked))
    assert near[:n] == pytest.approx(asked[:n], abs=0.06)


def test_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line a file; a folder that is not there is refused."""
    (tmp_path / "a.spc").write_text("0,8,4096,W,0.5\n0,8,4096,r,0.75\n")
    (tmp_path / "b_mangled.csv").write_text("t,k,o\n1E+17,Write,4096\n")
    (tmp_path / "NOTES.md").write_text("no trace")
    fit_inputs.main([str(tmp_path), "--list"])
    assert capsys.readouterr().out.splitlines() == [
        "a.spc: 2 requests, 0.2 s, 50 % writes, 0.50 new pages per page",
        "b_mangled.csv: 1 requests, 100 % writes, 1.00 new pages per page,"
        " no times, no sizes"]
    with pytest.raises(UserError, match="no such folder"):
        fit_inputs.main([str(tmp_path / "x")])


def test_stack_distances() -> None:
    """By hand, and against a list."""
    assert measure.stack_distances(np.array([1, 1, 2, 3, 1, 2])).tolist() == \
        [-1, 1, -1, -1, 3, 3]
    rng = np.random.default_rng(1)
    places = rng.integers(0, 60, 2000)
    stack: list[int] = []
    expected = []
    for p in places.tolist():
        expected.append(len(stack) - stack.index(p) if p in stack else -1)
        if p in stack:
            stack.remove(p)
        stack.append(p)
    assert measure.stack_distances(places).tolist() == expected


def test_runs_go_on_among_others() -> None:
    """The nearest earlier request that ends where this one begins."""
    offset = np.array([0, 100, 10, 110, 20])
    nbytes = np.full(5, 10)
    assert measure.continued(offset, nbytes).tolist() == [-1, -1, 0, 1, 2]


def test_a_first_touch_is_no_distance() -> None:
    """The product-limit estimate: of independent draws from a thousand places,
    a short excerpt is mostly first touches, and no share is lost to them."""
    rng = np.random.default_rng(1)
    offset = rng.integers(0, 1000, 800) * 4096
    t = ft.Trace(np.arange(800), np.ones(800, bool), offset,
                 np.full(800, 512), "")
    near = fit_inputs.near([fit_inputs.starts(t)], True, 256)
    assert sum(near) == pytest.approx(0.256, abs=0.05)


def test_histogram_of_addresses(tmp_path: Path) -> None:
    """lba_freq of the folder governs where the writes go."""
    (tmp_path / "lba_freq").mkdir()
    lines = [f"{i * 4096},{c}" for i, c in enumerate([90_000] + [10] * 1000)]
    (tmp_path / "lba_freq/lba_freq_hm_0.csv.gz").write_bytes(
        gzip.compress("\n".join(["LBA,Frequency", *lines]).encode()))
    counts = readers.frequencies(tmp_path, "hm0")
    assert counts[0] == 90_000 and counts.sum() == 100_000
    assert readers.frequencies(tmp_path, "web0") is None
    zones = standin.zones(counts, 0.0)
    assert zones[0] == (1.0, 0.9)
    assert sum(z[0] for z in zones) == 1001
    assert sum(z[1] for z in zones) == pytest.approx(1, abs=1e-3)
    flat = standin.generate("hm0", TABLE, 10_000, 1,
                            np.full(30_000, 5))
    hot = standin.generate("hm0", TABLE, 10_000, 1, counts)
    used = [len(np.unique(t.offset[t.write])) for t in (flat, hot)]
    assert used[1] < 0.8 * used[0]
    (tmp_path / "lba_freq/lba_freq_web_0.csv").write_text("LBA,F\n1,2\n1,3\n")
    with pytest.raises(UserError, match="two lines"):
        readers.frequencies(tmp_path, "web0")


# ---- readers ---------------------------------------------------------------------

# Lines of each format, and the first request that they hold: ns after the
# first, write, offset, bytes.
LINES = {
    "msr": ("10,hm,0,Write,4096,512,1\n30,hm,0,Read,0,8192,1\n",
            [(0, True, 4096, 512), (2000, False, 0, 8192)]),
    "spc": ("0,8,4096,W,0.5\n0,0,512,r,0.75\n",
            [(0, True, 4096, 4096), (250_000_000, False, 0, 512)]),
    "systor17": ("Timestamp,Response,IOType,LUN,Offset,Size\n"
                 "5.5,0.1,R,0,512,4096\n5.75,,W,0,0,512\n",
                 [(0, False, 512, 4096), (250_000_000, True, 0, 512)]),
    "cbs": ("1538323200,8,16,1,7\n1538323201,0,8,0,7\n",
            [(0, True, 4096, 8192), (10**9, False, 0, 4096)]),
    "replayed": ("0.500,100,1,4096,8192,0.6,4096\n1.500,9,0,512,0,1.6,512\n",
                 [(0, False, 8192, 4096), (10**6, True, 0, 512)]),
    "blkparse": ("  8,16 5 1 0.000000001 9 Q R 80 + 8 [x]\n"
                 "  8,16 5 2 0.000000002 9 D WS 8 + 16 [x]\n"
                 "  8,16 5 3 0.000000003 9 D D 8 + 16 [x]\n"
                 "  8,16 5 4 0.000000012 9 D FWFS 0 + 8 [x]\n"
                 "CPU0 (8,16):\n",
                 [(0, True, 4096, 8192), (10, True, 0, 4096)]),
    "events": ("9 D write 4096 512 0.25 0 True\n9 D discard 0 512 0.3 0 True\n"
               "9 D read 0 8192 0.5 0 True\n"
               "9 D read 0 512 1266874889.7 0 True\n",
               [(0, True, 4096, 512), (250_000_000, False, 0, 8192)]),
    "ssdsim": ("100 0 8 16 0\n150 0 0 1 1\n",
               [(0, True, 4096, 8192), (50, False, 0, 512)]),
    "windows": ("0.500 0 8192 4096 1\n1.500 0 0 512 0\n",
                [(0, False, 8192, 4096), (10**6, True, 0, 512)]),
    "disksim": ("0.500\t0\t8\t16\t1\n1.500\t0\t0\t1\t0\n",
                [(0, False, 4096, 8192), (10**6, True, 0, 512)]),
}


@pytest.mark.parametrize("name", readers.FORMATS)
def test_formats(name: str, tmp_path: Path) -> None:
    """Each is detected by its lines, and read."""
    text, expected = LINES[name]
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert readers.detect(path) == name
    t = readers.read(path)
    assert list(zip(t.at_ns.tolist(), t.write.tolist(), t.offset.tolist(),
                    t.nbytes.tolist())) == expected


def test_special_files(tmp_path: Path) -> None:
    """Units that lines do not tell; and columns that are not there."""
    def put(name: str, text: str) -> ft.Trace:
        (tmp_path / name).write_text(text)
        return readers.read(tmp_path / name)

    five = "0 0 8 2 1\n1000 0 0 1 0\n"
    assert put("leokang_x.trace", five).nbytes.tolist() == [8192, 4096]
    assert put("leokang_x.trace", five).offset.tolist() == [4096, 0]
    assert put("dtrs1K.trace", five).at_ns.tolist() == [0, 1_000_000]
    assert put("x.revised_5.txt", five).lacks == ("times",)
    order = put("a_mangled.csv", "t,k,o\n1.28166E+17,Write,4096\n"
                "1.28166E+17,Read,0\n,,\n")
    assert order.lacks == ("times", "sizes") and len(order) == 2
    assert order.offset.tolist() == [4096, 0]
    (tmp_path / "prn_0_mangled.csv").write_text("x")
    assert readers.find(tmp_path, "prn0", 0.9) is None


def test_readers_refuse(tmp_path: Path) -> None:
    """One line that names the file."""
    for text, word in (("", "no format"), ("what is this\n", "no format"),
                       ("10,hm,0,Write,4096,512,1\n1,hm\n", "row 2")):
        (tmp_path / "t").write_text(text)
        with pytest.raises(UserError, match=word) as e:
            readers.read(tmp_path / "t")
        assert str(tmp_path / "t") in str(e.value)
        assert "\n" not in str(e.value)


def _stats(path: Path) -> dict[str, int]:
    """Numbers of a summary that stands beside a trace."""
    with readers._open(path) as f:
        rows = [line.split("=") for line in f if line.startswith(
            ("Total IO", "#read io", "#write io"))]
    return {name.strip(): int(value) for name, value, *_ in rows}


def test_every_file_of_the_shared_folder() -> None:
    """Each is read: plausible times and sizes, and the counts of the summary
    beside it, where there is one."""
    if not TRACES.is_dir():
        pytest.skip("no ../shared/traces")
    paths = list(readers.files(TRACES))
    assert paths
    for path in paths:
        t = readers.read(path)
        assert len(t) >= 100, path
        assert (np.diff(t.at_ns) >= 0).all() and t.at_ns[0] == 0, path
        assert t.nbytes.min() >= 512 and t.offset.min() >= 0, path
        assert t.nbytes.max() <= 16 << 20 and t.at_ns[-1] < 8 * 86400e9, path
        plain = readers.plain_name(path)
        for beside in readers.named(TRACES, plain.removesuffix(".trace")
                                    + ".stats"):
            stats = _stats(beside)
            assert stats["Total IO"] == len(t), path
            assert stats["#write io"] == t.write.sum(), path
    for path in (TRACES / "lba_freq").glob("*.csv*"):
        counts = readers.read_frequencies(path)
        assert counts.min() >= 1 and counts.sum() > 100_000, path


@pytest.mark.parametrize("base", ["hm0", "proj0", "fin1", "web1"])
def test_figures_find_the_shared_folder(base: str) -> None:
    """Volumes that have an excerpt there are real."""
    if not TRACES.is_dir():
        pytest.skip("no ../shared/traces")
    found = readers.find(TRACES, base, 0.6)
    assert found and not found.lacks and "generated" not in found.source
