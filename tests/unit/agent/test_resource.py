"""The resource of an instance: who it is, whatever the agent's own process is."""

import socket

import pytest

from tritonscope.agent.attributes import ATTRIBUTES
from tritonscope.agent.resource import host_resource, instance_resource


@pytest.fixture
def resource(instance):
    return lambda: dict(instance_resource(host_resource(), instance))


def test_by_default_it_has_the_attributes_of_the_table(resource):
    types = {"string": str, "int": int}
    sent = {name: type(value) for name, value in resource().items()}
    assert sent == {row.name: types[row.type] for row in ATTRIBUTES if "resource" in row.on}


def test_the_service_is_triton_and_the_process_is_the_stub(resource):
    host = socket.gethostname()
    expected = {"service.name": "triton", "process.pid": 42, "service.instance.id": f"{host}/decode_0_0/42"}
    assert resource().items() >= expected.items()


def test_otel_variables_win(resource, monkeypatch):
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=a,service.instance.id=i,host.name=h,team=x%20y")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "ocr")
    expected = {"service.name": "ocr", "service.instance.id": "i", "host.name": "h", "team": "x y"}
    assert resource().items() >= expected.items()


def test_a_service_name_among_the_resource_attributes_counts(resource, monkeypatch):
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=ocr")
    assert resource()["service.name"] == "ocr"


def test_the_agents_own_process_is_not_described(resource, monkeypatch):
    monkeypatch.setenv("OTEL_EXPERIMENTAL_RESOURCE_DETECTORS", "process")
    assert {name for name in resource() if name.startswith("process.")} == {"process.pid"}
    assert resource()["process.pid"] == 42
