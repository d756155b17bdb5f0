"""Promises in Statecraft: what a nation remembers of its own and the others' words, who broke one, and its replies."""

import json
from collections.abc import Mapping

from msgspec import DecodeError, Struct, to_builtins
from msgspec.json import decode as decode_json

from cohabit.agents.brains.statecraft_input import Input, attackers, grants_paid, grants_received, others, pledges
from cohabit.agents.brains.statecraft_letters import Letter, read_letters

NEVER = 10**9
"""More than any nation can pay: what a nation owes that is not trusted again."""


class Word(Struct, omit_defaults=True):
    """The memory of a nation from turn to turn, in the last line of its history."""

    promised: dict[str, int] = {}  # what it pledged to grant in this turn
    due: dict[str, int] = {}  # what it had to grant in the last turn to keep its word
    debts: list[str] = []  # the nations that it had not paid in full then
    spared: list[str] = []  # the nations that it pledged not to attack in this turn
    expected: dict[str, int] = {}  # what others pledged to grant it in the last turn
    accepted: dict[str, int] = {}  # what others offered for a grant that it made in the last turn: due in this one
    peace: list[str] = []  # the nations that pledged not to attack it in the last turn
    owed: dict[str, int] = {}  # what the nations that broke their word have to pay before it trusts them again
    unreturned: dict[str, int] = {}  # in how many turns each nation took its grants and gave it nothing
    demanded: dict[str, int] = {}  # the tribute that it demanded from others


class Dealings(Struct):
    """The state of a nation's promises and debts after the letters and the last turn."""

    word: Word
    letters: dict[str, Letter]
    received: dict[str, int]
    attacked_by: dict[str, int]
    broken: dict[str, int]  # the nations that broke their word last turn, and what they owe for it
    owed: dict[str, int]  # the same for every turn, less what they have paid
    unreturned: dict[str, int]
    debts: dict[str, int]  # what this nation itself failed to pay last turn

    @property
    def threats(self) -> list[str]:
        return [name for name, letter in self.letters.items() if letter.threatens]

    def letter(self, name: str) -> Letter:
        return self.letters.get(name, Letter())

    def expected(self) -> dict[str, int]:
        """The grants that the others have promised for this turn."""
        pledged = {name: letter.pledged for name, letter in self.letters.items() if letter.pledged}
        due = {name: n for name, n in self.word.accepted.items() if n > self.received.get(name, 0)}
        return {name: max(pledged.get(name, 0), due.get(name, 0)) for name in sorted({*pledged, *due})}


def read_dealings(seen: Input, *, forgives: bool = True) -> Dealings:
    """``forgives``: whether a nation that broke its word is trusted again when it has paid."""
    word, received, attacked_by, paid = _read_word(seen), grants_received(seen), attackers(seen), grants_paid(seen)
    letters = read_letters(seen.get("messages", ()), seen["agents"], seen["self"])
    broken = {
        name: n - received.get(name, 0) if forgives else NEVER
        for name, n in word.expected.items()
        if received.get(name, 0) < n and not _excused(seen, name, n, received.get(name, 0), word)
    }
    broken |= {name: NEVER for name in word.peace if name in attacked_by}
    known = {name: n - (received.get(name, 0) if n < NEVER else 0) for name, n in word.owed.items()}
    owed = {name: n for name, n in known.items() if n > 0} | broken
    unreturned = {
        name: 0 if received.get(name) else word.unreturned.get(name, 0) + bool(paid.get(name)) for name in others(seen)
    }
    debts = {name: n - paid.get(name, 0) for name, n in word.due.items() if n > paid.get(name, 0)}
    unreturned = {name: turns for name, turns in unreturned.items() if turns}
    return Dealings(word, letters, received, attacked_by, broken, owed, unreturned, debts)


def _excused(seen: Input, name: str, pledged: int, paid: int, word: Word) -> bool:
    """True if a nation had a reason to pay less: its damage, or that this nation had not kept its own word."""
    damage = seen["last_turn"].get("damage", {}).get(name, 0)
    income = len(seen["territories"].get(name, ())) * int(seen["constants"]["c_money_per_territory"])
    could_not_pay = damage > 0 and (pledged > income - damage or (paid > 0 and pledged - paid <= damage))
    return name in word.debts or could_not_pay


def _read_word(seen: Input) -> Word:
    """The promises that it remembers. A history that another player of this seat wrote is ignored."""
    try:
        return decode_json(str(seen.get("history_summary", "")).rpartition("\n")[2], type=Word)
    except DecodeError:
        return Word()


def history(rule: str, word: Word) -> str:
    """The history of a nation: what its rule remembers, then its word."""
    return "\n".join(filter(None, [rule, json.dumps(to_builtins(word))]))


def replies(
    deal: Dealings, grants: Mapping[str, int], promises: Mapping[str, int], asked: Mapping[str, int]
) -> dict[str, str]:
    """An answer to each letter that needs one, and the pledges for the next turn.

    ``asked``: the nations that get no grant because they returned none, and what they would get for the same.
    """
    texts: dict[str, list[str]] = {name: pledge.splitlines() for name, pledge in pledges(promises).items()}
    for name in sorted({*deal.letters, *deal.broken, *asked}):
        said = _reply(deal, name, grants.get(name, 0), asked.get(name, 0))
        if said:
            texts.setdefault(name, []).insert(0, said)
    return {name: "\n".join(said) for name, said in texts.items() if said}


def _reply(deal: Dealings, name: str, given: int, asked: int) -> str:
    letter = deal.letter(name)
    if name in deal.broken:
        debt = "" if deal.broken[name] >= NEVER else f" You owe me {deal.broken[name]}."
        return f"You broke your word, so I grant you nothing.{debt}"
    if letter.threatens and given:
        return f"I pay you {given}. Leave me in peace."
    if letter.threatens:
        return "I do not pay under a threat. If you attack me, I will attack you."
    if letter.asks and name in deal.owed:
        return "You have not kept your word, so I make no agreement with you."
    if letter.asks:
        accepted = f"I accept your offer and grant you {given} this turn."
        declined = f"I cannot agree to {letter.asks}" + (f", but I grant you {given} this turn." if given else ".")
        return accepted if given >= letter.asks else declined
    if asked and name not in deal.owed:
        return f"You took my grants and returned nothing, so they end. Give me {asked} and I will give you {asked}."
    return ""
