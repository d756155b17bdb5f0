"""The WorldBox world without a network: its plans, with answers made up by the tests."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cohabit.errors import ScopeViolation
from cohabit.protocols.worldbox.world import WorldBox
from cohabit.remote import Ask, Plan, Sent
from cohabit.room.command_modules import command_table
from cohabit.world import Eye, Seat
from cohabit.worlds.kingdoms.world import Kingdoms

OWN, ALL, NOBODY = Eye("4", "own"), Eye(None, "all"), Eye()
MAP = {"width": 128, "height": 128, "seed": 5}


def worldbox() -> WorldBox:
    world = WorldBox()
    world.reset(1, [])
    kingdoms = [{"id": 4, "name": "A", "race": "human", "units_count": 3, "cities_count": 1}, {"id": 9, "name": "B"}]
    world.polled({"kingdoms": kingdoms, "map": MAP})
    return world


def follow(plan: Plan, *answers: dict[str, Any]) -> tuple[Any, list[Ask]]:
    """What a plan returns when it gets these answers (then empty ones), and what it asked."""
    asked: list[Ask] = []
    try:
        question = next(plan)
        while True:
            asked.append(question)
            question = plan.send(answers[len(asked) - 1] if len(asked) <= len(answers) else {})
    except StopIteration as end:
        return end.value, asked


# -- fog ------------------------------------------------------------------------------------------
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 12) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
ACTOR = st.fixed_dictionaries({"name": st.just("n"), "kingdom_id": st.sampled_from([4, 9, "4", None])})
ANSWER = st.dictionaries(st.sampled_from(["items", "matched", "total_scanned", "count"]), JUNK) | st.fixed_dictionaries(
    {"items": st.lists(ACTOR | JUNK, max_size=6), "matched": st.integers(0, 99), "total_scanned": st.just(99)}
)


@settings(deadline=None)
@given(ANSWER, st.integers(0, 3))
def test_no_answer_of_the_game_shows_a_kingdom_more_than_its_own_people(answer: dict[str, Any], offset: int) -> None:
    for eye in (OWN, NOBODY):
        world = worldbox()
        found, asked = follow(world.query_actors(eye, offset=offset), answer)
        assert all(a["kingdom_id"] == 4 for a in found["items"])
        assert found["returned"] == len(found["items"])
        assert found["has_more"] == (offset + found["returned"] < found["matched"])
        assert [q.args.get("kingdom_id") for q in asked] == ([4] if eye is OWN else [])
        cities, _ = follow(world.list_cities(eye), answer)
        assert all(c["kingdom_id"] == 4 for c in cities["items"])
        assert cities["count"] == len(cities["items"])


def test_the_seed_of_the_map_is_shown_only_to_members_who_see_everything() -> None:
    answer = {**MAP, "tick": 9, "paused": False, "population_alive": 99}
    for eye, seed in ((OWN, 0), (NOBODY, 0), (ALL, 5)):
        found, _ = follow(worldbox().get_world_state(eye), answer)
        assert found["seed"] == seed


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=5) | st.just("actors"), JUNK), ANSWER)
def test_a_tile_without_people_of_the_player_shows_only_its_ground(tile: dict[str, Any], near: dict[str, Any]) -> None:
    near = {**near, "items": []}
    shown, _ = follow(worldbox().get_tile(OWN, 5, 5), tile, near)
    assert shown["actors"] == []
    assert shown["visible"] is False
    assert set(shown) <= {"x", "y", "tile_id", "height", "actors", "actor_count", "visible"}
    assert follow(worldbox().get_tile(ALL, 5, 5), tile)[0] == tile


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["width", "population_alive", "cities_alive", "secret"]), st.integers()))
def test_the_state_of_the_world_counts_only_what_everybody_knows(state: dict[str, Any]) -> None:
    shown, _ = follow(worldbox().get_world_state(OWN), state)
    assert shown["population_alive"] == shown["population_lifetime"] == 3
    assert "secret" not in shown
    assert shown.get("width") == state.get("width")


# -- claims ---------------------------------------------------------------------------------------
def test_a_player_spawns_only_near_its_own_people_and_a_god_anywhere() -> None:
    world, near = worldbox(), {"items": [{"kingdom_id": 4}], "matched": 1}
    answer, asked = follow(world.spawn(Seat("4"), "human", 50, 50), near)
    assert answer is None
    rect = {"x": 38, "y": 38, "w": 25, "h": 25}
    assert asked == [Ask("query_actors", {"kingdom_id": 4, "in_rect": rect, "limit": 1})]
    assert follow(world.spawn(None, "dragon", 50, 50)) == (None, [])
    for nobody in ({}, {"items": [{"kingdom_id": 9}], "matched": 1}):
        try:
            follow(world.spawn(Seat("4"), "human", 50, 50), nobody)
        except ScopeViolation:
            continue
        raise AssertionError(nobody)


# -- polling ------------------------------------------------------------------------------------
def test_polling_reports_a_state_only_when_it_differs_from_the_last_one() -> None:
    world = worldbox()
    listed = {"items": [{"id": 12, "name": "C", "race": "elf"}, {"id": 2, "name": "wild", "wild": True}]}
    found, asked = follow(world.poll(), listed, {**MAP, "paused": True, "population_alive": 7})
    assert [q.name for q in asked] == ["list_kingdoms", "get_world_state"]
    told, replaced = world.polled(found)
    assert ([t.text for t in told], replaced) == (["a new kingdom: C", "A has fallen", "B has fallen"], False)
    assert follow(world.poll(), listed, {**MAP, "paused": True, "population_alive": 8})[0] is None
    assert world.polled({**found, "map": {**MAP, "seed": 6}}).replaced


def test_a_snapshot_holds_the_whole_state() -> None:
    world, other = worldbox(), WorldBox()
    world.pending = Sent("ann", "pause", "4", "k", "digest")
    world.answered(world.pending, {"paused": True})
    other.restore(world.snapshot())
    assert vars(other) == vars(world)
    assert other.observe(OWN).to_text() == world.observe(OWN).to_text()


def test_its_commands_and_their_arguments_are_those_of_kingdoms() -> None:
    """A client must not be able to tell by the tools which of the two it plays."""
    kingdoms = {c.name: c for c in command_table(Kingdoms()) if c.where == "world"}
    ours = {c.name: c for c in command_table(WorldBox()) if c.where == "world"}
    both = [name for name in ours if name in kingdoms]
    assert len(both) == 15
    for name in both:
        assert ours[name].tool_name == kingdoms[name].tool_name
        assert ours[name].category == kingdoms[name].category
        takes = list(ours[name].schema["properties"])
        assert takes == [arg for arg in kingdoms[name].schema["properties"] if arg in takes]
        assert ours[name].schema.get("required") == kingdoms[name].schema.get("required")
        if name != "invoke_power":  # the game's powers do not know whose land they hit, so they are for gods
            assert ours[name].needs == kingdoms[name].needs
