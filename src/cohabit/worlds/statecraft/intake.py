"""Phase 0: turns the answers of the nations into intentions. The turn continues whatever the answers are.

Each answer is read independently, so no answer can affect what another nation intends. A nation without an answer
intends nothing.
"""

from functools import lru_cache
from operator import itemgetter
from typing import Any

from cohabit.worlds.statecraft import fields
from cohabit.worlds.statecraft.fields import WHOLE_ANSWER, AnswerContext, InvalidValue
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.state import Answers, DroppedInput, GameState, Ledgers
from cohabit.worlds.statecraft.untrusted_json import RepeatedKeys, objects_in_text, parse_json

SUMMARY, OLD_SUMMARY = "summary_last_turn", "summary"
"""The old name is accepted if the new one is missing."""
FIELDS: dict[str, tuple[str, type, fields.Reader]] = {
    "purchase_mils": ("d_mil_purchase_intent", int, fields.read_count),
    "attacks": ("d_global_attacks", dict, fields.read_amounts),
    "cede_territories": ("d_territory_cession", dict, fields.read_cessions),
    "money_grants": ("d_money_grants", dict, fields.read_amounts),
    "messages": ("d_messages_sent", dict, fields.read_messages),
    "summary_last_turn": ("d_turn_summary", str, fields.read_text),
    "history_summary": ("d_history_summary", str, fields.read_text),
    "reasoning": ("d_reasoning", str, fields.read_reasoning),
    "disband_mils": ("d_mils_disband_intent", int, fields.read_count),
    "keeps_word_report": ("d_keeps_word_report", dict, fields.read_ratings),
    "aggressor_report": ("d_aggressor_report", dict, fields.read_ratings),
}
"""For each field: its ledger, the type of an entry there, and what reads it."""
_FIELDS_BY_KEY = {**{fields.name_key(field): field for field in FIELDS}, OLD_SUMMARY: SUMMARY}
MAX_REMEMBERED_CHARS = 8_000
"""A longer answer is parsed each time."""
Column = tuple[fields.Reader, dict[str, Any]]


def read_intentions(state: GameState, answers: Answers, rules: Rules) -> tuple[Ledgers, list[DroppedInput]]:
    """The intentions of every nation, and what was dropped or changed. Raises nothing and changes nothing."""
    nations = state.nations
    columns: dict[str, Column] = {
        field: (read, {name: {} for name in nations} if kind is dict else dict.fromkeys(nations, kind()))
        for field, (_, kind, read) in FIELDS.items()
    }
    context = AnswerContext(state, rules.intake == "lenient")
    dropped: list[DroppedInput] = []
    for nation in nations:
        if nation in answers:
            context.start(nation)
            _read_answer(context, columns, answers[nation])
            if context.drop_log is not None:
                dropped += context.drop_log.entries()
    if not answers.keys() <= state.mils.keys():
        unknown = sorted(fields.quote_name(name) for name in answers if name not in state.mils)
        dropped += [DroppedInput(name, WHOLE_ANSWER, "unknown nation") for name in unknown]
    return Ledgers(**{FIELDS[field][0]: ledger for field, (_, ledger) in columns.items()}), dropped


def _read_answer(context: AnswerContext, columns: dict[str, Column], answer: Any) -> None:
    """Write one nation's entry in each ledger."""
    nation = context.nation
    try:
        action = answer if type(answer) is dict else _as_object(answer)
        if isinstance(action, RepeatedKeys):
            fields.drop_repeated(context, action)
        has_unknown_fields = False
        for field, value in action.items():
            column = columns.get(field)
            if column is None:
                has_unknown_fields = True
            else:
                read, ledger = column
                ledger[nation] = read(context, field, value)
        if has_unknown_fields:
            _read_unknown_fields(context, columns, action)
    except InvalidValue as error:
        context.drop(WHOLE_ANSWER, str(error))
    except Exception as error:  # a Python object of the agent's own class can raise anything when it is accessed
        context.start(nation)
        context.drop(WHOLE_ANSWER, f"could not be read: {type(error).__name__}")
        for _, ledger in columns.values():
            ledger[nation] = type(ledger[nation])()  # 0, an empty object or an empty text


def _read_unknown_fields(context: AnswerContext, columns: dict[str, Column], action: dict[Any, Any]) -> None:
    """Log fields that are not in the schema. Accept names in another case, and the old name of the summary."""
    given = [field for field in action if field in columns]
    unknown = [(fields.quote_name(field), field) for field in action if field not in columns]
    for shown, field in sorted(unknown, key=itemgetter(0)):
        meant = _FIELDS_BY_KEY.get(fields.name_key(field)) if type(field) is str else None
        if meant is None:
            suggestion = context.suggestion(field, columns) if type(field) is str else ""
            context.drop(shown, f"unknown field{suggestion}")
        elif meant in given:
            context.drop(shown, f"ignored because {meant} is given")
        else:
            context.change(shown, f"accepted as {meant}; use that name")
            read, ledger = columns[meant]
            ledger[context.nation] = read(context, meant, action[field])
            given.append(meant)


def _as_object(answer: Any) -> dict[Any, Any]:
    """The answer as an object; a text is parsed as JSON."""
    if isinstance(answer, dict):
        return answer if type(answer) is RepeatedKeys else dict(answer)
    if isinstance(answer, BaseException):
        raise InvalidValue(f"the agent failed: {type(answer).__name__}")
    if isinstance(answer, bytes | bytearray):
        answer = answer.decode(errors="replace")
    if not isinstance(answer, str):
        raise InvalidValue(f"must be a JSON object, not {fields.type_name(answer)}")
    try:
        parsed = _parse_again(answer) if len(answer) <= MAX_REMEMBERED_CHARS else parse_json(answer)
    except ValueError as error:
        return _only_object_in_text(answer, error)
    if not isinstance(parsed, dict):
        raise InvalidValue(f"must be a JSON object, not {fields.type_name(parsed)}")
    return parsed


@lru_cache(256)
def _parse_again(text: str) -> Any:
    """An answer is read when it is submitted, and when the turn is resolved. No reader changes what it reads."""
    return parse_json(text)


def _only_object_in_text(text: str, error: ValueError) -> dict[Any, Any]:
    """The answer of a language model that wrote prose or a code fence around its JSON."""
    answer = text.rpartition("</think>")[2]
    try:
        objects = list(objects_in_text(answer))
    except ValueError as too_many:
        raise InvalidValue(f"must be one JSON object, but the text has {too_many}") from None
    found = [action for action in objects if any(fields.name_key(name) in _FIELDS_BY_KEY for name in action)]
    found = found or [action for action in objects if not action]
    if not found:
        raise InvalidValue(f"must be a JSON object, but is not valid JSON: {error}")
    if any(action != found[0] for action in found):
        raise InvalidValue(f"must be one JSON object, but the text has {len(found)} different ones")
    return found[-1]
