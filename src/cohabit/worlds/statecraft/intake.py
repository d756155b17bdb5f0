"""Phase 0: what the nations handed in becomes intentions. Whatever it is, the turn goes on.

Each answer is read by itself, so nothing that one nation sends can reach what another one intends. Nations that
handed in nothing have nothing of everything.
"""

from typing import Any

from cohabit.worlds.statecraft import fields
from cohabit.worlds.statecraft.complaints import WHOLE, named, short
from cohabit.worlds.statecraft.json_text import read_json
from cohabit.worlds.statecraft.ledgers import Answers, Dropped, Ledgers, Standing
from cohabit.worlds.statecraft.rules import Rules

SUMMARY, OLD_SUMMARY = "summary_last_turn", "summary"
"""The old name is still taken where the new one is missing."""
_READERS: dict[str, fields.Reader] = {
    "purchase_mils": fields.read_count,
    "attacks": fields.read_amounts,
    "cede_territories": fields.read_cessions,
    "money_grants": fields.read_amounts,
    "messages": fields.read_messages,
    "summary_last_turn": fields.read_text,
    "history_summary": fields.read_text,
    "reasoning": fields.read_reasoning,
    "disband_mils": fields.read_count,
    "keeps_word_report": fields.read_ratings,
    "aggressor_report": fields.read_ratings,
}
Column = tuple[fields.Reader, dict[str, Any]]


def take_in(standing: Standing, answers: Answers, rules: Rules) -> tuple[Ledgers, list[Dropped]]:
    """The intentions of every nation, and what does not count. Nothing is raised, and nothing is changed."""
    names = standing.nations
    ledgers = _nothing_intended(names)
    columns = _columns(ledgers)
    desk = fields.Desk(standing, rules.intake == "lenient")
    dropped: list[Dropped] = []
    for name in names:
        if name in answers:
            desk.next(name)
            _take_in_one(desk, columns, answers[name])
            if desk.heard is not None:
                dropped += desk.heard.dropped()
    if not answers.keys() <= standing.mils.keys():
        strangers = sorted(short(name) for name in answers if name not in standing.mils)
        dropped += [Dropped(name, WHOLE, "there is no such nation") for name in strangers]
    return ledgers, dropped


def _nothing_intended(names: list[str]) -> Ledgers:
    return Ledgers(
        d_mil_purchase_intent=dict.fromkeys(names, 0),
        d_global_attacks={name: {} for name in names},
        d_territory_cession={name: {} for name in names},
        d_money_grants={name: {} for name in names},
        d_messages_sent={name: {} for name in names},
        d_turn_summary=dict.fromkeys(names, ""),
        d_history_summary=dict.fromkeys(names, ""),
        d_reasoning=dict.fromkeys(names, ""),
        d_mils_disband_intent=dict.fromkeys(names, 0),
        d_keeps_word_report={name: {} for name in names},
        d_aggressor_report={name: {} for name in names},
    )


def _columns(ledgers: Ledgers) -> dict[str, Column]:
    """field -> how it is read, and the ledger it is written to."""
    written: tuple[dict[str, Any], ...] = (
        ledgers.d_mil_purchase_intent, ledgers.d_global_attacks, ledgers.d_territory_cession,
        ledgers.d_money_grants, ledgers.d_messages_sent, ledgers.d_turn_summary, ledgers.d_history_summary,
        ledgers.d_reasoning, ledgers.d_mils_disband_intent, ledgers.d_keeps_word_report, ledgers.d_aggressor_report,
    )  # fmt: skip
    return {field: (read, ledger) for (field, read), ledger in zip(_READERS.items(), written, strict=True)}


def _take_in_one(desk: fields.Desk, columns: dict[str, Column], answer: Any) -> None:
    """Write one nation's entry in each of the ledgers."""
    nation = desk.nation
    try:
        action = answer if type(answer) is dict else _as_object(answer)
        strange = False
        for field, value in action.items():
            column = columns.get(field)
            if column is None:
                strange = True
            else:
                read, ledger = column
                ledger[nation] = read(desk, field, value)
        if strange:
            _take_in_the_rest(desk, columns, action)
    except fields.Unfit as why:
        desk.complaints.add(WHOLE, str(why))
    except Exception as wrong:  # an object of the agent's own making, that misbehaves when it is looked at
        desk.next(nation)
        desk.complaints.add(WHOLE, f"cannot be read: {type(wrong).__name__}")
        for _, ledger in columns.values():
            ledger[nation] = type(ledger[nation])()  # 0, an empty object or an empty text


def _take_in_the_rest(desk: fields.Desk, columns: dict[str, Column], action: dict[Any, Any]) -> None:
    """Fields that the schema does not know."""
    for field in sorted(short(field) for field in action if field not in columns):
        if field != OLD_SUMMARY:
            desk.complaints.add(field, "there is no such field")
        elif SUMMARY in action:
            desk.complaints.add(field, f"{SUMMARY} is there as well")
        else:
            desk.complaints.add(field, f"taken as {SUMMARY}, which is its name now")
            read, ledger = columns[SUMMARY]
            ledger[desk.nation] = read(desk, SUMMARY, action[OLD_SUMMARY])


def _as_object(answer: Any) -> dict[Any, Any]:
    """The object that an answer is, or that its text says."""
    if isinstance(answer, dict):
        return dict(answer)
    if isinstance(answer, BaseException):
        raise fields.Unfit(f"the agent failed: {type(answer).__name__}")
    if isinstance(answer, bytes | bytearray):
        answer = answer.decode(errors="replace")
    if not isinstance(answer, str):
        raise fields.Unfit(f"must be a JSON object, not {named(answer)}")
    try:
        said = read_json(answer)
    except ValueError as why:
        raise fields.Unfit(f"must be a JSON object; this is no JSON: {why}") from None
    if type(said) is not dict:
        raise fields.Unfit(f"must be a JSON object, not {named(said)}")
    return said
