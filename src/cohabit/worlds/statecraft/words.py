"""The observation in words: all that a language model needs to play a turn, and how to answer."""

from typing import Any

import msgspec

from cohabit.model.observation import one_line
from cohabit.worlds.statecraft.rules import EVERYBODY

Known = dict[str, Any]
"""What ``agent_input.assemble`` puts together."""

HOW_TO_ANSWER = """\
HOW TO ANSWER: call submit with any of these, all optional; what is left out is nothing.
  purchase_mils 2 · attacks {"NATION": mils} · money_grants {"NATION": money} · cede_territories {"NATION": ["LAND"]}
  disband_mils 1 · messages {"NATION" or "all": "text"} · keeps_word_report, aggressor_report {"NATION": 1 to 10}
  summary_last_turn, history_summary "your own notes, shown to you again" · reasoning "at most 50 words"
All orders are worked out at once when everybody has handed in. Until then you may submit again; the last one counts."""


def for_nation(known: Known, handed_in: str) -> str:
    """What a nation reads; ``handed_in`` says what it has handed in already."""
    sections = [
        _heading(known),
        _own(known),
        _others(known),
        _prices(known["constants"]),
        _section("WHAT HAPPENED LAST TURN", known.get("previous_turn_news", ())),
        _section("YOUR BOOKS OF LAST TURN", known.get("previous_turn_report", ())),
        _section("MESSAGES TO YOU (what others say, not what is true)", map(_letter, known.get("messages", ()))),
        _cessions(known),
        _ratings(known.get("ratings")),
        _section("YOUR NOTES", known.get("history_context", "").splitlines()),
        handed_in or (HOW_TO_ANSWER if known["turns_left"] else ""),
    ]
    return "\n\n".join(filter(None, sections))


def for_watchers(known: Known) -> str:
    """What somebody reads who is no nation."""
    sections = [
        f"Turn {known['turn']}; {_left(known['turns_left'])}",
        _section("NATIONS", [_nation(known, name) for name in known["agents"]]),
        _prices(known["constants"]),
        _section("WHAT HAPPENED LAST TURN", known.get("previous_turn_news", ())),
        _section("MESSAGES", map(_letter, known.get("messages", ()))),
        _ratings(known.get("ratings")),
    ]
    return "\n\n".join(filter(None, sections))


def expected(known: Known) -> tuple[int, int]:
    """Income and upkeep of the turn that is being decided."""
    constants, me = known["constants"], known["self"]
    income = len(known["territories"][me]) * constants["c_money_per_territory"]
    return income, known["army"][me] * constants["c_mil_upkeep_price"]


def _heading(known: Known) -> str:
    return f"You are {known['self']}. Turn {known['turn']}; {_left(known['turns_left'])}"


def _left(turns: int) -> str:
    return f"{turns} turn{'s' * (turns != 1)} left, this one included." if turns else "it is over."


def _own(known: Known) -> str:
    me = known["self"]
    income, upkeep = expected(known)
    money = f"{income - upkeep} money to spend" if upkeep <= income else f"{upkeep - income} short: mils will leave"
    return _section("YOU", [
        f"Land: {_land(known, me)}",
        f"Army: {known['army'][me]}",
        f"Expected: income {income}, upkeep {upkeep}, so {money}, before damage.",
        f"Welfare so far: {known['welfare'][me]}",
    ])  # fmt: skip


def _others(known: Known) -> str:
    return _section("OTHERS", [_nation(known, name) for name in known["agents"] if name != known["self"]])


def _nation(known: Known, name: str) -> str:
    army = known["army"].get(name)
    welfare = known["welfare"].get(name)
    told = [f"army {army}" if army is not None else "army unknown"]
    told += [f"welfare {welfare}"] if welfare is not None else []
    return f"{name}: {', '.join(told)}; {_land(known, name)}"


def _land(known: Known, name: str) -> str:
    owned, capital = known["territories"].get(name, []), known["capitals"].get(name)
    shown = ", ".join(f"{t} (capital)" if t == capital else t for t in owned)
    return f"{len(owned)} territor{'y' if len(owned) == 1 else 'ies'}: {shown}" if owned else "no land"


def _prices(c: dict[str, Any]) -> str:
    return _section("RULES", [
        f"Each territory brings {c['c_money_per_territory']} money a turn. What is not spent becomes your welfare.",
        f"A mil costs {c['c_mil_purchase_price']}, then {c['c_mil_upkeep_price']} a turn; it serves from next turn on.",
        f"A mil sent against a nation burns {c['c_damage_per_attack_mil']} of its income of this turn. No land is won.",
        f"Every {c['c_defense_destroy_factor']} mils that a nation keeps at home destroy one of those sent at it.",
        f"Money granted to another is worth {c['c_trade_factor']} times as much to it as welfare; it cannot spend it.",
    ])  # fmt: skip


def _cessions(known: Known) -> str:
    giving = [f"You may cede to {to}: {', '.join(land)}" for to, land in known["legal_outbound_cessions"].items()]
    asking = [f"{giver} may cede to you: {', '.join(land)}" for giver, land in known["legal_inbound_cessions"].items()]
    return _section("CESSIONS THAT ARE LEGAL NOW", [*giving, *asking])


def _ratings(means: dict[str, Any] | None) -> str:
    if not means:
        return ""
    titles = {"keeps_word": "Keeps its word", "aggressor": "Is an aggressor"}
    lines = [
        f"{titles[what]}: {', '.join(f'{name} {mean}' for name, mean in means[what].items())}"
        for what in titles
        if means.get(what)
    ]
    return _section("WHAT NATIONS THINK OF EACH OTHER (means, 1 to 10)", lines)


def _letter(letter: dict[str, str]) -> str:
    to = "to all" if letter["to"] == EVERYBODY else f"to {letter['to']}"
    quoted = msgspec.json.encode(one_line(letter["text"])).decode()
    return f"{letter['from']} {to}: {quoted}"


def _section(title: str, lines: Any) -> str:
    shown = [f"- {line}" for line in lines]
    return "\n".join([f"{title}:", *shown]) if shown else ""
