"""Where tritonscope keeps what it has downloaded: the packaged server and the demo's pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

TRITONSCOPE_CACHE = "TRITONSCOPE_CACHE"
"""Folder for downloads. Default: `$XDG_CACHE_HOME/tritonscope`, else `~/.cache/tritonscope`."""


def cache_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder for downloads, which need not exist yet."""
    if environ.get(TRITONSCOPE_CACHE):
        return Path(environ[TRITONSCOPE_CACHE]).expanduser()
    return Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "tritonscope"
