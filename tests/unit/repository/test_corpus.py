"""Hundreds of public configurations, where they are at hand: all are read as protobuf reads them, none crashes."""

import json
from pathlib import Path

import pytest
from google.protobuf import json_format

from tritonscope.errors import ConfigError, RepositoryError
from tritonscope.repository.config import parse_text, read_text, to_stage
from tritonscope.repository.edit import with_count
from tritonscope.repository.folder import read_repository
from tritonscope.repository.pipeline import build_pipeline

CORPUS = Path(__file__).resolve().parents[3].parent / "shared" / "corpus"

pytestmark = pytest.mark.skipif(
    not (CORPUS / "TRUTH.jsonl").is_file(), reason="no corpus of public configurations at ../shared/corpus"
)


def truth():
    lines = (CORPUS / "TRUTH.jsonl").read_text().splitlines() if (CORPUS / "TRUTH.jsonl").is_file() else []
    return [json.loads(line) for line in lines]


def test_every_configuration_is_read_or_refused_as_it_should():
    for entry in truth():
        path = CORPUS / entry["dir"] / entry["model"] / "config.pbtxt"
        text = read_text(path.read_bytes())
        if not entry["ok"]:
            with pytest.raises(ConfigError):
                parse_text(text, path)
            continue
        message = parse_text(text, path)
        assert json_format.MessageToDict(message, preserving_proto_field_name=True) == entry["config"], path
        assert to_stage(message, entry["model"]).name
        if len(message.instance_group) < 2:
            assert with_count(text, 7) is not None, path


def explanation(name, repository) -> str:
    """Return why the ensemble cannot be built, nothing if it can."""
    try:
        return "" if build_pipeline(name, repository).nodes else "no stages"
    except RepositoryError as error:
        return str(error)


def test_every_repository_is_read_and_every_ensemble_is_built_or_explained():
    repositories = [read_repository(folder) for folder in sorted(CORPUS.iterdir()) if folder.is_dir()]
    explanations = [explanation(name, repository) for repository in repositories for name in repository.ensembles]
    assert explanations.count("") > 50
    assert all(text.startswith("ensemble '") for text in explanations if text)
