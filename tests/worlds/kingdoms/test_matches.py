"""Built-in kings play whole matches against each other, on small maps. `make soak` plays many more."""

from collections import Counter
from functools import cache

import pytest

from cohabit.registry import make_world
from cohabit.room.room import Room
from cohabit.scenario import read_scenario
from cohabit.testing.match import Match
from cohabit.worlds.kingdoms.world import Kingdoms

SEEDS = (5, pytest.param(8, marks=pytest.mark.soak))
TICKS = 20_000
SMALL = {"zones_x": 2, "zones_y": 2}
SCREEN, MOST_ALIKE = 20, 4
"""In so many lines of news the same one stands at most this often."""
FIRST_WAR = 60
"""Steps until the first war, at most: about 40 seconds between built-in players."""


@cache
def played(seed: int, first: str, second: str | None) -> Match:
    """A match of the preset `pvp` on a small map. The player None does nothing."""
    scenario = read_scenario("pvp")
    scenario.config = SMALL
    for agent, brain in zip(scenario.agents, (first, second), strict=True):
        agent.brain = brain
    return Match(scenario, seed).run(TICKS)


def left(match: Match) -> list[str | None]:
    """The members whose kingdoms are alive."""
    assert isinstance(match.room.world, Kingdoms)
    alive = [str(kingdom.id) for kingdom in match.room.world.sim.alive]
    return [member.id for member in match.room.state.members.values() if member.seat in alive]


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_a_match_of_two_kings_comes_to_an_end(seed: int) -> None:
    match = played(seed, "warlord", "steward")
    assert match.room.is_over()
    assert len(left(match)) == 1
    world, returns = match.room.world, match.room.state.returns
    assert isinstance(world, Kingdoms)
    begun = Room.replay(match.lines()[:1], make_world).world
    assert isinstance(begun, Kingdoms)
    people = {str(k.id): k.people if k.alive else 0 for k in world.sim.kingdoms.values() if k.claimed}
    assert {seat: returns[seat] for seat in people} == {
        seat: now - begun.sim.kingdoms[int(seat)].people for seat, now in people.items()
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_a_spectator_soon_sees_a_war_and_the_same_news_never_over_and_over(seed: int) -> None:
    match = played(seed, "warlord", "steward")
    news = [told.text for line in match.lines() for told in line.entry.told if told.kind != "reward"]
    for begin in range(len(news)):
        text, times = Counter(news[begin : begin + SCREEN]).most_common(1)[0]
        assert times <= MOST_ALIKE, text
    steps = [line.entry.do for line in match.lines() if line.entry.do in ("turn_advance", "declare_war")]
    assert steps.index("declare_war") <= 2 * FIRST_WAR
    assert news[-1].startswith("The match is over: ")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_king_beats_a_neighbour_who_does_nothing(seed: int) -> None:
    assert left(played(seed, "warlord", None)) == ["athena"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_match_replays_from_its_record(seed: int) -> None:
    match = played(seed, "warlord", "steward")
    again = Room.replay(match.lines(), make_world)
    assert (again.record.seq, again.digest()) == (match.room.record.seq, match.room.digest())


def test_kings_play_from_their_own_seats_and_are_rarely_refused() -> None:
    match = played(SEEDS[0], "warlord", "steward")
    acted = [line.entry for line in match.lines() if line.entry.by is not None]
    assert {entry.by for entry in acted} == {"athena", "ares"}
    assert {(entry.by, entry.via) for entry in acted} == {("athena", "warlord"), ("ares", "steward")}
    assert len(match.refused) * 10 <= len(acted)
