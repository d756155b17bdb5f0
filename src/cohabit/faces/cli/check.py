"""``cohabit check``: check that a world meets the world contract."""

import argparse

from cohabit.faces.cli.say import clean, tell


def check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("world", metavar="WORLD", help="a .py file, FILE.py:ClassName, or the name of a world")


def check(args: argparse.Namespace) -> int:
    """Check that a world meets the world contract: it is deterministic, reading it does not change it,
    refused actions change nothing, it can be restored from a snapshot, and more. Exit code 1 if it does not.

    Examples:
      cohabit check ./mygame.py
      cohabit check ./mygame.py:MyGame
      cohabit check nim
    """
    from cohabit.testing.checker import check_world

    report = check_world(args.world)
    tell(clean(report, lines=True))
    return 0 if report.ok else 1
