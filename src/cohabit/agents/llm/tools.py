"""Tools that a language model may call before it decides: a calculator, and a note for its memory.

A call is answered at once and does not end the turn. How many a decision may have is an option of the agent.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from cohabit.agents.llm.memory import Notebook
from cohabit.model.action import ActionDef, ActionSpace, ParamDef
from cohabit.model.mind import Tool

MAX_EXPRESSION = 200
MAX_POWER = 64
"""The largest exponent, and 10 to this the largest number: a calculation never takes long."""
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip

CALCULATE = Tool("calculate", "Compute a number", [ParamDef("expression", "such as (3 + 4) * 2 % 5")])
REMEMBER = Tool("remember", "Keep a fact in your memory", [ParamDef("fact", "one sentence")])


class Toolbox:
    """The tools of one agent. A tool with the name of an action of the world is left out."""

    def __init__(self, notebook: Notebook, space: ActionSpace) -> None:
        self._notebook = notebook
        made = {CALCULATE.name: (CALCULATE, self._calculate), REMEMBER.name: (REMEMBER, self._remember)}
        self._tools = {name: pair for name, pair in made.items() if name not in space.names()}

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def actions(self) -> list[ActionDef]:
        """The tools in the form of actions, for the schema and the prompt."""
        return [ActionDef(t.name, t.description, t.parameters, category="tool") for t, _ in self._tools.values()]

    def call(self, name: str, params: Mapping[str, Any]) -> str:
        """The answer of a tool; also what was wrong, as text for the model."""
        tool, run = self._tools[name]
        given = params.get(tool.parameters[0].name)
        if not isinstance(given, str | int | float):
            return f"{tool.parameters[0].name} must be a text"
        return run(str(given))

    def _calculate(self, expression: str) -> str:
        try:
            return str(calculate(expression))
        except (ValueError, SyntaxError, ArithmeticError, RecursionError, MemoryError) as wrong:
            return f"cannot be computed: {wrong}"

    def _remember(self, fact: str) -> str:
        self._notebook.learn(fact)
        return "noted"


def calculate(expression: str) -> int | float:
    """The value of an arithmetic expression: numbers, + - * / // % **, and brackets."""
    if len(expression) > MAX_EXPRESSION:
        raise ValueError(f"longer than {MAX_EXPRESSION} characters")
    return _value(ast.parse(expression.strip(), mode="eval").body)


def _value(node: ast.expr) -> int | float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _bounded(value)
        case ast.UnaryOp(op=op, operand=inner) if type(op) in _OPERATORS:
            return _bounded(_OPERATORS[type(op)](_value(inner)))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            power = _value(right)
            if abs(power) > MAX_POWER:
                raise ValueError(f"the exponent is above {MAX_POWER}")
            return _bounded(_value(left) ** power)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _bounded(_OPERATORS[type(op)](_value(left), _value(right)))
    raise ValueError("only numbers, + - * / // % ** and brackets are allowed")


def _bounded(value: Any) -> int | float:
    if isinstance(value, complex) or not abs(value) <= 10**MAX_POWER:
        raise ValueError("the result is not a number of ordinary size")
    number: int | float = value
    return number
