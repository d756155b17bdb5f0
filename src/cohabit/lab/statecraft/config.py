"""The description of an experiment, validated strictly: nothing is played if it has a mistake."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.lab.design import about_key
from cohabit.lab.statecraft.players import check_player
from cohabit.lab.statecraft.rounds import Place
from cohabit.worlds.statecraft.maps import WORLD_MAP, validate_map
from cohabit.worlds.statecraft.rules import Rules, rules_from
from cohabit.worlds.statecraft.world import NATION_NAMES

MAX_TURNS = 10_000
MAX_ROUNDS = 1_000_000
MAX_TERRITORIES = 400
MAX_MILS = 1_000_000
MAX_ACT_MS = 3_600_000


class Experiment(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``rounds`` x ``seeds`` x ``lineups``. Settings of the world have the same names here."""

    name: str
    lineups: dict[str, list[str]]  # title -> the player of each nation
    seeds: int | list[int] = 10  # a number n for the seeds 1 to n, or a list
    rounds: int = 1  # per seed
    turns: int = 24
    map: Literal["world", "generated"] | dict[str, list[str]] = "generated"  # generated: a new map for each round
    size: int = 24  # territories of a generated map
    shape: Literal["elbow", "zigzag", "arch"] = "elbow"
    mils: int = 0  # the army of each nation at the start
    shuffle: bool = True  # draw for every round which player gets which nation
    noise: int = 0  # how many of 100 answers are lost
    constants: dict[str, Any] = {}
    loss_cap: Literal["committed", "army"] = "committed"
    intake: Literal["strict", "lenient"] = "strict"
    observability: Literal["full", "own_army", "fog"] = "full"
    open_messages: bool = False
    publish_ratings: bool = False
    act_ms: int = 60_000  # timeout per turn for a player from a file
    folder: str = ""  # where the file is, and the players from files. Not part of the file

    @property
    def rules(self) -> Rules:
        return rules_from(self.constants, loss_cap=self.loss_cap, intake=self.intake)

    @property
    def every_seed(self) -> list[int]:
        return list(range(1, self.seeds + 1)) if isinstance(self.seeds, int) else self.seeds

    def places(self) -> Iterator[Place]:
        """The places of all planned rounds, in order."""
        for lineup in self.lineups:
            for seed in self.every_seed:
                for number in range(1, self.rounds + 1):
                    yield Place(lineup, seed, number)

    def as_file(self) -> bytes:
        """The file that identifies the experiment. It includes defaults, so equal experiments have equal files."""
        plain = msgspec.to_builtins(self)
        del plain["folder"]
        return (json.dumps(plain, indent=2, ensure_ascii=False) + "\n").encode()


def parse_experiment(text: str | bytes, folder: str = "", players: bool = True) -> Experiment:
    """Parse the JSON description of an experiment. Keys that begin with an underscore are comments.

    With ``players=False`` the players are not loaded, which is enough to read results.
    """
    try:
        raw = json.loads(text, object_pairs_hook=_refuse_duplicate_keys, parse_constant=_refuse_constant)
    except RecursionError:
        raise BadArgs("the experiment is not valid JSON: it is nested too deeply") from None
    except ValueError as error:
        raise BadArgs(f"the experiment is not valid JSON: {error}") from None
    if any("\ud800" <= letter <= "\udfff" for letter in json.dumps(raw, ensure_ascii=False)):
        raise BadArgs("the experiment contains an unpaired surrogate, which cannot be written to a file")
    if not isinstance(raw, dict):
        raise BadArgs("the experiment must be a JSON object")
    if "folder" in raw:
        raise BadArgs("unknown key `folder`")
    given = {key: value for key, value in raw.items() if not key.startswith("_")}
    try:
        experiment = msgspec.convert(given, Experiment)
    except msgspec.ValidationError as error:
        raise BadArgs(str(error).replace("$.", "").replace(" - at `$`", "")) from None
    experiment = msgspec.structs.replace(experiment, folder=folder)
    _validate(experiment, players)
    return experiment


def _refuse_duplicate_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"duplicate key {key!r}")
        found[key] = value
    return found


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a JSON number")


# -- validation that the types do not cover ---------------------------------------------------------
def _validate(experiment: Experiment, players: bool) -> None:
    if not experiment.name.strip() or not experiment.name.isprintable():
        raise BadArgs("name: must be a non-empty text on one line")
    _check_range("turns", experiment.turns, 1, MAX_TURNS)
    _check_range("rounds", experiment.rounds, 1, MAX_ROUNDS)
    _check_range("mils", experiment.mils, 0, MAX_MILS)
    _check_range("act_ms", experiment.act_ms, 1, MAX_ACT_MS)
    _check_range("noise", experiment.noise, 0, 100)
    _check_seeds(experiment.seeds)
    _check_lineups(experiment, players)
    if len(experiment.every_seed) * experiment.rounds * len(experiment.lineups) > MAX_ROUNDS:
        raise BadArgs(f"seeds: the experiment would have more than {MAX_ROUNDS:,} rounds")
    _check_map(experiment)
    with about_key("constants"):
        _ = experiment.rules


def _check_range(where: str, number: int, minimum: int, maximum: int) -> None:
    if not minimum <= number <= maximum:
        raise BadArgs(f"{where}: must be from {minimum} to {maximum}, not {number}")


def _check_seeds(seeds: int | list[int]) -> None:
    if isinstance(seeds, int):
        _check_range("seeds", seeds, 1, MAX_ROUNDS)
        return
    if not seeds:
        raise BadArgs("seeds: there must be at least one")
    for place, seed in enumerate(seeds):
        _check_range(f"seeds[{place}]", seed, 0, 2**63 - 1)
        if seed in seeds[:place]:
            raise BadArgs(f"seeds[{place}]: duplicate seed {seed}")


def _check_lineups(experiment: Experiment, load_players: bool) -> None:
    if not experiment.lineups:
        raise BadArgs('lineups: there must be at least one, such as {"two hawks": ["hawk", "hawk", "trader"]}')
    for title, players in experiment.lineups.items():
        if not title.strip() or not title.isprintable():
            raise BadArgs(f"lineups: the title {title!r} must be a non-empty text on one line")
        _check_range(f"lineups.{title}: number of nations", len(players), 2, len(NATION_NAMES))
        for place, player in enumerate(players if load_players else ()):
            with about_key(f"lineups.{title}[{place}]"):
                check_player(player, experiment.folder)


def _check_map(experiment: Experiment) -> None:
    _check_range("size", experiment.size, 2, MAX_TERRITORIES)
    territories = experiment.size
    if isinstance(experiment.map, dict):
        territories = len(validate_map(experiment.map))
    elif experiment.map == "world":
        territories = len(WORLD_MAP)
    for title, players in experiment.lineups.items():
        if len(players) > territories:
            raise BadArgs(f"lineups.{title}: {len(players)} nations, but the map has only {territories} territories")
