"""The functions of `triton_python_backend_utils`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.testing.backend import utils


@given(st.lists(st.binary()))
def test_bytes_survive_their_encoding(elements: list[bytes]) -> None:
    encoded = utils.serialize_byte_tensor(np.array(elements, dtype=object))

    assert utils.deserialize_bytes_tensor(bytes(encoded or b"")).tolist() == elements


def test_text_and_numbers_are_encoded_as_text() -> None:
    encoded = utils.serialize_byte_tensor(np.array(["é", 3, None], dtype=object))

    assert encoded == b"\x02\x00\x00\x00\xc3\xa9\x01\x00\x00\x003\x04\x00\x00\x00None"


def test_numbers_are_not_bytes() -> None:
    assert utils.serialize_byte_tensor(np.ones(1)) is None


@pytest.mark.parametrize("number", range(1, 14))
def test_type_numbers_go_to_numpy_and_back(number: int) -> None:
    assert utils.numpy_to_triton_type(utils.triton_to_numpy_type(number)) == number


@pytest.mark.parametrize("number", [0, 14, 99])
def test_other_numbers_have_no_numpy_type(number: int) -> None:
    assert utils.triton_to_numpy_type(number) is None


def test_configuration_is_looked_up_by_name() -> None:
    config = {"input": [{"name": "X"}], "output": [{"name": "Y"}], "model_transaction_policy": {"decoupled": True}}

    assert utils.get_input_config_by_name(config, "X") == {"name": "X"}
    assert utils.get_output_config_by_name(config, "Y") == {"name": "Y"}
    assert utils.get_output_config_by_name(config, "X") is None
    assert utils.using_decoupled_model_transaction_policy(config) is True
    assert utils.using_decoupled_model_transaction_policy({}) is False
