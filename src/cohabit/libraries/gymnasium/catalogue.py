"""The library ``gymnasium``: which environments are games here, and the worlds that are made of them."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, get_args, get_type_hints

import gymnasium

from cohabit.errors import UnknownAsset
from cohabit.libraries.gymnasium import toy_text
from cohabit.libraries.gymnasium.environment import EnvironmentWorld
from cohabit.libraries.gymnasium.own import own_world
from cohabit.libraries.gymnasium.registered import Registered, Table, tried
from cohabit.library import GameName, Listed, checked_parameters, made_by_user
from cohabit.model.table_files import read_table
from cohabit.world import World, WorldSpec

GRID_WORLDS = ("MiniGrid-", "BabyAI-")
ELSEWHERE = ("NetHack", "MiniHack")
"""The library ``nethack`` has these."""
PLAIN = (bool, int, float, str)
TABLE = read_table(__file__, Table)


class Gymnasium:
    """The library."""

    def __init__(self) -> None:
        try:
            import minigrid  # noqa: F401  # it registers its environments
        except ImportError:
            self._has_grid_worlds = False
        else:
            self._has_grid_worlds = True

    @cached_property
    def _registered(self) -> Registered:
        prefixes = tuple(name for name in gymnasium.registry if not name.startswith(ELSEWHERE))
        return Registered(TABLE, prefixes)

    def games(self) -> Sequence[Listed]:
        return list(self._registered.listed.values())

    def left_out(self) -> Mapping[str, str]:
        return self._registered.left_out()

    def world(self, name: GameName) -> type[World]:
        if name.is_code:
            return _own(name)
        if name.game.startswith(GRID_WORLDS) and not self._has_grid_worlds:
            raise UnknownAsset(f"MiniGrid is not installed, so there is no {name}: pip install 'cohabit[minigrid]'")
        listed = self._registered.find(name)
        given = checked_parameters(name, _parameters(_entry_point(name.game)))
        make = partial(gymnasium.make, name.game, disable_env_checker=True, **given)
        kind = TABLE.kinds[listed.kind]
        if name.game.startswith(GRID_WORLDS):
            from cohabit.libraries.gymnasium.minigrid import MiniGridWorld

            return _in_words(name, listed, MiniGridWorld, make)
        if kind.world:
            return _in_words(name, listed, getattr(toy_text, kind.world), make)
        tried(name, make).close()
        return own_world(make, name.world_name, listed.title, kind.rules, kind.moves)


def _in_words(name: GameName, listed: Listed, base: type[EnvironmentWorld], make: Callable[[], Any]) -> type[World]:
    """The world of an environment that has words of its own."""
    first = tried(name, make)
    rules, fitted = f"{listed.about} {base.how}".strip(), base.fitted(first)
    first.close()
    spec = WorldSpec(
        name=name.world_name, title=listed.title, open_information=not listed.hidden, deals_once=listed.hidden
    )
    return type(base.__name__, (base,), {
        "__doc__": f"{listed.title}. {rules}", "spec": spec, "rules": rules,
        "new_environment": staticmethod(make), **fitted,
    })  # fmt: skip


def _own(name: GameName) -> type[World]:
    """The world of an environment that a module of the user's makes."""
    factory = made_by_user(name)
    given: dict[str, Any] = dict(checked_parameters(name, _parameters(factory)))
    if "render_mode" in inspect.signature(factory).parameters and "render_mode" not in given:
        modes = getattr(factory, "metadata", {}).get("render_modes", ())
        given["render_mode"] = next((mode for mode in ("ansi", "rgb_array") if mode in modes), None)
    make = partial(factory, **given)
    tried(name, make).close()
    about = inspect.cleandoc(factory.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    return own_world(make, name.world_name, name.game.partition(":")[2], about)


def _entry_point(name: str) -> Callable[..., Any]:
    entry = gymnasium.registry[name].entry_point
    made: Any = gymnasium.envs.registration.load_env_creator(entry) if isinstance(entry, str) else entry
    return made  # type: ignore[no-any-return]  # it is whatever is registered


def _parameters(factory: Callable[..., Any]) -> dict[str, type]:
    """The parameters of an environment that a name can give: those that are numbers, words, or yes and no."""
    try:
        hints = get_type_hints(vars(factory).get("__init__", factory) if isinstance(factory, type) else factory)
    except (NameError, TypeError):
        hints = {}
    found: dict[str, type] = {}
    for name, parameter in inspect.signature(factory).parameters.items():
        hint = hints.get(name, type(parameter.default))
        kinds = [kind for kind in (hint, *get_args(hint)) if kind in PLAIN]
        if kinds:
            found[name] = kinds[0]
    return found
