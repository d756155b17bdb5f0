"""Checks of random play: turns, legal actions, rewards, values without text, refusals and endings."""

from cohabit.registry import make_world
from cohabit.testing.checks.trial import CheckFailed, Trial
from cohabit.testing.play import Watched
from cohabit.world import overrides


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


def check_to_move(trial: Trial) -> str:
    """to_move and standings only name existing seats."""
    trial.first_problem("to_move")
    return "only existing seats"


def check_legal(trial: Trial) -> str:
    """Listed actions are accepted, and a seat whose turn it is has at least one."""
    trial.first_problem("legal")
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


def check_refusals(trial: Trial) -> str:
    """A refused action leaves the world as it was."""
    trial.first_problem("refusals")
    return f"{sum(p.refused for p in trial.plays)} refusals changed nothing"


def check_over(trial: Trial) -> str:
    """A game that is over stays over."""
    trial.first_problem("over")
    endings = sum(p.endings for p in trial.plays)
    return f"{endings} finished games stayed finished" if endings else "no game ended in these steps"
