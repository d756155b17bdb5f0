"""Who plays a nation: a scripted one by its name, or a class of your own from a file, with a trait if it takes one."""

import importlib.util
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.model.suggest import nearest
from cohabit.worlds.statecraft.nations import NATIONS, TRAITS


class Player(Protocol):
    """The whole interface."""

    def act(self, agent_input: dict[str, Any]) -> Any: ...


def check_player(name: str, folder: str) -> None:
    """Raise where there is no such player, or none can be made."""
    try:
        made = make_player(name, folder)
    except (BadArgs, UnknownAsset):
        raise
    except Exception as wrong:  # somebody else's code
        raise BadArgs(f"{name} cannot be made: {type(wrong).__name__}: {wrong}") from None
    if not callable(getattr(made, "act", None)):
        raise BadArgs(f"{name} has no method act(agent_input)")


def make_player(name: str, folder: str) -> Player:
    """A new one: it remembers nothing of other rounds."""
    return _maker(name, folder)()


@lru_cache(maxsize=256)
def _maker(name: str, folder: str) -> Callable[[], Player]:
    path, dot, rest = name.partition(".py:")
    if dot:
        attribute, slash, trait = rest.partition("/")
        made = _from_file(Path(folder, path + ".py"), attribute)
        return (lambda: made(_line(trait))) if slash else made
    if name not in NATIONS:
        raise UnknownAsset(
            f"there is no nation {name!r}; there are {', '.join(sorted(NATIONS))}, or write FILE.py:ClassName",
            did_you_mean=nearest(name, sorted(NATIONS), 2),
        )
    return NATIONS[name]


def _line(trait: str) -> str:
    """What a player with this trait is told it is like."""
    if trait not in TRAITS:
        raise UnknownAsset(
            f"there is no trait {trait!r}; there are {', '.join(TRAITS)}", did_you_mean=nearest(trait, list(TRAITS), 2)
        )
    return TRAITS[trait]


def _from_file(path: Path, attribute: str) -> Callable[..., Player]:
    if not path.is_file():
        raise UnknownAsset(f"there is no file {path.name} beside the experiment")
    spec = importlib.util.spec_from_file_location(f"cohabit_lab_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UnknownAsset(f"{path.name} is no module of Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., Player] | None = getattr(module, attribute, None)
    if not isinstance(found, type):
        raise UnknownAsset(f"{path.name} has no class {attribute!r}")
    return found
