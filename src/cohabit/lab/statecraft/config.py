"""The description of an experiment, validated strictly: nothing is played if it has a mistake."""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from cohabit.errors import BadArgs
from cohabit.lab.design import Description, check_range, check_seeds, check_title, every_seed, location
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


class Experiment(Description, frozen=True, kw_only=True):
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
    constants: dict[str, Any] = msgspec.field(default_factory=dict)
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
        return every_seed(self.seeds)

    def places(self) -> Iterator[Place]:
        """The places of all planned rounds, in order."""
        for lineup in self.lineups:
            for seed in self.every_seed:
                for number in range(1, self.rounds + 1):
                    yield Place(lineup, seed, number)


def parse_experiment(text: str | bytes, folder: str = "", players: bool = True) -> Experiment:
    """The experiment in a text. With ``players=False`` the players are not loaded, which is enough to read results."""
    experiment = Experiment.parse(text, folder)
    _validate(experiment, players)
    return experiment


# -- validation that the types do not cover ---------------------------------------------------------
def _validate(experiment: Experiment, players: bool) -> None:
    check_title("name", experiment.name)
    check_range("turns", experiment.turns, 1, MAX_TURNS)
    check_range("rounds", experiment.rounds, 1, MAX_ROUNDS)
    check_range("mils", experiment.mils, 0, MAX_MILS)
    check_range("act_ms", experiment.act_ms, 1, MAX_ACT_MS)
    check_range("noise", experiment.noise, 0, 100)
    check_seeds("seeds", experiment.seeds)
    _check_lineups(experiment, players)
    if len(experiment.every_seed) * experiment.rounds * len(experiment.lineups) > MAX_ROUNDS:
        raise BadArgs(f"seeds: the experiment would have more than {MAX_ROUNDS:,} rounds")
    _check_map(experiment)
    with location("constants"):
        _ = experiment.rules


def _check_lineups(experiment: Experiment, load_players: bool) -> None:
    if not experiment.lineups:
        raise BadArgs('lineups: there must be at least one, such as {"two hawks": ["hawk", "hawk", "trader"]}')
    for title, players in experiment.lineups.items():
        check_title("lineups", title)
        check_range(f"lineups.{title}: number of nations", len(players), 2, len(NATION_NAMES))
        for place, player in enumerate(players if load_players else ()):
            with location(f"lineups.{title}[{place}]"):
                check_player(player, experiment.folder)


def _check_map(experiment: Experiment) -> None:
    check_range("size", experiment.size, 2, MAX_TERRITORIES)
    territories = experiment.size
    if isinstance(experiment.map, dict):
        territories = len(validate_map(experiment.map))
    elif experiment.map == "world":
        territories = len(WORLD_MAP)
    for title, players in experiment.lineups.items():
        if len(players) > territories:
            raise BadArgs(f"lineups.{title}: {len(players)} nations, but the map has only {territories} territories")
