"""``cohabit egress``: a signed copy of what left a room for the backends of its members, and whether one is genuine."""

import argparse
import asyncio
from pathlib import Path
from typing import Any

import msgspec

from cohabit.errors import BadArgs
from cohabit.faces.cli.operator import as_operator
from cohabit.faces.cli.options import data_option, settings_of
from cohabit.faces.cli.say import UsageError, clean, complain, table, tell


def egress_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("room", nargs="?", metavar="ROOM", help="the room to export")
    parser.add_argument("--out", metavar="FILE", help="write the signed export to this file (default: print it)")
    parser.add_argument("--verify", metavar="FILE", help="check a signed export and print what it says")
    parser.add_argument(
        "--key",
        metavar="FILE",
        help="the public key of the house that signed it, from /.well-known/cohabit-key.json (default: that of --data)",
    )
    data_option(parser)


def egress(args: argparse.Namespace) -> int:
    """Export how many bytes were sent to the backends of a room's members, signed by the house; or verify such an
    export. Anybody who has the public key of the house can verify it.

    Examples:
      cohabit egress demo --out demo.egress
      cohabit egress --verify demo.egress
      cohabit egress --verify demo.egress --key cohabit-key.json
    """
    if args.verify is not None:
        return _verify(args)
    if args.room is None:
        raise UsageError("name a ROOM to export, or a FILE to check with --verify")
    exported = asyncio.run(_exported(args))
    if args.out is None:
        tell(exported)
    else:
        Path(args.out).write_text(exported + "\n")
        tell(f"wrote {clean(args.out)}")
    return 0


async def _exported(args: argparse.Namespace) -> str:
    async with as_operator(settings_of(args)) as client:
        return str((await client.call("house_egress", {"room": args.room}))["export"])


def _verify(args: argparse.Namespace) -> int:
    from cohabit.house.access.signing import verify_egress

    found = verify_egress(_export_in(Path(args.verify).read_bytes()), _key(args))
    if isinstance(found, str):
        whose = f"the key in {args.key}" if args.key is not None else "the key of this data folder"
        complain(
            f"{args.verify} does not match its signature: {found}. Do not rely on it. It was checked with {whose}; if "
            "another house made it, pass the key of that house with --key. Else ask for the file again, or export it "
            "again with `cohabit egress ROOM`."
        )
        return 1
    rows = [
        (clean(member.member), clean(line.backend), _where(line.outside), f"{line.bytes:,}", _kinds(line.kinds))
        for member in found.members
        for line in member.backends
    ]
    after = f", after entry {found.entry} ({found.digest[:16]}…)" if found.digest else ""
    tell(f"genuine: room {clean(found.room)}{after}")
    tell(table(("member", "backend", "where", "bytes", "kinds"), rows))
    return 0


def _export_in(content: bytes) -> str:
    """The signed text: by itself, or in a reply of the house."""
    try:
        return str(msgspec.json.decode(content)["export"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return content.decode(errors="replace").strip()


def _key(args: argparse.Namespace) -> dict[str, str]:
    from cohabit.house.access.signing import KEY_FILE, SigningKey, check_key

    if args.key is not None:
        try:
            return check_key(msgspec.json.decode(Path(args.key).read_bytes(), type=dict[str, Any]))
        except msgspec.DecodeError:
            raise BadArgs(f"{args.key} is not a public key in JSON") from None
    path = settings_of(args).folder / KEY_FILE
    if not path.is_file():
        raise UsageError(f"{path} does not exist; pass the public key of the house with --key")
    return dict(SigningKey.from_pem(path.read_bytes()).public_jwk)


def _where(outside: bool | None) -> str:
    return "not said" if outside is None else "outside" if outside else "inside"


def _kinds(kinds: dict[str, Any]) -> str:
    return ", ".join(f"{kind} {amount.bytes:,}" for kind, amount in kinds.items())
