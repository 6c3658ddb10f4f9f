"""A pipeline's Python model answers as its ensemble does, on real servers side by side."""

import pytest

from tests.conformance.pipelines import ENSEMBLES, answers, overlay_with_pipelines, write_pipelines
from tests.conformance.real_server import RealServerTarget
from tritonscope.records import BatchRecord, CallRecord
from tritonscope.ring.reader import RingReader

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def servers(serve, tmp_path_factory):
    """What serves the ensembles, what serves the Python models, and the folder of the latter's rings."""
    folder = tmp_path_factory.mktemp("pipelines")
    ensembles = write_pipelines(folder / "ensembles")
    overlay = overlay_with_pipelines(ensembles, folder / "overlay")
    rings = folder / "rings"
    with serve(ensembles) as one, serve(overlay, env={"TRITONSCOPE_DIR": str(rings)}) as other:
        yield RealServerTarget(one.grpc_url), RealServerTarget(other.grpc_url), rings


@pytest.mark.parametrize("name", ENSEMBLES)
def test_the_python_model_answers_as_the_ensemble(servers, name):
    ensembles, pipelines, _ = servers
    assert answers(pipelines, name) == answers(ensembles, name)


def test_each_step_is_recorded_as_a_call_of_its_request(servers):
    _, pipelines, folder = servers
    answers(pipelines, "parallel")
    (path,) = [path for path in folder.glob("*.ring") if RingReader(path).instance.model == "parallel"]
    calls = [
        detail for batch in batches(RingReader(path)) for detail in batch.details if isinstance(detail, CallRecord)
    ]
    assert sorted(call.model for call in calls[-3:]) == ["add_one", "inherited_execute", "optional_input"]


def batches(reader):
    return [record for record in reader.read() if isinstance(record, BatchRecord)]
