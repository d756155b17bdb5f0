"""Which brains the members of a house may have, and whether they can be made.

A file is code that the house runs, and a model is network access, computing time or money. Remote callers therefore
choose from the built-in scripts and from the brains that the setting ``brains`` lists. The operator may use any.
"""

import asyncio
from functools import partial

from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import Closing, Ready, Setting
from cohabit.agents.secrets import in_public
from cohabit.agents.spending import Spending
from cohabit.errors import AskerError, BadArgs, PermissionDenied
from cohabit.house.running.threads import run_in_thread
from cohabit.house.settings import Settings
from cohabit.model.suggest import nearest
from cohabit.registry import BRAINS, HUMAN, is_script, knows_brain, make_agent

MAKE_S = 60.0
"""How long making an agent may take: some packages take long to import."""


def check_allowed(name: str | None, settings: Settings) -> None:
    """Raise PERMISSION_DENIED if a remote caller may not choose this brain, BAD_ARGS if it is not a brain."""
    if name is None:
        return
    brain = parse_brain(name)
    if is_script(brain):
        _make(name)
        return
    if not (knows_brain(brain) or brain.is_code_or_network):
        raise _unknown(name)
    allowed = [parse_brain(listed.strip()) for listed in settings.brains.split(",") if listed.strip()]
    if brain not in allowed:
        others = f" or one of: {', '.join(listed.label for listed in allowed)}" if allowed else ""
        raise PermissionDenied(
            f"the brain {brain.label[:80]!r} may not be chosen over a network; choose a built-in script{others}. "
            "The operator of the house can allow it with the setting brains"
        )


async def check_makeable(name: str, dollars: float | None = None) -> None:
    """Make an agent with this brain once, so that a missing package, key, file or server is reported early.

    ``dollars``: the cap of the house on what its agents may spend.
    """
    brain = parse_brain(name)
    if brain.kind == HUMAN:
        raise BadArgs("a person plays in a house as a member: leave out the brain, and connect with `cohabit play`")
    if not (knows_brain(brain) or brain.is_file):
        raise _unknown(name)
    if is_script(brain):
        _make(name)
    else:
        await run_in_thread(f"the brain {brain.label}", partial(_make, name, dollars), MAKE_S)


def _make(name: str, dollars: float | None = None) -> None:
    try:
        agent = make_agent(name, "check", setting=Setting(spending=Spending(dollars)) if dollars else None)
        if isinstance(agent, Ready | Closing):
            asyncio.run(_ask_whether_ready(agent))
    except AskerError:
        raise
    except Exception as bug:  # of a class in a file or of a package
        label = parse_brain(name).label
        raise BadArgs(f"the brain {label} cannot be made: {type(bug).__name__}: {in_public(bug)[:300]}") from None


async def _ask_whether_ready(agent: Ready | Closing) -> None:
    try:
        if isinstance(agent, Ready):
            await agent.ready()
    finally:
        if isinstance(agent, Closing):
            await agent.close()


def _unknown(name: str) -> BadArgs:
    return BadArgs(f"unknown brain {name[:80]!r}", did_you_mean=nearest(name[:80], list(BRAINS), 2))
