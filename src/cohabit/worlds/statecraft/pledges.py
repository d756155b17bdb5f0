"""Pledges: promises in messages that can be checked. A pledge is a line in a form like these:

    pledge: grant 12 to Brena
    pledge: no attack on Brena

A line can also end with a semicolon. Bullets, numbers, bold type and case are ignored, and ``I pledge not to attack
you`` is understood as well. A pledge is about the next turn.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from cohabit.model.observation import one_line
from cohabit.worlds.statecraft.fields import name_key, names_by_key
from cohabit.worlds.statecraft.rules import BROADCAST
from cohabit.worlds.statecraft.state import Ledgers, Texts
from cohabit.worlds.statecraft.visibility import Visibility

Pledges = dict[str, dict[str, list[tuple[str, int]]]]
"""author -> recipient of the message, or ``all`` -> targets and amounts; the amount is 0 for a pledge not to attack"""

MAX_LINE_CHARS = 200
"""Longer lines are not searched for a pledge."""
_DECORATION = re.compile(r"[*_`~\"“”]")
_BULLET = re.compile(r"^(?:[-+•–—>#\s]|\d{1,2}[.)]\s)*")
_FILLER = r"(?:(?:that|i|we|to|will|i'll|we'll)\s+)*"
_START = rf"(?:(?:i|we)\s+)?(?:hereby\s+)?pledge(?:\s*[:,–—-]\s*|\s+){_FILLER}"
_END = r"(?:\s*,?\s*\(?(?:in\s+|on\s+)?(?:the\s+)?next\s+turn\)?)?"
_UNIT = r"(?:\s+(?:money|gold|coins|units))?"
_VERB = r"(?:grant|give|pay|send)"
_NAME = r"(\S.*?)"
_GRANT = re.compile(rf"{_START}{_VERB}(?:\s+of)?\s+([0-9]{{1,9}}){_UNIT}\s+to\s+{_NAME}{_END}", re.IGNORECASE)
_GRANT_TO = re.compile(rf"{_START}{_VERB}\s+{_NAME}\s+([0-9]{{1,9}}){_UNIT}{_END}", re.IGNORECASE)
_PEACE = re.compile(
    rf"{_START}(?:no\s+attacks?\s+(?:on|against)|not\s+(?:to\s+)?attack|never\s+attack)\s+{_NAME}{_END}", re.IGNORECASE
)

_INTENT = re.compile(r"\bpledge\s*:|^pledge\b|\b(?:i|we)\s+(?:hereby\s+)?pledge\b", re.IGNORECASE)
"""A line that looks like a pledge, in whatever form."""
FORMS = "one per line: pledge: grant 12 to NATION, or pledge: no attack on NATION"
MAX_LISTED, MAX_QUOTE_CHARS = 8, 80


Line = tuple[str, tuple[int, str] | None]


def find_pledges(text: str, nations: Sequence[str], recipient: str) -> Iterator[tuple[int, str]]:
    """The amount and the target of each pledge in a message; the amount is 0 for a pledge not to attack."""
    for _, pledge in _lines(text, tuple(nations), recipient):
        if pledge is not None:
            yield pledge


@lru_cache(256)  # a message is read when it is submitted, when the turn is resolved, and by those who get it
def _lines(text: str, nations: tuple[str, ...], recipient: str) -> Sequence[Line]:
    """Each line of a message without decoration, and the pledge in it, if there is one."""
    by_key = names_by_key(nations)
    if recipient != BROADCAST:
        by_key["you"] = recipient
    found: list[Line] = []
    for line in re.split(r"[\n;]", text):
        plain = _BULLET.sub("", _DECORATION.sub("", line[: MAX_LINE_CHARS + 1])).rstrip(".!, \t")
        amount, name = _read(plain) if len(line) <= MAX_LINE_CHARS else (None, "")
        target = name if name in nations else by_key.get(name_key(name))
        found.append((plain, None if target is None or amount is None else (amount, target)))
    return found


def _read(line: str) -> tuple[int | None, str]:
    """The amount and the name in a line; no amount if it is not a pledge, or one of nothing."""
    if match := _GRANT.fullmatch(line):
        return int(match[1]) or None, match[2]
    if match := _GRANT_TO.fullmatch(line):
        return int(match[2]) or None, match[1]
    match = _PEACE.fullmatch(line)
    return (0, match[1]) if match else (None, "")


def pledges_in(sent: Mapping[str, Texts], nations: Sequence[str]) -> Pledges:
    """The pledges in the messages of a turn. Of several grants to a nation in one message the largest counts."""
    found: Pledges = {}
    for author, texts in sent.items():
        for to, text in texts.items():
            largest: dict[tuple[str, bool], int] = {}
            for amount, target in find_pledges(text, nations, to):
                if target != author:
                    kind = target, amount > 0
                    largest[kind] = max(amount, largest.get(kind, 0))
            if largest:
                found.setdefault(author, {})[to] = [(target, amount) for (target, _), amount in largest.items()]
    return found


def pledge_notes(author: str, texts: Texts, nations: Sequence[str]) -> list[str]:
    """The notes for the author of messages about the pledges in them: those that count, and those that do not."""
    counted = [
        pledge for pledges in pledges_in({author: texts}, nations).get(author, {}).values() for pledge in pledges
    ]
    lines = [(line, pledge) for to, text in texts.items() for line, pledge in _lines(text, tuple(nations), to)]
    unclear = [line for line, pledge in lines if _INTENT.search(line) and (pledge is None or pledge[1] == author)]
    smaller = any(pledge and pledge[1] != author and pledge[::-1] not in counted for _, pledge in lines)
    promises = [f"grant {n} to {target}" if n else f"no attack on {target}" for target, n in counted]
    quotes = [f'"{one_line(line)[:MAX_QUOTE_CHARS].strip()}"' for line in unclear]
    return [
        *([f"Pledges for the next turn: {_listed(promises)}."] if promises else []),
        *(["Only the largest grant to a nation in one message counts."] if smaller else []),
        *([f"Not understood as a pledge: {_listed(quotes)}. Write it {FORMS}."] if quotes else []),
    ]


def _listed(items: Sequence[str]) -> str:
    different = list(dict.fromkeys(items))
    more = len(different) - MAX_LISTED
    return ", ".join([*different[:MAX_LISTED], *([f"{more} more"] if more > 0 else [])])


def pledge_news(pledges: Pledges, due: Ledgers, visibility: Visibility, *, open_messages: bool = False) -> list[str]:
    """The outcomes of the last turn's pledges that reached this viewer, of nations whose acts it knows."""
    known = visibility.by_sender(pledges, open_messages=open_messages)
    given = {
        (author, target, amount)
        for author, messages in known.items()
        for pledged in messages.values()
        for target, amount in pledged
        if visibility.knows_dealings(author, target)
    }
    return [_outcome(*pledge, due) for pledge in sorted(given)]


def _outcome(author: str, target: str, amount: int, due: Ledgers) -> str:
    promise = f"to grant {amount} to {target}" if amount else f"not to attack {target}"
    done = _done(author, target, amount, due)
    if is_kept(author, target, amount, due):
        return f"{author} kept its pledge {promise}."
    did = f"it granted {done or 'nothing'}" if amount else f"it sent {done} mil{'s' * (done != 1)}"
    return f"{author} broke its pledge {promise}: {did}."


def is_kept(author: str, target: str, amount: int, due: Ledgers) -> bool:
    """True if a pledge was kept in the turn that it is about."""
    done = _done(author, target, amount, due)
    return done >= amount if amount else not done


def _done(author: str, target: str, amount: int, due: Ledgers) -> int:
    """The amount that the author granted to the target, or the mils that it sent against it."""
    return (due.d_grants_paid if amount else due.d_attacks_clamped).get(author, {}).get(target, 0)
