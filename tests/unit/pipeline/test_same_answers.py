"""A pipeline's Python model answers as its ensemble does, on the in-process server."""

import pytest

from tests.conformance.in_process import InProcessTarget
from tests.conformance.pipelines import ENSEMBLES, answers, overlay_with_pipelines, write_pipelines
from tritonscope.testing import InProcessServer


def served(repository):
    """What all ensembles of `repository` answer."""
    with InProcessServer(repository) as server:
        target = InProcessTarget(server)
        for name in ENSEMBLES:
            assert target.load(name) == ""
        return {name: answers(target, name) for name in ENSEMBLES}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipelines")
    ensembles = write_pipelines(folder / "ensembles")
    return served(ensembles), served(overlay_with_pipelines(ensembles, folder / "overlay"))


@pytest.mark.parametrize("name", ENSEMBLES)
def test_the_python_model_answers_as_the_ensemble(both, name):
    ensembles, pipelines = both
    assert pipelines[name] == ensembles[name]


def test_the_answers_are_of_all_kinds(both):
    told = str(both[0])
    assert "in ensemble 'nested_error', in ensemble 'answering_error', this is NOT_FOUND" in told
    assert "unexpected deadlock" in told
    assert both[0]["nested"][0]["responses"][0]["outputs"]["Y"]["data"] == [6.0, 7.0]
