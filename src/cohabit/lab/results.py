"""The results of a run: its games, a table of its players in each condition, and who failed too often."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from math import nan
from pathlib import Path
from typing import Any

import msgspec

from cohabit.agents.decision import FAILURES, Tally
from cohabit.errors import BadArgs, CohabitError, UnknownAsset
from cohabit.film_html import Replay
from cohabit.lab import folder as stored
from cohabit.lab.analysis import IN_TEAMS, ConditionResults, PlayerInCondition, analyse, condition_of
from cohabit.lab.design import Design
from cohabit.lab.failures import shown
from cohabit.lab.folder import DecisionLine, Played, TimingLine
from cohabit.lab.game import GameResult
from cohabit.lab.page import table
from cohabit.registry import trusted_source

HEADINGS = (
    "world", "player", "games", "won", "drawn", "stopped", "score", "decisions", "failed", "tokens", "cost",
    "per decision",
)  # fmt: skip
ROUNDING, ROUNDING_SUM = 1e-9, 1e-6
"""Dollars by which sums of the same costs may differ: of a player, and of a run."""
MAX_FRAMES, NOTEBOOK_FRAMES = 2_000, 300
"""The number of frames of a replay, and of the one that is shown with the results."""
MAX_PROBLEM = 200
"""The number of characters of a player's commonest problem that are shown."""


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
        self.spent = (0.0, 0.0)  # dollars paid, and those of requests whose cost is not known; in all games
        self._timings: dict[str, TimingLine] = {}
        self._decisions: list[bytes] = []
        self._records: dict[str, bytes] = {}

    @classmethod
    def read(cls, folder: Path | str, worlds: Sequence[str] = ()) -> "Results":
        """The results in a folder, also while a run is in progress. Files of worlds are code, and the folder may come
        from anybody: only those in ``worlds`` are loaded."""
        design, path = stored.read_design_of(Path(folder)), Path(folder)
        found = cls(design, stored.read_games(path), folder=path, planned=len(design.specs()), worlds=worlds)
        found.spent = stored.read_spending(path)
        return found

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
            return list(stored.read_decisions(self.folder))
        return msgspec.json.Decoder(DecisionLine).decode_lines(b"".join(self._decisions))

    def timings(self) -> dict[str, TimingLine]:
        return stored.read_timings(self.folder) if self.folder is not None else self._timings

    def record(self, game: str) -> bytes:
        """The record of a game, as `cohabit replay` reads it from a file."""
        return stored.record_path(self.folder, game).read_bytes() if self.folder is not None else self._records[game]

    def records_missing(self) -> int:
        """The number of games whose record was removed from the folder."""
        if self.folder is None:
            return 0
        kept = {path.name for path in self.folder.joinpath(stored.RECORDS).glob("*.jsonl")}
        return sum(f"{game.spec.id}.jsonl" not in kept for game in self.games)

    def replay(
        self, game: str | int = 0, *, frames: int = MAX_FRAMES, decisions: Sequence[DecisionLine] | None = None
    ) -> Replay:
        """A game to watch again, by its id or number. In a notebook it shows itself; ``save`` writes an HTML file.
        ``decisions``: those of the game, if they were read already."""
        if isinstance(game, int):
            found = self.games[game] if -len(self.games) <= game < len(self.games) else None
        else:
            found = next((each for each in self.games if each.spec.id == game), None)
        if found is None:
            raise UnknownAsset(f"there is no game {game!r} in these results; they have {len(self.games):,}")
        from cohabit.lab.films import replay_of  # takes as long to import as the rest of the lab

        name = found.spec.id
        if decisions is None:
            decisions = [line for line in self.decisions() if line.game == name]
        return replay_of(found, stored.lines_of(self.record(name), name), decisions, self.worlds, frames)

    # -- the outcome ------------------------------------------------------------------------------
    def conditions(self) -> list[ConditionResults]:
        """The results in each world, at each combination of levels."""
        return analyse(self.games, self.timings())

    def players(self) -> list[PlayerInCondition]:
        """Each player in each condition. Scores of different worlds have nothing in common, so none is over several."""
        return [player for found in self.conditions() for player in found.players]

    def failing(self) -> list[PlayerInCondition]:
        """The players whose share of failed decisions in a condition is above the design's threshold."""
        return [player for player in self.players() if player.failure_rate > self.design.max_failures]

    def rows(self) -> list[list[str]]:
        """The table, as text, under ``HEADINGS``: a row for each player in each condition."""
        return [_row(player) for player in self.players()]

    def commonest_problems(self) -> dict[tuple[str, str], str]:
        """For each condition and player with failures, the problem that it had most often."""
        if not any(tally.failures for game in self.games for tally in game.tallies):
            return {}
        titles = {game.spec.id: condition_of(game).title for game in self.games}
        counts: dict[tuple[str, str], Counter[str]] = {}
        for line in self.decisions():
            if line.decision.failed and line.game in titles:
                counts.setdefault((titles[line.game], line.player), Counter())[line.decision.problem] += 1
        return {key: shown(found.most_common(1)[0][0], MAX_PROBLEM) for key, found in counts.items()}

    def problems(self) -> list[str]:
        """The reasons to doubt these results, one sentence each."""
        found = [f"{self.stopped}; {len(self.games)} of {self.planned} games are finished"] if self.stopped else []
        failing = self.failing()
        if not failing:
            return found
        limit, reasons = f"{self.design.max_failures:.0%}", self.commonest_problems()
        several = len({condition_of(game).title for game in self.games}) > 1
        for player in failing:
            counts = ", ".join(f"{n} {outcome}" for outcome in FAILURES if (n := player.tally.outcomes.get(outcome, 0)))
            where = f" in {player.condition}" if several else ""
            reason = reasons.get((player.condition, player.player), "")
            often = f"; most often: {reason}" if reason else ""
            found.append(
                f"{player.player}{where}: {player.failure_rate:.1%} of its decisions failed ({counts}{often}); "
                f"the limit is {limit}. These are not results of its play"
            )
        return found

    def notes(self) -> list[str]:
        """The notes that are needed to read the table, one sentence each."""
        games = self.games
        limited = sum(game.ended == "limit" for game in games)
        found = self.conditions()
        lost = sum(len(each.undecided) for each in found)
        alone = sum(player.against_itself for each in found for player in each.players)
        notes = []
        if limited:
            without = f"; {lost:,} of them have no result, and are neither won nor drawn" if lost else ""
            notes.append(f"{limited:,} of {len(games):,} games stopped at a limit, before they were over{without}")
        if any(each.is_won_in_teams for each in found):
            notes.append(IN_TEAMS)
        if any(_is_estimated(tally) for game in games for tally in game.tallies):
            notes.append("the higher of two costs includes the most that requests of unknown cost may have cost")
        notes += self.spent_in_words()
        if missing := self.records_missing():
            notes.append(
                f"the records of {missing:,} of {len(games):,} games are missing: these games cannot be replayed or "
                "exported, and have no curves"
            )
        if alone:
            notes.append(f"{alone:,} games of a player against itself count only in decisions, times and costs")
        return notes

    def spent_in_words(self) -> list[str]:
        """The spending of the whole run, if the table does not say it all or there is a cap."""
        (paid, reserved), tallies = self.spent, [tally for game in self.games for tally in game.tallies]
        in_table = sum(tally.charged for tally in tallies)
        cap, spent = self.design.max_cost, paid + reserved
        elsewhere = spent > in_table + ROUNDING_SUM
        if not spent or (cap is None and not elsewhere):
            return []
        text = f"the run has spent {_money(paid)}" + (f" to {_money(spent)}" if reserved > ROUNDING_SUM else "")
        text += f" of its cap of {_money(cap)}" if cap is not None else ""
        return [text + (", with games and requests that are not in the table" if elsewhere else "")]

    def __str__(self) -> str:
        rows = [list(HEADINGS), *self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, *self.notes(), *(f"FAILED: {text}" for text in self.problems())])

    def _repr_html_(self) -> str:
        problems = "".join(f'<p style="color:#b00020">{escape(text)}</p>' for text in self.problems())
        notes = "".join(f"<p>{escape(text)}.</p>" for text in self.notes())
        return f"{table(HEADINGS, self.rows())}{notes}{problems}{self._first_game()}"

    def _first_game(self) -> str:
        """The first game, to watch again; why not, if it cannot be."""
        if not self.games:
            return ""
        try:
            shown = self.replay(0, frames=NOTEBOOK_FRAMES)._repr_html_()
        except (CohabitError, OSError) as wrong:
            return f"<p>The first game cannot be shown: {escape(str(wrong))}</p>"
        return f"<p>The first game; <code>.replay(number)</code> shows another one.</p>{shown}"

    def plot(self) -> Any:
        """The mean score of each player with its 95 % interval over seeds, in each condition. Needs matplotlib."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError("plots need matplotlib; install it with: pip install 'cohabit[lab]'") from None
        conditions = self.conditions()
        most = max((len(found.players) for found in conditions), default=1)
        figure = Figure(figsize=(1.5 + 1.2 * most, 3.5 * max(1, len(conditions))), layout="constrained")
        for axes, found in zip(figure.subplots(max(1, len(conditions)), squeeze=False).flat, conditions, strict=False):
            shown = [(player.player, player.score) for player in found.players if player.score is not None]
            axes.bar(
                [name for name, _ in shown],
                [float(score.mean) for _, score in shown],
                yerr=[score.interval or nan for _, score in shown],  # without an interval, no error bar
                capsize=4,
            )
            axes.set_ylabel("mean score")
            axes.set_title(found.condition.title)
        figure.suptitle(self.design.name)
        return figure


def _may_load(source: str, worlds: Sequence[str]) -> bool:
    try:
        trusted_source(source, worlds)
    except BadArgs:
        return False
    return True


def _row(player: PlayerInCondition) -> list[str]:
    tally = player.tally
    return [
        player.condition,
        player.player,
        str(player.games),
        str(player.won),
        str(player.drawn),
        str(player.stopped),
        player.score.over_seeds() if player.score is not None else "-",
        str(tally.decisions),
        f"{tally.failures} ({player.failure_rate:.1%})" if tally.failures else "0",
        f"{tally.prompt_tokens:,} + {tally.completion_tokens:,}" if tally.prompt_tokens else "-",
        _cost(tally),
        seconds_text(sum(player.seconds) / tally.decisions) if tally.decisions else "-",
    ]


def seconds_text(value: float | None) -> str:
    """A time of thinking: two digits, in seconds or milliseconds."""
    if value is None:
        return "–"
    return f"{value:.2g} s" if value >= 0.1 else f"{1000 * value:.2g} ms"


def dollars_text(tally: Tally, digits: int = 2) -> str:
    """The cost of the answers. If requests got no answer, a range: up to the cost with their estimates."""
    known = f"${tally.dollars:.{digits}f}"
    return f"{known} to ${tally.charged:.{digits}f}" if _is_estimated(tally) else known


def _money(dollars: float) -> str:
    return f"${dollars:.2f}" if dollars >= 0.1 else f"${dollars:.4f}"


def _is_estimated(tally: Tally) -> bool:
    return tally.charged > tally.dollars + ROUNDING


def _cost(tally: Tally) -> str:
    if tally.unpriced:
        return f"{dollars_text(tally)} + {tally.unpriced} unpriced"
    return dollars_text(tally) if tally.prompt_tokens or tally.charged else "-"
