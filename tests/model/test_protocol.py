"""The values of WSAP as its text defines them: constructors, both forms, the two messages, and what has changed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.action import Action, ActionDef, ActionResult, ActionSpace, ParamDef
from cohabit.model.mind import AgentMessage, HistoryEntry, Memory, Tool, step_message, system_message
from cohabit.model.observation import Achievement, Effect, Entity, Event, Goal, Location, Observation, Terrain
from cohabit.model.text_changes import MAX_COMPARISONS, apply_changes

SEEN = Observation(
    status={"health": 9, "food": 8, "drink": 7, "energy": 9},
    inventory={"wood": 3, "stone": 1},
    location=Location((32, 32), "surface", "Standing on grass"),
    nearby_entities=[
        Entity("tree", None, 1, "north", None, True, "A tree to the north"),
        Entity("zombie", None, 5, "east", "hostile", False, "Zombie approaching from east"),
    ],
)
MOVE = ActionDef("move", "Move in direction", [ParamDef("direction", "left|right")], [], "movement")
SPACE = ActionSpace(actions=[ActionDef("noop", "Do nothing", [], [], "wait"), MOVE])
TEXTS: list[tuple[Any, str]] = [
    (Location((32, 32), "surface", "Standing on grass"), "Standing on grass"),
    (Entity("merchant", "Bob the Merchant", 2, "west", None, True, ""), "Bob the Merchant (merchant, 2 away, west, can interact)"),
    (Terrain("lava", "north", False), "lava (north, cannot pass)"),
    (Effect("Poisoned", "loses health", 3), "Poisoned: loses health (3 steps left)"),
    (Event("Found a\ngem", "reward"), "reward: Found a gem"),
    (Goal("w", "Collect 10 wood", "main", "3/10", ["Trees give wood"]), "Collect 10 wood (3/10)\n  hint: Trees give wood"),
    (Achievement("Lumberjack", "Fell a tree", "common"), "Lumberjack: Fell a tree (common)"),
    (SPACE.actions[0], "- noop [wait]: Do nothing"),
    (ParamDef("slot", "1-10"), "slot (string, required): 1-10"),
    (ParamDef("mode", "dormant|suspend|despawn", optional=True), "mode (string, optional): dormant|suspend|despawn"),
    (SPACE, "- noop [wait]: Do nothing\n" + MOVE.to_text()),
    (Action("move", {"direction": "left"}, "the tree is there"), 'move {"direction":"left"}: the tree is there'),
    (Action("noop", {}, None), "noop {}"),
    (ActionResult(True, "You drink.", 1.5, ["drink"], True, Observation(step=2)),
     "You drink.\nReward: 1.5\nAchieved: drink\nThe game is over.\n\nStep 2"),
    (ActionResult(True, "Achieved drink.", 1.0, ["drink"]), "Achieved drink.\nReward: 1"),
    (ActionResult(False, "There is no water here.", 0.0, [], False, None), "Failed: There is no water here."),
    (HistoryEntry(4, Action("noop"), "Nothing happens", 0.5), "Step 4: noop {} -> Nothing happens (reward 0.5)"),
    (Memory(["A village\nlies north"], ["Make a pickaxe"], [HistoryEntry(1, Action("noop"))]),
     "FACTS:\n- A village lies north\n\nPLANS:\n- Make a pickaxe\n\nHISTORY:\n- Step 1: noop {}"),
    (AgentMessage("eve", "Step 9\nGive me your gold", "direct"), 'eve (direct): "Step 9\\nGive me your gold"'),
    (Tool("calculator", "Adds numbers", [ParamDef("sum")]), "- calculator: Adds numbers\n    sum (string, required)"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), TEXTS, ids=lambda part: type(part).__name__)
def test_each_value_of_the_protocol_has_this_text(value: Any, text: str) -> None:
    assert value.to_text() == text


@pytest.mark.parametrize("value", [SEEN, *(value for value, _ in TEXTS)], ids=lambda value: type(value).__name__)
def test_each_value_of_the_protocol_is_available_as_json_with_all_its_fields(value: Any) -> None:
    structured = value.to_structured()
    assert list(structured) == list(value.__struct_fields__)
    assert json.loads(json.dumps(structured)) == structured


def test_the_fields_stand_in_the_order_of_the_protocol() -> None:
    """The first fields are those of the text; more may follow."""
    order: dict[Any, str] = {
        Observation: "status inventory location nearby_entities nearby_terrain active_effects current_goals "
        "recent_events step time_of_day",
        ActionDef: "name description parameters preconditions category",
        Action: "name parameters reasoning",
        ActionResult: "success message reward achievements done observation",
        Location: "coordinates region description",
        Entity: "type name distance direction state interactable description",
        Terrain: "type direction passable",
        Goal: "id description type progress hints",
        Achievement: "name description rarity",
        Memory: "facts plans history",
        AgentMessage: "sender content type",
        Tool: "name description parameters",
        ActionSpace: "actions",
    }
    for kind, fields in order.items():
        assert " ".join(kind.__struct_fields__).startswith(fields), kind


def test_the_system_message_has_the_layout_of_the_protocol() -> None:
    layout = """\
You are an agent playing {game_name}.

{game_description}

Available actions:
{actions}

Your goal is to survive and accomplish objectives. Respond with a JSON action."""
    said = system_message("Crafter", "A 2D survival game.", SPACE)
    assert said == layout.format(game_name="Crafter", game_description="A 2D survival game.", actions=SPACE.to_text())


def test_the_user_message_has_the_layout_of_the_protocol() -> None:
    seen = Observation(
        SEEN.status,
        SEEN.inventory,
        SEEN.location,
        SEEN.nearby_entities,
        [Terrain("water", "south", False)],
        [],
        [Goal("wood", "Collect 10 wood", "main", "3/10 wood collected", [])],
        [Event("Collected wood")],
        7,
        None,
    )
    assert (
        step_message(seen)
        == """\
Step 7

STATUS:
health: 9
food: 8
drink: 7
energy: 9

INVENTORY:
wood: 3
stone: 1

LOCATION:
Standing on grass

NEARBY:
- A tree to the north (tree, 1 away, north, can interact)
- Zombie approaching from east (zombie, 5 away, east, hostile)
- water (south, cannot pass)

RECENT EVENTS:
- Collected wood

CURRENT GOALS:
- Collect 10 wood (3/10 wood collected)

What action do you take? Respond with JSON: {"action": "name", "params": {}, "reasoning": "why"}"""
    )


WORDS = st.sampled_from(["oak", "a\nb", "@1", "= x", "- y", "", "two words", "STATUS:"])
OBSERVATIONS = st.builds(
    Observation,
    status=st.dictionaries(WORDS, st.one_of(st.integers(0, 3), WORDS), max_size=3),
    inventory=st.dictionaries(WORDS, st.integers(0, 3), max_size=3),
    location=st.none() | st.builds(Location, description=WORDS),
    nearby_entities=st.lists(st.builds(Entity, WORDS.filter(bool), distance=st.integers(0, 2)), max_size=3),
    recent_events=st.lists(st.builds(Event, WORDS), max_size=3),
    step=st.integers(0, 3),
    text=st.lists(WORDS, max_size=3).map("\n".join),
)


@given(OBSERVATIONS, OBSERVATIONS)
def test_the_earlier_text_and_the_changes_say_everything(earlier: Observation, now: Observation) -> None:
    changed = now.changes_since(earlier)
    assert changed == now.to_text() or apply_changes(earlier.to_text(), changed) == now.to_text()
    assert len(changed) <= len(now.to_text())
    assert (changed == "") == (earlier.to_text() == now.to_text())


def test_only_what_changed_is_said() -> None:
    earlier = Observation({"health": 9, "food": 8}, {"wood": 3}, step=4)
    now = Observation({"health": 9, "food": 7}, {"wood": 3}, step=5)
    assert now.changes_since(earlier) == "@1\n= Step 5\n@5 STATUS\n= food: 7"
    assert now.changes_since(now) == ""


def test_of_two_long_texts_that_have_little_in_common_the_whole_text_is_given() -> None:
    count = int(MAX_COMPARISONS**0.5) + 1
    old, new = (Observation(text="\n".join(f"{mark}{n}" for n in range(count))) for mark in "ab")
    assert new.changes_since(old) == new.to_text()
