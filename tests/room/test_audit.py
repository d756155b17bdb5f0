"""The refused calls of a room: repeats are counted, those that differ are not one, and no line has a secret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import GameCrash, UnknownAsset, UnknownCommand
from cohabit.house.access.codes import make_code
from cohabit.house.access.signing import InviteBody, SigningKey
from cohabit.house.store.identities import make_token
from cohabit.model.refusals import (
    FURTHER,
    LINES_OF_NEWCOMERS,
    LINES_PER_MEMBER,
    MOST_CALLERS,
    NEWCOMER,
    REFUSALS_KEPT,
    Audit,
)  # fmt: skip

from .making import BLUE, HOST, RED, make_room


def test_the_same_refusal_within_a_minute_is_one_line_with_a_count() -> None:
    audit = Audit()
    for at in (1000, 1001, 60_999, 61_000):
        audit.refused(at, "ann", "finish", "PERMISSION_DENIED", "no")
    audit.refused(61_000, "bob", "finish", "PERMISSION_DENIED", "no")
    assert [(line.at, line.member, line.count) for line in audit.kept] == [
        (1000, "ann", 3), (61_000, "ann", 1), (61_000, "bob", 1),
    ]  # fmt: skip
    assert len({line.id for line in audit.kept}) == 3
    assert audit.totals == {"PERMISSION_DENIED": 5}


def test_the_oldest_line_makes_room_for_the_newest_and_counting_starts_again() -> None:
    audit = Audit()
    for number in range(REFUSALS_KEPT + 1):
        audit.refused(1, f"m{number}", f"c{number}", "BAD_ARGS", "no")
    assert [line.command for line in audit.kept] == [f"c{number}" for number in range(1, REFUSALS_KEPT + 1)]
    audit.refused(2, "m0", "c0", "BAD_ARGS", "no")
    assert (audit.kept[-1].command, audit.kept[-1].count, len(audit.kept)) == ("c0", 1, REFUSALS_KEPT)


def test_each_changed_line_is_handed_to_the_store_once_with_its_count_so_far() -> None:
    audit = Audit()
    audit.refused(1, "ann", "a", "BAD_ARGS", "no")
    audit.refused(2, "ann", "a", "BAD_ARGS", "no")
    assert [(line.command, line.count) for line in audit.drain()] == [("a", 2)]
    assert audit.drain() == []
    audit.refused(3, "ann", "a", "BAD_ARGS", "no")
    assert [(line.command, line.count) for line in audit.drain()] == [("a", 3)]


def test_after_loading_stored_lines_new_ones_do_not_replace_them() -> None:
    before, after = Audit(), Audit()
    before.refused(1, "ann", "a", "BAD_ARGS", "no")
    before.refused(1, "ann", "b", "BAD_ARGS", "no")
    after.load(before.drain())
    after.refused(2, "ann", "c", "BAD_ARGS", "no")
    assert [line.command for line in after.kept] == ["a", "b", "c"]
    assert len({line.id for line in after.kept}) == 3


def test_refusals_that_differ_in_anything_are_lines_of_their_own() -> None:
    audit = Audit()
    calls = [
        ("ann", "grant", "PERMISSION_DENIED", "you lack manage_members"),
        ("ann", "grant", "PERMISSION_DENIED", "you lack read_all"),
        ("ann", "grant", "BAD_ARGS", "you lack read_all"),
        ("ann", "revoke", "BAD_ARGS", "you lack read_all"),
        ("bob", "revoke", "BAD_ARGS", "you lack read_all"),
    ]
    for call in calls * 2:
        audit.refused(1, *call)
    assert [(line.member, line.command, line.code, line.reason, line.count) for line in audit.kept] == [
        (*call, 2) for call in calls
    ]


def test_two_refusals_of_one_command_are_told_apart_by_what_was_wrong() -> None:
    room = make_room(RED, BLUE, HOST)
    for member in ("nobody", "no-one", "nobody"):
        with pytest.raises(UnknownAsset):
            room.call("hostess", "revoke", {"member": member}, at=1)
    assert [(line.reason, line.count) for line in room.audit.kept] == [
        ("unknown member 'nobody'", 2), ("unknown member 'no-one'", 1),
    ]  # fmt: skip


def test_strangers_share_few_lines_whatever_they_send() -> None:
    audit = Audit()
    for number in range(500):
        audit.refused(1, NEWCOMER, "join", "BAD_ARGS", f"name: {number}", "noisy")
    audit.refused(1, NEWCOMER, "join", "BAD_ARGS", "name: 0", "other")
    assert len(audit.kept) == LINES_OF_NEWCOMERS + 2
    told, other = audit.kept[-2:]
    assert (told.caller, told.command, told.reason, told.count) == ("noisy", "join", FURTHER, 500 - LINES_OF_NEWCOMERS)
    assert (other.caller, other.reason, other.count) == ("other", "name: 0", 1)
    for number in range(1_000):
        audit.refused(1, NEWCOMER, "join", "BAD_ARGS", "name: 0", f"address {number}")
    assert len(audit.kept) <= LINES_OF_NEWCOMERS + 2 + MOST_CALLERS
    assert sum(line.count for line in audit.kept) == 1_501


INVITES = SigningKey.generate()


@given(st.data())
def test_no_line_has_a_token_an_invite_or_a_code_wherever_it_was_sent(data: st.DataObject) -> None:
    secret = data.draw(st.sampled_from([make_token(), make_code(), INVITES.sign(InviteBody(name="eve", room="den"))]))
    before, after = data.draw(st.text("ab '\"{}:,=\n", max_size=9)), data.draw(st.text("ab '\"{}:,=\n", max_size=9))
    audit = Audit()
    audit.refused(1, "ann", "grant", "BAD_ARGS", f"{before} {secret} {after}")
    (line,) = audit.kept
    assert not any(part in line.reason for part in (secret, *secret.split(".")))
    assert "(hidden)" in line.reason


MISTYPED = {
    "as it is": lambda code: code,
    "without hyphens": lambda code: code.replace("-", "") if any(c.isdigit() for c in code) else code,
    "with spaces": lambda code: code.replace("-", " "),
    "with underscores": lambda code: code.replace("-", "_"),
    "one character is missing": lambda code: code[1:],
    "one character too many": lambda code: code + code[-1],
    "two are exchanged": lambda code: code[1] + code[0] + code[2:],
}
PARTS = ["SX6-VW7", "SX6-VW7-", "SX6-VW7-B", "sx6-vw7", "VW7-BSS", "SX6VW7", "SXK-VWT", "X6-VW7"]


@pytest.mark.parametrize("part", PARTS)
def test_no_line_has_a_part_of_a_code_that_was_copied(part: str) -> None:
    audit = Audit()
    audit.refused(1, "ann", "?", "UNKNOWN_COMMAND", f"unknown command {part!r}")
    assert audit.kept[0].reason == "unknown command '(hidden)'"


def test_the_names_of_commands_in_our_own_texts_are_shown() -> None:
    names = [command.name for command in make_room(RED, BLUE, HOST).commands]
    audit, text = Audit(), " ".join(f"see `{name}`" for name in (*names, "requests", "messages"))
    audit.refused(1, "ann", "?", "UNKNOWN_COMMAND", text)
    assert audit.kept[0].reason == text


def test_a_long_name_of_words_is_readable() -> None:
    name = "Maximiliana-Wolfeschlegelsteinhausenbergerdorff-the-Third"
    audit = Audit()
    audit.refused(1, "ann", "grant", "BAD_ARGS", f"{name} has left, and -{name}-{make_token()}")
    assert audit.kept[0].reason == f"{name} has left, and (hidden)"


@given(st.sampled_from(sorted(MISTYPED)), st.booleans(), st.sampled_from("'\"`"))
def test_no_line_has_a_code_that_was_mistyped(how: str, is_lower: bool, quote: str) -> None:
    typed = MISTYPED[how](make_code())
    typed = typed.lower() if is_lower else typed
    audit = Audit()
    audit.refused(1, "ann", "?", "UNKNOWN_COMMAND", f"unknown command {quote}{typed}{quote}; see `rules`")
    assert audit.kept[0].reason == f"unknown command {quote}(hidden){quote}; see `rules`"


@pytest.mark.parametrize(
    "word", ["northwest", "granary", "knights", "bob-2", "seat-2", "gpt-4o", "send_message", "the castle"]
)
def test_words_that_are_no_codes_are_shown(word: str) -> None:
    audit = Audit()
    audit.refused(1, "ann", "build", "UNKNOWN_ASSET", f"unknown asset {word!r}")
    assert audit.kept[0].reason == f"unknown asset {word!r}"


SECRETS = {"token": make_token(), "code": make_code(), "invite": INVITES.sign(InviteBody(name="eve", room="den"))}


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("revoke", {"member": "SECRET"}),
        ("widen", {"member": "SECRET", "may": ["act"]}),
        ("admit", {"knock": "SECRET"}),
        ("SECRET", {}),
    ],
)
def test_a_secret_that_was_sent_as_an_argument_is_not_in_the_audit(
    kind: str, command: str, args: dict[str, object]
) -> None:
    room, secret = make_room(RED, BLUE, HOST), SECRETS[kind]
    given = {name: secret if value == "SECRET" else value for name, value in args.items()}
    with pytest.raises((UnknownAsset, UnknownCommand)) as refused:
        room.call("hostess", command.replace("SECRET", secret), given, at=1)
    assert secret[:11] in refused.value.message, "its sender is told"
    (line,) = room.audit.kept
    assert secret[:11] not in line.reason + line.command


@pytest.mark.parametrize("name", ["move", "view"])
def test_a_call_in_which_the_world_fails_is_in_the_audit_once(name: str) -> None:
    room = make_room(RED, BLUE, HOST, world="Moody", config={"fails_in": "observe"})
    if name == "view":
        vars(room.world)["moves"] = 1
    with pytest.raises(GameCrash):
        room.call("ann", name, {}, at=1)
    assert [(line.member, line.command, line.code, line.count) for line in room.audit.kept] == [
        ("ann", name, "GAME_CRASH", 1)
    ]


@pytest.mark.parametrize("name", ["break_down", "trouble"])
def test_an_action_or_a_query_that_raises_is_in_the_audit_once(name: str) -> None:
    room = make_room(RED, BLUE, HOST)
    with pytest.raises(GameCrash):
        room.call("ann", name, {}, at=1)
    assert [(line.member, line.command, line.code) for line in room.audit.kept] == [("ann", name, "GAME_CRASH")]


def test_a_member_with_too_many_refusals_in_one_minute_has_lines_of_its_own_again_in_the_next() -> None:
    audit = Audit()
    for number in range(LINES_PER_MEMBER + 1):
        audit.refused(59_999, "eve", "c", "BAD_ARGS", f"no {number}")
    assert audit.kept[-1].reason == FURTHER
    audit.refused(60_000, "eve", "c", "BAD_ARGS", "another")
    assert (audit.kept[-1].reason, audit.kept[-1].count) == ("another", 1)


def test_a_member_with_many_different_refusals_shares_lines_and_dropped_lines_are_still_recorded() -> None:
    audit = Audit()
    audit.refused(1, "eve", "grant", "PERMISSION_DENIED", "no")
    for number in range(LINES_PER_MEMBER + 99):
        audit.refused(2, "eve", "view", "BAD_ARGS", f"no {number}")
    assert len(audit.kept) == LINES_PER_MEMBER + 1
    assert (audit.kept[-1].command, audit.kept[-1].reason, audit.kept[-1].count) == ("view", FURTHER, 100)
    for number in range(REFUSALS_KEPT):
        audit.refused(3, f"m{number}", "c", "BAD_ARGS", "no")
    assert all(line.member != "eve" for line in audit.kept)
    assert next(line.command for line in audit.unrecorded(0)) == "grant"
    audit.recorded(LINES_PER_MEMBER + 1)
    assert audit.evicted == []


def test_no_noise_of_a_member_hides_which_other_commands_were_refused_to_it() -> None:
    audit = Audit()
    for number in range(10_000):
        audit.refused(1, "eve", "view", "BAD_ARGS", f"no {number}")
    for victim in ("ann", "bob"):
        audit.refused(2, "eve", "rotate_token", "PERMISSION_DENIED", f"{victim} is not yours")
    assert len(audit.kept) == LINES_PER_MEMBER + 2
    last = audit.kept[-1]
    assert (last.member, last.command, last.code, last.count) == ("eve", "rotate_token", "PERMISSION_DENIED", 2)
