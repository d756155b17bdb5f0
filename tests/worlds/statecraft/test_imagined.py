"""Whatever nations order, write and rate: what a nation may know is the same in a redrawn game, at every level."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.model.seat import ALL, PUBLIC, Eye, Seat
from cohabit.registry import make_world
from cohabit.world import Stream, World

NATIONS = ("Arden", "Borland", "Corvia")
SEATS = [Seat(name, name) for name in NATIONS]
texts = st.sampled_from(["", "peace", "I will grant 3 to Arden next turn", "no attack on Borland", "a\nb"])
names = st.sampled_from(NATIONS)
orders = st.fixed_dictionaries(
    {},
    optional={
        "purchase_mils": st.integers(0, 9),
        "disband_mils": st.integers(0, 4),
        "attacks": st.dictionaries(names, st.integers(0, 9), max_size=2),
        "money_grants": st.dictionaries(names, st.integers(0, 9), max_size=2),
        "messages": st.dictionaries(st.sampled_from([*NATIONS, "all"]), texts, max_size=3),
        "history_summary": texts,
        "summary_last_turn": texts,
        "reasoning": texts,
        "keeps_word_report": st.dictionaries(names, st.integers(1, 10), max_size=2),
        "aggressor_report": st.dictionaries(names, st.integers(1, 10), max_size=2),
    },
)
turns = st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(NATIONS, orders)), max_size=4)
configs = st.fixed_dictionaries(
    {
        "observability": st.sampled_from(["full", "own_army", "fog"]),
        "open_messages": st.booleans(),
        "publish_ratings": st.booleans(),
        "mils": st.integers(0, 5),
        "turns": st.integers(2, 4),
    }
)


def got(world: World, eye: Eye) -> str:
    """Everything that an eye can get."""
    seat = next((s for s in SEATS if s.id == eye.seat), None)
    own = [] if seat is None else [world.legal(seat), world.returns()[seat.id], world.goals(seat)]
    shown = [world.observe(eye), world.observe_data(eye), world.standings(), world.to_move(), *own]
    asked = [world.ledgers(eye), world.ratings(eye), world.map(eye), world.legal_cessions(eye)]  # type: ignore[attr-defined]
    return msgspec.json.encode([shown, asked]).decode()


@settings(max_examples=examples(60), deadline=None)
@given(configs, turns, orders, st.integers(0, 99))
def test_what_a_nation_may_know_is_the_same_in_a_redrawn_game(config, played, last, number):
    world = make_world("statecraft", config)
    world.reset(3, SEATS)
    for answers in played:
        for seat in SEATS:
            if seat.id in answers and not world.is_over():
                world.submit(seat, **answers[seat.id], accept_drops=True)  # type: ignore[attr-defined]
        world.resolve()
    if not world.is_over():
        world.submit(SEATS[1], **last, accept_drops=True)  # type: ignore[attr-defined]
    for eye in [PUBLIC, ALL, *(Eye(name, "own") for name in NATIONS)]:
        copy = make_world("statecraft", config)
        copy.restore(world.snapshot())
        copy.resample(eye, Stream(number, "test"))
        assert got(copy, eye) == got(world, eye)
        again = make_world("statecraft", config)
        again.restore(copy.snapshot())
        assert got(again, eye) == got(world, eye)
        again.resolve()
