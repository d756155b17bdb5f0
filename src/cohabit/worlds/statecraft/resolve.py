"""One turn from one document to another: for checking by hand, and by others.

A wrong document is refused (``BadArgs``); what is in ``actions`` is the nations' own business and never is.
"""

from typing import Any, NoReturn

import msgspec

from cohabit.errors import BadArgs
from cohabit.model.suggest import nearest
from cohabit.worlds.statecraft.graph import checked
from cohabit.worlds.statecraft.json_text import read_json
from cohabit.worlds.statecraft.ledgers import Amounts, Standing, Texts, Turn
from cohabit.worlds.statecraft.rules import EVERYBODY, Rules, rules_from
from cohabit.worlds.statecraft.turn import run_turn

KEYS = ("constants", "graph", "capitals", "start", "actions", "loss_cap", "intake")
START = ("mils", "territories", "welfare")
CHOICES = {"loss_cap": ("committed", "army"), "intake": ("strict", "lenient")}


def resolve_text(text: str | bytes) -> dict[str, Any]:
    """The same, of a JSON text."""
    try:
        return resolve_document(read_json(text if isinstance(text, str) else text.decode()))
    except UnicodeDecodeError:
        raise BadArgs("the document must be written in UTF-8") from None
    except ValueError as why:
        raise BadArgs(f"the document must be a JSON object; this is no JSON: {why}") from None


def resolve_document(document: Any) -> dict[str, Any]:
    """``end``, ``ledgers``, ``dropped``, ``cessions_done`` and ``cessions_refused`` of the turn that is described."""
    given = _known(_object(document, "the document"), KEYS, "the document")
    start = _known(_object(given.get("start"), "start"), START, "start")
    standing = _standing(given, start)
    actions = _object(given.get("actions", {}), "actions")
    return shown(run_turn(standing, actions, _rules(given)))


def shown(turn: Turn) -> dict[str, Any]:
    """A turn as plain values."""
    ledgers = msgspec.structs.asdict(turn.ledgers)
    return {
        "end": {"mils": turn.end.mils, "territories": turn.end.territories, "welfare": turn.end.welfare},
        "ledgers": {**ledgers, "d_summary_last_turn": turn.ledgers.d_turn_summary},  # it has two names
        "dropped": [[each.nation, each.field, each.reason] for each in turn.dropped],
        "cessions_done": [list(row) for row in turn.cessions_done],
        "cessions_refused": [list(row) for row in turn.cessions_refused],
    }


def _rules(given: dict[str, Any]) -> Rules:
    choices = {name: given[name] for name in CHOICES if given.get(name) is not None}
    for name, choice in choices.items():
        if choice not in CHOICES[name]:
            raise BadArgs(f"{name}: must be one of {', '.join(CHOICES[name])}")
    return rules_from(_object(given.get("constants", {}), "constants"), **choices)


def _standing(given: dict[str, Any], start: dict[str, Any]) -> Standing:
    mils = _numbers(start.get("mils", {}), "start.mils", 0)
    welfare = _numbers(start.get("welfare", {}), "start.welfare", None)
    land = _land(start.get("territories", {}))
    names = sorted({**mils, **welfare, **land})
    if EVERYBODY in names:
        raise BadArgs(f"start: no nation may be called {EVERYBODY!r}, which means everybody")
    graph = given.get("graph")
    return Standing(
        turn=0,
        mils={name: mils.get(name, 0) for name in names},
        territories={name: land.get(name, []) for name in names},
        welfare={name: welfare.get(name, 0) for name in names},
        capitals=_capitals(given.get("capitals"), names, land),
        graph=None if graph is None else checked(_lists(graph, "graph")),
    )


def _capitals(given: Any, names: list[str], land: dict[str, list[str]]) -> Texts:
    """As given; where nothing is said, the first by name of each nation's territories."""
    if given is None:
        return {name: land[name][0] for name in names if land.get(name)}
    found: Texts = {}
    for name, capital in _object(given, "capitals").items():
        if name not in names:
            raise BadArgs(f"capitals: there is no nation {name!r}", did_you_mean=nearest(name, names, 2))
        if capital is not None:
            found[name] = capital if isinstance(capital, str) else _refuse(f"capitals.{name}", "a text")
    return found


def _land(given: Any) -> dict[str, list[str]]:
    owners: Texts = {}
    found: dict[str, list[str]] = {}
    for name, listed in _lists(given, "start.territories").items():
        for territory in listed:
            if territory in owners:
                raise BadArgs(f"start.territories.{name}: {territory} is {owners[territory]}'s already")
            owners[territory] = name
        found[name] = sorted(listed)
    return found


def _lists(given: Any, where: str) -> dict[str, list[str]]:
    for name, listed in _object(given, where).items():
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            _refuse(f"{where}.{name}", "a list of texts")
    lists: dict[str, list[str]] = given
    return lists


def _numbers(given: Any, where: str, least: int | None) -> Amounts:
    for name, number in _object(given, where).items():
        if type(number) is not int or (least is not None and number < least):
            _refuse(f"{where}.{name}", "a whole number" + (f" of at least {least}" if least is not None else ""))
    numbers: Amounts = given
    return numbers


def _object(given: Any, where: str) -> dict[str, Any]:
    return given if isinstance(given, dict) else _refuse(where, "an object")


def _known(given: dict[str, Any], names: tuple[str, ...], where: str) -> dict[str, Any]:
    for name in given:
        if name not in names:
            near = nearest(str(name), list(names), 1)
            raise BadArgs(f"{where} has no {name!r}; there are {', '.join(names)}", did_you_mean=near)
    return given


def _refuse(where: str, what: str) -> NoReturn:
    raise BadArgs(f"{where}: must be {what}")
