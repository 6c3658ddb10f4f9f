"""Settings come from the environment; a bad one warns and means the default, and never raises."""

import logging
from pathlib import Path

import pytest

from tritonscope.settings import DEFAULT_DIRECTORY, DEFAULT_RING_BYTES, Settings, read_settings


def test_an_empty_environment_means_asleep_with_defaults():
    settings = read_settings({})
    assert settings == Settings(
        enabled=False, directory=DEFAULT_DIRECTORY, ring_bytes=DEFAULT_RING_BYTES, log_level="WARNING", sizes=False,
        otel_bridge=True, log_correlation=False,
    )  # fmt: skip


def test_every_setting_is_read():
    settings = read_settings({
        "TRITONSCOPE": "1", "TRITONSCOPE_DIR": "/x", "TRITONSCOPE_RING_BYTES": "65536",
        "TRITONSCOPE_LOG_LEVEL": "debug", "TRITONSCOPE_SIZES": "1", "TRITONSCOPE_OTEL_BRIDGE": "0",
        "TRITONSCOPE_LOG_CORRELATION": "1",
    })  # fmt: skip
    assert settings == Settings(
        enabled=True, directory=Path("/x"), ring_bytes=65536, log_level="DEBUG", sizes=True, otel_bridge=False,
        log_correlation=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TRITONSCOPE_RING_BYTES", "4k"),
        ("TRITONSCOPE_RING_BYTES", "12"),
        ("TRITONSCOPE_LOG_LEVEL", "loud"),
        ("TRITONSCOPE_SIZES", "yes"),
    ],
)
def test_a_bad_value_warns_with_its_name_and_means_the_default(name, value, caplog):
    with caplog.at_level(logging.WARNING, "tritonscope"):
        assert read_settings({name: value}) == read_settings({})
    assert name in caplog.text
    assert value in caplog.text
