"""Every test can fail. `vacuous.py` finds those that cannot; what it finds is tested here on samples."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import pytest

from cohabit.testing import faces, store

from .vacuous import ROOT, Source, faults, forget, function_checks, read

HERE = Path(__file__)
FILES = sorted((ROOT / "tests").rglob("*.py"))

VACUOUS = {
    "nothing is checked": "room = make_room()",
    "a loop may not run": "for row in rows():\n    assert row",
    "a loop over a list that is filled": "found = []\nfor row in found:\n    assert row",
    "a filter may leave nothing": "for row in [row for row in (1, 2) if row > 2]:\n    assert row",
    "a number of times that may be none": "for n in range(len(rows())):\n    assert n >= 0",
    "a condition may never hold": "while rows():\n    assert rows()",
    "all of nothing": "assert all(row for row in rows())",
    "not any of nothing": "assert not any(row for row in rows())",
    "no faults in nothing": "wrong = [row for row in rows() if row > 2]\nassert not wrong",
    "a list of faults": "assert [row for row in rows() if row > 2] == []",
    "one branch": "if rows():\n    assert rows()",
    "a case that may not come": "match rows():\n    case []:\n        assert True\n    case _:\n        pass",
    "an error that need not come": "try:\n    rows()\nexcept ValueError as wrong:\n    assert wrong",
    "an error that hides the check": "with suppress(ValueError):\n    assert rows()",
    "a function that is not called": "def inner():\n    assert rows()",
    "a lambda": "check = lambda: check_rows()",
    "a helper that checks nothing": "rows()",
    "a helper that may check nothing": "each_row_is_good()",
    "a helper that prepares the test": "table = checked_table()",
    "a helper that is entered": "with checked_table() as table:\n    table.play()",
    "a method that checks nothing": "table = Table()\ntable.play()",
    "any error of ours": "with pytest.raises(CohabitError):\n    rows()",
    "any error at all": "with pytest.raises(Exception) as caught:\n    rows()",
    "one of several": "with pytest.raises((KeyError, CohabitError)):\n    rows()",
}
SOUND = {
    "an assertion": "assert rows() == []",
    "an assertion before a loop": "assert rows()\nfor row in rows():\n    assert row",
    "a loop over a literal": "for row in (1, 2):\n    assert row",
    "a loop over a constant": "for number, row in enumerate(sorted(ROWS)):\n    assert row",
    "a loop over a constant of the package": "for action in ACTIONS:\n    assert action",
    "a loop over a range": "for n in range(1, 4):\n    assert n",
    "a loop over a variable": "found = [1]\nfor row in found:\n    assert row",
    "a loop over as many": "for row, n in zip(rows(), (1, 2), strict=True):\n    assert row == n",
    "a loop over a parameter": "for row in given:\n    assert row",
    "all of something": "assert all(row for row in (1, 2))",
    "both branches": "if rows():\n    assert rows()\nelse:\n    assert not rows()",
    "a branch that fails": "if rows():\n    raise AssertionError('there are rows')",
    "an error that must come": "try:\n    rows()\n    pytest.fail('no error')\nexcept ValueError:\n    pass",
    "an error that must not": "try:\n    rows()\nexcept ValueError:\n    raise AssertionError('an error') from None",
    "a particular error": "with pytest.raises(BadArgs):\n    rows()",
    "a particular message": "with pytest.raises(CohabitError, match='no rows'):\n    rows()",
    "a look at the error": "with pytest.raises(CohabitError) as caught:\n    rows()\nassert caught.value.code == 'BUSY'",
    "a function that is called": "async def inner():\n    assert rows()\nasyncio.run(inner())",
    "a helper": "rows_are_good()",
    "a helper of a helper": "both_are_good()",
    "a helper whose result is not kept": "checked_table()",
    "a list that must be empty": "assert [str(row) for row in rows()] == []",
    "a loop in a function over a parameter": "def inner():\n    for row in given:\n        assert row\ninner()",
    "a method": "table = Table()\ntable.win()",
    "what a fixture gives": "attempt()",
    "a checker of another library": "parallel_api_test(rows())",
}
AROUND = """
from cohabit.worlds.crafter.rules import ACTIONS

ROWS = [1, 2]

def rows():
    return []

def rows_are_good():
    assert rows()

def both_are_good():
    rows_are_good()

def each_row_is_good():
    for row in rows():
        assert row

def checked_table():
    assert rows()
    return Table()

class Table:
    def play(self):
        rows()

    def win(self):
        self.count()

    def count(self):
        assert rows()

@pytest.fixture
def attempt():
    def call():
        assert rows()
    return call

@pytest.fixture
def guard():
    yield 1
    assert rows()

@pytest.mark.parametrize(("number", "given"), [(1, [1]), (2, [1, 2])])
def test_sample(number, given):
"""


@pytest.fixture(scope="module", autouse=True)
def files_are_read_for_these_tests_only() -> Iterator[None]:
    yield
    forget()


def found_in(body: str) -> list[str]:
    return list(faults(Source(AROUND + indent(body, "    "), HERE)))


@pytest.mark.sampled
@pytest.mark.parametrize("case", VACUOUS)
def test_a_test_that_cannot_fail_is_found(case: str) -> None:
    assert len(found_in(VACUOUS[case])) == 1


@pytest.mark.parametrize("case", SOUND)
def test_a_test_that_can_fail_is_not_found(case: str) -> None:
    assert found_in(SOUND[case]) == []


def test_a_test_that_a_fixture_checks_at_the_end_is_not_found() -> None:
    guarded = AROUND.replace("test_sample(number", "test_sample(guard, number")
    assert list(faults(Source(f"{guarded}    rows()", HERE))) == []


def test_every_claim_that_the_package_offers_checks_something() -> None:
    claims = {
        Path(module.__file__ or ""): names for module, names in ((store, store.CLAIMS), (faces, faces.CLAIMS.values()))
    }
    assert [len(names) for names in claims.values()] == [len(store.CLAIMS), len(faces.CLAIMS)]
    for path, functions in claims.items():
        for function in functions:
            found = read(path).find(function.__name__)
            assert found is not None
            assert function_checks(*found), function.__name__


def test_every_test_can_fail() -> None:
    assert HERE in FILES
    assert [fault for path in FILES for fault in faults(read(path))] == []
