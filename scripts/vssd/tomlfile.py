# SPDX-License-Identifier: GPL-2.0-or-later
"""TOML files of users: read, or refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .errors import UserError, one_line


def load(path: Path, page: str) -> dict[str, Any]:
    """The file's table; `page` is the document that describes it."""
    try:
        import tomllib  # type: ignore[import-not-found,unused-ignore]
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise UserError(f"{path}: {e.strerror}") from e
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise UserError(f"{path}: {one_line(str(e))} ({page})") from e
    return data
