# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd bench profile: stacks, parts, the flame graph, and what is refused."""

from __future__ import annotations

import struct
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from vssd.errors import UserError
from vssd_lab.bench import flame, profile, sampling
from vssd_lab.bench.sampling import Frame
from vssd_lab.cli import bench as cli_bench
from vssd_lab.cli import main as cli

RUN = Frame("player_run", "sim/player.c")
POP = Frame("eventq_pop", "core/eventq.c")
TAKE = Frame("take", "nand/nand.c")


class FakeSymbols:
    """Two functions, linked at 0x400000."""

    def at(self, address: int) -> Frame | None:
        """By address."""
        return {0x400010: POP, 0x400020: TAKE, 0x40001f: TAKE}.get(address)

    def named(self, address: int, name: str) -> Frame | None:
        """As perf names them."""
        frame = self.at(address) or self.at(address + 0x400000)
        return frame if frame and frame.name == name else None


SYMBOLS: Any = FakeSymbols()


def test_stacks_of_perf() -> None:
    """Outermost first; the kernel is one function; a library has no file."""
    text = ("\n\t400010 eventq_pop\n\t20 take.part.0\n\n"
            "\n\tffffffff821eb0e7 clear_page_erms\n\t400020 take\n\n"
            "\n\t7f0000000010 memset\n\n")
    assert sampling.stacks_of(text, SYMBOLS) == Counter({
        (TAKE, POP): 1, (TAKE, Frame(sampling.KERNEL)): 1,
        (Frame("memset"),): 1})


def test_profile_of_gperftools() -> None:
    """Counts, addresses, the trailer; anything else is refused."""
    words = [0, 3, 0, 500, 0, 7, 2, 0x400010, 0x400020, 0, 1, 0]
    data = struct.pack(f"<{len(words)}Q", *words) + b"400000-401000 r-xp\n"
    assert sampling.parse_cpu_profile(data, SYMBOLS) == Counter({(TAKE, POP): 7})
    with pytest.raises(UserError, match="no profile"):
        sampling.parse_cpu_profile(b"text" * 20, SYMBOLS)


def test_symbols_of_a_program(tmp_path: Path) -> None:
    """Names, files, where it is loaded: of a program that is compiled here."""
    source, program = tmp_path / "a.c", tmp_path / "a"
    source.write_text("int one(int x) { return x + 1; }\n"
                      "int main(int n, char **v) { return one(n); }\n")
    subprocess.run(["gcc", "-O0", "-g1", "-no-pie", source, "-o", program],
                   check=True)
    symbols = sampling.Symbols(program)
    start = next(a for a, f in zip(symbols.starts, symbols.frames)
                 if f.name == "one")
    assert symbols.at(start + 1) == Frame("one")
    assert symbols.base > 0
    assert symbols.named(start + 1 - symbols.base, "one") == Frame("one")
    assert symbols.named(start + 1, "two") is None
    assert symbols.at(0) is None


def test_parts_sum_to_the_whole() -> None:
    """Only the run counts, from its call on."""
    main, fill = Frame("main", "sim/main.c"), Frame("player_fill", "sim/player.c")
    stacks = Counter({(main, RUN, POP): 3, (main, RUN, TAKE): 1,
                      (main, fill, POP): 50})
    run = profile.of_run(stacks)
    assert run == Counter({(RUN, POP): 3, (RUN, TAKE): 1})
    rows = {r["name"]: r for r in profile.part_rows("gc", run, 400, "request")}
    assert rows["profile_gc"]["ours"] == 400
    assert rows["profile_gc_event_queue"]["ours"] == 300
    assert rows["profile_gc_nand"]["ratio"] == .25
    assert sum(r["ours"] for n, r in rows.items() if n != "profile_gc") == 400


def test_each_file_has_a_part() -> None:
    """No source of the simulator counts as a library."""
    for folder in ("core", "nand", "ftl", "sim", "hw-ssd/nvme", "hw-ssd/rules"):
        for path in (profile.paths.PROJECT / folder).rglob("*.c"):
            file = str(path.relative_to(profile.paths.PROJECT))
            assert profile.part_of(Frame("f", file)) != profile.OTHER, file


def test_device_stacks() -> None:
    """Threads with spaces in their names; a function's file by its name."""
    files = profile.functions()
    assert files["eventq_pop"] == "core/eventq.c"
    text = ("CPU 0/TCG  400010 eventq_pop.lto_priv.0\n"
            "CPU 0/TCG  7f0012345678 [unknown]\n"
            "qemu-system-x86 ffffffff81000000 do_syscall_64\nnothing\n")
    found = profile.device_stacks(text, files)
    assert found[(Frame("CPU 0/TCG"), POP)] == 1
    guest = Frame(profile.GUEST)
    assert found[(Frame("CPU 0/TCG"), guest)] == 1
    assert profile.part_of(guest) == profile.GUEST
    assert found[(Frame("qemu-system-x86"), Frame(sampling.KERNEL))] == 1
    assert sum(found.values()) == 3


def test_flame_graph() -> None:
    """Widths are shares; names are escaped; a box is above its caller."""
    stacks = {(("a<b", "x"), ("c", "y")): 3, (("a<b", "x"),): 1}
    text = flame.svg("t & u", stacks, lambda share: f"{share:.2f}")
    root = ET.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    boxes = {}
    for group in root.iter(f"{space}g"):
        title, box = group.find(f"{space}title"), group.find(f"{space}rect")
        assert title is not None and box is not None and title.text
        boxes[title.text.split()[0]] = (float(box.attrib["width"]),
                                        float(box.attrib["y"]), title.text)
    assert boxes["a<b"][0] == flame.WIDTH and boxes["c"][0] == flame.WIDTH * .75
    assert boxes["c"][1] < boxes["a<b"][1]
    assert boxes["c"][2].endswith("0.75")


def test_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path,
                 monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, before anything is built."""
    for words, says in ((["profile"], "name one load: read,"),
                        (["profile", "nope"], "no load 'nope': one of read,"),
                        (["profile", "read", "write"], "name one load"),
                        (["profile", "read", "--output", str(tmp_path)],
                         f"--output {tmp_path}: Is a directory"),
                        (["sim", "--output", "x"], "only with profile")):
        assert cli.main(["bench", *words]) == 1
        err = capsys.readouterr().err
        assert says in err and err.count("\n") == 1, err
    monkeypatch.setattr(sampling, "perf_works", lambda: "there is no perf")
    assert cli.main(["bench", "profile", "device"]) == 1
    assert "needs perf (linux-perf): there is no perf" in capsys.readouterr().err


def test_names_in_the_help() -> None:
    """The command's list is the module's."""
    assert profile.NAMES == cli_bench.PROFILES


def test_without_perf(monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                      capsys: pytest.CaptureFixture[str]) -> None:
    """The fallback is said, and is used."""
    program = tmp_path / "a"
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-no-pie", tmp_path / "a.c", "-o", program], check=True)
    monkeypatch.setattr(sampling, "perf_works", lambda: "there is no perf")
    used: list[str] = []

    def by_signal(args: list[str], _symbols: Any, _folder: Path) -> Any:
        used.extend(args)
        return Counter(), ""

    monkeypatch.setattr(sampling, "_by_signal", by_signal)
    sampling.sample(program, ["x"])
    assert used == [str(program), "x"]
    assert "there is no perf: sampling with libprofiler" in capsys.readouterr().err
