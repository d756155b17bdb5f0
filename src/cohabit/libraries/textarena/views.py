"""The view of a game by an eye, in words.

Lines of the library begin with a bar, and what players say is quoted, so neither can pass for a line of the view.
"""

from collections.abc import Sequence

import msgspec

from cohabit.libraries.textarena.game import ACTION, BOARD, GAME, PROMPT, Message

MAX_HISTORY = 6_000
"""Characters of history in a view. The query ``transcript`` has all of it."""


def rules(heard: Sequence[Message]) -> list[str]:
    """The rules as the library tells them."""
    return [line for message in heard if message.kind == PROMPT for line in barred(message.text)]


def board(heard: Sequence[Message]) -> str:
    """The latest board, as the library draws it."""
    return next((message.text for message in reversed(heard) if message.kind == BOARD), "")


def history(heard: Sequence[Message], reader: int | None) -> list[str]:
    """The events of the game, oldest first: the latest board only, and as much as fits."""
    board = next((message for message in reversed(heard) if message.kind == BOARD), None)
    kept: list[list[str]] = []
    room = MAX_HISTORY
    events = [message for message in heard if message.kind not in (PROMPT, BOARD) or message is board]
    for message in reversed(events):
        lines = told(message, reader)
        room -= sum(map(len, lines))
        if room < 0 and kept:
            kept.append([f"(earlier messages: {len(events) - len(kept)}; `transcript` lists them)"])
            break
        kept.append(lines)
    return [line for lines in reversed(kept) for line in lines]


def told(message: Message, reader: int | None) -> list[str]:
    """One message, as lines."""
    if message.sender == GAME:
        return barred(message.text)
    who = "You" if message.sender == reader else player_name(message.sender)
    if message.kind == ACTION:
        return [f"{who}: {quoted(message.text)}"]
    return [f"{who}:", *barred(message.text)]


def barred(text: str) -> list[str]:
    return [f"| {line}".rstrip() for line in text.strip("\n").splitlines() if line.strip()]


def quoted(text: str) -> str:
    return msgspec.json.encode(text.strip()).decode()


def player_name(player: int) -> str:
    """As TextArena calls it in its texts."""
    return f"Player {player}"
