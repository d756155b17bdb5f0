"""Sessions of avatars: what is counted and told while somebody plays one, and what is remembered afterwards."""

import pytest

from cohabit.errors import BadArgs, Quarantined, UnknownAsset
from cohabit.features.bodies import own
from cohabit.features.bodies.avatars import MAX_DESPAWNED, MAX_DESTROYED
from cohabit.features.bodies.state import avatars_in
from cohabit.model.avatar import AvatarState, DeathEvent
from cohabit.model.timestamps import utc
from cohabit.room.decide import offers
from cohabit.room.seeing.visibility import is_news

from .avatar_machine import CAVES
from .caves import ANN, BOB, Caves, bodies
from .making import HOST, entries, make_room, player, replayed, saved, told_last

State = AvatarState


# -- counting -----------------------------------------------------------------------------------------
def test_a_session_counts_only_what_was_done_in_it() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "go", place="pit")
    caves("ann", "go", place="hall")
    caves("ann", "jack_out")
    caves.at += 10_000
    caves("ann", "jack_in")
    caves.at += 2_000
    caves("ann", "take", item="gold")
    assert caves("ann", "jack_out").session_stats == {
        "playtime": 2, "actions": 1, "reward": 1.0, "deaths": 0, "achievements": [],
    }  # fmt: skip


def test_the_time_in_which_the_house_was_closed_is_no_playtime() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves.room.system("opened", {"gap": 60_000}, 63_000)
    caves.at = 64_000
    assert caves("ann", "jack_out").session_stats["playtime"] == 3


def test_an_avatar_says_when_it_was_made_and_when_it_was_last_played() -> None:
    caves = Caves()
    made = caves("ann", "create_avatar")
    assert (made.created_at, made.last_active, made.bound_agent) == (utc(1000), utc(1000), None)
    caves.at = 5_000
    assert caves("ann", "jack_in").avatar.last_active == utc(5_000)
    assert caves("ann", "avatars").avatars[0].bound_agent == "ann"
    caves.at = 9_000
    caves("ann", "jack_out")
    caves.at = 20_000
    (waits,) = caves("ann", "avatars").avatars
    assert (waits.created_at, waits.last_active, waits.total_playtime) == (utc(1000), utc(9_000), 4)


@pytest.mark.parametrize("name", ["jack_in", "sit"])
def test_an_agent_that_left_its_body_knows_what_that_seat_was_shown(name: str) -> None:
    caves = Caves()
    caves("ann", name)
    seat = caves.seat("ann")
    assert caves.room.state.played == {"ann": seat}
    caves("ann", "jack_out")
    assert caves.room.state.played == {"ann": seat}


def test_of_several_avatars_that_wait_the_one_that_was_left_last_is_taken() -> None:
    caves = Caves()
    first, second = (caves("ann", "create_avatar").avatar_id for _ in range(2))
    for avatar in (second, first):
        caves("ann", "jack_in", avatar_id=avatar)
        caves.at += 1_000
        caves("ann", "jack_out")
    assert caves("ann", "jack_in").avatar.avatar_id == first


def test_the_playtime_that_an_agent_sees_does_not_tell_when_others_did_something() -> None:
    shown: list[list[int]] = []
    for do_others_talk in (False, True):
        caves = Caves()
        caves("ann", "jack_in")
        caves.at += 5_000
        if do_others_talk:
            caves("bob", "send_message", to="hostess", content="a secret")
        caves.at += 3_000
        mine = [caves("ann", "avatars").avatars[0], caves("ann", "inspect_self").avatar]
        caves("hostess", "archive")
        caves.at += 60_000
        shown.append([avatar.total_playtime for avatar in [*mine, caves("ann", "avatars").avatars[0]]])
    assert shown == [[8, 8, 8], [8, 8, 8]]


def test_the_time_in_which_a_built_in_player_had_a_body_counts_when_a_newcomer_takes_it() -> None:
    robin = player("robin", 0, brain="random", gives_way=True)
    caves = Caves(robin, ANN, HOST)
    caves.at = 7_000
    caves("ann", "sit", seat=caves.seat("robin"))
    (mine,) = caves("ann", "avatars").avatars
    assert (mine.state, mine.bound_agent, mine.total_playtime) == (State.BOUND, "ann", 7)
    caves.at = 9_000
    assert caves("ann", "jack_out").session_stats["playtime"] == 2
    assert replayed(caves.room).digest() == caves.room.digest()


def test_the_oldest_destroyed_avatars_of_an_agent_are_forgotten_and_those_of_others_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a world whose dead do not come back, and get new bodies instead."""
    monkeypatch.setattr(own, "ways_back", lambda room, dead: ())
    caves = Caves()
    caves("bob", "jack_in")
    caves("bob", "jump")
    died = [caves.id()]
    for _ in range(MAX_DESTROYED + 1):
        died.append(caves("ann", "jack_in").avatar.avatar_id)
        caves("ann", "jump")
    assert list(avatars_in(caves.room.state)) == died
    lives = caves("ann", "jack_in").avatar.avatar_id
    assert list(avatars_in(caves.room.state)) == [died[0], *died[2:], lives]
    assert replayed(caves.room).digest() == caves.room.digest()


# -- told ---------------------------------------------------------------------------------------------
def test_everybody_is_told_who_comes_goes_changes_its_body_and_returns_to_life() -> None:
    caves = Caves(ANN, BOB)
    calls = {
        "ann arrives": ("jack_in", {}),
        "ann leaves its body": ("jack_out", {}),
        "ann returns to its body": ("jack_in", {}),
    }
    for text, (name, args) in calls.items():
        caves("ann", name, **args)
        assert told_last(caves.room)["bob"] == [text]
    other = caves("ann", "create_avatar").avatar_id
    assert told_last(caves.room) == {"ann": [f"you created the avatar ann ({other})"]}
    caves("ann", "transfer", avatar_id=other)
    assert told_last(caves.room)["bob"] == ["ann changes its body"]
    caves("ann", "jump")
    caves("ann", "respawn")
    assert told_last(caves.room)["bob"] == ["ann respawns"]


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("dormant", "sleeps where you left it. `jack_in` brings you back."),
        ("suspend", "waits outside the world. `jack_in` brings you back."),
        ("despawn", "is gone."),
    ],
)
def test_who_leaves_a_body_is_told_what_becomes_of_it(mode: str, told: str) -> None:
    caves = Caves()
    caves("ann", "jack_in")
    assert caves("ann", "jack_out", mode=mode).message == f"ann {told}"
    caves("ann", "jack_in")
    other = caves("ann", "create_avatar", name="Other").avatar_id
    message = caves("ann", "transfer", avatar_id=other, mode=mode).message
    assert ("can be hurt" in message) is (mode == "dormant")


def offered(caves: Caves, who: str = "ann") -> set[str]:
    """The commands about bodies that a member is offered now."""
    about = {"avatars", "create_avatar", "jack_in", "jack_out", "transfer", "respawn", "death", "emote", "inspect_self"}
    member = caves.room.state.members[who]
    return {name for name in about if offers(caves.room, member, caves.room.commands.named(name))}


def test_a_member_is_offered_what_it_can_do_with_its_bodies_now() -> None:
    caves = Caves()
    embodied = {"avatars", "create_avatar", "jack_out", "emote", "inspect_self"}
    without = {"avatars", "create_avatar", "jack_in"}
    assert offered(caves) == without
    caves("ann", "jack_in")
    assert offered(caves) == embodied
    caves("ann", "create_avatar")
    assert offered(caves) == embodied | {"transfer"}
    caves("ann", "jump")
    assert offered(caves) == {"avatars", "death", "respawn"}
    assert offered(caves, "bob") == without


def test_who_moves_its_body_is_told_what_the_world_says_or_else_what_it_did() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("bob", "jack_in")
    for name, args, message in (
        ("stance", {"stance": "sitting"}, "You are sitting."),
        ("look", {"target": "pit"}, "you look at pit"),
    ):
        assert caves("ann", name, **args).message == message
        assert told_last(caves.room) == {"ann": [message]}


@pytest.mark.parametrize(("emote", "does"), [("sit", "sits down"), ("shake", "shakes its head"), ("wave", "waves")])
def test_an_emote_is_expressed_in_the_world_and_told_to_those_who_see_it(emote: str, does: str) -> None:
    caves = Caves(ANN, BOB)
    caves("ann", "jack_in")
    assert caves("ann", "emote", emote=emote).message == f"You {emote}."
    assert told_last(caves.room) == {"ann": [f"you {emote}"]}
    caves("bob", "jack_in")
    caves("ann", "emote", emote=emote)
    assert told_last(caves.room) == {"ann": [f"you {emote}"], "bob": [f"ann {does}"]}
    assert bodies(caves.room)["1"].expresses == emote


def test_a_world_that_changes_something_and_then_refuses_is_undone() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    before = caves.room.digest()
    with pytest.raises(Quarantined):
        caves("ann", "look", target="abyss")
    assert caves.room.digest() == before


def test_where_bodies_take_turns_an_action_that_waits_for_its_turn_says_so() -> None:
    caves = Caves(ANN, BOB, world=CAVES.replace(":Caves", ":TurnCaves"))
    caves("ann", "jack_in")
    caves("bob", "jack_in")
    mine, other = (caves(who, "inspect_self") for who in ("ann", "bob"))
    assert (mine.actions_available, mine.actions_blocked) == (
        ["go", "take", "hit", "jump", "collapse"], {"put": "you carry nothing"}
    )  # fmt: skip
    assert other.actions_available == []
    assert set(other.actions_blocked.values()) == {"it is not your turn; waiting for ann"}
    caves("ann", "go", place="pit")
    assert "go" in caves("bob", "inspect_self").actions_available


def test_the_actions_of_a_body_are_open_unless_nobody_is_to_move_and_the_game_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caves = Caves()
    caves("ann", "jack_in")
    world = type(caves.room.world)
    for movers, over in (["1"], True), ([], False), ([], True):
        monkeypatch.setattr(world, "to_move", lambda self, movers=movers: movers)
        monkeypatch.setattr(world, "is_over", lambda self, over=over: over)
        felt = caves("ann", "inspect_self")
        assert ("go" in felt.actions_available) is not (over and not movers)
    assert felt.actions_blocked["go"].startswith("this game is over")


# -- limits and refusals ------------------------------------------------------------------------------
def test_an_appearance_has_at_most_a_thousand_bytes() -> None:
    caves = Caves()
    longest = {"hair": "x" * (1_000 - len('{"hair":""}'))}
    assert caves("ann", "create_avatar", appearance=longest).appearance == longest
    refused = caves.refused("ann", "create_avatar", appearance={"hair": longest["hair"] + "x"})
    assert isinstance(refused, BadArgs)
    assert refused.message == "appearance is too long: at most 1,000 bytes of JSON"


def test_an_agent_despawns_twenty_bodies_and_leaves_others_in_another_way() -> None:
    caves = Caves()
    for _ in range(MAX_DESPAWNED):
        caves("ann", "jack_in")
        caves("ann", "jack_out", mode="despawn")
    caves("ann", "jack_in")
    assert "you have despawned 20 bodies in this game" in caves.refused("ann", "jack_out", mode="despawn").message
    caves("ann", "jack_out", mode="dormant")


def test_who_may_see_nothing_is_not_told_how_its_body_died() -> None:
    caves = Caves()
    for who in ("ann", "bob"):
        caves(who, "jack_in")
    caves("hostess", "narrow", member="ann", may=["read_own", "watch"])
    caves.kill("bob", "1")
    assert not any("died" in text for text in told_last(caves.room).get("ann", []))
    caves("ann", "respawn")
    caves("hostess", "widen", member="ann", may=["read_own", "watch"])
    caves.kill("bob", "1")
    assert any("died" in text for text in told_last(caves.room)["ann"])


def test_a_death_is_news_also_for_the_agent_whose_own_action_it_followed_from() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "jump")
    ann, entry = caves.room.state.members["ann"], entries(caves.room)[-1]
    assert is_news(entry, ann, caves.room.eye(ann))


def test_a_wrong_avatar_is_reported_also_while_the_own_body_cannot_be_left() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "go", place="ledge")
    assert isinstance(caves.refused("ann", "transfer", avatar_id="avatar-0"), UnknownAsset)


def test_where_nobody_comes_back_to_life_a_dead_avatar_stays_dead() -> None:
    caves = Caves(config={"respawns": False})
    caves("ann", "jack_in")
    caves("ann", "jump")
    assert "Your avatar ann died (combat)." in caves.heard("ann")
    assert caves("ann", "death").respawn_options == []
    assert ("death" in offered(caves), "respawn" in offered(caves)) == (True, False)
    assert "nobody comes back to life in this game" in caves.refused("ann", "respawn").message
    assert "nobody comes back to life in this game" in caves.refused("ann", "respawn", option="hall").message


def test_the_death_of_a_body_that_lives_again_without_its_agent_cannot_be_read() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "jump")
    assert isinstance(caves("ann", "death"), DeathEvent)
    caves("ann", "stand_up")
    bodies(caves.room)["1"].health = 1  # some worlds do that by themselves
    assert caves.refused("ann", "death").message == "this avatar is not dead any more"


def test_an_avatar_dies_once_however_long_it_is_dead() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "jump")
    caves("bob", "jack_in")
    caves("bob", "go", place="pit")
    assert caves("ann", "avatars").avatars[0].death_count == 1
    caves("ann", "respawn")
    caves("ann", "jump")
    assert caves("ann", "avatars").avatars[0].death_count == 2


def test_a_body_that_its_world_brings_back_by_itself_is_its_agents_again() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "jump")
    assert caves.state() is State.DESTROYED
    bodies(caves.room)["1"].health = 1
    caves("bob", "jack_in")
    assert caves.state() is State.BOUND
    caves("ann", "go", place="pit")


# -- what is remembered -------------------------------------------------------------------------------
def test_a_save_brings_a_body_back_to_the_agent_that_returned_to_life_in_it() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    first = caves.seat("ann")
    other = caves("ann", "create_avatar").avatar_id
    caves("ann", "transfer", avatar_id=other)
    caves("ann", "jack_out", mode="suspend")
    caves("ann", "jack_in", avatar_id=caves.id(1))
    caves("ann", "jump")
    caves("ann", "jack_in", avatar_id=other)
    caves("ann", "jack_out", mode="despawn")
    caves("ann", "respawn")
    assert caves.seat("ann") == first
    save = saved(caves.room)
    caves("zeus", "rematch")
    caves.room.system("loaded", {"by": "zeus", "save": save}, caves.at)
    (waits,) = caves("ann", "avatars").avatars
    assert (waits.state, waits.name) == (State.SUSPENDED, "ann")


def test_a_save_brings_no_body_back_to_life_whose_agent_had_left_it() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    caves("ann", "jump")
    caves("ann", "stand_up")
    save = saved(caves.room)
    caves("zeus", "rematch")
    caves.room.system("loaded", {"by": "zeus", "save": save}, caves.at)
    assert [avatar.state for avatar in caves("ann", "avatars").avatars] == [State.DESTROYED]
    assert caves("ann", "respawn").avatar.state is State.BOUND


def test_a_body_has_the_name_that_its_world_gave_it_also_if_a_member_sits_down() -> None:
    room = make_room({**ANN, "name": "Zoe"}, {**BOB, "name": "Zoe"}, world="crafter_shared")
    for who in ("ann", "bob"):
        room.call(who, "sit", at=1)
    assert [avatar.name for avatar in avatars_in(room.state).values()] == ["Zoe", "Zoe-2"]
    assert [seat.name for seat in room.state.seats] == ["Zoe", "Zoe-2"]


def test_the_body_of_an_agent_that_has_left_the_room_waits_under_the_name_of_its_seat() -> None:
    caves = Caves()
    caves("ann", "jack_in")
    save = saved(caves.room)
    caves("zeus", "rematch")
    caves("ann", "leave")
    caves.room.system("loaded", {"by": "zeus", "save": save}, caves.at)
    assert [avatar.name for avatar in avatars_in(caves.room.state).values()] == ["1"]


def test_a_new_body_appears_where_its_avatar_was_to_appear() -> None:
    caves = Caves()
    for where, place in (("challenging", 2), ("safe", 0)):
        made = caves("ann", "create_avatar", spawn_location=where).avatar_id
        assert caves("ann", "jack_in", avatar_id=made).avatar.position == (place,)
        caves("ann", "jack_out", mode="suspend")
    assert caves("bob", "jack_in").avatar.position == (0,)


def test_rewards_begin_at_nothing_in_another_game() -> None:
    caves = Caves()
    for _ in range(2):
        caves("ann", "jack_in")
        caves("ann", "go", place="pit")
        assert "Reward: +1 (total 1)" in told_last(caves.room)["ann"]
        caves("ann", "go", place="hall")
        assert "Reward: +1 (total 2)" in told_last(caves.room)["ann"]
        caves("zeus", "rematch")
