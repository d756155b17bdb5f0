"""Nations without an army: one sits still, two give, one only promises."""

from cohabit.worlds.statecraft.nations.base import (
    Answer,
    Input,
    Nation,
    budget,
    others,
    own_army,
    pledges,
    ratings,
    shared,
)  # fmt: skip


class Passive(Nation):
    """Does nothing at all: its income is its welfare."""

    def act(self, agent_input: Input) -> Answer:
        return {}


class Trader(Nation):
    """Gives half of its money, in equal parts to all others, whatever they do."""

    def act(self, agent_input: Input) -> Answer:
        grants = shared(budget(agent_input) // 2, others(agent_input))
        return {"money_grants": grants, "messages": pledges(grants), **ratings(agent_input)}


class RingBuilder(Nation):
    """Gives everything to the next nation in name order, the last one to the first, and disbands what army it has.

    If all do that, nobody can be better off; it never asks whether they do.
    """

    def act(self, agent_input: Input) -> Answer:
        after = [name for name in others(agent_input) if name > agent_input["self"]]
        following = (after or others(agent_input))[:1]
        grants = shared(budget(agent_input), following)
        disband = {"disband_mils": own_army(agent_input)} if own_army(agent_input) else {}
        return {"money_grants": grants, "messages": pledges(grants), **disband, **ratings(agent_input)}


class FreeRider(Nation):
    """Promises every other nation a fair share, and keeps everything."""

    def act(self, agent_input: Input) -> Answer:
        promised = shared(budget(agent_input), others(agent_input))
        return {"messages": pledges(promised), **ratings(agent_input)}
