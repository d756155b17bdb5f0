"""An identity is in one game of the Nexus at a time, by whatever way it got a body or a seat there."""

from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.faces.doors import FACES, doors

from cohabit import saves
from cohabit.errors import CohabitError, GameRejected, PermissionDenied, Quarantined
from cohabit.features.bodies.state import avatars_in
from cohabit.house.house import House
from cohabit.house.running.calls import SystemCall
from cohabit.house.settings import Settings
from cohabit.model.admission import Admission
from cohabit.scenario import read_scenario

from .games import SAMPLE, Journeys

GAMES = {"alpha": f"{SAMPLE}:Caves", "beta": f"{SAMPLE}:Mines"}
ONE = "in one game at a time"


@asynccontextmanager
async def travels() -> AsyncIterator[Journeys]:
    """bob has a token for the whole house, and is a member of both games also without the Nexus."""
    made = Journeys(GAMES)
    made.make_game = lambda game: _open_game(made, game)  # type: ignore[method-assign]
    await made.begin()
    for game in GAMES:
        await made("bob", game, "join")
    try:
        yield made
    finally:
        await made.close()


async def _open_game(made: Journeys, game: str) -> None:
    host = {"id": "host", "role": "host", "kind": "human"}
    await made.make(game, GAMES[game], [host], guests=True)
    await made("host", game, "open_to_nexus")


def seat(made: Journeys, game: str, who: str = "bob") -> str | None:
    member = made.room(game).member_of(made.identity[who])
    return member.seat if member is not None else None


async def acts(made: Journeys, game: str, who: str = "bob") -> bool:
    """Whether an agent can move a body in this game now."""
    try:
        await made(who, game, "go", place="pit")
        await made(who, game, "go", place="hall")
    except PermissionDenied:
        return False
    return True


# -- the doors to a second body -------------------------------------------------------------------------
@pytest.mark.parametrize("door", ["sit", "jack_in", "create_avatar"])
@pytest.mark.parametrize("came", ["enter_game", "sit", "jack_in"])
async def test_an_agent_in_one_game_gets_no_body_in_another(came: str, door: str) -> None:
    async with travels() as made:
        if came == "enter_game":
            await made("bob", "nexus", "enter_game", game_id="alpha")
        else:
            await made("bob", "alpha", came)
        with pytest.raises(PermissionDenied, match=f"you are in the game alpha.*{ONE}"):
            await made("bob", "beta", door)
        assert seat(made, "beta") is None
        assert await acts(made, "alpha")
        await made.rest()
        await made.check_tokens("ann")


async def test_a_body_that_was_taken_directly_keeps_an_agent_from_other_games_of_the_nexus() -> None:
    async with travels() as made:
        await made("bob", "alpha", "jack_in")
        with pytest.raises(GameRejected, match=f"you are in the game alpha.*{ONE}"):
            await made("bob", "nexus", "enter_game", game_id="beta")
        assert seat(made, "beta") is None
        await made("bob", "alpha", "jack_out")
        await made("bob", "nexus", "enter_game", game_id="beta")
        assert await acts(made, "beta")
        with pytest.raises(PermissionDenied, match="you are in the game beta"):
            await made("bob", "alpha", "jack_in")


async def test_a_body_that_waits_in_another_game_can_be_taken_after_the_return() -> None:
    async with travels() as made:
        await made("bob", "alpha", "jack_in")
        await made("bob", "alpha", "jack_out", mode="suspend")
        await made("bob", "nexus", "enter_game", game_id="beta")
        with pytest.raises(PermissionDenied, match=ONE):
            await made("bob", "alpha", "jack_in")
        await made("bob", "beta", "exit_game")
        await made.rest()
        await made("bob", "alpha", "jack_in")
        assert await acts(made, "alpha")


async def test_the_way_from_game_to_game_is_not_blocked_by_the_game_that_was_left() -> None:
    async with travels() as made:
        await made("bob", "nexus", "enter_game", game_id="alpha")
        await made("bob", "nexus", "leave_game", destination="beta")
        assert await acts(made, "beta")
        assert not await acts(made, "alpha")


# -- seats that come by themselves ----------------------------------------------------------------------
async def reopened_with_both(made: Journeys) -> None:
    """One of the games was offline when the agent took a body in the other."""
    await made("bob", "alpha", "exit_game")
    await made.rest()
    await made("bob", "beta", "jack_in")
    made.house.rooms["beta"].stop(Quarantined("its world hangs"))
    await made("bob", "nexus", "enter_game", game_id="alpha")
    await made.house.reopen_room("beta")


async def opened_later(made: Journeys) -> None:
    """The second room was no game of the Nexus yet."""
    await made("host", "beta", "open_to_nexus", open=False)
    await made("bob", "beta", "jack_in")
    assert await acts(made, "beta"), "a room that is no game of the Nexus is nobody's business"
    await made("host", "beta", "open_to_nexus")


@pytest.mark.parametrize("how", [reopened_with_both, opened_later])
async def test_of_two_bodies_that_came_by_themselves_only_the_visitor_s_acts(
    how: Callable[[Journeys], Awaitable[None]],
) -> None:
    async with travels() as made:
        await made("bob", "nexus", "enter_game", game_id="alpha")
        await how(made)
        assert seat(made, "beta") is not None
        for _ in range(2):
            assert await acts(made, "alpha")
            assert not await acts(made, "beta")
            await made.kill()  # the same after a restart
        await made("bob", "beta", "jack_out")  # leaving a body is always possible
        assert seat(made, "beta") is None


async def test_of_two_bodies_that_were_taken_while_one_room_was_closed_only_one_acts() -> None:
    async with travels() as made:
        await made("host", "beta", "open_to_nexus", open=False)
        await made("bob", "alpha", "jack_in")
        await made("bob", "beta", "jack_in")
        await made("host", "beta", "open_to_nexus")
        assert [await acts(made, game) for game in GAMES] == [True, False]
        await made("bob", "alpha", "jack_out")
        assert await acts(made, "beta")


async def test_a_save_in_which_an_agent_played_gives_it_no_body_while_it_is_elsewhere() -> None:
    async with travels() as made:
        await made("bob", "beta", "jack_in")
        room = made.room("beta")
        save = b64encode(saves.pack(room.world, True, room.state.game, room.state.played)).decode()
        await made("bob", "beta", "jack_out", mode="suspend")
        await made("bob", "nexus", "enter_game", game_id="alpha")
        await made.house.rooms["beta"].submit(SystemCall("loaded", {"by": "host", "save": save}))
        for _ in range(2):
            for door in ("sit", "jack_in", "create_avatar"):
                with pytest.raises(PermissionDenied, match=ONE):
                    await made("bob", "beta", door)
            assert [await acts(made, game) for game in GAMES] == [True, False]
            await made.kill()


async def test_an_agent_whose_game_is_archived_is_in_no_game_and_in_one_when_it_comes_back() -> None:
    async with travels() as made:
        await made("bob", "nexus", "enter_game", game_id="alpha")
        await made("host", "alpha", "archive")
        await made.rest()
        await made("bob", "beta", "jack_in")
        await made("host", "alpha", "unarchive")
        await made.rest()
        assert seat(made, "alpha") is None
        with pytest.raises(PermissionDenied, match=ONE):
            await made("bob", "alpha", "jack_in")
        assert [await acts(made, game) for game in GAMES] == [False, True]


@pytest.mark.parametrize("commits", range(6))
async def test_an_agent_that_changes_its_body_as_the_power_fails_has_one_body_in_one_game(commits: int) -> None:
    async with travels() as made:
        await made("bob", "nexus", "enter_game", game_id="alpha")
        other = (await made("bob", "alpha", "create_avatar")).avatar_id
        made.store.power = commits
        for call in (
            made("bob", "alpha", "transfer", avatar_id=other),
            made("bob", "nexus", "leave_game", destination="beta"),
        ):
            with suppress(CohabitError):
                await call
        await made.kill()
        assert sum([await acts(made, game) for game in GAMES]) <= 1
        bound = [one for game in GAMES for one in avatars_in(made.room(game).state).values() if one.by is not None]
        assert len([one for one in bound if one.owner == made.identity["bob"]]) <= 1


async def test_a_seat_that_an_agent_claims_does_not_keep_it_from_travelling_but_is_not_played_meanwhile() -> None:
    async with travels() as made:
        await made("bob", "beta", "leave")
        admission = Admission("bob", "agent", made.identity["bob"], "bob", "player", claim="auto:0")
        await made.house.rooms["beta"].submit(SystemCall("admitted", msgspec.to_builtins(admission)))
        for _ in range(2):  # its seat opens with the first body of the game
            await made("ann", "nexus", "enter_game", game_id="beta")
            await made("ann", "beta", "exit_game", mode="despawn")
            await made.rest()
        await made("bob", "nexus", "enter_game", game_id="alpha")
        await made("host", "beta", "rematch")
        assert await acts(made, "alpha")
        assert not await acts(made, "beta")


async def test_an_agent_whose_game_is_offline_is_still_in_it_until_it_gives_it_up() -> None:
    async with travels() as made:
        await made("bob", "nexus", "enter_game", game_id="alpha")
        made.house.rooms["alpha"].stop(Quarantined("its world hangs"))
        with pytest.raises(PermissionDenied, match="you are in the game alpha"):
            await made("bob", "beta", "jack_in")
        await made("bob", "nexus", "give_up_game")
        await made("bob", "beta", "jack_in")
        assert await acts(made, "beta")


async def test_what_needs_no_body_is_allowed_in_the_other_rooms_of_an_agent() -> None:
    async with travels() as made:
        await made("bob", "nexus", "enter_game", game_id="alpha")
        await made("bob", "beta", "send_message", to="*", content="I am in alpha")
        assert (await made("bob", "beta", "avatars")).avatars == []


# -- over every interface ---------------------------------------------------------------------------------
@pytest.mark.sampled
@pytest.mark.parametrize("face", FACES)
async def test_over_every_interface_an_agent_in_a_game_gets_no_second_body(face: str, tmp_path: Path) -> None:
    async with House.open(Settings(port=0, nexus_port=0, data=str(tmp_path / "data"))) as house:
        for name in ("wilderness", "frontier", "nexus"):
            await house.create_room(read_scenario(name), name, seed=1)
        operator = house.identify(house.operator_token())
        zoe = (await house.call(operator, None, "issue_credential", {"name": "zoe", "kind": "human"})).token
        async with doors(face, house, tmp_path) as door, door(zoe) as client:

            async def call(room: str, name: str, **args: Any) -> Any:
                return await client.call(name, args, room=room)

            for room in ("nexus", "wilderness", "frontier"):
                await call(room, "join")
            await call("nexus", "sit")
            await call("nexus", "act", action="enter_game", params={"game_id": "frontier"})
            for door_in in ("sit", "jack_in"):
                with pytest.raises(CohabitError, match=ONE):
                    await call("wilderness", door_in)
            await call("frontier", "exit_game")
            await house.rooms.connectors["nexus"].transit.at_rest()  # type: ignore[attr-defined]
            await call("wilderness", "sit")
            with pytest.raises(CohabitError, match=ONE):
                await call("nexus", "act", action="enter_game", params={"game_id": "frontier"})
            assert not house.rooms["frontier"].room.state.seats
