"""The mutation run: its changes are real ones, chosen by a seed, and it tells noticed ones from missed ones."""

import ast
from collections import Counter
from pathlib import Path

import mutants
import mutations
import pytest
from mutants import AT_LEAST, TARGETS, PassingTest, chosen_tests, interval, sampled, table
from mutations import Mutant, Target, all_mutants, changed, mutants_of

NOTHING = Target("x", (), ())
CODE = '''
"""A module."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import os
LIMIT: int = 3
MAX_CALLS = 64

class Mark(Struct, frozen=True, rename=False):
    pairs = zip(A, B, strict=True)

def grade(points: int, log: object) -> str:
    """A grade."""
    assert points >= 0
    log.info("%d", 5)
    if points > LIMIT and not points == 7:
        raise ValueError(f"{points[:40]} is too much", nearest(points[:40], NAMES, 3))
    return "good"

@lru_cache(256)
def later() -> None:
    raise NotImplementedError
'''


def changes(text: str) -> list[str]:
    return [mutant.change for mutant in mutants_of(NOTHING, Path("x.py"), text)]


def test_conditions_operators_constants_and_statements_are_changed_and_nothing_else() -> None:
    assert sorted(changes(CODE)) == sorted([
        "4 for 3", "True for False", "negated: points > LIMIT and (not points == 7)", "or instead: points > LIMIT and (not points == 7)",
        "another operator: points > LIMIT", "another operator: points == 7", "8 for 7", "dropped: raise ValueError(f'{points[:40]} is too much', nearest(points[:40], NAMES, 3))",
    ])  # fmt: skip


def test_a_change_is_tried_on_the_tests_that_reach_its_statement_near_and_fast_ones_first_and_slow_ones_last() -> None:
    target = Target("x", (), ("tests/near",))
    found = {each.change: each for each in mutants_of(target, mutants.PACKAGE / "x.py", CODE)}
    raised, limit = next(each for name, each in found.items() if name.startswith("dropped")), found["4 for 3"]
    line = CODE[: CODE.index("raise ValueError")].count("\n") + 1
    slow, fast, far, other_line, other_file = tests = [
        PassingTest("tests/near/test_a.py::slow", 9.0, {"x.py": frozenset({line})}),
        PassingTest("tests/near/test_a.py::fast", 1.0, {"x.py": frozenset({line, 1})}),
        PassingTest("tests/far/test_b.py::far", 0.5, {"x.py": frozenset({line})}),
        PassingTest("tests/near/test_a.py::other", 0.1, {"x.py": frozenset({line - 1})}),
        PassingTest("tests/near/test_a.py::file", 0.1, {"y.py": frozenset({line})}),
    ]
    assert chosen_tests(raised, tests) == [fast, far, slow]
    # What runs at import concerns every test; a line that none reaches in its process may be reached in another one.
    assert chosen_tests(limit, tests) == [other_line, other_file, fast, far, slow]
    assert chosen_tests(raised, [other_line, other_file]) == [other_line]
    assert chosen_tests(raised, [other_file]) == [other_file]


@pytest.mark.parametrize("known", mutations.WITHOUT_EFFECT, ids=lambda known: known.file)
def test_a_change_that_is_listed_as_without_effect_is_one_that_would_be_made(known: mutations.WithoutEffect) -> None:
    file = mutants.PACKAGE / known.file
    text = (mutants.ROOT / file).read_text(encoding="utf-8")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if known.was in line]
    there = [each for each in mutants_of(NOTHING, file, text) if each.line in lines]
    assert [mutations.reason_without_effect(each) for each in there].count(known.why) == 1


@pytest.fixture(scope="module")
def every_mutant() -> list[Mutant]:
    return all_mutants(TARGETS)


def test_a_sample_has_changes_of_every_target(every_mutant: list[Mutant]) -> None:
    tried = Counter(mutant.target.name for mutant in sampled(every_mutant, 100, 1))
    assert tried.keys() == {target.name for target in mutants.TARGETS}
    assert min(tried.values()) == AT_LEAST
    assert tried["house"] > tried["merging"]


def test_each_change_of_our_own_code_compiles_and_is_a_change() -> None:
    for file in ("room/timers.py",):
        text = (mutants.ROOT / mutants.PACKAGE / file).read_text(encoding="utf-8")
        plain = ast.unparse(ast.parse(text))
        made = [changed(text, number) for number in range(len(changes(text)))]
        assert len(made) > 20
        for each in made:
            compile(each, file, "exec")
            assert each != plain


def test_every_target_has_files_and_tests_that_are_there(every_mutant: list[Mutant]) -> None:
    assert mutants.TARGETS
    for target in mutants.TARGETS:
        assert any(mutant.target is target for mutant in every_mutant), target.name
        assert all((mutants.ROOT / path).exists() for path in (*target.near, *target.far)), target.name


@pytest.mark.parametrize("package", ["room", "features", "house", "workspace/merging"])
def test_every_file_of_a_package_belongs_to_exactly_one_target(package: str) -> None:
    folder = mutants.ROOT / mutants.PACKAGE
    matched = Counter(path for target in TARGETS for pattern in target.files for path in folder.glob(pattern))
    files = set((folder / package).rglob("*.py"))
    assert files
    assert {path: matched[path] for path in files} == dict.fromkeys(files, 1)


@pytest.mark.parametrize("weak", [False, True])
def test_a_change_is_noticed_by_a_test_that_fails_and_missed_by_one_that_does_not(
    weak: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / mutants.PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "sign.py").write_text("def positive(n):\n    return n > 0\n")
    test = "from cohabit.sign import positive\ndef test():\n    assert positive(2)\n"
    (tmp_path / "test_sign.py").write_text(
        test if weak else test + "    assert not positive(0)\n    assert positive(1)\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    target = Target("sign", ("sign.py",), ("test_sign.py",))
    found = all_mutants([target], root=tmp_path)
    assert [mutant.change for mutant in found] == ["another operator: n > 0", "1 for 0"]
    missed = mutants.run(found, tmp_path)
    assert len(missed) == (2 if weak else 0)
    assert capsys.readouterr().out.count("MISSED") == (2 if weak else 0)
    assert table(found, missed).splitlines()[:2] == [
        f"{'sign':12} {0 if weak else 2:4} of    2  {0.0 if weak else 100.0:5} %",
        f"{'all':12} {0 if weak else 2:4} of    2  {0.0 if weak else 100.0:5} % (95 % interval: {'0.0 to 65.8' if weak else '34.2 to 100.0'} %)",
    ]
    assert (package / "sign.py").read_text() == "def positive(n):\n    return n > 0\n"


SHAPES = """
from functools import lru_cache
LIMIT = 3
def outer(n):
    def inner(m):
        return m < 5
    return inner(n)
@lru_cache(8)
def decorated(n):
    return n < 6
class Box:
    size: int = 7
    def holds(self, n, most=8):
        return n < most
    @property
    def has(self):
        return self.size == 9
def started():
    return 10
"""
USES = """
import subprocess, sys
from cohabit.shapes import *
def test_outer(): assert outer(4) and not outer(5)
def test_decorated(): assert decorated(5) and not decorated(6)
def test_holds(): assert Box().holds(7) and not Box().holds(8)
def test_size(): assert (Box.size, Box().has) == (7, False)
def test_limit(): assert LIMIT == 3
def test_started():
    assert outer(1)
    done = subprocess.run([sys.executable, "-c", "from cohabit.shapes import started; print(started())"], capture_output=True, text=True)
    assert done.stdout == "10\\n"
"""


@pytest.mark.soak
def test_changes_of_every_kind_of_code_are_made_in_the_process_of_the_tests_and_in_those_it_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / mutants.PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "shapes.py").write_text(SHAPES)
    (tmp_path / "test_shapes.py").write_text(USES)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    found = all_mutants([Target("shapes", ("shapes.py",), ("test_shapes.py",))], root=tmp_path)
    known = {"another operator: self.size == 9", "10 for 9"}  # nothing tests when a box has what it has
    missed = mutants.run(found, tmp_path, jobs=2)
    assert {mutant.change for mutant in missed} == {"10 for 9"}
    assert {"4 for 3", "6 for 5", "7 for 6", "8 for 7", "9 for 8", "11 for 10"} < {
        each.change for each in found
    } - known
    assert "fails without any change" not in capsys.readouterr().out


@pytest.mark.parametrize(("noticed", "tried", "low", "high"), [(368, 400, 0.889, 0.943), (0, 2, 0.0, 0.658)])
def test_the_interval_is_that_of_wilson(noticed: int, tried: int, low: float, high: float) -> None:
    assert interval(noticed, tried) == pytest.approx((low, high), abs=0.0006)


def test_the_seed_decides_what_is_tried(capsys: pytest.CaptureFixture[str]) -> None:
    def listed(seed: int) -> str:
        assert mutants.main(["--list", "--sample", "5", "--only", "room/timers", "--seed", str(seed)]) == 0
        return capsys.readouterr().out

    assert listed(3) == listed(3)
    assert listed(3).splitlines()[1:] != listed(4).splitlines()[1:]
