"""The corpus itself: a script says the same every time, and a tree that behaves differently is noticed."""

from pathlib import Path

import pytest

from .compare import Difference, Expected, differences
from .notation import parse
from .transcript import Transcript, at_path, read_script
from .trees import ROOT, SCRIPTS, name_of, run_tree, transcript

SHORT = [SCRIPTS / name for name in ("nim.txt", "keys.txt", "nexus_kill_2.txt")]
WITHOUT_LETTERS = """
from cohabit.model.grant import ROLES, Capability
ROLES["player"] -= {Capability.SEND_MESSAGE}
"""
OTHER_WORDS = """
from cohabit.worlds import nim
nim._stones = lambda n: f"{n} pebbles"
"""


def test_two_plays_of_a_script_write_down_the_same_also_with_another_hash_seed(tmp_path: Path) -> None:
    run_tree(ROOT, SHORT, "python", tmp_path / "one", "1")
    run_tree(ROOT, SHORT, "python", tmp_path / "two", "77")
    for script in SHORT:
        once, again = transcript(tmp_path / "one", script), transcript(tmp_path / "two", script)
        assert len(once) == len(read_script(script)["steps"]) + 1
        assert list(differences(once, again)) == []


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("broken", "script", "shows"),
    [(WITHOUT_LETTERS, "keys.txt", "PERMISSION_DENIED"), (OTHER_WORDS, "nim.txt", "pebbles")],
)
def test_a_tree_with_another_permission_or_another_text_is_noticed(
    tmp_path: Path, broken: str, script: str, shows: str
) -> None:
    run_tree(ROOT, [SCRIPTS / script], "python", tmp_path / "whole")
    run_tree(ROOT, [SCRIPTS / script], "python", tmp_path / "broken", code=broken)
    found = [*differences(*(transcript(tmp_path / tree, SCRIPTS / script) for tree in ("whole", "broken")))]
    assert any(shows in difference.after and shows not in difference.before for difference in found)


def test_a_value_is_the_same_placeholder_wherever_it_appears() -> None:
    written = Transcript({"/home/me": "<tree>"})
    first, second = "i-0123456789abcdef", "i-fedcba9876543210"
    written.add({"step": 0, "reply": {"who": first, "file": "/home/me/x"}})
    written.add({"step": 1, "reply": [f"{second} and {first}", 1_750_000_000_000]})
    assert written.lines[0]["reply"] == {"who": "<identity 1>", "file": "<tree>/x"}
    assert written.lines[1]["reply"] == ["<identity 2> and <identity 1>", 1_750_000_000_000]


def test_a_difference_says_where_it_is_and_an_expected_one_is_recognised() -> None:
    before = [{"step": 0, "sent": {"ann": {"events": [{"text": "a"}, {"text": "b"}]}}}]
    after = [{"step": 0, "sent": {"ann": {"events": [{"text": "b"}]}}}]
    (found,) = differences(before, after)
    assert (found.step, found.path, found.after) == (0, "sent.ann.events[0:1]", "(nothing)")
    assert Expected("walk_*", r"events.*\n.*\"a\"", "the changelog says so").covers("walk_nim_1", found)
    assert not Expected("walk_*", "roster", "another change").covers("walk_nim_1", found)
    assert [*differences(before, [])] == [Difference(0, "steps", "1", "0")]
    assert [*differences([{"step": 0, "a": 1, "b": 2}], [{"step": 0, "b": 2, "a": 1}])] != []


def test_the_notation_of_scripts_by_hand() -> None:
    steps = parse(
        "create den nim turn_seconds=30\n  player ann auto:0\nx = ann/-: ask may=[act,watch] @key:k\n"
        "bob: allow request=$x.request @later\n+500\nkill 10\n"
    )["steps"]
    assert steps == [
        {
            "create": {
                "world": "nim",
                "turn_seconds": 30,
                "agents": [{"id": "ann", "role": "player", "claim": "auto:0"}],
            },
            "room": "den",
            "seed": 7,
        },
        {"call": "ask", "who": "ann", "args": {"may": ["act", "watch"]}, "key": "k", "room": None},
        {"call": "allow", "who": "bob", "args": {"request": {"$": [1, "request"]}}, "later": True},
        {"advance": 500},
        {"kill": 10},
    ]
    assert at_path({"items": [{"id": "x"}]}, "items.0.id") == "x"
    assert at_path({"items": []}, "items.0.id") is None


def test_every_script_can_be_read_and_all_of_them_are_small() -> None:
    scripts = sorted(SCRIPTS.iterdir())
    assert all(read_script(path)["steps"] for path in scripts)
    assert len({name_of(path) for path in scripts}) == len(scripts) > 40
    assert sum(path.stat().st_size for path in scripts) < 1_500_000
