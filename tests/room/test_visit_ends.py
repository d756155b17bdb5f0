"""Visits end by themselves: after as many steps as wanted, by exit conditions, and when the game is over."""

from typing import Any

import pytest

from cohabit.errors import CohabitError, GameRejected, PermissionDenied
from cohabit.features.bodies.state import BODIES, Career, avatars_in
from cohabit.features.visits.state import VISITS
from cohabit.model.avatar import AvatarState
from cohabit.model.travel import ExitPackage
from cohabit.room.decide import offers
from cohabit.room.room import Room
from cohabit.room.seeing.info import allowed_commands
from cohabit.worlds.crafter.rules import ACHIEVEMENTS

from .avatar_machine import CAVES
from .caves import bodies
from .making import GOD, HOST, make_room, replayed
from .visiting import ADA, act, ended, enter, game, told


def test_a_visit_ends_after_as_many_steps_as_the_agent_wanted_and_not_before() -> None:
    room = game()
    assert enter(room, max_steps=3).max_steps == 3
    for _ in range(2):
        act(room, "go", place="pit")
        assert ended(room) is None
    reply = act(room, "go", place="hall")
    assert reply.observation is not None  # the last step is answered like any other …
    assert reply.message.endswith("Your visit is over (max_steps): you are on your way to the Nexus.")  # … and says so
    assert reply.to_move == []
    for again in ({"action": "go", "params": {"place": "pit"}}, {"action": "exit_game"}):
        with pytest.raises(CohabitError, match="your visit is over: you are on your way to the Nexus"):
            act(room, "act", **again)
    package = ended(room)
    assert package is not None
    assert (package.reason, package.steps, package.avatar_state) == ("max_steps", 3, "dormant")
    assert bodies(room)["1"].place == "hall"
    assert bodies(room)["1"].asleep
    assert "Your visit is over (max_steps). You are on your way to the Nexus." in told(room)


def test_the_view_of_a_visitor_says_how_its_visit_ends() -> None:
    room = game()
    wishes = {
        "max_steps": 9,
        "exit_conditions": ["goal_complete", "bored"],
        "goals": ["eat\nlots"],
        "difficulty": "hard",
    }
    enter(room, **wishes)
    act(room, "go", place="hall")
    line = "Your visit: step 1 of 9; ends by itself: goal_complete (one of your goals); difficulty hard; "
    assert f"{line}your goals: eat lots. `exit_game` ends it." in act(room, "view").text
    enter(room, "id-bea", "bea")
    assert "You are on a visit; `exit_game` ends it." in act(room, "view", "bea").text
    assert "visit" not in room.call("hostess", "view", at=20).text


def test_what_is_refused_or_only_looked_at_is_no_step() -> None:
    room = game()
    enter(room, max_steps=1)
    with pytest.raises(GameRejected, match="go to one of"):
        act(room, "go", place="nowhere")
    act(room, "view")
    act(room, "look", target="pit")
    assert ended(room) is None


def test_a_body_in_danger_is_left_when_it_is_safe_and_its_agent_can_act_until_then() -> None:
    room = game()
    enter(room, max_steps=1)
    act(room, "go", place="ledge")
    assert ended(room) is None
    assert "Your visit ends as soon as your body is safe (max_steps)" in told(room)
    act(room, "go", place="ledge")
    assert told(room).count("Your visit ends as soon as your body is safe (max_steps)") == 1
    act(room, "go", place="hall")
    package = ended(room)
    assert package is not None
    assert (package.reason, package.steps) == ("max_steps", 3)


@pytest.mark.parametrize("condition", ["health < 3", "health <= 67%", "Health < 70 %"])
def test_a_visit_ends_when_the_health_is_low(condition: str) -> None:
    room = game()
    assert enter(room, exit_conditions=[condition, "bored"]).enforced == (condition,)
    enter(room, "id-bea", "bea")
    act(room, "go", place="hall")
    assert ended(room) is None
    act(room, "hit", "bea", whom="1")
    package = ended(room)
    assert package is not None
    assert (package.identity, package.reason) == (ADA, condition)
    assert avatars_in(room.state)[package.avatar_id].state is AvatarState.DORMANT
    assert "id-bea" in VISITS.read(room.state).visits


def test_a_visit_ends_by_death_and_the_dead_body_stays_what_it_is() -> None:
    room = game()
    enter(room, exit_conditions=["died"])
    act(room, "jump")
    package = ended(room)
    assert package is not None
    assert (package.reason, package.deaths, package.avatar_state) == ("died", 1, "destroyed")


@pytest.mark.parametrize("last", ["jump", "exit_game"])
def test_after_its_visit_an_agent_takes_no_body_until_the_nexus_has_what_it_did(last: str) -> None:
    room = game()
    enter(room, exit_conditions=["died"])
    act(room, last)
    package = ended(room)
    assert package is not None
    for name in ("respawn", "jack_in", "sit"):
        with pytest.raises(PermissionDenied, match="your visit is over: you are on your way to the Nexus"):
            act(room, name)
    ada = room.state.members["ada"]
    offered = {command.name for command in allowed_commands(room, ada) if offers(room, ada, command)}
    assert not offered & {"respawn", "jack_in", "sit", "go", "take"}
    text = act(room, "view").text
    assert "jack_in" not in text
    assert "Your visit is over: you are on your way to the Nexus." in text
    act(room, "send_message", to="hostess", content="farewell")
    room.system("visit_closed", {"ticket": package.ticket}, 20)
    assert room.member_of(ADA) is None
    enter(room, at=30)
    back = room.member_of(ADA)
    assert back is not None
    act(room, "go", back.id, place="pit", at=30)


def test_a_visitor_plays_on_while_the_nexus_does_not_know_yet_that_another_has_left() -> None:
    room = game()
    enter(room)
    enter(room, "id-bea", "bea")
    act(room, "exit_game")
    assert ended(room) is not None
    assert act(room, "go", "bea", place="pit").success
    bea = room.state.members["bea"]
    assert offers(room, bea, room.commands.named("go"))


@pytest.mark.parametrize("last", ["exit_game", "leave"])
def test_who_leaves_and_becomes_a_member_again_is_one_in_its_own_right(last: str) -> None:
    room = game()
    enter(room)
    act(room, last)
    package = ended(room)
    assert package is not None
    if room.member_of(ADA) is not None:
        act(room, "leave")
    room.system("admitted", {"handle": "ada", "kind": "agent", "identity": ADA, "role": "player"}, 30)
    back = room.member_of(ADA)
    assert back is not None
    act(room, "jack_in", back.id, at=30)
    room.system("visit_closed", {"ticket": package.ticket}, 30)
    act(room, "go", back.id, place="pit", at=30)
    assert ended(room) is None


def test_who_was_a_member_before_its_visit_plays_on_after_it() -> None:
    room = game()
    room.system("admitted", {"handle": "ada", "kind": "agent", "identity": ADA, "role": "player"}, 10)
    package = {"ticket": "t-1", "identity": ADA, "name": "ada"}
    room.system("transit_in", {"package": package, "admitted": False}, 10)
    act(room, "exit_game")
    assert ended(room) is not None
    act(room, "jack_in")
    act(room, "go", place="pit")


def test_a_visit_ends_by_a_number_of_steps_and_by_time_also_if_nothing_happens() -> None:
    room = game()
    enter(room, exit_conditions=["steps >= 2"])
    act(room, "go", place="pit")
    assert ended(room) is None
    act(room, "go", place="pit")
    package = ended(room)
    assert package is not None
    assert package.reason == "steps >= 2"

    room = game()
    enter(room, exit_conditions=["playtime >= 60", "playtime >= 2 min"])
    assert room.next_deadline() == 60_010
    assert ended(room, at=60_009) is None
    package = ended(room, at=60_010)
    assert package is not None
    assert (package.reason, package.playtime_ms) == ("playtime >= 60", 60_000)


def test_the_time_of_a_visit_does_not_run_while_the_house_is_down() -> None:
    room = game()
    enter(room, exit_conditions=["playtime >= 60"])
    room.system("opened", {"gap": 1_000_000}, 1_000_010)
    assert ended(room, at=1_060_009) is None
    assert ended(room, at=1_060_010) is not None


@pytest.mark.parametrize("goals", [(), ("Go",)])
def test_a_visit_ends_when_a_meta_goal_is_reached(goals: tuple[str, ...]) -> None:
    room = game()
    enter(room, exit_conditions=["goal_complete"], goals=list(goals))
    act(room, "go", place="pit")
    assert ended(room) is None
    room.system("meta_goal", {"identity": ADA, "text": "You have reached it."}, 30)
    package = ended(room, 30)
    assert package is not None
    assert package.reason == "goal_complete"


def test_a_visit_ends_when_a_goal_that_is_an_achievement_of_the_world_is_reached() -> None:
    room = game("crafter_shared")
    enter(room, exit_conditions=["goal_complete"], goals=["wake up", "Collect Sapling"])
    player = room.world.game.players[0]  # type: ignore[attr-defined]
    player.achievements[ACHIEVEMENTS.index("collect_drink")] = 1
    act(room, "noop")
    assert ended_in_crafter(room) is None
    player.achievements[ACHIEVEMENTS.index("collect_sapling")] = 1
    act(room, "noop")
    package = ended_in_crafter(room)
    assert package is not None
    assert package.reason == "goal_complete"


def ended_in_crafter(room: Room) -> ExitPackage | None:
    """Without a replay: the test has changed the world by hand."""
    room.settle(20)
    return next(iter(VISITS.read(room.state).leaving.values()), None)


def test_a_new_body_in_the_same_round_gives_no_step_and_no_time() -> None:
    room = game("crafter_shared", turn_seconds=10)
    enter(room)
    enter(room, "id-bea", "bea")
    for at in range(20, 9_020, 1_000):
        act(room, "noop", at=at)
        act(room, "jack_out", at=at)
        act(room, "jack_in", at=at)
    assert VISITS.read(room.state).visits[ADA].steps == 1
    act(room, "noop", at=9_020)
    before = room.world.game.step_number  # type: ignore[attr-defined]
    room.settle(10_020)  # bea has chosen nothing
    assert room.world.game.step_number == before + 1  # type: ignore[attr-defined]
    act(room, "noop", at=10_030)
    assert VISITS.read(room.state).visits[ADA].steps == 2
    assert act(room, "exit_game", at=10_040).steps == 1  # the second does not happen any more


def test_a_visitor_that_may_not_act_any_more_can_go_home_without_anything() -> None:
    room = game()
    enter(room)
    act(room, "take", item="gold")
    room.call("hostess", "narrow", {"member": "ada", "may": ["act"]}, at=20)
    with pytest.raises(CohabitError, match="leave without `carry`"):
        act(room, "exit_game", carry={"gold": 1})
    act(room, "exit_game")
    package = ended(room)
    assert package is not None
    assert package.items == {}


def test_in_rounds_the_last_choice_is_carried_out_before_the_visit_ends() -> None:
    room = game("crafter_shared")
    enter(room, max_steps=1)
    enter(room, "id-bea", "bea")
    act(room, "noop")
    assert ended(room) is None  # bea has not chosen yet
    act(room, "noop", "bea")
    package = ended(room)
    assert package is not None
    assert (package.reason, package.steps) == ("max_steps", 1)
    assert room.world.game.step_number == 1  # type: ignore[attr-defined]


def test_conditions_that_nobody_but_the_agent_can_judge_are_notes_and_are_said_to_it() -> None:
    room = game()
    entered = enter(room, exit_conditions=["bored", "health < 1", "it rains"], max_steps=9)
    assert (entered.enforced, entered.notes) == (("health < 1",), ("bored", "it rains"))
    assert told(room)[-1] == (
        "your visit ends after 9 steps; your visit ends by itself: health < 1; leave when: bored; leave when: it rains"
    )


def test_where_there_are_no_bodies_health_and_death_are_notes_and_steps_are_counted() -> None:
    room = game("nim")
    entered = enter(room, exit_conditions=["health < 10%", "died", "steps >= 1"])
    assert (entered.enforced, entered.notes) == (("steps >= 1",), ("health < 10%", "died"))
    enter(room, "id-bea", "bea")
    first = next(m for m in room.state.members.values() if m.seat in room.to_move())
    act(room, "take", first.id, **_nim_move(room))
    if first.identity != ADA:
        assert ended(room) is None
        act(room, "take", "ada", **_nim_move(room))
    package = ended(room)
    assert package is not None
    assert (package.identity, package.reason) == (ADA, "steps >= 1")
    assert room.state.members["ada"].seat is None


def _nim_move(room: Room) -> dict[str, Any]:
    seat = room.to_move()[0]
    return dict(room.world.legal(room.seats[seat])[0].parameters)


def test_when_the_game_is_over_its_visitors_return_by_themselves() -> None:
    room = game("nim")
    enter(room)
    enter(room, "id-bea", "bea")
    at = 20
    while not room.is_over():
        mover = next(m for m in room.state.members.values() if m.seat in room.to_move())
        at += 10
        act(room, "take", mover.id, at=at, **_nim_move(room))
    room.settle(at)
    assert sorted(package.reason for package in VISITS.read(room.state).leaving.values()) == ["game_over", "game_over"]
    assert not VISITS.read(room.state).visits
    assert replayed(room).digest() == room.digest()


def test_where_another_game_begins_by_itself_visitors_stay_for_it() -> None:
    room = game("nim", rematch_seconds=60)
    enter(room)
    enter(room, "id-bea", "bea")
    while not room.is_over():
        mover = next(m for m in room.state.members.values() if m.seat in room.to_move())
        act(room, "take", mover.id, **_nim_move(room))
    room.settle(30)
    assert len(VISITS.read(room.state).visits) == 2


def test_a_visit_without_a_body_ends_too() -> None:
    room = game()
    enter(room, exit_conditions=["playtime >= 1"])
    act(room, "jack_out")
    package = ended(room, 2_000)
    assert package is not None
    assert (package.reason, package.avatar_state) == ("playtime >= 1", "dormant")


@pytest.mark.parametrize("place", ["hall", "ledge", "pit"])
def test_archiving_a_room_ends_its_visits_with_what_was_done_wherever_the_body_is(place: str) -> None:
    room = game()
    enter(room)
    act(room, "take", item="gold")
    act(room, "go", place=place)
    act(room, "archive", "hostess")
    package = ended(room, 5_000)
    assert package is not None
    assert (package.reason, package.deeds["take"]) == ("archived", 1)
    assert package.avatar_state == ("dormant" if place == "ledge" else "suspended")
    assert not any(avatar.by for avatar in avatars_in(room.state).values())
    assert room.next_deadline() is None
    assert replayed(room).digest() == room.digest()


def test_a_body_in_an_archived_room_can_be_entered_again_when_the_room_is_back() -> None:
    room = game()
    enter(room)
    act(room, "take", item="gold")
    act(room, "archive", "hostess")
    package = ended(room, 5_000)
    assert package is not None
    room.system("visit_closed", {"ticket": package.ticket}, 5_001)
    room.call("hostess", "unarchive", at=900_000)
    enter(room, at=900_001)
    assert room.world.body(room.member_of(ADA).seat).inventory == {"gold": 1}  # type: ignore[union-attr]


def test_an_agent_that_gets_no_body_is_on_no_visit_and_can_come_later() -> None:
    room = make_room(HOST, GOD, world=CAVES)
    room.call("hostess", "open_to_nexus", at=1)
    room.call("zeus", "bar", {"barred": True}, at=2)
    with pytest.raises(CohabitError, match="the door is barred"):
        enter(room)
    assert (VISITS.read(room.state).visits, VISITS.read(room.state).tickets, avatars_in(room.state)) == ({}, {}, {})
    room.call("zeus", "bar", {"barred": False}, at=12)
    room.system("transit_in", {"package": {"ticket": "t-2", "identity": ADA, "name": "ada"}}, 13)
    assert VISITS.read(room.state).visits[ADA].ticket == "t-2"


def test_only_the_first_body_of_an_agent_has_the_bonuses_that_it_brings() -> None:
    room = game()
    found = enter(room, bonuses={"health_bonus": 2}, spawn="challenging")
    body = bodies(room)["1"]
    assert (body.health, body.place) == (5, "pit")
    assert (
        VISITS.read(room.state).visits[ADA].bonuses
        == avatars_in(room.state)[found.avatar].bonuses
        == {"health_bonus": 2}
    )
    act(room, "exit_game", mode="despawn")
    room.system("visit_closed", {"ticket": f"t-{ADA}-10"}, 30)
    enter(room, at=40, bonuses={"health_bonus": 2})
    assert bodies(room)["2"].health == 3
    assert VISITS.read(room.state).visits[ADA].bonuses == {}


def test_what_an_agent_takes_back_is_the_sum_of_its_sessions_in_the_visit() -> None:
    room = game()
    enter(room)
    act(room, "go", at=1_010, place="pit")
    act(room, "jack_out", at=1_010)
    act(room, "jack_in", at=5_000)
    act(room, "go", at=5_000, place="hall")
    act(room, "take", at=5_000, item="gold")
    act(room, "jump", at=7_000)
    act(room, "respawn", at=9_000)
    exited = act(room, "exit_game", at=10_000, remember=["the ledge is steep"])
    package = ended(room, 10_000)
    assert package is not None
    assert package.deeds == exited.deeds == {"go": 2, "take": 1, "jump": 1}
    assert (package.steps, package.reward, package.deaths, package.playtime_ms) == (4, 4.0, 1, 4_000)
    assert (exited.steps, exited.reward, exited.deaths, exited.playtime) == (4, 4.0, 1, 4)
    assert package.memories == ("the ledge is steep",)
    assert [(body.avatar_id, body.state) for body in package.bodies] == [(package.avatar_id, "dormant")]


def test_the_health_of_a_body_that_was_left_ends_no_visit() -> None:
    room = game()
    enter(room, exit_conditions=["health < 3"])
    act(room, "jack_out")
    assert ended(room) is None


def test_without_bodies_a_visit_ends_by_no_goal_but_a_meta_goal() -> None:
    room = game("nim")
    enter(room, exit_conditions=["goal_complete"], goals=["win"])
    assert ended(room) is None
    room.system("meta_goal", {"identity": ADA, "text": "You have reached it."}, 30)
    assert ended(room, 30) is not None


def test_an_achievement_that_an_earlier_body_of_the_visit_has_reached_counts() -> None:
    room = game("crafter_shared")
    enter(room, exit_conditions=["goal_complete"], goals=["Collect Sapling"])
    BODIES.change(room.state).careers[ADA] = Career(deeds={"achievement:collect_sapling": 1})
    act(room, "noop")
    package = ended_in_crafter(room)
    assert package is not None
    assert package.reason == "goal_complete"


def test_an_agent_that_arrives_when_the_game_has_just_ended_stays() -> None:
    room = game("nim")
    for identity, handle in ((ADA, "ada"), ("id-bea", "bea")):
        admitted = {"handle": handle, "kind": "agent", "identity": identity, "role": "player"}
        room.system("admitted", admitted, 2)
        room.call(handle, "sit", at=3)
    while not room.is_over():
        mover = next(m for m in room.state.members.values() if m.seat in room.to_move())
        act(room, "take", mover.id, **_nim_move(room))
    assert room.state.over_since == 20
    room.system("transit_in", {"package": {"ticket": "t-1", "identity": ADA, "name": "ada"}}, 20)
    assert ended(room, 30) is None
    assert ADA in VISITS.read(room.state).visits
