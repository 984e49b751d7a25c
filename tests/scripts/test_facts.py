# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd profile: rules from facts to options (docs/profiles.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from vssd import tomlfile
from vssd.cli import main as cli
from vssd.cli import profile
from vssd.errors import UserError
from vssd.paths import PROJECT
from vssd.sim import facts, validation

DRIVES = {d.name: d for d in facts.read()}
PM9A3 = "Samsung PM9A3 960 GB"

MINE = """\
[nand.slow]
what = "a slow die"
die_gbit = 256
planes = 2
page_kib = 16
cell = "tlc"
tr_us = 62.5
die_mb_s = 40
bus_mt_s = 800
tbers_us = 6000
block_pages = 768
source = "none"

[[drive]]
name = "mine"
profile = "mine"
date = 2018
capacity = 240000000000
dies = 8
nand = "slow"
plp = false
rated = { read_mb_s = 2000, write_mb_s = 300, read_iops = 200000, write_iops = 5000 }
source = "none"
"""


def test_shipped_profiles() -> None:
    """Profiles from facts are what the rules make of the facts."""
    first = {d.profile: d for d in reversed(DRIVES.values())}
    assert first
    for name, drive in first.items():
        shipped = PROJECT / "profiles" / f"{name}.ini"
        assert shipped.read_text(encoding="utf-8") == facts.text(drive), name


def test_scale() -> None:
    """The head says the real capacity, and how to play all of it."""
    for name, drive in DRIVES.items():
        head = facts.text(drive).partition("[nand]")[0].replace("\n#        ", "")
        assert "# Scale:" in head, name
        if drive.zones:
            continue
        sets = dict(s.split("=") for s in facts.whole(drive))
        size = int(sets["nand.pages"]) * int(sets["nand.blocks"]) * drive.row
        assert size == pytest.approx(drive.raw, rel=2e-3), name
        assert all(f"{key}={value}" in head for key, value in sets.items())
        assert f"of {drive.capacity / 1e9:.0f} GB" in head
        assert ("ftl.hmb" in sets) == (drive.hmb_mib is not None)
        assert ("ftl.slc_fold_delay" in sets) == (drive.slc is not None)


def mine(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """The file, with texts replaced."""
    text = MINE
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_rules(tmp_path: Path) -> None:
    """Each rule, by hand, for a drive that is not shipped."""
    drive, = facts.read(mine(tmp_path))
    found = facts.options(drive)
    nand = found["nand"]
    assert (nand["channels"], nand["dies"], nand["pages"]) == ("8", "1", "12")
    assert nand["blocks"] == "1365"  # 16 GiB a plane of 12 MiB blocks
    assert [nand[k] for k in ("read", "read_2", "read_3")] == \
        ["58500ns", "70500ns", "58500ns"]  # 62.5 us in the mean
    assert nand["erase"] == "93750ns"  # 6 ms x 12 / 768
    assert nand["program"] == "2621us"  # 96 KiB at 300 / 8 MB/s
    assert found["ftl"]["op_percent"] == "14.5%"
    assert "gc_pace" not in found["ftl"]  # no PLP
    assert "gc_urgent" not in found["ftl"]
    assert facts.options(DRIVES[PM9A3])["ftl"]["gc_pace"] == "even"
    assert facts.options(DRIVES[PM9A3])["ftl"]["gc_urgent"] == "1ms"
    assert facts.options(DRIVES[PM9A3])["host"]["queue_depth"] == "384"
    assert found["superblock"]["row_wait"] == "10ms"
    host = found["host"]
    assert (host["link_mb_s"], host["max_iops"]) == ("2000", "200000")
    assert host["max_write_iops"] == "5000"  # the array does 15,700
    assert "max_write_mb_s" not in host
    assert "queue_depth" not in host  # without PLP


@pytest.mark.parametrize(("write_iops", "percent"), [
    (15_000, "14.5%"),  # the array does 15,700
    (17_000, "15.8%"),  # 0.85 x 300 MB/s / 4 KiB x 2 s / (1 + s)
    (20_000, "19.1%"),
    (21_000, "14.5%"),  # beyond 1.3 times: of something else
])
def test_spare_that_the_rated_writes_need(
        tmp_path: Path, write_iops: int, percent: str) -> None:
    """More than the nominal size of the dies, and the whole drive has it."""
    drive, = facts.read(mine(tmp_path, ("write_iops = 5000",
                                        f"write_iops = {write_iops}")))
    assert facts.options(drive)["ftl"]["op_percent"] == percent
    assert drive.raw / drive.capacity - 1 == \
        pytest.approx(float(percent[:-1]) / 100, abs=5e-4)


def test_rate_of_a_die(tmp_path: Path) -> None:
    """A rated rate far from the die's is that of something else."""
    drive, = facts.read(mine(tmp_path, ("write_mb_s = 300", "write_mb_s = 150")))
    found = facts.options(drive)
    assert found["nand"]["program"] == "2458us"  # 96 KiB at 40 MB/s
    assert found["host"]["max_write_mb_s"] == "150"


def test_unknown_facts(tmp_path: Path) -> None:
    """A rate that nobody gave is no limit; channels are those of the drive."""
    drive, = facts.read(mine(
        tmp_path, ("rated = { read_mb_s = 2000, write_mb_s = 300,"
                   " read_iops = 200000, write_iops = 5000 }",
                   "channels = 4\nrated = { read_mb_s = 2000 }")))
    found = facts.options(drive)
    assert (found["nand"]["channels"], found["nand"]["dies"]) == ("4", "2")
    assert found["nand"]["program"] == "2458us"  # 96 KiB at the die's 40 MB/s
    assert not any(key.startswith("max_") for key in found["host"])


def cached(tmp_path: Path, slc: str, more: str = "") -> dict[str, dict[str, str]]:
    """The options of the drive with an SLC cache."""
    drive, = facts.read(mine(tmp_path, ("plp = false",
                                        f"plp = false\nslc = {{{slc}}}{more}")))
    return facts.options(drive)


def test_slc_cache(tmp_path: Path) -> None:
    """Of 275 GB of cells 36 + 9 GB are 15 GB of cache; its rates are rated."""
    found = cached(tmp_path, "gb = 15, static_gb = 3, after_mb_s = 280")
    nand, ftl, host = (found[s] for s in ("nand", "ftl", "host"))
    assert nand["slc_blocks"] == "45"  # 1365 x 9 / 274.9
    assert nand["slc_program"] == "200us"  # 8 dies need no more for 300 MB/s
    assert nand["program"] == "2809us"  # 96 KiB at 280 / 8 MB/s
    assert ftl["op_percent"] == "10.8%"  # 274.9 x (1 - 45 / 1365) / 240
    assert ftl["slc_dynamic"] == "13.5%"  # 36 / 265.8
    assert (ftl["slc_fold_at"], ftl["slc_when_full"]) == ("0%", "direct")
    assert ftl["slc_fold_delay"] == "78106us"  # 5 s x 12 / 768
    assert host["max_write_mb_s"] == "300"  # though the array is as fast
    assert host["max_write_iops"] == "5000"


def test_slc_cache_of_which_nothing_is_known(tmp_path: Path) -> None:
    """Half of the cells; the host waits for folding."""
    found = cached(tmp_path, "")
    assert "slc_blocks" not in found["nand"]
    assert found["nand"]["program"] == "2458us"  # of the die
    ftl = found["ftl"]
    assert ftl["slc_dynamic"] == "50.0%"
    assert (ftl["slc_fold_at"], ftl["slc_when_full"]) == ("2%", "fold")


def test_slc_mode_is_as_fast_as_rated(tmp_path: Path) -> None:
    """256 KiB in 8 dies at 2000 MB/s."""
    drive, = facts.read(mine(tmp_path, ("plp = false", "plp = false\nslc = {}"),
                             ("write_mb_s = 300", "write_mb_s = 2000")))
    assert facts.options(drive)["nand"]["slc_program"] == "131us"


def test_no_dram(tmp_path: Path) -> None:
    """16 MiB are 4 Mi entries, 8 bytes each in a 64th of the drive."""
    ftl = cached(tmp_path, "", "\nhmb_mib = 16")["ftl"]
    assert (ftl["map"], ftl["map_cache"]) == ("dftl", "64KiB")
    assert ftl["hmb"] == "512KiB"  # 32 MiB x 12 / 768
    assert "map" not in cached(tmp_path, "")["ftl"]


def test_by_rule_on_the_board() -> None:
    """The options of each such drive of profiles/drives.toml are what the rules
    say: those of its profile, changed."""
    named = {name.replace(" GB", "GB").replace(" TB", "TB"): d
             for name, d in DRIVES.items()}
    first = {d.profile: d for d in reversed(DRIVES.values())}
    shipped = tomlfile.load(PROJECT / "profiles/drives.toml", "")["drive"]
    by_rule = [d for d in shipped if d.get("by_rule")]
    assert len(by_rule) > 10
    for drive in by_rule:
        mine, base = named[drive["name"]], first[drive["profile"]]
        assert drive.get("set", []) == facts.changes(mine, base), drive["name"]
        assert drive["capacity"] == mine.capacity


def test_brother() -> None:
    """Capacity and rated figures alone; the cells are the same."""
    large = DRIVES["Samsung PM9A3 7.68 TB"]
    assert facts.changes(large, DRIVES[PM9A3]) == [
        "nand.blocks=199", "nand.dies=16", "host.max_iops=900000",
        "host.max_write_iops=200000", "host.max_write_mb_s=3500"]


def test_brothers_of_the_published_figures() -> None:
    """Their options are what the rules say."""
    base = DRIVES[PM9A3]
    pairs = {"Samsung PM9A3 U.2 7.68 TB": "Samsung PM9A3 7.68 TB",
             "Samsung PM9A3 M.2 3.84 TB": "Samsung PM9A3 M.2 3.84 TB"}
    found = {d.name: list(d.sets) for d in validation.read().drives}
    cached = "Samsung 970 EVO Plus 1 TB"
    assert found[cached] == facts.changes(DRIVES[cached],
                                          DRIVES["Sabrent Rocket 4 Plus 2 TB"])
    for published, name in pairs.items():
        assert found[published] == facts.changes(DRIVES[name], base)


def test_two_of_a_name(tmp_path: Path) -> None:
    """The later one would hide the first."""
    path = mine(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text + text[text.index("[[drive]]"):], encoding="utf-8")
    with pytest.raises(UserError, match="two drives have one name"):
        facts.read(path)


@pytest.mark.parametrize(("old", "new", "says"), [
    ('nand = "slow"', 'nand = "fast"', "mine: nand=fast: allowed samsung-128"),
    ("dies = 8", "dies = 12", "mine: dies=12: must be a multiple of 8"),
    ("dies = 8", "dies = 2", "mine: dies=2: hold 69 GB, less than the"),
    ("plp = false", "plp = false\nchannels = 0", "mine: channels=0: allowed"),
    ("plp = false", "plp = false\nchannels = 3", "dies=8: must be a multiple"
     " of 3"),
    ("tr_us = 62.5", "tr_us = 0", "nand.slow: tr_us=0: must be above 0"),
    ("planes = 2\n", "", "nand.slow: planes is missing"),
    ("read_mb_s = 2000, ", "", "mine: rated: read_mb_s is missing"),
    ("plp = false", 'plp = "no"', "mine: plp=no: must be bool"),
    ('cell = "tlc"', 'cell = "plc"', "cell=plc: allowed slc, mlc"),
    ("planes = 2", "planes = true", "planes=True: must be int"),
    ("dies = 8", 'brother = "x"', "mine: brother=x: no such drive"),
    ("plp = false", "plp = false\nplpp = true", "mine: plpp: no such fact"),
    ("tr_us = 62.5", "tr_us = 62.5\nt_r = 1", "nand.slow: t_r: no such fact"),
    ("plp = false", "plp = false\nslc = { mb = 1 }", "mine: slc: mb: no such"),
    ("plp = false", "plp = false\nslc = { gb = 0 }", "slc: gb=0: must be above"),
    ("plp = false", "plp = false\nslc = 3", "mine: slc=3: must be a table"),
    ("plp = false", "plp = false\nhmb_mib = true", "hmb_mib=True: must be"),
    ("plp = false", "plp = false\nslc = { gb = 1, static_gb = 2 }",
     "mine: slc: gb=1: must be above static_gb"),
    ("plp = false", "plp = false\nslc = { gb = 92 }",
     "mine: slc: gb=92: the cells hold 91"),
    ("write_iops = 5000", "write_iops = 5000, depth = 1",
     "rated: depth: no such fact"),
])
def test_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    """One line with file, drive and fact."""
    path = mine(tmp_path, (old, new))
    with pytest.raises(UserError) as e:
        facts.read(path)
    assert str(e.value).startswith("mine.toml: ")
    assert says in str(e.value)
    assert "\n" not in str(e.value)


def run(*args: str) -> int:
    """The command in this process."""
    found = cli.parser().parse_args(["profile", *args])
    profile.check(found)
    return profile.main(found)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """List, print, write; a wrong name."""
    assert run() == 0
    assert PM9A3 in capsys.readouterr().out
    assert run(PM9A3) == 0
    printed = capsys.readouterr().out
    out = tmp_path / "p.ini"
    assert run(PM9A3, "-o", str(out)) == 0
    assert out.read_text(encoding="utf-8") == printed
    with pytest.raises(UserError, match="no drive 'Samsung PM9A3'"):
        run("Samsung PM9A3")
    with pytest.raises(UserError, match="-o: name the drive, too"):
        run("-o", str(out))
