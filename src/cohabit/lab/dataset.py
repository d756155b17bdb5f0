"""Decisions as rows of a dataset for trainers: what a seat saw, what it could do, what it did and its outcome.

The games of a run are played again with the recorded decisions, so each observation is exactly what the player was
given, through the eye of its own seat. The digest of the record proves that it is the same game. Records of a house
are replayed, and observed just before each action.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.agents.contract import Thought, Turn, adapted
from cohabit.agents.decision import PlayerDecision
from cohabit.errors import RecordCorrupt
from cohabit.lab.folder import DECISIONS, DecisionLine, read_decisions, read_games, read_record
from cohabit.lab.game import Game, GameResult, GameSpec
from cohabit.lab.scoring import scores, scores_of
from cohabit.lab.tables import Format, Kind, write_table
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.model.record import Entry, Told
from cohabit.registry import trusted_source
from cohabit.room.commands import Command
from cohabit.room.record import Line
from cohabit.room.room import Room
from cohabit.world import Outcome


class Row(Struct, frozen=True, kw_only=True):
    """One decision.

    ``reward`` is what the seat gained from this decision to its next one, or to the end of the game, in worlds that
    count returns; in others, what the action earned. ``done``: this is the seat's last decision, and the game was over;
    ``truncated``: it is the last, because the game was stopped at a limit or the record ends.
    """

    game: str
    world: str
    seed: str
    seat: str
    player: str
    number: int  # of this seat's decisions in the game, from 1
    text: str  # the whole view of the seat. A model may have been given less, or more: see ``prompt``
    observation: dict[str, Any]  # the same as values
    prompt: list[dict[str, str]] | None = None  # the messages to a language model before its last answer
    answer: str | None = None  # this answer, as the model wrote it
    legal: list[dict[str, Any]] | None  # None: the world does not list them
    legal_are_examples: bool = False  # ``legal`` has only some of the legal actions, maybe not the one that was played
    action: dict[str, Any] | None  # what was played; None: nothing
    reasoning: str | None
    outcome: str  # of a run: chosen, corrected, timeout …; of a house: played, or the stand-in that played
    problem: str = ""
    cause: str = ""  # of a failure
    reward: float
    gain: float | None = None  # how much its score on the scoreboard changed by its next decision, or by the end
    done: bool = False
    truncated: bool = False
    score: float | None = None  # of the seat at the end; None: the game in a room of a house was not over
    lineup: str = ""
    factors: dict[str, Any] = {}


KINDS: dict[type, Kind] = {str: "text", int: "integer", float: "number", bool: "flag"}
COLUMNS: dict[str, Kind] = {
    field.name: next((kind for plain, kind in KINDS.items() if field.type in (plain, plain | None)), "json")
    for field in msgspec.structs.fields(Row)
}
"""The columns of a file: the fields of a row."""


def write_dataset(path: Path, form: Format, rows: Iterable[Row]) -> int:
    """Write rows to a file that is complete or not there. Returns how many."""
    return write_table(path, form, COLUMNS, (msgspec.structs.asdict(row) for row in rows))


class Seen(Struct):
    """A decision, until its outcome is known."""

    seat: str
    player: str
    text: str
    observation: Observation
    total: float  # what the seat had gained before
    points: float | None  # its score on the scoreboard before
    decision: PlayerDecision


class End(Struct, frozen=True):
    """The end of a game: what each seat had gained, in worlds that count it; the scoreboard; whether it was over."""

    totals: Mapping[str, float]
    points: Mapping[str, float]
    over: bool


def scoreboard(room: Room) -> dict[str, float]:
    return {standing.seat: float(standing.score) for standing in room.world.standings()}


def _rows(seen: Sequence[Seen], end: End, **of_game: Any) -> list[Row]:
    """The rows of one game."""
    found: list[Row] = []
    following, points = dict(end.totals), dict(end.points)
    last: set[str] = set()
    numbers: dict[str, int] = {}
    for each in seen:
        numbers[each.seat] = numbers.get(each.seat, 0) + 1
    for each in reversed(seen):
        reward = following.get(each.seat, each.total) - each.total if end.totals else each.decision.reward
        gain = None if each.points is None else points.get(each.seat, 0.0) - each.points
        following[each.seat] = each.total
        if each.points is not None:
            points[each.seat] = each.points
        ends = each.seat not in last
        last.add(each.seat)
        number = numbers[each.seat]
        numbers[each.seat] -= 1
        ending = {"done": ends and end.over, "truncated": ends and not end.over}
        found.append(_row(each, number=number, reward=reward, gain=gain, **ending, **of_game))
    return found[::-1]


def _row(seen: Seen, **more: Any) -> Row:
    plain = msgspec.to_builtins(seen.observation)
    choices = plain.pop("choices", None)
    action, scored = seen.decision.action, more.pop("scores", {})
    asked = seen.decision.exchanges[-1] if seen.decision.exchanges else None
    return Row(
        seat=seen.seat,
        player=seen.player,
        text=seen.text,
        observation=plain,
        prompt=None if asked is None else asked.messages,
        answer=None if asked is None else asked.answer,
        legal=choices or None,
        action=None if action is None else {"action": action.name, "params": action.parameters},
        reasoning=None if action is None else action.reasoning,
        outcome=seen.decision.outcome,
        problem=seen.decision.problem,
        cause=seen.decision.cause,
        score=scored.get(seen.seat),
        **more,
    )


def _before(room: Room, seat: str) -> tuple[float, float | None]:
    """The returns of a seat so far, and its score on the scoreboard."""
    return room.state.returns.get(seat, 0.0), scoreboard(room).get(seat)


# -- the games of a run -----------------------------------------------------------------------------
def run_rows(
    folder: Path, on_game: Callable[[int, int], None] = lambda *_: None, worlds: Sequence[str] = ()
) -> Iterator[Row]:
    """The decisions of all finished games of a run, in the order of the plan. ``worlds``: files that may be loaded."""
    games = read_games(folder)
    groups = groupby(read_decisions(folder), lambda line: line.game)  # both files are in the order of the plan
    of_game, lines = next(groups, ("", iter(())))
    with asyncio.Runner() as runner:
        for number, game in enumerate(games):
            on_game(number, len(games))
            mine = list(lines) if of_game == game.spec.id else []
            with _naming(game.spec.id):
                record = [line.entry for line in read_record(folder, game.spec.id)]
                found = runner.run(game_rows(game, mine, record, worlds))
            yield from found
            if of_game == game.spec.id:
                of_game, lines = next(groups, ("", iter(())))
        on_game(len(games), len(games))


@contextmanager
def _naming(game: str) -> Iterator[None]:
    """Say which game is damaged."""
    try:
        yield
    except RecordCorrupt as wrong:
        if game in wrong.message:
            raise
        raise RecordCorrupt(f"{game}: {wrong.message}", **wrong.details) from None


async def game_rows(
    game: GameResult, lines: Iterable[DecisionLine], record: Sequence[Entry], worlds: Sequence[str] = ()
) -> list[Row]:
    """Play a game again with its decisions. Raises RecordCorrupt if that gives another record."""
    if not record or record[0].do != "open":
        raise RecordCorrupt(f"{game.spec.id} has no record")
    decisions: list[list[PlayerDecision]] = [[] for _ in game.seats]
    for line in lines:
        decisions[line.seat].append(line.decision)
    seen: list[Seen] = []
    players = [
        Again(found, seen, seat, name)
        for found, seat, name in zip(decisions, game.seats, game.spec.named, strict=True)
    ]  # fmt: skip
    recorded = record[0].args["state"]["source"]
    spec = msgspec.structs.replace(game.spec, seconds=None)
    again = ReplayedGame(record, players, spec, source=recorded, load_from=trusted_source(recorded, worlds))
    result = await again.play()
    for player in players:
        if player.missing:
            raise RecordCorrupt(f"{game.spec.id}: {player.missing}")
    if result.head != game.head:
        raise RecordCorrupt(
            f"{game.spec.id}: {DECISIONS} does not lead to the recorded game. The world or Cohabit has changed since, "
            "or the file was edited"
        )
    return _rows(
        seen,
        End(result.returns, scoreboard(again.room), game.ended == "over"),
        game=game.spec.id,
        world=game.spec.setting or game.spec.world,
        seed=game.spec.seed,
        scores=dict(zip(game.seats, scores(game), strict=True)),
        lineup=game.spec.lineup,
        factors=game.spec.factors,
        legal_are_examples=again.room.world.spec.examples,
    )


class ReplayedGame(Game):
    """A game whose players repeat what they did, and whose entries have the times of a record: refused calls took time
    too, and are not repeated."""

    def __init__(self, record: Sequence[Entry], players: "Sequence[Again]", spec: GameSpec, **options: Any) -> None:
        self._record, self.opened_as = record, record[0].args["state"]
        super().__init__(spec, agents=[adapted(player) for player in players], **options)
        for player, seated in zip(players, self._seated, strict=True):
            player.room = self.room
            seated.fallback = player.played_instead

    def _time_after(self, ms: int) -> int:
        following = self.room.record.seq + 1
        self.at = self._record[following].at if following < len(self._record) else self.at + ms
        return self.at


class Again:
    """A player that repeats its recorded decisions, and keeps what it is shown."""

    def __init__(self, decisions: Iterable[PlayerDecision], seen: list[Seen], seat: str, name: str) -> None:
        self._decisions = iter(decisions)
        self._seen, self._seat, self._name = seen, seat, name
        self._failed: PlayerDecision | None = None  # the last decision without a usable answer
        self.missing = ""  # which decision was not recorded, if one is missing
        self.room: Room | None = None

    def played_instead(self) -> Action | None:
        """The action that was played because an answer could not be used. None: no action, as after a late answer."""
        return self._failed.action if self._failed is not None else None

    async def think(self, turn: Turn, correction: str = "") -> Thought:
        if correction:  # it failed then, too
            return Thought(problem=correction)
        decision = next(self._decisions, None)
        if decision is None:
            self._failed = None
            self.missing = self.missing or f"{DECISIONS} has no line for decision {turn.number} of {self._name}"
            return Thought(problem=self.missing)
        assert self.room is not None
        total, points = _before(self.room, self._seat)
        self._seen.append(Seen(self._seat, self._name, turn.text, turn.observation, total, points, decision))
        if decision.failed or decision.outcome == "late":
            self._failed = decision
            return Thought(problem=decision.problem or decision.outcome)
        return Thought(decision.action)


# -- the record of a house --------------------------------------------------------------------------
class ObservedRoom(Room):
    """A room that is replayed, and remembers what the author of an action saw just before it."""

    seen: Seen | None = None

    def perform(self, by: str | None, at: int, command: Command, args: Mapping[str, Any]) -> tuple[Any, Sequence[Told]]:
        self.seen = None
        member = self.state.members.get(by) if by is not None else None
        if not command.is_action or member is None or member.seat is None or self.eye(member) is None:
            return super().perform(by, at, command, args)
        view, seat = self.view(member), member.seat
        total, points = _before(self, seat)
        result, told = super().perform(by, at, command, args)
        reward = float(result.reward) if isinstance(result, Outcome) else 0.0
        decision = PlayerDecision(0, "chosen", Action(command.name, dict(args)), reward=reward)
        self.seen = Seen(seat, member.handle, view.text, view.observation, total, points, decision)
        return result, told


def record_rows(steps: Iterable[tuple[Room, Line]], name: str) -> Iterator[Row]:
    """The actions of players in a record, in order. ``steps`` replays it with an ObservedRoom."""
    seen: list[tuple[Seen, str]] = []
    end = End({}, {}, over=False)
    game, about = 0, dict[str, Any]()
    for room, line in steps:
        assert isinstance(room, ObservedRoom)
        if room.state.games != game:
            yield from _record_game(seen, end, **about)
            seen, game = [], room.state.games
            about = {"game": f"{name}#{game}", "world": room.state.world, "seed": room.state.seed}
            about["legal_are_examples"] = room.world.spec.examples
        if room.seen is not None:
            decision = room.seen.decision
            if line.entry.why and decision.action is not None:
                room.seen.decision = msgspec.structs.replace(
                    decision, action=msgspec.structs.replace(decision.action, reasoning=line.entry.why)
                )
            seen.append((room.seen, line.entry.via or "played"))
        end = End(dict(room.state.returns), scoreboard(room), room.is_over())
    yield from _record_game(seen, end, **about)


def _record_game(seen: Sequence[tuple[Seen, str]], end: End, **of_game: Any) -> Iterator[Row]:
    decided = [each for each, _ in seen]
    rows = _rows(decided, end, scores=_final_scores(decided, end), **of_game)
    for row, (_, how) in zip(rows, seen, strict=True):
        yield msgspec.structs.replace(row, outcome=how)


def _final_scores(seen: Sequence[Seen], end: End) -> dict[str, float]:
    """The scores of the seats, as in a run. Empty if the game was not over."""
    if not end.over:
        return {}
    earned: dict[str, float] = {}
    for each in seen:
        earned[each.seat] = earned.get(each.seat, 0.0) + each.decision.reward
    return dict(zip(earned, scores_of(list(earned), end.points, end.totals, list(earned.values())), strict=True))
