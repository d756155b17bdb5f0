"""A feature in a file of its own adds state, commands, a line of the view and a timer to a room."""

import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, structs, to_builtins

from cohabit import feature_registry
from cohabit.errors import (
    BadArgs,
    Busy,
    CohabitError,
    GameCrash,
    PermissionDenied,
    Quarantined,
    RecordCorrupt,
    UnknownAsset,
)
from cohabit.feature_registry import find_feature, load_features
from cohabit.lab.opening import Opening
from cohabit.model.record import Entry
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, Record, read_lines
from cohabit.room.room import Room
from cohabit.room.slices import Slice
from cohabit.scenario import parse_scenario, read_scenario

from .making import AGENT, HOST, NARRATOR, make_room, player, replayed, restored, told_last, whole

POLL = Path(__file__).parents[2] / "examples" / "poll.py"
ANN, BOB = player("ann", 0), player("bob", 1)


def forget_features() -> None:
    """As in a new process."""
    feature_registry._features_in_files.clear()
    feature_registry._names_of_files.clear()


@pytest.fixture(autouse=True)
def poll() -> Any:
    load_features([str(POLL)])
    yield
    forget_features()


def room_with_poll(**more: Any) -> Room:
    return make_room(ANN, BOB, HOST, AGENT, features=["poll"], **more)


def start(room: Room, at: int = 10, **more: Any) -> str:
    asked = {"question": "Tea?", "choices": ["yes", "no"], "seconds": 60, **more}
    name: str = room.call("ann", "start_poll", asked, at=at)
    return name


def test_a_feature_has_commands_that_members_with_the_permission_can_call() -> None:
    room = room_with_poll()
    poll = start(room)
    assert room.call("bob", "vote", {"poll": poll, "choice": "no"}, at=20).votes == {"yes": 0, "no": 1}
    with pytest.raises(PermissionDenied):
        room.call("bot", "vote", {"poll": poll, "choice": "no"}, at=20)
    assert room.call("bot", "polls", {}, at=20).polls[poll].votes == {"yes": 0, "no": 1}


def test_a_room_without_the_feature_does_not_have_its_commands() -> None:
    room = make_room(ANN, BOB, HOST)
    with pytest.raises(CohabitError, match="unknown command 'start_poll'"):
        start(room)


def test_a_feature_has_lines_in_the_view_of_those_whom_they_concern() -> None:
    room = room_with_poll()
    poll = start(room)
    seen = {who: room.call(who, "view", {}, at=20).text for who in ("ann", "bob", "bot")}
    assert f"Poll {poll}: 'Tea?' (`vote`: yes, no)" in seen["bob"]
    assert "Poll" not in seen["bot"]
    room.call("bob", "vote", {"poll": poll, "choice": "no"}, at=20)
    assert "Poll" not in room.call("bob", "view", {}, at=20).text


def test_a_timer_of_a_feature_ends_by_itself_and_the_room_knows_when() -> None:
    room = room_with_poll()
    poll = start(room)
    assert room.next_deadline() == 60_010
    room.call("bob", "vote", {"poll": poll, "choice": "no"}, at=20)
    room.settle(60_009)
    assert room.call("bob", "polls", {}, at=60_009).polls
    room.settle(60_010)
    assert told_last(room)["bot"] == ["The poll 'Tea?' has ended: yes: 0, no: 1"]
    assert not room.call("bob", "polls", {}, at=60_010).polls
    assert room.next_deadline() is None


def test_a_timer_of_a_feature_waits_while_the_house_is_closed() -> None:
    room = room_with_poll()
    start(room)
    room.system("opened", {"gap": 5_000}, 5_010)
    assert room.next_deadline() == 65_010


def test_a_feature_follows_members_who_leave_by_whatever_command() -> None:
    for leaves in (("bob", "leave", {}), ("hostess", "remove_member", {"member": "bob"})):
        room = room_with_poll()
        poll = start(room)
        room.call("bob", "vote", {"poll": poll, "choice": "no"}, at=20)
        room.call(*leaves, at=30)
        assert room.call("ann", "polls", {}, at=40).polls[poll].votes == {"yes": 0, "no": 0}


def test_what_a_feature_keeps_is_replayed_restored_and_rolled_back() -> None:
    room = room_with_poll()
    poll = start(room)
    room.call("bob", "vote", {"poll": poll, "choice": "no"}, at=20)
    expected = room.digest()
    for again in (replayed(room), restored(room)):
        assert again.digest() == expected
        assert again.call("ann", "polls", {}, at=30).polls[poll].votes == {"yes": 0, "no": 1}
    room.roll_back(1)
    assert room.call("ann", "polls", {}, at=30).polls[poll].votes == {"yes": 0, "no": 0}


def test_a_refused_command_of_a_feature_changes_nothing() -> None:
    room = room_with_poll()
    before = room.digest()
    with pytest.raises(UnknownAsset, match="no open poll 'x'; `polls` lists them"):
        room.call("bob", "vote", {"poll": "x", "choice": "no"}, at=20)
    with pytest.raises(BadArgs):
        start(room, choices=["only one"])
    assert room.digest() == before
    for _ in range(5):
        start(room)
    before = room.digest()
    with pytest.raises(Busy, match="too many polls"):
        start(room)
    assert room.digest() == before


def test_a_room_that_does_not_use_a_feature_keeps_nothing_of_it_and_calls_none_of_its_hooks() -> None:
    room = room_with_poll()
    room.call("ann", "view", {}, at=20)
    assert "poll" in room.state.features
    assert "poll" not in room.state.slices
    feature = find_feature("poll")
    assert not any(feature in asked for asked in room.hooks.values())
    start(room)
    assert any(feature in asked for asked in room.hooks.values())


def test_a_record_that_needs_a_missing_feature_is_refused_by_its_name() -> None:
    room = room_with_poll()
    start(room)
    snapshot, lines = room.snapshot(), whole(room)
    forget_features()
    for open_again in (lambda: Room.restore(snapshot, [], make_world), lambda: Room.replay(lines, make_world)):
        with pytest.raises(
            UnknownAsset, match=r"room-1 needs a feature: unknown feature 'poll'.*COHABIT_FEATURES=FILE"
        ):
            open_again()


def test_a_record_keeps_its_features_whatever_a_new_room_would_have() -> None:
    room = make_room(ANN, BOB, HOST)
    again = replayed(room)
    assert "poll" not in again.state.features
    assert again.state.features == room.state.features


def test_a_record_of_an_earlier_alpha_is_refused_with_a_clear_word() -> None:
    room = make_room(ANN, BOB, HOST)
    room.state.format = 0
    with pytest.raises(RecordCorrupt, match="made by an earlier alpha of Cohabit"):
        Room.restore(room.snapshot(), [], make_world)
    first = whole(room)[0].entry
    first.args["state"].pop("format")
    again = Record()
    line = again.append(first)
    rows = [(line.seq, line.body, line.digest)]
    with pytest.raises(RecordCorrupt, match="made by an earlier alpha of Cohabit"):
        Room.replay(read_lines(rows, -1, GENESIS), make_world)


def test_a_scenario_file_names_the_file_of_a_feature_beside_it(tmp_path: Path) -> None:
    forget_features()
    (tmp_path / "poll.py").write_bytes(POLL.read_bytes())
    (tmp_path / "room.json").write_text('{"world": "nim", "features": ["poll.py"], "agents": [{"id": "ann"}]}')
    assert read_scenario(str(tmp_path / "room.json")).features == ["poll"]
    assert find_feature("poll").name == "poll"


def test_a_scenario_that_comes_over_a_network_cannot_load_a_file() -> None:
    scenario = f'{{"world": "nim", "features": ["{POLL}"], "agents": [{{"id": "ann"}}]}}'
    assert parse_scenario(scenario).features == [str(POLL)]
    with pytest.raises(UnknownAsset, match="unknown feature"):
        make_room(ANN, BOB, HOST, features=[str(POLL)])


BAD = {
    "class Other: pass": "no class derived from Feature",
    "from cohabit.features import Feature\nclass Nameless(Feature): pass": "needs a name",
    "from cohabit.features import Feature\nclass Twin(Feature):\n    name = 'consent'": "built-in feature 'consent'",
    "from cohabit.features import *\nclass Taker(Feature):\n    name = 'taker'\n"
    "@command(category='meta')\ndef leave(ctx: Context) -> str:\n    'No.'\n    return ''": "every room has a command 'leave'",
    "1 / 0": "ZeroDivisionError",
    "from cohabit.features import Feature\nclass Five(Feature):\n    name = 5": "needs a name",
    "from cohabit.features import Feature\nclass Bad(Feature):\n    name = 'bad'\n    modules = (5,)": "cannot be loaded",
    "from cohabit.features import Feature\nclass Bad(Feature):\n    name = 'bad'\n    def __init__(self):\n"
    "        raise OSError('no')": "cannot be loaded: OSError: no",
    "from cohabit.features import *\nclass Bus(Feature):\n    name = 'buses'\n"
    "@command(category='bus', records=True)\ndef honk(ctx: Context) -> str:\n    'Honk.'\n    return ''": 'cannot be "bus"',
}
HIDING = "from cohabit.features import *\nclass Taker(Feature):\n    name = 'taker'\n"
HIDES = {
    "@command(category='meta')\ndef say(ctx: Context) -> str:\n    'No.'\n    return ''": "the features messages and taker both declare 'say'",
    "@system_entry()\ndef presence(ctx: Context) -> None:\n    'No.'": "every room has 'presence'; the feature taker needs another name",
}


@pytest.mark.parametrize("text", BAD)
def test_a_file_that_is_no_usable_feature_is_refused_with_what_is_wrong(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(CohabitError, match=BAD[text]):
        load_features([str(tmp_path / "bad.py")])


def test_two_features_with_the_same_command_cannot_be_in_one_room(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(POLL.read_text().replace('"poll"', '"other"'))
    load_features([str(tmp_path / "other.py")])
    with pytest.raises(BadArgs, match="the features poll and other both declare 'start_poll'"):
        make_room(ANN, NARRATOR, features=["poll", "other"])


@pytest.mark.parametrize("text", HIDES)
def test_a_feature_cannot_hide_what_every_room_has(text: str, tmp_path: Path) -> None:
    (tmp_path / "taker.py").write_text(HIDING + text)
    load_features([str(tmp_path / "taker.py")])
    with pytest.raises(BadArgs, match=HIDES[text]):
        make_room(ANN, BOB, features=["taker"])


REFUSING = """
from cohabit.errors import Busy
from cohabit.features import *
class Strict(Feature):
    name = 'strict'
    def recipients(self, ctx, to, receivers):
        if ctx.at > 1000:
            raise Busy('not now')
        return receivers
"""


def test_a_message_that_one_feature_refuses_is_counted_by_no_other(tmp_path: Path) -> None:
    (tmp_path / "strict.py").write_text(REFUSING)
    load_features([str(tmp_path / "strict.py")])
    speaker = {"id": "bot", "kind": "agent", "role": "narrator"}
    room = make_room(ANN, BOB, HOST, speaker, features=["strict"])
    room.call("hostess", "set_chat_limits", {"messages_per_minute": 5}, at=1)
    room.call("bot", "send_message", {"to": "*", "content": "one"}, at=10)
    before = room.digest()
    with pytest.raises(Busy, match="not now"):
        room.call("bot", "send_message", {"to": "*", "content": "two"}, at=2000)
    assert room.digest() == before == replayed(room).digest()


CHANGES = {"follow": "ctx", "acted": "room, member", "after_downtime": "room, gap", "game_ends": "ctx, is_loaded"}


@pytest.mark.parametrize("hook", CHANGES)
def test_a_change_that_raises_is_a_bug_and_the_room_is_rolled_back(hook: str, tmp_path: Path) -> None:
    (tmp_path / "faulty.py").write_text(
        "from cohabit.errors import Busy\nfrom cohabit.features import *\nON = []\nclass Faulty(Feature):\n"
        f"    name = 'faulty'\n    def {hook}(self, {CHANGES[hook]}):\n        if ON:\n            ON.clear()\n            raise Busy('no')\n"
    )
    load_features([str(tmp_path / "faulty.py")])
    room = make_room(ANN, BOB, HOST, world="nim", features=["faulty"])
    before = room.digest()
    vars(sys.modules[type(find_feature("faulty")).__module__])["ON"].append(1)
    calls = {
        "follow": lambda: room.call("ann", "take", {"n": 1}, at=5),
        "acted": lambda: room.call("ann", "take", {"n": 1}, at=5),
        "after_downtime": lambda: room.system("opened", {"gap": 5}, 5),
        "game_ends": lambda: room.call("hostess", "rematch", {}, at=5),
    }
    with pytest.raises(GameCrash):
        calls[hook]()
    assert room.digest() == before == replayed(room).digest()


def test_rooms_of_one_opening_are_not_opened_alike_if_a_feature_keeps_something_of_the_seed(tmp_path: Path) -> None:
    (tmp_path / "seeds.py").write_text(
        "from msgspec import Struct\nfrom cohabit.features import *\n"
        "class Seen(Struct, omit_defaults=True):\n    seed: str = ''\n"
        "SEEN = Slice('seeds', Seen)\n"
        "class Seeds(Feature):\n    name = 'seeds'\n    room_slice = SEEN\n"
        "    def active(self, room):\n        return True\n"
        "    def game_ends(self, ctx, is_loaded):\n        SEEN.change(ctx.state).seed = ctx.state.seed\n"
    )
    load_features([str(tmp_path / "seeds.py")])
    scenario = parse_scenario('{"world": "tictactoe", "features": ["seeds"], "agents": [{"id": "ann"}, {"id": "bob"}]}')
    opening = Opening(scenario, make_world("tictactoe", {}), "tictactoe", 0)
    for seed in (1, 2):
        room = opening.room(f"r{seed}", seed, "00" * 16, make_world("tictactoe", {}))
        assert replayed(room).digest() == room.digest()


def test_a_feature_whose_timers_are_unusable_does_not_disable_its_room(tmp_path: Path) -> None:
    for number, answer in enumerate(("1 / 0", "return None", "return [(1, 'no_such_entry', {})]", "return [5]")):
        (tmp_path / f"bad{number}.py").write_text(
            f"from cohabit.features import *\nclass Bad(Feature):\n    name = 'bad{number}'\n"
            f"    def due(self, room):\n        {answer}\n"
        )
        load_features([str(tmp_path / f"bad{number}.py")])
        room = make_room(ANN, BOB, HOST, world="nim", features=[f"bad{number}"])
        assert room.next_deadline() is None
        room.call("ann", "take", {"n": 1}, at=5)
        assert replayed(room).digest() == room.digest()


def test_a_rollback_keeps_the_features_that_the_room_was_opened_with(tmp_path: Path) -> None:
    room = room_with_poll()
    poll = start(room)
    opened_with = room.features
    changed = tmp_path / "poll.py"
    changed.write_text(POLL.read_text().replace("asks:", "would like to know:"))
    forget_features()
    load_features([str(changed)])
    room.call("bob", "vote", {"poll": poll, "choice": "no"}, at=20)
    room.roll_back(1)
    assert room.features is opened_with
    assert room.call("ann", "polls", {}, at=30).polls[poll].votes == {"yes": 0, "no": 0}


def test_two_files_with_a_feature_of_the_same_name_cannot_be_used_at_once(tmp_path: Path) -> None:
    (tmp_path / "poll.py").write_bytes(POLL.read_bytes())
    with pytest.raises(BadArgs, match="another file has a feature 'poll' already"):
        load_features([str(tmp_path / "poll.py")])
    assert load_features([str(POLL)]) == ["poll"]


def test_a_record_with_damaged_parts_of_features_is_refused(tmp_path: Path) -> None:
    room = room_with_poll()
    start(room)
    for change in ({"slices": {"poll": {"open": 5}}}, {"features": ["poll", "poll"]}, {"features": "poll"}):
        first = whole(room)[0].entry
        again = Record()
        line = again.append(structs.replace(first, args={"state": {**first.args["state"], **change}}))
        with pytest.raises(RecordCorrupt):
            Room.replay(read_lines([(line.seq, line.body, line.digest)], -1, GENESIS), make_world)


def test_an_unknown_system_entry_is_a_damaged_record() -> None:
    room = room_with_poll()
    room.record.append(Entry(1, 5, "no_such_entry"))
    with pytest.raises(RecordCorrupt, match="unknown system entry 'no_such_entry'"):
        replayed(room)


def test_a_refused_arrival_of_a_first_visitor_leaves_nothing_behind() -> None:
    room = make_room(HOST, world="crafter_shared")
    room.system("admitted", {"handle": "ada", "kind": "agent", "identity": "id-ada", "role": "player"}, 5)
    before = room.digest()
    package = {"ticket": "t1", "identity": "id-ada", "name": "ada", "avatar": "avatar-none"}
    with pytest.raises(
        UnknownAsset, match="you have no avatar 'avatar-none' here; without avatar_id you get a new one"
    ):
        room.system("transit_in", {"package": package, "admitted": True}, 10)
    assert room.digest() == before == replayed(room).digest()


DRAWING = """
from msgspec import Struct
from cohabit.features import *
class Drawn(Struct, omit_defaults=True):
    numbers: list[int] = []
    due_at: int = 10**9
DRAWN = Slice('drawing', Drawn)
class Drawing(Feature):
    name = 'drawing'
    room_slice = DRAWN
    def due(self, room):
        yield DRAWN.read(room.state).due_at, 'still_due', {}
@command(category='meta', records=True)
def draw(ctx: Context) -> int:
    'Draw a number.'
    DRAWN.change(ctx.state).numbers.append(ctx.stream('draw').below(1_000_000))
    return DRAWN.read(ctx.state).numbers[-1]
@command(category='meta', records=True)
def begin(ctx: Context) -> None:
    'Begin a timer that does not end.'
    DRAWN.change(ctx.state).due_at = ctx.at + 10
@system_entry()
def still_due(ctx: Context) -> None:
    'It changes nothing.'
"""


def drawing_room(tmp_path: Path) -> Room:
    (tmp_path / "drawing.py").write_text(DRAWING)
    load_features([str(tmp_path / "drawing.py")])
    return make_room(ANN, BOB, features=["drawing"])


def test_an_entry_has_random_numbers_of_its_own_that_a_replay_repeats(tmp_path: Path) -> None:
    room = drawing_room(tmp_path)
    drawn = [room.call("ann", "draw", at=at) for at in range(1, 9)]
    assert len(set(drawn)) == len(drawn)
    assert replayed(room).digest() == room.digest()
    room.roll_back()
    assert room.call("ann", "draw", at=9) not in drawn
    assert replayed(room).digest() == room.digest()


def test_a_system_entry_that_stays_due_is_named_instead_of_applied_for_ever(tmp_path: Path) -> None:
    room = drawing_room(tmp_path)
    room.call("ann", "begin", at=1)
    with pytest.raises(Quarantined, match="'still_due' was applied 100 times and is still due"):
        room.settle(20)


def test_a_slice_whose_fields_have_no_defaults_is_refused_with_its_feature() -> None:
    class Bare(Struct):
        number: int

    with pytest.raises(TypeError, match=r"lottery: the fields of a slice \(Bare\) need default values"):
        Slice("lottery", Bare)


FOLLOWING = """
from msgspec import Struct
from cohabit.features import *
class Counts(Struct):
    entries: int = 0
    rosters: int = 0
COUNTS = Slice('following', Counts)
class Following(Feature):
    name = 'following'
    room_slice = COUNTS
    def active(self, room):
        return True
    def follow(self, ctx: Context) -> None:
        COUNTS.change(ctx.state).entries += 1
    def follow_roster(self, ctx: Context) -> None:
        COUNTS.change(ctx.state).rosters += 1
"""


def test_a_feature_that_follows_the_roster_does_nothing_after_an_action(tmp_path: Path) -> None:
    (tmp_path / "following.py").write_text(FOLLOWING)
    load_features([str(tmp_path / "following.py")])
    room = make_room(ANN, BOB, features=["following"], world="tictactoe")

    def since(before: dict[str, int]) -> dict[str, int]:
        now = to_builtins(room.state.slices["following"])
        return {name: now[name] - before.get(name, 0) for name in now}

    room.system("presence", {"members": ["ann"], "here": True}, 1)
    first = since({})
    assert first["rosters"] == first["entries"]
    for at, who in enumerate(("ann", "bob", "ann", "bob", "ann")):
        room.call(who, "mark", {"cell": at}, at=at + 3)
    assert since(first) == {"entries": 5, "rosters": 0}
    room.call("bob", "leave", {}, at=9)
    assert since(first) == {"entries": 6, "rosters": 1}
