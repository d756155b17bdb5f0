"""The texts that members read: one naming, only what they can use, and what to do next."""

import re

import pytest

from cohabit.errors import UnknownAsset, UnknownCommand
from cohabit.faces.mcp.render import rendered
from cohabit.model.seat import Seat
from cohabit.model.tool_names import ToolNames
from cohabit.registry import make_world
from cohabit.room.room import Room
from cohabit.room.seeing.info import about_world
from cohabit.room.seeing.looking import END_TURN
from cohabit.room.seeing.view import MOVERS_SHOWN, seats_text
from cohabit.room.seeing.visibility import feed

from .making import AGENT, BLUE, GOD, HOST, OBSERVER, RED, entries, make_room


def names(room: Room, who: str) -> list[str]:
    return list(room.call(who, "rules", at=1).your_commands)


def test_a_view_says_who_plays_which_seat() -> None:
    room = make_room(RED, BLUE, AGENT, world="nim")
    for who in ("ann", "bot"):
        assert "Seats: first = ann, second = bob\nTo move: ann" in room.call(who, "view", at=1).text
    alone = make_room(RED, world="nim")
    assert "Seats: first = ann, second = nobody\n" in alone.call("ann", "view", at=1).text


def test_a_view_of_a_room_with_many_seats_does_not_list_them() -> None:
    room = make_room(RED, BLUE)
    assert seats_text(room.state, with_empty=True) == "Seats: red = ann, blue = bob\n"
    room.state.seats += [Seat(str(number)) for number in range(MOVERS_SHOWN)]
    assert seats_text(room.state, with_empty=True) == ""


def test_the_reply_to_an_action_says_whose_turn_it_is_now() -> None:
    room = make_room(RED, BLUE, world="nim", config={"stones": 4})
    taken = room.call("ann", "take", {"n": 1}, at=1)
    assert taken.to_move == ["bob"]
    assert rendered(taken, values=True).content[0].text.endswith("\n\nTo move: bob")
    won = room.call("bob", "take", {"n": 3}, at=2)
    assert won.to_move == []
    assert rendered(won, values=True).content[0].text.endswith("\n\nThe game is over.")


def test_the_reply_in_a_world_without_turns_names_nobody() -> None:
    room = make_room(RED, BLUE, world="lanterns")
    assert room.call("ann", "halt", at=1).to_move == []


def test_rules_list_the_actions_that_the_caller_may_use() -> None:
    room = make_room(RED, BLUE, GOD, AGENT, world="lanterns")
    keeper, god = (room.call(who, "rules", at=1).text for who in ("ann", "zeus"))
    assert "- storm [god]" in god
    assert "- storm [god]" not in keeper
    assert "- walk [move]" in keeper
    assert "Actions:\nYou can watch this room but not act in it." in room.call("bot", "rules", at=1).text


def test_the_other_commands_in_the_rules_are_no_actions() -> None:
    rules = make_room(RED, BLUE, world="nim").call("ann", "rules", at=1).text
    actions, _, others = rules.partition("Your other commands")
    assert "- take [" in actions
    assert "whoami" in others
    assert "take(" not in others


def test_a_choice_of_words_is_called_text_in_the_rules() -> None:
    rules = make_room({"id": "ann", "role": "player"}, world="planet").call("ann", "rules", at=1).text
    assert "direction (string, one of down | left | right | up, required)" in rules
    assert "(any" not in rules


def test_a_view_says_how_to_take_a_seat_in_a_world_that_opens_one_for_everybody() -> None:
    ann, owl = {"id": "ann", "role": "player"}, OBSERVER
    room = make_room(ann, owl, world="nexus")
    assert "You have no seat. `sit` opens one for you." in room.call("ann", "view", at=1).text
    assert "no seat" not in room.call("owl", "view", at=1).text, "it may not act"
    room.call("ann", "sit", at=2)
    assert "no seat" not in room.call("ann", "view", at=3).text


def test_a_title_is_written_once() -> None:
    assert make_room(RED, world="nim").call("ann", "rules", at=1).text.count("Nim") == 1


def test_the_view_in_kingdoms_names_the_tool_that_ends_the_turn_to_those_whose_turn_it_is() -> None:
    room = make_room(RED, GOD, world="kingdoms", step_ticks=10)
    ends = "`worldbox_turn_advance` ends your turn."
    assert ends in room.call("ann", "view", at=1).text
    room.call("ann", "turn_advance", at=2)
    assert ends in room.call("ann", "view", at=3).text, "the step is over, so it is her turn again"
    assert ends not in room.call("zeus", "view", at=4).text, "the step does not wait for him"
    assert "ends your turn" not in make_room(RED, world="nim").call("ann", "view", at=1).text


def test_turn_advance_is_offered_only_to_members_who_take_turns() -> None:
    assert "turn_advance" not in names(make_room(RED, GOD, world="nim"), "zeus")
    room = make_room(RED, BLUE, GOD, OBSERVER, turn_based=True, turn_order=["ann", "bob"])
    assert [who for who in ("ann", "zeus", "owl") if "turn_advance" in names(room, who)] == ["ann", "zeus"]


@pytest.mark.parametrize(
    ("world", "listed"), [("nim", ["Legal actions"]), ("lanterns", ["Examples of actions"]), ("statecraft", [])]
)
def test_a_view_says_whether_the_actions_that_it_lists_are_all_that_are_legal(world: str, listed: list[str]) -> None:
    room = make_room(RED, BLUE, world=world)
    seen = room.call("ann", "view", at=1)
    assert seen.observation.choices
    assert re.findall("^(Legal actions|Examples of actions): ", seen.text, re.MULTILINE) == listed


def test_only_a_player_of_a_world_that_lists_actions_has_a_move_that_is_made_if_it_does_not_answer() -> None:
    nim, secrets = make_room(RED, BLUE, HOST, world="nim"), make_room(RED, BLUE, HOST)
    found = [room.fallback(room.state.members[who]) for room in (nim, secrets) for who in ("ann", "hostess")]
    assert found[0] is not None
    assert found[0].name == "take"
    assert found[1:] == [None, None, None]


def test_a_view_names_the_move_that_is_made_for_a_player_only_to_the_one_whose_turn_it_is() -> None:
    room = make_room(RED, BLUE, HOST, world="nim", config={"stones": 1})
    mine, others = room.call("ann", "view", at=1), room.call("bob", "view", at=1)
    assert mine.fallback == {"action": "take", "params": {"n": 1}}
    assert others.fallback is None
    room.call("ann", "take", {"n": 1}, at=2)
    assert [room.call(who, "view", at=3).fallback for who in ("ann", "bob")] == [None, None]


@pytest.mark.parametrize("step_ticks", [0, 1, 2])
def test_a_player_is_told_to_end_its_turn_where_the_clock_waits_for_it_even_for_one_tick(step_ticks: int) -> None:
    room = make_room(RED, BLUE, world="Ticker", step_ticks=step_ticks)
    assert room.call("ann", "session_info", at=1).ends_turns is (step_ticks > 0)
    assert (END_TURN in room.call("ann", "view", at=1).text) is (step_ticks > 0)


def test_sit_is_offered_only_to_members_whose_place_is_not_bound_to_a_seat() -> None:
    room = make_room(RED, {"id": "fay", "role": "player"}, world="nim")
    assert [who for who in ("ann", "fay") if "sit" in names(room, who)] == ["fay"]
    assert [who for who in ("ann", "fay") if "stand_up" in names(room, who)] == []
    room.call("fay", "sit", at=1)
    assert [who for who in ("ann", "fay") if "stand_up" in names(room, who)] == ["fay"]


def test_a_member_who_may_only_watch_is_told_so_and_how_to_get_more() -> None:
    room = make_room(RED, BLUE, HOST, AGENT, world="nim")
    note = room.call("bot", "whoami", at=1).note
    assert note.startswith("You can watch this room but not act in it. To play, ask a host")
    assert room.call("bot", "view", at=1).text.endswith(f"\n{note}")
    for who in ("ann", "hostess"):
        assert room.call(who, "whoami", at=1).note == ""
    room.call("hostess", "revoke", {"member": "bot"}, at=2)
    assert room.call("bot", "whoami", at=3).note == ""  # it may not even watch


def test_similar_commands_are_suggested_only_if_the_caller_may_use_them() -> None:
    room = make_room(RED, HOST, AGENT, world="nim")
    for who, near in (("ann", ["take"]), ("hostess", [])):
        with pytest.raises(UnknownCommand) as unknown:
            room.call(who, "taek", at=1)
        assert unknown.value.did_you_mean == near


def test_similar_seats_are_suggested_only_if_they_are_free() -> None:
    room = make_room(RED, {"id": "dora", "role": "player"}, world="nim")
    with pytest.raises(UnknownAsset, match="choose one of: second") as unknown:
        room.call("dora", "sit", {"seat": "frist"}, at=1)
    assert unknown.value.did_you_mean == []


# -- events ---------------------------------------------------------------------------------------
def last_event(room: Room) -> str:
    return entries(room)[-1].told[-1].text


def test_events_about_permissions_name_them() -> None:
    room = make_room(RED, BLUE, HOST, AGENT)
    seen = []
    for name, args in (
        ("widen", {"member": "bot", "may": ["send_message", "watch"], "expires_in_s": 1}),
        ("narrow", {"member": "bot", "may": ["read_chat"]}),
        ("grant", {"member": "bot", "may": ["watch"], "expires_in_s": 60}),
    ):
        room.call("hostess", name, args, at=1)
        seen.append(last_event(room))
    assert seen == [
        "hostess granted watch, send_message to bot for 1 second",
        "hostess removed read_chat from bot",
        "hostess set bot's permissions to watch for 60 seconds",
    ]
    room.settle(61_000)
    assert last_event(room) == "bot's permissions have expired: watch"
    room.call("hostess", "clear_grant", {"member": "bot"}, at=62_000)
    room.call("hostess", "widen", {"member": "bot", "may": ["send_message"], "expires_in_s": 1}, at=62_000)
    room.settle(63_000)
    assert last_event(room) == "bot's temporary permissions have expired: send_message"


def test_events_about_tokens_are_sentences() -> None:
    room = make_room(RED, HOST)
    told = []
    for change, by in (("issued", None), ("replaced", "hostess"), ("revoked", "hostess"), ("replaced", "ann")):
        room.system("credential", {"member": "ann", "change": change, "by": by}, 1)
        told.append([t.text for t in entries(room)[-1].told])
    assert told == [
        ["a host of this house created a token for you", "a host of this house created a token for ann"],
        ["hostess replaced your token", "hostess replaced the token of ann"],
        ["hostess revoked your tokens", "hostess revoked the tokens of ann"],
        ["you replaced your token", "ann replaced the token of ann"],
    ]


def test_the_seats_in_a_view_follow_the_members() -> None:
    room = make_room(RED, {"id": "dora", "role": "player"}, world="nim")
    assert "Seats: first = ann, second = nobody\n" in room.call("ann", "view", at=1).text
    room.call("dora", "sit", at=2)
    assert "Seats: first = ann, second = dora\n" in room.call("ann", "view", at=3).text
    room.call("dora", "stand_up", at=4)
    assert "Seats: first = ann, second = nobody\n" in room.call("ann", "view", at=5).text


def test_where_time_runs_by_itself_nobody_is_said_to_be_to_move() -> None:
    assert "To move" not in make_room(world="Ticker").call("ann", "view", at=1).text
    assert "To move: ann, bob" in make_room(world="Ticker", step_ticks=5).call("ann", "view", at=1).text


def test_after_a_rematch_a_view_names_the_members_who_play_now() -> None:
    room = make_room(RED, {"id": "dora", "role": "player"}, HOST, world="nim")
    assert "Seats: first = ann, second = nobody\nTo move: ann" in room.call("ann", "view", at=1).text
    room.call("hostess", "rematch", at=2)
    assert "Seats: first = ann, second = nobody\nTo move: ann" in room.call("ann", "view", at=3).text
    room.call("dora", "sit", at=4)
    room.call("hostess", "rematch", at=5)
    assert "Seats: first = ann, second = dora\nTo move: ann" in room.call("ann", "view", at=6).text


def test_texts_name_the_commands_of_a_protocol_with_its_prefix_and_no_others() -> None:
    tools = ToolNames("box_", frozenset({"view"}))
    assert [tools.of(name) for name in ("view", "act")] == ["box_view", "act"]
    assert tools.in_text("`view` first, then `act`; a view") == "`box_view` first, then `act`; a view"


def test_the_actions_of_a_room_say_which_parameters_are_required() -> None:
    room = make_room(RED, BLUE)
    params = {name: room.commands.named(name).as_action().parameters[0].required for name in ("hide", "anything")}
    assert params == {"hide": True, "anything": False}
    kinds = {name: room.commands.named(name).as_action().parameters[0].type for name in ("hide", "shout", "weigh")}
    assert kinds == {"hide": "integer", "shout": "string", "weigh": "number"}
    (seed,) = room.commands.named("reset").as_action().parameters
    assert seed.type == "integer or string"


# -- what a member reads about what others do -------------------------------------------------------
def announced(room: Room, who: str) -> list[str]:
    """What this member is told from the beginning of the record on."""
    member = room.state.members[who]
    return [item.text for entry in entries(room) for item in feed(entry, member, room.eye(member))]


def test_members_read_who_takes_and_leaves_a_seat_who_joins_and_who_is_removed() -> None:
    room = make_room({"id": "fay", "role": "player"}, HOST, OBSERVER, world="nim")
    room.call("fay", "sit", {"seat": "second"}, at=1)
    room.call("fay", "stand_up", at=2)
    room.system("admitted", {"handle": "gil", "kind": "human", "identity": "gil", "name": "Gil", "role": "observer"}, 3)
    room.call("hostess", "remove_member", {"member": "gil"}, at=4)
    room.call("hostess", "archive", at=5)
    assert announced(room, "owl") == [
        "fay takes seat second", "fay leaves seat second", "gil joined as observer", "hostess removed gil",
        "hostess archived this room",
    ]  # fmt: skip


def test_members_read_who_has_changed_how_time_runs() -> None:
    room = make_room(RED, BLUE, HOST, OBSERVER, world="Ticker", pause_seconds=30)
    room.call("hostess", "pause", at=1)
    room.call("hostess", "resume", at=2)
    room.call("hostess", "set_speed", {"speed_id": "x5"}, at=3)
    room.call("ann", "pause", at=4)
    room.call("hostess", "remove_member", {"member": "ann"}, at=5)
    room.settle(30_005)
    assert announced(room, "owl") == [
        "hostess paused the game", "hostess resumed the game", "hostess set the speed to x5", "ann paused the game",
        "hostess removed ann", "ann paused and left; the game resumes",
    ]  # fmt: skip


def test_members_read_whose_turn_has_ended_and_by_whom() -> None:
    room = make_room(RED, BLUE, GOD, turn_based=True, turn_order=["ann", "bob"])
    room.call("ann", "turn_advance", at=1)
    room.call("zeus", "turn_advance", at=2)
    assert announced(room, "bob") == [
        "ann's turn is over; it is bob's turn", "bob's turn is over (ended by zeus); it is ann's turn",
    ]  # fmt: skip


@pytest.mark.parametrize(("hidden", "brain"), [(False, "random"), (True, "bot")])
def test_members_read_who_plays_a_seat_now(hidden: bool, brain: str) -> None:
    room = make_room({**RED, "stand_in": "random"}, BLUE, world="nim", stand_in_seconds=60, hide_brains=hidden)
    room.settle(60_000)
    room.call("ann", "take_over", at=61_000)
    room.system("presence", {"members": ["ann"], "here": True}, 61_500)
    room.call("ann", "hand_back", at=62_000)
    assert announced(room, "bob") == [
        f"{brain} stands in for ann", "ann takes over", "ann connected", f"ann hands the seat to {brain}",
    ]  # fmt: skip


def test_a_world_is_called_by_its_title_or_else_by_its_name() -> None:
    assert about_world(make_world("whist", {}))[0] == "Whist"
    assert about_world(make_room(RED, BLUE).world)[0] == "secrets"
