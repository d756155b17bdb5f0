"""Features of installed packages in a house: one that cannot be imported stops the rooms that want it, and nothing else."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from cohabit import registry
from cohabit.errors import BadArgs, CohabitError

from .making import ANN, HOST, back_again, make_room, open_house

WORKS = """
from cohabit.room.feature import Feature


class Weather(Feature):
    name = "weather"
"""
FAILURES = {
    "raise RuntimeError('no wind today')": "RuntimeError: no wind today",
    "import no_such_package": "No module named 'no_such_package'",
    "import cohabit.no_such_module": "No module named 'cohabit.no_such_module'",
    "def (": "SyntaxError",
    "import sys; sys.exit(3)": "SystemExit: 3",
}


class Package:
    """A package with the feature ``weather``, as an installer would leave it. ``becomes`` installs another version."""

    def __init__(self, site: Path) -> None:
        self._module = site / "weather_package.py"
        info = site / "weather_package-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weather-package\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[cohabit.features]\nweather = weather_package:Weather\n")

    def becomes(self, text: str) -> None:
        """In a new process."""
        self._module.write_text(text)
        sys.modules.pop("weather_package", None)
        importlib.invalidate_caches()
        registry.imported.cache_clear()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Package(tmp_path / "site")


@pytest.mark.parametrize("text", FAILURES)
async def test_a_room_that_wants_a_feature_that_fails_to_import_is_refused_by_its_name(
    package: Package, text: str
) -> None:
    package.becomes(text)
    async with open_house() as house:
        who = await make_room(house)
        with pytest.raises(BadArgs) as refused:
            await make_room(house, room="windy", features=["weather"])
        assert "the feature weather cannot be loaded" in refused.value.message
        assert FAILURES[text] in refused.value.message
        assert (await who["ann"]("hide", {"n": 1})).success
        assert "windy" not in house.rooms


@pytest.mark.parametrize("text", FAILURES)
async def test_a_house_starts_although_a_feature_of_one_of_its_rooms_fails_to_import(
    package: Package, text: str, tmp_path: Path
) -> None:
    package.becomes(WORKS)
    async with open_house(tmp_path / "data") as house:
        who = await make_room(house)
        windy = await make_room(house, HOST, room="windy", features=["weather"])
        assert (await windy["hostess"]("whoami")).handle == "hostess"
    package.becomes(text)
    async with open_house(tmp_path / "data") as house:
        assert (await back_again(house, who)["ann"]("hide", {"n": 1})).success
        with pytest.raises(CohabitError, match="the feature weather cannot be loaded"):
            await back_again(house, windy)["hostess"]("whoami")
    package.becomes(WORKS)
    async with open_house(tmp_path / "data") as house:
        assert (await back_again(house, windy)["hostess"]("whoami")).handle == "hostess"


@pytest.mark.parametrize(
    ("limit", "args"), [("narrow", {"may": ["watch", "read_roster", "read_chat"]}), ("revoke", {})]
)
async def test_who_may_neither_watch_nor_act_does_not_learn_which_actions_an_app_has(
    limit: str, args: dict[str, Any]
) -> None:
    """Their names, and those of their parameters, are the app's words."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("rules", {}), ("pin", {}), ("pim", {}), ("act", {"action": "pin"}), ("act", {"action": "pim"}),
    ]  # fmt: skip
    app, owl = {"id": "board", "role": "app"}, {"id": "owl", "kind": "agent"}
    form = {"type": "object", "properties": {"do": {"const": "pin"}, "words": {}}, "required": ["do"]}

    async def what_owl_gets(*, is_published: bool) -> list[str]:
        async with open_house() as house:
            who = await make_room(house, ANN, HOST, app, owl)
            await who["hostess"](limit, {"member": "owl", **args})
            if is_published:
                schema = {"name": "board.action", "version": "1", "schema": {"oneOf": [form]}}
                assert (await who["board"]("publish_schema", schema)).actions == ["pin"]
            found: list[str] = []
            for name, given in calls:
                try:
                    found.append(str(await who["owl"](name, given)))
                except CohabitError as refused:
                    found.append(str(refused.as_wire()))
            return found

    assert await what_owl_gets(is_published=True) == await what_owl_gets(is_published=False)
