"""The reference of the command line, from the parsers of its verbs: what `cohabit VERB --help` says, as a page."""

import argparse
import textwrap
from collections.abc import Iterator

from cohabit.faces.cli import parser_of
from cohabit.faces.cli.verbs import GROUPS, Verb
from cohabit.faces.cli.workspace.verbs import VERBS as WORKSPACE

INTRODUCTION = """\
What `cohabit VERB --help` says. [Command line](cli.md) explains what the verbs have in common. Not repeated here:
`--url` and `--token` of verbs that need a house, `--data` and `--store` of verbs that need a data folder, and the
[settings](settings.md) of verbs that run a house."""
COMMON = {"--url", "--token", "--data", "--store", "--help"}
"""Options that are explained once for all verbs."""


def page(note: str) -> str:
    """Every verb, in the groups of `cohabit --help`."""
    lines = [note, "# Command line: every verb", "", INTRODUCTION, ""]
    for verb in (verb for verbs in GROUPS.values() for verb in verbs):
        lines += [f"## {verb.name}", "", *_verb(verb)]
    return "\n".join(lines)


def _verb(verb: Verb) -> Iterator[str]:
    parser, _ = parser_of(verb)
    yield from (f"`cohabit {verb.name}{f' {verb.takes}' if verb.takes else ''}`", "")
    yield from (_text(parser.description or ""), "")
    if verb.name == "workspace":
        yield from _workspace()
    else:
        yield from _options(parser)
        for name, below in _below(parser):
            yield from (f"### {verb.name} {name}", "", *_options(below))
    _, _, examples = (parser.epilog or "").partition("examples:\n")
    if examples:
        shown = (textwrap.dedent(part) for part in examples.split("\n\n"))
        yield from ("```text", "\n\n".join(shown).strip(), "```", "")


def _below(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    shown = [action for group in parser._action_groups if not _has_settings(group) for action in group._group_actions]
    known = {name for action in shown for name in action.option_strings}
    own = {"--token"} if "--url" not in known else set()  # the token of a game's bridge, not of a house
    rows = [row for action in shown if (row := _row(action, COMMON - own))]
    if rows:
        yield from ("| | |", "|---|---|", *rows, "")


def _has_settings(group: argparse._ArgumentGroup) -> bool:
    return (group.title or "").startswith("house settings")


def _row(action: argparse.Action, left_out: set[str]) -> str:
    names = action.option_strings
    if isinstance(action, argparse._SubParsersAction) or left_out.intersection(names):
        return ""
    choices = "\\|".join(map(str, action.choices or ()))
    takes = action.metavar or choices or (action.dest.upper() if names else action.dest)
    value = "" if action.nargs == 0 else f" `{takes}`" if names else f"`{takes}`"
    return f"| {', '.join(f'`{name}`' for name in names)}{value} | {_cell(action.help or '')} |"


def _workspace() -> Iterator[str]:
    yield from ("| verb | |", "|---|---|")
    for verb in WORKSPACE:
        places = [str(options.get("metavar", names[0])) for names, options in verb.arguments if names[0][0] != "-"]
        options = [(names, options) for names, options in verb.arguments if names[0][0] == "-"]
        said = [f"{', '.join(f'`{name}`' for name in names)}: {_cell(more.get('help', ''))}" for names, more in options]
        yield f"| `{' '.join([verb.name, *places])}` | {'; '.join([_cell(verb.summary), *said])} |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("%%", "%")


def _text(text: str) -> str:
    """Paragraphs as they are; an indented list of what to type stays as it is shown in a terminal."""
    parts = [part.strip("\n") for part in text.replace("%%", "%").split("\n\n") if part.strip()]
    return "\n\n".join(f"```text\n{part}\n```" if "\n  " in part else part for part in parts)
