"""What the host of a room can reach: nothing hidden; in a room that is not sealed, unless the player is told of it."""

import asyncio
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.examples import examples

from cohabit.errors import CohabitError, PermissionDenied
from cohabit.house.house import House
from cohabit.house.store.memory import MemoryStore
from cohabit.model.grant import Capability

from .making import ANN, BOB, GOD, HOST, OWL, Client, invite, issue, make_room, newcomer, open_house

C = Capability
SECRET = 471_147_114_711  # long enough to be in no cursor by chance
READS: list[tuple[str, dict[str, Any]]] = [
    ("view", {}), ("numbers", {}), ("events", {"max": 500}), ("session_info", {}), ("audit", {}),
    ("agents", {}), ("permissions", {}),
]  # fmt: skip


async def reads(client: Client) -> str:
    """Everything that a client can read of its room, as text."""
    found = []
    for name, args in READS:
        try:
            found.append(str(await client(name, args)))
        except CohabitError as refused:
            found.append(refused.as_text())
    return "\n".join(found)


@pytest.mark.parametrize("role", ["god", "observer", "narrator"])
async def test_a_host_that_may_not_see_everything_cannot_invite_a_member_that_may(role: str) -> None:
    async with open_house() as house:
        who = await make_room(house)
        with pytest.raises(PermissionDenied, match="read_all"):
            await who["hostess"]("invite", {"id": "spy", "role": role})
        assert (await who["hostess"]("invites")).invites == []


async def test_an_invite_gives_what_its_author_holds_when_it_is_accepted() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, GOD, HOST)
        await who["zeus"]("widen", {"member": "hostess", "may": ["read_all"]})
        spies = [await invite(who["hostess"], f"spy{i}", role="observer") for i in range(2)]
        assert (await spies[0]("join")).role == "observer"
        await who["zeus"]("narrow", {"member": "hostess", "may": ["read_all"]})
        with pytest.raises(PermissionDenied, match="read_all"):
            await spies[1]("join")


async def test_an_invited_accomplice_with_the_right_to_manage_gains_nothing_more() -> None:
    async with open_house() as house:
        who = await make_room(house, partial_intel=True)
        await who["ann"]("hide", {"n": SECRET})
        second = await newcomer(who["hostess"], "second", role="host")
        for giver, taker in (("hostess", "second"), ("second", "hostess")):
            client = who["hostess"] if giver == "hostess" else second
            for name in ("grant", "widen"):
                with pytest.raises(PermissionDenied):
                    await client(name, {"member": taker, "may": ["read_all", "manage_members"]})
        assert str(SECRET) not in await reads(second) + await reads(who["hostess"])


@pytest.mark.parametrize("member", ["owl", "zeus"])
async def test_a_host_cannot_rotate_the_token_of_a_member_that_holds_more(member: str) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, OWL, GOD)
        with pytest.raises(PermissionDenied, match="read_all"):
            await who["hostess"]("rotate_token", {"member": member})
        assert (await who[member]("whoami")).handle == member


async def test_a_host_cannot_rotate_the_token_of_a_member_whose_role_gives_more_than_its_grant() -> None:
    """Otherwise it would wait with the token until the grant is cleared."""
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, OWL, GOD)
        await who["zeus"]("revoke", {"member": "owl"})
        with pytest.raises(PermissionDenied):
            await who["hostess"]("rotate_token", {"member": "owl"})


async def test_a_token_for_the_whole_house_is_not_rotated_by_the_host_of_a_room() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        zoe = await issue(house, "zoe")
        await zoe("join")
        with pytest.raises(PermissionDenied, match="house-wide"):
            await who["hostess"]("rotate_token", {"member": "zoe"})
        assert (await zoe("whoami")).handle == "zoe"


async def test_a_member_that_is_given_more_while_its_token_is_being_rotated_keeps_it() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, world="Stuck", sealed=False)
        giving = asyncio.create_task(who["zeus"]("widen", {"member": "bob", "may": ["read_all"]}))
        rotating = asyncio.create_task(who["hostess"]("rotate_token", {"member": "bob"}))
        await giving
        with pytest.raises(PermissionDenied):
            await rotating
        assert (await who["bob"]("whoami")).handle == "bob"


async def test_the_seed_of_a_rematch_is_told_only_to_members_that_see_everything() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD)
        seeds = []
        for command in ("reset", "rematch"):
            assert (await who["hostess"](command)).seed is None
            seeds.append(house.rooms["den"].room.state.seed)
            assert (await who["zeus"](command)).seed == house.rooms["den"].room.state.seed
            seeds.append(house.rooms["den"].room.state.seed)
        for name in ("ann", "hostess"):
            text = await reads(who[name])
            assert not any(seed in text for seed in seeds)


# -- any chain ------------------------------------------------------------------------------------
HANDLES = ["ann", "bob", "owl", "hostess", "spy", "mole", "ann-2"]
SEATS = st.sampled_from(["red", "blue", "green"])
MAY = st.lists(st.sampled_from(["watch", "read_own", "read_all", "act", "manage_members"]), max_size=4, unique=True)


class Intruder(RuleBasedStateMachine):
    """A host without read_all uses every token it can get hold of, in any order. It never holds read_all, and where it
    reads what ann hides in a room that is not sealed, ann was told before, or is no member any more."""

    sealed = False

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = TemporaryDirectory()
        self.opening: Any = open_house(Path(self.folder.name), store=MemoryStore())
        self.house: House = self.runner.run(self.opening.__aenter__())
        self.tokens: list[Client] = []

    @initialize()
    def begin(self) -> None:
        self.runner.run(self._begin())

    async def _begin(self) -> None:
        who = await make_room(self.house, ANN, BOB, HOST, OWL, GOD, partial_intel=True, sealed=self.sealed)
        self.ann = self.house.rooms["den"].room.state.members["ann"].id
        self.tokens = [who["hostess"]]
        await who["ann"]("hide", {"n": SECRET})
        await self.house.clock.advance(300)  # ann is here

    def _call(self, data: st.DataObject, name: str, args: dict[str, Any]) -> Any:
        if not self.tokens:  # it has locked itself out
            return None
        client = data.draw(st.sampled_from(self.tokens))
        try:
            return self.runner.run(client(name, args))
        except CohabitError as refused:
            assert refused.code not in ("INTERNAL", "GAME_CRASH", "QUARANTINED"), refused.as_text()
            return None

    def _keep(self, handle: str, made: Any) -> None:
        if made is not None:
            self.tokens.append(Client(self.house, "den", handle, made.token))

    @rule(
        data=st.data(), role=st.none() | st.sampled_from(["player", "host", "observer", "god"]),
        claim=st.none() | st.sampled_from(["auto:0", "auto:1", "auto:2"]), uses=st.integers(1, 2),
    )  # fmt: skip
    def invite(self, data: st.DataObject, role: str | None, claim: str | None, uses: int) -> None:
        args = {"id": data.draw(st.sampled_from(HANDLES)), "role": role, "claim": claim, "uses": uses}
        self._keep("invited", self._call(data, "invite", args))

    @rule(data=st.data())
    def join(self, data: st.DataObject) -> None:
        joined = self._call(data, "join", {})
        if joined is not None and joined.token is not None:
            self._keep(joined.member, joined)

    @rule(data=st.data(), member=st.sampled_from(HANDLES))
    def rotate(self, data: st.DataObject, member: str) -> None:
        self._keep(member, self._call(data, "rotate_token", {"member": member}))

    @rule(data=st.data(), member=st.sampled_from(HANDLES), name=st.sampled_from(["grant", "widen", "narrow"]), may=MAY)
    def change(self, data: st.DataObject, member: str, name: str, may: list[str]) -> None:
        self._call(data, name, {"member": member, "may": may})

    @rule(data=st.data(), member=st.sampled_from(HANDLES), seat=SEATS)
    def look_through(self, data: st.DataObject, member: str, seat: str) -> None:
        self._call(data, "grant", {"member": member, "may": ["watch", "read_own"], "through": seat})

    @rule(
        data=st.data(), member=st.sampled_from(HANDLES),
        name=st.sampled_from(["revoke", "clear_grant", "remove_member", "revoke_token"]),
    )  # fmt: skip
    def take(self, data: st.DataObject, member: str, name: str) -> None:
        self._call(data, name, {"member": member})

    @rule(data=st.data(), seat=st.none() | SEATS)
    def sit(self, data: st.DataObject, seat: str | None) -> None:
        self._call(data, "sit", {"seat": seat})

    @rule(data=st.data())
    def stand_up(self, data: st.DataObject) -> None:
        self._call(data, "stand_up", {})

    @invariant()
    def nothing_hidden_is_reached_without_the_player_being_told(self) -> None:
        self.runner.run(self._check())

    async def _check(self) -> None:
        if not self.tokens:
            return
        room = self.house.rooms["den"].room
        may_see = not self.sealed and (self.ann not in room.state.members or self._is_told())
        for client in list(self.tokens):
            try:
                credential = self.house.identify(client.token)
            except CohabitError:
                self.tokens.remove(client)
                continue
            member = room.member_of(credential.identity) if credential.identity else None
            if member is not None:
                assert C.READ_ALL not in member.held
                assert may_see or str(SECRET) not in await reads(client)

    def _is_told(self) -> bool:
        return any(
            told.kind == "account" and told.members == (self.ann,)
            for line in self.house.rooms["den"].room.record.tail for told in line.entry.told
        )  # fmt: skip

    def teardown(self) -> None:
        self.runner.run(self.opening.__aexit__(None, None, None))
        self.runner.close()
        self.folder.cleanup()


Intruder.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=25)
test_a_host_reaches_nothing_hidden_by_any_chain = Intruder.TestCase


class SealedIntruder(Intruder):
    """The same in a sealed room, with a token of a house host as well, and with everything else that a host can do: it
    never reads what ann hides."""

    sealed = True

    @initialize()
    def begin(self) -> None:
        super().begin()
        self.tokens.append(self.runner.run(issue(self.house, "boss", host=True)))

    @rule(data=st.data(), member=st.sampled_from([*HANDLES, "operator", "i-operator"]), in_room=st.booleans(),
          name=st.sampled_from(["issue_credential", "rotate_credential"]))  # fmt: skip
    def of_the_house(self, data: st.DataObject, member: str, in_room: bool, name: str) -> None:
        self._keep(member, self._call(data, name, {"name": member, **({"room": "den"} if in_room else {})}))

    @rule(
        data=st.data(), member=st.sampled_from(HANDLES), role=st.sampled_from(["player", "observer", "god"]),
        claim=st.none() | st.sampled_from(["auto:0", "auto:1", "id:red"]),
    )  # fmt: skip
    def add_member(self, data: st.DataObject, member: str, role: str, claim: str | None) -> None:
        self._call(data, "add_member", {"id": member, "role": role, "claim": claim})

    @rule(data=st.data(), member=st.sampled_from(["ann", "bob"]), seat=st.none() | SEATS, claims=st.booleans())
    def replace_a_player(self, data: st.DataObject, member: str, seat: str | None, claims: bool) -> None:
        """Remove a player, and join in its place."""
        self._call(data, "remove_member", {"member": member})
        claim = {"claim": {"ann": "auto:0", "bob": "auto:1"}[member]} if claims else {}
        invited = self._call(data, "invite", {"id": "sub", "role": "player", **claim})
        if invited is None:
            return
        client = Client(self.house, "den", "sub", invited.token)
        with suppress(CohabitError):
            client = self.runner.run(client.join())
            self.tokens.append(client)
            self.runner.run(client("sit", {"seat": seat}))

    @rule(data=st.data(), name=st.sampled_from(["save_world", "load_world", "reset", "rematch"]))
    def world(self, data: st.DataObject, name: str) -> None:
        args = {"save_world": {"name": "a"}, "load_world": {"name": "a"}}
        self._call(data, name, args.get(name, {}))

    @rule(data=st.data())
    def archive(self, data: st.DataObject) -> None:
        if data.draw(st.integers(0, 9)) == 0:
            self._call(data, "archive", {})

    @rule(data=st.data(), seat=SEATS)
    def ask(self, data: st.DataObject, seat: str) -> None:
        """Only ann could allow it, and she does not."""
        asked = self._call(data, "ask", {"through": seat})
        if asked is not None:
            self._call(data, "allow", {"request": asked.request})

    @rule(data=st.data())
    def revoke_invites(self, data: st.DataObject) -> None:
        for line in getattr(self._call(data, "invites", {}), "invites", []):
            self._call(data, "revoke_invite", {"invite": line.invite})

    @rule(data=st.data())
    def open_to_everybody(self, data: st.DataObject) -> None:
        self._call(data, "set_entry", {"open_": True})

    @rule()
    def wait(self) -> None:
        self.runner.run(self.house.clock.advance(100_000))


SealedIntruder.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=30)
test_a_host_in_a_sealed_room_never_sees_what_a_player_hides = SealedIntruder.TestCase
