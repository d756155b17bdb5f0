"""What players of Kingdoms read: the rules, lists of powers, and the text of answers over MCP."""

import pytest

from cohabit.errors import UnknownAsset
from cohabit.faces.mcp.render import rendered
from cohabit.room.room import Room

from ...room.making import AGENT, BLUE, GOD, RED, make_room  # noqa: TID252 - two suites make rooms


@pytest.fixture
def room() -> Room:
    return make_room(RED, BLUE, GOD, AGENT, world="kingdoms", config={"zones_x": 2, "zones_y": 2})


def test_rules_list_the_actions_that_the_caller_may_use_with_their_parameters(room: Room) -> None:
    king, god = (room.call(who, "rules", at=1).text for who in ("ann", "zeus"))
    assert "paint_tile" not in king
    assert "paint_tile" in god
    assert "radius (integer, 1 to 50, optional): of the brush" in king
    assert "city_id (integer, optional): the id of a city in your view; default: the nearest one" in king
    assert king.startswith("Kingdoms. Rule a kingdom")
    assert "Actions:\nYou can watch this room but not act in it." in room.call("bot", "rules", at=1).text


def test_the_values_of_a_world_are_lines_to_read(room: Room) -> None:
    mustered = rendered(room.call("ann", "muster", {"percent": 20}, at=1), readable=True, values=True)
    assert mustered.structured_content["order"] == "muster"
    first, *rest = mustered.content[0].text.splitlines()
    assert first.startswith("20 percent of the people of ")
    assert rest == ["kingdom_id: 1", "order: muster"]
    listed = rendered(room.call("ann", "list_kingdoms", at=1), readable=True, values=True)
    lines = listed.content[0].text.splitlines()
    assert (lines[0], lines[-1]) == ("items:", "count: 2")
    assert [line.partition(",")[0] for line in lines[1:3]] == ["- id 1", "- id 2"]
    assert rendered({"at": [1, 2], "in": {"a": [], "b": None}, "on": True}, readable=True, values=True).content[
        0
    ].text == ("at: 1, 2\nin: a none, b none\non: yes")


def test_a_king_is_offered_the_powers_of_its_own_race(room: Room) -> None:
    race = room.world.sim.kingdoms[1].race  # type: ignore[attr-defined]  # of Kingdoms
    for who, spawned in (("ann", {race}), ("zeus", {"human", "elf", "orc", "dwarf"})):
        listed = room.call(who, "list_powers", {"for_kings": True}, at=1).items
        assert {power.id for power in listed if power.tab_id == "spawn"} == spawned


def test_powers_and_creatures_are_suggested_only_to_those_who_can_use_them(room: Room) -> None:
    for who, near in (("ann", []), ("zeus", ["lightning"])):
        with pytest.raises(UnknownAsset) as unknown:
            room.call(who, "invoke_power", {"power_id": "lightnin", "x": 1, "y": 1}, at=1)
        assert unknown.value.did_you_mean == near


def test_the_news_say_in_a_sentence_who_was_spawned(room: Room) -> None:
    home = next(city for city in room.world.sim.cities.values() if city.kingdom == 1)  # type: ignore[attr-defined]
    realm, at = room.world.sim.kingdoms[1], {"x": home.x, "y": home.y}  # type: ignore[attr-defined]
    for who, kind, count, sentence in (
        ("zeus", "wolf", 1, "1 wolf appears"),
        ("zeus", "wolf", 2, "2 wolves appear"),
        ("ann", realm.race, 1, f"1 {realm.race} joins {realm.name}"),
    ):
        room.call(who, "spawn", {"entity_id": kind, "count": count, **at}, at=1)
        assert room.record.tail[-1].entry.told[0].text == f"{sentence} at {home.x},{home.y}."
