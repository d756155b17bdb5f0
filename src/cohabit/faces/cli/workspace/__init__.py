"""``cohabit workspace``: the shared message board for people. A verb calls the same tool that agents call."""

import argparse
import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cohabit.errors import BadArgs, CohabitError
from cohabit.faces.cli.parser import Parser, add_verb
from cohabit.faces.cli.say import complain, in_one_line, tell
from cohabit.faces.cli.workspace.verbs import VERBS, Verb

if TYPE_CHECKING:
    from cohabit.workspace.session import Session

Answer = dict[str, Any]
NEXT = {
    "UNREACHABLE": "Your commits are kept and shared by the next `cohabit workspace sync`.",
    "UNKNOWN_COMMAND": "docs/workspace-tools.md lists them.",
}
"""The next step, for errors whose message does not name it for a command line."""
BOARD = Verb("", None, "show the board")
"""The verb that runs if none is given."""
PAGED = {"read": "content", "diff": "diff"}
"""Verbs with answers that are cut to fit a model's context window; a person gets all pages."""
MAX_PAGES = 64


class LazyParser(Parser):
    """Declares the arguments of its verb only when it is used, so `mcp` starts quickly."""

    def __init__(self, *args: Any, verb: Verb, **options: Any) -> None:
        super().__init__(*args, **options)
        self._verb: Verb | None = verb

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._verb:
            _declare(self, self._verb)
            self._verb = None
        return super().parse_known_args(args, namespace)


def workspace_options(parser: argparse.ArgumentParser) -> None:
    _add_verbs(parser, "cohabit workspace", [verb for verb in VERBS if " " not in verb.name], required=False)
    parser.set_defaults(verb=BOARD)


def _add_verbs(parser: argparse.ArgumentParser, prog: str, verbs: Sequence[Verb], *, required: bool) -> None:
    choice = parser.add_subparsers(prog=prog, dest="what", metavar="VERB", required=required, parser_class=LazyParser)
    for verb in verbs:
        add_verb(choice, verb.name.split()[-1], verb.summary, verb=verb)


def _declare(parser: argparse.ArgumentParser, verb: Verb) -> None:
    for names, options in verb.arguments:
        parser.add_argument(*names, **options)
    if verb.tool:
        parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print the answer as JSON")
    if verb.name == "serve":
        from cohabit.faces.cli.options import settings_options

        settings_options(parser)
        parser.usage = f"{parser.prog} [options]"
    parser.set_defaults(verb=verb)
    more = [other for other in VERBS if other.name.startswith(f"{verb.name} ")]
    if more:
        _add_verbs(parser, parser.prog, more, required=False)


def workspace(args: argparse.Namespace) -> int:
    """A git repository that agents of several people share as a message board: journal, inbox, research,
    drafts, decisions. Agents use it over MCP (`cohabit workspace mcp`); people use the verbs below.

    Your identity comes from COHABIT_AGENT_ID, _NAME and _EMAIL, else from the files in ~/.multisphere, else
    from git: Ann Smith is ann-cli. docs/workspace.md explains how to get started.

    Without a verb it shows the board. In a folder of a clone, that workspace is used, and paths are relative
    to that folder; in a clone of a board that is not registered, nothing happens.

    Examples:
      cohabit workspace init deck git@example.org:us/deck.git
      cohabit workspace new
      cohabit workspace inbox add "Comp data for 2025" --for mike-claude-code
      cohabit workspace journal add "Drafted slide 4" --todo "@mike-claude-code: check the numbers"
      cohabit workspace commit "slide 4" && cohabit workspace sync
      cohabit workspace mcp --profile compat
    """
    try:
        return PROGRAMS.get(args.verb.name, _run_verb)(args)
    except CohabitError as error:
        _complain(error, args.verb)
        return 1


def _complain(error: CohabitError, verb: Verb) -> None:
    """Print an error and what to do; git's part may have several lines. Only a house has tokens to hide."""
    from cohabit.faces.cli.workspace.messages import error_for_people

    hinted = verb.name != "init" and "Nothing is lost" not in error.message
    hints = {code: text for code, text in NEXT.items() if hinted or code != "UNREACHABLE"}
    complain(in_one_line(error_for_people(error, verb), hints), secret=verb.name == "serve", lines=True)


def _run_verb(args: argparse.Namespace) -> int:
    from cohabit.faces.cli.workspace.person import person_session, workspace_of_folder

    raw = getattr(args, "json", False)
    with person_session(args.verb.tool) as session:
        answer = _call(session, args.verb, vars(args))
        if not raw and args.verb.name in PAGED:
            _add_pages(session, args.verb, vars(args), answer)
        me = session.agent_id() or ""
        context = {"workspace": session.active, "workspace_of_folder": workspace_of_folder(session)}
    if raw:
        tell(json.dumps(answer, indent=2))
    else:
        from cohabit.faces.cli.workspace.output import show

        show(args.verb.name, answer | context, me)
    return 1 if "error" in answer else 0


def _add_pages(session: "Session", verb: Verb, given: Answer, answer: Answer) -> None:
    """Add the following pages to an answer."""
    for _ in range(MAX_PAGES):
        if not answer.get("truncated") or answer.get("encoding"):
            return
        page = _call(session, verb, {**given, "offset": answer["next_offset"]})
        answer[PAGED[verb.name]] += page[PAGED[verb.name]]
        answer |= {key: page.get(key) for key in ("truncated", "next_offset")}


def _call(session: "Session", verb: Verb, given: Answer) -> Answer:
    """Call the tool with the arguments of the command line."""
    from cohabit.workspace.tools import find

    assert verb.tool is not None
    names = find(verb.tool).schema()["properties"]
    args = {name: given[name] for name in names if given.get(name) not in (None, [])}
    if verb.name == "init":
        args.setdefault("local_path", args["name"])
    if verb.name == "commit":
        if not args.get("message", "").strip():
            raise BadArgs("a commit needs a message: `cohabit workspace commit MESSAGE`, or -m MESSAGE")
        if not session.call("status", {})["staged"]:
            session.call("add", {"paths": ["."]})
    return session.call(verb.tool, _from_current_folder(session, args))


def _from_current_folder(session: "Session", args: Answer) -> Answer:
    """Paths as they are typed in a folder of the clone, as paths from its root. Elsewhere they are from the root."""
    from cohabit.faces.cli.workspace.person import workspace_of_folder

    if not {"path", "paths", "dir", "to"} & args.keys() or workspace_of_folder(session) != session.active:
        return args
    root, cwd = (os.path.realpath(path) for path in (session.workspace().root, os.getcwd()))

    def from_root(path: str) -> str:
        return os.path.relpath(os.path.join(cwd, path), root) + ("/" if path.endswith("/") else "")

    found = {name: from_root(args[name]) for name in ("path", "dir", "to") if name in args}
    return args | found | ({"paths": [from_root(path) for path in args["paths"]]} if "paths" in args else {})


# -- verbs without a tool -------------------------------------------------------------------------
def _board(args: argparse.Namespace) -> int:
    """`cohabit workspace` alone: what is open, what was done last, and what is not shared yet."""
    from cohabit.faces.cli.workspace.output import show_board
    from cohabit.faces.cli.workspace.person import person_session

    with person_session("status") as session:
        status = session.call("status", {}) | {"workspace": session.active}
        items, entries = session.call("inbox_list", {"limit": 20}), session.call("journal_tail", {"n": 5})
        show_board(status, items, entries, session.agent_id() or "")
    return 0


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
    from cohabit.faces.cli.workspace.person import person_session

    with person_session(args.tool) as session:
        answer = session.call(args.tool, arguments(args.words))
    tell(json.dumps(answer, indent=2))
    return 1 if "error" in answer else 0


PROGRAMS = {BOARD.name: _board, "mcp": _mcp, "serve": _serve, "skill": _skill, "call": _tool}
