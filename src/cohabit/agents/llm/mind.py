"""An agent that thinks with a language model: builds the prompt, asks the backend, reads the answer, remembers."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from cohabit.agents.brain import Brain
from cohabit.agents.contract import NO_SETTING, Call, Exchange, Heard, Ready, Setting, Thought, Turn
from cohabit.agents.llm import prompt
from cohabit.agents.llm.backend import Backend, BackendError, ChatMessage, Completion, Request
from cohabit.agents.llm.cached import CachedBackend
from cohabit.agents.llm.calls import ask, exchange
from cohabit.agents.llm.memory import Notebook
from cohabit.agents.llm.metered import MeteredBackend, check_cap
from cohabit.agents.llm.options import split_options
from cohabit.agents.llm.rate import account_of_backend, rate_limit_of
from cohabit.agents.llm.retrying import RetryingBackend
from cohabit.agents.llm.schema import answer_schema, compact_answers, fit, is_listed
from cohabit.agents.llm.telemetry import traced
from cohabit.agents.llm.tools import Toolbox
from cohabit.agents.spending import Spending
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.answers import EXPECTED, AnswerProblem, parse_action
from cohabit.model.control_tokens import defused
from cohabit.model.observation import Goal, Observation, one_line

MAX_QUOTED_ANSWER = 1000
"""Characters of its own answer that a model is shown with a correction."""
MAX_QUOTED_REFUSAL = 200
"""Characters of a refusal in the problem of a decision."""
BRIEF_CHOICES = 20
"""The number of legal actions that a shortened view lists."""
PLAN_TOKENS = 120
TALK_TOKENS = 80


class LlmAgent:
    """See the module."""

    def __init__(
        self,
        backend: Callable[[Brain], Backend],
        brain: Brain,
        setting: Setting = NO_SETTING,
    ) -> None:
        self.brain = brain
        self.options, rest = split_options(brain, getattr(backend, "defaults", {}))
        self.server = backend(msgspec.structs.replace(brain, options=rest))
        spending, rate = setting.spending or Spending(), rate_limit_of(account_of_backend(self.server))
        check_cap(self.brain.label, self, spending.cap)
        self._metered = MeteredBackend(traced(self.server), spending)
        # Ask the cache first, then the server, again if need be. Every request is counted.
        asked: Backend = RetryingBackend(self._metered, self.options.retries, self.options.per_minute, rate=rate)
        self.backend = asked if setting.cache is None else CachedBackend(asked, setting.cache)
        self.notebook = Notebook(self.options.memory, setting.memory)
        self._system = ""
        self._space = ActionSpace()
        self._tools = Toolbox(self.notebook, self._space)
        self._heard: list[Heard] = []
        self._asked: list[ChatMessage] = []  # in this turn, with the answers
        self._exchanges: list[Exchange] = []  # since the last thought
        self._last: Action | None = None
        self._step = 0

    def spend_from(self, spending: Spending) -> None:
        """Count what it spends from now on there: an agent in a file is made without a setting."""
        check_cap(self.brain.label, self, spending.cap)
        self._metered.spending = spending

    @property
    def priced(self) -> bool:
        """True if the price of its answers is known."""
        return bool(getattr(self.server, "priced", True))

    async def ready(self) -> None:
        """Raise BAD_ARGS, with what to do, if the backend cannot answer."""
        if isinstance(self.server, Ready):
            await self.server.ready()

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        self._space = action_space
        self._tools = Toolbox(self.notebook, action_space)
        tools = self._tools.actions() if self.options.tools else ()
        self._system = prompt.system_text(
            game_desc, action_space, tools=tools, persona=self.options.persona, brief=self.options.brief
        )

    def hear(self, message: Heard) -> None:
        self._heard = [*self._heard, message][-prompt.MAX_HEARD :]

    # -- deciding ---------------------------------------------------------------------------------
    async def decide(self, observation: Observation) -> Action | None:
        thought = await self.think(Turn(observation, observation.to_text()))
        return thought.action

    async def think(self, turn: Turn, correction: str = "") -> Thought:
        """Ask, answer the calls of tools, and read the action. A correction continues the conversation of this turn."""
        if correction and self._asked:
            self._asked.append(_message("user", f"That was not accepted: {correction}\n\n{self._question()}"))
        else:
            self._asked = [_message("system", self._system), _message("user", self._prompt(turn))]
        self._step, self._last = turn.observation.step, None
        for calls_left in range(self.options.tools, -1, -1):
            request = self._request(turn.observation.choices, tools=calls_left > 0)
            completion, calls = await self._ask(request)
            action, problem, cause = self._read(completion, turn.observation.choices)
            tool = action.name if action is not None and self.options.tools and action.name in self._tools else ""
            if tool and not calls_left:
                action, cause = None, "tool_call"
                problem = f"The answer calls a tool, but only {self.options.tools} calls are allowed"
            self._exchanges.append(exchange(request, completion, calls, problem, cause, tool))
            self._asked.append(_message("assistant", completion.text[:MAX_QUOTED_ANSWER].strip() or "(no answer)"))
            if action is None or not tool:
                self._last = action
                return Thought(action, self.unanswered(), problem)
            found = self._tools.call(tool, action.parameters)
            self._asked.append(_message("user", f"{tool}: {found}\n\n{self._question()}"))
        raise AssertionError("unreachable")

    async def _ask(self, request: Request) -> tuple[Completion, list[Call]]:
        return await ask(self.backend, request, lambda made: self._exchanges.append(made))

    def unanswered(self) -> list[Exchange]:
        """Return the exchanges since the last thought, and forget them."""
        taken, self._exchanges = self._exchanges, []
        return taken

    def _request(self, choices: list[dict[str, Any]], tools: bool) -> Request:
        options = self.options
        used = self._tools.actions() if tools else ()
        schema = answer_schema(self._space, choices, options.reasoning, listed=options.listed, tools=used)
        short = not options.reasoning and not used and is_listed(self._space, choices, options.listed)
        return Request(
            list(self._asked),
            schema,
            options.max_tokens,
            options.temperature,
            options.seed,
            compact_answers(choices) if short else [],
        )

    def _read(self, completion: Completion, choices: list[dict[str, Any]]) -> tuple[Action | None, str, str]:
        """The action, or what is wrong with the answer and the name of its cause."""
        if completion.stopped == "refusal":
            why = one_line(completion.text)[:MAX_QUOTED_REFUSAL]
            return None, f"The model refused to answer{f': {why}' if why else ''}", "refusal"
        try:
            action = fit(parse_action(completion.text, self._space), self._space, choices)
            return action if prompt.is_reason(action.reasoning) else Action(action.name, action.parameters), "", ""
        except AnswerProblem as wrong:
            if completion.stopped == "tool":
                tool = one_line(completion.text)[:MAX_QUOTED_REFUSAL]
                return None, f"The model called a tool that it was not offered {tool}. {EXPECTED}", "tool_call"
            if completion.stopped == "length":
                cut = f"The answer was cut off after {self.options.max_tokens} tokens. Write less. {wrong}"
                return None, cut, "cut_off"
            return None, str(wrong), wrong.cause

    def _prompt(self, turn: Turn) -> str:
        """Build the prompt. Parts that change least come first, so that the backend's prompt cache hits."""
        parts = [self.notebook.to_text()] if self.options.memory else []
        if self.options.view:
            parts.append(prompt.shortened(turn.observation.to_text(), self.options.view))
            if turn.observation.choices:
                parts.append(prompt.choices_text(turn.observation.choices, BRIEF_CHOICES))
        else:
            parts.append(turn.text)
        if self._heard:
            parts.append(prompt.quoted(self._heard))
        parts.append(self._question())
        return "\n\n".join(part for part in parts if part)

    def _question(self) -> str:
        return prompt.ASK if self.options.reasoning else prompt.ASK_SHORT

    # -- learning ---------------------------------------------------------------------------------
    async def reflect(self, result: ActionResult) -> None:
        if self._last is not None and self.options.memory:
            came = result.message if result.success else f"failed: {result.message}"
            self.notebook.remember(self._step, self._last, came, result.reward)

    async def plan(self, goals: Sequence[Goal]) -> list[str]:
        """Ask for a plan, which is then part of the memory. The game goes on without one; the transcript says why."""
        if not (self.options.plan and self.options.memory and goals):
            return []
        wanted = "\n".join(f"- {goal.to_text()}" for goal in goals)
        ask = f"Your goals:\n{wanted}\n\nWrite a plan of at most three short lines."
        messages = [_message("system", self._system), _message("user", ask)]
        request = Request(messages, None, PLAN_TOKENS, self.options.temperature, self.options.seed)
        try:
            completion, calls = await self._ask(request)
        except BackendError:
            return []
        self._exchanges.append(exchange(request, completion, calls))
        plans = [line.strip("-* ") for line in completion.text.splitlines() if line.strip("-* ")][:3]
        self.notebook.plan(plans)
        return plans

    async def talk(self, task: str, scene: str, heard: Sequence[Heard] = ()) -> str:
        """Ask for a short text. Nothing of it is remembered."""
        parts = [prompt.shortened(scene, self.options.view), prompt.quoted(heard) if heard else "", prompt.ASK_TEXT]
        messages = [_message("system", task), _message("user", "\n\n".join(filter(None, parts)))]
        options = self.options
        request = Request(messages, None, min(TALK_TOKENS, options.max_tokens), options.temperature, options.seed)
        return (await self.backend.complete(request)).text

    async def close(self) -> None:
        await self.backend.close()


def _message(role: Literal["system", "user", "assistant"], content: str) -> ChatMessage:
    """Every message is defused: a correction quotes names of others, and an answer what the model was told."""
    return ChatMessage(role, defused(content))
