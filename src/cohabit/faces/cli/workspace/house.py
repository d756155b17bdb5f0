"""``cohabit workspace serve``: a room for a shared repository, so agents on other machines can work in it."""

import argparse
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cohabit.errors import Conflict
from cohabit.faces.cli.options import settings_of
from cohabit.faces.cli.plans import Plan
from cohabit.faces.cli.running import Greeting, run_house
from cohabit.faces.cli.say import UsageError, clean, in_lines
from cohabit.faces.cli.up import open_room
from cohabit.room.play.seats import seat_for_claim
from cohabit.scenario import AgentSpec, Scenario, check_handle

if TYPE_CHECKING:
    from cohabit.house.house import House

WORLD = "workspace"
MEMBERS = "ann,bob"
"""The members of a new room if the command line names none."""
MIN_WRITERS, SPARE_WRITERS = 8, 2
"""There are more seats than members, for members who are invited later."""


def serve(args: argparse.Namespace) -> int:
    """Create or resume the room, print how to connect to it, and serve until Ctrl-C."""
    plan = plan_of(args)

    async def prepare(house: "House") -> Greeting:
        _check_repository(house, plan)
        greeting = await open_room(house, plan, args)
        repository = await _repository(house, plan)
        missing = list(_missing(house, plan)) if args.members or args.watchers else []
        return lambda url, beside: [
            in_lines(repository), "", *greeting(url, beside), *_how_to_invite(missing, plan.room, url)
        ]  # fmt: skip

    return run_house(settings_of(args), prepare, args.quiet)


def plan_of(args: argparse.Namespace) -> Plan:
    """A room with a seat for each member, and with you as the host."""
    workers, watchers = map(_names, (MEMBERS if args.members is None else args.members, args.watchers or ""))
    if len({"host", *workers, *watchers}) <= len(workers) + len(watchers):
        raise UsageError("--members, --watchers: names must be unique, and `host` is reserved for the host")
    agents = [
        AgentSpec(id="host", kind="human", role="host"),
        *(AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(workers)),
        *(AgentSpec(id=name, role="agent") for name in watchers),
    ]
    config: dict[str, object] = {"writers": max(MIN_WRITERS, len(workers) + SPARE_WRITERS)}
    if args.remote:
        config["remote"] = _address(args.remote)
    return Plan(args.room or WORLD, Scenario(agents=agents, scenario=WORLD, world=WORLD, config=config), WORLD)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        check_handle(name)
    return names


def _address(given: str) -> str:
    """Make a local path absolute, because the house may be started from another folder next time."""
    if "://" in given or not given.startswith(("/", ".", "~")):
        return given
    return os.path.abspath(Path(given).expanduser())


def _check_repository(house: "House", plan: Plan) -> None:
    runner = house.rooms.get(plan.room)
    wanted = plan.scenario.config.get("remote")
    if runner is not None and wanted not in (None, runner.room.state.config.get("remote")):
        raise Conflict(f"room {plan.room} already exists for another repository; choose another id with --room")


async def _repository(house: "House", plan: Plan) -> str:
    """The address of the shared repository, or the reason why it does not answer."""
    runner = house.rooms[plan.room].remote
    assert runner is not None
    await runner.poll()
    if runner.poll_error is not None:
        return f"The shared repository: {runner.poll_error.message.rstrip('.')}. It is retried every few seconds."
    where = plan.scenario.config.get("remote") or house.settings.folder / "workspaces" / f"{plan.room}.git"
    return f"The shared repository: {where}"


# -- members who are named later ------------------------------------------------------------------
def _missing(house: "House", plan: Plan) -> Iterator[tuple[str, str]]:
    """Named members who are neither in the room nor invited, each with the command that invites them. They are not
    invited automatically, because the host may have removed them."""
    state, invites = house.rooms[plan.room].room.state, house.identities.invites_to(plan.room, house.clock.now())
    members = state.members.values()
    claims = [*(m.claim for m in members), *(i.claim for i in invites)]
    taken = {m.seat for m in members} | {seat_for_claim(state.seats_ever, claim) for claim in claims if claim}
    free = (f"auto:{i}" for i, seat in enumerate(state.seats_ever) if seat not in taken)
    known = {*(m.handle for m in members), *(i.handle for i in invites)}
    for agent in plan.scenario.agents:
        if agent.id not in known:
            seat = f" --role player --claim {next(free, 'auto:N')}" if agent.claim else ""
            yield agent.id, f"cohabit invite {shlex.quote(agent.id)}{seat}"


def _how_to_invite(missing: Sequence[tuple[str, str]], room: str, url: str) -> Iterator[str]:
    if not missing:
        return
    names = ", ".join(clean(name) for name, _ in missing)
    yield f"{names} {'is' if len(missing) == 1 else 'are'} not in this room yet. Invite them with the host's token:"
    for _, invite in missing:
        yield f"  COHABIT_TOKEN=… {clean(invite)} --room {room} --url {url}"
    yield ""
