"""``cohabit completions``: what a shell needs to complete verbs and options."""

import argparse
from collections.abc import Iterable, Mapping

from cohabit.faces.cli import parser_of
from cohabit.faces.cli.say import tell
from cohabit.faces.cli.verbs import VERBS

SHELLS = ("bash", "zsh", "fish")

BASH = """\
# Completions of cohabit for bash:  eval "$(cohabit completions bash)"
_cohabit() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{verbs}"
    else
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    [ -n "$words" ] && COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _cohabit cohabit"""

ZSH = """\
# Completions of cohabit for zsh:  eval "$(cohabit completions zsh)"
_cohabit() {{
    if (( CURRENT == 2 )); then
        local -a verbs=(
{described}
        )
        _describe verb verbs
        return
    fi
    case "$words[2]" in
{cases}
    esac
    _files
}}
compdef _cohabit cohabit"""


def completions_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell that completes")


def completions(args: argparse.Namespace) -> int:
    """Print the completions of verbs and options for a shell. Add the line of the example to its start file.

    Examples:
      eval "$(cohabit completions bash)"      # ~/.bashrc
      eval "$(cohabit completions zsh)"       # ~/.zshrc, after compinit
      cohabit completions fish | source       # ~/.config/fish/config.fish
    """
    words = {name: [*dict.fromkeys(words_of(parser_of(verb)[0]))] for name, verb in VERBS.items()}
    tell({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](words))
    return 0


def words_of(parser: argparse.ArgumentParser) -> Iterable[str]:
    """The words that can follow a verb: the verbs below it, and the options."""
    for action in parser._actions:
        if isinstance(action.choices, Mapping):  # verbs below this one
            yield from action.choices
            for below in action.choices.values():
                yield from words_of(below)
        elif not action.option_strings and action.choices is not None:
            yield from map(str, action.choices)
    yield from (option for option in parser._option_string_actions if option.startswith("--") and option != "--help")


def _bash(words: Mapping[str, list[str]]) -> str:
    cases = "\n".join(f'            {verb}) words="{" ".join(those)}" ;;' for verb, those in words.items() if those)
    return BASH.format(verbs=" ".join(words), cases=cases)


def _zsh(words: Mapping[str, list[str]]) -> str:
    described = "\n".join(f"            {_quoted(f'{verb.name}:{verb.summary}')}" for verb in VERBS.values())
    cases = "\n".join(f"        {verb}) compadd -- {' '.join(those)} ;;" for verb, those in words.items() if those)
    return ZSH.format(described=described, cases=cases)


def _fish(words: Mapping[str, list[str]]) -> str:
    lines = ["# Completions of cohabit for fish:  cohabit completions fish | source"]
    for verb in VERBS.values():
        start = "complete -c cohabit -n __fish_use_subcommand -f"
        lines.append(f"{start} -a {verb.name} -d {_quoted(verb.summary)}")
    for verb_name, those in words.items():
        start = f"complete -c cohabit -n '__fish_seen_subcommand_from {verb_name}'"
        lines += [f"{start} -l {word[2:]}" if word.startswith("--") else f"{start} -f -a {word}" for word in those]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """A text in single quotes, as all three shells read it."""
    return "'" + text.replace("'", "’") + "'"
