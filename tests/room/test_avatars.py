"""Avatars: bodies that members jack into, leave behind, and return to."""

import re
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from tests.examples import examples

from cohabit.errors import AskerError, Conflict, GameRejected, PermissionDenied, UnknownAsset
from cohabit.features.bodies import actions as body_actions
from cohabit.features.bodies.avatars import MAX_DESPAWNED
from cohabit.features.bodies.state import avatars_in
from cohabit.model.avatar import AvatarState, EmbodiedObservation
from cohabit.registry import make_world
from cohabit.room.commands import command_of
from cohabit.room.room import Room

from .avatar_machine import CAVES, CavesMachine, CrafterMachine
from .caves import ANN, BOB, Caves, bodies
from .making import AGENT, GOD, HOST, OBSERVER, entries, make_room, player, replayed, saved

State = AvatarState
LATER = "act on, and try again when it is safe"


# -- states -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("mode", "state"), [("dormant", State.DORMANT), ("suspend", State.SUSPENDED), ("despawn", State.DESTROYED)]
)
def test_a_body_is_left_in_the_state_that_its_agent_chose(mode: str, state: State) -> None:
    caves = Caves()
    assert caves("ann", "jack_in").avatar.state is State.BOUND
    assert caves("ann", "jack_out", mode=mode).avatar_state is caves.state() is state
    assert replayed(caves.room).digest() == caves.room.digest()


@pytest.mark.parametrize("mode", ["dormant", "suspend"])
def test_a_body_that_waits_is_woken_as_it_was_left(mode: str) -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "take", item="gold")
    caves("ann", "jack_out", mode=mode)
    back = caves("ann", "jack_in")
    assert (back.avatar.avatar_id, back.avatar.inventory, back.message) == (
        caves.id(), {"gold": 1}, "You are back in your body."
    )  # fmt: skip


def test_a_despawned_body_is_gone_and_the_next_one_is_new() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "take", item="gold")
    caves("ann", "jack_out", mode="despawn")
    assert "destroyed" in caves.refused("ann", "jack_in", avatar_id=caves.id()).message
    assert "no dead avatar" in caves.refused("ann", "respawn").message
    again = caves("ann", "jack_in")
    assert (again.avatar.avatar_id, again.avatar.inventory) == (caves.id(2), {})


def test_who_controls_a_body_must_leave_it_before_it_takes_another() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    refused = caves.refused("ann", "jack_in")
    assert isinstance(refused, Conflict)
    assert "leave it first (`jack_out`)" in refused.message


@pytest.mark.parametrize(
    "name", ["jack_out", "emote", "look", "inspect_self", "check_inventory", "stance", "equip", "unequip"]
)
def test_without_a_body_nothing_is_done_with_one_and_the_refusal_says_how_to_get_one(name: str) -> None:
    args = {
        "emote": {"emote": "wave"}, "look": {"target": "hall"}, "stance": {"stance": "sitting"},
        "equip": {"item": "blade"}, "unequip": {"slot": "hand"},
    }.get(name, {})  # fmt: skip
    assert "`jack_in` takes one" in Caves().refused("ann", name, **args).message


def test_a_body_in_danger_cannot_be_left() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "go", place="ledge")
    for name in ("jack_out", "stand_up"):
        assert caves.refused("ann", name).message == f"you cannot leave this body now: you would fall; {LATER}"
    caves("ann", "go", place="hall")
    caves("ann", "jack_out")


@pytest.mark.parametrize("how", ["leave", "remove"])
def test_who_leaves_the_room_in_danger_leaves_its_body_asleep_in_the_world(how: str) -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "go", place="ledge")
    caves("ann", "leave") if how == "leave" else caves("hostess", "remove_member", member="ann")
    assert caves.state() is State.DORMANT
    assert bodies(caves.room)["1"].asleep


@pytest.mark.parametrize("how", ["leave", "remove", "stand_up"])
def test_who_leaves_in_safety_takes_its_body_out_of_the_world(how: str) -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("hostess", "remove_member", member="ann") if how == "remove" else caves("ann", how)
    assert caves.state() is State.SUSPENDED
    assert not bodies(caves.room)["1"].here


def test_a_dormant_body_can_be_hurt_and_killed_and_its_owner_is_told() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "take", item="gold")
    caves("ann", "jack_out", mode="dormant")
    caves("bob", "jack_in")
    caves("bob", "hit", whom="1")
    assert caves("ann", "avatars").avatars[0].health == 2
    caves.kill("bob", "1")
    assert caves.state() is State.DESTROYED
    died = "Your avatar ann died (combat, killed by bob). `respawn` brings it back: hall, bought."
    assert died in caves.heard("ann")
    caves("bob", "take", item="gold")


def test_a_suspended_body_cannot_be_hurt() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "jack_out", mode="suspend")
    caves("bob", "jack_in")
    assert caves.refused("bob", "hit", whom="1").message == "it is not here"


# -- several avatars ----------------------------------------------------------------------------------
def test_an_agent_has_at_most_three_avatars_and_destroyed_ones_do_not_count() -> None:
    caves = Caves()
    for _ in range(3):
        caves("ann", "create_avatar")
    for name in ("create_avatar",):
        assert caves.refused("ann", name).message == "you have 3 avatars here, the most is 3; use one of them"
    caves("ann", "jack_in")
    caves("ann", "jack_out", mode="despawn")
    caves("ann", "create_avatar")


def test_the_body_of_a_built_in_player_is_not_taken_as_one_more_than_an_agent_may_have() -> None:
    caves = Caves(player("robin", 0, brain="random", gives_way=True), ANN, HOST)
    for _ in range(3):
        caves("ann", "create_avatar")
    refused = caves.refused("ann", "sit", seat=caves.seat("robin"))
    assert refused.message == "you have 3 avatars here, the most is 3; use one of them"


def test_a_dead_body_that_its_agent_keeps_counts_because_it_can_come_back() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "create_avatar")
    caves("ann", "create_avatar")
    assert caves.refused("ann", "create_avatar").message.startswith("you have 3 avatars here")
    caves("ann", "jump")
    assert "you get no other one" in caves.refused("ann", "create_avatar").message
    caves("ann", "respawn")
    assert [a.state for a in caves("ann", "avatars").avatars] == [State.BOUND, State.UNBOUND, State.UNBOUND]


def test_one_agent_does_not_use_up_the_bodies_of_a_world_by_despawning_its_own() -> None:
    room = make_room(ANN, BOB, HOST, world="crafter_shared", config={"respawns": True})
    for at in range(MAX_DESPAWNED):
        room.call("ann", "jack_in", at=at)
        room.call("ann", "jack_out", {"mode": "despawn"}, at=at)
    room.call("ann", "jack_in", at=100)
    with pytest.raises(GameRejected, match="you have despawned 20 bodies in this game"):
        room.call("ann", "jack_out", {"mode": "despawn"}, at=100)
    room.call("ann", "jack_out", {"mode": "suspend"}, at=100)
    room.call("bob", "jack_in", at=100)
    room.call("bob", "jack_out", {"mode": "despawn"}, at=100)


@pytest.mark.parametrize("world", ["crafter_shared", "planet"])
def test_no_two_bodies_have_one_name_also_if_a_name_is_chosen_for_that(world: str) -> None:
    room = make_room(ANN, BOB, {"id": "cid", "role": "player"}, HOST, world=world)
    for who, name in (("ann", "zoe-3"), ("bob", "zoe"), ("cid", "zoe")):
        room.call(who, "create_avatar", {"name": name}, at=1)
    names = [room.call(who, "jack_in", at=1).avatar.name for who in ("ann", "bob", "cid")]
    assert names == ["zoe-3", "zoe", "zoe-3-3"]


@pytest.mark.parametrize("name", ["sit", "jack_in"])
def test_a_seat_is_a_body_so_whoever_sits_down_takes_one_that_waits(name: str) -> None:
    caves = Caves()
    for _ in range(3):
        caves("ann", "create_avatar")
    caves("ann", name)
    assert [avatar.state for avatar in avatars_in(caves.room.state).values()].count(State.BOUND) == 1
    assert len(avatars_in(caves.room.state)) == 3
    caves("ann", "stand_up")
    caves("ann", name)
    assert len(bodies(caves.room)) == 1


def test_whoever_names_the_seat_of_a_body_of_its_own_that_waits_returns_to_it() -> None:
    caves = Caves()
    for avatar in [caves("ann", "create_avatar").avatar_id for _ in range(3)]:
        caves("ann", "jack_in", avatar_id=avatar)
        caves("ann", "stand_up")
    first = avatars_in(caves.room.state)[caves.id(1)]
    assert caves("ann", "sit", seat=first.seat).seat == first.seat
    assert (first.state, first.by) == (State.BOUND, "ann")
    assert len(bodies(caves.room)) == 3


def test_an_agent_with_two_avatars_plays_one_at_a_time_and_each_keeps_its_own() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "take", item="gold")
    caves("ann", "jack_out")
    second = caves("ann", "create_avatar", name="Other").avatar_id
    caves("ann", "jack_in", avatar_id=second)
    caves("ann", "take", item="ore")
    roster = caves("ann", "avatars")
    assert (roster.active_avatar_id, [a.inventory for a in roster.avatars]) == (second, [{"gold": 1}, {"ore": 1}])
    left = caves("ann", "jack_out", mode="suspend")
    assert (left.avatar_state, left.message) == (
        State.SUSPENDED,
        "Other waits outside the world. `jack_in` brings you back.",
    )


def test_what_is_reported_of_a_body_that_was_left_is_of_that_body() -> None:
    caves = Caves()
    first, _ = caves("ann", "create_avatar"), caves("ann", "create_avatar", name="Other")
    caves("ann", "jack_in", avatar_id=first.avatar_id)
    assert caves("ann", "jack_out", mode="suspend").avatar_state is State.SUSPENDED


def test_nobody_uses_or_finds_the_avatar_of_another() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "jack_out")
    refused = caves.refused("bob", "jack_in", avatar_id=caves.id())
    assert isinstance(refused, UnknownAsset)
    assert refused.did_you_mean == []
    assert caves.refused("bob", "sit", seat="1").message == "seats cannot be chosen here"
    assert caves("bob", "avatars").avatars == []
    with pytest.raises(PermissionDenied):
        caves("owl", "avatars")


# -- ids ----------------------------------------------------------------------------------------------
def test_the_id_of_an_avatar_does_not_tell_how_many_others_have() -> None:
    """Nothing of an id but its own form: it does not count, and another room has other ids."""
    caves = Caves()
    ids = [caves("ann", "create_avatar").avatar_id for _ in range(3)]
    assert len(set(ids)) == 3
    assert all(re.fullmatch("avatar-[0-9a-f]{8}", made) for made in ids)
    assert ids != sorted(ids)
    secret = caves.room.state.secret[::-1]
    caves.room.state.secret = secret
    assert caves("bob", "create_avatar").avatar_id not in ids


# -- changing bodies ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("mode", "state"), [("dormant", State.DORMANT), ("suspend", State.SUSPENDED), ("despawn", State.DESTROYED)]
)
def test_a_transfer_leaves_one_body_and_takes_another_in_one_entry(mode: str, state: State) -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "take", item="gold")
    other = caves("ann", "create_avatar", name="Other").avatar_id
    before = len(entries(caves.room))
    result = caves("ann", "transfer", avatar_id=other, mode=mode)
    assert len(entries(caves.room)) == before + 1
    assert (result.avatar.avatar_id, result.avatar.state, result.avatar.inventory) == (other, State.BOUND, {})
    assert result.message.startswith("You have left ann, and control Other.")
    assert isinstance(result.initial_observation, EmbodiedObservation)
    assert [caves.state(1), caves.state(2)] == [state, State.BOUND]
    assert replayed(caves.room).digest() == caves.room.digest()


def test_a_transfer_and_back_finds_each_body_as_it_was() -> None:
    caves = Caves()
    first = caves("ann", "jack_in").avatar.avatar_id
    caves("ann", "take", item="gold")
    second = caves("ann", "create_avatar").avatar_id
    caves("ann", "transfer", avatar_id=second)
    caves("ann", "take", item="ore")
    assert caves("ann", "transfer", avatar_id=first).avatar.inventory == {"gold": 1}
    assert caves("ann", "transfer", avatar_id=second).avatar.inventory == {"ore": 1}


def test_a_refused_transfer_changes_nothing_whichever_part_is_refused() -> None:
    caves = Caves()
    assert "`jack_in` takes one" in caves.refused("ann", "transfer", avatar_id="avatar-0").message
    first = caves("ann", "jack_in").avatar.avatar_id
    other = caves("ann", "create_avatar").avatar_id
    assert isinstance(caves.refused("ann", "transfer", avatar_id="avatar-0"), UnknownAsset)
    assert isinstance(caves.refused("ann", "transfer", avatar_id=first), Conflict)
    caves("ann", "go", place="ledge")
    refused = caves.refused("ann", "transfer", avatar_id=other)
    assert refused.message == f"you cannot leave this body now: you would fall; {LATER}"
    caves("ann", "go", place="hall")
    caves("zeus", "bar", barred=True)
    assert "barred" in caves.refused("ann", "transfer", avatar_id=other).message
    assert (caves.state(1), caves.seat("ann")) == (State.BOUND, "1")
    caves("ann", "go", place="pit")
    assert replayed(caves.room).digest() == caves.room.digest()


def _with_respawns(world: str) -> dict[str, bool]:
    """Where an agent can have several bodies."""
    return {"respawns": True} if world == "crafter_shared" else {}


def _roll_back(room: Room, lines: int = 0) -> None:
    raise AssertionError("a refusal that is known before anything changes has nothing to undo")


@pytest.mark.parametrize("world", ["crafter_shared", "planet", CAVES])
def test_a_refused_transfer_undoes_nothing_where_the_world_can_tell_before(
    world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = make_room(ANN, BOB, HOST, GOD, world=world, config=_with_respawns(world))
    for who in ("ann", "bob"):
        room.call(who, "jack_in", at=1)
    other = room.call("ann", "create_avatar", at=1).avatar_id
    if world == CAVES:
        room.call("zeus", "bar", {"barred": True}, at=1)
    before = room.digest()
    with monkeypatch.context() as changed:
        changed.setattr("cohabit.worlds.crafter.shared.MAX_PLAYERS", 1)
        changed.setattr("cohabit.worlds.starbound.embodied.MAX_PLAYERS", 1)
        changed.setattr(Room, "roll_back", _roll_back)
        with pytest.raises(GameRejected, match=r"there are 1 players already|barred"):
            room.call("ann", "transfer", {"avatar_id": other}, at=1)
    assert room.digest() == before
    if world != CAVES:
        assert room.call("ann", "transfer", {"avatar_id": other}, at=1).success


@pytest.mark.parametrize(("world", "module"), [("crafter_shared", "crafter.shared"), ("planet", "starbound.embodied")])
def test_the_body_that_is_left_makes_place_for_the_other_in_a_full_world(
    world: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = make_room(ANN, BOB, HOST, world=world, config=_with_respawns(world))
    for who in ("ann", "bob"):
        room.call(who, "jack_in", at=1)
    other = room.call("ann", "create_avatar", at=1).avatar_id
    monkeypatch.setattr(f"cohabit.worlds.{module}.MAX_PLAYERS", 2)
    assert room.call("ann", "transfer", {"avatar_id": other}, at=1).success


def test_a_transfer_back_to_a_body_that_was_just_suspended_is_refused_before_anything_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    room = make_room(ANN, BOB, HOST, world="crafter_shared", config={"respawns": True})
    for who in ("ann", "bob"):
        room.call(who, "jack_in", at=1)
    first = room.call("ann", "avatars", at=1).active_avatar_id
    other = room.call("ann", "create_avatar", at=1).avatar_id
    room.call("ann", "transfer", {"avatar_id": other, "mode": "suspend"}, at=1)
    monkeypatch.setattr(Room, "roll_back", _roll_back)
    before = room.digest()
    with pytest.raises(GameRejected, match="you have just left; you can come back in 10 steps"):
        room.call("ann", "transfer", {"avatar_id": first}, at=1)
    assert room.digest() == before


def test_a_transfer_that_the_world_refuses_without_a_warning_is_undone() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    other = caves("ann", "create_avatar").avatar_id
    world: Any = caves.room.world
    caves.room.call("ann", "transfer", {"avatar_id": other}, at=caves.at)
    third = caves("ann", "create_avatar").avatar_id
    while sum(body.here for body in world.bodies.values()) < 6:
        member = f"m{len(world.bodies)}"
        caves("hostess", "add_member", id=member, role="player")
        caves(member, "jack_in")
    assert "full" in caves.refused("ann", "transfer", avatar_id=third).message
    assert caves.seat("ann") == "2"


def test_nobody_transfers_into_the_avatar_of_another_or_into_a_dead_one() -> None:
    caves = Caves()
    caves("bob", "jack_in")
    caves("bob", "jack_out")
    caves("ann", "jack_in")
    caves("ann", "jack_out", mode="suspend")
    caves("ann", "jack_in", avatar_id=caves("ann", "create_avatar").avatar_id)
    caves("ann", "transfer", avatar_id=caves.id(2))
    caves("ann", "jump")
    caves("ann", "jack_in", avatar_id=caves.id(3))
    assert isinstance(caves.refused("ann", "transfer", avatar_id=caves.id(1)), UnknownAsset)
    assert "is destroyed" in caves.refused("ann", "transfer", avatar_id=caves.id(2)).message


# -- what a body feels and can do ---------------------------------------------------------------------
def test_a_body_says_what_it_sees_hears_feels_and_can_do() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("bob", "jack_in")
    caves("bob", "hit", whom="1")
    caves("bob", "go", place="ledge")
    for _ in range(2):
        caves("ann", "take", item="gold")
    felt = caves("ann", "inspect_self")
    assert (felt.is_grounded, felt.injuries, felt.fatigue, felt.encumbrance) == (True, ["wounded"], None, 0.5)
    assert felt.can_hear == ["somebody in the ledge"]
    assert felt.actions_available == ["go", "take", "put", "hit", "jump", "collapse"]
    assert felt.actions_blocked == {}
    other = caves("bob", "inspect_self")
    assert (other.is_grounded, other.injuries, other.encumbrance) == (False, [], 0)
    assert other.actions_blocked == {"put": "you carry nothing", "take": "nothing lies here"}
    assert "Stance: standing | Not on the ground\nHear: somebody in the hall\nBlocked: " in other.to_text()
    assert "\nInjuries: wounded | Load: 50%\n" in felt.to_text()


def test_what_is_not_there_is_left_out_of_the_values_and_of_the_text() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "take", item="gold")
    felt = caves("ann", "inspect_self")
    sent = msgspec.to_builtins(felt)
    assert not {"is_grounded", "can_see", "can_hear", "injuries", "fatigue", "actions_blocked"} & sent.keys()
    assert not any(word in felt.to_text() for word in ("Hear", "Injuries", "Fatigue", "Blocked", "Equipped"))


@pytest.mark.parametrize("taken", [["read_own"], ["read_own", "watch"]])
def test_who_may_not_see_through_its_seat_feels_and_hears_nothing(taken: list[str]) -> None:
    caves = Caves()
    caves("bob", "jack_in")
    caves("bob", "go", place="ledge")
    caves("hostess", "narrow", member="ann", may=taken)
    first = caves("ann", "jack_in")
    assert (first.avatar.state, first.initial_observation) == (State.BOUND, None)
    other = caves("ann", "create_avatar").avatar_id
    assert caves("ann", "transfer", avatar_id=other).initial_observation is None
    for name in ("inspect_self", "check_inventory"):
        assert isinstance(caves.refused("ann", name), PermissionDenied)


def test_a_body_is_in_the_stance_that_its_agent_chose_of_those_the_world_has() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    assert caves("ann", "stance", stance="crouching").message == "You are crouching."
    assert caves("ann", "inspect_self").stance == "crouching"
    refused = caves.refused("ann", "stance", stance="flying").message
    assert refused == "you cannot take the stance flying here; choose standing, crouching or sitting"
    caves("ann", "go", place="ledge")
    assert "you would fall" in caves.refused("ann", "stance", stance="standing").message
    assert replayed(caves.room).digest() == caves.room.digest()


def test_who_crouches_is_not_heard() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("bob", "jack_in")
    caves("bob", "stance", stance="crouching")
    caves("bob", "go", place="ledge")
    assert caves("ann", "inspect_self").can_hear == []


def test_an_item_is_equipped_and_put_away_and_stays_in_the_inventory() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    assert "do not have that" in caves.refused("ann", "equip", item="blade").message
    caves("ann", "take", item="blade")
    assert caves("ann", "equip", item="blade").message == "You hold the blade."
    has = caves("ann", "check_inventory")
    assert (has.inventory, has.equipment, has.encumbrance) == ({"blade": 1}, {"hand": "blade"}, 0.25)
    assert "\nEquipped: blade\n" in caves("ann", "inspect_self").to_text()
    caves("ann", "unequip", slot="hand")
    assert "your hand is empty" in caves.refused("ann", "unequip", slot="hand").message
    assert caves("ann", "check_inventory").equipment == {}
    assert replayed(caves.room).digest() == caves.room.digest()


def test_a_world_without_stances_or_equipment_does_not_have_those_commands() -> None:
    crafter, planet = (make_room(ANN, world=world).commands for world in ("crafter_shared", "planet"))
    assert not {"stance", "equip", "unequip"} & {command.name for command in crafter}
    assert {"check_inventory", "transfer", "look", "emote"} <= {command.name for command in crafter}
    assert planet.named("equip").where == "world"  # there it takes a step


# -- death --------------------------------------------------------------------------------------------
def test_a_death_says_its_cause_its_killer_what_was_dropped_and_how_to_come_back() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "take", item="gold")
    caves("bob", "jack_in")
    caves.kill("bob", "1")
    death = caves("ann", "death")
    assert (death.cause, death.killer, death.items_dropped) == ("combat", "bob", {"gold": 1})
    assert [option.id for option in death.respawn_options] == ["hall", "bought"]
    back = caves("ann", "respawn", option="hall")
    assert (back.avatar.state, back.avatar.health, back.avatar.death_count, back.avatar.avatar_id) == (
        State.BOUND, 3, 1, caves.id()
    )  # fmt: skip
    assert replayed(caves.room).digest() == caves.room.digest()


@pytest.mark.parametrize("away", [False, True])
@pytest.mark.parametrize(("option", "says"), [("nowhere", "choose one of: hall, bought"), ("bought", "costs 1 gold")])
def test_a_refused_respawn_changes_nothing_wherever_the_member_is(away: bool, option: str, says: str) -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "jump")
    if away:
        caves("ann", "stand_up")
    assert says in caves.refused("ann", "respawn", option=option).message
    assert caves("ann", "respawn").avatar.state is State.BOUND


def test_the_reply_to_the_action_with_which_a_player_dies_says_how_to_come_back() -> None:
    for respawns in (True, False):
        room = make_room(ANN, world="crafter_shared", config={"respawns": respawns})
        room.call("ann", "jack_in", at=1)
        body = room.world.game.players[0]  # type: ignore[attr-defined]
        body.health, body.food, body.recovery = 1, 0, -100.0
        reply = room.call("ann", "noop", at=2)
        assert ("died of hunger" in reply.message, "`respawn` brings you back" in reply.message) == (True, respawns)


def test_who_lives_needs_no_respawn_and_who_has_no_dead_avatar_has_none_to_bring_back() -> None:
    caves = Caves()
    assert caves.refused("ann", "respawn").message == "you have no dead avatar here"
    caves("ann", "jack_in")
    assert caves.refused("ann", "respawn").message == "your avatar lives"


def test_a_member_on_a_dead_body_can_take_another_one_of_its_own() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "jack_out", mode="suspend")
    caves("ann", "jack_in", avatar_id=caves("ann", "create_avatar").avatar_id)
    caves("ann", "jump")
    assert caves.refused("ann", "go", place="pit").message == "you are dead"
    assert caves("ann", "jack_in").avatar.avatar_id == caves.id(1)
    assert caves.seat("ann") == "1"


# -- counting -----------------------------------------------------------------------------------------
def test_playtime_actions_rewards_and_deaths_of_a_session_are_counted() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves.at += 5_000
    caves("ann", "go", place="pit")
    caves("ann", "go", place="hall")
    caves("ann", "take", item="gold")
    assert caves("ann", "avatars").avatars[0].total_playtime == 5
    left = caves("ann", "jack_out")
    assert left.session_stats == {
        "playtime": 5, "actions": 3, "reward": 3.0, "deaths": 0, "achievements": [],
    }  # fmt: skip
    caves.at += 60_000
    assert caves("ann", "avatars").avatars[0].total_playtime == 5
    caves("ann", "jack_in")
    caves("ann", "go", place="pit")
    assert caves("ann", "jack_out").session_stats["actions"] == 1


def test_in_rounds_an_agent_that_changes_its_mind_has_acted_once() -> None:
    room = make_room(ANN, BOB, world="crafter_shared")
    for at, who in enumerate(("ann", "bob"), 1):
        room.call(who, "jack_in", at=at)
    for _ in range(5):
        room.call("ann", "act", {"action": "noop"}, at=3)
    room.call("bob", "act", {"action": "noop"}, at=4)
    room.call("ann", "act", {"action": "noop"}, at=4)  # which does not happen: she leaves before the round ends
    assert room.call("ann", "jack_out", {"mode": "suspend"}, at=5).session_stats["actions"] == 1


# -- other games --------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["rematch", "reset"])
def test_another_game_ends_all_bodies(name: str) -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("bob", "jack_in")
    caves("bob", "jack_out")
    before = list(avatars_in(caves.room.state))
    caves("zeus", name)
    assert caves("ann", "avatars").avatars == caves("bob", "avatars").avatars == []
    assert caves.room.state.members["ann"].seat is None
    assert caves("ann", "jack_in").avatar.avatar_id not in before
    assert replayed(caves.room).digest() == caves.room.digest()


def test_after_a_rematch_the_seat_of_a_claim_is_not_kept_by_another() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("hostess", "add_member", id="cid", role="player", claim="auto:0")
    caves("hostess", "rematch")
    assert (caves.room.state.members["ann"].seat, caves.seat("cid")) == (None, "1")


def test_a_save_brings_the_bodies_back_to_those_who_played_them_and_to_nobody_else() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "take", item="gold")
    save = saved(caves.room)
    caves("zeus", "rematch")
    caves("bob", "jack_in")
    assert caves.seat("bob") == "1"
    caves.room.system("loaded", {"by": "zeus", "save": save}, caves.at)
    assert caves.room.state.members["bob"].seat is None
    assert [a.state for a in caves("ann", "avatars").avatars] == [State.SUSPENDED]
    assert caves("ann", "jack_in").avatar.inventory == {"gold": 1}
    assert caves("bob", "avatars").avatars == []
    assert replayed(caves.room).digest() == caves.room.digest()


@pytest.mark.parametrize("end", ["jump", "despawn"])
def test_a_save_brings_no_dead_or_despawned_body_back_to_life(end: str) -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "jump") if end == "jump" else caves("ann", "jack_out", mode="despawn")
    caves.room.system("loaded", {"by": "zeus", "save": saved(caves.room)}, caves.at)
    states = [a.state for a in caves("ann", "avatars").avatars]
    assert states == ([State.DESTROYED] if end == "jump" else [])


# -- others -------------------------------------------------------------------------------------------
def test_an_emote_is_seen_only_by_those_who_are_near() -> None:
    caves = Caves({"id": "far", "role": "player"}, ANN, BOB, OBSERVER)
    for who in ("ann", "bob", "far"):
        caves("ann" if who == "ann" else who, "jack_in")
    caves("far", "go", place="pit")
    caves("ann", "emote", emote="shake")
    assert "ann shakes its head" in caves.heard("bob")
    assert "ann shakes its head" not in caves.heard("far")
    assert "ann shakes its head" not in caves.heard("owl")


def test_a_member_with_a_claim_that_leaves_its_body_has_no_seat_until_it_returns() -> None:
    caves = Caves(player("cid", 0), HOST)
    assert caves.state() is State.BOUND
    caves("cid", "jack_out")
    assert caves.room.state.members["cid"].seat is None
    assert caves("cid", "jack_in").avatar.avatar_id == caves.id()


def test_where_the_world_refuses_arrivals_nobody_gets_an_avatar() -> None:
    caves = Caves()
    caves("zeus", "bar", barred=True)
    for name in ("jack_in", "sit"):
        refused = caves.refused("ann", name)
        assert isinstance(refused, GameRejected)
        assert "barred" in refused.message
    assert caves("ann", "avatars").avatars == []


# -- side by side -------------------------------------------------------------------------------------
READS = (
    ("view", {}), ("whoami", {}), ("session_info", {}), ("avatars", {}), ("death", {}), ("inspect_self", {}),
    ("check_inventory", {}),
    ("standings", {}), ("get_events", {}), ("legal_actions", {}), ("exit_game", {}),
)  # fmt: skip


def test_what_one_does_with_its_avatars_out_of_sight_nobody_else_can_tell() -> None:
    """Two rooms differ only in ann's waiting avatars and in what her body carries."""

    def played(differently: bool) -> list[bytes]:
        caves = Caves(ANN, BOB, HOST, AGENT)
        caves("bob", "jack_in")
        caves("bob", "go", place="pit")
        caves("ann", "create_avatar", name="One", appearance={"hair": "red"} if differently else {"hair": "white"})
        caves("ann", "create_avatar", name="Two" if differently else "Three")
        caves("ann", "jack_in", avatar_id=caves.id(2))
        caves("ann", "take", item="gold" if differently else "ore")
        caves("ann", "look", target="pit" if differently else "hall")
        caves("ann", "jack_out", mode="dormant" if differently else "suspend")
        seen = []
        for who in ("bob", "bot", "hostess"):
            for name, args in READS:
                if name in caves.room.commands:
                    try:
                        found = caves(who, name, **args)
                    except AskerError as refused:
                        found = refused.as_wire()
                    seen.append(msgspec.json.encode((who, name, found)))
        return seen

    one, other = played(True), played(False)
    assert one == other
    assert b'"gold"' not in b"".join(one)


# -- any order ----------------------------------------------------------------------------------------
CavesMachine.TestCase.settings = settings(max_examples=examples(40), stateful_step_count=30)
test_no_order_of_commands_brings_avatars_out_of_step_with_seats_and_bodies = CavesMachine.TestCase
CrafterMachine.TestCase.settings = settings(max_examples=8, stateful_step_count=15)
test_no_order_of_commands_brings_the_avatars_of_crafter_out_of_step = CrafterMachine.TestCase


def test_a_player_that_may_not_see_learns_nothing_of_its_body_by_moving_it() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "take", item="gold")
    caves("hostess", "narrow", member="ann", may=["read_own", "watch"])
    (mine,) = caves("ann", "avatars").avatars
    assert (mine.position, mine.inventory, mine.equipment) == ((), {}, {})
    assert caves("ann", "look", target="pit").message == "Done."
    assert "not allowed to see why" in caves.refused("ann", "look", target="nowhere").message


def test_a_member_is_offered_another_avatar_as_long_as_it_may_have_one() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    for _ in range(2):
        assert "create_avatar" in caves("ann", "rules").your_commands
        caves("ann", "create_avatar")
    assert "create_avatar" not in caves("ann", "rules").your_commands
    assert "the most is 3" in caves.refused("ann", "create_avatar").message


def test_an_action_without_a_body_says_how_to_get_one() -> None:
    caves = Caves()
    assert caves.refused("ann", "go", place="pit").message == (
        "go requires a body, and ann has none. Call `jack_in` to take one"
    )


def test_a_list_of_commands_has_the_stances_of_this_world_only() -> None:
    rooms = {world: make_room(ANN, world=world) for world in (CAVES, "planet")}
    for room in rooms.values():
        room.call("ann", "jack_in", at=1)
    told = {world: room.call("ann", "rules", at=1).text for world, room in rooms.items()}
    assert "stance(stance: standing|crouching|sitting)" in told[CAVES]
    assert "stance(stance: standing|crouching)" in told["planet"]
    with pytest.raises(GameRejected, match="choose standing or crouching"):
        rooms["planet"].call("ann", "stance", {"stance": "prone"}, at=1)


def test_the_schema_of_stance_has_the_stances_of_its_world_only() -> None:
    stance = command_of(body_actions.stance)
    caves = stance.in_world(type(make_world(CAVES, {})))
    assert caves.schema["properties"]["stance"]["enum"] == ["standing", "crouching", "sitting"]
    assert "flying" in stance.schema["properties"]["stance"]["enum"]


# -- what a view says ---------------------------------------------------------------------------------
def test_a_view_says_how_to_get_a_body_to_a_member_without_one() -> None:
    caves = Caves()
    assert "You control no body now. `jack_in` takes a new one." in caves("ann", "view").text
    assert "jack_in" not in caves("owl", "view").text, "it may not act"
    caves("ann", "jack_in")
    assert "jack_in" not in caves("ann", "view").text
    caves("ann", "jack_out")
    waits = f"`jack_in` takes one of yours: ann ({caves.id()}, dormant)."
    assert f"You control no body now. {waits}" in caves("ann", "view").text


def test_a_view_says_that_other_bodies_wait() -> None:
    caves = Caves()
    caves("ann", "create_avatar", name="Blue")
    caves("ann", "create_avatar", name="Red")
    caves("ann", "jack_in", avatar_id=caves.id(1))
    other = f"Your other bodies here: Red ({caves.id(2)}, unbound). `transfer` takes you to one."
    assert other in caves("ann", "view").text
    assert "Your other bodies" not in caves("bob", "view").text


def test_a_view_says_how_to_come_back_from_the_dead() -> None:
    caves = Caves()
    for who in ("ann", "bob"):
        caves(who, "jack_in")
    caves.kill("ann", caves.seat("bob"))
    told = "Your body bob is dead, and you get no other one: `respawn` brings it back (hall, bought)."
    assert told in caves("bob", "view").text
    caves("bob", "respawn")
    assert "dead" not in caves("bob", "view").text
