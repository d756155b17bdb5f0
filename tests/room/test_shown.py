"""A view since an earlier one: exact, only against what the member itself was shown, and never more than is kept."""

from typing import Any

import pytest

from cohabit.model.text_changes import apply_changes
from cohabit.model.view_changes import HOW_TO_READ, LINES_BELOW
from cohabit.registry import BUILT_IN
from cohabit.room.room import Room
from cohabit.room.seeing.looking import ViewReply
from cohabit.room.seeing.shown import (
    LONG_VIEW,
    MAX_AFTER_ACTION,
    MAX_CHARACTERS,
    MEMBERS_KEPT,
    VIEWS_PER_MEMBER,
    ShownViews,
)
from cohabit.testing.play import Play
from cohabit.world import Observation, overrides

from .making import BLUE, GOD, HOST, RED, make_room, player, restored


def look(room: Room, who: str, since: str = "", at: int = 10**9) -> ViewReply:
    reply: ViewReply = room.call(who, "view", {"since": since} if since else {}, at=at)
    return reply


def body(reply: ViewReply) -> str:
    """The text without the line that names the view."""
    return reply.text.removesuffix(f"\nThis is view {reply.id}.")


def brought_up_to_date(old: ViewReply, new: ViewReply) -> tuple[str | None, Any]:
    """What a reader knows who has the old view and the new reply. No text if the world tells changes in its words."""
    if not new.since:
        assert new.observation is not None
        return body(new), new.observation.to_structured()
    assert old.observation is not None
    assert new.changed is not None
    assert new.since == old.id
    observation = old.observation.to_structured() | new.changed
    if body(new) == f"Nothing has changed since view {old.id}.":
        return body(old), observation
    told = body(new).removeprefix(f"Changes since view {old.id}")
    if not told.startswith(HOW_TO_READ):
        return None, observation
    return apply_changes(body(old), told.removeprefix(f"{HOW_TO_READ}\n")), observation


@pytest.mark.sampled
@pytest.mark.parametrize("world", list(BUILT_IN))
def test_the_old_view_and_what_has_changed_tell_everything_that_the_new_view_tells(world: str) -> None:
    play = Play(world, 3)
    shorter = 0
    for _ in range(40):
        who = [m.id for m in play.room.state.members.values()]
        before = {name: look(play.room, name, at=play.at) for name in who}
        play.step()
        for name in who:
            new, whole = look(play.room, name, before[name].id, at=play.at), look(play.room, name, at=play.at)
            assert whole.observation is not None
            text, observation = brought_up_to_date(before[name], new)
            assert observation == whole.observation.to_structured()
            assert text == body(whole) or (text is None and overrides(play.room.world, "changes"))
            assert new.id == whole.id
            if overrides(play.room.world, "changes"):  # the room's own lines are explained where there are any
                assert ("\n@" in new.text) <= (LINES_BELOW in new.text or HOW_TO_READ in new.text)
            assert len(new.text) <= len(whole.text)
            shorter += len(new.text) < len(whole.text) / 2
    assert shorter or world == "lounge", "its view is one line"


def test_the_reply_to_an_action_with_a_long_observation_has_the_id_that_the_next_view_takes() -> None:
    agents = [player(f"p{n}", n) for n in range(3)]
    room = make_room(*agents, world="statecraft")
    reply = room.call("p0", "submit", {"purchase_mils": 1}, at=1)
    assert reply.observation is not None
    assert len(reply.observation.text) >= LONG_VIEW
    new, whole = look(room, "p0", reply.view_id), look(room, "p0")
    assert (new.since, new.observation) == (reply.view_id, None)
    assert len(new.text) < len(whole.text) / 3
    text = body(new).removeprefix(f"Changes since view {reply.view_id}{HOW_TO_READ}\n")
    assert apply_changes(reply.observation.to_text(), text) == body(whole)
    assert look(room, "p1", reply.view_id).since == ""  # nobody else was shown it


CHANGES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "an action": ("ann", "take", {"n": 1}),
    "a message": ("zeus", "send_message", {"to": "bob", "content": "hello"}),
    "a grant": ("hostess", "revoke", {"member": "zeus"}),
    "a seat": ("bob", "stand_up", {}),
    "a request": ("zeus", "ask", {"through": "second"}),
    "a rematch": ("hostess", "rematch", {}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_view_that_is_asked_for_again_is_the_same_until_something_changes_it(change: str) -> None:
    room = make_room(player("ann", 0), {"id": "bob", "role": "player", "kind": "human"}, GOD, HOST, world="nim")
    room.call("bob", "sit", {"seat": "second"}, at=1)
    members = ("ann", "bob", "hostess")
    before = {who: look(room, who) for who in members}
    assert all(look(room, who).observation is before[who].observation for who in members), "made once"
    look(room, "ann").text = "changed by its reader"
    assert look(room, "ann") == before["ann"]
    who, name, args = CHANGES[change]
    room.call(who, name, args, at=2)
    after = {who: look(room, who) for who in members}
    again = restored(room)
    assert after == {who: look(again, who) for who in members}
    assert (after["bob"] == before["bob"]) == (change == "a grant")


def test_a_view_with_a_time_limit_counts_down() -> None:
    room = make_room(player("ann", 0), player("bob", 1), world="nim", turn_seconds=60)
    shown = [room.call("bob", "view", at=at).turn_seconds_left for at in (1000, 2000)]
    assert shown == [59, 58]


def test_the_reply_to_an_action_with_a_short_or_a_very_long_observation_has_no_id() -> None:
    room = make_room(world="nim")
    assert room.call("ann", "take", {"n": 1}, at=1).view_id == ""
    crowd = make_room()
    for length, has_id in ((100, False), (2_000, True), (MAX_AFTER_ACTION, False)):
        assert bool(crowd.call("ann", "shout", {"text": "x" * length}, at=1).view_id) is has_id


def test_a_view_that_has_not_changed_is_one_line() -> None:
    room = make_room()
    for number in range(80):
        room.call("ann", "shout", {"text": f"nothing new in number {number}"}, at=number)
    first = look(room, "ann")
    again = look(room, "ann", first.id)
    assert again.text == f"Nothing has changed since view {first.id}.\nThis is view {first.id}."
    assert (again.since, again.id, again.changed, again.observation) == (first.id, first.id, {}, None)


def test_a_world_tells_what_has_changed_in_its_own_words() -> None:
    room = make_room(RED, world="crafter")
    first = look(room, "ann", at=1)
    room.call("ann", "noop", at=2)
    again = look(room, "ann", first.id, at=3)
    assert first.observation is not None
    own_words = room.world.changes(first.observation, look(room, "ann", at=3).observation or Observation())
    assert body(again) == f"Changes since view {first.id}:\n{own_words}"


def test_news_that_the_old_view_had_too_is_repeated_only_if_something_has_happened_since() -> None:
    play = Play("statecraft", 3)
    for _ in range(12):
        play.step()
    reader, sender = list(play.room.state.members)[:2]
    first = look(play.room, reader, at=play.at)
    play.room.call(sender, "send_message", {"to": reader, "content": "a letter between two turns"}, at=play.at)
    second = look(play.room, reader, first.id, at=play.at)
    assert second.since == first.id
    assert "a letter between two turns" in second.text
    assert "\n! " not in second.text


def test_a_member_who_waited_for_its_turn_is_told_that_it_has_come_also_if_it_had_it_before() -> None:
    room = make_room(player("p0", 0), player("p1", 1), world="statecraft")
    first = room.call("p0", "wait_for_turn", at=1)
    for who in ("p0", "p1"):
        room.call(who, "submit", {}, at=1)
    again = room.call("p0", "wait_for_turn", {"since": first.id}, at=1)
    assert again.since == first.id
    assert "\nIt is your turn.\n" in again.text


def test_nobody_gets_the_changes_since_a_view_that_only_another_member_was_shown() -> None:
    room = make_room(RED, BLUE, GOD)
    room.call("ann", "hide", {"n": 4711}, at=1)
    hers = look(room, "zeus")
    told = look(room, "bob", hers.id)
    assert told.text == f"View {hers.id} is not known any more, so this is all of it.\n{look(room, 'bob').text}"
    assert (told.since, told.changed) == ("", None)
    assert told.observation == look(room, "bob").observation


def test_after_a_restart_a_member_gets_the_whole_view_and_is_told_so() -> None:
    room = make_room()
    before = look(room, "ann")
    after = look(restored(room), "ann", before.id)
    assert after.text.startswith(f"View {before.id} is not known any more")
    assert after.id == before.id, "an id says what the view is, so it never fits another one"


@pytest.mark.parametrize("since", ["x", "9" * 500, "a\nb"])
def test_an_id_that_is_none_gets_the_whole_view(since: str) -> None:
    room = make_room()
    assert look(room, "ann", since).text.endswith(look(room, "ann").text)
    assert len(look(room, "ann", since).text.splitlines()[0]) < 100


def test_a_long_view_ends_with_its_id_and_a_short_one_does_not() -> None:
    room = make_room(RED, BLUE, HOST)
    short = look(room, "ann")
    assert short.id
    assert short.id not in short.text
    room.call("ann", "shout", {"text": "x" * LONG_VIEW}, at=1)
    long = look(room, "ann")
    assert long.text.endswith(f"\nThis is view {long.id}.")


def test_two_views_with_the_same_text_and_other_values_have_other_ids() -> None:
    shown = ShownViews()
    one, two = (shown.add("ann", "text", Observation(status={"n": n}), 1) for n in (1, 2))
    assert one != two


def test_a_member_has_few_views_kept_and_not_too_much_text_whatever_others_look_at() -> None:
    shown = ShownViews()
    ids = [shown.add("ann", f"view {number}", Observation(), number) for number in range(VIEWS_PER_MEMBER + 1)]
    assert [shown.get("ann", view) is not None for view in ids] == [False] + [True] * VIEWS_PER_MEMBER
    assert (shown.seq("ann"), shown.seq("ann", ids[1]), shown.seq("ann", ids[0]), shown.seq("bob")) == (4, 1, -1, -1)
    for number in range(20):
        shown.add("bob", "x" * (MAX_CHARACTERS // 2 - number), Observation(), 9)
    large = [shown.add("bob", "y" * (MAX_CHARACTERS // 2 - number), Observation(), 9) for number in range(3)]
    assert [shown.get("bob", view) is not None for view in large] == [False, True, True], "the oldest is dropped first"
    assert [shown.get("ann", view) is not None for view in ids] == [False] + [True] * VIEWS_PER_MEMBER
    shown.add("bob", "x" * (MAX_CHARACTERS + 1), Observation(), 9)
    assert "bob" not in shown._of_member
    assert shown._characters.keys() == {"ann"}


def test_the_views_of_many_who_come_and_go_do_not_fill_the_memory() -> None:
    shown = ShownViews()
    for number in range(MEMBERS_KEPT + 5):
        shown.add(f"m{number}", "a view", Observation(), number)
    assert len(shown._views) == len(shown._of_member) == len(shown._characters) == MEMBERS_KEPT
    assert shown.seq("m4") == -1
    assert shown.seq("m5") == 5


def test_what_is_shown_again_is_the_newest() -> None:
    shown = ShownViews()
    first = shown.add("ann", "a", Observation(), 1)
    shown.add("ann", "b", Observation(), 2)
    assert shown.add("ann", "a", Observation(), 3) == first
    assert shown.seq("ann") == 3
    assert len(shown._views) == 2
