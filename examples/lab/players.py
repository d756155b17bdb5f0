"""Two scripted players for the comparison in four-worlds.json, each a rule of a few lines."""

from cohabit.agents.brains.scripted import Scripted
from cohabit.model.action import Action
from cohabit.model.observation import Observation

LINES = ("012", "345", "678", "036", "147", "258", "048", "246")


class First(Scripted):
    """Always chooses the first legal action."""

    def decide(self, observation: Observation) -> Action:
        first = observation.choices[0]
        return Action(first["action"], first["params"], "the first legal action")


class Blocker(Scripted):
    """Tic-tac-toe: completes its own line, else blocks the other's, else takes the first free cell."""

    def decide(self, observation: Observation) -> Action:
        board = "".join(c for c in observation.text if c in "012345678XO")
        mine = str(observation.status["you"])
        for mark, why in ((mine, "three in a row"), ("O" if mine == "X" else "X", "blocks a line")):
            for line in LINES:
                cells = [board[int(cell)] for cell in line]
                free = [cell for cell in cells if cell.isdigit()]
                if cells.count(mark) == 2 and free:
                    return Action("mark", {"cell": int(free[0])}, why)
        return Action("mark", {"cell": next(int(cell) for cell in board if cell.isdigit())}, "the first free cell")
