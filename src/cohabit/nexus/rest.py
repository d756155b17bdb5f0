"""The routes of the Nexus, as its three descriptions have them (see ``dialects``), as calls of commands of this house.

A token is needed for everything but registering where strangers may join. It is one for the Nexus's room, or for the
whole house; a host registers a game with a token for its room. Everything is decided where commands are decided:
nothing here has permissions of its own.
"""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from cohabit import errors
from cohabit.features.visits.state import VISITS
from cohabit.house.access.gate import JoinedRoom
from cohabit.house.access.strangers import knock
from cohabit.house.calls.shaped import Shaped
from cohabit.house.house import House
from cohabit.model.identity import Credential
from cohabit.model.travel import ExitPackage
from cohabit.nexus import dialects, requests
from cohabit.nexus.connector import NexusConnector
from cohabit.nexus.dialects import Dialect, Json
from cohabit.nexus.games import game_of, travel_named
from cohabit.nexus.suggestions import suggestions
from cohabit.nexus.values import GameInfo, NexusView, Onward, Profile, Visit

PREFIX = "nexus"
UNDER_PREFIX = ("agents", "games", "transit")
NOT_A_ROOM = (
    "the games of this Nexus are the rooms of this house, and your token is valid in no room with the id {!r}. To add "
    "a game, create a room with its world (create_room), and register it with the token of a host of that room"
)
REGISTER_FIRST = "you are not registered in the Nexus; POST /agents first"


class Asked(Struct):
    """A request to the Nexus."""

    method: str
    path: tuple[str, ...]
    body: Any = None
    token: str | None = None
    case: str = ""  # camel or snake; empty: not said
    key: str | None = None  # of a call that may be repeated
    address: str = ""  # of the caller
    sent: Shaped = field(default_factory=Shaped)  # counts the response


class Answer(NamedTuple):
    status: int
    body: Json


def nexus_room(house: House) -> str | None:
    """The id of the room that is the Nexus of a house."""
    return next((room for room, known in house.rooms.connectors.items() if isinstance(known, NexusConnector)), None)


async def answer(house: House, asked: Asked) -> Answer:
    """Answer a request, or raise the reason why it is refused."""
    path = asked.path[1:] if _has_prefix(asked.path) else asked.path
    room = nexus_room(house)
    if room is None:
        raise errors.Disabled("this house has no Nexus; a host can create a room with the world nexus")
    caller = Caller(house, room, asked, _dialect(asked))
    routes: dict[str, Callable[[], Awaitable[Answer]]]
    match path:
        case ["agents"]:
            routes = {"POST": caller.register}
        case ["agents", who]:
            routes = {"GET": lambda: caller.agent(who)}
        case ["games"]:
            routes = {"GET": caller.games, "POST": caller.open_game}
        case ["games", game]:
            routes = {"GET": lambda: caller.game(game), "DELETE": lambda: caller.close_game(game)}
        case ["nexus", who]:
            routes = {"GET": lambda: caller.view(who)}
        case ["transit", "enter"]:
            routes = {"POST": caller.enter}
        case ["transit", "exit"]:
            routes = {"POST": caller.exit}
        case _:
            raise errors.UnknownCommand(
                f"there is no /{'/'.join(asked.path)[:200]}; the routes are in docs/nexus-rest.md"
            )
    if asked.method not in routes:
        raise MethodNotAllowed(f"/{'/'.join(asked.path)[:200]} accepts {' and '.join(routes)}", allow=list(routes))
    return await routes[asked.method]()


class MethodNotAllowed(errors.UnknownCommand):
    """There is such a path, and it takes another method."""


def _has_prefix(path: tuple[str, ...]) -> bool:
    """True if a path begins with the prefix; ``/nexus/{agent}`` is a route of its own."""
    return (
        path[:1] == (PREFIX,) and len(path) > 1 and (path[1] in UNDER_PREFIX or (path[1] == PREFIX and len(path) > 2))
    )


def _dialect(asked: Asked) -> Dialect | None:
    """The form of a reply. None: the request does not say which of the two without a prefix it is."""
    if asked.case:
        return "B" if asked.case == "camel" else "C"
    return requests.dialect_of(asked.body, _has_prefix(asked.path))


class Caller:
    """One request, by one caller."""

    def __init__(self, house: House, room: str, asked: Asked, dialect: Dialect | None) -> None:
        self._house = house
        self._room = room
        self._asked = asked
        self._dialect = dialect
        self._known: Credential | None = None

    # -- agents --------------------------------------------------------------------------------------
    async def register(self) -> Answer:
        """Become a member of the Nexus with a seat. Doing it again changes nothing."""
        wanted = requests.register_agent(self._asked.body)
        if self._asked.token is not None:
            credential = self._credential()
            if credential.identity:
                self._check_own(wanted.agent_id, credential)
        args, asked = {"room": self._room, "name": wanted.agent_id[:64]}, self._asked
        joined: JoinedRoom = await knock(self._house.door, args, asked.token, asked.address, asked.sent.deliver)
        new = {"token": joined.token} if joined.token is not None else {}
        if joined.status in ("denied", "locked"):
            raise errors.PermissionDenied(joined.note or "you cannot join the Nexus now")
        if joined.status == "waiting":
            waiting = {"success": True, "status": "waiting", "message": f"{joined.note} (POST /agents again)"}
            return Answer(202, waiting | new)
        if joined.token is not None:
            self._known = self._house.identify(joined.token)
        was_seated = joined.seat is not None
        if not was_seated:
            await self._call("sit")
        profile = await self._profile()
        return Answer(
            200 if was_seated else 201,
            self._shaped(lambda form: dialects.agent_json(profile, form, {})) | {"success": True} | new,
        )

    async def agent(self, who: str) -> Answer:
        self._check_readable(who)
        profile, travels = await self._profile(), _travels(await self._games())

        def shown(form: Dialect) -> Json:
            skills = {"skill_progress": dialects.progress_json(profile, form)}
            return dialects.agent_json(profile, form, travels) | dialects.cased(form, skills)

        return Answer(200, self._shaped(shown))

    async def view(self, who: str) -> Answer:
        self._check_readable(who)
        view, travels = await self._seen()
        return Answer(200, self._shaped(lambda form: dialects.nexus_json(view, form, travels)))

    # -- games ---------------------------------------------------------------------------------------
    async def games(self) -> Answer:
        games = await self._games()
        return Answer(200, self._shaped(lambda form: dialects.games_json(games, form)))

    async def game(self, game_id: str) -> Answer:
        found = await self._call("game_details", {"game_id": game_id[:64]})
        game = self._with_address(msgspec.convert(found["game"], GameInfo))
        return Answer(200, self._shaped(lambda form: dialects.game_json(game, form)))

    async def open_game(self) -> Answer:
        """A host of a room opens it to the Nexus."""
        game = requests.register_game(self._asked.body)
        if game.status not in ("available", "maintenance"):
            raise errors.BadArgs(
                f"`status` is available or maintenance here, not {game.status}; the rest the house finds out"
            )
        if not game.transit_compatible:
            raise errors.BadArgs("`transit_compatible` is false, so agents could not travel there; do not register it")
        # Fields that a request leaves out are not changed.
        given = requests.given(self._asked.body)
        args: Json = {"description": game.description} if "description" in given else {}
        if "status" in given:
            args["maintenance"] = game.status == "maintenance"
        if game.max_agents is not None:
            args["capacity"] = game.max_agents
        known = self._is_open(game.id)
        await self._as_host(game.id, args)
        registered = self._with_address(game_of(self._house.rooms[game.id]))
        shown = self._shaped(lambda form: dialects.game_json(registered, form))
        return Answer(200 if known else 201, shown | {"success": True})

    async def close_game(self, game_id: str) -> Answer:
        """A host of a room closes it to the Nexus. Visitors stay until they leave."""
        known = self._is_open(game_id)
        await self._as_host(game_id, {"open": False})
        if not known:
            raise errors.UnknownAsset(f"the room {game_id} is not registered as a game")
        return Answer(200, self._shaped(lambda form: dialects.cased(form, {"success": True, "game_id": game_id})))

    async def _as_host(self, room: str, args: Json) -> None:
        credential = self._house.identify(self._asked.token)
        try:
            await self._house.call(
                credential, room, "open_to_nexus", args, key=self._asked.key, deliver=self._asked.sent.deliver
            )
        except errors.UnknownRoom:
            raise errors.UnknownRoom(NOT_A_ROOM.format(room[:64])) from None

    def _is_open(self, room: str) -> bool:
        runner = self._house.rooms.get(room)
        return runner is not None and VISITS.read(runner.room.state).nexus is not None

    # -- transit -------------------------------------------------------------------------------------
    async def enter(self) -> Answer:
        wanted = requests.enter(self._asked.body)
        self._check_own(wanted.agent_id, self._credential())
        wishes = wanted.wishes
        args = {
            "game_id": wanted.game_id,
            "spawn_preference": wishes.spawn,
            "difficulty": wishes.difficulty,
            "goals": list(wishes.goals),
            "avatar_id": wishes.avatar,
            "avatar_spec": msgspec.to_builtins(wishes.new_avatar),
            "items": wishes.items,
            "max_steps": wishes.max_steps,
            "exit_conditions": list(wishes.exit_conditions),
        }
        done = (await self._call("enter_game", args, self._asked.key)).data
        found = await self._call("game_details", {"game_id": wanted.game_id})
        game = self._with_address(msgspec.convert(found["game"], GameInfo))
        bonuses = dialects.bonuses_json(done["bonuses_applied"], travel_named(game.kind))
        seen = await self._first_view(game.id, done.get("token")) if self._dialect != "B" else None
        more = {
            name: done[name]
            for name in ("room", "avatar_id", "woken", "difficulty", "damage", "max_steps", "exit_conditions", "token")
            if name in done
        }

        def shown(form: Dialect) -> Json:
            entered = dialects.entered_json(done["session_id"], game.bridge_url, bonuses, form, seen)
            return entered | dialects.cased(form, more)

        return Answer(200, self._shaped(shown))

    async def _first_view(self, game: str, token: str | None) -> Json | None:
        """The agent's view of the game. None if its token is not valid there."""
        credential = self._house.identify(token) if token is not None else self._credential()
        if credential.room not in (None, game):
            return None
        seen = await self._house.call(credential, game, "view", deliver=self._asked.sent.deliver)
        found: Json = msgspec.to_builtins(seen.observation) if seen.observation is not None else {}
        return {**found, "text": seen.text}

    async def exit(self) -> Answer:
        wanted = requests.leave(self._asked.body)
        self._check_own(wanted.agent_id, self._credential())
        profile = await self._profile()
        if profile.session is None:
            raise errors.Conflict("you are in no game; GET /nexus/{agent_id} shows your last visits")
        if wanted.game_id and wanted.game_id != profile.session.game:
            raise errors.Conflict(f"you are in the game {profile.session.game}, not in {wanted.game_id[:64]}")
        if wanted.give_up:
            await self._call("give_up_game", {}, self._asked.key)
            seen, travels = await self._seen()
            return Answer(200, self._shaped(lambda form: dialects.left_json(None, seen, form, travels)))
        args = {
            "session_id": wanted.session_id or profile.session.ticket,
            "reason": wanted.reason[:100],
            "mode": wanted.mode,
            "destination": wanted.destination or PREFIX,
            "carry": {item: count for item, count in (wanted.carry or {}).items() if count},
            "remember": list(wanted.remember),
        }
        done = (await self._call("leave_game", args, self._asked.key)).data
        package, visit = msgspec.convert(done["package"], ExitPackage), msgspec.convert(done["visit"], Visit)
        view, travels = await self._seen()
        onward = msgspec.convert(done["onward"], Onward | None)
        url = self._address(onward.game) if onward is not None else ""

        def shown(form: Dialect) -> Json:
            left = dialects.left_json((package, visit), view, form, travels)
            if onward is None:
                return left
            return left | {"onward": dialects.onward_json(onward, url, form, done.get("token"))}

        return Answer(200, self._shaped(shown))

    # -- parts ---------------------------------------------------------------------------------------
    def _credential(self) -> Credential:
        if self._known is None:
            self._known = self._house.identify(self._asked.token)
        if self._known.room not in (None, self._room):
            raise errors.PermissionDenied(
                f"this token is valid in the room {self._known.room} only; use the one that you have for the Nexus"
            )
        return self._known

    async def _call(self, name: str, args: Any = None, key: str | None = None) -> Any:
        """Call a command of the Nexus."""
        credential = self._credential()
        try:
            return await self._house.call(credential, self._room, name, args, key=key, deliver=self._asked.sent.deliver)
        except errors.UnknownRoom:
            raise errors.PermissionDenied(REGISTER_FIRST) from None

    def _own_names(self, credential: Credential) -> list[str]:
        """The names that the caller may use for itself: its id, its name, and its handle in the Nexus."""
        known = self._house.identities.get(credential.identity)
        if known is None:
            raise errors.Unauthorized(REGISTER_FIRST)
        member = self._house.rooms[self._room].room.member_of(known.id)
        return [known.id, known.name, *([member.handle] if member is not None else [])]

    def _check_own(self, agent_id: str, credential: Credential) -> None:
        names = self._own_names(credential)
        if agent_id not in names:
            raise errors.PermissionDenied(
                f"your token is that of {names[1]} ({names[0]}), so `agent_id` cannot be {agent_id[:64]!r}"
            )

    def _check_readable(self, agent_id: str) -> None:
        """Agents read about themselves. Whether there is another one with this id is not said."""
        names = self._own_names(self._credential())
        if agent_id not in names:
            raise errors.UnknownAsset(
                f"there is no agent {agent_id[:64]!r} that you can read; you are {names[1]} ({names[0]})"
            )

    async def _profile(self) -> Profile:
        return msgspec.convert(await self._call("review_self"), Profile)

    async def _seen(self) -> tuple[NexusView, dialects.Travels]:
        """The caller's view of the Nexus, and the declarations of the worlds of its games."""
        games = await self._games()
        profile = await self._profile()
        return NexusView(profile, tuple(games), suggestions(profile, games)), _travels(games)

    async def _games(self) -> list[GameInfo]:
        found = await self._call("list_games")
        return [self._with_address(msgspec.convert(game, GameInfo)) for game in found["games"]]

    def _with_address(self, game: GameInfo) -> GameInfo:
        """A game with the address of its room: POST …/act and the other commands."""
        return replace(game, bridge_url=self._address(game.id))

    def _address(self, game: str) -> str:
        return f"{self._house.settings.url}/api/rooms/{game}"

    def _shaped(self, make: Callable[[Dialect], Json]) -> Json:
        """A reply in the form of the request."""
        if self._dialect is not None:
            return make(self._dialect)
        both: Json = dialects.together(make("C"), make("B"))
        return both


def _travels(games: list[GameInfo]) -> dict[str, Any]:
    return {game.kind: travel_named(game.kind) for game in games}
