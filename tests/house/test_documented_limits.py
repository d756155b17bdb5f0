"""Limits and times that the documentation states and no setting changes. Other tests use their names, so that this is
where a changed number is noticed."""

from pathlib import Path

import mutations
import pytest

from cohabit.features.messages import INBOX_LIMIT
from cohabit.features.stand_ins import STAND_IN_STEP_MS
from cohabit.house.access.codes import MIN_CHOSEN
from cohabit.house.access.entry_limits import ARRIVALS, FORGERIES, GUESSES, GUESSES_OF_ALL
from cohabit.house.lifecycle.saves import MAX_SAVE, MAX_SAVES
from cohabit.house.overload import LOG_EVERY_MS
from cohabit.house.running.quotas import FAIR_BYTES, HOUR_MS
from cohabit.house.running.remote import MAX_PENDING_CALLS
from cohabit.house.running.runner import MAX_QUEUED_CALLS_OF_MEMBER
from cohabit.house.running.watchdog import SLOW_FOR_MS
from cohabit.house.store.identities import TOKEN_LENGTH
from cohabit.model.refusals import LINES_OF_NEWCOMERS, LINES_PER_MEMBER, REFUSALS_KEPT, WINDOW_MS
from cohabit.room.commands import MAX_WAIT_MS
from cohabit.room.replies import KEYS_KEPT

DOCS = Path(__file__).parents[2] / "docs"
MIB = 1024**2
DOCUMENTED = [
    ("HOUR_MS", HOUR_MS, 60 * 60 * 1000, "limits.md", "1 GiB per hour"),
    ("FAIR_BYTES", FAIR_BYTES, MIB, "limits.md", "wait to be written for a room | 1 MiB;"),
    ("INBOX_LIMIT", INBOX_LIMIT, 200, "limits.md", "| 200 to the member, 200 to its team or everyone |"),
    ("KEYS_KEPT", KEYS_KEPT, 32, "agents.md", "the last 32 keys of each member"),
    ("LOG_EVERY_MS", LOG_EVERY_MS, 10_000, "limits.md", "at most every ten seconds"),
    ("MAX_PENDING_CALLS", MAX_PENDING_CALLS, 64, "worldbox-remote.md", "64 calls are waiting already"),
    ("MAX_QUEUED_CALLS_OF_MEMBER", MAX_QUEUED_CALLS_OF_MEMBER, 128, "limits.md", "a world on a thread | 128 |"),
    ("MAX_SAVE", MAX_SAVE, 64 * MIB, "limits.md", "size of a save | 100; 64 MiB"),
    ("MAX_SAVES", MAX_SAVES, 100, "limits.md", "size of a save | 100; 64 MiB"),
    ("MAX_WAIT_MS", MAX_WAIT_MS, 30_000, "agents.md", "(`wait_ms`, at most 30,000)"),
    ("LINES_PER_MEMBER", LINES_PER_MEMBER, 300, "limits.md", "minute | 300 of a member, 20 of a newcomer"),
    ("LINES_OF_NEWCOMERS", LINES_OF_NEWCOMERS, 20, "limits.md", "minute | 300 of a member, 20 of a newcomer"),
    ("GUESSES", GUESSES, 10, "security.md", "ten wrong codes a minute"),
    ("GUESSES_OF_ALL", GUESSES_OF_ALL, 300, "security.md", "From 300 wrong codes a minute"),
    ("FORGERIES", FORGERIES, 120, "security.md", "120 assertions without a valid signature"),
    ("ARRIVALS", ARRIVALS, 120, "security.md", "120 arrivals"),
    ("MIN_CHOSEN", MIN_CHOSEN, 8, "invites.md", "at least 8 letters and digits"),
    ("REFUSALS_KEPT", REFUSALS_KEPT, 500, "limits.md", "| refusals in a room's audit | 500 |"),
    ("SLOW_FOR_MS", SLOW_FOR_MS, 60_000, "world-contract.md", "it runs on a thread for a minute"),
    ("STAND_IN_STEP_MS", STAND_IN_STEP_MS, 10_000, "views-and-turns.md", "after 10 s, or half of `turn_seconds`"),
    ("TOKEN_LENGTH", TOKEN_LENGTH, 48, "security.md", "Tokens have 48 random characters"),
    (
        "WINDOW_MS",
        WINDOW_MS,
        60_000,
        "moderation-and-data.md",
        "refused for the same reason within a minute, is one line",
    ),
]


@pytest.mark.parametrize(("name", "value", "expected", "page", "words"), DOCUMENTED)
def test_a_limit_is_the_documented_one(name: str, value: int, expected: int, page: str, words: str) -> None:
    assert words in (DOCS / page).read_text(encoding="utf-8"), f"change {name} here too"
    assert value == expected


def test_the_mutation_run_changes_every_documented_limit() -> None:
    assert {name for name, *_ in DOCUMENTED} == mutations.DOCUMENTED_LIMITS
