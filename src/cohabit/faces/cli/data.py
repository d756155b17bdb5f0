"""``cohabit data``: what a house keeps of a person or an agent, and deleting it at their request."""

import argparse
import asyncio
import json
from typing import Any

from cohabit.faces.cli.operator import as_operator
from cohabit.faces.cli.options import data_option, settings_of
from cohabit.faces.cli.parser import add_verb
from cohabit.faces.cli.say import UsageError, tell


def data_options(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(prog="cohabit data", dest="what", metavar="show|delete", required=True)
    show = add_verb(verbs, "show", "print what the house keeps of an identity, as JSON")
    delete = add_verb(verbs, "delete", "delete what the house keeps of an identity")
    for below in (show, delete):
        below.add_argument("name", metavar="NAME", help="a name, or an id from `cohabit token list`")
        data_option(below)
    delete.add_argument("--yes", action="store_true", help="delete it: this cannot be undone")


def data(args: argparse.Namespace) -> int:
    """Show or delete what a house keeps of a person or an agent, at their request. The owner of the data folder can
    do this even while the house runs. Records keep the moves under a pseudonym; a room that is in use is cleaned
    when it is quiet, and the house record a few seconds later. Backups are not changed.

    Examples:
      cohabit data show ada
      cohabit data delete ada --yes
    """
    if args.what == "show":
        tell(json.dumps(asyncio.run(_ask(args, "data_of", {"identity": args.name})), indent=2, ensure_ascii=False))
        return 0
    if not args.yes:
        raise UsageError("this deletes everything and cannot be undone; add --yes")
    done = asyncio.run(_ask(args, "forget_identity", {"identity": args.name, "confirm": args.name}))
    for what, names in (("cleaned", done["cleaned"]), ("cleaned later, because they are in use", done["later"])):
        if names:
            tell(f"{what}: {', '.join(names)}")
    for room, why in done["kept"].items():
        tell(f"kept: {room}: {why}")
    tell(f"{args.name} was deleted")
    return 1 if done["kept"] else 0


async def _ask(args: argparse.Namespace, command: str, wanted: dict[str, Any]) -> Any:
    async with as_operator(settings_of(args)) as client:
        return await client.call(command, wanted)
