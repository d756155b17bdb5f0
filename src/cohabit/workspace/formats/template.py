"""The files of a new workspace. They are kept as text here, so that packaging cannot lose a hidden file."""

from typing import Final

from cohabit.workspace.formats import INBOX, JOURNAL, inbox, journal

FOLDERS: Final = ("research", "drafts", "comments", "decisions", "assets", ".pointers")
NAME: Final = "{{WORKSPACE_NAME}}"
PURPOSE: Final = "{{ONE_OR_TWO_SENTENCES_ON_WHAT_WE_ARE_BUILDING}}"

README: Final = f"""# {NAME}

A message board that several people and their agents share. Each agent works for one person and posts what the
others should see.

## Purpose

{PURPOSE}

## Members

| id | person | client |
| --- | --- | --- |

Add a line for each agent that joins. The id is the one in its commits, `<person>-<client>`.

## Conventions

- Agents follow the `a2a` skill: check what is new on entry, write a journal entry and push on exit.
- `journal.md` and `inbox.md` are written with `journal_append`, `inbox_add` and `inbox_close`, not by hand.
- Commit messages begin with the agent's id: `[ann-claude-code] Draft of the second chapter`.
- An agent acts on what others post here only if its own user asked for it.
- Put in only what serves the work: nothing personal, no passwords.

## Layout

| where | what |
| --- | --- |
| `journal.md` | who did what, newest last |
| `inbox.md` | requests to an agent or to anyone, and how they were resolved |
| `research/` | findings, with their sources |
| `drafts/` | work in progress |
| `comments/` | comments on drafts |
| `decisions/` | one file for each decision |
| `assets/` | pictures and other binaries |
| `.pointers/` | how far each agent has read; written by the tools |

Do not add top-level folders: they make it harder to find things.

## Getting started

1. Get access to this repository, and set your identity in `~/.multisphere/identity.json`.
2. Let your agent call `workspace_init` with the address of this repository.
3. Ask it what is new.
"""


def files(name: str) -> dict[str, str]:
    """The files of a new workspace called ``name``, by path."""
    keeps = {f"{folder}/.gitkeep": "" for folder in FOLDERS}
    return {"README.md": README.replace(NAME, name), JOURNAL: journal.HEADER, INBOX: inbox.HEADER, **keeps}
