"""Opens the rooms of many games with one scenario."""

from collections.abc import Mapping
from typing import Any

import msgspec

from cohabit.feature_registry import usual_features
from cohabit.room.command_modules import features_of
from cohabit.room.opening import opening_state
from cohabit.room.play.games import game_of
from cohabit.room.room import Room
from cohabit.scenario import Scenario, parse_seed
from cohabit.world import World, overridden

OF_FEATURES = ("features", "slices")
"""The parts of a room's state that depend on the features that this version of Cohabit has."""


class Opening:
    """Opens rooms that differ only in their id, seed and secret, all at the same time ``at``.

    Their initial state is derived from the scenario once. In most worlds a room is in the same state after opening,
    whatever its seed; then the state of the first room is used for the others, which saves the work of opening.
    """

    def __init__(self, scenario: Scenario, world: World, source: str, at: int) -> None:
        self._initial = msgspec.to_builtins(opening_state(scenario, world, source, "", 0, ""))
        self._at = at
        self._opened: dict[str, Any] | None = None  # the first room's state after opening, if the others have it too
        self._features = features_of(world, scenario.features)
        self._has_no_timer = False

    def room(
        self, room: str, seed: int | str, secret: str, world: World, recorded: Mapping[str, Any] | None = None
    ) -> Room:
        """A new room. ``recorded``: the initial state of an earlier one, whose features it has."""
        own = {"id": room, "seed": parse_seed(seed), "secret": secret}
        opening = {**self._initial, **own}
        if recorded is not None:
            usual = {key: value for key, value in opening.items() if key not in OF_FEATURES}
            return Room.open(usual | {key: recorded[key] for key in OF_FEATURES if key in recorded}, world, self._at)
        if self._opened is not None:
            known = {**self._opened, **own, "game": game_of(own["seed"])}
            made = Room.open_alike(opening, known, world, self._at, self._features)
            made.timers.idle = self._has_no_timer
            return made
        opened = Room.open(opening, world, self._at)
        if _opens_alike(opened) and not opened.record.tail[0].entry.told:
            # Without whose turn it is: `open_alike` asks the world.
            same = msgspec.structs.replace(opened.state, waiting_for=[], over_since=None)
            self._opened = msgspec.to_builtins(same)
            self._has_no_timer = opened.next_deadline() is None and opened.timers.idle
        return opened


def _opens_alike(room: Room) -> bool:
    """True if rooms with this world are in the same state when they open, whatever the seed, except whose turn it is:
    the world never changes its seats and keeps no returns, and only built-in features take part. Those look at members,
    who are the same in every room of one scenario; others might keep something of the seed."""
    foreign = [feature for feature in room.features.all if feature.name not in usual_features()]
    return not any(feature.overrides("follow") for feature in foreign) and overridden(type(room.world)).isdisjoint(
        ("arrive", "seats_now", "returns")
    )
