"""The player of a seat over HTTP, which both integrations use, against a real house."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from cohabit_seat import CannotPlay, NoFreeSeat, Player, Seats, client, member, read_links

from .houses import Opened, opened

TAKE_ONE = {"action": "take", "params": {"n": 1}}


@pytest.fixture
async def house() -> AsyncIterator[Opened]:
    async with opened() as house:
        yield house


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with client() as http:
        yield http


@pytest.fixture
async def learner(house: Opened, http: httpx.AsyncClient) -> Player:
    player = await seats(house, "heap/learner").take(http, 0)
    await player.begin(30)
    return player


def seats(house: Opened, *members: str, hosts: tuple[str, ...] = ()) -> Seats:
    return Seats(read_links(house.links(*members)), read_links(house.links(*hosts)))


async def finish(player: Player) -> None:
    while not (await player.act(TAKE_ONE, 30)).over:
        pass


async def test_the_link_of_an_invite_joins_once_and_stays_valid(house: Opened, http: httpx.AsyncClient) -> None:
    await house.call("duel", "remove_member", {"member": "bob"})
    invited = await house.call("duel", "invite", {"id": "eve", "role": "player", "claim": "auto:1"})
    link = read_links(house.links("duel/ada").partition("#")[0] + f"#{invited.token}")
    for _ in range(2):  # a server that is started again
        player = await Seats(link).take(http, 0)
        assert (player.handle, player.seat) == ("eve", "O")


async def test_a_member_without_a_claim_takes_a_free_seat(house: Opened, http: httpx.AsyncClient) -> None:
    await house.call("duel", "remove_member", {"member": "ada"})
    invited = await house.call("duel", "invite", {"id": "eve", "role": "player"})
    link = read_links(house.links("duel/bob").partition("#")[0] + f"#{invited.token}")
    assert (await Seats(link).take(http, 0)).seat == "X"


async def test_a_seat_that_cannot_be_played_is_passed_over_and_named(house: Opened, http: httpx.AsyncClient) -> None:
    found = seats(house, "duel/ada", "duel/hostess", "heap/learner")
    await house.call("duel", "revoke_token", {"member": "ada"})
    assert (await found.take(http, 0)).handle == "learner"
    with pytest.raises(NoFreeSeat) as wrong:
        await found.take(http, 0)
    assert "1 of 3 seats are in use" in str(wrong.value)
    assert "seat 1 (http://127.0.0.1:" in str(wrong.value)
    assert "[UNAUTHORIZED]" in str(wrong.value)
    assert "seat 2 (http://127.0.0.1:" in str(wrong.value)
    assert house.links("duel/ada").partition("#")[2] not in str(wrong.value)


async def test_without_a_next_game_a_player_is_told_who_can_start_one(learner: Player) -> None:
    await finish(learner)
    with pytest.raises(CannotPlay, match="Set rematch_seconds in its scenario, give a link of a host"):
        await learner.begin(0)


async def test_a_game_that_a_host_restarts_is_over_and_no_action_goes_into_the_new_one(
    house: Opened, learner: Player
) -> None:
    await learner.act(TAKE_ONE, 30)
    await house.call("heap", "rematch")
    seen = await learner.act(TAKE_ONE, 30)
    assert (seen.over, seen.game, seen.reward) == (True, 1, 0.0)
    assert "another one has begun" in seen.text
    again = await learner.begin(30)
    assert (again.game, again.values["status"]["stones"]) == (2, 9)


async def test_players_get_one_next_game_when_all_of_them_have_seen_the_end(
    house: Opened, http: httpx.AsyncClient
) -> None:
    found = seats(house, "duel/ada", "duel/bob", hosts=("duel/hostess",))
    ada, bob = await found.take(http, 0), await found.take(http, 0)
    await ada.begin(0)
    await bob.begin(0)
    for cell in range(7):  # the diagonal of X
        player = (ada, bob)[cell % 2]
        seen = await player.act({"action": "mark", "params": {"cell": cell}}, 0)
    assert seen.over
    await found.ask_next_game(ada)
    assert (await house.call("duel", "session_info")).game == 1, "bob has not seen the end"
    assert (await bob.wait(0)).over
    for player in (ada, bob):
        await found.ask_next_game(player)
    assert (await house.call("duel", "session_info")).game == 2
    assert (await ada.begin(0)).your_turn


class LosesReplies(httpx.AsyncHTTPTransport):
    """A connection that loses the reply to the first call of each action."""

    def __init__(self) -> None:
        super().__init__()
        self.lost: list[Any] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        if request.url.path.endswith("/act") and request.headers["idempotency-key"] not in self.lost:
            self.lost.append(request.headers["idempotency-key"])
            await response.aread()
            raise httpx.ReadError("the connection was lost")
        return response


async def test_an_action_whose_reply_was_lost_is_repeated_and_happens_once(
    house: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(member, "PAUSE_S", 0)
    transport = LosesReplies()
    async with httpx.AsyncClient(transport=transport) as http:
        player = await seats(house, "duel/ada").take(http, 0)
        await player.begin(0)
        seen = await player.act({"action": "mark", "params": {"cell": 4}}, 0)
    assert len(transport.lost) == 1
    assert (seen.refused, seen.message, seen.values["step"]) == ("", "Marked.", 1)


@pytest.mark.parametrize(
    "links",
    ["", "http://127.0.0.1:8724/?room=den", "http://127.0.0.1:8724/#secret", "secret", "http://a/?room=b#secret " * 2],
    ids=["none", "no token", "no room", "no link", "twice"],
)
def test_wrong_links_are_refused_without_repeating_a_token(links: str) -> None:
    with pytest.raises(ValueError, match=r"COHABIT_SEATS|is not like") as wrong:
        Seats(read_links(links))
    assert "secret" not in str(wrong.value)


async def test_what_is_not_a_house_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member, "PAUSE_S", 0)
    other = httpx.MockTransport(lambda request: httpx.Response(200, text=json.dumps({"hello": "world"})))
    async with httpx.AsyncClient(transport=other) as http:
        with pytest.raises(NoFreeSeat, match="is not a Cohabit house; check the address"):
            await Seats(read_links("http://127.0.0.1:1/?room=den#t")).take(http, 0)
