"""``cohabit watch``: the events and views of a room, live."""

import argparse
import asyncio
from contextlib import suppress

from cohabit.client import Client
from cohabit.errors import UnknownRoom
from cohabit.faces.cli.options import Place, place_of, place_options
from cohabit.faces.cli.say import ViewPace, feed_event, tell, view_text
from cohabit.faces.python import connect


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
    async with connect(place.url, place.token, place.room) as me:
        await enter_room(me)
        pace = ViewPace()
        async for push in me.subscribe(cursor, views):
            if push["push"] == "view" and pace.due(push["view"]):
                tell(view_text(push["view"]["text"]))
            for item in push.get("items", ()):
                tell(feed_event(item))


async def enter_room(me: Client) -> dict[str, object]:
    """Return ``whoami``. The holder of an invite, a guest or a house host joins the room first."""
    try:
        found: dict[str, object] = await me.call("whoami")
    except UnknownRoom as outside:
        if "join" not in outside.message:
            raise
        await me.call("join")
        found = await me.call("whoami")
    return found
