"""config.pbtxt becomes the very JSON that the real server hands to `initialize`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tritonscope.errors import RepositoryError
from tritonscope.testing.config import complete, read_config, versions

SEEN = Path(__file__).parent / "seen"


def test_model_config_is_what_the_real_server_gave() -> None:
    seen = json.loads((SEEN / "model_config.json").read_text())

    assert complete(read_config(SEEN)) == seen


def test_without_a_file_it_is_a_python_model_named_after_its_folder(tmp_path: Path) -> None:
    config = read_config(tmp_path)

    assert (config["name"], config["backend"], config["input"]) == (tmp_path.name, "python", [])


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("", [3]),
        ("latest { num_versions: 2 }", [2, 3]),
        ("all { }", [1, 2, 3]),
        ("specific { versions: [ 1, 9 ] }", [1]),
    ],
)
def test_versions_follow_the_policy(tmp_path: Path, policy: str, expected: list[int]) -> None:
    for name in ("1", "2", "3", "assets"):
        (tmp_path / name).mkdir()
    (tmp_path / "config.pbtxt").write_text(f"version_policy {{ {policy} }}\n" if policy else "")

    assert versions(tmp_path, complete(read_config(tmp_path))) == expected


def test_no_version_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="at least one version must be available"):
        versions(tmp_path, complete(read_config(tmp_path)))
