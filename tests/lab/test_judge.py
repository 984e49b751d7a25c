# SPDX-License-Identifier: GPL-2.0-or-later
"""The rule by which statements of papers are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from vssd.build import venv
from vssd_lab.figures import judge, report
from vssd_lab.figures.figure import Panel

venv.extra("figures")
FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]


def claim(samples: list[float], low: float | None, high: float | None) \
        -> judge.Row:
    return judge.claim("p", "x", samples, low, high, source="Figure 1")


def test_interval() -> None:
    """By hand: 3 +- 2.776 * sqrt(2.5 / 5), the table's t of 4 degrees."""
    low, high = judge.interval(FIVE)
    assert (low, high) == pytest.approx((3 - 1.963, 3 + 1.963), abs=0.001)
    assert judge.interval([7.0]) == (7, 7)
    assert judge.interval([7.0, 7.0]) == (7, 7)


@pytest.mark.parametrize("low,high,verdict", [
    (1, 5, "holds"), (1, None, "holds"), (None, 5, "holds"),
    (1.1, 5, "unstable"), (1, 4.9, "unstable"), (4.9, 9, "unstable"),
    (5, 9, "deviates"), (None, 1, "deviates"), (2.9, 3.1, "unstable")])
def test_verdicts(low: float | None, high: float | None, verdict: str) \
        -> None:
    """The interval of the mean is 1.04 to 4.96."""
    assert claim(FIVE, low, high)["verdict"] == verdict


def test_one_sample_and_none() -> None:
    """One decides for itself; without one there is no verdict."""
    assert claim([5], 3.7, 9.1)["verdict"] == "holds"
    assert claim([5], 5.1, None)["verdict"] == "deviates"
    none = claim([], 0, 1)
    assert none["verdict"] is None and none["ours"] is None
    with pytest.raises(ValueError, match="range"):
        claim([1], None, None)


def test_reading_widens_the_range() -> None:
    """On both sides."""
    for value in (0.96, 2.04):
        assert claim([value], 1, 2)["verdict"] == "deviates"
        row = judge.claim("p", "x", [value], 1, 2, source="", reading=0.05)
        assert row["verdict"] == "holds"
    assert judge.about(5) == pytest.approx((4.5, 5.5))


def test_order_is_paired() -> None:
    """Seeds differ by more than the two values, and yet one is below."""
    above = [x + 0.1 + x / 1000 for x in FIVE]
    assert judge.order("p", "x", FIVE, above, source="")["verdict"] == "holds"
    assert judge.order("p", "x", above, FIVE, source="")["verdict"] == \
        "deviates"
    mixed = [a + d for a, d in zip(FIVE, (1, -1, 1, -1, 0.5))]
    assert judge.order("p", "x", FIVE, mixed, source="")["verdict"] == \
        "unstable"
    with pytest.raises(ValueError):
        judge.order("p", "x", FIVE, FIVE[:4], source="")


def test_extreme() -> None:
    """The largest and the smallest, in all seeds, in some, in none."""
    values = {"a": [1.0, 5.0, 1.0], "b": [3.0, 3.0, 3.0], "c": [9.0] * 3}
    most = judge.extreme("p", "x", values, "c", source="")
    assert most["verdict"] == "holds" and not most["why"]
    least = judge.extreme("p", "x", values, "a", pick=min, source="")
    assert least["verdict"] == "unstable" and least["why"] == "it is b here"
    none = judge.extreme("p", "x", values, "b", source="")
    assert none["verdict"] == "deviates" and none["why"] == "it is c here"


def test_what_is_shown_is_not_counted() -> None:
    """Totals have claims alone."""
    rows = [claim([5], 4, 6), claim([5], 6, 7), claim(FIVE, 2, 3),
            claim([], 0, 1), judge.shown("p", "fit", 3.0, "a fit")]
    assert judge.totals(rows) == {"claims": 4, "holds": 1, "deviates": 1,
                                  "unstable": 1, "not judged": 1, "better": 0,
                                  "shown": 1}
    assert judge.total_text(rows) == \
        "1 of 4 statements hold; 1 deviate; 1 unstable; 1 not judged"


def test_sweep_and_hypothesis_are_in_the_page(tmp_path: Path) -> None:
    """For which part of a range a claim holds, and why it deviates."""
    row = judge.swept(claim([5], 4, 6), "tR",
                      {"50 us": [3], "100 us": [4.5], "500 us": [5]},
                      "500 us")
    assert judge.where_holds(row, "tR") == \
        "tR: holds for 100 us, 500 us of 50 us to 500 us"
    off = judge.because(claim([5], 6, 7), "the queue is short",
                        "host.queue=5", [6.5], 6, 7)
    assert off["hypothesis"]["confirmed"]
    assert not judge.because(claim([5], 6, 7), "", "", [5.5], 6,
                             7)["hypothesis"]["confirmed"]
    row["runs"] = [("hm0", 64)]
    beside = judge.shown("p", "side", 3, "the other mode")
    most = judge.extreme("p", "largest", {"a": [1, 1], "b": [2, 0]}, "b",
                         source="")
    assert most["verdict"] == "unstable"
    figure = report.Figure("one", "One <figure>", 5, [
        (Panel("p", "P", ["an input", "chosen by outcome: tR"], [row, off, most, beside]), None)],
        [("runs", ("hm0", 64), ["vssd-sim", "replay"], {"a": 1})])
    report.write(tmp_path, [figure], "./vssd figures one")
    page = (tmp_path / "index.html").read_text()
    for text in ("One &lt;figure&gt;", "tR: holds for 100 us, 500 us",
                 "Hypothesis, confirmed:</b> the queue is short",
                 '"runs-one.html#run-0"', "1 of 3 statements hold",
                 '<a href="#one">', '<h2 id="one">', "<td>a or b",
                 "<p>Chosen by outcome: tR.</p>", "<td>unstable<td>", "<li>an input</ul>",
                 "<td>3<td>1<td>0<td>1<td>1<td>0<td>5",
                 "Not the paper's, not counted", "500 us (used)"):
        assert text in page, text
    assert 'id="run-0"' in (tmp_path / "runs-one.html").read_text()


def test_an_end_has_a_band_on_both_sides() -> None:
    """10 % of a value, 3 points of a difference; of 0, too."""
    for value, verdict in ((9.0, "holds"), (8.9, "deviates"),
                           (11.0, "holds"), (11.1, "deviates")):
        row = judge.end("p", "x", [value], 10, source="")
        assert row["verdict"] == verdict, value
    for value, verdict in ((-4.6, "holds"), (-4.7, "deviates"),
                           (1.4, "holds"), (1.5, "deviates")):
        row = judge.end("p", "x", [value], -1.6, points=True, source="")
        assert row["verdict"] == verdict, value
    assert judge.about(-10) == pytest.approx((-11, -9))


def test_a_range_needs_both_of_its_ends() -> None:
    """No difference at all does not pass "-9.6 to 20.2 %"."""
    none = judge.ends("p", "less", {"a": [0.0, 0.0], "b": [0.0, 0.0]}, -9.6,
                      20.2, points=True, source="")
    assert [r["point"] for r in none] == ["less, least", "less, most"]
    assert [r["verdict"] for r in none] == ["deviates", "deviates"]
    both = judge.ends("p", "less", {"a": [-9.0, 19.0], "b": [19.0, -8.9]},
                      -9.6, 20.2, points=True, source="")
    assert [r["samples"] for r in both] == [[-9.0, -8.9], [19.0, 19.0]]
    assert [r["verdict"] for r in both] == ["holds", "holds"]


@pytest.mark.parametrize("kind,value,ours,verdict,near", [
    ("R2", 0.9, 0.88, "holds", True), ("R2", 0.9, 0.99, "holds", False),
    ("R2", 0.9, 0.86, "deviates", None), ("error", 0.2, 0.29, "holds", True),
    ("error", 0.2, 0.05, "holds", False),
    ("error", 0.2, 0.31, "deviates", None)])
def test_a_cell_is_met_by_better(kind: str, value: float, ours: float,
                                 verdict: str, near: bool | None) -> None:
    """And what is better is told apart from what is near."""
    row = judge.cell("p", "x", [ours], value, kind=kind, source="Table III")
    assert (row["verdict"], row.get("near")) == (verdict, near)
    better = judge.totals([row])["better"]
    assert better == (near is False)
    assert ("better than the paper's cell" in judge.total_text([row])) == \
        bool(better)


def test_most_is_more_than_half_of_those_that_vote() -> None:
    """Ties and cases without an event do not."""
    def verdict(*cases: float | None) -> str | None:
        row = judge.most("p", "x", [cases], source="")
        return row["verdict"]  # type: ignore[no-any-return]
    assert verdict(1, 1, -1) == "holds"
    assert verdict(1, -1) == "deviates"
    assert verdict(1, 0, None, 0) == "holds"
    assert verdict(0, -1, None) == "deviates"
    assert verdict(0, None) is None
    row = judge.most("p", "x", [[1, 1], [None], [1, -1]], source="")
    assert row["samples"] == [1, 0.5]


def test_a_second_setting_is_totalled_apart(tmp_path: Path) -> None:
    """No statement counts twice."""
    rows = [claim([5], 4, 6), claim([5], 6, 7)]
    both = rows + judge.in_setting([claim([5], 4, 6)], "tR 50 us")
    assert judge.totals(both)["claims"] == 2
    assert judge.totals(both, "tR 50 us")["holds"] == 1
    assert judge.total_text(both) == ("1 of 2 statements hold; 1 deviate;"
                                      " tR 50 us: 1 of 1 statements hold")
    figure = report.Figure("one", "One", 3, [
        (Panel("p", "P", [], both), None)], short=True)
    assert "1 of 2 rows of the short form hold" in figure.total()
    report.write(tmp_path, [figure], "./vssd figures one --quick")
    page = (tmp_path / "index.html").read_text()
    assert ", tR 50 us, short form: not claims<td>1<td>1" in page
