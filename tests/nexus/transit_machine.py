"""Agents travel, play, die and are thrown out in any order, while games stop, disks refuse and the power fails.

The short run is in `test_machine.py`, the long one in `tests/soak`.
"""

import asyncio
from collections import Counter
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from cohabit.errors import Quarantined

from .games import AGENTS, GAMES, Journeys, Step

WHO = st.sampled_from(AGENTS)
GAME = st.sampled_from(sorted(GAMES))
ITEMS = {"caves": ("gold", "ore", "blade"), "zoo": ("gold", "ore", "blade"), "mines": ("coin", "iron", "axe")}
NEXT = st.sampled_from(["nexus", "nexus", *sorted(GAMES), "nowhere"])
MODE = st.sampled_from(["dormant", "suspend", "despawn"])


def _some(world: Journeys, who: str, game: str, share: int) -> dict[str, int] | None:
    """Some of what the body of an agent carries: all, half, or nothing."""
    if share == 0 or game not in world.house.rooms:
        return None
    room = world.room(game)
    member = room.member_of(world.identity[who])
    body = room.world.bodies.get(member.seat or "") if member is not None else None  # type: ignore[attr-defined]
    items = {item: count if share == 1 else (count + 1) // 2 for item, count in body.items.items()} if body else {}
    return {item: count for item, count in items.items() if item in ITEMS[game]} or None


class TransitMachine(RuleBasedStateMachine):
    """Whatever comes in whatever order, and wherever the house is killed, everything is in one place."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.world = Journeys()
        self.items: Counter[str] = Counter()

    @initialize()
    def begin(self) -> None:
        self.runner.run(self.world.begin())
        self.items = self.world.all_items()

    # -- what can be done --------------------------------------------------------------------------
    def _something(self, data: st.DataObject) -> Step:
        """Something that an agent or a host does, which can also be done while the disk or the power fails."""
        kind = data.draw(st.sampled_from(["journey", "journey", "single"]))
        return self._single(data) if kind == "single" else self._journey(data)

    def _journey(self, data: st.DataObject) -> Step:
        """An agent enters a game if it is in none, plays, and leaves with some of what it has, or stays."""
        world, who, game = self.world, data.draw(WHO), data.draw(GAME)
        moves = data.draw(st.lists(st.sampled_from(["take", "take", "take", "go", "jump", "respawn"]), max_size=4))
        which, mode, share = data.draw(st.integers(0, 2)), data.draw(MODE), data.draw(st.integers(0, 2))
        stays, destination = data.draw(st.integers(0, 3)) == 0, data.draw(NEXT)
        through_nexus, most = data.draw(st.booleans()), data.draw(st.sampled_from([None, None, 1, 3]))

        async def journey() -> None:
            wishes = {"max_steps": most, "exit_conditions": ["died"] if most else None}
            await world.tried(world(who, "nexus", "enter_game", game_id=game, **wishes))
            await world.tried(world(who, "nexus", "resume_game"))
            session = world.profile(who).session
            if session is None:
                return
            there = session.game
            for move in moves:
                args = {"take": {"item": ITEMS[there][which]}, "go": {"place": "pit" if share else "hall"}}
                await world.tried(world(who, there, move, **args.get(move, {})))
            if not stays:
                how = {"mode": mode, "carry": _some(world, who, there, share), "destination": destination}
                leaving = ("nexus", "leave_game") if through_nexus else (there, "exit_game")
                await world.tried(world(who, *leaving, **how))

        return journey

    def _single(self, data: st.DataObject) -> Step:
        world, who, game = self.world, data.draw(WHO), data.draw(GAME)
        session = world.profile(who).session
        here = session.game if session is not None else game
        name = data.draw(
            st.sampled_from(["enter", "exit", "leave", "remove", "resume", "give up", "remember", "goal", "jack_in"])
        )
        if name == "give up":
            world.lost.add(who)
        calls: dict[str, tuple[str, str, str, dict[str, Any]]] = {
            "enter": (who, "nexus", "enter_game", {"game_id": game, "items": {"caves:gold": 1}}),
            "exit": (
                who,
                here,
                "exit_game",
                {"mode": data.draw(MODE), "carry": _some(world, who, here, 1), "destination": data.draw(NEXT)},
            ),
            "leave": (who, here, "leave", {}),
            "remove": ("host", here, "remove_member", {"member": who}),
            "resume": (who, "nexus", "resume_game", {}),
            "give up": (who, "nexus", "give_up_game", {}),
            "remember": (who, "nexus", "remember", {"text": "caves are dark"}),
            "goal": (who, "nexus", "set_goal", {"goal": "survivor"}),
            "jack_in": (who, here, "jack_in", {}),
        }
        *call, args = calls[name]
        return lambda: world.tried(world(*call, **args))

    def _do(self, step: Step) -> Any:
        return self.runner.run(self.world.tried(step()))

    # -- rules -------------------------------------------------------------------------------------
    @rule(data=st.data())
    def do(self, data: st.DataObject) -> None:
        self._do(self._something(data))

    @rule(who=WHO, name=st.sampled_from(["take", "go", "jump", "collapse", "put"]), data=st.data())
    def play(self, who: str, name: str, data: st.DataObject) -> None:
        session = self.world.profile(who).session
        if session is None:
            return
        args = {
            "take": {"item": data.draw(st.sampled_from(ITEMS[session.game]))},
            "put": {"item": data.draw(st.sampled_from(ITEMS[session.game]))},
            "go": {"place": data.draw(st.sampled_from(["hall", "ledge", "pit"]))},
        }.get(name, {})
        self._do(lambda: self.world(who, session.game, name, **args))

    @rule(who=WHO, name=st.sampled_from(["respawn", "jack_out", "jack_in", "stand_up"]))
    def change_bodies(self, who: str, name: str) -> None:
        session = self.world.profile(who).session
        if session is not None:
            self._do(lambda: self.world(who, session.game, name))

    @rule(data=st.data(), others=st.integers(2, 3))
    def several_at_once(self, data: st.DataObject, others: int) -> None:
        steps = [self._something(data) for _ in range(others)]

        async def together() -> None:
            await asyncio.gather(*(self.world.tried(step()) for step in steps))

        self.runner.run(together())

    @rule(name=st.sampled_from(["sit", "jack_in", "jack_out", "go"]))
    def bob_plays_without_the_nexus(self, name: str) -> None:
        args = {"place": "pit"} if name == "go" else {}
        self._do(lambda: self.world("bob", "caves", name, **args))

    @rule(game=GAME, how=st.sampled_from(["open", "open", "closed", "maintenance", "small"]))
    def host_opens_or_closes(self, game: str, how: str) -> None:
        args = {"open": how != "closed", "maintenance": how == "maintenance", "capacity": 1 if how == "small" else 9}
        self._do(lambda: self.world("host", game, "open_to_nexus", **args))

    @rule(game=GAME)
    def game_stops(self, game: str) -> None:
        if game in self.world.house.rooms:
            self.world.house.rooms[game].stop(Quarantined("its world hangs"))

    @rule(game=GAME)
    def game_comes_back(self, game: str) -> None:
        self._do(lambda: self.world.house.reopen_room(game))

    @rule(what=st.sampled_from(["archive", "unarchive"]))
    def host_archives(self, what: str) -> None:
        self._do(lambda: self.world("host", "zoo", what))

    @rule()
    def game_is_deleted_and_made_again(self) -> None:
        """What is in it is gone with it, and what has left it is not."""
        self.runner.run(self._make_again("zoo"))

    async def _make_again(self, game: str) -> None:
        if game not in self.world.running():
            return
        self.items -= self.world.items_in(game)
        self.world.lost.update(AGENTS)  # deeds that nobody can count any more
        await self.world.house.delete_room(game)
        await self.world.make_game(game)
        self.items += self.world.items_in(game)

    @rule(data=st.data(), which=st.integers(1, 20))
    def disk_refuses_during(self, data: st.DataObject, which: int) -> None:
        """One write fails; later ones do not."""
        step, store = self._something(data), self.world.store
        store.refuses = {store.commits + which}
        self._do(step)
        self.runner.run(self.world.rest())
        store.refuses = set()

    @rule(who=WHO, which=st.integers(2, 3), game=GAME, gives_up=st.booleans(), next_game=GAME)
    def game_stops_before_a_package_is_confirmed(
        self, who: str, which: int, game: str, gives_up: bool, next_game: str
    ) -> None:
        """The profile or the confirmation could not be written, and then the game is offline for a while."""
        world = self.world

        async def leave() -> None:
            await world.tried(world(who, "nexus", "enter_game", game_id=game))
            await world.tried(world(who, "nexus", "resume_game"))
            await world.rest()
            session = world.profile(who).session
            if session is None or session.game not in world.running():
                return
            await world.tried(world(who, session.game, "take", item=ITEMS[session.game][0]))
            await world.rest()
            world.store.refuses = {world.store.commits + which}
            carry = _some(world, who, session.game, 1)
            await world.tried(world(who, session.game, "exit_game", carry=carry))
            world.house.rooms[session.game].stop(Quarantined("its world hangs"))
            await world.rest()
            world.store.refuses = set()
            if gives_up:
                await world.tried(world(who, "nexus", "give_up_game"))
            await world.tried(world(who, "nexus", "enter_game", game_id=next_game))

        world.lost.add(who)
        self._do(leave)

    @rule(data=st.data(), commits=st.integers(0, 20))
    def power_fails_during(self, data: st.DataObject, commits: int) -> None:
        step = self._something(data)
        self.world.store.power = commits
        self._do(step)
        self.runner.run(self.world.kill())

    @rule()
    def power_fails(self) -> None:
        self.runner.run(self.world.kill())

    # -- what always holds -------------------------------------------------------------------------
    @invariant()
    def everything_is_in_one_place(self) -> None:
        if not self.items:
            return
        self.runner.run(self._check())

    async def _check(self) -> None:
        await self.world.rest()
        if len(self.world.running()) == len(GAMES):
            await self.world.rest()
            await self.world.check()
            assert self.world.all_items() == self.items

    def teardown(self) -> None:
        async def end() -> None:
            for game in GAMES:
                await self.world.tried(self.world.house.reopen_room(game))
            await self._check()
            await self.world.close()

        if self.items:
            self.runner.run(end())
        self.runner.close()
