"""The last views that each member was shown, so that it can ask for what has changed since one of them.

They are kept in memory only: after a restart, or when a view is too old, a member gets the whole view again.
"""

from hashlib import blake2b
from typing import Any

from msgspec import Struct

from cohabit.model.observation import Observation

LONG_VIEW = 1_000
"""A view with at least this many characters is shown with its id, because it pays to ask for changes then."""
MAX_AFTER_ACTION = 32_000
"""The observation after an action has an id if it is not longer than this: a digest of it is made for every action."""
VIEWS_PER_MEMBER = 4
MEMBERS_KEPT = 1_024
"""Members, also former ones, whose views are kept. When there are more, the views of the first of them are dropped."""
MAX_CHARACTERS = 100_000
"""The characters of text that are kept for each member. The oldest views are dropped first. A limit for all members
together would tell one of them how much others look."""
REPLIES_KEPT = 64
"""The number of members whose replies are kept until the next entry."""
UNKNOWN = -1
"""Before the first entry: everything has happened since."""


class ShownView(Struct, frozen=True, gc=False):
    text: str
    observation: Observation
    seq: int  # the last entry of the record at that time


class ShownViews:
    """Views by member and id. An id is a digest of the view, so it fits no other one, also after a restart."""

    def __init__(self) -> None:
        self._views: dict[tuple[str, str], ShownView] = {}  # the oldest first
        self._of_member: dict[str, list[str]] = {}  # ids, the oldest first
        self._characters: dict[str, int] = {}  # by member
        self._replies: dict[str, Any] = {}
        self._moment: object = None  # of the replies
        self.ends_told: dict[str, int] = {}  # by member: the last game whose end a wait has reported to it

    def reply(self, member: str, moment: object) -> Any:
        """The reply that this member got at this moment."""
        return self._replies.get(member) if moment == self._moment else None

    def keep_reply(self, member: str, moment: object, reply: Any) -> None:
        if moment != self._moment or len(self._replies) >= REPLIES_KEPT:
            self._replies, self._moment = {}, moment
        self._replies[member] = reply

    def add(self, member: str, text: str, observation: Observation, seq: int) -> str:
        """Remember a view that is about to be shown to a member. Returns its id."""
        mine = self._of_member.get(member)
        if mine:  # nothing has happened since the last view: no need for another digest
            last = self._views[member, mine[-1]]
            if last.seq == seq and last.observation is observation and last.text == text:
                return mine[-1]
        content = f"{text}\0{observation!r}".encode(errors="surrogatepass")
        view = blake2b(content, digest_size=6).hexdigest()
        self._drop(member, view)
        if len(self._of_member) >= MEMBERS_KEPT and member not in self._of_member:
            first = next(iter(self._of_member))
            for old in [*self._of_member[first]]:
                self._drop(first, old)
        self._views[member, view] = ShownView(text, observation, seq)
        self._of_member.setdefault(member, []).append(view)
        self._characters[member] = self._characters.get(member, 0) + len(text)
        while mine := self._of_member.get(member):
            if len(mine) <= VIEWS_PER_MEMBER and self._characters[member] <= MAX_CHARACTERS:
                break
            self._drop(member, mine[0])
        return view

    def get(self, member: str, view: str) -> ShownView | None:
        """A view that this member was shown."""
        return self._views.get((member, view))

    def seq(self, member: str, view: str = "") -> int:
        """The last entry when a member was shown this view, or its newest one."""
        known = self._of_member.get(member)
        shown = self._views.get((member, view or (known[-1] if known else "")))
        return shown.seq if shown is not None else UNKNOWN

    def _drop(self, member: str, view: str) -> None:
        old = self._views.pop((member, view), None)
        if old is not None:
            self._characters[member] -= len(old.text)
            self._of_member[member].remove(view)
            if not self._of_member[member]:
                del self._of_member[member], self._characters[member]
