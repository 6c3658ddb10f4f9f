"""`tritonscope analyze`: each way to give evidence, its output, and one clear line for what cannot be used."""

import json
from collections import deque
from pathlib import Path

import pytest

from tests.unit.sources.fake_triton import model_stats, serving
from tritonscope.cli import main
from tritonscope.evidence import HostSample, LoadReport
from tritonscope.runs import ConfigLine, RunWriter, read_run
from tritonscope.sources.stats_json import read_statistics

STATS = "/v2/models/stats"
DECODE = 'name: "decode"\nbackend: "python"\ninstance_group [\n  {\n    kind: KIND_CPU\n    count: 1\n  }\n]\n'
STEP = {"input_map": {"IN": "IMAGE"}, "output_map": {"OUT": "LABEL"}, "model_version": "-1"}
CONFIGS = {
    "pipeline": {"name": "pipeline", "platform": "ensemble",
                 "ensemble_scheduling": {"step": [{"model_name": "decode", **STEP}]}},
    "decode": {"name": "decode", "backend": "python", "instance_group": [{"kind": "KIND_CPU", "count": 1}]},
}  # fmt: skip


def statistics(seconds: float) -> dict:
    """Return a server's counters after so many seconds of 98 requests/s, 10 ms each, 8 in flight."""
    requests = round(98 * seconds)
    return {
        "model_stats": [
            model_stats("pipeline", requests, infer_ms=82, ensemble=True),
            model_stats("decode", requests, infer_ms=10, queue_ms=71),
        ]
    }


@pytest.fixture
def run_file(tmp_path) -> Path:
    path = tmp_path / "run.jsonl"
    writer = RunWriter(path)
    for name, config in CONFIGS.items():
        writer.write(ConfigLine(name, config))
    for seconds in (0, 10):
        taken_ns = seconds * 1_000_000_000
        writer.write(read_statistics(statistics(1 + seconds), taken_ns, STATS))
        writer.write(HostSample(taken_ns, 2, round(1.4 * taken_ns)))
    writer.write(LoadReport("pipeline", 10_000_000_000, 980, 0, *[83_000_000] * 6, concurrency=8))
    writer.close()
    return path


@pytest.fixture
def repository(tmp_path) -> Path:
    root = tmp_path / "model_repository"
    (root / "decode" / "1").mkdir(parents=True)
    (root / "decode" / "config.pbtxt").write_text(DECODE)
    return root


@pytest.fixture
def triton():
    stats = deque([statistics(1), statistics(1.05)])
    answers = {"/v2/health/ready": b"", STATS: stats, "/v2/repository/index": [{"name": name} for name in CONFIGS]}
    with serving(
        {**answers, **{f"/v2/models/{name}/config": config for name, config in CONFIGS.items()}}
    ) as server:
        yield server


def test_help_shows_how_to_use_it(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["analyze", "--help"])
    assert ended.value.code == 0
    assert "tritonscope analyze --url localhost:8000" in capsys.readouterr().out


def test_a_run_file_is_judged_by_what_it_holds(run_file, capsys):
    assert main(["analyze", str(run_file)]) == 0
    verdict = capsys.readouterr().out.splitlines()[0]
    assert verdict.startswith("decode throttles pipeline: 1 instance, busy 0.98, its queue is 87% of request time")
    assert "count: 2 would buy +4" in verdict
    assert verdict.endswith("and then the CPU (2 cores) binds")


def test_json_is_all_there_is_on_stdout(run_file, capsys):
    assert main(["analyze", str(run_file), "--json"]) == 0
    shown = capsys.readouterr()
    document = json.loads(shown.out)
    assert document["format"] == "tritonscope-analysis"
    assert [finding["rule"] for finding in document["findings"]] == ["throttle", "single-instance-python-stage"]
    assert shown.err == ""


def test_a_repository_besides_a_run_shows_the_change_in_its_file(run_file, repository, capsys):
    assert main(["analyze", str(run_file), "--repository", str(repository), "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert "-    count: 1\n+    count: 2\n" in findings[1]["diff"]


def test_a_server_is_asked_before_and_after_the_window(triton, tmp_path, capsys):
    saved = tmp_path / "saved.jsonl"
    words = ["analyze", "--url", triton.url, "--window", "0.05", "--run-file", str(saved), "--json"]
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["traffic"]["requests"] == 5
    assert document["traffic"]["cores"] >= 1  # the url is a loopback address
    run = read_run(saved)
    assert (len(run.statistics), len(run.hosts), set(run.configs)) == (2, 2, set(CONFIGS))


def test_a_server_that_is_not_quite_ready_is_measured_all_the_same(triton, capsys):
    del triton.answers["/v2/health/ready"]
    assert main(["analyze", "--url", triton.url, "--window", "0.05"]) == 0
    assert f"not all models of http://{triton.url} are ready" in capsys.readouterr().err


def test_a_full_disk_is_one_line_and_code_2(triton, capsys):
    assert main(["analyze", "--url", triton.url, "--window", "0.05", "--run-file", "/dev/full"]) == 2
    assert "the run file /dev/full cannot be written: No space left on device" in capsys.readouterr().err


def test_an_older_period_in_the_same_file_is_not_mixed_in(triton, run_file, capsys):
    assert main(["analyze", "--url", triton.url, "--window", "0.05", "--run-file", str(run_file), "--json"]) == 0
    traffic = json.loads(capsys.readouterr().out)["traffic"]
    assert (traffic["requests"], traffic["client_latency_ns"]) == (5, None)


def test_a_repository_alone_tells_candidates(repository, capsys):
    assert main(["analyze", "--repository", str(repository)]) == 0
    assert capsys.readouterr().out.startswith("not measured: what may throttle decode is decode\n")


def test_damage_in_the_run_file_and_problems_of_models_are_noted(run_file, capsys):
    with run_file.open("ab") as file:
        file.write(b'{"type":"config","model":"odd","json":{"max_batch_size":"x"}}\nnonsense\n')
    assert main(["analyze", str(run_file), "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert any(
        note.startswith("1 damaged lines of the run file were left out; the first is line 10") for note in notes
    )
    assert any("max_batch_size" in note for note in notes)


def test_several_repositories_are_one_and_what_is_open_in_them_is_noted(repository, tmp_path, capsys):
    model = tmp_path / "more" / "chooser" / "1" / "model.py"
    model.parent.mkdir(parents=True)
    model.write_text("def execute(self, requests):\n    InferenceRequest(model_name=requests[0]).exec()\n")
    where = ["--repository", str(repository), "--repository", str(tmp_path / "more")]
    assert main(["analyze", *where, "--model", "chooser"]) == 0
    assert "note: 'chooser' (model.py:2) calls a model whose name only its run tells" in capsys.readouterr().out


def test_a_run_without_statistics_says_how_to_get_some(tmp_path, repository, capsys):
    RunWriter(tmp_path / "batches.jsonl").close()
    assert main(["analyze", str(tmp_path / "batches.jsonl"), "--repository", str(repository), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["level"] == "configuration"
    assert "tritonscope analyze --url HOST:PORT --run-file FILE" in document["notes"][0]


def broken(repository: Path, text: str) -> Path:
    (repository / "decode" / "config.pbtxt").write_text(text)
    return repository


ENSEMBLE = 'platform: "ensemble" ensemble_scheduling { step [{ model_name: "det" model_version: -1 }] }'


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "nothing to analyze: give a run file, --url HOST:PORT or --repository DIR"),
        (["{run}", "--url", "localhost:1"], "give a run file or --url, not both"),
        (["{run}", "--run-file", "x"], "--run-file saves what --url sees"),
        (["nowhere.jsonl"], "the run file nowhere.jsonl cannot be read"),
        (["--repository", "nowhere"], "there is no model repository nowhere"),
        (["{run}", "--model", "piepline"], "there is no model 'piepline'; found: 'decode', 'pipeline'"),
        (["--url", "127.0.0.1:9"], "no Triton answers at http://127.0.0.1:9"),
        (["--url", "localhost:http"], "give HOST:PORT, for example localhost:8000"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_code_2(words, reason, run_file, capsys):
    assert main(["analyze", *(word.format(run=run_file) for word in words)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert reason in shown.err


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (ENSEMBLE, "ensemble 'decode', step 1: model 'det' is not in model_repository/; found: none"),
        ("max_batch_size: many", "model_repository/decode/config.pbtxt:1:17: "),
    ],
)
def test_a_broken_repository_is_one_line_and_code_2(text, reason, repository, capsys):
    assert main(["analyze", "--repository", str(broken(repository, text))]) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert reason in shown.err


def test_a_run_without_configurations_asks_for_the_repository(tmp_path, capsys):
    RunWriter(tmp_path / "empty.jsonl").close()
    assert main(["analyze", str(tmp_path / "empty.jsonl")]) == 2
    assert "give --repository DIR as well" in capsys.readouterr().err


def test_several_pipelines_must_be_told_apart(tmp_path, capsys):
    for name in ("one", "two"):
        (tmp_path / name / "1").mkdir(parents=True)
        (tmp_path / name / "1" / "model.py").touch()
    assert main(["analyze", "--repository", str(tmp_path)]) == 2
    assert "choose one with --model: one, two" in capsys.readouterr().err


@pytest.mark.parametrize("window", ["0", "-1", "soon", "inf", "nan"])
def test_a_window_that_is_none_is_refused(window, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["analyze", "--url", "localhost:1", "--window", window])
    assert ended.value.code == 2
    assert "is not a number of seconds above 0" in capsys.readouterr().err
