"""The front end that the documentation shows works, and documents of ours include what they share."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from cohabit.house.reading.front_ends import SHARED, read_front_end
from cohabit.registry import find_world, known_worlds
from cohabit.scenario import AgentSpec, Scenario

from .page import Running, Visit, token

DOCS = Path(__file__).parents[2] / "docs"
(DOCUMENT,) = re.findall(r"^```html\n(.*?)^```$", (DOCS / "front-ends.md").read_text(), re.DOTALL | re.MULTILINE)
(COUNTDOWN,) = [
    block
    for block in re.findall(r"^```python\n(.*?)^```$", (DOCS / "worlds.md").read_text(), re.DOTALL | re.MULTILINE)
    if "class Countdown" in block
]


@pytest.mark.parametrize("name", [name for name in known_worlds() if find_world(name).spec.has_front_end])
def test_every_front_end_of_ours_includes_what_it_shares_instead_of_copying_it(name: str) -> None:
    served = read_front_end(find_world(name))
    assert served.count((SHARED / "app.js").read_text()) == 1
    assert "cohabit:app.js" not in served


@pytest.fixture
def house(empty_house: Running) -> Running:
    return empty_house


@pytest.mark.browser
def test_the_front_end_of_the_documentation_plays_a_game(house: Running, visit: Visit, tmp_path: Path) -> None:
    world = tmp_path / "countdown.py"
    world.write_text(COUNTDOWN.replace("open_information=True)", 'open_information=True, front_end="countdown.html")'))
    world.with_name("countdown.html").write_text(DOCUMENT)
    people = [
        AgentSpec(id=name, kind="human", role="human", claim=f"auto:{i}", token=token(name))
        for i, name in enumerate(("ann", "bob"))
    ]
    house.open(Scenario(scenario="docs", world=str(world), agents=people))
    frames = [visit(house.link(who)).frame_locator(".front-end-frame") for who in ("ann", "bob")]
    for turn in range(7):
        frame, other = frames[turn % 2], frames[1 - turn % 2]
        expect(frame.locator("#number")).to_have_text(str(21 - 3 * turn))
        expect(other.locator("#turn")).to_have_text(f"Waiting for {('ann', 'bob')[turn % 2]}.")
        frame.get_by_role("button", name="\u22123").click()
    for frame in frames:
        expect(frame.locator("#turn")).to_have_text("Game over.")
