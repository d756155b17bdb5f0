"""The words of an agent that travels, which are deleted with its data: in the record of the Nexus what it asked for and
what was answered, in the record of a game what it brought along."""

from collections.abc import Mapping
from typing import Any

from cohabit.model.exit_conditions import exit_condition

DELETED = "[deleted]"
NEXUS = "nexus"
KEPT_OF_PROFILES = ("agent_id", "name", "created_at", "session", "onward", "version")
"""The fields of a profile that tell where an agent is. The rest of a profile is about nobody but the agent."""


def asked(args: Mapping[str, Any], world: str) -> dict[str, Any]:
    """An action of the agent in a remote world. What the Nexus was asked for is in what followed from it."""
    return {**args, "key": None, "why": None, **({"args": {}} if world == NEXUS else {})}


def answered(args: Mapping[str, Any]) -> dict[str, Any]:
    """The Nexus's answer to the agent, without its texts."""
    made, result, refused = dict(args), args.get("result"), args.get("refused")
    if result:
        public = {"public": result["public"]} if "public" in result else {}
        made["result"] = {"text": DELETED, **public, "profile": _profile(result["profile"])}
    if refused:
        made["refused"] = {**refused, "message": DELETED}
    return made


def polled(args: Mapping[str, Any], identity: str) -> dict[str, Any]:
    """The Nexus's state at a time, without the agent's own texts."""
    profiles = args["state"].get("profiles", {})
    own = {seat: _profile(one) for seat, one in profiles.items() if one["agent_id"] == identity}
    return {**args, "state": {**args["state"], "profiles": {**profiles, **own}}} if own else dict(args)


def _profile(profile: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in profile.items() if name in KEPT_OF_PROFILES}


def package(brought: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The agent's luggage in a game, without its own texts. A condition that ends its visit is kept: the game follows
    from it."""
    made = {**brought, "name": name}
    for field in ("goals", "memories"):
        if field in made:
            made[field] = [DELETED for _ in made[field]]
    if "exit_conditions" in made:
        made["exit_conditions"] = [one if exit_condition(one) else DELETED for one in made["exit_conditions"]]
    if avatar := made.get("new_avatar"):
        own = {"name": DELETED, "appearance": {}}
        made["new_avatar"] = {**avatar, **{field: blank for field, blank in own.items() if avatar.get(field)}}
    return made
