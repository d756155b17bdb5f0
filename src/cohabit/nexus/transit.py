"""Transit: brings agents into games and back, whatever happens in between.

A profile says in which session an agent is; the game's record says which visits it has and which have ended. The game
is always changed first, and the profile follows (``follow``), so after a stop or a failed write the profile is brought
to what the games say. Doing that twice changes nothing.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from cohabit import errors
from cohabit.bodies import EmbodiedWorld
from cohabit.features.bodies.own import newest_dead, to_take, ways_back, why_no_body
from cohabit.features.visits.state import VISITS, Visit
from cohabit.features.visits.transit import Receipt
from cohabit.features.visits.visits import in_another_game, ongoing
from cohabit.house.access.credentials import revoke_and_store
from cohabit.house.access.limited_keys import check_not_barred
from cohabit.house.calls.across import is_on_its_way, moving_rooms
from cohabit.house.clock import pause
from cohabit.house.running.calls import SystemCall
from cohabit.house.running.remote import QueuedStep
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import hashed, make_token
from cohabit.model.admission import Admission
from cohabit.model.grant import Capability
from cohabit.model.identity import Credential, Identity
from cohabit.model.travel import EntryPackage, ExitPackage
from cohabit.model.words import Words, texts_in
from cohabit.nexus import goals
from cohabit.nexus.games import find_game, game_of, games_of, travel_of
from cohabit.nexus.packages import began, entry, leave, leave_late, so_far
from cohabit.nexus.places import Places
from cohabit.nexus.profiles import Profiles
from cohabit.nexus.values import GoalProgress, Profile, Session, Wishes
from cohabit.room.room import Room
from cohabit.scenario import free_handle, handle_for

if TYPE_CHECKING:
    from cohabit.house.calls.context import Services
    from cohabit.house.running.runner import RoomRunner

log = logging.getLogger("cohabit")
LOOK_MS = 50
"""Between two looks at which rooms are still being opened."""
LABEL = "Nexus"
"""Of the tokens for games that the Nexus has issued."""


class Transit:
    """The transits of one house."""

    def __init__(self, house: "Services", room: str, changed: Callable[[], None]) -> None:
        """``room`` is the Nexus; ``changed`` is called after visits and goals have changed profiles."""
        self.house = house
        self._room = room
        self._changed = changed
        self.profiles = Profiles(house)
        self.places = Places(house, self.profiles)
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking: dict[str, bool] = {}  # identities whose profile is being brought up to date, and if once more

    # -- entering ---------------------------------------------------------------------------------
    async def enter(self, identity: str, ticket: str, game: str, wishes: Wishes) -> tuple[Profile, Receipt]:
        """Bring an agent into a game. Everything that is refused leaves it where it is."""
        async with self.profiles.changing(identity):
            return await self._enter(await self._followed(identity), ticket, game, wishes)

    async def _enter(self, profile: Profile, ticket: str, game: str, wishes: Wishes) -> tuple[Profile, Receipt]:
        self._check_whole(profile)
        runner = find_game(self.house, game)
        package = entry(profile, travel_of(runner.room.world), ticket, wishes, game_of(runner))
        receipt: Receipt = await runner.submit(QueuedStep("transit_in", partial(self._arrive, package)))
        try:
            return await self._followed(profile.agent_id), receipt
        except errors.CohabitError as failed:  # it is there; its profile follows with the next look at it
            raise errors.OutcomeUnknown(f"you are in the game {game}, but {failed.message}") from failed

    def _check_whole(self, profile: Profile) -> None:
        """Refuse to go anywhere while a game that does not answer has a visit that the profile does not know of."""
        for runner in self._rooms_of(profile):
            visit, left = _visits_of(profile.agent_id, runner.room)
            tickets = {one.ticket for one in (*left, visit) if one is not None}
            if runner.failure is not None and tickets - {*profile.closed, *profile.given_up}:
                raise errors.GameRejected(
                    f"the game {runner.id}, where you were, is offline; wait until it is back, or return without "
                    "anything (give_up_game)"
                )

    def _arrive(self, package: EntryPackage, room: Room, at: int) -> Receipt:
        """In the queue of the game's room: admit the agent if it is no member, and seat it."""
        state, identity = room.state, package.identity
        policy = VISITS.read(state).nexus
        known = self.house.identities.get(identity)
        if policy is None or known is None or game_of(self.house.rooms[room.id]).status != "available":
            raise errors.PermissionDenied(
                f"the game {room.id} does not accept visitors now; choose another one, or wait"
            )
        if identity in state.blocked:
            raise errors.PermissionDenied("a host has blocked you in this game")
        check_not_barred(room, known)
        if (knock := state.knock_of(identity)) is not None and knock.denied:
            raise errors.PermissionDenied("a host has denied you entry to this game")
        respawn = _way_back(package, room) if isinstance(room.world, EmbodiedWorld) else {}
        if other := self.places.elsewhere(room.id, identity):
            raise errors.GameRejected(in_another_game(other))
        me = room.member_of(identity)
        if package.new_avatar is not None:  # others see what it is called
            texts, is_named = tuple(texts_in(msgspec.to_builtins(package.new_avatar))), bool(package.new_avatar.name)
            room.check_words(
                me, Words(texts, is_named, identity=identity, instead="leave out the name of the new avatar")
            )
        admitted = me is None
        if admitted:
            room.check_words(None, Words((known.name,), False, instead="ask a host for a token with another name"))
            if room.members_limit is not None and len(state.members) >= room.members_limit:
                raise errors.PermissionDenied(
                    f"the game {room.id} has its most members, {room.members_limit}; try again later"
                )
            room.system("admitted", msgspec.to_builtins(_admission(room, known, policy.role)), at)
        try:
            args = {"package": msgspec.to_builtins(package), "admitted": admitted, **respawn}
            receipt: Receipt = room.system("transit_in", args, at)
        except errors.CohabitError:
            if admitted:
                room.system("transit_refused", {"identity": identity}, at)
            raise
        return receipt

    # -- leaving ----------------------------------------------------------------------------------
    async def leave(self, identity: str, ticket: str, args: dict[str, Any]) -> tuple[Profile, ExitPackage]:
        """Bring an agent back from its game, by the command `exit_game` there, and to the next one if it wants that.
        ``ticket``: of the session that it means; empty: the one that it is in."""
        async with self.profiles.changing(identity):
            profile = await self._followed(identity)
            session = profile.session
            if session is None:
                raise errors.GameRejected("you are in no game; enter one (enter_game)")
            if ticket and ticket != session.ticket:
                raise errors.GameRejected(f"you are in the session {session.ticket}, not in {ticket[:100]}")
            runner = self.house.rooms.get(session.game)
            self._check_not_moving(session.game)
            if runner is None or _is_offline(runner):
                raise errors.Unreachable(
                    f"the game {session.game} is offline; try again when it is back, or return without anything with "
                    "give_up_game"
                )
            step = partial(_exit_game, identity, session.ticket, args)
            package: ExitPackage = await runner.submit(QueuedStep("leave_game", step))
            return await self._go_on(await self._followed(identity), gets_token=True), package

    async def _go_on(self, profile: Profile, gets_token: bool = False) -> Profile:
        """Bring an agent that has left a game to the one where it goes next, or note why it stays in the Nexus. Until
        then its profile has the wish. ``gets_token``: the caller hands a token for the game over to it."""
        onward = profile.onward
        if onward is None or onward.refused or profile.session is not None:
            return profile
        if onward.game == self._room:
            return await self.profiles.save(replace(profile, onward=None))
        try:
            self._check_traveller(profile.agent_id)
            if not gets_token and not self._has_token(profile.agent_id, onward.game):
                find_game(self.house, onward.game)
                raise errors.GameRejected(f"you have no token for {onward.game}; call enter_game, whose reply has one")
            entered, _ = await self._enter(profile, onward.ticket, onward.game, Wishes())
        except errors.OutcomeUnknown:
            raise
        except (errors.AskerError, errors.WorldError, errors.Unreachable) as refused:
            log.info("%s stays in the Nexus: %s", profile.agent_id, refused.message)
            return await self.profiles.save(replace(profile, onward=replace(onward, refused=refused.message)))
        return entered

    def _check_traveller(self, identity: str) -> None:
        """Refuse to bring anybody anywhere who could not call enter_game."""
        runner = self.house.rooms[self._room]
        member = runner.room.member_of(identity)
        if runner.failure is not None or runner.room.state.archived:
            raise errors.GameRejected("the Nexus is closed")
        if member is None or member.seat is None or Capability.ACT not in member.held:
            raise errors.PermissionDenied(
                "you have no seat in the Nexus, or may not act there; sit there, then enter_game"
            )

    def _has_token(self, identity: str, game: str) -> bool:
        """True if an agent has a token that is valid in a game, not counting those of a visit."""
        identities = self.house.identities
        return bool(identities.of(identity, None)) or any(k.label != LABEL for k in identities.of(identity, game))

    async def token_for(self, identity: str, game: str) -> str | None:
        """A token for a game, if the agent has none that is valid there. It is revoked when the visit ends."""
        identities = self.house.identities
        if self._has_token(identity, game):
            return None
        held = identities.of(identity, game)
        token, now = make_token(), self.house.clock.now()
        credential = Credential(hashed(token), identity, game, LABEL, now)
        runner = self.house.rooms.get(game)
        member = runner.room.member_of(identity) if runner is not None else None
        if runner is None or member is None:
            return None
        change = "replaced" if held else "issued"
        issued = {"member": member.id, "change": change, "label": LABEL, "by": member.id}
        await runner.submit(SystemCall("credential", issued, Write(credentials=[credential])))
        identities.put_credential(credential)
        if held:  # of a reply that was lost
            await revoke_and_store(self.house, held)
        return token

    # -- while agents are in games ----------------------------------------------------------------
    def looked_at(self, runner: "RoomRunner") -> None:
        """Something happened in a room with visitors: a visit may have ended, or a goal may be reached."""
        kept = VISITS.read(runner.room.state)
        for package in list(kept.leaving.values()):
            self._look_after(package.identity)
        for identity in list(kept.visits):
            profile = self.profiles.cached(identity)
            if profile is None or goals.active(profile):
                self._look_after(identity)

    def _look_after(self, identity: str) -> None:
        """Bring a profile up to date soon: once for everything that happens until then."""
        if identity in self._looking:
            self._looking[identity] = True  # and once more
            return
        self._looking[identity] = False
        self._start(self._looks(identity))

    async def _looks(self, identity: str) -> None:
        try:
            again = True
            while again:
                self._looking[identity] = False
                before = self.profiles.cached(identity)
                if await self.refresh(identity) is not before:
                    self._changed()
                again = self._looking[identity]
        finally:
            del self._looking[identity]

    async def refresh(self, identity: str) -> Profile:
        """The profile, brought to what the games say, with its goals evaluated for the visit that is going on."""
        async with self.profiles.changing(identity):
            profile = await self._go_on(await self._followed(identity))
            session = profile.session
            runner = self.house.rooms.get(session.game) if session is not None else None
            far = None
            if session is not None and runner is not None and runner.failure is None:
                done = await runner.submit(QueuedStep("ongoing", lambda room, at: ongoing(room, identity)))
                if done is not None:
                    far = so_far(profile, travel_of(runner.room.world), session.world, done["steps"], done["deeds"])
            after = goals.progressed(profile, games_of(self.house), self.house.clock.now(), far)
            if after != profile:
                after = await self.profiles.save(after)
            if runner is not None and len(reached := _reached(after)) > len(_reached(profile)):
                for goal in reached[len(_reached(profile)) :]:
                    await runner.submit(SystemCall("meta_goal", {"identity": identity, "text": _reached_text(goal)}))
            return after

    async def change(self, identity: str, change: Callable[[Profile], Profile]) -> Profile:
        """Change a profile that is up to date."""
        async with self.profiles.changing(identity):
            profile = await self._followed(identity)
            after = change(profile)
            return await self.profiles.save(after) if after != profile else profile

    async def give_up(self, identity: str) -> Profile:
        """End the session of an agent whose game is offline. It brings nothing back."""
        async with self.profiles.changing(identity):
            before = (await self.profiles.get(identity)).session
            profile = await self._followed(identity)
            session = profile.session
            if session is None and before is not None:
                return profile  # the game was deleted, or it has said so meanwhile
            if session is None:
                raise errors.GameRejected("you are in no game; enter one (enter_game)")
            runner = self.house.rooms.get(session.game)
            if runner is not None and not _is_offline(runner):
                raise errors.GameRejected(f"the game {session.game} is online; leave it there with `exit_game`")
            self._check_not_moving(session.game)
            given_up = {**profile.given_up, session.ticket: session}
            await self.profiles.save(replace(profile, session=None, given_up=given_up))
            return await self._followed(identity)

    def _check_not_moving(self, game: str) -> None:
        """Refuse to decide anything about a game that is about to be in the process of the Nexus."""
        if game not in self.house.rooms and is_on_its_way(self.house, game):
            raise errors.Busy(f"the game {game} is being opened in another process; try again soon", retry_after_s=1)

    async def _forget(self, profile: Profile) -> Profile:
        """The game does not know of the session any more."""
        assert profile.session is not None
        closed = {**profile.closed, profile.session.ticket: profile.session.game}
        return await self.profiles.save(replace(profile, session=None, closed=closed))

    # -- following --------------------------------------------------------------------------------
    async def recover(self) -> None:
        """After a start: bring everything to its end that was under way. If another process had the Nexus before, its
        games are opened at the same time: one of them may have a visit that no profile knows of."""
        await self.house.rooms.all_open.wait()
        while any(room != self._room for room in moving_rooms(self.house)):
            await pause(self.house.clock, LOOK_MS)
        for runner in list(self.house.rooms.values()):
            kept = VISITS.read(runner.room.state)
            for identity in sorted({*kept.visits, *(package.identity for package in kept.leaving.values())}):
                await self._try_to_refresh(identity)

    async def retry(self) -> None:
        """Complete what could not be completed when it came: because the disk was full, or a game was offline."""
        for runner in list(self.house.rooms.values()):
            if runner.failure is None:
                kept = VISITS.read(runner.room.state)
                late = {package.identity for package in list(kept.leaving.values())}
                late.update(identity for identity in list(kept.visits) if self._is_elsewhere(identity, runner.id))
                for identity in sorted(late):
                    await self._try_to_refresh(identity)

    def _is_elsewhere(self, identity: str, game: str) -> bool:
        profile = self.profiles.cached(identity)
        return profile is not None and (profile.session is None or profile.session.game != game)

    async def _try_to_refresh(self, identity: str) -> None:
        """One agent that cannot be helped now must not hold up the others."""
        try:
            await self.refresh(identity)
        except errors.CohabitError as failed:
            log.error("a transit of %s could not be completed; it is tried again later: %s", identity, failed)

    def is_current(self, profile: Profile) -> bool:
        """True if the game of a profile still has its visit, as far as can be told at once, and nothing is under
        way."""
        session = profile.session
        runner = self.house.rooms.get(session.game) if session is not None else None
        if profile.is_on_its_way:
            return False
        if session is None or (runner is not None and runner.failure is not None):
            return True
        return runner is not None and profile.agent_id in VISITS.read(runner.room.state).visits

    async def _followed(self, identity: str) -> Profile:
        """Bring a profile to what the games say, and confirm the packages that it then has. Call it while no other
        change of this profile is under way."""
        await self.house.rooms.all_open.wait()
        profile = await self.profiles.get(identity)
        for runner in self._rooms_of(profile):
            if runner.failure is not None:
                continue
            visit, left = await runner.submit(QueuedStep("visits", lambda room, at: _visits_of(identity, room)))
            for package in left:
                profile = await self._apply(profile, package, runner)
            if visit is not None:
                profile = await self._begin(profile, visit, runner)
            elif profile.session is not None and profile.session.game == runner.id:
                profile = await self._forget(profile)  # the room was set back to a time before the visit
        if profile.session is not None and self.house.rooms.is_free(profile.session.game):
            profile = await self._forget(profile)  # the room was deleted
        return profile

    def _rooms_of(self, profile: Profile) -> list["RoomRunner"]:
        """The rooms that may know more than the profile: where it is, and those with a visit or package of it."""
        here = profile.session.game if profile.session is not None else None
        runners = list(self.house.rooms.values())
        return [one for one in runners if one.id == here or _visits_of(profile.agent_id, one.room) != (None, [])]

    async def _begin(self, profile: Profile, visit: Visit, runner: "RoomRunner") -> Profile:
        """A visit that the profile may not know yet: what the agent brought along is in the game now."""
        if profile.session is not None and profile.session.ticket == visit.ticket:
            return profile
        if visit.ticket in profile.closed or visit.ticket in profile.given_up or profile.session is not None:
            # It was given up while the room did not answer: it takes nothing along, and its body stays.
            await runner.submit(SystemCall("visit_dropped", {"identity": profile.agent_id}))
            await self._revoke_tokens(profile.agent_id, runner.id)
            return profile
        package = EntryPackage(visit.ticket, profile.agent_id, profile.name, entering=visit.entering)
        session = Session(visit.ticket, runner.id, runner.room.state.world, visit.since, visit.bonuses)
        return await self.profiles.save(self._without_settled(began(profile, package, session, visit.items)))

    def _without_settled(self, profile: Profile) -> Profile:
        """Forget the tickets that no game can come back to."""
        closed = {ticket: game for ticket, game in profile.closed.items() if self._may_return(ticket, game)}
        given_up = {ticket: one for ticket, one in profile.given_up.items() if self._may_return(ticket, one.game)}
        return replace(profile, closed=closed, given_up=given_up)

    def _may_return(self, ticket: str, game: str) -> bool:
        """True if a game may still say something of a ticket."""
        runner = self.house.rooms.get(game)
        if runner is None or runner.failure is not None:
            return not self.house.rooms.is_free(game)
        kept = VISITS.read(runner.room.state)
        return ticket in kept.leaving or any(visit.ticket == ticket for visit in list(kept.visits.values()))

    async def _apply(self, profile: Profile, package: ExitPackage, runner: "RoomRunner") -> Profile:
        """A visit that has ended: the profile gets what it brought, then the room can forget it."""
        known = package.ticket in profile.closed or package.ticket in profile.given_up
        if profile.session is None and not known:  # it ended before its begin was noted
            visit = Visit(package.ticket, package.at, entering=package.entering, items=package.entered)
            profile = await self._begin(profile, visit, runner)
        apply = leave_late if package.ticket in profile.given_up else leave
        after = apply(profile, travel_of(runner.room.world), package, games_of(self.house))
        if after is not profile:
            after = await self.profiles.save(after)
        await runner.submit(SystemCall("visit_closed", {"ticket": package.ticket}))
        await self._revoke_tokens(profile.agent_id, runner.id)
        return after

    async def _revoke_tokens(self, identity: str, game: str) -> None:
        """The tokens of a visit that has ended. Others of a member stay valid."""
        held = [known for known in self.house.identities.of(identity, game) if known.label == LABEL]
        if held:
            await revoke_and_store(self.house, held)

    # -- tasks ------------------------------------------------------------------------------------
    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        failed = None if task.cancelled() else task.exception()
        if failed is not None and not self.house.rooms.closing:
            log.error("a transit could not be completed; it is tried again with the next one: %s", failed)

    async def at_rest(self) -> None:
        """Wait until no transit is under way."""
        while tasks := [task for task in self._tasks if not task.done()]:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _is_offline(runner: "RoomRunner") -> bool:
    return runner.failure is not None or bool(runner.room.state.archived)


def _way_back(package: EntryPackage, room: Room) -> dict[str, str]:
    """The way in which a dead body comes back as the agent enters. Refuses a body that the agent does not get."""
    takes = to_take(room, package.identity, package.avatar) if package.new_avatar is None else None
    why = why_no_body(room, package.identity, takes)
    ways = ways_back(room, newest_dead(room, package.identity)) if why else ()
    if ways and package.new_avatar is None and package.avatar is None:
        return {"respawn": ways[0]}
    if why:
        raise errors.GameRejected(f"{why}; enter without naming an avatar" if ways else why)
    return {}


def _exit_game(identity: str, ticket: str, args: dict[str, Any], room: Room, at: int) -> ExitPackage:
    """In the queue of the game's room: the visitor leaves, by its own right to."""
    member, visit = room.member_of(identity), VISITS.read(room.state).visits.get(identity)
    if member is None or visit is None or visit.ticket != ticket:
        raise errors.GameRejected("you have left this game already")
    room.call(member.id, "exit_game", args, at=at)
    return VISITS.read(room.state).leaving[ticket]


def _visits_of(identity: str, room: Room) -> tuple[Visit | None, list[ExitPackage]]:
    """The visits of an identity that a room knows. In its queue, all of it is durable."""
    kept = VISITS.read(room.state)
    return kept.visits.get(identity), [one for one in list(kept.leaving.values()) if one.identity == identity]


def _admission(room: Room, known: Identity, role: str) -> Admission:
    handle = free_handle(handle_for(known.name), lambda name: room.state.with_handle(name) is not None)
    return Admission(handle, known.kind, known.id, known.name, role)


def _reached(profile: Profile) -> list[GoalProgress]:
    """The goals that an agent has reached, in this order."""
    return sorted([one for one in profile.goals if one.completed_at is not None], key=lambda one: one.completed_at or 0)


def _reached_text(progress: GoalProgress) -> str:
    goal = goals.GOALS.get(progress.goal)
    if goal is None:
        return f"You have reached your goal: {progress.description}"
    title = f" You are now called {goal.reward.title}." if goal.reward.title else ""
    return f"You have reached the meta-goal {goal.name}: {goal.description}{title}"
