"""Phase 0: which parts of an answer are accepted, and that no answer affects another nation."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.worlds.statecraft import (
    AGENT_ACTION_SCHEMA,
    Agent,
    DefaultAgent,
    Rules,
    read_intentions,
    run_turn,
    translate_agent_actions_to_intentions,
)
from cohabit.worlds.statecraft.schema import FIELDS, MAX_ORDER
from cohabit.worlds.statecraft.untrusted_json import MAX_DEPTH, parse_json

from .cases import NAMES, answers, make_state, states

STRICT, LENIENT = Rules(), Rules(intake="lenient")
LEDGERS = {
    "purchase_mils": "d_mil_purchase_intent",
    "attacks": "d_global_attacks",
    "cede_territories": "d_territory_cession",
    "money_grants": "d_money_grants",
    "messages": "d_messages_sent",
    "summary_last_turn": "d_turn_summary",
    "history_summary": "d_history_summary",
    "reasoning": "d_reasoning",
    "disband_mils": "d_mils_disband_intent",
    "keeps_word_report": "d_keeps_word_report",
    "aggressor_report": "d_aggressor_report",
}
GOOD: dict[str, Any] = {
    "purchase_mils": 5,
    "attacks": {"Boreas": 10},
    "cede_territories": {"Boreas": ["a1"]},
    "money_grants": {"Demeter": 20},
    "messages": {"all": "peace", "Circe": "psst", "Ares": "note to self"},
    "summary_last_turn": "quiet",
    "history_summary": "long ago",
    "reasoning": "because",
    "disband_mils": 1,
    "keeps_word_report": {"Ares": 10, "Boreas": 1},
    "aggressor_report": {"Circe": 3},
}
INFINITE = float("inf")


def intended(answer: Any, rules: Rules = STRICT) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """What Ares intends with this answer, by field, and the log of what was dropped."""
    ledgers, dropped = read_intentions(make_state(), {"Ares": answer}, rules)
    assert all(each.nation == "Ares" for each in dropped)
    return (
        {field: getattr(ledgers, name)["Ares"] for field, name in LEDGERS.items()},
        [(each.field, each.reason) for each in dropped],
    )


NOTHING, _ = intended({})


class Hostile(dict[str, Any]):
    """An object that raises when it is accessed."""

    def keys(self) -> Any:
        raise RuntimeError("boo")

    def __iter__(self) -> Any:
        raise RuntimeError("boo")


class HostileKey:
    """A key that raises when it is looked up."""

    def __init__(self) -> None:
        self.lookups = 0

    def __hash__(self) -> int:
        self.lookups += 1
        if self.lookups > 1:
            raise RuntimeError("boo")
        return 1


def test_an_answer_that_raises_while_it_is_read_is_dropped_completely() -> None:
    found, log = intended({"disband_mils": -1, "purchase_mils": 3, "attacks": {HostileKey(): 1}, "zeal": 1})
    assert found == NOTHING
    assert log == [("*", "could not be read: RuntimeError")]


def test_every_field_has_a_ledger_and_a_valid_answer_is_accepted_unchanged() -> None:
    assert intended(GOOD) == (GOOD, [])
    assert intended(json.dumps(GOOD)) == (GOOD, [])
    assert intended(json.dumps(GOOD).encode()) == (GOOD, [])
    assert tuple(LEDGERS) == FIELDS


def test_every_ledger_has_an_entry_for_every_nation_even_without_answers() -> None:
    ledgers, dropped = read_intentions(make_state(), {}, STRICT)
    for name in LEDGERS.values():
        assert list(getattr(ledgers, name)) == NAMES
    assert dropped == []
    assert NOTHING == {
        "purchase_mils": 0, "attacks": {}, "cede_territories": {}, "money_grants": {}, "messages": {},
        "summary_last_turn": "", "history_summary": "", "reasoning": "", "disband_mils": 0,
        "keeps_word_report": {}, "aggressor_report": {},
    }  # fmt: skip


NOT_OBJECTS = [
    None, True, 7, 1.5, INFINITE, float("nan"), [], [GOOD], "", "null", "[]", '"text"', "17", "{", '{"attacks": }',
    "{'purchase_mils': 1}", "[" * 100_000, '{"a":' * 100_000, "x" * 10_000_000, b"\xff\xfe", b"", object(), Hostile(a=1),
    ValueError("the agent fell over"), TimeoutError(), "\ud800", "\x00", set("ab"), lambda: GOOD, '"' + '\\"' * 300_000,
]  # fmt: skip


@pytest.mark.parametrize("rules", [STRICT, LENIENT], ids=["strict", "lenient"])
@pytest.mark.parametrize("bad", range(len(NOT_OBJECTS)))
def test_an_answer_that_is_not_an_object_counts_as_no_answer(bad: int, rules: Rules) -> None:
    others = {"Ares": GOOD, "Circe": {"attacks": {"Boreas": 3}, "money_grants": {"Ares": 4}}}
    without = run_turn(make_state(), others, rules)
    found = run_turn(make_state(), {**others, "Boreas": NOT_OBJECTS[bad]}, rules)
    assert [(each.nation, each.field) for each in found.dropped] == [("Boreas", "*")]
    found.dropped = without.dropped
    assert found == without


BAD_FIELDS: dict[str, list[Any]] = {
    "purchase_mils": [-1, "7", 3.9, True, None, [], {}, INFINITE, float("nan"), object()],
    "attacks": [[], None, 3, "Boreas", {"Boreas": -1}, {"Boreas": "7"}, {"Boreas": True}, {"Boreas": 1.5},
                {"Boreas": INFINITE}, {"Boreas": {}}],
    "cede_territories": [[], {"Boreas": "a1"}, {"Boreas": [7]}, {"Boreas": {"a1": 1}}, {"Boreas": None}],
    "money_grants": [[], [["Boreas", 3]], {"Boreas": -3}, {"Boreas": False}, {"Boreas": "1"}],
    "messages": [[], "hello", {"all": 3}, {"Boreas": None}, {"all": "half \ud800"}],
    "summary_last_turn": [3, None, [], {}, "half \udfff"],
    "history_summary": [3, None, ["a"]],
    "reasoning": [3, None, {"a": "b"}],
    "disband_mils": [-1, "2", 1e-300, False],
    "keeps_word_report": [[], None, 7],
    "aggressor_report": [[], "Boreas", True],
}  # fmt: skip


@pytest.mark.parametrize(("field", "bad"), [(field, bad) for field, values in BAD_FIELDS.items() for bad in values])
def test_a_value_that_violates_the_schema_is_dropped_and_the_other_fields_stay(field: str, bad: Any) -> None:
    found, log = intended({**GOOD, field: bad})
    assert found == {**GOOD, field: NOTHING[field]}
    assert [name for name, _ in log] == [field]


@pytest.mark.parametrize(
    ("field", "value", "kept", "reason"),
    [
        ("attacks", {"Circe": 2, "Boreas": None}, {"Circe": 2}, "Boreas: must be an integer, not null"),
        ("attacks", {"Circe": 2, "nobody": "x"}, {"Circe": 2}, "nobody: unknown nation"),
        ("money_grants", {"Circe": 1, "Boreas": "1"}, {"Circe": 1}, "Boreas: must be an integer, not a string"),
        ("cede_territories", {"Boreas": ["a1", 7]}, {"Boreas": ["a1"]},
         "an integer to Boreas: must be the name of a territory"),
        ("messages", {"all": "good", "Boreas": None}, {"all": "good"}, "Boreas: must be a string, not null"),
        ("keeps_word_report", {"Ares": 3, "Boreas": 11}, {"Ares": 3}, "Boreas: must be from 1 to 10"),
    ],
)  # fmt: skip
def test_one_bad_entry_drops_itself_and_not_its_field(field: str, value: Any, kept: Any, reason: str) -> None:
    assert intended({field: value}) == ({**NOTHING, field: kept}, [(field, reason)])


def test_an_integer_can_be_written_with_a_zero_fraction_as_json_schema_says() -> None:
    answer = {"purchase_mils": 2.0, "attacks": {"Boreas": 3.0}, "keeps_word_report": {"Circe": 7.0}}
    expected = {**NOTHING, "purchase_mils": 2, "attacks": {"Boreas": 3}, "keeps_word_report": {"Circe": 7}}
    assert intended(answer) == intended(json.dumps(answer)) == (expected, [])
    assert type(intended(answer)[0]["purchase_mils"]) is int
    assert intended('{"purchase_mils": 2e0, "disband_mils": 1.' + "0" * 2_000_000 + "}")[0]["disband_mils"] == 1


def test_nan_and_infinity_are_told_apart() -> None:
    assert intended('{"purchase_mils": NaN}')[1] == [("purchase_mils", "must be an integer, not NaN")]
    assert intended('{"purchase_mils": 1e999}')[1] == [("purchase_mils", "must be an integer, not an infinite number")]
    assert intended({"attacks": {"Boreas": float("nan")}})[1] == [("attacks", "Boreas: must be an integer, not NaN")]


def test_repeated_keys_are_reported_and_the_last_one_counts() -> None:
    text = '{"purchase_mils": 1, "attacks": {"Boreas": 1, "Circe": 2, "Boreas": 3}, "purchase_mils": 4}'
    found, log = intended(text)
    assert found == {**NOTHING, "purchase_mils": 4, "attacks": {"Boreas": 3, "Circe": 2}}
    assert log == [
        ("purchase_mils", "given more than once; only the last one counts"),
        ("attacks", "Boreas: given more than once; only the last one counts"),
    ]


def test_names_are_matched_without_regard_to_case() -> None:
    found, log = intended({
        "attacks": {"BOREAS": 1}, "money_grants": {" circe ": 2}, "messages": {"All": "x", "demeter": "y"},
        "cede_territories": {"boreas": ["A1"]}, "keeps_word_report": {"ares": 3},
    })  # fmt: skip
    assert found == {
        **NOTHING, "attacks": {"Boreas": 1}, "money_grants": {"Circe": 2}, "messages": {"all": "x", "Demeter": "y"},
        "cede_territories": {"Boreas": ["a1"]}, "keeps_word_report": {"Ares": 3},
    }  # fmt: skip
    assert log == []
    assert intended({"attacks": {"ares": 1}})[1] == [("attacks", "ares: this is your own nation")]


def test_a_nation_named_twice_in_different_case_counts_once() -> None:
    found, log = intended({"attacks": {"BOREAS": 1, "boreas": 2, "Boreas": 3}})
    assert found["attacks"] == {"Boreas": 3}
    assert log == [("attacks", "BOREAS: Boreas is named twice"), ("attacks", "boreas: Boreas is named twice")]


def test_a_name_that_only_case_tells_apart_from_another_must_be_exact() -> None:
    state = make_state({"Ares": 5, "Bo": 5, "bo": 5})
    ledgers, dropped = read_intentions(state, {"Ares": {"attacks": {"Bo": 1, "bo": 2, "BO": 3}}}, STRICT)
    assert ledgers.d_global_attacks["Ares"] == {"Bo": 1, "bo": 2}
    assert [entry.reason.split(":")[0] for entry in dropped] == ["BO"]


def test_the_entry_of_a_nation_for_itself_is_no_problem_if_it_orders_nothing() -> None:
    assert intended({"attacks": {"Ares": 0, "Boreas": 1}}) == ({**NOTHING, "attacks": {"Boreas": 1}}, [])


def test_a_misspelt_field_is_reported_with_the_name_that_was_probably_meant() -> None:
    assert intended({"attack": {"Boreas": 1}}) == (NOTHING, [("attack", "unknown field (did you mean attacks?)")])
    assert intended({"attacks": {"Boraes": 1}}) == (
        NOTHING,
        [("attacks", "Boraes: unknown nation (did you mean Boreas?)")],
    )
    found, log = intended({"Attacks": {"Boreas": 1}})
    assert found["attacks"] == {"Boreas": 1}
    assert log == [("Attacks", "accepted as attacks; use that name")]


FENCED = [
    "```json\nANSWER\n```", "```\nANSWER\n```", "Here is my answer:\n\n```json\nANSWER\n```\nGood luck!", "I submit ANSWER now.",
    '<think>maybe {"purchase_mils": 9}</think>ANSWER', 'My "plan (unclosed: ANSWER', "ANSWER ... again: ANSWER",
    "not {} but ANSWER", 'in {"state": 1} I say ANSWER', "broken {'a': 1} and {\"b\": } then ANSWER",
]  # fmt: skip


@pytest.mark.parametrize("template", FENCED)
def test_json_in_a_code_fence_or_in_prose_is_read(template: str) -> None:
    assert intended(template.replace("ANSWER", json.dumps(GOOD))) == (GOOD, [])


def test_a_text_with_two_different_answers_is_not_read() -> None:
    found, log = intended('{"purchase_mils": 1} or rather {"purchase_mils": 2}')
    assert found == NOTHING
    assert log == [("*", "must be one JSON object, but the text has 2 different ones")]


def test_what_is_truncated_or_reduced_is_changed_and_not_dropped() -> None:
    answer = {
        "messages": {"all": "x" * 5000},
        "reasoning": "w " * 60,
        "purchase_mils": 10**13,
        "summary": "s",
        "zeal": 1,
    }
    _, dropped = read_intentions(make_state(), {"Ares": answer}, STRICT)
    assert [(entry.field, entry.kind) for entry in dropped] == [
        ("purchase_mils", "changed"), ("messages", "changed"), ("reasoning", "changed"), ("summary", "changed"),
        ("zeal", "dropped"),
    ]  # fmt: skip


def test_fifty_thousand_unknown_fields_do_not_fill_the_log() -> None:
    _, log = intended({f"field {i}": 1 for i in range(50_000)} | {"attacks": {f"no {i}": 1 for i in range(1_000)}})
    assert len(json.dumps(log)) < 10_000
    assert log[-1] == ("*", "49,960 more problems in other fields")
    assert ("attacks", "and 980 more") in log


def test_invalid_ratings_are_dropped_one_by_one() -> None:
    report = {"Ares": 0, "Boreas": 11, "Circe": 10, "Demeter": "7", "nobody": 5}
    found, log = intended({"keeps_word_report": report, "aggressor_report": {"Ares": 1}})
    assert found["keeps_word_report"] == {"Circe": 10}
    assert found["aggressor_report"] == {"Ares": 1}
    assert [reason.split(":")[0] for _, reason in log] == ["Ares", "Boreas", "Demeter", "nobody"]


def test_entries_with_an_unknown_nation_the_own_nation_or_foreign_territory_are_dropped_one_by_one() -> None:
    found, log = intended({
        "attacks": {"Boreas": 1, "nobody": 2, "Ares": 3},
        "money_grants": {"Boreas": 1, "nobody": 2, "Ares": 3},
        "messages": {"nobody": "x", "Ares": "y", "all": "z"},
        "cede_territories": {"Boreas": ["a1", "b0", "nowhere", "a1"], "Circe": ["a1"], "Ares": ["a1"], "nobody": ["a1"]},
    })  # fmt: skip
    assert found == {
        **NOTHING,
        "attacks": {"Boreas": 1},
        "money_grants": {"Boreas": 1},
        "messages": {"Ares": "y", "all": "z"},
        "cede_territories": {"Boreas": ["a1"]},
    }
    assert log == [
        ("attacks", "Ares: this is your own nation"),
        ("attacks", "nobody: unknown nation"),
        ("cede_territories", "Ares: this is your own nation"),
        ("cede_territories", "b0 to Boreas: you do not own it"),
        ("cede_territories", "nowhere to Boreas: you do not own it"),
        ("cede_territories", "a1 to Boreas: listed twice"),
        ("cede_territories", "a1 to Circe: not adjacent to the receiver's territory"),
        ("cede_territories", "nobody: unknown nation"),
        ("money_grants", "Ares: this is your own nation"),
        ("money_grants", "nobody: unknown nation"),
        ("messages", "nobody: unknown nation"),
    ]


@pytest.mark.parametrize("field", ["attacks", "money_grants"])
def test_a_nation_cannot_target_itself(field: str) -> None:
    assert intended({field: {"Ares": 3}}) == (NOTHING, [(field, "Ares: this is your own nation")])


def test_without_a_map_territory_can_be_ceded_to_any_nation() -> None:
    ledgers, dropped = read_intentions(
        make_state(graph=False), {"Ares": {"cede_territories": {"Demeter": ["a1"]}}}, STRICT
    )
    assert ledgers.d_territory_cession["Ares"] == {"Demeter": ["a1"]}
    assert dropped == []


def test_an_unknown_field_is_dropped_and_logged_under_its_name() -> None:
    found, log = intended({**GOOD, "zeal": 1, "attack": {}, "x" * 1000: 1})
    assert found == GOOD
    assert [field for field, _ in log] == ["attack", "x" * 39 + "…", "zeal"]


def test_the_old_name_of_the_summary_is_accepted_if_the_new_one_is_missing() -> None:
    assert intended({"summary": "old"})[0]["summary_last_turn"] == "old"
    assert intended({"summary": "old"})[1] == [("summary", "accepted as summary_last_turn; use that name")]
    found, log = intended({"summary": "old", "summary_last_turn": "new"})
    assert found["summary_last_turn"] == "new"
    assert log == [("summary", "ignored because summary_last_turn is given")]


def test_the_default_agent_is_accepted_and_its_lists_are_logged() -> None:
    agent = DefaultAgent(max_summary_len=4)
    agent.summary = "peaceful"
    assert isinstance(agent, Agent)
    found, log = intended(agent.act({}))
    assert found == {**NOTHING, "summary_last_turn": "peac"}
    assert [field for field, _ in log] == ["money_grants", "messages", "summary"]
    assert agent.act({})["summary"] == agent.summary == "peac"


def test_in_lenient_mode_strings_and_floats_are_converted_and_invalid_entries_are_dropped_one_by_one() -> None:
    answer = {
        "purchase_mils": "7",
        "attacks": {"Boreas": 3.9, "Circe": True, "Demeter": "many"},
        "money_grants": {"Boreas": INFINITE, "Circe": -4, "Demeter": " 12 "},
        "cede_territories": {"Boreas": ["a1", 3, None], "Circe": "a1"},
        "messages": {"all": 7, "Circe": "psst"},
        "disband_mils": "9" * 50,
        "keeps_word_report": {"Circe": "9", "Boreas": "11"},
        "reasoning": 8,
    }
    found, log = intended(answer, LENIENT)
    assert found == {
        **NOTHING,
        "purchase_mils": 7,
        "attacks": {"Boreas": 3},
        "money_grants": {"Demeter": 12},
        "cede_territories": {"Boreas": ["a1"]},
        "messages": {"Circe": "psst"},
        "keeps_word_report": {"Circe": 9},
    }
    assert [field for field, _ in log] == [
        "attacks", "attacks", "cede_territories", "cede_territories", "cede_territories", "money_grants", "money_grants", "messages",
        "reasoning", "disband_mils", "keeps_word_report",
    ]  # fmt: skip


def test_reasoning_is_truncated_to_fifty_words_and_texts_to_their_limits() -> None:
    found, log = intended({"reasoning": "so  it is " * 30, "summary_last_turn": "s" * 10_000_000})
    assert found["reasoning"] == ("so  it is " * 17)[:-4]
    assert len(found["reasoning"].split()) == 50
    assert found["summary_last_turn"] == "s" * 2048
    assert log == [("summary_last_turn", "truncated to 2048 characters"), ("reasoning", "truncated to 50 words")]
    assert intended({"reasoning": " w" * 50 + " "})[1] == []
    assert len(intended({"messages": {"all": "é" * 10_000_000}})[0]["messages"]["all"]) == 4096


def test_a_number_beyond_the_maximum_is_reduced_to_it() -> None:
    found, log = intended('{"purchase_mils": 1' + "0" * 9_000 + ', "attacks": {"Boreas": 99999999999999}}')
    assert found["purchase_mils"] == found["attacks"]["Boreas"] == MAX_ORDER
    assert len(log) == 2
    assert intended('{"disband_mils": -1' + "0" * 9_000 + "}")[0]["disband_mils"] == 0


def test_a_non_finite_number_drops_its_field_and_not_the_answer() -> None:
    for number in ("1e999", "-1e999", "NaN", "Infinity", "1." + "0" * 2_000_000 + "1e999"):
        found, log = intended(f'{{"purchase_mils": {number}, "disband_mils": 2}}')
        assert found == {**NOTHING, "disband_mils": 2}
        assert [field for field, _ in log] == ["purchase_mils"]


def test_a_value_that_is_nested_too_deeply_drops_its_field_and_not_the_answer() -> None:
    for deep in ("[" * 50_000 + "]" * 50_000, '{"a":' * 50_000 + "1" + "}" * 50_000):
        found, log = intended(f'{{"attacks": {deep}, "messages": {{"all": "[[{{{{"}}, "disband_mils": 2}}')
        assert found == {**NOTHING, "messages": {"all": "[[{{"}, "disband_mils": 2}
        assert [field for field, _ in log] == ["attacks"]
    within: Any = {}
    for _ in range(50_000):
        within = [within]
    assert intended({**GOOD, "attacks": within})[0] == {**GOOD, "attacks": {}}


plain = st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.text()


@given(st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_valid_json_is_parsed_like_the_standard_library_does(value: Any) -> None:
    assert parse_json(json.dumps(value)) == value


@given(st.integers(1, 60), st.lists(st.text('[]{}"\\ a', max_size=4), min_size=30, max_size=40))
def test_removing_deep_parts_keeps_the_rest(depth: int, words: list[str]) -> None:
    deep: Any = words
    for _ in range(depth):
        deep = [deep]
    found = parse_json(json.dumps({"before": words, "deep": deep, "after": {w: [w] for w in words}}))
    assert found["before"] == words
    assert found["after"] == {w: [w] for w in words}
    assert depth + 3 >= MAX_DEPTH or found["deep"] == deep


def test_an_answer_cannot_fill_the_log() -> None:
    answer = {
        "cede_territories": {"Boreas": [f"no {i}" for i in range(100_000)]},
        "attacks": {f"no {i}": 1 for i in range(1_000)},
    }
    _, log = intended(answer)
    assert len(log) == 42
    assert ("cede_territories", "and 99,980 more") in log
    assert all(len(reason) < 100 for _, reason in log)


def test_an_answer_from_an_unknown_nation_is_logged_and_dropped() -> None:
    ledgers, dropped = read_intentions(make_state(), {"nobody": GOOD, "Ares": {}}, STRICT)
    assert msgspec.structs.asdict(ledgers) == msgspec.structs.asdict(read_intentions(make_state(), {}, STRICT)[0])
    assert [(each.nation, each.field) for each in dropped] == [("nobody", "*")]


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.sampled_from(NAMES),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*NAMES, "all"]) | st.text() | st.integers(), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=examples(100))
@given(st.data(), st.sampled_from([STRICT, LENIENT]))
def test_the_answer_of_one_nation_never_changes_the_intentions_of_the_others(data: st.DataObject, rules: Rules) -> None:
    state = make_state()
    others = data.draw(answers(state))
    bad = data.draw(junk | st.dictionaries(st.sampled_from(FIELDS) | st.text(), junk))
    without, _ = read_intentions(state, {name: a for name, a in others.items() if name != "Circe"}, rules)
    ledgers, dropped = read_intentions(state, {**others, "Circe": bad}, rules)
    for name in LEDGERS.values():
        expected, found = getattr(without, name), getattr(ledgers, name)
        assert {n: v for n, v in found.items() if n != "Circe"} == {n: v for n, v in expected.items() if n != "Circe"}
    msgspec.json.encode([ledgers, dropped])  # every number and every text can be encoded


@given(states(), st.data())
def test_accepted_intentions_are_valid_answers_themselves(state: Any, data: st.DataObject) -> None:
    first, _ = read_intentions(state, data.draw(answers(state)), STRICT)
    again = {n: {field: getattr(first, name)[n] for field, name in LEDGERS.items()} for n in state.nations}
    second, dropped = read_intentions(state, json.loads(json.dumps(again)), STRICT)
    assert second == first
    assert dropped == []


def test_the_schema_has_the_fields_types_and_limits_of_the_seed() -> None:
    kinds = {name: each["type"] for name, each in AGENT_ACTION_SCHEMA["properties"].items()}
    assert [name for name, kind in kinds.items() if kind == "integer"] == ["purchase_mils", "disband_mils"]
    assert [name for name, kind in kinds.items() if kind == "string"] == [
        "summary_last_turn", "history_summary", "reasoning",
    ]  # fmt: skip
    inner = {
        n: e["additionalProperties"] for n, e in AGENT_ACTION_SCHEMA["properties"].items() if e["type"] == "object"
    }
    assert inner == {
        "attacks": {"type": "integer", "minimum": 0},
        "cede_territories": {"type": "array", "items": {"type": "string"}},
        "money_grants": {"type": "integer", "minimum": 0},
        "messages": {"type": "string"},
        "keeps_word_report": {"type": "integer", "minimum": 1, "maximum": 10},
        "aggressor_report": {"type": "integer", "minimum": 1, "maximum": 10},
    }
    assert AGENT_ACTION_SCHEMA["additionalProperties"] is False


# -- the seed's translation -----------------------------------------------------------------
def translated(actions: Any, **more: Any) -> tuple[Any, ...]:
    return translate_agent_actions_to_intentions(
        actions, known_agents={"A", "B", "C"}, agent_territories={"A": {"T1", "T2"}, "B": set()}, **more
    )


def test_the_seeds_translation_converts_numbers_and_leaves_out_invalid_values() -> None:
    answer = {
        "purchase_mils": "7",
        "attacks": {"B": 3.9, "C": True, "A": 4, "nobody": 4, 3: 1},
        "cede_territories": {"B": ["T2", "T9", 3, "T2"], "C": "T1", "A": ["T1"]},
        "money_grants": {"B": "x", "C": 2},
        "messages": {"all": "", "A": "me", "B": 3, "nobody": "x"},
        "summary": "12345",
        "summary_last_turn": "lost",
    }
    assert translated({"A": answer, "nobody": answer}, max_summary_len=3) == (
        {"A": 7}, {"A": {"B": 3, "C": 1}}, {"A": {"B": ["T2", "T2"]}}, {"A": {"C": 2}},
        {"A": {"all": "", "A": "me"}}, {"A": "123"},
    )  # fmt: skip
    assert translated({"A": answer}, max_summary_len=-1)[5] == {"A": "12345"}


def test_the_seeds_translation_resets_a_whole_answer_because_of_one_infinite_number() -> None:
    answer = {"purchase_mils": 3, "attacks": {"B": INFINITE}, "summary": "gone"}
    assert translated({"A": answer}) == ({"A": 0}, {"A": {}}, {"A": {}}, {"A": {}}, {"A": {}}, {"A": ""})
    assert translated({"A": {**answer, "attacks": {"B": float("nan")}}})[0] == {"A": 3}


@given(
    st.dictionaries(
        st.sampled_from(["A", "B", "x"]), junk | st.dictionaries(st.sampled_from([*FIELDS, "summary"]), junk)
    )
)
def test_the_seeds_translation_never_raises_and_contains_only_agents_that_answered(actions: Any) -> None:
    for ledger in translated(actions):
        assert list(ledger) == [name for name in actions if name != "x"]
    assert translated(None) == ({}, {}, {}, {}, {}, {})
