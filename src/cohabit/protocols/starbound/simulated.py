"""The game's side of the bridge without the game: our own planet world, which polls as the mod does.

It lets people try `cohabit starbound` without the desktop game, and it lets the tests play the whole way from an agent
in a room to a world behind the bridge and back.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
import msgspec

from cohabit.errors import AskerError, BadArgs
from cohabit.model.action import ActionDef
from cohabit.model.observation import Observation
from cohabit.protocols.wsap.one_seat import PlayedWorld
from cohabit.registry import make_world
from cohabit.scenario import AgentSpec

WORLD = "planet"
POLL_SECONDS = 20
RETRY_SECONDS = 2.0
TILES_PER_SECOND = 2
MAX_VITAL = 100.0
VERSION = "Cohabit planets"
PLACES = {"above": "up", "below": "down", "planet": "surface", "OwnShip": "ship", "OrbitedWorld": "surface"}
"""Words of the wire that the planet world calls otherwise."""

DIRECTIONS = {"L": "left", "R": "right", "U": "above", "D": "below"}
"""Views of the planet world write an offset as L3U2."""
FAILED = re.compile(r"\w+ failed: ")


class SimulatedGame(PlayedWorld):
    """A planet world with a body for each player. Each action of one lets a step pass for all."""

    def __init__(self, players: Sequence[str], seed: int = 0) -> None:
        self.world = make_world(WORLD, {})
        handles = [f"player-{number + 1}" for number in range(len(players))]
        self._members = dict(zip(players, handles, strict=True))
        seated = [AgentSpec(id=handle, role="human", claim=f"auto:{n}") for n, handle in enumerate(handles)]
        self._open("simulation", seated, seed)
        self._actions = {action.name: action for action in self.room.commands.action_space().actions}

    def answer(self, command: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a command, as a game posts it."""
        member = self._members.get(command["player_id"]) or next(iter(self._members.values()))
        if command["type"] != "act":
            return self._view(member)
        try:
            result = self._act(member, command["action"], command.get("parameters") or {})
        except AskerError as refused:
            result = {"success": False, "message": refused.message}
        return {**result, "observation": self._view(member)}

    # -- acting -------------------------------------------------------------------------------------
    def _act(self, member: str, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        if name == "look":
            return {"success": True, "message": self._seen(member).text}
        if name == "say":
            self._call(member, "say", {"text": given.get("message", "")}, look=False)
            return {"success": True, "message": "you said it"}
        if name in ("check_quest", "open_crafting"):
            rows = self._call(member, name, {}, look=False)
            return {"success": True, "message": "\n".join(", ".join(map(str, row.values())) for row in rows)}
        if name not in self._actions:
            raise BadArgs(f"this world has no action {name}")
        before, total = self._seen(member), self._total(member)
        said = self._call(member, name, _arguments(self._actions[name], given), look=False).message
        self._let_the_others_wait(member, before.step)
        after = self._seen(member)
        if after.step == before.step:  # it took no time
            return {"success": True, "message": said}
        told = [event.description for event in after.recent_events]
        failed = [line for line in told if FAILED.match(line)]
        return {
            "success": not failed,
            "message": failed[0] if failed else " ".join(told) or f"{name}: done",
            "reward": self._total(member) - total,
            "achievements": [new for new in after.status["achievements"] if new not in before.status["achievements"]],
            "done": self.room.is_over(),
            "events": [{"description": event.description, "type": event.type} for event in after.recent_events],
        }

    def _let_the_others_wait(self, acting: str, step: int) -> None:
        """A step of the world needs a choice of everybody; those who have not acted do nothing. An action that takes no
        time leaves its player still to choose."""
        if self._is_to_move(acting):
            return
        for member in self._members.values():
            if self._seen(acting).step != step:
                return
            if self._is_to_move(member):
                self._call(member, "wait", {}, look=False)

    def _is_to_move(self, member: str) -> bool:
        return self.room.state.members[member].seat in self.room.world.to_move()

    def _total(self, member: str) -> float:
        return self.room.world.returns().get(self.room.state.members[member].seat or "", 0.0)

    # -- seeing -------------------------------------------------------------------------------------
    def _seen(self, member: str) -> Observation:
        return self.room.observe_with_choices(self.room.state.members[member])

    def _view(self, member: str) -> dict[str, Any]:
        return view_of(self._seen(member))


def view_of(seen: Observation) -> dict[str, Any]:
    """An observation in the form of the wire."""
    status, place = seen.status, seen.location
    equipment = status.get("equipment", {})
    view = {
        "health": status.get("health", 0),
        "max_health": status.get("max_health", MAX_VITAL),
        "energy": status.get("energy", 0),
        "max_energy": MAX_VITAL,
        "food": status.get("food"),
        "max_food": MAX_VITAL,
        "position": list(place.coordinates) if place else [0, 0],
        "world_name": (place.region if place else None) or "",
        "location_description": status.get("biome", ""),
        "facing": status.get("facing"),
        "holding": equipment.get("tool") or equipment.get("weapon"),
        "time_of_day": seen.time_of_day,
        "inventory": seen.inventory,
        "nearby_entities": [
            {
                "type": e.type,
                "name": e.name,
                "distance": e.distance or 0,
                "state": e.state,
                "direction": DIRECTIONS.get(e.direction[:1], e.direction),
                "interactable": e.interactable,
            }
            for e in seen.nearby_entities
        ],
        "nearby_terrain": seen.nearby_terrain,
        "effects": seen.active_effects,
        "quests": seen.current_goals,
    }
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(view))
    return plain


def _arguments(action: ActionDef, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an action of this world, from those of the wire."""
    known = {parameter.name: parameter for parameter in action.parameters}
    found = {}
    if "seconds" in given and "tiles" in known:
        limit = int(known["tiles"].maximum or 1)
        found["tiles"] = max(1, min(limit, round(given["seconds"] * TILES_PER_SECOND)))
    for name, value in given.items():
        if name in known:
            word = PLACES.get(value, value) if isinstance(value, str) else value
            found[name] = str(word) if known[name].type == "string" else word
    return found


async def play(url: str, token: str, player: str, name: str, game: SimulatedGame) -> None:
    """Poll the bridge for one player, and play what it asks for, until cancelled."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    query: dict[str, str | int] = {"wait": POLL_SECONDS, "player_id": player, "name": name, "version": VERSION}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False) as client:
        while True:
            try:
                command = (await client.get("/poll", params=query)).raise_for_status().json()
                if command:
                    await client.post("/result", json={"id": command["id"], "result": game.answer(command)})
            except httpx2.HTTPError:  # the bridge is not there at the moment
                await asyncio.sleep(RETRY_SECONDS)


class SimulatedPlayers:
    """The polls of all players of a simulated game, which end when this is closed."""

    def __init__(self, url: str, token: str, players: Mapping[str, str], seed: int = 0) -> None:
        """``players``: their names by their ids."""
        self.game = SimulatedGame(list(players), seed)
        self._polls = [asyncio.ensure_future(play(url, token, id_, name, self.game)) for id_, name in players.items()]

    async def close(self) -> None:
        for poll in self._polls:
            poll.cancel()
        if self._polls:
            await asyncio.wait(self._polls)
