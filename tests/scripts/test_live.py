# SPDX-License-Identifier: GPL-2.0-or-later
"""The reader of live files, and the server of ./vssd watch."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from live_writer import EDGES, FakeDrive
from started import vssd
from vssd.build import venv
from vssd.cli import watch
from vssd.errors import UserError
from vssd.watch import control, glossary
from vssd.watch.live import HEAD_BYTES, LiveFile

venv.extra("watch")

import tornado.httpclient  # noqa: E402
import tornado.websocket  # noqa: E402

from vssd.watch import bundle, serve  # noqa: E402


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[FakeDrive]:
    """With two pictures written."""
    one = FakeDrive(tmp_path / "live.vssd")
    one.write()
    one.write()
    yield one
    one.close()


def test_every_section_is_read(drive: FakeDrive) -> None:
    """As it was written, and the values by their paths."""
    with LiveFile(drive.path) as live:
        picture = live.picture()
        assert picture and live.drive == drive.drive
        for name, values in drive.values(2).items():
            assert list(picture.array(name)) == values, name
        assert picture.value("host_bytes_read") == 2 * 4096 * 300
        assert picture.value("gc.free_blocks") == 32
        assert picture.value("no.such") is None
        assert live.sections["latency.read"].more["edges_ns"] == EDGES
        assert (live.state(), live.head().pictures) == ("running", 2)


def test_sections_that_a_drive_lacks(tmp_path: Path) -> None:
    """They are empty."""
    one = FakeDrive(tmp_path / "f", without=("slow.cost", "gauge"))
    one.write()
    with LiveFile(one.path) as live:
        picture = live.picture()
        assert picture and list(picture.array("slow.cost")) == []
        assert picture.value("waf") is None and picture.value("requests") == 500
    one.close()


def test_pictures_are_wanted(drive: FakeDrive) -> None:
    """For two seconds from now, and never less than another reader wants."""
    assert not drive.wanted()
    with LiveFile(drive.path) as live:
        live.want()
        assert 1.8e9 < drive.word(72) - time.monotonic_ns() <= 2e9
        later = time.monotonic_ns() + 9 * 10 ** 9
        os.pwrite(drive.fd, struct.pack("<Q", later), 72)
        live.want()
        assert drive.word(72) == later


def test_a_file_that_is_only_readable(drive: FakeDrive, monkeypatch:
                                      pytest.MonkeyPatch) -> None:
    """It shows its last picture; nothing is wanted."""
    opened = os.open

    def refuses(path: Path, flags: int) -> int:
        if flags & os.O_RDWR:
            raise PermissionError
        return opened(path, flags)

    monkeypatch.setattr(os, "open", refuses)
    with LiveFile(drive.path) as live:
        live.want()
        assert live.picture() and not drive.wanted()


def test_no_torn_picture(drive: FakeDrive) -> None:
    """While pictures are written all the time, each that is read is of one
    instant."""
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            drive.write()
            time.sleep(0.001)

    writer = threading.Thread(target=write)
    writer.start()
    seen = set()
    try:
        with LiveFile(drive.path) as live:
            end = time.monotonic() + 20
            while len(seen) < 20 and time.monotonic() < end:
                picture = live.picture()
                if picture:
                    n = picture.value("requests") // 500
                    assert list(picture.array("slow.count")) == [n]
                    assert list(picture.array("die.state")) \
                        == drive.values(n)["die.state"]
                    seen.add(n)
    finally:
        stop.set()
        writer.join()
    assert len(seen) == 20


def test_a_picture_that_changes_while_it_is_copied(
        drive: FakeDrive, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is copied again."""
    looks = itertools.count()
    with LiveFile(drive.path) as live:
        word = live._word

        def looked(index: int) -> int:
            if next(looks) == 1:  # after the first copy
                drive.write()
            return word(index)

        monkeypatch.setattr(live, "_word", looked)
        picture = live.picture()
        assert picture and picture.value("requests") == 3 * 500


def test_a_writer_that_stops_in_a_picture(drive: FakeDrive) -> None:
    """There is no picture, and the reader goes on."""
    os.pwrite(drive.fd, struct.pack("<Q", 5), 64)
    with LiveFile(drive.path) as live:
        assert live.picture(2) is None


def test_the_end_of_a_drive(drive: FakeDrive, tmp_path: Path) -> None:
    """In order, and without a word."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    gone = FakeDrive(tmp_path / "gone", process=child.pid)
    gone.write()
    with LiveFile(gone.path) as live:
        assert live.state() == "gone" and live.next_picture(2, 5)
    gone.close()
    drive.end()
    with LiveFile(drive.path) as live:
        assert live.state() == "ended" and live.next_picture(4, 5)


def damaged(name: str, **parts: Any) -> Any:
    """A case of test_files_that_are_refused."""
    return pytest.param(parts, id=name)


@pytest.mark.parametrize("case", [
    damaged("signature", at=0, put=b"vssdLOG1", says="no live file"),
    damaged("version", at=0, put=b"vssdLIV7", says="another version"),
    damaged("early", at=0, put=b"VSSDLIV1", says="before 1.0"),
    damaged("size", at=16, put=struct.pack("<Q", 1 << 30), says="damaged"),
    damaged("picture", at=40, put=struct.pack("<QQ", 1 << 40, 8), says="damaged"),
    damaged("offset", at=40, put=struct.pack("<Q", 8), says="damaged"),
    damaged("part", at=24, put=struct.pack("<QQ", 8, 8), says="damaged"),
    damaged("layout", at=4096, put=b"[", says="damaged"),
    damaged("schema", old=b"vssd-live 1", new=b"vssd-live 9", says="vssd-live 9"),
    damaged("section", old=b'"count": 704', new=b'"count": 999', says="damaged"),
    damaged("type", old=b'"f64"', new=b'"f99"', says="damaged"),
    damaged("short", cut=100, says="damaged"), damaged("empty", cut=0, says="no live"),
])
def test_files_that_are_refused(drive: FakeDrive, case: dict[str, Any]) -> None:
    """By one line that names the file."""
    raw = bytearray(drive.path.read_bytes())
    if "old" in case:
        begin = raw.index(case["old"])
        case |= {"at": begin, "put": case["new"]}
        assert raw.count(case["old"]) >= 1
    if "at" in case:
        raw[case["at"]:case["at"] + len(case["put"])] = case["put"]
    drive.path.write_bytes(raw[:case.get("cut", len(raw))])
    with pytest.raises(UserError, match=case["says"]) as e:
        LiveFile(drive.path)
    assert str(e.value).startswith(f"{drive.path}: ") and "\n" not in str(e.value)


def test_the_glossary() -> None:
    """Each word of it, also where a row has several, without marks."""
    found = glossary.terms()
    assert len(found) > 100
    assert found["gc"] == found["garbage collection"]
    assert found["gc"].startswith("Copying the valid units of a victim")
    assert not any(mark in text for text in found.values() for mark in "*`[|")


# ---- the server ------------------------------------------------------------

Test = Callable[[str], Awaitable[None]]


def served(live: LiveFile, test: Test, port: int = 0) -> None:
    """Run a test beside the server; it gets the page's address."""
    async def both() -> None:
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        server = asyncio.ensure_future(serve.serve(
            live, {"run": "r", "name": "ssd0"}, port, ready.set_result))
        try:
            await asyncio.wait({server, ready},
                               return_when=asyncio.FIRST_COMPLETED)
            if server.done():
                server.result()
            await asyncio.wait_for(test(ready.result()), 30)
        finally:
            server.cancel()

    asyncio.run(both())


async def status(url: str, **headers: str) -> int:
    """Of an answer."""
    client = tornado.httpclient.AsyncHTTPClient()
    found = await client.fetch(url, headers=headers, raise_error=False)
    return found.code


def pictures_of(url: str, **headers: str) -> Any:
    """A viewer."""
    return tornado.websocket.websocket_connect(tornado.httpclient.HTTPRequest(
        url.replace("http:", "ws:") + "pictures", headers=headers))


def test_what_is_served(drive: FakeDrive) -> None:
    """The page, its parts, Bokeh, the glossary; nothing else, and nothing
    without the token."""
    async def test(url: str) -> None:
        for name in ("", "watch.css", "watch.js", "words.json", *bundle.BOKEH):
            assert await status(url + name) == 200, name
        root = url.rsplit("/", 2)[0]
        for other in ("/", "/x/", "/x/pictures", "/watch.js"):
            assert await status(root + other) == 404, other
        for other in ("no.js", "..", "serve.py", "%2e%2e/serve.py"):
            assert await status(url + other) == 404, other
        assert await status(url, Host="evil.example") == 403
        assert await status(url, Host=url.split("/")[2]) == 200
        client = tornado.httpclient.AsyncHTTPClient()
        head = (await client.fetch(url)).headers
        policy = head["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe-eval" not in policy
        assert "http" not in policy, "nothing comes from elsewhere"

    with LiveFile(drive.path) as live:
        served(live, test)


def test_pictures_are_of_the_page_only(drive: FakeDrive) -> None:
    """Another origin, another host, another token: refused."""
    async def test(url: str) -> None:
        origin = url.rsplit("/", 2)[0]
        (await pictures_of(url, Origin=origin)).close()
        for wrong in ({"Origin": "http://evil.example"}, {"Origin": "null"},
                      {"Host": "evil.example", "Origin": origin}):
            with pytest.raises(tornado.httpclient.HTTPClientError) as e:
                await pictures_of(url, **wrong)
            assert e.value.code == 403
        with pytest.raises(tornado.httpclient.HTTPClientError):
            await pictures_of(origin + "/x/", Origin=origin)

    with LiveFile(drive.path) as live:
        served(live, test)


def decoded(raw: bytes, drive: FakeDrive) -> int:
    """The number of the picture."""
    begin = next(s["offset"] for s in drive.sections if s["name"] == "counter")
    found: int = struct.unpack_from("<Q", raw, HEAD_BYTES + begin)[0]
    assert len(raw) == HEAD_BYTES + drive.picture_bytes
    assert raw[:8] == b"vssdLIV1"
    return found // 500


async def next_of(viewer: Any, binary: bool = True) -> Any:
    """The next message of a kind."""
    while True:
        message = await viewer.read_message()
        assert message is not None
        if isinstance(message, bytes) == binary:
            return message


def test_two_viewers_and_one_that_vanishes(drive: FakeDrive) -> None:
    """Each has layout, state and pictures; without viewers nothing is wanted."""
    async def test(url: str) -> None:
        await asyncio.sleep(0.1)
        assert not drive.wanted()
        one, two = await pictures_of(url), await pictures_of(url)
        for viewer in (one, two):
            hello = json.loads(await next_of(viewer, False))
            assert (hello["run"], hello["name"]) == ("r", "ssd0")
            assert hello["layout"]["drive"] == drive.drive
            said = json.loads(await next_of(viewer, False))
            assert said["state"] == "running"
            assert decoded(await next_of(viewer), drive) == 2
        assert drive.wanted()
        drive.write()
        assert decoded(await next_of(one), drive) == 3
        assert decoded(await next_of(two), drive) == 3
        one.protocol.stream.close()  # without a word
        drive.write()
        assert decoded(await next_of(two), drive) == 4
        drive.end()
        while json.loads(await next_of(two, False))["state"] != "ended":
            pass
        two.close()
        await asyncio.sleep(0.2)
        os.pwrite(drive.fd, bytes(8), 72)
        await asyncio.sleep(0.7)
        assert not drive.wanted(), "nobody looks any more"

    with LiveFile(drive.path) as live:
        served(live, test)


def test_a_slow_viewer() -> None:
    """It misses pictures, but not the newest."""
    async def test() -> list[str | bytes]:
        got: list[str | bytes] = []
        go = asyncio.Event()

        async def write(message: str | bytes) -> None:
            await go.wait()
            got.append(message)

        viewer = serve.Viewer.__new__(serve.Viewer)
        viewer._write = write  # type: ignore[method-assign]
        for message in (b"1", "text", b"2", b"3"):
            viewer.send(message)
            await asyncio.sleep(0)
        go.set()
        await asyncio.sleep(0.05)
        viewer.send(b"4")
        await asyncio.sleep(0.05)
        return got

    got = asyncio.run(test())
    assert "text" in got
    assert [x for x in got if x != "text"] == [b"1", b"3", b"4"]


def test_a_new_drive_in_the_file(drive: FakeDrive) -> None:
    """After the end of one: the viewers get the next one's layout."""
    async def test(url: str) -> None:
        viewer = await pictures_of(url)
        await next_of(viewer)
        drive.end()
        new = FakeDrive(drive.path, channels=2)
        new.write(7)
        while "layout" not in (said := json.loads(await next_of(viewer, False))) \
                or said["layout"]["drive"]["channels"] != 2:
            pass
        assert decoded(await next_of(viewer), new) == 7
        viewer.close()
        new.close()

    with LiveFile(drive.path) as live:
        served(live, test)


def test_a_port_in_use(drive: FakeDrive) -> None:
    """One line that names the option."""
    async def never(_: str) -> None:
        raise AssertionError

    with socket.socket() as taken, LiveFile(drive.path) as live:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"^--port {port}: Address already"):
            served(live, never, port)


# ---- the command -----------------------------------------------------------

def test_wrong_commands(drive: FakeDrive, tmp_path: Path) -> None:
    """One line each."""
    runs = {"VSSD_RUNS": str(tmp_path / "runs")}
    log = tmp_path / "log"
    log.write_bytes(b"vssdLOG1" + bytes(100))
    for words, says in (
            ([], "no guest runs: start one with ./vssd run"),
            (["nobody"], "nobody: no such file, and no such guest; there are: none"),
            (["no/such"], "no/such: no such file"),
            ([str(log)], f"{log}: no live file, as live=FILE and --live FILE make"
             " it"),
            ([str(drive.path), "--drive", "ssd0"],
             f"--drive ssd0: {drive.path} is the file of one drive"),
            ([str(drive.path), "--port", "70000"], "--port 70000: allowed 0..65535,"
             " it is above 65535"),
            (["nobody", "pause"], "nobody: no such file, and no such guest; there are:"
             " none"),
            ([str(drive.path), "pause"], f"{drive.path}: a request goes without --port"
             " and --no-browser")):
        done = vssd("watch", "--no-browser", *words, **runs)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"vssd: {says}\n"


# ---- requests to a run -----------------------------------------------------

STATE = {"state": "paused", "sim_ns": 1500000001, "next_ns": 1500000007, "commands": 3,
         "speed": 0, "marks_ns": [250000000, 1500000001]}
ANSWERS = {
    "state": STATE, "step gc": {**STATE, "speed": 0.5, "marks_ns": []},
    "back 2": {"state": "goes back"}, "go": {"state": "ended"},
    "get ftl.gc_low": {"key": "ftl.gc_low", "value": "1%"},
    "options": {"options": {"ftl.gc_low": {"value": "1%", "range": "0%..50%",
                                           "help": "when GC starts"}}},
    "mark": {"error": "mark: there are 8, which is the most"}}


@pytest.fixture
def run(drive: FakeDrive) -> Iterator[list[str]]:
    """A run that gives these answers; what it was asked."""
    asked: list[str] = []
    with socket.socket(socket.AF_UNIX) as place:
        place.bind(str(control.path_of(drive.path)))
        place.listen()

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    one, _ = place.accept()
                    with one:
                        asked.append(one.recv(600).decode().rstrip("\n"))
                        answer = ANSWERS.get(asked[-1])
                        one.sendall(json.dumps(answer).encode() if answer else b"?")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield asked
        place.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_requests(drive: FakeDrive, run: list[str]) -> None:
    """The answers in words; refusals and no answer in one line."""
    marks = "mark 1 at 0.25 s\nmark 2 at 1.500000001 s\n"
    for words, says in (
            ("state", f"paused at 1.500000001 s, as fast as possible\n{marks}"),
            ("step gc", "paused at 1.500000001 s, speed 0.5\n"),
            ("back 2", f"paused at 1.500000001 s, as fast as possible\n{marks}"),
            ("go", "ended\n"), ("get ftl.gc_low", "ftl.gc_low=1%\n"),
            ("options", "ftl.gc_low=1%  (0%..50%) when GC starts\n")):
        done = vssd("watch", str(drive.path), *words.split())
        assert (done.returncode, done.stdout, done.stderr) == (0, says, "")
    assert run[2:4] == ["back 2", "state"]
    for words, error in (("mark", "mark: there are 8, which is the most"),
                         ("hello", "the run gives no answer to 'hello'")):
        done = vssd("watch", str(drive.path), words)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"vssd: {drive.path}: {error}\n"
    done = vssd("watch", str(drive.path), "two\nlines")
    assert done.stderr == "vssd: 'two\\nlines': a request is one short line\n"


def test_a_page_makes_requests(drive: FakeDrive, run: list[str]) -> None:
    """The server passes a line on, and tells all viewers how the run goes; what is
    no line is passed over."""
    async def test(url: str) -> None:
        one = await pictures_of(url, Origin=url.rsplit("/", 2)[0])
        await one.write_message(b"pause", True)
        await one.write_message("two\nlines")
        await one.write_message("get ftl.gc_low")
        answer, states = None, []
        while answer is None or not states:
            message = await asyncio.wait_for(one.read_message(), 20)
            if isinstance(message, str):
                said = json.loads(message)
                answer = said if "asked" in said else answer
                states += [said["control"]] if said.get("control") else []
        assert answer == {"asked": "get ftl.gc_low", "answer": ANSWERS["get ftl.gc_low"]}
        assert states[0] == STATE
        one.close()

    with LiveFile(drive.path) as live:
        served(live, test)
    assert {*run} == {"state", "get ftl.gc_low"}


def test_no_requests(drive: FakeDrive) -> None:
    """The run was started without --control, or has ended."""
    says = f"vssd: {drive.path}: takes no requests: start vssd-sim with --control\n"
    assert vssd("watch", str(drive.path), "pause").stderr == says
    with socket.socket(socket.AF_UNIX) as place:
        place.bind(str(control.path_of(drive.path)))
    assert vssd("watch", str(drive.path), "pause").stderr == says


class FakeMonitor:
    """A guest's monitor with one option that may change."""

    def __init__(self) -> None:
        self.value, self.status = "0.5%", "running"

    def cmd(self, name: str, **how: Any) -> Any:
        """Answer as QEMU does."""
        if name in ("stop", "cont"):
            self.status = {"stop": "paused", "cont": "running"}[name]
        elif name == "query-status":
            return {"status": self.status}
        elif name == "qom-set":
            assert how["property"] == "set-option" and how["path"].endswith("/ssd1")
            self.value = how["value"].partition("=")[2]
        else:
            assert how["property"] == "running-options"
            return {"ftl.gc_low": {"value": self.value, "range": "0..1", "help": "h"}}
        return None


def test_requests_of_a_guest() -> None:
    """Those that its monitor can serve; others are refused in one line."""
    guest = FakeMonitor()

    def ask(line: str) -> str:
        words = line.split()
        watch.check_of_guest("one", words)
        return control.text(watch.ask_guest(guest, "ssd1", words))

    assert ask("get ftl.gc_low") == "ftl.gc_low=0.5%"
    assert ask("set ftl.gc_low=3%") == ask("get ftl.gc_low") == "ftl.gc_low=3%"
    assert ask("options") == "ftl.gc_low=3%  (0..1) h"
    assert [ask(line) for line in ("state", "pause", "state", "go")] == [
        "running", "paused", "paused", "running"]
    with pytest.raises(UserError, match="^nand.dies: not among the options that may"):
        ask("get nand.dies")
    for line in ("step gc", "back 1", "set", "pause now"):
        with pytest.raises(UserError, match=f"^{line}: the guest one takes state,"):
            ask(line)
