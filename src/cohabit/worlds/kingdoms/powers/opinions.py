"""Changing what kingdoms think of each other."""

from cohabit.worlds.kingdoms.sim import Sim


def sway(sim: Sim, of: int, change: int) -> bool:
    """Change what all others think of a kingdom; did anybody change their mind?"""
    swayed = False
    for other in sim.alive:
        if other.id == of:
            continue
        old = sim.opinions.get((other.id, of), 0)
        new = min(100, max(-100, old + change))
        sim.opinions[other.id, of] = new
        swayed |= new != old
    return swayed
