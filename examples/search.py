"""A keeper of Lanterns that imagines what it cannot see, and tries its moves there before it chooses one.

Run it with `python examples/search.py`. The program holds the room. The player gets imagined copies of the world
(`cohabit.lab.imagine`), in which the rivals and the oil in the dark are drawn again, never the world of the room.
"""

from collections.abc import Callable

from cohabit import Action
from cohabit.errors import AskerError
from cohabit.lab.imagine import imagine
from cohabit.registry import make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario
from cohabit.world import Seat, Stream, World

TICKS, WORLDS, AHEAD = 90, 4, 12
Imagine = Callable[[Stream], World]


def try_out(world: World, seat: Seat, action: Action) -> float:
    """The land after this action and some ticks, in a world that the player has imagined."""
    try:
        getattr(world, action.name)(seat, **action.parameters)
    except AskerError:
        return -1.0
    world.advance(AHEAD)
    return world.returns()[seat.id]


def search(imagine_one: Imagine, seat: Seat, choices: list[Action], stream: Stream) -> Action:
    """The action with the most land on average. All actions are tried in the same imagined worlds."""
    seeds = [stream.bits64() for _ in range(WORLDS)]

    def value(action: Action) -> float:
        return sum(try_out(imagine_one(Stream(seed, "imagined")), seat, action) for seed in seeds)

    stream.shuffle(choices)  # of equally good actions any one
    return max(choices, key=value)


def main() -> None:
    """Amber searches, blue moves at random."""
    plan = Scenario(
        scenario="search",
        world="lanterns",
        config={"ticks": TICKS},
        agents=[AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(("amber", "blue"))],
    )
    world = make_world(plan.world, plan.config)
    room = Room.create(opening_state(plan, world, plan.world, "search", 7, "00" * 16), world, 0)
    stream = Stream(7, "players")
    while not room.is_over():
        for member in list(room.state.members.values()):
            seat = room.seat_of(member)
            assert seat is not None
            seen = room.view(member).observation.choices or []
            choices = [Action(choice["action"], choice["params"]) for choice in seen]
            if member.id == "amber":
                action = search(lambda drawn, who=member.id: imagine(room, who, drawn), seat, choices, stream)
            else:
                action = stream.choice(choices)
            room.call(member.id, action.name, action.parameters, at=room.state.tick * 1000)
        room.system("ticks", {"n": 3}, room.state.tick * 1000)
    land = {place.name: place.score for place in room.world.standings()}
    assert land["amber"] > land["blue"]
    print(f"ok: amber, who searches, has {land['amber']} land; blue, who does not, has {land['blue']}")


if __name__ == "__main__":
    main()
