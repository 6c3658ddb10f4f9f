"""OTEL_TRACES_SAMPLER decides as the SDK's samplers do."""

import logging

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import sampling as sdk

from tritonscope.agent.sampling import OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, read_sampler
from tritonscope.trace_context import ParentContext

TRACES = [bytes(8) + value.to_bytes(8, "big") for value in (1, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)]
SDK = {
    "always_on": sdk.ALWAYS_ON,
    "always_off": sdk.ALWAYS_OFF,
    "traceidratio": sdk.TraceIdRatioBased(0.5),
    "parentbased_always_on": sdk.DEFAULT_ON,
    "parentbased_always_off": sdk.DEFAULT_OFF,
    "parentbased_traceidratio": sdk.ParentBasedTraceIdRatio(0.5),
}


def sdk_keeps(sampler, trace_id: bytes, sampled: bool | None) -> bool:
    context = trace.set_span_in_context(trace.INVALID_SPAN)
    number = int.from_bytes(trace_id, "big")
    if sampled is not None:
        parent = trace.SpanContext(number, 9, is_remote=True, trace_flags=trace.TraceFlags(int(sampled)))
        context = trace.set_span_in_context(trace.NonRecordingSpan(parent))
    return sampler.should_sample(context, number, "decode").decision.is_sampled()


@pytest.mark.parametrize("sampled", [None, False, True], ids=["root", "unsampled parent", "sampled parent"])
@pytest.mark.parametrize("name", SDK)
def test_decisions_are_those_of_the_sdk(name, sampled):
    ours = read_sampler({OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: "0.5"})
    parents = [None if sampled is None else ParentContext(trace_id, b"12345678", sampled) for trace_id in TRACES]
    expected = [sdk_keeps(SDK[name], trace_id, sampled) for trace_id in TRACES]
    assert [ours.keeps(*pair) for pair in zip(TRACES, parents, strict=True)] == expected


@pytest.mark.parametrize(
    "environ", [{}, {OTEL_TRACES_SAMPLER: ""}, {OTEL_TRACES_SAMPLER: " PARENTBASED_ALWAYS_ON "}]
)
def test_the_default_keeps_roots_and_follows_parents(environ, caplog):
    assert read_sampler(environ) == read_sampler({OTEL_TRACES_SAMPLER: "parentbased_always_on"})
    assert not caplog.records


@pytest.mark.parametrize("name", ["jaeger_remote", "parentbased_", "sometimes"])
def test_an_unknown_sampler_warns_and_means_the_default(name, caplog):
    with caplog.at_level(logging.WARNING, "tritonscope"):
        assert read_sampler({OTEL_TRACES_SAMPLER: name}) == read_sampler({})
    assert name in caplog.text


@pytest.mark.parametrize("argument", ["1.5", "-0.1", "half", "nan"])
def test_a_bad_ratio_warns_and_keeps_everything(argument, caplog):
    sampler = read_sampler({OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: argument})
    assert all(sampler.keeps(trace_id, None) for trace_id in TRACES)
    assert argument in caplog.text


def test_without_a_ratio_everything_is_kept(caplog):
    sampler = read_sampler({OTEL_TRACES_SAMPLER: "traceidratio"})
    assert all(sampler.keeps(trace_id, None) for trace_id in TRACES)
    assert not caplog.records
