"""``check_face``: does an interface of a house keep what every interface must keep?

    async with reference_house() as reference:
        … serve reference.house over an interface, and write connect(token) -> client …
        await check_face(connect, reference)

A client has ``await client.call(command, args, room=…, key=…)``: it returns plain dicts, and raises the errors of
``cohabit.errors``. Each claim is a small function that stands alone, so that a test suite can run all ``CLAIMS`` over
all its interfaces; they may run in any order, and on a house where others ran before.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from cohabit import errors
from cohabit.house.clock import Clock
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.clock import FakeClock

ISLAND = "island"
TABLE = "table"
FIELD = "field"
SEED = 7


class Client(Protocol):
    """A caller of a house, over any interface."""

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any: ...


Connect = Callable[[str], Awaitable[Client]]


@dataclass
class Reference:
    """The house that the claims are about, and the tokens of its members by name.

    On the island (Lanterns, with fog): the players ann (amber) and ben (blue), the god zeus, the observer olga,
    the host hera, and wim, an agent without a role, who may only watch. At the table (Nim): fay and sol. In the field
    (Planets, a world of rounds): pat and quin.
    """

    house: House
    clock: Clock
    tokens: dict[str, str]


@asynccontextmanager
async def reference_house(
    *, data: Path | None = None, clock: Clock | None = None, port: int = 8724
) -> AsyncIterator[Reference]:
    """A house with the rooms that the claims need; without a clock of yours, its time stands still."""
    settings = Settings(data=str(data) if data is not None else "", port=port)
    clock = clock or FakeClock()
    async with House.open(settings, clock=clock) as house:
        house.bots.step_ms = 0
        if isinstance(clock, FakeClock) and clock.between is None:
            clock.between = lambda: _at_rest(house)
        tokens: dict[str, str] = {}
        for room, scenario in ((ISLAND, island()), (TABLE, table()), (FIELD, field())):
            tokens |= (await house.create_room(scenario, room, SEED))[1]
        yield Reference(house, clock, tokens)


async def _at_rest(house: House) -> None:
    """Wait until nothing is under way: a peek at each room, through its queue, has returned."""
    for runner in list(house.rooms.values()):
        if runner.failure is None:
            await runner.drained()


def island() -> Scenario:
    """Lanterns with fog, and a member of every kind."""
    return Scenario(
        scenario="pvp",
        world="lanterns",
        config={"ticks": 10_000},
        partial_intel=True,
        agents=[
            AgentSpec(id="ann", role="player", claim="auto:0"),
            AgentSpec(id="ben", role="player", claim="auto:1"),
            AgentSpec(id="zeus", role="god"),
            AgentSpec(id="olga", role="observer"),
            AgentSpec(id="hera", role="host", kind="human"),
            AgentSpec(id="wim"),
        ],
    )


def table() -> Scenario:
    """Nim with more stones than the claims take."""
    return Scenario(
        scenario="nim",
        world="nim",
        config={"stones": 5_000},
        agents=[AgentSpec(id="fay", role="player", claim="auto:0"), AgentSpec(id="sol", role="player", claim="auto:1")],
    )


def field() -> Scenario:
    """A world of rounds."""
    return Scenario(
        scenario="planet",
        world="planet",
        agents=[
            AgentSpec(id="pat", role="player", claim="auto:0"),
            AgentSpec(id="quin", role="player", claim="auto:1"),
        ],
    )


class Scene:
    """The setting of one claim: clients by name."""

    def __init__(self, connect: Connect, reference: Reference) -> None:
        self.connect = connect
        self.reference = reference
        self._clients: dict[str, Client] = {}

    async def client(self, name: str) -> Client:
        if name not in self._clients:
            self._clients[name] = await self.connect(self.reference.tokens[name])
        return self._clients[name]

    async def call(self, who: str, command: str, args: Mapping[str, Any] | None = None, key: str | None = None) -> Any:
        return await (await self.client(who)).call(command, args, key=key)

    async def refused(
        self,
        error: type[errors.CohabitError],
        who: str,
        command: str,
        args: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> errors.CohabitError:
        """Make a call that must be refused with exactly this error."""
        try:
            answer = await self.call(who, command, args, key)
        except errors.CohabitError as refusal:
            expect(type(refusal) is error, f"{command} by {who}: {refusal.as_text()}, not {error.code}")
            expect(bool(refusal.message), f"{command} by {who}: {error.code} has no message")
            return refusal
        raise AssertionError(f"{command} by {who} answered {answer!r}, not {error.code}")


def expect(holds: bool, words: str) -> None:
    """An assertion with the same message under every test runner."""
    if not holds:
        raise AssertionError(words)


# -- identity -----------------------------------------------------------------------------------
async def claim_each_token_is_its_own_member(scene: Scene) -> None:
    """whoami returns the member, role, room and seat that are bound to the token."""
    expected = {
        "ann": ("player", ISLAND, "amber"),
        "ben": ("player", ISLAND, "blue"),
        "zeus": ("god", ISLAND, None),
        "olga": ("observer", ISLAND, None),
        "wim": ("agent", ISLAND, None),
        "fay": ("player", TABLE, "first"),
    }
    for name, (role, room, seat) in expected.items():
        me = await scene.call(name, "whoami")
        found = (me["handle"], me["role"], me["room"], me.get("seat"))
        expect(found == (name, role, room, seat), f"whoami of {name}: {found}")


async def claim_a_wrong_token_is_refused(scene: Scene) -> None:
    """An unknown token is UNAUTHORIZED, and the refusal does not repeat it."""
    wrong = "wrong0TOKEN1wrong2TOKEN3wrong4TOKEN5wrong6TOKEN7"
    try:
        client = await scene.connect(wrong)
        answer = await client.call("whoami")
    except errors.Unauthorized as refusal:
        expect(wrong not in refusal.message, "the refusal repeats the token")
        return
    raise AssertionError(f"a wrong token was answered: {answer!r}")


async def claim_a_token_opens_no_other_room(scene: Scene) -> None:
    """A token is good for its own room only; another one does not exist for it."""
    client = await scene.client("fay")
    try:
        answer = await client.call("view", room=ISLAND)
    except (errors.UnknownRoom, errors.Unauthorized):
        return
    raise AssertionError(f"fay saw the island: {answer!r}")


# -- permission, scope, turns -------------------------------------------------------------------
async def claim_watchers_cannot_act(scene: Scene) -> None:
    """An observer, a watcher and a host without a seat are refused with PERMISSION_DENIED, also through act."""
    for name in ("olga", "wim", "hera"):
        await scene.refused(errors.PermissionDenied, name, "halt")
        await scene.refused(errors.PermissionDenied, name, "act", {"action": "halt"})
    await scene.refused(errors.PermissionDenied, "ann", "storm", {"tower": "T2"})
    await scene.refused(errors.PermissionDenied, "ann", "reset")


async def claim_a_rivals_tower_is_out_of_scope(scene: Scene) -> None:
    """Acting on something of a rival is SCOPE_VIOLATION, and changes nothing."""
    towers = await scene.call("ann", "list_towers")
    rivals = [t["tower"] for t in towers if t["burns_for"] == "blue"]
    expect(rivals == ["T2"], f"blue should hold T2: {towers}")
    await scene.refused(errors.ScopeViolation, "ann", "light", {"tower": "T2"})
    await scene.refused(errors.ScopeViolation, "ann", "douse", {"tower": "T2"})
    expect(await scene.call("ann", "list_towers") == towers, "a refused action changed a tower")


async def claim_only_the_player_whose_turn_it_is_can_move(scene: Scene) -> None:
    """Out of turn is TURN_NOT_YOURS; in turn the move is made, and then it is the other player's turn."""
    mover = (await scene.call("fay", "session_info"))["to_move"][0]
    other = "sol" if mover == "fay" else "fay"
    before = await scene.call("fay", "heap")
    await scene.refused(errors.TurnNotYours, other, "take", {"n": 1})
    expect(await scene.call("fay", "heap") == before, "a move out of turn took stones")
    result = await scene.call(mover, "take", {"n": 1})
    expect(result["success"] is True, f"the move of {mover}: {result}")
    expect(await scene.call("fay", "heap") == before - 1, "the move was not made")
    await scene.refused(errors.TurnNotYours, mover, "take", {"n": 1})
    expect((await scene.call(other, "whoami"))["your_turn"] is True, f"it should be the turn of {other}")


async def claim_in_rounds_a_choice_is_pending_and_then_its_player_learns_what_came_of_it(scene: Scene) -> None:
    """A choice that will fail is pending, not a success; when the round has ended its player sees name, success and
    message in its view, and nobody else does."""
    chosen = await scene.call("pat", "craft", {"item": "furnace"})
    expect(chosen.get("pending") is True, f"the choice of pat: {chosen}")
    ended = await scene.call("quin", "act", {"action": "craft", "params": {"item": "furnace"}})
    expect((ended.get("pending", False), ended["success"]) == (False, False), f"the choice of quin: {ended}")
    await scene.call("quin", "wait")
    following = await scene.call("pat", "wait")
    expect(following["success"] is True and not following.get("pending"), f"the next choice of pat: {following}")
    await scene.call("pat", "craft", {"item": "furnace"})
    await scene.call("quin", "wait")
    view = await scene.call("pat", "view")
    last = view["observation"].get("last_action", {})
    expect((last.get("name"), last.get("success")) == ("craft", False), f"pat's last action: {last}")
    expect(f"craft failed: {last['message']}" in view["text"], f"pat reads {view['text']!r}")
    expect(last["message"] not in (await scene.call("quin", "view"))["text"], "quin reads what pat did")


async def claim_an_action_may_have_the_field_names_of_wsap(scene: Scene) -> None:
    """act takes name and parameters as well as action and params, but not both names of one field."""
    for call in (
        {"name": "halt"},
        {"name": "halt", "parameters": {}, "reasoning": "why"},
        {"action": "halt", "parameters": {}},
    ):
        result = await scene.call("ann", "act", call)
        expect(result["success"] is True, f"{call}: {result}")
    refusal = await scene.refused(errors.BadArgs, "ann", "act", {"name": "halt", "action": "halt"})
    expect("name" in refusal.message and "action" in refusal.message, refusal.message)
    await scene.refused(errors.BadArgs, "ann", "act", {"name": 3})


# -- fog ----------------------------------------------------------------------------------------
def _keepers(view: Mapping[str, Any]) -> list[str]:
    found = view["observation"].get("nearby_entities", ())
    return sorted(e["name"] for e in found if e["type"] == "keeper")


async def claim_fog_hides_a_rival(scene: Scene) -> None:
    """A player sees its own keeper and not the rival's; the public sees neither; god and observer see both."""
    own = await scene.call("ann", "view")
    expect(own["observation"]["status"]["you"] == "amber", f"ann sees through amber: {own['text']}")
    expect("@" in own["text"].split("~ sea")[0], "ann does not see her own keeper")
    expect(_keepers(own) == [], f"ann sees {_keepers(own)}")
    public = await scene.call("wim", "view")
    expect(_keepers(public) == [], f"the public sees {_keepers(public)}")
    expect("oil" not in public["observation"].get("inventory", {}), "the public sees a player's oil")
    for name in ("zeus", "olga"):
        seen = _keepers(await scene.call(name, "view"))
        expect(seen == ["amber", "blue"], f"{name} sees {seen}")


async def claim_fog_hides_a_rivals_actions(scene: Scene) -> None:
    """A hidden action is in the events of its player and of members who see everything, and in nobody else's."""
    await scene.call("ben", "halt")
    for name, hears in (("ben", True), ("zeus", True), ("ann", False), ("wim", False)):
        items = (await scene.call(name, "events", {"last": 500}))["items"]
        heard = any("blue: You stand still." in item["text"] for item in items)
        expect(heard == hears, f"{name} {'heard' if heard else 'did not hear'} of it")


async def claim_fog_hides_a_rivals_names(scene: Scene) -> None:
    """An error about something unseen is the same as about something that does not exist."""
    unseen = await scene.refused(errors.UnknownAsset, "ann", "go", {"to": "blue"})
    nowhere = await scene.refused(errors.UnknownAsset, "ann", "go", {"to": "nobody"})
    expect(unseen.message == nowhere.message.replace("nobody", "blue"), f"{unseen.message} / {nowhere.message}")
    expect("blue" not in unseen.did_you_mean, "the refusal gives the rival away")


async def claim_a_picture_shows_what_its_member_may_see(scene: Scene) -> None:
    """A player's picture and a god's are not the same; a member without see_screen gets none."""
    own, whole = await scene.call("ann", "picture"), await scene.call("zeus", "picture")
    expect(own["format"] == whole["format"] == "png", "pictures are PNG")
    expect(own["base64"] != whole["base64"], "a player sees what a god sees")
    await scene.refused(errors.PermissionDenied, "wim", "picture")


# -- the bus ------------------------------------------------------------------------------------
async def claim_a_message_reaches_its_recipient_alone(scene: Scene) -> None:
    """A message to one member arrives once, with its sender, and only there. The next cursor is after it."""
    start = (await _inbox(scene, "ben", 0))["next_cursor"]
    sent = await scene.call("ann", "send_message", {"to": "ben", "content": "truce?", "kind": "diplomacy"})
    expect(sent["recipients"] == ["ben"], f"it went to {sent['recipients']}")
    got = await _inbox(scene, "ben", start)
    letters = [(m["from"], m["to"], m["kind"], m["content"]) for m in got["items"]]
    expect(letters == [("ann", "ben", "diplomacy", "truce?")], f"ben got {letters}")
    expect((await _inbox(scene, "ben", got["next_cursor"]))["items"] == [], "the cursor does not go past it")
    for name in ("wim", "olga", "zeus"):
        items = (await _inbox(scene, name, 0))["items"]
        expect(all(m["content"] != "truce?" for m in items), f"{name} read what was for ben")


async def _inbox(scene: Scene, who: str, since: int) -> Any:
    return await scene.call(who, "recv_messages", {"since_seq": since, "max": 500})


async def claim_players_cannot_broadcast(scene: Scene) -> None:
    """A message to all members needs permission to broadcast; a host has it."""
    await scene.refused(errors.PermissionDenied, "ann", "send_message", {"to": "*", "content": "to all"})
    sent = await scene.call("hera", "send_message", {"to": "*", "content": "welcome"})
    expect(sent["broadcast"] is True, f"hera's broadcast: {sent}")


# -- owners of their data -------------------------------------------------------------------------
async def claim_a_muted_member_and_blocked_words_are_refused(scene: Scene) -> None:
    """A host mutes a member and blocks a word: both are PERMISSION_DENIED with a reason, until the host ends it."""
    letter = {"to": "ann", "content": "a plumbous remark"}
    await scene.call("hera", "set_chat_limits", {"blocked_words": ["plumbous"]})
    refusal = await scene.refused(errors.PermissionDenied, "ben", "send_message", letter)
    expect("plumbous" in refusal.message, f"it does not say which word: {refusal.message}")
    await scene.call("hera", "set_chat_limits", {"blocked_words": []})
    await scene.call("hera", "mute", {"member": "ben"})
    refusal = await scene.refused(errors.PermissionDenied, "ben", "send_message", letter)
    expect("muted" in refusal.message, f"it does not say why: {refusal.message}")
    await scene.call("hera", "unmute", {"member": "ben"})
    await scene.call("ben", "send_message", letter)


async def claim_a_report_reaches_the_host_with_its_lines(scene: Scene) -> None:
    """A member reports another one: the host reads who, why and the lines; nobody else may."""
    await scene.call("ben", "send_message", {"to": "ann", "content": "a rude remark"})
    made = await scene.call("ann", "report", {"reason": "he is rude", "member": "ben"})
    await scene.refused(errors.PermissionDenied, "ben", "reports")
    found = [r for r in (await scene.call("hera", "reports"))["reports"] if r["report"] == made["report"]]
    expect(len(found) == 1 and found[0]["by"] == "ann", f"the host sees {found}")
    expect(found[0]["lines"][-1]["text"] == "a rude remark", f"the lines are {found[0]['lines']}")
    await scene.call("hera", "close_report", {"report": made["report"]})


async def claim_a_person_sees_its_own_data_and_deletes_it_with_a_confirmation(scene: Scene) -> None:
    """my_data is about the caller alone; forget_me without the right name is BAD_ARGS."""
    mine = await scene.call("ann", "my_data")
    expect(mine["name"] == "ann" and mine["rooms"][0]["handle"] == "ann", f"ann sees {mine}")
    await scene.refused(errors.BadArgs, "ann", "forget_me", {"confirm": "yes"})
    await scene.refused(errors.PermissionDenied, "ann", "data_of", {"identity": "ben"})


# -- arguments, keys, cursors -------------------------------------------------------------------
async def claim_bad_arguments_say_what_is_wrong(scene: Scene) -> None:
    """Missing, unknown and wrongly typed arguments are BAD_ARGS, and the message names them."""
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "to"), ({"to": "T1", "speed": 3}, "speed"), ({"to": 3}, "to"),
    ]  # fmt: skip
    for args, named in cases:
        refusal = await scene.refused(errors.BadArgs, "ann", "go", args)
        expect(named in refusal.message, f"{args}: {refusal.message!r} does not say {named!r}")


async def claim_a_misspelt_name_is_answered_with_the_near_ones(scene: Scene) -> None:
    """An unknown command is UNKNOWN_COMMAND and an unknown thing UNKNOWN_ASSET, both with did_you_mean."""
    refusal = await scene.refused(errors.UnknownCommand, "ann", "gathr")
    expect("gather" in refusal.did_you_mean, f"did_you_mean: {refusal.did_you_mean}")
    refusal = await scene.refused(errors.UnknownAsset, "zeus", "storm", {"tower": "T33"})
    expect("T3" in refusal.did_you_mean, f"did_you_mean: {refusal.did_you_mean}")


async def claim_a_key_makes_a_repeated_call_safe(scene: Scene) -> None:
    """A repeated call with the same key runs once and gets the same answer. Another call with it is a CONFLICT."""
    count = len((await scene.call("ben", "recv_messages", {"max": 500}))["items"])
    key = f"key-{count}"
    letter = {"to": "ben", "content": f"letter {count}"}
    first = await scene.call("ann", "send_message", letter, key=key)
    again = await scene.call("ann", "send_message", letter, key=key)
    expect(first == again, f"answered {first}, then {again}")
    items = (await scene.call("ben", "recv_messages", {"max": 500}))["items"]
    expect([m["content"] for m in items].count(letter["content"]) == 1, "the letter came twice")
    await scene.refused(errors.Conflict, "ann", "send_message", {"to": "ben", "content": "another"}, key=key)


async def claim_a_cursor_resumes_the_events(scene: Scene) -> None:
    """Events come in order, once each, starting at the cursor. An invalid cursor is BAD_ARGS."""
    cursor = ""
    more = True
    while more:
        page = await scene.call("hera", "events", {"cursor": cursor, "max": 3})
        cursor, more = page["cursor"], page["more"]
    await scene.call("hera", "send_message", {"to": "*", "content": "news"})
    page = await scene.call("hera", "events", {"cursor": cursor})
    news = [item["text"] for item in page["items"] if item["kind"] == "chat"]
    expect(len(news) == 1 and news[0].endswith("news"), f"after the cursor: {page['items']}")
    rest = await scene.call("hera", "events", {"cursor": page["cursor"]})
    expect(rest["items"] == [], f"told twice: {rest['items']}")
    await scene.refused(errors.BadArgs, "hera", "events", {"cursor": "not a cursor"})


Claim = Callable[[Scene], Awaitable[None]]
CLAIMS: dict[str, Claim] = {
    name.removeprefix("claim_"): claim for name, claim in list(globals().items()) if name.startswith("claim_")
}
"""Every claim by name."""


async def check_face(connect: Connect, reference: Reference) -> None:
    """Check every claim over one interface; AssertionError says which one does not hold there."""
    for name, claim in CLAIMS.items():
        try:
            await claim(Scene(connect, reference))
        except AssertionError as broken:
            raise AssertionError(f"{name.replace('_', ' ')}: {broken}") from None
        except errors.CohabitError as refusal:
            raise AssertionError(f"{name.replace('_', ' ')}: {refusal.as_text()}") from refusal
