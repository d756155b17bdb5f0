"""``GameAdapter``, the interface of WSAP for one agent and one game, and the world that an adapter becomes.

An adapter knows no seats, no seeds and no snapshots. ``AdapterWorld`` supplies them:

* One seat, pace ``step``. The actions are those of ``action_space``, as it was when the adapter was created.
* Each game has a new adapter. Its ``reset`` gets the seed of the game if it has a parameter ``seed``.
* A failed action (``success=False``) is an outcome, not a refusal: time may have passed in it.
* The legal actions are what ``legal_actions()`` gives, if the adapter has it, or the ``choices`` of its observations.
  Otherwise they are examples: the actions of ``action_space`` at that moment, with all values of their parameters
  where these are listed.
* A snapshot has the actions since ``reset``. Restoring one plays them again on a new adapter, so the adapter must be
  deterministic. If it has ``save()``, which returns plain values, and ``restore(state)``, these are used instead.
"""

import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from hashlib import sha256
from math import ceil, floor
from typing import Annotated, Any, ClassVar, Literal, Protocol

import msgspec

from cohabit.errors import BadArgs
from cohabit.model import plain
from cohabit.model.action import Action, ActionDef, ActionResult, ActionSpace, ParamDef
from cohabit.model.observation import Observation
from cohabit.model.suggest import nearest
from cohabit.world import SPOKEN, ActionSpec, Eye, Outcome, Range, Seat, SeatId, World, WorldSpec

MEMBERS = ("game_description", "action_space", "observe", "act", "reset")
LEGAL = "legal_actions"
"""The optional method of an adapter that lists the actions that are possible now."""
SOCIAL = ("chat", "communication", "social")
"""Categories of actions whose parameters are what a player says to others."""
MAX_EXAMPLES = 40
"""The number of actions that are listed as examples."""
_CHOICES = re.compile(r"[\w-]+(\|[\w-]+)+")
_NUMBERS = re.compile(r"(\d+)-(\d+)")
_TYPES: dict[str, Any] = {
    "string": str, "str": str, "integer": int, "int": int, "number": float, "float": float, "boolean": bool,
    "bool": bool, "array": list[Any], "list": list[Any], "object": dict[str, Any], "dict": dict[str, Any],
}  # fmt: skip


class GameAdapter(Protocol):
    """Makes a game playable for one agent."""

    @property
    def game_description(self) -> str:
        """The game, its goals and mechanics. Sent once."""

    @property
    def action_space(self) -> ActionSpace:
        """The actions that the agent can take."""

    def observe(self) -> Observation:
        """The current state. Changes nothing."""

    def act(self, action: Action) -> ActionResult:
        """Execute an action."""

    def reset(self) -> Observation:
        """Reset the game to its initial state."""


def is_adapter(value: Any) -> bool:
    """True if this is a class with the members of ``GameAdapter``, derived from it or not."""
    return (
        isinstance(value, type)
        and not issubclass(value, World)
        and not getattr(value, "_is_protocol", False)
        and all(hasattr(value, member) for member in MEMBERS)
    )


@functools.cache
def as_world(adapter: type, reserved: frozenset[str] = frozenset()) -> "type[AdapterWorld]":
    """The world class of an adapter class. Its config has the parameters of the adapter's ``__init__``.

    ``reserved``: names that actions of a world cannot have. An action with such a name gets the prefix ``game_``.
    """
    title = getattr(adapter, "name", None)
    short = adapter.__name__.removesuffix("Adapter") or adapter.__name__
    return type(
        adapter.__name__,
        (AdapterWorld,),
        {
            "__init__": _init_like(adapter),
            "__doc__": adapter.__doc__ or f"{short}, a game.",
            "__module__": adapter.__module__,
            "adapter_class": adapter,
            "reserved": reserved,
            "spec": WorldSpec(
                name=re.sub(r"\W+|(?<=[a-z0-9])(?=[A-Z])", "_", short).lower(),
                title=title if isinstance(title, str) else short,
                open_information=True,
                examples=not callable(getattr(adapter, LEGAL, None)),
            ),
        },
    )


def _init_like(adapter: type) -> Callable[..., None]:
    """An ``__init__`` with the signature of the adapter's, which defines the config of the world."""
    own = next((vars(c)["__init__"] for c in adapter.__mro__ if "__init__" in vars(c) and not _is_generic(c)), None)
    if own is None:

        def bare(self: AdapterWorld) -> None:
            self.open({})

        return bare

    @functools.wraps(own)
    def init(self: AdapterWorld, **config: Any) -> None:
        self.open(config)

    return init


def _is_generic(cls: type) -> bool:
    """True if the constructor of this class says nothing about the adapter."""
    # Python puts the constructor of a protocol into a class that has none of its own.
    replaced = getattr(vars(cls).get("__init__"), "__module__", "") == "typing"
    return cls is object or cls is Protocol or getattr(cls, "_is_protocol", False) or replaced


class AdapterWorld(World):
    """The base class of the worlds that ``as_world`` makes."""

    adapter_class: ClassVar[type]
    reserved: ClassVar[frozenset[str]]

    def open(self, config: Mapping[str, Any]) -> None:
        self._config = dict(config)
        self._adapter: Any = self.adapter_class(**self._config)
        self._is_new = True
        self._defs = {self._command(d.name): d for d in _space(self._adapter).actions}
        self._seed = 0
        self._order: list[SeatId] = []
        self._played: list[list[Any]] = []
        self._done = False
        self._total = 0.0

    def describe(self) -> str:
        return inspect.cleandoc(self._adapter.game_description)

    def _command(self, name: str) -> str:
        """The name of an action as a command."""
        command = re.sub(r"\W+", "_", name).strip("_").lower()
        return f"game_{command}" if command in self.reserved or not command.isidentifier() else command

    # -- the game ---------------------------------------------------------------------------------
    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self._start(seed)
        self._order = [seat.id for seat in seats]

    def _start(self, seed: int) -> None:
        if not self._is_new:
            self._adapter = self.adapter_class(**self._config)
        self._is_new = False
        self._seed, self._played, self._done, self._total = seed, [], False, 0.0
        reset = self._adapter.reset
        if "seed" in inspect.signature(reset).parameters:
            reset(seed=seed)
        else:
            reset()

    def to_move(self) -> Sequence[SeatId]:
        return [] if self._done else self._order

    def observe(self, eye: Eye) -> Observation:
        return _observation(self._adapter.observe())

    def returns(self) -> Mapping[SeatId, float]:
        return dict.fromkeys(self._order, self._total)

    def actions(self) -> Sequence[ActionSpec]:
        return [
            ActionSpec(
                name=name,
                run=self._runner(made),
                description=made.description or made.name,
                args=arguments_of(name, made, _kind),
                group=made.category,
                preconditions=tuple(made.preconditions),
                raw=True,  # the protocol states no types, so values are passed on as they came
                words=_words(made),
            )
            for name, made in self._defs.items()
        ]

    def legal(self, seat: Seat) -> Sequence[Action] | None:
        if not self.spec.examples:
            listed = [(action.name, dict(action.parameters)) for action in getattr(self._adapter, LEGAL)()]
        elif choices := _observation(self._adapter.observe()).choices:
            listed = [(choice["action"], dict(choice.get("params", {}))) for choice in choices]
        else:
            listed = list(itertools.islice(self._examples(), MAX_EXAMPLES))
        return [Action(self._command(name), parameters) for name, parameters in listed] or None

    def _examples(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The actions that the game has now, without optional parameters. Those whose values are not listed are left
        out."""
        for made in _space(self._adapter).actions:
            required = [parameter for parameter in made.parameters if parameter.required]
            values = [_values(parameter) for parameter in required]
            if self._command(made.name) in self._defs and all(values):
                for chosen in itertools.product(*values):
                    yield made.name, {parameter.name: value for parameter, value in zip(required, chosen, strict=True)}

    def fallback(self, seat: Seat) -> Action | None:
        """Waiting, if the game has an action for that; else the first legal action, if the game itself lists them."""
        waits = [c for c, made in self._defs.items() if made.category == "wait" or made.name in ("noop", "wait")]
        waiting = (Action(c) for c in waits if not any(p.required for p in self._defs[c].parameters))
        return next(waiting, None) or (None if self.spec.examples else super().fallback(seat))

    def _runner(self, made: ActionDef) -> Callable[..., Outcome]:
        def run(by: Seat, /, **given: Any) -> Outcome:
            parameters = _checked(made, given)
            result = self._act(made.name, parameters)
            return Outcome(
                result.message, reward=result.reward, achievements=tuple(result.achievements), success=result.success
            )

        return run

    def _act(self, name: str, parameters: dict[str, Any]) -> ActionResult:
        result = _result(self._adapter.act(Action(name, deepcopy(parameters))))
        self._played.append([name, parameters])
        self._done = result.done
        self._total += result.reward
        return result

    # -- its state --------------------------------------------------------------------------------
    def snapshot(self) -> bytes:
        state: dict[str, Any] = {"seed": self._seed, "order": self._order, "done": self._done, "total": self._total}
        if self._can_save:
            state["saved"] = self._adapter.save()
        elif self._order:
            state["played"], state["sees"] = self._played, self._sees()
        return plain.dump(state)

    def restore(self, data: bytes) -> None:
        state = plain.load(data)
        if "saved" in state:
            self._adapter, self._is_new = self.adapter_class(**self._config), False
            self._adapter.restore(state["saved"])
            self._seed, self._done, self._total = state["seed"], state["done"], state["total"]
        else:
            self._start(state["seed"])
            for name, parameters in state.get("played", ()):
                self._act(name, parameters)
            if "sees" in state and self._sees() != state["sees"]:
                raise ValueError(
                    f"{self.adapter_class.__name__} is not deterministic: the same actions gave another observation. "
                    "Use no clock and no random numbers without a fixed seed, or give it save() and restore(state)"
                )
        self._order = state["order"]

    @property
    def _can_save(self) -> bool:
        return callable(getattr(self._adapter, "save", None)) and callable(getattr(self._adapter, "restore", None))

    def _sees(self) -> str:
        """A digest of the observation, so that a different replay is noticed."""
        return sha256(msgspec.json.encode(_observation(self._adapter.observe()))).hexdigest()


# -- values of an adapter: ours, or classes with the same fields ----------------------------------------
def _space(adapter: Any) -> ActionSpace:
    space = adapter.action_space
    return space if isinstance(space, ActionSpace) else msgspec.convert(space, ActionSpace, from_attributes=True)


def _words(made: ActionDef) -> tuple[str, ...]:
    """The parameters in which a player speaks to others."""
    return tuple(given.name for given in made.parameters) if made.category in SOCIAL else SPOKEN


def _observation(seen: Any) -> Observation:
    """A copy, because an adapter may go on changing its lists."""
    if isinstance(seen, Observation):
        return deepcopy(seen)
    return msgspec.convert(seen, Observation, from_attributes=True)


def _result(result: Any) -> ActionResult:
    if isinstance(result, ActionResult):
        return result
    return ActionResult(
        bool(result.success), str(result.message), float(result.reward), list(result.achievements), bool(result.done)
    )


# -- parameters -------------------------------------------------------------------------------------
def arguments_of(name: str, made: ActionDef, kind_of: Callable[[ParamDef], Any]) -> type[msgspec.Struct]:
    """The arguments of an action as a type, which validates them and has their schema."""
    fields: list[Any] = []
    for parameter in made.parameters:
        kind: Any = Annotated[kind_of(parameter), msgspec.Meta(description=parameter.description or parameter.name)]
        fields.append((parameter.name, kind) if parameter.required else (parameter.name, kind | None, None))
    title = "".join(part.capitalize() for part in name.split("_")) + "Args"
    return msgspec.defstruct(title, fields, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True)


def _kind(parameter: ParamDef) -> Any:
    """The type that the list of actions shows. ``left|right`` and ``1-10`` are notations of the protocol."""
    options = _options(parameter)
    if options and all(isinstance(option, str | int) for option in options):
        return Literal[tuple(options)]
    kind = _TYPES.get(parameter.type, Any)
    if kind in (int, float) and (parameter.minimum is not None or parameter.maximum is not None):
        return Annotated[kind, msgspec.Meta(ge=parameter.minimum, le=parameter.maximum)]
    if found := _range(parameter):
        return Annotated[int, Range(*found)]
    return kind


def _options(parameter: ParamDef) -> list[Any]:
    if parameter.options is not None:
        return parameter.options
    return parameter.description.split("|") if _CHOICES.fullmatch(parameter.description) else []


def _values(parameter: ParamDef) -> Sequence[Any]:
    """All values of a parameter, if they are listed."""
    if options := _options(parameter):
        return options
    if parameter.type in ("boolean", "bool"):
        return (True, False)
    if parameter.type in ("integer", "int") and parameter.minimum is not None and parameter.maximum is not None:
        return range(ceil(parameter.minimum), floor(parameter.maximum) + 1)
    bounds = _range(parameter)
    return range(bounds[0], bounds[1] + 1) if bounds else ()


def _range(parameter: ParamDef) -> tuple[int, int] | None:
    found = _NUMBERS.fullmatch(parameter.description)
    return (int(found[1]), int(found[2])) if found and parameter.type == "string" else None


def _checked(made: ActionDef, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that were given, if they are those of the action. Their values are passed on as they came."""
    known = {parameter.name: parameter for parameter in made.parameters}
    found = {name: value for name, value in given.items() if value is not None}
    for name, value in found.items():
        if name not in known:
            hints = nearest(name, list(known), 2)
            raise BadArgs(f"{made.name} has no parameter {name[:80]!r}", did_you_mean=hints)
        options = _options(known[name])
        if options and value not in options and str(value) not in map(str, options):
            shown = ", ".join(map(str, options))
            raise BadArgs(
                f"{made.name}: {name} must be one of {shown}",
                did_you_mean=nearest(str(value)[:80], [*map(str, options)], 2),
            )
        bounds = _range(known[name])
        if bounds and not (str(value).isdecimal() and bounds[0] <= int(value) <= bounds[1]):
            raise BadArgs(f"{made.name}: {name} must be a whole number from {bounds[0]} to {bounds[1]}")
    missing = [name for name, parameter in known.items() if parameter.required and name not in found]
    if missing:
        raise BadArgs(f"{made.name} needs the parameter {missing[0]!r}")
    return found
