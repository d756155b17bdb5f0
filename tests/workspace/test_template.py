"""The files of a new workspace."""

from cohabit.workspace.clone.template import FOLDERS, INBOX, JOURNAL, NAME, PURPOSE, README, files
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal


def test_every_folder_of_the_layout_exists_and_the_name_is_filled_in():
    found = files("sif-pitch")
    assert {"README.md", "journal.md", "inbox.md", *(f"{folder}/.gitkeep" for folder in FOLDERS)} == set(found)
    assert found["README.md"].startswith("# sif-pitch\n")
    assert NAME not in found["README.md"]
    assert PURPOSE in found["README.md"], "that one is for the people to fill in"


def test_the_readme_has_the_sections_that_agents_look_for():
    headings = [line for line in README.splitlines() if line.startswith("## ")]
    assert headings == ["## Purpose", "## Members", "## Conventions", "## Layout", "## Getting started"]
    assert all(f"`{folder}/`" in README for folder in FOLDERS)
    assert "| id | person | client |" in README


def test_the_empty_journal_and_inbox_are_well_formed():
    assert not Journal.parse(JOURNAL).tail(5)
    assert not Inbox.parse(INBOX).items
