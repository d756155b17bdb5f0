"""The design of an experiment: worlds x configs x line-ups x seeds, with the seats swapped.

Every line-up is played on every seed in every condition, so differences between conditions are paired by seed. Within a
seed its players are rotated over the seats. Nothing is played if the description has a mistake.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import lru_cache
from hashlib import sha256
from itertools import permutations, product
from json import dumps
from pathlib import Path
from typing import Any, Literal, Self

import msgspec
from msgspec import Struct

from cohabit.agents.brain import is_command, parse_brain
from cohabit.agents.isolated import made_once
from cohabit.agents.secrets import in_public
from cohabit.agents.wire import Facts
from cohabit.declare import object_schema
from cohabit.errors import BadArgs, CohabitError
from cohabit.lab.game import MAX_DECISIONS, GameSpec
from cohabit.model.strict_json import parse_document
from cohabit.model.suggest import nearest
from cohabit.model.validation_errors import in_words
from cohabit.registry import absolute_brain, check_plays, is_file_source, make_world

MAX_GAMES = 1_000_000
MAX_PERMUTED = 5
"""Players of a line-up that can be permuted: five give 120 games for each seed."""
MAX_SECONDS = 86_400
OF_THE_GAME = ("partial_intel", "step_ticks", "max_ticks", "max_decisions", "seconds")
"""Factors that are not part of a world's config."""

Swap = Literal["rotate", "permute", "none"]
Level = dict[str, Any]
"""The settings of a level of a factor."""


class WorldPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A world of the design. What is not given here is taken from the design."""

    world: str = ""  # a name or a file; empty: the key in the design
    config: dict[str, Any] = {}
    factors: dict[str, list[Any] | dict[str, Level]] = {}
    lineups: list[list[str]] | dict[str, list[str]] = {}
    seeds: int | list[int] | None = None
    swap: Swap | None = None
    games: int | None = None
    partial_intel: bool | None = None
    step_ticks: int | None = None
    max_ticks: int | None = None
    max_decisions: int | None = None
    seconds: float | None = None


class Description(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A file that describes an experiment. The field ``folder`` of a description is not part of the file."""

    @classmethod
    def parse(cls, text: str | bytes, folder: str) -> Self:
        """Read the JSON of a file. Keys that begin with an underscore are comments."""
        what, schema = cls.__name__.lower(), object_schema(cls)
        try:
            raw = parse_document(text)
        except (ValueError, OverflowError, RecursionError) as wrong:
            raise BadArgs(f"the {what} is not valid JSON: {wrong}") from None
        del schema["properties"]["folder"]
        keys = list(schema["properties"])
        if not isinstance(raw, dict):
            raise BadArgs(f"the {what} must be an object with the keys {', '.join(keys)}")
        for key in raw:
            if key not in keys:
                known = f"unknown key {key!r}; the keys are {', '.join(keys)}"
                raise BadArgs(known, did_you_mean=nearest(key, keys, 2))
        try:
            return msgspec.structs.replace(msgspec.convert(raw, cls), folder=folder)
        except msgspec.ValidationError as wrong:
            raise BadArgs(in_words(wrong, raw, schema, lambda value: msgspec.convert(value, cls))) from None

    def as_file(self) -> bytes:
        """The file that identifies the experiment. It includes defaults, so equal ones have equal files."""
        plain = msgspec.to_builtins(self)
        del plain["folder"]
        return (dumps(plain, indent=2, ensure_ascii=False) + "\n").encode()


class Design(Description, frozen=True, kw_only=True):
    """See the module. ``factors`` are crossed with each other.

    A factor is a list of values for the config key with its name (``constants.c_trade_factor`` for a key in a table),
    or a table of levels, each with the keys that it sets: ``{"fog": {"observability": "fog"}, "open": {}}``.
    """

    name: str
    worlds: list[str] | dict[str, WorldPlan]
    lineups: list[list[str]] | dict[str, list[str]] = {}
    players: dict[str, str] = {}  # short names for brains, to use in line-ups and results
    factors: dict[str, list[Any] | dict[str, Level]] = {}  # of every world
    seeds: int | list[int] = 10  # a number n for the seeds 1 to n, or a list
    swap: Swap = "rotate"  # rotate: each player takes each seat once for each seed · permute: all orders · none
    games: int | None = None  # at most this many games of each line-up in each condition
    partial_intel: bool = False  # fog, in worlds that let the scenario decide
    step_ticks: int | None = None  # real-time worlds: by how many ticks the clock advances at a time; None: 5 s
    max_ticks: int = 0  # real-time worlds: stop after this many ticks; 0: at the end of the game
    max_decisions: int = MAX_DECISIONS  # of all players in a game
    seconds: float | None = None  # per decision
    max_failures: float = 0.05  # the share of a player's decisions in a condition that may fail
    max_cost: float | None = None  # dollars that the run may spend
    folder: str = ""  # where the file is; paths are relative to it. Not part of the file

    def world_plans(self) -> dict[str, WorldPlan]:
        if isinstance(self.worlds, list):
            return {title: WorldPlan(world=title) for title in self.worlds}
        return {key: p if p.world else msgspec.structs.replace(p, world=key) for key, p in self.worlds.items()}

    def brain(self, player: str) -> str:
        """The brain of a player of a line-up, with the path of a file as it can be opened from anywhere."""
        return located(self.players.get(player, player), self.folder)

    def every_player(self) -> list[str]:
        """All players, in the order of the line-ups."""
        found: dict[str, None] = {}
        for plan in self.world_plans().values():
            for lineup in self._lineups(plan).values():
                found.update(dict.fromkeys(lineup))
        return list(found)

    def specs(self) -> list[GameSpec]:
        """All planned games in order: for each world, condition, line-up, seed and order of the seats."""
        return [spec for title, plan in self.world_plans().items() for spec in self._specs(title, plan)]

    # -- the plan ---------------------------------------------------------------------------------
    def _specs(self, title: str, plan: WorldPlan) -> Iterator[GameSpec]:
        seeds = every_seed(plan.seeds if plan.seeds is not None else self.seeds)
        most = plan.games if plan.games is not None else self.games
        for levels, changes in _conditions({**self.factors, **plan.factors}):
            config, fields = _apply(plan.config, changes)
            for field in OF_THE_GAME:
                own = getattr(plan, field)
                fields.setdefault(field, getattr(self, field) if own is None else own)
            for lineup, players in self._lineups(plan).items():
                orders = seatings(players, plan.swap or self.swap)
                brains = [[self.players.get(name, name) for name in seated] for seated in orders]
                condition = condition_id(title, levels, lineup)
                games = [(seed, number) for seed in seeds for number in range(len(orders))]
                for seed, number in games[:most]:
                    yield GameSpec(
                        id=game_id(condition, seed, number),
                        world=plan.world,
                        players=brains[number],
                        names=orders[number],
                        seed=str(seed),
                        config=config,
                        setting=title,
                        factors=levels,
                        lineup=lineup,
                        order=number,
                        **fields,
                    )

    def _lineups(self, plan: WorldPlan) -> dict[str, list[str]]:
        given = plan.lineups or self.lineups
        return given if isinstance(given, dict) else {_versus(players): players for players in given}


def _versus(players: Sequence[str]) -> str:
    """The title of a line-up that has none."""
    return " vs ".join(players)


def located(name: str, folder: str) -> str:
    """A brain or a world whose files are found from anywhere."""
    if is_command(name):
        return absolute_brain(name, Path(folder)) or name
    if ".py" not in name:
        return name
    path, dot, rest = name.partition(".py")
    if Path(path).is_absolute() or not (rest == "" or rest[0] in ":?"):
        return name
    return str(Path(folder, path).resolve()) + dot + rest


def seatings(players: Sequence[str], swap: Swap) -> list[list[str]]:
    """In which orders a line-up takes its seats. Orders that are equal, because players are, count once."""
    orders = [tuple(players)]
    if swap == "rotate":
        orders = [(*players[i:], *players[:i]) for i in range(len(players))]
    elif swap == "permute":
        orders = list(permutations(players))
    return [list(order) for order in dict.fromkeys(orders)]


def _conditions(factors: Mapping[str, list[Any] | dict[str, Level]]) -> Iterator[tuple[dict[str, Any], Level]]:
    """Each combination of levels: the level of each factor, and what they set together."""
    levels = [
        [(title, changes) for title, changes in given.items()]
        if isinstance(given, dict)
        else [(value, {name: value}) for value in given]
        for name, given in factors.items()
    ]
    for chosen in product(*levels):
        changes: Level = {}
        for _, level in chosen:
            changes.update(level)
        yield dict(zip(factors, (title for title, _ in chosen), strict=True)), changes


def _apply(config: Mapping[str, Any], changes: Level) -> tuple[dict[str, Any], dict[str, Any]]:
    """The config with these changes, and those that are about the game."""
    made, fields = deepcopy(dict(config)), {}
    for key, value in changes.items():
        if key in OF_THE_GAME:
            fields[key] = value
            continue
        *tables, last = key.split(".")
        table = made
        for name in tables:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise BadArgs(f"factors: {key!r} sets a key in {name!r}, which is not a table")
        table[last] = value
    return made, fields


def every_seed(seeds: int | list[int]) -> list[int]:
    return list(range(1, seeds + 1)) if isinstance(seeds, int) else seeds


def condition_id(title: str, levels: Mapping[str, Any], lineup: str) -> str:
    """The beginning of the ids of the games of a line-up in a condition."""
    parts = [title, *(f"{name}-{_text(value)}" for name, value in levels.items()), lineup]
    return ".".join(map(_slug, parts))


def game_id(condition: str, seed: int, number: int) -> str:
    """A stable name that is also the name of a file."""
    return f"{condition}.s{seed}.{number}"


@lru_cache(1024)
def _slug(text: str) -> str:
    """Letters, digits and dashes. A text that loses more than its case and spaces, such as a minus sign, gets a few
    digits of its hash."""
    kept = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40]
    is_negative = re.search(r"(^|[^a-z0-9])-\.?\d", text.lower())
    if kept == re.sub(r"[ _.:/-]+", "-", text.lower()).strip("-") and not is_negative:
        return kept
    return f"{kept or 'x'}-{sha256(text.encode()).hexdigest()[:6]}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


# -- reading a description --------------------------------------------------------------------------
def read_design(path: Path) -> Design:
    """The design in a file."""
    if not path.is_file():
        raise BadArgs(f"there is no file {path}")
    try:
        return parse_design(path.read_bytes(), str(path.resolve().parent))
    except BadArgs as wrong:
        raise BadArgs(f"{path.name}: {wrong.message}", did_you_mean=wrong.did_you_mean) from None


def parse_design(text: str | bytes, folder: str = "", *, load: bool = True) -> Design:
    """The design in a text. With ``load=False`` worlds and players are not loaded, which is enough to read results."""
    return checked(Design.parse(text, folder), load=load)


def checked(design: Design, *, load: bool = True) -> Design:
    """The design, or what is wrong with it."""
    check_title("name", design.name)
    if not design.worlds:
        raise BadArgs('worlds: there must be at least one, such as ["nim"]')
    for player in design.players:
        check_title("players", player)
    _check_numbers("", design)
    if not 0 <= design.max_failures <= 1:
        raise BadArgs(f"max_failures: must be from 0 to 1, not {design.max_failures:g}")
    if design.max_cost is not None and not 0 < design.max_cost < float("inf"):
        raise BadArgs(f"max_cost: must be above 0, not {design.max_cost:g}")
    for title, plan in design.world_plans().items():
        _check_plan(design, title, plan)
    specs = design.specs()
    if not 0 < len(specs) <= MAX_GAMES:
        raise BadArgs(f"seeds: the design has {len(specs):,} games; it may have 1 to {MAX_GAMES:,}")
    known: dict[str, GameSpec] = {}
    for spec in specs:
        if (other := known.setdefault(spec.id, spec)) is not spec:
            two = " and ".join(f"({one.setting}, {one.lineup}, {one.factors})" for one in (other, spec))
            raise BadArgs(
                f"two conditions would have the same file names: {two}. Rename one of them: case, spaces and "
                "the signs . : / _ - make no difference"
            )
    if load:
        _check_loads(design, specs)
    return design


def _check_plan(design: Design, title: str, plan: WorldPlan) -> None:
    where = f"worlds.{title}"
    check_title("worlds", title)
    _check_numbers(f"{where}.", plan)
    if plan.lineups:
        _check_lineups(f"{where}.lineups", plan.lineups, plan.swap or design.swap)
    else:
        _check_lineups("lineups", design.lineups, plan.swap or design.swap)
    _check_factors("factors", design.factors)
    _check_factors(f"{where}.factors", plan.factors)


def _check_lineups(where: str, lineups: list[list[str]] | dict[str, list[str]], swap: Swap) -> None:
    if not lineups:
        raise BadArgs(f'{where}: there must be at least one, such as [["random", "nim-master"]]')
    if isinstance(lineups, dict):
        for title in lineups:
            check_title(where, title)
        each = {f"{where}.{title}": players for title, players in lineups.items()}
    else:
        each = {f"{where}[{place}]": players for place, players in enumerate(lineups)}
        twice = next((title for title, count in Counter(map(_versus, lineups)).items() if count > 1), None)
        if twice is not None:
            raise BadArgs(f'{where}: {twice!r} is there twice; give each line-up a title: {{"title": [players]}}')
    for place, players in each.items():
        if not players:
            raise BadArgs(f"{place}: there must be at least one player")
        for player in players:
            check_title(place, player)
        if swap == "permute" and len(players) > MAX_PERMUTED:
            raise BadArgs(f"{place}: at most {MAX_PERMUTED} players can be permuted; use swap: rotate")


def _check_factors(where: str, factors: Mapping[str, list[Any] | dict[str, Level]]) -> None:
    for name, levels in factors.items():
        check_title(where, name)
        if not levels:
            raise BadArgs(f"{where}.{name}: there must be at least one level")
        if isinstance(levels, list) and any(level in levels[:i] for i, level in enumerate(levels)):
            raise BadArgs(f"{where}.{name}: a level appears twice")
        for level in levels.values() if isinstance(levels, dict) else [{name: value} for value in levels]:
            _check_of_the_game(f"{where}.{name}: ", {key: level[key] for key in OF_THE_GAME if key in level})


def _check_of_the_game(where: str, level: Level) -> None:
    """A level sets the same limits as a design, and only the time limit can be none."""
    try:
        plan = msgspec.convert(level, WorldPlan)
    except msgspec.ValidationError as wrong:
        told = in_words(wrong, level, object_schema(WorldPlan), lambda value: msgspec.convert(value, WorldPlan))
        raise BadArgs(where + told) from None
    for key, value in level.items():
        if value is None and key != "seconds":
            raise BadArgs(f"{where}{key} must not be null")
    _check_numbers(where, plan)


def _check_numbers(where: str, plan: Design | WorldPlan) -> None:
    check_seeds(f"{where}seeds", plan.seeds)
    for name, least, most in (
        ("games", 1, MAX_GAMES), ("step_ticks", 1, 10**9), ("max_ticks", 0, 10**9), ("max_decisions", 1, 10**9),
    ):  # fmt: skip
        check_range(where + name, getattr(plan, name), least, most)
    if plan.seconds is not None and not 0 < plan.seconds <= MAX_SECONDS:
        raise BadArgs(f"{where}seconds: must be above 0 and at most {MAX_SECONDS}, not {plan.seconds:g}")


def check_range(where: str, number: int | None, least: int, most: int) -> None:
    if number is not None and not least <= number <= most:
        raise BadArgs(f"{where}: must be from {least} to {most:,}, not {number}")


def check_seeds(where: str, seeds: int | list[int] | None) -> None:
    if not isinstance(seeds, list):
        check_range(where, seeds, 1, MAX_GAMES)
        return
    if not seeds:
        raise BadArgs(f"{where}: there must be at least one")
    known: set[int] = set()
    for place, seed in enumerate(seeds):
        check_range(f"{where}[{place}]", seed, 0, 2**63 - 1)
        if seed in known:
            raise BadArgs(f"{where}[{place}]: duplicate seed {seed}")
        known.add(seed)


def check_title(where: str, title: str) -> None:
    if not title.strip() or not title.isprintable():
        raise BadArgs(f"{where}: {title!r} must be a non-empty text on one line")


def _check_loads(design: Design, specs: Sequence[GameSpec]) -> None:
    """Make every world and every player once."""
    for player in design.every_player():
        with location(f"player {player!r}"):
            if player not in design.players and not _is_brain(player):
                raise BadArgs(f"unknown player {player!r}", did_you_mean=nearest(player, list(design.players), 2))
            check_brain(design.brain(player))
    for setting, world_name, brain in dict.fromkeys((s.setting, s.world, brain) for s in specs for brain in s.players):
        with location(f"worlds.{setting}"):
            check_plays(brain, world_name)  # a built-in script plays its own world only
    seen: list[tuple[str, object, int]] = []
    for spec in specs:
        if (spec.world, spec.config, len(spec.players)) in seen:
            continue
        seen.append((spec.world, spec.config, len(spec.players)))
        with location(f"worlds.{spec.setting}"):
            world = make_world(located(spec.world, design.folder), spec.config)
            fewest, most = world.spec.seat_range
            if not fewest <= len(spec.players) <= most:
                seats = f"{fewest} to {most} players" if fewest < most else f"{most} player{'s' if most > 1 else ''}"
                raise BadArgs(f"{spec.world} takes {seats}; {spec.lineup!r} has {len(spec.players)}")


def _is_brain(name: str) -> bool:
    try:
        parse_brain(name)
    except BadArgs:
        return False
    return True


def check_brain(brain: str) -> None:
    """Make the agent once, and refuse a brain that does not give one."""
    try:
        made = made_once(brain)
    except CohabitError:
        raise
    except Exception as bug:  # code of a file can raise anything
        raise BadArgs(f"it cannot be created: {type(bug).__name__}: {in_public(bug)}") from None
    methods = made.methods if isinstance(made, Facts) else dir(made)
    if "decide" not in methods and "think" not in methods:
        raise BadArgs("it has no method decide(observation)")


@contextmanager
def location(where: str) -> Iterator[None]:
    """Prefix the message of an error with the key that it is about."""
    try:
        yield
    except CohabitError as error:
        raise BadArgs(f"{where}: {error.message}", did_you_mean=error.did_you_mean) from None


def is_file(source: str) -> bool:
    """True if a world or a brain comes from a file of ours to import; a program is none."""
    return not is_command(source) and is_file_source(source.partition("?")[0])
