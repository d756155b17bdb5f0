"""The results of the long run of Kingdoms, and the requirements on them."""

from __future__ import annotations

from msgspec import Struct

MIN_ENDED = 90
"""Percent of the matches that must end."""
MIN_KINGDOMS, MIN_KINGDOMS_SEEDS = 2, 80
"""How many kingdoms must be left, and on how many percent of the seeds."""
MIN_WARS_BEGUN, MIN_WARS_ENDED, MIN_CITIES_TAKEN = 5, 4, 1
MAX_SILENCE = 2000


def _least(percent: int, count: int) -> int:
    """At least this percentage of the count, in whole numbers."""
    return -(-percent * count // 100)


class Fought(Struct):
    """One match of two players."""

    seed: int
    brains: tuple[str, str | None]
    races: tuple[str, str]
    ended: bool
    tick: int
    winner: int | None  # the seat of the surviving kingdom: 0 or 1
    wars: int
    cities_taken: int
    replays: bool | None = None  # None: not replayed

    @property
    def winning_brain(self) -> str | None:
        return self.brains[self.winner] if self.winner is not None else None

    @property
    def winning_race(self) -> str | None:
        return self.races[self.winner] if self.winner is not None else None


class Sample(Struct, array_like=True):
    """The counts of a world at one tick."""

    tick: int
    people: int
    creatures: int
    kingdoms: int
    wars: int


class Alone(Struct):
    """A world without players."""

    seed: int
    kingdoms: int  # alive at the end
    wars_begun: int
    wars_ended: int
    cities_taken: int
    rebellions: int
    silence: int  # the longest time without news, in ticks
    samples: list[Sample]

    @property
    def stuck(self) -> int:
        """The longest time in which the number of people did not change, in ticks."""
        longest = since = 0
        for before, now in zip(self.samples, self.samples[1:], strict=False):
            since = since + now.tick - before.tick if now.people == before.people else 0
            longest = max(longest, since)
        return longest


class Claim(Struct):
    """A requirement, whether it is met, and the result."""

    words: str
    holds: bool
    seen: str


class Results(Struct):
    """The results of all parts."""

    matches: list[Fought] = []
    passive: list[Fought] = []
    alone: list[Alone] = []

    def claims(self) -> list[Claim]:
        return [*self._of_matches(), *self._of_passive(), *self._of_alone()]

    def _of_matches(self) -> list[Claim]:
        found = []
        for first in ("warlord", "steward"):
            played = [match.ended for match in self.matches if match.brains[0] == first]
            ended = sum(played)
            least = _least(MIN_ENDED, len(played))
            words = f"With the {first} in the first seat, at least {least} of {len(played)} matches end"
            found.append(Claim(f"{words} within 20,000 ticks", 0 < least <= ended, f"{ended} of {len(played)}"))
        over = [match for match in self.matches if match.winner is not None]
        for words, wins in (
            ("Neither king wins all matches", sum(match.winning_brain == "warlord" for match in over)),
            ("Neither seat wins all matches", sum(match.winner == 0 for match in over)),
        ):
            found.append(Claim(words, 0 < wins < len(over), f"{wins} to {len(over) - wins}"))
        replayed = [match for match in self.matches if match.replays is not None]
        same = sum(bool(match.replays) for match in replayed)
        words = "A match replays from its record to the same world"
        return [*found, Claim(words, 0 < same == len(replayed), f"{same} of {len(replayed)}")]

    def _of_passive(self) -> list[Claim]:
        won = sum(match.winner == 0 for match in self.passive)
        least = _least(MIN_ENDED, len(self.passive))
        words = f"A king beats a passive player on at least {least} of {len(self.passive)} seeds"
        return [Claim(words, 0 < least <= won, f"{won} of {len(self.passive)}")]

    def _of_alone(self) -> list[Claim]:
        worlds = self.alone
        least = _least(MIN_KINGDOMS_SEEDS, len(worlds))
        lasting = sum(world.kingdoms >= MIN_KINGDOMS for world in worlds)
        begun = min((world.wars_begun for world in worlds), default=0)
        ended = min((world.wars_ended for world in worlds), default=0)
        taken = min((world.cities_taken for world in worlds), default=0)
        silence = max((world.silence for world in worlds), default=0)
        empty = sum(sample.people == 0 for world in worlds for sample in world.samples)
        stuck = max((world.stuck for world in worlds), default=0)
        return [
            Claim(
                "After 50,000 ticks without players, two or more kingdoms are alive on at least"
                f" {least} of {len(worlds)} seeds",
                0 < least <= lasting,
                f"{lasting} of {len(worlds)}",
            ),
            Claim(f"At least {MIN_WARS_BEGUN} wars begin on each seed", begun >= MIN_WARS_BEGUN, f"{begun} or more"),
            Claim(f"At least {MIN_WARS_ENDED} wars end on each seed", ended >= MIN_WARS_ENDED, f"{ended} or more"),
            Claim("A city is taken on each seed", taken >= MIN_CITIES_TAKEN, f"{taken} or more"),
            Claim(
                f"There is news at least every {MAX_SILENCE:,} ticks",
                bool(worlds) and silence < MAX_SILENCE,
                f"at most {silence:,} ticks without news",
            ),
            Claim(
                "The population is never 0 and never stays the same for long",
                bool(worlds) and not empty and stuck < MAX_SILENCE,
                f"unchanged for at most {stuck:,} ticks",
            ),
        ]
