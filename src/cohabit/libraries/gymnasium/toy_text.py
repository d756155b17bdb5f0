"""The toy worlds of Gymnasium, in words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.envs.toy_text.blackjack import draw_card, sum_hand

from cohabit.libraries.gymnasium.environment import HidingWorld, NamedMoves
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.model.seat import Eye, Seat
from cohabit.model.stream import Stream
from cohabit.world import Outcome

YOU = "@"


class ToyWorld(NamedMoves):
    """A toy world. Subclasses say what is seen (``words``)."""

    def words(self, reveal: bool) -> str:
        """``reveal``: also what the player does not see."""
        raise NotImplementedError

    @property
    def toy(self) -> Any:
        return self.env.unwrapped

    def tell(self, move: int, before: Any, reward: float) -> Outcome:
        told = self.moved(list(self.moves)[move], before, reward)
        return Outcome(told if self.to_move() else f"{told} {self.end()}")

    def moved(self, move: str, before: Any, reward: float) -> str:
        """The outcome of a move that has a direction."""
        row, column = self.place()
        return f"You are in row {row + 1}, column {column + 1} now."

    def place(self) -> tuple[int, int]:
        raise NotImplementedError

    def end(self) -> str:
        won = "The time is up." if self.truncated else "The game is over."
        return f"{won} Total reward: {self.total:g}."

    def observe(self, eye: Eye) -> Observation:
        text = self.words(eye.sees == "all") + ("" if self.to_move() else f"\n\n{self.end()}")
        return Observation(text=text, status=self.status(), step=self.steps, text_says_all=True)

    def status(self) -> dict[str, Any]:
        row, column = self.place()
        return {"row": row, "column": column}


class GridToy(ToyWorld):
    """A toy world on a grid whose squares are letters."""

    def squares(self) -> list[list[str]]:
        raise NotImplementedError

    def place(self) -> tuple[int, int]:
        row, column = divmod(int(self.seen), len(self.squares()[0]))
        return row, column

    def words(self, reveal: bool) -> str:
        rows, (row, column) = self.squares(), self.place()
        rows[row][column] = YOU
        here = f"You are in row {row + 1}, column {column + 1} (row 1 is the top, column 1 the left)."
        return "\n".join([f"Step {self.steps}. {here}", "", *(" ".join(each) for each in rows), self.legend])

    legend = ""


class FrozenLake(GridToy):
    moves = {"left": "Go left.", "down": "Go down.", "right": "Go right.", "up": "Go up."}  # noqa: RUF012
    legend = f"{YOU} you · S start · F ice · H hole · G goal"

    def squares(self) -> list[list[str]]:
        return [[letter.decode() for letter in row] for row in self.toy.desc.tolist()]

    def end(self) -> str:
        if self.truncated:
            return "The time is up."
        return "You have reached the goal." if self.total > 0 else "You have fallen into a hole."


class CliffWalking(GridToy):
    moves = {"up": "Go up.", "right": "Go right.", "down": "Go down.", "left": "Go left."}  # noqa: RUF012
    legend = f"{YOU} you · . path · C cliff · S start · G goal"

    def squares(self) -> list[list[str]]:
        return [[*"............"], [*"............"], [*"............"], [*"SCCCCCCCCCCG"]]

    def moved(self, move: str, before: Any, reward: float) -> str:
        fell = "You fall off the cliff and are at the start again. " if reward == -100 else ""
        return fell + super().moved(move, before, reward)


class Taxi(ToyWorld):
    moves = {  # noqa: RUF012
        "south": "Drive south (down).", "north": "Drive north (up).", "east": "Drive east (right).",
        "west": "Drive west (left).", "pick_up": "Let the passenger get in.", "drop_off": "Let the passenger get out.",
    }  # fmt: skip
    stands = ("R", "G", "Y", "B")

    def place(self) -> tuple[int, int]:
        row, column, _, _ = self.toy.decode(self.seen)
        return int(row), int(column)

    def moved(self, move: str, before: Any, reward: float) -> str:
        was, now = (tuple(self.toy.decode(state)) for state in (before, self.seen))
        if move in ("pick_up", "drop_off") and was == now:
            return "That is not possible here, and costs 10."
        if move == "pick_up":
            return "The passenger gets in."
        if move == "drop_off":
            return "The passenger gets out."
        return "A wall is in the way." if was == now else super().moved(move, before, reward)

    def words(self, reveal: bool) -> str:
        row, column, passenger, goal = (int(part) for part in self.toy.decode(self.seen))
        rows = [[letter.decode() for letter in line] for line in self.toy.desc.tolist()]
        rows[row + 1][2 * column + 1] = YOU
        waits = "is in the taxi" if passenger == len(self.stands) else f"waits at {self.stands[passenger]}"
        here = f"Your taxi is in row {row + 1}, column {column + 1} (row 1 is the north, column 1 the west)."
        task = f"The passenger {waits} and wants to go to {self.stands[goal]}."
        legend = f"{YOU} the taxi · R G Y B stands · | wall · : no wall"
        return "\n".join([f"Step {self.steps}. {here}", task, "", *("".join(each) for each in rows), legend])

    def status(self) -> dict[str, Any]:
        _, _, passenger, goal = (int(part) for part in self.toy.decode(self.seen))
        where = (*self.stands, "taxi")[passenger]
        return {**super().status(), "passenger": where, "destination": self.stands[goal]}

    def legal(self, seat: Seat) -> Sequence[Action] | None:
        """Moves that have an effect."""
        mask = self.toy.action_mask(self.seen)
        return [Action(name) for name, possible in zip(self.moves, mask, strict=True) if possible and self.to_move()]


class Blackjack(ToyWorld, HidingWorld):
    moves = {"stick": "Take no more cards.", "hit": "Take another card."}  # noqa: RUF012

    def redraw(self, stream: Stream) -> None:
        self.toy.np_random = np.random.Generator(np.random.PCG64(stream.bits64()))
        if self.to_move():
            self.toy.dealer[1:] = [draw_card(self.toy.np_random)]

    def moved(self, move: str, before: Any, reward: float) -> str:
        return "You take no more cards." if move == "stick" else f"You get {_card(self.toy.player[-1])}."

    def words(self, reveal: bool) -> str:
        reveal = reveal or not self.to_move()
        mine, theirs = self.toy.player, self.toy.dealer if reveal else self.toy.dealer[:1]
        total = " (an ace counts 11)" if self.seen[2] else ""
        hidden = "" if reveal else ", and a card that is face down"
        return (
            f"Your cards: {_cards(mine)}. Their sum is {sum_hand(mine)}{total}.\n"
            f"The dealer has {_cards(theirs)}{hidden or f', in all {sum_hand(theirs)}'}."
        )

    def end(self) -> str:
        return "You win." if self.total > 0 else "You lose." if self.total < 0 else "It is a draw."

    def status(self) -> dict[str, Any]:
        return {"sum": int(self.seen[0]), "dealer_shows": int(self.seen[1]), "usable_ace": bool(self.seen[2])}


def _card(value: int) -> str:
    return "an ace" if value == 1 else f"an {value}" if value == 8 else f"a {value}"


def _cards(hand: Sequence[int]) -> str:
    return ", ".join("ace" if value == 1 else str(value) for value in hand)
