"""The command `set_entry`, which changes the entry policy of a room."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from cohabit.errors import BadArgs
from cohabit.house.access import codes, signing
from cohabit.house.access.entry_limits import Gate
from cohabit.house.calls.context import HouseContext
from cohabit.house.threads import run_in_thread
from cohabit.model.admission import AgentKey, same_code, same_name
from cohabit.model.grant import ROLES, Capability, capabilities, in_order, role_or_default
from cohabit.model.identity import Kind
from cohabit.room.access.admission import EntryShown, entry_shown
from cohabit.room.access.grants import check_for_newcomer
from cohabit.room.commands import command
from cohabit.room.room import Room
from cohabit.scenario import check_name

C = Capability
MAX_NAMES, MAX_KEYS = 1_000, 100


class KeyGiven(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An agent that may enter with its key."""

    key: Annotated[dict[str, Any], Meta(description="the public key: a P-256 JWK")]
    label: Annotated[str, Meta(max_length=64)] = ""
    may: Annotated[list[str] | None, Meta(description="capabilities; default: those of the role agent")] = None


class EntrySet(Struct, omit_defaults=True):
    entry: EntryShown
    link: str  # for people who join by code, by name, or because the room is open
    code: str | None = None  # a new code; it is shown once
    note: str = ""  # how to complete the link


@command(category="host", where="house", needs=C.MANAGE_MEMBERS, records=True, exclusive=True)
async def set_entry(
    ctx: HouseContext,
    locked: Annotated[bool | None, Meta(description="no newcomers; members stay and can return")] = None,
    lobby: Annotated[bool | None, Meta(description="newcomers wait until a host admits them")] = None,
    open_: Annotated[bool | None, Meta(description="anyone who has the link may join")] = None,
    code: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Meta(description='anyone who knows this code may join; "new" makes one, "" removes it'),
    ] = None,
    names: Annotated[
        Annotated[list[Annotated[str, Meta(max_length=64)]], Meta(max_length=MAX_NAMES)] | None,
        Meta(description="people who may join by giving their name"),
    ] = None,
    agent_keys: Annotated[
        Annotated[list[KeyGiven], Meta(max_length=MAX_KEYS)] | None, Meta(description="agents that may join with a key")
    ] = None,
    kind: Annotated[
        Kind | None, Meta(description="the kind given to people who join without an invite or a key")
    ] = None,
    agents_play: Annotated[
        bool | None, Meta(description="agents that join without an invite or a key are players; otherwise they watch")
    ] = None,
) -> EntrySet:
    """Set the entry policy: who may join without an invite, and whether newcomers wait in the lobby.

    Fields you omit keep their values.
    """
    before, plain = ctx.room.state.entry_policy, None
    given: dict[str, Any] = {"locked": locked, "lobby": lobby, "open": open_, "kind": kind, "agents_play": agents_play}
    if code is not None:
        plain = codes.make_code() if code.strip().lower() == "new" else code.strip()
        if plain and len(same_code(plain)) < codes.MIN_CHOSEN:
            raise BadArgs(f'code: must have at least {codes.MIN_CHOSEN} letters and digits; "new" makes one')
        given["code"] = await run_in_thread("a code", lambda: codes.hash_code(plain)) if plain else ""
        given["code_is_random"] = code.strip().lower() == "new"
    if names is not None:
        given["names"] = _checked_names(names)
    if agent_keys is not None:
        given["agent_keys"] = _checked_keys(agent_keys)
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise BadArgs("pass at least one of locked, lobby, open, code, names, agent_keys, kind or agents_play")
    policy = structs.replace(before, **changes)

    def check(room: Room, at: int) -> None:
        giver = room.state.members[ctx.member.id]
        if policy.open or policy.code or policy.names:
            role = role_or_default(policy.role_of(policy.kind), policy.kind)
            check_for_newcomer(room, giver, ROLES[role], "newcomers")
        if policy.agents_play:
            check_for_newcomer(room, giver, ROLES["player"], "agents that join by themselves")
        for known in policy.agent_keys if agent_keys is not None else ():
            given = ROLES["agent"] if known.may is None else known.may
            check_for_newcomer(room, giver, given, known.label or "this key")

    changed = ", ".join(_in_words(name, value) for name, value in changes.items() if name != "code_is_random")
    args = {"policy": msgspec.to_builtins(policy), "by": ctx.member.id, "changed": changed}
    await ctx.record("entry_set", args, check=check)
    link, note = ctx.house.need(Gate).link(f"/?join={ctx.room.id}")
    return EntrySet(entry_shown(ctx.room.state, policy, ctx.member), link, plain or None, note)


def _in_words(name: str, value: Any) -> str:
    """A change, without anything that is secret."""
    if name == "code":
        return "a new code" if value else "no code"
    if name in ("names", "agent_keys"):
        return f"{len(value)} {name.replace('_', ' ')}"
    if name == "agents_play":
        return "agents play" if value else "agents watch"
    return f"{name} {value}" if isinstance(value, str) else f"{'' if value else 'not '}{name}"


def _checked_names(names: list[str]) -> tuple[str, ...]:
    seen: set[str] = set()
    for name in names:
        check_name(name)
        if same_name(name) in seen:
            raise BadArgs(f"names: {name!r} is listed twice")
        seen.add(same_name(name))
    return tuple(" ".join(name.split()) for name in names)


def _checked_keys(keys: list[KeyGiven]) -> tuple[AgentKey, ...]:
    made = []
    for given in keys:
        may = None if given.may is None else in_order(capabilities(given.may))
        made.append(AgentKey(signing.check_key(given.key), given.label.strip(), may))
    prints = [signing.thumbprint(known.key) for known in made]
    if len(set(prints)) < len(prints):
        raise BadArgs("agent_keys: a key is listed twice")
    return tuple(made)
