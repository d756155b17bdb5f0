"""The log of the decisions of the players of a room, with their reasons.

It has what the agents of the house were asked and answered, and the actions of other members that came with a reason.
The newest lines stay in memory; the transcripts keep them over a restart. `decision_rights` says who may read which of
them.
"""

import logging
from collections import deque
from collections.abc import Callable, Collection, Sequence
from functools import partial
from heapq import merge
from threading import Lock
from typing import Self, TypeVar

import msgspec
from msgspec import Struct

from cohabit.agents.brain import parse_brain
from cohabit.agents.decision import PlayerDecision
from cohabit.house.agents.decision_rights import LoggedDecision, Reader, hand_of, reader_of
from cohabit.house.agents.transcripts import TranscriptLine, Transcripts
from cohabit.house.calls.context import HouseContext
from cohabit.house.running.runner import RoomRunner
from cohabit.house.threads import Worker
from cohabit.model.action import Action
from cohabit.model.film import FilmDecision
from cohabit.model.observation import one_line
from cohabit.registry import is_script
from cohabit.room.record import Line
from cohabit.room.room import Room
from cohabit.room.state import Member, handle_of

log = logging.getLogger("cohabit")
T = TypeVar("T")
LINES_KEPT, BYTES_KEPT = 300, 128 * 1024
"""Decisions of each member in memory, and how many bytes their texts may have. Older ones lose their texts first. A
limit for the room would let players count what others decide in secret."""
MEMBERS_KEPT = 256
"""Members of a room whose decisions are in memory; of more, those who have decided nothing for longest are dropped."""
MAX_TEXT, MAX_REASON = 20_000, 2_000
"""Characters of what an agent saw, was asked and answered, and of its reason."""
HANDS_KEPT = 1_000


class Kept(Struct):
    number: int  # in the log, from 0
    short: LoggedDecision
    line: bytes = b""  # with all texts; empty: they are no longer in memory


class MemberLog:
    """The newest decisions of one member."""

    def __init__(self) -> None:
        self.kept: deque[Kept] = deque(maxlen=LINES_KEPT)  # the oldest first
        self._with_texts: deque[Kept] = deque()
        self._bytes = 0

    def add(self, made: Kept) -> None:
        self.kept.append(made)
        self._with_texts.append(made)
        self._bytes += len(made.line)
        while self._bytes > BYTES_KEPT:
            oldest = self._with_texts.popleft()
            self._bytes -= len(oldest.line)
            oldest.line = b""


class RoomLog:
    """The newest decisions of one room, and which hands were played to their end."""

    def __init__(self) -> None:
        self.over: dict[str, None] = {}
        self.next = 0
        self._members: dict[str, MemberLog] = {}  # who decided last is last

    @classmethod
    def stored(cls, transcripts: Transcripts, room: str) -> Self:
        """The log of a room as its transcript has it."""
        log = cls()
        for line in transcripts.lines(room):
            try:
                log.add(line)
            except msgspec.MsgspecError:  # the house was killed while it wrote
                continue
        log.over = dict.fromkeys(transcripts.hands_over(room))
        return log

    def all(self) -> tuple[list[LoggedDecision], list[str]]:
        """All decisions, with the texts that are in memory, and the hands that are over."""
        return [in_full(one) for one in self.kept()], list(self.over)

    def kept(self) -> list[Kept]:
        """The decisions in memory, the oldest first."""
        return list(merge(*(log.kept for log in self._members.values()), key=lambda one: one.number))

    def add(self, encoded: bytes) -> None:
        line = msgspec.json.decode(encoded, type=TranscriptLine)
        made = Kept(self.next, _logged(line, full=False), encoded)
        self.next += 1
        log = self._members.pop(line.member, None) or MemberLog()
        log.add(made)
        self._members[line.member] = log
        if len(self._members) > MEMBERS_KEPT:
            del self._members[next(iter(self._members))]

    def hand_over(self, hand: str) -> bool:
        """Returns whether that matters: there are decisions of it."""
        if hand in self.over or all(one.short.hand != hand for one in self.kept()):
            return False
        self.over[hand] = None
        if len(self.over) > HANDS_KEPT:
            del self.over[next(iter(self.over))]
        return True


class DecisionLog:
    """The logs of all rooms. Lines are added and read on one thread, in order, because that reads and writes files."""

    def __init__(self, transcripts: Transcripts) -> None:
        self.transcripts = transcripts
        self._rooms: dict[str, RoomLog] = {}
        self._playing: dict[str, str] = {}  # by room: the hand; empty: it was over
        self._lock = Lock()
        self._worker: Worker | None = None

    # -- writing ----------------------------------------------------------------------------------
    def add(self, room: str, line: TranscriptLine) -> None:
        """Writes to the disk: call it off the event loop of the house."""
        encoded = self.transcripts.encoded(line)
        with self._lock:
            self._log(room).add(encoded)
        self.transcripts.write(room, encoded)

    def entered(self, runner: RoomRunner, lines: Sequence[Line]) -> None:
        """These entries are durable: log the actions that came with a reason, and note when a hand is over."""
        room = runner.room
        now, before = hand_of(room), self._playing.get(room.id)
        # The action that ends a hand belongs to it. Of several entries it is not known which one did.
        hand = before if before and sum(line.entry.by is not None for line in lines) == 1 else now
        for line in lines:
            if _reason(line) and is_action(room, line.entry.do) and not self._is_logged_by_its_agent(room, line):
                self._later(partial(self.add, room.id, _of_entry(room, line, hand)))
        is_over = room.state.over_since is not None
        ended = now if is_over and before != "" else before if before and _is_later_hand(before, now) else ""
        if ended:
            self._later(partial(self._hand_over, room.id, ended))
        self._playing[room.id] = "" if is_over else now

    def _hand_over(self, room: str, hand: str) -> None:
        with self._lock:
            log = self._log(room)
            hands = list(log.over) if log.hand_over(hand) else []
        if hands:
            self.transcripts.write_hands(room, hands)

    def _is_logged_by_its_agent(self, room: Room, line: Line) -> bool:
        member = room.state.members.get(line.entry.by or "")
        brain = member.stand_in if member is not None and line.entry.via is not None else None
        return brain is not None and not is_script(parse_brain(brain))

    # -- reading ----------------------------------------------------------------------------------
    async def read(self, room: str, work: Callable[[RoomLog], T]) -> T:
        """Read the log of a room, with everything that happened before."""

        def reading() -> T:
            with self._lock:
                return work(self._log(room))

        return await self._thread().run(reading)

    async def all(self, room: str) -> tuple[list[LoggedDecision], list[str]]:
        """All decisions that are in memory, with their texts, and the hands that are over. For replays; what a member
        may read of them is up to `decision_rights`."""
        return await self.read(room, RoomLog.all)

    def _log(self, room: str) -> RoomLog:
        log = self._rooms.get(room)
        if log is None:
            log = self._rooms[room] = RoomLog.stored(self.transcripts, room)
        return log

    def forget(self, room: str) -> None:
        """Drop what is in memory of a room that is closed, or whose transcript is deleted."""
        self._playing.pop(room, None)
        with self._lock:
            self._rooms.pop(room, None)

    async def close(self) -> None:
        """Write what is left, and end the thread. A process may end as soon as its house is closed."""
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.run(lambda: None)  # after everything before it
            worker.close()

    def _later(self, work: Callable[[], None]) -> None:
        def job() -> None:
            try:
                work()
            except Exception:  # the game goes on without it
                log.exception("a decision could not be logged")

        self._thread().submit(job)

    def _thread(self) -> Worker:
        if self._worker is None:
            self._worker = Worker("decisions")
        return self._worker


def _is_later_hand(before: str, now: str) -> bool:
    """True if the hand before was played to its end in the same game. Another game may begin before that."""
    (game, hand), (game_now, hand_now) = before.split("/"), now.split("/")
    return game == game_now and int(hand_now) > int(hand)


def is_action(room: Room, name: str) -> bool:
    """True if it is an action of the world. Other commands, such as messages, are for those to whom they are sent."""
    command = room.commands.by_name.get(name)
    return command is not None and command.is_action


def _reason(line: Line) -> str | None:
    """The reason why a member acted: what it said with the action, or in an argument of the action that is for that."""
    entry = line.entry
    said = entry.why or (entry.args.get("reasoning") if isinstance(entry.args, dict) else None)
    return said if isinstance(said, str) else None


def _of_entry(room: Room, line: Line, hand: str) -> TranscriptLine:
    """An action with a reason, of a member that is no agent of the house, or of a script."""
    entry = line.entry
    member = room.state.members.get(entry.by or "")
    made = PlayerDecision(0, "chosen", Action(entry.do, entry.args or {}, _reason(line)))
    return TranscriptLine(
        entry.at, entry.by or "", member.seat if member is not None else None, entry.via or "", room.state.games, 0.0,
        made, seq=entry.seq, hand=hand,
    )  # fmt: skip


def reader_for(ctx: HouseContext, me: Member, over: Collection[str], *, has_saves: bool) -> Reader:
    """The decisions that a member of the room may read now. ``over``: the hands that are over, as this log has them."""
    return reader_of(ctx.room, me, over, _owned_by(ctx, me), has_saves=has_saves)


def _owned_by(ctx: HouseContext, me: Member) -> frozenset[str]:
    """The agents in the room for which this one is responsible, because it created their identities. People whom it
    invited answer for themselves."""
    if not me.identity:
        return frozenset()
    found = ((one.id, ctx.house.identities.get(one.identity)) for one in ctx.room.state.members.values())
    return frozenset(
        who for who, made in found if made is not None and made.kind == "agent" and made.owner == me.identity
    )


# -- as it is shown ---------------------------------------------------------------------------------
def _logged(line: TranscriptLine, *, full: bool) -> LoggedDecision:
    made = line.decision
    action, exchanges = made.action, made.exchanges
    thoughts = [exchange.thinking for exchange in exchanges if exchange.thinking]
    reason = (action.reasoning if action is not None else "") or (thoughts[-1] if thoughts else "")
    used = [exchange.usage for exchange in exchanges]
    shown = FilmDecision(
        seq=line.seq, at=line.at, member=handle_of(line.member),
        action=action.text[:MAX_REASON] if action is not None else "",
        reason=one_line(reason)[:MAX_REASON],
        saw=line.saw[:MAX_TEXT] if full else "",
        asked=_asked(made)[:MAX_TEXT] if full else "",
        answered="\n\n".join(exchange.answer for exchange in exchanges)[:MAX_TEXT] if full else "",
        tokens_in=sum(usage.prompt_tokens for usage in used),
        tokens_out=sum(usage.completion_tokens for usage in used),
        dollars=sum(usage.dollars or 0.0 for usage in used), ms=round(line.seconds * 1000),
        failure=one_line(made.problem or made.outcome)[:MAX_REASON] if made.problem or made.failed else "",
    )  # fmt: skip
    return LoggedDecision(shown, line.member, line.seat, line.hand, bool(line.brain), line.heard)


def _asked(made: PlayerDecision) -> str:
    return "\n\n".join(f"[{said['role']}] {said['content']}" for one in made.exchanges for said in one.messages)


def in_full(kept: Kept) -> LoggedDecision:
    return _logged(msgspec.json.decode(kept.line, type=TranscriptLine), full=True) if kept.line else kept.short
