"""check_world finds what a world tells an eye that it may not know, and lets the rules reveal what they reveal."""

from pathlib import Path

import pytest

from cohabit.testing import checker
from cohabit.testing.checker import Finding, check_here
from cohabit.testing.checks import determinism
from cohabit.testing.checks.choices import check_choices
from cohabit.world import World

HANDS = (Path(__file__).parent / "hands.py").read_text()
SHOWN = 'if eye.sees == "all" or name == eye.seat}'
REFUSED = 'raise GameRejected("you do not hold this card")'
SCORE = "Standing(name, name, self.won[name])"
ORDER = "names = list(self.order)"
PUBLIC = 'public = f"plays the {card}"'
LEGAL = "    def legal(self"
ANSWER = "return len(self.hands.get(of, ()))"
OUTCOME = 'return Outcome(f"You play the {card}.", public=public)'
IMPORT = "from typing import Annotated\n"
OWN = "name != eye.seat or eye.sees"
RESAMPLE = "    def resample(self"
HOLDER = "next((name for name, hand in self.hands.items() if card in hand), 'nobody')"


@pytest.fixture(autouse=True)
def only_what_secrets_need(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = ("spec", "play", "same seed", "secrets")
    monkeypatch.setattr(checker, "CHECKS", {name: checker.CHECKS[name] for name in needed})


def secrets_of(folder: Path, *changes: tuple[str, str]) -> Finding:
    """What the check finds in the world with these changes."""
    text = HANDS
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        text = text.replace(old, new)
    file = folder / "hands.py"
    file.write_text(text)
    report = check_here(str(file), seeds=(1, 2), steps=30)
    assert [f.check for f in report.findings if f.check != "secrets" and not f.ok] == [], f"\n{report}"
    return report.findings[-1]


def method(text: str) -> tuple[str, str]:
    """One more method."""
    return LEGAL, f"{text}\n{LEGAL}"


LEAKS = {
    "the hands are in the public view": (
        "observe() shows a spectator what is hidden", [(SHOWN, "}")],
    ),
    "a refusal names the holder": (
        "a refusal tells p1 what is hidden", [(REFUSED, f'raise GameRejected(f"{{{HOLDER}}} holds it")')],
    ),
    "a refusal has the holder in its details": (
        "a refusal tells p1 what is hidden", [(REFUSED, f'raise GameRejected("no", holder={HOLDER})')],
    ),
    "a refusal suggests what others hold": (
        "a refusal tells p1 what is hidden",
        [(REFUSED, 'raise GameRejected("no", did_you_mean=[str(c) for c in self.rest[:2]])')],
    ),
    "the kind of an event follows what is hidden": (
        "an event tells",
        [(IMPORT, f"{IMPORT}\nfrom cohabit.world import Told\n"),
         (OUTCOME, 'return Outcome("You play.", told=(Told("a card", ("info", "turn")[sum(self.rest) % 2]),))')],
    ),
    "a card that somebody else holds is refused and one that nobody holds is played": (
        "it is accepted",
        [(f"{REFUSED}\n        self.hands[by.id].remove(card)",
          (f"\n            if {HOLDER} != 'nobody':\n                {REFUSED}\n            return Outcome('Nothing.')\n"
          "        self.hands[by.id].remove(card)"))],
    ),
    "the score counts what is in the hands": (
        "standings() shows", [(SCORE, "Standing(name, name, sum(self.hands[name]))")],
    ),
    "the score board has the hands in its data": (
        "standings() shows", [(SCORE, 'Standing(name, name, 0, data={"best": max(self.hands[name], default=0)})')],
    ),
    "lines are in the order of the hands": (
        "observe() shows", [(ORDER, "names = sorted(self.order, key=lambda name: sum(self.hands[name]))")],
    ),
    "an event tells what is left": (
        "an event tells", [(PUBLIC, 'public = f"plays the {card} and keeps {self.hands[by.id]}"')],
    ),
    "the actor is told what the others hold": (
        "an event tells p",
        [(OUTCOME, 'return Outcome(f"You play the {card}; left are {self.rest}.", public=public)')],
    ),
    "the data of an outcome have what the others hold": (
        "an event tells p", [(OUTCOME, 'return Outcome("You play.", public=public, data=list(self.rest))')],
    ),
    "an outcome has a reward for what is hidden": (
        "an event tells p", [(OUTCOME, 'return Outcome("You play.", public=public, reward=float(sum(self.rest)))')],
    ),
    "a query answers for everybody": (
        "count(of=", [(ANSWER, "return sum(self.hands.get(of, ()))")],
    ),
    "a query refuses by what is hidden": (
        "count(of=",
        [(ANSWER, 'if sum(self.hands.get(of, ())) % 2:\n            raise GameRejected("odd")\n        return 1')],
    ),
    "a picture is drawn from what is hidden": (
        "picture() shows", [method("    def picture(self, eye):\n        return bytes(self.rest)\n")],
    ),
    "an array has what is hidden": (
        "array('rest') shows",
        [(IMPORT, f"{IMPORT}\nimport numpy as np\n\nfrom cohabit.world import ArraySpec\n"),
         method("    def arrays(self):\n        return {'rest': ArraySpec(shape=(9,))}\n\n"
                "    def array(self, eye, form):\n        return np.array(self.rest, np.uint8)\n")],
    ),
    "a mask follows what is hidden": (
        "useful() shows",
        [method("    def numbered(self):\n        return [Action('play', {'card': n}) for n in range(1, 10)]\n\n"
                "    def useful(self, seat):\n        return self.numbered()[: 1 + sum(self.rest) % 9]\n")],
    ),
    "a goal names what is hidden": (
        "the view shows",
        [(IMPORT, f"{IMPORT}\nfrom cohabit.model.observation import Goal\n"),
         method("    def goals(self, seat):\n        return [Goal('g', f'win, although {self.rest} are left')]\n")],
    ),
    "the values without the text have more": (
        "observe_data() shows",
        [method("    def observe_data(self, eye):\n        return Observation(status={'rest': list(self.rest)})\n")],
    ),
    "the words for changes come from what is hidden": (
        "changes() shows", [method("    def changes(self, before, now):\n        return str(self.rest)\n")],
    ),
    "the fallback follows what is hidden": (
        "the view as the room gives it shows p",
        [method("    def fallback(self, seat):\n"
                "        hand = self.hands[seat.id]\n"
                "        return Action('play', {'card': hand[sum(self.rest) % len(hand)]})\n")],
    ),
    "a total of rewards follows what is hidden": (
        "returns() shows",
        [method("    def returns(self):\n        return {n: float(sum(self.rest) * any(self.played)) for n in self.order}\n")],
    ),
    "a scope names what is hidden": (
        "a refusal tells p",
        [method("    def scope(self, by, action, args):\n"
                "        return 'another has it' if args.get('card') in self.rest else None\n")],
    ),
}  # fmt: skip


def test_a_world_that_keeps_its_secrets_passes(tmp_path):
    found = secrets_of(tmp_path)
    assert (found.ok, found.warned) == (True, False), found.message
    assert "actions done in both" in found.message


@pytest.mark.sampled
@pytest.mark.parametrize("how", list(LEAKS))
def test_a_world_leaks_when(how, tmp_path):
    words, changes = LEAKS[how]
    found = secrets_of(tmp_path, *changes)
    assert found.ok is False, found.message
    assert words in found.message, found.message


CHOOSING = """
from collections.abc import Sequence

from cohabit import Action, Eye, Observation, Outcome, Seat, SeatId, Stream, Told, World, WorldSpec, action


class Choosing(World):
    \"\"\"Each player chooses a number in secret. Who chose is public.\"\"\"

    spec = WorldSpec(name="choosing", seats=2, seat_names=("p1", "p2"), pace="rounds")

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.chosen: dict[SeatId, int] = {}
        self.last: list[int] = []

    def to_move(self) -> Sequence[SeatId]:
        return [seat for seat in self.order if seat not in self.chosen]

    def observe(self, eye: Eye) -> Observation:
        shown = {seat: n for seat, n in self.chosen.items() if eye.sees == "all" or seat == eye.seat}
        return Observation(status={"chosen": shown, "last": self.last})

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("choose", {"n": n}) for n in range(4)]

    @action()
    def choose(self, by: Seat, n: int) -> Outcome:
        \"\"\"Choose a number.\"\"\"
        self.chosen[by.id] = n
        return Outcome(f"You choose {n}.", public="has chosen", pending=True)

    def resolve(self) -> Sequence[Told]:
        self.last, self.chosen = [self.chosen.get(seat, 0) for seat in self.order], {}
        return [Told(f"chosen: {self.last}")]

    def outcome(self, seat: Seat) -> Outcome:
        return Outcome()

    def resample(self, eye: Eye, stream: Stream) -> None:
        if eye.sees != "all":
            self.chosen = {seat: n if seat == eye.seat else stream.below(4) for seat, n in self.chosen.items()}
"""


@pytest.mark.parametrize(
    ("public", "leaks"),
    [
        ('"has chosen"', False),
        ('f"has chosen {n}"', True),
        ('"thinks for long" if n > 2 else "is quick"', True),
    ],
)
def test_an_event_that_tells_what_another_seat_did_in_secret_is_a_leak(public, leaks, tmp_path):
    file = tmp_path / "choosing.py"
    file.write_text(CHOOSING.replace('public="has chosen"', f"public={public}"))
    found = check_here(str(file), seeds=(1, 2), steps=30).findings[-1]
    assert (found.check, found.ok) == ("secrets", not leaks), found
    assert not leaks or found.message.startswith("an event tells a spectator what is hidden from it: p")


def choices_in(folder: Path, monkeypatch: pytest.MonkeyPatch, *changes: tuple[str, str]) -> Finding:
    """What the check of choices finds in `Choosing` without `resample`, with these changes."""
    needed = {"same seed": determinism.check_same_seed, "choices": check_choices}
    monkeypatch.setattr(checker, "CHECKS", needed)
    text = CHOOSING[: CHOOSING.index(RESAMPLE)]
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        text = text.replace(old, new)
    file = folder / "choosing.py"
    file.write_text(text)
    return check_here(str(file), seeds=(1, 2), steps=30).findings[-1]


SECRET = 'public="has chosen"'
SEEN = 'if eye.sees == "all" or seat == eye.seat}'
LISTED = """    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("choose", {"n": n}) for n in range(4)]
"""


def test_a_choice_that_stays_secret_until_the_round_ends_passes_without_resample(tmp_path, monkeypatch):
    found = choices_in(tmp_path, monkeypatch)
    assert (found.ok, found.warned) == (True, False), found.message
    assert "nobody else can tell one from the other" in found.message


@pytest.mark.parametrize("changes", [[], [(LISTED, "")]], ids=["listed", "not listed"])
@pytest.mark.parametrize("public", ['f"has chosen {n}"', '"chose" if n < 2 else ""'])
def test_a_pending_choice_that_is_announced_is_refused_without_resample(public, changes, tmp_path, monkeypatch):
    found = choices_in(tmp_path, monkeypatch, (SECRET, f"public={public}"), *changes)
    assert found.ok is False, found.message
    assert found.message.startswith("a spectator is told before the round ends what another seat has chosen: p")


def test_a_pending_choice_that_only_the_other_player_is_told_is_refused(tmp_path, monkeypatch):
    whispered = 'told=(Told(f"{n}", seats=tuple(s for s in self.order if s != by.id)),)'
    found = choices_in(tmp_path, monkeypatch, (SECRET, whispered))
    assert found.ok is False, found.message
    assert found.message.startswith("p2 is told before the round ends what another seat has chosen: p1: choose")


def test_a_pending_choice_that_others_see_is_a_warning_because_the_rules_may_want_it(tmp_path, monkeypatch):
    found = choices_in(tmp_path, monkeypatch, (SEEN, "}"))
    assert (found.ok, found.warned) == (True, True), found.message
    assert found.message.startswith("a spectator sees before the round ends what another seat has chosen: p")


def test_choices_of_a_world_with_open_information_are_no_secret(tmp_path, monkeypatch):
    open_to_all = ('pace="rounds"', 'pace="rounds", open_information=True')
    found = choices_in(tmp_path, monkeypatch, (SECRET, 'public=f"has chosen {n}"'), open_to_all)
    assert (found.ok, found.message) == (True, "no secret choices")


def test_what_passing_time_tells_an_eye_is_compared_too(tmp_path):
    advance = (
        "    def advance(self, ticks):\n        self.ticks = self.ticks + ticks\n"
        "        return [Told(f'a card was seen: {WHAT}', seats=(self.order[0],))]\n"
    )
    clock = [
        ('pace="turns"', 'pace="clock"'),
        (IMPORT, f"{IMPORT}\nfrom cohabit.world import Told\n"),
        ("self.dice = Stream(seed", "self.ticks = 0\n        self.dice = Stream(seed"),
        ("return [self.order[len(self.table)]]", "return list(self.order)"),
        ('raise GameRejected("you do not hold this card")', 'raise GameRejected("no")'),
    ]
    kept = secrets_of(tmp_path, *clock, method(advance.replace("{WHAT}", "{self.ticks}")))
    assert kept.ok, kept.message
    found = secrets_of(tmp_path, *clock, method(advance.replace("{WHAT}", "{self.rest[0]}")))
    assert found.ok is False
    assert "an event tells p1 what is hidden from it: the room: ticks" in found.message


REVEALS = """
    @action()
    def peek(self, by: Seat) -> Outcome:
        \"\"\"Look at the highest card of the next player.\"\"\"
        other = self.order[(self.order.index(by.id) + 1) % 3]
        self.peeked[by.id] = {other: max(self.hands[other], default=0)}
        return Outcome(f"{other} holds {self.peeked[by.id][other]}")
"""
KEEPS_WHAT_WAS_SEEN = [
    ("        self.dice = Stream(seed", "        self.peeked = {}\n        self.dice = Stream(seed"),
    method(REVEALS),
    (
        "cards = [card for name in hidden for card in self.hands[name]] + self.rest",
        (
            "known = self.peeked.get(eye.seat, {})\n"
            "        hidden = [name for name in hidden if name not in known]\n"
            "        cards = [card for name in hidden for card in self.hands[name]] + self.rest"
        ),
    ),
]


def test_what_the_rules_reveal_is_no_leak_if_the_eye_sees_it_afterwards(tmp_path):
    shown = ('status={"table": self.table,', 'status={"peeked": self.peeked.get(eye.seat), "table": self.table,')
    found = secrets_of(tmp_path, *KEEPS_WHAT_WAS_SEEN, shown)
    assert found.ok, found.message


def test_what_an_action_reveals_and_the_view_forgets_is_a_leak(tmp_path):
    found = secrets_of(tmp_path, *KEEPS_WHAT_WAS_SEEN)
    assert found.ok is False
    assert "must also be in what this eye sees afterwards" in found.message


def test_dice_that_everybody_hears_of_are_no_leak(tmp_path):
    rolled = (PUBLIC, 'public = f"plays the {card} and rolls a {self.dice.between(1, 6)}"')
    assert secrets_of(tmp_path, rolled).ok


# -- resample itself --------------------------------------------------------------------------------------
def test_a_world_that_hides_and_cannot_be_redrawn_gets_a_warning(tmp_path):
    found = secrets_of(tmp_path, (RESAMPLE, "    def redraw(self"))
    assert found.ok
    assert found.warned
    assert "leaks were not tested" in found.message


def test_a_world_that_hides_nothing_needs_no_resample(tmp_path):
    found = secrets_of(tmp_path, (RESAMPLE, "    def redraw(self"), (SHOWN, "}"))
    assert found.ok
    assert not found.warned


def test_a_resample_that_changes_nothing_gets_a_warning(tmp_path):
    found = secrets_of(tmp_path, ('        if eye.sees == "all":\n            return\n', "        return\n"))
    assert found.ok
    assert found.warned
    assert "resample() changed nothing that an eye that sees everything can see" in found.message


def test_a_resample_that_redraws_what_the_eye_sees_is_refused(tmp_path):
    found = secrets_of(tmp_path, (OWN, "name != eye.seat or True or eye.sees"))
    assert "observe() shows p1 what is hidden from it" in found.message
    assert "or resample() redraws too much" in found.message


def test_a_resample_that_changes_the_world_of_those_who_see_all_is_refused(tmp_path):
    found = secrets_of(tmp_path, ('        if eye.sees == "all":\n            return\n', ""))
    assert "observe() shows an eye that sees all" in found.message


def test_a_resample_with_randomness_of_its_own_is_refused(tmp_path):
    counter = (IMPORT, f"{IMPORT}\nCALLS = []\n")
    drawn = (
        "        stream.shuffle(cards)\n",
        "        CALLS.append(1)\n        Stream(len(CALLS), 'x').shuffle(cards)\n",
    )
    found = secrets_of(tmp_path, counter, drawn)
    assert "gives different worlds for the same stream" in found.message


def test_a_resample_that_fails_is_refused_with_its_line(tmp_path):
    found = secrets_of(tmp_path, ("        stream.shuffle(cards)\n", "        stream.shuffle(cards[99])\n"))
    assert found.ok is False
    assert "in resample(): IndexError" in found.message


def test_a_resample_that_makes_an_impossible_world_is_refused(tmp_path):
    found = secrets_of(
        tmp_path,
        ("        self.rest = cards\n", "        self.rest = cards\n        self.broken = True\n"),
        ("        self.rest = pack[15:]\n", "        self.rest = pack[15:]\n        self.broken = False\n"),
        ("        if card not in self.hands[by.id]:", "        if self.broken or card not in self.hands[by.id]:"),
    )
    assert "after resample(p1) legal() lists play" in found.message


def test_the_base_class_has_no_resample():
    with pytest.raises(NotImplementedError):
        World().resample(None, None)  # type: ignore[arg-type]
