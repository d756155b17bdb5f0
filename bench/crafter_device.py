"""The batch engine of Crafter on a GPU: ``python -m bench.crafter_device --library cupy`` (or ``torch``).

Needs only Cohabit, the array library and ``array-api-compat``. First some games are played with NumPy too, and all of
their arrays are compared. Then games of random players are timed, on the wall clock, which is what counts with a GPU.
"""

import argparse
import importlib
import time
from typing import Any

import numpy as np

from cohabit.worlds.crafter.batch import CrafterBatch
from cohabit.worlds.crafter.rules import ACTIONS


def host_state(batch: CrafterBatch) -> dict[str, Any]:
    arrays = {name: array for name, array in vars(batch.games).items() if hasattr(array, "shape") and name != "xp"}
    return {name: batch.library.host(array) for name, array in arrays.items()}


def check(xp: Any, device: str | None, games: int, steps: int) -> None:
    """Play the same games with NumPy, and compare everything."""
    plain, other = CrafterBatch(range(games)), CrafterBatch(range(games), xp=xp, device=device)
    actions = np.random.default_rng(1).integers(0, len(ACTIONS), (steps, games))
    for step in range(steps):
        results = [batch.step(actions[step]) for batch in (plain, other)]
        over = [batch.library.host(result.over) for batch, result in zip((plain, other), results, strict=True)]
        for batch, ended in zip((plain, other), over, strict=True):
            batch.reset(ended)
        for name, expected in host_state(plain).items():
            if not (expected == host_state(other)[name]).all():
                raise SystemExit(f"step {step}: {name} differs from NumPy")
    print(f"{games} games of {steps} steps are the same as with NumPy")


def wait(xp: Any) -> None:
    """Until the device has done everything."""
    if xp.__name__ == "cupy":
        xp.cuda.Stream.null.synchronize()
    elif xp.__name__ == "torch" and xp.cuda.is_available():
        xp.cuda.synchronize()


def measure(xp: Any, device: str | None, games: int, steps: int) -> None:
    began = time.perf_counter()
    batch = CrafterBatch(range(games), xp=xp, device=device)
    wait(xp)
    making = time.perf_counter() - began
    actions = batch.library.array(np.random.default_rng(2).integers(0, len(ACTIONS), (steps, games)))
    stepping = resetting = 0.0
    resets = 0
    for step in range(steps):
        began = time.perf_counter()
        over = batch.step(actions[step, :]).over
        wait(xp)
        stepped = time.perf_counter()
        ended = batch.library.host(over)
        batch.reset(ended)
        wait(xp)
        resets += int(ended.sum())
        stepping += stepped - began
        resetting += time.perf_counter() - stepped
    began = time.perf_counter()
    for _ in range(10):
        batch.observe()
    wait(xp)
    observing = (time.perf_counter() - began) / 10
    total = games * steps
    print(f"{games:,} games: {total / stepping:,.0f} game-steps/s, with resets {total / (stepping + resetting):,.0f}/s")
    each = resetting / max(resets, 1)
    print(f"    {resets:,} resets at {each * 1e3:.2f} ms each, first worlds at {making / games * 1e3:.2f}")
    print(f"    an observation of all games: {observing * 1e3:.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.crafter_device", description=__doc__)
    parser.add_argument("--library", default="numpy", help="numpy, cupy or torch")
    parser.add_argument("--device", help="for torch, such as cuda (the default there) or cpu")
    parser.add_argument("--games", type=int, nargs="+", default=[1024, 8192, 32768])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--check", type=int, default=32, help="games that are compared with NumPy; 0 for none")
    given = parser.parse_args()
    xp = importlib.import_module(given.library)
    device = given.device or ("cuda" if given.library == "torch" and xp.cuda.is_available() else None)
    if given.check:
        check(xp, device, given.check, min(given.steps, 320))
    for games in given.games:
        measure(xp, device, games, given.steps)


if __name__ == "__main__":
    main()
