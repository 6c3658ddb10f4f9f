"""Asking a Triton over HTTP, and what is said when there is none."""

import socket

import pytest

from tests.unit.sources.fake_triton import model_stats, serving
from tritonscope.errors import ServerUnreachableError, UsageError
from tritonscope.runs import ConfigLine
from tritonscope.sources.triton_http import TritonHttp

INDEX = "/v2/repository/index"
STATS = "/v2/models/stats"


def test_the_configurations_of_all_ready_models_are_asked_for():
    answers = {
        INDEX: [{"name": "b", "state": "READY"}, {"name": "a", "version": "1"}, {"name": "a", "version": "2"}],
        "/v2/models/a/config": {"name": "a"}, "/v2/models/b/config": {"name": "b"},
    }  # fmt: skip
    with serving(answers) as server, TritonHttp(server.url) as triton:
        assert triton.configs() == [ConfigLine("a", {"name": "a"}), ConfigLine("b", {"name": "b"})]
        assert server.asked[0] == ("POST", INDEX, b'{"ready":true}')


def test_statistics_tell_where_they_are_from():
    with (
        serving({STATS: {"model_stats": [model_stats("a", 3, infer_ms=2)]}}) as server,
        TritonHttp(server.url) as triton,
    ):
        sample = triton.statistics()
    assert sample.origin == f"http://{server.url}/v2/models/stats"
    assert sample.models[0].requests == 3


@pytest.mark.parametrize(("status", "ready"), [(200, True), (400, False)])
def test_readiness_is_the_status(status, ready):
    with serving({"/v2/health/ready": b""}, status) as server, TritonHttp(server.url) as triton:
        assert triton.ready() is ready


def test_no_server_is_told_with_url_and_way_out():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"127.0.0.1:{unused.getsockname()[1]}"
        with TritonHttp(url) as triton, pytest.raises(ServerUnreachableError) as error:
            triton.statistics()
    assert str(error.value).startswith(f"no Triton answers at http://{url} (")
    assert "is this its HTTP port" in str(error.value)


@pytest.mark.parametrize("answers", [{}, {STATS: b"<html>"}, {STATS: [1]}])
def test_another_kind_of_server_is_no_triton(answers):
    with (
        serving(answers) as server,
        TritonHttp(server.url) as triton,
        pytest.raises(ServerUnreachableError, match="not Triton's JSON"),
    ):
        triton.statistics()


@pytest.mark.parametrize(
    ("url", "local"),
    [("localhost:8000", True), ("127.0.0.1:8000", True), ("http://[::1]:8000", True), ("10.0.0.7:8000", False),
     ("https://triton.example", False)],
)  # fmt: skip
def test_only_a_loopback_address_is_this_host(url, local):
    with TritonHttp(url) as triton:
        assert triton.is_local is local


@pytest.mark.parametrize("url", ["localhost:port", "::1:80"])
def test_what_is_no_url_is_an_error_of_use(url):
    with pytest.raises(UsageError, match="give HOST:PORT, for example localhost:8000"):
        TritonHttp(url)
