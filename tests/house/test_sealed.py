"""In a sealed room, what a player sees is shown to others only if that player allows it, by whatever door."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cohabit.agents.contract import Exchange, Usage
from cohabit.agents.decision import PlayerDecision
from cohabit.errors import BadArgs, CohabitError, Conflict, GameRejected, PermissionDenied, Unauthorized, UnknownRoom
from cohabit.features import sealed
from cohabit.house.access.signing import SigningKey, verify_egress
from cohabit.house.access.strangers import knock
from cohabit.house.agents.agent_status import AgentStatus, AgentStatuses
from cohabit.house.house import House
from cohabit.house.running.calls import SystemCall
from cohabit.house.store.memory import MemoryStore
from cohabit.scenario import Scenario, parse_scenario, read_scenario
from cohabit.testing.clock import FakeClock

from .making import (
    ANN,
    BOB,
    GOD,
    HOST,
    OWL,
    Client,
    back_again,
    deeds,
    invite,
    issue,
    make_room,
    newcomer,
    open_house,
    player,
)

FREE = {"id": "fay", "role": "player", "kind": "human"}
SEALED: dict[str, Any] = {"partial_intel": True}
JWK = SigningKey.generate().public_jwk


async def here(house: House, *clients: Client) -> None:
    """These members are connected, and the record says so."""
    for client in clients:
        await client("whoami")
    await house.clock.advance(300)  # type: ignore[attr-defined]


def kept_of(house: House) -> sealed.Seal:
    return sealed.SEAL.read(house.rooms["den"].room.state)


async def told(client: Client) -> list[str]:
    return [item.text for item in (await client("events", {"max": 500})).items if item.kind == "account"]


# -- views ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("host", ["hostess", "zeus", "boss"])
async def test_only_its_player_shares_what_a_seat_sees(host: str) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, {"id": "kib"}, **SEALED)
        who["boss"] = await issue(house, "boss", host=True)
        await who["boss"]("join")
        await who["ann"]("hide", {"n": 41})
        with pytest.raises(PermissionDenied, match=r"only ann can share .* asks \(`ask` with through\)"):
            await who[host]("grant", {"member": "kib", "may": ["watch", "read_own"], "through": "red"})
        request = (await who["kib"]("ask", {"through": "red"})).request
        with pytest.raises(CohabitError, match="no request"):
            await who[host]("allow", {"request": request})
        await who["ann"]("allow", {"request": request})
        assert await who["kib"]("numbers") == {"red": [41]}


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("invite", {"id": "spy", "role": "observer"}), ("invite", {"id": "spy", "may": ["watch", "read_all"]}),
        ("add_member", {"id": "spy", "role": "god"}), ("widen", {"member": "bob", "may": ["read_all"]}),
        ("widen", {"member": "bob", "may": ["read_all"], "expires_in_s": 5}),
        ("grant", {"member": "bob", "may": ["watch", "read_all"]}),
        ("set_entry", {"agent_keys": [{"key": JWK, "may": ["read_all"]}]}),
    ],
)  # fmt: skip
async def test_nobody_sees_everything_whom_the_scenario_does_not_name_also_not_by_a_god(
    command: str, args: Any
) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, **SEALED)
        with pytest.raises(PermissionDenied, match="only members whom its scenario names see everything"):
            await who["zeus"](command, args)


async def test_a_request_for_everything_cannot_be_allowed() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, {"id": "kib"}, **SEALED)
        request = (await who["kib"]("ask", {"may": ["read_all"]})).request
        with pytest.raises(PermissionDenied, match="sealed"):
            await who["zeus"]("allow", {"request": request})


async def test_a_newcomer_who_is_let_in_with_read_all_does_not_hold_it_in_a_sealed_room() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, **SEALED)
        eve = {
            "handle": "eve",
            "kind": "agent",
            "identity": "i-0123456789abcdef",
            "name": "eve",
            "may": ["watch", "read_all"],
        }
        await house.rooms["den"].submit(SystemCall("admitted", eve))
        assert (await who["hostess"]("roster")).members[-1].handle == "eve"
        assert house.rooms["den"].room.state.members["eve"].held == {"watch"}


async def test_a_member_whom_the_scenario_names_gets_back_what_was_taken_from_it() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, OWL, **SEALED)
        await who["ann"]("hide", {"n": 41})
        await who["zeus"]("narrow", {"member": "owl", "may": ["read_all"]})
        await who["zeus"]("clear_grant", {"member": "owl"})
        assert (await who["owl"]("numbers"))["red"] == [41]


# -- tokens -----------------------------------------------------------------------------------------
async def test_nobody_replaces_the_token_of_a_player_in_a_running_game_but_the_player() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, OWL, **SEALED)
        boss = await issue(house, "boss", host=True)
        await boss("join")
        for host in (who["hostess"], who["zeus"], boss):
            with pytest.raises(PermissionDenied, match="only ann can replace its token"):
                await host("rotate_token", {"member": "ann"})
        for name in ("issue_credential", "rotate_credential"):
            for member in ("ann", "owl"):
                with pytest.raises(PermissionDenied, match=f"only {member} can replace its token"):
                    await boss(name, {"name": member, "room": "den"})
        own = Client(house, "den", "ann", (await who["ann"]("rotate_token")).token)
        assert (await own("whoami")).handle == "ann"
        await who["zeus"]("finish")
        assert (await who["hostess"]("rotate_token", {"member": "ann"})).member == "ann"


async def test_a_token_can_be_replaced_when_its_member_has_left_its_seat() -> None:
    async with open_house() as house:
        who = await make_room(house, BOB, HOST, FREE, **SEALED)
        await who["fay"]("sit", {"seat": "red"})
        with pytest.raises(PermissionDenied, match="sealed"):
            await who["hostess"]("rotate_token", {"member": "fay"})
        await who["fay"]("stand_up")
        assert (await who["hostess"]("rotate_token", {"member": "fay"})).member == "fay"


async def test_the_token_of_a_member_who_looks_through_a_seat_and_of_a_player_in_an_archived_room_is_kept_too() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, {"id": "kib"}, **SEALED)
        await who["ann"]("allow", {"request": (await who["kib"]("ask", {"through": "red"})).request, "lasts": "game"})
        with pytest.raises(PermissionDenied, match="sealed"):
            await who["hostess"]("rotate_token", {"member": "kib"})
        await who["hostess"]("archive")
        with pytest.raises(PermissionDenied, match="sealed"):
            await who["hostess"]("rotate_token", {"member": "ann"})


async def test_a_house_host_gets_no_house_wide_token_of_a_player_in_a_sealed_room() -> None:
    async with open_house() as house:
        await make_room(house, BOB, HOST, guests=True, **SEALED)
        boss = await issue(house, "boss", host=True)
        zoe = await issue(house, "zoe", kind="human")
        await zoe("join")
        await zoe("sit", {"seat": "red"})
        with pytest.raises(PermissionDenied, match="only zoe can replace its token"):
            await boss("rotate_credential", {"name": "zoe"})
        assert (await zoe("whoami")).seat == "red"


async def test_the_owner_of_the_data_folder_can_and_the_player_is_told() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, **SEALED)
        operator = Client(house, "den", "operator", house.operator_token())
        made = await operator("issue_credential", {"name": "ann", "room": "den"})
        assert (await Client(house, "den", "ann", made.token)("whoami")).handle == "ann"
        assert await told(who["ann"]) == ["operator (a host of this house) created a token for you"]


async def test_a_house_host_cannot_become_the_owner_of_the_data_folder() -> None:
    async with open_house() as house:
        await make_room(house, **SEALED)
        boss = await issue(house, "boss", host=True)
        await Client(house, "den", "operator", house.operator_token())("join")
        for name, args in (("rotate_credential", {"name": "i-operator"}), ("rotate_credential", {"name": "operator"}),
                           ("issue_credential", {"name": "operator", "room": "den"})):  # fmt: skip
            with pytest.raises(PermissionDenied, match="only in the data folder"):
                await boss(name, args)


@pytest.mark.parametrize("sealed", [False, True])
async def test_who_accepts_an_invite_has_a_token_that_the_inviter_does_not_know(sealed: bool) -> None:
    async with open_house() as house:
        who = await make_room(house, BOB, HOST, partial_intel=True, sealed=sealed)
        invited = await invite(who["hostess"], "eve", role="player", claim="auto:0")
        eve = await invited.join()
        await eve("hide", {"n": 41})
        assert eve.token != invited.token
        for name in ("whoami", "view", "join", "rotate_token"):
            with pytest.raises(Unauthorized, match="used up"):
                await invited(name)
        with pytest.raises(Unauthorized, match="used up"):
            await knock(house.door, {"room": "den", "invite": invited.token})
        assert await eve("numbers") == {"red": [41]}


async def test_who_cannot_change_its_token_keeps_that_of_its_invite_by_its_own_decision() -> None:
    async with open_house() as house:
        who = await make_room(house, BOB, HOST, **SEALED)
        invited = await invite(who["hostess"], "eve", role="player")
        assert (await invited("join", {"keep_token": True})).token is None
        assert (await invited("whoami")).handle == "eve"


@pytest.mark.parametrize("lobby", [False, True])
async def test_an_invitee_whose_reply_was_lost_joins_again_and_is_the_same_member(lobby: bool) -> None:
    async with open_house() as house:
        who = await make_room(house, world="nim")
        await who["hostess"]("set_entry", {"lobby": lobby})
        invited = await invite(who["hostess"], "eve")
        lost = [await invited.join(), await invited.join()]
        eve = Client(house, "den", "eve", (await knock(house.door, {"room": "den", "invite": invited.token})).token)
        for before in lost:
            with pytest.raises(Unauthorized):
                await before("join")
        assert (await eve("join")).status == ("waiting" if lobby else "joined")
        members = [member.handle for member in (await who["hostess"]("roster")).members]
        assert [handle for handle in members if "eve" in handle] == ([] if lobby else ["eve"])
        assert len((await who["hostess"]("lobby")).waiting) == lobby
        with pytest.raises(Unauthorized, match="used up"):
            await invited("join")
        operator = house.identify(house.operator_token())
        listed = (await house.call(operator, None, "list_credentials")).credentials
        assert sorted(line.state for line in listed if line.name == "eve") == ["good", "revoked", "revoked"]
        assert {one.expires_at for one in (*listed, *house.store.credentials())} == {None}


@pytest.mark.parametrize("is_link", [True, False])
async def test_after_a_restart_a_lost_reply_to_join_is_repeated_only_if_the_new_token_was_not_used(
    is_link: bool, tmp_path: Path
) -> None:
    async with open_house(tmp_path) as house:
        boss = await issue(house, "boss", host=True)
        wanted = {"world": "whist", "players": ["ada", "bob", "bot", "cy"], "people": ["ada"], "room": "den"}
        tokens = (await boss("create_room", wanted)).tokens
        eve = Client(house, "den", "ada", tokens["ada"]) if is_link else await invite(boss, "eve", role="player")
        await eve.join()
    async with open_house(tmp_path) as house:
        new = await back_again(house, {"eve": eve})["eve"].join()
        assert (await new("whoami")).handle == ("ada" if is_link else "eve")
    async with open_house(tmp_path) as house:
        with pytest.raises(Unauthorized):
            await back_again(house, {"eve": eve})["eve"]("join")
        assert (await back_again(house, {"eve": new})["eve"]("whoami")).handle


async def test_an_invitee_who_was_removed_does_not_come_back_with_its_invite() -> None:
    async with open_house() as house:
        who = await make_room(house, world="nim")
        invited = await invite(who["hostess"], "eve")
        await invited.join()
        await who["hostess"]("remove_member", {"member": "eve"})
        with pytest.raises(Unauthorized, match="used up"):
            await invited("join")


async def test_the_creator_of_a_room_has_no_token_of_a_person_who_has_opened_its_link() -> None:
    async with open_house() as house:
        boss = await issue(house, "boss", host=True)
        for world, sealed in (("whist", True), ("nim", False)):
            names = ["ada", "bob", "bot", "cy"][: 4 if sealed else 2]
            wanted = {"world": world, "players": names, "people": ["ada"], "room": world}
            tokens = (await boss("create_room", wanted)).tokens
            ada, bob = [Client(house, world, name, tokens[name]) for name in ("ada", "bob")]
            assert [(await who("rooms")).rooms[0].token_known for who in (ada, bob)] == [sealed, False]
            assert (await ada("join", {"keep_token": True})).token is None, "a client that cannot change it"
            assert ((await ada("join")).token is not None) == sealed, "this reply is lost"
            if sealed:
                with pytest.raises(UnknownRoom, match=r"call `join` again$"):
                    await ada("view")
            own = await ada.join()
            assert ((await own("join")).token, (await bob("join")).token) == (None, None)
            assert (own.token == ada.token, (await own("whoami")).handle) == (not sealed, "ada")
            if sealed:
                for command in ("view", "join", "rotate_token"):
                    with pytest.raises(Unauthorized):
                        await ada(command)
                assert (await told(own))[-1] == "you replaced your token"
                again = Client(house, world, "ada", (await own("rotate_token")).token)
                assert not (await again("rooms")).rooms[0].token_known


# -- seats ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("removal", ["remove_member", "revoke_invite"])
async def test_the_seat_of_a_removed_player_is_for_nobody_else_before_the_next_game(removal: str) -> None:
    async with open_house() as house:
        who = await make_room(house, BOB, HOST, FREE, **SEALED)
        eve = await newcomer(who["hostess"], "eve", role="player", claim="auto:0")
        await eve("hide", {"n": 41})
        await here(house, eve)
        if removal == "remove_member":
            await who["hostess"]("remove_member", {"member": "eve"})
        else:
            made = (await who["hostess"]("invites")).invites[0].invite
            await who["hostess"]("revoke_invite", {"invite": made})
        with pytest.raises(GameRejected, match="another player has seat red in this game"):
            await who["fay"]("sit", {"seat": "red"})
        with pytest.raises(Conflict, match="every seat is taken"):
            await who["fay"]("sit")
        spy = await newcomer(who["hostess"], "spy", role="player", claim="auto:0")
        assert (await spy("whoami")).seat is None
        await who["hostess"]("reset")  # the same seed: the same game
        assert (await spy("whoami")).seat is None
        await who["hostess"]("rematch")
        assert (await spy("whoami")).seat == "red"


@pytest.mark.parametrize("shown", ["view", "observe", "subscription", ""])
@pytest.mark.parametrize("archived", ["", "archived", "reopened"])
async def test_a_player_has_its_seat_from_the_first_reply_on_that_shows_it(
    shown: str, archived: str, tmp_path: Path
) -> None:
    """Also in the archive, where no time passes. The seat of a player who never came is free."""
    store = MemoryStore()
    async with open_house(tmp_path, store=store) as house:
        ann = player("ann", 0, **({"brain": "random", "gives_way": True} if archived else {}))
        who = await make_room(house, ann, BOB, HOST, FREE, {**FREE, "id": "gus"}, **SEALED)
        if archived:
            await who["hostess"]("archive")
        if shown == "subscription":
            pushed = await house.subscribe(house.identify(who["ann"].token), "den", views=True)
            assert await pushed.first_view()
            pushed.close()
        elif shown:
            await who["ann"](shown)
        if archived != "reopened":
            got = await who_gets_the_seat_of_ann(who, bool(archived))
    if archived == "reopened":
        async with open_house(tmp_path, store=store) as house:
            got = await who_gets_the_seat_of_ann(back_again(house, who), True)
    assert got == ("nobody" if shown else "fay" if archived else "gus")


async def who_gets_the_seat_of_ann(who: dict[str, Client], archived: bool) -> str:
    """While ann may give way, or when it was removed."""
    if archived:
        await who["hostess"]("unarchive")
    with suppress(GameRejected, Conflict):
        return str((await who["fay"]("sit", {"seat": "red"})).seat and "fay")
    await who["hostess"]("remove_member", {"member": "ann"})
    with suppress(GameRejected):
        return str((await who["gus"]("sit", {"seat": "red"})).seat and "gus")
    return "nobody"


@pytest.mark.parametrize(("fog", "counts"), [(True, [1, 1, 1]), (False, [1, 2])])
async def test_a_host_does_not_learn_from_the_audit_which_hidden_reasons_are_the_same(
    fog: bool, counts: list[int]
) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, partial_intel=fog)
        for reason in ("x", "x", "y"):
            with pytest.raises(BadArgs):
                await who["ann"]("sit", {reason: 1})
        lines = (await who["hostess"]("audit", {"member": "ann", "kinds": ["refusals"]})).lines
        assert [line.count for line in lines] == counts
        assert {line.text for line in lines} == {"(shown to members with read_all)"}


async def test_that_a_player_of_an_archived_room_has_seen_its_seat_is_recorded_once() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, **SEALED)
        await who["hostess"]("archive")
        for _ in range(3):
            await who["ann"]("view")
            with pytest.raises(CohabitError, match="archived"):
                await who["hostess"]("remove_member", {"member": "bob"})
        (looked,) = deeds(house.rooms["den"].room, "looked")
        assert (looked.args, looked.told) == ({"members": ["ann"]}, ())


async def test_a_built_in_player_can_play_on_for_a_removed_player() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, **SEALED)
        await here(house, who["ann"])
        await who["hostess"]("remove_member", {"member": "ann"})
        added = await who["hostess"](
            "add_member", {"id": "bot", "role": "player", "claim": "auto:0", "stand_in": "random"}
        )
        assert added.seat == "red"


@pytest.mark.parametrize("leaving", ["stand_up", "leave"])
async def test_a_player_that_leaves_its_seat_by_itself_leaves_it_to_others(leaving: str) -> None:
    async with open_house() as house:
        who = await make_room(house, BOB, HOST, FREE, {**FREE, "id": "gus"}, **SEALED)
        await who["fay"]("sit", {"seat": "red"})
        await here(house, who["fay"])
        assert kept_of(house).games
        await who["fay"](leaving)
        assert not kept_of(house).games, "nobody has seen a seat that is not free"
        assert (await who["gus"]("sit", {"seat": "red"})).seat == "red"


async def test_a_save_brings_a_game_back_to_its_players_only(tmp_path: Path) -> None:
    async with open_house(tmp_path, store=MemoryStore()) as house:
        who = await make_room(house, ANN, BOB, HOST, FREE, **SEALED)
        await who["ann"]("hide", {"n": 41})
        await here(house, who["ann"])
        await who["hostess"]("save_world", {"name": "a"})
        await who["hostess"]("rematch")
        await who["hostess"]("remove_member", {"member": "ann"})
        await who["hostess"]("rematch")
        await who["fay"]("sit", {"seat": "red"})
        await who["hostess"]("load_world", {"name": "a"})
        assert (await who["fay"]("whoami")).seat is None
        left = "fay leaves seat red: another player had it in this game"
        assert left in [item.text for item in (await who["fay"]("events", {"max": 500})).items]
        assert "41" not in str(await who["fay"]("view"))
        with pytest.raises(GameRejected, match="another player has seat red"):
            await who["fay"]("sit", {"seat": "red"})


PLAYER = {"id": "eve", "role": "player", "kind": "human"}
"""A player without a claim: she takes a seat and leaves it as she likes."""


async def test_a_player_that_gave_its_seat_up_in_another_game_has_not_given_it_up_in_a_loaded_one(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path, store=MemoryStore()) as house:
        who = await make_room(house, PLAYER, HOST, FREE, {**FREE, "id": "gus"}, **SEALED)
        await who["eve"]("sit", {"seat": "red"})
        await who["gus"]("sit", {"seat": "blue"})
        await who["eve"]("hide", {"n": 41})
        await here(house, who["eve"])
        await who["hostess"]("save_world", {"name": "a"})
        await who["hostess"]("rematch")
        await who["eve"]("stand_up")
        await who["hostess"]("load_world", {"name": "a"})
        with pytest.raises(GameRejected, match="another player has seat red"):
            await who["fay"]("sit", {"seat": "red"})
        assert (await who["gus"]("whoami")).seat == "blue", "the others keep theirs"
        await who["eve"]("sit", {"seat": "red"})  # hers
        await who["eve"]("stand_up")  # and now she has given it up
        assert (await who["fay"]("sit", {"seat": "red"})).seat == "red"


async def test_a_player_that_was_removed_and_comes_back_has_not_given_its_seat_up() -> None:
    async with open_house() as house:
        who = await make_room(house, BOB, HOST, FREE, guests=True, **SEALED)
        eve = await issue(house, "eve", kind="human")
        await eve("join")
        await eve("sit", {"seat": "red"})
        await eve("hide", {"n": 41})
        await here(house, eve)
        await who["hostess"]("remove_member", {"member": "eve"})
        await here(house, who["hostess"])
        await eve("join")
        await here(house, eve)
        with pytest.raises(GameRejected, match="another player has seat red"):
            await who["fay"]("sit", {"seat": "red"})
        assert (await eve("sit", {"seat": "red"})).seat == "red"


async def test_a_room_forgets_who_saw_what_in_its_oldest_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed, "MAX_GAMES", 2)
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, **SEALED)
        await here(house, who["ann"])
        games = [house.rooms["den"].room.state.game]
        for _ in range(3):
            await who["hostess"]("rematch")
            games.append(house.rooms["den"].room.state.game)
        assert list(kept_of(house).games) == games[-2:]


async def test_a_game_is_played_on_by_a_move_and_by_time_and_by_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed, "MAX_GAMES", 2)
    async with open_house() as house:
        who = await make_room(
            house, *[player(name, i) for i, name in enumerate("nesw")], HOST, world="whist", turn_seconds=30
        )
        room, games = house.rooms["den"].room, [house.rooms["den"].room.state.game]

        def moved() -> int:
            return (kept_of(house).moved or {})[room.state.game]

        await who["n"]("cut")
        before = moved()
        await who["n"]("send_message", {"to": "e", "content": "well cut"})
        await who["hostess"]("add_member", {"id": "eve"})
        assert moved() == before
        for name in "esw":
            await who[name]("cut")
        await house.clock.advance(1_000)  # type: ignore[attr-defined]
        turns = [room.movers()]
        while (
            turns.count(turns[-1]) < 2 or turns[-1] != turns[-2]
        ):  # until the last player of a trick leads the next one
            (name,) = room.movers()
            card = (await who[name]("view")).observation.status["legal"][0]
            await who[name]("play", {"card": card})
            assert moved() == room.record.seq
            turns.append(room.movers())
        for _ in range(3):
            await who["hostess"]("rematch")
            games.append(room.state.game)
        assert list(kept_of(house).moved or {}) == games[-2:]
        before = moved()
        assert before == room.record.seq, "a deal that is new"
        await house.clock.advance(31_000)  # type: ignore[attr-defined]
        assert moved() > before


async def test_a_seat_that_gives_way_does_not_once_its_player_has_seen_it() -> None:
    async with open_house() as house:
        bot = player("ann", 0, brain="random", gives_way=True)
        who = await make_room(
            house, bot, {**player("bob", 1), "brain": "random", "gives_way": True}, HOST, FREE, **SEALED
        )
        await here(house, who["ann"])
        await house.clock.advance(200_000)  # type: ignore[attr-defined]
        assert (await who["hostess"]("roster")).members[0].played_by == "random"
        with pytest.raises(GameRejected, match="another player has seat red"):
            await who["fay"]("sit", {"seat": "red"})
        assert (await who["fay"]("sit")).seat == "blue"


async def whist(house: House) -> dict[str, Client]:
    """A table with two people and two bots; all have cut, and the people hold cards."""
    bots = [player(name, seat, brain="random", gives_way=True) for seat, name in ((2, "bot"), (3, "west"))]
    people = [{"id": name, "role": "player", "kind": "human", "claim": f"auto:{i}"} for i, name in enumerate("ns")]
    who = await make_room(house, *people, *bots, HOST, FREE, world="whist")
    await here(house, who["n"], who["s"])
    return who


async def test_the_bot_of_a_chair_plays_again_when_the_player_who_took_it_is_gone() -> None:
    async with open_house() as house:
        who = await whist(house)
        for leaving in ("stand_up", "leave"):
            await who["fay"]("sit", {"seat": "west"})
            await here(house, who["fay"])
            await who["fay"](leaving)
            seats = {line.seat: line.handle for line in (await who["n"]("roster")).members}
            assert seats["west"] == "west", leaving
        told = [item.text for item in (await who["n"]("events", {"max": 500})).items]
        assert not [text for text in told if "not there" in text or "time is up" in text]


async def test_a_save_of_a_deal_is_loaded_only_if_nobody_has_played_on(tmp_path: Path) -> None:
    async with open_house(tmp_path, store=MemoryStore()) as house:
        who = await whist(house)
        for phase in ("cut", "play"):
            await who["hostess"]("save_world", {"name": phase})
            hand = (await who["n"]("view")).text
            await who["hostess"]("load_world", {"name": phase})  # nothing has happened since
            for _ in range(2):  # the table does something else, and comes back to the adjourned game
                await who["hostess"]("rematch")
                await house.clock.advance(1_000)  # type: ignore[attr-defined]
                await who["hostess"]("save_world", {"name": "other"})
                await who["hostess"]("load_world", {"name": phase})
            assert (await who["n"]("view")).text == hand
            await who["hostess"]("load_world", {"name": "other"})
            await who["hostess"]("load_world", {"name": phase})
            for name in "ns":
                if phase == "cut":
                    await who[name]("cut")
            await house.clock.advance(1_000)  # type: ignore[attr-defined]
            if phase == "play":
                for name in "ns":
                    if (await who[name]("view")).your_turn:
                        card = (await who[name]("view")).observation.status["legal"][0]
                        await who[name]("play", {"card": card})
                        break
            with pytest.raises(GameRejected, match="was played on after the save"):
                await who["hostess"]("load_world", {"name": phase})
        await who["hostess"]("rematch")
        with pytest.raises(GameRejected, match="was played on after the save"):
            await who["hostess"]("load_world", {"name": "play"})


@pytest.mark.parametrize("is_guest", [False, True])
async def test_a_game_does_not_come_back_when_somebody_else_got_a_token_of_its_player(
    tmp_path: Path, is_guest: bool
) -> None:
    async with open_house(tmp_path, store=MemoryStore()) as house:
        who = await make_room(house, BOB, HOST, GOD, FREE, guests=True, **SEALED)
        boss, eve = await issue(house, "boss", host=True), await issue(house, "eve", kind="human")
        await eve("join")
        name, its = ("eve", eve) if is_guest else ("fay", who["fay"])
        await its("sit", {"seat": "red"})
        await here(house, its)
        await who["hostess"]("save_world", {"name": "a"})
        await who["zeus"]("finish")
        await who["hostess"]("load_world", {"name": "a"})
        await who["zeus"]("finish")
        if is_guest:
            stolen = Client(house, "den", "eve", (await boss("rotate_credential", {"name": name})).token)
        else:
            stolen = Client(house, "den", "fay", (await who["hostess"]("rotate_token", {"member": name})).token)
        await stolen("stand_up")
        with pytest.raises(GameRejected, match="somebody else got a token of one of its players"):
            await who["hostess"]("load_world", {"name": "a"})


async def test_a_house_host_gets_no_token_of_a_player_whom_a_host_removed_from_a_running_game() -> None:
    async with open_house() as house:
        who = await make_room(house, BOB, HOST, guests=True, **SEALED)
        boss, eve = await issue(house, "boss", host=True), await issue(house, "eve", kind="human")
        await eve("join")
        await eve("sit", {"seat": "red"})
        await here(house, eve)
        await who["hostess"]("remove_member", {"member": "eve"})
        for _ in range(2):  # also when it is back, and not on its seat
            with pytest.raises(PermissionDenied, match="sealed"):
                await boss("rotate_credential", {"name": "eve"})
            await eve("join")


# -- what everybody is told -------------------------------------------------------------------------
async def everything_told(client: Client) -> dict[str, str]:
    return {
        "whoami": (await client("whoami")).notice, "session_info": (await client("session_info")).notice,
        "rules": (await client("rules")).text, "introduction": (await client("introduction")).text,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("agents", "keys", "notice"),
    [
        ([], {}, "This room is sealed: what a player sees is shown to others only if that player allows it. Nobody sees everything."),
        ([OWL], {}, "only if that player allows it. Only owl sees everything."),
        ([OWL, GOD], {}, "only if that player allows it. Only owl and zeus see everything."),
        ([OWL], {"sealed": False}, "This room is not sealed: a host can let others see what a player sees, and the player is told. owl sees"),
    ],
)  # fmt: skip
async def test_everybody_is_told_who_sees_what_players_see(
    agents: list[Any], keys: dict[str, Any], notice: str
) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, *agents, **SEALED, **keys)
        for client in (who["ann"], who["hostess"]):
            assert {where for where, text in (await everything_told(client)).items() if notice not in text} == set()
        invited = await invite(who["hostess"], "eve")
        assert notice in (await invited("introduction")).text
        seen = {line.handle for line in (await who["ann"]("roster")).members if line.sees_all}
        assert seen == {agent["id"] for agent in agents}


async def test_nothing_is_told_where_a_world_hides_nothing() -> None:
    async with open_house() as house:
        for i, (world, keys) in enumerate({"nim": {}, "Secrets": {"partial_intel": False}}.items()):
            who = await make_room(house, ANN, BOB, HOST, OWL, world=world, room=f"open-{i}", **keys)
            assert (await who["ann"]("whoami")).notice == ""
            assert "sealed" not in str(await everything_told(who["ann"]))
            assert not any(line.sees_all for line in (await who["ann"]("roster")).members)


async def test_in_a_room_that_is_not_sealed_a_host_shares_seats_and_the_player_is_told() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, {"id": "kib"}, sealed=False, **SEALED)
        await who["ann"]("hide", {"n": 41})
        await who["hostess"]("grant", {"member": "kib", "may": ["watch", "read_own"], "through": "red"})
        assert await who["kib"]("numbers") == {"red": [41]}
        assert await told(who["ann"]) == ["hostess lets kib see what your seat sees"]
        assert (await who["hostess"]("rotate_token", {"member": "ann"})).member == "ann"
        await who["zeus"]("widen", {"member": "kib", "may": ["read_all"]})
        assert (await who["bob"]("whoami")).notice.endswith("zeus and kib see everything.")
        assert not sealed.Seal().is_open, "of a record that does not say so"


# -- scenarios --------------------------------------------------------------------------------------
async def test_a_scenario_cannot_hide_a_key_that_sees_everything_in_a_sealed_room() -> None:
    async with open_house() as house:
        entry = {"agent_keys": [{"key": JWK, "may": ["watch", "read_all"]}]}
        with pytest.raises(BadArgs, match=r"entry.agent_keys\[0\]: this key gives read_all"):
            await make_room(house, entry=entry, **SEALED)
        await make_room(house, entry=entry, sealed=False, **SEALED)
        await make_room(house, entry={"agent_keys": [{"key": JWK, "may": ["watch"]}]}, room="den-2", **SEALED)


def test_a_scenario_says_whether_its_room_is_sealed() -> None:
    assert parse_scenario('{"agents": [{"id": "a"}]}').sealed
    assert not parse_scenario('{"agents": [{"id": "a"}], "sealed": false}').sealed
    with pytest.raises(BadArgs, match="sealed"):
        parse_scenario('{"agents": [{"id": "a"}], "sealed": "no"}')


async def test_the_rooms_of_the_demo_name_those_who_see_everything() -> None:
    async with open_house() as house:
        plan: Scenario = read_scenario("demo")
        _, tokens = await house.create_room(plan, "demo", None)
        ada = Client(house, "demo", "ada", tokens["ada"])
        assert "chronicler and spectator see everything." in (await ada("whoami")).notice
        spectator = Client(house, "demo", "spectator", tokens["spectator"])
        assert (await spectator("view")).text


async def test_after_a_guest_has_replaced_its_token_nobody_else_has_one_of_it() -> None:
    async with open_house() as house:
        await make_room(house, ANN, BOB, HOST, guests=True, **SEALED)
        boss, eve = await issue(house, "boss", host=True), await issue(house, "eve")
        await eve("join")
        made = (await boss("issue_credential", {"name": "eve", "room": "den"})).token
        assert house.identify(made)
        await eve("rotate_token")
        with pytest.raises(Unauthorized):
            house.identify(made)


async def test_a_host_sees_what_was_sent_to_a_player_only_roughly_while_the_game_runs() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, player("cat", 2), HOST, **SEALED)
        for _ in range(3):
            await who["ann"]("view")
        (line,) = [one for one in (await who["hostess"]("egress")).members if one.member == "ann"]
        (own,) = (await who["ann"]("egress")).members
        assert line.bytes == 65_536
        assert line.backends[0].kinds == {}, "a first message would add a kind"
        assert own.bytes % 65_536
        assert own.backends[0].kinds["views"].times == 3
        await who["cat"]("send_message", {"to": "ann", "content": "hello"})
        assert [one for one in (await who["hostess"]("egress")).members if one.member == "ann"] == [line]


@pytest.mark.parametrize(("sealed", "shown"), [(True, 0), (False, 123)])
async def test_a_host_sees_the_tokens_of_an_agent_only_roughly_in_a_sealed_room(sealed: bool, shown: int) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, partial_intel=True, sealed=sealed)
        status = house.services.need(AgentStatuses)["den", "ann"] = AgentStatus("a model")
        status.tally.prompt_tokens, status.tally.dollars = 123, 0.001
        (seen,), (own,) = [(await who[name]("agents")).agents for name in ("hostess", "ann")]
        assert (seen.prompt_tokens, own.prompt_tokens, own.dollars) == (shown, 123, 0.001)
        assert seen.dollars == (0 if sealed else 0.001)


@pytest.mark.parametrize("sealed", [True, False])
async def test_a_host_of_a_sealed_room_does_not_learn_from_counts_when_an_agent_decides(sealed: bool) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, partial_intel=True, sealed=sealed)
        tally = (status := AgentStatus("a model")).tally
        house.services.need(AgentStatuses)["den", "ann"] = status
        tally.add(PlayerDecision(1, "chosen", exchanges=[Exchange([], usage=Usage(9, 9))]), 2.5)
        (before,), (all_of_it,) = [(await who[name]("agents")).agents for name in ("hostess", "ann")]
        tally.add(PlayerDecision(2, "failed", exchanges=[Exchange([], usage=Usage(9, 9, 0.01))]), 2.5)
        (after,) = (await who["hostess"]("agents")).agents
        assert (before == after) == before.rounded == sealed
        assert (all_of_it.decisions, all_of_it.outcomes, all_of_it.unpriced) == (1, {"chosen": 1}, 1)
        for number in range(3, 102):
            tally.add(PlayerDecision(number, "chosen"), 6)
        (later,) = (await who["hostess"]("agents")).agents
        assert (later.decisions, later.seconds) == ((100, 0) if sealed else (101, 599))
        await who["zeus"]("finish")
        (known,) = (await who["hostess"]("agents")).agents
        assert (known.decisions, known.failures, known.rounded) == (101, 1, False)


async def _what_a_host_learns_of_sizes(hidden: int, leaves: bool) -> list[Any]:
    """What a host gets to know of how much was sent to a player, by everything that shows it."""
    clock, found = FakeClock(), list[Any]()
    async with open_house(clock=clock) as house:
        who = await make_room(house, {**ANN, "backend": "Claude"}, BOB, HOST, **SEALED)
        ann, hostess = who["ann"], who["hostess"]
        for _ in range(20):
            await ann("hide", {"n": hidden})
        for budget in (500, 65_535):
            with pytest.raises(BadArgs, match="steps of 65536 bytes"):
                await hostess("set_egress_budget", {"budget": budget, "member": "ann"})
        for budget in (0, 65_536, 100_000, 131_071):
            await hostess("set_egress_budget", {"budget": budget, "member": "ann"})
            with suppress(CohabitError):
                await ann("view")
            await clock.advance(61_000)
        if leaves:
            await ann("leave")
        found += [line.bytes for line in (await hostess("egress")).members if line.member == "ann"]
        made = await hostess("export_egress")
        exported = verify_egress(made.export, made.key)
        assert not isinstance(exported, str)
        found += [line.bytes for line in exported.members if line.member == "ann"]
        lines = (await hostess("audit", {"max": 500, "kinds": ["refusals", "egress"]})).lines
        found += [(line.at - lines[-1].at, line.text, line.code, line.count) for line in lines]
    return found


@pytest.mark.parametrize("leaves", [False, True])
async def test_a_host_does_not_learn_from_sizes_or_budgets_what_a_player_hides(leaves: bool) -> None:
    short, long = [await _what_a_host_learns_of_sizes(hidden, leaves) for hidden in (1, 1_234_567_890)]
    assert short == long
