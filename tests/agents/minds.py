"""A language model agent whose model says what a test wants, and games with it."""

from collections.abc import Sequence
from typing import Any, ClassVar

from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import Setting, Usage
from cohabit.agents.decision import PlayerDecision
from cohabit.agents.llm.backend import Completion, Request
from cohabit.agents.llm.mind import LlmAgent
from cohabit.lab.game import Game, GameSpec

Answer = str | Completion | Exception


class ScriptedModel:
    """Gives the answers in order, the last one again and again, and keeps what it was asked."""

    constrains = True
    name = "scripted:model"
    defaults: ClassVar[dict[str, Any]] = {"retries": 0}

    def __init__(self, *answers: Answer, usage: Usage = Usage(10, 2, 0.01)) -> None:  # noqa: B008 - immutable
        self.answers, self.usage = list(answers), usage
        self.requests: list[Request] = []

    def __call__(self, brain: object) -> "ScriptedModel":
        return self

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Completion) else Completion(answer, usage=self.usage)

    async def close(self) -> None: ...


def mind(model: ScriptedModel, options: str = "", setting: Setting = Setting()) -> LlmAgent:  # noqa: B008 - immutable
    return LlmAgent(model, parse_brain(f"scripted:model?{options}"), setting)


async def played(
    agent: Any, world: str = "nim", decisions: int = 3, others: Sequence[Any] = (), **spec: Any
) -> tuple[Game, list[PlayerDecision]]:
    """A game of the agent on the first seat against a quick one; the agent's decisions."""
    from cohabit.agents.contract import adapted
    from cohabit.registry import make_agent

    made: list[PlayerDecision] = []

    def keep(i: int, decision: PlayerDecision, _: float) -> None:
        if i == 0:
            made.append(decision)

    rivals = list(others) or [adapted(make_agent("random", "rival"))]
    whole = GameSpec("g", world, ["x"] * (1 + len(rivals)), seed="1", max_decisions=decisions, **spec)
    game = Game(whole, agents=[agent, *rivals], on_decision=keep)
    await game.play()
    return game, made
