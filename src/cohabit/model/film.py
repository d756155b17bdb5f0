"""A film: what one eye saw of a room, frame by frame, for people who watch it again.

A film holds what was shown, never the simulation, so its owner sees what its eye saw and nothing else. Frames are
changes, so a film is small. The page, exported files and notebooks show films with one player
(``front_ends/player.js``).

Numbers of entries (``seq``) would tell how much happens that an eye does not see. So only films for those who see
everything have those of the record; in all others the frames are numbered, from 1.
"""

from typing import Any

from msgspec import Struct, field
from msgspec.json import encode


class FilmFrame(Struct, omit_defaults=True):
    """What was seen after one entry. The first frame of a film, and each with ``whole``, needs no other one."""

    seq: int  # see above
    at: int  # the time of the room, in ms
    game: int = 1
    view: dict[str, Any] | None = None
    """A JSON merge patch (RFC 7396) of the view before, as `next_view` gives it; None: it is the same. In a frame that
    is ``whole`` it is the view itself: a patch cannot set anything to null."""
    scene: dict[str, Any] = field(default_factory=dict)  # the layers that have changed; None: a layer that is gone
    whole: bool = False


class FilmEvent(Struct, omit_defaults=True):
    """A line of the story, and a place to jump to."""

    seq: int  # of the frame that shows it
    at: int
    kind: str
    text: str
    by: str = ""
    to: str = ""


class FilmDecision(Struct, omit_defaults=True):
    """Why an agent acted: only for those who may see it."""

    seq: int  # the entry of its action; if there was none, the one before
    at: int
    member: str
    action: str = ""
    reason: str = ""
    saw: str = ""
    asked: str = ""
    answered: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float = 0.0
    ms: int = 0
    failure: str = ""


class Film(Struct, omit_defaults=True):
    room: str
    world: str
    title: str
    eye: str  # a seat, `public` or `all`
    frames: list[FilmFrame]
    format: int = 1
    version: int = 1  # of the world
    scenario: str = ""
    cohabit: str = ""  # the version that made it
    seats: dict[str, str] = {}  # names of players by seat
    events: list[FilmEvent] = []
    decisions: list[FilmDecision] = []
    first: int = 0  # of the first frame, and of the last one
    last: int = 0
    live: bool = False  # the room goes on
    keys: list[dict[str, Any]] = []


def patch_of(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON merge patch from one value to another; None if there is none, because something becomes null."""
    patch: dict[str, Any] = dict.fromkeys(key for key in before if key not in after)
    for key, value in after.items():
        known = before.get(key)
        if isinstance(value, dict):
            below = patch_of(known if isinstance(known, dict) else {}, value)
            if below is None:
                return None
            if below or not isinstance(known, dict):
                patch[key] = below
        elif key not in before or encode(known) != encode(value):  # 1, 1.0 and True are equal in Python
            if value is None:
                return None
            patch[key] = value
    return patch


def patched(before: Any, patch: Any) -> Any:
    """A value with a JSON merge patch applied."""
    if not isinstance(patch, dict):
        return patch
    made = dict(before) if isinstance(before, dict) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = patched(made.get(key), value)
    return made
