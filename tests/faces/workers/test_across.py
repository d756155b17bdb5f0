"""House commands whose rooms are in several processes: the same answers as from one."""

import re
from pathlib import Path
from typing import Any

import httpx2
from tests.faces.serving import WORLDS

from cohabit.scenario import AgentSpec, Scenario

from .nodes import Cluster, bearer, cluster, create

SEALED = f"{WORLDS}:Secrets"
Calls = list[tuple[str, dict[str, Any]]]


async def answers(nodes: Cluster, token: str, calls: Calls) -> list[Any]:
    async with httpx2.AsyncClient(base_url=nodes.url, headers=bearer(token), timeout=120) as http:
        return [(await http.post(f"/api/{path}", json=args)).json() for path, args in calls]


async def house_in(tmp: Path, *where: str) -> list[Any]:
    """What a host of the house is told where den and hall are in these nodes."""
    tmp.mkdir()
    calls: Calls = [
        ("rooms/den/join", {}), ("rooms/hall/join", {}), ("rooms", {}), ("introduction", {}), ("capabilities", {}),
        ("schemas", {}), ("schemas", {"command": "send_message"}), ("schemas", {"command": "nothing"}),
        ("list_credentials", {}), ("data_of", {"identity": "i-operator"}), ("data_of", {"identity": "ann"}),
        ("house_egress", {"room": "nowhere"}), ("worlds", {}), ("issue_credential", {"name": "ann", "room": "nowhere"}),
        ("my_data", {}),
    ]  # fmt: skip
    async with cluster(tmp, *sorted(set(where))) as nodes:
        for room, node in zip(("den", "hall"), where, strict=True):
            await create(nodes, node, room)
        told = await answers(nodes, nodes.front.operator_token(), calls)
        return [without(result) for result in told]


def without(value: Any) -> Any:
    """A result without what differs between two houses: random ids and the order of rooms."""
    if isinstance(value, dict):
        return {name: without(inner) for name, inner in value.items() if name not in ("token", "created_at", "at")}
    if isinstance(value, list):
        inner = [without(one) for one in value]
        return sorted(inner, key=repr) if value and isinstance(value[0], dict) and "room" in value[0] else inner
    return re.sub(r"i-[0-9a-f]{16}", "an id", value) if isinstance(value, str) else value


async def test_a_host_of_the_house_is_told_the_same_wherever_the_rooms_are(tmp_path: Path) -> None:
    together = await house_in(tmp_path / "one", "w1", "w1")
    apart = await house_in(tmp_path / "two", "w1", "w2")
    assert [one["ok"] for one in together].count(False) == 4
    for one, two in zip(together, apart, strict=True):
        assert one == two


async def test_rooms_are_created_where_there_are_few_and_a_name_is_used_once(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", "w2") as nodes:
        token = nodes.front.operator_token()
        nim = {"world": "nim", "players": ["ada", "bob"]}
        made = await answers(
            nodes, token, [("create_room", nim), ("create_room", nim), ("create_room", {**nim, "room": "nim-1"})]
        )
        assert [one["result"]["room"] for one in made[:2]] == ["nim-1", "nim-2"]
        assert made[2]["error"]["code"] == "CONFLICT"
        assert [list(nodes.houses[node].rooms) for node in ("front", "w1", "w2")] == [[], ["nim-1"], ["nim-2"]]
        for one in made[:2]:
            told = await answers(nodes, one["result"]["tokens"]["ada"], [("whoami", {})])
            assert told[0]["result"]["room"] == one["result"]["room"]


async def test_tokens_of_members_are_issued_where_the_room_is(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", "w2") as nodes:
        await create(nodes, "w2", "den")
        token = nodes.front.operator_token()
        (made,) = await answers(nodes, token, [("issue_credential", {"name": "ann", "room": "den"})])
        (who,) = await answers(nodes, made["result"]["token"], [("whoami", {})])
        assert who["result"]["handle"] == "ann"


async def test_what_a_player_keeps_private_in_one_process_is_kept_from_hosts_in_another(tmp_path: Path) -> None:
    """A host of the house cannot get a token of somebody who plays a sealed game in another process."""
    async with cluster(tmp_path, "w1", "w2") as nodes:
        operator = nodes.front.operator_token()
        made = await answers(
            nodes,
            operator,
            [("issue_credential", {"name": "boss", "host": True}), ("issue_credential", {"name": "pia"})],
        )
        boss, pia = (one["result"]["token"] for one in made)
        who = nodes.front.identify(pia).identity
        seats = [AgentSpec(id="pia", role="player", claim="auto:0", identity=who), AgentSpec(id="bob", role="player")]
        await nodes.houses["w2"].create_room(Scenario(world=SEALED, partial_intel=True, agents=seats), "den", seed=7)
        calls: Calls = [
            ("rotate_credential", {"name": "pia"}),
            ("forget_identity", {"identity": "pia", "confirm": "pia"}),
        ]
        refused = await answers(nodes, boss, calls)
        assert [one["error"]["code"] for one in refused] == ["PERMISSION_DENIED", "CONFLICT"]
        assert (await answers(nodes, pia, [("rooms", {})]))[0]["result"]["rooms"][0]["you"] == "player"


async def test_data_is_deleted_in_every_process(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", "w2") as nodes:
        for node, room in (("w1", "den"), ("w2", "hall")):
            await create(nodes, node, room)
            entry = await nodes.houses[node].call(nodes.front.identify(nodes.front.operator_token()), room, "join", {})
            assert entry.room == room
        operator = nodes.front.operator_token()
        (made,) = await answers(nodes, operator, [("issue_credential", {"name": "pia", "host": True})])
        pia = made["result"]["token"]
        joined = await answers(nodes, pia, [("rooms/den/join", {}), ("rooms/hall/join", {}), ("my_data", {})])
        assert {room["room"] for room in joined[2]["result"]["rooms"]} == {"den", "hall"}
        (gone,) = await answers(nodes, pia, [("forget_me", {"confirm": "pia"})])
        assert {*gone["result"]["cleaned"], *gone["result"]["later"]} >= {"den", "hall"}
        for node, room in (("w1", "den"), ("w2", "hall")):
            assert nodes.houses[node].rooms[room].room.state.with_handle("pia") is None
        (refused,) = await answers(nodes, pia, [("rooms", {})])
        assert refused["error"]["code"] == "UNAUTHORIZED"
