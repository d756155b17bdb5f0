"""Capability names of Kibitz, a protocol for agents in shared rooms, as aliases of Cohabit's."""

from cohabit.model.grant import Capability, Names, add_aliases

C = Capability

PERCEIVE: Names = {
    "see-screen": frozenset({C.SEE_SCREEN}),
    "hear-audio": frozenset({C.HEAR_AUDIO}),
    "read-chat": frozenset({C.READ_CHAT, C.WATCH}),
    "read-roster": frozenset({C.READ_ROSTER}),
    "receive-directed": frozenset({C.RECEIVE_DIRECTED}),
    "read-media": frozenset({C.READ_MEDIA}),
    "read-files": frozenset({C.READ_FILES}),
}
ACT: Names = {
    "send-chat": frozenset({C.SEND_MESSAGE, C.SEND_BROADCAST}),
    "speak": frozenset({C.SPEAK}),
    "act": frozenset({C.ACT}),
}

add_aliases("kibitz", {**PERCEIVE, **ACT})
