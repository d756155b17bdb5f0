"""``Words``: what an environment shows and how its moves are called. This is for any environment, from its spaces;
``classic.py`` has those for the classic games."""

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy

from cohabit.errors import BadArgs
from cohabit.libraries.gymnasium.spaces import all_values, decode, describe, in_words, some_values
from cohabit.model.stream import Stream
from cohabit.world import GameRejected

MASK = "action_mask"


class Words:
    """The methods are called with the environment. A move is plain data, as it is in a record."""

    shows_choices = False  # rounds: whether everybody sees afterwards what the others chose

    def prepare(self, env: Any) -> None:
        """Called before every use of an environment: for those that keep something in their modules."""

    def seen(self, env: Any, observations: Mapping[str, Any]) -> None:
        """Rounds: what the agents observe now."""
        env.unwrapped.cohabit_seen = dict(observations)

    def observed(self, env: Any, agent: str) -> Any:
        """The observation of an agent, and its mask of possible moves, or None."""
        kept = getattr(env.unwrapped, "cohabit_seen", None)
        shown = env.observe(agent) if kept is None else kept.get(agent)
        if isinstance(shown, Mapping) and MASK in shown:
            rest = {name: part for name, part in shown.items() if name != MASK}
            return (rest["observation"] if list(rest) == ["observation"] else rest), shown[MASK]
        return shown, None

    def choices(self, env: Any, agent: str) -> dict[str, Any]:
        """The possible moves of an agent by name, or examples if there are too many."""
        space = env.action_space(agent)
        _, mask = self.observed(env, agent)
        if mask is not None and any(mask):
            found = [int(space.start) + int(number) for number in numpy.flatnonzero(mask)]
        else:
            found = some_values(space, Stream(0, "examples"))  # the same in every game: examples must tell nothing
        return {self.name(env, agent, move): move for move in found}

    def name(self, env: Any, agent: str, move: Any) -> str:
        return msgspec.json.encode(move).decode()

    def told(self, env: Any, agent: str, move: Any) -> str:
        """The public text of a move: in an environment about which nothing is known, that there was one."""
        return "has moved"

    def read(self, env: Any, agent: str, text: str) -> Any:
        """A move that is not among the examples."""
        try:
            move = msgspec.json.decode(text)
            decode(env.action_space(agent), move)
        except (msgspec.DecodeError, BadArgs):
            raise GameRejected(f"the move must be {describe(env.action_space(agent))}, as JSON") from None
        return move

    def decoded(self, env: Any, agent: str, move: Any) -> Any:
        """The move as the environment takes it."""
        return decode(env.action_space(agent), move)

    def fallback(self, choices: Mapping[str, Any]) -> Any:
        """The move of a player who makes none."""
        return next(iter(choices.values()))

    def position(self, env: Any, agent: str | None, sees_all: bool) -> str:
        """The observation of an agent, as text; without one, the public part, which an environment does not name."""
        if sees_all:
            return "\n".join(f"{each} observes:\n{in_words(self.observed(env, each)[0])}" for each in env.agents)
        if agent is None:
            return "Only the players see what they observe."
        return f"You observe:\n{in_words(self.observed(env, agent)[0])}" if agent in env.agents else ""

    def redraw(self, env: Any, agent: str | None, stream: Stream) -> None:
        """Change what an agent does not see."""
        raise NotImplementedError


def has_listed_moves(space: Any) -> bool:
    return all_values(space) is not None
