"""Commands for what shows a room to people: next_view, scene and keys for front ends, view_notes for the page."""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Annotated, Any
from weakref import WeakKeyDictionary

from msgspec import Meta, Struct, field
from msgspec.json import encode

from cohabit.model.seat import Eye
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import Ready, WaitMs, command
from cohabit.room.feature import Feature
from cohabit.room.seeing.looking import CAN_VIEW
from cohabit.room.seeing.next_view import NextView, view_for, view_id
from cohabit.room.state import Member
from cohabit.world import Pace, World, overridden


def _until_changed(room: BaseRoom, member: Member, args: Mapping[str, Any]) -> Ready:
    """Until the view differs from the one that the caller has."""
    return lambda room, member: view_id(room.view(member)) != args["since"]


def _has_front_end(world: type[World], pace: Pace) -> bool:
    return world.spec.has_front_end


def _never(result: Any) -> bool:
    return False


@command(
    category="read",
    needs=CAN_VIEW,
    waits=_never,
    ready=_until_changed,
    only_if=_has_front_end,
    for_model=False,
    for_front_end=True,
    sends="views",
)
def next_view(
    ctx: Context,
    since: Annotated[str, Meta(description="the `id` of the view that you have")] = "",
    wait_ms: WaitMs = 0,
) -> NextView:
    """Wait until your view differs from the view `since`, even by your own action. Returns the whole view."""
    return view_for(ctx.room, ctx.room.eye_of(ctx.member), ctx.member)


# -- what is drawn besides the view -----------------------------------------------------------------
SCENES_KEPT = 32
"""The number of earlier scenes of one eye that a client may name to get only the changes since."""


class ShownScene:
    """The scene of one eye: the layers as they are now, and in which of its versions each of them changed."""

    def __init__(self) -> None:
        self._moment: object = None
        self._version = 0
        self._layers: dict[str, tuple[bytes, int]] = {}  # the digest of each layer, and the version that changed it
        self._versions: dict[str, int] = {}  # by id, the oldest first
        self._now: Mapping[str, Any] = {}
        self._id = ""

    def update(self, moment: object, draw: Callable[[], Mapping[str, Any]]) -> None:
        if moment == self._moment:
            return
        now = draw()
        digests = {name: blake2b(encode(layer), digest_size=8).digest() for name, layer in now.items()}
        self._version += 1
        fresh = {name: (digest, self._version) for name, digest in digests.items()}
        same = {name: known for name, known in self._layers.items() if known[0] == digests.get(name)}
        self._layers = fresh | same
        self._id = blake2b(b"".join(name.encode() + digests[name] for name in sorted(now)), digest_size=6).hexdigest()
        self._versions.pop(self._id, None)  # it may look as it did before
        self._versions[self._id] = self._version
        if len(self._versions) > SCENES_KEPT:
            del self._versions[next(iter(self._versions))]
        self._now, self._moment = now, moment

    def since(self, known: str) -> "Scene":
        version = self._versions.get(known)
        if version is None:
            return Scene(self._id, dict(self._now))
        changed = {name: self._now[name] for name, (_, changed) in self._layers.items() if changed > version}
        return Scene(self._id, changed, known, sorted(self._layers))


class Scene(Struct, omit_defaults=True):
    """Layers of a scene by name. ``since``: only those that have changed since that scene; then ``names`` are all
    layers that there are now."""

    id: str
    layers: dict[str, Any]
    since: str = ""
    names: list[str] = field(default_factory=list)


_scenes: WeakKeyDictionary[BaseRoom, dict[Eye, ShownScene]] = WeakKeyDictionary()
"""By room and eye: members who see the same share the work. Not part of the room's state."""


def _has_scene(world: type[World], pace: Pace) -> bool:
    return "scene" in overridden(world)


@command(category="read", needs=CAN_VIEW, only_if=_has_scene, for_model=False, for_front_end=True, sends="views")
def scene(ctx: Context, since: Annotated[str, Meta(description="the `id` of the scene that you have")] = "") -> Scene:
    """Get what the front end of this world draws besides the view: only the layers that have changed since `since`."""
    room, eye = ctx.room, ctx.room.eye_of(ctx.member)
    shown = _scenes.setdefault(room, {}).setdefault(eye, ShownScene())
    shown.update(room.moment, lambda: room.world.scene(eye))
    return shown.since(since)


class Key(Struct):
    key: str
    action: str
    params: dict[str, Any]


class Keys(Struct):
    keys: list[Key]


def _has_keys(world: type[World], pace: Pace) -> bool:
    return bool(world.keys)


@command(category="read", needs=CAN_VIEW, only_if=_has_keys, for_model=False, for_front_end=True)
def keys(ctx: Context) -> Keys:
    """The keys of a keyboard with which people play this world, and the action of each."""
    return Keys([Key(key, action.name, dict(action.parameters)) for key, action in ctx.room.world.keys.items()])


class ViewNotes(Struct):
    notes: dict[str, str]  # by the name of the feature


@command(category="read", needs=CAN_VIEW, for_model=False, sends="views")
def view_notes(ctx: Context) -> ViewNotes:
    """The lines that features add to the text of your view, for a page that shows the rest of it by itself."""
    room, me = ctx.room, ctx.member
    said = {made.name: room.crash_on_error(made.view_lines, room, me) for made in room.hooks["view_lines"]}
    return ViewNotes({feature: text for feature, text in said.items() if text})


class FrontEndsFeature(Feature):
    name = "front_ends"
