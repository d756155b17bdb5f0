"""The players of an experiment: scripted nations by name, or classes from a file, optionally with a trait."""

import importlib.util
import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import msgspec

from cohabit.agents.brains.statecraft import NATIONS, TRAITS
from cohabit.errors import BadArgs, UnknownAsset
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.model.suggest import nearest
from cohabit.worlds.statecraft.fields import type_name


class Player(Protocol):
    """The interface of a player."""

    def act(self, agent_input: dict[str, Any]) -> Any: ...


def check_player(name: str, folder: str) -> None:
    """Raise if there is no such player or it cannot be created."""
    try:
        player = make_player(name, folder)
    except (BadArgs, UnknownAsset):
        raise
    except Exception as error:  # user code can raise anything
        raise BadArgs(f"{name} cannot be created: {type(error).__name__}: {error}") from None
    if not callable(getattr(player, "act", None)):
        raise BadArgs(f"{name} has no method act(agent_input)")


def make_player(name: str, folder: str) -> Player:
    """A new player, without memory of other rounds."""
    return _factory(name, folder)()


def file_of(name: str, folder: str) -> Path | None:
    """The file of a player; None for a scripted nation."""
    path, dot, _ = name.partition(".py:")
    return Path(folder, path + ".py") if dot else None


@lru_cache(maxsize=256)
def _factory(name: str, folder: str) -> Callable[[], Player]:
    path = file_of(name, folder)
    if path is not None:
        attribute, slash, trait = name.partition(".py:")[2].partition("/")
        cls = _class_from_file(path, attribute)
        return (lambda: cls(_trait_text(trait))) if slash else cls
    if name not in NATIONS:
        raise UnknownAsset(
            f"unknown player {name!r}; use {', '.join(sorted(NATIONS))} or FILE.py:ClassName",
            did_you_mean=nearest(name, sorted(NATIONS), 2),
        )
    return NATIONS[name]


def _trait_text(trait: str) -> str:
    if trait not in TRAITS:
        raise UnknownAsset(
            f"unknown trait {trait!r}; the traits are {', '.join(TRAITS)}",
            did_you_mean=nearest(trait, list(TRAITS), 2),
        )
    return TRAITS[trait]


def _class_from_file(path: Path, attribute: str) -> Callable[..., Player]:
    if not path.is_file():
        raise UnknownAsset(f"there is no file {path.name} in the folder of the experiment file")
    spec = importlib.util.spec_from_file_location(f"cohabit_lab_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UnknownAsset(f"{path.name} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., Player] | None = getattr(module, attribute, None)
    if not isinstance(found, type):
        raise UnknownAsset(f"{path.name} has no class {attribute!r}")
    return found


class NationAgent:
    """A player as an agent of the lab: it gets the input object as the status, and its answer is submitted as it is."""

    reads_choices = False

    def __init__(self, player: Player, scripted: bool, lost: Sequence[bool]) -> None:
        """``lost``: in which turns its answer is lost. Only scripted nations are trusted to answer in time."""
        self.player = player
        self.quick = scripted
        self.reads_text = not scripted
        self.lost = lost

    def decide(self, observation: Observation) -> Action:
        seen = observation.status
        answer = self.player.act(seen)
        if self.lost[seen["turn"]]:
            return Action("submit")
        return Action("submit", {"answer": _as_text(answer), "accept_drops": True})


def _as_text(answer: Any) -> str:
    """An answer as JSON, for the record; a text as it is. What JSON does not have becomes the name of its type."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, bytes | bytearray):
        return answer.decode(errors="replace")
    try:
        return msgspec.json.encode(answer).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return json.dumps(answer, default=type_name)
