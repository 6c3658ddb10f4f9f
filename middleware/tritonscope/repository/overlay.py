"""An overlay: a model repository like another one, whose Python stages are observed.

Everything is linked (or copied) as it is, except the entry file of each Python stage: that is copied with a few
lines after its own, so that its name, its line numbers and its relative imports stay what they were.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tritonscope.errors import RepositoryError

MARKER = "tritonscope-overlay.json"

FOOTER = """

# Added by `tritonscope wrap`; everything above is the model's own, as it was.
if "TritonPythonModel" in globals():
    try:
        from tritonscope import instrument as _tritonscope_instrument
    except ImportError as _tritonscope_error:
        print(f"tritonscope: not observed: {_tritonscope_error}", flush=True)
    else:
        TritonPythonModel = _tritonscope_instrument(TritonPythonModel)
"""

Place = Callable[[Path, Path], None]
Writer = Callable[[Path], None]


class Overlay(NamedTuple):
    """What was written: the models that are observed, and those that are as they were."""

    root: Path
    observed: tuple[str, ...]
    untouched: tuple[str, ...]


def write_overlay(
    repository: Path,
    out: Path,
    entries: Mapping[str, str],
    *,
    instead: Mapping[str, Writer] | None = None,
    copy: bool = False,
    force: bool = False,
) -> Overlay:
    """Write to `out` an overlay of `repository`; `entries` gives each Python model's entry file, as in `model.py`.

    A model in `instead` is not taken over: its function writes a Python model to the folder given, observed too.
    `out` appears whole or not at all. `force` replaces an older overlay, never any other folder.

    Raises:
        RepositoryError: `out` exists, lies in the repository, or cannot be written.
    """
    _check_target(repository, out, force=force)
    partial = out.with_name(f".{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        overlay = _write(repository.resolve(), partial, entries, instead or {}, _copied if copy else _linked)
        if out.exists():
            shutil.rmtree(out)
        partial.rename(out)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise RepositoryError(f"the overlay cannot be written to {out}: {error}") from error
    return overlay._replace(root=out)


def _check_target(repository: Path, out: Path, *, force: bool) -> None:
    if out.resolve().is_relative_to(repository.resolve()):
        raise RepositoryError(
            f"{out} lies in {repository}: Triton would take it for a model; choose a folder outside"
        )
    if not out.exists():
        return
    if not (out / MARKER).is_file():
        raise RepositoryError(f"{out} exists and is not an overlay: choose another folder")
    if not force:
        raise RepositoryError(f"{out} exists: --force replaces this older overlay")


def _write(
    repository: Path, out: Path, entries: Mapping[str, str], instead: Mapping[str, Writer], place: Place
) -> Overlay:
    out.mkdir(parents=True)
    observed, untouched = [], []
    for item in sorted(repository.iterdir()):
        if item.name in instead:
            _write_instead(instead[item.name], out / item.name)
            observed.append(item.name)
        elif item.name in entries:
            _write_model(item, out / item.name, entries[item.name], place)
            observed.append(item.name)
        else:
            place(item, out / item.name)
            if item.is_dir():
                untouched.append(item.name)
    (out / MARKER).write_text(json.dumps({"repository": str(repository), "observed": observed}, indent=1) + "\n")
    return Overlay(out, tuple(observed), tuple(untouched))


def _write_instead(write: Writer, out: Path) -> None:
    write(out)
    for entry in out.glob("[0-9]*/model.py"):
        entry.write_bytes(entry.read_bytes() + FOOTER.encode("ascii"))


def _write_model(model: Path, out: Path, entry: str, place: Place) -> None:
    out.mkdir()
    for item in sorted(model.iterdir()):
        if item.is_dir() and item.name.isdecimal() and (item / entry).is_file():
            _write_version(item, out / item.name, entry, place)
        else:
            place(item, out / item.name)


def _write_version(version: Path, out: Path, entry: str, place: Place) -> None:
    out.mkdir()
    for item in sorted(version.iterdir()):
        if item.name == entry:
            # Bytes, not text: the file may be in any encoding that contains ASCII.
            (out / entry).write_bytes(item.read_bytes() + FOOTER.encode("ascii"))
        elif item.name != "__pycache__":
            place(item, out / item.name)


def _linked(source: Path, target: Path) -> None:
    target.symlink_to(source.resolve())


def _copied(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)
