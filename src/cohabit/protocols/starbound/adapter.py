"""``StarboundAdapter``: the game for one script, through a bridge. It is synchronous, as WSAP describes adapters."""

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import httpx2
import msgspec

from cohabit.adapter import GameAdapter
from cohabit.errors import BadArgs, CohabitError, OutcomeUnknown
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Observation
from cohabit.protocols.starbound.actions import ACTIONS
from cohabit.protocols.starbound.connector import answer_of, sending_to_bridge
from cohabit.protocols.starbound.wire import DEFAULT_PLAYER, observation_of, read_object, read_outcome, read_view

T = TypeVar("T")
DEFAULT_URL = "http://localhost:9999"
TOKEN_VARIABLE = "COHABIT_STARBOUND_TOKEN"
TIMEOUT_S = 40.0
"""The bridge itself answers after 30 s."""


class StarboundAdapter(GameAdapter):
    """Starbound, played by one script. ``token``: by default from the environment, COHABIT_STARBOUND_TOKEN."""

    name = "Starbound"

    def __init__(self, url: str = DEFAULT_URL, player_id: str = DEFAULT_PLAYER, token: str | None = None) -> None:
        self._player = player_id
        token = token or os.environ.get(TOKEN_VARIABLE)
        self._client = httpx2.Client(
            base_url=url,
            headers={"authorization": f"Bearer {token}"} if token else {},
            timeout=httpx2.Timeout(TIMEOUT_S),
            trust_env=False,
            verify=url.startswith("https"),
        )
        self._step = 0
        self._events: list[dict[str, Any]] = []

    @property
    def game_description(self) -> str:
        return (
            "Starbound is a 2D game of exploration and survival in space, seen from the side. You travel between "
            "planets, gather resources, build bases, and follow a story about ancient artifacts. Each planet has its "
            "own biomes, gravity and dangers. Your ship is your mobile base."
        )

    @property
    def action_space(self) -> ActionSpace:
        return ACTIONS

    def observe(self) -> Observation:
        return observation_of(_valid(read_view, self._ask("observe")), self._events, self._step)

    def act(self, action: Action) -> ActionResult:
        """Execute an action. An action that the game refuses, or does not answer, has ``success=False``."""
        if ACTIONS.get(action.name) is None:
            raise BadArgs(f"there is no action {action.name!r}")
        self._step += 1
        try:
            said = self._ask("act", action=action.name, parameters=action.parameters)
            outcome = _valid(read_outcome, said)
        except OutcomeUnknown as lost:
            return ActionResult(False, f"{lost.message}; the action may or may not have been executed")
        self._events = [msgspec.to_builtins(event) for event in outcome.events]
        view = outcome.observation or _valid(read_view, self._ask("observe"))
        return ActionResult(
            outcome.success, outcome.message, outcome.reward, list(outcome.achievements), outcome.done,
            observation_of(view, self._events, self._step),
        )  # fmt: skip

    def reset(self) -> Observation:
        """Stop what the character does. A real game has no initial state to go back to."""
        self._ask("reset")
        self._step, self._events = 0, []
        return self.observe()

    def inventory(self) -> dict[str, int]:
        found: dict[str, int] = _valid(read_object, self._ask("inventory"))["inventory"]
        return found

    def quests(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = _valid(read_object, self._ask("quests"))["quests"]
        return found

    def world(self) -> dict[str, Any]:
        return _valid(read_object, self._ask("world"))

    def is_connected(self) -> bool:
        """True if the bridge runs and a game is connected to it."""
        try:
            return self._send("GET", "status").get("connected") is True
        except CohabitError:
            return False

    def close(self) -> None:
        self._client.close()

    def _ask(self, path: str, **fields: Any) -> dict[str, Any]:
        return self._send("POST", path, {"player_id": self._player, **fields})

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        with sending_to_bridge():
            response = self._client.request(method, f"/{path}", json=body)
        return answer_of(response)


def _valid(read: Callable[[Any], T], said: dict[str, Any]) -> T:
    """The value that a bridge sent, if it can be read; another bridge may pass on anything."""
    try:
        return read(said)
    except BadArgs as wrong:
        raise OutcomeUnknown(f"the bridge sent an invalid result: {wrong.message}") from None
