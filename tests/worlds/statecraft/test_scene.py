"""What the front end is given besides the view: nothing that its eye may not know, and not without end."""

import msgspec
import pytest

from cohabit.model.seat import PUBLIC, Eye, Seat
from cohabit.world import Stream
from cohabit.worlds.statecraft.past import MAX_PAST_TURNS
from cohabit.worlds.statecraft.world import Statecraft

ONE, TWO, THREE = NAMES = ("Arden", "Borland", "Corvia")


def played(turns: int = 3, **config) -> Statecraft:
    world = Statecraft(turns=turns + 1, mils=5, **config)
    world.reset(1, [Seat(name, name) for name in NAMES])
    for _ in range(turns):
        for giver, receiver in ((ONE, TWO), (TWO, THREE), (THREE, TWO)):
            pledge = f"pledge: no attack on {receiver}"
            world.submit(
                Seat(giver, giver), money_grants={receiver: 5}, attacks={receiver: 1}, messages={receiver: pledge}
            )
        world.resolve()
    return world


def text(value: object) -> str:
    return msgspec.json.encode(value).decode()


def test_the_scene_has_what_the_nations_had_and_did_in_each_turn():
    past = played().scene(PUBLIC)["past"]
    assert [turn["turn"] for turn in past] == [0, 1, 2]
    assert past[0]["granted"] == {ONE: 5, TWO: 5, THREE: 5}
    assert past[0]["welfare"][TWO] < past[2]["welfare"][TWO]


def test_a_promise_is_in_the_scene_of_those_who_got_it():
    world = played()
    assert world.scene(Eye(TWO, "own"))["past"][1]["promises"] == [
        (ONE, TWO, 0, False), (TWO, THREE, 0, False), (THREE, TWO, 0, False),
    ]  # fmt: skip
    assert world.scene(Eye(ONE, "own"))["past"][1]["promises"] == [(ONE, TWO, 0, False)]
    assert world.scene(PUBLIC)["past"][1]["promises"] == []


@pytest.mark.parametrize("observability", ["full", "own_army", "fog"])
def test_the_scene_of_an_eye_is_the_same_in_a_world_that_differs_in_what_it_may_not_know(observability):
    world = played(observability=observability)
    world.submit(Seat(TWO, TWO), reasoning="a plan", money_grants={THREE: 1})
    for eye in (PUBLIC, Eye(ONE, "own"), Eye(THREE, "own")):
        same, other = (Statecraft(turns=4, mils=5, observability=observability) for _ in range(2))
        for copy in (same, other):
            copy.restore(world.snapshot())
        other.resample(eye, Stream(3, "test"))
        assert text(other.scene(eye)) == text(same.scene(eye))
        assert other.snapshot() != same.snapshot()


def test_a_world_that_is_restored_knows_all_turns_and_keeps_those_that_follow():
    world, copy = played(), Statecraft(turns=4, mils=5)
    copy.restore(world.snapshot())
    assert copy.scene(PUBLIC)["past"] == world.scene(PUBLIC)["past"]
    copy.resolve()
    assert [turn["turn"] for turn in copy.scene(PUBLIC)["past"]] == [0, 1, 2, 3]


def test_a_nation_in_fog_sees_its_own_numbers_only():
    scene = played(observability="fog").scene(Eye(ONE, "own"))
    for table in ("welfare", "army", "granted", "attacked"):
        assert list(scene["past"][0][table]) == [ONE]
    assert scene["last"]["grants"] == {ONE: {TWO: 5}}


def test_only_a_nation_itself_has_its_orders_in_the_scene_as_they_are_understood():
    world = played()
    world.submit(Seat(ONE, ONE), answer='{"money_grants": {"borland": 4}, "purchase_mils": 0}')
    assert world.scene(Eye(ONE, "own"))["orders"] == {"money_grants": {TWO: 4}}
    assert world.scene(Eye(TWO, "own"))["orders"] is None
    assert world.scene(PUBLIC)["orders"] is None


def test_the_history_is_bounded():
    world = Statecraft(turns=MAX_PAST_TURNS + 10)
    world.reset(1, [Seat(name, name) for name in NAMES])
    for _ in range(MAX_PAST_TURNS + 5):
        world.resolve()
    past = world.scene(PUBLIC)["past"]
    assert (len(past), past[-1]["turn"]) == (MAX_PAST_TURNS, MAX_PAST_TURNS + 4)
