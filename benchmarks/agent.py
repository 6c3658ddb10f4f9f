"""How much of the agent's CPU a span takes: records from a ring to the bytes that are sent, beside message objects.

    python benchmarks/agent.py [--rounds 5] [--batches 4000]

A ring is filled as a stub fills it, each request with Triton's trace context; then all of it is read and its spans
are encoded, once as the agent does it, once with OpenTelemetry's message classes (the oracle of the unit tests).
Nothing is sent.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from frame import Arm, Bar, Figures, Rounds, interleave, publish, ratios, spread
from tests.unit.agent.oracles import message_encoder
from tritonscope.agent import tracer
from tritonscope.agent.encode import SpanEncoder
from tritonscope.agent.sampling import read_sampler
from tritonscope.records import BatchRecord, InstanceRecord, RequestRecord
from tritonscope.ring.reader import RingReader
from tritonscope.ring.writer import RingWriter

SIZES = (1, 8)
INSTANCE = InstanceRecord("decode", "1", "decode_0_0", os.getpid(), span_seed=7)
ENCODERS = {"agent": SpanEncoder, "messages": message_encoder.SpanEncoder}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds (default 5)")
    parser.add_argument("--batches", type=int, default=4000, help="batches in the ring (default 4000)")
    args = parser.parse_args(argv)
    arms = [
        Arm(f"{name} b{size}", _measured(encoder, size, args.batches))
        for size in SIZES
        for name, encoder in ENCODERS.items()
    ]
    results = interleave(arms, args.rounds)
    return publish(
        "agent",
        "CPU of the agent for a span, ring to bytes (ratio to message classes: median, least - most)",
        ("arm", "us a span", "ratio"),
        [(arm, spread(results, arm, "us_a_span"), _ratio(results, arm)) for arm in results],
        bars=[
            Bar(
                f"batches of {size}: us a span", spread(results, f"agent b{size}", "us_a_span").median, "at most", 3
            )
            for size in SIZES
        ],
        results=results,
    )


def _measured(encoder: type, size: int, batches: int) -> Callable[[], Figures]:
    def measure() -> Figures:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            reader = _filled(Path(folder, "decode.ring"), size, batches)
            tracer.SpanEncoder = encoder  # type: ignore[misc]
            made = tracer.InstanceTracer(INSTANCE, {"host.name": "here"}, read_sampler({}))
            begun_ns, spans = time.process_time_ns(), 0
            while records := reader.read():
                spans += sum(payload.spans for payload in made.trace(records, 1 << 60))
            elapsed_ns = time.process_time_ns() - begun_ns
            reader.close()
        return {"us_a_span": elapsed_ns / spans / 1e3, "spans": spans}

    return measure


def _filled(path: Path, size: int, batches: int) -> RingReader:
    writer = RingWriter(path, INSTANCE, 1 << 26)
    for sequence in range(batches):
        requests = tuple(RequestRecord(f"r{sequence}", _context(sequence, index)) for index in range(size))
        if not writer.write(BatchRecord(sequence, sequence * 1_000_000, 900_000, 800_000, requests)):
            raise SystemExit("the ring is too small for so many batches")
    return RingReader(path)


def _context(sequence: int, index: int) -> str:
    return f'{{"traceparent":"00-{sequence + 1:032x}-{index + 1:016x}-01"}}'


def _ratio(results: Rounds, arm: str) -> object:
    return ratios(results, "us_a_span", arm, f"messages {arm.rsplit(' ', 1)[1]}")


if __name__ == "__main__":
    sys.exit(main())
