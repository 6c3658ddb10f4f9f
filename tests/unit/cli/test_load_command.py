"""`tritonscope load`: bad input is one line and exit code 2; what was seen is told so that a person can use it."""

from pathlib import Path

import pytest

from tritonscope.cli import main
from tritonscope.cli.load import _text, _warnings, parse_file, parse_shape
from tritonscope.errors import UsageError
from tritonscope.server.latency import summarize


def test_help_shows_how_to_use_it(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["load", "--help"])
    assert ended.value.code == 0
    assert "tritonscope load --url localhost:8001 --model" in capsys.readouterr().out


def test_no_server_is_one_line_and_code_2(capsys):
    assert main(["load", "--url", "127.0.0.1:9", "--model", "m"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert "127.0.0.1:9" in shown.err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--shape", "IMAGE"], "--shape 'IMAGE' is not NAME:SIZE"),
        (["--shape", "IMAGE:1,-1"], "--shape 'IMAGE:1,-1' is not"),
        (["--input-file", "IMAGE"], "--input-file 'IMAGE' is not NAME=PATH"),
        (["--perf-analyzer", "--shape", "A:1"], "leave out --shape"),
    ],
)
def test_options_are_read_before_the_server_is_asked(words, reason, capsys):
    assert main(["load", "--url", "127.0.0.1:9", "--model", "m", *words]) == 2
    assert reason in capsys.readouterr().err


def test_shape_and_file_name_an_input():
    assert parse_shape("IMAGE:1,3,224,224") == ("IMAGE", [1, 3, 224, 224])
    assert parse_shape("serving_default_x:0:1,8") == ("serving_default_x:0", [1, 8])
    assert parse_file("IMAGE=a=b.jpg") == ("IMAGE", Path("a=b.jpg"))
    with pytest.raises(UsageError):
        parse_file("=a.jpg")


def report(**options):
    return summarize("m", 2_000_000_000, [1_000_000, 3_000_000], 0, **options)


def test_text_holds_throughput_and_latency_in_milliseconds():
    text = _text(report(concurrency=4))
    assert "m: 1.0 requests/s (4 in flight, 2.0 s)" in text
    assert "2 succeeded, 0 failed" in text
    assert "mean 2.00   p50 1.00" in text
    assert "max 3.00" in text


def test_numbers_that_mislead_are_accompanied_by_a_warning():
    assert list(_warnings(report(rate_per_s=1.0), client_cpu=0.5)) == []
    [slow] = _warnings(report(rate_per_s=50.0), client_cpu=0.5)
    assert "only 1.0 of 50 requests/s were answered" in slow
    [busy] = _warnings(report(concurrency=1), client_cpu=0.95)
    assert "95% of a core" in busy
    failed = summarize("m", 1, [], 3, concurrency=1, first_error="INTERNAL: boom")
    assert list(_warnings(failed, 0.0)) == ["the first failure was: INTERNAL: boom"]
