"""What a player can do in Starbound, declared once. Rooms and ``StarboundAdapter`` both read this table."""

from typing import Annotated, Any, Literal

import msgspec

from cohabit.model.action import ActionDef, ActionSpace, ParamDef

SECONDS = ParamDef("seconds", "for how long", "number", required=False, minimum=0.1, maximum=10)
SIDE = ParamDef("direction", "to which side", options=["left", "right"])
MAYBE_SIDE = ParamDef("direction", "to which side, if not straight up", required=False, options=["left", "right"])
TILE = ParamDef(
    "direction", "which neighbouring tile; the one you face if left out", required=False,
    options=["left", "right", "above", "below"],
)  # fmt: skip
SLOT = ParamDef("slot", "slot of the action bar", "integer", minimum=1, maximum=10)
ON_SHIP, ON_PLANET = "you are on your ship", "you are on the surface of a planet"
IN_REACH = "something that can be used is within reach"


def _text(name: str, description: str) -> ParamDef:
    return ParamDef(name, description, "string")


ACTIONS = ActionSpace(
    actions=[
        ActionDef("move", "Walk to one side.", [SIDE, SECONDS], [], "movement"),
        ActionDef("move_left", "Walk to the left.", [SECONDS], [], "movement"),
        ActionDef("move_right", "Walk to the right.", [SECONDS], [], "movement"),
        ActionDef("jump", "Jump, straight up or to one side.", [MAYBE_SIDE], ["you stand on something"], "movement"),
        ActionDef("drop", "Drop through the platform you stand on.", [], ["you stand on a platform"], "movement"),
        ActionDef(
            "warp", "Teleport to a place: ship, planet, or a warp address of the game such as InstanceWorld:outpost.",
            [_text("destination", "where to")], [], "travel",
        ),
        ActionDef("beam_up", "Teleport to your ship.", [], [ON_PLANET], "travel"),
        ActionDef("beam_down", "Teleport to the planet below your ship.", [], [ON_SHIP], "travel"),
        ActionDef("interact", "Use the nearest thing that can be used.", [], [IN_REACH], "interaction"),
        ActionDef("use_tool", "Dig out a neighbouring tile with the matter manipulator.", [TILE], [], "interaction"),
        ActionDef("attack", "Attack with what you hold.", [], [], "combat"),
        ActionDef("alt_attack", "Use the secondary attack of what you hold.", [], [], "combat"),
        ActionDef("use_item", "Use an item of the action bar.", [SLOT], [], "item"),
        ActionDef("equip", "Take an item of the action bar into your hand.", [SLOT], [], "item"),
        ActionDef("unequip", "Put the item of this slot away.", [SLOT], ["you hold it"], "item"),
        ActionDef("consume", "Eat, drink or apply an item.", [_text("item", "the item's id")], ["you have it"], "item"),
        ActionDef("drop_item", "Throw the items of this slot on the ground.", [SLOT], [], "item"),
        ActionDef(
            "craft", "Make an item, by hand or at a crafting station within reach.",
            [_text("item", "the item's id")], ["you know the blueprint and have the materials"], "crafting",
        ),
        ActionDef("open_crafting", "Open the crafting window.", [], [], "crafting"),
        ActionDef("say", "Say something to the players near you.", [_text("message", "the text")], [], "social"),
        ActionDef(
            "emote", "Show an emotion: happy, sad, laugh, annoyed, oh, oooh, wink, sleep, shouting, dance.",
            [_text("emote", "which one")], [], "social",
        ),
        ActionDef("check_quest", "List your quests and their objectives.", [], [], "quest"),
        ActionDef("track_quest", "Track a quest.", [_text("quest_id", "the quest's id")], [], "quest"),
        ActionDef(
            "use_tech", "Use a tech.", [ParamDef("slot", "which one", options=["head", "body", "legs"])], [], "item"
        ),
        ActionDef("wait", "Do nothing for a while.", [SECONDS], [], "wait"),
        ActionDef("look", "Describe what is around you.", [], [], "perception"),
    ]
)  # fmt: skip
"""The 24 actions of the published adapter, and ``move`` and ``use_item`` of the protocol's own text."""

MAX_TEXT_ARGUMENT = 500


def arguments_of(action: ActionDef) -> type[msgspec.Struct]:
    """The arguments of an action as a type, which validates them and has their schema."""
    fields: list[Any] = []
    for parameter in action.parameters:
        kind: Any = Annotated[_type_of(parameter), msgspec.Meta(description=parameter.description)]
        fields.append((parameter.name, kind) if parameter.required else (parameter.name, kind | None, None))
    title = "".join(part.capitalize() for part in action.name.split("_")) + "Args"
    return msgspec.defstruct(title, fields, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True)


def _type_of(parameter: ParamDef) -> Any:
    if parameter.options is not None:
        return Literal[tuple(parameter.options)]
    if parameter.type == "string":
        return Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT_ARGUMENT)]
    kind = int if parameter.type == "integer" else float
    return Annotated[kind, msgspec.Meta(ge=parameter.minimum, le=parameter.maximum)]
