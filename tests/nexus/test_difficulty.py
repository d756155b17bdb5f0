"""How hard a game is: which difficulty really holds, and what it does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.travel import scaled
from cohabit.nexus.packages import damage_for

from .games import Journeys
from .making import agent


@pytest.mark.parametrize(
    ("difficulty", "skills", "factor"),
    [
        ("easy", {}, 0.5),
        ("normal", {}, 1.0),
        ("hard", {}, 1.5),
        ("adaptive", {}, 0.5),
        ("adaptive", {"combat": 0.4, "survival": 0.6}, 1.0),
        ("adaptive", {"combat": 1.0, "survival": 1.0, "social": 1.0}, 1.5),
    ],
)
def test_each_difficulty_has_a_factor_and_adaptive_follows_combat_and_survival(
    difficulty: str, skills: dict[str, float], factor: float
) -> None:
    assert damage_for(difficulty, agent(skills=skills)) == factor  # type: ignore[arg-type]


@given(st.integers(1, 1000), st.floats(0.5, 1.5))
def test_scaled_damage_lies_between_the_usual_one_and_the_exact_one_and_hurts(damage: int, factor: float) -> None:
    found = scaled(damage, factor)
    assert found >= 1
    assert min(damage, damage * factor) - 1e-6 <= found <= max(damage, damage * factor) + 1e-6
    assert scaled(damage, 1.0) == damage


def test_easy_halves_rounded_up_and_hard_adds_half_rounded_down() -> None:
    assert [scaled(n, 0.5) for n in (1, 2, 7)] == [1, 1, 4]
    assert [scaled(n, 1.5) for n in (1, 2, 7)] == [1, 3, 10]


async def test_the_reply_says_which_difficulty_holds_and_the_body_has_it_through_the_whole_visit() -> None:
    world = await Journeys({"camp": "crafter_shared", "caves": Journeys().games["caves"]}).begin()
    entered = await world("ann", "nexus", "enter_game", game_id="camp", difficulty="hard")
    assert (entered.data["difficulty"], entered.data["damage"]) == ("hard", 1.5)
    assert "Difficulty: hard (1.5 times the damage from creatures and hazards)." in entered.message
    camp = world.room("camp").world
    assert camp.game.land.damage == {0: 1.5}  # type: ignore[attr-defined]
    await world("ann", "camp", "jack_out")
    await world("ann", "camp", "jack_in")
    assert camp.game.land.damage == {0: 1.5}  # type: ignore[attr-defined]
    await world("ann", "camp", "exit_game")
    await world("ann", "nexus", "enter_game", game_id="camp")
    assert camp.game.land.damage == {0: 1.0}  # type: ignore[attr-defined]
    await world("ann", "camp", "exit_game")
    entered = await world("ann", "nexus", "enter_game", game_id="caves", difficulty="easy")
    assert (entered.data["difficulty"], entered.data["damage"]) == ("normal", 1.0)
    assert "This game has one difficulty for everybody, so easy has no effect." in entered.message
    await world.close()
