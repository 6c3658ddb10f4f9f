"""A repository on disk: what can be read is read, and what is wrong is told model by model."""

import pytest

from tritonscope.errors import ConfigError, RepositoryError
from tritonscope.repository.folder import read_repository
from tritonscope.repository.pipeline import build_pipeline

ENSEMBLE = """
platform: "ensemble"
ensemble_scheduling { step [
  { model_name: "detect" input_map { key: "IN" value: "IMAGE" } output_map { key: "OUT" value: "t" } },
  { model_name: "det" input_map { key: "IN" value: "t" } output_map { key: "OUT" value: "TEXT" } }
] }
"""


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "model_repository"
    for model, text in {"ocr": ENSEMBLE, "detect": 'backend: "onnxruntime"', "rec": 'backend: "python"'}.items():
        (root / model).mkdir(parents=True)
        (root / model / "config.pbtxt").write_text(text)
    return root


def test_a_python_model_needs_no_configuration(repository):
    (repository / "bare" / "1").mkdir(parents=True)
    (repository / "bare" / "1" / "model.py").touch()
    bare = read_repository(repository).stages["bare"]
    assert (bare.name, bare.backend, bare.text) == ("bare", "python", "")


def test_folders_and_files_that_are_no_models_are_left_alone(repository):
    (repository / "docs").mkdir()
    (repository / "README.md").touch()
    assert set(read_repository(repository).stages) == {"ocr", "detect", "rec"}


def test_a_step_without_a_model_is_told_with_those_that_there_are(repository):
    expected = "ensemble 'ocr', step 2: model 'det' is not in model_repository/; found: 'detect', 'rec'"
    found = read_repository(repository)
    assert [str(problem) for problem in found.problems] == [expected]
    with pytest.raises(RepositoryError) as error:
        build_pipeline("ocr", found)
    assert str(error.value) == expected


def test_of_many_models_the_nearest_names_are_told(repository):
    for number in range(40):
        (repository / f"zz{number}").mkdir()
        (repository / f"zz{number}" / "config.pbtxt").touch()
    with pytest.raises(RepositoryError, match=r"found: .*'detect'.* and 34 more"):
        build_pipeline("ocr", read_repository(repository))


def test_a_broken_model_does_not_hide_the_others(repository):
    (repository / "det").mkdir()
    (repository / "det" / "config.pbtxt").write_text("max_batch_size: x")
    found = read_repository(repository)
    assert set(found.stages) == {"ocr", "detect", "rec"}
    (problem,) = found.problems
    assert isinstance(problem, ConfigError)
    with pytest.raises(RepositoryError, match=r"step 2: model 'det' is broken: .*config.pbtxt:1:17"):
        build_pipeline("ocr", found)
    with pytest.raises(ConfigError, match=r"config.pbtxt:1:17"):
        build_pipeline("det", found)


def test_a_name_that_is_not_the_folders_is_a_problem(repository):
    (repository / "rec" / "config.pbtxt").write_text('name: "recognize" backend: "python"')
    messages = [str(problem) for problem in read_repository(repository).problems]
    assert any("name is 'recognize', but the folder is 'rec'" in message for message in messages)


def test_a_configuration_that_cannot_be_read_is_a_problem(repository):
    (repository / "odd" / "config.pbtxt").mkdir(parents=True)
    (repository / "odd" / "1").mkdir()
    (repository / "odd" / "1" / "model.py").touch()
    assert "odd" in read_repository(repository).stages


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir(), lambda path: path.touch()])
def test_what_is_no_repository_is_an_error(tmp_path, make):
    path = tmp_path / "models"
    make(path)
    with pytest.raises(RepositoryError, match=r"models"):
        read_repository(path)
