"""Laws: switches of a god for the whole world. The rules read them from ``sim.laws``."""

from cohabit.worlds.kingdoms.powers.power import Cast, Power, Run
from cohabit.worlds.kingdoms.sim import Sim

LAWS = {
    "peace": "No war begins, and current wars end.",
    "no_fire": "Nothing catches fire.",
    "no_hunger": "Nobody needs to eat.",
    "no_aging": "Nobody dies of old age.",
    "no_rebellion": "No city rebels.",
    "no_monsters": "No monsters arrive by themselves.",
}


def switch(law: str) -> Run:
    """A power that turns this law on or off."""

    def run(sim: Sim, cast: Cast) -> bool:
        now = not sim.laws.get(law, False)
        sim.laws[law] = now
        state = "is now in force" if now else "is no longer in force"
        sim.tell(f'The law "{law.replace("_", " ")}" {state}.')
        return True

    return run


POWERS = tuple(Power(law, "law", description, switch(law), toggle=True) for law, description in LAWS.items())
