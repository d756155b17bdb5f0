"""The players of an experiment: scripted nations by name, or classes from a file, optionally with a trait."""

import importlib.util
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from threading import Thread
from typing import Any, Protocol

from cohabit.agents.brains.statecraft import NATIONS, TRAITS
from cohabit.errors import BadArgs, UnknownAsset
from cohabit.model.suggest import nearest


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


@lru_cache(maxsize=256)
def _factory(name: str, folder: str) -> Callable[[], Player]:
    path, dot, rest = name.partition(".py:")
    if dot:
        attribute, slash, trait = rest.partition("/")
        cls = _class_from_file(Path(folder, path + ".py"), attribute)
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


class TimeLimitedPlayer:
    """Runs a player on a thread with a timeout, so that a player that never answers cannot stop an experiment.

    A player that missed the timeout is not asked again until it has finished.
    """

    def __init__(self, player: Player, timeout_s: float) -> None:
        self._player = player
        self._timeout_s = timeout_s
        self._thread: Thread | None = None

    def act(self, agent_input: dict[str, Any]) -> Any:
        if self._thread is not None and self._thread.is_alive():
            raise TimeoutError("the player is still busy with an earlier turn")
        answers: list[Any] = []
        errors: list[BaseException] = []

        def target() -> None:
            try:
                answers.append(self._player.act(agent_input))
            except BaseException as error:  # SystemExit must end neither the process nor the thread with a traceback
                errors.append(error)

        self._thread = Thread(target=target, name="experiment player", daemon=True)
        self._thread.start()
        self._thread.join(self._timeout_s)
        if answers:
            return answers[0]
        if errors and isinstance(errors[0], Exception):
            raise errors[0]
        raise TimeoutError(f"no answer within {self._timeout_s:g} s")
