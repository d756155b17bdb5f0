"""A game adapter, written from the text of the Wild Spaces Agent Protocol. It knows nothing of rooms, seats or seeds.

cohabit up examples/adapter.py      open a room with it
python examples/adapter.py          an agent of the protocol plays it, without a house
"""

from cohabit.protocols.wsap import (
    Action,
    ActionDef,
    ActionResult,
    ActionSpace,
    Agent,
    Entity,
    Event,
    GameAdapter,
    Goal,
    Location,
    Observation,
    ParamDef,
    Terrain,
    as_adapter,
)  # fmt: skip

FIELD = "~..T...*.#"  # water, grass, a tree, a bush with berries, a rock
NAMES = {"~": "water", ".": "grass", "T": "tree", "*": "bush", "#": "rock"}
NIGHT = 30


class CoastAdapter(GameAdapter):
    """A strip of land between the sea and a rock."""

    def __init__(self, wood_needed: int = 3) -> None:
        self.wood_needed = wood_needed
        self.reset()

    @property
    def game_description(self) -> str:
        return """
        Coast is a small survival game on a strip of land. Each action makes you hungry and thirsty.
        Drink at the water, eat from the bush, and gather wood at the tree before the night comes.
        """

    @property
    def action_space(self) -> ActionSpace:
        return ActionSpace(actions=[
            ActionDef("noop", "Do nothing", [], [], "wait"),
            ActionDef("move", "Move one tile", [ParamDef("direction", "left|right")], [], "movement"),
            ActionDef("drink", "Drink water", [], ["Must be next to water"], "survival"),
            ActionDef("eat", "Eat berries", [], ["Must be at a bush"], "survival"),
            ActionDef("gather", "Gather wood", [], ["Must be at a tree"], "gathering"),
        ])  # fmt: skip

    def reset(self) -> Observation:
        self.at, self.steps, self.wood = 5, 0, 0
        self.food, self.drink = 9, 9
        self.events: list[Event] = []
        return self.observe()

    def observe(self) -> Observation:
        around = [(side, FIELD[to]) for side, to in (("left", self.at - 1), ("right", self.at + 1))]
        return Observation(
            status={"food": self.food, "drink": self.drink},
            inventory={"wood": self.wood} if self.wood else {},
            location=Location((self.at,), "coast", f"Standing on {NAMES[FIELD[self.at]]}"),
            nearby_entities=[
                Entity(NAMES[kind], None, abs(x - self.at), "left" if x < self.at else "right", None, x == self.at, "")
                for x, kind in enumerate(FIELD) if kind in "T*"
            ],
            nearby_terrain=[Terrain(NAMES[kind], side, kind not in "~#") for side, kind in around],
            active_effects=[],
            current_goals=[
                Goal("wood", "Gather wood before the night", "main", f"{self.wood}/{self.wood_needed} wood", [])
            ],
            recent_events=self.events,
            step=self.steps,
            time_of_day="day" if self.steps < NIGHT else "night",
        )  # fmt: skip

    def act(self, action: Action) -> ActionResult:
        self.steps += 1
        self.events = []
        problem = self.perform(action)
        if self.steps % 3 == 0:
            self.food -= 1
            self.drink -= 1
        if 0 < min(self.food, self.drink) < 3:
            self.events.append(Event("You are getting weak", "danger"))
        won = self.wood >= self.wood_needed
        done = won or self.steps >= NIGHT or min(self.food, self.drink) <= 0
        return ActionResult(
            success=not problem,
            message=problem or f"You {action.name}.",
            reward=1.0 if won else 0.0,
            achievements=["warm_night"] if won else [],
            done=done,
            observation=self.observe(),
        )

    def perform(self, action: Action) -> str:
        """Do it. Returns why it did not work, if it did not."""
        here = FIELD[self.at]
        if action.name == "move":
            to = self.at + (1 if action.parameters["direction"] == "right" else -1)
            if FIELD[to] in "~#":
                return f"There is {NAMES[FIELD[to]]} in the way."
            self.at = to
        elif action.name == "drink":
            if FIELD[self.at - 1] != "~":
                return "There is no water here."
            self.drink = 9
        elif action.name == "eat":
            if here != "*":
                return "There is no bush here."
            self.food = 9
        elif action.name == "gather":
            if here != "T":
                return "There is no tree here."
            self.wood += 1
            self.events.append(Event("You have more wood", "success"))
        return ""


class Woodcutter(Agent):
    """Goes to the tree and gathers wood."""

    def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        self.names = [action.name for action in action_space.actions]
        self.failures = 0

    def decide(self, observation: Observation) -> Action:
        tree = next(entity for entity in observation.nearby_entities if entity.type == "tree")
        if tree.distance == 0:
            return Action("gather", {}, "the tree is here")
        return Action("move", {"direction": tree.direction}, "the tree is there")

    def reflect(self, result: ActionResult) -> None:
        self.failures += not result.success

    def plan(self, goals: list[Goal]) -> list[str]:
        return [f"{goal.description}: find a tree" for goal in goals]


def play(game: GameAdapter, agent: Agent) -> ActionResult:
    """The loop of the protocol."""
    agent.initialize(game.game_description, game.action_space)
    seen = game.reset()
    print(*agent.plan(seen.current_goals), sep="\n")
    while True:
        result = game.act(agent.decide(seen))
        agent.reflect(result)
        print(f"  {result.message}")
        if result.done:
            return result
        seen = result.observation


if __name__ == "__main__":
    alone = play(CoastAdapter(), Woodcutter())
    in_a_room = play(as_adapter(__file__), Woodcutter())  # the same game as a world: checked and recorded
    same = alone.observation == in_a_room.observation and alone.reward == in_a_room.reward
    print(f"ok: {alone.achievements[0]} after {alone.observation.step} steps; the same as a world: {same}")
