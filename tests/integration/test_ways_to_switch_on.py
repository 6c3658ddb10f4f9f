"""The pipeline answers bit for bit the same bare and observed, in each of three ways, and leaves its records."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.integration.pipeline import classify, connect
from tritonscope.cli import main
from tritonscope.records import BatchRecord
from tritonscope.ring.reader import RingReader
from tritonscope.runs import read_run
from tritonscope.server.examples import example_repository
from tritonscope.server.pictures import sample_pictures

pytestmark = pytest.mark.server

STAGES = ("classify", "decode", "label")


@pytest.fixture(scope="module")
def pictures():
    return sample_pictures()


@pytest.fixture(scope="module")
def bare_answers(pictures, serve):
    with serve(example_repository()) as server:
        return answers(server, pictures)


def answers(server, pictures):
    client = connect(server.grpc_url)
    return [classify(client, picture) for picture in pictures]


def recorded(folder: Path):
    """How many requests of each model are in the rings of `folder`."""
    counts = {}
    for path in folder.glob("*.ring"):
        reader = RingReader(path)
        batches = [event for event in reader.read(10_000) if isinstance(event, BatchRecord)]
        requests = sum(len(batch.requests) for batch in batches)
        counts[reader.instance.model] = counts.get(reader.instance.model, 0) + requests
        reader.close()
    return counts


def decorated(target: Path) -> Path:
    """A copy of the example whose three classes carry the decorator."""
    shutil.copytree(example_repository(), target)
    for stage in STAGES:
        source = target / stage / "1" / "model.py"
        text = source.read_text()
        assert text.count("\nclass TritonPythonModel") == 1
        source.write_text(
            text.replace(
                "\nclass TritonPythonModel",
                "\nimport tritonscope\n@tritonscope.instrument\nclass TritonPythonModel",
            )
        )
    return target


def test_the_import_hook_changes_no_answer(tmp_path, pictures, bare_answers, serve):
    run_file = tmp_path / "run.jsonl"
    prefix = [
        sys.executable,
        "-m",
        "tritonscope",
        "run",
        "--dir",
        str(tmp_path / "rings"),
        "--run-file",
        str(run_file),
    ]
    environment = {"OTEL_TRACES_EXPORTER": "none"}
    with serve(example_repository(), command_prefix=[*prefix, "--"], env=environment) as server:
        assert answers(server, pictures) == bare_answers
    run = read_run(run_file)
    requests = {
        instance.model: sum(len(batch.requests) for batch in run.batches[key])
        for key, instance in run.instances.items()
    }
    assert requests == dict.fromkeys(STAGES, len(pictures))
    assert not list((tmp_path / "rings").glob("*.ring"))


def test_an_overlay_changes_no_answer(tmp_path, pictures, bare_answers, serve):
    assert main(["wrap", str(example_repository()), "-o", str(tmp_path / "observed")]) == 0
    with serve(tmp_path / "observed", env={"TRITONSCOPE_DIR": str(tmp_path / "rings")}) as server:
        assert answers(server, pictures) == bare_answers
    assert recorded(tmp_path / "rings") == dict.fromkeys(STAGES, len(pictures))


def test_the_decorator_changes_no_answer(tmp_path, pictures, bare_answers, serve):
    repository = decorated(tmp_path / "decorated")
    with serve(repository, env={"TRITONSCOPE_DIR": str(tmp_path / "rings")}) as server:
        assert answers(server, pictures) == bare_answers
    assert recorded(tmp_path / "rings") == dict.fromkeys(STAGES, len(pictures))


def test_switched_off_a_decorated_model_leaves_nothing(tmp_path, pictures, bare_answers, serve):
    repository = decorated(tmp_path / "decorated")
    environment = {"TRITONSCOPE_DIR": str(tmp_path / "rings"), "TRITONSCOPE": "0"}
    with serve(repository, env=environment) as server:
        assert answers(server, pictures[:2]) == bare_answers[:2]
    assert not (tmp_path / "rings").exists()
