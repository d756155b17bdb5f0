"""The bot for Whist: it plays from what a player sees, by a known rule, and better than at random."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.agents.brains.whist import WhistPlayer, choose_card, lead
from cohabit.model.action import Action
from cohabit.model.stream import Stream
from cohabit.registry import make_agent
from cohabit.world import Eye
from cohabit.worlds.whist.world import Whist

from .table import SEATS, commit, dealt, nonce_of, seat, whist


class OnlyStatus:
    """An observation of which only the status may be read."""

    def __init__(self, status: dict[str, Any]) -> None:
        self.status = status

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the bot looked at {name}")


def decide(bot: WhistPlayer, world: Whist, name: str) -> Action | None:
    return bot.decide(OnlyStatus(world.observe(Eye(name, "own")).status))


def act(world: Whist, name: str, action: Action) -> None:
    getattr(world, action.name)(seat(name), **action.parameters)


def play_game(world: Whist, bots: dict[str, WhistPlayer], others: Stream) -> int:
    """Play to the end; seats without a bot play at random. Returns the winning team."""
    while world.to_move():
        name = world.to_move()[0]
        chosen = decide(bots[name], world, name) if name in bots else others.choice(list(world.legal(seat(name))))
        act(world, name, chosen)
    return world.observe(Eye()).status["winner"]


def following(hand: str, table: str, trump: str = "S", seat: int = 3) -> str:
    """The card that the bot plays on this table. The cards on it were played in order by the seats before it."""
    cards = table.split()
    plays = [{"seat": (seat - len(cards) + i) % 4, "card": card} for i, card in enumerate(cards)]
    worth = [int(c[1:]) + (100 if c[0] == trump else 0 if c[0] == cards[0][0] else -100) for c in cards]
    winner = plays[worth.index(max(worth))]["seat"]
    held = hand.split()
    legal = [c for c in held if c[0] == cards[0][0]] or held
    return choose_card({"legal": legal, "trump": trump, "mySeat": seat, "trick": {"plays": plays, "winner": winner}})[0]


# -- the rule -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("hand", "trump", "card"),
    [
        ("S3 H14 H9 H2 C13 D10", "D", "H14"),  # the longest suit
        ("S5 S3 H14 H9 C13 D10", "D", "S5"),  # the first of equals
        ("S5 S3 H14 H9 C13 D14 D3 D2", "D", "S5"),  # not trumps, though they are longer …
        ("S5 S4 S3 H14 H9 C13", "S", "S5"),  # … unless they come first
        ("S3 H14 H9 C13", "S", "H14"),
    ],
)
def test_it_leads_the_highest_card_of_its_longest_suit(hand, trump, card):
    assert lead(hand.split(), trump)[0] == card


@pytest.mark.parametrize(
    ("hand", "table", "card"),
    [
        ("H14 H11 H3", "H2 H10 H4", "H3"),  # the partner is winning
        ("H14 H11 H3", "H10 H2 H4", "H11"),  # the cheapest card that wins
        ("H9 H5 H3", "H10 H2 H4", "H3"),  # it cannot win
        ("S3 S2 C14 C4", "H10 H2 H4", "S2"),  # a trump wins, the lowest is enough
        ("S3 S2 C14 C4", "S4 H2 S5", "S2"),  # trumps were led and it must follow, but cannot win
        ("S3 C14 D2", "H10 S4 H4", "D2"),  # the partner is winning: the lowest, and trumps are kept
        ("S3 C14 D4", "H10 S2 S4", "D4"),  # an overtrump is impossible: the lowest
        ("H7", "H10 H2 H4", "H7"),  # the only one
    ],
)
def test_it_wins_cheaply_or_gives_its_lowest_card(hand, table, card):
    assert following(hand, table) == card


def test_it_cuts_once_and_adds_nothing():
    world, bot = whist(), WhistPlayer("a room/robin")
    action = decide(bot, world, "north")
    assert (action.name, action.parameters) == ("cut", {})
    act(world, "north", action)
    assert decide(bot, world, "north") is None


def test_on_the_seat_of_a_player_who_committed_it_does_not_reveal_and_waits_for_nobody_elses_reveal():
    world, bot = whist(), WhistPlayer("a room/robin")
    for one in SEATS:
        commit(world, one)
    world.reveal(SEATS[1], nonce_of(world, SEATS[1]))
    assert decide(bot, world, "east") is None
    assert decide(bot, world, "north") == Action(
        "reveal", {}, "the nonce is known only to the player that committed to it"
    )


def test_it_does_nothing_when_it_is_not_its_turn_or_it_has_no_seat():
    world = dealt()
    assert decide(WhistPlayer(), world, "east") is None
    assert WhistPlayer().decide(OnlyStatus(world.observe(Eye()).status)) is None


# -- games --------------------------------------------------------------------------------------
@given(st.integers(0, 2**32))
def test_every_action_of_the_bot_is_legal_and_has_a_reason(seed):
    world = whist(seed, points=1)
    bots = {s.id: WhistPlayer(f"{seed}/{s.id}") for s in SEATS}
    while world.to_move():
        name = world.to_move()[0]
        action = decide(bots[name], world, name)
        assert action.reasoning
        act(world, name, action)  # refused: the test fails
    assert world.is_over()


def test_it_is_a_built_in_brain():
    assert isinstance(make_agent("whist", "test"), WhistPlayer)


@pytest.mark.parametrize("team", [("north", "south"), ("east", "west")])
def test_two_bots_beat_two_random_players_clearly_from_either_side(team):
    won = 0
    for seed in range(40):
        bots = {name: WhistPlayer(f"{seed}/{name}") for name in team}
        winner = play_game(whist(seed), bots, Stream(seed, "random players"))
        won += winner == (0 if "north" in team else 1)
    assert won >= 32
