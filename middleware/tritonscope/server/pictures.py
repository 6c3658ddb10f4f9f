"""Sample pictures to send to the example pipeline: JPEG files of 1 to 1.6 megapixels, as uploads are.

They are crops of photographs where those can be had, else crops of images made here with a photograph's statistics.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from PIL import Image

from tritonscope.errors import TritonscopeError
from tritonscope.server.cache import Progress, quiet
from tritonscope.server.photographs import SCIKIT_IMAGE, photographs

GENERATED = "generated"
"""Origin and scene of pictures made here."""

SIZES = ((1200, 900), (1080, 1080), (1440, 810), (900, 1200), (1280, 854), (1440, 1080), (854, 1280))
CROPS_PER_SCENE = 3
_QUALITY = 90
_SEED = 20240907

# Of a generated image, which is enlarged like the photographs are: width and height, mean and deviation of a level.
_PLATE = (640, 480)
_MEAN, _DEVIATION = 118, 52
# Amplitude over spatial frequency in photographs falls as f^-a with a near 1.2 (Tolhurst et al. 1992).
_FALL = 1.2


class Picture(NamedTuple):
    """A JPEG file to upload, of `width` x `height` pixels: `scene` is what it shows, `origin` where it is from."""

    name: str
    scene: str
    jpeg: bytes
    width: int
    height: int
    origin: str


def sample_pictures(progress: Progress = quiet) -> list[Picture]:
    """Return crops of the photographs, neighbours of different scenes, or generated ones if there are none.

    The same releases of Pillow and numpy give the same bytes. `progress` gets a line before each long step.
    """
    try:
        sources = photographs(progress)
    except TritonscopeError as error:
        progress(f"using generated pictures: {str(error).splitlines()[0].rstrip(':')}")
        return generated_pictures()
    return _crops(sources, f"scikit-image {SCIKIT_IMAGE}")


def generated_pictures(count: int = 12) -> list[Picture]:
    """Return `count` pictures made here: no network needed, a decoder's work is the same, labels mean nothing."""
    rng = np.random.default_rng(_SEED)
    return [_picture(f"{GENERATED}-{n}", GENERATED, _plate(rng), n, rng, GENERATED) for n in range(count)]


def _crops(sources: Mapping[str, Image.Image], origin: str) -> list[Picture]:
    rng = np.random.default_rng(_SEED)
    turns = [(crop, scene) for crop in range(CROPS_PER_SCENE) for scene in sources]
    return [
        _picture(f"{scene}-{crop}", scene, sources[scene], n, rng, origin) for n, (crop, scene) in enumerate(turns)
    ]


def _picture(
    name: str, scene: str, source: Image.Image, number: int, rng: np.random.Generator, origin: str
) -> Picture:
    # Scenes and sizes are both seven: the shift keeps one scene from always having one size.
    width, height = SIZES[(number + number // len(SIZES)) % len(SIZES)]
    crop = source.resize((width, height), Image.Resampling.BICUBIC, box=_box(source, width / height, rng))
    file = io.BytesIO()
    crop.save(file, "JPEG", quality=_QUALITY)
    return Picture(name, scene, file.getvalue(), width, height, origin)


def _box(source: Image.Image, aspect: float, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Choose a box of the given aspect that spans 75 to 100 % of the largest one that fits, anywhere."""
    width = min(source.width, source.height * aspect) * rng.uniform(0.75, 1)
    height = width / aspect
    left = rng.uniform(0, source.width - width)
    top = rng.uniform(0, source.height - height)
    return left, top, left + width, top + height


def _plate(rng: np.random.Generator) -> Image.Image:
    """Make noise with the spectrum of photographs: light that all colours share, and a weaker part of each."""
    light = _field(rng)
    channels = [_MEAN + _DEVIATION * (light + 0.35 * _field(rng)) for _ in range(3)]
    return Image.fromarray(np.stack(channels, axis=-1).clip(0, 255).astype(np.uint8))


def _field(rng: np.random.Generator) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    width, height = _PLATE
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :])
    frequency[0, 0] = np.inf
    spectrum = np.fft.rfft2(rng.standard_normal((height, width))) * frequency**-_FALL
    field = np.fft.irfft2(spectrum, s=(height, width))
    return np.asarray(field / field.std())
