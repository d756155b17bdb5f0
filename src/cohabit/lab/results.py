"""The results of a run: its games, a table of its players, and who failed too often."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.agents.player import FAILURES, Tally
from cohabit.errors import BadArgs
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
from cohabit.registry import trusted_source

HEADINGS = ("player", "games", "won", "drawn", "score", "decisions", "failed", "tokens", "cost", "s/decision")


def scores(game: GameResult) -> list[float]:
    """The score of each seat: its return, else its place on the scoreboard, else what its actions earned.

    A seat that is no longer on the scoreboard has 0.
    """
    if game.returns:
        return [game.returns.get(seat, 0.0) for seat in game.seats]
    if game.standings:
        found = {standing.seat: float(standing.score) for standing in game.standings}
        return [found.get(seat, 0.0) for seat in game.seats]
    return list(game.rewards)


def winners(game: GameResult) -> list[int]:
    """The seats with the best score; more than one is a draw. Empty: there is only one seat."""
    found = scores(game)
    if len(found) < 2:
        return []
    return [seat for seat, score in enumerate(found) if score == max(found)]


class PlayerSummary(Struct):
    """One player in all its games."""

    player: str
    games: int = 0
    won: int = 0
    drawn: int = 0
    scores: list[float] = []
    tally: Tally = msgspec.field(default_factory=Tally)

    @property
    def score(self) -> Estimate | None:
        from fractions import Fraction

        return estimate([Fraction(score) for score in self.scores])

    @property
    def failure_rate(self) -> float:
        return self.tally.failures / self.tally.decisions if self.tally.decisions else 0.0


def summarise(games: Iterable[GameResult], timings: dict[str, TimingLine] | None = None) -> list[PlayerSummary]:
    """A summary of each player, in the order in which they appear."""
    found: dict[str, PlayerSummary] = {}
    for game in games:
        best, results = winners(game), scores(game)
        timing = (timings or {}).get(game.spec.id)
        for seat, name in enumerate(game.spec.named):
            player = found.setdefault(name, PlayerSummary(name))
            player.games += 1
            player.won += best == [seat]
            player.drawn += len(best) > 1 and seat in best
            player.scores.append(results[seat])
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
        self, design: Design, games: list[GameResult], *, folder: Path | None = None, planned: int | None = None,
        worlds: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """``worlds``: the files of worlds that may be loaded to replay its records."""
        self.worlds = worlds
        self.design = design
        self.games = games
        self.folder = folder
        self.planned = planned if planned is not None else len(games)
        self.stopped = ""  # why the run ended before all games were played
        self._timings: dict[str, TimingLine] = {}
        self._decisions: list[bytes] = []
        self._records: dict[str, bytes] = {}

    @classmethod
    def read(cls, folder: Path | str, worlds: Sequence[str] = ()) -> "Results":
        """The results in a folder, also while a run is in progress. Files of worlds are code, and the folder may come
        from anybody: only those in ``worlds`` are loaded."""
        design, path = read_design_of(Path(folder)), Path(folder)
        return cls(design, read_games(path), folder=path, planned=len(design.specs()), worlds=worlds)

    def worlds_not_loaded(self) -> list[str]:
        """The files of worlds that the design names, and that may not be loaded."""
        found = dict.fromkeys(plan.world for plan in self.design.world_plans().values())
        return [source for source in found if not _may_load(source, self.worlds)]

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
        return summarise(self.games, self.timings())

    def failing(self) -> list[PlayerSummary]:
        """The players whose share of failed decisions is above the design's threshold."""
        return [player for player in self.players() if player.failure_rate > self.design.max_failures]

    def rows(self) -> list[list[str]]:
        """The table, as text, under ``HEADINGS``."""
        return [_row(player) for player in self.players()]

    def problems(self) -> list[str]:
        """What makes these results doubtful, one sentence each."""
        found = [f"{self.stopped}; {len(self.games)} of {self.planned} games are finished"] if self.stopped else []
        limit = f"{self.design.max_failures:.0%}"
        for player in self.failing():
            counts = ", ".join(f"{n} {outcome}" for outcome in FAILURES if (n := player.tally.outcomes.get(outcome, 0)))
            found.append(
                f"{player.player}: {player.failure_rate:.1%} of its decisions failed ({counts}); the limit is {limit}. "
                "These are not results of its play"
            )
        return found

    def __str__(self) -> str:
        rows = [list(HEADINGS), *self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, *(f"FAILED: {text}" for text in self.problems())])

    def _repr_html_(self) -> str:
        cells = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows())
        head = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
        problems = "".join(f'<p style="color:#b00020">{escape(text)}</p>' for text in self.problems())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>{problems}"

    def plot(self) -> Any:
        """A bar for each player: its mean score with the 95 % interval. Needs matplotlib."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError("plots need matplotlib; install it with: pip install 'cohabit[lab]'") from None
        players = self.players()
        found = [player.score for player in players]
        figure = Figure(figsize=(1.5 + 1.2 * len(players), 3.5), layout="constrained")
        axes = figure.subplots()
        means = [float(each.mean) if each is not None else 0.0 for each in found]
        errors = [(each.half_width or 0.0) if each is not None else 0.0 for each in found]
        axes.bar([player.player for player in players], means, yerr=errors, capsize=4)
        axes.set_ylabel("mean score")
        axes.set_title(self.design.name)
        return figure


def _may_load(source: str, worlds: Sequence[str]) -> bool:
    try:
        trusted_source(source, worlds)
    except BadArgs:
        return False
    return True


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
