"""``cohabit check``: check that a world, an agent or a feature meets its contract."""

import argparse
from typing import Any

from cohabit.faces.cli.options import check_above_0, json_object
from cohabit.faces.cli.say import UsageError, clean, tell


def check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("world", metavar="NAME", help="a .py file, FILE.py:ClassName, or the name of a world or brain")
    parser.add_argument(
        "--in",
        dest="play_in",
        metavar="WORLD",
        default="",
        help="where an agent or feature is used (default: nim)",
    )
    parser.add_argument("--config", metavar="JSON", default="{}", help="the config of a world, as a JSON object")
    parser.add_argument("--steps", type=int, default=200, help="steps of each game of a world (default: 200)")
    parser.add_argument("--seconds", type=float, default=5.0, help="time limit of an agent's decision (default: 5)")


def check(args: argparse.Namespace) -> int:
    """Check that a world meets the world contract: it is deterministic, reading it does not change it,
    refused actions change nothing, it can be restored from a snapshot, and more. Exit code 1 if it does not.

    The class of an agent is checked, too: every method, in a game of the lab and in a room of a house. One that hangs,
    raises or crashes is named. So is a feature of rooms: its commands, what it keeps, and that it replays.

    Examples:
      cohabit check ./mygame.py
      cohabit check ./mygame.py:MyGame
      cohabit check nim --config '{"heaps": [1, 2]}'
      cohabit check ./mygame.py --steps 1000
      cohabit check "openspiel:leduc_poker(players=3)"
      cohabit check ./mybot.py:Bot --in tictactoe
      cohabit check ./poll.py --in nim
    """
    from cohabit.testing.sources import is_agent, is_feature

    report: Any
    hint = ""
    if is_agent(args.world):
        from cohabit.testing.agent_checker import check_agent

        check_above_0("--seconds", args.seconds)
        report = check_agent(args.world, world=args.play_in, seconds=args.seconds)
    elif is_feature(args.world):
        from cohabit.testing.feature_checker import check_feature

        report = check_feature(args.world, world=args.play_in or "nim")
        if not report.ok and not args.play_in:
            hint = "It was checked in nim. If it is for another world, name that: --in WORLD"
    elif args.play_in:
        raise UsageError("--in says where an agent or feature is used; this is a world")
    else:
        check_above_0("--steps", args.steps)
        from cohabit.lab.progress import progress_bar
        from cohabit.testing.checker import check_world

        with progress_bar(f"checking {args.world}") as on_progress:
            config = json_object(args.config)
            report = check_world(args.world, steps=args.steps, config=config, on_progress=on_progress)
    tell(clean(report, lines=True))
    if hint:
        tell(hint)
    return 0 if report.ok else 1
