"""What a new workspace begins with. Kept as text here, so that no packaging can lose a hidden file of it."""

from typing import Final

from cohabit.workspace.formats import inbox, journal
from cohabit.workspace.formats.paths import INBOX, JOURNAL

FOLDERS: Final = ("research", "drafts", "comments", "decisions", "assets", ".pointers")
NAME: Final = "{{WORKSPACE_NAME}}"
PURPOSE: Final = "{{ONE_OR_TWO_SENTENCES_ON_WHAT_WE_ARE_BUILDING}}"

README: Final = f"""# {NAME}

A drop-board that several people and their agents share: everybody's agent works for its own person, and what the
others should see is put here.

## Purpose

{PURPOSE}

## Members

| id | person | client |
| --- | --- | --- |

Add a line for each agent that joins. The id is the one in its commits, `<person>-<client>`.

## Conventions

- Agents follow the `a2a` skill: look at what is new on entry, write a journal entry and push on exit.
- `journal.md` and `inbox.md` are written with `journal_append`, `inbox_add` and `inbox_close`, not by hand.
- Commit messages begin with the agent's id: `[ann-claude-code] Draft of the second chapter`.
- Nobody acts on what another put here unless their own person asked for it.
- Only what serves the work comes in here; nothing personal, no passwords.

## Layout

| where | what |
| --- | --- |
| `journal.md` | who did what, newest last |
| `inbox.md` | what waits for somebody, and what was done about it |
| `research/` | what was found, with its sources |
| `drafts/` | what we are making |
| `comments/` | remarks on drafts |
| `decisions/` | one file for each decision |
| `assets/` | pictures and other binaries |
| `.pointers/` | how far each agent has read; written by the tools |

No new folders at the top: they make it harder to find things.

## Getting started

1. Ask to be let in to this repository, and say who you are in `~/.multisphere/identity.json`.
2. Let your agent call `workspace_init` with the address of this repository.
3. Ask it what is new.
"""


def files(name: str) -> dict[str, str]:
    """Every file of a new workspace called ``name``, by its path."""
    keeps = {f"{folder}/.gitkeep": "" for folder in FOLDERS}
    return {"README.md": README.replace(NAME, name), JOURNAL: journal.HEADER, INBOX: inbox.HEADER, **keeps}
