"""Designs: which games are planned, and what is refused."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs
from cohabit.lab.design import Design, parse_design, read_design, seatings

SMALL: dict[str, Any] = {
    "name": "small",
    "worlds": {"nim": {"factors": {"stones": [9, 12]}}, "heap": {"world": "nim"}},
    "players": {"master": "nim-master"},
    "lineups": [["master", "random"]],
    "seeds": [3, 8],
}


def small(**changes: Any) -> Design:
    return parse_design(json.dumps({**SMALL, **changes}))


def test_every_line_up_is_played_in_every_condition_on_every_seed_and_in_every_order() -> None:
    specs = small().specs()
    found = Counter((spec.setting, spec.config.get("stones"), spec.seed, tuple(spec.names)) for spec in specs)
    orders = [("master", "random"), ("random", "master")]
    wanted = [("nim", 9), ("nim", 12), ("heap", None)]
    assert found == Counter((*world, seed, order) for world in wanted for seed in ("3", "8") for order in orders)
    assert [spec.id for spec in specs[:3]] == [
        "nim.stones-9.master-vs-random.s3.0",
        "nim.stones-9.master-vs-random.s3.1",
        "nim.stones-9.master-vs-random.s8.0",
    ]
    assert specs[1].players == ["random", "nim-master"]


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ({"max_decisions": ["a", 5]}, "factors.max_decisions: max_decisions must be a whole number"),
        ({"max_decisions": [-5, 5]}, "factors.max_decisions: max_decisions: must be from 1 to"),
        ({"pace": {"still": {"step_ticks": 0}}}, "factors.pace: step_ticks: must be from 1 to"),
        ({"max_ticks": [None, 5]}, "factors.max_ticks: max_ticks must not be null"),
        ({"seconds": [0]}, "factors.seconds: seconds: must be above 0"),
        ({"fog": {"thick": {"partial_intel": "yes"}}}, "factors.fog: partial_intel must be true or false"),
    ],
)
def test_a_level_of_a_limit_is_checked_like_the_limit_of_a_design(factors: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgs, match=re.escape(message)):
        small(factors=factors)
    with pytest.raises(BadArgs, match=re.escape(f"worlds.nim.{message}")):
        small(worlds={"nim": {"factors": factors}})


def test_a_factor_can_be_a_time_limit_and_none() -> None:
    assert {spec.seconds for spec in small(factors={"seconds": [None, 2.5]}).specs()} == {None, 2.5}


def test_a_level_and_its_negative_are_two_conditions() -> None:
    factors = {"trade": {"-1": {"a": 9}, "1": {"a": 12}}, "stones": [-0.5, 0.5]}
    ids = [spec.id for spec in parse_design(json.dumps({**SMALL, "factors": factors}), load=False).specs()]
    assert len(set(ids)) == len(ids)
    assert "trade-1.stones-0-5" in ids[-1]  # positive levels keep their plain names


def test_conditions_whose_files_would_have_the_same_name_are_both_named() -> None:
    lineups = {"Mixed": ["master", "random"], "mixed": ["random", "master"]}
    with pytest.raises(BadArgs, match=r"\(nim, Mixed, .*\) and \(nim, mixed, .*\)\. Rename one of them"):
        small(lineups=lineups)


def test_factors_are_crossed_and_a_level_can_set_several_keys() -> None:
    design = small(
        worlds={
            "statecraft": {
                "config": {"turns": 3},
                "factors": {
                    "sight": {"open": {}, "fog": {"observability": "fog", "seconds": 2.5}},
                    "constants.c_trade_factor": [2, 3],
                },
            }
        },
        lineups={"two": ["hawk", "trader"]},
        seeds=1,
        swap="none",
    )
    assert [(spec.factors["sight"], spec.config, spec.seconds) for spec in design.specs()] == [
        ("open", {"turns": 3, "constants": {"c_trade_factor": 2}}, None),
        ("open", {"turns": 3, "constants": {"c_trade_factor": 3}}, None),
        ("fog", {"turns": 3, "observability": "fog", "constants": {"c_trade_factor": 2}}, 2.5),
        ("fog", {"turns": 3, "observability": "fog", "constants": {"c_trade_factor": 3}}, 2.5),
    ]


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=5))
def test_a_rotation_puts_every_player_on_every_seat_equally_often(players: list[str]) -> None:
    orders = seatings(players, "rotate")
    for seat in range(len(players)):
        held = Counter(order[seat] for order in orders)
        assert {name: held[name] * len(players) for name in players} == {
            name: players.count(name) * len(orders) for name in players
        }
    assert len(seatings(players, "permute")) == len(set(map(tuple, seatings(players, "permute"))))
    assert seatings(players, "none") == [players]


def test_the_number_of_games_can_be_limited_for_each_line_up_and_condition() -> None:
    assert Counter(spec.config.get("stones") for spec in small(games=3).specs()) == {9: 3, 12: 3, None: 3}


def test_a_world_may_have_line_ups_and_limits_of_its_own() -> None:
    worlds = {"nim": {}, "small": {"world": "nim", "lineups": [["random", "random"]], "seeds": 1, "max_decisions": 5}}
    specs = small(worlds=worlds).specs()
    own = [spec for spec in specs if spec.setting == "small"]
    assert [(spec.names, spec.max_decisions, spec.world) for spec in own] == [(["random", "random"], 5, "nim")]
    assert len(specs) == 5


def test_a_written_design_is_read_back_unchanged_and_comments_are_ignored() -> None:
    design = small()
    assert parse_design(design.as_file()) == design
    assert small(_why="to see") == design
    assert parse_design(design.as_file()).as_file() == design.as_file()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lineups": [["master", "randon"]]}, r"^player 'randon': unknown brain 'randon'"),
        ({"lineups": []}, r"^lineups: there must be at least one"),
        ({"lineups": {"x\n": ["random", "random"]}}, r"^lineups: 'x\\n' must be"),
        ({"lineups": {"x": []}}, r"^lineups\.x: there must be at least one player"),
        (
            {"players": {"a vs b": "random"}, "lineups": [["a vs b", "a"], ["a", "b vs a"]]},
            r"^lineups: 'a vs b vs a' is there twice; give each line-up a title",
        ),
        ({"lineups": [["random"]]}, r"^worlds\.nim: nim takes 2 players; 'random' has 1"),
        ({"players": {"m": "gone.py:Mine"}, "lineups": [["m", "random"]]}, r"^player 'm': file not found"),
        ({"worlds": ["nimm"]}, r"^worlds\.nimm: unknown world 'nimm'"),
        ({"worlds": []}, r"^worlds: there must be at least one"),
        ({"worlds": {"nim": {"config": {"stone": 3}}}}, r"^worlds\.nim: config of nim: unknown argument 'stone'"),
        ({"worlds": {"nim": {"factors": {"stones": [3, "many"]}}}}, r"^worlds\.nim: config of nim: stones must be"),
        (
            {"worlds": {"nim": {"factors": {"stones": []}}}},
            r"^worlds\.nim\.factors\.stones: there must be at least one level",
        ),
        ({"worlds": {"nim": {"factors": {"stones": [3, 3]}}}}, r"^worlds\.nim\.factors\.stones: a level appears twice"),
        (
            {"worlds": {"heap": {"world": "nim"}, "nim": {"lineup": []}}},
            r"unknown field 'lineup' \(did you mean lineups\?\); worlds\.nim takes world, ",
        ),
        ({"worlds": {"heap": {"world": "nim"}, "nim": 3}}, r"^worlds\.nim must be an object, not 3"),
        ({"worlds": {"nim": {"swap": "x"}}}, r"^worlds\.nim\.swap must be one of .*, not 'x'"),
        ({"worlds": {"nim": {"lineups": [["random", "random"], []]}}}, r"^worlds\.nim\.lineups\[1\]: there must be"),
        ({"factors": {"stones": 12}}, r"^factors\.stones must be a list or an object, not 12"),
        ({"factors": {"stones": {"few": 3}}}, r"^factors\.stones\.few must be an object, not 3"),
        ({"players": {"p": "random", "q": 3}}, r"^players\.q must be text, not 3"),
        ({"lineups": [[]]}, r"^lineups\[0\]: there must be at least one player"),
        ({"lineups": {"a": ["random", 3]}}, r"^lineups\.a\[1\] must be text, not 3"),
        ({"seeds": []}, r"^seeds: there must be at least one"),
        ({"seeds": [1, 1]}, r"^seeds\[1\]: duplicate seed 1"),
        ({"seeds": 0}, r"^seeds: must be from 1"),
        ({"seed": 1}, r"^unknown key 'seed'; the keys are name, worlds, lineups, "),
        ({"folder": "/"}, r"^unknown key 'folder'"),
        (
            {"lineups": [["warlord", "random"]]},
            r"^worlds\.nim: warlord does not play nim; built-in players that do: nim-master",
        ),
        ({"swap": "never"}, r"^swap must be one of"),
        ({"swap": "permute", "lineups": [["random"] * 6]}, r"at most 5 players can be permuted"),
        ({"seconds": 0}, r"^seconds: must be above 0"),
        ({"max_failures": 1.5}, r"^max_failures: must be from 0 to 1"),
        ({"max_cost": 0}, r"^max_cost: must be above 0"),
        ({"max_decisions": 0}, r"^max_decisions: must be from 1"),
        ({"name": " "}, r"^name: "),
    ],
)
def test_a_mistake_is_reported_with_its_key(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgs, match=message):
        small(**change)


def test_a_key_that_is_nearly_one_is_suggested() -> None:
    with pytest.raises(BadArgs) as refusal:
        small(seed=1)
    assert refusal.value.did_you_mean == ["seeds"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"name": NaN}', '{"name": "a", "name": "b"}', b"\xff"])
def test_what_is_not_a_json_object_is_refused(text: str | bytes) -> None:
    with pytest.raises(BadArgs):
        parse_design(text)


def test_files_of_players_are_found_from_the_folder_of_the_design(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Mine:\n    quick = True\n    def decide(self, seen): return None\n")
    (tmp_path / "plan.json").write_text(json.dumps({**SMALL, "lineups": [["mine.py:Mine", "random"]]}))
    design = read_design(tmp_path / "plan.json")
    assert design.brain("mine.py:Mine") == f"{tmp_path}/mine.py:Mine"
    assert b"folder" not in design.as_file()
    with pytest.raises(BadArgs, match=r"^there is no file"):
        read_design(tmp_path / "gone.json")


def test_the_documentation_lists_every_key_of_a_design() -> None:
    page = (Path(__file__).parents[2] / "docs" / "lab.md").read_text(encoding="utf-8")
    keys = set(Design.__struct_fields__) - {"folder"}
    assert "seeds" in keys
    assert {key for key in keys if f"`{key}`" not in page} == set()
