import re
from datetime import UTC, datetime, timedelta, timezone

from cohabit.workspace.formats import stamps

NOW = datetime(2026, 5, 22, 14, 30, 5, 678_901, tzinfo=timezone(timedelta(hours=2)))


def test_a_stamp_is_the_minute_where_the_agent_is() -> None:
    assert stamps.stamp(NOW) == "2026-05-22 14:30"
    assert stamps.stamp(NOW.astimezone(UTC)) == "2026-05-22 12:30"


def test_utc_is_the_same_wherever_the_agent_is() -> None:
    assert stamps.utc(NOW) == stamps.utc(NOW.astimezone(UTC)) == "2026-05-22T12:30:05Z"
    assert stamps.utc_ms(NOW) == "2026-05-22T12:30:05.678Z"


def test_a_stamp_without_zone_counts_as_utc_and_anything_else_as_nothing() -> None:
    assert stamps.stamp_as_utc("2026-05-22 14:30") == "2026-05-22T14:30:00Z"
    assert stamps.stamp_as_utc("yesterday") == ""


def test_an_agent_id_ends_at_the_arrow_and_does_not_start_with_a_space() -> None:
    by = re.compile(rf"by ({stamps.AGENT})(?: → (.*))?")
    for said, agent in (("ann-cli", "ann-cli"), ("Mike Code", "Mike Code"), ("Mike Code → x → y", "Mike Code")):
        found = by.fullmatch(f"by {said}")
        assert found is not None
        assert found[1] == agent
    assert by.fullmatch("by ") is None
    assert by.fullmatch("by  x") is None


def test_unique_ids_are_short_and_differ() -> None:
    ids = {stamps.new_uid() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(uid) == 12 and set(uid) <= set(stamps.UID_ALPHABET) for uid in ids)
