"""Check of what a world offers to learners: numbered actions and arrays."""

from cohabit.errors import BadArgs
from cohabit.model.action import Action
from cohabit.registry import make_world
from cohabit.testing.checks.trial import CheckFailed, Trial
from cohabit.world import World


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
