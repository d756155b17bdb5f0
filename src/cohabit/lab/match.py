"""``match``: players against each other in one world, in one call."""

from collections.abc import Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Any

from cohabit.errors import BadArgs
from cohabit.lab.design import Design, Swap, parse_design, seatings
from cohabit.lab.progress import DecisionCount, progress_bar
from cohabit.lab.results import Results
from cohabit.lab.run import run


def match(
    world: str,
    *players: str,
    games: int = 100,
    seed: int = 1,
    config: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    workers: int | None = None,
    seconds: float | None = None,
    max_cost: float | None = None,
    cache: str | Path | None = None,
    swap: Swap = "rotate",
    progress: bool | None = None,
    on: str = "",
    **limits: Any,
) -> Results:
    """Play games between brains in a world: ``match("nim", "random", "nim-master", games=20)``.

    The players are rotated over the seats, each order once for each seed, beginning with ``seed``. ``out`` is the
    folder for the results; the same call resumes an interrupted match. ``seconds`` is the limit of a decision,
    ``max_cost`` what the match may spend in dollars; ``cache`` a folder for answers of language models, so that
    equal prompts are sent once; ``limits`` are others of a design, such as ``max_decisions``.
    ``workers`` is the number of processes; a script that uses more than one needs ``if __name__ == "__main__"``.
    ``on="ray"`` plays on a Ray cluster, and ``on="ray://HOST:10001"`` on the one with this address.
    """
    design = match_design(
        world, players, games=games, seed=seed, config=config, seconds=seconds, max_cost=max_cost, swap=swap, **limits
    )
    count = DecisionCount()
    with progress_bar(design.name, progress, count.total) as on_game:
        folder = Path(out) if out is not None else None
        return run(design, folder, workers, on_game, count, Path(cache) if cache is not None else None, on)


def match_design(
    world: str,
    players: Sequence[str],
    *,
    games: int = 100,
    seed: int = 1,
    config: Mapping[str, Any] | None = None,
    swap: Swap = "rotate",
    **limits: Any,
) -> Design:
    """The design of a match."""
    if not players:
        raise BadArgs("a match needs players, such as random; `cohabit match --help` shows examples")
    if games < 1:
        raise BadArgs(f"games: must be at least 1, not {games}")
    names = _names(players)
    seeds = -(-games // len(seatings(names, swap)))
    plan = {
        "name": f"{world}: {' vs '.join(names)}",
        "worlds": {_title(world): {"world": world, "config": dict(config or {})}},
        "lineups": [names],
        "players": dict(zip(names, players, strict=True)),
        "seeds": list(range(seed, seed + seeds)),
        "games": games,
        "swap": swap,
        **limits,
    }
    try:
        text = dumps(plan)
    except TypeError as wrong:
        raise BadArgs(f"the match cannot be written as JSON: {wrong}") from None
    return parse_design(text, str(Path.cwd()))


def _title(world: str) -> str:
    """The name of a world; of a file, without its folder."""
    return Path(world.partition(":")[0]).stem if ".py" in world else world


def _names(players: Sequence[str]) -> list[str]:
    """A name for each player: its brain, with a number if another one has the same."""
    return [
        player if players.index(player) == i else f"{player} ({list(players[: i + 1]).count(player)})"
        for i, player in enumerate(players)
    ]
