"""Quests that teach the game one after another, side quests, and achievements: all read from what a body has done."""

from collections.abc import Iterator

from msgspec import Struct

from cohabit.model.observation import Goal
from cohabit.model.table_files import read_table
from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.items import PIXELS

QUEST_REWARD = 1.0
ACHIEVEMENT_REWARD = 1.0


class Quest(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A quest: do ``deed`` this many times."""

    id: str
    text: str
    deed: str
    times: int = 1
    pixels: int = 10
    gift: tuple[tuple[str, int], ...] = ()
    hint: str = ""
    side: bool = False


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    quests: tuple[Quest, ...]
    achievements: dict[str, tuple[str, int]]  # the deed, and how many times


_TABLE = read_table(__file__, _Table)
QUESTS, ACHIEVEMENTS = _TABLE.quests, _TABLE.achievements
QUEST = {quest.id: quest for quest in QUESTS}
_MAIN = tuple(quest for quest in QUESTS if not quest.side)
_SIDE = tuple(quest for quest in QUESTS if quest.side)


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
