"""``cohabit workspace``: the shared drop-board for people. Every verb calls the tool that agents call."""

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cohabit.errors import CohabitError
from cohabit.faces.cli import Parser
from cohabit.faces.cli.say import complain, in_one_line, tell
from cohabit.faces.cli.workspace.verbs import VERBS, Below

if TYPE_CHECKING:
    from cohabit.workspace.session import Session

Answer = dict[str, Any]
NEXT = {
    "UNREACHABLE": "What you committed stays here and goes out with the next `cohabit workspace sync`.",
    "UNKNOWN_COMMAND": "docs/workspace-tools.md lists them.",
}
"""What to do next, for the errors whose message cannot know that it is read on a command line."""
PAGED = {"read": "content", "diff": "diff"}
MOST_PAGES = 64
"""An answer is cut to fit a model's window. A person gets the whole of a text, within reason."""


class Later(Parser):
    """Learns what its verb takes when that is used: a client waits for `mcp`, and only `serve` needs the settings."""

    def __init__(self, *args: Any, below: Below, **how: Any) -> None:
        super().__init__(*args, **how)
        self._below: Below | None = below

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._below:
            _declare(self, self._below)
            self._below = None
        return super().parse_known_args(args, namespace)


def workspace_options(parser: argparse.ArgumentParser) -> None:
    _verbs(parser, "cohabit workspace", [below for below in VERBS if " " not in below.name], required=True)


def _verbs(parser: argparse.ArgumentParser, prog: str, verbs: Sequence[Below], *, required: bool) -> None:
    choice = parser.add_subparsers(prog=prog, dest="what", metavar="VERB", required=required, parser_class=Later)
    for below in verbs:
        choice.add_parser(
            below.name.split()[-1],
            help=below.summary,
            description=f"{below.summary[0].upper()}{below.summary[1:]}.",
            formatter_class=parser.formatter_class,
            allow_abbrev=False,
            below=below,
        )


def _declare(parser: argparse.ArgumentParser, below: Below) -> None:
    for names, how in below.takes:
        parser.add_argument(*names, **how)
    if below.tool:
        parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="the answer as it is")
    if below.name == "serve":
        from cohabit.faces.cli.options import settings_options

        settings_options(parser)
    parser.set_defaults(below=below)
    more = [other for other in VERBS if other.name.startswith(f"{below.name} ")]
    if more:
        _verbs(parser, parser.prog, more, required=False)


def workspace(args: argparse.Namespace) -> int:
    """A git repository that agents of several people share as a drop-board: journal, inbox, research,
    drafts, decisions. Agents use it over MCP (`cohabit workspace mcp`), people with the verbs below.

    Who you are comes from COHABIT_AGENT_ID, _NAME and _EMAIL, else from the files in ~/.multisphere, else
    from git: Ann Smith is ann-cli. docs/workspace.md tells how to begin.

    Examples:
      cohabit workspace init deck git@example.org:us/deck.git
      cohabit workspace new
      cohabit workspace inbox add "Comp data for 2025" --for mike-claude-code
      cohabit workspace journal add "Drafted slide 4" --todo "@mike-claude-code: check the numbers"
      cohabit workspace commit "slide 4" && cohabit workspace sync
      cohabit workspace mcp --profile compat
    """
    try:
        return PROGRAMS.get(args.below.name, _verb)(args)
    except CohabitError as refusal:
        _complain(refusal, args.below)
        return 1


def _complain(refusal: CohabitError, below: Below) -> None:
    """What went wrong, and what to do: git may say it in several lines. Only a house has tokens to hide."""
    from cohabit.faces.cli.workspace.words import error_here

    hinted = below.name != "init" and "Nothing is lost" not in refusal.message
    hints = {code: text for code, text in NEXT.items() if hinted or code != "UNREACHABLE"}
    complain(in_one_line(error_here(refusal, below), hints), secret=below.name == "serve", lines=True)


def _verb(args: argparse.Namespace) -> int:
    from cohabit.faces.cli.workspace.person import session_of_a_person, standing_in

    raw = getattr(args, "json", False)
    with session_of_a_person() as session:
        answer = _call(session, args.below, vars(args))
        if not raw and args.below.name in PAGED:
            _read_on(session, args.below, vars(args), answer)
        me = session.agent_id() or ""
        where = {"workspace": session.active, "standing_in": standing_in(session)}
    if raw:
        tell(json.dumps(answer, indent=2))
    else:
        from cohabit.faces.cli.workspace.drawing import draw

        draw(args.below.name, answer | where, me)
    return 1 if "error" in answer else 0


def _read_on(session: "Session", below: Below, given: Answer, answer: Answer) -> None:
    """Put what follows into the answer, page by page."""
    for _ in range(MOST_PAGES):
        if not answer.get("truncated") or answer.get("encoding"):
            return
        page = _call(session, below, {**given, "offset": answer["next_offset"]})
        answer[PAGED[below.name]] += page[PAGED[below.name]]
        answer |= {key: page.get(key) for key in ("truncated", "next_offset")}


def _call(session: "Session", below: Below, given: Answer) -> Answer:
    """The tool, with what was given on the command line; what was left out is left out."""
    from cohabit.workspace.tool import find

    assert below.tool is not None
    names = find(below.tool).schema()["properties"]
    args = {name: given[name] for name in names if given.get(name) not in (None, [])}
    if below.name == "init":
        args.setdefault("local_path", args["name"])
    if below.name == "commit":
        session.call("add", {"paths": ["."]})
    return session.call(below.tool, args)


# -- programs of their own ------------------------------------------------------------------------
def _mcp(args: argparse.Namespace) -> int:
    from cohabit.workspace.__main__ import main

    return main(["--profile", args.profile, *(["--home", args.home] if args.home else [])])


def _serve(args: argparse.Namespace) -> int:
    from cohabit.faces.cli.workspace.house import serve

    return serve(args)


def _skill(_: argparse.Namespace) -> int:
    from cohabit.workspace.mcp.skill import skill

    print(skill(), end="")
    return 0


def _tool(args: argparse.Namespace) -> int:
    from cohabit.faces.cli.options import arguments
    from cohabit.faces.cli.workspace.person import session_of_a_person

    with session_of_a_person() as session:
        answer = session.call(args.tool, arguments(args.words))
    tell(json.dumps(answer, indent=2))
    return 1 if "error" in answer else 0


PROGRAMS = {"mcp": _mcp, "serve": _serve, "skill": _skill, "call": _tool}
