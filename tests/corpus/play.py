"""Plays scripts in one tree, and writes down everything that anybody is answered, sent or shown.

A script is ``{"steps": […]}``; each step is one of

    {"create": SCENARIO, "room": ID, "seed": N}                 a room; ``who`` is then a member, or ``member@room``
    {"call": COMMAND, "who": WHO, "args": …, "room": …, "key": …, "as": NAME, "later": true}
    {"join": ARGS, "as": NAME}                                  without a token
    {"end": STEP}                                               what came of a call that waited, or was begun ``later``
    {"advance": MS}                                             let time pass
    {"watch": WHO, "cursor": …, "views": …}  {"unwatch": WHO}   subscribe, unsubscribe
    {"fail": N}                                                 the power fails after N more writes
    {"kill": MS}  {"stop": MS}                                  the house dies or closes, and is opened after MS
    {"look": [WHO, …]}                                          everything that these members can read

``as`` names the holder of the token in the reply. ``{"$": [STEP, PATH]}`` is a part of the reply to an earlier step.
"""

import asyncio
import importlib
import json
import logging
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

from . import chance
from .transcript import Transcript, at_path, read_script

ROOT = Path(os.environ.get("CORPUS_TREE") or Path(__file__).parents[2])
"""The tree that plays."""
sys.path[:0] = [str(ROOT)]
OWN = ROOT / "tests" / "corpus" / "tree.py"
tree = importlib.import_module("tests.corpus.tree" if OWN.exists() else f"{__package__}.tree")
READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("capabilities", {}), ("view", {}), ("whoami", {}), ("events", {"last": 60}), ("roster", {}), ("session_info", {}),
    ("audit", {}), ("recv_messages", {}), ("requests", {}), ("permissions", {}), ("entry", {}),
    ("lobby", {}), ("invites", {}), ("avatars", {}), ("inspect_self", {}), ("death", {}), ("app_schemas", {}),
    ("app_view", {}), ("objective_status", {}), ("agents", {}), ("list_speeds", {}), ("introduction", {}),
    ("rules", {}), ("review_self", {}), ("list_games", {}), ("list_saves", {}), ("rooms", {}),
)  # fmt: skip
"""What a look calls, of the commands that the member is offered …"""
ALWAYS = ("capabilities", "view", "whoami", "events", "roster", "session_info")
"""… and these in any case."""
RARELY = ("introduction", "rules")
"""Only by the last look."""
PENDING = object()
WAITING = ("wait_for_turn", "next_view", "events", "observe", "recv_messages", "join", "wait_for_game")
"""Commands that may wait until something happens, although no argument says so."""
MANY_RESTS = (300, 2)
"""How often the house is at rest before a call counts as one that waits: over a network, and without one."""


class Reader:
    """Somebody who reads a subscription as fast as it can."""

    def __init__(self, pushes: Any) -> None:
        self._sent: dict[str, Any] = {}
        self.task = asyncio.ensure_future(self._read(pushes))

    async def _read(self, pushes: Any) -> None:
        try:
            async for push in pushes:
                kind = push["push"]
                if kind == "events":  # how many come in one frame depends on the disk
                    self._sent.setdefault("events", []).extend(push["items"])
                elif kind == "view":  # only the newest counts
                    self._sent["view"] = push["view"]
                else:
                    self._sent.setdefault(kind, []).append(push.get(kind))
        except tree.Refusal as reason:
            self._sent["ended"] = reason.as_wire()

    def take(self) -> dict[str, Any]:
        sent, self._sent = self._sent, {}
        return sent

    async def close(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


class Play:
    """One script in one house."""

    def __init__(self, script: Mapping[str, Any], folder: Path, face: str = "python") -> None:
        self.script, self.folder, self.face = script, folder, face
        chance.begin_again()
        self.store = tree.Store()
        self.clock = tree.Clock()
        self.tokens: dict[str, str] = {}
        self.rooms: dict[str, str | None] = {}  # by name: the room that a token is for
        self.replies: list[Any] = []
        self.readers: dict[str, Reader] = {}
        self.later: dict[int, asyncio.Task[Any]] = {}
        self.transcript = Transcript({str(folder): "<data>", str(ROOT): "<tree>"})
        self._clients: dict[str, Any] = {}

    # -- the house ---------------------------------------------------------------------------------
    async def open(self) -> None:
        self._stack = AsyncExitStack()
        settings = {name: self._placed(value) for name, value in self.script.get("settings", {}).items()}
        opened = tree.open_house(self.folder, self.store, self.clock, settings)
        self.house = await self._stack.enter_async_context(opened)
        self.clock.between = self.at_rest
        self.tokens["operator"], self.rooms["operator"] = self.house.operator_token(), None
        self._door = await self._stack.enter_async_context(tree.door(self.face, self.house, self.folder))
        await self.at_rest()

    async def close(self) -> None:
        for reader in self.readers.values():
            await reader.close()
        for task in self.later.values():
            task.cancel()
        await asyncio.gather(*self.later.values(), return_exceptions=True)
        self.readers, self.later, self._clients = {}, {}, {}
        with suppress(tree.Refusal):
            await self._stack.aclose()

    async def at_rest(self) -> None:
        if self.store.power is None:
            await tree.at_rest(self.house, self.store)
            return
        resting = asyncio.ensure_future(tree.at_rest(self.house, self.store))
        while not resting.done() and not self.store.is_off:  # without power there is no rest
            await asyncio.sleep(0.0005)
        resting.cancel()
        await asyncio.gather(resting, return_exceptions=True)

    async def run(self) -> list[dict[str, Any]]:
        await self.open()
        try:
            for step in self.script["steps"]:
                await self.step(step)
            await self.step({"look": [*self.tokens], "last": True})
        finally:
            await self.close()
        return self.transcript.lines

    # -- steps -------------------------------------------------------------------------------------
    async def step(self, step: Mapping[str, Any]) -> Any:
        """Do one step and write down what came of it. Returns the reply, None if it was refused."""
        kind = next(iter(step))
        line: dict[str, Any] = {"step": len(self.replies)}
        reply = None
        try:
            reply = await getattr(self, f"_{kind}")(step)
            if reply is not None and reply is not PENDING:
                line["reply"] = reply
        except tree.Refusal as refused:
            line["refused"] = refused.as_wire()
        await self.at_rest()
        if isinstance(reply, dict) and "as" in step:
            self._register(step, reply)
        sent = {who: found for who, reader in self.readers.items() if (found := reader.take())}
        if sent:
            line["sent"] = sent
        self.replies.append(reply)
        self.transcript.add(line)
        return reply

    def _register(self, step: Mapping[str, Any], reply: dict[str, Any]) -> None:
        token = next((t for path in ("token", "data.token") if (t := at_path(reply, path))), None)
        if token is not None:
            room = reply.get("room") or at_path(reply, "data.room") or step.get("room")
            self.tokens[step["as"]], self.rooms[step["as"]] = token, room
            self._clients.pop(step["as"], None)

    async def _create(self, step: Mapping[str, Any]) -> Any:
        text = json.dumps(self._placed(step["create"]))
        try:
            room, tokens = await tree.create(self.house, text, step["room"], step.get("seed", 7))
        except tree.Refusal as refused:
            raise ValueError(f"the script is wrong: {refused.as_text()}") from None
        for who, token in tokens.items():
            for name in (f"{who}@{room}", *(() if who in self.tokens else (who,))):
                self.tokens[name], self.rooms[name] = token, room
        return {"room": room, "tokens": tokens}

    async def _call(self, step: Mapping[str, Any]) -> Any:
        who, args = step["who"], self._given(step.get("args", {}))
        room = step.get("room", self.rooms.get(who))
        doing = (await self._client(who)).call(step["call"], args, room=room, key=step.get("key"))
        self.later[len(self.replies)] = task = asyncio.ensure_future(doing)
        if step.get("later"):
            return PENDING
        may_wait, rested = step["call"] in WAITING, 0
        while (
            not task.done() and not self.store.is_off and not (may_wait and rested > MANY_RESTS[self.face == "python"])
        ):
            await self.at_rest()
            await asyncio.sleep(0 if self.face == "python" else 0.01)  # it may be on its way
            rested += 1
        if self.store.is_off:
            return {"power": "failed"}
        return await self._end({"end": len(self.replies)})

    async def _client(self, who: str) -> Any:
        """The connection of a caller. It is opened and closed by the same task, as some clients require."""
        if who not in self._clients:
            self._clients[who] = await self._stack.enter_async_context(self._door(self.tokens.get(who, who)))
        return self._clients[who]

    async def _ask(self, who: str, command: str, args: Any, room: str | None) -> Any:
        return await (await self._client(who)).call(command, args, room=room)

    async def _join(self, step: Mapping[str, Any]) -> Any:
        return await tree.without_token(self.house, self._given(step["join"]))

    async def _end(self, step: Mapping[str, Any]) -> Any:
        task = self.later.get(step["end"])
        if task is None or not task.done():
            return {"waits": task is not None}
        return await self.later.pop(step["end"])

    async def _advance(self, step: Mapping[str, Any]) -> None:
        await self.clock.advance(step["advance"])

    async def _watch(self, step: Mapping[str, Any]) -> None:
        who = step["watch"]
        if who in self.readers:
            await self.readers[who].close()
        client = await self._stack.enter_async_context(self._door(self.tokens.get(who, who)))
        if hasattr(client, "subscribe"):
            room = step.get("room", self.rooms.get(who))
            cursor = self._given(step.get("cursor"))
            self.readers[who] = Reader(client.subscribe(cursor, step.get("views", True), room=room))

    async def _unwatch(self, step: Mapping[str, Any]) -> None:
        reader = self.readers.pop(step["unwatch"], None)
        if reader is not None:
            await reader.close()

    async def _fail(self, step: Mapping[str, Any]) -> None:
        self.store.power = step["fail"]

    async def _kill(self, step: Mapping[str, Any]) -> None:
        self.store.power = 0
        await self._reopen(step["kill"])

    async def _stop(self, step: Mapping[str, Any]) -> None:
        await self._reopen(step["stop"])

    async def _reopen(self, gap: int) -> None:
        await self.close()
        self.store.power = None
        self.clock = tree.Clock(self.clock.now() + gap)
        await self.open()

    async def _look(self, step: Mapping[str, Any]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for who in step["look"]:
            mine: dict[str, Any] = {}
            seen[who] = mine
            with suppress(tree.Refusal):  # it is seen, which stops the agent that plays for it
                await self._ask(who, "whoami", {}, self.rooms.get(who))
            await self.at_rest()
            for command, args in READS:
                offered = command in ALWAYS or command in mine["capabilities"]
                if not offered or (command in RARELY and "last" not in step):
                    continue
                try:
                    reply = await self._ask(who, command, args, self.rooms.get(who))
                    mine[command] = reply if command != "capabilities" else [c["name"] for c in reply["commands"]]
                except tree.Refusal as refused:
                    mine[command] = refused.as_wire()
        return seen

    # -- arguments -----------------------------------------------------------------------------------
    def _given(self, value: Any) -> Any:
        """Arguments with their references resolved."""
        if isinstance(value, Mapping):
            if set(value) == {"$"}:
                step, path = value["$"]
                found = at_path(self.replies[step] if step < len(self.replies) else None, path)
                return "missing" if found is None else found
            return {key: self._given(of) for key, of in value.items()}
        return [self._given(each) for each in value] if isinstance(value, list) else value

    def _placed(self, value: Any) -> Any:
        """A scenario or setting with the paths of this tree: ``$TESTS/…``."""
        if isinstance(value, str):
            return value.replace("$TESTS", str(ROOT / "tests"))
        if isinstance(value, Mapping):
            return {key: self._placed(of) for key, of in value.items()}
        return [self._placed(each) for each in value] if isinstance(value, list) else value


def play(script: Mapping[str, Any], face: str = "python") -> list[dict[str, Any]]:
    """The transcript of a script in this tree."""
    with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
        return asyncio.run(Play(script, Path(folder), face).run())


def main(paths: list[str], face: str, out: Path) -> None:
    """Play the scripts one after another; each transcript goes to a file in ``out``."""
    import cohabit

    logging.getLogger("cohabit").setLevel(logging.CRITICAL)
    assert Path(cohabit.__file__).is_relative_to(ROOT / "src"), f"{cohabit.__file__} is not of {ROOT}"
    for path in map(Path, paths):
        lines = play(read_script(path), face)
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
        (out / f"{path.name.partition('.')[0]}.jsonl").write_text(text)


if __name__ == "__main__":
    main(sys.argv[3:], sys.argv[1], Path(sys.argv[2]))
