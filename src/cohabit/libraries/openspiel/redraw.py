"""Redraw what a player may not see: other games that could have been played, for all that this player was shown.

A game is its steps: the outcomes of chance and the moves, from the beginning. What a player knows is what the library
has shown it on the way. So a step of somebody else is changed, or two outcomes of chance change places, and the new
game is kept if the player would have been shown the same. Many such changes make a game that the player cannot tell
from the real one. Some games of the library can redraw everything at once; that is done first.

Every game that is found is possible. How likely each is given the way others play is not considered.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import pyspiel  # type: ignore[import-not-found,import-untyped,unused-ignore]

from cohabit.model.stream import Stream

CHANGES_TRIED = 24
Step = int | list[int]
"""An action of the player whose turn it is or of chance, or one of each player at the same time."""
Shows = Callable[[Any], Hashable]
"""The part of a state that one player is shown."""


class Course:
    """A game from its beginning, with what one player was shown of it.

    What a player is shown twice in a row is not noticed: a move of another one that changes nothing for this player.
    """

    def __init__(self, steps: list[Step], states: list[Any], shown: list[Hashable], noticed: list[int]) -> None:
        self.steps = steps
        self.states = states  # before each step, and at the end
        self.shown = shown
        self.noticed = noticed  # how much of ``shown`` came until each of the states

    @classmethod
    def of(cls, game: Any, steps: Sequence[Step], shows: Shows) -> "Course":
        first = game.new_initial_state()
        course = cls([], [first], [], [0])
        for step in steps:
            course._notice(shows)
            state = course.states[-1].clone()
            _apply(state, step)
            course.steps.append(step)
            course.states.append(state)
            course.noticed.append(len(course.shown))
        course._notice(shows)
        return course

    def _notice(self, shows: Shows) -> None:
        state = self.states[-1]
        if not state.is_chance_node():
            now = shows(state)
            if not self.shown or self.shown[-1] != now:
                self.shown.append(now)
        self.noticed[-1] = len(self.shown)

    def changed(self, steps: list[Step], first: int, shows: Shows) -> "Course":
        """The course with these steps, of which ``first`` is the first new one; this one if the steps are against the
        rules, or if the player would notice."""
        states, noticed = self.states[: first + 1], self.noticed[: first + 1]
        for step in steps[first:]:
            if not _is_legal(states[-1], step):
                return self
            state, seen = states[-1].clone(), noticed[-1]
            _apply(state, step)
            if not state.is_chance_node():
                now = shows(state)
                if not seen or self.shown[seen - 1] != now:
                    if seen == len(self.shown) or self.shown[seen] != now:
                        return self
                    seen += 1
            states.append(state)
            noticed.append(seen)
        if noticed[-1] < len(self.shown) or states[-1].is_chance_node():
            return self
        return Course(steps, states, self.shown, noticed)


def redraw(game: Any, steps: list[Step], player: int | None, shows: Shows, stream: Stream, native: bool) -> list[Step]:
    """Steps that ``player`` cannot tell from these. None: somebody who plays no seat. ``native``: the library helps."""
    course = Course.of(game, steps, shows)
    if native:
        for one in range(game.num_players()) if player is None else [player]:
            other = course.changed(_redrawn_by_library(course, one, stream), 0, shows)
            course = other if _moves_of(other, player) == _moves_of(course, player) else course
    for _ in range(CHANGES_TRIED if steps else 0):
        at = stream.below(len(course.steps))
        course = _with_one_change(course, at, player, shows, stream)
    return course.steps


def options(state: Any) -> list[int]:
    """The next possible actions or outcomes, where one player or chance acts."""
    if state.is_chance_node():
        return [action for action, _ in state.chance_outcomes()]
    return list(state.legal_actions())


def _is_legal(state: Any, step: Step) -> bool:
    if state.is_terminal() or state.is_simultaneous_node() != isinstance(step, list):
        return False
    if isinstance(step, list):
        return all(action in state.legal_actions(player) for player, action in enumerate(step))
    return step in options(state)


def _apply(state: Any, step: Step) -> None:
    if isinstance(step, list):
        state.apply_actions(step)
    else:
        state.apply_action(step)


def _moves_of(course: Course, player: int | None) -> list[int]:
    return [step.action for step in course.states[-1].full_history() if step.player == player]


def _redrawn_by_library(course: Course, player: int, stream: Stream) -> list[Step]:
    state = course.states[-1]
    if state.is_terminal():
        return course.steps
    try:
        return list(state.resample_from_infostate(player, lambda: stream.bits64() / 2**64).history())
    except pyspiel.SpielError:  # some can do it for the player to move only
        return course.steps


def _with_one_change(course: Course, at: int, player: int | None, shows: Shows, stream: Stream) -> Course:
    state, step, steps, first = course.states[at], course.steps[at], list(course.steps), at
    if isinstance(step, list):
        others = [one for one in range(len(step)) if one != player]
        who = stream.choice(others) if others else None
        steps[at] = [stream.choice(state.legal_actions(p)) if p == who else a for p, a in enumerate(step)]
    elif state.is_chance_node() and stream.chance(1, 2):
        other = stream.below(len(steps))
        if course.states[other].is_chance_node():
            steps[at], steps[other] = steps[other], steps[at]
            first = min(at, other)
    elif state.current_player() != player:
        steps[at] = stream.choice(options(state))
    return course.changed(steps, first, shows) if steps != course.steps else course
