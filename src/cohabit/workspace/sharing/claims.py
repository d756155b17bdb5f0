"""Claiming and releasing inbox items. The remote decides, so two agents never both have one.

A claim is a commit directly on top of the remote's. The remote accepts it only if nothing was pushed in between;
otherwise it is made again. Commits and uncommitted changes of this clone are not part of it.
"""

import time
from collections.abc import Callable
from typing import Annotated

from cohabit.errors import BadArgs, CohabitError, Conflict, UnknownAsset, Unreachable
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import commits, objects, refs
from cohabit.workspace.clone.objects import Entry
from cohabit.workspace.formats import INBOX
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import ID, Item
from cohabit.workspace.formats.quoting import listed
from cohabit.workspace.sharing import advance, origin, publish
from cohabit.workspace.sharing.fairness import PUSH_SECONDS, backoff
from cohabit.workspace.workspace import Workspace

ItemId = Annotated[str, "an open item, such as INB-014"]


def claim(ws: Workspace, id_: ItemId) -> Answer:
    """Claim an open inbox item, so that no other agent works on it; shared at once. Fails if another agent has it."""
    agent_id = ws.identity.agent_id
    item, rest = _change(ws, id_, lambda inbox, id_: inbox.claim(id_, agent_id, ws.now()), "Claim")
    assert item.claim is not None
    return {"id": item.id, "title": item.title, "claimed_at": item.claim.at, "by": item.claim.by} | rest


def release(ws: Workspace, id_: ItemId) -> Answer:
    """Release an inbox item that you claimed; shared at once."""
    agent_id = ws.identity.agent_id
    item, rest = _change(ws, id_, lambda inbox, id_: inbox.release(id_, agent_id), "Release")
    return {"id": item.id, "title": item.title, "released": True} | rest


def _change(ws: Workspace, id_: str, change: Callable[[Inbox, str], Inbox], verb: str) -> tuple[Item, Answer]:
    """Apply a change to the remote's inbox. Returns the item after it, and further fields for the answer."""
    key = _key(ws, id_)
    deadline, losses, unanswered = time.monotonic() + PUSH_SECONDS, 0, 0
    while True:
        began = time.monotonic()
        theirs = origin.fetch(ws)
        inbox = _inbox(ws, theirs)
        found = _find(inbox, key, id_)
        if sum(other.open and other.id == found.id for other in inbox.items) > 1:
            raise Conflict(
                f"two open items have the id {found.id} in the shared inbox; call repair, which gives one of them a "
                "new id"
            )
        after = change(inbox, found.id)
        item = next(item for item in after.items if item.key == found.key)
        if after.text == inbox.text:
            return item, _update_clone(ws, str(theirs))
        commit = _commit(ws, str(theirs), after.text, f"{verb} {item.id}")
        try:
            pushed = origin.push(ws, commit, theirs)
        except Unreachable as error:
            unanswered += 1
            if unanswered == origin.MAX_ATTEMPTS:
                raise Unreachable(f"{error.message}; the change may have been made: call again to find out") from None
            continue  # the next fetch shows whether it was accepted
        if pushed.outcome == "accepted":
            return item, _update_clone(ws, commit)
        if pushed.outcome == "refused":
            raise Conflict(f"the remote refused the change: {pushed.reason}")
        if time.monotonic() > deadline:
            raise Conflict(f"others kept pushing at the same time, so {id_} was not changed; call again")
        losses += 1
        time.sleep(backoff(losses, time.monotonic() - began, deadline - time.monotonic()))


def _key(ws: Workspace, id_: str) -> str | None:
    """The key of the item with this id in this clone, because it may have another id on the remote. An item that is not
    shared yet is pushed first."""
    if not ID.fullmatch(id_):
        raise BadArgs(f"{id_[:80]!r} is not the id of an item; ids look like INB-014, and inbox_list has them")
    here = Inbox.parse(ws.tree.text(INBOX))
    item = next((item for item in here.items if item.id == id_), None)
    if item is None:
        return None
    if not _has_item(ws, refs.upstream(ws), item.key):
        head = refs.head(ws)
        if head is None or not _has_item(ws, head, item.key):
            raise Conflict(f"{id_} is not shared yet: add inbox.md, commit and push, then call again")
        answer = publish.push(ws)
        if "error" in answer:
            raise Conflict(f"{id_} is not shared yet, and push says: {answer.get('message') or answer.get('reason')}")
    return item.key


def _has_item(ws: Workspace, commit: str | None, key: str) -> bool:
    return commit is not None and any(item.key == key for item in _inbox(ws, commit).items)


def _inbox(ws: Workspace, commit: str | None) -> Inbox:
    return Inbox.parse(objects.text_at(ws, commit, INBOX))


def _find(inbox: Inbox, key: str | None, id_: str) -> Item:
    for item in inbox.items:
        if (item.key == key) if key is not None else (item.id == id_):
            return item
    if key is not None:
        raise UnknownAsset(f"{id_} is no longer in the remote's inbox; call sync and check again")
    inbox.find(id_)  # raises an error that suggests similar ids
    raise BadArgs(f"there is no item {id_}")


def _commit(ws: Workspace, onto: str, text: str, message: str) -> str:
    entry = Entry("100644", objects.write_text(ws, text))
    tree = objects.with_entries(ws, f"{onto}^{{tree}}", {INBOX: entry})
    return commits.commit_tree(ws, tree, [onto], message)


def _update_clone(ws: Workspace, theirs: str) -> Answer:
    """Bring the change into this clone. If that is not possible, a note says so: the remote has the change anyway."""
    try:
        integration, move = publish.to_commit(ws, theirs)
        if integration.commit is None:
            return {"note": "shared; this clone is not updated yet because of a conflict: call push"}
        if move is None:
            return {}
        if move.blocking:
            return {
                "note": f"shared; this clone is not updated because of uncommitted changes: {listed(move.blocking)}"
            }
        advance.carry_out(ws, move)
    except CohabitError as error:
        return {"note": f"shared; this clone is not updated yet: {error.message}"}
    renumbered = [*integration.renumbered, *move.renumbered]
    return {"renumbered": [{"title": r.title, "from": r.old, "to": r.new} for r in renumbered]} if renumbered else {}
