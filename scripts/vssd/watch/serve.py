# SPDX-License-Identifier: GPL-2.0-or-later
"""The server of ./vssd watch: a page and the pictures of one live file.

Everything is below a path with a random token, on 127.0.0.1.  The pictures go to
each viewer by a WebSocket as the bytes that the file has; the page decodes them
by the layout.  Without viewers the file is not read, and the drive makes no
pictures.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import tornado.iostream
import tornado.web
import tornado.websocket
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from ..errors import UserError
from . import bundle, control, glossary
from .live import LiveFile

ADDRESS = "127.0.0.1"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript",
         ".svg": "image/svg+xml"}
LOOK_S = 0.02  # between two looks at the file's sequence
WANT_S = 0.5
PING_S = 5.0  # a viewer that does not answer as long is gone
# Bokeh writes its styles into elements of the page.
POLICY = ("default-src 'none'; script-src 'self'; connect-src 'self';"
          " style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
          " base-uri 'none'; form-action 'none'; frame-ancestors 'none'")


class Hub:
    """The live file and the viewers of its pictures."""

    def __init__(self, live: LiveFile, about: dict[str, Any]) -> None:
        self.live = live
        self.about = about
        self.viewers: set[Viewer] = set()
        self.wake = asyncio.Event()
        self.last = b""  # the newest picture
        self.seen = 0  # its sequence
        self.asked = 0.0
        self.control: control.Answer | None = None  # of a run that takes requests
        self.tasks: set[asyncio.Task[None]] = set()

    def hello(self) -> str:
        """The names and the layout of the drive."""
        return json.dumps({**self.about, "file": str(self.live.path),
                           "layout": self.live.layout})

    def state(self) -> str:
        """What the page says of the drive."""
        return json.dumps({"state": self.live.state(),
                           "silent_s": round(self.live.silent_s(), 1),
                           "control": self.control})

    def join(self, viewer: Viewer) -> None:
        """It has the layout, the state and the last picture at once."""
        viewer.send(self.hello())
        viewer.send(self.state())
        if not self.viewers:
            self.seen, self.last = 0, b""  # nobody has looked since
        self.viewers.add(viewer)
        if self.last:
            viewer.send(self.last)
        self.wake.set()

    def leave(self, viewer: Viewer) -> None:
        """It has gone; the drive makes no pictures for nobody."""
        self.viewers.discard(viewer)
        if not self.viewers:
            self.wake.clear()

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        """In the background."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def learn(self) -> None:
        """Tell all viewers how the run goes."""
        self.control = None
        if control.path_of(self.live.path).is_socket():
            found = await control.ask_soon(self.live.path, "state")
            self.control = None if "error" in found else found
        self._send(self.state())

    async def request(self, viewer: Viewer, line: str) -> None:
        """Of a viewer, which gets the answer."""
        found = await control.ask_soon(self.live.path, line)
        viewer.send(json.dumps({"asked": line, "answer": found}))
        await self.learn()

    def look(self) -> None:
        """Send what is new."""
        now = time.monotonic()
        if now - self.asked >= WANT_S:
            self.asked = now
            self._follow()
            self.live.want()
            self.do(self.learn())
        sequence = self.live.sequence()
        if sequence == self.seen or sequence % 2:
            return
        picture = self.live.picture(1)
        if picture:
            self.seen, self.last = sequence, picture.raw
            self._send(picture.raw)

    def _follow(self) -> None:
        """Go on with the next drive that has the file, after the end of one."""
        if self.live.state() == "running" or not self.live.replaced():
            return
        with contextlib.suppress(UserError):
            new = LiveFile(self.live.path)
            self.live.close()
            self.live, self.seen, self.last = new, 0, b""
            self._send(self.hello())

    def _send(self, message: str | bytes) -> None:
        for viewer in tuple(self.viewers):
            viewer.send(message)

    async def run(self) -> None:
        """For ever."""
        while True:
            await self.wake.wait()
            self.look()
            await asyncio.sleep(LOOK_S)


def _host(port: int) -> set[str]:
    return {f"{name}:{port}" for name in (ADDRESS, "localhost")}


class Checked(tornado.web.RequestHandler):
    """Refuses a request for another host: a page elsewhere whose name leads
    here (DNS rebinding)."""

    def prepare(self) -> Awaitable[None] | None:
        """Before each request."""
        if self.request.host not in self.settings["hosts"]:
            raise tornado.web.HTTPError(403)
        return None

    def set_default_headers(self) -> None:
        """Of every answer."""
        self.set_header("Content-Security-Policy", POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-store")
        self.clear_header("Server")

    def write_error(self, status_code: int, **_: Any) -> None:
        """One line."""
        self.set_header("Content-Type", "text/plain")
        self.finish(f"{status_code}: the address is that which ./vssd watch"
                    " has printed\n")


class Nothing(Checked):
    """Every other path."""

    def get(self, *_: str) -> None:
        """It is not there."""
        raise tornado.web.HTTPError(404)


class Part(Checked):
    """A file of the page, of Bokeh, or the glossary."""

    def get(self, name: str) -> None:
        """Its content."""
        if name == "words.json":
            self.set_header("Content-Type", "application/json")
            self.write(json.dumps(glossary.terms()))
            return
        path = _part(name or "index.html")
        if path is None:
            raise tornado.web.HTTPError(404)
        self.set_header("Content-Type", KINDS[path.suffix] + "; charset=utf-8")
        self.write(path.read_bytes())


def _part(name: str) -> Path | None:
    if name in bundle.BOKEH:
        return bundle.bokeh_path(name)
    path = bundle.PAGE / name
    return path if path.parent == bundle.PAGE and path.suffix in KINDS \
        and path.is_file() else None


class Viewer(Checked, tornado.websocket.WebSocketHandler):
    """One page that is open."""

    busy = False  # a picture is under way
    next: bytes | None = None  # the newest one behind it

    @property
    def hub(self) -> Hub:
        """Of the server."""
        found: Hub = self.settings["hub"]
        return found

    def check_origin(self, origin: str) -> bool:
        """The page itself, of this server."""
        return origin.removeprefix("http://") in self.settings["hosts"]

    async def open(self, *_: str, **__: str) -> None:
        """It has come."""
        self.hub.join(self)

    def on_message(self, message: str | bytes) -> None:
        """A request to the run, in one line."""
        with contextlib.suppress(UserError):
            if isinstance(message, str):
                self.hub.do(self.hub.request(
                    self, control.line_of([message])))

    def on_close(self) -> None:
        """It has gone."""
        self.hub.leave(self)

    def send(self, message: str | bytes) -> None:
        """Pictures that a slow viewer has no time for are left out, but for the
        newest."""
        if isinstance(message, str):
            asyncio.ensure_future(self._write(message))
        elif self.busy:
            self.next = message
        else:
            self.busy = True
            asyncio.ensure_future(self._pictures(message))

    async def _pictures(self, first: bytes) -> None:
        message: bytes | None = first
        while message is not None:
            await self._write(message)
            message, self.next = self.next, None
        self.busy = False

    async def _write(self, message: str | bytes) -> None:
        with contextlib.suppress(tornado.websocket.WebSocketClosedError,
                                 tornado.iostream.StreamClosedError):
            await self.write_message(message, isinstance(message, bytes))


def application(hub: Hub, token: str, port: int) -> tornado.web.Application:
    """All paths; those without the token are not there."""
    return tornado.web.Application(
        [(f"/{token}/pictures", Viewer), (f"/{token}/([a-z.-]*)", Part)],
        default_handler_class=Nothing, hub=hub, hosts=_host(port),
        websocket_ping_interval=PING_S, websocket_ping_timeout=PING_S,
        log_function=lambda _: None)


async def serve(live: LiveFile, about: dict[str, Any], port: int,
                ready: Callable[[str], None]) -> None:
    """Serve until it is cancelled; `ready` gets the page's address.  about: names
    for the page's head."""
    try:
        sockets = bind_sockets(port, ADDRESS)
    except OSError as e:
        raise UserError(f"--port {port}: {os.strerror(e.errno or 0)}") from e
    port = sockets[0].getsockname()[1]
    token = secrets.token_urlsafe(18)
    hub = Hub(live, about)
    server = HTTPServer(application(hub, token, port))
    server.add_sockets(sockets)
    ready(f"http://{ADDRESS}:{port}/{token}/")
    try:
        await hub.run()
    finally:
        server.stop()
        hub.live.close()
