"""Over every interface: an invite says what became of it, the audit is one command, and a new game gives no old reply."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cohabit.errors import BadArgs, Conflict, PermissionDenied, Unauthorized
from cohabit.faces.serve import serve
from cohabit.house.access.entry_limits import GUESSES
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.model.timestamps import utc
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.clock import FakeClock

from .doors import MOSTLY_SOAK, Door, doors

UNKNOWN = "wrong0TOKEN1wrong2TOKEN3wrong4TOKEN5wrong6TOKEN7"


class Table:
    """A house with a room of Nim, its host hal and the god zeus."""

    def __init__(self, house: House, clock: FakeClock, tokens: dict[str, str]) -> None:
        self.house, self.clock, self.tokens = house, clock, tokens

    async def __call__(self, who: str, command: str, **args: Any) -> Any:
        return await self.house.call(self.house.identify(self.tokens[who]), "nim", command, args)


@asynccontextmanager
async def a_table(**settings: Any) -> AsyncIterator[Table]:
    scenario = Scenario(
        world="nim",
        seed=1,
        agents=[
            AgentSpec(id="ann", role="player", claim="auto:0"),
            AgentSpec(id="bob", role="player", claim="auto:1"),
            AgentSpec(id="hal", role="host", kind="human"),
            AgentSpec(id="zeus", role="god"),
        ],
    )
    clock = FakeClock()
    async with House.open(Settings(port=0, **settings), clock=clock) as house:
        _, tokens = await house.create_room(scenario, "nim", 1)
        yield Table(house, clock, tokens)


async def ended_invites(it: Table) -> dict[str, str]:
    """Tokens of invites that can no longer be accepted, and what their holder is told."""
    shared = await it("hal", "invite", id="gus", kind="human", uses=2)
    for name in ("Gus", "Joe"):
        await it.house.call(it.house.identify(shared.token), "nim", "join", {"name": name})
    late, gone = await it("hal", "invite", id="late", expires_in_s=60), await it("hal", "invite", id="gone")
    await it("hal", "revoke_invite", invite=gone.invite)
    await it.clock.advance(60_000)
    return {
        shared.token: "this invite has been used up; ask your host for a new one",
        late.token: "this invite has expired; ask your host for a new one",
        gone.token: "this invite was revoked; ask your host for a new one",
        UNKNOWN: "invalid token; ask your host for one",
    }


async def told(door: Door, token: str) -> str:
    """What somebody with this token is told who wants to join."""
    try:
        async with door(token) as client:
            try:
                return f"joined: {await client.call('join', room='nim')}"
            except Unauthorized as refused:
                return refused.message
    except Unauthorized as refused:
        return refused.message
    except BaseExceptionGroup as group:  # the SDK's task groups
        (found,) = [each for each in _leaves(group) if isinstance(each, Unauthorized)]
        return found.message


def _leaves(group: BaseExceptionGroup[Any]) -> list[BaseException]:
    return [
        leaf
        for each in group.exceptions
        for leaf in (_leaves(each) if isinstance(each, BaseExceptionGroup) else [each])
    ]


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_an_invite_says_what_became_of_it_and_an_unknown_one_is_only_unknown(face: str, tmp_path: Path) -> None:
    async with a_table() as it, doors(face, it.house, tmp_path) as door:
        for token, words in (await ended_invites(it)).items():
            said = await told(door, token)
            assert words in said
            assert token not in said
        found = (await it("hal", "audit", kinds=["refusals"])).lines
        assert {line.text.partition(";")[0] for line in found} == {
            "this invite has been used up", "this invite has expired", "this invite was revoked",
        }  # fmt: skip


@asynccontextmanager
async def over_http(it: Table) -> AsyncIterator[httpx2.AsyncClient]:
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.ensure_future(serve(it.house, ready=ready.set_result))
    try:
        async with httpx2.AsyncClient(base_url=await ready, timeout=120) as http:
            yield http
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def test_the_join_request_without_a_token_says_what_became_of_an_invite() -> None:
    async with a_table() as it, over_http(it) as http:
        for token, words in (await ended_invites(it)).items():
            answer = await http.post("/api/join", json={"room": "nim", "invite": token, "name": "Mal"})
            expected = "this invite is not valid: bad signature" if token == UNKNOWN else words
            assert (answer.status_code, answer.json()["error"]["message"]) == (401, expected)
        for room in ("attic", "nim"):  # a room that does not exist is answered alike
            answer = await http.post("/api/join", json={"room": room, "invite": "x.y", "name": "Mal"})
            assert answer.json()["error"]["message"] == "this invite is not valid: bad signature"


@pytest.mark.parametrize(
    ("guesser", "same", "other"),
    [("203.0.113.7", "203.0.113.7", "203.0.113.8"), ("2001:db8:1:2::1", "2001:db8:1:2::9", "2001:db8:1:3::1")],
)
async def test_wrong_codes_from_one_address_keep_nobody_out_who_joins_from_another(
    guesser: str, same: str, other: str
) -> None:
    async with a_table(proxies="127.0.0.1") as it, over_http(it) as http:
        code = (await it("hal", "set_entry", code="open sesame")).code

        async def join(name: str, code: str, address: str) -> int:
            body = {"room": "nim", "name": name, "code": code}
            return (await http.post("/api/join", json=body, headers={"x-forwarded-for": address})).status_code

        assert {await join("Mal", "AAA-AAA-AAA", guesser) for _ in range(GUESSES)} == {403}
        assert await join("Mal", code, same) == 503
        assert await join("Ann", code, other) == 200


@pytest.mark.parametrize("face", ["python", "websocket", "http"])
async def test_a_connection_with_an_invite_that_others_have_used_up_is_told_so(face: str, tmp_path: Path) -> None:
    async with a_table() as it, doors(face, it.house, tmp_path) as door:
        made = await it("hal", "invite", id="gus", kind="human", uses=2)
        async with door(made.token) as client:
            await client.call("introduction", room="nim")
            for name in ("Gus", "Joe"):
                await it.house.call(it.house.identify(made.token), "nim", "join", {"name": name})
            with pytest.raises(Unauthorized, match="this invite has been used up"):
                await client.call("join", {"name": "Mal"}, room="nim")


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_the_audit_is_one_command_for_rooms_and_for_the_house(face: str, tmp_path: Path) -> None:
    async with a_table() as it, doors(face, it.house, tmp_path) as door:
        operator = it.house.identify(it.house.operator_token())
        host = (await it.house.call(operator, None, "issue_credential", {"name": "ada", "host": True})).token
        await it("hal", "invite", id="gus")
        await it("hal", "narrow", member="ann", may=["act"])
        async with AsyncExitStack() as stack:
            ann, hal, ada = [
                await stack.enter_async_context(door(token)) for token in (it.tokens["ann"], it.tokens["hal"], host)
            ]
            with pytest.raises(BadArgs):
                await hal.call("narrow", {"member": 7})
            all_of_it = (await hal.call("audit"))["lines"]
            assert [line["kind"] for line in all_of_it] == ["refusals", "changes", "invites"]
            page = await hal.call("audit", {"max": 1, "kinds": ["changes", "invites"]})
            older = await hal.call("audit", {"max": 9, "kinds": ["changes", "invites"], "cursor": page["cursor"]})
            assert (page["lines"], older["lines"], older["cursor"]) == (all_of_it[1:2], all_of_it[2:], "")
            assert [line["what"] for line in (await ann.call("audit"))["lines"]] == ["revoked"]
            of_house = (await ada.call("audit"))["lines"]
            assert {line["kind"] for line in of_house} == {"admissions", "tokens", "invites"}
            assert "room nim: hal's invite for gus was created" in [line["text"] for line in of_house]
            assert it.tokens["ann"] not in str([all_of_it, of_house])


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_a_new_game_gives_no_old_reply_and_an_empty_call_requires_no_disclosure(
    face: str, tmp_path: Path
) -> None:
    async with a_table() as it, doors(face, it.house, tmp_path) as door, AsyncExitStack() as stack:
        ann, hal = [await stack.enter_async_context(door(it.tokens[name])) for name in ("ann", "hal")]
        await ann.call("take", {"n": 1}, key="move-1")
        await ann.call("take", {"n": 1}, key="move-1")
        await it("zeus", "reset")
        with pytest.raises(Conflict, match="earlier game"):
            await ann.call("take", {"n": 1}, key="move-1")
        await ann.call("take", {"n": 1}, key="move-2")
        with pytest.raises(BadArgs, match="required"):
            await hal.call("require_disclosure", {})
        assert not (await hal.call("require_disclosure", {"required": False}))["required"]


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_a_report_reaches_the_host_with_its_lines_and_the_muted_member_learns_until_when(
    face: str, tmp_path: Path
) -> None:
    async with a_table() as it, doors(face, it.house, tmp_path) as door, AsyncExitStack() as stack:
        ann, bob, hal = [await stack.enter_async_context(door(it.tokens[name])) for name in ("ann", "bob", "hal")]
        with pytest.raises(BadArgs, match="nothing to read"):
            await ann.call("send_message", {"to": "bob", "content": "\u3164 "})
        await ann.call("send_message", {"to": "bob", "content": "you fool"})
        made = await bob.call("report", {"reason": "insults", "member": "ann"})
        assert made == {"report": made["report"], "lines": 1, "hosts": 2}
        assert f"bob made report {made['report']}" in str(await hal.call("observe"))
        assert "1 report of abuse: see `reports`." in (await hal.call("view"))["text"]
        (found,) = (await hal.call("reports"))["reports"]
        (line,) = found["lines"]
        assert (found["by"], found["about"], found["reason"]) == ("bob", ["ann"], "insults")
        assert (line["member"], line["to"], line["text"]) == ("ann", "bob", "you fool")
        for guest in (ann, bob):
            with pytest.raises(PermissionDenied):
                await guest.call("reports")
        until = (await hal.call("mute", {"member": "ann", "seconds": 60}))["until"]
        with pytest.raises(PermissionDenied, match=f"until {utc(until)[:10]} {utc(until)[11:19]} UTC: leave out"):
            await ann.call("send_message", {"to": "bob", "content": "again"})
        await hal.call("close_report", {"report": made["report"], "note": "ann is muted"})
        assert f"hal closed report {made['report']}: ann is muted" in str(await bob.call("observe"))
