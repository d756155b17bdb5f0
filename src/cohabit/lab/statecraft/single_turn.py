"""Resolves one turn of Statecraft from a JSON document, to check the engine by hand or against another one.

An invalid document is refused with ``BadArgs``. Anything is accepted in ``actions``, because it comes from the nations.
"""

from typing import Any, NoReturn

import msgspec

from cohabit.errors import BadArgs
from cohabit.model.suggest import nearest
from cohabit.worlds.statecraft.maps import validate_map
from cohabit.worlds.statecraft.rules import BROADCAST, Rules, rules_from
from cohabit.worlds.statecraft.state import Amounts, GameState, Territories, Texts, TurnResult
from cohabit.worlds.statecraft.turn import run_turn
from cohabit.worlds.statecraft.untrusted_json import RepeatedKeys, parse_json

DOCUMENT_KEYS = ("constants", "graph", "capitals", "start", "actions", "loss_cap", "intake")
START_KEYS = ("mils", "territories", "welfare")
OPTIONS = {"loss_cap": ("committed", "army"), "intake": ("strict", "lenient")}


def resolve_text(text: str | bytes) -> dict[str, Any]:
    """Resolve the turn that a JSON text describes."""
    try:
        return resolve_document(parse_json(text if isinstance(text, str) else text.decode()))
    except UnicodeDecodeError:
        raise BadArgs("the document must be encoded in UTF-8") from None
    except ValueError as error:
        raise BadArgs(f"the document must be a JSON object, but is not valid JSON: {error}") from None


def resolve_document(document: Any) -> dict[str, Any]:
    """The ``end``, ``ledgers``, ``dropped``, ``cessions_done`` and ``cessions_refused`` of the described turn."""
    given = _check_keys(_object(document, "the document"), DOCUMENT_KEYS, "the document")
    start = _check_keys(_object(given.get("start"), "start"), START_KEYS, "start")
    state = _state(given, start)
    actions = _object(given.get("actions", {}), "actions")
    return _to_builtins(run_turn(state, actions, _rules(given)))


def _to_builtins(turn: TurnResult) -> dict[str, Any]:
    ledgers = msgspec.structs.asdict(turn.ledgers)
    return {
        "end": {"mils": turn.end.mils, "territories": turn.end.territories, "welfare": turn.end.welfare},
        "ledgers": {**ledgers, "d_summary_last_turn": turn.ledgers.d_turn_summary},  # this ledger has two names
        "dropped": [[entry.nation, entry.field, entry.reason] for entry in turn.dropped],
        "cessions_done": [list(row) for row in turn.cessions_done],
        "cessions_refused": [list(row) for row in turn.cessions_refused],
    }


def _rules(given: dict[str, Any]) -> Rules:
    options = {name: given[name] for name in OPTIONS if given.get(name) is not None}
    for name, option in options.items():
        if option not in OPTIONS[name]:
            raise BadArgs(f"{name}: must be one of {', '.join(OPTIONS[name])}")
    return rules_from(_object(given.get("constants", {}), "constants"), **options)


def _state(given: dict[str, Any], start: dict[str, Any]) -> GameState:
    mils = _integers(start.get("mils", {}), "start.mils", 0)
    welfare = _integers(start.get("welfare", {}), "start.welfare", None)
    territories = _territories(start.get("territories", {}))
    names = sorted({**mils, **welfare, **territories})
    if BROADCAST in names:
        raise BadArgs(f"start: a nation cannot be named {BROADCAST!r}, which addresses all nations")
    graph = given.get("graph")
    return GameState(
        turn=0,
        mils={name: mils.get(name, 0) for name in names},
        territories={name: territories.get(name, []) for name in names},
        welfare={name: welfare.get(name, 0) for name in names},
        capitals=_capitals(given.get("capitals"), names, territories),
        graph=None if graph is None else validate_map(_lists(graph, "graph")),
    )


def _capitals(given: Any, names: list[str], territories: Territories) -> Texts:
    """The given capitals; without any, the first territory of each nation by name."""
    if given is None:
        return {name: territories[name][0] for name in names if territories.get(name)}
    found: Texts = {}
    for name, capital in _object(given, "capitals").items():
        if name not in names:
            raise BadArgs(f"capitals: unknown nation {name!r}", did_you_mean=nearest(name, names, 2))
        if capital is not None:
            found[name] = capital if isinstance(capital, str) else _refuse(f"capitals.{name}", "a string")
    return found


def _territories(given: Any) -> Territories:
    owners: Texts = {}
    found: Territories = {}
    for name, listed in _lists(given, "start.territories").items():
        for territory in listed:
            if territory in owners:
                raise BadArgs(f"start.territories.{name}: {territory} already belongs to {owners[territory]}")
            owners[territory] = name
        found[name] = sorted(listed)
    return found


def _lists(given: Any, where: str) -> dict[str, list[str]]:
    for name, listed in _object(given, where).items():
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            _refuse(f"{where}.{name}", "an array of strings")
    lists: dict[str, list[str]] = given
    return lists


def _integers(given: Any, where: str, minimum: int | None) -> Amounts:
    for name, number in _object(given, where).items():
        if type(number) is not int or (minimum is not None and number < minimum):
            _refuse(f"{where}.{name}", "an integer" + (f" of at least {minimum}" if minimum is not None else ""))
    integers: Amounts = given
    return integers


def _object(given: Any, where: str) -> dict[str, Any]:
    if isinstance(given, RepeatedKeys):
        raise BadArgs(f"{where} has the key {given.repeated[0][:80]!r} more than once")
    return given if isinstance(given, dict) else _refuse(where, "an object")


def _check_keys(given: dict[str, Any], known: tuple[str, ...], where: str) -> dict[str, Any]:
    for name in given:
        if name not in known:
            suggestion = nearest(str(name), list(known), 1)
            message = f"{where} has an unknown key {name!r}; the keys are {', '.join(known)}"
            raise BadArgs(message, did_you_mean=suggestion)
    return given


def _refuse(where: str, expected: str) -> NoReturn:
    raise BadArgs(f"{where}: must be {expected}")
