"""Two rooms that differ by one private call: those who are not told of it get the same bytes in both."""

import re
from contextlib import suppress
from typing import Any

import pytest
from msgspec import json

from cohabit.errors import CohabitError
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, HOST, make_room, open_house, player

OPAQUE = re.compile(r"\b(?:[0-9a-f]{12}|[0-9a-f]{16})\b")
"""Ids, and cursors: every room has its own."""
MEMBERS = [ANN, BOB, player("cat", 2), HOST, {"id": "owl"}]
READS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in ("rooms", "whoami", "session_info", "roster", "view", "observe", "thumbnail")),
    *((name, {}) for name in ("audit", "egress", "agents", "decisions", "requests", "recv_messages", "app_view")),
    *((name, {}) for name in ("capabilities", "entry", "lobby", "invites", "permissions", "reports", "list_saves")),
    ("events", {"last": 100}), ("my_data", {}),
]  # fmt: skip
Call = tuple[str, str, dict[str, Any]]


async def heard(readers: list[str], *calls: Call) -> dict[str, list[str]]:
    """What these members are pushed and read, while others make these calls."""
    async with open_house(clock=(clock := FakeClock())) as house:
        who = await make_room(house, *MEMBERS, partial_intel=True)
        for name in who:
            if name != "cat":
                await who[name]("whoami")
        await clock.advance(1_000)
        pushed = {name: await who[name].reader("") for name in readers if name != "cat"}
        await who["cat"]("whoami")  # it is about to be recorded as connected
        await clock.advance(100)
        for name, command, args in calls:
            with suppress(CohabitError):
                await who[name](command, args)
        found: dict[str, list[str]] = {name: [] for name in readers}
        for wait in (100, 400, 61_000):
            await clock.advance(wait)
            for name in readers:
                for command, args in READS:
                    try:
                        said = json.encode(await who[name](command, args))
                    except CohabitError as refused:
                        said = json.encode(refused.as_wire())
                    found[name].append(f"{command} {args}: {said.decode()}")
        for name, reader in pushed.items():
            found[name] += [frame.decode() for frame in reader.frames]
            reader.task.cancel()
    return {name: _named(texts) for name, texts in found.items()}


def _named(texts: list[str]) -> list[str]:
    """Each id by where it was first."""
    names: dict[str, str] = {}
    return [OPAQUE.sub(lambda found: names.setdefault(found[0], f"<{len(names)}>"), text) for text in texts]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("call", "readers"),
    [
        (("ann", "hide", {"n": 4}), ["bob", "cat", "hostess", "owl"]),
        (("ann", "send_message", {"to": "bob", "content": "psst"}), ["cat", "hostess", "owl"]),
        (("ann", "send_data", {"to": "bob", "data": {"k": 1}}), ["cat", "hostess", "owl"]),
        (("ann", "ask", {"through": "blue"}), ["cat", "owl"]),
        (("ann", "report", {"member": "bob", "reason": "rude"}), ["bob", "cat", "owl"]),
        (("ann", "grant", {"member": "bob", "may": ["read_all"]}), ["bob", "cat", "owl"]),
        (("ann", "egress", {}), ["bob", "cat", "owl"]),
        (("hostess", "invite", {"id": "eve"}), ["ann", "cat", "owl"]),
        (("hostess", "set_entry", {"code": "new"}), ["ann", "cat", "owl"]),
        (("hostess", "export_egress", {}), ["ann", "cat", "owl"]),
    ],
    ids=lambda one: one[1] if isinstance(one, tuple) else "",
)
async def test_those_who_are_not_told_of_a_call_get_the_same_bytes_without_it(call: Call, readers: list[str]) -> None:
    caller: Call = (call[0], "whoami", {})
    quiet = await heard(readers, caller)
    assert all(len(texts) >= 3 * len(READS) for texts in quiet.values())
    assert await heard(readers, caller, call) == quiet
