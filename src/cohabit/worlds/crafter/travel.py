"""What Crafter teaches, which of its items can leave it, and what skills from other worlds give here."""

from collections.abc import Sequence

from cohabit.model.travel import BonusRule, Domain, Lesson, Portable, Travel
from cohabit.worlds.crafter.rules import ACHIEVEMENTS

LESSONS: dict[str, tuple[Domain, float]] = {
    "collect_wood": ("resource_management", 0.02),
    "collect_stone": ("resource_management", 0.02),
    "collect_coal": ("resource_management", 0.03),
    "collect_sapling": ("resource_management", 0.01),
    "collect_iron": ("exploration", 0.05),  # it is underground and rare
    "collect_diamond": ("exploration", 0.08),
    "collect_drink": ("survival", 0.02),
    "eat_cow": ("survival", 0.03),
    "wake_up": ("survival", 0.03),
    "defeat_zombie": ("combat", 0.04),
    "defeat_skeleton": ("combat", 0.06),
    "place_table": ("crafting", 0.02),
    "place_furnace": ("crafting", 0.04),
    "make_wood_pickaxe": ("crafting", 0.03),
    "make_wood_sword": ("crafting", 0.03),
    "make_stone_pickaxe": ("crafting", 0.04),
    "make_stone_sword": ("crafting", 0.04),
    "make_iron_pickaxe": ("crafting", 0.08),
    "make_iron_sword": ("crafting", 0.08),
    "place_stone": ("puzzle_solving", 0.02),  # bridges over water and lava, and walls
    "place_plant": ("planning", 0.02),
    "eat_plant": ("planning", 0.08),  # hundreds of steps after it was planted
}
"""The skill that each achievement teaches, and the points of its first time."""

TRAVEL = Travel(
    genre=("survival", "crafting", "open_world"),
    lessons={f"achievement:{name}": Lesson(*LESSONS[name]) for name in ACHIEVEMENTS}
    | {"steps": Lesson("survival", 0.01)},
    items={
        "sapling": Portable("consumable", 1),
        "wood": Portable("material", 1),
        "stone": Portable("material", 1),
        "coal": Portable("material", 2),
        "iron": Portable("material", 3),
        "diamond": Portable("material", 5),
        "wood_pickaxe": Portable("tool", 1),
        "stone_pickaxe": Portable("tool", 2),
        "iron_pickaxe": Portable("tool", 3),
        "wood_sword": Portable("weapon", 1),
        "stone_sword": Portable("weapon", 2),
        "iron_sword": Portable("weapon", 3),
    },
    bonuses=(
        BonusRule("inventory_bonus", "resource_management", factor=3, whole=True, description="wood to begin with"),
        BonusRule("health_bonus", "survival", factor=2, whole=True, description="damage that your body shrugs off"),
        BonusRule(
            "recipe_hint",
            "crafting",
            threshold=0.3,
            base=1,
            factor=0,
            description="your goals list every recipe that you have not made",
        ),
    ),
    common_bonuses=("health",),
    difficulty=True,
    rarities={
        "collect_iron": "uncommon",
        "defeat_skeleton": "uncommon",
        "place_furnace": "uncommon",
        "make_iron_pickaxe": "rare",
        "make_iron_sword": "rare",
        "eat_plant": "rare",
        "collect_diamond": "legendary",
    },
)

GATHERED = ("collect_sapling", "collect_wood", "collect_stone", "collect_coal", "collect_iron", "collect_diamond")


def deeds_of(achievements: Sequence[int]) -> dict[str, int]:
    """The deeds of a player, from the counters of its achievements, in the order of ``ACHIEVEMENTS``.

    ``craft``, ``gather`` and ``defeat`` are the deeds that meta-goals ask for in every world.
    """
    counts = dict(zip(ACHIEVEMENTS, achievements, strict=True))
    sums = {
        "craft": sum(count for name, count in counts.items() if name.startswith("make_")),
        "gather": sum(counts[name] for name in GATHERED),
        "defeat": counts["defeat_zombie"] + counts["defeat_skeleton"],
    }
    return {f"achievement:{name}": count for name, count in counts.items() if count} | {
        name: count for name, count in sums.items() if count
    }
