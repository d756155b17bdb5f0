"""Tokens that are not stored, such as that of the operator, are valid in all houses of a cluster, as long as the house
runs that has made them.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs

from cohabit.errors import CohabitError
from cohabit.house.calls.across import Nodes, question
from cohabit.house.calls.context import Services
from cohabit.house.house import House
from cohabit.house.nodes.replicas import Replicas
from cohabit.house.store.cluster_contract import Change
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import HOUSE_AWAY
from cohabit.model.identity import Credential, Identity

log = logging.getLogger("cohabit")
TELL_S = 3.0
"""The time to wait for a house. One that is paused takes connections, and does not answer."""


class TemporaryTokens:
    """In the front of a house of a cluster. Only the hashes of tokens leave the house."""

    def __init__(self, house: House, replicas: Replicas, place: str) -> None:
        self._house, self._replicas, self._place = house, replicas, place
        self._of_others: dict[str, list[Credential]] = {}  # by place
        self._told: dict[str, set[bytes]] = {}  # by place: the hashes of ours that it knows
        house.services.own[TemporaryTokens] = self

    async def share(self, fronts: Mapping[str, str]) -> None:
        """Tell these fronts, by place, what they do not know, and ask those that are new. Those of other places are
        gone, and so are theirs. One that was only cut off for a while does not tell its tokens again by itself."""
        for place in [place for place in self._of_others if place not in fronts]:
            self._end(self._of_others.pop(place))
        self._told = {place: told for place, told in self._told.items() if place in fronts}
        nodes, made = self._house.services.own.get(Nodes), self.own()
        hashes = {credential.hash for _, credential in made}
        if nodes is not None:
            missing = {place: front for place, front in fronts.items() if self._told.get(place, set()) != hashes}
            unknown = {place: front for place, front in fronts.items() if place not in self._of_others}
            await asyncio.gather(
                *(self._tell(nodes, place, front, made) for place, front in missing.items()),
                *(self._ask(nodes, place, front) for place, front in unknown.items()),
            )

    async def _tell(self, nodes: Nodes, place: str, front: str, made: list[tuple[Identity, Credential]]) -> None:
        given = {"place": self._place, "made": msgspec.to_builtins(made)}
        try:
            async with asyncio.timeout(TELL_S):
                await nodes.ask(front, know_temporary_tokens.__name__, given)
        except (CohabitError, TimeoutError) as away:  # again at the next survey
            log.debug("a house does not know temporary tokens yet: %s", away)
        else:
            self._told[place] = {credential.hash for _, credential in made}

    async def _ask(self, nodes: Nodes, place: str, front: str) -> None:
        try:
            async with asyncio.timeout(TELL_S):
                made = await nodes.ask(front, temporary_tokens.__name__, {})
        except (CohabitError, TimeoutError) as away:  # again at the next survey
            log.debug("the temporary tokens of a house are not known yet: %s", away)
        else:
            self.know(place, _read(made))

    def own(self) -> list[tuple[Identity, Credential]]:
        """Those that this house has made."""
        others = {one.hash for known in self._of_others.values() for one in known}
        return [made for made in self._house.identities.temporaries() if made[1].hash not in others]

    def know(self, place: str, made: list[tuple[Identity, Credential]]) -> None:
        """Take over the tokens of another house, all of them. If some of what it had made is missing, it was killed,
        and has started again before its lease ended: then it knows nothing of what it was told."""
        hashes = {credential.hash for _, credential in made}
        gone = [one for one in self._of_others.get(place, ()) if one.hash not in hashes]
        self._of_others[place] = [credential for _, credential in made]
        if gone:
            self._end(gone)
            self._told.pop(place, None)
        self._house.identities.put_temporaries(made)
        self._house.identities.on_temporary()

    def _end(self, credentials: Sequence[Credential]) -> None:
        ended = [structs.replace(one, revoked=True, expires_at=HOUSE_AWAY) for one in credentials if not one.revoked]
        self._replicas.changed_elsewhere([Change(Write(credentials=ended))])


@question
async def know_temporary_tokens(house: Services, place: str, made: Any) -> None:
    """Another house says which tokens it has made."""
    house.need(TemporaryTokens).know(place, _read(made))


@question
async def temporary_tokens(house: Services) -> Any:
    """Which tokens this house has made."""
    return msgspec.to_builtins(house.need(TemporaryTokens).own())


def _read(made: Any) -> list[tuple[Identity, Credential]]:
    return msgspec.convert(made, list[tuple[Identity, Credential]])
