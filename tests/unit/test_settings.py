"""Settings come from the environment; a bad one warns and means the default, and never raises."""

import logging
from pathlib import Path

import pytest

from tritonscope.settings import DEFAULT_DIRECTORY, DEFAULT_RING_BYTES, read_settings


def test_an_empty_environment_means_asleep_with_defaults():
    settings = read_settings({})
    assert settings == (False, DEFAULT_DIRECTORY, DEFAULT_RING_BYTES, "WARNING")


def test_every_setting_is_read():
    settings = read_settings({
        "TRITONSCOPE": "1", "TRITONSCOPE_DIR": "/x", "TRITONSCOPE_RING_BYTES": "65536",
        "TRITONSCOPE_LOG_LEVEL": "debug",
    })  # fmt: skip
    assert settings == (True, Path("/x"), 65536, "DEBUG")


@pytest.mark.parametrize(
    ("name", "value"),
    [("TRITONSCOPE_RING_BYTES", "4k"), ("TRITONSCOPE_RING_BYTES", "12"), ("TRITONSCOPE_LOG_LEVEL", "loud")],
)
def test_a_bad_value_warns_with_its_name_and_means_the_default(name, value, caplog):
    with caplog.at_level(logging.WARNING, "tritonscope"):
        assert read_settings({name: value}) == read_settings({})
    assert name in caplog.text
    assert value in caplog.text
