"""A room: one world, its members, and the single path for all calls.

Synchronous and deterministic: no I/O, no clock (``at`` comes with each call) and no randomness. ``call`` authorizes,
validates, runs and records an entry; ``replay`` runs the recorded entries and produces the same room.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from cohabit.errors import (
    CohabitError,
    GameRejected,
    OutOfBounds,
    Quarantined,
    ScopeViolation,
    TooLarge,
    Unauthorized,
    UnknownAsset,
)
from cohabit.model.action import ActionResult
from cohabit.model.grant import Capability
from cohabit.model.identity import Credential
from cohabit.model.limits import MAX_VIEW_TEXT, too_large
from cohabit.model.observation import Observation
from cohabit.model.seat import Eye
from cohabit.model.words import Words
from cohabit.room.base import Context, WorldInterrupted
from cohabit.room.commands import Command
from cohabit.room.decide import by_credential, by_grant, decide, known_now
from cohabit.room.decision import refusal
from cohabit.room.play.turns import TurnAdvanced
from cohabit.room.recorded import RecordedRoom
from cohabit.room.replies import kept_reply
from cohabit.room.seeing.shown import LONG_VIEW, MAX_AFTER_ACTION
from cohabit.room.state import KeptReply, Member
from cohabit.world import Outcome

WORLD_REFUSALS = (GameRejected, UnknownAsset, OutOfBounds, ScopeViolation)
"""Refusals whose reasons come from the world."""
MAX_TIMES_DUE = 100
"""The number of times that the same system entry may be due in a row."""
BLIND = "The game refused this. You don't have permission to see why."


class Admitted(Struct, frozen=True, gc=False):
    """A call that passed every check, or one already answered under the same idempotency key (``kept``)."""

    member: Member
    command: Command
    args: dict[str, Any]
    why: str | None = None
    wrapped: bool = False  # called through `act`
    kept: KeptReply | None = None


class Room(RecordedRoom):
    """A room. Create one with ``create``, ``restore`` or ``replay``."""

    __slots__ = ()

    # -- calls ------------------------------------------------------------------------------------
    def call(
        self, who: str, name: str, args: Any = None, *, at: int, key: str | None = None, via: str | None = None,
        look: bool = True, credential: Credential | None = None,
    ) -> Any:  # fmt: skip
        """Run a command for member ``who``, or raise the reason for refusing it.

        Credentials and rate limits depend on ``at``, the time of the house; entries and timers on ``settle(at)``.
        ``look=False`` omits the observation from an action's result, for callers that fetch it separately.
        """
        now = self.settle(at) if at < self.record.at or self.ahead_ms or not self.timers.idle else at
        try:
            member, command, checked, why, wrapped, kept = self._admit(who, name, args, at, key, via, credential)
            if kept is not None:
                return self.reply(member, command, kept.result, look, wrapped)
            if not command.records:
                return self._ask(member, command, checked, now)
            before = self.record.seq
            named = command.on_wire(checked) if command.wire_names else checked
            missed = self._missed(member) if member.timeouts or member.moves_by_bot else ""
            result = self._write(now, command, who, named, checked, why, key, via)
            try:
                reply = self.reply(member, command, result, look, wrapped)
                return _with_missed(reply, missed) if missed else reply
            except WorldInterrupted:
                raise
            except BaseException as bug:  # if the world cannot be observed, the action is rolled back
                raise self._crashed(bug, self.record.seq - before) from bug
        except CohabitError as wrong:
            self._refused(who, name, at, wrong)
            if isinstance(wrong, WORLD_REFUSALS) and self._acts_blindly(who, name, args):
                raise GameRejected(BLIND) from None
            raise
        except WorldInterrupted:
            raise
        except BaseException as bug:  # also SystemExit and KeyboardInterrupt: a world must not stop the server
            crash = self._crashed(bug)
            self._refused(who, name, at, crash)
            raise crash from bug

    def admit(
        self, who: str, name: str, args: Any, at: int, key: str | None = None, via: str | None = None,
        credential: Credential | None = None,
    ) -> Admitted:  # fmt: skip
        """Resolve and authorize a call, then validate its arguments and scope."""
        return Admitted(*self._admit(who, name, args, at, key, via, credential))

    def _admit(
        self, who: str, name: str, args: Any, at: int, key: str | None, via: str | None, credential: Credential | None
    ) -> tuple[Member, Command, dict[str, Any], str | None, bool, KeptReply | None]:
        """The fields of ``Admitted`` as a tuple, so that ``call`` need not create the object."""
        member = self.state.members.get(who)
        if member is None:
            raise Unauthorized("you are not a member of this room")
        if credential is not None:  # checked first: a revoked credential gets nothing, not even a stored reply
            decision = by_credential(credential, at)
            if decision.code:
                raise refusal(decision)
        if self.counts_calls:
            self.budget.spend(who, at)
        why, wrapped = None, False
        command = self.commands.get(name)
        if command is None or command.unwrap is not None:
            wrapped = command is not None
            command, args, why = self._resolve(member, command, name, args, at)
        if key is not None and command.records:
            if self.budget.exceeded and self.budget.is_spent(who, at):  # a kept reply is no way around the limit
                raise refusal(self.budget.refusal)
            kept = kept_reply(self.state, member, command, args, key)
            if kept is not None:  # before the decision: after the first call it may be another member's turn
                if command.where == "world":
                    kept = replace(kept, result=msgspec.convert(kept.result, Outcome))
                return member, command, {}, why, wrapped, kept
        decision = decide(command, member, self, at, via)
        if decision.code:
            raise refusal(decision)
        if args and command.where == "world" and (problem := too_large(args)):
            raise TooLarge(f"{command.name}: the arguments are too large: {problem}", command=command.name)
        checked = command.check(args)
        if command.check_here is not None:
            command.check_here(self, member, checked, via)
        if self._has_scope and command.is_action:
            self._check_scope(member, command, checked)
        if self.hooks["refuses_words"] and command.records and command.words is not None:
            self.check_words(member, Words.of(checked, command.words, why, None if command.category == "bus" else at))
        return member, command, checked, why, wrapped, None

    def _resolve(
        self, member: Member, command: Command | None, name: str, args: Any, at: int
    ) -> tuple[Command, Any, str | None]:
        """The command, arguments and reasoning of a call that wraps another command (``act``), or whose command is not
        known by this name. If there is none, it is refused with suggestions."""
        why = None
        if command is not None and command.unwrap is not None:
            name, args, why = command.unwrap(args)
            command = self.commands.by_name.get(name) or self.commands.with_tool_name(name)
        command = command or next((made for made in known_now(self, member) if made.name == name), None)
        if command is not None and command.unwrap is not None:  # it is recorded as another
            name, args, _ = command.unwrap(args)
            command = self.commands.by_name[name]
        if command is None:
            if self.budget.is_spent(member.id, at):  # suggesting similar names is expensive
                raise refusal(self.budget.refusal)
            usable = [made for made in self.commands if by_grant(member, made)]
            command = self.commands.named(name, [*usable, *known_now(self, member)])
        return command, args, why

    def _check_scope(self, member: Member, command: Command, args: Mapping[str, Any]) -> None:
        seat = self.seat_of(member)
        if seat is not None and Capability.ACT_GLOBAL not in member.held:
            reason = self.world.scope(seat, command.name, args)
            if reason:
                raise ScopeViolation(reason)

    def _acts_blindly(self, who: str, name: str, args: Any) -> bool:
        """True for an action of a member who may not see what its seat sees. The reply would show it."""
        command, member = self.commands.get(name), self.state.members.get(who)
        if command is not None and command.unwrap is not None:
            command = self.commands.get(command.unwrap(args)[0])
        return command is not None and member is not None and command.is_action and self.is_blind(member)

    def _refused(self, who: str, name: str, at: int, error: CohabitError) -> None:
        self.audit.refused(at, who, name if name in self.commands else "?", error.code, error.message)

    def _missed(self, member: Member) -> str:
        """What features say that a member missed since its last action. Views say it too, until the next one."""
        if member.played_by_bot:
            return ""
        texts = [self.crash_on_error(feature.missed, self, member) for feature in self.hooks["missed"]]
        return " ".join(filter(None, texts)).replace("\n", " ")

    def _ask(self, member: Member, command: Command, args: Mapping[str, Any], at: int) -> Any:
        if command.where == "room":
            return command.run(Context(self, self.state, member, at), **args)
        return command.run_in(self.world)(self.eye_of(member, command), **args)

    def reply(self, member: Member, command: Command, result: Any, look: bool, wrapped: bool) -> Any:
        """The reply to a call. For an action, adds the observation that the member may see."""
        if command.where != "world":
            return result
        outcome: Outcome = result
        length = len(outcome.message) + len(outcome.public)
        if outcome.told:
            length += sum(len(told.text) for told in outcome.told)
        if length > MAX_VIEW_TEXT:
            raise ValueError(f"the texts of an outcome must have at most {MAX_VIEW_TEXT:,} characters in all")
        eye = self._eyes.get(member.id) or self.eye(member)
        if (eye is None or eye.sees == "public") and self.is_blind(member):
            return ActionResult(outcome.success, "Done." if outcome.success else BLIND, pending=outcome.pending)
        if command.result is not None and not wrapped:
            return outcome.data
        over = self._is_over if self._is_over is not None else self.is_over()  # known after an action
        seen, shown, to_move, message = None, "", [], outcome.message
        if look and outcome.with_view:
            if eye is not None:
                seen, shown = self._observation_after(member, eye)
            if self._takes_turns or self.state.turn_based:
                to_move = self.turn().shown
            for feature in self.hooks["reply_note"]:
                if ended := feature.reply_note(self, member):
                    message, to_move = f"{message} {ended}".lstrip(), []
        return ActionResult(
            outcome.success, message, outcome.reward, [*outcome.achievements], over, seen, outcome.data,
            to_move, shown, outcome.pending,
        )  # fmt: skip

    def _observation_after(self, member: Member, eye: Eye) -> tuple[Observation | None, str]:
        """What a member sees after its action. A long observation has an id, so that the next view can say only what
        has changed."""
        seen = self._observe(eye)
        if len(seen.text) > MAX_VIEW_TEXT:
            return None, ""  # the action is done; `view` says what is wrong
        if seen.step < 0:
            raise ValueError(f"the step of an observation must be at least 0, not {seen.step}")
        if LONG_VIEW <= len(seen.text) <= MAX_AFTER_ACTION and not member.played_by_bot:
            return seen, self.shown.add(member.id, seen.to_text(), seen, self.record.seq)
        return seen, ""

    # -- system entries and turns ------------------------------------------------------------------
    def settle(self, at: int) -> int:
        """Apply everything due by ``at``. Returns the time of the record, which never goes backwards: if the clock of
        the house was set back, the record continues from its last entry."""
        now = max(at + self.ahead_ms, self.record.at)
        if not self.timers.idle:
            before, times = None, 0
            while (due := self.timers.first(self.state, self._dues)) is not None and due[0] <= now:
                times = times + 1 if due == before else 0
                if times == MAX_TIMES_DUE:
                    raise Quarantined(f"the system entry {due[1]!r} was applied {times} times and is still due")
                self.system(due[1], due[2], at)
                before = due
        return now

    def system(self, do: str, args: Mapping[str, Any], at: int) -> Any:
        """Record a system entry: ticks, presence, a timeout."""
        command, now = self.commands.system[do], max(at + self.ahead_ms, self.record.at)
        return self.crash_on_bug(self._write, now, command, None, args, command.check(args))

    def next_deadline(self) -> int | None:
        """The time at which ``settle`` next has something to do, on the clock of the house."""
        due = None if self.timers.idle else self.timers.first(self.state, self._dues)
        return None if due is None else due[0] - self.ahead_ms


def _with_missed(reply: Any, missed: str) -> Any:
    """The reply to an action, or to the end of a turn, with this text first."""
    if isinstance(reply, ActionResult):
        return replace(reply, message=f"{missed} {reply.message}".rstrip())
    return replace(reply, note=f"{missed} {reply.note}".rstrip()) if isinstance(reply, TurnAdvanced) else reply
