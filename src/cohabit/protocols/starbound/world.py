"""Starbound as a remote world: a seat for each player whose game is connected, and what each of them last saw."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from cohabit.adapter import arguments_of
from cohabit.model.action import Action
from cohabit.protocols.starbound.actions import ACTIONS, type_of
from cohabit.protocols.starbound.wire import MAX_EVENTS, PlayerView, observation_of
from cohabit.remote import Ask, Plan, Polled, Sent, SeparateWorld
from cohabit.world import ActionSpec, Eye, Observation, Outcome, Seat, SeatId, Told, WorldSpec

SELDOM_USED = frozenset(
    {"move_left", "move_right", "alt_attack", "unequip", "open_crafting", "track_quest", "use_tech"}
)  # fmt: skip
"""Actions that the short list of tools leaves out. They can be called all the same."""
NOT_CONNECTED = "The game of this player is not connected at the moment; this is what it showed last."


class Starbound(SeparateWorld):
    """Starbound. A 2D game of exploration and survival in space.

    You travel between planets, gather resources, build bases, fight and trade, and follow a story about ancient
    artifacts. Each planet has its own biomes, gravity and dangers. Your ship is your mobile base: `beam_up` takes you
    there, `beam_down` to the planet below.

    It is seen from the side: left and right, above and below. Time passes in the game whether or not anyone acts. Each
    player sees what its own character sees. Some actions are impossible for scripts, such as pressing the fire button;
    the answer says so.
    """

    spec = WorldSpec(
        name="starbound", title="Starbound", seats=0, pace="step", quick=True, examples=True, show_legal=False
    )  # fmt: skip
    how_to_connect = "start it with `cohabit starbound`"

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.players: dict[SeatId, dict[str, Any]] = {}
        self.about: dict[str, str] = {}
        self.reachable = False
        self.sent: dict[str, Sent] = {}

    # -- polling and answers --------------------------------------------------------------------------
    def poll(self) -> Plan:
        found = (yield Ask("players"))["players"]
        changed = []
        for player in found:
            known = self.players.get(player["id"])
            view = player["view"] or (known["view"] if known else None)
            now = {"name": player["name"], "connected": player["connected"], "view": view}
            if known is None or any(known[key] != value for key, value in now.items()):
                changed.append({"id": player["id"], **now})
        return {"players": changed} if changed else None

    def polled(self, state: Mapping[str, Any]) -> Polled:
        told = []
        for found in state["players"]:
            known = self.players.get(found["id"])
            was_connected = known is not None and known["connected"]
            if found["connected"] != was_connected:
                told.append(Told(f"{found['name']} is {'connected' if found['connected'] else 'no longer connected'}"))
            player = known or {"events": [], "step": 0, "done": False}
            self.players[found["id"]] = player | {key: found[key] for key in ("name", "connected", "view")}
        return Polled(told)

    def shown_answer(self, sent: Ask, answer: Mapping[str, Any]) -> None:
        """The outcome says it all."""

    def answered(self, sent: Sent, answer: Mapping[str, Any]) -> Outcome:
        player = self.players.get(sent.seat or "")
        if player is not None:
            new = [dict(event) for event in answer.get("events", ())]
            self.players[sent.seat or ""] = player | {
                "view": answer.get("observation") or player["view"],
                "events": [*player["events"], *new][-MAX_EVENTS:] if new else [],
                "step": player["step"] + 1,
                "done": bool(answer.get("done")),
            }
        success = bool(answer["success"])
        message = answer.get("message") or ("done" if success else "it did not work")
        return Outcome(
            message,
            reward=answer.get("reward", 0.0),
            achievements=tuple(answer.get("achievements", ())),
            success=success,
        )

    # -- seats and views ------------------------------------------------------------------------------
    def seats_now(self) -> Sequence[Seat]:
        return [Seat(id_, player["name"]) for id_, player in self.players.items()]

    def to_move(self) -> Sequence[SeatId]:
        return list(self.players)

    def is_over(self) -> bool:
        return False

    def observe(self, eye: Eye) -> Observation:
        own = self.players.get(eye.seat or "") if eye.sees != "public" else None
        if own is None:
            return Observation(text="\n".join(self._overview(eye)), status={"reachable": self.reachable})
        if own["view"] is None:
            return Observation(text="The game has not shown anything yet.", status={"connected": own["connected"]})
        seen = observation_of(msgspec.convert(own["view"], PlayerView), own["events"], own["step"])
        if own["connected"] and self.reachable:
            return seen
        return msgspec.structs.replace(seen, text=NOT_CONNECTED)

    def _overview(self, eye: Eye) -> list[str]:
        """The players; where they are only for those from whom nothing is hidden."""
        lines = [] if self.players else ["No player has connected yet."]
        for player in self.players.values():
            line = f"{player['name']}: {'connected' if player['connected'] else 'not connected'}"
            if eye.sees == "all" and player["view"] is not None:
                seen = observation_of(msgspec.convert(player["view"], PlayerView))
                line += f", {seen.location.to_text() if seen.location else ''}, health {seen.status['health']:g}"
            lines.append(line)
        return lines

    # -- actions --------------------------------------------------------------------------------------
    def actions(self) -> Sequence[ActionSpec]:
        return [
            ActionSpec(
                name=action.name, run=_no_plan, args=arguments_of(action.name, action, type_of),
                description=action.description, group=action.category, preconditions=tuple(action.preconditions),
                listed=action.name not in SELDOM_USED,
            )
            for action in ACTIONS.actions
        ]  # fmt: skip

    def legal(self, seat: Seat) -> Sequence[Action]:
        """Examples: the actions that need no parameters."""
        return [Action(a.name) for a in ACTIONS.actions if not any(p.required for p in a.parameters)]

    def fallback(self, seat: Seat) -> Action:
        return Action("wait")


def _no_plan(by: Seat | None, **args: Any) -> None:
    """Every action: the game itself says whether it can be done."""
