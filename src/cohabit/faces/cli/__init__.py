"""The command line: ``cohabit VERB …``. Each verb imports only what it needs, when it is used.

argparse rather than typer: `cohabit --help` takes 0.1 s of CPU with argparse and 0.3 s with typer.
"""

import argparse
import errno
import importlib
import inspect
import os
import signal
import sys
from collections.abc import Callable, Sequence

from cohabit.errors import CohabitError
from cohabit.faces.cli.parser import Help, Parser
from cohabit.faces.cli.say import UsageError, complain, in_one_line, interrupted, sentence
from cohabit.faces.cli.verbs import VERBS, Verb, overview

__all__ = ["main"]

WITH_VERBS_BELOW = ("token", "data", "lab", "statecraft", "workspace")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line. Returns the exit code: 0 done, 1 refused or failed, 2 usage error."""
    if os.getpid() == 1:  # in a container without an init, where SIGTERM does nothing until there is a handler
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    try:
        return _run(words)
    except UsageError as wrong:
        complain(sentence(str(wrong)))
        return 2
    except CohabitError as refusal:
        if interrupted(refusal):
            return _stopped()
        complain(in_one_line(refusal))
        return 1
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return _stopped()
    except OSError as wrong:
        cure = "; free some space, and try again" if wrong.errno == errno.ENOSPC else ""
        complain(f"{wrong.strerror or wrong}{f': {wrong.filename}' if wrong.filename else ''}{cure}")
        return 1
    except Exception as bug:
        if os.environ.get("COHABIT_DEBUG"):
            raise
        complain(f"a bug in Cohabit: {type(bug).__name__}: {bug} (please report it; COHABIT_DEBUG=1 shows more)")
        return 1


def _stopped() -> int:
    complain("stopped")
    return 130


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(overview())
        return 0
    if words[0] in ("-V", "--version"):
        from cohabit.version import __version__

        print(f"cohabit {__version__}")
        return 0
    verb = VERBS.get(words[0])
    if verb is None:
        raise UsageError(_unknown(words[0]))
    parser, run = parser_of(verb)
    # Options may come between words (`call take --room demo n=2`), unless the verb has subcommands.
    parse = parser.parse_args if verb.name in WITH_VERBS_BELOW else parser.parse_intermixed_args
    return run(parse(words[1:]))


def parser_of(verb: Verb) -> tuple[Parser, Callable[[argparse.Namespace], int]]:
    """The parser of a verb, and the function that runs it."""
    module = importlib.import_module(verb.module if "." in verb.module else f"cohabit.faces.cli.{verb.module}")
    run: Callable[[argparse.Namespace], int] = getattr(module, verb.name)
    parser = _parser(verb, run)
    getattr(module, f"{verb.name}_options")(parser)
    return parser, run


def _unknown(word: str) -> str:
    from cohabit.model.suggest import nearest

    if word.startswith("-"):
        return f"unknown option {word}; `cohabit --help` lists the verbs"
    near = " or ".join(nearest(word, list(VERBS), 2))
    return f"unknown verb {word!r}{f'; did you mean {near}?' if near else '.'} `cohabit --help` lists them all"


def _parser(verb: Verb, run: object) -> Parser:
    """The verb's docstring is its help; the text after ``Examples:`` comes last."""
    text, _, examples = (inspect.getdoc(run) or verb.summary).partition("\nExamples:\n")
    return Parser(
        prog=f"cohabit {verb.name}",
        usage=" ".join(filter(None, (f"cohabit {verb.name}", verb.takes, "[options]"))),
        description=text.strip(),
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=Help,
        allow_abbrev=False,
    )
