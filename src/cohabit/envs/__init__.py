"""Every world as an environment for training: Gymnasium (one seat) and PettingZoo (all seats).

Both libraries are optional: ``pip install 'cohabit[envs]'``. Where Gymnasium is installed, importing this package
registers the worlds, so ``gymnasium.make("cohabit/nim-v0")`` makes the same environment as ``gym("nim")``.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from cohabit.errors import BadArgs
from cohabit.registry import find_world, known_games

if TYPE_CHECKING:
    from cohabit.envs.episodes import Setup
    from cohabit.envs.multi import SequentialEnv, SimultaneousEnv
    from cohabit.envs.single import SeatEnv

__all__ = ["aec", "gym", "parallel", "register"]
Config = Mapping[str, Any]


def gym(
    world: str,
    *,
    config: Config | None = None,
    seat: int | str = 1,
    opponents: str | Sequence[str] = "random",
    seats: int | None = None,
    observe: str | None = None,
    partial_intel: bool = False,
    step_ticks: int = 0,
    max_steps: int = 0,
    render_mode: str | None = None,
) -> "SeatEnv":
    """One seat of a world as a ``gymnasium.Env``: ``gym("nim", seat=2, opponents="nim-master")``.

    ``seat`` is its number, from 1, or its name. ``opponents`` are the brains on the other seats, one name for all of
    them or a list. ``seats`` is how many there are, if the world leaves that open and ``opponents`` is one name.
    ``observe``: ``text``, or the name of an array that the world offers. ``partial_intel``: fog, in worlds that let the
    scenario decide. ``step_ticks``: how long a step of a real-time world takes; 0 is one second of its time.
    ``max_steps``: truncate an episode there.
    """
    _need("gymnasium")
    from cohabit.envs.episodes import Setup, one_learner
    from cohabit.envs.single import SeatEnv

    players = one_learner(find_world(world).spec, seat, opponents, seats)
    setup = Setup(world, players, dict(config or {}), partial_intel, step_ticks, max_steps)
    return SeatEnv(setup, observe, render_mode)


def parallel(
    world: str,
    *,
    config: Config | None = None,
    seats: int | None = None,
    observe: str | None = None,
    partial_intel: bool = False,
    step_ticks: int = 0,
    max_steps: int = 0,
    render_mode: str | None = None,
) -> "SimultaneousEnv":
    """All seats of a world as a ``pettingzoo.ParallelEnv``, for worlds where players act at once.

    ``seats`` is how many; by default as many as the world needs, and two where it also runs with fewer. The other
    parameters are those of ``gym``.
    """
    _need("pettingzoo")
    from cohabit.envs.multi import SimultaneousEnv

    return SimultaneousEnv(_all_seats(world, seats, config, partial_intel, step_ticks, max_steps), observe, render_mode)


def aec(
    world: str,
    *,
    config: Config | None = None,
    seats: int | None = None,
    observe: str | None = None,
    partial_intel: bool = False,
    step_ticks: int = 0,
    max_steps: int = 0,
    render_mode: str | None = None,
) -> "SequentialEnv":
    """All seats of a world as a ``pettingzoo.AECEnv``, for worlds where players take turns. See ``parallel``."""
    _need("pettingzoo")
    from cohabit.envs.multi import SequentialEnv

    return SequentialEnv(_all_seats(world, seats, config, partial_intel, step_ticks, max_steps), observe, render_mode)


def register() -> None:
    """Register every listed world with Gymnasium, as ``cohabit/NAME-v0``. Done when this package is imported."""
    import gymnasium

    for name in known_games():
        made = f"cohabit/{name}-v0"
        if made not in gymnasium.registry:
            gymnasium.register(made, entry_point="cohabit.envs:gym", kwargs={"world": name})


def _all_seats(world: str, seats: int | None, config: Config | None, *options: Any) -> "Setup":
    from cohabit.envs.episodes import Setup, only_learners

    return Setup(world, only_learners(find_world(world).spec, seats), dict(config or {}), *options)


def _need(package: str) -> None:
    if find_spec(package) is None:
        raise BadArgs(f"the package {package} is not installed; pip install 'cohabit[envs]'")


if find_spec("gymnasium") is not None:
    register()
