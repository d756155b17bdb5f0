"""Plays Kingdoms for a long time and writes down how it went: `docs/kingdoms-soak.md` and its pictures.

    python tools/kingdoms_soak.py                    everything, then the page
    python tools/kingdoms_soak.py matches passive    only these parts; the rest stays as it was
    python tools/kingdoms_soak.py page               only the page, from what was kept

Whole matches are played through real rooms by the built-in players, headless and without a clock, in two processes.
What comes out depends on the seeds alone. `tests/soak/` holds it against what must hold.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import msgspec
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from cohabit.registry import make_world
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario, read_scenario
from cohabit.testing.match import Match
from cohabit.worlds.kingdoms.world import Kingdoms
from kingdoms_soak_page import write_page
from kingdoms_soak_results import Alone, Fought, Results, Sample

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "build" / "kingdoms-soak.json"
WORKERS = 2
MATCH_TICKS = 20_000
MATCH_SEEDS = range(1, 21)
REPLAYED = (1, 2)
"""The seeds whose matches are also run again from their record."""
ALONE_TICKS = 50_000
ALONE_SEEDS = range(1, 11)
SAMPLE = 250
"""How often the world that is left alone is counted, in ticks."""
KINGS = ("warlord", "steward")
PARTS = ("matches", "passive", "alone")


# -- what is played -------------------------------------------------------------------------------
def fight(seed: int, brains: tuple[str, str | None], replay: bool = False, ticks: int = MATCH_TICKS) -> Fought:
    """One match of the preset `pvp` between these two; None sits there and does nothing."""
    match = Match(duel(brains), seed).run(ticks)
    sim = _world(match.room).sim
    alive = [kingdom.id for kingdom in sim.alive if kingdom.claimed]
    return Fought(
        seed=seed,
        brains=brains,
        races=(sim.kingdoms[1].race, sim.kingdoms[2].race),
        ended=match.room.is_over(),
        tick=match.tick,
        winner=alive[0] - 1 if len(alive) == 1 else None,
        wars=sim.tally.wars_begun,
        cities_taken=sim.tally.cities_taken,
        replays=_replays(match) if replay else None,
    )


def duel(brains: tuple[str, str | None]) -> Scenario:
    """The preset `pvp` with these players."""
    found = read_scenario("pvp")
    for agent, brain in zip(found.agents, brains, strict=True):
        agent.brain = brain
    return found


def _replays(match: Match) -> bool:
    """Does the record give the same room again, down to the last bit?"""
    return Room.replay(match.lines(), make_world).digest() == match.room.digest()


def leave_alone(seed: int, ticks: int = ALONE_TICKS) -> Alone:
    """A world without players: what becomes of it."""
    nobody = Scenario(agents=[AgentSpec(id="watcher", role="observer")], world="kingdoms", scenario="alone")
    match = Match(nobody, seed, beat=SAMPLE)
    sim = _world(match.room).sim
    samples: list[Sample] = []
    heard = silence = 0

    def look(_: Match) -> None:
        nonlocal heard, silence
        for news in sim.news:
            if news.tick > heard:
                heard, silence = news.tick, max(silence, news.tick - heard)
        people = sum(kingdom.people for kingdom in sim.alive)
        samples.append(Sample(sim.tick, people, sim.creatures.n, len(sim.alive), len(sim.wars)))

    match.run(ticks, look)
    tally = sim.tally
    return Alone(
        seed=seed,
        kingdoms=len(sim.alive),
        wars_begun=tally.wars_begun,
        wars_ended=tally.wars_ended,
        cities_taken=tally.cities_taken,
        rebellions=tally.rebellions,
        silence=max(silence, sim.tick - heard),
        samples=samples,
    )


def _world(room: Room) -> Kingdoms:
    assert isinstance(room.world, Kingdoms)
    return room.world


# -- running it all -------------------------------------------------------------------------------
def run(parts: Sequence[str], before: Results | None = None) -> Results:
    """Play these parts, in two processes, and put the results in place of those there were."""
    results = before or Results()
    # Spawned, not forked: the display runs a thread of its own.
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool, _progress() as progress:
        for part in parts:
            todo = progress.add_task(part, total=len(list(_jobs(part))))
            waiting = [pool.submit(job, *args) for job, args in _jobs(part)]
            done = []
            for future in as_completed(waiting):
                done.append(future.result())
                progress.advance(todo)
            setattr(results, part, sorted(done, key=lambda one: (one.seed, str(one))))
    return results


def _jobs(part: str) -> Iterator[tuple[Callable[..., Fought | Alone], tuple[object, ...]]]:
    if part == "matches":
        for seed in MATCH_SEEDS:
            yield fight, (seed, KINGS, seed in REPLAYED)
            yield fight, (seed, KINGS[::-1], seed in REPLAYED)
    elif part == "passive":
        for seed in MATCH_SEEDS:
            yield fight, (seed, ("warlord", None))
    else:
        for seed in ALONE_SEEDS:
            yield leave_alone, (seed,)


def _progress() -> Progress:
    return Progress(TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


def kept() -> Results:
    """What earlier runs left."""
    return msgspec.json.decode(KEPT.read_bytes(), type=Results) if KEPT.exists() else Results()


def keep(results: Results) -> None:
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_bytes(msgspec.json.encode(results))


def main() -> None:
    parser = argparse.ArgumentParser(description="The long run of Kingdoms.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}, or page (everything)")
    wanted = parser.parse_args().parts or PARTS
    unknown = [part for part in wanted if part not in (*PARTS, "page")]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}, and page")
    results = run([part for part in PARTS if part in wanted], kept())
    keep(results)
    write_page(results)


if __name__ == "__main__":
    main()
