"""Laws: what a god switches on and off for the whole world. The rules ask ``sim.laws`` for them."""

from cohabit.worlds.kingdoms.powers.power import Cast, Power, Run
from cohabit.worlds.kingdoms.sim import Sim

LAWS = {
    "peace": "No war begins, and those that are fought end.",
    "no_fire": "Nothing catches fire.",
    "no_hunger": "Nobody needs to eat.",
    "no_aging": "Nobody dies of old age.",
    "no_rebellion": "No city leaves its kingdom.",
    "no_monsters": "No monster comes by itself.",
}


def switch(law: str) -> Run:
    """A power that turns this law on, or off again."""

    def run(sim: Sim, cast: Cast) -> bool:
        now = not sim.laws.get(law, False)
        sim.laws[law] = now
        state = "holds from now on" if now else "no longer holds"
        sim.tell(f"A law of the gods {state}: {law.replace('_', ' ')}.")
        return True

    return run


POWERS = tuple(Power(law, "law", words, switch(law), toggle=True) for law, words in LAWS.items())
