"""Whole matches without a house: deterministic, one decision of each player per beat, with a record."""

from cohabit.registry import make_world
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.match import Match


def keepers(*brains: str | None) -> Scenario:
    agents = [
        AgentSpec(id=f"keeper-{i}", role="player", claim=f"auto:{i}", brain=brain) for i, brain in enumerate(brains)
    ]
    return Scenario(agents=agents, world="lanterns", partial_intel=True)


def test_members_with_a_brain_play_and_the_others_do_nothing() -> None:
    match = Match(keepers("lamplighter", None), seed=1, beat=5).run(60)
    assert match.tick == 60
    assert {line.entry.by for line in match.lines() if line.entry.by is not None} == {"keeper-0"}


def test_the_same_seed_gives_the_same_match_and_its_record_gives_it_again() -> None:
    one, other = (Match(keepers("lamplighter", "lamplighter"), seed=3, beat=5).run(100) for _ in range(2))
    assert one.room.digest() == other.room.digest()
    assert Room.replay(one.lines(), make_world).digest() == one.room.digest()


def test_a_match_stops_at_the_given_tick_and_calls_back_after_each_beat() -> None:
    seen: list[int] = []
    Match(keepers("lamplighter", None), seed=1, beat=50).run(120, lambda match: seen.append(match.tick))
    assert seen == [50, 100, 120]


def test_refusals_of_a_brain_are_kept_and_the_match_continues() -> None:
    agents = [AgentSpec(id="scribe", role="observer", brain="chronicler")]  # an observer may not write to everybody
    small = {"zones_x": 2, "zones_y": 2, "kingdoms": 1}
    match = Match(Scenario(agents=agents, world="kingdoms", config=small), seed=1, beat=300).run(900)
    assert match.tick == 900
    assert [line.split(": [")[0] for line in match.refused] == ["tick 600, scribe, send_message"]
