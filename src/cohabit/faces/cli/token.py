"""``cohabit token``: credentials, worked on in the data folder, also while a house runs."""

import argparse
import re
import time

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.faces.cli.options import data_option, need_room, open_store
from cohabit.faces.cli.say import UsageError, moment, table, tell
from cohabit.house.identities import Identities, make_token
from cohabit.house.loading import load_room
from cohabit.house.sqlite import SQLiteStore
from cohabit.house.store import Credential
from cohabit.model.suggest import nearest
from cohabit.scenario import check_handle

UNITS_MS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}


def token_options(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(
        prog="cohabit token", dest="what", metavar="new|list|rotate|revoke|make", required=True
    )
    new = verbs.add_parser("new", help="make a credential; its token is printed, once")
    new.add_argument("name", metavar="NAME", help="whose it is")
    new.add_argument(
        "--kind", choices=("human", "agent"), help="bound to the credential (default agent; a host: human)"
    )
    new.add_argument("--host", dest="is_host", action="store_true", help="may open rooms and enter every one of them")
    new.add_argument("--room", help="for a member of this room, and only for it")
    new.add_argument("--expires", metavar="30d", help="runs out after so long: 90s, 45m, 12h, 30d, 4w")
    new.add_argument("--label", default="", help="a note of your own, shown in the list")
    listed = verbs.add_parser("list", help="whose credentials there are; no tokens, they are not kept")
    rotate = verbs.add_parser("rotate", help="a new token in place of all the old ones")
    revoke = verbs.add_parser("revoke", help="make every token of somebody worthless")
    for below in (rotate, revoke):
        below.add_argument("name", metavar="NAME")
        below.add_argument("--room", help="of this member of this room (otherwise: of the house)")
    for below in (new, listed, rotate, revoke):
        data_option(below)
    verbs.add_parser("make", help="print a random token, to put into an agents.json")


def token(args: argparse.Namespace) -> int:
    """Make, list, renew and revoke credentials. This works on the data folder, so whoever owns the folder
    can do it: also while a house runs, and also when the host's own token is lost.

    A token is printed once, when it is made; only its hash is kept.

    Examples:
      cohabit token new me --host                 a host: opens rooms, enters all of them
      cohabit token new athena --room pvp         one more token for a member of a room
      cohabit token new guest --kind human --expires 30d
      cohabit token rotate athena --room pvp      a lost one replaced
      cohabit token revoke guest
      cohabit token list
    """
    if args.what == "make":
        tell(make_token())
        return 0
    with open_store(args, new=args.what == "new") as store:
        {"new": _new, "list": _list, "rotate": _rotate, "revoke": _revoke}[args.what](args, store)
    return 0


def _now() -> int:
    return time.time_ns() // 1_000_000


def _new(args: argparse.Namespace, store: SQLiteStore) -> None:
    check_handle(args.name)
    if args.is_host and args.room:
        raise UsageError("a host is a host of the whole house; leave out --room")
    kind = args.kind or ("human" if args.is_host else "agent")
    if args.room is not None:
        members = load_room(store, need_room(store, args.room)).state.members
        if args.name not in members:
            raise UnknownAsset(
                f"nobody in room {args.room} is called {args.name!r}; there are {', '.join(members)}. "
                f"`cohabit invite {args.name} --room {args.room}` adds somebody",
                did_you_mean=nearest(args.name, list(members), 2),
            )
        if args.kind not in (None, members[args.name].kind):
            raise BadArgs(f"{args.name} is of kind {members[args.name].kind} in room {args.room}")
        kind = members[args.name].kind
    now = _now()
    expires_at = now + parse_time(args.expires) if args.expires else None
    tell(
        Identities(store).add(
            args.name,
            at=now,
            kind=kind,
            room=args.room,
            host=args.is_host,
            label=args.label,
            expires_at=expires_at,
        )
    )


def _list(args: argparse.Namespace, store: SQLiteStore) -> None:
    now = _now()
    found = sorted(store.credentials(), key=lambda c: (c.room or "", c.who, c.created_at))
    rows = [
        (c.who, c.kind, c.room or ("every room" if c.host else "the house"), "yes" if c.host else "",
         c.label, moment(c.created_at, day=True), moment(c.expires_at, day=True) if c.expires_at else "",
         _state(c, now))
        for c in found
    ]  # fmt: skip
    tell(table(("who", "kind", "for", "host", "label", "made", "until", "state"), rows))


def _state(credential: Credential, now: int) -> str:
    if credential.revoked:
        return "revoked"
    return "expired" if credential.expires_at is not None and credential.expires_at <= now else "good"


def _rotate(args: argparse.Namespace, store: SQLiteStore) -> None:
    identities = Identities(store)
    _need(identities, args, store)
    tell(identities.rotate(args.name, args.room, _now()))


def _revoke(args: argparse.Namespace, store: SQLiteStore) -> None:
    identities = Identities(store)
    _need(identities, args, store)
    tell(f"{identities.revoke(args.name, args.room)} revoked; a running house notices within a second")


def _need(identities: Identities, args: argparse.Namespace, store: SQLiteStore) -> None:
    if identities.of(args.name, args.room):
        return
    where = f"in room {args.room}" if args.room else "of the house itself"
    others = sorted({c.room for c in store.credentials() if c.who == args.name and c.room and not c.revoked})
    hint = f" (there is one in {', '.join(others)}: say --room)" if others and not args.room else ""
    raise UnknownAsset(f"{args.name!r} has no token {where}{hint}; `cohabit token list` shows who has")


def parse_time(text: str) -> int:
    """``30d`` in milliseconds."""
    found = re.fullmatch(r"(\d{1,6})([smhdw])", text.strip())
    if found is None or int(found[1]) == 0:
        raise UsageError(f"{text!r} is no time; write 90s, 45m, 12h, 30d or 4w")
    return int(found[1]) * UNITS_MS[found[2]]
