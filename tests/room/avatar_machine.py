"""Members of one room do anything with avatars in any order. The short run is in `test_avatars.py`."""

from base64 import b64encode
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from cohabit import saves
from cohabit.bodies import EmbodiedWorld
from cohabit.errors import CohabitError
from cohabit.features.bodies.own import owner_of
from cohabit.features.bodies.state import avatars_in
from cohabit.model.avatar import AvatarState
from cohabit.registry import make_world
from cohabit.room.record import Line
from cohabit.room.room import Room

from .making import make_room, player, restored

CAVES = f"{Path(__file__).parent.parent / 'worlds_samples' / 'bodies' / 'caves.py'}:Caves"
State = AvatarState
PLAYERS = ("ann", "bob", "cid")
MEMBERS = [
    {"id": "ann", "role": "player"},
    {"id": "bob", "role": "player"},
    player("cid", 0),
    {"id": "hostess", "role": "host", "kind": "human"},
    {"id": "zeus", "role": "god"},
    {"id": "owl", "role": "observer"},
]
WHO = st.sampled_from(PLAYERS)
NEVER = ("INTERNAL", "QUARANTINED", "RECORD_CORRUPT")
LEGAL = {
    None: {State.UNBOUND, State.BOUND, State.SUSPENDED, State.DESTROYED},  # a new one; of a save: one that waits
    State.UNBOUND: {State.BOUND},
    State.BOUND: {State.DORMANT, State.SUSPENDED, State.DESTROYED},
    State.DORMANT: {State.BOUND, State.DESTROYED},
    State.SUSPENDED: {State.BOUND},
    State.DESTROYED: {State.BOUND},
}
"""The moves between states in one entry. In one entry a body can also be left for another, or be woken and killed."""


class AvatarMachine(RuleBasedStateMachine):
    """No order of commands brings avatars, seats and bodies out of step."""

    world = CAVES
    config: dict[str, Any] = {}  # noqa: RUF012 - never changed

    def __init__(self) -> None:
        super().__init__()
        self.room: Room = make_room(*MEMBERS, world=self.world, config=self.config)
        self.room.digest_every = 7
        self.at = 0
        self.states: dict[str, State] = {}
        self.saved: list[bytes] = []
        self.lines: list[Line] = []  # of the record, before the room was opened again

    @initialize()
    def begin(self) -> None:
        self.states = self._states()

    def _states(self) -> dict[str, State]:
        return {avatar.id: avatar.state for avatar in avatars_in(self.room.state).values()}

    def _call(self, who: str, name: str, args: dict[str, Any] | None = None) -> Any:
        """A call changes nothing if it is refused, and only makes legal moves if it is not."""
        before = self.room.digest()
        try:
            result = self.room.call(who, name, args, at=self.at)
        except CohabitError as refused:
            assert refused.code not in NEVER, refused.as_text()
            assert refused.code != "GAME_CRASH" or name == "collapse", refused.as_text()
            assert self.room.digest() == before, f"{who} {name} {args} was refused and changed something"
            return None
        now = self._states()
        if name not in ("rematch", "reset"):
            for avatar, state in now.items():
                was = self.states.get(avatar)
                assert state is was or state in LEGAL[was], f"{name}: {avatar} went from {was} to {state}"
        self.states = now
        return result

    # -- what members do ---------------------------------------------------------------------------
    @rule(ms=st.sampled_from([0, 1, 700, 5000]))
    def wait(self, ms: int) -> None:
        self.at += ms

    @rule(who=WHO, data=st.data())
    def jack_in(self, who: str, data: st.DataObject) -> None:
        avatar = data.draw(st.none() | st.sampled_from(sorted(avatars_in(self.room.state)) or ["avatar-0"]))
        self._call(who, "jack_in", {"avatar_id": avatar})

    @rule(who=WHO, mode=st.sampled_from(["dormant", "suspend", "despawn"]), data=st.data())
    def transfer(self, who: str, mode: str, data: st.DataObject) -> None:
        held = self._controlled(who)
        avatar = data.draw(st.sampled_from(sorted(avatars_in(self.room.state)) or ["avatar-0"]))
        if self._call(who, "transfer", {"avatar_id": avatar, "mode": mode}) is not None:
            assert held not in (None, avatar)
            assert self._controlled(who) == avatar
            assert avatars_in(self.room.state)[held or ""].state.value.startswith(
                {"despawn": "destroyed"}.get(mode, mode)
            )

    @rule(who=WHO, mode=st.sampled_from(["dormant", "suspend", "despawn"]))
    def jack_out(self, who: str, mode: str) -> None:
        held = self.room.call("hostess", "whoami", at=self.at) and self._controlled(who)
        result = self._call(who, "jack_out", {"mode": mode})
        if result is not None:
            assert held is not None
            assert result.avatar_state is avatars_in(self.room.state)[held].state
            assert result.avatar_state.value.startswith({"despawn": "destroyed"}.get(mode, mode))

    @rule(who=WHO, seat=st.none() | st.sampled_from(["1", "2", "3"]))
    def sit(self, who: str, seat: str | None) -> None:
        self._call(who, "sit", {"seat": seat})

    @rule(who=WHO, name=st.sampled_from(["stand_up", "leave", "inspect_self", "check_inventory", "avatars", "death"]))
    def plain(self, who: str, name: str) -> None:
        self._call(who, name)

    @rule(who=WHO)
    def join_again(self, who: str) -> None:
        self._call("hostess", "add_member", {"id": who, "role": "player"})

    @rule(who=WHO)
    def remove(self, who: str) -> None:
        self._call("hostess", "remove_member", {"member": who})

    @rule(who=WHO, name=st.none() | st.text(max_size=5))
    def create_avatar(self, who: str, name: str | None) -> None:
        self._call(who, "create_avatar", {"name": name})

    @rule(who=WHO, option=st.sampled_from([None, "hall", "bought", "start", "random", "nowhere"]))
    def respawn(self, who: str, option: str | None) -> None:
        self._call(who, "respawn", {"option": option})

    @rule(who=WHO, emote=st.sampled_from(["wave", "sit", "shake"]))
    def emote(self, who: str, emote: str) -> None:
        self._call(who, "emote", {"emote": emote})

    @rule(who=st.sampled_from(["hostess", "zeus"]), name=st.sampled_from(["rematch", "reset"]))
    def another_game(self, who: str, name: str) -> None:
        if self._call(who, name) is not None:
            assert all(body.state in (State.BOUND, State.DESTROYED) for body in avatars_in(self.room.state).values())

    @rule()
    def save(self) -> None:
        room = self.room
        self.saved.append(saves.pack(room.world, True, room.state.game, room.state.played))

    @rule(data=st.data())
    def load(self, data: st.DataObject) -> None:
        if self.saved:
            save = data.draw(st.sampled_from(self.saved))
            self.room.system("loaded", {"by": "zeus", "save": b64encode(save).decode()}, self.at)
            self.states = self._states()

    @rule()
    def open_again(self) -> None:
        digest = self.room.digest()
        self.lines += self.room.record.tail
        self.room = restored(self.room)
        assert self.room.digest() == digest

    # -- what always holds -------------------------------------------------------------------------
    def _controlled(self, who: str) -> str | None:
        member = self.room.state.with_handle(who)
        bound = [a.id for a in avatars_in(self.room.state).values() if member is not None and a.by == member.id]
        assert len(bound) <= 1, f"{who} controls {bound}"
        return bound[0] if bound else None

    @invariant()
    def avatars_fit_seats_and_bodies(self) -> None:
        room, world = self.room, self.room.world
        assert isinstance(world, EmbodiedWorld)
        members = room.state.members
        seated = {m.seat: m for m in members.values() if m.seat is not None}
        assert len(seated) == sum(m.seat is not None for m in members.values()), "two members have one seat"
        seats = [avatar.seat for avatar in avatars_in(room.state).values() if avatar.seat]
        assert len(set(seats)) == len(seats), "two avatars have one body"
        for avatar in avatars_in(room.state).values():
            assert (avatar.state is State.BOUND) == (avatar.by is not None)
            if avatar.state is State.BOUND:
                assert seated[avatar.seat].id == avatar.by
                assert owner_of(seated[avatar.seat]) == avatar.owner
                assert world.is_alive(avatar.seat)
                assert avatar.seat in room.seats
            elif avatar.state in (State.DORMANT, State.SUSPENDED):
                assert avatar.seat not in room.seats
                assert world.is_alive(avatar.seat)
            elif avatar.state is State.UNBOUND:
                assert not avatar.seat
            else:
                assert avatar.despawned or not world.is_alive(avatar.seat)
        for seat, member in seated.items():
            controls = [a for a in avatars_in(room.state).values() if a.by == member.id]
            assert bool(controls) == world.is_alive(seat), f"{member.id} sits on {seat}, and controls {controls}"
        for owner in {avatar.owner for avatar in avatars_in(room.state).values()}:
            own = [a for a in avatars_in(room.state).values() if a.owner == owner and a.state is not State.DESTROYED]
            assert len(own) <= world.avatars_per_agent, f"{owner} has {len(own)} avatars"

    @invariant()
    def each_member_reads_its_own_avatars_and_no_others(self) -> None:
        for who in PLAYERS:
            member = self.room.state.with_handle(who)
            if member is not None:
                roster = self.room.call(member.id, "avatars", at=self.at)
                own = [a.id for a in avatars_in(self.room.state).values() if a.owner == owner_of(member)]
                assert [avatar.avatar_id for avatar in roster.avatars] == own

    def teardown(self) -> None:
        again = Room.replay([*self.lines, *self.room.record.tail], make_world)
        assert again.digest() == self.room.digest()


class CavesMachine(AvatarMachine):
    """In a world with every danger."""

    @rule(who=WHO, place=st.sampled_from(["hall", "ledge", "pit"]))
    def go(self, who: str, place: str) -> None:
        self._call(who, "go", {"place": place})

    @rule(who=WHO, item=st.sampled_from(["gold", "ore"]), name=st.sampled_from(["take", "put"]))
    def move_item(self, who: str, item: str, name: str) -> None:
        self._call(who, name, {"item": item})

    @rule(who=WHO, whom=st.integers(1, 4), times=st.integers(1, 3))
    def hit(self, who: str, whom: int, times: int) -> None:
        for _ in range(times):
            self._call(who, "hit", {"whom": str(whom)})

    @rule(who=WHO, name=st.sampled_from(["jump", "collapse"]))
    def end(self, who: str, name: str) -> None:
        self._call(who, name)

    @rule(barred=st.booleans())
    def bar(self, barred: bool) -> None:
        self._call("zeus", "bar", {"barred": barred})

    @rule(who=WHO, stance=st.sampled_from(["standing", "crouching", "flying"]))
    def stance(self, who: str, stance: str) -> None:
        if self._call(who, "stance", {"stance": stance}) is not None:
            assert self._call(who, "inspect_self").stance == stance != "flying"

    @rule(who=WHO, item=st.sampled_from(["gold", "blade", "hand"]), name=st.sampled_from(["equip", "unequip"]))
    def equip(self, who: str, item: str, name: str) -> None:
        if self._call(who, name, {"item" if name == "equip" else "slot": item}) is not None:
            held = self._call(who, "check_inventory").equipment
            assert held == ({"hand": item} if name == "equip" else {})

    @invariant()
    def nobody_holds_what_it_does_not_have(self) -> None:
        for body in self.room.world.bodies.values():  # type: ignore[attr-defined]
            assert not body.held or body.held in body.items

    @invariant()
    def nothing_is_made_or_lost(self) -> None:
        assert self.room.world.all_items() == {"gold": 5, "ore": 5, "blade": 5}  # type: ignore[attr-defined]


class CrafterMachine(AvatarMachine):
    """In the wild, where zombies come at night."""

    world = "crafter_shared"
    config = {"respawns": True, "size": 16}  # noqa: RUF012

    @rule(who=WHO, action=st.sampled_from(["noop", "move_left", "move_down", "do", "sleep", "place_table"]))
    def act(self, who: str, action: str) -> None:
        self._call(who, "act", {"action": action})

    @rule(times=st.integers(1, 40))
    def time_passes(self, times: int) -> None:
        """Everybody who lives does nothing for a while."""
        for _ in range(times):
            for who in PLAYERS:
                member = self.room.state.with_handle(who)
                if member is not None and member.seat in self.room.to_move():
                    self._call(member.id, "act", {"action": "noop"})

    @rule(who=WHO)
    def lava(self, who: str) -> None:
        """A sure death, by the rules of the world: hunger has taken all but the last of its health."""
        member = self.room.state.with_handle(who)
        if member is not None and member.seat in self.room.to_move():
            for _ in range(60):
                if member.seat in self.room.to_move():
                    self._call(member.id, "act", {"action": "noop"})
