"""What a person sees: the verdict first, every part of the analysis, at 80 columns, as plain text in a pipe."""

import io

import msgspec
import pytest
from rich.console import Console

from tests.unit.report.conftest import DIFF
from tritonscope.report.terminal import print_analysis


def rendered(analysis, *, width=80, terminal=False, encoding="utf-8") -> str:
    output = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    print_analysis(analysis, Console(file=output, width=width, force_terminal=terminal, legacy_windows=False))
    return output.buffer.getvalue().decode(encoding)


def test_the_verdict_is_the_first_line(analysis):
    assert rendered(analysis, width=30).splitlines()[0] == analysis.verdict


def test_every_part_of_the_analysis_is_there(analysis):
    shown = " ".join(rendered(analysis).split())
    for part in (
        "decode → left | right", "108.8 requests/s over 6.0 s (2 failed)", "8.0 in flight",
        "73.50 ms for the client", "1.35 of 2 cores", "▲ throttle", "not judged", "2+",
        "left: 1 per GPU", "right: 0 completions",
        "1. single-instance-python-stage (critical) decode is one [process]", "batch_stats ns / window",
        "no limit", "(lower bound)", "Give decode count: 2.", "note: line 7 is damaged",
        "count: 2 would buy +50% (+20% to +60%), and then the CPU (2 cores) binds.",
    ):  # fmt: skip
        assert part in shown


def test_a_pipe_gets_plain_text_and_a_terminal_colours(analysis):
    assert "\x1b[" not in rendered(analysis)
    assert "\x1b[" in rendered(analysis, terminal=True)


def test_no_line_is_wider_than_the_terminal(analysis):
    wide = msgspec.structs.replace(analysis.stages[0], model="a_model_with_a_very_long_name_" * 3)
    shown = rendered(msgspec.structs.replace(analysis, verdict="", stages=(wide, *analysis.stages)))
    assert max(map(len, shown.splitlines())) <= 80


def test_the_diff_is_shown_line_by_line(analysis):
    lines = [line.strip() for line in rendered(analysis).splitlines()]
    at = lines.index("--- a/decode/config.pbtxt")
    assert lines[at : at + 5] == DIFF.splitlines()


def test_an_ascii_terminal_gets_ascii(analysis):
    shown = rendered(analysis, encoding="ascii")
    assert "decode -> left | right" in shown
    assert "########  98%" in shown


@pytest.mark.parametrize("fields", [{"findings": (), "traffic": None, "notes": ()}, {"stages": (), "layers": ()}])
def test_an_analysis_with_little_in_it_is_shown_too(analysis, fields):
    assert analysis.verdict in rendered(msgspec.structs.replace(analysis, **fields))


def test_what_was_not_measured_has_no_column(analysis):
    assert "busy" not in rendered(msgspec.structs.replace(analysis, traffic=None, findings=()))
