# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages: meson install, the Debian package, the wheel, the OCI image; the
syntax of the RPM spec and of the Nix flake (docs/packages.md)."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from long_form import MESON, START, of_part

from bare_root import bare_root, container, describe, why_not
from vssd import origin
from vssd.build import guest_tools, model, packages, qemu_package, qemu_plugin, qemu_source, venv
from vssd.cli import completion, parsing
from vssd.guest import image
from vssd.paths import PROJECT
from vssd_lab.cli.main import parser

DEBS = pytest.mark.xdist_group("debs")  # tests that share the packages
DEBIAN = of_part(*START, *MESON, "debian/", "packaging/", "hw-ssd/vfio-user/", "lib/",
                 "lab/vssd_lab/cli/main.py",
                 *(f"scripts/vssd/cli/{name}.py" for name in (
                     "completion", "main", "man", "parsing", "policy", "sim")))
LONG = os.environ.get("VSSD_LONG") == "1"
OPLOG_CHECK = "tools/oplog-check/vssd-oplog-check"
# Programs that an installed vssd may use, but no compiler.
TOOLS = ("sh", "readlink", "dirname", "env", "python3", "dpkg-query", "git")
WORKLOAD = ("sim", "run", "--profile", "tiny", "--workload",
            "rw=randwrite number_ios=500", "--json")


@pytest.fixture(scope="module", name="tool_path")
def _tool_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH without compilers, ninja and meson."""
    folder = tmp_path_factory.mktemp("bin")
    for name in TOOLS:
        found = shutil.which(name, path="/usr/bin:/bin:/usr/local/bin")
        if found:
            (folder / name).symlink_to(found)
    assert shutil.which("gcc", path=str(folder)) is None
    return str(folder)


def run(args: list[Any], cwd: Path | None = None, **more: str) \
        -> subprocess.CompletedProcess[str]:
    """A program's end; its environment has no PYTHONPATH."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run([str(a) for a in args], capture_output=True,
                          text=True, check=False, cwd=cwd, env=dict(env, **more))


def installed_works(root: Path, tool_path: str, folder: Path) -> None:
    """The command of an installed tree, without a compiler."""
    vssd = root / "bin/vssd"
    for path in (root / "lib").rglob(qemu_plugin.NAME):
        path.unlink()  # is in a package of its own
    said = run([vssd, "--version"], PATH=tool_path)
    commit = (root / "share/vssd/commit").read_text().strip()
    assert said.stdout == f"vssd {origin.version()} (commit {commit})\n"
    result = json.loads(run([vssd, *WORKLOAD], PATH=tool_path).stdout)
    assert result["requests"] == 500
    assert result["vssd"]["version"] == origin.version()
    for word, text in (("run", "/vssd/vssd-qemu.so is missing: install the package"
                        " vssd-qemu"),
                       ("fuzz", "needs the sources of vssd")):
        done = run([vssd, word], PATH=tool_path)
        assert done.returncode == 1 and text in done.stderr
        assert done.stderr.count("\n") == 1
    done = run([vssd, "policy", "new", "gc", "mine"], PATH=tool_path, cwd=folder)
    assert (folder / "mine.c").is_file(), done.stderr
    done = run([vssd, "policy", "test", "mine.c"], PATH=tool_path, cwd=folder)
    assert "needs the sources of vssd" in done.stderr
    pages = {p.name.removesuffix(".gz").removesuffix(".1")
             for p in (root / "share/man/man1").iterdir()}
    names = {f"vssd-{name}" for name, _, _ in parsing.children(parser())}
    assert pages == {"vssd"} | names
    sim = next((root / "share/man/man1").glob("vssd-sim.1*")).read_bytes()
    if sim[:2] == b"\x1f\x8b":
        sim = gzip.decompress(sim)
    assert rb"\-\-save\-state" in sim
    for shell in completion.SHELLS:
        folder = {"bash": "bash-completion", "zsh": "zsh", "fish": "fish"}
        files = [p for p in (root / "share" / folder[shell]).rglob("*")
                 if p.is_file()]
        assert len(files) == 1 and "doctor" in files[0].read_text()
    tools = root / "libexec/vssd/guest-tools"
    assert {p.name for p in tools.iterdir()} == set(guest_tools.TOOLS)
    for path in tools.iterdir():
        said = run(["ldd", path], LC_ALL="C")
        assert "not a dynamic executable" in said.stderr + said.stdout


def served(root: Path, folder: Path) -> None:
    """The server of an installed tree: the one that `vssd run --server` takes;
    it serves a drive, and saves it at its end."""
    found = run([sys.executable, "-c", "from vssd.build import vfio_server\n"
                 "print(vfio_server.ensure())"],
                PYTHONPATH=str(root / "share/vssd/scripts"))
    server = Path(found.stdout.strip())
    assert server == root / "bin/vssd-server", found.stderr
    image, state = folder / "served.raw", folder / "served.state"
    with image.open("wb") as file:
        file.truncate(8 << 20)
    with subprocess.Popen(
            [server, "--profile", root / "share/vssd/profiles/tiny.ini",
             "--image", image, "--socket", folder / "served.sock", "--state",
             state], stdout=subprocess.PIPE, text=True) as proc:
        assert proc.stdout and "served.sock" in proc.stdout.readline()
        proc.terminate()
        assert proc.wait(60) == 0
    assert state.stat().st_size > 0


def emulated(root: Path, folder: Path) -> None:
    """The emulator that `vssd run` of an installed tree starts: Debian's, with
    the device."""
    found = run([sys.executable, "-c", "from vssd.build import emulator\n"
                 "print(emulator.ensure().emulator, emulator.made().img)"],
                PYTHONPATH=str(root / "share/vssd/scripts"))
    assert found.returncode == 0, found.stderr
    emulator, img = found.stdout.split()
    said = run([img, "--version"]).stdout
    marker = json.loads((root / "share/vssd/installed.json").read_text())
    assert f"qemu-img version {marker['qemu']} " in said
    with (folder / "disk.raw").open("wb") as file:
        file.truncate(1 << 20)
    done = subprocess.run(
        [emulator, "-nodefaults", "-display", "none", "-S", "-M", "q35",
         "-blockdev", f"file,node-name=d,filename={folder}/disk.raw", "-device",
         f"vssd,drive=d,profile={root}/share/vssd/profiles/tiny.ini", "-qmp",
         "stdio"], input='{"execute": "qmp_capabilities"}{"execute": "quit"}',
        capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_meson_install(tmp_path: Path, tool_path: str) -> None:
    """Into DESTDIR; the tree works where it is."""
    build = model.ensure("release", model.SIM, OPLOG_CHECK,
                         "packaging/vssd-agent", "lib/libvssd.so.1.0.0")
    done = run([venv.tool("meson"), "install", "-C", build, "--no-rebuild",
                "--destdir", tmp_path], **venv.path_env())
    assert done.returncode == 0, done.stdout + done.stderr
    root = tmp_path / "usr/local"
    # vssd-server is there if the build has libvfio-user.
    assert {p.name for p in (root / "bin").iterdir()} - {"vssd-server"} == {
        "vssd", "vssd-sim", "vssd-oplog-check"}
    installed_works(root, tool_path, tmp_path)
    left = [p for p in root.rglob("*") if p.name == "__pycache__"]
    assert left == []


@pytest.mark.parametrize("is_installed", [False, True])
def test_python_keeps_what_it_compiles(tmp_path: Path, is_installed: bool) -> None:
    """Beside the sources of a checkout; a package's folder stays as it is."""
    shutil.copy(PROJECT / "vssd", tmp_path)
    package = tmp_path / "scripts/vssd"
    package.mkdir(parents=True)
    (package / "__main__.py").write_text("import vssd.one\n")
    (package / "one.py").touch()
    if is_installed:
        (tmp_path / "installed.json").touch()
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    subprocess.run([tmp_path / "vssd"], check=True, env=kept)
    assert bool(list(package.glob("__pycache__/one.*"))) != is_installed


@pytest.fixture(name="installed_scripts")
def _installed_scripts(tmp_path: Path) -> Path:
    """The Python sources of an installed tree, with the device for QEMU 10.0.9."""
    data = tmp_path / "share/vssd"
    shutil.copytree(PROJECT / "scripts", data / "scripts")
    (data / "installed.json").write_text(
        '{"bin": "../../bin", "libexec": "../../libexec/vssd",'
        ' "plugin": "../../lib/vssd-qemu.so", "qemu": "10.0.9"}')
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/vssd-qemu.so").touch()
    return data / "scripts"


def chosen(scripts: Path, code: str, **more: str) \
        -> subprocess.CompletedProcess[str]:
    """What the installed command says of its QEMU."""
    code = "from vssd.build import emulator, qemu_package\n" + code
    return run([sys.executable, "-c", code], PYTHONPATH=str(scripts), **more)


def test_an_installed_qemu_is_used(tmp_path: Path,
                                   installed_scripts: Path) -> None:
    """One with the device, if a package brings it."""
    qemu = tmp_path / "libexec/vssd/qemu"
    qemu.mkdir(parents=True)
    done = chosen(installed_scripts, "print(emulator.ensure().emulator,"
                  " emulator.made().img)")
    assert done.stdout.split() == [f"{qemu}/qemu-system-x86_64",
                                   f"{qemu}/qemu-img"], done.stderr


@pytest.mark.parametrize("own, used", [
    ("installed 1:10.0.9+ds-0+deb13u7", True),
    ("installed 1:10.0.8+ds-0+deb13u1", False), ("config-files 1:10.0.9+ds-1", False),
    ("", False)])
def test_the_emulator_of_the_machine(tmp_path: Path, installed_scripts: Path,
                                     own: str, used: bool) -> None:
    """It is used if it is of the version that the device is for, in each
    revision; else that of trixie, which may be of another version."""
    says = f"echo '{own}'\n" * 2 if own else "exit 1\n"
    (tmp_path / "dpkg-query").write_text("#!/bin/sh\n" + says)
    (tmp_path / "dpkg-query").chmod(0o755)
    machine = tmp_path / "machine"
    (machine / "usr/bin").mkdir(parents=True)
    for name in ("qemu-system-x86_64", *qemu_package.IMAGE_TOOLS):
        (machine / "usr/bin" / name).touch()
    done = chosen(
        installed_scripts, f"qemu_package.MACHINE = qemu_package.Path('{machine}')\n"
        "qemu_package.unpacked = lambda *_: qemu_package.Package("
        "qemu_package.Path('/private'), '1:10.0.11+ds-1')\n"
        "print(emulator.ensure().emulator.read_text())",
        PATH=f"{tmp_path}:{os.environ['PATH']}", VSSD_CACHE=str(tmp_path / "cache"),
        VSSD_SHARED_CACHE="")
    if not used:
        assert done.stderr.splitlines()[-1].endswith(
            "vssd-qemu.so is for QEMU 10.0.9, and trixie of the mirror has"
            " 1:10.0.11+ds-1: install vssd-qemu of that version, or give --server")
        return
    assert done.returncode == 0, done.stderr
    start = done.stdout.strip().splitlines()[-1].split()
    assert start[:4] == ["exec", f"{machine}/usr/bin/qemu-system-x86_64",
                         "-plugin", f"{tmp_path}/lib/vssd-qemu.so"]


# ---- Debian -------------------------------------------------------------------


def sources(to: Path) -> Path:
    """A copy of what git knows, without the tests; with the commit."""
    names = subprocess.run(
        ["git", "-C", str(PROJECT), "ls-files", "-co", "-z",
         "--exclude-standard"], capture_output=True, text=True,
        check=True).stdout.split("\0")
    for name in names:
        if name and not name.startswith("tests/") \
                and (PROJECT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, to / name)
    (to / "commit").write_text(origin.commit() + "\n")
    return to


def qemu_parts(folder: Path) -> Path:
    """A cache to read that has the parts of QEMU's source: no build fetches it."""
    folder.mkdir()
    (folder / qemu_source.parts_name()).symlink_to(qemu_source.parts())
    return folder


def built_packages(folder: Path, umask: int = 0o022, **more: str) \
        -> dict[str, Path]:
    """dpkg-buildpackage's packages by name.  Unoptimised: less CPU.  Meson and the
    libraries of man pages are the environment's: the suite's may be older."""
    packages.ensure(packages.BUILD, packages.PACKAGING, packages.SERVER)
    tree = sources(folder / "vssd")
    for path in tree.rglob("*"):
        path.chmod(path.stat().st_mode & ~umask)
    shared = qemu_parts(folder / "shared")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        ["dpkg-buildpackage", "-b", "-us", "-uc", "-d"], cwd=tree, umask=umask,
        capture_output=True, text=True, check=False,
        env=env | venv.path_env() | {
            "DEB_BUILD_OPTIONS": "noopt parallel=2",
            "VSSD_SHARED_CACHE": str(shared)} | more)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    return {p.name.split("_")[0]: p for p in folder.glob("*.deb")}


@pytest.fixture(scope="module", name="debs")
def _debs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All packages; they are built once."""
    return built_packages(tmp_path_factory.mktemp("deb"))


@DEBS
@DEBIAN
def test_debian_package(debs: dict[str, Path], tmp_path: Path,
                        tool_path: str) -> None:
    """The packages, unpacked."""
    assert set(debs) == {"vssd", "vssd-dbgsym", "libvssd1", "libvssd1-dbgsym",
                         "libvssd-dev", "vssd-qemu", "vssd-qemu-dbgsym"}
    for name, has in (("libvssd1", "/libvssd.so.1.0.0"),
                      ("libvssd-dev", "/usr/include/vssd/vssd-policy.h"),
                      ("libvssd-dev", "/pkgconfig/libvssd.pc"),
                      ("libvssd-dev", "/libvssd.so -> libvssd.so.1"),
                      ("vssd-qemu", "/vssd/vssd-qemu.so")):
        assert has in run(["dpkg-deb", "-c", debs[name]]).stdout, has
    depends = run(["dpkg-deb", "-f", debs["vssd"], "Depends"]).stdout
    for name in ("python3 (>= 3.10)", "python3-venv", "libglib2.0-0", "libzstd1",
                 "libjson-c5"):
        assert name in depends
    assert "gcc" not in depends and "meson" not in depends
    root = tmp_path / "root"
    assert run(["dpkg-deb", "-x", debs["vssd"], root]).returncode == 0
    installed_works(root / "usr", tool_path, tmp_path)
    served(root / "usr", tmp_path)
    assert run(["dpkg-deb", "-x", debs["vssd-qemu"], root]).returncode == 0
    emulated(root / "usr", tmp_path)


@DEBS
@DEBIAN
def test_debian_packages_have_no_path_of_their_build(debs: dict[str, Path],
                                                     tmp_path: Path) -> None:
    """So that a build in another folder gives the same bytes."""
    folder = os.fsencode(debs["vssd"].parent)
    for name in ("vssd", "vssd-qemu", "libvssd1", "libvssd-dev"):
        run(["dpkg-deb", "-x", debs[name], tmp_path / name])
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert len(files) > 100
    assert [p for p in files if folder in p.read_bytes()] == []


@DEBS
@pytest.mark.skipif(not LONG, reason="builds the packages again; with --long")
def test_debian_packages_are_reproducible(debs: dict[str, Path],
                                          tmp_path: Path) -> None:
    """Another folder, umask, time zone, language and home: the same bytes."""
    again = built_packages(tmp_path / "another", umask=0o077, TZ="Asia/Tokyo",
                           LC_ALL="C.UTF-8", HOME=str(tmp_path))
    assert set(again) == set(debs)
    assert [name for name, path in debs.items()
            if path.read_bytes() != again[name].read_bytes()] == []


@DEBS
@pytest.mark.skipif(not LONG, reason="makes a Debian system; with --long")
@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
@pytest.mark.parametrize("how", ["plugin", "server"])
def test_guest_in_a_bare_root(debs: dict[str, Path], suite: str,
                              how: str) -> None:
    """On a bare Debian a guest boots, by the device or by the server.  No
    compiler is there at the end.  In trixie the emulator is the installed one."""
    if why := why_not():
        pytest.skip(why)
    wanted = {"plugin": ["vssd", "vssd-qemu"], "server": ["vssd"]}[how]
    more = ["qemu-system-x86", "qemu-utils"] * (suite == qemu_source.SUITE)
    with bare_root(suite) as root:
        for name in wanted:
            root.copy(debs[name], f"/root/{name}.deb")
        for command, seconds in (
                (("apt-get", "update"), 600),
                (("apt-get", "install", "-y", "--no-install-recommends",
                  "ca-certificates", *more,
                  *(f"/root/{name}.deb" for name in wanted)), 900),
                (("vssd", "run", *["--server"] * (how == "server"), "--exec",
                  "cat /sys/block/nvme0n1/device/model"), 3600)):
            done = root.run(*command, timeout_s=seconds)
            assert done.returncode == 0, describe(done)
        assert "vssd virtual SSD" in done.stdout
        print(done.stderr)
        fetched = "fetching the package qemu-system-x86" in done.stderr
        assert fetched == (how == "server" or not more)
        assert root.run("which", "gcc", timeout_s=60).returncode == 1


@pytest.mark.skipif(not LONG, reason="makes a Debian system; with --long")
def test_native_packages_of_trixie(tmp_path: Path) -> None:
    """Built on a bare Debian 13 with its own tools alone, then installed on
    another by apt: that takes the suite's emulator, and the guest boots in it."""
    if why := why_not():
        pytest.skip(why)
    debs = tmp_path / "debs"
    tree = sources(debs / "vssd")
    with bare_root(qemu_source.SUITE) as root:
        root.bind(debs, "/debs", "rw")
        root.env["DEB_BUILD_OPTIONS"] = "nopgo parallel=2"
        for command in ("apt-get update",
                        "apt-get install -y --no-install-recommends build-essential",
                        "apt-get build-dep -y --no-install-recommends /debs/vssd",
                        "cd /debs/vssd && dpkg-buildpackage -b -us -uc"):
            done = root.run("sh", "-c", command, timeout_s=1800)
            assert done.returncode == 0, describe(done)
    shutil.rmtree(tree)
    with bare_root(qemu_source.SUITE) as root:
        root.bind(debs, "/debs", "rw")
        for command in ("apt-get update",
                        "apt-get install -y /debs/vssd_*.deb /debs/vssd-qemu_*.deb",
                        "vssd run --exec 'cat /sys/block/nvme0n1/device/model'"):
            done = root.run("sh", "-c", command, timeout_s=3600)
            assert done.returncode == 0, describe(done)
        print(done.stderr)
        assert "vssd virtual SSD" in done.stdout
        assert "fetching the package qemu-system-x86" not in done.stderr


@pytest.mark.parametrize("suite, depends", [
    ("trixie", "qemu:Depends=qemu-system-x86 (>= 1:10.0.9), qemu-system-x86"
     " (<< 1:10.0.10~), qemu-utils (>= 1:10.0.9), qemu-utils (<< 1:10.0.10~)"),
    ("bookworm", "qemu:Depends=")])
def test_debian_package_names_the_emulator(suite: str, depends: str) -> None:
    """Where the suite has one that fits; any revision will do."""
    said = program("qemu_parts").substvars("10.0.9", suite).splitlines()
    assert said[0] == depends
    assert ("qemu-system-arm (<< 1:10.0.10~)" in said[1]) == (suite == "trixie")


def test_recommended_packages_are_those_of_images() -> None:
    """debian/control has what packages.py installs for an image."""
    text = (PROJECT / "debian/control").read_text()
    for group in (packages.IMAGE, packages.FIRMWARE, packages.PYTHON):
        for name in group.names:
            assert re.search(rf"\b{re.escape(name)}\b", text), name


# ---- the wheel ----------------------------------------------------------------


def test_wheel(tmp_path: Path) -> None:
    """It has all sources that the model is built from; the command starts."""
    venv.extra("packaging")
    done = run([venv.tool("python"), "-m", "pip", "wheel", "--no-deps",
                "--no-build-isolation", "--quiet", "-w", tmp_path,
                sources(tmp_path / "tree")], **venv.path_env())
    assert done.returncode == 0, done.stderr
    wheel, = tmp_path.glob("*.whl")
    assert wheel.name == f"vssd-{origin.version()}-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    assert {n.split("/")[0] for n in names} == {
        "vssd_sources", f"vssd-{origin.version()}.dist-info"}
    assert not [n for n in names if "__pycache__" in n]
    done = run([sys.executable, "-m", "pip", "install", "--no-deps", "--quiet",
                "--target", tmp_path / "lib", wheel])
    assert done.returncode == 0, done.stderr
    vssd = tmp_path / "lib/bin/vssd"
    said = run([vssd, "--version"], PYTHONPATH=str(tmp_path / "lib"))
    assert said.stdout == origin.version_text() + "\n", said.stderr
    # The program that is built there is the one of a checkout.
    done = run([venv.tool("meson"), "setup", tmp_path / "b",
                tmp_path / "lib/vssd_sources"], **venv.path_env())
    assert done.returncode == 0, done.stdout[-2000:]
    done = run(["ninja", "-C", tmp_path / "b", "-n", "sim/vssd-sim"])
    assert "Linking target sim/vssd-sim" in done.stdout
    if LONG:
        done = run([vssd, *WORKLOAD], PYTHONPATH=str(tmp_path / "lib"))
        assert json.loads(done.stdout)["requests"] == 500, done.stderr


# ---- releases -----------------------------------------------------------------


def test_one_version() -> None:
    """Each definition of a package has that of meson.build; the command tells it."""
    said = run([PROJECT / "vssd", "--version"]).stdout
    assert said.startswith(f"vssd {origin.version()}")
    for name, pattern in (("debian/changelog", r"^vssd \((.*?)\)"),
                          ("packaging/vssd.spec", r"^Version: +(\S+)"),
                          ("flake.nix", r' version = "(.*?)"')):
        found = re.search(pattern, (PROJECT / name).read_text(), re.M)
        assert found and found[1] == origin.version(), name


def test_changelog() -> None:
    """In the form of Keep a Changelog 1.1.0: what is not released yet, then the
    releases, the newest first."""
    text = (PROJECT / "CHANGELOG.md").read_text()
    heads = re.findall(r"^## (.*)$", text, re.M)
    assert heads.pop(0) == "[Unreleased]"
    found = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d\d-\d\d", x)
             for x in heads]
    assert None not in found, heads
    versions = [tuple(map(int, m.groups())) for m in found if m]
    assert versions == sorted(set(versions), reverse=True)
    assert set(re.findall(r"^### (.*)$", text, re.M)) <= {
        "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_dist_adds_the_commit(tmp_path: Path) -> None:
    """An archive of the sources has no git."""
    done = run([sys.executable, PROJECT / "packaging/dist.py"],
               MESON_PROJECT_DIST_ROOT=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "commit").read_text() == origin.commit() + "\n"


@pytest.mark.skipif(not LONG, reason="packs all sources; with --long")
def test_meson_dist(tmp_path: Path) -> None:
    """The archive can be configured, and has the commit."""
    for command in (["setup", tmp_path / "b", PROJECT],
                    ["dist", "-C", tmp_path / "b", "--no-tests", "--allow-dirty"]):
        done = run([venv.tool("meson"), *command], **venv.path_env())
        assert done.returncode == 0, done.stdout + done.stderr
    name = f"vssd-{origin.version()}"
    with tarfile.open(tmp_path / f"b/meson-dist/{name}.tar.xz") as tar:
        tar.extractall(tmp_path)
    assert (tmp_path / name / "commit").read_text() == origin.commit() + "\n"
    done = run([venv.tool("meson"), "setup", tmp_path / "c", tmp_path / name],
               **venv.path_env())
    assert done.returncode == 0, done.stdout


def test_sbom(tmp_path: Path) -> None:
    """SPDX 2.3: each part once, with a version; each relation is of two parts; what
    every command needs has licences and hashes."""
    (tmp_path / "meson.build").write_text("project('x', 'c',\n  version: '0.0.7')\n")
    sbom = program("sbom")
    found = sbom.document("10.0.9", tmp_path)
    assert (found["spdxVersion"], found["SPDXID"]) == ("SPDX-2.3", "SPDXRef-DOCUMENT")
    parts = {p["SPDXID"]: p for p in found["packages"]}
    assert len(parts) == len(found["packages"])
    for one in found["relationships"]:
        assert {one["spdxElementId"], one["relatedSpdxElement"]} \
            <= {*parts, "SPDXRef-DOCUMENT"}
    assert len(found["relationships"]) == len(parts)
    for name, version in (("vssd", origin.version()), ("libvfio-user", "0.0.7"),
                          ("qemu", "10.0.9")):
        assert parts[f"SPDXRef-{name}-{version}"]["licenseDeclared"] != sbom.UNKNOWN
    assert {"glib-2.0", "zlib", "liblzma", "libzstd", "json-c", "glibc"} \
        <= {p["name"] for p in parts.values() if p["versionInfo"] != sbom.UNKNOWN}
    needed = [p for p in parts.values()
              if p.get("comment", "").endswith("requirements.txt")]
    assert {p["name"] for p in needed} == set(sbom.PYTHON)
    for part in needed:
        assert part["checksums"] and part["licenseDeclared"] == sbom.PYTHON[part["name"]]


def test_sbom_has_the_instant_that_is_given() -> None:
    """So that packages are reproducible."""
    done = run([sys.executable, PROJECT / "packaging/sbom.py"], SOURCE_DATE_EPOCH="60")
    created = json.loads(done.stdout)["creationInfo"]["created"]
    assert created == "1970-01-01T00:01:00Z"


# ---- other systems ------------------------------------------------------------


@pytest.mark.parametrize("without", [(), ("qemu",), ("server",),
                                     ("qemu", "server")])
def test_rpm_spec(without: tuple[str, ...]) -> None:
    """rpm reads it, with its parts and without; its macros need no Fedora."""
    packages.ensure(packages.PACKAGING)
    defined = [arg for name in ("meson", "meson_build", "meson_install")
               for arg in ("--define", f"{name} ran_{name}")]
    defined += [arg for name in without
                for arg in ("--define", f"_without_{name} 1")]
    spec = PROJECT / "packaging/vssd.spec"
    done = run(["rpmspec", "-q", "--qf", "%{name} %{version}\n", *defined, spec])
    assert done.stderr == ""
    names = ["vssd"] if "qemu" in without else ["vssd", "vssd-qemu"]
    assert done.stdout.split("\n")[:-1] == [
        f"{name} {origin.version()}" for name in names]
    text = run(["rpmspec", "-P", *defined, spec]).stdout
    assert "\n%files\n" in text
    assert ("\n%files qemu\n" in text) == ("qemu" not in without)
    for part in (r"^ran_meson .*(\\\n)?.*-Dlibvfio_user=", r"/vssd-server$",
                 r"pkgconfig\(json-c\)"):
        assert bool(re.search(part, text, re.M)) == ("server" not in without), part


@pytest.mark.parametrize("archive", [False, True])
def test_rpm_spec_finds_libvfio_user(tmp_path: Path, archive: bool) -> None:
    """The commands of %prep that take it from the sources of QEMU, a directory
    or a tar archive."""
    packages.ensure(packages.PACKAGING)
    top, build = tmp_path / "qemu-10.0", tmp_path / "build/vssd"
    library = top / "subprojects/libvfio-user"
    (library / "lib").mkdir(parents=True)
    (library / "lib/libvfio-user.c").touch()
    (top / "subprojects/other").mkdir()
    build.mkdir(parents=True)
    source = tmp_path / "qemu.tar.xz" if archive else top
    if archive:
        assert run(["tar", "-cJf", source, "-C", tmp_path, top.name]
                   ).returncode == 0
    text = run(["rpmspec", "-P", "--define", f"qemu_source {source}", "--define",
                "autosetup :", "--define", "meson exit 0;", "--define",
                "meson_build true", "--define", "meson_install true",
                PROJECT / "packaging/vssd.spec"]).stdout
    script = text.split("\n%prep\n")[1]
    done = run(["sh", "-e", "-c", script], cwd=build)
    assert done.returncode == 0, done.stderr
    found = tmp_path / "build/vssd-libvfio-user"
    assert [p.name for p in found.iterdir()] == ["lib"]
    assert (found / "lib/libvfio-user.c").is_file()


def test_spec_lists_what_is_installed() -> None:
    """%files has each top of the tree that meson installs."""
    text = (PROJECT / "packaging/vssd.spec").read_text()
    for path in ("%{_bindir}/vssd\n", "%{_bindir}/vssd-sim\n",
                 "%{_bindir}/vssd-oplog-check\n", "%{_bindir}/vssd-server\n",
                 "%{_datadir}/vssd/\n",
                 "%{_libexecdir}/vssd/guest-tools/\n", "_mandir}/man1/vssd*"):
        assert path in text


def test_nix_flake() -> None:
    """Nix parses it, and refuses it with a brace less."""
    packages.ensure(packages.PACKAGING)
    text = (PROJECT / "flake.nix").read_text()
    for source, good in ((text, True), (text.replace("};", "}", 1), False)):
        done = subprocess.run(["nix-instantiate", "--parse", "-"], text=True,
                              input=source, capture_output=True, check=False,
                              env=dict(os.environ, NIX_STATE_DIR="/tmp",
                                       NIX_STORE_DIR="/tmp"))
        assert (done.returncode == 0) == good, done.stderr
        assert ("-Dlibvfio_user=" in done.stdout) == good


def program(name: str) -> Any:
    """A program of packaging/ as a module."""
    sys.path.insert(0, str(PROJECT / "packaging"))
    return importlib.import_module(name)


def blobs_of(image: Path) -> dict[str, bytes]:
    """The files of an image; each blob has its digest as name."""
    with tarfile.open(image) as tar:
        files = {m.name: tar.extractfile(m).read()  # type: ignore[union-attr]
                 for m in tar if m.isfile()}
    for name, data in files.items():
        if name.startswith("blobs/"):
            assert name == f"blobs/sha256/{hashlib.sha256(data).hexdigest()}"
    return files


def checked_image(image: Path, root: bytes) -> dict[str, Any]:
    """Follow the descriptors from the index to the layer; the configuration."""
    files = blobs_of(image)

    def blob(descriptor: dict[str, Any]) -> bytes:
        data = files["blobs/" + descriptor["digest"].replace(":", "/")]
        assert len(data) == descriptor["size"]
        return data

    assert json.loads(files["oci-layout"])["imageLayoutVersion"] == "1.0.0"
    manifest = json.loads(blob(json.loads(files["index.json"])["manifests"][0]))
    config: dict[str, Any] = json.loads(blob(manifest["config"]))
    layer = gzip.decompress(blob(manifest["layers"][0]))
    assert layer == root
    assert config["rootfs"]["diff_ids"] == [
        "sha256:" + hashlib.sha256(layer).hexdigest()]
    return config


def unpacked_image(image: Path, folder: Path) -> tuple[dict[str, Any], Path]:
    """The configuration of an image, and the file of its layer."""
    with tarfile.open(image) as tar:
        tar.extractall(folder)

    def blob(descriptor: dict[str, Any]) -> Path:
        return folder / "blobs" / descriptor["digest"].replace(":", "/")

    index = json.loads((folder / "index.json").read_text())
    manifest = json.loads(blob(index["manifests"][0]).read_text())
    config: dict[str, Any] = json.loads(blob(manifest["config"]).read_text())
    return config, blob(manifest["layers"][0])


def test_oci_layout(tmp_path: Path) -> None:
    """Of a root file system of one file; the same bytes each time."""
    (tmp_path / "x").write_text("x")
    with tarfile.open(tmp_path / "root.tar", "w") as tar:
        tar.add(tmp_path / "x", "x")
    for name in ("a", "b"):
        program("oci").pack(tmp_path / "root.tar", tmp_path / name)
    root = (tmp_path / "root.tar").read_bytes()
    config = checked_image(tmp_path / "a", root)
    assert config["config"]["Entrypoint"] == ["vssd"]
    assert config["config"]["User"] == "1000:1000"  # not root
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def small_deb(name: str, tree: Path) -> Path:
    """A package of the files that are there."""
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: M <m@x>\n"
        "Description: d\n")
    done = run(["dpkg-deb", "-Znone", "--root-owner-group", "-b", tree,
                tree.with_suffix(".deb")])
    assert done.returncode == 0, done.stderr
    return tree.with_suffix(".deb")


def test_oci_needs_both_packages(tmp_path: Path) -> None:
    """An error names the file or the package."""
    vssd = small_deb("vssd", tmp_path / "a")
    for deb, text in ((tmp_path / "no.deb", f"{tmp_path}/no.deb: no such file"),
                      (vssd, "the package vssd-qemu is missing: give the files of"
                       " vssd and vssd-qemu")):
        done = run([sys.executable, PROJECT / "packaging/oci.py", "--out",
                    tmp_path / "image", deb])
        assert (done.returncode, done.stderr) == (1, f"vssd: {text}\n")


def test_oci_takes_the_guest_image(tmp_path: Path) -> None:
    """It is the one of the package's recipe, from the cache that is named; the
    archive has no data for holes."""
    tree = tmp_path / "tree"
    program("install").copy(PROJECT, tree / "usr/share/vssd")
    recipe = tree / "usr/share/vssd/scripts/vssd/guest/disk.py"
    recipe.write_text(recipe.read_text() + "# another recipe\n")
    name = run([sys.executable, "-c", "from vssd.guest import image\n"
                "print(image.image_name('trixie'))"],
               PYTHONPATH=str(recipe.parents[2])).stdout.strip()
    assert name != image.image_name("trixie")
    made = tmp_path / "cache" / name
    made.mkdir(parents=True)
    (made / "image.json").write_text("{}")
    with (made / "disk.raw").open("wb") as disk:
        disk.truncate(64 << 20)
    found = program("oci").guest_image([small_deb("vssd", tree)], tmp_path,
                                       str(tmp_path / "cache"))
    assert found.name == f"{name}.tar" and found.stat().st_size < 1 << 20
    with tarfile.open(found) as tar:
        assert tar.getmember(f"{name}/disk.raw").size == 64 << 20


@pytest.mark.skipif(os.geteuid() != 0, reason="gives folders to a user")
def test_oci_steps(tmp_path: Path) -> None:
    """The user has a name and the folder that the image names; the command is set
    up without network, and what its cache keeps is what is of use later."""
    oci = program("oci")
    root, said = tmp_path / "root", tmp_path / "said"
    (root / "etc").mkdir(parents=True)
    (root / "usr/lib/python3/dist-packages").mkdir(parents=True)
    made = " ".join(str(root / oci.READY / name)
                    for name in ("venv-1", "kvm-2", "qemu-start-3", "image-4.tar"))
    (tmp_path / "chroot").write_text(f'#!/bin/sh\necho "$@" >{said}\nmkdir {made}\n')
    (tmp_path / "chroot").chmod(0o755)
    copied = []
    for step in oci.hooks(tmp_path / "image-4.tar", tmp_path / "wheels"):
        if step.startswith("copy-in "):
            copied.append(step.split()[1:])
            continue
        subprocess.run(["sh", "-ec", step, "hook", root], check=True,
                       env={"PATH": f"{tmp_path}:/usr/sbin:/usr/bin:/sbin:/bin"})
    assert copied == [[f"{tmp_path}/image-4.tar", f"/{oci.READY}"],
                      [f"{tmp_path}/wheels", "/tmp"]]
    assert "PIP_NO_INDEX=1" in said.read_text()
    assert said.read_text().endswith(" vssd setup --no-image\n")
    assert {p.name for p in (root / oci.READY).iterdir()} == {"venv-1", "image-4.tar"}
    assert f"vssd:x:{oci.USER}:{oci.USER}:" in (root / "etc/passwd").read_text()
    assert f"vssd:x:{oci.USER}:" in (root / "etc/group").read_text()
    work = (root / oci.CONFIG["WorkingDir"].lstrip("/")).stat()
    assert (work.st_uid, work.st_gid) == (oci.USER, oci.USER)
    assert f"VSSD_SHARED_CACHE=/{oci.READY}" in oci.CONFIG["Env"]


@DEBS
@pytest.mark.skipif(not LONG, reason="makes a Debian system; with --long")
def test_oci_image(debs: dict[str, Path], tmp_path: Path) -> None:
    """A guest boots in its root, which has no compiler and no network, for the
    image's user and for another."""
    if why := why_not():
        pytest.skip(why)
    made = tmp_path / "image.tar"
    done = run([sys.executable, PROJECT / "packaging/oci.py", "--out", made,
                debs["vssd"], debs["vssd-qemu"]])
    assert done.returncode == 0, done.stderr[-2000:]
    config, layer = unpacked_image(made, tmp_path)
    with container(layer, config["config"]) as root:
        assert root.run("which", "gcc", "cc", timeout_s=60).returncode == 1
        done = root.run("python3", "-m", "pytest", "-p", "vssd_guest", "-p",
                        "vssd_powercut", "--fixtures", timeout_s=60)
        assert {"vssd_guest", "powercut"} <= set(
            re.findall(r"^(\w+) -- ", done.stdout, re.M)), describe(done)
        for user in ("", "1001:1001"):
            begin = time.monotonic()
            done = root.run("vssd", "run", "--exec",
                            "cat /sys/block/nvme0n1/device/model", user=user,
                            timeout_s=1800)
            assert done.returncode == 0, describe(done)
            assert "vssd virtual SSD" in done.stdout
            print(f"a guest booted in {time.monotonic() - begin:.0f} s")
            root.run("rm", "-rf", "/var/tmp/vssd", user="0:0", timeout_s=60)
