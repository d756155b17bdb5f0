"""Checks that an agent can be created and its backend is available, before it plays."""

import asyncio

from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import Closing, Ready, Setting, awaited
from cohabit.agents.isolated import facts_of, open_agent
from cohabit.agents.secrets import in_public
from cohabit.agents.spending import Spending
from cohabit.errors import AskerError, BadArgs
from cohabit.registry import is_foreign, make_agent


def make_once(name: str, dollars: float | None = None) -> None:
    """Make an agent with this brain once. Raises BAD_ARGS, with what to do, if a package, key, file, server or model
    is missing. ``dollars``: the cap on what agents may spend; then the price must be known."""
    brain, setting = parse_brain(name), Setting(spending=Spending(dollars)) if dollars else None
    try:
        if is_foreign(brain):
            facts_of(name, ask_ready=True)
            open_agent(name, "check", setting)  # it is not started
            return
        agent = make_agent(name, "check", setting=setting)
        if isinstance(agent, Ready | Closing):
            asyncio.run(_ask_whether_ready(agent))
    except AskerError:
        raise
    except Exception as bug:  # of a class in a file or of a package
        wrong = f"{type(bug).__name__}: {in_public(bug)[:300]}"
        raise BadArgs(f"the brain {brain.label} cannot be created: {wrong}") from None


async def _ask_whether_ready(agent: Ready | Closing) -> None:
    try:
        if isinstance(agent, Ready):
            await agent.ready()
    finally:
        if isinstance(agent, Closing):
            await awaited(agent.close)
