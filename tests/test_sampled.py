"""Of a sampled test, `make test` runs a third of the cases and `make soak` the others."""

from pathlib import Path

import pytest

from tests.examples import leave_out_of_samples


def kept(text: str, tmp_path: Path, request: pytest.FixtureRequest) -> list[str]:
    """The cases of a test file that are not left for `make soak`."""
    file = tmp_path / "test_of_many_cases.py"
    file.write_text("import pytest\n" + text)
    items = [*request.session.genitems(pytest.Module.from_parent(request.session, path=file))]
    leave_out_of_samples(items)
    return [item.name.partition("[")[2][:-1] for item in items if item.get_closest_marker("soak") is None]


@pytest.mark.parametrize(
    ("options", "cases"), [("", ["0", "3", "6"]), ("(start=1)", ["1", "4", "7"]), ("(start=2)", ["2", "5"])]
)
def test_every_third_case_is_kept(
    options: str, cases: list[str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    text = f"@pytest.mark.sampled{options}\n@pytest.mark.parametrize('n', range(8))\ndef test_it(n): pass\n"
    assert kept(text, tmp_path, request) == cases


def test_of_two_parameters_every_value_is_kept_equally_often(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = """
@pytest.mark.sampled
@pytest.mark.parametrize(("a", "b", "c"), [(n, n, n) for n in range(3)], ids="xyz")
@pytest.mark.parametrize("n", range(6))
def test_it(a, b, c, n): pass
"""
    cases = kept(text, tmp_path, request)
    assert sorted(case.partition("-")[0] for case in cases) == ["0", "1", "2", "3", "4", "5"]
    assert sorted(case.partition("-")[2] for case in cases) == ["x", "x", "y", "y", "z", "z"]


def test_the_first_case_of_each_kind_is_kept(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = """
@pytest.mark.sampled(kind=lambda word: len(word))
@pytest.mark.parametrize("word", ["a", "b", "cc", "c", "d", "dd", "eee"])
def test_it(word): pass
"""
    assert kept(text, tmp_path, request) == ["a", "cc", "d", "eee"]


def test_all_cases_of_other_tests_are_kept(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = "@pytest.mark.parametrize('n', range(4))\ndef test_it(n): pass\n"
    assert kept(text, tmp_path, request) == ["0", "1", "2", "3"]
