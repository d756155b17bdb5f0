"""``cohabit rooms`` and ``cohabit worlds``: list rooms, worlds and scenarios."""

import argparse
import asyncio
import json
import os

from cohabit.errors import CohabitError
from cohabit.faces.cli.call import ask
from cohabit.faces.cli.options import open_store, place_of, place_options, token_of_environment
from cohabit.faces.cli.say import table, tell
from cohabit.house.store.loading import newest_snapshot
from cohabit.registry import (
    BRIDGE_FILE_WORLD,
    LIBRARIES,
    find_world,
    installed_libraries,
    known_worlds,
    listed_games,
)  # fmt: skip
from cohabit.scenario import presets


def rooms_options(parser: argparse.ArgumentParser) -> None:
    place_options(parser, room=False)
    parser.add_argument("--data", help="list the rooms in this data folder, without a running house")


def rooms(args: argparse.Namespace) -> int:
    """List the rooms of a running house that your credential may see. Without a credential, or with --data,
    list the rooms in a data folder.

    Examples:
      cohabit rooms
      cohabit rooms --url http://127.0.0.1:8724 --token TOKEN
      cohabit rooms --data ./house
    """
    asks = args.url or args.token or token_of_environment() or os.environ.get("COHABIT_URL")
    tell(_rooms_of_a_house(args) if asks and not args.data else _rooms_of_a_folder(args))
    return 0


def _rooms_of_a_house(args: argparse.Namespace) -> str:
    found = asyncio.run(ask(place_of(args)._replace(room=None), "rooms", {}))["rooms"]
    rows = [
        (r["id"], r["world"], r["scenario"], f"{r.get('here', '?')} of {r['members']}", r.get("bots", 0), r["game"],
         r.get("you", "-"), r.get("problem") or ("archived" if r.get("archived") else "open"))
        for r in found
    ]  # fmt: skip
    return table(("room", "world", "scenario", "here", "bots", "game", "you are", "state"), rows)


def _rooms_of_a_folder(args: argparse.Namespace) -> str:
    from cohabit.house.directory import HOUSE_RECORD

    rows: list[tuple[object, ...]] = []
    with open_store(args) as store:
        for room in store.rooms():
            if room == HOUSE_RECORD:
                continue
            entries = f"{store.head(room) + 1:,}"
            try:
                state = newest_snapshot(store, room).state
            except CohabitError as wrong:
                rows.append((room, "?", "?", "?", entries, wrong.message))
                continue
            kept = "archived" if state.archived else "open"
            rows.append((room, state.world, state.scenario, len(state.members), entries, kept))
    return table(("room", "world", "scenario", "members", "entries", "state"), rows)


def worlds_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scenarios", action="store_true", help="list only the scenarios")
    parser.add_argument("--library", metavar="NAME", help=f"list the games of a library: {', '.join(LIBRARIES)}")


def worlds(args: argparse.Namespace) -> int:
    """List the worlds that can be opened by name, including those of installed packages, and the scenarios that
    come with Cohabit. Your own world is opened by its file. A game of another library is opened by its name, such as
    openspiel:chess, if the library is installed.

    Examples:
      cohabit worlds
      cohabit worlds --library openspiel
      cohabit up nim
      cohabit up pvp --world nim
      cohabit up ./mygame.py
    """
    if args.library:
        tell(_game_table(args.library))
        return 0
    if not args.scenarios:
        tell(_world_table())
        tell()
        tell(_library_table())
        tell()
    tell(_scenario_table())
    return 0


def _library_table() -> str:
    there = installed_libraries()
    return table(
        ("library", "games", "what it has"),
        [
            (
                name,
                f"cohabit worlds --library {name}" if name in there else f"pip install 'cohabit[{each.extra}]'",
                each.about,
            )
            for name, each in LIBRARIES.items()
        ],
    )


def _game_table(library: str) -> str:
    rows = [
        (name, seats_of(*game.seats), game.pace, "hidden" if game.hidden else "open", game.about or game.title)
        for name, game in listed_games(library).items()
    ]
    return table(("world", "seats", "pace", "information", "what it is"), rows)


def seats_of(fewest: int, most: int) -> str:
    return str(most) if fewest == most else f"{fewest} to {most}"


def _world_table() -> str:
    rows: list[tuple[str, str, str, str]] = []
    for name in sorted(known_worlds()):
        try:
            cls = find_world(name)
        except Exception as wrong:  # a broken third-party world must not hide the others
            rows.append((name, "?", "?", f"cannot be loaded: {type(wrong).__name__}: {wrong}"))
            continue
        about = " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
        rows.append((name, seats_of(*cls.spec.seat_range), cls.spec.pace, about))
    return table(("world", "seats", "pace", "what it is"), rows)


def _scenario_table() -> str:
    rows = []
    for name, path in presets().items():
        raw = json.loads(path.read_text(encoding="utf-8"))
        members = ", ".join(agent["id"] for agent in raw["agents"])
        rows.append((name, raw.get("world", BRIDGE_FILE_WORLD), members, raw.get("_comment", "")))
    return table(("scenario", "world", "members", "what it is"), rows)
