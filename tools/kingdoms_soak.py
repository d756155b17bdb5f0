"""Plays Kingdoms for a long time and writes the results to `docs/kingdoms-soak.md` and its pictures.

    python tools/kingdoms_soak.py                    all parts, then the page
    python tools/kingdoms_soak.py matches passive    only these parts; other results stay as they are
    python tools/kingdoms_soak.py alone --seeds 3    only the first seeds; the page says how many
    python tools/kingdoms_soak.py page               only the page, from the stored results

The built-in players play whole matches in real rooms, headless and without a clock, in two processes (`--workers`).
The results depend on the seeds alone. `tests/soak/` checks them.
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
RESULTS_FILE = ROOT / "build" / "kingdoms-soak.json"
WORKERS = 2
MATCH_TICKS = 20_000
MATCH_SEEDS = range(1, 21)
REPLAYED = (1, 2)
"""The seeds whose matches are also replayed from their record."""
ALONE_TICKS = 50_000
ALONE_SEEDS = range(1, 11)
SAMPLE_EVERY = 250
"""Ticks between two samples of a world without players."""
KINGS = ("warlord", "steward")
PARTS = ("matches", "passive", "alone")


# -- what is played -------------------------------------------------------------------------------
def fight(seed: int, brains: tuple[str, str | None], replay: bool = False, ticks: int = MATCH_TICKS) -> Fought:
    """One match of the preset `pvp` between these two. The player None does nothing."""
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
    """Whether replaying the record gives exactly the same room."""
    return Room.replay(match.lines(), make_world).digest() == match.room.digest()


def without_players(seed: int, ticks: int = ALONE_TICKS) -> Alone:
    """One world without players."""
    nobody = Scenario(agents=[AgentSpec(id="watcher", role="observer")], world="kingdoms", scenario="alone")
    match = Match(nobody, seed, beat=SAMPLE_EVERY)
    sim = _world(match.room).sim
    samples: list[Sample] = []
    last_news = silence = 0

    def sample(_: Match) -> None:
        nonlocal last_news, silence
        for news in sim.news:
            if news.tick > last_news:
                last_news, silence = news.tick, max(silence, news.tick - last_news)
        people = sum(kingdom.people for kingdom in sim.alive)
        samples.append(Sample(sim.tick, people, sim.creatures.n, len(sim.alive), len(sim.wars)))

    match.run(ticks, sample)
    tally = sim.tally
    return Alone(
        seed=seed,
        kingdoms=len(sim.alive),
        wars_begun=tally.wars_begun,
        wars_ended=tally.wars_ended,
        cities_taken=tally.cities_taken,
        rebellions=tally.rebellions,
        silence=max(silence, sim.tick - last_news),
        samples=samples,
    )


def _world(room: Room) -> Kingdoms:
    assert isinstance(room.world, Kingdoms)
    return room.world


# -- running -------------------------------------------------------------------------------------
def run(
    parts: Sequence[str], before: Results | None = None, seeds: int | None = None, workers: int = WORKERS
) -> Results:
    """Play these parts and replace their results. ``seeds``: only the first this many of each part."""
    results = before or Results()
    # Spawned, not forked, because the progress display runs a thread.
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool, _progress() as progress:
        for part in parts:
            todo = progress.add_task(part, total=len(list(_jobs(part, seeds))))
            waiting = [pool.submit(job, *args) for job, args in _jobs(part, seeds)]
            done = []
            for future in as_completed(waiting):
                done.append(future.result())
                progress.advance(todo)
            setattr(results, part, sorted(done, key=lambda one: (one.seed, str(one))))
    return results


def _jobs(part: str, seeds: int | None) -> Iterator[tuple[Callable[..., Fought | Alone], tuple[object, ...]]]:
    if part == "matches":
        for seed in MATCH_SEEDS[:seeds]:
            yield fight, (seed, KINGS, seed in REPLAYED)
            yield fight, (seed, KINGS[::-1], seed in REPLAYED)
    elif part == "passive":
        for seed in MATCH_SEEDS[:seeds]:
            yield fight, (seed, ("warlord", None))
    else:
        for seed in ALONE_SEEDS[:seeds]:
            yield without_players, (seed,)


def _progress() -> Progress:
    return Progress(TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


def stored() -> Results:
    """The results of earlier runs."""
    return msgspec.json.decode(RESULTS_FILE.read_bytes(), type=Results) if RESULTS_FILE.exists() else Results()


def keep(results: Results) -> None:
    RESULTS_FILE.parent.mkdir(exist_ok=True)
    RESULTS_FILE.write_bytes(msgspec.json.encode(results))


def main() -> None:
    parser = argparse.ArgumentParser(description="The long run of Kingdoms.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} or page; default: all")
    parser.add_argument("--seeds", type=int, metavar="N", help="only the first N seeds; default: all")
    parser.add_argument("--workers", type=int, metavar="N", default=WORKERS, help="processes; default: %(default)s")
    args = parser.parse_args()
    wanted = args.parts or PARTS
    unknown = [part for part in wanted if part not in (*PARTS, "page")]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; choose from {', '.join(PARTS)} and page")
    results = run([part for part in PARTS if part in wanted], stored(), args.seeds, args.workers)
    keep(results)
    write_page(results)


if __name__ == "__main__":
    main()
