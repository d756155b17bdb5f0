"""Taking an inbox item, and giving it back: decided by the remote, so two agents never both have one.

The claim is a commit right on top of what the remote has. The remote takes it only if nothing came in between, else
it is made again on top of that. What this clone has committed or not committed is not part of it.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from cohabit.errors import BadArgs, CohabitError, Conflict, UnknownAsset, Unreachable
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import commits, objects, refs
from cohabit.workspace.clone.objects import Entry
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import ID, Item
from cohabit.workspace.formats.paths import INBOX
from cohabit.workspace.sharing import advance, integrate, origin, publish, route

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace


def claim(ws: "Workspace", id_: str) -> Answer:
    """Raises Conflict, which says who was faster."""
    who = ws.who.agent_id
    item, rest = _changed(ws, id_, lambda inbox, id_: inbox.claim(id_, who, ws.now()), "Claim")
    assert item.claim is not None
    return {"id": item.id, "title": item.title, "claimed_at": item.claim.at, "by": item.claim.by} | rest


def release(ws: "Workspace", id_: str) -> Answer:
    """Give back what this agent claimed."""
    who = ws.who.agent_id
    item, rest = _changed(ws, id_, lambda inbox, id_: inbox.release(id_, who), "Release")
    return {"id": item.id, "title": item.title, "released": True} | rest


def _changed(ws: "Workspace", id_: str, change: Callable[[Inbox, str], Inbox], verb: str) -> tuple[Item, Answer]:
    """The item after the change, as the remote has it, and what else there is to tell."""
    key = _meant(ws, id_)
    deadline, losses, broken = time.monotonic() + publish.SECONDS, 0, 0
    while True:
        began = time.monotonic()
        theirs = origin.fetch(ws)
        inbox = _inbox(ws, theirs)
        found = _found(ws, inbox, key, id_)
        if sum(other.open and other.id == found.id for other in inbox.items) > 1:
            raise Conflict(f"two open items are called {found.id} in the shared inbox; give one another number first")
        after = change(inbox, found.id)
        item = next(item for item in after.items if item.key == found.key)
        if after.text == inbox.text:
            return item, _moved_on(ws, str(theirs))
        commit = _commit(ws, str(theirs), after.text, f"{verb} {item.id}")
        try:
            pushed = origin.push(ws, commit, theirs)
        except Unreachable as wrong:
            broken += 1
            if broken == origin.TRIES:
                raise Unreachable(f"{wrong.message}; it may have been taken: call again, which tells") from None
            continue  # the next fetch tells
        if pushed.how == "taken":
            return item, _moved_on(ws, commit)
        if pushed.how == "refused":
            raise Conflict(f"the remote refused the change: {pushed.reason}")
        if time.monotonic() > deadline:
            raise Conflict(f"others kept pushing at the same time, so {id_} was not changed; call again")
        losses += 1
        time.sleep(publish.pause_after(losses, time.monotonic() - began, deadline - time.monotonic()))


def _meant(ws: "Workspace", id_: str) -> str | None:
    """The key of the item that this clone shows under the id: the remote may know it by another number."""
    if not ID.fullmatch(id_):
        raise BadArgs(f"{id_[:80]!r} is no id of an item; they look like INB-014, and inbox_list has them")
    here = Inbox.parse(ws.tree.text(INBOX) or "")
    item = next((item for item in here.items if item.id == id_), None)
    if item is None:
        return None
    if not _has(ws, refs.upstream(ws), item.key):
        head = refs.head(ws)
        if head is None or not _has(ws, head, item.key):
            raise Conflict(f"{id_} is not shared yet: add inbox.md, commit and push, then call again")
        answer = publish.push(ws)
        if "error" in answer:
            raise Conflict(f"{id_} is not shared yet, and push says: {answer.get('message') or answer.get('reason')}")
    return item.key


def _has(ws: "Workspace", commit: str | None, key: str) -> bool:
    return commit is not None and any(item.key == key for item in _inbox(ws, commit).items)


def _inbox(ws: "Workspace", commit: str | None) -> Inbox:
    name = f"{commit}:{INBOX}"
    return Inbox.parse(objects.texts(ws, [name]).get(name, "") if commit else "")


def _found(ws: "Workspace", inbox: Inbox, key: str | None, id_: str) -> Item:
    for item in inbox.items:
        if (item.key == key) if key is not None else (item.id == id_):
            return item
    if key is not None:
        raise UnknownAsset(f"{id_} is not in the inbox of the remote any more; call sync and look again")
    inbox.find(id_)  # says which id may have been meant
    raise BadArgs(f"there is no item {id_}")


def _commit(ws: "Workspace", onto: str, text: str, message: str) -> str:
    entry = Entry("100644", objects.write_text(ws, text))
    tree = objects.with_entries(ws, f"{onto}^{{tree}}", {INBOX: entry})
    return commits.commit_tree(ws, tree, [onto], message)


def _moved_on(ws: "Workspace", theirs: str) -> Answer:
    """Bring the change into this clone as well. What stands in the way of that is told: the remote has it anyway."""
    ours = refs.head(ws)
    try:
        ahead, behind = integrate.apart(ws, ours, theirs)
        if not behind:
            return {}
        joined = integrate.Joined(theirs)
        if ahead and ours is not None:
            joined = integrate.join(ws, ours, theirs, f"Merge of {refs.on_branch(ws)}")
        if joined.commit is None:
            return {"note": "shared; this clone could not take it in yet, because of a conflict: call push"}
        move = route.plan(ws, ours, joined.commit, joined.base, joined.mended)
        if move.in_the_way:
            return {"note": f"shared; uncommitted changes stand in the way here: {', '.join(move.in_the_way[:5])}"}
        advance.carry_out(ws, move)
    except CohabitError as wrong:
        return {"note": f"shared; this clone could not take it in yet: {wrong.message}"}
    renumbered = [*joined.renumbered, *move.renumbered]
    return {"renumbered": [{"title": r.title, "from": r.old, "to": r.new} for r in renumbered]} if renumbered else {}
