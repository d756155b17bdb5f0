"""Apps in a room: data, schemas, views and actions reach those who may have them, and nobody else."""

from typing import Any

import pytest

from cohabit.errors import BadArgs, CohabitError, GameRejected, PermissionDenied, TooLarge, UnknownAsset
from cohabit.features import apps
from cohabit.features.apps import MAX_DATA, SCHEMA_BYTES_PER_ROOM, SCHEMAS_PER_MEMBER
from cohabit.model.limits import MAX_DATA_DEPTH
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed

from .making import BLUE, HOST, RED, make_room, replayed, told_last

APP = {"id": "board", "role": "app", "identity": "i-board"}
WATCHER = {"id": "owl", "kind": "agent", "identity": "i-owl"}
PERSON = {"id": "pat", "kind": "human", "identity": "i-pat"}


def room_with_app() -> Room:
    return make_room(RED, BLUE, HOST, APP, WATCHER, PERSON)


def got(room: Room, who: str) -> list[Any]:
    """The data of the newest entry, as this member gets it."""
    member = room.state.require_member(who)
    return [item.data for item in feed(room.record.tail[-1].entry, member, room.eye(member))]


def receivers(room: Room, data: Any) -> set[str]:
    return {m.handle for m in room.state.members.values() if data in got(room, m.handle)}


def test_data_to_everyone_reaches_those_who_may_read_the_chat() -> None:
    room = room_with_app()
    room.call("hostess", "narrow", {"member": "owl", "may": ["read_chat"]}, at=1)
    room.call("pat", "send_data", {"data": {"k": "ink", "x": 0.5}}, at=2)
    assert receivers(room, {"k": "ink", "x": 0.5}) == {"ann", "bob", "hostess", "board", "pat"}


@pytest.mark.parametrize(("kind", "needs"), [("image", "read_media"), ("file", "read_files")])
def test_images_and_files_need_their_own_capability(kind: str, needs: str) -> None:
    room = room_with_app()
    room.call("pat", "send_data", {"data": "sentinel", "kind": kind}, at=1)
    assert receivers(room, "sentinel") == {"pat", "hostess"}
    room.call("pat", "send_data", {"data": "sentinel", "kind": kind, "to": "owl"}, at=2)
    assert receivers(room, "sentinel") == set()
    room.call("hostess", "widen", {"member": "owl", "may": [needs]}, at=3)
    room.call("pat", "send_data", {"data": "sentinel", "kind": kind, "to": "owl"}, at=4)
    assert receivers(room, "sentinel") == {"owl"}


def test_data_to_one_member_reaches_only_that_one_and_needs_receive_directed() -> None:
    room = room_with_app()
    room.call("pat", "send_data", {"data": "sentinel", "to": "owl"}, at=1)
    assert receivers(room, "sentinel") == {"owl"}
    room.call("hostess", "narrow", {"member": "owl", "may": ["receive_directed"]}, at=2)
    room.call("pat", "send_data", {"data": "sentinel", "to": "owl"}, at=3)
    assert receivers(room, "sentinel") == set()


def test_a_watcher_sends_nothing_publishes_nothing_and_requests_nothing() -> None:
    room = room_with_app()
    before = room.digest()
    for name, args in (
        ("send_data", {"data": 1}), ("publish_schema", {"name": "a", "version": "1", "schema": {}}),
        ("publish_view", {"view": 1}), ("request_action", {"action": 1}),
    ):  # fmt: skip
        with pytest.raises(PermissionDenied):
            room.call("owl", name, args, at=1)
    assert room.digest() == before


def test_a_view_is_what_its_app_has_published_for_the_reader() -> None:
    room = room_with_app()
    assert room.call("owl", "app_view", at=1).view is None
    room.call("board", "publish_view", {"view": {"all": 1}}, at=2)
    room.call("board", "publish_view", {"view": {"only": "owl"}, "to": ["owl"]}, at=3)
    assert receivers(room, {"only": "owl"}) == {"owl"}
    assert room.call("owl", "app_view", at=4).view == {"only": "owl"}
    assert room.call("pat", "app_view", at=4).view == {"all": 1}
    room.call("hostess", "narrow", {"member": "owl", "may": ["receive_directed"]}, at=5)
    assert room.call("owl", "app_view", at=6).view == {"all": 1}


def test_the_newest_view_counts_whether_it_was_for_everyone_or_for_one() -> None:
    room = room_with_app()
    told = room.call("board", "publish_view", {"view": {"only": "owl"}, "to": ["owl"]}, at=1)
    assert (told.message, told.recipients) == ("Published. 1 member sees it now.", 1)
    told = room.call("board", "publish_view", {"view": {"all": 1}}, at=2)
    assert (told.message, told.recipients) == ("Published. 5 members see it now, and everyone who joins later.", 5)
    assert receivers(room, {"all": 1}) == {"ann", "bob", "hostess", "board", "owl", "pat"}
    assert room.call("owl", "app_view", at=3).view == {"all": 1}
    assert room.call("owl", "view", at=3).also == {"app_view": {"all": 1}}
    room.call("board", "publish_view", {"view": {"only": "owl"}, "to": ["owl"]}, at=3)
    assert room.call("owl", "app_view", at=4).view == {"only": "owl"}
    assert room.call("pat", "app_view", at=4).view == {"all": 1}


def test_a_view_for_another_member_does_not_make_the_old_one_of_its_app_the_newest() -> None:
    room = make_room(RED, BLUE, HOST, APP, WATCHER, {"id": "later", "role": "app", "identity": "i-later"})
    room.call("board", "publish_view", {"view": "old"}, at=1)
    room.call("later", "publish_view", {"view": "new"}, at=2)
    room.call("board", "publish_view", {"view": "for ann", "to": ["ann"]}, at=3)
    assert room.call("owl", "app_view", at=4).view == "new"
    room.call("board", "publish_view", {"view": "newest"}, at=4)
    room.call("later", "publish_view", {"view": "last"}, at=4)
    room.call("board", "publish_view", {"view": "the very last"}, at=4)
    assert room.call("owl", "app_view", at=5).view == "the very last"


def test_a_record_from_before_the_newest_view_counted_replays_as_it_was() -> None:
    """Its entries do not say that they are the newest."""
    room = room_with_app()
    publish = room.commands.named("publish_view")
    for args in ({"view": 1, "to": ["owl"]}, {"view": 2, "to": None}):
        room._write(1, publish, "board", args, publish.check(args))
    assert [m for told in room.record.tail[-1].entry.told for m in told.members or ()] == [
        member for member in room.state.members if member != "owl"
    ]
    lines = room.record.take_pending()
    again = Room.replay(lines, lambda source, config: make_room(RED, BLUE, HOST, APP, WATCHER, PERSON).world)
    assert again.digest() == room.digest()


def test_only_an_app_publishes_views_and_another_app_cannot_replace_them() -> None:
    room = make_room(RED, BLUE, HOST, APP, WATCHER, {"id": "rogue", "role": "app", "identity": "i-rogue"})
    room.call("board", "publish_view", {"view": "true"}, at=1)
    room.call("rogue", "publish_view", {"view": "false"}, at=2)
    assert room.call("owl", "app_view", {"app": "board"}, at=3).view == "true"
    assert room.call("owl", "app_view", at=3).view == "false"
    with pytest.raises(PermissionDenied):
        room.call("ann", "publish_view", {"view": "false"}, at=4)


def test_of_views_of_several_apps_the_newest_is_shown_and_at_the_same_moment_the_last() -> None:
    room = make_room(RED, BLUE, HOST, APP, WATCHER, {"id": "later", "role": "app", "identity": "i-later"})
    room.call("board", "publish_view", {"view": "first"}, at=1)
    room.call("later", "publish_view", {"view": "last"}, at=1)
    assert room.call("owl", "app_view", at=2).view == "last"
    room.call("board", "publish_view", {"view": "newest"}, at=3)
    assert room.call("owl", "app_view", at=4).view == "newest"


def test_an_action_reaches_the_app_and_nobody_else() -> None:
    room = room_with_app()
    with pytest.raises(GameRejected):
        room.call("pat", "request_action", {"action": {"move": 1}}, at=1)
    room.call("board", "publish_view", {"view": 0}, at=2)
    assert room.call("pat", "request_action", {"action": {"move": 1}}, at=3).apps == ["board"]
    assert receivers(room, {"move": 1}) == {"board"}
    with pytest.raises(PermissionDenied):
        room.call("pat", "request_action", {"action": 1, "app": "ann"}, at=4)
    room.call("pat", "request_action", {"action": "x" * (MAX_DATA - 2)}, at=5)  # with its quotes
    with pytest.raises(TooLarge, match=f"an action may have at most {MAX_DATA} bytes"):
        room.call("pat", "request_action", {"action": "x" * (MAX_DATA - 1)}, at=6)


@pytest.mark.parametrize(
    ("who", "command", "name"),
    [("pat", "send_data", "data"), ("board", "publish_view", "view"), ("board", "publish_schema", "schema"),
     ("pat", "request_action", "action")],
)  # fmt: skip
def test_data_that_is_nested_so_deeply_that_others_could_not_read_it_is_refused(
    who: str, command: str, name: str
) -> None:
    room, named = room_with_app(), {"name": "s", "version": "1"} if name == "schema" else {}
    room.call("board", "publish_view", {"view": 0}, at=1)
    deep: Any = 0
    for _ in range(MAX_DATA_DEPTH):
        deep = {"in": deep}
    room.call(who, command, {**named, name: deep}, at=2)
    for _ in range(2):
        deep = [deep]
        with pytest.raises(TooLarge, match=f"nested {MAX_DATA_DEPTH} deep"):
            room.call(who, command, {**named, name: deep}, at=3)
        for _ in range(800):
            deep = [deep]
    assert replayed(room).digest() == room.digest()


def test_schemas_are_there_for_those_who_come_later_and_are_bounded() -> None:
    room = room_with_app()
    room.call("board", "publish_schema", {"name": "board", "version": "1", "schema": {"type": "object"}}, at=1)
    room.call("board", "publish_schema", {"name": "board", "version": "2", "schema": {"type": "array"}}, at=2)
    (line,) = room.call("owl", "app_schemas", at=3).schemas
    assert (line.app, line.name, line.version, line.schema) == ("board", "board", "2", {"type": "array"})
    for number in range(SCHEMAS_PER_MEMBER - 1):
        room.call("board", "publish_schema", {"name": f"s{number}", "version": "1", "schema": 0}, at=4)
    with pytest.raises(TooLarge):
        room.call("board", "publish_schema", {"name": "one more", "version": "1", "schema": 0}, at=5)
    room.call("hostess", "remove_member", {"member": "board"}, at=6)
    assert room.call("owl", "app_schemas", at=7).schemas == []


def test_the_schemas_of_all_apps_together_have_a_limit_and_one_that_is_published_again_counts_once() -> None:
    room = room_with_app()
    large = "x" * (MAX_DATA - 2)
    names = [f"s{number}" for number in range(SCHEMA_BYTES_PER_ROOM // MAX_DATA)]
    for name in names:
        room.call("board", "publish_schema", {"name": name, "version": "1", "schema": large}, at=1)
    with pytest.raises(TooLarge, match=f"{SCHEMA_BYTES_PER_ROOM} bytes together"):
        room.call("board", "publish_schema", {"name": "one more", "version": "1", "schema": large}, at=2)
    room.call("board", "publish_schema", {"name": "s0", "version": "2", "schema": large}, at=3)
    assert len(room.call("owl", "app_schemas", at=4).schemas) == len(names)


@pytest.mark.parametrize(("name", "key"), [("send_data", "data"), ("publish_view", "view")])
def test_data_passes_untouched_up_to_its_limit_and_is_refused_beyond(name: str, key: str) -> None:
    room = room_with_app()
    most = "x" * (MAX_DATA - 2)
    room.call("board", name, {key: most}, at=1)
    assert got(room, "pat") == [most]
    with pytest.raises(TooLarge):
        room.call("board", name, {key: most + "x"}, at=2)


def test_nobody_learns_names_from_publishing() -> None:
    room = room_with_app()
    room.call("hostess", "narrow", {"member": "board", "may": ["read_roster"]}, at=1)
    with pytest.raises(UnknownAsset) as refused:
        room.call("board", "publish_view", {"view": 1, "to": ["pa"]}, at=2)
    assert refused.value.did_you_mean == []


# -- chat limits ----------------------------------------------------------------------------------
TALKER = {"id": "bot", "kind": "agent", "identity": "i-bot", "role": "app"}


def test_an_app_has_a_limit_of_views_and_can_still_replace_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apps, "VIEWS_PER_APP", 2)
    room = room_with_app()
    for to in (["owl"], ["pat"]):
        room.call("board", "publish_view", {"view": 1, "to": to}, at=1)
    with pytest.raises(TooLarge, match="2 views"):
        room.call("board", "publish_view", {"view": 2, "to": ["ann"]}, at=2)
    room.call("board", "publish_view", {"view": 3, "to": ["pat", "owl"]}, at=3)
    room.call("board", "publish_view", {"view": 4}, at=4)  # it replaces both
    room.call("board", "publish_view", {"view": 5, "to": ["ann"]}, at=5)


def said(room: Room, at: int, who: str = "bot", to: str = "*") -> bool:
    try:
        room.call(who, "send_message", {"to": to, "content": "hello"}, at=at)
    except CohabitError as refused:
        assert refused.code == "BUSY"
        return False
    return True


def test_an_agent_waits_between_two_messages_to_everyone_but_answers_one_member_at_once() -> None:
    room = make_room(RED, HOST, TALKER, PERSON)
    room.call("hostess", "set_chat_limits", {"cooldown_ms": 5000}, at=1)
    assert said(room, 10)
    assert not said(room, 5009)
    assert said(room, 5009, to="pat")
    assert said(room, 5010)
    assert said(room, 5011, who="pat")
    assert said(room, 5012, who="pat")


def test_an_agent_has_a_number_of_messages_a_minute_whatever_they_are() -> None:
    room = make_room(RED, HOST, TALKER, PERSON)
    room.call("hostess", "set_chat_limits", {"messages_per_minute": 2}, at=1)
    assert said(room, 100)
    room.call("bot", "send_data", {"data": 1}, at=200)
    assert not said(room, 59_999)
    assert said(room, 60_000)
    room.call("hostess", "set_chat_limits", {"messages_per_minute": 3}, at=60_001)
    assert said(room, 60_002)
    assert said(room, 60_003)
    assert not said(room, 60_004)


def test_a_change_of_the_chat_limits_keeps_what_it_does_not_name_and_everybody_is_told() -> None:
    room = make_room(RED, HOST, PERSON)
    room.call("hostess", "set_chat_limits", {"cooldown_ms": 5000, "agents_apart": True}, at=1)
    reply = room.call("hostess", "set_chat_limits", {"messages_per_minute": 2}, at=2)
    assert (reply.cooldown_ms, reply.messages_per_minute, reply.agents_apart) == (5000, 2, True)
    assert told_last(room)["pat"] == ["hostess changed the chat limits for agents"]
    reply = room.call("hostess", "set_chat_limits", {"cooldown_ms": 0, "messages_per_minute": 0}, at=3)
    assert (reply.cooldown_ms, reply.messages_per_minute, reply.agents_apart) == (0, 0, True)


def test_agents_that_are_kept_apart_do_not_get_each_others_messages() -> None:
    room = make_room(RED, HOST, TALKER, PERSON, WATCHER)
    room.call("hostess", "set_chat_limits", {"agents_apart": True}, at=1)
    room.call("bot", "send_message", {"to": "*", "content": "sentinel"}, at=2)
    entry = room.record.tail[-1].entry

    def hears(who: str) -> bool:
        member = room.state.require_member(who)
        return "sentinel" in str(feed(entry, member, room.eye(member)))

    assert [who for who in ("hostess", "pat", "owl", "bot") if hears(who)] == ["hostess", "pat", "bot"]
    assert room.call("owl", "recv_messages", at=3).items == []
    room.call("bot", "send_data", {"data": "sentinel"}, at=4)
    assert receivers(room, "sentinel") == {"hostess", "pat"}
    room.call("pat", "send_message", {"to": "*", "content": "people reach everyone"}, at=5)
    assert len(room.call("owl", "recv_messages", at=6).items) == 1


# -- limits -------------------------------------------------------------------------------------------
def test_an_envelope_of_kibitz_is_not_sent_as_data_and_other_data_with_its_key_is() -> None:
    room = room_with_app()
    with pytest.raises(BadArgs, match="no __kib_agent in data: use `say` for chat"):
        room.call("pat", "send_data", {"data": {"__kib_agent": "view"}}, at=1)
    for harmless in ({"__kib_agent": 7}, {"kind": "__kib_agent"}, ["__kib_agent"]):
        room.call("pat", "send_data", {"data": harmless}, at=2)


def test_a_room_has_so_many_schemas_and_one_that_is_replaced_is_not_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apps, "SCHEMAS_PER_ROOM", 2)
    room = room_with_app()

    def publish(who: str, name: str) -> None:
        room.call(who, "publish_schema", {"name": name, "version": "1", "schema": {}}, at=1)

    publish("board", "one")
    publish("hostess", "two")
    with pytest.raises(TooLarge, match="a room may have 2 schemas"):
        publish("board", "three")
    publish("board", "one")


def test_the_views_of_an_app_have_a_size_together_and_that_of_a_member_that_left_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(apps, "VIEW_BYTES_PER_APP", 20)
    room = room_with_app()

    def publish(to: list[str] | None, size: int) -> None:
        room.call("board", "publish_view", {"view": "x" * (size - 2), **({"to": to} if to else {})}, at=1)

    publish(None, 10)
    publish(["owl"], 10)
    with pytest.raises(TooLarge, match="the views of an app may have 20 bytes together"):
        publish(["pat"], 3)
    room.call("hostess", "remove_member", {"member": "owl"}, at=2)
    publish(["pat"], 10)
    assert (
        set(apps.PUBLISHED.read(room.state).apps["board"].views)
        == set(apps.PUBLISHED.read(room.state).apps["board"].sizes)
        == {"pat", "*"}
    )


def test_a_member_that_has_published_no_view_has_none_to_show() -> None:
    room = room_with_app()
    with pytest.raises(UnknownAsset, match="board has published no view for you"):
        room.call("pat", "app_view", {"app": "board"}, at=1)
    room.call("board", "publish_schema", {"name": "one", "version": "1", "schema": {}}, at=2)
    with pytest.raises(UnknownAsset, match="board has published no view for you"):
        room.call("pat", "app_view", {"app": "board"}, at=3)


def test_a_view_that_an_app_publishes_for_one_member_changes_nothing_for_the_others() -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("view", {}), ("app_view", {}), ("app_view", {"app": "board"}), ("app_schemas", {}),
        ("request_action", {"action": 1}),
    ]  # fmt: skip

    def what_pat_gets(*, is_published: bool) -> list[Any]:
        room = room_with_app()
        if is_published:
            room.call("board", "publish_view", {"view": "a secret", "to": ["owl"]}, at=1)
        found: list[Any] = []
        for name, args in calls:
            try:
                found.append(room.call("pat", name, args, at=2))
            except CohabitError as refused:
                found.append(refused.as_wire())
        return found

    assert what_pat_gets(is_published=True) == what_pat_gets(is_published=False)
