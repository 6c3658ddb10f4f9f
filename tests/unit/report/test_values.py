"""Numbers in words, and bars."""

import pytest

from tritonscope.report.values import bar, show


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (9_160_000, "ns", "9.16 ms"), (873_400_000, "ns", "873 ms"), (0.834, "share", "83%"),
        (108.84, "requests/s", "108.8/s"), (float("inf"), "requests/s", "no limit"), (1.346, "cores", "1.35 cores"),
        (8, "1", "8"), (3.72, "1", "3.72"), (1.0003, "1", "1"), (100, "1", "100"),
    ],
)  # fmt: skip
def test_each_unit_has_its_form(value, unit, expected):
    assert show(value, unit) == expected


@pytest.mark.parametrize(("share", "expected"), [(0, "    "), (1, "████"), (0.5, "██  "), (0.28125, "█▏  ")])
def test_a_bar_is_filled_to_its_share(share, expected):
    assert bar(share, 4, ascii_only=False) == expected


@pytest.mark.parametrize(("share", "expected"), [(0, "...."), (0.5, "##.."), (1, "####")])
def test_a_bar_of_ascii(share, expected):
    assert bar(share, 4, ascii_only=True) == expected
