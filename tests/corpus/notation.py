"""Scripts that are written by hand, one step on a line:

    create den nim turn_seconds=30            a room, its world and its settings …
      host hera kind=human                    … and its members: role (or -), name, claim
      player ann auto:0
    asked = ann: ask through=second           a call, with a name for its reply
    bob: allow request=$asked.request
    zoe/den: join @as:zoe @key:k1 @later      the room, the owner of the token in the reply, a key, not waited for
    visitor: join room=den name=Zoe @as:zoe   without a token
    end asked · +5000 · watch ann · unwatch ann · fail 2 · kill · stop 1000 · look ann bob

A value is JSON, ``[a,b]``, ``{a:1}``, a part of an earlier reply, or a text (in quotes if it has spaces).
"""

import json
import shlex
from typing import Any

VISITOR = "visitor"


class Notation:
    """The steps of a text."""

    def __init__(self, text: str) -> None:
        self.steps: list[dict[str, Any]] = []
        self.settings: dict[str, Any] = {}
        self._names: dict[str, int] = {}
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                self._read(line)

    def _read(self, line: str) -> None:
        first, *rest = words = shlex.split(line)
        if line.startswith("  "):
            self.steps[-1]["create"]["agents"].append(self._member(words))
        elif first.startswith("+"):
            self.steps.append({"advance": int(first)})
        elif first == "settings":
            self.settings = self._pairs(rest)
        elif first == "create":
            room, world, *more = rest
            keys = self._pairs(more)
            self.steps.append({"create": {"world": world, **keys, "agents": []}, "room": room})
            self.steps[-1]["seed"] = self.steps[-1]["create"].pop("seed", 7)
        elif first in ("watch", "unwatch"):
            self.steps.append({first: rest[0], **self._pairs(rest[1:])})
        elif first == "look":
            self.steps.append({"look": rest})
        elif first == "end":
            self.steps.append({"end": self._names[rest[0]]})
        elif first in ("fail", "kill", "stop"):
            self.steps.append({first: int(rest[0]) if rest else 0})
        else:
            self._call(words)

    def _member(self, words: list[str]) -> dict[str, Any]:
        role, name, *more = words
        claim = {"claim": more.pop(0)} if more and "=" not in more[0] else {}
        return {"id": name, **({} if role == "-" else {"role": role}), **claim, **self._pairs(more)}

    def _call(self, words: list[str]) -> None:
        if words[1] == "=":
            self._names[words[0]] = len(self.steps)
            words = words[2:]
        who, command, *more = words
        options = dict(word[1:].partition(":")[::2] for word in more if word.startswith("@"))
        args = self._pairs([word for word in more if not word.startswith("@")])
        name, _, room = who.rstrip(":").partition("/")
        if name == VISITOR:
            self.steps.append({"join": args, **options})
            return
        step: dict[str, Any] = {"call": command, "who": name, **({"args": args} if args else {}), **options}
        if room:
            step["room"] = None if room == "-" else room
        if "later" in step:
            step["later"] = True
        self.steps.append(step)

    def _pairs(self, words: list[str]) -> dict[str, Any]:
        return {key: self._value(text) for key, _, text in (word.partition("=") for word in words)}

    def _value(self, text: str) -> Any:
        if text.startswith("$") and not text.startswith("$TESTS"):
            name, _, path = text[1:].partition(".")
            return {"$": [self._names[name], path]}
        try:
            return json.loads(text)
        except ValueError:
            pass
        inner = [part.strip() for part in text[1:-1].split(",") if part.strip()]
        if text.startswith("[") and text.endswith("]"):
            return [self._value(part) for part in inner]
        if text.startswith("{") and text.endswith("}"):
            return {key.strip(): self._value(of.strip()) for key, _, of in (part.rpartition(":") for part in inner)}
        return text


def parse(text: str) -> dict[str, Any]:
    """A script from its notation."""
    read = Notation(text)
    return {"settings": read.settings, "steps": read.steps}
