"""The tables of docs/planet.md are those of the code. To write them again: python -m tests.worlds.planet.test_docs"""

from pathlib import Path

import pytest

from cohabit.worlds.starbound.items import ITEMS, RECIPES, Item
from cohabit.worlds.starbound.planets import CREATURES, PLANETS, jump_height, safe_fall
from cohabit.worlds.starbound.quests import ACHIEVEMENTS, QUESTS
from cohabit.worlds.starbound.tiles import TILES, UNBREAKABLE

PAGE = Path(__file__).parents[3] / "docs" / "planet.md"
TOOLS = ("hands", "wood_pickaxe", "stone_pickaxe", "iron_pickaxe")


def table(*rows: tuple[object, ...]) -> str:
    head, *lines = ("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *lines])


def planets() -> str:
    head = ("planet", "biome", "fuel from Verdant", "gravity", "jump", "safe fall", "day", "hazard", "ores")
    return table(head, *[
        (f"`{p.name}`", p.biome, p.distance, p.gravity, jump_height(p), safe_fall(p), p.day,
         f"{p.hazard}, {'at ' + p.hazard_by if p.hazard_by == 'night' else 'by day' if p.hazard_by == 'day' else 'always'}"
         if p.hazard else "none", ", ".join(ore.tile for ore in p.ores))
        for p in PLANETS
    ])  # fmt: skip


def creatures() -> str:
    head = ("creature", "planets", "health", "damage", "where", "gives")
    return table(head, *[
        (f"`{c.name}`", ", ".join(c.planets) or "the altar on cinder", c.health, c.damage or "harmless",
         c.where + (", at night" if c.night_only else "") + (", flies" if c.flies else ""),
         ", ".join(f"{n} {item}" for item, n in c.drops) + (f", {c.pixels} pixels" if c.pixels else ""))
        for c in CREATURES
    ])  # fmt: skip


def recipes() -> str:
    head = ("item", "needs", "station")
    return table(head, *[
        (f"`{r.item}`" + (f" x{r.gives}" if r.gives > 1 else ""),
         ", ".join(f"{n} {item}" for item, n in r.needs.items()), r.station or "by hand")
        for r in RECIPES
    ])  # fmt: skip


def use_of(item: Item) -> str:
    parts = [
        f"tool of tier {item.tier}" if item.slot == "tool" else "",
        f"weapon, damage {item.damage}" if item.slot == "weapon" else "",
        f"armor, takes {item.defence} off each blow" if item.slot == "armor" else "",
        f"protects from {', '.join(item.protects)}" if item.protects else "",
        "tech" if item.slot == "tech" else "",
        f"food {item.food}" if item.food else "",
        f"heals {item.heals}" if item.heals else "",
        f"fuel {item.fuel}" if item.fuel else "",
        f"placed as {item.places}" if item.places else "",
        f"costs {item.price} pixels" if item.price else "",
        f"sells for {item.worth}" if item.worth else "",
    ]
    return (
        ", ".join(part for part in parts if part) or "money"
        if item.name == "pixels"
        else ", ".join(filter(None, parts))
    )


def items() -> str:
    return table(("item", "use"), *[(f"`{item.name}`", use_of(item)) for item in ITEMS])


def tiles() -> str:
    head = ("letter", "tile", "dug with", "gives")
    return table(head, *[
        (f"`{t.letter}`" if t.letter != "|" else "`&#124;`", t.name,
         "–" if t.tier >= UNBREAKABLE else TOOLS[t.tier], t.drop or "–")
        for t in TILES
    ])  # fmt: skip


def quests() -> str:
    head = ("quest", "what to do", "pixels", "and")
    return table(head, *[
        (f"`{q.id}`" + (" (side)" if q.side else ""), q.text, q.pixels,
         ", ".join(f"{n} {item}" for item, n in q.gift) or "–")
        for q in QUESTS
    ])  # fmt: skip


def achievements() -> str:
    return ", ".join(f"`{name}`" for name in ACHIEVEMENTS)


TABLES = {"achievements": achievements, "planets": planets, "creatures": creatures, "recipes": recipes, "items": items, "tiles": tiles,
          "quests": quests}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_the_page_is_that_of_the_code(name):
    assert TABLES[name]() in PAGE.read_text(), "python -m tests.worlds.planet.test_docs"


def test_the_page_names_every_achievement():
    assert [name for name in ACHIEVEMENTS if f"`{name}`" not in PAGE.read_text()] == []


def write() -> None:
    """Put the tables between their marks."""
    text = PAGE.read_text()
    for name, made in TABLES.items():
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        _, _, after = rest.partition(f"<!-- end of {name} -->")
        text = f"{before}<!-- {name} -->\n{made()}\n<!-- end of {name} -->{after}"
    PAGE.write_text(text)


if __name__ == "__main__":
    write()
