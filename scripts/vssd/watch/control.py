# SPDX-License-Identifier: GPL-2.0-or-later
"""The requests that a run takes beside its live file (docs/live-format.md): a
Unix socket, one line in, one line of JSON out, a connection for each."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

from ..errors import UserError

Answer = dict[str, Any]
LIMIT_S = 5.0  # for a connection; and for an answer, but that to `step`
MOST_BYTES = 1 << 16  # of an answer
NONE = "takes no requests: start vssd-sim with --control"


def path_of(live: Path) -> Path:
    """The socket of the run that writes this live file."""
    return live.with_name(live.name + ".control")


def line_of(words: list[str]) -> str:
    """A request in one line."""
    line = " ".join(words)
    if not line.isprintable() or len(line.encode()) > 500:
        raise UserError(f"{line[:40]!r}: a request is one short line")
    return line


def _answer(live: Path, line: str, raw: bytes) -> Answer:
    try:
        found = json.loads(raw)
        if isinstance(found, dict):
            return found
    except ValueError:
        pass
    raise UserError(f"{live}: the run gives no answer to {line!r}")


def ask(live: Path, line: str) -> Answer:
    """Its answer, which comes at the end of a step.  UserError: there is none, or
    the run refuses."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(LIMIT_S)
        try:
            s.connect(str(path_of(live)))
            s.sendall(line.encode() + b"\n")
            if line.startswith("step"):
                s.settimeout(None)
            raw = b""
            while len(raw) < MOST_BYTES and (part := s.recv(MOST_BYTES)):
                raw += part
        except (FileNotFoundError, ConnectionRefusedError) as e:
            raise UserError(f"{live}: {NONE}") from e
        except OSError as e:
            raise UserError(f"{live}: the run does not answer: {e}") from e
    found = _answer(live, line, raw)
    if "error" in found:
        raise UserError(f"{live}: {found['error']}")
    return found


async def ask_soon(live: Path, line: str) -> Answer:
    """The same for a server; an error is an answer, too."""
    try:
        reader, writer = await asyncio.wait_for(
            asyncio.open_unix_connection(str(path_of(live))), LIMIT_S)
    except (OSError, asyncio.TimeoutError):
        return {"error": NONE}
    try:
        writer.write(line.encode() + b"\n")
        limit = None if line.startswith("step") else LIMIT_S
        raw = await asyncio.wait_for(reader.read(MOST_BYTES), limit)
        return _answer(live, line, raw)
    except (OSError, asyncio.TimeoutError, UserError) as e:
        return {"error": str(e) or "the run does not answer"}
    finally:
        writer.close()


# ---- for people ------------------------------------------------------------

def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e9:.9f}".rstrip("0").rstrip(".") + " s"


def _state(found: Answer) -> list[str]:
    if "sim_ns" not in found:
        return [str(found["state"])]
    speed = found["speed"]
    lines = [f"{found['state']} at {_seconds(found['sim_ns'])}, "
             + (f"speed {speed:g}" if speed else "as fast as possible")]
    return lines + [f"mark {i + 1} at {_seconds(at)}"
                    for i, at in enumerate(found["marks_ns"])]


def text(found: Answer) -> str:
    """An answer in lines."""
    if "options" in found:
        return "\n".join(f"{key}={one['value']}  ({one['range']}) {one['help']}"
                         for key, one in found["options"].items())
    if "key" in found:
        return f"{found['key']}={found['value']}"
    return "\n".join(_state(found))
