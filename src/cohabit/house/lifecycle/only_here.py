"""The identities that exist for one room only. They are deleted with it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from cohabit.house.calls.context import Services
from cohabit.house.store.contract import Store
from cohabit.house.store.identities import OPERATOR
from cohabit.house.threads import run_in_thread
from cohabit.model.identity import Credential, Identity


@asynccontextmanager
async def identities_only_in(house: Services, room: str) -> AsyncIterator[list[str]]:
    """The identities to delete together with a room. They are forgotten afterwards, unless it could not be deleted.
    Meanwhile nobody gets access to another room."""
    async with house.exclusive:
        known = house.identities
        find = partial(_only_in, house.store, room, known.all_credentials(), known.everybody())
        gone = await run_in_thread("the identities of a room", find)
        yield gone
        for identity in gone:
            known.forget(identity)
        for forgotten in house.rooms.on_forgotten:
            forgotten(gone)


def _only_in(store: Store, room: str, credentials: Sequence[Credential], everybody: Sequence[Identity]) -> list[str]:
    """Those that have tokens for this room only, also ended ones; of which nothing is kept elsewhere; and that own no
    identity that stays. Runs on a thread."""
    elsewhere = {each.identity for each in credentials if each.room != room}
    here = {each.identity for each in credentials if each.room == room} - elsewhere
    gone = {each.id for each in everybody if each.id in here and _may_go(each) and not _is_kept(store, room, each.id)}
    while owners := gone & {each.owner for each in everybody if each.id not in gone}:
        gone -= owners
    return sorted(gone)


def _may_go(who: Identity) -> bool:
    """False for hosts of the house, one that is being deleted, which has its own order, and an agent key that is barred
    from rooms."""
    return who.id != OPERATOR.id and not who.host and who.forgotten is None and not who.barred


def _is_kept(store: Store, room: str, identity: str) -> bool:
    """True if another record names an identity, such as that of the house, or the Nexus knows it."""
    return store.rooms_naming(identity) not in ([], [room]) or store.profile(identity) is not None
