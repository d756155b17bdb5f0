"""Our worlds that hide something redraw it for an eye, and nothing that the eye sees. `cohabit check` compares the
rest; these tests are about what is redrawn, and about leaks that the check would find in these worlds."""

from pathlib import Path

import msgspec
import pytest

from cohabit.model.seat import ALL, PUBLIC, Eye, Seat
from cohabit.registry import make_world
from cohabit.testing import checker
from cohabit.testing.checker import check_here
from cohabit.world import Stream, World

HIDING = {
    "lanterns": {"ticks": 60},
    "statecraft": {"turns": 4, "mils": 3, "observability": "fog"},
    "planet": {"length": 40},
}


def seats_of(world: World, count: int) -> list[Seat]:
    names = world.spec.seat_names or [str(i + 1) for i in range(count)]
    return [Seat(name, name) for name in names[:count]]


def played(source: str, steps: int = 12) -> tuple[World, list[Seat]]:
    """A world in which something has happened."""
    world = make_world(source, HIDING[source])
    seats = seats_of(world, 3)
    world.reset(5, seats)
    draws = Stream(5, "moves")
    for _ in range(steps):
        for seat in seats:
            if seat.id in world.to_move() and (legal := world.legal(seat)):
                action = draws.choice(legal)
                getattr(world, action.name)(seat, **action.parameters)
        world.advance(2)
        if world.pace == "rounds" and not world.is_over():
            world.resolve()
        if world.is_over():
            break
    return world, seats


def copy_of(source: str, world: World) -> World:
    copy = make_world(source, HIDING[source])
    copy.restore(world.snapshot())
    return copy


def text(value: object) -> str:
    return msgspec.json.encode(value).decode()


@pytest.mark.parametrize("source", HIDING)
def test_an_eye_sees_the_same_in_a_redrawn_world_and_one_that_sees_all_does_not(source):
    world, seats = played(source, 2 if source == "statecraft" else 12)
    for eye in [PUBLIC, *(Eye(seat.id, "own") for seat in seats)]:
        everything = set()
        for number in range(4):
            copy = copy_of(source, world)
            copy.resample(eye, Stream(number, "test"))
            assert text(copy.observe(eye)) == text(world.observe(eye))
            everything.add(copy.snapshot())
        assert len(everything) == 4, eye


@pytest.mark.parametrize("source", HIDING)
def test_a_redrawn_world_can_be_copied_and_played_on(source):
    world, seats = played(source, 2 if source == "statecraft" else 12)
    copy = copy_of(source, world)
    copy.resample(Eye(seats[0].id, "own"), Stream(1, "test"))
    again = copy_of(source, copy)
    assert again.snapshot() == copy.snapshot()
    for seat in seats:
        for action in (again.legal(seat) or ())[:1]:
            getattr(again, action.name)(seat, **action.parameters)
    again.advance(5)
    if again.pace == "rounds":
        again.resolve()
    assert text(again.observe(ALL))


@pytest.mark.parametrize("source", HIDING)
def test_the_same_stream_draws_the_same_world(source):
    world, seats = played(source, 2 if source == "statecraft" else 12)
    copies = [copy_of(source, world) for _ in range(2)]
    for copy in copies:
        copy.resample(Eye(seats[1].id, "own"), Stream(9, "test"))
    assert copies[0].snapshot() == copies[1].snapshot()


def test_keepers_in_the_dark_are_where_they_can_have_walked():
    world, _seats = played("lanterns", 3)
    homes = world.island.corners()  # type: ignore[attr-defined]
    assert len(world.keepers) == 3  # type: ignore[attr-defined]
    for number in range(30):
        copy = copy_of("lanterns", world)
        copy.resample(PUBLIC, Stream(number, "test"))
        for home, keeper in zip(homes, copy.keepers.values(), strict=False):  # type: ignore[attr-defined]
            assert copy.island.far(home, keeper.at) <= copy.tick  # type: ignore[attr-defined]


def test_in_fog_the_armies_orders_and_messages_of_others_are_redrawn_and_what_they_told_a_nation_is_not():
    world = make_world("statecraft", HIDING["statecraft"])
    seats = seats_of(world, 3)
    one, two, three = (seat.id for seat in seats)
    world.reset(5, seats)
    for turn in range(2):
        for seat in seats:
            others = [name for name in (one, two, three) if name != seat.id]
            world.submit(  # type: ignore[attr-defined]
                seat, messages={
                    others[0]: f"secret {turn} {seat.id}", others[1]: f"whisper {turn} {seat.id}", "all": "hello",
                },
                history_summary=f"notes of {seat.id}", reasoning=f"reasons of {seat.id}",
                money_grants={others[1]: 1}, keeps_word_report={others[0]: 3},
            )  # fmt: skip
        world.resolve()
    world.submit(seats[1], reasoning="a plan of two")  # type: ignore[attr-defined]
    for number in range(5):
        copy = copy_of("statecraft", world)
        copy.resample(Eye(one, "own"), Stream(number, "test"))
        assert text(copy.observe(Eye(one, "own"))) == text(world.observe(Eye(one, "own")))
        assert text(copy.ledgers(Eye(one, "own"))) == text(world.ledgers(Eye(one, "own")))  # type: ignore[attr-defined]
        assert text(copy.ratings(Eye(one, "own"))) == text(world.ratings(Eye(one, "own")))  # type: ignore[attr-defined]
        kept = copy.snapshot().decode(errors="replace")
        for hidden in (f"notes of {two}", f"reasons of {three}", f"whisper 1 {three}", "a plan of two"):
            assert hidden not in kept
        assert f"secret 1 {two}" in kept  # it was sent to the first nation
        assert f"notes of {one}" in kept


def test_planets_that_a_player_has_never_seen_are_others():
    world, _seats = played("planet", 3)
    charts = set()
    for number in range(3):
        copy = copy_of("planet", world)
        copy.resample(Eye("1", "own"), Stream(number, "test"))
        charts.add("\n".join(copy.chart(ALL, "dune")))  # type: ignore[attr-defined]
        again = copy_of("planet", copy)
        assert again.chart(ALL, "dune") == copy.chart(ALL, "dune")  # type: ignore[attr-defined]
    charts.add("\n".join(world.chart(ALL, "dune")))  # type: ignore[attr-defined]
    assert len(charts) == 4


LEAKS = {
    "lanterns": (
        (
            "from cohabit.worlds.lanterns import *\n\n\nclass Leaky(Lanterns):\n"
            '    """A leak."""\n\n    def _visible_things(self, lit, me):\n'
            "        return super()._visible_things([True] * len(lit), me)\n"
        ),
        "observe() shows a spectator",
    ),
    "statecraft": (
        (
            "from cohabit.world import Standing\nfrom cohabit.worlds.statecraft.world import *\n"
            "from cohabit.worlds.statecraft.world import STATE_CLASSES\n\n\nclass Leaky(Statecraft):\n"
            '    """A leak."""\n\n    def standings(self):\n'
            "        return [Standing(n, n, self.state.welfare[n]) for n in self.order]\n"
        ),
        "standings() shows",
    ),
    "planet": (
        (
            "from cohabit.worlds.starbound.planet import Planet\n\n\nclass Leaky(Planet):\n"
            '    """A leak."""\n\n    def goals(self, seat):\n'
            "        from cohabit.model.observation import Goal\n\n"
            "        fuel = [b.fuel for b in self.game.bodies if b.seat != seat.id]\n"
            "        return [Goal('find', f'find {fuel}')]\n"
        ),
        "the view shows 1",
    ),
}


@pytest.mark.parametrize("source", LEAKS)
def test_the_check_finds_a_leak_in_our_world(source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checker, "CHECKS", {"secrets": checker.CHECKS["secrets"]})
    words, expected = LEAKS[source]
    file = tmp_path / "leaky.py"
    file.write_text(words)
    (found,) = check_here(f"{file}:Leaky", seeds=(1,), steps=8, config=HIDING[source]).findings
    assert found.ok is False, found.message
    assert expected in found.message, found.message
