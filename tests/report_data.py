# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page of ./vssd report shows (scripts/vssd/watch/bundle.py)."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any


def data_of(path: str | Path) -> dict[str, Any]:
    """The data in the page."""
    text = re.findall(r'<script type="text/plain" id="data">(.*?)</script>',
                      Path(path).read_text(encoding="utf-8"))
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text[0])))
    return found
