"""The actions of a player: those of Starbound's adapters, and what digging, building and trading need.

An action is chosen now and done when the step resolves. ``look``, ``emote`` and ``say`` come from the room, as in every
world with bodies.
"""

from typing import Annotated, Any

from msgspec import Meta

from cohabit.bodies import EmbodiedWorld
from cohabit.errors import GameRejected, UnknownAsset
from cohabit.model.suggest import nearest
from cohabit.world import Eye, Outcome, Range, Seat, action, query
from cohabit.worlds.starbound import choices
from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.crafting import needs_text, shortage, why_not_craft
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.items import ITEM, ITEM_NAMES, RECIPES, Recipe
from cohabit.worlds.starbound.motion import MAX_WALK
from cohabit.worlds.starbound.quests import QUEST, open_quests, progress

Tiles = Annotated[int, Range(1, MAX_WALK, "how far; more than one tile costs energy")]
Count = Annotated[int, Range(1, choices.MAX_COUNT, "how many")]
ItemOrNumber = Annotated[str, Meta(max_length=40, description="an item, or its place in your inventory")]
Target = Annotated[str, Meta(max_length=40, description="its name; default: the nearest")]


class PlanetActions(EmbodiedWorld):
    """The declared actions. ``_choose`` keeps what a body will do."""

    game: Game

    def _body_of(self, seat: str) -> Body:
        raise NotImplementedError

    def _choose(self, by: Seat, name: str, **args: Any) -> Outcome:
        raise NotImplementedError

    def _item(self, by: Seat, slot: str) -> str:
        """An item by its name, or by its place in the inventory."""
        items = list(self._body_of(by.id).items)
        if slot.isascii() and slot.isdecimal() and 1 <= int(slot) <= len(items):
            return items[int(slot) - 1]
        if slot not in ITEM:
            raise UnknownAsset(f"unknown item {slot[:40]!r}", did_you_mean=nearest(slot[:40], ITEM_NAMES, 3))
        return slot

    # -- moving ---------------------------------------------------------------------------------------
    @action(group="movement")
    def move(self, by: Seat, direction: choices.Way, tiles: Tiles = 1) -> Outcome:
        """Walk left or right, over steps of one tile; up and down on ladders and in water."""
        return self._choose(by, "move", direction=direction, tiles=tiles)

    @action(group="movement", listed=False)
    def move_left(self, by: Seat, tiles: Tiles = 1) -> Outcome:
        """Walk left."""
        return self._choose(by, "move", direction="left", tiles=tiles)

    @action(group="movement", listed=False)
    def move_right(self, by: Seat, tiles: Tiles = 1) -> Outcome:
        """Walk right."""
        return self._choose(by, "move", direction="right", tiles=tiles)

    @action(group="movement")
    def jump(self, by: Seat, direction: choices.JumpWay = "up") -> Outcome:
        """Jump up, or up and then to a side, onto what is there. How high depends on gravity."""
        return self._choose(by, "jump", direction=direction)

    @action(group="movement")
    def drop(self, by: Seat) -> Outcome:
        """Drop through the platform below you, or down a ladder."""
        return self._choose(by, "drop")

    @action(group="movement")
    def beam_up(self, by: Seat) -> Outcome:
        """Beam up to your ship. Under open sky only."""
        return self._choose(by, "beam_up")

    @action(group="movement")
    def beam_down(self, by: Seat) -> Outcome:
        """Beam down from your ship to the planet below."""
        return self._choose(by, "beam_down")

    @action(group="movement")
    def warp(self, by: Seat, destination: choices.Destination) -> Outcome:
        """Fly your ship to another planet, which costs fuel; or beam to the ship or the surface."""
        return self._choose(by, "warp", destination=destination)

    @action(group="movement")
    def use_tech(
        self, by: Seat, slot: Annotated[str, Meta(max_length=20, description="there is one: tech")] = "tech"
    ) -> Outcome:
        """Use the equipped tech: dash, or double_jump, also in the air. 15 energy."""
        return self._choose(by, "use_tech")

    @action()
    def wait(self, by: Seat) -> Outcome:
        """Do nothing and rest: energy comes back faster, and aboard or beside a bed health too."""
        return self._choose(by, "wait")

    # -- the world ------------------------------------------------------------------------------------
    @action(group="interaction")
    def use_tool(self, by: Seat, direction: choices.Aim | None = None) -> Outcome:
        """Dig the tile next to you, or fell a tree or pick a plant there. Default: where you face."""
        return self._choose(by, "use_tool", direction=direction or "")

    @action(group="interaction")
    def place(self, by: Seat, item: choices.Placeable, direction: choices.Aim | None = None) -> Outcome:
        """Build with an item on the tile next to you. Default: where you face."""
        return self._choose(by, "place", item=item, direction=direction or "")

    @action(group="interaction")
    def interact(self, by: Seat, target: Target = "") -> Outcome:
        """Take up a bundle, or use a station, bed, altar or the ship's locker, console or teleporter near you."""
        return self._choose(by, "interact", target=target)

    @action(group="combat")
    def attack(self, by: Seat, target: Target = "") -> Outcome:
        """Hit the nearest creature within two tiles, or the one you name."""
        return self._choose(by, "attack", target=target)

    @action(group="combat")
    def alt_attack(self, by: Seat) -> Outcome:
        """Sweep: hit all creatures within two tiles and push them away. 20 energy."""
        return self._choose(by, "alt_attack")

    # -- items ----------------------------------------------------------------------------------------
    @action(group="items")
    def craft(self, by: Seat, item: choices.Craftable) -> Outcome:
        """Make an item from what you carry, near the station that it needs."""
        return self._choose(by, "craft", item=item)

    @action(group="items")
    def equip(self, by: Seat, slot: ItemOrNumber) -> Outcome:
        """Equip a weapon, tool, armor or tech."""
        return self._choose(by, "equip", slot=self._item(by, slot))

    @action(group="items", listed=False)
    def unequip(
        self, by: Seat, slot: Annotated[str, Meta(max_length=40, description="weapon, tool, armor or tech")]
    ) -> Outcome:
        """Put an equipped item away."""
        return self._choose(by, "unequip", slot=slot)

    @action(group="items")
    def consume(self, by: Seat, item: ItemOrNumber, count: Count = 1) -> Outcome:
        """Eat food, use a bandage, or aboard load coal or crystal as fuel."""
        return self._choose(by, "consume", item=self._item(by, item), count=count)

    @action(group="items", listed=False)
    def use_item(self, by: Seat, slot: ItemOrNumber) -> Outcome:
        """Use an item for what it is for: equip, eat, load or place it."""
        return self._choose(by, "use_item", slot=self._item(by, slot))

    @action(group="items")
    def drop_item(self, by: Seat, slot: ItemOrNumber, count: Count = 1) -> Outcome:
        """Put items on the ground, for anybody to take with interact."""
        return self._choose(by, "drop_item", slot=self._item(by, slot), count=count)

    @action(group="ship")
    def store(self, by: Seat, item: ItemOrNumber, count: Count = 1) -> Outcome:
        """Aboard: put items into your locker, where they are safe."""
        return self._choose(by, "store", item=self._item(by, item), count=count)

    @action(group="ship")
    def fetch(self, by: Seat, item: ItemOrNumber, count: Count = 1) -> Outcome:
        """Aboard: take items out of your locker."""
        return self._choose(by, "fetch", item=self._item(by, item), count=count)

    @action(group="ship")
    def buy(self, by: Seat, item: choices.Buyable, count: Count = 1) -> Outcome:
        """Aboard: buy from the shop, for pixels."""
        return self._choose(by, "buy", item=item, count=count)

    @action(group="ship")
    def sell(self, by: Seat, item: ItemOrNumber, count: Count = 1) -> Outcome:
        """Aboard: sell to the shop, for pixels."""
        return self._choose(by, "sell", item=self._item(by, item), count=count)

    # -- without taking time --------------------------------------------------------------------------
    @action(group="quests", listed=False)
    def track_quest(self, by: Seat, quest_id: Annotated[str, Meta(max_length=40)]) -> Outcome:
        """Show a side quest among your goals. It takes no time."""
        if quest_id not in QUEST:
            raise UnknownAsset(f"unknown quest {quest_id[:40]!r}", did_you_mean=nearest(quest_id[:40], list(QUEST), 3))
        body = self._body_of(by.id)
        if quest_id in body.quests:
            raise GameRejected(f"{quest_id} is done")
        body.tracked = quest_id
        return Outcome(f"You track: {QUEST[quest_id].text}.")

    @query(listed=False)
    def check_quest(self, eye: Eye) -> list[dict[str, str]]:
        """Your open quests with their progress and hints."""
        if eye.seat is None or eye.sees == "public":
            return []
        body = self._body_of(eye.seat)
        return [
            {"id": q.id, "quest": q.text, "progress": f"{progress(body, q)}/{q.times}", "hint": q.hint}
            for q in open_quests(body)
        ]

    def _now(self, body: Body, recipe: Recipe) -> str:
        """The reason why a body cannot make this, or "craftable". Leaves out the needs, which stand beside it."""
        return shortage(body, recipe) or why_not_craft(self.game, body, recipe) or "craftable"

    @query(listed=False)
    def open_crafting(self, eye: Eye) -> list[dict[str, str]]:
        """All recipes: what they need, the station, and whether you can make them now, or why not."""
        body = None if eye.seat is None or eye.sees == "public" else self._body_of(eye.seat)
        return [
            {
                "item": recipe.item,
                "needs": needs_text(recipe),
                "station": recipe.station or "by hand",
                "now": "" if body is None else self._now(body, recipe),
            }
            for recipe in RECIPES
        ]
