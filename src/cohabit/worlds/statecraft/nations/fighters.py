"""Nations with an army: for gain, for the chance of it, and for peace."""

from cohabit.worlds.statecraft.nations.base import (
    Answer,
    Input,
    Nation,
    affordable,
    attacks_last_turn,
    budget,
    gifts_received,
    others,
    own_army,
    pledges,
    price_of,
    ratings,
    recalled,
    shared,
    weakest,
)  # fmt: skip

BREACHES = "broke the peace: "


class Hawk(Nation):
    """Buys mils with all it has, down to the last but one turn, and sends the whole army at the weakest."""

    def act(self, agent_input: Input) -> Answer:
        buy = affordable(agent_input, budget(agent_input)) if agent_input.get("turns_left", 2) > 1 else 0
        army = own_army(agent_input)
        attacks = {weakest(agent_input, others(agent_input)): army} if army else {}
        return {"purchase_mils": buy, "attacks": attacks, **ratings(agent_input)}


class Opportunist(Nation):
    """Arms slowly, strikes whoever is less than half as strong, and pays back half of what it is given.

    In the last turn it gives nothing: nobody can answer that any more.
    """

    def act(self, agent_input: Input) -> Answer:
        money, army, rivals = budget(agent_input), own_army(agent_input), others(agent_input)
        last = agent_input.get("turns_left", 2) <= 1
        buy = min(1, affordable(agent_input, money)) if army < len(rivals) and not last else 0
        prey = weakest(agent_input, rivals)
        attacks = {prey: army} if army > 2 * agent_input["army"].get(prey, army) else {}
        gifts = {} if last else gifts_received(agent_input)
        back = {name: n // 2 for name, n in gifts.items() if n // 2 and name not in attacks}
        return {"purchase_mils": buy, "attacks": attacks, "money_grants": back, **ratings(agent_input)}


class PeaceEnforcer(Nation):
    """Keeps as many mils as there are other nations, and sends them at whoever broke the peace last turn.

    To strike somebody who strikes, or who broke the peace the turn before, is no breach: else two enforcers would
    end up at war with each other. The peaceful share half of its money.
    """

    def act(self, agent_input: Input) -> Answer:
        money, army, rivals = budget(agent_input), own_army(agent_input), others(agent_input)
        known = recalled(agent_input, BREACHES)
        guilty = [name for name in rivals if _broke_the_peace(agent_input, name, known)]
        buy = min(max(len(rivals) - army, 0), affordable(agent_input, money))
        peaceful = [name for name in rivals if name not in guilty]
        grants = shared((money - price_of(agent_input, buy)) // 2, peaceful)
        return {
            "purchase_mils": buy, "attacks": shared(army, guilty[:army]), "money_grants": grants,
            "messages": pledges(grants), "history_summary": BREACHES + ", ".join(guilty), **ratings(agent_input),
        }  # fmt: skip


def _broke_the_peace(seen: Input, name: str, known: list[str]) -> bool:
    """Did it attack somebody who attacked nobody, and who was no breaker of the peace the turn before?"""
    attacks = attacks_last_turn(seen)
    targets = [target for target, mils in attacks.get(name, {}).items() if mils]
    return any(target not in known and not any(attacks.get(target, {}).values()) for target in targets)
