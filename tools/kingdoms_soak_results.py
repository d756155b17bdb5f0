"""What the long run of Kingdoms found, and what must hold of it."""

from __future__ import annotations

from msgspec import Struct

ENDED_FEWEST = 18
KINGDOMS_FEWEST, KINGDOMS_SEEDS = 2, 8
WARS_BEGUN, WARS_ENDED, CITIES_TAKEN = 5, 4, 1
SILENCE_LONGEST = 2000


class Fought(Struct):
    """One match of two players."""

    seed: int
    brains: tuple[str, str | None]
    races: tuple[str, str]
    ended: bool
    tick: int
    winner: int | None  # the seat that is left: 0 or 1
    wars: int
    cities_taken: int
    replays: bool | None = None  # None: not tried

    @property
    def winning_brain(self) -> str | None:
        return self.brains[self.winner] if self.winner is not None else None

    @property
    def winning_race(self) -> str | None:
        return self.races[self.winner] if self.winner is not None else None


class Sample(Struct, array_like=True):
    """A world at one tick, in numbers."""

    tick: int
    people: int
    creatures: int
    kingdoms: int
    wars: int


class Alone(Struct):
    """A world that nobody played in."""

    seed: int
    kingdoms: int  # alive at the end
    wars_begun: int
    wars_ended: int
    cities_taken: int
    rebellions: int
    silence: int  # the longest stretch without news, in ticks
    samples: list[Sample]

    @property
    def stuck(self) -> int:
        """The longest stretch in which the number of people did not change, in ticks."""
        longest = since = 0
        for before, now in zip(self.samples, self.samples[1:], strict=False):
            since = since + now.tick - before.tick if now.people == before.people else 0
            longest = max(longest, since)
        return longest


class Claim(Struct):
    """Something that must hold, and what was seen."""

    words: str
    holds: bool
    seen: str


class Results(Struct):
    """All of it."""

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
            words = f"With the {first} in the first seat at least {ENDED_FEWEST} of 20 matches end within 20,000 ticks"
            found.append(Claim(words, ended >= ENDED_FEWEST, f"{ended} of {len(played)}"))
        over = [match for match in self.matches if match.winner is not None]
        for words, wins in (
            ("Neither king wins all", sum(match.winning_brain == "warlord" for match in over)),
            ("Neither seat wins all", sum(match.winner == 0 for match in over)),
        ):
            found.append(Claim(words, 0 < wins < len(over), f"{wins} to {len(over) - wins}"))
        replayed = [match for match in self.matches if match.replays is not None]
        same = sum(bool(match.replays) for match in replayed)
        words = "The record of a match gives the same world again"
        return [*found, Claim(words, 0 < same == len(replayed), f"{same} of {len(replayed)}")]

    def _of_passive(self) -> list[Claim]:
        won = sum(match.winner == 0 for match in self.passive)
        words = f"A king beats a passive neighbour on at least {ENDED_FEWEST} of 20 seeds"
        return [Claim(words, won >= ENDED_FEWEST, f"{won} of {len(self.passive)}")]

    def _of_alone(self) -> list[Claim]:
        worlds = self.alone
        lasting = sum(world.kingdoms >= KINGDOMS_FEWEST for world in worlds)
        begun = min((world.wars_begun for world in worlds), default=0)
        ended = min((world.wars_ended for world in worlds), default=0)
        taken = min((world.cities_taken for world in worlds), default=0)
        silence = max((world.silence for world in worlds), default=0)
        empty = sum(sample.people == 0 for world in worlds for sample in world.samples)
        stuck = max((world.stuck for world in worlds), default=0)
        return [
            Claim(
                f"Left alone for 50,000 ticks, two or more kingdoms are alive on at least {KINGDOMS_SEEDS} of 10 seeds",
                lasting >= KINGDOMS_SEEDS,
                f"{lasting} of {len(worlds)}",
            ),
            Claim(f"At least {WARS_BEGUN} wars begin on each", begun >= WARS_BEGUN, f"{begun} or more"),
            Claim(f"At least {WARS_ENDED} wars end on each", ended >= WARS_ENDED, f"{ended} or more"),
            Claim("A city is taken on each", taken >= CITIES_TAKEN, f"{taken} or more"),
            Claim(
                f"No stretch of {SILENCE_LONGEST:,} ticks is without an event",
                bool(worlds) and silence < SILENCE_LONGEST,
                f"{silence:,} ticks at most",
            ),
            Claim(
                "The population is never stuck, at nothing or anywhere else",
                bool(worlds) and not empty and stuck < SILENCE_LONGEST,
                f"unchanged for {stuck:,} ticks at most",
            ),
        ]
