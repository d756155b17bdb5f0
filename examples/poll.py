"""Polls: a feature of rooms in one file. A member asks a question, the others vote, and the result is told at the end.

    cohabit up nim --features examples/poll.py

Everything here is recorded: the room has the same polls after a restart, and in a replay.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import Busy, UnknownAsset
from cohabit.features import (
    BaseRoom,
    Capability,
    Context,
    Due,
    Feature,
    Member,
    Slice,
    command,
    one_line,
    system_entry,
)

OPEN_AT_ONCE = 5

Text = Annotated[str, Meta(min_length=1, max_length=80)]


# -- state ---------------------------------------------------------------------------------------
class Poll(Struct):
    question: str
    choices: list[str]
    ends_at: int  # milliseconds, on the clock of the room
    votes: dict[str, int] = {}  # by the id of the member: the number of its choice


class Polls(Struct, omit_defaults=True):
    """Of a room."""

    open: dict[str, Poll] = {}


class Asked(Struct, omit_defaults=True):
    """Of a member."""

    polls: int = 0


POLLS = Slice("poll", Polls)
ASKED = Slice("poll", Asked)


# -- commands -------------------------------------------------------------------------------------
class Result(Struct):
    question: str
    votes: dict[str, int]  # by choice


class OpenPolls(Struct):
    polls: dict[str, Result]


@command(
    category="meta", needs=Capability.SEND_MESSAGE, records=True, listed=True, hint="asks everybody a question.",
    words=("question",),  # not the choices, which votes name: they stay when its member deletes its data
)  # fmt: skip
def start_poll(
    ctx: Context,
    question: Text,
    choices: Annotated[list[Text], Meta(min_length=2, max_length=8)],
    seconds: Annotated[int, Meta(ge=10, le=86_400)] = 60,
) -> str:
    """Ask everybody in the room a question. Returns the id of the poll."""
    if len(POLLS.read(ctx.state).open) >= OPEN_AT_ONCE:
        raise Busy("there are too many polls already; wait until one has ended")
    mine = ASKED.change(ctx.member)
    mine.polls += 1
    poll = f"{ctx.member.id}-{mine.polls}"
    POLLS.change(ctx.state).open[poll] = Poll(question, choices, ctx.at + seconds * 1000)
    ctx.tell(
        f"{ctx.member.handle} asks: {one_line(question)} (`vote` in poll {poll}: {', '.join(map(one_line, choices))})"
    )
    return poll


def _may_vote(room: BaseRoom, member: Member) -> bool:
    return bool(POLLS.read(room.state).open)


@command(category="meta", needs=Capability.SEND_MESSAGE, records=True, listed_if=_may_vote)
def vote(ctx: Context, poll: str, choice: str) -> Result:
    """Vote in a poll, or change your vote."""
    found = POLLS.read(ctx.state).open.get(poll)
    if found is None:
        raise UnknownAsset(f"there is no open poll {poll[:40]!r}; `polls` lists them")
    if choice not in found.choices:
        raise UnknownAsset(f"the choices of this poll are: {', '.join(found.choices)}")
    POLLS.change(ctx.state).open[poll].votes[ctx.member.id] = found.choices.index(choice)
    return _result(found)


@command(category="meta", needs=Capability.WATCH)
def polls(ctx: Context) -> OpenPolls:
    """The open polls, and the votes so far."""
    return OpenPolls({name: _result(poll) for name, poll in POLLS.read(ctx.state).open.items()})


@system_entry()
def poll_ended(ctx: Context, poll: str) -> None:
    """The time of a poll is over."""
    result = _result(POLLS.change(ctx.state).open.pop(poll))
    votes = ", ".join(f"{one_line(choice)}: {count}" for choice, count in result.votes.items())
    ctx.tell(f"The poll {one_line(result.question)!r} has ended: {votes}")


def _result(poll: Poll) -> Result:
    counted = Counter(poll.votes.values())
    return Result(poll.question, {choice: counted[number] for number, choice in enumerate(poll.choices)})


# -- the feature ----------------------------------------------------------------------------------
class Polling(Feature):
    name = "poll"
    room_slice = POLLS
    member_slice = ASKED

    def follow(self, ctx: Context) -> None:
        """The votes of members who have left do not count."""
        for poll in POLLS.change(ctx.state).open.values():
            for gone in [member for member in poll.votes if member not in ctx.state.members]:
                del poll.votes[gone]

    def due(self, room: BaseRoom) -> Iterator[Due]:
        for name, poll in POLLS.read(room.state).open.items():
            yield poll.ends_at, "poll_ended", {"poll": name}

    def after_downtime(self, room: BaseRoom, gap: int) -> None:
        """A closed house does not shorten a poll."""
        for poll in POLLS.change(room.state).open.values():
            poll.ends_at += gap

    def view_lines(self, room: BaseRoom, member: Member) -> str:
        """The polls in which a member has not voted."""
        return "\n".join(
            f"Poll {name}: {one_line(poll.question)!r} (`vote`: {', '.join(map(one_line, poll.choices))})"
            for name, poll in POLLS.read(room.state).open.items()
            if member.id not in poll.votes and Capability.SEND_MESSAGE in member.held
        )
