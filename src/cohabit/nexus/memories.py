"""What an agent wants to remember in every game: core memories, and strategies."""

from typing import Literal

from msgspec.structs import replace

from cohabit.errors import GameRejected
from cohabit.model.observation import one_line
from cohabit.nexus.values import Profile

MEMORIES_KEPT = 20  # of each kind
MAX_MEMORY = 300  # characters
Kind = Literal["memory", "strategy"]


def remember(profile: Profile, text: str, kind: Kind = "memory") -> Profile:
    """The profile with one more memory. The oldest is forgotten if there are too many."""
    words = one_line(text).strip()
    if not words:
        raise GameRejected("there is nothing to remember; say it in a sentence")
    if len(words) > MAX_MEMORY:
        raise GameRejected(f"a memory has at most {MAX_MEMORY} characters, not {len(words)}; shorten it")
    return _with(profile, kind, [*(one for one in _of(profile, kind) if one != words), words][-MEMORIES_KEPT:])


def forget(profile: Profile, text: str, kind: Kind = "memory") -> Profile:
    """The profile without a memory."""
    words = one_line(text).strip()
    if words not in _of(profile, kind):
        raise GameRejected("you have no such memory; give its exact text")
    return _with(profile, kind, [one for one in _of(profile, kind) if one != words])


def _of(profile: Profile, kind: Kind) -> list[str]:
    return profile.core_memories if kind == "memory" else profile.strategies


def _with(profile: Profile, kind: Kind, kept: list[str]) -> Profile:
    return replace(profile, core_memories=kept) if kind == "memory" else replace(profile, strategies=kept)
