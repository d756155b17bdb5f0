"""Comments of a kibitzer on a game: notes about events, and phrases for them.

Comments for one world are written with its rules in mind, and registered (``registry.COMMENTS``). ``AnyComments`` knows
only what every world has: turns, events, and the end of the game.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from cohabit.model.observation import one_line
from cohabit.model.stream import Stream
from cohabit.model.table_files import read_table

View = Mapping[str, Any]
"""A view as the house sends it: ``observation``, ``to_move``, ``over``."""
ROUTINE, NOTABLE = 3, 6
"""The greatest weight of a routine note, and of one that is notable. Those above are said at the first opportunity."""


class Note(Struct, frozen=True):
    """A possible remark. ``about`` identifies its subject, so that it is remarked once."""

    about: str
    weight: int
    kind: str  # of the phrases for it
    facts: dict[str, str] = {}


class Table(Struct, frozen=True):
    """The players by their seats, in the order of the seats, and the events since the last look."""

    names: Mapping[str, str] = {}
    me: str = ""  # the kibitzer's own name
    events: Sequence[Mapping[str, Any]] = ()

    def name(self, number: int) -> str:
        """The player of the seat with this number; a seat without a player is called by its own name."""
        seats = list(self.names)
        return self.names[seats[number]] if number < len(seats) else f"seat {number}"


class Comments(Protocol):
    """Comments on one world."""

    def key(self, view: View) -> str:
        """A key that changes when something has happened on which one could remark."""

    def public(self, view: View) -> View | None:
        """The view without private fields; None if the comments do not know which fields are private."""

    def notes(self, view: View, table: Table) -> list[Note]:
        """Remarks to everyone. ``view`` is the result of ``public``."""

    def private_notes(self, view: View, table: Table) -> list[Note]:
        """Remarks to the player through whose seat the kibitzer looks."""

    def reply(self, view: View | None, table: Table, name: str, text: str) -> str | None:
        """An answer to a person's line; None if there is none."""

    def phrase(self, note: Note) -> str: ...

    def describe(self, view: View) -> str:
        """The view for a language model."""


class Phrases:
    """Phrases by kind. Each is used once before one of its kind is used again."""

    def __init__(self, phrases: Mapping[str, Sequence[str]], stream: Stream) -> None:
        self._phrases, self._stream = phrases, stream
        self._left: dict[str, list[str]] = {}

    def say(self, kind: str, facts: Mapping[str, str]) -> str:
        left = self._left.get(kind)
        if not left:
            left = self._left[kind] = list(self._phrases[kind])
            self._stream.shuffle(left)
        text = left.pop().format_map(facts)
        return text[:1].upper() + text[1:]


_PHRASES = read_table(__file__, dict[str, dict[str, tuple[str, ...]]])
SMALL_TALK = _PHRASES["small_talk"]
ANY = SMALL_TALK | _PHRASES["any"]
GREETINGS = frozenset({"hello", "hi", "hey", "welcome", "evening", "morning"})
THANKS = frozenset({"thanks", "thank", "thx"})
ASKING = ("what", "who", "whose", "which", "how", "where")
SHORT_LINE = 2
"""A greeting of at most this many words is meant for everyone."""


def words_of(text: str) -> list[str]:
    """The words of a line, in lower case."""
    return "".join(letter if letter.isalnum() else " " for letter in text.casefold()).split()


def is_question(text: str) -> bool:
    return "?" in text or words_of(text)[:1] in ([word] for word in ASKING)


def small_talk(text: str, me: str) -> str | None:
    """The kind of phrase that answers a line that is not about the game. None for a line between other people."""
    said = words_of(text)
    to_me = bool({*words_of(me), "kibitzer"} & set(said))
    if said[:1] and said[0] in GREETINGS and (to_me or len(said) <= SHORT_LINE):
        return "hello"
    if to_me and THANKS & set(said):
        return "thanks"
    return "who are you" if to_me and {"who", "what"} & set(said) and "you" in said else None


class AnyComments:
    """For worlds without comments of their own."""

    def __init__(self, stream: Stream) -> None:
        self._phrases = Phrases(ANY, stream)
        self._games = 0  # that were seen to end, and another one to begin
        self._was_over = False

    def key(self, view: View) -> str:
        """The step counts what the world has done."""
        observation = view.get("observation") or {}
        return f"{observation.get('step', 0)}:{','.join(view.get('to_move', ()))}:{view.get('over', False)}"

    def public(self, view: View) -> View | None:
        return None

    def notes(self, view: View, table: Table) -> list[Note]:
        found, over = [], bool(view.get("over"))
        if self._was_over and not over:
            self._games += 1
        self._was_over = over
        if over:
            found.append(Note(f"over {self._games}", 9, "over"))
        movers = list(view.get("to_move", ()))
        if len(movers) == 1 and not over:
            found.append(Note(f"turn {self._games} {self.key(view)}", 1, "turn", {"who": movers[0]}))
        for item in table.events[-1:]:
            text = one_line(str(item["text"])).rstrip(".!")
            found.append(Note(f"event {item['at']} {text}", ROUTINE, "event", {"event": text}))
        return found

    def private_notes(self, view: View, table: Table) -> list[Note]:
        """All of them: it is not known which of them everyone may hear."""
        return self.notes(view, table)

    def reply(self, view: View | None, table: Table, name: str, text: str) -> str | None:
        if (kind := small_talk(text, table.me)) is not None:
            return self._phrases.say(kind, {"name": name})
        movers = list(view.get("to_move", ())) if view is not None else []
        if is_question(text) and "turn" in words_of(text) and len(movers) == 1:
            return self._phrases.say("whose turn", {"who": movers[0]})
        return None

    def phrase(self, note: Note) -> str:
        return self._phrases.say(note.kind, note.facts)

    def describe(self, view: View) -> str:
        return str(view.get("text", ""))
