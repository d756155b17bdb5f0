"""Seats that open and close, and which member gets which."""

from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, CohabitError, Conflict, GameRejected, PermissionDenied, UnknownAsset
from cohabit.features.messages import INBOX
from cohabit.room.decide import offers
from cohabit.room.play import games, seats

from .making import AGENT, BLUE, GOD, HOST, PERSON, RED, make_room, player, replayed, saved

FREE = {"id": "fay", "role": "player"}
ROBIN = player("robin", 1, brain="random", gives_way=True)


def seat(room: Any, who: str) -> str | None:
    found: str | None = room.call(who, "whoami", at=room.record.at).seat
    return found


def sees(room: Any, who: str) -> Any:
    status = msgspec.to_builtins(room.call(who, "view", at=room.record.at))["observation"]["status"]
    return status.get("seat"), status["sees"]


def test_a_player_whose_seat_is_closed_is_told_so_and_not_to_sit() -> None:
    room = make_room(RED, BLUE, GOD, world="Realms", partial_intel=True)
    room.call("zeus", "rise", {"name": "avalon"}, at=1)
    assert "closed" not in room.call("ann", "view", at=1).text
    room.call("zeus", "fall", {"name": "avalon"}, at=2)
    told = "seat avalon is closed. It opens again in the next game, if not before."
    assert f"You are out: {told}" in room.call("ann", "view", at=2).text
    assert "closed" not in room.call("bob", "view", at=2).text  # its seat has never been open
    with pytest.raises(
        PermissionDenied, match=r"ann is out: seat avalon is closed, and cannot pray\. It opens again"
    ) as no:
        room.call("ann", "pray", at=2)
    assert "sit" not in no.value.message
    room.call("zeus", "rise", {"name": "avalon"}, at=3)
    assert "closed" not in room.call("ann", "view", at=3).text
    assert room.call("ann", "pray", at=3).success


def test_auto_n_binds_when_the_nth_seat_opens_and_not_before() -> None:
    room = make_room(RED, BLUE, GOD, world="Realms", partial_intel=True)
    assert (seat(room, "ann"), seat(room, "bob")) == (None, None)
    room.call("zeus", "rise", {"name": "avalon"}, at=1)
    assert (seat(room, "ann"), seat(room, "bob")) == ("avalon", None)
    room.call("zeus", "rise", {"name": "burgundy"}, at=2)
    assert (seat(room, "ann"), seat(room, "bob")) == ("avalon", "burgundy")


def test_id_x_binds_when_the_seat_x_opens() -> None:
    room = make_room({"id": "cy", "role": "player", "claim": "id:cornwall"}, GOD, world="Realms")
    room.call("zeus", "rise", {"name": "avalon"}, at=1)
    assert seat(room, "cy") is None
    room.call("zeus", "rise", {"name": "cornwall"}, at=2)
    assert seat(room, "cy") == "cornwall"


def test_a_player_that_waits_for_its_seat_sees_what_is_public_and_no_more() -> None:
    room = make_room(RED, FREE, GOD, world="Realms", partial_intel=True)
    assert sees(room, "ann") == sees(room, "fay") == (None, "public")
    assert [room.call(who, "whoami", at=0).takes_turns for who in ("ann", "fay")] == [True, False]
    room.call("zeus", "rise", {"name": "avalon"}, at=1)
    assert sees(room, "ann") == ("avalon", "own")
    assert sees(room, "fay") == (None, "public")


def test_a_seat_that_its_player_leaves_for_another_one_goes_to_the_member_that_claims_it() -> None:
    room = make_room(FREE, HOST, world="nim")
    first, second = (each.id for each in room.state.seats)
    room.call("fay", "sit", {"seat": first}, at=1)
    room.call("hostess", "add_member", {"id": "cy", "role": "player", "claim": "auto:0"}, at=2)
    assert seat(room, "cy") is None
    room.call("fay", "sit", {"seat": second}, at=3)
    assert (seat(room, "fay"), seat(room, "cy")) == (second, first)


def test_a_member_with_a_claim_is_told_what_its_place_is_bound_to() -> None:
    room = make_room(RED, GOD, world="Realms")
    for name in ("sit", "stand_up"):
        with pytest.raises(PermissionDenied, match="bound to the claim auto:0;"):
            room.call("ann", name, at=1)
    room.call("zeus", "rise", {"name": "avalon"}, at=2)
    for name in ("sit", "stand_up"):
        with pytest.raises(PermissionDenied, match="bound to seat avalon;"):
            room.call("ann", name, at=3)


def test_a_world_that_names_no_seats_any_more_keeps_those_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    room = make_room(RED, GOD, world="Realms")
    room.call("zeus", "rise", {"name": "north"}, at=1)
    monkeypatch.setattr(type(room.world), "seats_now", lambda world: None)
    room.call("zeus", "rise", {"name": "south"}, at=2)
    assert [seat.id for seat in room.state.seats] == ["north"]
    assert room.state.members["ann"].seat == "north"


def test_the_death_of_a_realm_moves_nobody_into_another() -> None:
    room = make_room(RED, BLUE, GOD, world="Realms", partial_intel=True)
    for name in ("avalon", "burgundy"):
        room.call("zeus", "rise", {"name": name}, at=1)
    room.call("zeus", "fall", {"name": "avalon"}, at=2)
    room.call("zeus", "rise", {"name": "camelot"}, at=3)
    assert seat(room, "bob") == "burgundy"
    assert seat(room, "ann") == "avalon"
    assert sees(room, "ann") == (None, "public")
    assert replayed(room).digest() == room.digest()


@pytest.mark.parametrize(("name", "args"), [("build", {}), ("build", {"where": "burgundy"}), ("pray", {})])
def test_a_player_whose_realm_is_gone_can_do_nothing(name: str, args: dict[str, str]) -> None:
    room = make_room(RED, BLUE, GOD, world="Realms")
    for realm in ("avalon", "burgundy"):
        room.call("zeus", "rise", {"name": realm}, at=1)
    room.call("ann", "build", {"where": "avalon"}, at=1)
    room.call("zeus", "fall", {"name": "avalon"}, at=2)
    before = room.digest()
    with pytest.raises(PermissionDenied):
        room.call("ann", name, args, at=3)
    assert room.digest() == before


def test_a_god_needs_no_seat_for_what_can_be_done_without_one() -> None:
    room = make_room(RED, GOD, world="Realms")
    room.call("zeus", "build", {"where": "anywhere"}, at=1)
    with pytest.raises(PermissionDenied):
        room.call("zeus", "pray", at=1)


def test_a_reset_binds_claims_again() -> None:
    room = make_room(RED, BLUE, GOD, world="Realms")
    room.call("zeus", "rise", {"name": "avalon"}, at=1)
    room.call("zeus", "reset", at=2)
    assert seat(room, "ann") is None
    room.call("zeus", "rise", {"name": "new"}, at=3)
    assert seat(room, "ann") is None, "the same seed is the same game, in which it has played another seat"
    room.call("zeus", "rise", {"name": "avalon"}, at=3)
    assert seat(room, "ann") == "avalon"
    room.call("zeus", "rematch", at=4)
    room.call("zeus", "rise", {"name": "new"}, at=5)
    assert seat(room, "ann") == "new"


def test_two_claims_on_one_seat_are_refused_and_an_older_room_gives_it_to_the_first() -> None:
    with pytest.raises(BadArgs, match="'id:red' and 'auto:0' of agents\\[0\\] are the same seat, red"):
        make_room(RED, {"id": "cy", "role": "player", "claim": "id:red"})
    room = make_room(RED, {"id": "cy", "role": "player", "claim": "auto:1"}, HOST)
    room.state.members["cy"].claim = "id:red"
    room.call("hostess", "rematch", at=1)
    assert (seat(room, "ann"), seat(room, "cy")) == ("red", None)


@pytest.mark.parametrize(("claim", "code"), [("auto:4", "BAD_ARGS"), ("id:pink", "BAD_ARGS"), ("id:red", "CONFLICT")])
def test_a_new_member_cannot_claim_a_seat_that_never_comes_or_is_claimed(claim: str, code: str) -> None:
    room = make_room(RED, HOST)
    with pytest.raises(CohabitError) as refused:
        room.call("hostess", "add_member", {"id": "cy", "role": "player", "claim": claim}, at=1)
    assert refused.value.code == code
    assert room.call("hostess", "add_member", {"id": "cy", "role": "player", "claim": "auto:3"}, at=2).seat is None


# -- taking and leaving -----------------------------------------------------------------------------
def test_a_free_seat_can_be_taken_and_left() -> None:
    room = make_room(RED, FREE)
    room.call("fay", "sit", {"seat": "blue"}, at=1)
    assert seat(room, "fay") == "blue"
    room.call("fay", "stand_up", at=2)
    assert seat(room, "fay") is None


def test_a_member_without_a_seat_cannot_stand_up() -> None:
    room = make_room(RED, FREE)
    with pytest.raises(GameRejected, match="you have no seat"):
        room.call("fay", "stand_up", at=1)


def test_where_every_seat_is_taken_nobody_else_can_sit_down_and_is_told_to_wait_for_one() -> None:
    room = make_room(RED, BLUE, FREE, world="nim")
    with pytest.raises(Conflict, match="every seat is taken; call `sit` again when one is free, or ask a host for one"):
        room.call("fay", "sit", at=1)
    with pytest.raises(PermissionDenied, match=r"fay has none\. Call `sit` when one is free, or ask a host for one"):
        room.call("fay", "take", {"n": 1}, at=1)
    assert seat(room, "fay") is None


def test_a_player_whose_seat_is_closed_takes_no_other_before_the_next_game() -> None:
    room = make_room(FREE, GOD, world="Realms", partial_intel=True)
    for name in ("avalon", "burgundy"):
        room.call("zeus", "rise", {"name": name}, at=1)
    room.call("fay", "sit", {"seat": "avalon"}, at=2)
    room.call("zeus", "fall", {"name": "avalon"}, at=3)
    with pytest.raises(GameRejected, match="closed"):
        room.call("fay", "sit", at=4)


def test_a_taken_seat_is_a_conflict_and_an_unknown_one_gets_near_names() -> None:
    room = make_room(RED, FREE, PERSON)
    with pytest.raises(Conflict) as taken:
        room.call("fay", "sit", {"seat": "red"}, at=1)
    assert "ann" in taken.value.message
    with pytest.raises(UnknownAsset) as unknown:
        room.call("fay", "sit", {"seat": "blu"}, at=1)
    assert unknown.value.did_you_mean[0] == "blue"


def test_a_credential_that_claims_a_seat_keeps_it_and_takes_no_other() -> None:
    room = make_room(RED, FREE)
    with pytest.raises(PermissionDenied):
        room.call("ann", "sit", {"seat": "blue"}, at=1)
    with pytest.raises(PermissionDenied):
        room.call("ann", "stand_up", at=1)


def test_watchers_take_no_seat() -> None:
    room = make_room(RED, AGENT)
    with pytest.raises(PermissionDenied):
        room.call("bot", "sit", {"seat": "blue"}, at=1)


@pytest.mark.parametrize("leaving", ["stand_up", "remove_member"])
def test_a_claim_that_waited_for_a_taken_seat_gets_it_when_it_is_left(leaving: str) -> None:
    room = make_room(RED, FREE, HOST)
    room.call("fay", "sit", {"seat": "blue"}, at=1)
    made = room.call("hostess", "add_member", {"id": "late", "role": "player", "claim": "auto:1"}, at=2)
    assert made.seat is None
    if leaving == "stand_up":
        room.call("fay", "stand_up", at=3)
    else:
        room.call("hostess", "remove_member", {"member": "fay"}, at=3)
    assert seat(room, "late") == "blue"


def test_a_removed_member_loses_its_seat_its_turn_and_its_messages() -> None:
    room = make_room(RED, BLUE, HOST, turn_based=True, turn_order=["ann", "bob", "hostess"])
    room.call("bob", "send_message", {"to": "ann", "content": "x"}, at=1)
    room.call("hostess", "remove_member", {"member": "ann"}, at=2)
    info = msgspec.to_builtins(room.call("bob", "session_info", at=3))
    assert [m["handle"] for m in info["members"]] == ["bob", "hostess"]
    assert (info["turn_order"], info["current_turn"]) == (["bob", "hostess"], "bob")
    room.call("hostess", "add_member", {"id": "ann"}, at=4)
    assert not INBOX.is_kept(room.state.require_member("ann"))
    assert replayed(room).digest() == room.digest()


def test_when_the_last_member_of_the_turn_order_is_removed_the_order_begins_anew() -> None:
    room = make_room(RED, BLUE, HOST, turn_based=True, turn_order=["bob", "ann"])
    for at, name in enumerate(("ann", "bob"), 2):
        room.call("hostess", "remove_member", {"member": name}, at=at)
    assert (room.state.turn_order, room.state.turn_index) == ([], 0)
    assert room.call("hostess", "session_info", at=4).current_turn is None


def test_as_many_seats_open_as_there_are_players_within_what_the_world_takes() -> None:
    assert len(make_room(RED).state.seats) == 2
    assert len(make_room(*(player(f"p{i}", i) for i in range(3))).state.seats) == 3
    assert len(make_room(*(player(f"p{i}", i) for i in range(4))).state.seats) == 4


# -- one seat per game, where a world hides things ----------------------------------------------------
def secret_of(room: Any, who: str) -> Any:
    return room.call(who, "numbers", at=room.record.at)


def room_with_secrets() -> Any:
    """Two seats with a secret each, left by players that are gone."""
    room = make_room(RED, BLUE, FREE, HOST, GOD, partial_intel=True)
    room.call("ann", "hide", {"n": 41}, at=1)
    room.call("bob", "hide", {"n": 42}, at=1)
    for name in ("ann", "bob"):
        room.call("hostess", "remove_member", {"member": name}, at=2)
    return room


def test_a_player_cannot_read_one_seat_after_another() -> None:
    room = room_with_secrets()
    room.call("fay", "sit", {"seat": "red"}, at=3)
    assert secret_of(room, "fay") == {"red": [41]}
    room.call("fay", "stand_up", at=4)
    before = room.digest()
    with pytest.raises(GameRejected, match="you have already played seat red in this game"):
        room.call("fay", "sit", {"seat": "blue"}, at=5)
    assert room.digest() == before
    assert secret_of(room, "fay") == {}


def test_a_player_cannot_change_seats_without_standing_up_either() -> None:
    room = room_with_secrets()
    room.call("fay", "sit", {"seat": "red"}, at=3)
    with pytest.raises(GameRejected):
        room.call("fay", "sit", {"seat": "blue"}, at=4)
    assert seat(room, "fay") == "red"


def test_a_player_can_return_to_its_seat_with_and_without_naming_it() -> None:
    room = room_with_secrets()
    for args in ({"seat": "red"}, {}, {"seat": "red"}):
        room.call("fay", "sit", args, at=3)
        assert seat(room, "fay") == "red"
        room.call("fay", "stand_up", at=4)
    assert replayed(room).digest() == room.digest()


def test_a_stand_in_and_a_return_are_no_change_of_seat() -> None:
    room = make_room(RED, {**FREE, "stand_in": "random"}, world="nim", stand_in_seconds=5)
    room.call("fay", "sit", {"seat": "second"}, at=1)
    room.settle(10_000)
    assert room.state.members["fay"].played_by_bot
    room.system("presence", {"members": ["fay"], "here": True}, 11_000)
    assert seat(room, "fay") == "second"


@pytest.mark.parametrize(
    ("command", "args", "allowed"), [("rematch", {}, True), ("reset", {"seed": 99}, True), ("reset", {}, False)]
)
def test_another_seat_can_be_taken_in_the_next_game_unless_it_has_the_same_secrets(
    command: str, args: dict[str, int], allowed: bool
) -> None:
    room = room_with_secrets()
    room.call("fay", "sit", {"seat": "red"}, at=3)
    room.call("fay", "stand_up", at=4)
    room.call("zeus", command, args, at=5)
    if allowed:
        assert room.call("fay", "sit", {"seat": "blue"}, at=6).seat == "blue"
    else:
        with pytest.raises(GameRejected):
            room.call("fay", "sit", {"seat": "blue"}, at=6)


def test_who_played_what_is_remembered_for_the_newest_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "MAX_GAMES_REMEMBERED", 2)
    state = make_room(RED, BLUE, HOST).state
    for game in ("one", "two", "three", "four"):
        games.switch_game(state, game)
        state.played = {"ann": game}
    assert list(state.played_before) == ["two", "three"]
    games.switch_game(state, "three")
    assert state.played == {"ann": "three"}
    games.switch_game(state, "two")
    assert state.played == {}


def test_a_member_that_keeps_its_seat_over_a_rematch_plays_that_one() -> None:
    room = room_with_secrets()
    room.call("fay", "sit", {"seat": "red"}, at=3)
    room.call("zeus", "rematch", at=4)
    assert seat(room, "fay") == "red"
    with pytest.raises(GameRejected):
        room.call("fay", "sit", {"seat": "blue"}, at=5)


def test_in_a_world_that_hides_nothing_a_member_can_change_seats() -> None:
    room = make_room({**RED, "claim": "id:first"}, FREE, HOST, world="nim")
    room.call("hostess", "remove_member", {"member": "ann"}, at=1)
    for wanted in ("first", "second", "first"):
        assert room.call("fay", "sit", {"seat": wanted}, at=2).seat == wanted
    assert replayed(room).digest() == room.digest()


STEPS = st.lists(
    st.sampled_from(
        [
            ("fay", "sit", {}), ("fay", "sit", {"seat": "red"}), ("fay", "sit", {"seat": "blue"}), ("fay", "stand_up", {}),
            ("gus", "sit", {}), ("gus", "sit", {"seat": "red"}), ("gus", "stand_up", {}), ("zeus", "rematch", {}),
            ("zeus", "reset", {}), ("zeus", "reset", {"seed": 9}), ("hostess", "remove_member", {"member": "gus"}),
            ("hostess", "add_member", {"id": "gus", "role": "player"}),
        ]
    ),
    max_size=25,
)  # fmt: skip


@given(STEPS)
def test_no_member_ever_plays_two_seats_before_the_seed_changes(steps: list[tuple[str, str, dict[str, Any]]]) -> None:
    room = make_room(FREE, {**FREE, "id": "gus"}, HOST, GOD, partial_intel=True)
    played: dict[tuple[str, int], set[str]] = {}
    seed, changes = room.state.seed, 0
    for at, (who, name, args) in enumerate(steps):
        member = room.state.with_handle(who)
        if member is not None:
            with suppress(CohabitError):
                room.call(member.id, name, args, at=at)
        if room.state.seed != seed:
            seed, changes = room.state.seed, changes + 1
        for member in room.state.members.values():
            if member.seat is not None:
                played.setdefault((member.id, changes), set()).add(member.seat)
    assert all(len(seats) == 1 for seats in played.values())
    assert replayed(room).digest() == room.digest()


@given(
    st.lists(
        st.sampled_from(
            [
                ("fay", "sit", {}), ("fay", "sit", {"seat": "first"}), ("fay", "sit", {"seat": "second"}),
                ("fay", "stand_up", {}), ("gus", "sit", {}), ("gus", "stand_up", {}), ("ann", "leave", {}),
                ("hostess", "add_member", {"id": "ann", "role": "player", "claim": "auto:0"}),
                ("hostess", "add_member", {"id": "bob", "role": "player", "claim": "auto:0"}),
                ("hostess", "add_member", {"id": "cy", "role": "player", "claim": "id:second"}),
                ("hostess", "remove_member", {"member": "robin"}), ("zeus", "rematch", {}), ("zeus", "reset", {}),
            ]
        ),
        max_size=15,
    )
)  # fmt: skip
def test_a_rematch_that_changes_no_seat_is_one_that_opens_them_anew(
    steps: list[tuple[str, str, dict[str, Any]]],
) -> None:
    rooms = [make_room(RED, ROBIN, FREE, {**FREE, "id": "gus"}, HOST, GOD, world="nim") for _ in range(2)]
    for room, opens_anew in zip(rooms, (False, True), strict=True):
        with patch.object(seats, "are_unchanged", lambda *_: False) if opens_anew else nullcontext():
            for at, (who, name, args) in enumerate([*steps, ("zeus", "rematch", {})]):
                member = room.state.with_handle(who)
                if member is not None:
                    with suppress(CohabitError):
                        room.call(member.id, name, args, at=at)
    assert rooms[0].digest() == rooms[1].digest()


def inn(folder: Path, *, is_open: bool) -> str:
    """The file of the inn, a world of arrivals. ``is_open``: it hides nothing."""
    text = (Path(__file__).parent.parent / "worlds_samples" / "inn.py").read_text(encoding="utf-8")
    file = folder / "some_inn.py"
    file.write_text(text.replace("quick=True)", f"quick=True, open_information={is_open})"), encoding="utf-8")
    return str(file)


def test_a_member_with_a_seat_opens_no_second_one_in_a_world_of_arrivals(tmp_path: Path) -> None:
    room = make_room({"id": "fay", "role": "player"}, HOST, world=inn(tmp_path, is_open=True))
    first = room.call("fay", "sit", at=1).seat
    before = room.digest()
    with pytest.raises(Conflict, match="leave it first"):
        room.call("fay", "sit", {"seat": "attic"}, at=2)
    assert room.digest() == before
    room.call("fay", "stand_up", at=3)
    assert room.call("fay", "sit", {"seat": "attic"}, at=4).seat == "attic" != first
    assert replayed(room).digest() == room.digest()


@pytest.mark.parametrize("is_open", [False, True])
def test_a_player_on_the_seat_that_it_has_in_a_loaded_save_keeps_it(is_open: bool, tmp_path: Path) -> None:
    room = make_room(FREE, {**FREE, "id": "gus"}, HOST, world=inn(tmp_path, is_open=is_open))
    room.call("fay", "sit", at=1)
    room.call("fay", "pack", {"what": "bread"}, at=2)
    save, sits = saved(room), seat(room, "fay")
    room.call("fay", "pack", {"what": "wine"}, at=3)
    room.system("loaded", {"by": "hostess", "save": save}, 4)
    assert (seat(room, "fay"), list(room.seats)) == (sits, [sits])
    assert room.call("fay", "view", at=5).observation.status["bag"] == ["bread"]
    assert replayed(room).digest() == room.digest()


def offered(room: Any, who: str) -> set[str]:
    member = room.state.members[who]
    return {command.name for command in room.commands if offers(room, member, command)}


def test_what_needs_a_seat_is_offered_to_those_who_have_one_claim_one_or_can_take_one() -> None:
    room = make_room(RED, FREE, GOD, AGENT, world="Realms")
    assert {who for who in room.state.members if "pray" in offered(room, who)} == {"ann"}, "its claim will be met"
    room.call("zeus", "rise", {"name": "avalon"}, at=1)
    assert {who for who in room.state.members if "pray" in offered(room, who)} == {"ann"}, "the only seat is taken"
    room.call("zeus", "rise", {"name": "burgundy"}, at=2)
    assert {who for who in room.state.members if "pray" in offered(room, who)} == {"ann", "fay", "zeus"}
    assert {who for who in room.state.members if "sit" in offered(room, who)} == {"fay", "zeus"}
    room.call("fay", "sit", at=3)
    assert {who for who in room.state.members if "pray" in offered(room, who)} == {"ann", "fay"}
    assert {who for who in room.state.members if "sit" in offered(room, who)} == set()


def test_a_query_that_shows_everything_is_offered_to_those_from_whom_nothing_is_hidden() -> None:
    open_room = make_room(RED, FREE, AGENT, GOD, world="Lamp")
    assert {who for who in open_room.state.members if "oil" in offered(open_room, who)} == {*open_room.state.members}
    fog = make_room(RED, FREE, AGENT, GOD, world="Lamp", partial_intel=True)
    assert {who for who in fog.state.members if "oil" in offered(fog, who)} == {"zeus"}
    assert all("drop" in offered(fog, who) for who in ("ann", "fay"))
    assert fog.call("zeus", "oil", at=1) == open_room.call("ann", "oil", at=1) == 30
    with pytest.raises(PermissionDenied) as refused:
        fog.call("ann", "oil", at=2)
    assert refused.value.details["needs"] == ["read_all"]


def test_a_member_that_keeps_its_seat_when_a_remote_game_is_replaced_is_bound_to_it_in_the_new_one() -> None:
    depot = str(Path(__file__).parent.parent / "house" / "remote_world.py") + ":Depot"
    room = make_room(FREE, GOD, world=depot, partial_intel=True)
    bays = [{"id": "north", "crates": 0}, {"id": "south", "crates": 0}]
    room.system("polled", {"state": {"number": 1, "bays": bays}}, 1)
    room.call("fay", "sit", {"seat": "north"}, at=2)
    room.system("polled", {"state": {"number": 2, "bays": bays}}, 3)
    assert (room.state.games, seat(room, "fay")) == (2, "north")
    with pytest.raises(GameRejected, match="north"):
        room.call("fay", "sit", {"seat": "south"}, at=4)
    assert seat(room, "fay") == "north"


def test_a_member_whose_seat_is_not_in_the_remote_game_that_replaces_the_old_one_leaves_it() -> None:
    depot = str(Path(__file__).parent.parent / "house" / "remote_world.py") + ":Depot"
    room = make_room(FREE, GOD, world=depot, partial_intel=True)
    room.system("polled", {"state": {"number": 1, "bays": [{"id": "north", "crates": 0}]}}, 1)
    room.call("fay", "sit", {"seat": "north"}, at=2)
    room.system("polled", {"state": {"number": 2, "bays": [{"id": "south", "crates": 0}]}}, 3)
    assert room.state.members["fay"].seat is None
    assert room.call("fay", "sit", at=4).seat == "south"


def test_a_player_loses_a_seat_that_a_loaded_save_does_not_have() -> None:
    room = make_room(FREE, GOD, world="Realms")
    room.call("zeus", "rise", {"name": "avalon"}, at=1)
    save = saved(room)
    room.call("zeus", "rise", {"name": "burgundy"}, at=2)
    room.call("fay", "sit", {"seat": "burgundy"}, at=3)
    room.system("loaded", {"by": "zeus", "save": save}, 4)
    assert seat(room, "fay") is None
    assert [open_.id for open_ in room.state.seats] == ["avalon"]
    assert replayed(room).digest() == room.digest()


def test_a_player_without_a_seat_is_shown_the_free_ones_and_nothing_if_there_is_none() -> None:
    room = make_room(RED, FREE, {**FREE, "id": "una"})
    assert "You have no seat. `sit` takes one of: blue." in room.call("fay", "view", at=1).text
    room.call("fay", "sit", at=2)
    assert [("seat" in room.call(who, "view", at=3).text) for who in ("fay", "una")] == [False, False]
