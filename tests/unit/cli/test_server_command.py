"""`tritonscope server`: `check` says what is there and what is missing with its fix; bad input is one line."""

import pytest

from tritonscope.cli import main
from tritonscope.server.install import check_host
from tritonscope.server.pythons import SUPPORTED


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITONSCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_help_shows_how_to_use_it(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["server", "--help"])
    assert ended.value.code == 0
    assert "tritonscope server start model_repository" in capsys.readouterr().out


def test_an_action_is_needed(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["server"])
    assert ended.value.code == 2
    assert "install|check|start" in capsys.readouterr().err


def test_check_names_each_part_and_how_to_get_it(cache, capsys):
    main(["server", "check"])
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 2 + len(SUPPORTED)
    assert rows[1] == f"missing  tritonserver 2.51: not in {cache}: 'tritonscope server install'"
    for version, row in zip(SUPPORTED, rows[2:], strict=True):
        assert f"Python {version}: " in row
        assert row.startswith("ok ") or "apt-get install" in row or "uv python install" in row
    assert not cache.exists()


def test_check_on_another_kind_of_machine_fails_with_a_way_out(monkeypatch, capsys):
    def refuse():
        check_host("darwin", "arm64")

    monkeypatch.setattr("tritonscope.cli.server.check_host", refuse)
    assert main(["server", "check"]) == 1
    assert "missing  machine: the packaged server needs Linux on x86-64" in capsys.readouterr().out


def test_python_without_a_server_is_refused_before_any_download(cache, capsys):
    assert main(["server", "install", "--python", "3.13"]) == 1
    assert "cannot run models on Python 3.13" in capsys.readouterr().err
    assert not cache.exists()


@pytest.mark.parametrize(("name", "reason"), [("missing", "no model repository"), ("empty", "holds no model")])
def test_start_needs_a_repository_with_models(name, reason, tmp_path, cache, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["server", "start", str(tmp_path / name)]) == 2
    assert reason in capsys.readouterr().err
    assert not cache.exists()
