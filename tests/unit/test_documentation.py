"""The table of conformance results in the docs is what was seen last, and names every case."""

from tests.conformance.cases import case_names
from tests.conformance.table import PAGE, SAME, page_with, read_results, render


def test_the_page_holds_the_results():
    page = PAGE.read_text()
    assert page_with(render(read_results()), page) == page


def test_every_case_was_run_on_every_version_and_none_differs():
    results = read_results()
    assert sorted(results) == ["3.10", "3.11", "3.12"]
    for seen in results.values():
        assert sorted(seen) == case_names()
        assert "different" not in seen.values()
        assert list(seen.values()).count(SAME) > 80


def test_a_table_is_put_between_its_marks_and_the_rest_is_left():
    page = page_with("first", "head\n<!-- results: written by tests/conformance/table.py -->\nold\n"
                              "<!-- end of results -->\ntail")  # fmt: skip
    assert page.startswith("head\n")
    assert "old" not in page
    assert page.endswith("\ntail")
