"""A workspace as a room: a git repository that members share as a drop-board, each in a clone of its own.

The tools are declared in ``cohabit.workspace``; here each becomes an action or a question of the room. What git does,
the house does elsewhere, in threads; see ``house/desks.py``. This part knows what the record told.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.workspace.clone import remotes
from cohabit.workspace.offered import offered
from cohabit.workspace.tool import Tool
from cohabit.world import (
    Ask,
    Eye,
    Observation,
    Outcome,
    Plan,
    Range,
    RemoteWorld,
    Seat,
    SeatId,
    Sent,
    Sight,
    Told,
    WorldSpec,
    action,
    query,
)  # fmt: skip

LONGEST_WORDS = 300
"""Of a journal entry or a title, in the events of the room."""
LONGEST_ANSWER = 1_000
"""Characters of an answer that go on record whole; of a longer one only its short parts."""
SHARED_AT_ONCE = ("claim", "release")
"""What everybody in the room is told of when it is done. Of the rest they hear when it was pushed."""


class Entry(Struct, frozen=True):
    """A line of the journal or the inbox, for the events: ``here`` says that a member of this room wrote it."""

    by: str
    summary: str
    here: bool


class Seen(Struct, frozen=True, omit_defaults=True):
    """The shared board as it was last seen: its commit, how much is on it, and the end of its journal. On record also
    what was new: in the journal, in the inbox, and how much more."""

    head: str = ""
    open: int = 0
    entries: int = 0
    latest: tuple[Entry, ...] = ()
    journal: tuple[Entry, ...] = ()
    inbox: tuple[Entry, ...] = ()
    more: int = 0


class Workspace(RemoteWorld):
    """A workspace. A git repository that several agents and people share as a drop-board: journal, inbox, research,
    drafts, comments, decisions.

    Everybody who holds a desk works in a clone of its own: read and write files there, then `add`, `commit` and
    `push` (or `sync`). Others see what was pushed. On entry: `pull`, `whats_new`, then the inbox and the last journal
    entries. On exit: `journal_append`, `inbox_add` or `inbox_close`, and push.

    Who holds no desk sees the board as it was last pushed. `board` shows it at a glance, and `board_read` a file of it.
    """

    spec = WorldSpec(name="workspace", title="Workspace", seats=(0, 64), pace="step", quick=True)
    apart = True
    moving = ("push", "sync", "claim", "release")
    way = "start it with `cohabit workspace serve` or `cohabit serve`"

    def __init__(self, remote: str | None = None, desks: int = 8) -> None:
        """``remote``: the shared repository; left out, the house keeps one itself. ``desks``: how many can work."""
        if not 1 <= desks <= 64:
            raise BadArgs("desks: from 1 to 64")
        self.remote = _without_secrets(remotes.checked(remote)) if remote is not None else None
        self.desks = desks

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.now = Seen()
        self.about: dict[str, str] = {}
        self.reachable = False
        self.sent: dict[str, Sent] = {}
        self.places = max(self.desks, len(seats))

    # -- what is on its way: one action of each member ---------------------------------------------
    def left(self, sent: Sent) -> None:
        self.sent[sent.by] = sent

    def came_back(self, by: str | None) -> Sent:
        assert by is not None
        return self.sent.pop(by)

    def out(self) -> Sequence[Sent]:
        return list(self.sent.values())

    def kept(self, sent: Ask, answer: Mapping[str, Any]) -> dict[str, Any]:
        return {"said": _said(sent, answer), "for_all": _is_for_all(sent.name, answer), "answer": _short(answer)}

    def answered(self, sent: Sent, answer: Mapping[str, Any]) -> Outcome:
        told = (Told(f"{sent.by}: {answer['said']}"),) if answer["for_all"] else ()
        return Outcome(answer["said"], told=told, data=answer["answer"])

    # -- the shared board --------------------------------------------------------------------------
    def look(self) -> Plan:
        found = msgspec.convert((yield Ask("look", {"since": self.now.head})), Seen)
        return None if found == self.now else msgspec.to_builtins(found)

    def seen(self, what: Mapping[str, Any]) -> Sight:
        new = msgspec.convert(what, Seen)
        self.now = msgspec.structs.replace(new, journal=(), inbox=(), more=0)
        told = [*_lines("journal", new.journal), *_lines("inbox", new.inbox)]
        if new.more:
            told.append(f"… and {new.more} more")
        return Sight([Told(line) for line in told])

    def observe(self, eye: Eye) -> Observation:
        now = self.now
        lines = [f"The board has {now.entries} journal entries and {now.open} open items (commit {now.head[:12]})."]
        if not now.head:
            lines = ["The board has not been looked at yet."]
        if not self.reachable:
            lines.append("The shared repository does not answer now; this is how it was.")
        lines += [f'{entry.by} wrote in the journal: "{entry.summary}"' for entry in now.latest]
        status = {"head": now.head, "entries": now.entries, "open": now.open, "reachable": self.reachable}
        return Observation(text="\n".join(lines), status=status)

    # -- desks -------------------------------------------------------------------------------------
    def seats_now(self) -> Sequence[Seat]:
        return [Seat(f"desk-{i + 1}", f"desk {i + 1}") for i in range(self.places)]

    def to_move(self) -> Sequence[SeatId]:
        return ()

    def is_over(self) -> bool:
        return False

    # -- asking ------------------------------------------------------------------------------------
    @query()
    def board(self, eye: Eye) -> Plan:
        """The shared board as it was last pushed: the newest journal entries, the inbox, and which files there are."""
        return (yield Ask("board"))

    @query()
    def board_read(
        self,
        eye: Eye,
        path: Annotated[str, Range(doc="a file of the board, such as drafts/plan.md")],
        offset: Annotated[int, Range(0, doc="where to go on, as the last answer said")] = 0,
    ) -> Plan:
        """A file of the shared board as it was last pushed."""
        return (yield Ask("board_read", {"path": path, "offset": offset}))


# -- the tools of a workspace, as commands of its room ---------------------------------------------
def _as_query(name: str, tool: Tool) -> Callable[..., Plan]:
    def ask(self: Workspace, eye: Eye, **args: Any) -> Plan:
        return (yield Ask(name, {wire: args[field] for field, wire in _names(tool) if field in args}))

    return query(name=name)(_like(ask, tool, Eye))


def _as_action(name: str, tool: Tool) -> Callable[..., Plan]:
    def act(self: Workspace, by: Seat | None, **args: Any) -> Plan:
        yield from ()

    return action(name=name, gives=dict, group="workspace")(_like(act, tool, Seat | None))


def _names(tool: Tool) -> list[tuple[str, str]]:
    return list(zip(tool.args.__struct_fields__, tool.args.__struct_encode_fields__, strict=True))


def _like(method: Callable[..., Plan], tool: Tool, first: Any) -> Callable[..., Plan]:
    """The method with the words and the arguments of the tool."""
    here = list(inspect.signature(method).parameters.values())[:2]
    fields = msgspec.structs.fields(tool.args)
    given = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=_default(f), annotation=f.type)
        for f in fields
    ]
    method.__doc__ = tool.description
    method.__signature__ = inspect.Signature([*here, *given])  # type: ignore[attr-defined]  # functions take attributes
    method.__annotations__ = {here[1].name: first, **{f.name: f.type for f in fields}, "return": dict[str, Any]}
    return method


def _default(field: Any) -> Any:
    if field.default is not msgspec.NODEFAULT:
        return field.default
    return inspect.Parameter.empty if field.required else field.default_factory()


for _name, _tool in offered().items():
    setattr(Workspace, f"do_{_name}", (_as_action if _tool.writes else _as_query)(_name, _tool))


# -- words -----------------------------------------------------------------------------------------
def _lines(where: str, new: Sequence[Entry]) -> Iterator[str]:
    for entry in new:
        yield f"{entry.by}{'' if entry.here else ' (from elsewhere)'}: {where}: {entry.summary}"


def _said(sent: Ask, answer: Mapping[str, Any]) -> str:
    """An action and what came of it, in one line for the events."""
    args, failed = sent.args, answer.get("error")
    if failed:
        return _line(f"{sent.name}: {failed}: {answer.get('message') or answer.get('reason') or ''}")
    if sent.name == "journal_append":
        return _line(f"journal: {args.get('summary')}")
    if sent.name == "inbox_add":
        return _line(f"inbox: {answer.get('id')} for {answer.get('target')}: {args.get('title')}")
    if sent.name == "inbox_close":
        return _line(f"inbox: closed {args.get('id')}: {args.get('resolution')}")
    if sent.name in ("claim", "release"):
        return _line(f"inbox: {'took' if sent.name == 'claim' else 'gave back'} {args.get('id')}")
    if sent.name == "decision_add":
        return _line(f"decision: {args.get('title')}")
    if sent.name in ("push", "sync"):
        moved = [f"{row['from']} is now {row['to']}" for row in answer.get("renumbered", ())]
        return _line("; ".join(["pushed" if _was_pushed(answer) else f"{sent.name}: nothing to push", *moved]))
    about = next((args[key] for key in ("path", "message", "paths", "id") if args.get(key)), "")
    return _line(f"{sent.name.replace('_', ' ')} {', '.join(about[:5]) if isinstance(about, list) else about}")


def _is_for_all(name: str, answer: Mapping[str, Any]) -> bool:
    return not answer.get("error") and (name in SHARED_AT_ONCE or (name in ("push", "sync") and _was_pushed(answer)))


def _was_pushed(answer: Mapping[str, Any]) -> bool:
    return "update" in answer or any(not row.get("alreadyUpdated") for row in answer.get("pushed", ()))


def _line(text: str) -> str:
    """On one line, and not for ever."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_WORDS else f"{flat[: LONGEST_WORDS - 1]}…"


def _short(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What of an answer the record keeps: all of a short one, of a long one what is short in it."""
    if len(msgspec.json.encode(answer)) <= LONGEST_ANSWER:
        return dict(answer)
    plain = {k: v for k, v in answer.items() if isinstance(v, bool | int | float | None) or len(str(v)) <= 100}
    return {**plain, "shortened": True}


def _without_secrets(remote: str) -> str:
    """The address is on record, where every owner of the record reads it."""
    if remotes.shown(remote) != remote:
        raise BadArgs(
            "the remote's address has a name or password in it, and it would be on record; leave it out, and let git "
            "find it (a credential helper, or an ssh key)"
        )
    return remote
