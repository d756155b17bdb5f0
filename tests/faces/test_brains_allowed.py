"""From outside, a brain is a built-in script or one that the operator has listed: a file is code, a model is money."""

from pathlib import Path

import pytest

from cohabit.errors import CohabitError
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.clock import FakeClock

from .doors import MOSTLY_SOAK, doors

LISTED = Path(__file__).parent.parent / "house" / "brains.py"
REFUSED = [
    f"{LISTED}:Raises",
    f"{LISTED}:Scripted?depth=1",
    "local",
    "local:/etc/passwd",
    "openai:m@http://169.254.169.254/latest",
    "ollama:qwen3:8b",
    "human",
]


@pytest.mark.sampled
@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_remote_callers_choose_scripts_and_listed_brains_only(face: str, tmp_path: Path) -> None:
    settings = Settings(port=0, brains=f"{LISTED}:Scripted, ollama:other")
    async with House.open(settings, clock=FakeClock()) as house, doors(face, house, tmp_path) as door:
        plan = Scenario(world="nim", agents=[AgentSpec(id="hal", kind="human", role="god")])
        _, tokens = await house.create_room(plan, "den")
        async with door(house.operator_token()) as operator, door(tokens["hal"]) as hal:
            for refused in REFUSED:
                with pytest.raises(CohabitError) as wrong:
                    args = {"world": "nim", "players": ["ann", "bob"], "brains": {"ann": refused}}
                    await operator.call("create_room", args)
                assert wrong.value.code == "PERMISSION_DENIED", refused
                for command in ("invite", "add_member"):
                    with pytest.raises(CohabitError) as wrong:
                        await hal.call(command, {"id": "eve", "stand_in": refused})
                    assert wrong.value.code == "PERMISSION_DENIED", refused
                    assert "setting brains" in wrong.value.message
            assert list(house.rooms) == ["den"]
            brains = {"ann": "random", "bob": f"{LISTED}:Scripted"}
            made = await operator.call("create_room", {"world": "nim", "players": ["ann", "bob"], "brains": brains})
            members = house.rooms[made["room"]].room.state.members
            assert [members[name].stand_in for name in ("ann", "bob")] == list(brains.values())
            for number, fine in enumerate(brains.values()):
                await hal.call("invite", {"id": f"guest-{number}", "stand_in": fine})
                await hal.call("add_member", {"id": f"bot-{number}", "stand_in": fine})
