"""The guard of the main port, on its own: which requests get through to the application."""

import asyncio
from typing import Any

import pytest

from cohabit.errors import TooLarge
from cohabit.faces.guard import Guard, bearer, split_names
from cohabit.house.settings import Settings

LIMIT = 2048


def asked(
    headers: dict[str, str], *bodies: int, kind: str = "http", **settings: Any
) -> tuple[list[bytes], list[dict[str, Any]]]:
    """What the application reads of a request with these headers and pieces of a body, and what the guard answers."""
    pieces = [{"type": "http.request", "body": b"x" * size} for size in bodies]
    read: list[bytes] = []
    answers: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        read.append(b"")
        for _ in bodies:
            read.append((await receive())["body"])

    async def receive() -> dict[str, Any]:
        return pieces.pop(0)

    async def send(message: Any) -> None:
        answers.append(message)

    raw = [(name.encode(), value.encode()) for name, value in {"host": "localhost", **headers}.items()]
    guard = Guard(app, Settings(body_limit=LIMIT, **settings))
    asyncio.run(guard({"type": kind, "headers": raw}, receive, send))
    return read, answers


@pytest.mark.parametrize(
    ("length", "passes"), [("0", True), ("2048", True), ("2049", False), ("many", False), ("-1", False)]
)
def test_a_body_may_say_that_it_has_as_many_bytes_as_the_limit_and_no_more(length: str, passes: bool) -> None:
    read, answers = asked({"content-length": length})
    assert (bool(read), [answer.get("status") for answer in answers[:1]]) == (passes, [] if passes else [413])


def test_a_body_in_pieces_may_have_as_many_bytes_as_the_limit_and_no_more() -> None:
    read, _ = asked({}, 2000, 48)
    assert sum(map(len, read)) == LIMIT
    with pytest.raises(TooLarge, match="at most 2048 bytes"):
        asked({}, 2000, 49)


def test_a_websocket_is_closed_with_the_reason_and_its_frames_are_not_counted() -> None:
    read, answers = asked({"host": "evil.example"}, kind="websocket")
    assert (read, [(answer["type"], answer["code"]) for answer in answers]) == ([], [("websocket.close", 4403)])
    assert "allowed_hosts" in answers[0]["reason"]
    read, _ = asked({}, LIMIT, LIMIT, kind="websocket")
    assert sum(map(len, read)) == 2 * LIMIT


@pytest.mark.parametrize("public_url", ["", "house.example", "https://house.example"])
@pytest.mark.parametrize("host", ["", ":8724", "[", "house.example.evil"])
def test_a_request_without_a_host_that_can_be_read_is_refused_whatever_the_public_address_is(
    host: str, public_url: str
) -> None:
    read, answers = asked({"host": host}, public_url=public_url)
    assert (read, answers[0]["status"]) == ([], 403)


def test_what_is_neither_http_nor_a_websocket_is_passed_on() -> None:
    read, answers = asked({"host": "evil.example"}, kind="lifespan")
    assert (read, answers) == ([b""], [])


def test_settings_with_several_names_and_tokens_are_read_with_or_without_blanks() -> None:
    assert split_names(" a, b ,,c") == ["a", "b", "c"]
    assert [bearer({"authorization": each}) for each in ("Bearer t", "bearer  t ", "Basic t", "Bearer ", "")] == [
        "t", "t", None, None, None,
    ]  # fmt: skip
    assert bearer({}) is None
