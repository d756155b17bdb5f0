"""The initial state of a room, from a scenario."""

from collections.abc import Collection, Mapping

from cohabit.errors import BadArgs
from cohabit.model.admission import BY_INVITATION
from cohabit.model.suggest import nearest
from cohabit.room.command_modules import features_of
from cohabit.room.play.claims import check_claims
from cohabit.room.state import FORMAT, Member, RoomState
from cohabit.room.timers import why_untimed
from cohabit.scenario import Scenario, parse_seed, team_of
from cohabit.world import World

STEP_SECONDS = 60
"""The time limit of a step, if the scenario has none. A step always has one, or a member could stop time."""


def opening_state(
    scenario: Scenario,
    world: World,
    source: str,
    room: str,
    seed: int | str,
    secret: str,
    identities: Mapping[str, str] | None = None,
) -> RoomState:
    """The room that a scenario defines. ``identities``: scenario id of an agent to its identity."""
    spec, features = world.spec, features_of(world, scenario.features)
    _check_time(scenario, world, features.speeds)
    check_claims(world, [(f"agents[{i}]", a.claim) for i, a in enumerate(scenario.agents) if a.claim is not None])
    known, seconds = identities or {}, scenario.turn_seconds
    if seconds is None and scenario.step_ticks:
        seconds = STEP_SECONDS
    members = {
        a.id: Member(
            a.id, a.kind, a.role, a.claim, identity=known.get(a.id, a.identity or ""), name=a.name or "",
            team=a.team or team_of(a.id, scenario), objectives=a.objectives, backend=a.backend,
            egress=bool(a.backend),
            stand_in=a.brain or a.stand_in, played_by_bot=a.brain is not None,
            gives_way=a.gives_way,
        )
        for a in scenario.agents
    }  # fmt: skip
    return RoomState(
        id=room,
        source=source,
        world=spec.name,
        version=spec.version,
        config=scenario.config,
        seed=parse_seed(seed),
        secret=secret,
        scenario=scenario.scenario,
        partial_intel=scenario.partial_intel,
        guests=scenario.guests,
        entry=scenario.entry if scenario.entry != BY_INVITATION else None,
        members=members,
        teams={name: list(who) for name, who in scenario.teams.items()},
        turn_based=scenario.turn_based,
        turn_order=(scenario.turn_order or [a.id for a in scenario.agents]) if scenario.turn_based else [],
        turn_ms=seconds * 1000 if seconds is not None else None,
        ticks_per_turn=scenario.ticks_per_turn,
        step_ticks=scenario.step_ticks,
        stand_in_ms=scenario.stand_in_seconds * 1000,
        hide_brains=scenario.hide_brains,
        speed=scenario.speed,
        rematch_ms=scenario.rematch_seconds * 1000 if scenario.rematch_seconds is not None else None,
        format=FORMAT,
        features=[feature.name for feature in features.all],
        slices={f.name: kept for f in features.all if (kept := f.opening(scenario, world)) is not None},
    )


def _check_time(scenario: Scenario, world: World, speeds: Collection[str]) -> None:
    """Reject turn and time settings that do not apply to this world."""
    name, pace = world.spec.name, world.pace
    untimed = why_untimed(world, scenario.turn_based, scenario.step_ticks)
    if scenario.step_ticks and pace != "clock":
        raise BadArgs(f"step_ticks: {name} is not a real-time world; omit step_ticks")
    if scenario.turn_seconds is not None and untimed:
        raise BadArgs(f"turn_seconds: {untimed}")
    if scenario.turn_based and pace in ("turns", "rounds"):
        raise BadArgs(f"turn_based: {name} has its own turn order; omit turn_based")
    if scenario.speed != "x1" and pace != "clock":
        raise BadArgs(f"speed: {name} is not a real-time world; omit speed")
    if scenario.speed not in speeds:
        raise BadArgs(
            f"speed: {scenario.speed[:40]!r} is not one of {', '.join(speeds)}",
            did_you_mean=nearest(scenario.speed, speeds, 2),
        )
