"""Films: what a member could have seen of a room before, and not more."""

import asyncio
import json
import random
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.json import decode, encode

from cohabit.errors import BadArgs, Busy, PermissionDenied, WorldTimeout
from cohabit.house.films import command as film_command
from cohabit.house.films import maker as film_maker
from cohabit.house.films.filming import Filming, Watch
from cohabit.house.films.rights import watch_for
from cohabit.house.house import House
from cohabit.house.running.calls import SystemCall
from cohabit.house.store.keyframes import Keyframe
from cohabit.model.film import patch_of, patched
from cohabit.model.seat import ALL
from cohabit.registry import make_world
from cohabit.room.record import Line
from cohabit.scenario import parse_scenario, read_scenario
from cohabit.testing.match import Match

from .making import ANN, BOB, GOD, HOST, Client, open_house, source

FAN = {"id": "fan", "role": "agent"}
HANDS = f"{Path(__file__).parent.parent / 'testing' / 'hands.py'}:Hands"


def shown(frames: Sequence[Any]) -> list[dict[str, Any]]:
    """The whole view of each frame."""
    views: list[dict[str, Any]] = []
    for frame in map(to_builtins, frames):
        patch = frame.get("view")
        views.append(patch if frame.get("whole") else patched(views[-1], patch) if patch is not None else views[-1])
    return views


def filmed(lines: Sequence[Line], watch: Watch, upto: int) -> dict[str, Any]:
    film = Filming(watch, make_world)
    for _ in film.play([(line.seq, line.body, line.digest) for line in lines[: upto + 1]]):
        pass
    frame = film.frame()
    assert frame is not None
    assert frame.view is not None
    return frame.view


@pytest.mark.parametrize("name", ["whist", pytest.param("demo", marks=pytest.mark.soak)])
def test_at_every_entry_a_film_shows_what_a_member_with_that_eye_got_there(name: str) -> None:
    plan = read_scenario(name)
    watchers = ("robin", "spectator", "host") if name == "whist" else ("ada", "chronicler", "host")
    live: dict[tuple[str, int], bytes] = {}

    def look(match: Match) -> None:
        room = match.room
        for who in watchers:
            live[who, room.record.seq] = encode(room.call(who, "next_view", {}, at=room.record.at))

    match = Match(plan, 11, beat=5)
    match.run(120, look) if name == "demo" else _play(match, look)
    lines, room = match.lines(), match.room
    points = random.Random(7).sample(sorted(live), 50)
    assert {who for who, _ in points} == set(watchers)
    for who, seq in points:
        watch = watch_for(room, room.state.members[who], "", has_saves=False)
        assert filmed(lines, watch, seq) == decode(live[who, seq]), (who, seq)


def _play(match: Match, look: Any) -> None:
    while len(match.lines()) < 90:
        moving = next((m, mind) for m, mind in match.minds if match.room.is_turn_of(m))
        assert match._decide(*moving)
        look(match)


def test_a_film_can_be_begun_at_any_keyframe() -> None:
    match = Match(read_scenario("demo"), 11, beat=5).run(100)
    rows = [(line.seq, line.body, line.digest) for line in match.lines()]
    taken: list[Keyframe] = []
    times = iter(range(100_000))
    film = Filming(Watch(ALL), make_world, taken.append, cpu_s=lambda: next(times) / 10)
    views = {}
    for line in film.play(rows):
        film.frame()
        views[line.seq] = film._view
    assert len(taken) > 5
    for made in taken:
        snapshot = made.snapshot()
        assert snapshot is not None
        again = Filming(Watch(ALL), make_world)
        again.begin(snapshot, made.cost_ms)
        for _ in again.play(rows[made.seq + 1 : made.seq + 4]):
            pass
        again.frame()
        assert again._view == views[again.seq]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a": {"b": 1, "c": [1]}, "d": 2}, {"a": {"b": 1, "c": [None]}, "e": {}}),
        ({"a": 1}, {"a": True}),
        ({"a": {"b": 1}}, {"a": 1}),
        ({"a": 1}, {"a": {"b": {}}}),
    ],
)
def test_a_patch_makes_the_next_view_of_the_one_before(before: dict[str, Any], after: dict[str, Any]) -> None:
    patch = patch_of(before, after)
    assert encode(patched(deepcopy(before), patch)) == encode(after)
    assert patch_of(after, after) == {}


def test_what_becomes_null_has_no_patch() -> None:
    assert patch_of({"a": {"b": 1}}, {"a": {"b": None}}) is None
    assert patch_of({"a": {"b": None}, "c": 1}, {"a": {"b": None}, "c": 2}) == {"c": 2}


# -- who may see what -----------------------------------------------------------------------------
async def secrets(house: House, *more: Any, room: str = "den", **keys: Any) -> dict[str, Client]:
    plan = {"world": source("Secrets"), "partial_intel": True, "agents": [ANN, BOB, HOST, FAN, *more], **keys}
    _, tokens = await house.create_room(parse_scenario(json.dumps(plan)), room)
    return {who: Client(house, room, who, token) for who, token in tokens.items()}


async def film(client: Client, **args: Any) -> list[Any]:
    """All frames of a film, page by page."""
    frames, cursor = [], ""
    while True:
        page = await client("film", {"cursor": cursor, **args})
        frames += page.film.frames
        cursor = page.next
        if not cursor:
            return frames


async def kept(client: Client, **args: Any) -> list[Any]:
    return [view["observation"]["status"]["kept"] for view in shown(await film(client, **args))]


async def test_a_member_sees_its_own_past_and_not_that_of_others(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        c = await secrets(house)
        await c["ann"]("hide", {"n": 4711})
        await c["bob"]("hide", {"n": 8888})
        await c["ann"]("shout", {"text": "hello"})
        assert await kept(c["ann"]) == [{"red": []}, {"red": [4711]}, {"red": [4711]}]
        assert await kept(c["bob"]) == [{"blue": []}, {"blue": [8888]}, {"blue": [8888]}]
        assert await kept(c["fan"]) == [{}, {}]
        assert await kept(c["ann"], seat="public") == [{}, {}]
        for who in ("ann", "bob", "fan", "hostess"):
            for seat in {"all", "red", "blue", "green"} - {"red" if who == "ann" else "blue" if who == "bob" else ""}:
                with pytest.raises(PermissionDenied):
                    await c[who]("film", {"seat": seat})


async def test_whoever_holds_read_all_sees_every_seat_and_the_numbers_of_entries(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        c = await secrets(house, GOD)
        await c["ann"]("hide", {"n": 4711})
        await c["bob"]("shout", {"text": "hello"})
        assert (await kept(c["zeus"]))[-1] == {"red": [4711], "blue": []}
        assert (await kept(c["zeus"], seat="red"))[-1] == {"red": [4711]}
        head = house.rooms["den"].room.record.seq
        assert (await film(c["zeus"]))[-1].seq == head
        assert [frame.seq for frame in await film(c["fan"])] == [1, 2]


async def test_a_later_player_of_a_seat_does_not_see_what_the_earlier_one_saw(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        c = await secrets(house, {"id": "cat", "role": "player"}, sealed=False)
        await c["ann"]("hide", {"n": 4711})
        await c["ann"]("leave")
        await c["cat"]("sit", {"seat": "red"})
        await c["cat"]("hide", {"n": 5})
        found = await kept(c["cat"])
        assert {} in found
        assert {"red": [4711]} not in found[:-1] or found.index({"red": [4711]}) > found.index({})
        first = found.index({"red": [4711]})  # what the seat keeps when cat sits down
        assert all(view == {} for view in found[:first])


async def reasons(client: Client, **args: Any) -> list[tuple[int, str]]:
    """Which reasons are in a film, and at which of its frames."""
    page = await client("film", args)
    assert not page.next
    return [(made.seq, made.reason) for made in page.film.decisions]


async def test_a_film_has_the_reasons_that_its_watcher_may_read_at_the_frames_that_show_the_actions(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path) as house:
        c = await secrets(house, GOD)
        for who, action, params, why in (
            ("ann", "hide", {"n": 4711}, "4711 is the key"), ("bob", "hide", {"n": 8888}, "ann has the key"),
            ("ann", "shout", {"text": "hello"}, "to be polite"),
        ):  # fmt: skip
            await c[who]("act", {"action": action, "params": params, "reasoning": why})
        head = house.rooms["den"].room.record.seq
        mine = [(2, "4711 is the key"), (3, "to be polite")]
        assert await reasons(c["ann"]) == mine
        assert await reasons(c["ann"], seat="public") == [(1, "4711 is the key"), (2, "to be polite")]
        assert await reasons(c["bob"]) == [(2, "ann has the key")]
        assert await reasons(c["fan"]) == await reasons(c["hostess"]) == []
        numbers = [(head - 2, "4711 is the key"), (head - 1, "ann has the key"), (head, "to be polite")]
        assert await reasons(c["zeus"]) == numbers
        parts, cursor = [], ""
        while cursor or not parts:
            page = await c["ann"]("film", {"frames": 1, "cursor": cursor})
            parts.append([(made.seq, made.reason) for made in page.film.decisions])
            cursor = page.next
        assert [one for part in parts for one in part] == mine
        await c["zeus"]("finish")
        shown_at = [(1, "4711 is the key"), (1, "ann has the key"), (2, "to be polite")]
        assert await reasons(c["fan"]) == shown_at
        assert [why for _, why in await reasons(c["bob"])] == [why for _, why in shown_at]


async def hands(house: House, **keys: Any) -> dict[str, Client]:
    players = [{"id": name, "role": "player", "claim": f"auto:{i}"} for i, name in enumerate(("ann", "bob", "cat"))]
    return await secrets(house, players[2], world=HANDS, **keys)


async def play_out(house: House, c: dict[str, Client]) -> None:
    """Play a game of hands to its end: fifteen cards."""
    world: Any = house.rooms["den"].room.world
    players = dict(zip(world.order, ("ann", "bob", "cat"), strict=True))
    while to_move := world.to_move():
        await c[players[to_move[0]]]("play", {"card": world.hands[to_move[0]][0]})


async def test_a_game_that_is_over_is_shown_to_everybody_and_the_next_one_is_not(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        c = await hands(house)
        dealt = deepcopy(house.rooms["den"].room.world.hands)
        with pytest.raises(PermissionDenied):
            await c["fan"]("film", {"seat": "all"})
        await play_out(house, c)
        await c["hostess"]("rematch")
        seen = [view["observation"]["status"]["hands"] for view in shown(await film(c["fan"], seat="all"))]
        assert seen[0] == dealt
        assert len(seen) == 16
        again = house.rooms["den"].room.world.hands
        assert again != dealt
        assert again not in seen
        mine = [view["observation"]["status"]["hands"] for view in shown(await film(c["ann"], seat="p2"))]
        assert (mine[0], len(mine)) == ({"p2": dealt["p2"]}, 16)
        await c["hostess"]("save_world", {"name": "noon"})
        with pytest.raises(PermissionDenied, match="saves"):
            await c["fan"]("film", {"seat": "all"})


@pytest.mark.parametrize("leaves", ["rematch", "reset"])
async def test_a_game_that_was_left_before_its_end_is_shown_to_nobody_else(leaves: str, tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        c = await hands(house)
        left = deepcopy(house.rooms["den"].room.world.hands)
        await c["hostess"](leaves)
        await c["hostess"]("rematch")
        for name in ("fan", "hostess", "ann"):
            for seat in ("all", "p2"):
                with pytest.raises(PermissionDenied):
                    await film(c[name], seat=seat)
        dealt = deepcopy(house.rooms["den"].room.world.hands)
        await play_out(house, c)
        for _ in range(2):  # as soon as it is over, and after the next one has begun
            seen = [view["observation"]["status"]["hands"] for view in shown(await film(c["fan"], seat="all"))]
            assert seen[0] == dealt
            assert left not in seen
            await c["hostess"]("rematch")


async def test_a_game_that_is_played_again_from_its_seed_is_not_over(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        c = await hands(house)
        await c["hostess"]("reset")
        with pytest.raises(PermissionDenied):
            await c["fan"]("film", {"seat": "all"})


async def test_a_member_without_perception_gets_no_film(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        c = await secrets(house)
        await c["hostess"]("narrow", {"member": "fan", "may": ["watch"]})
        with pytest.raises(PermissionDenied):
            await c["fan"]("film")


async def test_messages_to_others_are_in_no_film_also_when_the_game_is_over(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        c = await hands(house)
        await c["ann"]("send_message", {"to": "bob", "content": "the password is plum"})
        await c["hostess"]("say", {"text": "good morning"})
        await play_out(house, c)
        for seat, who in (("all", "fan"), ("p1", "fan"), ("", "fan"), ("", "hostess")):
            page = await c[who]("film", {"seat": seat})
            assert "plum" not in encode(page).decode()
        assert "plum" in encode(await c["bob"]("film")).decode()
        assert "good morning" in encode(await c["fan"]("film")).decode()


# -- pages ----------------------------------------------------------------------------------------
async def test_pages_together_are_the_film(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        c = await secrets(house)
        for i in range(12):
            await c["ann"]("shout", {"text": f"number {i}"})
        whole = (await c["fan"]("film", {"frames": 200})).film
        parts = await film(c["fan"], frames=5)
        assert shown(parts) == shown(whole.frames)
        assert [frame.seq for frame in parts] == [frame.seq for frame in whole.frames] == [*range(1, 14)]
        assert [event.text for event in whole.events if "number" in event.text] == [
            f"red: number {i}" for i in range(12)
        ]


async def pages_of(folder: Path, who: str, *, hides: bool) -> list[Any]:
    """What a member gets of pages, in a room in which another one hides something, or does not."""
    async with open_house(folder) as house:
        c = await secrets(house)
        await c["ann"]("shout", {"text": "hello"})
        times = [house.clock.now() + 1]
        await house.clock.advance(1000)
        if hides:
            await c["bob"]("hide", {"n": 8888})
        times.append(house.clock.now() + 1)
        pages: list[Any] = [await c[who]("film", {"frames": 1, "first": at}) for at in times]
        got = [(len(page.film.frames), bool(page.next)) for page in pages]
        got.append((pages[0].next == pages[1].next, False))
        try:
            pages.append(await c[who]("film", {"cursor": (await c[who]("events")).cursor}))
        except BadArgs:
            return got
        return [*got, pages[-1].film.frames[0].seq]


async def test_pages_do_not_tell_that_something_hidden_has_happened(tmp_path: Path) -> None:
    for who in ("ann", "fan"):
        assert await pages_of(tmp_path / f"{who}-1", who, hides=True) == await pages_of(
            tmp_path / f"{who}-2", who, hides=False
        )


async def test_pages_that_end_by_bytes_do_not_tell_how_much_is_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(film_command, "PAGE_BYTES", 20_000)
    found = []
    for hidden in (0, 1, 2, 7):
        async with open_house(tmp_path / str(hidden)) as house:
            c = await secrets(house)
            for n in range(hidden):
                await c["ann"]("send_message", {"to": "hostess", "content": str(n)})
            for n in range(45):
                await c["bob"]("shout", {"text": str(n) * 500})
            pages, cursor = [], ""
            while cursor or not pages:
                page = await c["fan"]("film", {"frames": 200, "cursor": cursor})
                pages.append([[event.text for event in page.film.events], [frame.seq for frame in page.film.frames]])
                cursor = page.next
            found.append(pages)
    assert len(found[0]) > 2
    assert all(pages == found[0] for pages in found)


async def stepped(folder: Path, *, hides: bool) -> Any:
    """The film of a game with a stepped clock, in which somebody may have written to somebody else at the end."""
    async with open_house(folder) as house:
        plan = {"world": source("Ticker"), "step_ticks": 5, "agents": [ANN, BOB, FAN]}
        _, tokens = await house.create_room(parse_scenario(json.dumps(plan)), "den")
        c = {who: Client(house, "den", who, token) for who, token in tokens.items()}
        for _ in range(3):
            await house.clock.advance(1000)
            for who in ("ann", "bob"):
                await c[who]("turn_advance")
        await house.clock.advance(1000)
        if hides:
            await c["ann"]("send_message", {"to": "bob", "content": "psst"})
        return to_builtins((await c["fan"]("film")).film)


async def test_a_film_of_a_stepped_clock_shows_every_step_and_does_not_end_later_because_of_what_is_hidden(
    tmp_path: Path,
) -> None:
    quiet, busy = [await stepped(tmp_path / str(hides), hides=hides) for hides in (False, True)]
    assert quiet == busy
    assert [view["observation"]["status"]["ticks"] for view in shown(quiet["frames"])] == [0, 5, 10, 15]


async def test_a_film_that_takes_long_is_given_in_pages_that_are_made_within_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = film_command.Page._play
    async with open_house(tmp_path) as house:
        plan = {"world": source("Ticker"), "agents": [ANN, BOB, FAN]}
        _, tokens = await house.create_room(parse_scenario(json.dumps(plan)), "den")
        fan = Client(house, "den", "fan", tokens["fan"])
        await house.clock.advance(2_000)
        whole = await fan("film", {"frames": 200})
        assert (whole.next, whole.to) == ("", whole.end)

        async def slow(page: Any, step: Any) -> Any:
            await house.clock.advance(600)
            return await play(page, step)

        monkeypatch.setattr(film_command.Page, "_play", slow)
        frames, to, pages = [], -1, 0
        while to < whole.end:
            left = {"first": to + 1, "last": whole.end, "frames": 20 - len(frames), "within_ms": 1_000}
            page = await fan("film", left)
            assert to < page.to
            assert page.end == whole.end
            frames, to, pages = [*frames, *page.film.frames], page.to, pages + 1
        assert pages > 3
        seen = list(zip(whole.film.frames, shown(whole.film.frames), strict=True))
        for frame, view in zip(frames, shown(frames), strict=True):
            assert view == next(then for one, then in reversed(seen) if one.at <= frame.at)
        assert shown(frames)[-1] == seen[-1][1]


@pytest.mark.parametrize("name", ["first", "last"])
async def test_times_that_do_not_fit_into_a_message_are_refused(tmp_path: Path, name: str) -> None:
    async with open_house(tmp_path) as house:
        c = await secrets(house)
        with pytest.raises(BadArgs):
            await c["fan"]("film", {name: 2**70})


async def test_a_cursor_is_for_the_same_arguments_and_the_same_member(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(film_command, "PAGE_BYTES", 1000)
    async with open_house(tmp_path) as house:
        c = await secrets(house)
        for i in range(5):
            await c["ann"]("shout", {"text": f"number {i}"})
        cursor = (await c["fan"]("film", {"frames": 5})).next
        await c["fan"]("film", {"frames": 5, "cursor": cursor})
        for who, args in (("fan", {"frames": 2}), ("fan", {"frames": 5, "first": 1}), ("ann", {"frames": 5})):
            with pytest.raises(BadArgs):
                await c[who]("film", {**args, "cursor": cursor})


# -- the process ----------------------------------------------------------------------------------
HANGING = """
import sys
from cohabit.world import Observation, World, WorldSpec, action

class Hanging(World):
    spec = WorldSpec(name="hanging", seats=1)
    def reset(self, seed, seats): self.n = 0
    def to_move(self): return ["1"]
    def observe(self, eye):
        while "films" in sys.argv[0]: pass
        return Observation(text=str(self.n))
    @action()
    def go(self, by): self.n += 1
"""


@pytest.mark.soak
async def test_a_world_that_hangs_in_a_film_ends_its_process_and_its_room_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hanging.py").write_text(HANGING)
    monkeypatch.setattr(film_maker, "REPLY_S", 5.0)
    async with open_house(tmp_path / "house") as house:
        plan = {"world": f"{tmp_path / 'hanging.py'}:Hanging", "agents": [ANN]}
        _, tokens = await house.create_room(parse_scenario(json.dumps(plan)), "den")
        ann = Client(house, "den", "ann", tokens["ann"])
        making = asyncio.ensure_future(ann("film"))
        while not house.films._callers:
            await asyncio.sleep(0)
        await ann("go")
        with pytest.raises(Busy):
            await ann("film")
        assert "\n1\n" in (await ann("view")).text
        with pytest.raises(WorldTimeout):
            await making
        c = await secrets(house, room="other")
        assert len(await film(c["fan"])) == 1


@pytest.mark.soak
async def test_a_film_without_keyframes_and_one_from_keyframes_are_equal(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        _, tokens = await house.create_room(read_scenario("demo"), "den", seed="7" * 32)
        for _ in range(40):
            await house.clock.advance(1)
            await house.rooms["den"].submit(SystemCall("ticks", {"n": 10}))
        spectator = Client(house, "den", "spectator", tokens["spectator"])
        house.keyframes.forget("den")
        slow = await spectator("film", {"frames": 8})
        assert house.keyframes.places("den")
        for place in house.keyframes.places("den")[::2]:
            next(tmp_path.glob(f"keyframes/den/{place.seq}-*")).write_bytes(b"damaged")
        assert encode(await spectator("film", {"frames": 8})) == encode(slow)
