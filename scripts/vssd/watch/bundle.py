# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of ./vssd watch as one file with its data: the same elements, styles
and modules, and Bokeh's JavaScript from its wheel.  Nothing in it is fetched,
which its content security policy enforces."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("page")
BOKEH = ("bokeh.min.js", "bokeh-api.min.js")
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:function|class|const) (\w+))", re.M)
LOADED = re.compile(r'^<(?:link rel="stylesheet"|script src=).*\n', re.M)
POLICY = ("default-src 'none'; script-src 'unsafe-inline';"
          " style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
          " form-action 'none'")


def bokeh_path(name: str) -> Path:
    """A file of BOKEH; its caller has had venv.extra("watch")."""
    spec = find_spec("bokeh")
    assert spec and spec.origin
    return Path(spec.origin).parent / "server/static/js" / name


def script(entry: str) -> str:
    """A module and those it imports as one script.  Each is a function that
    returns what it exports; one that is imported comes first."""
    out: dict[str, str] = {}

    def add(name: str) -> None:
        text = (PAGE / f"{name}.js").read_text(encoding="utf-8")
        for _, other in IMPORT.findall(text):
            if other not in out:
                add(other)
        text = IMPORT.sub(r"const {\1} = module_\2;\n", text)
        names = ", ".join(EXPORT.findall(text))
        out[name] = (f"const module_{name} = (() => {{\n{EXPORT.sub('', text)}"
                     f"return {{{names}}};\n}})();\n")

    add(entry)
    return "".join(out.values())


def packed(data: Any) -> str:
    """JSON, by gzip, in base64; the same bytes for the same data."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def page(entry: str, title: str, data: Any) -> str:
    """The whole page; `entry` is the module that shows the data."""
    parts = [f"<style>\n{(PAGE / 'watch.css').read_text(encoding='utf-8')}"
             "</style>\n"]
    parts += [f"<script>{bokeh_path(name).read_text(encoding='utf-8')}</script>\n"
              for name in BOKEH]
    parts.append(f'<script type="text/plain" id="data">{packed(data)}</script>\n')
    parts.append(f'<script type="module">\n{script(entry)}</script>\n')
    html = LOADED.sub("", (PAGE / "index.html").read_text(encoding="utf-8"))
    head, end, body = html.partition("</head>\n")
    head = head.replace("<title>vssd watch</title>",
                        f"<title>{escape(title)}</title>\n"
                        '<meta http-equiv="Content-Security-Policy"'
                        f' content="{POLICY}">')
    return head + "".join(parts) + end + body
