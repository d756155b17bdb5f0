"""The levels of MiniGrid and BabyAI as worlds."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from minigrid.envs.babyai.core import roomgrid_level

from cohabit.libraries.gymnasium.environment import HidingWorld, NamedMoves, as_png
from cohabit.libraries.gymnasium.minigrid_sight import Sight
from cohabit.libraries.gymnasium.minigrid_view import FACING, Thing, View, thing, told
from cohabit.model.observation import Observation
from cohabit.model.seat import Eye
from cohabit.model.stream import Stream
from cohabit.world import ArraySpec, Outcome

MOVES = {
    "turn_left": "Turn to the left, on the spot.",
    "turn_right": "Turn to the right, on the spot.",
    "forward": "Go one step ahead.",
    "pick_up": "Take the key, ball or box on the square ahead. You can carry one thing.",
    "drop": "Put what you carry on the square ahead, if it is free.",
    "toggle": "Open or close the door ahead, or open the box ahead. A locked door needs the key of its colour.",
    "done": "Say that the mission is done. Only some missions ask for it.",
}
HOW = (
    "You walk on a grid and see only what is in front of you. You get a reward of up to 1 when the mission is done, "
    "more if you need fewer steps."
)
IMAGE = "image"
ARROWS = (">", "v", "<", "^")
TILE = 32
"""The size of a square in pictures, in pixels."""

roomgrid_level.print = lambda *words: None
"""A level that is drawn again says so on stdout, which may be the connection of a client."""


class MiniGridWorld(HidingWorld, NamedMoves):
    """One level."""

    moves = MOVES
    how = HOW
    image_shape: ClassVar[tuple[int, ...]]

    @classmethod
    def fitted(cls, first: Any) -> dict[str, Any]:
        return {**super().fitted(first), "image_shape": first.observation_space[IMAGE].shape}

    @property
    def level(self) -> Any:
        return self.env.unwrapped

    def seed_environment(self, stream: Stream) -> None:
        self.sight = self.level.gen_obs = Sight(self.level)
        super().seed_environment(stream)

    def tell(self, move: int, before: Any, reward: float) -> Outcome:
        message, done = told(list(self.moves)[move], View(before), View(self.seen))
        if self.to_move():
            return Outcome(message, success=done)
        return Outcome(f"{message} {self._end(reward)}", success=done)

    def _end(self, reward: float) -> str:
        if reward > 0:
            return f"The mission is done. Reward: {reward:.2f}."
        return "The time is up: the mission has failed." if self.truncated else "The mission has failed."

    # -- what is seen -----------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        view, limit = View(self.seen), self.level.max_steps
        head = f"Mission: {view.mission or 'none; look around'}\nStep {self.steps} of at most {limit}."
        text = f"{head}\n\n{view.text(can_pick_up='pick_up' in self.moves)}"
        if not self.to_move():
            text += f"\n\nThe game is over. {self._end(self.total)}"
        status: dict[str, Any] = {"mission": view.mission, "facing": view.facing, "steps_left": limit - self.steps}
        if view.carried:
            status["carrying"] = view.carried.name
        if eye.sees == "all":
            text += "\n\n" + "\n".join(self._map())
        entities = [seen.entity() for seen in view.things]
        return Observation(text=text, status=status, nearby_entities=entities, step=self.steps, text_says_all=True)

    def _map(self) -> list[str]:
        """The whole level, for an eye that sees everything."""
        level = self.level
        rows = [[_at(level, x, y) for x in range(level.width)] for y in range(level.height)]
        letters = [[each.letter for each in row] for row in rows]
        column, line = (int(n) for n in level.agent_pos)
        letters[line][column] = ARROWS[level.agent_dir]
        things = [
            f"({x}, {y}) {each.words}{_contents(level.grid.get(x, y))}"
            for y, row in enumerate(rows)
            for x, each in enumerate(row)
            if each.kind not in ("empty", "wall", "floor")
        ]
        head = f"The level; you are at ({column}, {line}), facing {FACING[level.agent_dir]}:"
        return [head, *(" ".join(row) for row in letters), *things]

    def picture(self, eye: Eye) -> bytes | None:
        return as_png(self.level.get_frame(tile_size=TILE, agent_pov=eye.sees != "all"))

    def arrays(self) -> Mapping[str, ArraySpec]:
        return {IMAGE: ArraySpec(shape=self.image_shape)}

    def array(self, eye: Eye, form: str) -> Any:
        return self.seen[form].copy()

    # -- what is hidden ---------------------------------------------------------------------------
    def redraw(self, stream: Stream) -> None:
        """Things that were never seen change places with one another and with free squares, doors with doors, and boxes
        exchange what is in them. Walls stay."""
        level = self.level
        squares = [(x, y) for x in range(level.width) for y in range(level.height)]
        unseen = [at for at in squares if at not in self.sight.known]
        doors = [at for at in unseen if _at(level, *at).kind == "door"]
        others = [at for at in unseen if _at(level, *at).kind not in ("door", "wall")]
        for places in (doors, others):
            _exchange(level, places, stream)
        boxes = [box for box in (*level.grid.grid, level.carrying) if box is not None and box.type == "box"]
        contents = [box.contains for box in boxes]
        stream.shuffle(contents)
        for box, inside in zip(boxes, contents, strict=True):
            box.contains = inside
        level.np_random = np.random.Generator(np.random.PCG64(stream.bits64()))
        if hasattr(level, "update_objs_poss"):
            level.update_objs_poss()


def _at(level: Any, x: int, y: int) -> Thing:
    found = level.grid.get(x, y)
    return Thing("empty") if found is None else thing(found.encode())


def _contents(found: Any) -> str:
    inside = getattr(found, "contains", None)
    return f" with {thing(inside.encode()).words} in it" if inside is not None else ""


def _exchange(level: Any, places: list[tuple[int, int]], stream: Stream) -> None:
    found = [level.grid.get(*at) for at in places]
    stream.shuffle(found)
    for at, each in zip(places, found, strict=True):
        level.grid.set(*at, each)
        if each is not None and each.cur_pos is not None:
            each.cur_pos = at
