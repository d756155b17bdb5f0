"""The connector of the Nexus: its remote side is the house, with the profiles in its store and its other rooms."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from cohabit import errors
from cohabit.features.visits.state import VISITS
from cohabit.model.observation import one_line
from cohabit.model.travel import DOMAINS, NewAvatar
from cohabit.nexus import answers, goals
from cohabit.nexus.games import find_game, game_of, games_of, travel_named, travel_of
from cohabit.nexus.packages import bonuses, forget, remember
from cohabit.nexus.skills import matching
from cohabit.nexus.suggestions import suggestions
from cohabit.nexus.text import bonuses_text, difficulty_text, ends_text, go_on_text, goal_of, onward_text
from cohabit.nexus.transit import Transit
from cohabit.nexus.values import Profile, Wishes
from cohabit.nexus.world import Nexus
from cohabit.remote import Ask, Sent

if TYPE_CHECKING:
    from cohabit.house.calls.context import Services

log = logging.getLogger("cohabit")
POLL_MS = 2_000
BOOKKEEPING = ("version", "closed", "given_up")  # of a profile: what says nothing to its agent


class NexusConnector:
    """See the module. One house has one Nexus."""

    poll_ms = POLL_MS

    def __init__(self, house: "Services", room: str) -> None:
        self._house = house
        self._room = room
        self.transit = Transit(house, room, self._refresh)
        self._recovered: asyncio.Task[None] = asyncio.get_running_loop().create_task(self.transit.recover())
        house.rooms.events.listeners[VISITS.feature] = self.transit.looked_at
        places = self.transit.places
        house.rooms.events.elsewhere = lambda runner, member: places.elsewhere(runner.id, member.identity)

    @classmethod
    def for_room(cls, house: "Services", room: str, config: Mapping[str, Any]) -> "NexusConnector":
        others = [known for known, connector in house.rooms.connectors.items() if isinstance(connector, cls)]
        if others:
            raise errors.Disabled(f"this house has a Nexus already, the room {others[0]}")
        return cls(house, room)

    # -- the connector -----------------------------------------------------------------------------
    async def about(self) -> dict[str, str]:
        return {"protocol": "WSAP-MG 0.1"}

    def check(self, ask: Ask) -> None:
        if not hasattr(self, f"_ask_{ask.name}") and not hasattr(self, f"_do_{ask.name}"):
            raise errors.UnknownCommand(f"the Nexus has no {ask.name}")

    async def ask(self, ask: Ask, by: str | None = None) -> dict[str, Any]:
        await asyncio.shield(self._recovered)
        query = getattr(self, f"_ask_{ask.name}", None)
        try:
            if query is not None:
                found: dict[str, Any] = await query(by, **ask.args)
                return found
            done: dict[str, Any] = await getattr(self, f"_do_{ask.name}")(self._identity(by), by, **ask.args)
            return done
        except errors.OutcomeUnknown:
            raise
        except (errors.WorldError, errors.RecordCorrupt) as broken:  # not of this room, which must not stop for it
            raise errors.Unreachable(f"this could not be done: {broken.message}") from broken

    async def outcome(self, sent: Sent) -> dict[str, Any]:
        """The outcome of an action that was under way when the server stopped. A transit has happened if the game has
        recorded its ticket; everything else is refused, as if it had never been asked for."""
        await asyncio.shield(self._recovered)
        if sent.action == "enter_game":
            profile = await self.transit.refresh(self._identity(sent.by))
            ticket = self._ticket(sent.by)
            if ticket in profile.closed or (profile.session is not None and profile.session.ticket == ticket):
                return _answer(profile, f"You arrived in {sent.args.get('game_id')}.", "left for a game")
        if sent.action == "leave_game":
            profile = await self.transit.refresh(self._identity(sent.by))
            if profile.session is None or profile.session.ticket != self._world.session_of.get(sent.by):
                return _answer(profile, "You have left." + onward_text(profile))
        raise errors.GameRejected("the server stopped before this was done; nothing has changed")

    def member_removed(self, member: str) -> None:
        """The profile of an identity stays, whether it is a member or not."""

    async def close(self, delete: bool = False) -> None:
        self._recovered.cancel()
        await asyncio.gather(self._recovered, return_exceptions=True)
        await self.transit.close()
        self._house.rooms.events.listeners.pop(VISITS.feature, None)
        self._house.rooms.events.elsewhere = lambda runner, member: ""

    def _refresh(self) -> None:
        """A profile has changed: show that in the room."""
        runner = self._house.rooms.get(self._room)
        if runner is not None and runner.remote is not None:
            runner.remote.refresh()

    def _identity(self, by: str | None) -> str:
        member = self._house.rooms[self._room].room.state.members.get(by or "")
        if member is None or not member.identity:
            raise errors.Unauthorized("only an identity of this house can travel; join with a token or an invite")
        return member.identity

    @property
    def _world(self) -> Nexus:
        world = self._house.rooms[self._room].room.world
        assert isinstance(world, Nexus)
        return world

    def _ticket(self, by: str) -> str:
        """No other ticket is ever the same, also not one of an earlier Nexus with this name."""
        secret = self._house.rooms[self._room].room.state.secret
        which = blake2b(secret.encode(), digest_size=4, person=b"tickets").hexdigest()
        return f"{self._room}-{which}:{self._world.ticket_number(by)}"

    # -- what an agent can do ----------------------------------------------------------------------
    async def _do_enter_game(
        self,
        identity: str,
        by: str,
        game_id: str,
        spawn_preference: Any = "safe",
        difficulty: Any = "normal",
        goals: str | Sequence[str] | None = None,
        avatar_id: str | None = None,
        items: dict[str, int] | None = None,
        max_steps: int | None = None,
        exit_conditions: str | Sequence[str] | None = None,
        avatar_spec: Any = None,
    ) -> dict[str, Any]:
        if game_id == self._room:
            raise errors.GameRejected("you are in the Nexus already; choose a game (list_games)")
        new = msgspec.convert(avatar_spec, NewAvatar | None)
        if new is not None and avatar_id is not None:
            raise errors.BadArgs("give avatar_id, for an avatar of yours, or avatar_spec, for a new one, but not both")
        if new is not None and spawn_preference == "safe":
            spawn_preference = new.spawn_location
        wishes = Wishes(
            avatar_id, spawn_preference, difficulty, _texts(goals), items, max_steps, _texts(exit_conditions), new
        )  # fmt: skip
        profile, receipt = await self.transit.enter(identity, self._ticket(by), game_id, wishes)
        token = await self._token_for(identity, game_id)
        bonus = dict(profile.session.bonuses) if profile.session is not None else {}
        woken = "come back to life" if receipt.revived else "wake up in your body"
        how = woken if receipt.woken else "arrive"
        gets = f" Bonuses: {text}." if not receipt.woken and (text := bonuses_text(bonus)) else ""
        with_ = f" With you: {', '.join(f'{n} {item}' for item, n in receipt.items.items())}." if receipt.items else ""
        where = f" {go_on_text(game_id, token)} `exit_game` there brings you back."
        data = {
            "success": True, "session_id": self._ticket(by), "game_id": game_id, "room": game_id,
            "member": receipt.member, "seat": receipt.seat, "avatar_id": receipt.avatar, "woken": receipt.woken,
            "revived": receipt.revived,
            "bonuses_applied": bonus, "items": receipt.items, "max_steps": receipt.max_steps,
            "exit_conditions": {"enforced": list(receipt.enforced), "notes": list(receipt.notes)},
            "difficulty": receipt.difficulty, "damage": receipt.damage,
        }  # fmt: skip
        hard = difficulty_text(receipt, difficulty)
        text = f"You {how} in {game_id}.{gets}{with_}{hard}{where}{ends_text(receipt)}"
        return _answer(profile, text, f"left for {game_id}", data, token)

    async def _do_leave_game(self, identity: str, by: str, session_id: str = "", **exit_args: Any) -> dict[str, Any]:
        profile, package = await self.transit.leave(identity, session_id, exit_args)
        visit = profile.visits[-1]
        gains = ", ".join(f"{domain.replace('_', ' ')} +{gain:.3f}" for domain, gain in visit.skill_gains.items())
        learned = f" You learned: {gains}." if gains else ""
        text = f"You have left {package.game}.{onward_text(profile)}{learned}"
        data = {"success": True, "package": msgspec.to_builtins(package), "visit": msgspec.to_builtins(visit)}
        if profile.session is None:
            data["onward"] = msgspec.to_builtins(profile.onward)
            return _answer(profile, text, f"returns from {package.game}", data)
        game = profile.session.game
        data |= {"onward": {"game": game, "ticket": profile.session.ticket}, "room": game}
        token = await self._token_for(identity, game)
        return _answer(profile, text, f"goes on from {package.game} to {game}", data, token)

    async def _token_for(self, identity: str, game: str) -> str | None:
        """A token, if one is needed and can be made. Without one the agent is in the game all the same."""
        try:
            return await self.transit.token_for(identity, game)
        except errors.CohabitError as failed:
            log.warning("no token for the game %s could be made for %s: %s", game, identity, failed)
            return None

    async def _do_resume_game(self, identity: str, by: str) -> dict[str, Any]:
        profile = await self.transit.refresh(identity)
        if profile.session is None:
            raise errors.GameRejected("you are in no game; enter one (enter_game)")
        game = profile.session.game
        token = await self.transit.token_for(identity, game)
        data = {"session_id": profile.session.ticket, "game_id": game, "room": game}
        return _answer(profile, f"You are in {game}. {go_on_text(game, token)}", data=data, token=token)

    async def _do_give_up_game(self, identity: str, by: str) -> dict[str, Any]:
        return _answer(await self.transit.give_up(identity), "You are back in the Nexus, with nothing from that game.")

    async def _do_set_goal(self, identity: str, by: str, goal: str) -> dict[str, Any]:
        games, now = games_of(self._house), self._house.clock.now()
        reached: list[str] = []
        known: list[str] = []

        def set_goal(profile: Profile) -> Profile:
            reached.extend(_reached(profile))
            known.extend(one.goal for one in profile.goals)
            return goals.set_goal(profile, goal, games, now)

        await self.transit.change(identity, set_goal)
        profile = await self.transit.refresh(identity)  # what it does in a visit that is going on counts, too
        done = [one for one in _reached(profile) if one not in reached]
        new = [goal_of(one).to_text() for one in profile.goals if one.goal not in known]
        return _answer(profile, f"You have reached {', '.join(done)}." if done else f"You pursue {', '.join(new)}.")

    async def _do_abandon_goal(self, identity: str, by: str, goal: str) -> dict[str, Any]:
        profile = await self.transit.change(identity, lambda profile: goals.abandon(profile, goal))
        return _answer(profile, f"You no longer pursue {one_line(goal)}.")

    async def _do_complete_goal(self, identity: str, by: str, goal: str) -> dict[str, Any]:
        now = self._house.clock.now()
        profile = await self.transit.change(identity, lambda profile: goals.tick_off(profile, goal, now))
        return _answer(profile, f"You have reached {one_line(goal)}.")

    async def _do_remember(self, identity: str, by: str, text: str, kind: Any = "memory") -> dict[str, Any]:
        profile = await self.transit.change(identity, partial(remember, text=text, kind=kind))
        return _answer(profile, "You will remember this.")

    async def _do_forget(self, identity: str, by: str, text: str, kind: Any = "memory") -> dict[str, Any]:
        profile = await self.transit.change(identity, partial(forget, text=text, kind=kind))
        return _answer(profile, "It is forgotten.")

    # -- what an agent can ask ---------------------------------------------------------------------
    async def _ask_poll(self, by: str | None) -> dict[str, Any]:
        """The games, and the profiles of those who are present. Profiles that have not changed cost nothing."""
        room = self._house.rooms[self._room].room
        profiles = {}
        await self.transit.retry()
        for member in list(room.state.members.values()):
            seat = member.seat  # it may leave meanwhile
            if seat is not None and member.identity:
                cached = self.transit.profiles.cached(member.identity)
                if cached is None or not self.transit.is_current(cached):
                    try:
                        cached = await self.transit.refresh(member.identity)
                    except errors.CohabitError as failed:  # the others are not held up
                        log.warning("the profile of %s could not be read: %s", member.identity, failed)
                        continue
                profiles[seat] = cached
        return {"games": msgspec.to_builtins(games_of(self._house)), "profiles": msgspec.to_builtins(profiles)}

    async def _ask_list_games(self, by: str | None) -> dict[str, Any]:
        games = games_of(self._house)
        travels = {game.kind: travel_named(game.kind) for game in games}
        return {
            "text": answers.games_text(games, travels, await self._own(by)),
            "games": msgspec.to_builtins(games),
        }

    async def _ask_game_details(self, by: str | None, game_id: str, rules: bool = False) -> dict[str, Any]:
        runner = find_game(self._house, game_id)
        travel = travel_of(runner.room.world)
        profile = await self._own(by)
        # The commands that they name are of the game, not of the Nexus.
        told = runner.room.about[1].replace("`", "") if runner.room.about is not None else ""
        return {
            "text": answers.details_text(game_of(runner), travel, told, profile, whole=rules),
            "game": msgspec.to_builtins(game_of(runner)),
            "rules": told,
            "lessons": msgspec.to_builtins(travel.lessons),
            "items": msgspec.to_builtins(travel.items),
            "bonuses": msgspec.to_builtins(travel.bonuses),
            "has_difficulty": travel.difficulty,
            "your_bonuses": bonuses(travel, profile) if profile is not None else {},
        }

    async def _ask_review_self(self, by: str | None) -> dict[str, Any]:
        profile = await self.transit.refresh(self._identity(by))
        skills = {domain: profile.skill(domain) for domain in DOMAINS}
        known: dict[str, Any] = msgspec.to_builtins(profile)
        found = {name: value for name, value in known.items() if name not in BOOKKEEPING} | {"skills": skills}
        found["suggested_games"] = msgspec.to_builtins(suggestions(profile, games_of(self._house)))
        return found

    async def _ask_review_achievements(self, by: str | None, filter: str = "") -> dict[str, Any]:  # noqa: A002 - the wire's name
        profile = await self.transit.refresh(self._identity(by))
        return {"achievements": msgspec.to_builtins(matching(profile, filter))}

    async def _ask_meta_goals(self, by: str | None) -> dict[str, Any]:
        games, profile = games_of(self._house), await self._own(by)
        known = []
        for goal in goals.GOALS.values():
            line: dict[str, Any] = msgspec.to_builtins(goal)
            if profile is not None:
                line["progress"] = msgspec.to_builtins(goals.evaluate(goal, profile, games))
                line["pursued"] = any(one.goal == goal.id for one in profile.goals)
            known.append(line)
        own = [] if profile is None else [one for one in profile.goals if one.goal not in goals.GOALS]
        return {"text": answers.goals_text(games, profile), "goals": known, "own": msgspec.to_builtins(own)}

    async def _ask_wait_for_game(self, by: str | None, game_id: str, timeout: int) -> dict[str, Any]:  # noqa: ASYNC109 - of the house's clock
        runner = find_game(self._house, game_id)
        ends = self._house.clock.now() + timeout * 1000
        while game_of(runner).status != "available" and self._house.clock.now() < ends:
            if not await runner.changed_since(runner.version, ends):
                break
        return {"game": msgspec.to_builtins(game_of(runner))}

    async def _own(self, by: str | None) -> Profile | None:
        return await self.transit.refresh(self._identity(by)) if by is not None else None


def _reached(profile: Profile) -> list[str]:
    """The goals that an agent has reached."""
    return [one.goal for one in profile.goals if one.completed_at is not None]


def _texts(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """A list of texts, or one text with commas."""
    found = given.split(",") if isinstance(given, str) else given or ()
    return tuple(text for text in (one_line(each).strip() for each in found) if text)


def _answer(
    profile: Profile, text: str, public: str = "", data: dict[str, Any] | None = None, token: str | None = None
) -> dict[str, Any]:
    known = {"text": text, "public": public, "profile": msgspec.to_builtins(profile), "data": data}
    return known if token is None else {**known, "token": token}
