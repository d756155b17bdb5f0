"""check_world: what a world returns. A value of a wrong type is named, with what to return instead, and not our code."""

import pytest
from tests.testing.test_checker import LEGAL, OBSERVE, OVER, RESET_END, N, after, broken, refused

RETURNS = 'return Outcome("added", public=f"{by.id} adds {n}")'
SING = '''
    @action()
    def sing(self, by: Seat) -> Outcome:
        """Sing."""
        return Outcome("la")

    @query()
'''
QUERY = "\n    @query()\n"
BROKEN = {
    "its turns are a text": (
        "play",
        "to_move() must list the ids of seats, and returns text such as 'left'",
        [(OVER, OVER.replace("else [self.order[self.moves % len(self.order)]]", "else self.order[self.moves % 2]"))],
    ),
    "its turns are nothing": (
        "play",
        "to_move() must list the ids of seats, and returns nothing",
        [(OVER, "return None")],
    ),
    "it tells a text": ("play", "must be values of Told, not 'hey'", [(RETURNS, "return Outcome(told=('hey',))")]),
    "it tells a list of seats": (
        "play",
        "the seats of a Told must be a tuple of ids, such as (by.id,), not ['left']",
        [
            ("    SeatId,\n", "    SeatId,\n    Told,\n"),
            (RETURNS, "return Outcome(told=(Told('hey', seats=[by.id]),))"),
        ],
    ),
    "it keeps what is no state": (
        "play",
        "tally failed: state['rule']: a function is code, not state; store a name instead",
        [after(RESET_END, "self.rule = lambda: 1")],
    ),
    "it shows a list that it changes later": (
        "peeking",
        "return a copy of it",
        [(OBSERVE, OBSERVE + "status={'sums': self.sums}, ")],
    ),
    "it shows what is no number": (
        "peeking",
        "the status of observe() has nan, which JSON does not have",
        [(OBSERVE, OBSERVE + "status={'odds': [float('nan')]}, ")],
    ),
    "it shows a set": ("peeking", "has a set, which has no order", [(OBSERVE, OBSERVE + "status={'ids': {1, 2}}, ")]),
    "it shows what JSON has no form for": (
        "play", "observe(): status['one'][0] is an object such as <object object",
        [(OBSERVE, OBSERVE + "status={'one': [object()]}, ")],
    ),
    "it shows a dict with a key that is no text": (
        "play", "observe(): status['cells'] has the key (0, 1); use text",
        [(OBSERVE, OBSERVE + "status={'cells': {(0, 1): 'x'}}, ")],
    ),
    "its message is a number": (
        "play", "tally failed: add(): Outcome.message must be text, not 5", [(RETURNS, "return Outcome(5)")],
    ),
    "its public text is a number": (
        "play", "add(): Outcome.public must be text, not 5", [(RETURNS, "return Outcome(public=5)")],
    ),
    "its reward is a text": (
        "play", "add(): Outcome.reward must be a number, not '3'", [(RETURNS, "return Outcome(reward='3')")],
    ),
    "it tells one event without a tuple": (
        "play", "add(): Outcome.told must be a tuple, not Told(",
        [("    SeatId,\n", "    SeatId,\n    Told,\n"), (RETURNS, "return Outcome(told=Told('hey'))")],
    ),
    "its snapshot is a dict": (
        "play", "snapshot() must return bytes, not a dict such as {'moves': 0}",
        [(QUERY, "\n    def snapshot(self):\n        return {'moves': self.moves}\n" + QUERY)],
    ),
    "its picture is a text": (
        "play", "picture() must return the bytes of a PNG, or None, not text such as '<svg>'",
        [(QUERY, "\n    def picture(self, eye):\n        return '<svg>'\n" + QUERY)],
    ),
    "an action yields": ("words", "add() is async or yields", [(RETURNS, RETURNS.replace("return", "yield"))]),
    "an action does not say who acts": (
        "words",
        "write def add(self, by: Seat, …)",
        [("by: Seat, n:", "n:"), (N, "n: int")],
    ),
    "a query does not say who looks": ("words", "write def total(self, eye: Eye, …)", [("self, eye: Eye) -> int", "self) -> int")]),
    "a score is larger than any number of JSON": (
        "play",
        "the score of left is a finite number of at most 308 digits",
        [("-total)", "10 ** 400)")],
    ),
    "an unknown seat is paid": (
        "returns",
        "returns() names 'middle'; the seats are left, right (",
        [(QUERY, "\n    def returns(self):\n        return {'middle': 1.0}\n" + QUERY)],
    ),
}  # fmt: skip


@pytest.mark.sampled(kind=lambda how: BROKEN[how][0])
@pytest.mark.parametrize("how", list(BROKEN))
def test_check_world_says_what_to_return_when(how, tmp_path, without_processes):
    check, words, changes = BROKEN[how]
    refused(broken(tmp_path, *changes), check, words)


def test_an_action_that_is_never_listed_is_a_warning_unless_the_list_has_examples(tmp_path, without_processes):
    report = broken(tmp_path, (QUERY, SING))
    (found,) = [finding for finding in report.findings if finding.check == "legal"]
    assert found.warned
    assert "legal() never lists sing, but" in found.message
    assert "write examples=True in the spec" in found.message
    report = broken(tmp_path, (QUERY, SING), ('pace="turns")', 'pace="turns", examples=True)'))
    (found,) = [finding for finding in report.findings if finding.check == "legal"]
    assert (found.ok, found.warned) == (True, False), found.message


def test_an_action_that_is_listed_at_times_is_no_warning(tmp_path, without_processes):
    sung = LEGAL.replace("return [", 'return [*([Action("sing")] if self.moves % 2 else []), *[') + "]"
    report = broken(tmp_path, (QUERY, SING), (LEGAL, sung))
    (found,) = [finding for finding in report.findings if finding.check == "legal"]
    assert (found.ok, found.warned) == (True, False), found.message


def test_an_action_that_returns_none_is_a_warning_because_its_outcome_was_forgotten(tmp_path, without_processes):
    report = broken(tmp_path, (RETURNS, RETURNS.replace("return ", "")))
    (found,) = [finding for finding in report.findings if finding.check == "outcomes"]
    assert (found.ok, found.warned) == (True, True), found.message
    assert found.message.startswith("add returned None; did you forget `return Outcome(…)`? (seed 1, step ")


def test_an_action_may_return_a_text(tmp_path, without_processes):
    report = broken(tmp_path, (RETURNS, 'return "added"'))
    (found,) = [finding for finding in report.findings if finding.check == "outcomes"]
    assert (found.ok, found.warned) == (True, False), found.message


def test_a_method_that_is_named_almost_like_one_of_the_contract_is_a_warning(tmp_path, without_processes):
    report = broken(tmp_path, ("    def standings(", "    def standing("))
    (found,) = [finding for finding in report.findings if finding.check == "spec"]
    assert (found.warned, found.message) == (True, "nothing calls standing(); do you mean standings()?")
