"""Checks of random play: turns, legal actions, rewards, values without text, refusals and endings, what is offered to
trainers, and what the world does to its process."""

import math
from collections.abc import Mapping
from typing import Any

from cohabit.errors import BadArgs
from cohabit.model.action import Action
from cohabit.registry import make_world
from cohabit.testing.checks.trial import CheckFailed, CheckWarned, Trial
from cohabit.testing.play import Watched
from cohabit.world import World, overrides


def check_play(trial: Trial) -> str:
    """Random play completes without a crash, and some actions are accepted."""
    if trial.stopped:
        raise CheckFailed(f"{trial.world.spec.name} failed: {trial.stopped}")
    plays = trial.plays
    trial.steps_played = sum(play.steps for play in plays)
    accepted, refused = sum(p.accepted for p in plays), sum(p.refused for p in plays)
    if trial.steps_played == 0:
        raise CheckFailed("no step was played; pass steps and seeds")
    if accepted == 0 and (refused or trial.world.spec.seat_range[1]):
        raise CheckFailed(
            f"{trial.steps_played} steps, but no action was accepted ({refused} refused; the last: "
            f"{plays[-1].last}); write legal(), so random play finds a move"
        )
    return f"{trial.steps_played} steps: {accepted} actions accepted, {refused} refused"


def check_outcomes(trial: Trial) -> str:
    """Every action returns an Outcome or a text."""
    for play in trial.plays:
        if "outcomes" in play.problems:
            raise CheckWarned(play.problems["outcomes"])
    return "every action returned something"


def check_to_move(trial: Trial) -> str:
    """to_move and standings only name existing seats, and scores are finite numbers."""
    trial.first_problem("to_move")
    return "only existing seats"


def check_legal(trial: Trial) -> str:
    """Listed actions are accepted, and a seat whose turn it is has at least one."""
    trial.first_problem("legal")
    never = {name: said for play in trial.plays for name, said in play.unlisted.items()}
    for play in trial.plays:
        never = {name: said for name, said in never.items() if name not in play.listed}
    if never:
        raise CheckWarned(
            f"legal() never lists {next(iter(never))}, but {next(iter(never.values()))}. People on the page choose "
            "from what is listed: list it, or write examples=True in the spec"
        )
    return "all listed actions were accepted"


def check_returns(trial: Trial) -> str:
    """returns() gives finite totals for existing seats, starting at 0."""
    trial.first_problem("returns")
    if not overrides(trial.world, "returns"):
        return "no rewards per seat"
    for play in trial.plays:
        world = make_world(trial.source, trial.config)
        with Watched():
            world.restore(play.opening)
            begun = {seat: total for seat, total in world.returns().items() if total != 0}
        if begun:
            raise CheckFailed(f"after reset() returns() is {begun}; totals must start at 0")
    seats = sum(len(play.room.world.returns()) for play in trial.plays)
    return f"totals of {seats} seats, finite and starting at 0"


def check_data(trial: Trial) -> str:
    """observe_data() gives the values of observe()."""
    trial.first_problem("data")
    return "the same values" if overrides(trial.world, "observe_data") else "always with the text"


def check_scene(trial: Trial) -> str:
    """scene() gives layers by name, each a JSON value."""
    if not overrides(trial.world, "scene"):
        return "none"
    for play in trial.plays:
        for eye in play.eyes():
            with Watched():
                layers = play.room.world.scene(eye)
            for name, layer in layers.items():
                problem = _not_json({name: layer})
                if problem:
                    raise CheckFailed(f"the layer {name!r} of scene() is no JSON value: {problem}")
    return "layers of JSON values"


def _not_json(value: Any) -> str:
    """Why a value is none that JSON has; empty if it is one."""
    if isinstance(value, Mapping):
        wrong = next((name for name in value if not isinstance(name, str)), None)
        return f"{wrong!r} is a name" if wrong is not None else next(filter(None, map(_not_json, value.values())), "")
    if isinstance(value, list | tuple):
        return next(filter(None, map(_not_json, value)), "")
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is no number"
    return "" if value is None or isinstance(value, str | int | float | bool) else f"a {type(value).__name__}"


def check_refusals(trial: Trial) -> str:
    """A refused action leaves the world as it was."""
    trial.first_problem("refusals")
    return f"{sum(p.refused for p in trial.plays)} refusals changed nothing"


def check_over(trial: Trial) -> str:
    """A game that is over stays over."""
    trial.first_problem("over")
    endings = sum(p.endings for p in trial.plays)
    if not endings and trial.world.pace != "step" and trial.world.spec.seat_range[1]:  # others often have no end
        raise CheckWarned(
            "no game ended in these steps, so nothing was checked after an end. Unless the world has none, make games "
            "shorter with --config, or play more with --steps"
        )
    return f"{endings} finished games stayed finished" if endings else "no game ended in these steps"


MAX_LISTED = 20
LIMITS = "limits"
"""The name of the check that fails if the world ends the process or is ended."""


def check_outside(trial: Trial) -> str:
    """The world reads no environment variable and no clock, and uses no other files, network, processes, threads."""
    if trial.outside is None:
        return "not watched in this process"
    found = [f"{place} {words}" for place, words in trial.outside.found.items()]
    if found:
        more = len(found) - MAX_LISTED
        raise CheckFailed(f"{'. '.join(found[:MAX_LISTED])}{f' (and {more} more)' if more > 0 else ''}")
    _need_world(trial)
    return "no environment, files, network, processes or clock"


def check_limits(trial: Trial) -> str:
    """Every method returns within the limits of time and memory, and none ends the process."""
    watch = trial.watch
    if watch is None:
        return "not limited in this process"
    if watch.starved:
        raise CheckFailed(f"{watch.starved} needed more than {watch.limits.memory_mb} MB of memory")
    _need_world(trial)
    return f"every call returned within {watch.limits.cpu_s:g} s of CPU time and {watch.limits.wait_s:g} s in all"


def _need_world(trial: Trial) -> None:
    """Skip the check if there is no world that could have done something."""
    assert trial.world is not None


def check_training(trial: Trial) -> str:
    """Numbered actions exist, each once; arrays have the declared form; both lists follow from the config."""
    numbered, forms = _offered(trial.world)
    other = make_world(trial.source, trial.config)
    if any(_offered(world) != (numbered, forms) for world in (other, *(play.room.world for play in trial.plays))):
        raise CheckFailed("numbered() and arrays() must always list the same; they returned different lists")
    for place, action in enumerate(numbered):
        _check_action(trial, action)
        if action in numbered[:place]:
            raise CheckFailed(f"numbered() lists {action.text} twice")
    trial.first_problem("training")
    return f"{len(numbered)} numbered actions, {len(forms)} arrays"


def _offered(world: World) -> tuple[list[Action], dict[str, object]]:
    return list(world.numbered() or ()), dict(world.arrays())


def _check_action(trial: Trial, action: Action) -> None:
    command = next((c for c in trial.commands if c.name == action.name and c.records), None)
    if command is None:
        raise CheckFailed(f"numbered() lists {action.name!r}, which is not an action of this world")
    try:
        command.check(action.parameters)
    except BadArgs as wrong:
        raise CheckFailed(f"numbered() lists {action.text}, but {wrong.message}") from None
