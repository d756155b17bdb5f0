"""What the contract of a world offers beyond actions: computed actions, rewards, arrivals, a pace by config."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, Conflict, GameCrash, GameRejected, PermissionDenied, Quarantined, UnknownCommand
from cohabit.model.action import Action
from cohabit.model.message import MAX_MESSAGE
from cohabit.model.observation import Observation
from cohabit.model.seat import ALL, Eye
from cohabit.registry import make_world
from cohabit.room.base import WorldInterrupted
from cohabit.room.commands import Command, Options, command, declared_in
from cohabit.room.opening import opening_state
from cohabit.room.play import acting
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed
from cohabit.scenario import AgentSpec, Scenario
from cohabit.world import Arrival, Outcome, Seat, World
from cohabit.worlds.tictactoe import TicTacToe

from .making import BLUE, OBSERVER, RED, SECRET, entries, make_room, replayed, restored, whole
from .making import GOD as GOD_AGENT
from .making import HOST as HOST_AGENT

SAMPLES = Path(__file__).parent.parent / "worlds_samples"
GOD, HOST = AgentSpec(id="zeus", role="god"), AgentSpec(id="hostess", role="host")


def player(handle: str, seat: int | None = None, **more: Any) -> AgentSpec:
    return AgentSpec(id=handle, role="player", claim=f"auto:{seat}" if seat is not None else None, **more)


def room_of(sample: str, *agents: AgentSpec, **keys: Any) -> Room:
    source = str(SAMPLES / f"{sample}.py")
    found = Scenario(agents=list(agents), world=source, **keys)
    world = make_world(source, found.config)
    return Room.create(opening_state(found, world, source, "room-1", 7, SECRET), world, 0)


def heard(room: Room, who: str, kind: str = "reward") -> list[str]:
    member = room.state.members[who]
    return [i.text for e in entries(room) for i in feed(e, member, room.eye(member)) if i.kind == kind]


def test_the_output_schema_of_a_command_describes_what_it_answers() -> None:
    room = make_room(RED, HOST_AGENT, world="Secrets")
    for who, name, args in (("ann", "shout", {"text": "hello"}), ("ann", "whoami", {}), ("hostess", "entry", {})):
        schema = room.commands.named(name).output_schema
        answer = msgspec.to_builtins(room.call(who, name, args, at=1))
        assert schema is not None
        assert answer.keys() <= schema["properties"].keys(), name
        assert set(schema["required"]) <= answer.keys(), name


def test_the_front_end_of_a_world_may_call_each_of_its_actions_and_queries() -> None:
    commands = room_of("toolbox", player("ann", 0), config={"tools": ["saw"]}).commands
    assert {each.name for each in commands if each.where == "world" and each.for_front_end} == {"use_saw", "work_log"}


def test_an_action_may_return_text_or_nothing_instead_of_an_outcome() -> None:
    room = make_room(RED, BLUE, world="Plain")
    assert room.call("ann", "say", {"text": "hello"}, at=1).message == "hello"
    assert room.call("ann", "nod", at=2).message == ""


@pytest.mark.parametrize("reward", ["inf", "nan"])
def test_a_reward_that_is_no_number_is_a_mistake_of_the_world_and_nothing_happened(reward: str) -> None:
    room = make_room(RED, BLUE, world="Plain")
    before = room.digest()
    with pytest.raises(GameCrash):
        room.call("ann", "win", {"reward": reward}, at=1)
    assert room.digest() == before


def test_a_player_sees_the_goals_of_its_own_seat_and_a_watcher_none() -> None:
    room = make_room(RED, BLUE, OBSERVER, world="Plain")
    seen = {who: room.call(who, "view", at=1) for who in ("ann", "bob", "owl")}
    assert [goal.id for goal in seen["ann"].observation.current_goals] == ["goal-one"]
    assert "be the best of two" in seen["bob"].text
    assert "be the best" not in seen["owl"].text


def test_a_world_without_a_picture_now_says_so_and_shows_it_when_there_is_one() -> None:
    room = make_room(RED, BLUE, GOD_AGENT, world="Plain")
    with pytest.raises(GameRejected, match="no picture now"):
        room.call("zeus", "picture", at=1)
    room.call("ann", "move", at=2)
    assert room.call("zeus", "picture", at=3).base64 == b"PNG"


def test_a_member_that_may_see_the_screen_but_not_the_world_gets_no_picture() -> None:
    room = make_room(RED, BLUE, GOD_AGENT, OBSERVER, world="Plain")
    room.call("zeus", "grant", {"member": "owl", "may": ["see_screen"]}, at=1)
    with pytest.raises(PermissionDenied, match="permission to view this world") as refused:
        room.call("owl", "picture", at=2)
    assert refused.value.details["needs"] == ["watch"]


def test_a_world_that_cannot_be_observed_has_crashed_and_tells_only_the_kind_of_error() -> None:
    room = make_room(RED, BLUE, world="Exits", config={"where": "observe", "raises": "MemoryError"})
    for look in (room.observe, room.view_through):
        room.world.n = 1  # type: ignore[attr-defined]
        with pytest.raises(GameCrash) as crashed:
            look(ALL)
        assert "42" not in crashed.value.message


def test_act_cannot_call_itself() -> None:
    room = make_room(RED, BLUE, world="Plain")
    with pytest.raises(BadArgs, match="cannot call itself"):
        room.call("ann", "act", {"action": "act", "params": {"action": "nod"}}, at=1)


@pytest.mark.parametrize("wrong", [{"action": 7}, {"params": []}, {"reasoning": 7}, {"action": None}, {"params": None}])
def test_act_refuses_a_name_parameters_or_a_reason_of_another_type(wrong: dict[str, Any]) -> None:
    room = make_room(RED, BLUE, world="Plain")
    with pytest.raises(BadArgs):
        room.call("ann", "act", {"action": "nod", "params": {}, "reasoning": "because", **wrong}, at=1)


@given(
    action=st.text(min_size=1, max_size=5) | st.just("act"),
    params=st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3) | st.lists(st.booleans())),
    why=st.none() | st.text(st.characters(categories=["L", "Cs"]), max_size=5) | st.integers() | st.just("w" * 9_000),
)
def test_act_reads_plain_arguments_and_actions_as_it_reads_json(action: str, params: dict[str, Any], why: Any) -> None:
    args = {"action": action, "params": params, "reasoning": why}
    try:
        read = msgspec.json.decode(msgspec.json.encode(args), type=acting.NamedAction)
    except ValueError:
        read = None
    for given_args in (args, Action(action, params, why)):
        if read is None or action == "act":
            with pytest.raises(BadArgs):
                acting.unwrap(given_args)
        else:
            assert acting.unwrap(given_args) == (action, params, read.reasoning and read.reasoning[:MAX_MESSAGE])


def test_rooms_with_worlds_of_one_class_share_their_commands_and_nothing_else() -> None:
    one, other = make_room(RED, BLUE, world="nim"), make_room(RED, BLUE, world="nim")
    assert one.commands is other.commands
    before = other.digest()
    one.call("ann", "take", {"n": 1}, at=1)
    one.call("bob", "act", {"action": "take", "params": {"n": 1}}, at=2)
    assert other.digest() == before
    assert one.call("ann", "heap", at=3) == other.call("ann", "heap", at=3) - 2


# -- computed actions -------------------------------------------------------------------------------
def test_computed_actions_are_commands_with_their_own_arguments_and_descriptions() -> None:
    room = room_of("toolbox", player("ann", 0), player("bob", 1), config={"tools": ["saw", "brush"]})
    for name in ("use_saw", "use_brush", "work_log"):
        assert name in room.commands
    assert "use_hammer" not in room.commands
    saw = room.commands.named("use_saw")
    assert (saw.doc, saw.needs_seat, saw.records) == ("Use the saw.", True, True)
    assert saw.schema["properties"]["times"] == {
        "type": "integer", "minimum": 1, "maximum": 3, "description": "how often", "default": 1,
    }  # fmt: skip
    assert room.call("ann", "use_saw", {"times": 2}, at=1).message == ""
    assert room.call("bob", "work_log", at=2) == ["left uses the saw on wood"] * 2
    with pytest.raises(BadArgs, match="times"):
        room.call("ann", "use_saw", {"times": 9}, at=3)
    with pytest.raises(UnknownCommand):
        room.call("ann", "use_hammer", at=3)
    assert "use_brush" in room.call("ann", "rules", at=4).actions


def test_computed_actions_replay_and_survive_a_snapshot() -> None:
    room = room_of("toolbox", player("ann", 0), config={"tools": ["saw"]})
    room.call("ann", "act", {"action": "use_saw", "params": {"on": "oak"}, "reasoning": "shelter"}, at=1)
    for back in (replayed(room), restored(room)):
        assert back.digest() == room.digest()
        assert back.call("ann", "use_saw", {"on": "elm"}, at=2).success


def test_a_world_cannot_compute_an_action_with_a_reserved_name() -> None:
    class Rude(type(make_world(str(SAMPLES / "toolbox.py"), {}))):  # type: ignore[misc]
        def actions(self) -> Any:
            return [msgspec.structs.replace(spec, name="whoami") for spec in super().actions()[:1]]

    with pytest.raises(BadArgs, match="'whoami' is reserved"):
        found = Scenario(agents=[player("ann", 0)])
        Room.create(opening_state(found, Rude(), "toolbox", "room-1", 1, SECRET), Rude(), 0)


# -- rewards ----------------------------------------------------------------------------------------
def test_rewards_of_a_round_are_told_to_each_seat_alone_and_shown_in_its_view() -> None:
    room = room_of("harvest", player("ann", 0), player("bob", 1), player("cy", 2), AgentSpec(id="bot"), HOST, GOD)
    assert room.call("ann", "take", {"baskets": 1}, at=1).reward == 0
    room.call("bob", "take", {"baskets": 2}, at=2)
    last = room.call("cy", "take", {"baskets": 3}, at=3)
    assert last.reward == 3, "the submission that completes the round gets its reward at once"
    for who, own in (("ann", 1), ("bob", 2), ("cy", 3)):
        assert heard(room, who) == [f"Reward: +{own} (total {own})"]
        view = room.call(who, "view", at=4)
        assert (view.total_reward, f"Your total reward: {own}" in view.text) == (own, True)
    for who in ("bot", "hostess"):
        assert heard(room, who) == []
        assert room.call(who, "view", at=4).total_reward is None
    everybody = ["ann: Reward: +1 (total 1)", "bob: Reward: +2 (total 2)", "Reward: +3 (total 3)"]  # by cy
    assert heard(room, "zeus") == everybody, "a member that sees everything sees all rewards, and whose they are"


@pytest.mark.parametrize("world", ["lanterns", "statecraft"])
def test_a_world_that_does_not_tell_rewards_shows_none_in_its_views(world: str) -> None:
    room = make_room(RED, BLUE, world=world)
    assert room.world.returns()
    view = room.call("ann", "view", at=1)
    assert (view.total_reward, "total reward" in view.text) == (None, False)


def test_a_round_that_gives_nothing_tells_no_reward() -> None:
    room = room_of("harvest", player("ann", 0), player("bob", 1), player("cy", 2))
    for at, who in enumerate(("ann", "bob", "cy")):
        assert room.call(who, "take", {"baskets": 3}, at=at).reward == 0
    assert heard(room, "ann") == []
    assert room.call("ann", "view", at=4).total_reward == 0


def test_rewards_of_a_round_that_ran_out_of_time_are_told_too() -> None:
    room = room_of("harvest", player("ann", 0), player("bob", 1), player("cy", 2), turn_seconds=10)
    room.call("ann", "take", {"baskets": 2}, at=1)
    room.settle(10_000)
    assert heard(room, "ann") == ["Reward: +2 (total 2)"]
    assert heard(room, "bob") == []
    assert replayed(room).digest() == room.digest()


def test_rewards_per_tick_are_differences_since_the_last_report() -> None:
    room = room_of("drift", player("ann", 0), player("bob", 1))
    assert room.call("ann", "trim", {"sail": 2}, at=1).reward == 0
    room.system("ticks", {"n": 3}, 2)
    assert heard(room, "ann") == ["Reward: +6 (total 6)"]
    assert heard(room, "bob") == []
    room.call("bob", "trim", {"sail": 2}, at=3)
    room.system("ticks", {"n": 2}, 4)
    assert heard(room, "ann")[1:] == ["Reward: +2 (total 8)"]
    assert heard(room, "bob") == ["Reward: +2 (total 2)"]
    for back in (replayed(room), restored(room)):
        assert back.state.returns == {"otter": 8.0, "heron": 2.0}
        assert back.digest() == room.digest()


def test_an_action_is_rewarded_by_the_worlds_own_account_at_any_pace() -> None:
    room = room_of("drift", player("ann", 0), player("bob", 1), config={"live": False})
    assert room.pace == "turns"
    assert room.call("ann", "trim", {"sail": 3}, at=1).reward == 3
    assert room.call("bob", "trim", {"sail": 3}, at=2, key="k").reward == 2
    assert room.call("bob", "trim", {"sail": 3}, at=3, key="k").reward == 2, "a repeated call gets the same reply"
    assert heard(room, "ann") == ["Reward: +3 (total 3)", "Reward: +2 (total 5)"]


def test_a_rematch_counts_rewards_from_0_again() -> None:
    room = room_of("drift", player("ann", 0), player("bob", 1), GOD, config={"live": False})
    room.call("ann", "trim", {"sail": 3}, at=1)
    room.call("zeus", "rematch", at=2)
    assert room.state.returns == {"otter": 0.0, "heron": 0.0}
    assert room.call("ann", "trim", {"sail": 1}, at=3).reward == 1


def test_a_total_that_is_not_a_number_is_a_crash_and_is_rolled_back(tmp_path: Path) -> None:
    file = tmp_path / "drift.py"
    text = (SAMPLES / "drift.py").read_text()
    bad = text.replace(
        "return dict(self.totals)", "return {s: float('inf') if t > 5 else t for s, t in self.totals.items()}"
    )
    file.write_text(bad)
    world = make_world(str(file), {})
    found = Scenario(agents=[player("ann", 0), player("bob", 1)], world=str(file))
    room = Room.create(opening_state(found, world, str(file), "room-1", 7, SECRET), world, 0)
    room.call("ann", "trim", {"sail": 3}, at=1)
    before = room.digest()
    with pytest.raises(GameCrash, match="ValueError"):
        room.system("ticks", {"n": 3}, 2)
    assert room.digest() == before


# -- a pace by config -------------------------------------------------------------------------------
@pytest.mark.uses("game_clock")
def test_the_commands_of_a_room_follow_the_pace_that_the_config_gives() -> None:
    live, turns = (room_of("drift", player("ann", 0), player("bob", 1), config={"live": x}) for x in (True, False))
    assert ("pause" in live.commands, "pause" in turns.commands) == (True, False)
    assert turns.call("ann", "whoami", at=1).your_turn
    assert not turns.call("bob", "whoami", at=1).your_turn


@pytest.mark.parametrize(
    ("live", "keys"), [(True, {"turn_seconds": 5}), (False, {"speed": "x2"}), (False, {"turn_based": True})]
)
def test_settings_are_checked_against_the_pace_that_the_config_gives(live: bool, keys: dict[str, Any]) -> None:
    with pytest.raises(BadArgs):
        room_of("drift", player("ann", 0), player("bob", 1), config={"live": live}, **keys)


# -- arrivals ---------------------------------------------------------------------------------------
def guests(count: int) -> list[AgentSpec]:
    return [player(f"g{i}", name=f"Guest {i}") for i in range(count)]


def bag(room: Room, who: str) -> Any:
    return room.call(who, "view", at=room.record.at).observation.status.get("bag")


def test_a_seat_opens_for_a_member_that_sits_down_while_the_game_runs() -> None:
    room = room_of("inn", *guests(2), HOST)
    assert room.state.seats == []
    assert room.call("g0", "sit", at=1).seat == "bed-1"
    assert [(seat.id, seat.name) for seat in room.state.seats] == [("bed-1", "Guest 0")]
    room.call("g0", "pack", {"what": "lantern"}, at=2)
    assert room.call("g1", "sit", at=3).seat == "bed-2"
    assert (bag(room, "g0"), bag(room, "g1"), bag(room, "hostess")) == (["lantern"], [], None)
    assert "Guest 0, Guest 1" in room.call("hostess", "view", at=4).text
    assert room.call("g0", "sit", at=5).seat == "bed-1", "sitting down twice changes nothing"
    for back in (replayed(room), restored(room)):
        assert back.digest() == room.digest()


def test_a_member_can_ask_for_a_seat_by_name_where_the_world_allows_it() -> None:
    room = room_of("inn", *guests(2))
    assert room.call("g0", "sit", {"seat": "attic"}, at=1).seat == "attic"
    with pytest.raises(Conflict, match="g0"):
        room.call("g1", "sit", {"seat": "attic"}, at=2)


def test_a_refused_arrival_changes_nothing_and_a_departure_makes_space() -> None:
    room = room_of("inn", *guests(6))
    for i in range(4):
        room.call(f"g{i}", "sit", at=i)
    before = room.digest()
    with pytest.raises(GameRejected, match="every bed is taken"):
        room.call("g4", "sit", at=5)
    assert room.digest() == before
    room.call("g0", "stand_up", at=6)
    assert room.call("g4", "sit", at=7).seat == "bed-5"
    assert [seat.id for seat in room.state.seats] == ["bed-2", "bed-3", "bed-4", "bed-5"]
    assert replayed(room).digest() == room.digest()


@pytest.mark.parametrize("leaving", ["stand_up", "remove_member"])
def test_the_world_is_told_of_a_departure_and_how_it_happened(leaving: str, monkeypatch: pytest.MonkeyPatch) -> None:
    room = room_of("inn", *guests(1), HOST)
    room.call("g0", "sit", at=1)
    modes: list[str] = []
    depart = room.world.depart
    monkeypatch.setattr(type(room.world), "depart", lambda self, seat, mode: modes.append(mode) or depart(seat, mode))
    if leaving == "stand_up":
        room.call("g0", "stand_up", at=2)
    else:
        room.call("hostess", "remove_member", {"member": "g0"}, at=2)
    assert modes == ["left" if leaving == "stand_up" else "removed"]
    assert room.state.seats == []


def test_a_member_that_left_returns_to_its_own_seat_and_to_no_other() -> None:
    room = room_of("inn", *guests(2))
    room.call("g0", "sit", at=1)
    room.call("g1", "sit", at=2)
    room.call("g0", "stand_up", at=3)
    with pytest.raises(GameRejected, match="you have already played seat bed-1"):
        room.call("g0", "sit", {"seat": "bed-2"}, at=4)
    with pytest.raises(GameRejected, match="you have already played seat bed-1"):
        room.call("g0", "sit", {"seat": "attic"}, at=4)
    assert room.call("g0", "sit", at=5).seat == "bed-1"


def test_starting_seats_and_later_arrivals_play_together_and_a_rematch_begins_with_the_claims() -> None:
    room = room_of("inn", player("ann", 0), *guests(1), GOD)
    assert [seat.id for seat in room.state.seats] == ["1"]
    room.call("g0", "sit", at=1)
    assert [seat.id for seat in room.state.seats] == ["1", "bed-1"]
    room.call("zeus", "rematch", at=2)
    assert [seat.id for seat in room.state.seats] == ["1"]
    assert (room.state.members["ann"].seat, room.state.members["g0"].seat) == ("1", None)
    assert room.call("g0", "sit", at=3).seat == "bed-1"
    assert replayed(room).digest() == room.digest()


def patched(room: Room, monkeypatch: pytest.MonkeyPatch, arrive: Any) -> None:
    monkeypatch.setattr(type(room.world), "arrive", arrive)


def test_a_world_that_gives_a_seat_it_does_not_list_has_crashed(monkeypatch: pytest.MonkeyPatch) -> None:
    room = room_of("inn", *guests(1))
    before = room.digest()
    patched(room, monkeypatch, lambda self, arrival: Seat("nowhere"))
    with pytest.raises(GameCrash):
        room.call("g0", "sit", at=1)
    assert room.digest() == before


def test_a_world_that_gives_a_seat_that_another_member_holds_has_crashed(monkeypatch: pytest.MonkeyPatch) -> None:
    room = room_of("inn", *guests(2))
    room.call("g0", "sit", at=1)
    before = room.digest()
    arrive = type(room.world).arrive
    patched(room, monkeypatch, lambda self, a: Seat("bed-1") if a.name == "Guest 1" else arrive(self, a))
    with pytest.raises(GameCrash):
        room.call("g1", "sit", at=2)
    assert room.digest() == before
    assert room.state.members["g0"].seat == "bed-1"


def test_a_world_that_changes_before_it_refuses_an_arrival_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def hasty(self: Any, arrival: Arrival) -> Seat:
        self.arrived += 1
        raise GameRejected("no beds today")

    room = room_of("inn", *guests(1))
    patched(room, monkeypatch, hasty)
    with pytest.raises(Quarantined, match="before refusing arrive"):
        room.call("g0", "sit", at=1)


def test_a_departure_that_fails_is_rolled_back(monkeypatch: pytest.MonkeyPatch) -> None:
    room = room_of("inn", *guests(1))
    room.call("g0", "sit", at=1)
    before = room.digest()

    def failing(self: World, seat: Seat, mode: str) -> Outcome:
        raise KeyError(seat.id)

    monkeypatch.setattr(type(room.world), "depart", failing)
    with pytest.raises(GameCrash):
        room.call("g0", "stand_up", at=2)
    assert room.digest() == before
    assert room.state.members["g0"].seat == "bed-1"


def test_a_watcher_cannot_arrive() -> None:
    room = room_of("inn", AgentSpec(id="bot"), player("ann"))
    with pytest.raises(PermissionDenied):
        room.call("bot", "sit", at=1)


def test_a_world_that_refuses_to_be_observed_says_so_in_its_own_words() -> None:
    room = make_room(RED, BLUE, world="Gloomy", config={"fails_in": "observe"})
    room.world.moves = 1  # type: ignore[attr-defined]
    looks = (lambda: room.observe(ALL), lambda: room.view_through(ALL), lambda: room.view(room.state.members["ann"]),
             lambda: room.observe_with_choices(room.state.members["ann"]))  # fmt: skip
    for look in looks:
        with pytest.raises(GameRejected, match="too dark"):
            look()
    with pytest.raises(GameRejected, match="too dark"):
        room.call("ann", "view", at=1)


def test_a_view_is_made_once_for_all_who_see_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    room = make_room(RED, OBSERVER, {"id": "hen", "role": "observer"}, world="Plain")
    made: list[Eye] = []
    observe = room.world.observe
    monkeypatch.setattr(room, "_observe", lambda eye: made.append(eye) or observe(eye))
    for _ in range(2):
        for who in ("owl", "hen", "ann"):
            room.view(room.state.members[who])
    assert made == [ALL, Eye("one", "own")]
    room.call("ann", "move", at=1, look=False)
    room.view(room.state.members["owl"])
    assert made[2:] == [ALL], "after an entry it is made again"


def test_a_parameter_that_may_be_null_or_of_several_kinds_is_described_by_its_values() -> None:
    def try_it(
        ctx: Any,
        few: Annotated[int, msgspec.Meta(ge=1, le=3, description="how many")] | None = None,
        any_of: Annotated[int, msgspec.Meta(ge=1)] | str = "x",
        plain: bool = False,
    ) -> None:
        """Try it."""

    asked = Command("try_it", try_it, Options(category="meta")).as_action()
    few, any_of, plain = asked.parameters
    assert (few.type, few.minimum, few.maximum, few.description) == ("integer", 1, 3, "how many")
    assert (any_of.type, any_of.minimum, any_of.maximum) == ("integer or string", None, None)
    assert (plain.type, plain.required) == ("boolean", False)


def test_a_module_declares_its_own_commands_and_not_those_that_it_imports() -> None:
    mine, theirs = ModuleType("mine"), ModuleType("theirs")

    @command(category="meta")
    def try_it(ctx: Any) -> None:
        """Try it."""

    try_it.__module__ = "mine"
    vars(mine)["try_it"] = vars(theirs)["try_it"] = try_it
    assert [found.name for found in declared_in(mine)] == ["try_it"]
    assert list(declared_in(theirs)) == []


def test_what_is_as_usual_is_left_out_of_session_info_and_whoami() -> None:
    room = make_room(RED, OBSERVER, world="Ticker")
    info = msgspec.to_builtins(room.call("ann", "session_info", at=1))
    shown = [
        "room",
        "world",
        "scenario",
        "partial_intel",
        "turn_based",
        "ends_turns",
        "member_count",
        "members",
        "seats",
    ]
    assert [key for key in info if key != "notice"] == [*shown, "to_move", "over", "speed", "front_end"]
    room.call("ann", "drop", at=2)
    room.system("ticks", {"n": 1}, 3)
    assert msgspec.to_builtins(room.call("ann", "session_info", at=4))["tick"] == 1
    me = msgspec.to_builtins(room.call("owl", "whoami", at=5))
    assert not {"seat", "claim", "team", "through"} & me.keys()


INTERRUPTED: dict[str, Callable[[Room], object]] = {
    "action": lambda room: room.call("ann", "add", {"n": 1}, at=1),
    "query": lambda room: room.call("ann", "number", at=1),
    "scope": lambda room: room.call("ann", "safe", at=1),
    "legal": lambda room: room.call("ann", "view", at=1),
    "legal of an observation": lambda room: room.observe_with_choices(room.state.members["ann"]),
    "observe": lambda room: room.observe(ALL),
    "observe for a view": lambda room: room.view_through(ALL),
    "observe after an action": lambda room: room.call("ann", "safe", at=1),
    "advance": lambda room: room.system("ticks", {"n": 1}, 1),
    "clock": lambda room: room.call("hostess", "pause", at=1),
}


@pytest.mark.parametrize("where", INTERRUPTED)
def test_an_interruption_of_the_world_is_no_crash_and_reaches_the_one_who_runs_the_room(where: str) -> None:
    room = make_room(
        RED, BLUE, HOST_AGENT, world="Exits", config={"where": where.split()[0], "raises": "WorldInterrupted"}
    )
    room.world.n = 1  # type: ignore[attr-defined]
    before = room.record.seq
    with pytest.raises(WorldInterrupted):
        INTERRUPTED[where](room)
    assert room.record.seq - before == (where == "observe after an action")
    assert not room.audit.kept


def test_an_interruption_while_a_record_is_replayed_does_not_make_it_damaged() -> None:
    room = make_room(RED, BLUE, world="Exits")
    room.system("ticks", {"n": 1}, 1)

    def interrupted(source: str, config: Mapping[str, Any]) -> World:
        return make_world(source, {**config, "where": "advance", "raises": "WorldInterrupted"})

    with pytest.raises(WorldInterrupted):
        Room.replay(whole(room), interrupted)


def test_an_action_after_which_the_world_shows_a_negative_step_is_rolled_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TicTacToe, "observe", lambda world, eye: Observation(step=-world.moves))
    room = make_room(world="tictactoe")
    before = room.digest()
    with pytest.raises(GameCrash):
        room.call("ann", "mark", {"cell": 0}, at=1)
    assert room.digest() == before


def test_a_world_with_a_snapshot_of_its_own_keeps_its_dict() -> None:
    class Scripted(TicTacToe):
        def __init__(self) -> None:
            self.script_sees = vars(self)

        def snapshot(self) -> bytes:
            return str(self.board).encode()

    plan, world = Scenario(world="tictactoe", agents=[player("ann", 0)]), Scripted()
    room = Room.create(opening_state(plan, world, "tictactoe", "room-1", 7, SECRET), world, 0)
    room.call("ann", "mark", {"cell": 0}, at=1)
    assert world.script_sees["moves"] == 1
