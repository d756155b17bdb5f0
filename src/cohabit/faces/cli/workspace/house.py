"""``cohabit workspace serve``: a room around a shared repository, so that agents anywhere can work in it."""

import argparse
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cohabit.errors import Conflict
from cohabit.faces.cli.options import settings_of
from cohabit.faces.cli.running import Greeting, run_house
from cohabit.faces.cli.say import UsageError, clean, in_lines
from cohabit.faces.cli.up import Plan, open_room
from cohabit.room.turns import claimed
from cohabit.scenario import AgentSpec, Scenario, check_handle

if TYPE_CHECKING:
    from cohabit.house.house import House

WORLD = "workspace"
MEMBERS = "ann,bob"
"""Who works in a new room, where nobody was named."""
FEWEST_DESKS = 8
"""There are some more desks than members, for whoever is invited later."""


def serve(args: argparse.Namespace) -> int:
    """Make or find the room, say how to come in, and serve until Ctrl-C."""
    plan = plan_of(args)

    async def prepare(house: "House") -> Greeting:
        _must_be_the_same(house, plan)
        greeting = await open_room(house, plan, args)
        found = await _first_words(house, plan)
        missing = list(_invitations(house, plan)) if args.members or args.watchers else []
        return lambda url, beside: [in_lines(found), "", *greeting(url, beside), *_not_yet(missing, plan.room, url)]

    return run_house(settings_of(args), prepare, args.quiet)


def plan_of(args: argparse.Namespace) -> Plan:
    """A room with a desk for each of the members, and with you as its host."""
    workers, watchers = (_names(text or "") for text in (_members(args), args.watchers))
    if len({"you", *workers, *watchers}) <= len(workers) + len(watchers):
        raise UsageError("--members, --watchers: each name once, and none of them `you`: that is the host")
    agents = [
        AgentSpec(id="you", kind="human", role="host"),
        *(AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(workers)),
        *(AgentSpec(id=name, role="agent") for name in watchers),
    ]
    config: dict[str, object] = {"desks": max(FEWEST_DESKS, len(workers) + 2)}
    if args.remote:
        config["remote"] = _address(args.remote)
    return Plan(args.room or WORLD, Scenario(agents=agents, scenario=WORLD, world=WORLD, config=config), WORLD)


def _members(args: argparse.Namespace) -> str:
    return MEMBERS if args.members is None else str(args.members)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        check_handle(name)
    return names


def _address(given: str) -> str:
    """A path of this machine is made whole: the house may be started from another folder next time."""
    if "://" in given or not given.startswith(("/", ".", "~")):
        return given
    return os.path.abspath(Path(given).expanduser())


def _must_be_the_same(house: "House", plan: Plan) -> None:
    host = house.rooms.get(plan.room)
    wanted = plan.scenario.config.get("remote")
    if host is not None and wanted not in (None, host.room.state.config.get("remote")):
        raise Conflict(
            f"there is a room {plan.room} already, around another repository; choose another name with --room"
        )


async def _first_words(house: "House", plan: Plan) -> str:
    from cohabit.house.remote import RemoteHost

    host = house.rooms[plan.room]
    assert isinstance(host, RemoteHost)
    await host.look()
    if host.trouble is not None:
        return f"The shared repository: {host.trouble.message.rstrip('.')}. It is asked again every few seconds."
    where = plan.scenario.config.get("remote") or house.settings.folder / "workspaces" / f"{plan.room}.git"
    return f"The shared repository: {where}"


# -- who is named later ---------------------------------------------------------------------------
def _invitations(house: "House", plan: Plan) -> Iterator[tuple[str, str]]:
    """Who was named and is not in the room, each with what invites them. The host may have shown them the door, so
    it is the host who lets them in."""
    state = house.rooms[plan.room].room.state
    members = state.members.values()
    taken = {m.seat for m in members} | {claimed(state.seats_ever, m.claim) for m in members if m.claim}
    free = (f"auto:{i}" for i, desk in enumerate(state.seats_ever) if desk not in taken)
    for agent in plan.scenario.agents:
        if agent.id not in state.members:
            desk = f" --role player --claim {next(free, 'auto:N')}" if agent.claim else ""
            yield agent.id, f"cohabit invite {shlex.quote(agent.id)}{desk}"


def _not_yet(missing: Sequence[tuple[str, str]], room: str, url: str) -> Iterator[str]:
    if not missing:
        return
    names = ", ".join(clean(name) for name, _ in missing)
    yield f"{names} {'is' if len(missing) == 1 else 'are'} not in this room yet. With the host's token:"
    for _, invite in missing:
        yield f"  COHABIT_TOKEN=… {clean(invite)} --room {room} --url {url}"
    yield ""
