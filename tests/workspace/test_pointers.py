from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.workspace.formats.pointers import Pointer, later

NOW = datetime(2026, 5, 22, 14, 30, 5, 678_000, tzinfo=timezone(timedelta(hours=2)))


def test_a_pointer_has_the_format_of_multisphere() -> None:
    pointer = Pointer.at("abc", NOW)
    assert pointer.text == '{\n  "last_seen_sha": "abc",\n  "last_read_at": "2026-05-22T12:30:05.678Z"\n}\n'
    assert Pointer.parse(pointer.text) == pointer
    assert pointer.moment == NOW


@pytest.mark.parametrize("torn", ["", '{"last_seen', "[]", "null", '{"last_seen_sha": 5}', "[" * 100_000])
def test_a_damaged_pointer_is_no_pointer(torn: str) -> None:
    assert Pointer.parse(torn) is None


def test_a_pointer_without_a_sha_is_valid() -> None:
    assert Pointer.parse("{}") == Pointer("", "")


@pytest.mark.parametrize("read", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "yesterday", ""])
def test_an_invalid_date_is_the_earliest_time(read: str) -> None:
    assert Pointer("a", read).moment == datetime.min.replace(tzinfo=UTC)


TEXTS = (
    st.sampled_from(["", "{}", "torn"])
    | st.sampled_from(["nonsense", "2026-05-22T12:30:05", "9999-12-31T23:59:59-14:00"]).map(
        lambda read: Pointer("a", read).text
    )
    | st.builds(
        lambda sha, minutes: Pointer.at(sha, NOW + timedelta(minutes=minutes)).text,
        st.sampled_from("ab"),
        st.integers(0, 3),
    )
)


@given(TEXTS, TEXTS, TEXTS)
def test_the_later_of_two_does_not_depend_on_their_order(a: str, b: str, c: str) -> None:
    assert later(a, b) == later(b, a)
    assert later(later(a, b), c) == later(a, later(b, c))
    assert later(a, a) == a
