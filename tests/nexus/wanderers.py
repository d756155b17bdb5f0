"""Three clients of the Nexus, each written from one of its descriptions alone.

They know paths, fields and their case from that description, and nothing else. The token is the only addition: a client
is made with one, or finds it in the reply to its registration.
"""

from __future__ import annotations

from typing import Any

import httpx2


class Refused(Exception):
    """The Nexus refused a request."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(f"{status}: {body['error']}")
        assert body["success"] is False
        self.status, self.error = status, body["error"]


class Client:
    """What all three need: JSON over HTTP, with a token."""

    def __init__(self, url: str, agent: str, token: str | None = None) -> None:
        self.url, self.agent, self.token = url, agent, token
        self.session = ""
        self.play_url = ""
        self.play_token: str | None = None

    async def send(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        return await request(method, self.url + path, self.token, body)

    async def play(self, action: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """A step in the game that this agent is in, over the HTTP interface of the house."""
        done = await request(
            "POST", f"{self.play_url}/act", self.play_token or self.token, {"action": action, "params": params or {}}
        )
        found: dict[str, Any] = done["result"]
        return found


async def request(method: str, url: str, token: str | None, body: Any = None) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {token}"} if token is not None else {}
    async with httpx2.AsyncClient(timeout=120, verify=False) as http:  # there is no TLS, so no certificates
        answer = await http.request(method, url, json=body, headers=headers)
    found: dict[str, Any] = answer.json()
    if answer.status_code >= 400:
        raise Refused(answer.status_code, found)
    return found


class MultiGame(Client):
    """From the multi-game protocol, WSAP-MG 0.1: snake case, and everything under /nexus."""

    async def register(self) -> None:
        body = {"agent_id": self.agent, "name": self.agent.title(), "capabilities": ["text"]}
        made = await self.send("POST", "/nexus/agents", body)
        self.token = made.get("token", self.token)

    async def games(self) -> dict[str, str]:
        listed = (await self.send("GET", "/nexus/games"))["games"]
        for game in listed:
            assert game["wsap_version"] == "0.1"
            assert game["transit_compatible"] is True
            assert {"genre", "dimensions", "multiplayer", "persistent_world", "skill_domains", "active_agents"} <= {
                *game
            }
        return {game["id"]: game["status"] for game in listed}

    async def enter(self, game: str) -> str:
        wishes = {"spawn_preference": "safe", "difficulty": "normal", "goals": ["gather wood"]}
        entered = await self.send(
            "POST", "/nexus/transit/enter", {"agent_id": self.agent, "game_id": game, "preferences": wishes}
        )
        self.session, self.play_url, self.play_token = (
            entered["session_id"],
            entered["bridge_url"],
            entered.get("token"),
        )
        text: str = entered["initial_observation"]["text"]
        return text

    async def leave(self, session: str | None = None, agent: str | None = None) -> tuple[int, dict[str, float], int]:
        """Steps in this visit, what it taught, and steps in all."""
        left = await self.send(
            "POST",
            "/nexus/transit/exit",
            {"agent_id": agent or self.agent, "session_id": session or self.session, "reason": "goal_complete"},
        )
        package = left["transit_package"]
        assert package["exit_reason"] == "goal_complete"
        assert isinstance(package["achievements"], list)
        return package["stats"]["steps"], package["skills_gained"], package["total_steps"]


class Nexus(Client):
    """From the specification of the Nexus in TypeScript: camel case, no prefix."""

    async def register(self) -> None:
        made = await self.send("POST", "/agents", {"id": self.agent, "name": self.agent.title(), "currentGameId": None})
        assert made["skills"].keys() >= {"exploration", "adaptation"}
        self.token = made.get("token", self.token)

    async def games(self) -> dict[str, str]:
        listed = (await self.send("GET", "/games"))["games"]
        for game in listed:
            assert {"skillDomains", "persistentWorld", "wsapVersion", "activeAgents", "maxAgents", "bridgeUrl"} <= {
                *game
            }
        return {game["id"]: game["status"] for game in listed}

    async def game(self, game: str) -> dict[str, Any]:
        return await self.send("GET", f"/games/{game}")

    async def identity(self, agent: str | None = None) -> dict[str, Any]:
        return await self.send("GET", f"/agents/{agent or self.agent}")

    async def observe(self, agent: str | None = None) -> dict[str, Any]:
        seen = await self.send("GET", f"/nexus/{agent or self.agent}")
        assert {"agent", "availableGames", "suggestedGames", "activeMetaGoals", "recentSessions"} <= {*seen}
        return seen

    async def enter(self, game: str) -> dict[str, Any]:
        entry = {"agentId": self.agent, "gameId": game, "spawn": "random", "sessionGoals": ["look around"]}
        result = await self.send("POST", "/transit/enter", entry)
        assert result["success"] is True
        self.session, self.play_url, self.play_token = result["sessionId"], result["bridgeUrl"], result.get("token")
        found: dict[str, Any] = result["bonusesApplied"]
        return found

    async def leave(self, game: str | None = None) -> dict[str, Any]:
        body = {"agentId": self.agent, "sessionId": self.session, "exitReason": "voluntary"}
        left = await self.send("POST", "/transit/exit", body if game is None else {**body, "gameId": game})
        package: dict[str, Any] = left["transitPackage"]
        assert package["originGame"] == left["nexusObservation"]["recentSessions"][0]["gameId"]
        return package


class Reference(Client):
    """From the reference server: snake case, no prefix, fewer fields."""

    async def register(self) -> None:
        made = await self.send("POST", "/agents", {"agent_id": self.agent, "name": self.agent.title()})
        self.token = made.get("token", self.token)

    async def games(self) -> dict[str, str]:
        listed = (await self.send("GET", "/games"))["games"]
        for game in listed:
            assert {"name", "description", "genre", "dimensions", "skill_domains", "active_agents", "bridge_url"} <= {
                *game
            }
        return {game["id"]: game["status"] for game in listed}

    async def identity(self, agent: str | None = None) -> dict[str, Any]:
        found = await self.send("GET", f"/agents/{agent or self.agent}")
        assert {"agent_id", "name", "total_steps", "games_visited", "skills", "achievements", "meta_goals"} <= {*found}
        return found

    async def observe(self, agent: str | None = None) -> dict[str, Any]:
        seen = await self.send("GET", f"/nexus/{agent or self.agent}")
        assert {"agent", "available_games", "suggested_games", "meta_goals"} <= {*seen}
        return seen

    async def enter(self, game: str) -> None:
        entered = await self.send("POST", "/transit/enter", {"agent_id": self.agent, "game_id": game})
        assert entered["success"] is True
        self.session, self.play_url, self.play_token = (
            entered["session_id"],
            entered["bridge_url"],
            entered.get("token"),
        )

    async def leave(self, game: str, agent: str | None = None) -> dict[str, Any]:
        left = await self.send("POST", "/transit/exit", {"agent_id": agent or self.agent, "game_id": game})
        package: dict[str, Any] = left["transit_package"]
        assert left["nexus_observation"]["agent"]["total_steps"] == package["total_steps"]
        return package
