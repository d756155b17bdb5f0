"""``cohabit token``: manage credentials as the owner of the data folder, even while the house runs."""

import argparse
import asyncio
import re
import sys
from typing import Any

from cohabit.errors import UnknownAsset
from cohabit.faces.cli.operator import as_operator, house_url
from cohabit.faces.cli.options import data_option, settings_of
from cohabit.faces.cli.parser import add_verb
from cohabit.faces.cli.say import UsageError, moment, table, tell
from cohabit.house.store.identities import make_token

UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


def token_options(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(
        prog="cohabit token", dest="what", metavar="new|list|rotate|revoke|make", required=True
    )
    new = add_verb(verbs, "new", "create a credential; its token is printed once")
    new.add_argument("name", metavar="NAME", help="the name of the person or agent")
    new.add_argument(
        "--kind", choices=("human", "agent"), help="the kind of the holder (default: agent; with --host: human)"
    )
    new.add_argument(
        "--host",
        dest="is_host",
        action="store_true",
        help="a host of the house: may create rooms and enter all of them",
    )
    new.add_argument("--room", help="an additional token for a member of this room, valid only there")
    new.add_argument("--expires", metavar="30d", help="time until the token expires: 90s, 45m, 12h, 30d, 4w")
    new.add_argument("--label", default="", help="a note, shown in the list")
    listed = add_verb(verbs, "list", "list the credentials; tokens are not stored, so they are not shown")
    rotate = add_verb(verbs, "rotate", "replace all tokens of an identity with a new one")
    revoke = add_verb(verbs, "revoke", "revoke all tokens of an identity")
    for below in (rotate, revoke):
        below.add_argument("name", metavar="NAME", help="a name, or an id from `cohabit token list`")
        below.add_argument(
            "--room", help="the tokens of a member of this room (default: the tokens for the whole house)"
        )
    for below in (new, listed, rotate, revoke):
        data_option(below)
    add_verb(verbs, "make", "print a random token to put into an agents.json")


def token(args: argparse.Namespace) -> int:
    """Create, list, replace and revoke credentials. The owner of the data folder can do this even while the
    house runs, and even if the host token is lost.

    A token is printed once, when it is created; only its hash is stored. Links with it are printed to stderr.
    Every change is recorded, and the member is notified.

    Examples:
      cohabit token new me --host                 a host: creates rooms, enters all of them
      cohabit token new athena --room pvp         an additional token for a member of a room
      cohabit token new guest --kind human --expires 30d
      cohabit token rotate athena --room pvp      replace a lost one
      cohabit token revoke guest
      cohabit token list
    """
    if args.what == "make":
        tell(make_token())
        return 0
    command, wanted = {"new": _new, "list": _list, "rotate": _named, "revoke": _named}[args.what](args)
    answer = asyncio.run(_ask(args, command, {k: v for k, v in wanted.items() if v is not None}))
    if args.what == "list":
        tell(_table(answer["credentials"]))
    elif args.what == "revoke":
        tell(f"{answer['revoked']} revoked")
    else:
        tell(answer["token"])
        _show_links(args, answer["token"])
    return 0


def _show_links(args: argparse.Namespace, token: str) -> None:
    """The links go to stderr, so that stdout has the token alone, for scripts."""
    from cohabit.faces.cli.links import member_links

    url = house_url(settings_of(args))
    lines = member_links(url, args.room, args.name, token) if args.room else [f"{url}/#{token}"]
    for line in lines:
        print(line, file=sys.stderr, flush=True)


async def _ask(args: argparse.Namespace, command: str, wanted: dict[str, Any]) -> Any:
    async with as_operator(settings_of(args), create=args.what == "new") as client:
        try:
            return await client.call(command, wanted)
        except UnknownAsset as unknown:
            rooms = unknown.details.get("rooms")
            if not rooms:
                raise
            raise UnknownAsset(
                f"{args.name!r} has no token for the whole house, only for room {', '.join(rooms)}; "
                f"add --room {rooms[0]}"
            ) from None


def _new(args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    if args.is_host and args.room:
        raise UsageError("--host is for the whole house; leave out --room")
    return "issue_credential", {
        "name": args.name,
        "kind": args.kind,
        "host": args.is_host or None,
        "room": args.room,
        "label": args.label or None,
        "expires_in_s": parse_time(args.expires) if args.expires else None,
    }


def _list(args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    return "list_credentials", {}


def _named(args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    return f"{args.what}_credential", {"name": args.name, "room": args.room}


def _table(lines: list[dict[str, Any]]) -> str:
    found = sorted(lines, key=lambda c: (c.get("room") or "", c["name"], c["created_at"]))
    rows = [
        (c.get("member") or c["name"], c["kind"], c.get("room") or ("every room" if c.get("host") else "the house"),
         "yes" if c.get("host") else "", c.get("label", ""), moment(c["created_at"], day=True),
         moment(c["expires_at"], day=True) if c.get("expires_at") else "", c["state"], c["identity"])
        for c in found
    ]  # fmt: skip
    return table(("name", "kind", "for", "host", "label", "created", "expires", "state", "id"), rows)


def parse_time(text: str) -> int:
    """``30d`` in seconds."""
    found = re.fullmatch(r"(\d{1,6})([smhdw])", text.strip())
    if found is None or int(found[1]) == 0:
        raise UsageError(f"{text!r} is not a duration; write 90s, 45m, 12h, 30d or 4w")
    return int(found[1]) * UNITS_S[found[2]]
