"""Nobody can tell that a model is observed: every case runs bare, hooked and as an overlay on real servers.

The three servers of a Python version run side by side. Compared is all that a client can see: outputs bit for bit,
error texts up to the stack, number and order of responses, results of loading and unloading, Triton's counts, and
the metrics that models make.
"""

import json
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tests.conformance.cases import MODELS, agrees, case_names, read_case, run_case
from tests.conformance.real_server import RealServerTarget
from tests.conformance.table import SAME, remember
from tritonscope.repository.folder import read_repository
from tritonscope.repository.overlay import write_overlay
from tritonscope.ring.reader import RingReader
from tritonscope.server.process import TritonServer
from tritonscope.server.pythons import SUPPORTED, available_pythons

pytestmark = pytest.mark.server

EXPLICIT = ("--model-control-mode=explicit",)
WAYS = ("bare", "hook", "overlay")
ITERATORS_DIE = (
    "on Python 3.12 the stub of server 2.51 dies now and then of a response iterator, bare 7 times in 24"
)
UNSTABLE = {
    "model_control": ("", "server 2.51 aborts now and then while a model loads another, bare 1 time in 21"),
    "bls_decoupled": ("3.12", ITERATORS_DIE),
    "bls_decoupled_async": ("3.12", ITERATORS_DIE),
    "bls_decoupled_plain": ("3.12", ITERATORS_DIE),
}
"""Cases that a bare server does not survive reliably, the Python version (or any), and what was seen."""
OWN = f"{sys.version_info[0]}.{sys.version_info[1]}"
PYTHONS = os.environ.get("TRITONSCOPE_TEST_PYTHONS", OWN if OWN in SUPPORTED else SUPPORTED[-1]).split()
"""Versions that stubs run on here: ours, or all that the variable names (each takes some minutes)."""


class Served(NamedTuple):
    """One server: how to call it, where it has its models, and where its stubs leave their rings."""

    server: TritonServer
    target: RealServerTarget
    models: Path
    rings: Path
    python: str


def usable(version):
    return any(python.version == version and not python.problem for python in available_pythons())


@pytest.fixture(scope="module", params=PYTHONS)
def served(request, tmp_path_factory):
    """The three servers on one Python version, by the way in which their models are observed."""
    if not usable(request.param):
        pytest.skip(f"no Python {request.param} on this machine that stubs can run on")
    folder = tmp_path_factory.mktemp(f"python-{request.param}")
    # Each server has files of its own: Python writes byte code beside a model, which to Triton is a changed model.
    for way in ("bare", "hook"):
        shutil.copytree(MODELS, folder / way, ignore=shutil.ignore_patterns("__pycache__"))
    entries = {name: stage.entry for name, stage in read_repository(MODELS).stages.items() if stage.is_python}
    write_overlay(MODELS, folder / "overlay", entries, copy=True)
    with ExitStack() as stack:
        yield {way: serve(stack, folder, way, request.param) for way in WAYS}


def serve(stack, folder, way, python):
    models = folder / way
    rings = folder / f"rings-{way}"
    environment = {"TRITONSCOPE_DIR": str(rings), **({"TRITONSCOPE": "1"} if way == "hook" else {})}
    server = stack.enter_context(TritonServer(models, python=python, env=environment, extra_args=EXPLICIT))
    target = RealServerTarget(server.grpc_url)
    stack.callback(target.close)
    return Served(server, target, models, rings, python)


@pytest.fixture(scope="module")
def seen():
    """What each case came to, by Python version; kept for the table in the docs where that is asked for."""
    found = {version: {} for version in PYTHONS if usable(version)}
    yield found
    if os.environ.get("TRITONSCOPE_WRITE_RESULTS") == "1":
        remember(found)


def answers(one, case):
    """Run the case on one server and return what came back."""
    return json.loads(json.dumps(run_case(one.target, case)).replace(str(one.models), "MODELS"))


def figures(one, case):
    """What Triton counted, and what the models' own metrics say."""
    return {"counts": counts(one.server, case), "metrics": own_metrics(one.server)}


def same_in_the_end(served, case, timeout_s=10):
    """Return the figures of all servers once they are the same, or after the timeout as they are.

    Triton counts a request after it has sent the response: right after it, the count is still to come.
    """
    end = time.monotonic() + timeout_s
    while True:
        found = {way: figures(one, case) for way, one in served.items()}
        if found["bare"] == found["hook"] == found["overlay"] or time.monotonic() > end:
            return found
        time.sleep(0.1)


def counts(server, case):
    """Triton's own counts of the model; how requests fell into batches is chance where they came together."""
    answer = httpx.get(f"http://{server.http_url}/v2/models/{case.name}/stats")
    if not answer.is_success:
        return None
    (model,) = answer.json()["model_stats"]
    found = [model["inference_count"], *(model["inference_stats"][kind]["count"] for kind in ("success", "fail"))]
    return found if case.together else [*found, model["execution_count"]]


def own_metrics(server):
    """The metrics that are not Triton's own."""
    text = httpx.get(server.metrics_url).text
    return sorted(line for line in text.splitlines() if not line.startswith(("#", "nv_")))


@pytest.mark.parametrize("name", case_names())
def test_an_observed_model_cannot_be_told_from_a_bare_one(served, seen, name):
    python = served["bare"].python
    version, reason = UNSTABLE.get(name, (None, ""))
    if version is not None and version in {"", python}:
        seen[python][name] = reason
        pytest.skip(reason)
    seen[python][name] = "different"
    case = read_case(name)
    with ThreadPoolExecutor() as pool:
        bare, hook, overlay = pool.map(lambda way: answers(served[way], case), WAYS)
    assert agrees(hook, bare), f"hook: {hook}\nbare: {bare}"
    assert agrees(overlay, bare), f"overlay: {overlay}\nbare: {bare}"
    found = same_in_the_end(served, case)
    assert found["hook"] == found["bare"]
    assert found["overlay"] == found["bare"]
    seen[python][name] = SAME


def test_the_observed_models_were_observed(served):
    """Run last: the stubs that are still there, and those that ended, have left their rings."""
    assert not served["bare"].rings.exists()
    for way in ("hook", "overlay"):
        models = {RingReader(path).instance.model for path in served[way].rings.glob("*.ring")}
        assert len(models) > 60
