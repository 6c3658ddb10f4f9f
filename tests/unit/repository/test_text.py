"""Bytes of any origin become text, and what Triton 2.51 was seen to refuse is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.repository.text import decode

TEXT = 'name: "decode"\n'


@pytest.mark.parametrize(
    ("data", "encoding", "is_triton_s"),
    [
        (TEXT.encode(), "utf-8", True),
        (f"{TEXT}# 中文".encode(), "utf-8", True),
        (f"{TEXT}# Größe, déjà vu".encode("latin-1"), "latin-1", True),
        (f"{TEXT}# 假定原始图片实际更大".encode("gbk"), "gb18030", True),
        (TEXT.encode("utf-8-sig"), "utf-8-sig", False),
        (TEXT.encode("utf-16"), "utf-16", False),
        (TEXT.encode("utf-16-le"), "utf-16-le", False),
        (TEXT.encode("utf-16-be"), "utf-16-be", False),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-16", False),
        (TEXT.encode("utf-32"), "utf-32", False),
    ],
)
def test_the_encoding_is_found_and_triton_s_are_known(data, encoding, is_triton_s):
    text = decode(data)
    assert (text.encoding, text.is_triton_s) == (encoding, is_triton_s)
    assert text.text.startswith(TEXT)


def test_chinese_and_latin_letters_are_told_apart():
    assert decode("# 假定原始图片实际更大".encode("gbk")).text == "# 假定原始图片实际更大"
    assert decode("# Größe, ça, naïve".encode("latin-1")).text == "# Größe, ça, naïve"


@pytest.mark.parametrize("data", [b"", b"\xff\xfea", b"\xff", b"\x00", b"\x81\x82\x83"])
def test_what_is_cut_off_is_still_text(data):
    assert isinstance(decode(data).text, str)


@given(st.binary(max_size=64))
def test_all_bytes_are_text(data):
    assert decode(data).encoding
