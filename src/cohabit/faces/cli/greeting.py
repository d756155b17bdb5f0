"""The lines that a house prints when it starts: links for people, and configuration for MCP clients."""

import argparse
import json
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cohabit.agents.brain import label_of
from cohabit.faces.cli.options import data_hint
from cohabit.faces.cli.plans import Plan, slug
from cohabit.faces.cli.running import host_lines
from cohabit.faces.cli.say import clean, paint, table
from cohabit.features.visits.state import VISITS
from cohabit.model.grant import ROLES, Capability

if TYPE_CHECKING:
    from cohabit.faces.serve import SideServer
    from cohabit.house.house import House


def greeting(
    house: "House",
    plan: Plan,
    tokens: dict[str, str],
    new: bool,
    url: str,
    beside: "Sequence[SideServer]",
    args: argparse.Namespace,
    host_token: str | None = None,
) -> Iterator[str]:
    """The members with their tokens, and how each of them connects."""
    runner = house.rooms[plan.room]
    state = runner.room.state
    members = list(state.members.values())
    begun = "new" if new else f"resumed, game {state.games}"
    if runner.failure is not None:
        begun += ", quarantined"
    yield paint("bold", f"Room {plan.room}: {state.world}, scenario {state.scenario} ({begun})")
    yield ""
    rows = [
        (
            m.handle,
            m.role_name,
            m.seat or "-",
            label_of(m.stand_in) if m.played_by_bot and m.stand_in else "-",
            tokens.get(m.handle, "-"),
        )
        for m in members
    ]
    yield table(("member", "role", "seat", "played by", "token"), rows)
    yield ""
    if tokens:
        seated = [m for m in members if m.seat is not None]
        by_people = [m.handle for m in seated if not m.played_by_bot]
        mcp_room = None if plan.scenario.house_tokens else plan.room
        yield from _connect_lines(url, plan.room, mcp_room, tokens, [m.handle for m in seated], by_people)
    for server in beside:
        yield from server.connect_lines([runner], tokens)
    missing = [m.handle for m in members if m.handle not in tokens]
    if missing:
        yield "Tokens are shown only once, when a room is created. To replace a lost one:"
        yield f"  cohabit token rotate {shlex.quote(clean(missing[0]))} --room {plan.room}{data_hint(args)}"
        yield ""
    elif new:
        yield "These tokens are shown only once; keep them."
        yield ""
    if not any(Capability.MANAGE_MEMBERS in ROLES[m.role_name] for m in members):
        yield from host_lines(host_token, url, args)


async def watch_link_of(house: "House", plan: Plan, tokens: dict[str, str]) -> str | None:
    """The token of the link to watch a new room with: of a member that sees everything and plays no seat, else one that
    shows what is public. None: the room has nobody who can make it."""
    members = house.rooms[plan.room].room.state.members.values()
    found = [m.handle for m in members if m.handle in tokens and m.claim is None and not m.stand_in]
    held = {m.handle: m.held for m in members}
    for who in found:
        if Capability.READ_ALL in held[who] and Capability.ACT not in held[who]:
            return tokens[who]
    from cohabit.house.access.watch_links import watch_link
    from cohabit.house.calls.resolve import resolve

    for who in found:
        if Capability.MANAGE_MEMBERS in held[who]:
            # Not as a call: it would show the host as connected.
            caller = resolve(house.services, house.identify(tokens[who]), plan.room, "watch_link")
            return (await watch_link(caller)).token
    return None


def short_greeting(
    house: "House", plan: Plan, tokens: dict[str, str], watching: str | None, url: str, args: argparse.Namespace,
    host_token: str | None,
) -> Iterator[str]:  # fmt: skip
    """The links to watch, to play, to host and to connect an agent: at most a line for each."""
    runner, room = house.rooms[plan.room], plan.room
    members = list(runner.room.state.members.values())
    if watching is not None:
        yield labelled("Watch here", page_link(url, room, watching))
    seated = [m for m in members if m.handle in tokens and m.claim is not None]
    player = min(seated, key=lambda m: m.played_by_bot, default=None)
    if player is not None:
        yield labelled(f"Play as {clean(player.handle)}", page_link(url, room, tokens[player.handle]))
    host = next((m for m in members if m.handle in tokens and Capability.MANAGE_MEMBERS in m.held), None)
    if host is not None:
        yield labelled("Host it", page_link(url, room, tokens[host.handle]))
    elif host_token is not None:
        yield labelled("Host the house", f"{url}/#{host_token}")
    if player is not None:
        mcp_room = None if plan.scenario.house_tokens else room
        yield labelled("An MCP client", claude_line(url, mcp_room, player.handle, tokens[player.handle]))
    state = runner.room.state
    begun = "quarantined" if runner.failure is not None else "new" if tokens else f"resumed, game {state.games}"
    shown = "The links are shown once" if tokens else "Its links were shown when it was created"
    new = f"cohabit links {room} --renew NAME{data_hint(args)}"
    yield f"Room {room}: {clean(state.world)}, scenario {clean(state.scenario)} ({begun}). {shown}; `{new}` makes one."


def labelled(what: str, said: str) -> str:
    return f"{paint('bold', f'{what}:'.ljust(19))} {said}"


def short_line(plan: Plan, tokens: dict[str, str], url: str, args: argparse.Namespace) -> Iterator[str]:
    if tokens:
        yield labelled(f"Room {plan.room}", page_link(url, plan.room, next(iter(tokens.values()))))
    else:
        yield labelled(f"Room {plan.room}", f"`cohabit links {plan.room} --renew NAME{data_hint(args)}` makes a link")


def further_lines(house: "House", others: Sequence[tuple[Plan, dict[str, str]]], url: str) -> Iterator[str]:
    for plan, tokens in others:
        room = house.rooms[plan.room].room
        title = room.world.spec.title or room.state.world
        where = " (open to the Nexus)" if VISITS.read(room.state).nexus is not None else ""
        yield paint("bold", f"Room {plan.room}: {title}{where}")
        for who, token in tokens.items():
            yield f"  {clean(who):<12} {page_link(url, plan.room, token)}"
        if not tokens:
            yield f"  its links were shown when it was created; `cohabit links {plan.room} --renew NAME` makes one"
        yield ""


def _connect_lines(
    url: str, room: str, mcp_room: str | None, tokens: dict[str, str], seated: list[str], by_people: list[str]
) -> Iterator[str]:
    """Links for all members, MCP configuration for the players; the rest for the first seat that no agent plays.

    ``mcp_room``: the only room of an MCP connection; None: it reaches all of them, because members travel."""
    yield paint("bold", "Web page, as")
    for who, token in tokens.items():
        yield f"  {clean(who):<12} {page_link(url, room, token)}"
    yield ""
    players = [who for who in seated if who in tokens] or list(tokens)
    yield paint("bold", "MCP clients, as")
    for who in players:
        yield f"  {clean(who):<12} {claude_line(url, mcp_room, who, tokens[who])}"
    first = next((who for who in players if who in by_people), players[0])
    yield f"Cursor and others (mcp.json), as {clean(first)}:"
    yield f"  {json_snippet(url, mcp_room, first, tokens[first])}"
    yield f"Clients that launch a subprocess, as {clean(first)}:"
    named = f" --room {mcp_room}" if mcp_room is not None else ""
    yield f"  COHABIT_TOKEN={tokens[first]} cohabit mcp --url {url}{named}"
    yield "In another terminal:"
    yield f"  cohabit play '{page_link(url, room, tokens[first])}'"
    yield ""


def page_link(url: str, room: str, token: str) -> str:
    """A link to the page for one member. Browsers do not send the part after the #."""
    return f"{url}/?room={room}#{token}"


def claude_line(url: str, room: str | None, who: str, token: str) -> str:
    """A shell command that adds the room, or all rooms of the token, to Claude Code."""
    return (
        f"claude mcp add cohabit-{slug(who)} --transport http {_mcp_url(url, room)} "
        f'--header "Authorization: Bearer {token}"'
    )


def _mcp_url(url: str, room: str | None) -> str:
    return f"{url}/mcp/{room}" if room is not None else f"{url}/mcp"


def json_snippet(url: str, room: str | None, who: str, token: str) -> str:
    """The same for clients with an ``mcp.json``."""
    server = {"url": _mcp_url(url, room), "headers": {"Authorization": f"Bearer {token}"}}
    return json.dumps({"mcpServers": {f"cohabit-{slug(who)}": server}})
