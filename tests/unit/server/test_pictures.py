"""Sample pictures: from a wheel, through the real pip and a local index, or made here when there is none."""

import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from tritonscope.errors import RepositoryError, ServerError
from tritonscope.server.examples import PIPELINE, example_repository
from tritonscope.server.photographs import FILES, SCIKIT_IMAGE, photographs
from tritonscope.server.pictures import CROPS_PER_SCENE, GENERATED, SIZES, generated_pictures, sample_pictures

DIST_INFO = f"scikit_image-{SCIKIT_IMAGE}.dist-info"


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """A folder that is pip's only index, and an empty cache beside it."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("TRITONSCOPE_CACHE", str(tmp_path / "cache"))
    return folder


def publish(index: Path, files: dict[str, bytes]) -> Path:
    """Put a wheel with these pictures into the index."""
    path = index / f"scikit_image-{SCIKIT_IMAGE}-py3-none-any.whl"
    texts = {
        f"{DIST_INFO}/METADATA": f"Metadata-Version: 2.1\nName: scikit-image\nVersion: {SCIKIT_IMAGE}\n",
        f"{DIST_INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{DIST_INFO}/RECORD": "",
        "skimage/__init__.py": "raise AssertionError('nothing of it is run')\n",
    }
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in texts.items():
            wheel.writestr(name, text)
        for name, data in files.items():
            wheel.writestr(f"skimage/data/{name}", data)
    return path


def small_pictures() -> dict[str, bytes]:
    pictures = {}
    for number, name in enumerate(FILES.values()):
        file = io.BytesIO()
        Image.effect_noise((60 + number, 40), 50).convert("RGB").save(file, "PNG")
        pictures[name] = file.getvalue()
    return pictures


def cached(index: Path) -> list[str]:
    cache = index.parent / "cache"
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.suffix != ".lock")


def test_photographs_are_downloaded_once_and_only_they_are_kept(index):
    wheel = publish(index, small_pictures())
    said = []
    first = photographs(said.append)
    wheel.unlink()
    second = photographs(said.append)
    assert first == second
    assert set(first) == set(FILES)
    assert len(said) == 1
    folder = f"pictures-{SCIKIT_IMAGE}"
    assert cached(index) == sorted([folder, *(f"{folder}/{file}" for file in FILES.values())])


def test_sample_pictures_are_crops_of_every_photograph_in_varied_sizes(index):
    publish(index, small_pictures())
    pictures = sample_pictures()
    assert len({picture.name for picture in pictures}) == len(FILES) * CROPS_PER_SCENE
    for scene in FILES:
        of_scene = [picture for picture in pictures if picture.scene == scene]
        assert len({(picture.width, picture.height) for picture in of_scene}) == CROPS_PER_SCENE
    assert {picture.origin for picture in pictures} == {f"scikit-image {SCIKIT_IMAGE}"}


def test_without_a_package_the_pictures_are_generated_and_it_is_said(index):
    said = []
    pictures = sample_pictures(said.append)
    assert {picture.origin for picture in pictures} == {GENERATED}
    assert said[-1].startswith("using generated pictures: ")
    assert all("\n" not in line for line in said)
    assert cached(index) == []


def test_a_wheel_without_the_pictures_leaves_nothing_behind(index):
    publish(index, {})
    with pytest.raises(ServerError, match="cannot be put into the cache folder"):
        photographs()
    assert cached(index) == []


def test_a_damaged_photograph_is_named_with_the_way_out(index):
    publish(index, small_pictures() | {FILES["cat"]: b"not a picture"})
    with pytest.raises(
        ServerError, match=f"pictures-{SCIKIT_IMAGE} cannot be used .*chelsea.*: delete that folder"
    ):
        photographs()


def test_generated_pictures_are_jpeg_files_of_the_stated_size():
    for picture in generated_pictures(len(SIZES)):
        with Image.open(io.BytesIO(picture.jpeg)) as image:
            assert image.format == "JPEG"
            assert image.size == (picture.width, picture.height)
        assert 1.0e6 < picture.width * picture.height < 2.0e6
        # Flat images would spare the decoder its work: photographs of this quality take about a bit a pixel.
        assert len(picture.jpeg) * 8 > picture.width * picture.height


def test_generated_pictures_are_the_same_every_time():
    assert generated_pictures(2) == generated_pictures(2)


def test_the_example_repository_is_found():
    assert (example_repository() / PIPELINE / "config.pbtxt").is_file()


def test_a_missing_example_repository_is_an_error_that_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(RepositoryError, match=str(tmp_path / "a")):
        example_repository((tmp_path / "a", tmp_path / "b"))
