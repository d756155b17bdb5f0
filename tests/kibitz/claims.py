"""The behaviour of an agent, as a table that the Python and the JavaScript agent are both run against.

A claim has steps, and the log that they must leave. Steps of the controller: ``message``, ``participants``, ``schema``.
The others are calls of the agent; what they return or raise is in the log, and so is what the controller was asked to send.
"""

from typing import Any

ADA = {"id": "p1", "name": "Ada"}
CHAT = {"__kib_agent": "chat", "text": "hello"}
VIEW_1, VIEW_2 = {"__kib_agent": "view", "view": {"n": 1}}, {"__kib_agent": "view", "view": {"n": 2}}
ACT = {"__kib_agent": "act", "action": {"play": "7"}}
SCHEMA = {"from": "p1", "name": "board", "version": "1", "schema": {"type": "object"}}
META = ["meta", {"role": "agent", "readOnly": False}]
READ_ONLY_META = ["meta", {"role": "agent", "readOnly": True}]

Claim = dict[str, Any]
CLAIMS: list[Claim] = [
    {
        "claim": "chat has the name that the roster gives its sender, and none if it does not know it",
        "steps": [["participants", [ADA]], ["message", CHAT, "p1"], ["message", CHAT, "p9"]],
        "log": [META, ["roster", [ADA]], ["chat", {"from": "p1", "name": "Ada", "text": "hello"}],
                ["chat", {"from": "p9", "name": "", "text": "hello"}]],
    },
    {
        "claim": "there is no view before the first, then always the latest",
        "steps": [["participants", [ADA]], ["getView"], ["message", VIEW_1, "p1"], ["message", VIEW_2, "p1"], ["getView"]],
        "log": [META, ["roster", [ADA]], ["value", None], ["view", {"n": 1}], ["view", {"n": 2}], ["value", {"n": 2}]],
    },
    {
        "claim": "a view counts only if it comes from the app that published first",
        "steps": [["participants", [ADA]], ["message", VIEW_1, "p1"], ["message", VIEW_2, "p2"], ["getView"]],
        "log": [META, ["roster", [ADA]], ["view", {"n": 1}], ["value", {"n": 1}]],
    },
    {
        "claim": "when that app has left, another one can take its place",
        "steps": [["participants", [ADA]], ["message", VIEW_1, "p1"], ["participants", []], ["message", VIEW_2, "p2"], ["getView"]],
        "log": [META, ["roster", [ADA]], ["view", {"n": 1}], ["roster", []], ["view", {"n": 2}], ["value", {"n": 2}]],
    },
    {
        "claim": "a controller that knows the owner of the view decides",
        "owner": "p2",
        "steps": [["message", VIEW_1, "p1"], ["message", VIEW_2, "p2"], ["getView"]],
        "log": [META, ["view", {"n": 2}], ["value", {"n": 2}]],
    },
    {
        "claim": "data reaches onData as it is, and envelopes never do",
        "steps": [["message", {"k": "ink"}, "p1"], ["message", "text", "p1"], ["message", None, "p1"], ["message", [1], "p1"],
                  ["message", {"__kib_agent": 7}, "p1"], ["message", CHAT, "p1"], ["message", ACT, "p1"]],
        "log": [META, ["data", {"k": "ink"}, "p1"], ["data", "text", "p1"], ["data", None, "p1"], ["data", [1], "p1"],
                ["data", {"__kib_agent": 7}, "p1"], ["chat", {"from": "p1", "name": "", "text": "hello"}]],
    },
    {
        "claim": "an envelope of an unknown kind reaches nobody",
        "steps": [["message", {"__kib_agent": "later", "text": "?"}, "p1"], ["getView"]],
        "log": [META, ["value", None]],
    },
    {
        "claim": "the roster is passed on and can be asked for",
        "steps": [["getRoster"], ["participants", [ADA]], ["getRoster"]],
        "log": [META, ["value", []], ["roster", [ADA]], ["value", [ADA]]],
    },
    {
        "claim": "schemas are passed on and can be asked for",
        "steps": [["getSchemas"], ["schema", SCHEMA], ["getSchemas"]],
        "log": [META, ["value", []], ["schema", SCHEMA], ["value", [SCHEMA]]],
    },
    {
        "claim": "with a controller that knows no schemas there are none",
        "without": ["getSchemas", "onSchema"],
        "steps": [["getSchemas"], ["say", "still here"]],
        "log": [META, ["value", []], ["broadcast", {"__kib_agent": "chat", "text": "still here"}]],
    },
    {
        "claim": "say broadcasts a chat envelope",
        "steps": [["say", "hello"]],
        "log": [META, ["broadcast", CHAT]],
    },
    {
        "claim": "act broadcasts, and send goes to everyone or to one",
        "steps": [["act", {"play": "7"}], ["send", {"k": "ink"}], ["send", {"k": "ink"}, "p1"]],
        "log": [META, ["broadcast", ACT], ["broadcast", {"k": "ink"}], ["sendTo", {"k": "ink"}, "p1"]],
    },
    {
        "claim": "a backend is disclosed and implies egress",
        "options": {"readOnly": True, "backend": "Claude"},
        "steps": [["canAct"]],
        "log": [["meta", {"role": "agent", "readOnly": True, "backend": "Claude", "egress": True}], ["value", False]],
    },
    {
        "claim": "egress can be disclosed without a backend, and so can that there is none",
        "options": {"egress": False},
        "steps": [["canAct"]],
        "log": [["meta", {"role": "agent", "readOnly": False, "egress": False}], ["value", True]],
    },
    {
        "claim": "a read-only agent raises, sends nothing and still perceives",
        "options": {"readOnly": True},
        "steps": [["canAct"], ["say", "x"], ["act", {}], ["send", {}], ["send", {}, "p1"], ["message", VIEW_1, "p1"], ["message", CHAT, "p1"]],
        "log": [READ_ONLY_META, ["value", False], ["read-only"], ["read-only"], ["read-only"], ["read-only"], ["view", {"n": 1}],
                ["chat", {"from": "p1", "name": "", "text": "hello"}]],
    },
    {
        "claim": "listeners add up, and each can be removed alone",
        "listenTwice": True,
        "steps": [["message", CHAT, "p1"], ["unsubscribe"], ["message", CHAT, "p1"]],
        "log": [META, *[["chat", {"from": "p1", "name": "", "text": "hello"}]] * 3],
    },
    {
        "claim": "an agent that has left hears nothing more",
        "steps": [["leave"], ["message", CHAT, "p1"]],
        "log": [META, ["left"]],
    },
    {
        "claim": "an agent on a bridge passes views and chat through, and talks",
        "bridge": True,
        "steps": [["getView"], ["bridgeView", {"hand": ["H14"]}], ["bridgeChat", {"from": "p1", "name": "Ada", "text": "hi"}], ["getView"], ["say", "good lead"], ["canAct"]],
        "log": [["value", None], ["view", {"hand": ["H14"]}], ["chat", {"from": "p1", "name": "Ada", "text": "hi"}],
                ["value", {"hand": ["H14"]}], ["said", "good lead"], ["value", True]],
    },
    {
        "claim": "a read-only agent on a bridge raises and still perceives",
        "bridge": True,
        "options": {"readOnly": True},
        "steps": [["say", "x"], ["canAct"], ["bridgeView", {"n": 1}]],
        "log": [["read-only"], ["value", False], ["view", {"n": 1}]],
    },
    {
        "claim": "an agent on a bridge has nothing else",
        "bridge": True,
        "steps": [["has", name] for name in ("act", "send", "leave", "onRoster", "getRoster", "onSchema", "getSchemas", "onData")],
        "log": [["value", False]] * 8,
    },
    {
        "claim": "a cooldown is ready at first, and again when its time has passed since the last stamp",
        "cooldown": 6000,
        "steps": [["ready", 0], ["stamp", 1000], ["ready", 6999], ["ready", 7000], ["ready", 7001], ["stamp", 7001], ["ready", 7001]],
        "log": [["value", True], ["value", False], ["value", True], ["value", True], ["value", False]],
    },
]  # fmt: skip
