"""Nations that answer in kind: one forgets every turn, one never."""

from cohabit.worlds.statecraft.nations.base import (
    Answer,
    Input,
    Nation,
    affordable,
    attackers_of,
    budget,
    gifts_received,
    others,
    own_army,
    pledges,
    price_of,
    ratings,
    recalled,
    shared,
)  # fmt: skip

GRUDGES = "grudges: "


class TitForTat(Nation):
    """Begins with half of its money in equal parts; then gives what it was given, and sends what was sent at it."""

    def act(self, agent_input: Input) -> Answer:
        money, attackers = budget(agent_input), attackers_of(agent_input, agent_input["self"])
        if "last_turn" not in agent_input:
            grants = shared(money // 2, others(agent_input))
            return {"money_grants": grants, "messages": pledges(grants)}
        missing = max(sum(attackers.values()) - own_army(agent_input), 0)
        buy = min(missing, affordable(agent_input, money))
        gifts = {name: n for name, n in gifts_received(agent_input).items() if name not in attackers}
        return {
            "purchase_mils": buy, "attacks": attackers if own_army(agent_input) else {}, "money_grants": gifts,
            **ratings(agent_input),
        }  # fmt: skip


class Grudger(Nation):
    """Shares half of its money with all who never attacked it; who did once is an enemy for good."""

    def act(self, agent_input: Input) -> Answer:
        remembered = recalled(agent_input, GRUDGES)
        struck = attackers_of(agent_input, agent_input["self"])
        enemies = [name for name in others(agent_input) if name in remembered or name in struck]
        money, army = budget(agent_input), own_army(agent_input)
        buy = affordable(agent_input, money // 2) if enemies else 0
        friends = [name for name in others(agent_input) if name not in enemies]
        grants = shared((money - price_of(agent_input, buy)) // 2, friends)
        return {
            "purchase_mils": buy, "attacks": shared(army, enemies[:army]), "money_grants": grants,
            "messages": pledges(grants), "history_summary": GRUDGES + ", ".join(enemies), **ratings(agent_input),
        }  # fmt: skip
