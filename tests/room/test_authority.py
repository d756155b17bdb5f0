"""Nobody can give what they do not hold, by any chain of commands."""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.examples import examples

from cohabit.errors import CohabitError, GameRejected, PermissionDenied, UnknownAsset
from cohabit.model.grant import ROLES, SEAT_BOUND, Capability
from cohabit.model.seat import PUBLIC, Eye
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed

from .making import AGENT, BLUE, GOD, HOST, OBSERVER, RED, entries, make_room, replayed

C = Capability
SECOND_HOST = {"id": "second", "role": "host"}


def told(room: Room, who: str, kind: str = "account") -> list[str]:
    member = room.state.members[who]
    return [i.text for e in entries(room) for i in feed(e, member, room.eye(member)) if i.kind == kind]


# -- chains ---------------------------------------------------------------------------------------
CHAINS: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "to another member": [("hostess", "grant", {"member": "bot", "may": ["watch", "read_all"]})],
    "as a loan": [("hostess", "widen", {"member": "bot", "may": ["read_all"], "expires_in_s": 60})],
    "to oneself": [("hostess", "widen", {"member": "hostess", "may": ["read_all"]})],
    "through a second manager": [
        ("hostess", "grant", {"member": "bot", "may": ["read_all", "manage_members"]}),
        ("bot", "widen", {"member": "hostess", "may": ["read_all"]}),
    ],
    "through a manager that lacks it too": [
        ("hostess", "widen", {"member": "bot", "may": ["manage_members"]}),
        ("bot", "widen", {"member": "hostess", "may": ["read_all"]}),
    ],
    "by a role": [("hostess", "add_member", {"id": "spy", "role": "observer"})],
    "by a role with more": [("hostess", "add_member", {"id": "spy", "role": "god"})],
    "by giving back what was taken": [
        ("hostess", "narrow", {"member": "owl", "may": ["read_all"]}),
        ("hostess", "clear_grant", {"member": "owl"}),
    ],
    "by widening again what was taken": [
        ("hostess", "narrow", {"member": "owl", "may": ["read_all"]}),
        ("hostess", "widen", {"member": "owl", "may": ["read_all"]}),
    ],
    "by clearing a revocation": [("hostess", "revoke", {"member": "owl"}), ("hostess", "clear_grant", {"member": "owl"})],
    "by Kibitz's names": [("hostess", "widen", {"member": "bot", "may": ["read-all"]})],
    "through an own seat": [("hostess", "grant", {"member": "hostess", "may": sorted(ROLES["host"]), "through": "red"})],
    "by removing and adding": [
        ("hostess", "remove_member", {"member": "owl"}), ("hostess", "add_member", {"id": "owl", "role": "observer"}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("chain", CHAINS)
def test_a_host_that_may_not_see_everything_reaches_no_hidden_value(chain: str) -> None:
    room = make_room(RED, BLUE, HOST, AGENT, OBSERVER, partial_intel=True)
    room.call("ann", "hide", {"n": 4711}, at=1)
    for at, (who, name, args) in enumerate(CHAINS[chain], start=2):
        last = at == len(CHAINS[chain]) + 1
        if not last:
            try:
                room.call(who, name, args, at=at)
            except PermissionDenied:
                return
        else:
            before = room.digest()
            with pytest.raises(PermissionDenied):
                room.call(who, name, args, at=at)
            assert room.digest() == before
    for who in ("hostess", "bot"):
        assert "4711" not in room.call(who, "view", at=9).text
        assert C.READ_ALL not in room.state.members[who].held


def test_a_holder_can_give_what_it_holds_and_then_the_receiver_can() -> None:
    room = make_room(RED, HOST, GOD, AGENT)
    room.call("zeus", "widen", {"member": "hostess", "may": ["read_all"]}, at=1)
    room.call("hostess", "widen", {"member": "bot", "may": ["read_all"]}, at=2)
    assert C.READ_ALL in room.state.members["bot"].held
    room.call("zeus", "narrow", {"member": "hostess", "may": ["read_all"]}, at=3)
    with pytest.raises(PermissionDenied):
        room.call("hostess", "widen", {"member": "ann", "may": ["read_all"]}, at=4)


def test_a_host_cannot_invite_somebody_with_a_default_role_that_gives_more_than_it_holds() -> None:
    room = make_room(RED, HOST, GOD)
    room.call("zeus", "narrow", {"member": "hostess", "may": ["speak"]}, at=1)
    with pytest.raises(PermissionDenied, match="speak"):
        room.call("hostess", "add_member", {"id": "pat", "kind": "human"}, at=2)
    assert room.call("hostess", "add_member", {"id": "bot", "kind": "agent"}, at=3).role == "agent"


# -- seeds ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("command", ["reset", "rematch"])
def test_the_seed_is_told_to_members_that_see_everything_and_to_nobody_else(command: str) -> None:
    room = make_room(RED, BLUE, HOST, GOD)
    for who, knows in (("hostess", False), ("zeus", True)):
        begun = room.call(who, command, at=1)
        assert (begun.seed == room.state.seed) is knows
        assert begun.seed is None or knows
    seeds = {room.state.seed, f"{7:032x}"}
    for who in ("ann", "hostess"):
        everything = str([room.call(who, name, at=2) for name in ("view", "whoami", "session_info", "rules")])
        member = room.state.members[who]
        everything += str([feed(e, member, room.eye(member)) for e in entries(room)])
        assert not any(seed in everything for seed in seeds)


def test_a_host_that_may_not_see_everything_cannot_choose_the_seed_of_a_world_that_hides_things() -> None:
    room = make_room(RED, BLUE, HOST, GOD)
    with pytest.raises(PermissionDenied, match="read_all"):
        room.call("hostess", "reset", {"seed": 8}, at=1)
    assert room.call("zeus", "reset", {"seed": 8}, at=2).game == 2
    open_room = make_room(RED, BLUE, HOST, world="nim")
    assert open_room.call("hostess", "reset", {"seed": 8}, at=1).game == 2


# -- looking through a seat -----------------------------------------------------------------------
KIBITZ = {"member": "bot", "may": ["watch", "read_own"], "through": "red"}


def test_a_player_is_told_who_looks_through_its_seat_and_by_whose_decision() -> None:
    room = make_room(RED, BLUE, HOST, AGENT, partial_intel=True, sealed=False)
    room.call("ann", "hide", {"n": 41}, at=1)
    room.call("hostess", "grant", KIBITZ, at=2)
    assert room.call("bot", "numbers", at=3) == {"red": [41]}
    assert told(room, "ann") == ["hostess lets bot see what your seat sees"]
    assert told(room, "bob") == []
    assert room.call("bot", "whoami", at=4).grant["through"] == "red"


def test_a_player_without_a_grant_is_told_too() -> None:
    room = make_room(RED, BLUE, HOST, AGENT)
    room.call("hostess", "revoke", {"member": "ann"}, at=1)
    room.call("hostess", "grant", KIBITZ, at=2)
    assert told(room, "ann") == ["hostess lets bot see what your seat sees"]


def test_the_next_player_of_a_seat_is_not_looked_at_unless_it_was_told() -> None:
    free = {"id": "fay", "role": "player"}
    room = make_room({**free, "id": "eve"}, BLUE, HOST, AGENT, free, partial_intel=True, sealed=False)
    room.call("eve", "sit", {"seat": "red"}, at=1)
    room.call("hostess", "grant", KIBITZ, at=2)
    room.call("eve", "stand_up", at=3)
    room.call("fay", "sit", {"seat": "red"}, at=4)
    room.call("fay", "hide", {"n": 4711}, at=5)
    assert "4711" not in str(room.call("bot", "numbers", at=6))
    assert not any("4711" in text for text in told(room, "bot", "info"))
    room.call("hostess", "grant", KIBITZ, at=7)
    assert told(room, "fay") == ["hostess lets bot see what your seat sees"]
    assert room.call("bot", "numbers", at=8) == {"red": [4711]}
    assert replayed(room).digest() == room.digest()


def test_nobody_looks_through_a_seat_without_a_player_or_through_one_that_is_not_there() -> None:
    room = make_room(BLUE, HOST, AGENT)
    with pytest.raises(GameRejected, match="seat red has no player to notify"):
        room.call("hostess", "grant", KIBITZ, at=1)
    with pytest.raises(UnknownAsset):
        room.call("hostess", "grant", {**KIBITZ, "through": "rad"}, at=1)
    assert room.state.members["bot"].held == ROLES["agent"]


def test_nothing_is_seen_through_a_seat_that_is_gone() -> None:
    room = make_room(RED, BLUE, GOD, HOST, AGENT, world="Realms", partial_intel=True, sealed=False)
    for name in ("avalon", "burgundy"):
        room.call("zeus", "rise", {"name": name}, at=1)
    room.call("hostess", "grant", {**KIBITZ, "through": "avalon"}, at=2)
    assert room.eye(room.state.members["bot"]) == Eye("avalon", "own")
    room.call("zeus", "fall", {"name": "avalon"}, at=3)
    assert room.eye(room.state.members["bot"]) == PUBLIC
    assert room.call("bot", "view", at=4).observation == room.observe(PUBLIC)
    assert replayed(room).digest() == room.digest()


def test_widening_and_narrowing_keep_the_seat_that_is_looked_through_and_other_changes_end_it() -> None:
    room = make_room(RED, BLUE, HOST, AGENT)
    for name, args, kept in (
        ("widen", {"may": ["speak"]}, "red"), ("narrow", {"may": ["speak"]}, "red"), ("grant", {"may": ["watch"]}, None),
        ("revoke", {}, None), ("clear_grant", {}, None),
    ):  # fmt: skip
        room.call("hostess", "grant", KIBITZ, at=1)
        room.call("hostess", name, {"member": "bot", **args}, at=2)
        assert room.state.members["bot"].through == kept
    room.call("hostess", "grant", {**KIBITZ, "expires_in_s": 1}, at=3)
    room.settle(5_000)
    assert room.state.members["bot"].through is None


# -- any chain ------------------------------------------------------------------------------------
CAPABILITIES = st.lists(st.sampled_from(list(Capability)), max_size=4, unique=True)


class Authority(RuleBasedStateMachine):
    """Members change each other's grants in any order, and time passes. Whatever somebody gains beyond what is bound to
    a seat, the caller held before."""

    @initialize()
    def begin(self) -> None:
        self.room = make_room(RED, BLUE, HOST, SECOND_HOST, GOD, OBSERVER, AGENT, partial_intel=True, sealed=False)
        self.at = 0
        self.made = 0
        self.gave_read_all = {"zeus", "owl"}  # created with it, or given it by a holder

    def _held(self) -> dict[str, frozenset[Capability]]:
        return {m.id: m.held for m in self.room.state.members.values()}

    def _call(self, who: str, name: str, args: dict[str, Any]) -> None:
        before = self._held()
        if who not in before:
            return
        try:
            self.room.call(who, name, args, at=self.at)
        except CohabitError as refused:
            assert refused.code != "INTERNAL"
            assert self._held() == before
            return
        for member, held in self._held().items():
            gained = held - before.get(member, frozenset())
            allowed = before[who] | (SEAT_BOUND if C.MANAGE_MEMBERS in before[who] and member != who else frozenset())
            assert gained <= allowed, f"{who} gave {member} {sorted(gained - allowed)} with {name} {args}"
            if C.READ_ALL in gained and who in self.gave_read_all:
                self.gave_read_all.add(member)

    def _members(self) -> list[str]:
        return list(self.room.state.members)

    @rule(
        data=st.data(),
        name=st.sampled_from(["grant", "widen", "narrow"]),
        may=CAPABILITIES,
        expires=st.none() | st.integers(1, 20),
    )
    def change(self, data: st.DataObject, name: str, may: list[Capability], expires: int | None) -> None:
        who, member = data.draw(st.sampled_from(self._members())), data.draw(st.sampled_from(self._members()))
        args: dict[str, Any] = {"member": member.partition("#")[0], "may": may}
        if name != "narrow":
            args["expires_in_s"] = expires
        self._call(who, name, args)

    @rule(data=st.data(), name=st.sampled_from(["revoke", "clear_grant", "remove_member"]))
    def take(self, data: st.DataObject, name: str) -> None:
        who, member = data.draw(st.sampled_from(self._members())), data.draw(st.sampled_from(self._members()))
        self._call(who, name, {"member": member.partition("#")[0]})

    @rule(data=st.data(), role=st.none() | st.sampled_from(sorted(ROLES)), kind=st.sampled_from(["agent", "human"]))
    @precondition(lambda self: len(self.room.state.members) < 12)
    def add(self, data: st.DataObject, role: str | None, kind: str) -> None:
        who = data.draw(st.sampled_from(self._members()))
        handle = data.draw(st.sampled_from(["new", "owl", "bot"]))
        self._call(who, "add_member", {"id": handle, "role": role, "kind": kind})

    @rule(data=st.data(), seat=st.sampled_from(["red", "blue", "none"]))
    def look_through(self, data: st.DataObject, seat: str) -> None:
        who, member = data.draw(st.sampled_from(self._members())), data.draw(st.sampled_from(self._members()))
        self._call(who, "grant", {"member": member.partition("#")[0], "may": ["watch", "read_own"], "through": seat})

    @rule(ms=st.integers(1, 15_000))
    def wait(self, ms: int) -> None:
        before = self._held()
        self.at += ms
        self.room.settle(self.at)
        assert all(held <= before[member] for member, held in self._held().items()), "time gave somebody something"

    @invariant()
    def only_holders_hold_read_all(self) -> None:
        for member in self.room.state.members.values():
            assert C.READ_ALL not in member.held or member.id in self.gave_read_all

    def teardown(self) -> None:
        if hasattr(self, "room"):
            assert replayed(self.room).digest() == self.room.digest()


Authority.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=40)
test_nobody_gains_what_the_caller_did_not_hold = Authority.TestCase
