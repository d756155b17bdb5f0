"""Apps in a room: opaque data between members, and the views, schemas and actions of an app that is not a world.

A member with ``publish`` is an app. It publishes a view of its state, for everyone or for single members, and receives
the actions that members request. The house carries views, actions and data without reading them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from cohabit.errors import BadArgs, GameRejected, PermissionDenied, TooLarge, UnknownAsset
from cohabit.model.grant import Capability
from cohabit.model.message import EVERYBODY
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command
from cohabit.room.feature import Feature
from cohabit.room.recipients import recipients, speak
from cohabit.room.slices import Slice
from cohabit.room.state import Member, RoomState, handle_of

C = Capability
MAX_DATA = 256 * 1024
"""The largest view, schema, action or piece of data, in bytes of JSON."""
SCHEMAS_PER_MEMBER, SCHEMAS_PER_ROOM, SCHEMA_BYTES_PER_ROOM = 25, 200, 512 * 1024
VIEWS_PER_APP, VIEW_BYTES_PER_APP = 200, 4 * 1024 * 1024
ENVELOPE = "__kib_agent"
"""The key of Kibitz' envelopes. Clients make them from what the house delivers. Sent as data, an envelope could show a
view or request an action for a member without the right to do so."""
_encode = msgspec.json.Encoder().encode


class Schema(Struct):
    """The form of an app's data, as its app describes it."""

    version: str
    schema: Any
    size: int  # bytes of JSON


class App(Struct, omit_defaults=True):
    """The views and schemas of one member. ``views``: by the member they are for, or ``*`` for everyone else."""

    schemas: dict[str, Schema] = {}
    views: dict[str, Any] = {}
    sizes: dict[str, int] = {}  # of the views, in bytes of JSON
    published_at: int = 0


class Published(Struct, omit_defaults=True):
    """The published data of apps, by the id of the member."""

    apps: dict[str, App] = {}


PUBLISHED = Slice("apps", Published)


def _apps(state: RoomState) -> dict[str, App]:
    return PUBLISHED.read(state).apps


def _check_size(value: Any, what: str) -> int:
    size = len(_encode(value))
    if size > MAX_DATA:
        raise TooLarge(f"{what} may have at most {MAX_DATA} bytes of JSON; this has {size}")
    return size


# -- data ---------------------------------------------------------------------------------------
class DataSent(Struct):
    recipients: int | None  # only for members with read_roster


@command(category="bus", needs=(C.SEND_MESSAGE, C.SEND_BROADCAST), records=True)
def send_data(
    ctx: Context,
    data: Annotated[Any, Meta(description="any JSON; the house does not read it")],
    to: Annotated[str, Meta(min_length=1, max_length=200, description='a member, or "*" for everyone')] = EVERYBODY,
    kind: Annotated[
        Literal["data", "image", "file"], Meta(description="images need read_media to be received, files read_files")
    ] = "data",
) -> DataSent:
    """Send data of an app to everyone or to one member. They get it as an event."""
    me, state = ctx.member, ctx.state
    _check_size(data, "data")
    if isinstance(data, dict) and isinstance(data.get(ENVELOPE), str):
        raise BadArgs(f"no {ENVELOPE} in data: use say for chat, publish_view for a view, request_action for an action")
    addressed = recipients(state, me, to)
    receivers = speak(ctx, to, addressed)
    directed = to != EVERYBODY
    members = tuple(receivers) if directed or receivers is not addressed else None
    ctx.tell(f"{me.handle} sent {kind}", f"direct {kind}" if directed else kind, members=members, shows="data")
    return DataSent(len(receivers) if C.READ_ROSTER in me.held else None)


# -- schemas ------------------------------------------------------------------------------------
class SchemaLine(Struct):
    app: str
    name: str
    version: str
    schema: Any


class SchemaPublished(Struct):
    name: str
    version: str


@command(category="bus", needs=(C.SEND_BROADCAST, C.PUBLISH), records=True)
def publish_schema(
    ctx: Context,
    name: Annotated[str, Meta(min_length=1, max_length=120)],
    version: Annotated[str, Meta(min_length=1, max_length=64)],
    schema: Annotated[Any, Meta(description="a JSON Schema, or another description")],
) -> SchemaPublished:
    """Describe the form of your data or views. Members who join later can read it with `app_schemas`."""
    size = _check_size(schema, "a schema")
    state, me = ctx.state, ctx.member
    mine = _apps(state).get(me.id, App())
    others = [s for app in _apps(state).values() for n, s in app.schemas.items() if app is not mine or n != name]
    if sum(s.size for s in others) + size > SCHEMA_BYTES_PER_ROOM:
        raise TooLarge(f"the schemas of a room may have {SCHEMA_BYTES_PER_ROOM} bytes together")
    if name not in mine.schemas:
        if len(mine.schemas) >= SCHEMAS_PER_MEMBER:
            raise TooLarge(f"a member may publish {SCHEMAS_PER_MEMBER} schemas; publish one of these again")
        if sum(len(app.schemas) for app in _apps(state).values()) >= SCHEMAS_PER_ROOM:
            raise TooLarge(f"a room may have {SCHEMAS_PER_ROOM} schemas")
    speak(ctx, EVERYBODY, [])
    mine.schemas[name] = Schema(version, schema, size)
    PUBLISHED.change(state).apps[me.id] = mine
    ctx.tell(f"{me.handle} published a schema", "app view")
    return SchemaPublished(name, version)


class Schemas(Struct):
    schemas: list[SchemaLine]


@command(category="read", needs=C.WATCH, sends="app views")
def app_schemas(ctx: Context) -> Schemas:
    """The schemas that apps in this room have published. `schemas` describes the commands instead."""
    return Schemas(
        [
            SchemaLine(handle_of(app), name, made.version, made.schema)
            for app, published in _apps(ctx.state).items()
            for name, made in published.schemas.items()
        ]
    )


# -- views --------------------------------------------------------------------------------------
class ViewPublished(Struct):
    recipients: int | None  # None: everyone


@command(category="bus", needs=C.PUBLISH, records=True)
def publish_view(
    ctx: Context,
    view: Annotated[Any, Meta(description="any JSON: a snapshot of the app's state")],
    to: Annotated[
        Annotated[list[str], Meta(max_length=100)] | None,
        Meta(description="the members it is for; default: everyone without a view of their own"),
    ] = None,
) -> ViewPublished:
    """Publish a view of your app, for everyone or for single members. It replaces the previous one."""
    size = _check_size(view, "a view")
    state, me = ctx.state, ctx.member
    receivers = [state.require_member(handle, me).id for handle in to] if to is not None else None
    mine = _apps(state).get(me.id, App())
    wanted = receivers if receivers is not None else [EVERYBODY]
    if len({*mine.views, *wanted}) > VIEWS_PER_APP:
        raise TooLarge(f"an app may have {VIEWS_PER_APP} views")
    sizes = {**mine.sizes, **dict.fromkeys(wanted, size)}
    if sum(sizes.values()) > VIEW_BYTES_PER_APP:
        raise TooLarge(f"the views of an app may have {VIEW_BYTES_PER_APP} bytes together")
    mine.sizes = sizes
    for receiver in wanted:
        mine.views[receiver] = view
    mine.published_at = ctx.at
    PUBLISHED.change(state).apps[me.id] = mine
    if receivers is not None:
        ctx.tell(f"{me.handle} published a view for you", "direct app view", members=tuple(receivers), shows="view")
        return ViewPublished(len(receivers))
    own = [member for member in state.members if member not in mine.views]
    members = tuple(own) if len(own) < len(state.members) else None
    ctx.tell(f"{me.handle} published a view", "app view", members=members, shows="view")
    return ViewPublished(None)


class AppView(Struct):
    app: str | None
    view: Any = None
    published_at: int | None = None


@command(category="read", needs=C.WATCH, sends="app views")
def app_view(
    ctx: Context, app: Annotated[str | None, Meta(description="the app; default: the one that published last")] = None
) -> AppView:
    """The newest view that an app has published for you."""
    state, me = ctx.state, ctx.member
    if app is not None:
        owner = state.require_member(app, me)
        if owner.id not in _apps(state) or not _apps(state)[owner.id].views:
            raise UnknownAsset(f"{app} has published no view")
    return newest_view(state, me, app)


def newest_view(state: RoomState, member: Member, app: str | None = None) -> AppView:
    """The newest view that an app, or any app, has published for this member."""
    newest = AppView(None)
    for name, made in _apps(state).items():
        reader = member.id if member.id in made.views else EVERYBODY
        if reader not in made.views or (app is not None and handle_of(name) != app):
            continue
        if reader == member.id and C.RECEIVE_DIRECTED not in member.held:
            continue
        if newest.published_at is None or made.published_at >= newest.published_at:
            newest = AppView(handle_of(name), made.views[reader], made.published_at)
    return newest


# -- actions ------------------------------------------------------------------------------------
class ActionRequested(Struct):
    apps: list[str]


@command(category="bus", needs=(C.ACT, C.ACT_GLOBAL), records=True)
def request_action(
    ctx: Context,
    action: Annotated[Any, Meta(description="any JSON that the app understands")],
    app: Annotated[str | None, Meta(description="the app; default: every app of this room")] = None,
) -> ActionRequested:
    """Ask an app in this room to do something. The app decides what it does."""
    _check_size(action, "an action")
    state, me = ctx.state, ctx.member
    if app is not None:
        owner = state.require_member(app, me)
        if C.PUBLISH not in owner.held:
            raise PermissionDenied(f"{app} is not an app")
        apps = [owner]
    else:
        apps = [member for member in state.members.values() if C.PUBLISH in member.held and member.id in _apps(state)]
    if not apps:
        raise GameRejected("no app in this room accepts actions")
    ctx.tell(f"{me.handle} requests an action", "app action", members=tuple(m.id for m in apps), shows="action")
    return ActionRequested([member.handle for member in apps])


class AppsFeature(Feature):
    name = "apps"
    room_slice = PUBLISHED
    observed = MappingProxyType({"app_view": Any})  # the newest view that an app has published for the member

    def observes(self, room: BaseRoom, member: Member) -> Mapping[str, Any]:
        return {"app_view": newest_view(room.state, member).view} if C.WATCH in member.held else {}

    def follow(self, ctx: Context) -> None:
        """Drop what members who have left have published, and the views that were for them."""
        members, apps = ctx.state.members, _apps(ctx.state)
        for gone in [app for app in apps if app not in members]:
            del apps[gone]
        for app in apps.values():
            for gone in [reader for reader in app.views if reader != EVERYBODY and reader not in members]:
                del app.views[gone], app.sizes[gone]
