"""Records of the present format, to be replayed by every later version: ``python -m tests.room.golden_records`` writes
those that are missing.

Renew one only if its world has got a new version. A version of Cohabit that cannot replay them needs a new ``FORMAT``,
and a new set of records.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from cohabit.feature_registry import load_features
from cohabit.room.record import GENESIS, Line, read_lines
from cohabit.room.room import Room

from .making import HOST, make_room, player
from .visiting import ADA, act, enter

RECORDS = Path(__file__).with_name("records")
POLL = Path(__file__).parents[2] / "examples" / "poll.py"
ANN, BOB = player("ann", 0, stand_in="random"), player("bob", 1)
BOT = {"id": "bot", "kind": "agent", "identity": "i-bot"}


def nim() -> Room:
    """A game, a rematch, talk, a pause of the house, and the end."""
    room = make_room(ANN, BOB, HOST, world="nim", turn_seconds=60)
    for at, who in enumerate(("ann", "bob"), 1):
        room.call(who, "take", {"n": 2}, at=at * 1000, key=f"k{at}")
    room.call("ann", "send_message", {"to": "bob", "content": "well played"}, at=3000)
    room.system("opened", {"gap": 5000}, 9000)
    room.settle(70_000)
    room.call("hostess", "rematch", {}, at=71_000)
    room.call("hostess", "archive", {}, at=72_000)
    return room


def people() -> Room:
    """Consent, disclosure, chat limits, apps, grants, and members who come and go."""
    room = make_room(ANN, BOB, HOST, BOT, {"id": "painter", "role": "app"}, world="tictactoe")
    room.call("hostess", "require_disclosure", {"required": True}, at=1)
    room.call("bot", "disclose", {"backend": "tiny-7b"}, at=2)
    request = room.call("bot", "ask", {"may": ["send_broadcast"], "why": "to greet"}, at=3).request
    room.call("hostess", "allow", {"request": request, "seconds": 60}, at=4)
    room.call("hostess", "set_chat_limits", {"cooldown_ms": 1, "agents_apart": True}, at=5)
    room.call("bot", "send_message", {"to": "*", "content": "hello"}, at=6)
    through = room.call("bot", "ask", {"through": room.state.require_member("ann").seat}, at=7).request
    room.call("ann", "allow", {"request": through, "lasts": "game"}, at=8)
    room.call("painter", "disclose", {"egress": False}, at=9)
    room.call("painter", "publish_view", {"view": {"score": 1}, "to": ["bot"]}, at=10)
    room.call("ann", "mark", {"cell": 5}, at=11)
    room.settle(70_000)
    room.call("bob", "leave", {}, at=70_001)
    joins = {"handle": "bea", "kind": "human", "identity": "i-bea", "role": "player"}
    room.system("admitted", joins, 70_002)
    return room


def visits() -> Room:
    """Bodies, and agents that come from the Nexus and go back."""
    room = make_room(HOST, world="crafter_shared", nexus=True)
    enter(room, goals=["Collect Sapling"], max_steps=3)
    enter(room, "i-bea", "bea")
    act(room, "noop")
    act(room, "noop", "bea", 21)
    act(room, "jack_out", "bea", 22)
    for at in range(30, 40, 3):
        room.settle(at)
        ada = room.member_of(ADA)
        if ada is not None and ada.seat is not None:
            act(room, "noop", at=at)
    room.settle(10_000)
    return room


def kingdoms() -> Room:
    """A real-time world, with a pause of a host who disconnects."""
    room = make_room(player("ann", 0), player("bob", 1), HOST, world="kingdoms", pause_seconds=10)
    room.system("presence", {"members": ["hostess"], "here": True}, 1)
    for at in range(1, 10):
        room.system("ticks", {"n": 10}, at * 200)
    room.call("ann", "pause", {}, at=2001)
    room.call("hostess", "pause", {}, at=2002)
    room.system("presence", {"members": ["hostess"], "here": False}, 2003)
    room.settle(12_003)
    room.call("hostess", "set_speed", {"speed_id": "x5"}, at=12_004)
    room.system("ticks", {"n": 10}, 12_100)
    return room


def polls() -> Room:
    """A feature from outside."""
    load_features([str(POLL)])
    room = make_room(ANN, BOB, HOST, world="nim", features=["poll"])
    poll = room.call("ann", "start_poll", {"question": "Tea?", "choices": ["yes", "no"], "seconds": 30}, at=1)
    room.call("bob", "vote", {"poll": poll, "choice": "no"}, at=2)
    room.settle(40_000)
    return room


ROOMS: dict[str, Callable[[], Room]] = {
    "nim": nim, "people": people, "visits": visits, "kingdoms": kingdoms, "polls": polls
}  # fmt: skip


def write(name: str) -> None:
    room = ROOMS[name]()
    lines = [f"{line.digest.hex()} {line.body.decode()}" for line in room.record.tail]
    (RECORDS / f"{name}.txt").write_text("\n".join([room.digest(), *lines]) + "\n")


def read(name: str) -> tuple[str, list[Line]]:
    """The digest of the room at the end, and the lines of its record."""
    digest, *lines = (RECORDS / f"{name}.txt").read_text().splitlines()
    split = [line.split(" ", 1) for line in lines]
    rows = [(seq, body.encode(), bytes.fromhex(chain)) for seq, (chain, body) in enumerate(split)]
    return digest, list(read_lines(rows, -1, GENESIS))


def fingerprint(name: str) -> str:
    return sha256((RECORDS / f"{name}.txt").read_bytes()).hexdigest()[:16]


if __name__ == "__main__":
    for missing in ROOMS:
        if not (RECORDS / f"{missing}.txt").exists():
            write(missing)
