"""Makes the generated scripts: seeded walks over the code of this tree, guided by the schemas of the commands and by the
legal actions of the world. ``python -m tests.corpus.generate`` writes them and prints what they cover.

A walk makes mostly sensible calls, with a good share of refused and malformed ones. It prefers what no walk has done
yet: a command, called by a member with a role, that is accepted or refused.
"""

import asyncio
import gzip
import json
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from .notation import parse
from .play import Play

SCRIPTS = Path(__file__).parent / "scripts"
TIMES = (200, 250, 1000, 3000, 10_000, 31_000, 61_000, 90_000)
NOT_YET = {"delete_room", "archive"}
"""They end a walk, so they come last."""
SELDOM = {
    "leave", "remove_member", "revoke", "revoke_token", "revoke_invite", "rotate_token", "reset", "rematch", "grant",
    "narrow", "load_world", "require_disclosure", "set_entry", "stand_up", "pause", "invite", "add_member",
    "issue_credential", "rotate_credential", "revoke_credential", "create_room", "turn_advance",
}  # fmt: skip
NEVER = {
    "picture",
    "screenshot",
    "save_world",
    "front_end",
    "schemas",
    "rules",
    "introduction",
    "worlds",
    "create_room",
}
"""Their replies are large, or the scripts that are written by hand have them."""
CAPABILITIES = (
    "watch", "read_own", "read_all", "read_roster", "read_chat", "receive_directed", "see_screen", "act", "act_global",
    "advance_time", "control_world", "send_message", "send_broadcast", "publish", "manage_members",
)  # fmt: skip
REFERRED = {
    "request": "request", "knock": "knock", "invite": "invite", "cursor": "cursor", "avatar_id": "avatar_id",
    "since": "id",
}  # fmt: skip
"""Arguments whose values are random, and the key in an earlier reply."""
WORDS = ("", "a", "north", "T1", "no such thing", "*", "hello there", "Ω")
EVERY_ROLE = """
  host hera kind=human
  player ann auto:0 {ann}
  player bob auto:1 {bob}
  human hugo kind=human
  observer owl
  narrator nat
  agent wim
  agent kib
  agent lim
  app apo
  resident rex
  god zeus
"""
"""``kib`` is made a kibitzer, ``wim`` gets more for a while, and ``lim`` less."""
SPECIAL = {"kib": "kibitzer", "wim": "agent + temporary", "lim": "agent - limited"}
CAVES = "$TESTS/worlds_samples/bodies/caves.py"
ROOMS = {
    "nim": "create den nim turn_seconds=30 rematch_seconds=20 stand_in_seconds=20 config={stones:60} teams={red:[]}",
    "lanterns": "create den lanterns partial_intel=true rematch_seconds=20 config={ticks:500} pause_seconds=10",
    "stepped": "create den lanterns partial_intel=true step_ticks=10 turn_seconds=40 config={ticks:200}",
    "turns": "create den lanterns turn_based=true ticks_per_turn=5 turn_seconds=40 config={ticks:150}",
    "lounge": "create den lounge guests=true",
    "caves": f"create den {CAVES}:Caves guests=true nexus=true stand_in_seconds=10",
    "turn_caves": f"create den {CAVES}:TurnCaves guests=true",
    "whist": "create den whist turn_seconds=60 rematch_seconds=20 partial_intel=true",
    "statecraft": "create den statecraft turn_seconds=60 rematch_seconds=20 config={turns:6}",
    "tictactoe": "create den tictactoe rematch_seconds=10",
    "kingdoms": "create den kingdoms partial_intel=true config={zones_x:2,zones_y:2} rematch_seconds=20",
    "kingdoms_stepped": "create den kingdoms step_ticks=10 turn_seconds=40 config={zones_x:2,zones_y:2}",
    "crafter": "create den crafter config={size:24}",
    "crafter_shared": "create den crafter_shared turn_seconds=20 guests=true config={respawns:true,size:32}",
    "planet": "create den planet turn_seconds=20 guests=true config={length:300}",
}

BRAINS = {"nim": "nim-master", "lanterns": "lamplighter", "whist": "whist", "statecraft": "trader"}
WALKS: dict[str, tuple[int, int]] = {
    "nim": (3, 260), "lanterns": (3, 220), "lounge": (3, 220), "caves": (4, 240), "turn_caves": (2, 200), "whist": (2, 160),
    "statecraft": (1, 120), "tictactoe": (1, 120), "stepped": (2, 160), "turns": (2, 160), "kingdoms": (1, 100),
    "kingdoms_stepped": (1, 90), "crafter": (1, 100), "crafter_shared": (2, 160), "planet": (2, 160),
}  # fmt: skip
"""How many walks, and how many steps each."""
SWEEPS = ("nim", "lanterns", "lounge", "caves")


def one_text(name: str) -> dict[str, Any]:
    """The schema of a command that takes one text."""
    return {"properties": {name: {"type": "string"}}, "required": [name]}


class Walk:
    """One walk: a script, made while it is played."""

    def __init__(self, name: str, number: int, covered: "Counter[tuple[str, str, bool]]") -> None:
        self.name, self.random, self.covered = name, Random(f"{name}/{number}"), covered
        brain = BRAINS.get(name, "random")
        text = f"settings trusted_worlds={CAVES}\n" if "caves" in name else ""
        players = {"ann": "", "bob": f"{('brain', 'stand_in')[number % 2]}={brain}"}
        if "caves" in name:
            players = {"ann": "", "bob": ""}
        roles = EVERY_ROLE.format(**players)
        if name in ("crafter", "lounge"):
            roles = roles.replace("auto:1", "").replace("auto:0", "" if name == "lounge" else "auto:0")
        if "caves" in name or name == "lounge":
            roles = roles.replace("auto:0", "").replace("auto:1", "")
        more = {"whist": 4, "statecraft": 3}.get(name, 2)
        for seat in range(2, more):
            roles += f"  player p{seat} auto:{seat} brain={brain}\n"
        self.start = parse(text + ROOMS[name] + roles)
        agents = self.start["steps"][0]["create"]["agents"]
        self.role = {each["id"]: each["role"] for each in agents} | {"operator": "operator"}
        self.role |= {who: role for who, role in SPECIAL.items() if who in self.role}
        self.members = [each["id"] for each in agents]
        self.steps: list[dict[str, Any]] = []
        self.found: dict[str, list[list[Any]]] = {}  # random values, as references
        self.seats: list[str] = []
        self.gone: set[str] = set()
        self.newcomers = 0

    async def write(self, length: int) -> dict[str, Any]:
        self.schemas = await self._schemas()
        with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
            self.play = Play(self.start, Path(folder))
            await self.play.open()
            try:
                for step in self.start["steps"]:
                    await self._do(step)
                await self._begin()
                while len(self.steps) < length:
                    await self._anything(len(self.steps) / length)
                await self._last()
            finally:
                await self.play.close()
        return {"settings": self.start["settings"], "steps": self.steps}

    async def _schemas(self) -> dict[str, Any]:
        """The arguments of every command that anybody may call here."""
        found: dict[str, Any] = {}
        with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
            play = Play(self.start, Path(folder))
            await play.open()
            try:
                for step in self.start["steps"]:
                    await play.step(step)
                for who in (*self.members, "operator"):
                    reply = await play.step({"call": "schemas", "who": who})
                    for each in (reply or {"commands": []})["commands"]:
                        found[each["name"]] = each["schema"]
                await play.step({"call": "sit", "who": "hugo"})
                reply = await play.step({"call": "schemas", "who": "hugo"})
                found |= {each["name"]: each["schema"] for each in reply["commands"]}
                if "jack_in" in found:
                    found |= {"death": {}, "respawn": one_text("option"), "transfer": one_text("avatar_id")}
                found |= {"take_over": {}, "hand_back": {}, "exit_game": {}, "stand_up": {}}
                info = await play.step({"call": "session_info", "who": "hera"})
                self.seats = list(info.get("seats", ()))
            finally:
                await play.close()
        return {name: found[name] for name in sorted(found) if name not in NEVER}

    # -- steps -----------------------------------------------------------------------------------------
    async def _do(self, step: dict[str, Any]) -> Any:
        number = len(self.steps)
        self.steps.append(step)
        reply = await self.play.step(step)
        if "call" in step:
            who, accepted = step["who"], reply is not None
            self.covered[step["call"], self.role.get(who, "newcomer"), accepted] += 1
            if accepted:
                self._harvest(reply, number, "")
                if step["call"] == "leave":
                    self.gone.add(who)
        return reply

    def _harvest(self, value: Any, step: int, path: str, depth: int = 0) -> None:
        """Remember where random values stand."""
        if isinstance(value, dict):
            for key, of in value.items():
                if key in REFERRED.values() and isinstance(of, str) and of:
                    self.found.setdefault(key, []).append([step, f"{path}.{key}".strip(".")])
                elif depth < 3:
                    self._harvest(of, step, f"{path}.{key}".strip("."), depth + 1)
        elif isinstance(value, list):
            for number, each in enumerate(value[:5]):
                self._harvest(each, step, f"{path}.{number}".strip("."), depth + 1)

    async def _begin(self) -> None:
        """A kibitzer, somebody with more for a while, somebody with less."""
        if self.seats:
            await self._call("hera", "grant", {"member": "kib", "may": ["watch", "read_own"], "through": self.seats[0]})
        await self._call("zeus", "widen", {"member": "wim", "may": ["act", "send_message"], "expires_in_s": 900})
        await self._call("hera", "narrow", {"member": "lim", "may": ["watch", "read_chat"]})
        for who in self.random.sample(self.members, 3):
            await self._do({"watch": who})

    async def _call(self, who: str, command: str, args: Mapping[str, Any] | None = None, **more: Any) -> Any:
        step: dict[str, Any] = {"call": command, "who": who}
        if args:
            step["args"] = dict(args)
        return await self._do(step | more)

    async def _anything(self, progress: float) -> None:
        draw = self.random.random()
        if draw < 0.30:
            await self._play_on()
        elif draw < 0.72:
            await self._some_command(progress)
        elif draw < 0.80:
            await self._malformed()
        elif draw < 0.90:
            await self._do({"advance": self.random.choice(TIMES)})
        elif draw < 0.94:
            kind = self.random.choice(["watch", "watch", "unwatch"])
            await self._do({kind: self._someone()})
        elif draw < 0.965:
            await self._do({"look": self.random.sample(self.members, 2)})
        elif draw < 0.98:
            await self._newcomer()
        elif draw < 0.99:
            await self._do({self.random.choice(["kill", "stop"]): self.random.choice([0, 500, 70_000])})
        else:
            await self._wait()

    async def _last(self) -> None:
        await self._do({"look": self.random.sample(self.members, 3)})
        await self._do({"kill": 1000})
        await self._call("wim", "archive")
        await self._call("hera", "archive")
        for who in ("ann", "hera"):
            await self._call(who, "send_message", {"to": "bob", "content": "too late"})
            await self._call(who, "view")

    def _someone(self) -> str:
        here = [who for who in self.members if who not in self.gone]
        return self.random.choice(self.members if self.random.random() < 0.1 or not here else here)

    async def _play_on(self) -> None:
        """A player looks, and does something legal."""
        who = self.random.choice(["ann", "ann", "bob", "hugo", "wim", "zeus"])
        view = await self._call(who, "view")
        choices = (view or {}).get("observation", {}).get("choices") or []
        if not choices:
            await self._call(who, self.random.choice(["sit", "jack_in", "respawn", "turn_advance", "whoami"]))
            return
        chosen = self.random.choice(choices)
        if self.random.random() < 0.5:
            args = {"action": chosen["action"], "params": chosen.get("params", {})}
            if self.random.random() < 0.2:
                args["reasoning"] = "it looks good"
            await self._call(who, "act", args)
        else:
            await self._call(who, chosen["action"], chosen.get("params", {}))

    async def _some_command(self, progress: float) -> None:
        """A command that this role has not been seen with yet, if there is one; else any."""
        who = self._someone()
        names = [name for name in self.schemas if name not in NOT_YET]
        if progress < 0.6 or self.random.random() < 0.6:
            names = [name for name in names if name not in SELDOM] or names
        role = self.role[who]
        fewest = sorted(
            names, key=lambda n: (self.covered[n, role, True] + self.covered[n, role, False] / 3, self.random.random())
        )
        command = self.random.choice(fewest[:6] if self.random.random() < 0.7 else names)
        more: dict[str, Any] = {}
        if self.random.random() < 0.05:
            more["key"] = f"key {self.random.randrange(4)}"
        if command == "rotate_token":
            more["as"] = who
        args = self._args(command)
        if command in ("rotate_token", "revoke_token"):
            args = {"member": "rex"} if command == "revoke_token" or who == "hera" else {}
            more = {"as": "rex"} if args and "as" in more else more
        await self._call(who, command, args, **more)

    async def _malformed(self) -> None:
        command = self.random.choice([*self.schemas])
        args = self._args(command)
        kind = self.random.randrange(5)
        if kind == 0:
            args["no_such_argument"] = 1
        elif kind == 1 and args:
            args.pop(self.random.choice([*args]))
        elif kind == 2 and args:
            args[self.random.choice([*args])] = self.random.choice([[], {}, None, -1, 1.5, "x" * 600, True])
        elif kind == 3:
            command = command[:-1]
        else:
            args = {key: {"deep": [1]} for key in self.schemas[command].get("properties", {"a": 1})}
        if command in NOT_YET or command == "delete_room":
            args = {"confirm": "no"}
            command = "delete_room"
        await self._call(self._someone(), command, args)

    async def _newcomer(self) -> None:
        """Somebody is invited and joins."""
        self.newcomers += 1
        name = f"new{self.newcomers}"
        role = self.random.choice([None, "player", "observer", "human", "host"])
        kind = self.random.choice(["agent", "human"])
        args = {"id": name, "kind": kind, **({"role": role} if role else {})}
        if await self._call("hera", "invite", args, **{"as": name}) is None:
            return
        if await self._call(name, "join", **{"as": name}) is not None:
            self.members.append(name)
            self.role[name] = role or kind

    async def _wait(self) -> None:
        """A call that waits, and something that happens meanwhile."""
        who = self._someone()
        command = self.random.choice(["wait_for_turn", "next_view", "events", "observe", "recv_messages"])
        number = len(self.steps)
        await self._call(who, command, {"wait_ms": 20_000}, later=True)
        await self._play_on()
        await self._do({"end": number})
        await self._do({"advance": 21_000})
        await self._do({"end": number})

    # -- arguments -------------------------------------------------------------------------------------
    def _args(self, command: str) -> dict[str, Any]:
        schema = self.schemas[command]
        required = schema.get("required", [])
        return {
            name: self._value(name, part, schema.get("$defs", {}))
            for name, part in schema.get("properties", {}).items()
            if name in required or self.random.random() < 0.35
        }

    def _value(self, name: str, schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Any:
        draw = self.random
        if name in REFERRED and (known := self.found.get(REFERRED[name])):
            return {"$": draw.choice(known[-6:])} if draw.random() < 0.9 else "0123abcd"
        named: dict[str, Sequence[Any]] = {
            "member": self.members, "to": [*self.members, "*", "team:red"], "seat": self.seats, "through": self.seats,
            "app": ["apo", "hugo"], "stand_in": ["random"], "wait_ms": [0], "role": ["player", "agent", "observer", "god"],
            "claim": ["auto:0", "auto:2", "id:x"], "team": ["red"], "folder": ["one", "two"], "path": ["one", "none"],
            "id": ["fay", "gus", "ann", "bad name"], "world": ["nim"], "code": ["new", ""], "confirm": ["no"],
            "names": [["Tom"], []], "agent_keys": [[]], "bytes_b64": ["AAAA"], "brains": [{}], "timeout": [0],
            "seed": [5, "ff"], "speed_id": ["x1", "x2", "x5", "x9"], "backend": ["gpt"], "command": ["view", "act"],
            "tower": ["T1", "T2", "T3", "T9"], "item": ["gold", "ore", "blade"], "place": ["hall", "ledge", "pit"],
            "max": [1, 3, 50], "assertion": ["x"], "expires_in_s": [5, 60, 1000], "name": ["Nick", "Nora"],
        }  # fmt: skip
        if named.get(name) and (name == "wait_ms" or draw.random() < 0.93):
            return draw.choice(named[name])
        if name == "may":
            return draw.sample(CAPABILITIES, draw.randrange(1, 4))
        return self._sample(schema, defs)

    def _sample(self, schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Any:
        draw = self.random
        if "$ref" in schema:
            return self._sample(defs[schema["$ref"].rpartition("/")[2]], defs)
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self._sample(draw.choice(schema[key]), defs)
        if "const" in schema or "enum" in schema:
            return schema.get("const") if "const" in schema else draw.choice(schema["enum"])
        kind = schema.get("type")
        if kind in ("integer", "number"):
            low = schema.get("minimum", 0)
            return draw.randint(int(low), int(min(schema.get("maximum", low + 12), low + 30)))
        if kind == "array":
            items = schema.get("items") or {"type": "string"}
            return [self._sample(items, defs) for _ in range(draw.randrange(3))]
        if kind == "object":
            return {name: self._sample(part, defs) for name, part in schema.get("properties", {}).items()}
        if kind == "string":
            return (draw.choice(WORDS) + "a" * schema.get("minLength", 0))[: schema.get("maxLength")]
        return {"boolean": draw.random() < 0.5, "null": None}.get(str(kind), draw.choice([0, "a", {"a": [1]}, None]))


class Sweep(Walk):
    """Every command by every member, sensible and malformed: first those that change little, then those that do not."""

    async def _anything(self, progress: float) -> None:
        self.steps_wanted = 0

    async def write(self, length: int) -> dict[str, Any]:
        return await super().write(0)

    async def _begin(self) -> None:
        await super()._begin()
        changing = [name for name in self.schemas if name in SELDOM - {"leave"}]
        for number, command in enumerate([name for name in self.schemas if name not in SELDOM | NOT_YET]):
            for who in (*self.members, "operator"):
                await self._call(who, command, self._args(command))
            if number % 6 == 0:
                await self._malformed()
                await self._do({"advance": 3000})
        for command in [*changing, "leave", "delete_room"]:
            for number, who in enumerate([*self.members]):
                if command == "leave" and who == "hera":
                    continue
                await self._call(
                    who, command, self._target(command, number), **({"as": who} if command == "rotate_token" else {})
                )
            await self._do({"advance": 3000})

    def _target(self, command: str, number: int) -> dict[str, Any]:
        args = self._args(command)
        known = {"member": "rex", "id": f"x{number}", "confirm": "den"}
        args |= {key: value for key, value in known.items() if key in self.schemas[command].get("properties", {})}
        return {} if command == "rotate_token" else args

    async def _last(self) -> None:
        await self._do({"kill": 0})


def main(only: str = "") -> None:
    logging.getLogger("cohabit").setLevel(logging.CRITICAL)
    covered: Counter[tuple[str, str, bool]] = Counter()
    walks = [
        (f"walk_{name}_{number + 1}", Walk(name, number, covered)) for name in WALKS for number in range(WALKS[name][0])
    ]
    sweeps = [(f"sweep_{name}", Sweep(name, 0, covered)) for name in SWEEPS]
    for title, walk in (*sweeps, *walks):
        if only in title:
            script = asyncio.run(walk.write(WALKS[walk.name][1]))
            text = json.dumps(script, separators=(",", ":"), ensure_ascii=False)
            path = SCRIPTS / f"{title}.json.gz"
            path.write_bytes(gzip.compress(text.encode(), mtime=0))
            sys.stdout.write(f"{path.name}: {len(script['steps'])} steps, {path.stat().st_size} bytes\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
