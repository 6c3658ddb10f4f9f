"""Real photographs for the demo: a few that the wheel of scikit-image carries, kept in the cache folder."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image

from tritonscope.errors import ServerError
from tritonscope.server.cache import Progress, cache_directory, locked, pip_install, quiet

SCIKIT_IMAGE = "0.25.2"
"""The release whose pictures are used."""

FILES = {
    "astronaut": "astronaut.png",
    "cat": "chelsea.png",
    "coffee": "coffee.png",
    "galaxies": "hubble_deep_field.jpg",
    "retina": "retina.jpg",
    "rocket": "rocket.jpg",
    "tissue": "ihc.png",
}
"""Scene -> file in skimage/data; only those whose documentation says that they may be used freely."""

_FOLDER = f"pictures-{SCIKIT_IMAGE}"


def photographs(progress: Progress = quiet) -> dict[str, Image.Image]:
    """Return the photographs by scene, as RGB; the first call downloads 15 MB.

    Raises:
        SettingError: the cache folder cannot be written.
        ServerError: the photographs cannot be downloaded, or are damaged.
    """
    folder = cache_directory() / _FOLDER
    if not folder.is_dir():
        _fill(folder, progress)
    try:
        return {scene: _open(folder / file) for scene, file in FILES.items()}
    except OSError as error:
        raise ServerError(f"the photographs in {folder} cannot be used ({error}): delete that folder") from error


def _fill(folder: Path, progress: Progress) -> None:
    with locked(_FOLDER, progress) as cache:
        # Another process may have done it while this one waited.
        if folder.is_dir():
            return
        progress(f"downloading photographs, once (15 MB): scikit-image {SCIKIT_IMAGE}")
        try:
            _download(cache, folder)
        except OSError as error:
            raise ServerError(f"the photographs cannot be put into the cache folder {cache}: {error}") from error


def _download(cache: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=cache, prefix=f".{_FOLDER}-") as scratch:
        _install(Path(scratch))
        pictures = Path(scratch, "pictures")
        pictures.mkdir()
        for file in FILES.values():
            shutil.copyfile(Path(scratch, "skimage", "data", file), pictures / file)
        pictures.replace(folder)


def _install(target: Path) -> None:
    # Nothing of it is run, so neither what it depends on nor the Python it is for matters: any wheel will do.
    apart = ["--no-deps", "--no-compile", "--only-binary=:all:", "--python-version=3.12", f"--target={target}"]
    pip_install(Path(sys.executable), [*apart, "--retries=1", f"scikit-image=={SCIKIT_IMAGE}"])


def _open(path: Path) -> Image.Image:
    with Image.open(path) as image:
        pixels: Image.Image = image.convert("RGB")
    return pixels
