"""``cohabit rebind``: tell a room where the file of its world is now."""

import argparse
import asyncio

from cohabit.faces.cli.options import data_option, settings_of
from cohabit.faces.cli.say import clean, tell


def rebind_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("room", metavar="ROOM", help="a room in the data folder")
    parser.add_argument("world", metavar="WORLD", help="where the world is now: FILE.py, FILE.py:ClassName, or a name")
    data_option(parser)


def rebind(args: argparse.Namespace) -> int:
    """Tell a room where the file of its world is, after it was moved. It must be the same world: same name, same
    version, and the room is opened with it first. If that fails, nothing is changed. The house must be stopped.

    Examples:
      cohabit rebind den ./games/mygame.py
      cohabit rebind den ./games/mygame.py:MyGame --data ./house
    """
    asyncio.run(_rebind(args))
    tell(f"room {args.room} now loads its world from {clean(args.world)}")
    return 0


async def _rebind(args: argparse.Namespace) -> None:
    from cohabit.house.house import House

    async with House.open(settings_of(args), dormant=True) as house:
        await house.rooms.rebind(args.room, args.world)
