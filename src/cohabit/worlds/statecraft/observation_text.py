"""The text of an observation: everything that a language model needs to play a turn, and how to answer."""

from typing import Any

from cohabit.model.observation import one_line

Known = dict[str, Any]
"""The result of ``agent_input.build_agent_input``."""

HOW_TO_ANSWER = """\
HOW TO ANSWER: call `submit` with any of these fields. All are optional; a field that you leave out orders nothing.
  purchase_mils 2 · disband_mils 1 · attacks {"NATION": mils} · money_grants {"NATION": money}
  cede_territories {"NATION": ["TERRITORY"]} · messages {"NATION" or "all": "text"}
  keeps_word_report, aggressor_report {"NATION": 1 to 10}
  summary_last_turn, history_summary "your own notes, shown to you again" · reasoning "at most 50 words"
A line of these messages (not of `send_message`) is a pledge for the next turn if it reads, for example:
  pledge: grant 12 to NATION
  pledge: no attack on NATION
The turn is resolved when every nation has submitted. You can submit again until then; the last submission counts."""
ANSWER_IN_SHORT = """\
HOW TO ANSWER: call `submit` with any of its fields. The last submission before the turn is resolved counts. A message
line such as `pledge: no attack on NATION` or `pledge: grant 12 to NATION` is a pledge for the next turn."""
MEANING_OF_RATINGS = {
    True: "Ratings change nothing by themselves. All nations see the mean of each nation's ratings by the others.",
    False: "Ratings change nothing by themselves, and no other nation sees yours.",
}
"""By whether the game publishes them."""


def text_for_nation(known: Known, submitted: str) -> str:
    """The text for a nation. ``submitted`` describes the orders that it has already submitted."""
    me, sent = known["self"], sorted(known.get("messages_sent", {}).items())
    sections = [
        f"You are {me}. Turn {known['turn']}; {_turns_left(known['turns_left'])}",
        _own_nation(known),
        _section("OTHER NATIONS", [_nation(known, name) for name in known["agents"] if name != me]),
        _rules_in_short(known["constants"]) if known["turns_left"] else "",
        _section("NEWS OF LAST TURN", known.get("previous_turn_news", ())),
        _section("YOUR REPORT ON LAST TURN", known.get("previous_turn_report", ())),
        _section("MESSAGES TO YOU (not verified)", [_message(m) for m in known.get("messages", ()) if m["from"] != me]),
        _section("MESSAGES THAT YOU SENT", [f"to {to}:{quoted(text)}" for to, text in sent]),
        _legal_cessions(known) if known["turns_left"] else "",
        _ratings(known.get("ratings")),
        _section("YOUR NOTES", known.get("history_context", "").splitlines()),
        submitted or (ANSWER_IN_SHORT if known["turns_left"] else _standings(known)),
    ]
    return "\n\n".join(filter(None, sections))


def text_for_spectator(known: Known) -> str:
    """The text for a viewer without a nation."""
    sections = [
        f"Turn {known['turn']}; {_turns_left(known['turns_left'])}",
        _section("NATIONS", [_nation(known, name) for name in known["agents"]]),
        _rules_in_short(known["constants"]),
        _section("NEWS OF LAST TURN", known.get("previous_turn_news", ())),
        _section("MESSAGES", map(_message, known.get("messages", ()))),
        _ratings(known.get("ratings")),
        "" if known["turns_left"] else _standings(known),
    ]
    return "\n\n".join(filter(None, sections))


def _standings(known: Known) -> str:
    """The end of the game, from best to worst."""
    welfare: dict[str, int] = known["standings"]
    best_first = sorted(welfare, key=lambda name: (-welfare[name], name))
    lines = [f"{place}. {name}: welfare {welfare[name]}" for place, name in enumerate(best_first, start=1)]
    me = known.get("self")
    if me in welfare:
        won = welfare[me] == max(welfare.values())
        lines.append("You have the most welfare: you won." if won else f"{best_first[0]} won; you did not.")
    return "\n".join(["FINAL STANDINGS:", *lines])


def _turns_left(turns: int) -> str:
    return f"{turns} turn{'s' * (turns != 1)} left, including this one." if turns else "the game is over."


def _own_nation(known: Known) -> str:
    me, constants = known["self"], known["constants"]
    income = len(known["territories"][me]) * constants["c_money_per_territory"]
    upkeep = known["army"][me] * constants["c_mil_upkeep_price"]
    if upkeep <= income:
        money = f"{income - upkeep} money to spend, before damage"
    else:
        money = f"{upkeep - income} money short, so some mils will be disbanded"
    return _section("YOU", [
        f"Territory: {_territories(known, me)}",
        f"Army: {known['army'][me]}",
        *([f"Expected this turn: income {income}, upkeep {upkeep}: {money}."] if known["turns_left"] else []),
        f"Welfare so far: {known['welfare'][me]}",
    ])  # fmt: skip


def _nation(known: Known, name: str) -> str:
    army = known["army"].get(name)
    welfare = known["welfare"].get(name)
    numbers = [f"army {army}" if army is not None else "army unknown"]
    numbers += [f"welfare {welfare}"] if welfare is not None else []
    return f"{name}: {', '.join(numbers)}; {_territories(known, name)}"


def _territories(known: Known, name: str) -> str:
    owned, capital = known["territories"].get(name, []), known["capitals"].get(name)
    names = ", ".join(f"{territory} (capital)" if territory == capital else territory for territory in owned)
    return f"{len(owned)} territor{'y' if len(owned) == 1 else 'ies'}: {names}" if owned else "no territories"


def _rules_in_short(c: dict[str, Any]) -> str:
    """The description of the world has them in full, and `rules` shows it."""
    return (
        f"RULES (`rules` has all): a territory earns {c['c_money_per_territory']}; money pays damage, upkeep, "
        f"purchases and grants, in this order; a mil costs {c['c_mil_purchase_price']}, then "
        f"{c['c_mil_upkeep_price']} per turn, acts from the next turn, and is disbanded if it cannot be paid; an "
        f"attacking mil destroys {c['c_damage_per_attack_mil']} income; {c['c_defense_destroy_factor']} mils at home "
        f"destroy one attacker; a grant counts {c['c_trade_factor']} times; unspent money becomes welfare."
    )


def rules_text(c: dict[str, Any], *, publishes_ratings: bool) -> str:
    """The rules with their numbers."""
    purchase, upkeep = c["c_mil_purchase_price"], c["c_mil_upkeep_price"]
    damage, defenders = c["c_damage_per_attack_mil"], c["c_defense_destroy_factor"]
    return _section("RULES", [
        f"Each territory earns {c['c_money_per_territory']} money per turn.",
        "Your money goes, in this order, to damage, upkeep, purchases, and grants (receivers in name order).",
        "The rest becomes your welfare; no money is left for the next turn.",
        f"A mil costs {purchase} to buy and {upkeep} per turn to keep. It can attack and defend from the next turn.",
        "Mils that you cannot pay are disbanded.",
        f"Each mil sent against a nation destroys {damage} of its income, even if the mil is destroyed itself.",
        "Attacks never capture territory.",
        f"Every {defenders} mils that a nation keeps at home destroy one of the mils sent against it.",
        "Mils at home lose nothing and prevent no damage. Mils that attack do not defend.",
        f"A grant adds {c['c_trade_factor']} times its amount to the receiver's welfare. The receiver cannot spend it.",
        "Nothing enforces what a message or a pledge promises. The news shows whether it was kept.",
        MEANING_OF_RATINGS[publishes_ratings],
    ])  # fmt: skip


def _legal_cessions(known: Known) -> str:
    outbound, inbound = known["legal_outbound_cessions"], known["legal_inbound_cessions"]
    return _section("LEGAL CESSIONS", [
        *(f"You can cede to {receiver}: {', '.join(territories)}" for receiver, territories in outbound.items()),
        *(f"{giver} can cede to you: {', '.join(territories)}" for giver, territories in inbound.items()),
    ])  # fmt: skip


def _ratings(means: dict[str, Any] | None) -> str:
    if not means:
        return ""
    titles = {"keeps_word": "Keeps its word", "aggressor": "Is aggressive"}
    lines = [
        f"{title}: {', '.join(f'{name} {mean}' for name, mean in means[key].items())}"
        for key, title in titles.items()
        if means.get(key)
    ]
    return _section("PUBLISHED RATINGS (means of the other nations' ratings, 1 to 10)", lines)


def _message(message: dict[str, str]) -> str:
    return f"{message['from']} to {message['to']}:{quoted(message['text'])}"


def quoted(text: str) -> str:
    """A nation's own text, each line marked, so that it cannot be mistaken for a statement of the world."""
    return "".join(f"\n  > {one_line(line)}" for line in text.splitlines() or [""])


def _section(title: str, lines: Any) -> str:
    items = [f"- {line}" for line in lines]
    return "\n".join([f"{title}:", *items]) if items else ""
