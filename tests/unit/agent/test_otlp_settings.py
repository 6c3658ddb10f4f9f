"""OTEL_EXPORTER_OTLP_* mean what the OpenTelemetry specification says they do."""

import logging
from pathlib import Path

import pytest

from tritonscope.agent.otlp_settings import DEFAULT_TIMEOUT_MS, OtlpProtocol, read_otlp_settings
from tritonscope.agent.sampling import read_sampler

DOCS = Path(__file__).parents[3] / "docs" / "telemetry.md"


def read(**variables: str):
    """Settings of `OTEL_EXPORTER_OTLP_<name>` variables."""
    return read_otlp_settings({f"OTEL_EXPORTER_OTLP_{name}": value for name, value in variables.items()})


def test_nothing_set_means_http_to_this_host(caplog):
    settings = read()
    assert (settings.enabled, settings.protocol) == (True, OtlpProtocol.HTTP)
    assert settings.endpoint == "http://localhost:4318/v1/traces"
    assert (settings.headers, settings.timeout_ms, settings.gzip) == ((), DEFAULT_TIMEOUT_MS, False)
    assert (settings.certificate, settings.client_key, settings.client_certificate) == (None, None, None)
    assert not caplog.records


def test_empty_means_unset(caplog):
    assert read(ENDPOINT="", PROTOCOL="", TIMEOUT=" ", HEADERS="", TRACES_COMPRESSION="") == read()
    assert not caplog.records


@pytest.mark.parametrize(
    ("variables", "url"),
    [
        ({"ENDPOINT": "http://collector:4318"}, "http://collector:4318/v1/traces"),
        ({"ENDPOINT": "http://collector:4318/"}, "http://collector:4318/v1/traces"),
        ({"ENDPOINT": "https://collector/mine/"}, "https://collector/mine/v1/traces"),
        ({"TRACES_ENDPOINT": "http://collector:4318"}, "http://collector:4318/"),
        ({"TRACES_ENDPOINT": "http://collector/as/is/"}, "http://collector/as/is/"),
        ({"TRACES_ENDPOINT": "http://a/t", "ENDPOINT": "http://b"}, "http://a/t"),
        ({"TRACES_ENDPOINT": "a:4318", "ENDPOINT": "http://b"}, "http://b/v1/traces"),
    ],
)
def test_http_endpoints(variables, url):
    assert read(**variables).endpoint == url


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, ("localhost:4317", True)),
        ({"ENDPOINT": "http://collector:4317"}, ("collector:4317", True)),
        ({"ENDPOINT": "https://collector:4317/ignored"}, ("collector:4317", False)),
        ({"ENDPOINT": "https://collector:4317", "INSECURE": "true"}, ("collector:4317", False)),
        ({"ENDPOINT": "http://collector:4317", "INSECURE": "false"}, ("collector:4317", True)),
        ({"ENDPOINT": "collector:4317"}, ("collector:4317", False)),
        ({"ENDPOINT": "collector:4317", "INSECURE": "TRUE"}, ("collector:4317", True)),
        ({"ENDPOINT": "unix:///run/otlp.sock", "TRACES_INSECURE": "true"}, ("unix:///run/otlp.sock", True)),
        ({"ENDPOINT": "http://a:1", "TRACES_ENDPOINT": "https://b:2"}, ("b:2", False)),
    ],
)
def test_grpc_endpoints_and_their_security(variables, expected):
    settings = read(PROTOCOL="grpc", **variables)
    assert (settings.endpoint, settings.insecure) == expected


def test_what_is_set_for_traces_wins():
    settings = read(PROTOCOL="grpc", TRACES_PROTOCOL="http/protobuf", TIMEOUT="1000", TRACES_TIMEOUT="2000",
                    HEADERS="a=1", TRACES_HEADERS="b=2", COMPRESSION="gzip", TRACES_COMPRESSION="none")  # fmt: skip
    assert (settings.protocol, settings.timeout_ms) == (OtlpProtocol.HTTP, 2000)
    assert (settings.headers, settings.gzip) == ((("b", "2"),), False)


def test_headers_are_url_decoded_with_lower_case_names():
    settings = read(HEADERS="Authorization=Basic%20abc%3D, x-tenant = ocr ,empty=")
    assert settings.headers == (("authorization", "Basic abc="), ("x-tenant", "ocr"), ("empty", ""))


def test_headers_that_no_request_could_carry_are_left_out_without_showing_them(caplog):
    assert read(HEADERS="a=secret%0D%0Ab:%201,c=caf%C3%A9,d=1").headers == (("d", "1"),)
    assert "a, c" in caplog.text
    assert "secret" not in caplog.text


def test_a_timeout_of_zero_is_no_limit():
    assert read(TIMEOUT="0").timeout_ms > 1_000_000_000


def test_a_timeout_that_was_meant_in_seconds_is_told_of(caplog):
    assert read(TIMEOUT="10").timeout_ms == 10
    assert "10 milliseconds" in caplog.text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ENDPOINT", "collector:4318"),
        ("ENDPOINT", "ftp://collector"),
        ("ENDPOINT", "http://"),
        ("ENDPOINT", "http://collector:99999"),
        ("PROTOCOL", "http/json"),
        ("TIMEOUT", "-1"),
        ("TIMEOUT", "1.5"),
        ("COMPRESSION", "zstd"),
        ("CERTIFICATE", "/no/such.pem"),
        ("CLIENT_KEY", "/no/such.pem"),
        ("CLIENT_CERTIFICATE", "/no/such.pem"),
    ],
)
def test_a_bad_value_warns_and_counts_as_unset(name, value, caplog):
    with caplog.at_level(logging.WARNING, "tritonscope"):
        assert read(**{f"TRACES_{name}": value}) == read()
    (record,) = caplog.records
    assert f"OTEL_EXPORTER_OTLP_TRACES_{name}" in record.getMessage()


def test_a_bad_insecure_warns_and_means_secure(caplog):
    assert not read(PROTOCOL="grpc", ENDPOINT="collector:4317", INSECURE="yes").insecure
    assert "INSECURE" in caplog.text


@pytest.mark.parametrize(
    ("variables", "enabled"),
    [
        ({"OTEL_SDK_DISABLED": "TRUE"}, False),
        ({"OTEL_SDK_DISABLED": "1"}, True),
        ({"OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, True),
    ],
)
def test_who_sends_nothing(variables, enabled):
    assert read_otlp_settings(variables).enabled is enabled


class Asked(dict):
    """An environment that notes what it was asked for."""

    def __init__(self, **values):
        super().__init__(values)
        self.names: set[str] = set()

    def get(self, name, default=None):
        self.names.add(name)
        return super().get(name, default)


def test_the_documentation_names_every_variable():
    environ = Asked(OTEL_EXPORTER_OTLP_PROTOCOL="grpc", OTEL_EXPORTER_OTLP_ENDPOINT="a:1",
                    OTEL_TRACES_SAMPLER="traceidratio")  # fmt: skip
    read_otlp_settings(environ)
    read_sampler(environ)
    assert len(environ.names) >= 20
    general = {name.replace("_OTLP_TRACES_", "_OTLP_") for name in environ.names}
    text = DOCS.read_text()
    assert {name for name in general if f"`{name}`" not in text} == set()
