# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd kernel, and the options of ./vssd run that choose a kernel: what is
refused, and what patches do to a tree.  Needs no network and builds nothing."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from vssd.build import aptsrc, guest_tools, kernel_build, kernel_source
from vssd.build.kernel_source import Wanted
from vssd.cli import main as cli
from vssd.errors import UserError
from vssd.guest import image, suite_kernel
from vssd.proc import log_file
from vssd.ui import Stage

MAKEFILE = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 3\nEXTRAVERSION =\n"
GOOD = """\
--- a/mm/one.c
+++ b/mm/one.c
@@ -1,3 +1,4 @@
 a
 b
+x
 c
"""
BAD = GOOD.replace(" b\n", " not there\n").replace(" a\n", " nor this\n")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test."""
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("VSSD_NO_PACKAGES", "1")
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def tree_in(folder: Path) -> Path:
    """What a kernel tree has of what we look at."""
    (folder / "mm").mkdir(parents=True)
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "Kbuild").touch()
    (folder / "mm/one.c").write_text("a\nb\nc\n")
    return folder


def series_in(folder: Path, **patches: str) -> Path:
    """Patches of these names."""
    folder.mkdir()
    for name, text in patches.items():
        (folder / f"{name}.patch").write_text(text)
    return folder


def refused(*args: str) -> str:
    """The one line with which the command refuses this."""
    given = cli.parser().parse_args(list(args))
    with pytest.raises(UserError) as told:
        getattr(given, "check_arguments", lambda _: None)(given)
        given.call(given)
    text = str(told.value)
    assert text and "\n" not in text
    return text


def test_arguments_that_are_refused(tmp_path: Path) -> None:
    """Each names what is wrong with it."""
    empty = tmp_path / "empty"
    empty.mkdir()
    listed = series_in(tmp_path / "listed", a=GOOD)
    (listed / "series").write_text("a.patch\n# no more\nb.patch -p1\n")
    text = tmp_path / "text"
    text.write_text("no archive")
    for args, word in [
            (["--patches", str(tmp_path / "none")], "no such directory"),
            (["--patches", str(empty)], "no *.patch"),
            (["--patches", str(listed)], "b.patch"),
            (["--patches", str(listed), "--no-patches"], "exclude"),
            (["--source", str(tmp_path / "none")], "no such file"),
            (["--source", str(empty)], "no kernel source"),
            (["--source", str(text)], "no tar archive"),
            (["--config", str(tmp_path / "none")], "--config"),
            (["--name", "../x"], "--name"),
            (["--jobs", "-3"], "--jobs -3: allowed 0..1024, it is below 0")]:
        assert word in refused("kernel", "build", *args), args
    assert "kernel list" in refused("kernel", "remove", "nothing")
    assert "kernel list" in refused("kernel", "remove", "..")


def test_run_with_a_kernel_that_is_not_there(cache: Path) -> None:
    """The names that there are, and what does not go together."""
    assert "none is built" in refused("run", "--kernel", "mine", "--exec", "x")
    made = cache / "kernel-mine"
    made.mkdir()
    (made / "bzImage").write_bytes(b"x")
    (made / "kernel.json").write_text(json.dumps({"key": "1"}))
    assert "(mine)" in refused("run", "--kernel", "yours", "--exec", "x")
    assert kernel_build.find("mine") == made / "bzImage"
    disk = cache / "disk"
    disk.touch()
    for args, word in [
            (["--suite", "bullseye", "--disk", str(disk)], "--suite"),
            (["--param", "a=1", "--disk", str(disk)], "--param"),
            (["--param", "a=1", "--firmware", "seabios"], "--param"),
            (["--kernel", "mine", "--firmware", "ovmf"], "--firmware")]:
        assert word in refused("run", *args, "--exec", "x"), args


def test_names_of_kernels(tmp_path: Path) -> None:
    """After the patches, the source, or ours."""
    name = kernel_build.default_name
    assert name(Wanted()) == "streams"
    assert name(Wanted(unpatched=True)) == "debian"
    assert name(Wanted(patches=str(tmp_path / "my series"))) == "my-series"
    assert name(Wanted(source=str(tmp_path / "linux-6.18.tar.xz"))) == \
        "linux-6.18"
    assert name(Wanted(patches=str(tmp_path / "()"))) == "mine"


def test_a_patch_that_does_not_apply_is_named(tmp_path: Path, cache: Path) \
        -> None:
    """With its file and hunk; no half-patched tree stays; the source is as it
    was."""
    source = tree_in(tmp_path / "linux")
    patches = series_in(tmp_path / "p", one=GOOD, two=BAD)
    with pytest.raises(UserError, match=r"two\.patch does not apply to 6\.12\.3:"
                                        r" mm/one\.c: Hunk #1 FAILED"):
        kernel_source.prepare(Wanted(str(source), str(patches)), cache)
    assert not (cache / "source").exists()
    assert (source / "mm/one.c").read_text() == "a\nb\nc\n"


def test_a_tree_keeps_the_times_of_what_did_not_change(
        tmp_path: Path, cache: Path) -> None:
    """So that make(1) compiles only what a changed patch touches."""
    source = tree_in(tmp_path / "linux")
    patches = series_in(tmp_path / "p", one=GOOD)
    wanted = Wanted(str(source), str(patches))
    tree = kernel_source.prepare(wanted, cache)
    assert (tree / "mm/one.c").read_text() == "a\nb\nx\nc\n"
    os.utime(tree / "mm/one.c", (1000, 1000))
    again = kernel_source.prepare(wanted, cache)
    assert (again / "mm/one.c").stat().st_mtime == 1000
    (patches / "one.patch").write_text(GOOD.replace("+x", "+y"))
    before = kernel_source.identity(wanted)
    changed = kernel_source.prepare(wanted, cache)
    assert (changed / "mm/one.c").read_text() == "a\nb\ny\nc\n"
    assert (changed / "mm/one.c").stat().st_mtime > 1000
    (patches / "one.patch").write_text(GOOD)
    assert kernel_source.identity(wanted) != before


def test_an_archive(tmp_path: Path, cache: Path) -> None:
    """Its one folder is the tree; an archive of something else is refused."""
    tree_in(tmp_path / "linux-6.12.3")
    path = tmp_path / "linux.tar"
    with tarfile.open(path, "w") as tar:
        tar.add(tmp_path / "linux-6.12.3", "linux-6.12.3")
    tree = kernel_source.prepare(Wanted(str(path)), cache)
    assert kernel_source.version_of(tree) == "6.12.3"
    with tarfile.open(path, "w") as tar:
        tar.addfile(tarfile.TarInfo("nothing"), io.BytesIO())
    with pytest.raises(UserError, match="no kernel source"):
        kernel_source.prepare(Wanted(str(path)), cache)


def test_our_series_is_in_order() -> None:
    """Numbered from 1 on, each with a subject that says of how many."""
    files = kernel_source.patch_files(kernel_source.OUR_PATCHES)
    assert len(files) == 5
    for i, path in enumerate(files, start=1):
        assert path.name.startswith(f"{i:04d}-")
        assert f"Subject: [PATCH {i}/{len(files)}]" in path.read_text()


def test_guest_tools_speak_up(tmp_path: Path) -> None:
    """Each tool builds, and refuses nonsense with one line and a status."""
    made = guest_tools.build(tmp_path)
    assert set(made) == set(guest_tools.TOOLS)
    for name, args, status, word in [
            ("streamrun", [], 125, "usage: streamrun"),
            ("streamrun", ["-r", "x=1", "true"], 125, "absolute path"),
            ("streamrun", ["-r", "/x=256", "true"], 125, "0..255"),
            ("streamrun", ["-r", "/x=-1", "true"], 125, "a number"),
            ("streamrun", ["-m", "uring", "-r", "/x=1", "true"], 125,
             "fadvise, ioctl, hint or auto"),
            ("streamrun", ["--ioctl", "-r", f"{tmp_path}/*=1", "true"], 125,
             "no ioctl for streams"),
            ("streamwrite", [], 2, "usage: streamwrite"),
            ("streamwrite", ["-n", "0", "/"], 2, "-n 0: allowed 1..255"),
            ("streamwrite", ["-s", "x", "/"], 2, "-s x: allowed"),
            ("streamwrite", ["-c", "12", "/"], 2, "must divide"),
            ("streamwrite", ["-m", "magic", "/"], 2, "-m magic"),
            ("streamwrite", [str(tmp_path / "none")], 2, "No such file"),
            ("vssdctl", ["stats", "x"], 2, "usage: vssdctl"),
            ("vssdctl", ["-d", "/dev/null", "stats"], 2, "not a vssd drive"),
            ("vssdctl", ["where", str(tmp_path / "none")], 2, "No such file")]:
        done = subprocess.run([str(made[name]), *args], text=True,
                              capture_output=True, check=False)
        assert done.returncode == status, (name, args, done.stderr)
        assert word in done.stderr, (name, args, done.stderr)


def test_an_image_of_a_suite_that_is_not_there() -> None:
    """Refused when the arguments are read."""
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["run", "--suite", "potato"])


def test_how_long_a_build_took(cache: Path) -> None:
    """By the clock and by the processors; an older kernel knows the one."""
    assert kernel_build.minutes(59) == "59 s"
    assert kernel_build.minutes(723) == "12 min 3 s"
    kernel = kernel_build.Kernel(cache / "kernel-x")
    kernel.folder.mkdir()
    for facts, said in (({"seconds": 61, "cpu_seconds": 100},
                         "1 min 1 s, with 1 min 40 s of CPU time"),
                        ({"seconds": 5}, "5 s")):
        (kernel.folder / "kernel.json").write_text(json.dumps(facts))
        assert kernel_build.took(kernel) == said


def test_kernels_of_an_earlier_version_are_listed(
        cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their facts do not say where the patches came from."""
    folder = cache / "kernel-x"
    folder.mkdir()
    (folder / "bzImage").touch()
    (folder / "kernel.json").write_text(json.dumps(
        {"release": "6.12.1-vssd", "source": "a tree", "patches": ["1.patch"],
         "config": "", "built": 0, "seconds": 5}))
    given = cli.parser().parse_args(["kernel", "list"])
    assert given.call(given) == 0
    out = capsys.readouterr()
    assert "1 of ?" in out.out + out.err


def test_more_packages() -> None:
    """Names are put in order; an image without more is the one it was."""
    assert image.check_packages(" bb,a++,,bb ") == ("a++", "bb")
    assert image.check_packages("") == ()
    for bad in ("a b", "A", "-x", "a;b", "../x"):
        with pytest.raises(UserError, match="--packages"):
            image.check_packages(bad)
    keys = {image._root_key("trixie", more)
            for more in ((), ("a",), ("a", "b"))}
    assert len(keys) == 3 and image._root_key("trixie") in keys


def repository(folder: Path, packages: list[str]) -> aptsrc.Source:
    """An apt repository on this disk."""
    index = folder / "dists/s/main/binary-amd64/Packages"
    index.parent.mkdir(parents=True)
    index.write_text("".join(
        f"Package: {name}\nVersion: 1\nArchitecture: amd64\nFilename: x.deb\n"
        f"Size: 1\nSHA256: {'0' * 64}\nDescription: x\n\n" for name in packages))
    return aptsrc.Source(f"file:{folder}", "s", ("main",), trusted=True)


def test_kernels_before_the_newest(tmp_path: Path) -> None:
    """Newest first, of the plain flavour, without the newest itself."""
    source = repository(tmp_path / "r", [
        f"linux-image-{v}+deb13{f}-amd64" for v in
        ("6.16.3", "6.9.1", "7.3.4", "6.16.12", "6.18.5", "6.17.1")
        for f in ("", "-cloud", "-rt")] + ["linux-image-amd64", "linux-base"])
    assert image.older_kernels("s", [source]) == [
        f"linux-image-{v}+deb13-amd64" for v in
        ("6.18.5", "6.17.1", "6.16.12", "6.16.3")]


def test_a_kernel_that_the_mirror_only_lists(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one before is taken; any other failure is told as it is."""
    tried: list[str] = []
    said = "E: Failed to fetch http://mirror/x.deb  404  Not Found"

    def fail_twice(_to: Path, _base: str, _sources: list[aptsrc.Source],
                   kernel: str, _stage: Stage, _more: tuple[str, ...]) -> None:
        tried.append(kernel)
        log_file("mmdebstrap").write_text(said)
        if len(tried) < 3:
            raise UserError("mmdebstrap failed")

    monkeypatch.setattr(image, "_mmdebstrap", fail_twice)
    monkeypatch.setattr(image, "older_kernels", lambda *_: ["k2", "k3", "k4"])
    with Stage("x") as stage:
        image._install(tmp_path / "t", "http://mirror", stage,
                       "trixie-backports")
        assert tried == ["linux-image-amd64/trixie-backports",
                         "k2/trixie-backports", "k3/trixie-backports"]
        tried.clear()
        said = "E: No space left on device"
        with pytest.raises(UserError):
            image._install(tmp_path / "t", "http://mirror", stage,
                           "trixie-backports")
        assert len(tried) == 1


def test_shared_kernel_is_not_built_again(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the shared cache, if it is of the same inputs."""
    def build(*_: object) -> None:
        raise AssertionError("built")
    monkeypatch.setattr(kernel_build, "_build", build)
    monkeypatch.setattr(kernel_build.packages, "ensure", lambda *_: None)
    folder = tmp_path / "shared/kernel-streams"
    folder.mkdir(parents=True)
    monkeypatch.setenv("VSSD_SHARED_CACHE", str(folder.parent))
    (folder / "bzImage").touch()
    for key, ready in ((kernel_build._key(Wanted(), None), True),
                       ("other", False)):
        (folder / "kernel.json").write_text(json.dumps({"key": key}))
        if ready:
            assert kernel_build.ensure(Wanted()).folder == folder
        else:
            with pytest.raises(AssertionError, match="built"):
                kernel_build.ensure(Wanted())


def test_series() -> None:
    """A suite may have kernels of a newer series than the one it installs."""
    names = {v: f"linux-image-{v}-amd64" for v in
             ("6.1.0-47", "6.1.0-56", "6.12.117+deb12")}
    found = suite_kernel.of_series(names, ["linux-image-6.1.0-56-amd64"])
    assert list(found) == ["6.1.0-47", "6.1.0-56"]
    assert suite_kernel.of_series(names, []) == names
