"""Arrivals from the Nexus and departures to it, as the room of a game records them."""

from typing import Any

import pytest

from cohabit.errors import BadArgs, CohabitError, Conflict, GameCrash, GameRejected, PermissionDenied
from cohabit.features.bodies.state import avatars_in
from cohabit.features.visits.state import VISITS
from cohabit.features.visits.transit import receipt
from cohabit.features.visits.visits import MAX_KINDS, ongoing
from cohabit.model.travel import Travel
from cohabit.room.decide import offers
from cohabit.room.room import Room

from .caves import bodies
from .making import entries, replayed, told_last
from .visiting import ADA, act, ended, enter, game, told


def arrive(room: Room, ticket: str = "t-2", at: int = 30, admitted: bool = False, **wishes: Any) -> Any:
    """The identity of ada arrives, which is a member already."""
    package = {"ticket": ticket, "identity": ADA, "name": "ada", **wishes}
    return room.system("transit_in", {"package": package, "admitted": admitted}, at)


def member(room: Room, **more: Any) -> None:
    """Ada joins without the Nexus."""
    room.system("admitted", {"handle": "ada", "kind": "agent", "identity": ADA, "role": "player", **more}, 5)


def carried(**items: int) -> list[dict[str, Any]]:
    return [{"origin": f"of-{item}", "item": item, "count": count} for item, count in items.items()]


def refused(room: Room, **wishes: Any) -> CohabitError:
    """Why an arrival is refused; it has changed nothing."""
    before = room.digest()
    with pytest.raises(CohabitError) as wrong:
        arrive(room, **wishes)
    assert room.digest() == before
    return wrong.value


# -- arriving -----------------------------------------------------------------------------------------
def test_everybody_is_told_who_arrives_and_who_returns_to_its_body() -> None:
    room = game()
    assert not enter(room).woken
    assert told_last(room)["hostess"] == ["ada arrives from the Nexus"]
    act(room, "exit_game")
    assert told_last(room)["hostess"] == ["ada leaves for the Nexus"]
    assert arrive(room).woken
    assert told_last(room)["hostess"] == ["ada returns to its body from the Nexus"]


def test_an_agent_is_told_its_goals_and_what_it_remembers_and_nobody_else_is() -> None:
    room = game()
    enter(room, goals=["find gold"], memories=["the ledge is steep"])
    assert told(room)[-1] == "goal: find gold; you remember: the ledge is steep"
    assert told_last(room)["hostess"] == ["ada arrives from the Nexus"]
    enter(room, "id-bea", "bea")
    assert told(room, "bea") == []


def test_the_same_ticket_brings_nobody_twice_and_is_answered_alike() -> None:
    room = game()
    first = enter(room, entering=carried(gold=2), max_steps=5)
    again = arrive(room, ticket=first.ticket)
    assert (again.ticket, again.member, again.seat, again.avatar) == (first.ticket, "ada", first.seat, first.avatar)
    assert (again.items, again.max_steps, again.woken) == ({"gold": 2}, 5, False)
    assert len(avatars_in(room.state)) == 1
    act(room, "exit_game", at=40)
    after = arrive(room, ticket=first.ticket, at=50)
    assert (after.ticket, after.member, after.seat, after.avatar) == (first.ticket, "ada", None, "")
    room.call("hostess", "remove_member", {"member": "ada"}, at=60)
    assert receipt(room, ADA).member == ""


def test_nobody_arrives_who_is_no_member_or_is_in_the_game_already() -> None:
    room = game()
    assert isinstance(refused(room), Conflict)
    enter(room)
    assert refused(room, ticket="t-3").message == "you are in this game already"


def test_a_member_that_controls_a_body_leaves_it_before_it_comes_through_the_nexus() -> None:
    room = game()
    member(room)
    act(room, "jack_in")
    assert "you control a body here already" in refused(room).message
    act(room, "jack_out")
    assert arrive(room).woken


def test_where_there_are_no_bodies_a_member_keeps_its_seat_or_gets_one() -> None:
    room = game("nim")
    member(room)
    seat = act(room, "sit").seat
    assert arrive(room).seat == seat
    assert enter(room, "id-bea", "bea", at=30).seat not in (None, seat)


def test_a_member_gets_no_more_through_the_nexus_than_it_has_in_the_room() -> None:
    room = game()
    member(room)
    room.call("hostess", "narrow", {"member": "ada", "may": ["act"]}, at=6)
    assert refused(room).message == "a host has taken act from you in this game; ask a host to give it back"
    room = game()
    member(room, role="observer")
    wrong = refused(room)
    assert isinstance(wrong, PermissionDenied)
    assert wrong.message.startswith("you are a member of this game as observer, without act; `leave` that room")
    room.call("hostess", "add_member", {"id": "cid", "role": "player", "claim": "auto:5"}, at=7)
    room.state.members["cid"].identity = "id-cid"
    with pytest.raises(PermissionDenied, match="bound to the claim auto:5, which is not open yet"):
        arrive(room, identity="id-cid")


# -- items --------------------------------------------------------------------------------------------
def test_a_body_gets_what_it_can_take_of_the_items_that_its_agent_brings() -> None:
    room = game()
    assert enter(room, entering=carried(gold=6, ore=1, nothing=0)).items == {"gold": 4, "ore": 1}
    assert bodies(room)["1"].items == {"gold": 4, "ore": 1}
    act(room, "exit_game")
    package = ended(room)
    assert package is not None
    assert package.entered == {"gold": 4, "ore": 1}
    assert [one.count for one in package.entering] == [6, 1, 0]


@pytest.mark.parametrize("taken", [-1, 3])
def test_a_world_that_says_nonsense_about_the_items_of_an_arrival_is_undone(
    taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = game()
    member(room)
    monkeypatch.setattr(type(room.world), "put_items", lambda self, seat, item, count: taken)
    wrong = refused(room, entering=carried(gold=2))
    assert isinstance(wrong, GameCrash)
    assert VISITS.read(room.state).visits == {}


@pytest.mark.parametrize("taken", [0, 2])
def test_a_body_may_take_nothing_or_all_of_what_its_agent_brings(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    room = game()
    monkeypatch.setattr(type(room.world), "put_items", lambda self, seat, item, count: taken)
    assert enter(room, entering=carried(gold=2)).items == ({"gold": 2} if taken else {})


def test_an_agent_carries_out_what_it_has_and_what_is_portable() -> None:
    room = game()
    enter(room)
    with pytest.raises(GameRejected, match="you have 0 gold, not 1"):
        act(room, "exit_game", carry={"gold": 1})
    act(room, "take", item="gold")
    act(room, "take", item="gold")
    with pytest.raises(BadArgs, match="'rubble' cannot leave this world; portable are: gold, ore, blade"):
        act(room, "exit_game", carry={"rubble": 1})
    exited = act(room, "exit_game", carry={"gold": 1})
    assert exited.items == {"gold": 1}
    package = ended(room)
    assert package is not None
    assert package.items == {"gold": 1}
    assert bodies(room)["1"].items == {"gold": 1}


def test_without_a_body_nothing_is_carried_out_and_a_visitor_can_leave_all_the_same() -> None:
    room = game()
    enter(room)
    act(room, "jack_out")
    with pytest.raises(GameRejected, match="you control no body, so you have nothing to carry"):
        act(room, "exit_game", carry={"gold": 1})
    assert act(room, "exit_game").avatar_state == "dormant"
    nim = game("nim")
    enter(nim)
    with pytest.raises(BadArgs, match="there is nothing to carry out of this world"):
        act(nim, "exit_game", carry={"gold": 1})
    assert act(nim, "exit_game", at=3_010).playtime == 3


def test_a_body_that_cannot_be_left_keeps_what_its_agent_wanted_to_carry_out() -> None:
    room = game()
    enter(room)
    act(room, "take", item="gold")
    act(room, "go", place="ledge")
    before = room.digest()
    with pytest.raises(GameRejected, match="you would fall"):
        act(room, "exit_game", carry={"gold": 1})
    assert room.digest() == before


def test_an_agent_carries_out_at_most_twenty_kinds_of_items(monkeypatch: pytest.MonkeyPatch) -> None:
    room = game()
    enter(room)
    kinds = {f"kind{number}": 1 for number in range(MAX_KINDS + 1)}
    with pytest.raises(BadArgs, match="carry at most 20 kinds of items"):
        act(room, "exit_game", carry=kinds)
    del kinds["kind0"]
    with pytest.raises(BadArgs, match="'kind1' cannot leave this world"):
        act(room, "exit_game", carry=kinds)
    monkeypatch.setattr(type(room.world), "travel", Travel())
    with pytest.raises(BadArgs, match="portable are: none"):
        act(room, "exit_game", carry={"gold": 1})


def test_a_world_that_gives_less_than_the_body_has_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    room = game()
    enter(room)
    act(room, "take", item="gold")
    monkeypatch.setattr(type(room.world), "take_items", lambda self, seat, item, count: 0)
    with pytest.raises(GameCrash):
        act(room, "exit_game", carry={"gold": 1})
    assert ADA in VISITS.read(room.state).visits


# -- leaving ------------------------------------------------------------------------------------------
def test_an_agent_says_where_it_goes_and_not_to_where_it_is() -> None:
    room = game()
    enter(room)
    with pytest.raises(BadArgs, match="you are in room-1; `destination` is another game, or nexus"):
        act(room, "exit_game", destination="room-1")
    assert act(room, "exit_game").message == "You are on your way to the Nexus."
    with pytest.raises(CohabitError, match="your visit is over: you are on your way to the Nexus"):
        act(room, "exit_game")
    package = ended(room)
    assert package is not None
    assert (package.destination, package.reason) == ("", "voluntary")
    room = game()
    enter(room)
    exited = act(room, "exit_game", destination="mines", reason="bored")
    assert exited.message == "You are on your way to mines. If you cannot enter it, the Nexus tells you why."
    package = ended(room)
    assert package is not None
    assert (package.destination, package.reason) == ("mines", "bored")


def test_only_visitors_leave_for_the_nexus_and_only_they_are_offered_to() -> None:
    room = game()
    member(room)
    ada = room.state.members["ada"]
    assert not offers(room, ada, room.commands.named("exit_game"))
    with pytest.raises(GameRejected, match="you did not come here through the Nexus; to go, use `leave`"):
        act(room, "exit_game")
    arrive(room)
    assert offers(room, ada, room.commands.named("exit_game"))


def test_a_visitor_whose_package_has_arrived_leaves_the_room_if_it_came_only_for_the_visit() -> None:
    room = game()
    ticket = enter(room).ticket
    act(room, "exit_game")
    room.system("visit_closed", {"ticket": "another"}, 30)
    assert "ada" in room.state.members
    room.system("visit_closed", {"ticket": ticket}, 31)
    assert "ada" not in room.state.members
    assert told_last(room) == {"hostess": ["ada left"]}
    room.system("visit_closed", {"ticket": ticket}, 32)
    assert entries(room, "visit_closed")[-1].told == ()
    assert replayed(room).digest() == room.digest()


def test_a_visitor_that_was_a_member_before_or_is_back_already_stays_one() -> None:
    room = game()
    member(room)
    arrive(room)
    act(room, "exit_game", at=40)
    room.system("visit_closed", {"ticket": "t-2"}, 50)
    assert "ada" in room.state.members
    room = game()
    ticket = enter(room).ticket
    act(room, "exit_game")
    arrive(room, admitted=True)
    room.system("visit_closed", {"ticket": ticket}, 50)
    assert "ada" in room.state.members


def test_a_member_that_was_removed_before_its_package_arrived_is_not_looked_for() -> None:
    room = game()
    ticket = enter(room).ticket
    room.call("hostess", "remove_member", {"member": "ada"}, at=20)
    room.system("visit_closed", {"ticket": ticket}, 30)
    assert VISITS.read(room.state).leaving == {}


def test_a_visitor_with_a_claim_keeps_its_seat_where_there_are_no_bodies() -> None:
    room = game("nim")
    room.call("hostess", "add_member", {"id": "ada", "role": "player", "claim": "auto:0"}, at=4)
    room.state.members["ada"].identity = ADA
    seat = room.state.members["ada"].seat
    arrive(room)
    act(room, "exit_game", at=40)
    assert room.state.members["ada"].seat == seat


def test_bodies_that_wait_are_among_what_an_agent_takes_back_and_dead_ones_are_not() -> None:
    room = game()
    enter(room)
    act(room, "jack_out", mode="suspend")
    names = ("Other", "Dead")
    other, dies = (room.call("ada", "create_avatar", {"name": name}, at=20).avatar_id for name in names)
    act(room, "jack_in", avatar_id=other)
    act(room, "transfer", avatar_id=dies)
    act(room, "jump")
    act(room, "jack_in", avatar_id=other)
    assert act(room, "exit_game", at=2_500).playtime == 2
    package = ended(room, 2_500)
    assert package is not None
    assert [(body.name, body.state) for body in package.bodies] == [("ada", "suspended"), ("Other", "dormant")]


def test_what_a_visitor_has_done_so_far_is_what_it_did_in_this_visit() -> None:
    room = game()
    assert ongoing(room, ADA) is None
    member(room)
    act(room, "jack_in", at=10)
    act(room, "go", at=10, place="hall")
    act(room, "jack_out", at=10)
    arrive(room)
    assert ongoing(room, ADA) == {"steps": 0, "deeds": {}, "deaths": 0}
    act(room, "take", at=40, item="gold")
    assert ongoing(room, ADA) == {"steps": 1, "deeds": {"take": 1}, "deaths": 0}
    act(room, "jump", at=40)
    assert ongoing(room, ADA) == {"steps": 2, "deeds": {"take": 1, "jump": 1}, "deaths": 1}
    act(room, "respawn", at=50)
    act(room, "go", at=50, place="pit")
    assert ongoing(room, ADA) == {"steps": 3, "deeds": {"take": 1, "jump": 1, "go": 1}, "deaths": 1}
    nim = game("nim")
    enter(nim)
    assert ongoing(nim, ADA) == {"steps": 0, "deeds": {}, "deaths": 0}


# -- what the Nexus gives up or reports ---------------------------------------------------------------
def test_an_agent_that_could_not_be_seated_is_no_member_any_more() -> None:
    room = game()
    member(room)
    room.system("transit_refused", {"identity": ADA}, 10)
    assert "ada" not in room.state.members
    assert told_last(room) == {"hostess": ["ada could not stay"]}
    room.system("transit_refused", {"identity": ADA}, 11)
    assert entries(room, "transit_refused")[-1].told == ()


def test_a_visit_that_the_nexus_has_given_up_takes_nothing_along() -> None:
    room = game()
    enter(room)
    room.system("visit_dropped", {"identity": ADA}, 20)
    assert (VISITS.read(room.state).visits, VISITS.read(room.state).leaving) == ({}, {})
    assert "ada" not in room.state.members
    assert told_last(room) == {"hostess": ["ada is no longer visiting"]}
    room.system("visit_dropped", {"identity": ADA}, 21)
    assert entries(room, "visit_dropped")[-1].told == ()
    room = game()
    member(room)
    room.system("visit_dropped", {"identity": ADA}, 20)
    arrive(room)
    room.system("visit_dropped", {"identity": ADA}, 40)
    assert VISITS.read(room.state).visits == {}
    assert "ada" in room.state.members, "it was one before"


def test_a_reached_meta_goal_is_told_to_its_agent_alone_and_counted_in_its_visit() -> None:
    room = game()
    enter(room)
    room.system("meta_goal", {"identity": ADA, "text": "You have reached it."}, 20)
    assert told_last(room) == {"ada": ["You have reached it."]}
    assert VISITS.read(room.state).visits[ADA].goals_reached == 1
    act(room, "exit_game")
    room.system("meta_goal", {"identity": ADA, "text": "One more."}, 30)
    assert told_last(room) == {"ada": ["One more."]}
    room.system("meta_goal", {"identity": "id-nobody", "text": "Nobody."}, 31)
    assert told_last(room) == {}


def test_a_visit_that_goes_on_is_not_ended_by_an_entry_that_comes_too_late() -> None:
    room = game()
    enter(room)
    room.system("visit_over", {"identity": ADA}, 20)
    assert ADA in VISITS.read(room.state).visits
    room.system("visit_over", {"identity": "id-nobody"}, 20)
    assert VISITS.read(room.state).leaving == {}


def test_everybody_is_told_that_a_visitor_has_left_by_itself() -> None:
    room = game()
    enter(room, max_steps=1)
    act(room, "go", place="pit")
    assert ended(room) is not None
    assert told_last(room)["hostess"] == ["ada leaves for the Nexus"]


# -- opening a room to the Nexus ----------------------------------------------------------------------
def test_a_room_is_opened_to_the_nexus_with_what_its_host_says_and_keeps_the_rest() -> None:
    room = game()

    def opened(**args: Any) -> Any:
        return room.call("hostess", "open_to_nexus", args, at=20)

    shown = opened(capacity=3, description="a cave")
    assert (shown.open, shown.role, shown.capacity, shown.visitors, shown.maintenance) == (True, "player", 3, 0, False)
    assert told_last(room)["hostess"] == ["hostess opened this room to the Nexus (for 3 visitors)"]
    enter(room, at=20)
    shown = opened(maintenance=True)
    assert (shown.capacity, shown.visitors, shown.maintenance) == (3, 1, True)
    assert told_last(room)["hostess"] == ["hostess opened this room to the Nexus (maintenance)"]
    entry = VISITS.read(room.state).nexus
    assert entry is not None
    assert (entry.capacity, entry.description, entry.maintenance) == (3, "a cave", True)
    closed = opened(open=False)
    assert (closed.open, closed.visitors, VISITS.read(room.state).nexus) == (False, 1, None)
    assert told_last(room)["hostess"] == ["hostess closed this room to the Nexus"]
    assert opened().capacity == 64


def test_the_host_of_a_room_opens_it_only_to_players_that_may_do_what_it_may_grant() -> None:
    room = game()
    room.call("hostess", "add_member", {"id": "cohost", "role": "host"}, at=2)
    room.call("hostess", "narrow", {"member": "cohost", "may": ["send_message"]}, at=3)
    with pytest.raises(PermissionDenied):
        room.call("cohost", "open_to_nexus", at=4)
    assert not room.call("cohost", "open_to_nexus", {"open": False}, at=5).open
