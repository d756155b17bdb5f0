"""Any environment as a world: one's own, and those of Gymnasium that have no words of their own.

Moves and observations follow from its spaces. The text of a view is what the environment renders as ``ansi``, if it
can, and what it observes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from gymnasium import spaces

from cohabit.errors import BadArgs
from cohabit.libraries.gymnasium.environment import EnvironmentWorld, as_png
from cohabit.libraries.gymnasium.spaces import all_values, decode, describe, in_words, plain, some_values
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.model.seat import Eye, Seat
from cohabit.model.stream import Stream
from cohabit.world import ActionSpec, ArraySpec, GameRejected, Outcome, WorldSpec

OBSERVATION = "observation"
MASK = "action_mask"
"""The key in ``info`` under which an environment gives the numbered actions that are possible now."""
MAX_SCREEN = 8000
"""The number of characters of an environment's rendered text that are shown."""


class OwnWorld(EnvironmentWorld):
    """An environment about which only its spaces are known."""

    action_space: ClassVar[Any]
    observation_space: ClassVar[Any]
    names: ClassVar[tuple[str, ...]]  # of the actions, by number; () if they have none
    play_arguments: ClassVar[type[msgspec.Struct]]

    # -- moves ------------------------------------------------------------------------------------
    def actions(self) -> Sequence[ActionSpec]:
        about = f"Make a move: {' | '.join(self.names) if self.names else describe(self.action_space)}."
        return [ActionSpec(name="play", run=self._play, description=about, args=self.play_arguments)]

    def _play(self, by: Seat, /, move: Any) -> Outcome:
        self.decode(move)  # a move that is none is refused before anything has changed
        possible = self._unmasked()
        if possible is not None and move not in possible:
            raise GameRejected(f"{move!r} is not possible now; possible moves: {', '.join(map(str, possible[:12]))}")
        made: Outcome = self.do(move)
        return made

    def decode(self, move: Any) -> Any:
        if self.names:
            return np.int64(self.names.index(move) + int(self.action_space.start))
        return decode(self.action_space, move)

    def tell(self, move: Any, before: Any, reward: float) -> Outcome:
        over = "" if self.to_move() else " The episode is over."
        return Outcome(f"Reward: {reward:g}.{over}")

    def legal(self, seat: Seat) -> Sequence[Action] | None:
        if not self.to_move():
            return []
        possible = self._unmasked()
        return self.numbered() or self._examples() if possible is None else [*map(_played, possible)]

    def _unmasked(self) -> list[Any] | None:
        """The moves that the environment says are possible now; None if it says nothing."""
        mask = self.info.get(MASK) if isinstance(self.info, Mapping) else None
        if mask is None or not isinstance(self.action_space, spaces.Discrete) or not any(mask):
            return None
        moves = self.names or range(int(self.action_space.start), int(self.action_space.start + self.action_space.n))
        return [move for move, possible in zip(moves, mask, strict=False) if possible]

    def _examples(self) -> list[Action]:
        stream = Stream(0, f"examples {self.steps}")  # the same in every game: examples must tell nothing
        return [*map(_played, some_values(self.action_space, stream))]

    def numbered(self) -> Sequence[Action] | None:
        listed: Sequence[Any] | None = self.names or all_values(self.action_space)
        return None if listed is None else [*map(_played, listed)]

    # -- what is seen -----------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        parts = [f"Step {self.steps}. Total reward: {self.total:g}."]
        if self.env.render_mode == "ansi":
            parts.append(str(self.env.render())[:MAX_SCREEN].rstrip())
        parts.append(self.words())
        if not self.to_move():
            parts.append("The episode is over" + (": the time is up." if self.truncated else "."))
        return Observation(
            text="\n\n".join(parts), status={OBSERVATION: plain(self.seen)}, step=self.steps, text_says_all=True
        )

    def words(self) -> str:
        """The observation."""
        return f"You observe:\n{in_words(self.seen)}"

    def picture(self, eye: Eye) -> bytes | None:
        if self.env.render_mode == "rgb_array":
            return as_png(np.asarray(self.env.render(), dtype=np.uint8))
        return as_png(self.seen) if _is_image(self.observation_space) else None

    def arrays(self) -> Mapping[str, ArraySpec]:
        return {name: _form(space) for name, space in _boxes(self.observation_space).items()}

    def array(self, eye: Eye, form: str) -> Any:
        found = self.seen[form] if isinstance(self.observation_space, spaces.Dict) else self.seen
        return np.array(found, dtype=_boxes(self.observation_space)[form].dtype)


def _played(move: Any) -> Action:
    return Action("play", {"move": move})


def own_world(
    new_environment: Callable[[], Any], name: str, title: str, rules: str, names: Sequence[str] = ()
) -> type[OwnWorld]:
    """The world of the environments that this makes. One is made now, for its spaces."""
    first = new_environment()
    try:
        actions, observations = first.action_space, first.observation_space
        names = tuple(names or _names(first))
    except AttributeError as wrong:
        raise BadArgs(f"{title} is not an environment of Gymnasium: {wrong}") from None
    finally:
        close = getattr(first, "close", None)
        if close is not None:
            close()
    moves = f"A move is {' | '.join(names) if names else describe(actions)}."
    rules = f"{rules} You observe {describe(observations)}. {moves}".strip()
    return type(
        "OwnEnvironment",
        (OwnWorld,),
        {
            "__doc__": f"{title}. {rules}",
            "spec": WorldSpec(
                name=name, title=title, open_information=True, examples=not names and all_values(actions) is None
            ),
            "new_environment": staticmethod(new_environment),
            "rules": rules,
            "action_space": actions,
            "observation_space": observations,
            "names": names,
            "play_arguments": _arguments(actions, names),
        },
    )


def _names(environment: Any) -> Sequence[str]:
    """The names of numbered actions, where an environment has them in the way that the games of Atari do."""
    base = environment.unwrapped
    given: Any = getattr(base, "get_action_meanings", None) or getattr(base, "action_names", ())
    found = [str(name) for name in (given() if callable(given) else given)]
    numbers = all_values(environment.action_space) if isinstance(environment.action_space, spaces.Discrete) else None
    return found if numbers is not None and len(found) == len(numbers) == len(set(found)) else ()


def _arguments(space: Any, names: Sequence[str]) -> type[msgspec.Struct]:
    kind: Any = Any
    if names:
        kind = Literal[tuple(names)]
    elif isinstance(space, spaces.Discrete):
        lowest = int(space.start)
        kind = Annotated[int, msgspec.Meta(ge=lowest, le=lowest + int(space.n) - 1)]
    elif isinstance(space, spaces.Text):
        kind = str
    elif isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        kind = list[float] if isinstance(space, spaces.Box) and space.dtype.kind == "f" else list[int]
    described = Annotated[kind, msgspec.Meta(description=describe(space) if not names else "the name of a move")]
    return msgspec.defstruct("PlayArgs", [("move", described)], kw_only=True, forbid_unknown_fields=True)


def _is_image(space: Any) -> bool:
    """True if an observation can be shown as a picture: grey, or red, green and blue."""
    if not isinstance(space, spaces.Box) or space.dtype != np.uint8:
        return False
    return len(space.shape) == 2 or (len(space.shape) == 3 and space.shape[2] == 3)


def _boxes(space: Any) -> dict[str, Any]:
    """The parts of an observation that are arrays, by name."""
    if isinstance(space, spaces.Box):
        return {OBSERVATION: space}
    parts = space.items() if isinstance(space, spaces.Dict) else ()
    return {str(name): part for name, part in parts if isinstance(part, spaces.Box)}


def _form(space: Any) -> ArraySpec:
    return ArraySpec(
        shape=tuple(space.shape), dtype=str(space.dtype), low=float(space.low.min()), high=float(space.high.max())
    )
