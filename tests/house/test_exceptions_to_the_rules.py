"""The commands that are exceptions to a rule, by name: an exception that nobody meant to make is found here."""

from collections.abc import Callable

import pytest

from cohabit.house.commands import every_command
from cohabit.room.commands import Command

EXCEPTIONS: dict[str, tuple[Callable[[Command], bool], set[str]]] = {
    "only for hosts of the house": (
        lambda command: command.host_only,
        {"allow_sign_in", "create_room", "data_of", "forget_identity", "house_egress", "issue_credential", "list_credentials",
         "revoke_credential", "rotate_credential"},
    ),
    "for callers who are not members yet": (
        lambda command: command.before_joining,
        {"capabilities", "introduction", "join", "schemas", "thumbnail"},
    ),
    "makes the caller a member": (lambda command: command.joins, {"join"}),
    "also in an archived room, although it changes something": (
        lambda command: command.when_archived,
        {"delete_room", "leave", "reopen_room", "revoke_invite", "revoke_token", "rotate_token", "unarchive", "withdraw"},
    ),
    "also in a room that could not be opened": (lambda command: command.when_broken, {"reopen_room"}),
    "controls the world and waits for no turn": (
        lambda command: command.acts and not command.needs_turn,
        {"archive", "delete_room", "rematch", "reopen_room", "reset", "set_turn_timer", "unarchive"},
    ),
    "changes who has access, so one at a time": (
        lambda command: command.exclusive,
        {"allow_sign_in", "issue_credential", "revoke_credential", "revoke_invite", "revoke_token", "rotate_credential", "rotate_token",
         "set_entry"},
    ),
    "a world may have its own": (
        lambda command: command.world_may_replace, {"list_saves", "load_world", "save_world", "say", "stance", "equip", "unequip", "check_inventory"},
    ),
    "leaves nothing on record": (
        lambda command: not command.records,
        {"agents", "app_schemas", "app_view", "audit", "avatars", "capabilities", "check_inventory", "data_of", "death", "decisions", "delayed_view", "egress", "entry", "events",
         "export_egress", "film", "front_end", "house_egress", "inspect_self", "introduction", "invites", "keys", "list_credentials", "list_saves", "list_speeds", "lobby", "my_data", "next_view", "objective_status",
         "observe", "permissions", "picture", "recv_messages", "reports", "requests", "rooms", "roster", "rules", "scene", "schemas", "session_info",
         "thumbnail", "view", "view_notes",
         "wait_for_turn", "whoami", "worlds"},
    ),
    "not told to models": (lambda command: not command.for_model, {"act_in_app", "decisions", "film", "forget_me", "front_end", "keys", "my_data", "next_view", "scene", "thumbnail", "view_notes"}),
    "the front end of a world may call it": (
        lambda command: command.for_front_end, {"front_end", "keys", "next_view", "picture", "scene", "view", "wait_for_turn"},
    ),
    "clients show the front end beside its result": (
        lambda command: command.shows_world, {"act", "view", "wait_for_turn"},
    ),
    "in the short list of tools": (
        lambda command: command.listed,
        {"act", "create_room", "delayed_view", "events", "jack_in", "join", "recv_messages", "respawn", "rooms", "rules", "send_message",
         "sit", "spectate", "turn_advance", "view", "wait_for_turn", "worlds"},
    ),
    "in that list where nobody plays": (lambda command: command.for_talk, {"observe", "say"}),
    "in that list only where somebody plays": (
        lambda command: command.for_play, {"events", "recv_messages", "send_message", "view", "wait_for_turn"},
    ),
    "only for those who have a seat, or who see everything": (
        lambda command: command.needs_seat or command.sees_all, set(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("exception", EXCEPTIONS)
def test_the_exceptions_to_a_rule_are_those_that_are_meant(exception: str) -> None:
    applies, meant = EXCEPTIONS[exception]
    assert {c.name for where, c in every_command() if where in ("house", "room") and applies(c)} == meant


def test_every_command_of_the_house_the_room_and_each_world_is_in_the_reference() -> None:
    found = [(where, command.name) for where, command in every_command()]
    assert len(found) == len(set(found))
    assert {("house", "invite"), ("room", "view"), ("nim", "take"), ("tictactoe", "mark")} <= set(found)
