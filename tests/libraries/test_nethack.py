"""NetHack and MiniHack."""

import re
import sys
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from cohabit import Eye, Seat
from cohabit.errors import BadArgs, UnknownAsset
from cohabit.model.seat import ALL
from cohabit.model.stream import Stream

if sys.platform != "linux" or sys.version_info >= (3, 14):
    pytest.skip("NLE has wheels for Linux and Python 3.11 to 3.13 only", allow_module_level=True)

from tests.libraries.survey import read_results, survey

from cohabit.registry import find_world, listed_games
from cohabit.testing.checker import check_here

ME = Seat("1", "Ann")
SCORE = "nethack:NetHackScore-v0"
CHALLENGE = "nethack:NetHackChallenge-v0"


def begun(source: str, seed: int = 5) -> Any:
    world = find_world(source)()
    world.reset(seed, [ME])
    return world


def keys(world: Any, number: int, seed: int = 1) -> list[str]:
    stream = Stream(seed, "keys")
    return [stream.choice(list(world.letters)) for _ in range(number)]


def press(world: Any, pressed: Sequence[str]) -> list[str]:
    """The screens after each key."""
    run = world.actions()[0].run
    shown = []
    for key in pressed:
        if world.to_move():
            run(ME, key=key)
            shown.append(world.observe(ALL).to_text())
    return shown


def test_the_nine_tasks_are_listed() -> None:
    assert len([name for name in listed_games("nethack") if name.startswith("nethack:NetHack")]) == 9


def test_a_task_passes_the_check() -> None:
    report = check_here(SCORE, seeds=(1,), steps=12)
    assert report.ok, report


def test_the_screen_begins_with_the_message_and_has_status_and_inventory() -> None:
    world = begun(SCORE)
    text = world.observe(Eye("1", "own")).to_text()
    assert text.startswith("Message: ")
    assert "Dlvl:1" in text
    assert "a - " in text
    assert world.observe(Eye()).status["hit_points"] > 0


@pytest.mark.soak  # MiniHack has to be built
def test_every_key_is_answered_also_if_the_game_says_nothing() -> None:
    world = begun("nethack:MiniHack-Room-5x5-v0")
    run = world.actions()[0].run
    told = [run(ME, key=key).message for key in ("southeast", "northwest", "east", "west") if world.to_move()]
    assert all(told)
    assert any(re.fullmatch(r"The cursor is now in row \d+, column \d+\.", each) for each in told)


def test_keys_have_names_and_others_are_refused() -> None:
    world = begun(SCORE)
    assert {"north", "far_north", "search", "kick", "down", "more"} <= set(world.letters)
    arguments = world.actions()[0].args
    assert msgspec.convert({"key": "far_north"}, arguments).key == "far_north"
    with pytest.raises(msgspec.ValidationError, match="Invalid enum value 'fly'"):
        msgspec.convert({"key": "fly"}, arguments)


def test_a_long_game_is_the_same_when_its_keys_are_pressed_again() -> None:
    world = begun(CHALLENGE, 2**127 + 1)
    assert len(press(world, keys(world, 600))) > 500
    other = find_world(CHALLENGE)()
    other.restore(world.snapshot())
    assert other.observe(ALL) == world.observe(ALL)
    more = keys(world, 50, seed=2)
    assert press(other, more) == press(world, more)


def test_two_games_in_one_process_do_not_disturb_each_other() -> None:
    alone = begun(SCORE, 7)
    pressed = keys(alone, 120)
    expected = press(alone, pressed)
    one, other = begun(SCORE, 7), begun(SCORE, 8)
    shown = []
    for key in pressed:
        shown += press(one, [key])
        press(other, [key])
    assert shown == expected
    assert other.observe(ALL) != one.observe(ALL)


def test_a_game_follows_from_its_seed_alone() -> None:
    assert begun(SCORE, 3).observe(ALL) == begun(SCORE, 3).observe(ALL)
    assert begun(SCORE, 3).observe(ALL) != begun(SCORE, 4).observe(ALL)


def test_wrong_names_and_parameters_are_refused() -> None:
    with pytest.raises(UnknownAsset, match="no game 'NetHackScor-v0'"):
        find_world("nethack:NetHackScor-v0")
    with pytest.raises(BadArgs, match="no parameter 'wizard'"):
        find_world("nethack:NetHackScore-v0(wizard=True)")


def test_the_hero_can_be_chosen() -> None:
    assert "Valkyrie" in begun('nethack:NetHackScore-v0(character="val-hum-fem-law")').observe(ALL).to_text()


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("source", read_results("nethack").games)
def test_games_are_as_the_table_says(source: str) -> None:
    if source not in listed_games("nethack"):
        pytest.skip("MiniHack is not installed")
    assert survey(source).without_counts() == read_results("nethack").games[source].without_counts()
