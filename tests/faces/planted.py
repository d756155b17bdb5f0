"""A table of Whist in which every hidden place holds a sentinel, and who may ever see each of them."""

import re
from typing import Any

from cohabit.fair import Draw, seat_commitment
from cohabit.model.stream import Stream
from cohabit.scenario import AgentSpec, Scenario

PLAYERS = ("ann", "ben", "cat", "dan")
SEATS = ("north", "east", "south", "west")
HIDDEN_NAME = "zzhidden"
CARD = re.compile(r"\b[CDHS](?:1[0-4]|[2-9])\b")
READS: list[tuple[str, dict[str, Any]]] = [
    ("view", {}), ("whoami", {}), ("session_info", {}), ("roster", {}), ("rules", {}), ("recv_messages", {}),
    ("app_view", {}), ("app_schemas", {}), ("requests", {}), ("audit", {}), ("objective_status", {}), ("deals", {}),
]  # fmt: skip
HOUSE_READS: list[tuple[str, dict[str, Any]]] = [
    ("events", {}), ("events", {"last": 300}), ("observe", {}), ("capabilities", {}), ("invites", {}),
]  # fmt: skip


def scenario() -> Scenario:
    players = [AgentSpec(id=name, kind="human", role="player", claim=f"auto:{i}") for i, name in enumerate(PLAYERS)]
    return Scenario(
        scenario="planted",
        world="whist",
        config={"points": 1},
        agents=[
            *players,
            AgentSpec(id="hostess", role="host", kind="human"),
            AgentSpec(id="board", role="app"),
            AgentSpec(id="owl"),
            AgentSpec(id="eve"),
            AgentSpec(id="mole"),
            AgentSpec(id=HIDDEN_NAME, kind="human"),
        ],
    )


READERS = (*PLAYERS, "hostess", "board", "owl", "eve", "mole", HIDDEN_NAME)
SETUP: list[tuple[str, str, dict[str, Any]]] = [
    ("hostess", "narrow", {"member": "eve", "may": ["read_roster", "read_chat", "receive_directed"]}),
    ("hostess", "narrow", {"member": "mole", "may": ["watch", "read_roster", "read_chat"]}),
]
"""eve sees the table and nothing else; mole gets messages to itself and nothing else."""

_ROSTER = {*PLAYERS, "hostess", "board", "owl", HIDDEN_NAME}
_CHAT = {*PLAYERS, "hostess", "board", "owl", HIDDEN_NAME}
MAY_SEE = {
    "zz-to-ben": {"ann", "ben"},
    "zz-chat": _CHAT,
    "zz-data-for-cat": {"cat"},
    "zz-data-for-all": _CHAT,
    "zz-image": {"hostess", HIDDEN_NAME},
    "zz-view-for-dan": {"dan"},
    "zz-view-for-all": {*READERS} - {"mole"},
    "zz-schema": {*READERS} - {"mole"},
    "zz-action": {"board"},
    "zz-reason": {"owl", "hostess"},
    "zz-why": {"ann"},
    HIDDEN_NAME: _ROSTER,
}
"""Each sentinel, and the members that may ever get it. A member's own messages do not count as leaks."""


def plant(stream: Stream) -> list[tuple[str, str, dict[str, Any]]]:
    """Calls that plant sentinels, one of them chosen at random each time."""
    return [
        stream.choice(
            [
                ("ann", "send_message", {"to": "ben", "content": "zz-to-ben"}),
                ("hostess", "send_message", {"to": "*", "content": "zz-chat"}),
                ("ann", "send_data", {"to": "cat", "data": {"k": "zz-data-for-cat"}}),
                (HIDDEN_NAME, "send_data", {"data": {"k": "zz-data-for-all"}}),
                (HIDDEN_NAME, "send_data", {"data": "zz-image", "kind": "image"}),
                ("board", "publish_view", {"view": {"hand": "zz-view-for-dan"}, "to": ["dan"]}),
                ("board", "publish_view", {"view": {"table": "zz-view-for-all"}}),
                ("board", "publish_schema", {"name": "zz-schema", "version": "1", "schema": {"a": "zz-schema"}}),
                ("dan", "request_action", {"action": "zz-action"}),
                ("owl", "ask", {"may": ["send_message"], "why": "zz-reason"}),
                ("hostess", "decline", {"request": "owl-1"}),
                ("eve", "grant", {"member": "zz-why"}),
            ]
        )
    ]


def nonce_of(who: str, number: int) -> str:
    """The nonce of a player for a deal: its sentinel."""
    return f"{PLAYERS.index(who) + 1:x}" * 60 + f"{number:04x}"


def next_move(to_move: list[str], legal: Any, stream: Stream, draw: Draw) -> tuple[str, str, dict[str, Any]]:
    """A legal move of one of the seats to move. All commit to a nonce, which is a sentinel of its player."""
    seat = stream.choice(to_move)
    who = PLAYERS[SEATS.index(seat)]
    chosen = stream.choice(legal(seat))
    nonce = nonce_of(who, draw.number)
    if chosen.name == "cut":
        return who, "cut", {"commitment": seat_commitment(draw.game, draw.number, SEATS.index(seat), nonce)}
    if chosen.name == "reveal":
        return who, "reveal", {"nonce": nonce}
    return who, "play", {"card": chosen.parameters["card"]}


def leaks(text: str, reader: str, sent: set[str], open_cards: set[str], open_nonces: bool) -> list[str]:
    """The sentinels and hidden cards in what a reader got that it may not have."""
    found = [
        sentinel
        for sentinel, allowed in MAY_SEE.items()
        if sentinel in text and reader not in allowed and sentinel not in sent
    ]
    if not open_nonces:
        found += [name for name in PLAYERS if name != reader and nonce_of(name, 0)[:60] in text]
    return found + sorted(set(CARD.findall(text)) - open_cards)
