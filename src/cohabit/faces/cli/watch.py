"""``cohabit watch``: the events and views of a room, live."""

import argparse
import asyncio
from contextlib import suppress
from typing import Any

from cohabit.errors import PermissionDenied, UnknownRoom
from cohabit.faces.cli.options import Place, place_of, place_options
from cohabit.faces.cli.say import ViewPace, feed_event, tell, view_text
from cohabit.faces.python import connect

WAITS = ("waiting", "locked")
LOBBY_WAIT_MS = 20_000


def watch_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("room", nargs="?", metavar="ROOM", help="the room, or a link from `cohabit up`")
    parser.add_argument("--events", action="store_true", help="only events, without the view of the world")
    parser.add_argument("--all", action="store_true", help="start with the first event, not with new ones")
    place_options(parser, room=False)


def watch(args: argparse.Namespace) -> int:
    """Watch a room until Ctrl-C: its events and the view of the world, as far as your credential may see them.

    Examples:
      cohabit watch demo
      cohabit watch 'http://127.0.0.1:8724/?room=demo#TOKEN'
      cohabit watch demo --events --all
    """
    with suppress(KeyboardInterrupt):
        asyncio.run(_watch(place_of(args), "" if args.all else None, not args.events))
    return 0


async def _watch(place: Place, cursor: str | None, views: bool) -> None:
    place, _ = await enter_room(place)
    async with connect(place.url, place.token, place.room) as me:
        pace = ViewPace()
        async for push in me.subscribe(cursor, views):
            if push["push"] == "view" and pace.due(push["view"]):
                tell(view_text(push["view"]["text"]))
            for item in push.get("items", ()):
                tell(feed_event(item))


async def enter_room(place: Place) -> tuple[Place, dict[str, Any]]:
    """Return the place with the token of a member, and ``whoami``. A newcomer joins the room first, and waits in its
    lobby if there is one. With a shared invite, or in a sealed room, a newcomer gets a token of its own."""
    async with connect(place.url, place.token, place.room) as newcomer:
        try:
            return place, await newcomer.call("whoami")
        except UnknownRoom as outside:
            if "join" not in outside.message:
                raise
            joined = await newcomer.call("join")
    if joined.get("token"):
        place = place._replace(token=joined["token"])
        tell(f"To come back as the same member, use your own token: {place.token}")
    if joined["status"] in WAITS:
        tell("Waiting for a host to let you in …")
    async with connect(place.url, place.token, place.room) as me:
        while joined["status"] in WAITS:
            joined = await me.call("join", {"wait_ms": LOBBY_WAIT_MS})
        if joined["status"] == "denied":
            raise PermissionDenied("a host has denied you entry") from None
        return place, await me.call("whoami")
