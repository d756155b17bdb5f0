"""What is public changes only together with the changelog."""

from pathlib import Path

import public

CHANGELOG = """# Changelog

## [Unreleased]

- Later.

## [1.0.0]

- Before.
"""


def test_the_list_of_what_is_public_is_what_the_code_says() -> None:
    known = public.LIST.read_text().splitlines()[1:]
    now = [*public.public()]
    changed = sorted(set(known) ^ set(now))
    assert not changed, "say it in CHANGELOG.md and run python tools/public.py"
    assert known == now


def test_what_goes_or_changes_needs_a_new_entry_in_the_changelog() -> None:
    digest = public.changelog_digest(CHANGELOG)
    known = f"changelog {digest}\ncommand room.act {{}}\nerror BUSY 503\n"
    said = public.problem(known, ["command room.act {}"], digest)
    assert "error BUSY 503" in said
    newer = public.changelog_digest(CHANGELOG.replace("- Later.", "- Later.\n- BUSY is gone."))
    assert public.problem(known, ["command room.act {}"], newer) == ""


def test_what_is_new_needs_none() -> None:
    digest = public.changelog_digest(CHANGELOG)
    known = f"changelog {digest}\nerror BUSY 503\n"
    assert public.problem(known, ["error BUSY 503", "error NEW 400"], digest) == ""


def test_earlier_parts_of_the_changelog_do_not_count() -> None:
    other = CHANGELOG.replace("- Before.", "- Something else.")
    assert public.changelog_digest(other) == public.changelog_digest(CHANGELOG)


def test_every_public_module_is_documented() -> None:
    assert len(public.MODULES) > 10
    page = (Path(public.ROOT) / "docs/stability.md").read_text()
    assert [name for name in public.MODULES if f"`{name}`" not in page] == []
