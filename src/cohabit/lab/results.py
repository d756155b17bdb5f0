"""The results of a run: its games, a table of its players, and who failed too often."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.agents.player import FAILURES, Tally
from cohabit.lab.design import Design
from cohabit.lab.estimates import Estimate, estimate
from cohabit.lab.folder import (
    DecisionLine,
    Played,
    TimingLine,
    read_decisions,
    read_design_of,
    read_games,
    read_timings,
    record_path,
)
from cohabit.lab.game import GameResult
from cohabit.model.observation import one_line

MAX_REASON = 200
"""Characters of the reason for a failure that a summary shows."""
HEADINGS = ("player", "games", "won", "drawn", "score", "decisions", "failed", "tokens", "cost", "s/decision")


def scores(game: GameResult) -> list[float]:
    """The score of each seat: that on the scoreboard, else its return, else what its actions earned.

    A seat that is no longer on the scoreboard has 0.
    """
    if game.standings:
        found = {standing.seat: float(standing.score) for standing in game.standings}
        return [found.get(seat, 0.0) for seat in game.seats]
    if game.returns:
        return [game.returns.get(seat, 0.0) for seat in game.seats]
    return list(game.rewards)


def winners(game: GameResult) -> list[int]:
    """The seats with the best score; more than one is a draw. Empty: there is only one seat."""
    found = scores(game)
    if len(found) < 2:
        return []
    return [seat for seat, score in enumerate(found) if score == max(found)]


class PlayerSummary(Struct):
    """One player in all its games, or in those of one world."""

    player: str
    world: str = ""  # empty: in all worlds, whose scores cannot be compared
    games: int = 0
    won: int = 0
    drawn: int = 0
    scores: dict[str, list[float]] = {}  # by seed
    tally: Tally = msgspec.field(default_factory=Tally)

    @property
    def score(self) -> Estimate | None:
        """Its mean score in one world. Games with the same seed share their draws, so together they count once."""
        from fractions import Fraction

        of_seeds = [[Fraction(score) for score in found] for found in self.scores.values()]
        return estimate([sum(found, Fraction(0)) / len(found) for found in of_seeds])

    @property
    def failure_rate(self) -> float:
        return self.tally.failures / self.tally.decisions if self.tally.decisions else 0.0


def world_of(game: GameResult) -> str:
    """The name of a game's world in its design."""
    return game.spec.setting or game.spec.world


def summarise(
    games: Iterable[GameResult], timings: dict[str, TimingLine] | None = None, by_world: bool = False
) -> list[PlayerSummary]:
    """A summary of each player, or of each player in each world, in the order in which they appear."""
    found: dict[tuple[str, str], PlayerSummary] = {}
    for game in games:
        world = world_of(game) if by_world else ""
        best, results = winners(game), scores(game)
        timing = (timings or {}).get(game.spec.id)
        for seat, name in enumerate(game.spec.named):
            player = found.setdefault((world, name), PlayerSummary(name, world))
            player.games += 1
            player.won += best == [seat]
            player.drawn += len(best) > 1 and seat in best
            player.scores.setdefault(game.spec.seed, []).append(results[seat])
            add_tally(player.tally, game.tallies[seat])
            player.tally.seconds += sum(timing.decisions[seat]) if timing is not None else 0.0
    return list(found.values())


def add_tally(whole: Tally, part: Tally) -> None:
    for outcome, count in part.outcomes.items():
        whole.outcomes[outcome] = whole.outcomes.get(outcome, 0) + count
    whole.prompt_tokens += part.prompt_tokens
    whole.completion_tokens += part.completion_tokens
    whole.dollars += part.dollars
    whole.unpriced += part.unpriced


class Results:
    """The results of a run, in memory or in a folder. In a notebook it shows itself as a table."""

    def __init__(
        self, design: Design, games: list[GameResult], *, folder: Path | None = None, planned: int | None = None
    ) -> None:
        self.design = design
        self.games = games
        self.folder = folder
        self.planned = planned if planned is not None else len(games)
        self.stopped = ""  # why the run ended before all games were played
        self._timings: dict[str, TimingLine] = {}
        self._decisions: list[bytes] = []
        self._records: dict[str, bytes] = {}

    @classmethod
    def read(cls, folder: Path | str) -> "Results":
        """The results in a folder, also while a run is in progress."""
        design = read_design_of(Path(folder))
        return cls(design, read_games(Path(folder)), folder=Path(folder), planned=len(design.specs()))

    def keep(self, played: Played) -> None:
        """Keep a game in memory."""
        self.games.append(played.result)
        self._timings[played.result.spec.id] = played.timing
        self._decisions.append(played.decisions)
        self._records[played.result.spec.id] = played.record

    def __len__(self) -> int:
        return len(self.games)

    def __repr__(self) -> str:
        return f"<Results {self.design.name}: {len(self.games)} games>"

    # -- what was played --------------------------------------------------------------------------
    def decisions(self) -> Sequence[DecisionLine]:
        """Every decision of every game: what was asked, answered and played."""
        if self.folder is not None:
            return list(read_decisions(self.folder))
        return msgspec.json.Decoder(DecisionLine).decode_lines(b"".join(self._decisions))

    def timings(self) -> dict[str, TimingLine]:
        return read_timings(self.folder) if self.folder is not None else self._timings

    def record(self, game: str) -> bytes:
        """The record of a game, as `cohabit replay` reads it from a file."""
        return record_path(self.folder, game).read_bytes() if self.folder is not None else self._records[game]

    # -- what came of it --------------------------------------------------------------------------
    def players(self) -> list[PlayerSummary]:
        """Each player in all its games. What has no meaning beyond one world, its score, is in ``in_worlds``."""
        return summarise(self.games, self.timings())

    def in_worlds(self) -> list[PlayerSummary]:
        """Each player in each world."""
        return summarise(self.games, self.timings(), by_world=True)

    def failing(self) -> list[PlayerSummary]:
        """The players whose share of failed decisions is above the design's threshold."""
        return [player for player in self.players() if player.failure_rate > self.design.max_failures]

    def headings(self) -> list[str]:
        """Of the table. Where there are several worlds, each player has a row for each."""
        return ["world", *HEADINGS] if self._has_worlds() else list(HEADINGS)

    def rows(self) -> list[list[str]]:
        """The table, as text, under ``headings``."""
        several = self._has_worlds()
        return [[player.world, *_row(player)] if several else _row(player) for player in self.in_worlds()]

    def _has_worlds(self) -> bool:
        return len({world_of(game) for game in self.games}) > 1

    def problems(self) -> list[str]:
        """What makes these results doubtful, one sentence each."""
        found = [f"{self.stopped}; {len(self.games)} of {self.planned} games are finished"] if self.stopped else []
        limit = f"{self.design.max_failures:.0%}"
        for player in self.failing():
            counts = ", ".join(f"{n} {outcome}" for outcome in FAILURES if (n := player.tally.outcomes.get(outcome, 0)))
            found.append(
                f"{player.player}: {player.failure_rate:.1%} of its decisions failed ({counts}); the limit is {limit}. "
                f"These are not results of its play{self._first_reason(player.player)}"
            )
        return found

    def _first_reason(self, player: str) -> str:
        decisions = read_decisions(self.folder) if self.folder is not None else iter(self.decisions())
        failed = (line.decision for line in decisions if line.player == player and line.decision.failed)
        found = next((one_line(decision.problem) for decision in failed if decision.problem), "")
        return f". The first reason: {found[:MAX_REASON]}" if found else ""

    def __str__(self) -> str:
        rows = [self.headings(), *self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, *(f"FAILED: {text}" for text in self.problems())])

    def _repr_html_(self) -> str:
        cells = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows())
        head = "".join(f"<th>{heading}</th>" for heading in self.headings())
        problems = "".join(f'<p style="color:#b00020">{escape(text)}</p>' for text in self.problems())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>{problems}"

    def plot(self) -> Any:
        """For each world, a bar for each player: its mean score with the 95 % interval. Needs matplotlib."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError("plots need matplotlib; install it with: pip install 'cohabit[lab]'") from None
        worlds: dict[str, list[PlayerSummary]] = {}
        for player in self.in_worlds():
            worlds.setdefault(player.world, []).append(player)
        most = max(map(len, worlds.values()), default=1)
        figure = Figure(figsize=(1.5 + 1.2 * most, 3.5 * max(1, len(worlds))), layout="constrained")
        figure.suptitle(self.design.name)
        panels = figure.subplots(max(1, len(worlds)), squeeze=False)[:, 0]
        for axes, (world, players) in zip(panels, worlds.items(), strict=False):
            found = [player.score for player in players]
            means = [float(each.mean) if each is not None else 0.0 for each in found]
            errors = [(each.half_width or 0.0) if each is not None else 0.0 for each in found]
            axes.bar([player.player for player in players], means, yerr=errors, capsize=4)
            axes.set_ylabel(f"mean score in {world}")
        return figure


def _row(player: PlayerSummary) -> list[str]:
    tally = player.tally
    return [
        player.player,
        str(player.games),
        str(player.won),
        str(player.drawn),
        str(player.score or ""),
        str(tally.decisions),
        f"{tally.failures} ({player.failure_rate:.1%})" if tally.failures else "0",
        f"{tally.prompt_tokens:,} + {tally.completion_tokens:,}" if tally.prompt_tokens else "-",
        _cost(tally),
        f"{tally.seconds / tally.decisions:.3g}" if tally.decisions else "-",
    ]


def _cost(tally: Tally) -> str:
    if tally.unpriced:
        return f"${tally.dollars:.2f} + {tally.unpriced} unpriced"
    return f"${tally.dollars:.2f}" if tally.prompt_tokens else "-"
