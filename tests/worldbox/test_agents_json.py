"""The agents.json files of the WorldBox bridge, with good tokens and otherwise unchanged, open Kingdoms."""

import json
from secrets import token_hex
from typing import Any

import httpx2
import pytest

from cohabit.errors import BadArgs
from cohabit.faces.cli.plans import plan_for
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.protocols.worldbox.server import bridge_app
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock


def player(name: str, number: int, *objectives: dict[str, str]) -> dict[str, Any]:
    claim = f"auto:{number}"
    return {"id": name, "role": "faction_player", "kingdom_claim": claim, "objectives": list(objectives)}


def god(name: str, *objectives: dict[str, str]) -> dict[str, Any]:
    return {"id": name, "role": "god", "objectives": list(objectives)}


def wipe(rival: str, number: int) -> dict[str, str]:
    return {"id": "dominate", "label": f"Wipe {rival}", "kind": "wipe_kingdom", "target": f"auto:{number}"}


def free(name: str) -> dict[str, str]:
    return {"id": name, "label": name, "kind": "freeform"}


FILES: dict[str, dict[str, Any]] = {
    "pvp": {
        "partial_intel": True,
        "turn_based": False,
        "agents": [player("athena", 0, wipe("ares", 1)), player("ares", 1, wipe("athena", 0))],
    },
    "coop": {
        "partial_intel": False,
        "turn_based": False,
        "agents": [
            god("ecology", free("biodiversity")),
            god("civilization", {"id": "growth", "label": "Grow", "kind": "reach_pop", "target": "1500"}),
            god("disasters", free("drama")),
        ],
    },
    "hierarchical": {
        "partial_intel": True,
        "turn_based": False,
        "agents": [
            god("the_dm", free("drive_narrative")),
            player("queen_aedra", 0, free("claim_throne")),
            player("king_corvax", 1, free("trade_empire")),
            {"id": "the_chronicler", "role": "narrator", "objectives": [free("tell_the_tale")]},
        ],
    },
    "sandbox": {"partial_intel": False, "turn_based": False, "agents": [god("alpha"), god("beta")]},
    "in turns": {
        "partial_intel": True,
        "turn_based": True,
        "turn_order": ["athena", "ares"],
        "agents": [player("athena", 0), player("ares", 1)],
    },
}


def written(name: str, **more: Any) -> str:
    """The file as the bridge's documentation has it: without a world."""
    agents = [{**agent, "token": token_hex(24)} for agent in FILES[name]["agents"]]
    return json.dumps({"_comment": "sample", "scenario": name, **FILES[name], "agents": agents, **more})


@pytest.mark.parametrize("name", FILES)
async def test_an_agents_json_of_the_bridge_opens_kingdoms_and_serves_the_bridge(name: str) -> None:
    text = written(name)
    async with House.open(Settings(port=0, bridge_port=0), clock=FakeClock()) as house:
        await house.create_room(parse_scenario(text), "den", seed=3)
        assert house.rooms["den"].room.state.world == "kingdoms"
        transport = httpx2.ASGITransport(app=bridge_app(house))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8723") as http:
            for agent in json.loads(text)["agents"]:
                headers = {"authorization": f"Bearer {agent['token']}"}
                answer = await http.post("/cmd", json={"name": "whoami", "args": {}}, headers=headers)
                who = answer.json()["result"]
                assert (who["agent_id"], who["role"], who["scenario"]) == (agent["id"], agent["role"], name)
                claim = agent.get("kingdom_claim")
                assert who.get("claimed_kingdom_id") == (1 + int(claim[-1]) if claim else None)


def test_the_command_line_opens_such_a_file(tmp_path: Any) -> None:
    path = tmp_path / "agents.json"
    path.write_text(written("pvp"))
    assert plan_for(str(path)).scenario.world == "kingdoms"


def test_a_sample_token_is_refused_with_the_way_to_make_a_good_one() -> None:
    agents = [{**FILES["pvp"]["agents"][0], "token": "<token-1>"}]
    with pytest.raises(BadArgs, match=r"agents\[0\]: token: too weak; .*`cohabit token make` prints one"):
        parse_scenario(json.dumps({"scenario": "pvp", "agents": agents}))


def test_a_file_that_names_its_world_opens_that_world() -> None:
    assert parse_scenario(written("pvp", world="nim")).world == "nim"
