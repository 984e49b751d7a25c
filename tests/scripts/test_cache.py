# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd cache, programs that are kept by contents, and the shared cache."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from vssd import paths, rundir
from vssd.build import kernel_build, model, programs, qemu_build, venv
from vssd.cli import cache as cmd_cache
from vssd.cli import main as cli
from vssd.errors import UserError
from vssd.guest import cache as cache_module
from vssd.guest import image

SUM = "0123456789abcdef"
REAL = os.environ.get("VSSD_CACHE")  # where the programs of the tests are


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test."""
    monkeypatch.setenv("VSSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VSSD_RUNS", raising=False)
    monkeypatch.delenv("VSSD_SHARED_CACHE", raising=False)
    return paths.cache_dir()


def built(folder: Path, source: Path) -> Path:
    """As a build directory of Meson's."""
    (folder / "meson-info").mkdir(parents=True)
    (folder / "meson-info/meson-info.json").write_text(json.dumps(
        {"directories": {"source": str(source)}}))
    return folder


def made_image(folder: Path, suite: str = "trixie", packages: object = ()) \
        -> Path:
    """As a complete image."""
    folder.mkdir()
    (folder / "image.json").write_text(json.dumps(
        {"partuuid": "x", "suite": suite, "packages": packages}))
    return folder


def old_names() -> set[str]:
    """What clean would remove."""
    return {e.path.name for e in cache_module.entries() if e.old}


def run(*words: str) -> int:
    """./vssd cache, in this process."""
    return cmd_cache.main(cli.parser().parse_args(["cache", *words]))


def test_old_builds(cache: Path, tmp_path: Path) -> None:
    """Of clones that have gone; those of clones that are there stay."""
    here, gone = tmp_path / "here", tmp_path / "gone"
    here.mkdir()
    for name, clone in (("a", here), ("b", gone)):
        tree = cache / f"qemu-{name}"
        (tree / "subprojects").mkdir(parents=True)
        (tree / "subprojects/vssd").symlink_to(clone)
        built(cache / f"build-{name}", tree)
        built(cache / f"model-release-{name}", clone)
    (cache / "build-unknown").mkdir()
    (cache / "image-x.part").mkdir()
    assert old_names() == {"qemu-b", "build-b", "model-release-b",
                           "image-x.part"}
    shutil.rmtree(cache / "qemu-b")
    assert "build-b" in old_names()


def test_old_images(cache: Path) -> None:
    """Of another recipe, but for those behind a guest's kept writes."""
    now = made_image(cache / image.image_name("trixie", ("jq",)), "trixie",
                     ["jq"])
    made_image(cache / f"image-{SUM}")
    kept = made_image(cache / f"image-{SUM[::-1]}")
    (cache / f"kept-{SUM[::-1]}.qcow2").write_bytes(bytes(10_000))
    (cache / image.root_name("trixie", ("jq",))).write_bytes(bytes(10_000))
    (cache / f"root-{SUM}.tar").write_bytes(bytes(10_000))
    assert old_names() == {f"image-{SUM}", f"root-{SUM}.tar"}
    assert run("clean") == 0
    assert now.exists() and kept.exists() and old_names() == set()
    (cache / f"kept-{SUM[::-1]}.qcow2").rename(
        cache / f"libvirt-db-{SUM[::-1]}.qcow2")
    assert old_names() == set()


def test_clean_and_remove(cache: Path, capsys: pytest.CaptureFixture[str]) \
        -> None:
    """What is shown is what goes; not while a guest runs."""
    part = cache / "image-1.part"
    part.mkdir()
    (part / "x").write_bytes(b"x" * 3_000_000)
    kernel = cache / "kernel-mine"
    kernel.mkdir()
    with rundir.rundir() as folder:
        rundir.describe(folder, {"name": "db"})
        for words in (["clean"], ["remove", "--all"]):
            with pytest.raises(UserError, match="stop them first: db"):
                run(*words)
    with rundir.apart() as runs:
        with pytest.raises(UserError, match=r"first: ./vssd test \(t-"):
            run("clean")
        with rundir.rundir(runs) as folder:
            guest = folder.rename(runs / "run-1")
            rundir.describe(guest, {"name": "of-a-test"})
            with pytest.raises(UserError, match="first: of-a-test, "):
                run("remove", "--all")
            guest.rename(folder)
    assert run("du") == 0
    said = capsys.readouterr().out
    assert "3 MiB old" in said and "image-1.part" in said
    run("clean", "--dry-run")
    assert part.exists()
    said = capsys.readouterr()
    assert "image-1.part: guest image, 3 MiB" in said.out
    assert said.err == "vssd: would free 3 MiB\n"
    run("clean")
    assert not part.exists() and kernel.exists()
    run("remove", "kernel-mine")
    assert not kernel.exists() and cache.exists()


@pytest.mark.parametrize("words, says", [
    (["du", "x"], "cache du: what is 'x'"),
    (["clean", "x"], "cache clean: what is 'x'"),
    (["clean", "--all"], "--all goes with cache remove only"),
    (["du", "--dry-run"], "--dry-run goes with"),
    (["remove"], "give NAMEs"), (["remove", "x", "--all"], "give NAMEs"),
    (["remove", "../x"], "the cache has no such entry"),
    (["remove", "locks"], "the cache has no such entry"),
])
def test_refused(words: list[str], says: str) -> None:
    """In one line."""
    with pytest.raises(UserError, match=says):
        run(*words)


def clone(tmp_path: Path, name: str) -> Path:
    """A second clone of what is committed, and of what is not yet."""
    to = tmp_path / name
    for part in ("core", "nand", "ftl", "hw-ssd", "lib", "sim", "tools", "profiles"):
        shutil.copytree(paths.PROJECT / part, to / part, symlinks=True)
    for name in ("meson.build", "meson_options.txt"):
        shutil.copy(paths.PROJECT / name, to)
    return to


def test_a_second_clone_builds_nothing(
        cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It finds the programs of the first, until its contents differ."""
    builds: list[str] = []
    first, second = (clone(tmp_path, name) for name in "ab")
    out = tmp_path / "out"
    for name in (*qemu_build.TARGETS, "sim/vssd-sim"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(name)

    def build_qemu(*_: object) -> qemu_build.Qemu:
        builds.append("qemu")
        return qemu_build.Qemu(out)

    def build_sim(*_: object) -> Path:
        builds.append("sim")
        return out

    monkeypatch.setattr(qemu_build, "_ensure_build", build_qemu)
    monkeypatch.setattr(model, "ensure", build_sim)
    monkeypatch.setattr(model, "PROJECT", first)
    found = []
    for folder in (first, second, first):
        monkeypatch.setattr(programs, "PROJECT", folder)
        found.append((qemu_build.ensure().emulator, model.portable_sim()))
    assert builds == ["qemu", "sim"] and len(set(found)) == 1
    assert found[0][0].read_text() == "qemu-system-x86_64"
    assert (found[0][1].parent / "profiles/tiny.ini").exists()
    monkeypatch.setattr(programs, "PROJECT", second)
    (second / "profiles/tiny.ini").write_text("[nand]\n")
    assert (qemu_build.ensure().emulator, model.portable_sim())[0] == found[0][0]
    assert builds == ["qemu", "sim", "sim"]
    (second / "core/crc.c").write_text("int x;\n")
    qemu_build.ensure()
    assert builds[3:] == ["qemu"]


def test_a_living_clone_keeps_its_programs(
        cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last set of each kind, however many others there are."""
    (tmp_path / "vssd-sim").write_text("")
    living, gone = tmp_path / "living", tmp_path / "gone"
    living.mkdir()
    for clone_of, name in ((living, "old"), (living, "mine"), (gone, "gone")):
        monkeypatch.setattr(programs, "PROJECT", clone_of)
        programs.keep(name, [tmp_path / "vssd-sim"])
    monkeypatch.setattr(programs, "PROJECT", tmp_path / "third")
    for i in range(programs.MOST + 2):
        programs.keep(f"{i}", [tmp_path / "vssd-sim"])
    names = {p.name.removeprefix(programs.PREFIX) for p in programs.by_use()}
    assert names == {"mine", *map(str, range(2, programs.MOST + 2))}
    assert "mine" not in {p.name for p in programs.unused(0)}


def test_a_build_waits_for_no_other_clone(
        cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    """Each clone's build has a lock of its own."""
    monkeypatch.setattr(model.packages, "ensure", lambda *_: None)
    monkeypatch.setattr(model.venv, "ensure", lambda: tmp_path)
    monkeypatch.setattr(model, "configure", lambda *_: None)
    monkeypatch.setattr(model, "up_to_date", lambda *_: True)
    with paths.locked(model.build_dir("release").name):
        monkeypatch.setattr(model, "PROJECT", tmp_path / "other")
        assert model.ensure("release") == model.build_dir("release")
    assert "waiting" not in capsys.readouterr().err


def test_sources_that_change_during_a_build(tmp_path: Path) -> None:
    """Then its programs are of no contents that are known."""
    source = tmp_path / "program"
    source.write_text("one")
    builds: list[str] = []

    def build() -> tuple[list[Path], list[Path]]:
        builds.append(source.read_text())
        if len(builds) == 1:
            source.write_text("two")
        return [source], []

    folder = programs.ensure(source.read_text, build)
    assert builds == ["one", "two"]
    assert folder.name == "programs-two"
    assert (folder / "program").read_text() == "two"
    assert programs.find("one") is None


def test_profiles_beside_the_program(
        cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """vssd-sim reads those, wherever it was built; it knows no other clone's."""
    if REAL is None:
        monkeypatch.delenv("VSSD_CACHE")
    else:
        monkeypatch.setenv("VSSD_CACHE", REAL)
    program = shutil.copy(model.portable_sim(), tmp_path)
    (tmp_path / "profiles").mkdir()
    text = (paths.PROJECT / "profiles/tiny.ini").read_text()
    (tmp_path / "profiles/mine.ini").write_text(text)
    for name, status in (("mine", 0), ("mine.ini", 0), ("tiny", 1), ("none", 1)):
        done = subprocess.run([program, "info", "--profile", name],
                              capture_output=True, check=False)
        assert done.returncode == status, done.stderr


def test_the_commit_is_of_the_key(tmp_path: Path,
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    """Since the programs tell it."""
    folder = clone(tmp_path, "a")
    monkeypatch.setattr(programs, "PROJECT", folder)
    before = programs.key("qemu", programs.DEVICE)
    for words in (["init", "-q"], ["add", "-A"],
                  ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm",
                   "x"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    assert programs.key("qemu", programs.DEVICE) != before


def test_shared_cache(cache: Path, tmp_path: Path,
                      monkeypatch: pytest.MonkeyPatch) -> None:
    """What is complete there need not be made; nothing is written there."""
    shared = tmp_path / "shared"
    shared.mkdir()
    made = made_image(shared / image.image_name("trixie"))
    for name in ("a", "b"):
        (shared / f"kernel-{name}").mkdir()
        (shared / f"kernel-{name}/bzImage").touch()
    (shared / "kernel-a/kernel.json").write_text('{"key": "x"}')
    (shared / "programs-k").mkdir()
    (shared / "programs-k/done").touch()
    environment = shared / venv.venv_dir().name
    environment.mkdir()
    (environment / "done").touch()
    before = sorted(os.walk(shared))
    monkeypatch.setenv("VSSD_SHARED_CACHE", str(shared))
    assert image.ensure().folder == made
    assert [k.name for k in kernel_build.built()] == ["a"]
    assert kernel_build.find("a") == shared / "kernel-a/bzImage"
    assert programs.find("k") == shared / "programs-k"
    assert venv.ensure() == environment
    own = made_image(cache / image.image_name("trixie"))
    assert image.ensure().folder == own
    assert sorted(os.walk(shared)) == before
    monkeypatch.setenv("VSSD_SHARED_CACHE", str(tmp_path / "none"))
    with pytest.raises(UserError, match="VSSD_SHARED_CACHE=.*: no such dir"):
        image.ensure("", "bullseye")


def packed(folder: Path, to: Path) -> None:
    """A directory as an archive that keeps holes."""
    subprocess.run(["tar", "--sparse", "-C", folder.parent, "-cf", to,
                    folder.name], check=True)


def test_shared_cache_with_an_archive(cache: Path, tmp_path: Path,
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    """It is unpacked once, with the holes; a damaged one is refused, and leaves
    nothing."""
    shared = tmp_path / "shared"
    shared.mkdir()
    name = image.image_name("trixie")
    made = made_image(tmp_path / name)
    with (made / "disk.raw").open("wb") as disk:
        disk.write(b"data")
        disk.truncate(64 << 20)
    archive = shared / f"{name}.tar"
    packed(made, archive)
    monkeypatch.setenv("VSSD_SHARED_CACHE", str(shared))
    found = image.ensure()
    assert found.folder == cache / name
    assert found.disk.stat().st_size == 64 << 20
    assert found.disk.stat().st_blocks * 512 <= 1 << 20
    archive.write_bytes(b"no archive")
    assert image.ensure() == found
    shutil.rmtree(found.folder)
    with pytest.raises(UserError, match=f"cannot unpack .*{name}.tar: .*; make it"
                       " again, or unset VSSD_SHARED_CACHE"):
        image.ensure()
    assert [p.name for p in cache.iterdir() if name in p.name] == [f"{name}.lock"]
    (made / "image.json").unlink()
    packed(made, archive)
    with pytest.raises(UserError, match="it has no .*image.json"):
        image.ensure()


def test_cache_of_others(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are run from the cache: nobody else may have made it, where all
    can, or write it."""
    cache.chmod(0o777)
    with pytest.raises(UserError, match=r"every user can write it.*chmod o-w"):
        paths.cache_dir()
    cache.chmod(0o755)
    assert paths.cache_dir() == cache
    if os.geteuid() != 0:
        return
    os.chown(cache, 65534, 65534)
    with pytest.raises(UserError, match="another user made it"):
        paths.cache_dir()
    os.chown(cache.parent, 65534, 65534)  # it is that user's home
    assert paths.cache_dir() == cache
    os.chown(cache.parent, 0, 0)
    cache.rename(cache.with_name("theirs"))
    cache.symlink_to("theirs")
    os.chown(cache, 65534, 65534, follow_symlinks=False)
    with pytest.raises(UserError, match="another user made it"):
        paths.cache_dir()


def test_replacing(tmp_path: Path) -> None:
    """A fault leaves the old file, and nothing beside it; links of other users
    are refused."""
    path = tmp_path / "folder/f"
    path.parent.mkdir()
    with paths.replacing(path) as f:
        f.write(b"old")
    with pytest.raises(RuntimeError), paths.replacing(path) as f:
        f.write(b"new")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]
    if os.geteuid() != 0:
        return
    link = path.with_name("link")
    link.symlink_to(path)
    os.chown(link, 65534, 65534, follow_symlinks=False)
    with pytest.raises(PermissionError, match="another user"), \
            paths.replacing(link):
        pass
    assert path.read_bytes() == b"old"
