"""Which brains the members of a house may have, and whether they can be created.

A file or a program is code that the house runs, and a model is network access, computing time or money. Remote callers
therefore choose from the built-in scripts and from the brains that the setting ``brains`` lists. The operator may use
any.
"""

from functools import partial
from pathlib import Path

from cohabit.agents.brain import parse_brain
from cohabit.agents.ready import make_once
from cohabit.errors import BadArgs, PermissionDenied
from cohabit.house.settings import Settings, split_names
from cohabit.house.threads import run_in_thread
from cohabit.model.suggest import nearest
from cohabit.registry import BRAINS, HUMAN, absolute_brain, is_script, knows_brain, players_of, unknown_brain

MAKE_S = 60.0
"""The time that making an agent may take: some packages take long to import."""


def check_allowed(name: str | None, settings: Settings) -> str | None:
    """The brain that a remote caller has chosen, with the whole path of a file, so that it is found after a restart.

    Raises PERMISSION_DENIED if it may not be chosen, BAD_ARGS if it is not a brain. Only paths that the operator has
    listed are looked up on the disk.
    """
    if name is None:
        return None
    brain = parse_brain(name)
    if is_script(brain):
        make_once(name)
        return name
    if not (brain.is_code_or_network or knows_brain(brain)):
        raise _unknown(name)
    allowed = split_names(settings.brains)
    for listed in allowed:
        whole = absolute_brain(listed, Path()) or listed
        if brain in (parse_brain(listed), parse_brain(whole)):
            return whole if brain.is_code else name
    others = f" or one of: {', '.join(parse_brain(listed).label for listed in allowed)}" if allowed else ""
    raise PermissionDenied(
        f"the brain {brain.label[:80]!r} may not be chosen over a network; choose a built-in script{others}. "
        "The operator of the house can allow it with the setting brains"
    )


def brains_for(world: str, settings: Settings) -> list[str]:
    """The brains that a remote caller may choose for a player of this world, by name."""
    return [*players_of(world), *split_names(settings.brains)]


async def check_makeable(name: str, dollars: float | None = None) -> None:
    """Make an agent with this brain once, so that a missing package, key, file or server is reported early.

    ``dollars``: the cap of the house on what its agents may spend.
    """
    brain = parse_brain(name)
    if brain.kind == HUMAN:
        raise BadArgs("a person plays in a house as a member: leave out the brain, and connect with `cohabit play`")
    if not (brain.is_file or knows_brain(brain)):
        raise _unknown(name)
    if is_script(brain):
        make_once(name)
    else:
        await run_in_thread(f"the brain {brain.label}", partial(make_once, name, dollars), MAKE_S)


def _unknown(name: str) -> BadArgs:
    return BadArgs(unknown_brain(name[:80]), did_you_mean=nearest(name[:80], list(BRAINS), 2))
