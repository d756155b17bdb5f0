"""``cohabit workspace serve``: a room around a shared repository, so that agents anywhere can work in it."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from cohabit.errors import Conflict
from cohabit.faces.cli.options import settings_of
from cohabit.faces.cli.running import Greeting, run_house
from cohabit.faces.cli.say import UsageError, clean
from cohabit.faces.cli.up import Plan, open_room
from cohabit.room.scenario import AgentSpec, Scenario, check_id

if TYPE_CHECKING:
    from cohabit.house.house import House

WORLD = "workspace"
FEWEST_DESKS = 8
"""There are some more desks than members, for whoever is invited later."""


def serve(args: argparse.Namespace) -> int:
    """Make or find the room, say how to come in, and serve until Ctrl-C."""
    plan = plan_of(args)

    async def prepare(house: "House") -> Greeting:
        _must_be_the_same(house, plan)
        greeting = await open_room(house, plan, args)
        found = await _first_words(house, plan)
        return lambda url, bridge: [clean(found), "", *greeting(url, bridge)]

    return run_house(settings_of(args), prepare, args.quiet)


def plan_of(args: argparse.Namespace) -> Plan:
    """A room with a desk for each of the members, and with you as its host."""
    workers, watchers = (_names(text) for text in (args.members, args.watchers or ""))
    if len({"you", *workers, *watchers}) <= len(workers) + len(watchers):
        raise UsageError("--members, --watchers: each name once, and none of them `you`: that is the host")
    agents = [
        AgentSpec(id="you", kind="human", role="host"),
        *(AgentSpec(id=name, role="faction_player", claim=f"auto:{i}") for i, name in enumerate(workers)),
        *(AgentSpec(id=name, role="agent") for name in watchers),
    ]
    config: dict[str, object] = {"desks": max(FEWEST_DESKS, len(workers) + 2)}
    if args.remote:
        config["remote"] = _address(args.remote)
    return Plan(args.room or WORLD, Scenario(agents=agents, scenario=WORLD, world=WORLD, config=config), WORLD)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        check_id(name)
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
        return f"The shared repository: {host.trouble.message}. It is asked again every few seconds."
    where = plan.scenario.config.get("remote") or house.settings.folder / "workspaces" / f"{plan.room}.git"
    return f"The shared repository: {where}"
