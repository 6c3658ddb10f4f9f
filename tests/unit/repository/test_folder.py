"""A repository on disk: what can be read is read, and what is wrong is told model by model."""

import pytest

from tritonscope.errors import ConfigError, RepositoryError
from tritonscope.repository.folder import read_repositories, read_repository
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


def add(root, model, config, **files):
    """Add a model; `files` are those of its version 1, by name without the dot."""
    (root / model / "1").mkdir(parents=True)
    (root / model / "config.pbtxt").write_bytes(config if isinstance(config, bytes) else config.encode())
    for name, text in files.items():
        (root / model / "1" / name.replace("_py", ".py")).write_text(text)


def test_a_python_file_makes_a_model_python_where_nothing_is_said(repository):
    add(repository, "shy", "max_batch_size: 4", model_py="")
    assert read_repository(repository).stages["shy"].is_python


def test_the_first_version_in_text_order_tells_the_backend_and_the_newest_has_the_code(repository):
    add(repository, "m", "", model_py="import cupy")
    (repository / "m" / "10").mkdir()
    (repository / "m" / "9").mkdir()
    (repository / "m" / "10" / "model.py").write_text("import torch")
    (repository / "m" / "9" / "model.onnx").touch()
    stage = read_repository(repository).stages["m"]
    assert (stage.backend, stage.versions) == ("python", (1, 9, 10))
    assert stage.code.imports == {"torch"}


def test_code_that_is_no_python_is_a_problem_and_the_model_stays(repository):
    add(repository, "m", "", model_py="x = 1\nprint 'x'")
    found = read_repository(repository)
    assert found.stages["m"].code is None
    assert any(f"{repository}/m/1/model.py:2:1: this is not Python" in str(problem) for problem in found.problems)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ('backend: "python"'.encode("utf-8-sig"), "UTF-8 with a byte order mark"),
        ('backend: "python"'.encode("utf-16"), "UTF-16"),
        ('backend: "python" # 中文注释'.encode("gbk"), ""),
        (b'backend: "python"\r\nmax_batch_size: 0\r\n', ""),
    ],
)
def test_an_encoding_that_triton_refuses_is_told_and_the_model_is_read(repository, data, told):
    add(repository, "m", data)
    found = read_repository(repository)
    assert found.stages["m"].backend == "python"
    problems = [str(problem) for problem in found.problems if "Triton refuses" in str(problem)]
    refused = f"{repository}/m/config.pbtxt: it is in {told}, which Triton refuses: save it as plain UTF-8"
    assert problems == ([refused] if told else [])


def test_templates_are_notes_and_no_problems(repository):
    (repository / "rec" / "config.pbtxt").write_text('backend: "python"\nmax_batch_size: ${n}\n')
    found = read_repository(repository)
    assert found.notes == (
        (
            f"{repository}/rec/config.pbtxt is a template; it leaves open, and counts as not written: "
            "max_batch_size (${n}, line 2)"
        ),
    )
    assert not any("template" in str(problem) for problem in found.problems)


def test_a_field_of_a_newer_server_is_a_problem_and_the_model_is_read(repository):
    (repository / "rec" / "config.pbtxt").write_text('backend: "python"\nof_tomorrow { a: 1 }\n')
    found = read_repository(repository)
    assert found.stages["rec"].is_python
    assert any("rec/config.pbtxt:2:1: field 'of_tomorrow'" in str(problem) for problem in found.problems)


def test_python_code_of_another_backend_is_told(repository):
    add(repository, "odd", 'platform: "onnxruntime_onnx"', model_py="")
    add(repository, "fine", 'platform: "onnxruntime_onnx" default_model_filename: "net.onnx"', model_py="")
    (repository / "fine" / "1" / "net.onnx").touch()
    told = [str(problem) for problem in read_repository(repository).problems if "holds model.py" in str(problem)]
    its = "its backend is onnxruntime, but its version holds model.py and no model.onnx"
    assert told == [f"{repository}/odd/config.pbtxt: {its}"]


def test_several_repositories_are_one(repository, tmp_path):
    other = tmp_path / "more_models"
    add(other, "det", 'backend: "onnxruntime"')
    found = read_repositories([repository, other])
    assert set(found.stages) == {"ocr", "detect", "rec", "det"}
    assert len(build_pipeline("ocr", found).nodes) == 2
    assert read_repositories([repository, repository]).stages.keys() == {"ocr", "detect", "rec"}


def test_a_model_that_two_repositories_have_is_broken_in_both(repository, tmp_path):
    """Triton 2.51: "model appears in two or more repositories", and it loads neither."""
    other = tmp_path / "more_models"
    add(other, "detect", 'backend: "python"')
    found = read_repositories([repository, other])
    assert "detect" not in found.stages
    with pytest.raises(RepositoryError, match=f"'detect' is in 2 repositories .*{other}.*rename"):
        build_pipeline("detect", found)
    with pytest.raises(RepositoryError, match="step 1: model 'detect' is broken"):
        build_pipeline("ocr", found)


def test_calls_whose_models_are_not_known_or_not_there_are_notes(repository):
    code = """
class TritonPythonModel:
    def initialize(self, args):
        self.name = params["which"]["string_value"]
    def execute(self, requests):
        pb_utils.InferenceRequest(model_name="detect").exec()
        pb_utils.InferenceRequest(model_name="gone").exec()
        pb_utils.InferenceRequest(model_name=self.name).exec()
        pb_utils.InferenceRequest(model_name=requests[0].name).exec()
"""
    parameter = 'parameters { key: "which" value { string_value: "lost" } }'
    add(repository, "bls", f'backend: "python" {parameter}', model_py=code)
    assert read_repository(repository).notes == (
        "'bls' (model.py:7) calls 'gone', which is not in the repository",
        "'bls' (model.py:8) calls 'lost' (by parameter 'which'), which is not in the repository",
        "'bls' (model.py:9) calls a model whose name only its run tells (not literal: requests[0].name)",
    )
