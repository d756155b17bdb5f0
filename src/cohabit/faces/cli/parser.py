"""The argument parser of all verbs: one layout of the help, and errors in one line."""

import argparse
import re
from typing import Any, NoReturn

from cohabit.faces.cli.say import UsageError
from cohabit.model.suggest import nearest


class Help(argparse.RawDescriptionHelpFormatter):
    """Options in one column, their text in another, at a fixed width."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=100)


class Parser(argparse.ArgumentParser):
    """argparse with errors in one line."""

    def error(self, message: str) -> NoReturn:
        verb = self.prog.removeprefix("cohabit ")
        raise UsageError(f"{verb}: {message}{self._near(message) or ';'} `{self.prog} --help` shows its options")

    def _near(self, message: str) -> str:
        """The options that may be meant by one that does not exist."""
        unknown = re.search(r"unrecognized arguments: (--[\w-]+)", message)
        near = nearest(unknown[1], list(self._option_string_actions), 2) if unknown is not None else []
        return f"; did you mean {' or '.join(near)}?" if near else ""


def add_verb(choice: Any, name: str, summary: str, **options: Any) -> argparse.ArgumentParser:
    """Add a verb below another one, to what ``add_subparsers`` returned. Its summary also begins its own help."""
    parser: argparse.ArgumentParser = choice.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        formatter_class=Help,
        allow_abbrev=False,
        **options,
    )
    return parser
