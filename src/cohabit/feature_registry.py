"""Lookup of features by name: built in, in a file that was named to this process, or in an installed package."""

import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

from cohabit import registry
from cohabit.code_files import classes_in, module_from, only_class
from cohabit.errors import BadArgs, CohabitError, UnknownAsset
from cohabit.model.cached import cached
from cohabit.model.suggest import nearest

_NAME = re.compile("[a-z][a-z0-9_]{0,39}")
_features_in_files: dict[str, Any] = {}
_names_of_files: dict[str, str] = {}  # of the features in them; a file is read once, so an edited one needs a restart


@cache
def usual_features() -> tuple[str, ...]:
    """The names of the features that every new room has, as far as they are installed."""
    return tuple(name for name, target in registry.FEATURES.items() if _can_import(target))


def find_feature(name: str) -> Any:
    """The feature with that name (``room.feature``): built in, in a file that was named to this process, or an entry
    point of an installed package."""
    if name in _features_in_files:
        return _features_in_files[name]
    ours = registry.FEATURES.get(name) or registry.PROTOCOLS.get(name)
    if ours is not None and _can_import(ours):
        return _made_once(registry.imported(ours))
    theirs = None if ours else registry.installed(registry.FEATURE_ENTRY_POINTS).get(name)
    if theirs is not None:
        return _foreign_feature(partial(registry.imported, theirs), name)
    raise UnknownAsset(
        f"unknown feature {name!r}; if you have its file, set COHABIT_FEATURES=FILE and try again",
        did_you_mean=nearest(name, [*registry.FEATURES, *registry.PROTOCOLS, *_features_in_files], 2),
    )


@cached
def _made_once(cls: type) -> Any:
    return cls()


def _foreign_feature(find: Callable[[], type], source: str) -> Any:
    """A feature that is not part of Cohabit. ``source``: where it comes from, for errors."""
    try:
        made = _made_once(find())
        name, declared = getattr(made, "name", ""), made.declared
    except CohabitError:
        raise
    except (Exception, SystemExit) as bug:
        raise BadArgs(f"the feature {source} cannot be loaded: {type(bug).__name__}: {bug}") from bug
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadArgs(f"{source}: a feature needs a name of at most 40 lower-case letters, digits and underscores")
    if name in registry.FEATURES or name in registry.PROTOCOLS:
        raise BadArgs(f"{source}: there is a built-in feature {name!r}; choose another name")
    for command in declared:
        if command.name in registry.reserved_names():
            raise BadArgs(f"{source}: every room has a command {command.name!r}; choose another name")
        if command.records and command.category == "bus":
            raise BadArgs(f'{source}: {command.name} changes something, so its category cannot be "bus"; use "meta"')
    return made


def load_features(sources: Iterable[str]) -> list[str]:
    """The names of features. Those in files (``poll.py``, or ``poll.py:Poll``) become known to this process.

    A record names its features and not their files, so code is loaded only if the user of this process has named it.
    """
    return [
        _feature_in_file(source) if registry.is_file_source(source) else find_feature(source).name for source in sources
    ]


def _feature_in_file(source: str) -> str:
    """Load the feature in a file. Returns its name."""
    place = registry.lasting_source(source)
    if place in _names_of_files:
        return _names_of_files[place]
    made = _foreign_feature(partial(_feature_class, place), source)
    if made.name in _features_in_files:
        raise BadArgs(f"{source}: another file has a feature {made.name!r} already; a process can use only one of them")
    _features_in_files[made.name] = made
    _names_of_files[place] = made.name
    return _names_of_files[place]


def _feature_class(source: str) -> type:
    path, name = registry.split_source(source)
    base = registry.imported(registry.FEATURE)
    here = classes_in(module_from(path), lambda cls: issubclass(cls, base))
    found: type = only_class(here, Path(source), name, "feature", "Feature")
    return found


@cache
def _can_import(target: str) -> bool:
    """True if a feature, and every other one that it builds on, is installed."""
    try:
        return registry.imported(target) is not None
    except ModuleNotFoundError as missing:
        if missing.name is None or not missing.name.startswith("cohabit."):
            raise
        return False
