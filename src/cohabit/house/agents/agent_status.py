"""The counts of the agents of a house since it was opened, and the command that shows them."""

from typing import Any

from msgspec import Struct, structs

from cohabit.agents.decision import PlayerDecision, Tally
from cohabit.house.calls.context import HouseContext
from cohabit.model.egress import STEP_TIMES
from cohabit.model.grant import Capability
from cohabit.model.observation import one_line
from cohabit.room.commands import command
from cohabit.room.seeing.info import brain_shown
from cohabit.room.state import Member

MAX_REASONING = 2_000
"""Characters of what an agent thought, in the reply of `agents`."""
STEP_TOKENS, STEP_SECONDS, STEP_DOLLARS = 16_384, 600, 1
"""While a game in a sealed room runs, others see what an agent has used in these steps. All counts are rounded down,
because the first step from zero would show when an agent acts for the first time."""
C = Capability


class LastDecision(Struct, omit_defaults=True):
    number: int
    outcome: str
    action: dict[str, Any] | None = None  # what was played
    reasoning: str = ""
    problem: str = ""
    cause: str = ""  # the name of the problem, if the decision failed
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float | None = None
    seconds: float = 0.0


class AgentStatus:
    """One agent. Written on the thread that it thinks on."""

    def __init__(self, brain: str) -> None:
        self.brain = brain
        self.tally = Tally()
        self.last: LastDecision | None = None
        self.stopped = ""  # why it no longer plays, if it should

    def decided(self, decision: PlayerDecision, seconds: float) -> None:
        used, action = [exchange.usage for exchange in decision.exchanges], decision.action
        thoughts = [exchange.thinking for exchange in decision.exchanges if exchange.thinking]
        reasoning = (action.reasoning if action is not None else "") or (thoughts[-1] if thoughts else "")
        prices = [usage.dollars for usage in used if usage.dollars is not None]
        self.last = LastDecision(
            decision.number, decision.outcome, action.choice if action is not None else None,
            one_line(reasoning)[:MAX_REASONING], one_line(decision.problem)[:MAX_REASONING], decision.cause,
            sum(usage.prompt_tokens for usage in used), sum(usage.completion_tokens for usage in used),
            sum(prices) if prices else None, round(seconds, 3),
        )  # fmt: skip


class AgentStatuses(dict[tuple[str, str], AgentStatus]):
    """By room and member."""


class AgentLine(Struct, omit_defaults=True):
    member: str
    brain: str
    playing: bool  # False: its player is back, or the agent has stopped
    decisions: int
    failures: int  # decisions in which the fallback was played
    outcomes: dict[str, int]
    seat: str | None = None
    rounded: bool = False  # down, and no outcomes: its game is hidden, and runs
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float = 0.0
    charged: float = 0.0  # with the most that requests may have cost whose cost is not known
    unpriced: int = 0  # answers whose price is unknown
    seconds: float = 0.0
    stopped: str = ""
    last: LastDecision | None = None  # only for its own member, and members who see everything


_COUNTED = ("decisions", "failures", "unpriced")
_TOKENS = ("prompt_tokens", "completion_tokens")
_MONEY = ("dollars", "charged")


class AgentLines(Struct):
    agents: list[AgentLine]


@command(category="read", where="house")
async def agents(ctx: HouseContext) -> AgentLines:
    """The agents that play in this room: their decisions, what these came to, tokens, seconds and money.

    A host sees all agents, other members the one that plays for them. What an agent thought in its last decision is
    shown to its own member and to members who see everything. Counted since the house was opened. While a game in a
    sealed room runs, a host sees counts rounded down, and no outcomes (`rounded`).
    """
    me, state = ctx.member, ctx.room.state
    sees_all = not me.held.isdisjoint((C.MANAGE_MEMBERS, C.READ_ALL))
    found, statuses = [], ctx.house.need(AgentStatuses)
    for member in list(state.members.values()):
        status = statuses.get((state.id, member.id))
        if status is not None and (sees_all or member is me):
            found.append(_line(ctx, member, status))
    return AgentLines(found)


def _line(ctx: HouseContext, member: Member, status: AgentStatus) -> AgentLine:
    me, tally = ctx.member, status.tally
    own = member is me or C.READ_ALL in me.held or ctx.runner.egress.of(member).step == 1
    may_read = C.READ_ALL in me.held or (member is me and not ctx.room.state.hide_brains)  # reasons give a script away
    line = AgentLine(
        member=member.handle,
        brain=brain_shown(ctx.room.state, member, me) or "",
        playing=member.played_by_bot and not status.stopped,
        **{name: getattr(tally, name) for name in (*_COUNTED, *_TOKENS)},
        **{name: round(getattr(tally, name), 6) for name in _MONEY},
        outcomes=dict(tally.outcomes),
        seat=member.seat,
        seconds=round(tally.seconds, 3),
        stopped=one_line(status.stopped)[:MAX_REASONING],
        last=status.last if may_read else None,
    )
    return line if own else _rounded(line)


def _rounded(line: AgentLine) -> AgentLine:
    """The line for others while the game is hidden. It must not show when the agent acts, or how long it thinks."""
    steps = {**dict.fromkeys(_COUNTED, STEP_TIMES), **dict.fromkeys(_TOKENS, STEP_TOKENS), "seconds": STEP_SECONDS}
    steps |= dict.fromkeys(_MONEY, STEP_DOLLARS)
    shown = {name: getattr(line, name) // step * step for name, step in steps.items()}
    return structs.replace(line, **shown, outcomes={}, rounded=True)
