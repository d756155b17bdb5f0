"""The view of the agent of MiniGrid, in words and as a grid of letters.

The view is a square in front of the agent, who stands in the middle of its last row. It is read from the agent's own
observation, so nothing else can get into the words.
"""

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any, NamedTuple

from minigrid.core.constants import IDX_TO_COLOR, IDX_TO_OBJECT, STATE_TO_IDX

from cohabit.model.observation import Entity

FACING = ("east", "south", "west", "north")
DOOR_STATES = {number: state for state, number in STATE_TO_IDX.items()}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
YOU = "^"
LETTERS = {
    "unseen": "?", "empty": ".", "wall": "#", "floor": ",", "open door": "O", "closed door": "C", "locked door": "L",
    "key": "k", "ball": "b", "box": "x", "goal": "G", "lava": "~",
}  # fmt: skip
LEGEND = {"unseen": "not visible", "empty": "free", "floor": "coloured floor"}
FREE = ("empty", "floor", "goal", "lava")
CARRIED = ("key", "ball", "box")


class Thing(NamedTuple):
    """The content of a square."""

    kind: str
    colour: str = ""
    state: str = ""  # of a door

    @property
    def is_free(self) -> bool:
        """True if the agent can step there."""
        return self.kind in FREE or self.state == "open"

    @property
    def name(self) -> str:
        """ "closed red door" """
        if self.kind == "lava" or self.kind == "wall":
            return self.kind
        noun = "goal square" if self.kind == "goal" else self.kind
        return " ".join(word for word in (self.state, self.colour, noun) if word)

    @property
    def words(self) -> str:
        """ "a closed red door" """
        if self.kind == "lava":
            return "lava"
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name}"

    @property
    def sort(self) -> str:
        return f"{self.state} {self.kind}".strip()

    @property
    def letter(self) -> str:
        return LETTERS[self.sort]


@cache
def thing(code: tuple[int, int, int]) -> Thing:
    """The three numbers of a square as MiniGrid encodes it."""
    kind, colour, state = IDX_TO_OBJECT[code[0]], IDX_TO_COLOR[code[1]], code[2]
    if kind in ("unseen", "empty"):
        return Thing(kind)
    return Thing(kind, colour, DOOR_STATES[state] if kind == "door" else "")


class Seen(NamedTuple):
    """A thing, and where it is from the agent."""

    thing: Thing
    ahead: int
    right: int

    @property
    def distance(self) -> int:
        return self.ahead + abs(self.right)

    @property
    def where(self) -> str:
        """ "two steps ahead and one to the left" """
        side = "right" if self.right > 0 else "left"
        aside = f"{number(abs(self.right))}{'' if self.ahead else steps(self.right)} to the {side}"
        if not self.right:
            return f"{number(self.ahead)}{steps(self.ahead)} ahead"
        return f"{number(self.ahead)}{steps(self.ahead)} ahead and {aside}" if self.ahead else aside

    def entity(self) -> Entity:
        about = self.thing
        return Entity(about.kind, distance=self.distance, direction=self.where, state=about.state or None,
                      description=about.name, interactable=self.distance == 1 and not self.right)  # fmt: skip


def number(n: int) -> str:
    return NUMBERS[n] if n < len(NUMBERS) else str(n)


def steps(n: int) -> str:
    return " step" if abs(n) == 1 else " steps"


class View:
    """One observation of the agent."""

    def __init__(self, seen: Mapping[str, Any]) -> None:
        self.codes = seen["image"].tolist()
        self.size = len(self.codes)
        self.mission = str(seen["mission"])
        self.facing = FACING[int(seen["direction"])]
        here = self.at(0, 0)
        self.carried = here if here.kind in CARRIED else None

    def at(self, ahead: int, right: int) -> Thing:
        return thing(tuple(self.codes[self.size // 2 + right][self.size - 1 - ahead]))

    @property
    def ahead(self) -> Thing:
        return self.at(1, 0)

    @cached_property
    def things(self) -> list[Seen]:
        """Everything that is no wall and no bare floor, the nearest first."""
        found = [seen for seen in self._squares() if seen.thing.kind not in ("unseen", "empty", "wall", "floor")]
        return sorted(found, key=lambda seen: (seen.distance, seen.ahead, seen.right))

    def _squares(self) -> Iterator[Seen]:
        for ahead in range(self.size):
            for right in range(-(self.size // 2), self.size // 2 + 1):
                if ahead or right:
                    yield Seen(self.at(ahead, right), ahead, right)

    # -- words --------------------------------------------------------------------------------------
    def text(self, can_pick_up: bool = True) -> str:
        """``can_pick_up``: whether the level has this action."""
        carried = f"You carry {self.carried.words}." if self.carried else "You carry nothing."
        return "\n".join(
            [f"You face {self.facing}. {carried} {self.way_ahead(can_pick_up)}", *self._listed(), "", *self.grid()]
        )

    def way_ahead(self, can_pick_up: bool) -> str:
        """The content of the next square, and if one can go there, as text."""
        thing = self.ahead
        if thing.kind in ("empty", "floor"):
            return "The square ahead is free."
        if thing.kind == "lava":
            return "Lava is directly ahead: a step onto it ends the game."
        if thing.is_free:
            return f"Directly ahead is {thing.words}; you can go there."
        how = {
            "closed": " `toggle` opens it.",
            "locked": f" `toggle` opens it if you carry the {thing.colour} key.",
        }.get(thing.state, "")
        if thing.kind in CARRIED and can_pick_up:
            how = " You can carry only one thing." if self.carried else " `pick_up` takes it."
        return f"{thing.words.capitalize()} directly ahead blocks the way.{how}"

    def _listed(self) -> list[str]:
        lava = [seen for seen in self.things if seen.thing.kind == "lava"]
        others = [seen for seen in self.things if seen.thing.kind != "lava"]
        lines = [f"- {seen.thing.words}, {seen.where}" for seen in others]
        if lava:
            squares = f"{len(lava)} squares, the nearest" if len(lava) > 1 else "one square,"
            lines.append(f"- lava on {squares} {lava[0].where}")
        return ["You see:", *lines] if lines else ["You see nothing but walls and floor."]

    def grid(self) -> list[str]:
        """The view as letters, with the agent in the last row, facing up."""
        middle, last = self.size // 2, self.size - 1
        across = range(-middle, middle + 1)
        rows = [[self.at(ahead, right).letter for right in across] for ahead in range(last, -1, -1)]
        rows[last][middle] = YOU
        shown = {letter for row in rows for letter in row}
        legend = [f"{letter} {LEGEND.get(sort, sort)}" for sort, letter in LETTERS.items() if letter in shown]
        head = f"Your view; the top row is {last} steps ahead of you:"
        return [head, *(" ".join(row) for row in rows), f"{YOU} you, facing up · {' · '.join(legend)}"]


def told(move: str, before: View, after: View) -> tuple[str, bool]:
    """The outcome of a move, and whether it had an effect."""
    ahead = before.ahead
    match move:
        case "turn_left" | "turn_right":
            return f"You turn {move.removeprefix('turn_')}. You face {after.facing} now.", True
        case "forward" if ahead.is_free:
            onto = "" if ahead.kind in ("empty", "floor") else f" onto {ahead.words}" if ahead.kind != "door" else ""
            return f"You go one step{onto or (f' through {ahead.words}' if ahead.kind == 'door' else '')}.", True
        case "forward":
            return f"{ahead.words.capitalize()} blocks the way.", False
        case "pick_up" if after.carried and not before.carried:
            return f"You pick up {after.carried.words}.", True
        case "pick_up":
            why = (
                f"You carry {before.carried.words} already." if before.carried else "There is nothing to pick up ahead."
            )
            return why, False
        case "drop" if before.carried and not after.carried:
            return f"You put down {before.carried.words}.", True
        case "drop":
            return "The square ahead is not free." if before.carried else "You carry nothing.", False
        case "toggle" if after.ahead != ahead:
            return _toggled(ahead, after.ahead), True
        case "toggle" if ahead.state == "locked":
            return f"The {ahead.colour} door is locked. You need the {ahead.colour} key in your hand.", False
        case "toggle":
            return "There is nothing to open or close ahead.", False
    return "You say that you are done.", True


def _toggled(before: Thing, after: Thing) -> str:
    if before.kind == "door":
        return f"You {'close' if after.state == 'closed' else 'open'} the {before.colour} door."
    inside = f"It had {after.words} in it." if after.kind != "empty" else "It was empty."
    return f"You open the {before.name}, which is gone now. {inside}"
