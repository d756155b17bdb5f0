"""Fair deals: all commit, then reveal, and anybody can check the result."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cohabit.fair import Luck, Proof, broken_promises, house_commitment, problems
from cohabit.world import Eye, GameRejected
from cohabit.worlds.whist.rules import DECK, deal
from cohabit.worlds.whist.world import Whist

from .table import SEATS, commit, cut_all, finished_game, nonce_of, whist

CHECKER = Path(__file__).parents[3] / "examples/whist/check_deals.py"
NORTH, EAST, SOUTH, WEST = SEATS


def shown(world: Whist) -> dict[str, Any]:
    status: dict[str, Any] = world.observe(Eye()).status
    return status


def hands_of(world: Whist) -> Any:
    return world.observe(Eye(sees="all")).status["hands"]


# -- the attack ---------------------------------------------------------------------------------
def test_from_the_moment_a_person_reveals_nothing_that_the_house_or_a_bot_sends_changes_the_deal():
    """The house knows the nonce of the person as soon as it is sent, and owns the other three seats."""
    world = whist()
    commit(world, NORTH)
    for bot in (EAST, SOUTH, WEST):
        world.cut(bot)
    promised = world.draw.promise
    copy = Whist()
    copy.restore(world.snapshot())
    for bot in (EAST, SOUTH, WEST):  # before the reveal …
        for act in (world.cut, world.reveal):
            for value in ("", "0" * 64, nonce_of(world, bot)):
                with pytest.raises(GameRejected):
                    act(bot, value)
    world.reveal(NORTH, nonce_of(world, NORTH))
    copy.reveal(NORTH, nonce_of(copy, NORTH))
    assert hands_of(world) == hands_of(copy)  # … and after it the cards are dealt at once
    assert broken_promises(world.draw.proof(), promised, 0, nonce_of(world, NORTH)) == []


def test_bots_and_late_players_add_nothing_that_could_be_chosen():
    """Whichever of them cuts first, and whether it cuts or its time is up, the cards are the same."""
    orders = [(NORTH, EAST, SOUTH, WEST), (WEST, SOUTH, EAST, NORTH)]
    dealt = []
    for order, late in [(order, late) for order in orders for late in (False, True)]:
        world = whist()
        for one in order:
            commit(world, one) if one is NORTH else world.skip(one) if late else world.cut(one)
        world.reveal(NORTH, nonce_of(world, NORTH))
        dealt.append(hands_of(world))
    assert dealt == [dealt[0]] * 4


def test_a_player_who_always_keeps_back_its_nonce_stops_one_deal_of_a_game_and_is_named():
    world = whist()
    for one in SEATS:
        commit(world, one)
    for one in (NORTH, EAST, SOUTH):
        world.reveal(one, nonce_of(world, one))
    void = world.draw
    told = [told.text for told in world.skip(WEST).told]
    assert told == [
        "The deal is void, because West did not reveal. Cut again; West can add nothing in the rest of this game"
    ]
    status = shown(world)
    assert (status["phase"], status["handNumber"], status["dealer"]) == ("cut", 1, 3)
    assert (status["deal"]["number"], status["deal"]["voids"]) == (2, 1)
    assert status["deal"]["missed"] == [False, False, False, True]
    assert status["deal"]["commitment"] != void.commitment
    assert "Void deals in this game: 1. Not revealed: West." in world.observe(Eye()).text
    before = world.snapshot()
    with pytest.raises(GameRejected, match="`cut` without a commitment"):
        commit(world, WEST)
    assert world.snapshot() == before
    finished_game(world=world)
    voids = [each for each in world.deals(Eye()) if each.missed]
    assert [(each.missed, each.proof.promise, each.hands) for each in voids] == [((3,), void.promise, None)]


def test_a_game_has_at_most_one_void_deal_for_each_seat():
    for seed in range(5):
        world = finished_game(seed, misses=90)
        deals = world.deals(Eye())
        gone = [missed for each in deals for missed in each.missed]
        assert gone
        assert len(gone) == len(set(gone))
        assert [each.proof.number for each in deals] == list(range(1, len(deals) + 1))
        assert [each.hand_number for each in deals if not each.missed] == list(
            range(1, 1 + sum(not each.missed for each in deals))
        )


def test_a_hand_that_follows_a_void_deal_is_dealt_by_the_same_dealer_with_the_same_number():
    world = whist()
    commit(world, NORTH)
    for one in (EAST, SOUTH, WEST):
        world.cut(one)
    world.reveal(NORTH)
    cut_all(world, EAST)
    assert (shown(world)["handNumber"], shown(world)["dealer"], world.draw.number) == (1, 3, 2)


def test_a_player_who_committed_and_is_replaced_by_a_bot_makes_the_deal_void_and_not_another_one():
    """The player who takes over the seat does not know the nonce, and cannot send another."""
    world = whist()
    for one in SEATS:
        commit(world, one)
    for other in ("0" * 64, nonce_of(world, EAST), nonce_of(world, NORTH, "other")):
        with pytest.raises(GameRejected, match="not the nonce that you committed to"):
            world.reveal(NORTH, other)
    assert [action.name for action in world.legal(NORTH)] == ["reveal"]


# -- cutting and revealing ----------------------------------------------------------------------
def test_the_house_commits_before_anybody_cuts_and_deals_when_all_have_revealed():
    world = whist()
    first = shown(world)
    assert (first["phase"], first["handCounts"], first["trumpCard"]) == ("cut", [0, 0, 0, 0], None)
    for number, one in enumerate(SEATS):
        assert world.to_move() == [s.id for s in SEATS[number:]]
        commit(world, one)
    assert shown(world)["phase"] == "reveal"
    for number, one in enumerate(SEATS):
        assert world.to_move() == [s.id for s in SEATS[number:]]
        world.reveal(one, nonce_of(world, one))
    last = shown(world)
    assert (last["phase"], last["handCounts"], last["turn"]) == ("playing", [13] * 4, 0)
    assert last["deal"]["commitment"] == first["deal"]["commitment"]
    assert None not in last["deal"]["commitments"]


def test_a_table_on_which_nobody_commits_deals_after_the_last_cut():
    world = whist()
    assert world.cut(NORTH).message == "You have cut and added nothing, so you trust the house with the shuffle."
    for one in SEATS[1:]:
        world.cut(one)
    assert shown(world)["phase"] == "playing"


def test_seats_cut_and_reveal_in_any_order_and_the_order_does_not_matter():
    one, other = whist(), whist()
    for world, order in ((one, (0, 1, 2, 3)), (other, (2, 0, 3, 1))):
        for number in order:
            commit(world, SEATS[number])
        for number in reversed(order):
            world.reveal(SEATS[number], nonce_of(world, SEATS[number]))
    assert one.snapshot() == other.snapshot()


@pytest.mark.parametrize("text", ["x" * 64, "0" * 63, "A" * 64, "a\nb"])
def test_a_commitment_or_nonce_of_another_form_is_refused_and_changes_nothing(text):
    world = whist()
    for one in SEATS[1:]:
        world.cut(one)
    before = world.snapshot()
    with pytest.raises(GameRejected, match="64 hexadecimal digits"):
        world.cut(NORTH, text)
    assert world.snapshot() == before
    commit(world, NORTH)
    before = world.snapshot()
    with pytest.raises(GameRejected, match="64 hexadecimal digits"):
        world.reveal(NORTH, text)
    assert world.snapshot() == before


def test_nobody_cuts_or_reveals_twice_or_after_the_deal_or_reveals_before_all_have_cut():
    world = whist()
    commit(world, NORTH)
    with pytest.raises(GameRejected, match="wait for the others"):
        commit(world, NORTH, "again")
    with pytest.raises(GameRejected, match="nothing to reveal now"):
        world.reveal(NORTH, nonce_of(world, NORTH))
    for one in SEATS[1:]:
        world.cut(one)
    with pytest.raises(GameRejected, match="nothing to reveal now"):
        world.reveal(EAST)
    with pytest.raises(GameRejected, match="you have cut"):
        world.cut(EAST)
    world.reveal(NORTH, nonce_of(world, NORTH))
    for late in (world.cut, world.reveal):
        with pytest.raises(GameRejected, match="the cards are dealt"):
            late(NORTH)


def test_a_player_who_runs_out_of_time_cuts_and_adds_nothing():
    world = whist()
    for one in SEATS:
        name = one.id.capitalize()
        assert world.skip(one).public == f"{name}'s time is up; {name} cuts"
    assert (world.draw.promise.commitments, shown(world)["phase"]) == ((None,) * 4, "playing")


def test_somebody_who_knows_the_secret_does_not_know_the_cards_without_the_nonces():
    """As after a reset: the same seed has the same secrets, and those of finished hands are public."""
    world = finished_game(seed=3)
    proof = world.deals(Eye())[0].proof
    world.reset(3, SEATS)
    assert shown(world)["deal"]["commitment"] == house_commitment(proof.game, 1, proof.secret)
    secret_nonces = [nonce_of(world, one, "only mine") for one in SEATS]
    cut_all(world, *SEATS, salt="only mine")
    for one in SEATS:
        seen = msgspec.json.encode([world.observe(Eye(one.id, "own")), world.deals(Eye())]).decode()
        assert not [nonce for nonce in secret_nonces if nonce in seen]


def test_the_nonce_of_one_seat_changes_everybodys_cards():
    hands = []
    for salt in ("one", "other"):
        world = whist()
        cut_all(world, WEST, salt=salt)
        hands.append(hands_of(world))
    assert [len(dealt) for dealt in hands] == [4, 4]
    assert all(one != other for one, other in zip(*hands, strict=True))


def test_the_cards_are_those_of_the_published_shuffle():
    world = whist()
    cut_all(world, NORTH)
    assert world.table.hands == deal(world.draw.luck().shuffled(DECK), 3).hands


# -- checking -----------------------------------------------------------------------------------
def check(deals: list[Any], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run that program, with nothing of ours to import."""
    (folder / "check.py").write_text(CHECKER.read_text())
    (folder / "deals.json").write_text(json.dumps(deals))
    command = [sys.executable, "-I", "check.py", "deals.json"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def deals_of_a_game(misses: int = 0) -> list[Any]:
    """As a client gets them."""
    return msgspec.json.decode(msgspec.json.encode(finished_game(seed=3, misses=misses).deals(Eye())))


def test_the_program_that_checks_deals_is_short():
    assert len([line for line in CHECKER.read_text().splitlines() if line.strip()]) <= 36


def test_the_program_of_the_documentation_and_the_library_confirm_every_deal_of_a_real_game(tmp_path):
    deals = deals_of_a_game()
    assert len(deals) > 1
    ran = check(deals, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count(": fair") == len(deals)
    assert [problems(each.proof) for each in finished_game(seed=3).deals(Eye())] == [[]] * len(deals)


def test_the_program_of_the_documentation_names_void_deals(tmp_path):
    deals = deals_of_a_game(misses=60)
    ran = check(deals, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count(": void") == sum(bool(each["missed"]) for each in deals) > 0


@pytest.mark.parametrize(
    "what",
    [
        "secret",
        "house",
        "nonce",
        "bot",
        "commitment",
        "hands",
        "trump card",
        "dealer",
        "number",
        "game",
        "hand",
        "void",
        "order",
        "fifth nonce",
        "void, and nobody missed",
        "void, and the seat passed",
        "void, by nobody at the table",
    ],
)
def test_the_program_of_the_documentation_refuses_a_deal_that_was_tampered_with(tmp_path, what):
    deals = deals_of_a_game()
    place = next(i for i, each in enumerate(deals) if 1 < len([c for c in each["proof"]["commitments"] if c]) < 4)
    tampered, proof, other = deals[place], deals[place]["proof"], deals[place - 1]["proof"]
    hands = tampered["hands"]
    committed = next(i for i, c in enumerate(proof["commitments"]) if c)
    passed = proof["commitments"].index(None)
    match what:
        case "secret":
            proof["secret"] = other["secret"]
        case "house":
            proof["commitment"] = other["commitment"]
        case "nonce":
            proof["nonces"][committed] = proof["nonces"][passed]
        case "bot":
            proof["nonces"][passed] = proof["nonces"][committed]
        case "commitment":
            proof["commitments"][committed] = None
        case "hands":
            hands[0][0], hands[1][0] = hands[1][0], hands[0][0]
        case "trump card":
            tampered["trumpCard"] = next(c for c in hands[tampered["dealer"]] if c != tampered["trumpCard"])
        case "dealer":
            tampered["dealer"] = (tampered["dealer"] + 1) % 4
        case "number":
            proof["number"] += 1
        case "game":
            proof["game"] += "x"
        case "hand":
            tampered["handNumber"] += 1
        case "order":
            deals.reverse()
        case "void":
            tampered["missed"], proof["nonces"][passed] = [passed], None
        case "fifth nonce":
            proof["nonces"].append("")
            deck = Luck(msgspec.convert(proof, Proof)).shuffled(DECK)
            eldest = (tampered["dealer"] + 1) % 4
            tampered["hands"] = [deck[(seat - eldest) % 4 :: 4] for seat in range(4)]
            tampered["trumpCard"] = deck[-1]
        case "void, and nobody missed":
            tampered["missed"] = [committed]
        case "void, and the seat passed":
            tampered["missed"] = [passed]
        case "void, by nobody at the table":
            tampered["missed"] = [4]
    if tampered["missed"]:
        deals = deals[: place + 1]
    ran = check(deals, tmp_path)
    assert ran.returncode != 0
    assert "NOT fair" in ran.stdout + ran.stderr


def test_the_program_of_the_documentation_refuses_a_seat_that_stops_a_second_deal(tmp_path):
    world = whist()
    for voids in (1, 2):
        world.missed = [False] * 4  # a house that lets everybody add a number again
        for one in SEATS:
            commit(world, one)
        for one in SEATS[1:]:
            world.reveal(one, nonce_of(world, one))
        world.reveal(NORTH)
        ran = check(msgspec.json.decode(msgspec.json.encode(world.deals(Eye()))), tmp_path)
        assert (ran.returncode == 0) == (voids == 1)


def test_deals_show_finished_hands_only_and_keep_what_was_promised():
    world = whist(seed=4)
    promised: dict[int, Any] = {}

    def look() -> None:
        status = shown(world)
        if status["phase"] != "gameOver":
            promised[status["deal"]["number"]] = world.draw.promise
        done = status["deal"]["number"] - (status["phase"] != "gameOver")
        assert len(world.deals(Eye())) == done

    finished_game(world=world, between=look, misses=20)
    assert {each.proof.number: each.proof.promise for each in world.deals(Eye())} == promised


def test_a_commitment_of_one_game_is_worth_nothing_in_another():
    world, other = whist(1), whist(2)
    assert world.game != other.game
    commit(world, NORTH)
    other.cut(NORTH, world.draw.commitments[0])
    for one in SEATS[1:]:
        other.cut(one)
    with pytest.raises(GameRejected, match="not the nonce that you committed to"):
        other.reveal(NORTH, nonce_of(world, NORTH))
