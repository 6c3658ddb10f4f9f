"""What `tritonscope.pth` calls in every Python process of a server started with TRITONSCOPE=1."""

from __future__ import annotations

import logging
import sys


def wake() -> None:
    """Install the import hook if this process is a Triton stub; never raises."""
    if "c_python_backend_utils" not in sys.builtin_module_names:
        return
    try:
        _install()
    except Exception:
        logging.getLogger("tritonscope").warning("not instrumented", exc_info=True)


def _install() -> None:
    # Only a stub pays for these imports.
    from tritonscope.runtime.hook import install  # noqa: PLC0415
    from tritonscope.settings import log, read_settings  # noqa: PLC0415

    settings = read_settings()
    _say_where(log, settings.log_level)
    install()


def _say_where(log: logging.Logger, level: str) -> None:
    """Write our log lines to the server's log, whatever the model does with the root logger."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("tritonscope[%(process)d] %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(level)
    log.propagate = False
