"""``cohabit statecraft resolve``: one turn from a JSON document."""

import io
import json
import sys
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given

from cohabit.errors import BadArgs
from cohabit.faces.cli import main
from cohabit.lab.statecraft.single_turn import resolve_document, resolve_text
from cohabit.worlds.statecraft import Ledgers, rules_from, run_turn

from .cases import turns

DOCUMENT: dict[str, Any] = {
    "constants": {
        "c_money_per_territory": 10, "c_mil_purchase_price": 20, "c_mil_upkeep_price": 2,
        "c_defense_destroy_factor": 4, "c_damage_per_attack_mil": 5, "c_trade_factor": 1.13,
    },
    "graph": {"a1": ["a2"], "a2": ["a1", "b1"], "b1": ["a2"]},
    "capitals": {"A": "a1", "B": "b1"},
    "start": {"mils": {"A": 1, "B": 8}, "territories": {"A": ["a2", "a1"], "B": ["b1"]}, "welfare": {"A": 3}},
    "actions": {
        "A": {"attacks": {"B": 9}, "cede_territories": {"B": ["a2", "a1"]}, "money_grants": {"B": 10}},
        "B": '{"cede_territories": {"A": ["b1"]}, "purchase_mils": 1e999, "zeal": 1}',
        "C": "unknown",
    },
}  # fmt: skip


def changed(**more: Any) -> dict[str, Any]:
    return {**deepcopy(DOCUMENT), **more}


def test_the_result_has_the_end_state_the_ledgers_and_what_was_dropped_or_refused() -> None:
    found = resolve_document(DOCUMENT)
    # A: 20 - 2 upkeep - 10 granted = 8. B: 10 - 5 damage, 5 money for 8 mils x 2: 6 disbanded, 1 left; 10 x 1.13 received.
    assert found["end"] == {
        "mils": {"A": 0, "B": 2},
        "territories": {"A": ["a1"], "B": ["a2", "b1"]},
        "welfare": {"A": 11, "B": 12},
    }
    assert found["ledgers"]["d_global_attacks"]["A"] == {"B": 9}
    assert found["ledgers"]["d_attacks_clamped"]["A"] == {"B": 1}
    assert found["ledgers"]["d_mils_lost_by_attacker"] == {"A": 1, "B": 0}
    assert found["ledgers"]["d_trade_bonus"] == {"A": 0, "B": 1}
    assert found["dropped"] == [
        ["A", "cede_territories", "a1 to B: not adjacent to the receiver's territory"],
        ["B", "purchase_mils", "must be an integer, not an infinite number"],
        ["B", "zeal", "unknown field"],
        ["C", "*", "unknown nation"],
    ]
    assert found["cessions_done"] == [["A", "B", "a2"]]
    assert found["cessions_refused"] == [["B", "A", "b1", "it is the giver's capital"]]


def test_the_result_has_every_ledger_under_its_name() -> None:
    assert [*Ledgers.__struct_fields__, "d_summary_last_turn"] == list(resolve_document(DOCUMENT)["ledgers"])


def test_the_loss_cap_and_the_intake_are_options() -> None:
    army = {**changed(loss_cap="army"), "capitals": {}}
    assert resolve_document(army)["ledgers"]["d_mils_lost_by_attacker"] == {"A": 2, "B": 0}
    coerced = changed(intake="lenient", actions={"A": {"disband_mils": "1"}})
    assert resolve_document(coerced)["end"]["mils"]["A"] == 0


def test_without_capitals_the_first_territory_of_a_nation_by_name_is_its_capital() -> None:
    default = changed(capitals=None, actions={"B": {"cede_territories": {"A": ["b1"]}}})
    assert resolve_document(default)["cessions_refused"] == [["B", "A", "b1", "it is the giver's capital"]]
    none = changed(capitals={}, actions={"B": {"cede_territories": {"A": ["b1"]}}})
    assert resolve_document(none)["cessions_done"] == [["B", "A", "b1"]]


def test_without_a_graph_every_nation_is_adjacent() -> None:
    found = resolve_document(changed(graph=None, capitals={}, actions={"A": {"cede_territories": {"B": ["a1"]}}}))
    assert found["cessions_done"] == [["A", "B", "a1"]]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "the document: must be an object"),
        ({**DOCUMENT, "losscap": "army"}, "the document has an unknown key 'losscap'"),
        ({**DOCUMENT, "loss_cap": "none"}, "loss_cap: must be one of committed, army"),
        ({**DOCUMENT, "intake": []}, "intake: must be one of"),
        ({**DOCUMENT, "start": None}, "start: must be an object"),
        ({**DOCUMENT, "start": {"mils": {"A": -1}}}, "start.mils.A: must be an integer of at least 0"),
        ({**DOCUMENT, "start": {"mils": {"A": True}}}, "start.mils.A: must be an integer"),
        ({**DOCUMENT, "start": {"mils": {"all": 1}}}, "a nation cannot be named 'all'"),
        ({**DOCUMENT, "start": {"territories": {"A": ["x"], "B": ["x"]}}}, "x already belongs to A"),
        ({**DOCUMENT, "start": {"territories": {"A": "x"}}}, "start.territories.A: must be an array of strings"),
        ({**DOCUMENT, "capitals": {"Q": "a1"}}, "unknown nation 'Q'"),
        ({**DOCUMENT, "graph": {"a": ["b"]}}, "b"),
        ({**DOCUMENT, "graph": {"a": 7}}, "graph.a: must be an array of strings"),
        ({**DOCUMENT, "constants": {"c_mil_purchase_price": 0}}, "c_mil_purchase_price: must be"),
        ({**DOCUMENT, "actions": []}, "actions: must be an object"),
    ],
)
def test_an_invalid_document_is_refused_with_the_reason(document: Any, message: str) -> None:
    with pytest.raises(BadArgs) as refusal:
        resolve_document(document)
    assert message in refusal.value.message


def test_a_repeated_key_of_the_document_is_refused_and_one_in_an_answer_is_reported() -> None:
    with pytest.raises(BadArgs, match=r"start.mils has the key 'A' more than once"):
        resolve_text('{"start": {"mils": {"A": 1, "A": 2}}}')
    found = resolve_text('{"start": {"mils": {"A": 1}}, "actions": {"A": {"purchase_mils": 1, "purchase_mils": 2}}}')
    assert found["dropped"] == [["A", "purchase_mils", "given more than once; only the last one counts"]]


@given(turns())
def test_the_result_is_that_of_the_engine(turn: Any) -> None:
    state, answers, rules = turn
    constants = {n: getattr(rules, n) for n in rules.__struct_fields__ if n.startswith("c_")}
    document = {
        "constants": {**constants, "c_trade_factor": f"{rules.trade_numerator}/{rules.trade_denominator}"},
        "graph": state.graph,
        "capitals": state.capitals,
        "start": {"mils": state.mils, "territories": state.territories, "welfare": state.welfare},
        "actions": answers,
        "loss_cap": rules.loss_cap,
    }
    found = resolve_text(json.dumps(document))
    end = run_turn(state, answers, rules).end
    assert found["end"] == {"mils": end.mils, "territories": end.territories, "welfare": end.welfare}


def test_a_trade_factor_written_as_a_float_is_exact() -> None:
    assert (rules_from({"c_trade_factor": 1.13}).trade_numerator, rules_from({}).trade_numerator) == (113, 2)


class Stdin:
    """A standard input with these bytes."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def command(monkeypatch: pytest.MonkeyPatch, data: bytes, *arguments: str) -> int:
    monkeypatch.setattr(sys, "stdin", Stdin(data))
    return main(["statecraft", "resolve", *arguments])


def test_the_command_reads_a_document_and_prints_the_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.dumps(DOCUMENT).encode()
    assert command(monkeypatch, data) == 0
    plain = capsys.readouterr().out
    assert json.loads(plain) == resolve_document(DOCUMENT)
    assert plain.count("\n") == 1
    assert command(monkeypatch, data, "--pretty") == 0
    assert json.loads(capsys.readouterr().out) == json.loads(plain)


def test_the_command_accepts_any_answer_of_a_nation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = "[" * 20_000 + "]" * 20_000
    text = json.dumps(changed(actions={"A": "DEEP", "B": {}})).replace(
        '"DEEP"', f'{{"attacks": {deep}, "purchase_mils": NaN, "disband_mils": 1, "reasoning": "\\ud800"}}'
    )
    assert command(monkeypatch, text.encode()) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["end"]["mils"]["A"] == 0
    assert [row[:2] for row in found["dropped"]] == [["A", "purchase_mils"], ["A", "attacks"], ["A", "reasoning"]]


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b"17"])
def test_the_command_refuses_an_invalid_document_with_one_line(
    data: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(monkeypatch, data) == 1
    told = capsys.readouterr().err
    assert told.startswith("cohabit: [BAD_ARGS]")
    assert told.count("\n") == 1
