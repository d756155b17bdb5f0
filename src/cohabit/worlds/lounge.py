"""The lounge: a world without rules, for rooms in which members talk or share an app."""

from collections.abc import Sequence

from cohabit.world import Eye, Observation, Seat, SeatId, World, WorldSpec


class Lounge(World):
    """A room without a game: people and agents talk, and apps show what they share. It has no seats and no actions of
    its own.

    `observe` shows who is here and what was said. If there is an app, it shows its newest view too, and `rules` has its
    actions.
    """

    spec = WorldSpec(name="lounge", title="Lounge", seats=0, quick=True, open_information=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        pass

    def to_move(self) -> Sequence[SeatId]:
        return ()

    def is_over(self) -> bool:
        return False

    def observe(self, eye: Eye) -> Observation:
        return Observation(
            text="A lounge: nothing is played here. Members talk, and apps show what they share.", text_says_all=True
        )
