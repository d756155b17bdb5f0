"""One audit for a room and one for the house: everything that was refused or changed, by kind, member and time, in pages."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohabit.errors import BadArgs, PermissionDenied, Unauthorized, UnknownAsset, UnknownRoom
from cohabit.house.access.signing import InviteBody, SigningKey
from cohabit.house.access.strangers import knock
from cohabit.house.house import House
from cohabit.house.reading import audit as reading
from cohabit.house.running import history
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, GOD, HOST, REFUSALS, Client, back_again, make_room, open_house

FORGER = SigningKey.generate()


async def lines(caller: Client, **args: Any) -> list[tuple[str, str, str | None]]:
    """What the audit says: kind, text and who did it."""
    return [(line.kind, line.text, line.by) for line in (await caller("audit", args)).lines]


async def of_house(house: House, token: str | None = None, **args: Any) -> list[tuple[str, str]]:
    credential = house.identify(token or house.operator_token())
    return [(line.kind, line.text) for line in (await house.call(credential, None, "audit", args)).lines]


async def pages(caller: Client, size: int, **args: Any) -> list[list[Any]]:
    found, cursor = list[list[Any]](), ""
    while True:
        page = await caller("audit", {"max": size, "cursor": cursor, **args})
        found.append(page.lines)
        cursor = page.cursor
        if not cursor:
            return found


async def refused(caller: Client, name: str, args: dict[str, Any]) -> None:
    with pytest.raises((PermissionDenied, UnknownAsset)):
        await caller(name, args)


# -- one list -------------------------------------------------------------------------------------
async def test_refusals_and_changes_are_one_list_newest_first_and_each_kind_can_be_asked_for() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST)
        await who["hostess"]("narrow", {"member": "ann", "may": ["send_broadcast"]})
        await clock.advance(1_000)
        await refused(who["ann"], "archive", {})
        await clock.advance(1_000)
        made = await who["hostess"]("invite", {"id": "eve"})
        await clock.advance(1_000)
        await Client(house, "den", "eve", made.token).join()
        await clock.advance(1_000)
        await who["ann"]("rotate_token")
        found = (await who["hostess"]("audit")).lines
        assert [line.kind for line in found] == ["tokens", "admissions", "invites", "refusals", "changes"]
        assert [line.at for line in found] == sorted((line.at for line in found), reverse=True)
        for line in found:
            assert (await who["hostess"]("audit", {"kinds": [line.kind]})).lines == [line]
        newest = await who["hostess"]("audit", {"since": found[2].at})
        assert (newest.lines, newest.cursor) == (found[:3], "")
        some = await who["hostess"]("audit", {"kinds": ["invites", "refusals"]})
        assert some.lines == found[2:4]
        with pytest.raises(BadArgs, match="kinds"):
            await who["hostess"]("audit", {"kinds": ["secrets"]})


async def test_there_is_no_other_command_for_the_audit() -> None:
    async with open_house() as house:
        who = await make_room(house)
        commands = house.rooms["den"].commands.by_name
        assert [name for name in commands if "audit" in name] == ["audit"]
        assert [c.name for c in (await who["ann"]("capabilities")).commands if "audit" in c.name] == ["audit"]


async def test_the_audit_names_who_made_an_invite_who_came_with_it_and_who_admitted_them() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, {**HOST, "id": "hal"})
        made = await who["hostess"]("invite", {"id": "eve"})
        await Client(house, "den", "eve", made.token).join()
        (line,) = (await who["hal"]("audit", {"kinds": ["admissions"]})).lines
        assert (line.text, line.member, line.invite) == (
            "eve joined as agent, with an invite of hostess", "eve", made.invite,
        )  # fmt: skip
        (line,) = (await who["hal"]("audit", {"kinds": ["invites"]})).lines
        assert (line.by, line.member, line.invite) == ("hostess", "eve", made.invite)

        await who["hal"]("set_entry", {"open": True, "lobby": True})
        await knock(house.door, {"room": "den", "name": "Mal"})
        (waiting,) = (await who["hal"]("lobby")).waiting
        await who["hal"]("admit", {"knock": waiting.knock})
        (newest, _, _) = await lines(who["hostess"], kinds=["admissions"])
        assert newest == ("admissions", "Mal joined as human, by the open link (by hal)", "hal")

        await who["hal"]("revoke_invite", {"invite": made.invite})
        (newest, _) = (await who["hal"]("audit", {"kinds": ["invites"]})).lines
        assert (newest.by, newest.invite) == ("hal", made.invite)
        assert newest.text == "hal revoked the invite for eve and removed eve"


@pytest.mark.parametrize(
    ("policy", "args", "how"),
    [
        ({"open": True}, {}, "by the open link"),
        ({"names": ["Eve"]}, {}, "by a name on the list"),
        ({"code": "open sesame"}, {"code": "open sesame"}, "with the code of the room"),
    ],
)
async def test_the_audit_says_how_a_newcomer_without_an_invite_joined(
    policy: dict[str, Any], args: dict[str, Any], how: str
) -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", policy)
        await knock(house.door, {"room": "den", "name": "Eve", **args})
        assert await lines(who["hostess"], kinds=["admissions"]) == [
            ("admissions", f"Eve joined as human, {how}", None)
        ]


async def test_a_replaced_token_is_named_by_its_owner_and_by_who_replaced_it() -> None:
    async with open_house() as house:
        who = await make_room(house)
        new = (await who["ann"]("rotate_token")).token
        operator = house.identify(house.operator_token())
        await house.call(operator, None, "rotate_credential", {"name": "bob", "room": "den"})
        host = "operator (a host of this house)"
        assert await lines(who["hostess"], kinds=["tokens"]) == [
            ("tokens", f"{host} replaced the token of bob", host), ("tokens", "ann replaced the token of ann", "ann"),
        ]  # fmt: skip
        assert await lines(Client(house, "den", "ann", new), kinds=["tokens"]) == [
            ("tokens", "ann replaced the token of ann", "ann")
        ]


async def test_a_host_finds_the_lines_of_a_member_who_has_left_and_of_newcomers() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, {"id": "eve"})
        await refused(who["eve"], "archive", {})
        await who["hostess"]("remove_member", {"member": "eve"})
        with pytest.raises(Unauthorized):
            await knock(house.door, {"room": "den", "invite": FORGER.sign(InviteBody(name="x", room="den"))})
        assert [line[0] for line in await lines(who["hostess"], member="eve")] == ["refusals", "admissions"]
        assert [line[0] for line in await lines(who["hostess"], member="(newcomer)")] == ["refusals"]
        with pytest.raises(UnknownAsset, match="unknown member 'evi'"):
            await who["hostess"]("audit", {"member": "evi"})
        assert await lines(who["ann"], member="eve") == []


async def test_a_member_who_is_no_host_any_more_reads_only_its_own_lines_from_then_on() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD)
        await refused(who["ann"], "archive", {})
        assert await lines(who["hostess"], kinds=["refusals"])
        await who["zeus"]("narrow", {"member": "hostess", "may": ["manage_members"]})
        assert await lines(who["hostess"], kinds=["refusals"]) == []


# -- pages ----------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=25)
@given(
    steps=st.lists(st.sampled_from(["refuse", "change", "act", "wait", "minutes"]), min_size=5, max_size=60),
    size=st.integers(1, 7), page=st.sampled_from([2, 5, 1000]), most=st.sampled_from([1, 3, 50]),
)  # fmt: skip
async def test_pages_together_are_the_whole_audit_each_line_once_in_order(
    steps: list[str], size: int, page: int, most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history, "PAGE", page)
        patch.setattr(reading, "MAX_PAGES", most)
        clock = FakeClock()
        async with open_house(clock=clock, recent_entries=4) as house:
            who = await make_room(house)
            for number, step in enumerate(steps):
                if step == "refuse":
                    await refused(who["ann"], "revoke", {"member": f"m{number}"})
                    await refused(who["hostess"], "revoke", {"member": f"m{number}"})
                elif step == "change":
                    await who["hostess"]("widen", {"member": "ann", "may": ["read_chat"]})
                elif step == "act":
                    await who["ann"]("hide", {"n": number})
                else:
                    await clock.advance(1 if step == "wait" else 61_000)
            patch.setattr(reading, "MAX_PAGES", 10**6)
            whole = (await who["hostess"]("audit", {"max": 500})).lines
            own = (await who["ann"]("audit", {"max": 500})).lines
            patch.setattr(reading, "MAX_PAGES", most)
            expected = steps.count("refuse") + steps.count("change")
            assert len(whole) >= expected
            found = await pages(who["hostess"], size)
            assert [line for each in found for line in each] == whole
            assert all(len(each) <= size for each in found)
            assert [line for each in await pages(who["ann"], size) for line in each] == own


async def test_refusals_that_are_no_longer_in_memory_are_read_from_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cohabit.model.refusals.REFUSALS_KEPT", 3)
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        for number in range(8):
            await refused(who["hostess"], "revoke", {"member": f"m{number}"})
            await clock.advance(61_000)
        found = (await who["hostess"]("audit", REFUSALS)).lines
        assert [line.text for line in found] == [f"unknown member 'm{number}'" for number in reversed(range(8))]


@pytest.mark.parametrize("cursor", ["x", "1.2.3", "..", "f.0000000000000000", "zz.0000000000000000.0000000000000000"])
async def test_a_cursor_that_is_none_is_refused(cursor: str) -> None:
    async with open_house() as house:
        who = await make_room(house)
        with pytest.raises(BadArgs, match="invalid cursor"):
            await who["hostess"]("audit", {"cursor": cursor})


async def test_a_cursor_says_nothing_about_what_others_did() -> None:
    """The same lines of a member, with more and fewer of others in between."""
    cursors = []
    for others in (0, 5):
        async with open_house() as house:
            who = await make_room(house)
            for number in range(others):
                await refused(who["bob"], "revoke", {"member": f"m{number}"})
                await who["bob"]("hide", {"n": number})
            await refused(who["ann"], "archive", {})
            await refused(who["ann"], "reset", {})
            cursors.append((await who["ann"]("audit", {"max": 1})).cursor)
    assert all([len(part) for part in cursor.split(".")] == [16] * 3 for cursor in cursors)


# -- invites that are not valid -------------------------------------------------------------------
async def test_invites_that_are_forged_unknown_or_no_longer_valid_are_in_the_audit_of_their_room() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        once = await who["hostess"]("invite", {"id": "gus", "uses": 2, "kind": "human"})
        for name in ("Gus", "Joe"):
            await knock(house.door, {"room": "den", "invite": once.token, "name": name})
        late = await who["hostess"]("invite", {"id": "late", "expires_in_s": 60})
        gone = await who["hostess"]("invite", {"id": "gone"})
        await who["hostess"]("revoke_invite", {"invite": gone.invite})
        await clock.advance(60_000)
        forged = FORGER.sign(InviteBody(name="eve", room="den", kind="agent", role="host"))
        expected = {
            once.token: "this invite has been used up; ask your host for a new one",
            late.token: "this invite has expired; ask your host for a new one",
            gone.token: "this invite was revoked; ask your host for a new one",
            forged: "an invite that this house has not made: it is forged, or from another house",
        }
        for token in expected:
            with pytest.raises(Unauthorized):
                house.identify(token)  # as every interface does
            with pytest.raises(Unauthorized):
                await knock(house.door, {"room": "den", "invite": token})
        found = (await who["hostess"]("audit", REFUSALS)).lines
        assert {(line.text, line.member, line.command, line.count) for line in found} == {
            (text, "(newcomer)", "join", 2) for text in expected.values()
        }
        everything = str((await who["hostess"]("audit", {"max": 500})).lines)
        assert not any(token in everything for token in expected)


async def test_an_unknown_token_that_is_no_invite_is_in_no_audit() -> None:
    async with open_house() as house:
        who = await make_room(house)
        for token in ("wrong0TOKEN1wrong2TOKEN3wrong4TOKEN5wrong6TOKEN7", "a.b", FORGER.sign({"room": 7}), "x" * 9_000):
            with pytest.raises(Unauthorized, match="invalid token"):
                house.identify(token)
        with pytest.raises(Unauthorized, match="invalid token"):
            house.identify(FORGER.sign(InviteBody(name="eve", room="attic")))  # there is no such room
        assert (await who["hostess"]("audit")).lines == []


async def test_what_became_of_an_invite_is_known_after_a_restart(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        made = await who["hostess"]("invite", {"id": "gus", "uses": 2, "kind": "human"})
        for name in ("Gus", "Joe"):
            await knock(house.door, {"room": "den", "invite": made.token, "name": name})
    async with open_house(tmp_path) as house:
        with pytest.raises(Unauthorized, match="this invite has been used up"):
            house.identify(made.token)
        hostess = back_again(house, who)["hostess"]
        assert "used up" in (await hostess("audit", REFUSALS)).lines[0].text
        assert [line.by for line in (await hostess("audit", {"kinds": ["invites"]})).lines] == ["hostess"]


async def test_a_host_who_asks_for_a_member_reads_how_it_came_through_the_lobby() -> None:
    async with open_house() as house:
        who = await make_room(house)
        host = who["hostess"]
        await host("set_entry", {"open": True, "lobby": True})
        await knock(house.door, {"room": "den", "name": "Rob Roy"})
        (line,) = (await host("lobby")).waiting
        await host("deny", {"knock": line.knock})
        await host("admit", {"knock": line.knock})
        admissions = (await host("audit", {"kinds": ["admissions"]})).lines
        assert [(line.what, line.member) for line in admissions] == [
            ("joined", "Rob-Roy"), ("denied", "Rob-Roy"), ("knocked", "Rob-Roy"),
        ]  # fmt: skip
        assert (await host("audit", {"kinds": ["admissions"], "member": "Rob-Roy"})).lines == admissions
        assert (await host("audit", {"kinds": ["admissions"], "member": "ann"})).lines == []
        assert (await who["ann"]("audit", {"kinds": ["admissions"]})).lines == []
        await host("remove_member", {"member": "Rob-Roy"})
        gone = (await host("audit", {"kinds": ["admissions"], "member": "Rob-Roy"})).lines
        assert [line.what for line in gone] == ["removed", "joined", "denied", "knocked"]


async def test_the_token_that_an_invite_became_says_that_it_was_revoked_and_the_invite_is_used_up() -> None:
    async with open_house() as house:
        who = await make_room(house)
        made = await who["hostess"]("invite", {"id": "gus"})
        gus = Client(house, "den", "gus", made.token)
        await gus("join", {"keep_token": True})
        await who["hostess"]("revoke_token", {"member": "gus"})
        with pytest.raises(Unauthorized, match="this token was revoked, and its invite has been used up"):
            house.identify(made.token)


# -- the house ------------------------------------------------------------------------------------
async def test_without_a_room_a_host_of_the_house_reads_the_audit_of_the_house() -> None:
    async with open_house() as house:
        who, there = await make_room(house), await make_room(house, room="attic")
        await who["hostess"]("invite", {"id": "eve"})
        await there["hostess"]("invite", {"id": "mal"})
        operator = house.identify(house.operator_token())
        made = await house.call(operator, None, "issue_credential", {"name": "ada"})
        with pytest.raises(PermissionDenied):
            await house.call(house.identify(made.token), None, "list_credentials")
        found = await of_house(house)
        assert {kind for kind, _ in found} == {"invites", "tokens", "admissions", "refusals"}
        assert ("invites", "room den: hostess's invite for eve was created") in found
        assert ("invites", "room attic: hostess's invite for mal was created") in found
        assert ("tokens", "operator created a token for ada") in found
        assert await of_house(house, kinds=["refusals"]) == [
            ("refusals", "list_credentials requires a host token for this house")
        ]
        assert await lines(who["hostess"], kinds=["invites"]) == [
            ("invites", "room den: hostess's invite for eve was created", "hostess")
        ], "a room has its own"
        assert made.token not in str(found)
        own = await of_house(house, made.token)
        assert {kind for kind, _ in own} == {"tokens", "admissions", "refusals"}
        assert all("ada" in text or "list_credentials" in text for _, text in own)


async def test_a_refused_command_of_the_house_is_in_the_audit_of_the_callers_room() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await refused(who["ann"], "list_credentials", {})
        (line,) = (await who["hostess"]("audit", REFUSALS)).lines
        assert (line.member, line.command, line.code) == ("ann", "list_credentials", "PERMISSION_DENIED")
        assert await of_house(house, kinds=["refusals"]) == []


async def test_a_host_of_the_house_reads_the_audit_of_a_room_as_its_member_only() -> None:
    async with open_house() as house:
        await make_room(house)
        operator = house.identify(house.operator_token())
        with pytest.raises(UnknownRoom, match="call `join` first"):
            await house.call(operator, "den", "audit")
        await house.call(operator, "den", "join")
        (line,) = (await house.call(operator, "den", "audit")).lines
        assert line.text == "operator joined as host, as a host of this house"


async def test_the_audit_of_the_house_is_there_after_a_restart_and_its_record_replays(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        await who["hostess"]("invite", {"id": "eve"})
        made = await house.call(house.identify(house.operator_token()), None, "issue_credential", {"name": "ada"})
        with pytest.raises(PermissionDenied):
            await house.call(house.identify(made.token), None, "list_credentials")
        before = await of_house(house)
        assert len(before) == 5
    async with open_house(tmp_path) as house:
        assert await of_house(house) == before


async def test_the_pages_of_a_members_own_lines_do_not_count_what_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE", 2)
    monkeypatch.setattr(reading, "MAX_PAGES", 1)
    found = []
    for others in (0, 30):
        async with open_house(recent_entries=4) as house:
            who = await make_room(house)
            await refused(who["ann"], "revoke", {"member": "nobody"})
            for number in range(others):
                await who["bob"]("send_message", {"to": "hostess", "content": str(number)})
            found.append([len(page) for page in await pages(who["ann"], 5)])
    assert found[0] == found[1]
