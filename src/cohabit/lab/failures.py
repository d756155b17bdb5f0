"""The failed decisions of a run in its report: how many had each cause, and the first of them with every request.

They are nested as the spans and the transcript are: a game has turns, a turn decisions, and a decision the calls.
"""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby, islice

from cohabit.agents.causes import CAUSES
from cohabit.agents.contract import Call, Exchange
from cohabit.agents.decision import Tally
from cohabit.lab.folder import DecisionLine
from cohabit.model.observation import one_line

MAX_LISTED = 20
"""Failed decisions that a report lists."""
MAX_TEXT = 300
NOTE = """Why decisions failed, by the name of the cause. <code>decisions.jsonl</code> has every one of them, with the
prompts and answers."""


def cause_rows(tallies: Iterable[tuple[str, Tally]]) -> list[list[str]]:
    """A row for each player and cause, the most frequent cause first."""
    return [
        [player, cause, f"{count:,}", f"{count / tally.decisions:.1%}", CAUSES.get(cause, "").replace("`", "")]
        for player, tally in tallies
        for cause, count in sorted(tally.causes.items(), key=lambda item: (-item[1], item[0]))
    ]


def failed_decisions(lines: Iterable[DecisionLine], games: set[str]) -> str:
    """The first failed decisions of these games, folded."""
    failed = list(islice((line for line in lines if line.game in games and line.decision.failed), MAX_LISTED))
    if not failed:
        return ""
    found = "".join(_game(game, list(its)) for game, its in groupby(failed, key=lambda line: line.game))
    return f"<details><summary>The first failed decisions</summary><ul>{found}</ul></details>\n"


def _game(game: str, lines: Sequence[DecisionLine]) -> str:
    turns = groupby(lines, key=lambda line: line.decision.turn)
    inner = "".join(
        f"<li>turn {turn}{_list(map(_decision, its))}</li>" if turn else "".join(map(_decision, its))
        for turn, its in turns
    )
    return f"<li>game {escape(game)}<ul>{inner}</ul></li>"


def _decision(line: DecisionLine) -> str:
    decision = line.decision
    what = f"decision {decision.number} of {line.player}: {decision.outcome}, {decision.cause}: {decision.problem}"
    calls = [
        f"<li>{_text(f'call {number}: {_call(call, exchange)}')}</li>"
        for exchange in decision.exchanges
        for number, call in enumerate(exchange.calls, 1)
    ]
    return f"<li>{_text(what)}{_list(calls)}</li>"


def _call(call: Call, exchange: Exchange) -> str:
    cost = f" (${call.paid:.4f})" if call.paid else f" (up to ${call.reserved:.4f})" if call.reserved else ""
    if call.cause:
        return f"{call.cause}: {call.problem}{cost}"
    return f"answered{f', {exchange.cause}' if exchange.cause else ''}{cost}"


def _list(items: Iterable[str]) -> str:
    inner = "".join(items)
    return f"<ul>{inner}</ul>" if inner else ""


def _text(text: str) -> str:
    return escape(shown(text, MAX_TEXT))


def shown(text: str, limit: int) -> str:
    """A text that can quote others, on one line."""
    line = one_line("".join(letter if letter.isprintable() else " " for letter in text))
    return line if len(line) <= limit else line[: limit - 1] + "…"
