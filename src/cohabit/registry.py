"""Lookup by name of worlds, brains, connectors and features. Import strings are only here and in ``registry.toml``.

A world is a built-in name, an entry point of an installed package, a game of a library (``libraries``), or a file.
Everything is imported on first use.
"""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache, partial
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from cohabit.adapter import as_world, is_adapter
from cohabit.agents.brain import Brain, parse_brain
from cohabit.code_files import classes_in, module_from, only_class
from cohabit.declare import Declaration
from cohabit.errors import BadArgs, UnknownAsset
from cohabit.library import GameName, Installable, Library, Listed, parse_name
from cohabit.model.cached import cached
from cohabit.model.suggest import nearest
from cohabit.model.table_files import read_table
from cohabit.world import World

if TYPE_CHECKING:
    from cohabit.agents.contract import Setting
    from cohabit.model.stream import Stream

_OURS = read_table(__file__, dict[str, Any])
BUILT_IN: dict[str, str] = _OURS["worlds"]
WITHOUT_SEATS = frozenset({"lounge"})
"""Listed worlds that nobody plays, so they are no environments for training."""
LIBRARIES = msgspec.convert(_OURS["libraries"], dict[str, Installable])
"""Libraries of games, by the first part of a world's name."""
UNLISTED: dict[str, str] = _OURS["unlisted_worlds"]
"""Worlds that have their own commands and are not listed."""
CONNECTORS: dict[str, str] = _OURS["connectors"]
FEATURES: dict[str, str] = _OURS["features"]
"""The features of every room, in the order in which their hooks are called."""
PROTOCOLS: dict[str, str] = _OURS["protocols"]
"""Features of rooms whose world asks for them."""
FEATURE = "cohabit.room.feature:Feature"
FEATURE_ENTRY_POINTS = "cohabit.features"
PROTOCOL_NAMES = ("cohabit.protocols.kibitz", "cohabit.protocols.worldbox")
"""Optional packages that add the names of another project's protocol on import."""
SIDE_SERVERS = ("cohabit.protocols.worldbox.server:BridgeServer.open", "cohabit.nexus.server:NexusServer.open")
"""Additional listeners, of protocols of other projects."""
CLI_VERBS = (
    ("worldbox", "[SCENARIO]", "share a running WorldBox game", "cohabit.protocols.worldbox.cli"),
    ("starbound", "[SCENARIO]", "share a running Starbound game", "cohabit.protocols.starbound.cli"),
)
"""Command-line verbs of protocols of other projects: name, arguments, summary, module."""
TOKEN_VARIABLES = ("COHABIT_TOKEN", "WORLDBOX_MCP_TOKEN")
"""Environment variables that may contain a credential; the first one that is set wins."""
ENTRY_POINTS = "cohabit.worlds"
RESERVED_NAMES = "cohabit.house.commands:reserved_names"
"""Names that no action of a world can have."""
BRIDGE_FILE_WORLD = "kingdoms"
"""The world of a scenario file that names none: an ``agents.json`` of the WorldBox bridge, which has only one world."""
AGENT_ENTRY_POINTS = "cohabit.agents"
COMMAND_AGENT = "cohabit.agents.command:CommandAgent"
LLM_AGENT = "cohabit.agents.llm.mind:LlmAgent"
NATION_OF_CLASS = "cohabit.agents.brains.statecraft_class:nation_of_class"
"""Makes an agent of a class that plays Statecraft by its input object."""
ISOLATED_BACKEND = "cohabit.agents.llm.isolated:use_backend"
BACKENDS: dict[str, str] = _OURS["backends"]
"""Language models, by the first part of a brain's name."""
HUMAN = "human"
AT_A_TERMINAL = {HUMAN: "cohabit.agents.brains.human:Human"}
"""Brains that need the terminal of the process: for matches, not for a house."""
ANY_WORLD = "*"
PLAYERS: dict[str, dict[str, str]] = _OURS["players"]
"""Built-in scripts that play a seat, by the world that they can play."""
GODS: dict[str, str] = _OURS["gods"]
"""Built-in scripts that act on a world of Kingdoms from outside, or write about it."""
BRAINS = {name: target for scripts in PLAYERS.values() for name, target in scripts.items()} | GODS
"""Built-in scripts. They are quick, and use neither files nor the network."""

COMMENTS: dict[str, str] = _OURS["comments"]
"""Comments of a kibitzer, by the world's name."""


@cache
def load_protocol_names() -> None:
    """Import the installed protocols of other projects, which adds their names of roles and capabilities."""
    for name in PROTOCOL_NAMES:
        if _is_installed(name):
            importlib.import_module(name)


def _is_installed(name: str) -> bool:
    if name in sys.modules:
        return True
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _package_is_installed(module: str) -> bool:
    """Check the module's package: ``find_spec`` of the module itself would import that package."""
    return _is_installed(module.rpartition(".")[0])


def make_agent(
    name: str, purpose: str, options: Mapping[str, Any] | None = None, setting: "Setting | None" = None
) -> Any:
    """An agent with this brain; see ``agents.brain`` for the names and ``agents.contract.adapted`` for how to call it.

    ``purpose`` seeds its random stream, so its play is reproducible. ``options`` come after those in the name.
    """
    if options is None and (script := _scripted(name)) is not None:
        return script(purpose=purpose)
    brain = parse_brain(name, options)
    if brain.is_file:
        return _spending_from(setting, _called(brain, _agent_in_file(Path(brain.kind), brain.target), purpose))
    if brain.is_command:
        return imported(COMMAND_AGENT)(brain.words)
    if brain.kind in BACKENDS:
        made = partial(imported(LLM_AGENT), imported(BACKENDS[brain.kind]), brain)
        return made() if setting is None else made(setting)
    target = BRAINS.get(brain.kind) or AT_A_TERMINAL.get(brain.kind) or installed_brains().get(brain.kind)
    if target is None or brain.target:
        known = [*BRAINS, *BACKENDS, *AT_A_TERMINAL, *installed_brains()]
        raise UnknownAsset(unknown_brain(name), did_you_mean=nearest(brain.kind, known, 2))
    return _spending_from(setting, _called(brain, imported(target), purpose))


def unknown_brain(name: str) -> str:
    """The error message for an unknown brain, with the kinds of names that there are."""
    return (
        f"unknown brain {name!r}; it is a script such as random or warlord, a model such as local or ollama:NAME, "
        "FILE.py or command:PROGRAM"
    )


def _spending_from(setting: "Setting | None", agent: Any) -> Any:
    """An agent in a file that uses one of our language models counts against the same spending cap."""
    if setting is not None and setting.spending is not None and hasattr(agent, "spend_from"):
        agent.spend_from(setting.spending)
    return agent


def use_backend(agent: Any, setting: "Setting | None") -> None:
    """Let an agent in another process ask its language model through this one."""
    imported(ISOLATED_BACKEND)(agent, setting)


def make_comments(world: str, stream: "Stream") -> Any:
    """The comments of a kibitzer on this world (see ``protocols.kibitz.comments``); None if there are none."""
    return imported(COMMENTS[world])(stream) if world in COMMENTS else None


@lru_cache(256)
def _scripted(name: str) -> Callable[..., Any] | None:
    """The class of a built-in brain without options. Short games make them thousands of times a second."""
    made = imported(BRAINS[name]) if name in BRAINS else None
    return made if made is not None and "purpose" in _parameters(made)[0] else None


def knows_brain(brain: Brain) -> bool:
    """True if there is such a brain. A file must exist; a model is not asked for, nor a program started."""
    if brain.is_file:
        try:
            return Path(brain.kind).is_file()
        except OSError:  # such as a name that is too long
            return False
    if brain.is_command or brain.kind in BACKENDS:
        return True
    return not brain.target and any(brain.kind in known for known in (BRAINS, AT_A_TERMINAL, installed_brains()))


def players_of(world: str) -> list[str]:
    """The built-in scripts that can play a seat of this world."""
    return [*PLAYERS.get(world, ()), *PLAYERS[ANY_WORLD]]


def check_plays(name: str, world: str) -> None:
    """Refuse a built-in script for other worlds than this one, which is built in, too: it would only fail."""
    brain = parse_brain(name)
    if not is_script(brain) or brain.kind in GODS or world not in BUILT_IN or brain.kind in players_of(world):
        return
    raise BadArgs(f"{name} does not play {world}; built-in players that do: {', '.join(players_of(world))}")


def is_script(brain: Brain) -> bool:
    """True if it is a built-in script."""
    return brain.kind in BRAINS and not brain.is_code_or_network


def is_foreign(brain: Brain) -> bool:
    """True if it is code that is not part of Cohabit: in a file, a program, or in an installed package."""
    ours = (*BRAINS, *BACKENDS, *AT_A_TERMINAL)
    return brain.is_code or (brain.kind not in ours and not brain.target and brain.kind in installed_brains())


def installed_brains() -> dict[str, str]:
    """Brains of installed packages: name to ``module:Class``."""
    return installed(AGENT_ENTRY_POINTS)


def installed(group: str) -> dict[str, str]:
    """The declarations of installed packages in a group of entry points: name to ``module:attribute``."""
    return dict(_entry_points(group, tuple(sys.path)))


@cache
def _entry_points(group: str, path: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Those of the packages on this search path. They are read once: there may be hundreds of packages."""
    from importlib.metadata import entry_points

    return tuple((point.name, point.value) for point in entry_points(group=group))


def _called(brain: Brain, made: Callable[..., Any], purpose: str) -> Any:
    """An agent from its class: ``purpose`` is passed if it takes one, options by their names."""
    parameters, takes_all = _parameters(made)
    given = dict(brain.options)
    if unknown := [name for name in given if name not in parameters and not takes_all]:
        raise BadArgs(
            f"{brain.kind} has no option {unknown[0]!r}", did_you_mean=nearest(unknown[0], list(parameters), 2)
        )
    if "purpose" in parameters:
        given["purpose"] = purpose
    return made(**given)


@lru_cache(256)
def _parameters(made: Callable[..., Any]) -> tuple[Mapping[str, inspect.Parameter], bool]:
    """The parameters of a class, and whether it takes any others."""
    parameters = inspect.signature(made).parameters
    return parameters, any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def make_connector(name: str, house: Any, room: str, config: Mapping[str, Any]) -> Any:
    """A registered connector (``house.running.remote``): the house connects to these remote worlds itself."""
    return imported(CONNECTORS[name])(house, room, config)


def side_servers() -> list[Callable[[Any], Any]]:
    """Factories for the listeners of installed protocols; see ``faces.serve``."""
    return [imported(target) for target in SIDE_SERVERS if _package_is_installed(target.partition(":")[0])]


def cli_verbs() -> list[tuple[str, str, str, str]]:
    """The command-line verbs of installed protocols."""
    return [verb for verb in CLI_VERBS if _package_is_installed(verb[3])]


@cache
def imported(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return attrgetter(attribute)(importlib.import_module(module))


def known_worlds() -> dict[str, str]:
    """All listed worlds: name to ``module:Class``."""
    ours = {name: target for name, target in BUILT_IN.items() if _package_is_installed(target.partition(":")[0])}
    return {**installed(ENTRY_POINTS), **ours}


def known_games() -> list[str]:
    """The listed worlds that can be played."""
    return [name for name in known_worlds() if name not in WITHOUT_SEATS]


def find_world(source: str) -> type[World]:
    """The world with that name, the game of a library (``openspiel:chess``), or the world in that file (``mygame.py``,
    or ``mygame.py:ClassName``)."""
    if (game := parse_name(source, LIBRARIES)) is not None:
        return _of_library(game)
    if is_file_source(source):
        return _from_file(*split_source(source))
    built_in = BUILT_IN.get(source) or UNLISTED.get(source)
    missing = built_in is not None and not _package_is_installed(built_in.partition(":")[0])
    target = None if missing else built_in or known_worlds().get(source)
    if target is None:
        known = list(known_worlds())
        raise UnknownAsset(
            f"unknown world {source!r}. Known worlds: {', '.join(known)}. You can also give the path of a .py file",
            did_you_mean=nearest(source, known, 2),
        )
    return _world_of(target, source)


@lru_cache(1024)
def _of_library(game: GameName) -> type[World]:
    return find_library(game.library).world(game)


@cache
def find_library(name: str) -> Library:
    """The library with this name, which is imported."""
    found = LIBRARIES.get(name)
    if found is None:
        raise UnknownAsset(
            f"unknown library {name[:40]!r}; libraries: {', '.join(LIBRARIES)}",
            did_you_mean=nearest(name, [*LIBRARIES], 2),
        )
    try:
        importlib.import_module(found.package)
        library: Library = imported(found.library)()
    except ImportError as missing:
        raise UnknownAsset(
            f"the library {name} is not installed ({missing.msg}): pip install 'cohabit[{found.extra}]'"
        ) from missing
    return library


def installed_libraries() -> list[str]:
    """The libraries that can be imported. They are not imported."""
    return [name for name, found in LIBRARIES.items() if _is_installed(found.package)]


@cache
def listed_games(library: str) -> dict[str, Listed]:
    """The games of a library, by their names as worlds."""
    return {f"{library}:{game.name}": game for game in find_library(library).games()}


def is_listed(source: str) -> bool:
    """True if anybody who may create rooms may open this world by its name: a known one, or a game that a library
    lists, as it is. Parameters can make a game as large as one likes, so they are for the operator."""
    game = parse_name(source, installed_libraries())
    return source in (known_worlds() if game is None else listed_games(game.library))


@cache
def _world_of(target: str, source: str) -> type[World]:
    load_protocol_names()
    return _checked(imported(target), source)


def is_ours(source: str) -> bool:
    """True if a world is part of Cohabit."""
    return source in BUILT_IN or source in UNLISTED


def is_file_source(source: str) -> bool:
    """True if a world comes from a file, not from its name."""
    return source.endswith(".py") or ".py:" in source


def is_library_source(source: str) -> bool:
    """True if a source is the name of a game of a library."""
    return parse_name(source, LIBRARIES) is not None


def is_code_source(source: str) -> bool:
    """True if a source names code of the user's own: a file, or an environment that a module makes."""
    game = parse_name(source, LIBRARIES)
    return is_file_source(source) if game is None else game.is_code


def split_source(source: str) -> tuple[Path, str]:
    """The file of a source, and the class in it that it names; "": the only one."""
    path, _, name = source.partition(".py:")
    return Path(f"{path}.py" if ".py:" in source else source), name


def world_place(source: str) -> Path:
    """The folder with the files of a world, or the only file that it has. The world is not imported."""
    if is_file_source(source):
        return split_source(source)[0].resolve().parent
    target = BUILT_IN.get(source) or UNLISTED.get(source) or known_worlds().get(source, "cohabit.worlds")
    package, _, module = target.partition(":")[0].partition(".")
    spec = find_spec(package)
    origin = Path(spec.origin if spec is not None and spec.origin else __file__).resolve()
    if package == "cohabit":
        return origin.parent / module.partition(".")[0]
    return origin.parent if origin.name == "__init__.py" else origin


def trusted_source(recorded: str, named: Iterable[str] = (), how: str = "--world FILE") -> str:
    """The source of the world that a record or a design names, if it may be loaded.

    A record can come from anybody, and a file is code: one is loaded only if the user has named it. ``named`` are those
    files; one with the recorded file name is taken in place of the recorded path. ``how`` the user names one.
    """
    if not is_code_source(recorded):
        return recorded
    path, cls = split_source(recorded)
    for source in named:
        if source == recorded:
            return source
        if not is_file_source(source):
            continue
        given, given_cls = split_source(source)
        if given.name == path.name:
            return source if given_cls or not cls else f"{source}:{cls}"
    what, rule = ("the file", "A file is code, and") if is_file_source(recorded) else ("made by", "That is code, and")
    raise BadArgs(
        f"the world of this record is {what} {recorded!r}. {rule} is not run because a record names it; "
        f"if you have {'the file' if is_file_source(recorded) else 'it'} and trust it, name it with {how}"
    )


def lasting_source(source: str) -> str:
    """The source with an absolute path, so it works from any directory."""
    if not is_file_source(source):
        return source
    path, name = split_source(source)
    return str(path.resolve()) + (f":{name}" if name else "")


def absolute_brain(name: str | None, folder: Path) -> str | None:
    """The name of a brain, with absolute paths if it is in a file or a program; relative ones are relative to
    ``folder``."""
    brain = parse_brain(name) if name is not None else None
    return str(brain.with_absolute_paths(folder)) if brain is not None and brain.is_code else name


def make_world(source: str, config: Mapping[str, Any]) -> World:
    """A world ready for ``reset``. Its config is validated against the parameters of its ``__init__``."""
    cls = find_world(source)
    takes = _config_of(cls, source)
    try:
        return cls(**takes.check(dict(config)))
    except BadArgs as wrong:
        known = f"; it takes {', '.join(takes.arguments) or 'no settings'}" if "it takes" not in wrong.message else ""
        raise BadArgs(wrong.message + known, did_you_mean=wrong.did_you_mean) from None


@cached
def _config_of(cls: type[World], source: str) -> Declaration:
    return Declaration(f"config of {source}", cls, skip=0)


def _from_file(path: Path, name: str) -> type[World]:
    module = module_from(path)
    here = classes_in(module, lambda cls: _is_world(cls) or is_adapter(cls))
    if name not in here and isinstance(vars(module).get(name), type):
        raise UnknownAsset(
            f"{name} in {path} is not a world: derive it from World. An agent has a method decide or think"
        )
    return _checked(only_class(here, path, name, "world", "World"), str(path))


def _agent_in_file(path: Path, name: str) -> Any:
    """The agent in a file: the class with a method ``decide`` or ``think``, or the one with this name.

    A class that has only ``act`` plays a nation of Statecraft. It has to be named: ``act`` may be anything.
    """
    module = module_from(path)
    named = vars(module).get(name)
    if isinstance(named, type) and not _decides(named):
        if not hasattr(named, "act"):
            raise UnknownAsset(f"{name} in {path} is not an agent: it has no method decide, think or act")
        return partial(imported(NATION_OF_CLASS), named)
    return only_class(classes_in(module, _decides), path, name, "agent", "an agent (a class with decide)")


def _decides(cls: type) -> bool:
    return hasattr(cls, "decide") or hasattr(cls, "think")


def _is_world(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, World) and value is not World


@cache
def reserved_names() -> frozenset[str]:
    return frozenset(imported(RESERVED_NAMES)())


def _checked(found: Any, source: str) -> type[World]:
    if is_adapter(found):
        return as_world(found, reserved_names())
    if not _is_world(found):
        raise BadArgs(f"{source} is not a World class")
    if not hasattr(found, "spec"):
        raise BadArgs(f"{source}: {found.__name__} has no spec = WorldSpec(name=…)")
    world: type[World] = found
    return world
