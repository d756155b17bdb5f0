"""A workspace as a room: a git repository that members share as a message board, each in a clone of its own.

The tools are declared in ``cohabit.workspace``; here each becomes an action or a query of the room. Git itself runs in
the connector; this part knows what the record says.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.remote import Ask, Plan, Polled, Sent, SeparateWorld
from cohabit.room.state import handle_of
from cohabit.workspace.clone import remotes
from cohabit.workspace.room import room_tools
from cohabit.workspace.tool import Tool
from cohabit.world import ActionSpec, Eye, Observation, Outcome, Range, Seat, SeatId, Told, WorldSpec, query

MAX_EVENT_LENGTH = 300
"""Characters of a journal entry, a title or an action in the events of the room."""
MAX_RECORDED_ANSWER = 1_000
"""Characters of an answer that is recorded whole; of a longer one only the short parts are."""
PUBLIC_ACTIONS = ("claim", "release")
"""Actions that everybody in the room is told of at once. The others are told when their result is pushed."""
MAX_WRITERS = 64


class BoardLine(Struct, frozen=True, omit_defaults=True):
    """A line of the journal or the inbox, for the events; ``here``: it names a member of this room; not ``verified``:
    somebody else committed it."""

    by: str
    summary: str
    here: bool
    verified: bool = True

    @property
    def author(self) -> str:
        return self.by if self.verified else f"{self.by} (not verified)"


class BoardState(Struct, frozen=True, omit_defaults=True):
    """The shared board as it was last polled: its commit, how much is on it, and the end of its journal.

    The record also has what was new: in the journal, in the inbox, and how much more.
    """

    head: str = ""
    open: int = 0
    entries: int = 0
    latest: tuple[BoardLine, ...] = ()
    journal: tuple[BoardLine, ...] = ()
    inbox: tuple[BoardLine, ...] = ()
    more: int = 0


class Workspace(SeparateWorld):
    """A workspace. A git repository that several agents and people share as a message board: journal, inbox, research,
    drafts, comments, decisions.

    Every member with a seat works in a clone of its own: read and write files there, then `add`, `commit` and `push`
    (or `sync`). Others see what was pushed. When you begin: `pull`, `whats_new`, then the inbox and the last journal
    entries. When you stop: `journal_append`, `inbox_add` or `inbox_close`, and push.

    Members without a seat see the board as it was last pushed. `board` shows it at a glance, `board_read` a file of it.
    """

    # A seat gives a member a clone of its own and shows it nothing of others: changing seats gives nothing away.
    spec = WorldSpec(
        name="workspace", title="Workspace", seats=(0, MAX_WRITERS), open_information=True, quick=True, front_end=None,
    )  # fmt: skip
    connector = "workspace"
    refresh_after = ("push", "sync", "claim", "release")
    how_to_connect = "start it with `cohabit workspace serve` or `cohabit serve`"

    def __init__(self, remote: str | None = None, writers: int = 8) -> None:
        """``remote``: the shared repository; left out, the house keeps one itself. ``writers``: how many seats."""
        if not 1 <= writers <= MAX_WRITERS:
            raise BadArgs(f"writers: from 1 to {MAX_WRITERS}")
        self.remote = _without_secrets(remotes.checked(remote)) if remote is not None else None
        self.writers = writers

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.board_state = BoardState()
        self.about: dict[str, str] = {}
        self.reachable = False
        self.sent: dict[str, Sent] = {}
        self.seat_count = max(self.writers, len(seats))

    def recorded_answer(self, sent: Ask, answer: Mapping[str, Any]) -> dict[str, Any]:
        return {"text": _in_words(sent, answer), "public": _is_public(sent.name, answer), "answer": _shortened(answer)}

    def answered(self, sent: Sent, answer: Mapping[str, Any]) -> Outcome:
        told = (Told(f"{handle_of(sent.by)}: {answer['text']}"),) if answer["public"] else ()
        return Outcome(answer["text"], told=told, data=answer["answer"])

    # -- the shared board --------------------------------------------------------------------------
    def poll(self) -> Plan:
        found = msgspec.convert((yield Ask("poll", {"since": self.board_state.head})), BoardState)
        return None if found == self.board_state else msgspec.to_builtins(found)

    def polled(self, state: Mapping[str, Any]) -> Polled:
        new = msgspec.convert(state, BoardState)
        self.board_state = msgspec.structs.replace(new, journal=(), inbox=(), more=0)
        told = [*_events("journal", new.journal), *_events("inbox", new.inbox)]
        if new.more:
            told.append(f"… and {new.more} more")
        return Polled([Told(line) for line in told])

    def observe(self, eye: Eye) -> Observation:
        now = self.board_state
        lines = [f"The board has {now.entries} journal entries and {now.open} open items (commit {now.head[:12]})."]
        if not now.head:
            lines = ["The board has not been read yet."]
        if not self.reachable:
            lines.append("The shared repository does not answer; this is its last known state.")
        lines += [f'{entry.author} wrote in the journal: "{entry.summary}"' for entry in now.latest]
        status = {"head": now.head, "entries": now.entries, "open": now.open, "reachable": self.reachable}
        return Observation(text="\n".join(lines), status=status)

    # -- seats -------------------------------------------------------------------------------------
    def seats_now(self) -> Sequence[Seat]:
        return [Seat(f"writer-{i + 1}", f"writer {i + 1}") for i in range(self.seat_count)]

    def to_move(self) -> Sequence[SeatId]:
        return ()

    def is_over(self) -> bool:
        return False

    # -- commands ----------------------------------------------------------------------------------
    def actions(self) -> Sequence[ActionSpec]:
        """The queries below, and the tools of a workspace."""
        return [*super().actions(), *(_as_action(name, tool) for name, tool in room_tools().items())]

    @query()
    def board(self, eye: Eye) -> Plan:
        """The shared board as it was last pushed: the newest journal entries, the inbox, and which files there are."""
        return (yield Ask("board"))

    @query(listed=False)  # `read` shows the same to members without a seat
    def board_read(
        self,
        eye: Eye,
        path: Annotated[str, Range(doc="a file of the board, such as drafts/plan.md")],
        offset: Annotated[int, Range(0, doc="where to continue, as the last answer said")] = 0,
    ) -> Plan:
        """A file of the shared board as it was last pushed."""
        return (yield Ask("board_read", {"path": path, "offset": offset}))


# -- the tools of a workspace, as commands of its room ---------------------------------------------
SELDOM_USED = frozenset(
    {
        "abandon", "ack", "claim", "decision_add", "diff", "fetch", "health", "inbox_list", "journal_tail", "log",
        "release", "rename", "repair", "restore", "status", "workspace_archive", "workspace_info",
    }
)  # fmt: skip
"""Tools that the short list leaves out. `act` runs the actions among them, and `rules` describes them."""


OWN_WORDS = frozenset(
    {
        "body", "consequences", "content", "context", "decided_by", "decision", "details", "message", "resolution",
        "summary", "title", "todos",
    }
)  # fmt: skip
OWN_PATHS = (("write", "path"), ("rename", "to"))
"""The texts of a member who writes that others read: arguments, and names of new files."""


def _as_action(name: str, tool: Tool) -> ActionSpec:
    args = msgspec.defstruct(
        name, [], bases=(tool.args,), kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True
    )
    if tool.writes:
        return ActionSpec(
            name=name, run=_ask_nothing, args=args, description=tool.description, group="workspace", needs_seat=False,
            result=dict[str, Any], listed=name not in SELDOM_USED,
            words=tuple(field for field in args.__struct_fields__ if field in OWN_WORDS or (name, field) in OWN_PATHS),
        )  # fmt: skip
    return ActionSpec(
        name=name, run=partial(_ask_tool, name, args), args=args, description=tool.description, changes=False,
        category="read", group="query", needs=("watch",), needs_seat=False, result=dict[str, Any],
        listed=name not in SELDOM_USED,
    )  # fmt: skip


def _ask_nothing(by: Seat | None, **args: Any) -> Plan:
    """The plan of an action: git itself says whether it can be done."""
    yield from ()


def _ask_tool(name: str, args_type: type[Struct], eye: Eye, **args: Any) -> Plan:
    """The plan of a query."""
    return (yield Ask(name, msgspec.to_builtins(args_type(**args))))


# -- events ----------------------------------------------------------------------------------------
def _events(where: str, new: Sequence[BoardLine]) -> Iterator[str]:
    for line in new:
        marks = [
            mark for mark, holds in (("from elsewhere", not line.here), ("not verified", not line.verified)) if holds
        ]
        shown = f" ({', '.join(marks)})" if marks else ""
        yield f"{line.by}{shown}: {where}: {line.summary}"


def _in_words(sent: Ask, answer: Mapping[str, Any]) -> str:
    """An action and its outcome, in one line for the events."""
    args, failed = sent.args, answer.get("error")
    if failed:
        return _one_line(f"{sent.name}: {failed}: {answer.get('message') or answer.get('reason') or ''}")
    if sent.name == "journal_append":
        return _one_line(f"journal: {args.get('summary')}")
    if sent.name == "inbox_add":
        return _one_line(f"inbox: {answer.get('id')} for {answer.get('target')}: {args.get('title')}")
    if sent.name == "inbox_close":
        return _one_line(f"inbox: closed {args.get('id')}: {args.get('resolution')}")
    if sent.name in ("claim", "release"):
        return _one_line(f"inbox: {'claimed' if sent.name == 'claim' else 'released'} {args.get('id')}")
    if sent.name == "decision_add":
        return _one_line(f"decision: {args.get('title')}")
    if sent.name in ("push", "sync"):
        moved = [f"{row['from']} is now {row['to']}" for row in answer.get("renumbered", ())]
        return _one_line("; ".join(["pushed" if _was_pushed(answer) else f"{sent.name}: nothing to push", *moved]))
    about = next((args[key] for key in ("path", "message", "paths", "id") if args.get(key)), "")
    return _one_line(f"{sent.name.replace('_', ' ')} {', '.join(about[:5]) if isinstance(about, list) else about}")


def _is_public(name: str, answer: Mapping[str, Any]) -> bool:
    if answer.get("error"):
        return False
    return name in PUBLIC_ACTIONS or (name in ("push", "sync") and _was_pushed(answer))


def _was_pushed(answer: Mapping[str, Any]) -> bool:
    return "update" in answer or any(not row.get("alreadyUpdated") for row in answer.get("pushed", ()))


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_EVENT_LENGTH else f"{flat[: MAX_EVENT_LENGTH - 1]}…"


def _shortened(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an answer that the record keeps: all of a short one, the short parts of a long one."""
    if len(msgspec.json.encode(answer)) <= MAX_RECORDED_ANSWER:
        return dict(answer)
    plain = {k: v for k, v in answer.items() if isinstance(v, bool | int | float | None) or len(str(v)) <= 100}
    return {**plain, "shortened": True}


def _without_secrets(remote: str) -> str:
    """The address is on record, where every owner of the record reads it."""
    if remotes.shown(remote) != remote:
        raise BadArgs(
            "the remote's address has a name or password in it, and it would be recorded; leave it out, and let git "
            "find it (a credential helper, or an ssh key)"
        )
    return remote
