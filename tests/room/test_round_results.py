"""In a world of rounds an action happens when the round ends. Then its player, and nobody else, learns what came of it."""

import pytest
from msgspec import to_builtins

from cohabit.faces.mcp.render import text_of
from cohabit.model.action import ActionResult
from cohabit.model.observation import LAST_ACTION, LastAction
from cohabit.registry import make_world
from cohabit.room.room import Room
from cohabit.worlds.starbound.quests import QUEST

from .making import HOST, make_room, player

ANN, BOB = player("ann", 0), player("bob", 1)
GUEST = {"id": "gus", "kind": "human", "role": "observer"}
IMPOSSIBLE = {"planet": ("craft", {"item": "furnace"}), "crafter_shared": ("make_wood_pickaxe", {})}
REASON = {"planet": "furnace needs 10 stone; you have 0 stone.", "crafter_shared": "there is no table within one cell."}
HARMLESS = {"planet": "wait", "crafter_shared": "noop"}
WORLDS = list(IMPOSSIBLE)


def open_room(world: str) -> Room:
    return make_room(ANN, BOB, HOST, GUEST, world=world)


def choose(room: Room, who: str, action: str, at: int, args: object = None) -> ActionResult:
    result = room.call(who, action, args or {}, at=at)
    assert isinstance(result, ActionResult)
    return result


def last_of(room: Room, who: str, at: int = 50) -> LastAction | None:
    seen = room.call(who, "view", {}, at=at).observation
    assert seen is not None
    found: LastAction | None = seen.last_action
    return found


@pytest.mark.parametrize("world", WORLDS)
def test_a_choice_is_pending_until_the_round_ends_and_then_its_failure_is_in_the_next_view(world: str) -> None:
    room = open_room(world)
    name, args = IMPOSSIBLE[world]
    chosen = choose(room, "ann", name, 1, args)
    assert chosen.pending
    assert chosen.message.endswith(
        "This happens when the round ends; it waits for 1 player. `wait_for_turn` waits for the end of the round."
    )
    assert last_of(room, "ann", 2) is None
    other = choose(room, "bob", HARMLESS[world], 3)
    assert (other.pending, other.success) == (False, True)
    last = last_of(room, "ann", 4)
    assert last is not None
    assert (last.name, last.success) == (name, False)
    assert last.message.endswith(REASON[world])
    text = room.call("ann", "view", {}, at=5).text
    assert f"{LAST_ACTION}:\n{name} failed" in text
    assert text.count(last.message) == 1
    turned = LastAction("move_left", True, "You turned, and water is in the way.")
    assert [turned.to_text(turned.message), turned.to_text()] == ["move_left", f"move_left: {turned.message}"]


@pytest.mark.parametrize("world", WORLDS)
def test_the_choice_that_ends_a_round_is_answered_with_what_came_of_it(world: str) -> None:
    room = open_room(world)
    choose(room, "bob", HARMLESS[world], 1)
    name, args = IMPOSSIBLE[world]
    done = choose(room, "ann", name, 2, args)
    assert (done.success, done.pending) == (False, False)
    assert done.message.endswith(REASON[world])
    assert done.observation is not None
    assert done.observation.last_action == last_of(room, "ann")
    assert [text_of(done, to_builtins(done)).count(REASON[world]), done.to_text().count(REASON[world])] == [1, 1]


@pytest.mark.parametrize("world", WORLDS)
def test_the_result_of_the_round_before_is_not_taken_for_that_of_a_pending_choice(world: str) -> None:
    room = open_room(world)
    name, args = IMPOSSIBLE[world]
    choose(room, "ann", name, 1, args)
    choose(room, "bob", HARMLESS[world], 2)
    assert last_of(room, "ann", 3) is not None
    again = choose(room, "ann", name, 4, args)
    assert again.pending
    assert again.observation is not None
    assert again.observation.last_action is None
    text = room.call("ann", "view", {}, at=5).text
    assert (LAST_ACTION in text, REASON[world] in text, REASON[world] in again.to_text()) == (False, False, False)
    choose(room, "bob", HARMLESS[world], 6)
    assert last_of(room, "ann", 7) is not None


@pytest.mark.parametrize("world", WORLDS)
def test_a_round_that_ends_by_its_time_limit_reports_to_those_who_chose_and_not_to_the_others(world: str) -> None:
    room = make_room(ANN, BOB, HOST, world=world, turn_seconds=10)
    name, args = IMPOSSIBLE[world]
    choose(room, "ann", name, 1, args)
    room.settle(10_001)
    last = last_of(room, "ann", 10_002)
    assert last is not None
    assert not last.success
    assert last_of(room, "bob", 10_002) is None


@pytest.mark.parametrize("world", WORLDS)
def test_only_its_player_sees_what_came_of_an_action(world: str) -> None:
    room = open_room(world)
    name, args = IMPOSSIBLE[world]
    choose(room, "ann", name, 1, args)
    choose(room, "bob", HARMLESS[world], 2)
    own = last_of(room, "ann")
    assert own is not None
    for who in ("bob", "gus", "hostess"):
        shown = str(to_builtins(room.call(who, "view", {}, at=60)))
        assert own.message not in shown
    assert all(own.message not in told.text for line in room.record.tail for told in line.entry.told)


@pytest.mark.parametrize("world", WORLDS)
def test_the_next_player_of_a_seat_is_not_told_what_the_one_before_did(world: str) -> None:
    room = open_room(world)
    name, args = IMPOSSIBLE[world]
    choose(room, "ann", name, 1, args)
    choose(room, "bob", HARMLESS[world], 2)
    seat = room.state.members["ann"].seat
    assert seat is not None
    assert room.last_action(seat) is not None
    room.call("hostess", "remove_member", {"member": "ann"}, at=3)
    assert room.last_action(seat) is None


@pytest.mark.parametrize("world", WORLDS)
def test_another_game_begins_without_results(world: str) -> None:
    room = open_room(world)
    choose(room, "ann", HARMLESS[world], 1)
    choose(room, "bob", HARMLESS[world], 2)
    assert last_of(room, "ann") is not None
    room.call("hostess", "reset", {}, at=60)
    assert last_of(room, "ann", 61) is None


@pytest.mark.parametrize("world", WORLDS)
def test_results_are_the_same_after_a_replay_and_after_a_restart(world: str) -> None:
    room = open_room(world)
    name, args = IMPOSSIBLE[world]
    choose(room, "ann", name, 1, args)
    choose(room, "bob", HARMLESS[world], 2)
    again = Room.replay(room.record.tail, make_world)
    restored = Room.restore(room.snapshot(), [], make_world)
    assert again.digest() == restored.digest() == room.digest()
    assert last_of(again, "ann") == last_of(restored, "ann") == last_of(room, "ann")
    assert last_of(room, "ann") is not None


@pytest.mark.parametrize("world", WORLDS)
def test_a_repeated_call_with_a_key_gets_the_reply_of_the_first(world: str) -> None:
    room = open_room(world)
    name, args = IMPOSSIBLE[world]
    first = room.call("ann", name, args, at=1, key="k", look=False)
    again = room.call("ann", name, args, at=2, key="k", look=False)
    assert first == again
    assert again.pending


def test_a_choice_that_is_changed_is_reported_as_the_last_one() -> None:
    room = open_room("planet")
    choose(room, "ann", "craft", 1, {"item": "furnace"})
    choose(room, "ann", "wait", 2)
    choose(room, "bob", "wait", 3)
    last = last_of(room, "ann")
    assert last is not None
    assert (last.name, last.success) == ("wait", True)


def test_an_action_that_takes_no_time_is_not_pending() -> None:
    room = open_room("planet")
    assert not choose(room, "ann", "track_quest", 1, {"quest_id": next(iter(QUEST))}).pending


def test_a_room_whose_record_names_no_results_answers_as_before() -> None:
    features = [name for name in open_room("planet").state.features if name != "round_results"]
    first = open_room("planet").record.tail[0].entry.args["state"]
    room = Room.open({**first, "features": features}, make_world("planet", {}), 0)
    reply = choose(room, "ann", "craft", 1, {"item": "furnace"})
    assert (reply.pending, reply.message) == (False, "You chose craft.")
    choose(room, "bob", "wait", 2)
    assert last_of(room, "ann") is None


def test_statecraft_says_which_orders_could_not_be_carried_out() -> None:
    room = make_room(ANN, BOB, HOST, world="statecraft")
    orders = {"purchase_mils": 1_000_000, "accept_drops": True}
    assert choose(room, "ann", "submit", 1, orders).pending
    choose(room, "bob", "submit", 2)
    last, other = last_of(room, "ann"), last_of(room, "bob")
    assert last is not None
    assert other is not None
    assert (last.name, last.success, other.success) == ("submit", False, True)
    assert last.message.startswith("You ordered 1000000 mils; your money was enough for ")


@pytest.mark.parametrize("world", WORLDS)
def test_a_view_of_what_has_changed_has_the_last_action_also_if_it_failed_in_the_same_way_again(world: str) -> None:
    room = open_room(world)
    name, args = IMPOSSIBLE[world]
    for at in (10, 20, 30):
        before = room.call("ann", "view", {}, at=at).id
        choose(room, "ann", name, at + 1, args)
        choose(room, "bob", HARMLESS[world], at + 2)
        changed = room.call("ann", "view", {"since": before}, at=at + 3)
        assert f"{name} failed" in changed.text
        assert changed.text.count(REASON[world]) == 1
        assert REASON[world] in changed.text


def test_a_member_that_acts_blindly_is_not_told_what_came_of_it() -> None:
    room = open_room("planet")
    room.call("hostess", "narrow", {"member": "ann", "may": ["read_own", "read_all"]}, at=1)
    assert choose(room, "ann", "craft", 2, {"item": "furnace"}) == ActionResult(True, "Done.", pending=True)
    choose(room, "bob", "wait", 3)
    choose(room, "bob", "wait", 4)
    assert "Furnace" not in choose(room, "ann", "craft", 5, {"item": "furnace"}).message


def test_who_chooses_the_same_again_is_not_told_that_it_is_instead_of_itself() -> None:
    room = open_room("crafter_shared")
    who = next(m.id for m in room.state.members.values() if room.is_turn_of(m))
    said = [room.call(who, name, at=at).message for at, name in enumerate(("noop", "noop", "do"), 1)]
    assert "instead" not in said[1]
    assert "You chose do instead of noop" in said[2]
    Room.replay(room.record.tail, make_world)
