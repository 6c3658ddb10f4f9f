"""What `decode` makes of JPEG files."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.append(str(Path(__file__).parents[3] / "model_repository" / "decode" / "1"))

from pixels import SIZE, decode_jpeg


def jpeg(image: Image.Image, **options) -> bytes:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=95, **options)
    return file.getvalue()


def halves(left: str, right: str, size=(400, 300)) -> Image.Image:
    image = Image.new("RGB", size, left)
    image.paste(right, (size[0] // 2, 0, *size))
    return image


def test_pixels_are_channels_first_between_minus_one_and_one():
    pixels = decode_jpeg(jpeg(halves("red", "blue")))
    assert pixels.shape == (3, SIZE, SIZE)
    assert pixels.dtype == np.float32
    left, right = pixels[:, :, : SIZE // 4], pixels[:, :, -SIZE // 4 :]
    assert left.mean(axis=(1, 2)) == pytest.approx([1, -1, -1], abs=0.05)
    assert right.mean(axis=(1, 2)) == pytest.approx([-1, -1, 1], abs=0.05)


def test_a_picture_taken_sideways_is_turned_upright():
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: turn 90 degrees clockwise to see it upright
    upright = decode_jpeg(jpeg(halves("white", "black"), exif=exif))
    assert upright[:, : SIZE // 4].mean() == pytest.approx(1, abs=0.05)
    assert upright[:, -SIZE // 4 :].mean() == pytest.approx(-1, abs=0.05)


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_grey_and_cmyk_pictures_become_rgb(mode):
    assert decode_jpeg(jpeg(halves("white", "black").convert(mode))).shape == (3, SIZE, SIZE)


def test_a_png_file_is_refused():
    file = io.BytesIO()
    halves("red", "blue").save(file, "PNG")
    with pytest.raises(OSError, match="cannot identify"):
        decode_jpeg(file.getvalue())


def test_half_a_file_is_refused():
    whole = jpeg(Image.effect_noise((400, 300), 50))
    with pytest.raises(OSError, match="truncated"):
        decode_jpeg(whole[: len(whole) // 2])
