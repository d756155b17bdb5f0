"""Observations and actions of a world as spaces of Gymnasium."""

import string
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import CustomSpaceError
from gymnasium.vector.utils import create_shared_memory
from numpy.typing import NDArray

from cohabit.envs.actions import MAX_TEXT, Given, NumberedActions, actions_of
from cohabit.envs.episodes import Episodes
from cohabit.errors import BadArgs
from cohabit.model.suggest import nearest
from cohabit.world import World, overrides

TEXT = "text"
MASK = "action_mask"
CUT = "\n… (cut)"
MAX_SAMPLED = 64
"""The most characters of a sampled text."""


class UnicodeText(spaces.Text):
    """Any text of up to ``max_length`` characters.

    ``spaces.Text`` keeps a list of all its characters, and no list has those that people and models write.
    """

    def __init__(self, max_length: int, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, charset=string.ascii_letters, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A short text of letters."""
        if mask is None and probability is None:
            mask = int(self.np_random.integers(min(MAX_SAMPLED, self.max_length) + 1)), None
        sampled: str = super().sample(mask, probability)
        return sampled

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"


def _not_shared(space: UnicodeText, n: int = 1, ctx: Any = None) -> Any:
    """``AsyncVectorEnv`` reads shared texts only once, so it would return old ones."""
    raise CustomSpaceError("a text cannot be in shared memory")


create_shared_memory.register(UnicodeText, _not_shared)


class Interface:
    """The spaces in which learners perceive a world and act; the same for all of them.

    ``observe`` is ``text``, or the name of one of the world's arrays, by default the first.
    """

    def __init__(self, world: World, observe: str | None = None) -> None:
        forms = dict(world.arrays())
        self._form = observe or next(iter(forms), TEXT)
        if self._form != TEXT and self._form not in forms:
            known = [TEXT, *forms]
            raise BadArgs(
                f"observe: {world.spec.name} offers {', '.join(known)}, not {self._form!r}",
                did_you_mean=nearest(self._form, known, 1),
            )
        self._array = forms.get(self._form)
        self._actions = actions_of(world)
        lists_all = overrides(world, "useful") or (overrides(world, "legal") and not world.spec.examples)
        self._masked = self._actions if isinstance(self._actions, NumberedActions) and lists_all else None

    def action_space(self) -> spaces.Space[Any]:
        if isinstance(self._actions, NumberedActions):
            return spaces.Discrete(len(self._actions))
        return UnicodeText(MAX_TEXT)

    def observation_space(self) -> spaces.Space[Any]:
        if self._array is not None:
            spec = self._array
            return spaces.Box(spec.low, spec.high, spec.shape, np.dtype(spec.dtype).type)
        parts: dict[str, spaces.Space[Any]] = {TEXT: UnicodeText(MAX_TEXT)}
        if self._masked is not None:
            parts[MASK] = spaces.Box(0, 1, (len(self._masked),), np.int8)
        return spaces.Dict(parts)

    def read(self, given: Any) -> Given:
        """The action that a learner gave."""
        return self._actions.read(given)

    def perceive(self, episodes: Episodes, i: int) -> tuple[Any, dict[str, Any]]:
        """The observation of a learner, and the information that goes with it."""
        room, member = episodes.room, episodes.member(i)
        info: dict[str, Any] = {"seat": member.seat, "to_move": episodes.is_to_move(i), **episodes.learners[i].result()}
        mask = self.mask(episodes, i)
        if mask is not None:
            info[MASK] = mask
        if self._array is not None:
            seen = room.crash_on_bug(room.world.array, room.eye_of(member), self._form)
            if (standing := episodes.standing(i)) is not None:
                info["standing"] = dict(standing.data)
            return seen, info
        view = room.view(member)
        info["observation"] = view.observation.to_structured()
        text = view.text if len(view.text) <= MAX_TEXT else view.text[: MAX_TEXT - len(CUT)] + CUT
        return {TEXT: text} if mask is None else {TEXT: text, MASK: mask}, info

    def mask(self, episodes: Episodes, i: int) -> NDArray[np.int8] | None:
        """1 for each action that a learner can choose. While it is not to move, its actions are ignored: all are 1."""
        if self._masked is None:
            return None
        useful = episodes.useful(i) if episodes.is_to_move(i) else None
        return np.ones(len(self._masked), np.int8) if useful is None else self._masked.mask(useful)
