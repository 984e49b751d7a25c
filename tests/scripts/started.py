# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of vssd by a process that has imported them and forks for each: the
imports take most of the time of a command that only reads its arguments.

Standard input is empty.  A test of how the command starts, or how it ends by a
signal, starts a process of its own instead.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from vssd.paths import PROJECT

ENV = dict(os.environ, PYTHONPATH=f"{PROJECT}/scripts:{PROJECT}/lab")
# Reads lines of JSON: arguments, environment, folder for the output; answers
# with the status.
PROGRAM = r"""
import json, os, sys, traceback
from vssd import ending
from vssd_lab.cli.main import main

def command(args, env, folder):
    for number, name in ((0, os.devnull), (1, folder + "/out"), (2, folder + "/err")):
        fd = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(fd, number)
        os.close(fd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv[1:] = args
    try:
        return ending.run(lambda: main(args))
    except SystemExit as e:
        if e.code is None or isinstance(e.code, int):
            return e.code or 0
        print(e.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    return 1

for line in sys.stdin:
    if not (child := os.fork()):
        status = command(*json.loads(line))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@functools.cache
def _server() -> subprocess.Popen[str]:
    """It ends with its standard input, at the end of this process."""
    server = subprocess.Popen([sys.executable, "-c", PROGRAM], env=ENV, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(server.communicate)
    return server


def vssd(*args: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The command's end; `more` is added to the environment."""
    server = _server()
    assert server.stdin and server.stdout
    with tempfile.TemporaryDirectory(prefix="vssd-started-") as folder:
        said = json.dumps([args, ENV | more, folder])
        server.stdin.write(said + "\n")
        server.stdin.flush()
        status = int(server.stdout.readline())
        out, err = (Path(folder, name).read_text("utf-8") for name in ("out", "err"))
    return subprocess.CompletedProcess(args, status, out, err)
