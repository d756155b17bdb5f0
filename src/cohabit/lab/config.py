"""The description of an experiment, read strictly: a mistake plays nothing, and the message names the place."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Literal

import msgspec
from msgspec import Struct

from cohabit.errors import BadArgs, CohabitError
from cohabit.lab.players import check_player
from cohabit.lab.record import Place
from cohabit.worlds.statecraft.graph import checked
from cohabit.worlds.statecraft.rules import Rules, rules_from
from cohabit.worlds.statecraft.world import NAMES
from cohabit.worlds.statecraft.worldmap import WORLD

MOST_TURNS = 10_000
MOST_ROUNDS = 1_000_000
MOST_LAND = 400
LONGEST_THOUGHT = 3_600_000  # milliseconds


class Experiment(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``rounds`` x ``seeds`` x ``lineups``. What the world has a setting for, has the same name here."""

    name: str
    lineups: dict[str, list[str]]  # a title -> what plays each nation
    seeds: int | list[int] = 10  # the seeds 1 to n, or a list
    rounds: int = 1  # with each seed
    turns: int = 24
    map: Literal["world", "generated"] | dict[str, list[str]] = "generated"  # made anew for each round, or given
    size: int = 24  # territories of a generated map
    shape: Literal["elbow", "zigzag", "arch"] = "elbow"
    mils: int = 0  # every nation's army at the start
    shuffle: bool = True  # who plays which nation is drawn for every round
    constants: dict[str, Any] = {}
    loss_cap: Literal["committed", "army"] = "committed"
    intake: Literal["strict", "lenient"] = "strict"
    observability: Literal["full", "own_army", "fog"] = "full"
    open_messages: bool = False
    publish_ratings: bool = False
    act_ms: int = 60_000  # how long a player of your own is waited for in a turn
    folder: str = ""  # where the file was: players of your own are looked for there. Not part of the file

    @property
    def rules(self) -> Rules:
        return rules_from(self.constants, loss_cap=self.loss_cap, intake=self.intake)

    @property
    def factor(self) -> Fraction:
        return Fraction(self.rules.trade_numerator, self.rules.trade_denominator)

    @property
    def every_seed(self) -> list[int]:
        return list(range(1, self.seeds + 1)) if isinstance(self.seeds, int) else self.seeds

    def places(self) -> Iterator[Place]:
        """Every round there is to play, in order."""
        for lineup in self.lineups:
            for seed in self.every_seed:
                for number in range(1, self.rounds + 1):
                    yield Place(lineup, seed, number)

    def as_file(self) -> bytes:
        """What identifies the experiment, defaults included: the same for two files that say the same."""
        plain = msgspec.to_builtins(self)
        del plain["folder"]
        return (json.dumps(plain, indent=2, ensure_ascii=False) + "\n").encode()


def parse_experiment(text: str | bytes, folder: str = "", players: bool = True) -> Experiment:
    """The experiment that this JSON describes. Keys that begin with an underscore are comments.

    Without ``players`` nobody looks whether they are there: who only reads results does not need them.
    """
    try:
        raw = json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_no_such_number)
    except RecursionError:
        raise BadArgs("the experiment is no JSON: it is nested too deeply") from None
    except ValueError as wrong:
        raise BadArgs(f"the experiment is no JSON: {wrong}") from None
    if any("\ud800" <= letter <= "\udfff" for letter in json.dumps(raw, ensure_ascii=False)):
        raise BadArgs("the experiment has half a letter in it (a lone surrogate), which no file can hold")
    if not isinstance(raw, dict):
        raise BadArgs("the experiment must be a JSON object")
    if "folder" in raw:
        raise BadArgs("there is no key `folder`")
    given = {key: value for key, value in raw.items() if not key.startswith("_")}
    try:
        found = msgspec.convert(given, Experiment)
    except msgspec.ValidationError as wrong:
        raise BadArgs(str(wrong).replace("$.", "").replace(" - at `$`", "")) from None
    found = msgspec.structs.replace(found, folder=folder)
    _check(found, players)
    return found


def _no_key_twice(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} stands there twice")
        found[key] = value
    return found


def _no_such_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


# -- what the types do not say ----------------------------------------------------------------------
def _check(found: Experiment, players: bool) -> None:
    if not found.name.strip() or not found.name.isprintable():
        raise BadArgs("name: an experiment has a name, on one line")
    _within("turns", found.turns, 1, MOST_TURNS)
    _within("rounds", found.rounds, 1, MOST_ROUNDS)
    _within("mils", found.mils, 0, 10**9)
    _within("act_ms", found.act_ms, 1, LONGEST_THOUGHT)
    _check_seeds(found.seeds)
    _check_lineups(found, players)
    if len(found.every_seed) * found.rounds * len(found.lineups) > MOST_ROUNDS:
        raise BadArgs(f"seeds: that is more than {MOST_ROUNDS:,} rounds in all")
    _check_map(found)
    with _at("constants"):
        _ = found.rules


def _within(place: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise BadArgs(f"{place}: must be from {least} to {most}, not {number}")


def _check_seeds(seeds: int | list[int]) -> None:
    if isinstance(seeds, int):
        _within("seeds", seeds, 1, MOST_ROUNDS)
        return
    if not seeds:
        raise BadArgs("seeds: at least one")
    for place, seed in enumerate(seeds):
        _within(f"seeds[{place}]", seed, 0, 2**63 - 1)
        if seed in seeds[:place]:
            raise BadArgs(f"seeds[{place}]: {seed} stands there twice")


def _check_lineups(found: Experiment, look: bool) -> None:
    if not found.lineups:
        raise BadArgs('lineups: at least one, such as {"two hawks": ["hawk", "hawk", "trader"]}')
    for title, players in found.lineups.items():
        if not title.strip() or not title.isprintable():
            raise BadArgs(f"lineups: {title!r} is no title; it stands on one line")
        _within(f"lineups.{title}: how many nations", len(players), 2, len(NAMES))
        for place, player in enumerate(players if look else ()):
            with _at(f"lineups.{title}[{place}]"):
                check_player(player, found.folder)


def _check_map(found: Experiment) -> None:
    _within("size", found.size, 2, MOST_LAND)
    if isinstance(found.map, dict):
        with _at("map"):
            checked(found.map)
    land = found.size if found.map == "generated" else len(WORLD if isinstance(found.map, str) else found.map)
    for title, players in found.lineups.items():
        if len(players) > land:
            raise BadArgs(f"lineups.{title}: {len(players)} nations, and the map has only {land} territories")


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Say where it is, before what is wrong with it."""
    try:
        yield
    except CohabitError as wrong:
        raise BadArgs(f"{place}: {wrong.message}", did_you_mean=wrong.did_you_mean) from None
