"""Limits that outlive a membership: a member that a host has limited does not lose that by leaving and coming back."""

from cohabit.model.grant import EVERYTHING, Layer
from cohabit.room.state import KeptLimits, Member, RoomState

LIMITED_KEPT = 1_000
"""How many identities with limits a room remembers after they left; the oldest are forgotten."""


def keep_limits(state: RoomState, member: Member) -> None:
    """A member leaves: remember the limits that it did not join with."""
    state.limited.pop(member.identity, None)
    limits = [layer for layer in member.layers if _limits(layer) and layer not in member.given]
    if not member.identity or not limits:
        return
    state.limited[member.identity] = KeptLimits(member.id, member.role_name, list(member.given), limits)
    while len(state.limited) > LIMITED_KEPT:
        del state.limited[next(iter(state.limited))]


def take_limits(state: RoomState, identity: str, at: int) -> list[Layer]:
    """An identity joins: the limits that apply to it again. One that has expired meanwhile allows nothing."""
    kept = state.limited.pop(identity, None)
    if kept is None:
        return []
    if any(layer.expires_at is not None and layer.expires_at <= at for layer in kept.limits):
        return [Layer("limit")]
    return kept.limits


def limited_members(state: RoomState) -> dict[str, str]:
    """The former members whose limits are kept, by identity."""
    return {identity: kept.member for identity, kept in state.limited.items()}


def _limits(layer: Layer) -> bool:
    return layer.kind == "limit" and (layer.expires_at is not None or layer.capabilities != EVERYTHING)
