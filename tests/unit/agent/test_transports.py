"""Both transports against real receivers: what arrives, and how each kind of answer is understood."""

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import grpc
import pytest
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from tests.unit.agent.otlp_receivers import nobody
from tritonscope.agent.encode import SpanEncoder
from tritonscope.agent.exporter import open_transport
from tritonscope.agent.otlp_settings import read_otlp_settings
from tritonscope.agent.spans import SpanData
from tritonscope.agent.transport import Fate
from tritonscope.errors import SettingError

BODY = SpanEncoder([]).encode([SpanData(b"t" * 16, b"s" * 8, b"", "decode", 1, 2, ())])
TIMEOUT_S = 10.0


@pytest.fixture
def open_to():
    """Open a transport by the OTEL_EXPORTER_OTLP_* variables given."""
    opened = []

    def make(endpoint: str, **variables: str):
        named = {f"OTEL_EXPORTER_OTLP_{name}": value for name, value in variables.items()}
        opened.append(open_transport(read_otlp_settings({"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, **named})))
        return opened[-1]

    yield make
    for transport in opened:
        transport.close()


@pytest.fixture
def http(http_receiver, open_to):
    return open_to(http_receiver.endpoint)


@pytest.fixture
def over_grpc(grpc_receiver, open_to):
    return open_to(f"http://{grpc_receiver.target}", PROTOCOL="grpc")


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_http_delivers_spans_with_the_users_headers(http_receiver, open_to, compression):
    transport = open_to(http_receiver.endpoint, COMPRESSION=compression, HEADERS="authorization=Bearer%20x")
    assert transport.send(BODY, TIMEOUT_S).fate is Fate.ACCEPTED
    received = http_receiver.received.get(timeout=TIMEOUT_S)
    assert [span.name for span in received.spans] == ["decode"]
    assert received.path == "/v1/traces"
    assert received.headers["content-type"] == "application/x-protobuf"
    assert received.headers["authorization"] == "Bearer x"
    assert received.headers["user-agent"].startswith("tritonscope-otlp-exporter-python/")
    assert received.headers.get("content-encoding", "none") == compression


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_grpc_delivers_spans_with_the_users_headers(grpc_receiver, open_to, compression):
    transport = open_to(f"http://{grpc_receiver.target}", PROTOCOL="grpc", COMPRESSION=compression, HEADERS="x-a=1")
    assert transport.send(BODY, TIMEOUT_S).fate is Fate.ACCEPTED
    received = grpc_receiver.received.get(timeout=TIMEOUT_S)
    assert [span.name for span in received.spans] == ["decode"]
    assert received.headers["x-a"] == "1"
    assert received.headers["user-agent"].startswith("tritonscope-otlp-exporter-python/")


@pytest.mark.parametrize(
    ("status", "fate"),
    [(200, Fate.ACCEPTED), (202, Fate.ACCEPTED), (301, Fate.REFUSED), (400, Fate.REFUSED), (404, Fate.REFUSED),
     (413, Fate.REFUSED), (429, Fate.RETRY), (500, Fate.REFUSED), (502, Fate.RETRY), (503, Fate.RETRY),
     (504, Fate.RETRY)],
)  # fmt: skip
def test_http_status_codes(http, http_receiver, status, fate):
    http_receiver.answers.append((status, {}, b""))
    answer = http.send(BODY, TIMEOUT_S)
    assert answer.fate is fate
    assert fate is Fate.ACCEPTED or str(status) in answer.reason


@pytest.mark.parametrize(("header", "pause_s"), [("7", 7.0), ("0", 0.0), ("99999999999999999999", 3600.0),
                                                 ("-1", None), ("soon", None), ("", None)])  # fmt: skip
def test_http_retry_after_in_seconds(http, http_receiver, header, pause_s):
    http_receiver.answers.append((503, {"retry-after": header}, b""))
    assert http.send(BODY, TIMEOUT_S).retry_after_s == pause_s


@pytest.mark.parametrize(
    ("ahead", "least_s", "most_s"), [(timedelta(minutes=5), 200, 300), (-timedelta(days=1), 0, 0)]
)
def test_http_retry_after_as_a_date(http, http_receiver, ahead, least_s, most_s):
    date = format_datetime(datetime.now(timezone.utc) + ahead, usegmt=True)
    http_receiver.answers.append((429, {"retry-after": date}, b""))
    assert least_s <= http.send(BODY, TIMEOUT_S).retry_after_s <= most_s


PARTIAL = ExportTraceServiceResponse(
    partial_success=ExportTracePartialSuccess(rejected_spans=3, error_message="too old")
)


def test_http_partial_success_is_read(http, http_receiver):
    http_receiver.answers.append((200, {}, PARTIAL.SerializeToString()))
    answer = http.send(BODY, TIMEOUT_S)
    assert (answer.fate, answer.rejected_spans, answer.reason) == (Fate.ACCEPTED, 3, "too old")


def test_http_success_with_a_text_is_success(http, http_receiver):
    http_receiver.answers.append((200, {}, b"thank you"))
    assert http.send(BODY, TIMEOUT_S).fate is Fate.ACCEPTED


def test_grpc_partial_success_is_read(over_grpc, grpc_receiver):
    grpc_receiver.response = PARTIAL
    answer = over_grpc.send(BODY, TIMEOUT_S)
    assert (answer.fate, answer.rejected_spans, answer.reason) == (Fate.ACCEPTED, 3, "too old")


@pytest.mark.parametrize(
    ("code", "fate"),
    [("CANCELLED", Fate.RETRY), ("DEADLINE_EXCEEDED", Fate.RETRY), ("ABORTED", Fate.RETRY),
     ("DATA_LOSS", Fate.RETRY), ("OUT_OF_RANGE", Fate.RETRY), ("UNAVAILABLE", Fate.RETRY),
     ("RESOURCE_EXHAUSTED", Fate.REFUSED),
     ("INVALID_ARGUMENT", Fate.REFUSED), ("UNAUTHENTICATED", Fate.REFUSED), ("UNIMPLEMENTED", Fate.REFUSED),
     ("INTERNAL", Fate.REFUSED), ("UNKNOWN", Fate.REFUSED)],
)  # fmt: skip
def test_grpc_status_codes(over_grpc, grpc_receiver, code, fate):
    grpc_receiver.answers.append((grpc.StatusCode[code], ()))
    answer = over_grpc.send(BODY, TIMEOUT_S)
    assert (answer.fate, answer.retry_after_s) == (fate, None)
    assert code in answer.reason


@pytest.mark.parametrize("code", ["UNAVAILABLE", "RESOURCE_EXHAUSTED"])
def test_grpc_retry_info_sets_the_pause_and_makes_exhaustion_passing(over_grpc, grpc_receiver, code):
    detail = Any()
    detail.Pack(RetryInfo(retry_delay=Duration(seconds=2, nanos=500_000_000)))
    status = Status(code=grpc.StatusCode[code].value[0], message="as told", details=[detail])
    trailers = (("grpc-status-details-bin", status.SerializeToString()),)
    grpc_receiver.answers.append((grpc.StatusCode[code], trailers))
    answer = over_grpc.send(BODY, TIMEOUT_S)
    assert (answer.fate, answer.retry_after_s) == (Fate.RETRY, 2.5)


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_nobody_there_is_worth_another_try(open_to, protocol):
    with nobody() as endpoint:
        answer = open_to(endpoint, PROTOCOL=protocol).send(BODY, TIMEOUT_S)
    assert answer.fate is Fate.RETRY
    assert answer.reason


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_certificate_without_a_certificate_in_it_is_named(tmp_path, open_to, protocol):
    junk = tmp_path / "junk.pem"
    junk.write_text("no certificate")
    if protocol == "grpc":
        assert open_to("https://localhost:1", PROTOCOL=protocol, CERTIFICATE=str(junk)).send(BODY, 1.0).reason
    else:
        with pytest.raises(SettingError, match="CERTIFICATE"):
            open_to("https://localhost:1", PROTOCOL=protocol, CERTIFICATE=str(junk))
