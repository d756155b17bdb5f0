"""Quests that teach the game one after another, side quests, and achievements: all read from what a body has done."""

from collections.abc import Iterator

from msgspec import Struct

from cohabit.model.observation import Goal
from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.items import PIXELS
from cohabit.worlds.starbound.planets import PLANETS

QUEST_REWARD = 1.0
ACHIEVEMENT_REWARD = 1.0


class Quest(Struct, frozen=True, gc=False):
    """A quest: do ``deed`` so many times."""

    id: str
    text: str
    deed: str
    times: int = 1
    pixels: int = 10
    gift: tuple[tuple[str, int], ...] = ()
    hint: str = ""
    side: bool = False


QUESTS = (
    Quest("wood", "Collect 5 wood", "collect:wood", 5, hint="use_tool towards a tree (T) next to you"),
    Quest("workbench", "Build a workbench", "place:workbench", hint="craft workbench, then place it on the ground"),
    Quest("pickaxe", "Craft a wooden pickaxe", "craft:wood_pickaxe", hint="stand near the workbench"),
    Quest("stone", "Collect 10 stone", "collect:stone", 10, hint="dig down below the dirt", gift=(("torch", 4),)),
    Quest("stone_pickaxe", "Craft a stone pickaxe", "craft:stone_pickaxe", pixels=15),
    Quest("coal", "Collect 3 coal", "collect:coal", 3, pixels=15, hint="c on the map, a few tiles below the surface"),
    Quest("furnace", "Build a furnace", "place:furnace", pixels=15, gift=(("bandage", 2),)),
    Quest("iron", "Collect 5 iron", "collect:iron", 5, pixels=20, hint="i on the map, nine tiles down and deeper"),
    Quest("anvil", "Build an anvil", "place:anvil", pixels=20, hint="craft it near a furnace"),
    Quest("iron_pickaxe", "Craft an iron pickaxe", "craft:iron_pickaxe", pixels=30, gift=(("crystal", 1),)),
    Quest("board", "Beam up to your ship", "beam_up", pixels=20, hint="under open sky"),
    Quest("travel", "Visit another planet", "planets", 2, pixels=50,
          hint="aboard: consume coal or crystal as fuel, warp to a planet, then beam_down"),
    Quest("titanium", "Collect 4 titanium", "collect:titanium", 4, pixels=50, hint="best on frost, cinder and mire"),
    Quest("suit", "Craft a hazard suit", "craft:hazard_suit", pixels=80, gift=(("crystal", 2),)),
    Quest("system", "Visit every planet", "planets", len(PLANETS), pixels=150),
    Quest("guardian", "Defeat the guardian of Cinder", "kill:guardian", pixels=500,
          hint="its altar (A) is in a vault of brick, deep below the far side of Cinder"),
    Quest("hunter", "Defeat 5 hostile creatures", "defeat", 5, pixels=40, side=True),
    Quest("cook", "Cook meat", "craft:cooked_meat", pixels=15, hint="campfire or furnace", side=True),
    Quest("home", "Place a bed", "place:bed", pixels=15, hint="you can respawn there", side=True),
    Quest("scout", "See 20 sections of land", "explore", 20, pixels=30, side=True),
    Quest("tech", "Use a tech", "tech", pixels=30, hint="dash and double_jump are made at an anvil", side=True),
)  # fmt: skip
QUEST = {quest.id: quest for quest in QUESTS}
_MAIN = tuple(quest for quest in QUESTS if not quest.side)
_SIDE = tuple(quest for quest in QUESTS if quest.side)

ACHIEVEMENTS: dict[str, tuple[str, int]] = {
    "collect_wood": ("collect:wood", 1),
    "collect_stone": ("collect:stone", 1),
    "collect_coal": ("collect:coal", 1),
    "collect_iron": ("collect:iron", 1),
    "collect_titanium": ("collect:titanium", 1),
    "collect_diamond": ("collect:diamond", 1),
    "collect_crystal": ("collect:crystal", 1),
    "place_workbench": ("place:workbench", 1),
    "place_furnace": ("place:furnace", 1),
    "place_anvil": ("place:anvil", 1),
    "make_wood_pickaxe": ("craft:wood_pickaxe", 1),
    "make_stone_pickaxe": ("craft:stone_pickaxe", 1),
    "make_iron_pickaxe": ("craft:iron_pickaxe", 1),
    "make_titanium_pickaxe": ("craft:titanium_pickaxe", 1),
    "make_iron_sword": ("craft:iron_sword", 1),
    "cook_meat": ("craft:cooked_meat", 1),
    "eat": ("eat", 1),
    "first_blood": ("defeat", 1),
    "slayer": ("defeat", 10),
    "survive_a_night": ("nights", 1),
    "builder": ("build", 25),
    "explorer": ("explore", 32),
    "space_traveller": ("planets", 2),
    "pioneer_of_all": ("planets", len(PLANETS)),
    "guardian_slayer": ("kill:guardian", 1),
}


def open_quests(body: Body) -> Iterator[Quest]:
    """The next quest of the chain, and the side quests that are not done."""
    main = next((quest for quest in _MAIN if quest.id not in body.quests), None)
    if main is not None:
        yield main
    for quest in _SIDE:
        if quest.id not in body.quests:
            yield quest


def progress(body: Body, quest: Quest) -> int:
    return min(quest.times, body.tally.get(quest.deed, 0))


def settle(body: Body) -> float:
    """Complete what is done: quests with their rewards, and achievements. Returns the reward of the step."""
    reward = 0.0
    for name, (deed, times) in ACHIEVEMENTS.items():
        if body.tally.get(deed, 0) >= times and name not in body.achievements:
            body.achievements.append(name)
            body.tell(f"Achievement {name}.", "reward")
            reward += ACHIEVEMENT_REWARD
    done = True
    while done:
        done = False
        for quest in list(open_quests(body)):
            if body.tally.get(quest.deed, 0) >= quest.times:
                _complete(body, quest)
                reward += QUEST_REWARD
                done = True
    return reward


def _complete(body: Body, quest: Quest) -> None:
    body.quests.append(quest.id)
    body.count("quest")
    if body.tracked == quest.id:
        body.tracked = ""
    gifts = [(PIXELS, quest.pixels), *quest.gift]
    for item, count in gifts:
        body.add(item, count)
    body.tell(f"Quest done: {quest.text}. You get {', '.join(f'{n} {item}' for item, n in gifts)}.", "reward")


def goals_of(body: Body) -> list[Goal]:
    """The next quest of the chain, and the tracked one."""
    found = list(open_quests(body))
    shown = [quest for quest in found if not quest.side or quest.id == body.tracked]
    return [
        Goal(
            quest.id,
            quest.text,
            "side" if quest.side else "main",
            f"{progress(body, quest)}/{quest.times}" if quest.times > 1 else None,
            [quest.hint] if quest.hint else [],
        )
        for quest in shown
    ]
