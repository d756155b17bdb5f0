"""Reading letters in Statecraft: pledges, offers and threats, as far as a script can understand them."""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from cohabit.worlds.statecraft.pledges import find_pledges

MAX_LETTER_CHARS = 2000
"""The rest of a letter is not read."""
_REQUEST = re.compile(r"\b(?:grant|give|pay|send)\s+me\s+([0-9]{1,9})\b", re.IGNORECASE)
_RETURN = re.compile(r"\b(?:grant|give|pay|send)\s+you\s+([0-9]{1,9})\b", re.IGNORECASE)
_FORCE = re.compile(r"\b(?:attack|destroy|invade|burn|crush|war|regret|suffer|army|mils)\b", re.IGNORECASE)
_DEMAND = re.compile(r"\b(?:unless|or\s+else|otherwise|if\s+you\s+(?:do\s+not|don['’]t|refuse))\b", re.IGNORECASE)


class Letter(Struct, frozen=True):
    """The contents of a letter."""

    pledged: int = 0  # a grant to the reader in the next turn
    peace: bool = False  # a pledge not to attack the reader
    asks: int = 0  # a grant that it asks the reader for
    offers: int = 0  # what it offers in return
    threatens: bool = False

    @property
    def offers_peace(self) -> bool:
        """True if the writer pledges or offers something and does not threaten."""
        return bool(self.pledged or self.peace or self.offers) and not self.threatens


def read_letters(messages: Sequence[Mapping[str, str]], nations: Sequence[str], me: str) -> dict[str, Letter]:
    """The letter of each other nation to this one, or to all."""
    texts: dict[str, list[tuple[str, str]]] = {}
    for message in messages:
        if message["from"] != me and message["to"] in (me, "all"):
            texts.setdefault(message["from"], []).append((message["to"], message["text"][:MAX_LETTER_CHARS]))
    return {name: _read(written, nations, me) for name, written in sorted(texts.items())}


def _read(written: Sequence[tuple[str, str]], nations: Sequence[str], me: str) -> Letter:
    pledges = [amount for to, text in written for amount, target in find_pledges(text, nations, to) if target == me]
    text = "\n".join(text for _, text in written)
    asks, offers = _REQUEST.search(text), _RETURN.search(text)
    return Letter(
        pledged=max(pledges, default=0),
        peace=0 in pledges,
        asks=int(asks[1]) if asks else 0,
        offers=int(offers[1]) if asks and offers else 0,
        threatens=bool(_FORCE.search(text) and _DEMAND.search(text)),
    )
