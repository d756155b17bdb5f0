"""``cohabit statecraft resolve``: one turn, from one document to another."""

import io
import json
import sys
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given

from cohabit.errors import BadArgs
from cohabit.faces.cli import main
from cohabit.worlds.statecraft import Ledgers, resolve_document, rules_from, run_turn
from cohabit.worlds.statecraft.resolve import resolve_text

from .tables import turns

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
        "C": "whoever",
    },
}  # fmt: skip


def changed(**more: Any) -> dict[str, Any]:
    return {**deepcopy(DOCUMENT), **more}


def test_a_document_comes_back_as_what_the_turn_made_of_it() -> None:
    found = resolve_document(DOCUMENT)
    # A: 20 - 2 upkeep - 10 given = 8. B: 10 - 5 burnt, 5 money for 8 mils x 2: 6 go, 1 left; 10 x 1.13 received.
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
        ["A", "cede_territories", "a1 to B: borders none of its land"],
        ["B", "purchase_mils", "must be a whole number, not an infinite one"],
        ["B", "zeal", "there is no such field"],
        ["C", "*", "there is no such nation"],
    ]
    assert found["cessions_done"] == [["A", "B", "a2"]]
    assert found["cessions_refused"] == [["B", "A", "b1", "the giver's capital"]]


def test_every_ledger_is_there_under_its_name() -> None:
    assert [*Ledgers.__struct_fields__, "d_summary_last_turn"] == list(resolve_document(DOCUMENT)["ledgers"])


def test_the_loss_cap_and_the_intake_can_be_chosen() -> None:
    old = {**changed(loss_cap="army"), "capitals": {}}
    assert resolve_document(old)["ledgers"]["d_mils_lost_by_attacker"] == {"A": 2, "B": 0}
    coerced = changed(intake="lenient", actions={"A": {"disband_mils": "1"}})
    assert resolve_document(coerced)["end"]["mils"]["A"] == 0


def test_where_nothing_is_said_of_capitals_the_first_territory_by_name_is_one() -> None:
    silent = changed(capitals=None, actions={"B": {"cede_territories": {"A": ["b1"]}}})
    assert resolve_document(silent)["cessions_refused"] == [["B", "A", "b1", "the giver's capital"]]
    none = changed(capitals={}, actions={"B": {"cede_territories": {"A": ["b1"]}}})
    assert resolve_document(none)["cessions_done"] == [["B", "A", "b1"]]


def test_without_a_graph_there_are_no_borders() -> None:
    found = resolve_document(changed(graph=None, capitals={}, actions={"A": {"cede_territories": {"B": ["a1"]}}}))
    assert found["cessions_done"] == [["A", "B", "a1"]]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([], "the document: must be an object"),
        ({**DOCUMENT, "losscap": "army"}, "the document has no 'losscap'"),
        ({**DOCUMENT, "loss_cap": "none"}, "loss_cap: must be one of committed, army"),
        ({**DOCUMENT, "intake": []}, "intake: must be one of"),
        ({**DOCUMENT, "start": None}, "start: must be an object"),
        ({**DOCUMENT, "start": {"mils": {"A": -1}}}, "start.mils.A: must be a whole number of at least 0"),
        ({**DOCUMENT, "start": {"mils": {"A": True}}}, "start.mils.A: must be a whole number"),
        ({**DOCUMENT, "start": {"mils": {"all": 1}}}, "no nation may be called 'all'"),
        ({**DOCUMENT, "start": {"territories": {"A": ["x"], "B": ["x"]}}}, "x is A's already"),
        ({**DOCUMENT, "start": {"territories": {"A": "x"}}}, "start.territories.A: must be a list of texts"),
        ({**DOCUMENT, "capitals": {"Q": "a1"}}, "there is no nation 'Q'"),
        ({**DOCUMENT, "graph": {"a": ["b"]}}, "b"),
        ({**DOCUMENT, "graph": {"a": 7}}, "graph.a: must be a list of texts"),
        ({**DOCUMENT, "constants": {"c_mil_purchase_price": 0}}, "c_mil_purchase_price: must be"),
        ({**DOCUMENT, "actions": []}, "actions: must be an object"),
    ],
)
def test_a_wrong_document_is_refused_and_says_what_is_wrong(wrong: Any, words: str) -> None:
    with pytest.raises(BadArgs) as refusal:
        resolve_document(wrong)
    assert words in refusal.value.message


@given(turns())
def test_it_says_what_the_engine_says(turn: Any) -> None:
    table, answers, rules = turn
    constants = {n: getattr(rules, n) for n in rules.__struct_fields__ if n.startswith("c_")}
    document = {
        "constants": {**constants, "c_trade_factor": f"{rules.trade_numerator}/{rules.trade_denominator}"},
        "graph": table.graph,
        "capitals": table.capitals,
        "start": {"mils": table.mils, "territories": table.territories, "welfare": table.welfare},
        "actions": answers,
        "loss_cap": rules.loss_cap,
    }
    found = resolve_text(json.dumps(document))
    end = run_turn(table, answers, rules).end
    assert found["end"] == {"mils": end.mils, "territories": end.territories, "welfare": end.welfare}


def test_a_factor_written_as_a_float_is_the_fraction_that_it_shows() -> None:
    assert (rules_from({"c_trade_factor": 1.13}).trade_numerator, rules_from({}).trade_numerator) == (113, 2)


class Stdin:
    """A standard input with these bytes in it."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def command(monkeypatch: pytest.MonkeyPatch, data: bytes, *words: str) -> int:
    monkeypatch.setattr(sys, "stdin", Stdin(data))
    return main(["statecraft", "resolve", *words])


def test_the_command_reads_a_document_and_prints_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.dumps(DOCUMENT).encode()
    assert command(monkeypatch, data) == 0
    plain = capsys.readouterr().out
    assert json.loads(plain) == resolve_document(DOCUMENT)
    assert plain.count("\n") == 1
    assert command(monkeypatch, data, "--pretty") == 0
    assert json.loads(capsys.readouterr().out) == json.loads(plain)


def test_the_command_takes_whatever_a_nation_wrote_into_the_document_itself(
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
def test_the_command_refuses_what_is_no_document_in_one_line(
    data: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(monkeypatch, data) == 1
    told = capsys.readouterr().err
    assert told.startswith("cohabit: [BAD_ARGS]")
    assert told.count("\n") == 1
