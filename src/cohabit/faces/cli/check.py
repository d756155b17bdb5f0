"""``cohabit check``: does a world keep the contract?"""

import argparse

from cohabit.faces.cli.say import clean, tell


def check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("world", metavar="WORLD", help="a .py file, FILE.py:ClassName, or the name of a world")


def check(args: argparse.Namespace) -> int:
    """Try a world: is it the same twice, does looking change it, does it go back, does it hide what it must?
    Exit code 1 if it does not keep the contract.

    Examples:
      cohabit check ./mygame.py
      cohabit check ./mygame.py:MyGame
      cohabit check nim
    """
    from cohabit.testing.checker import check_world

    report = check_world(args.world)
    tell(clean(report, lines=True))
    return 0 if report.ok else 1
