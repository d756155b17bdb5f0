"""The scripted nations as array policies: in every game they decide what their namesakes in ``nations`` decide."""

from collections.abc import Callable

from cohabit.worlds.statecraft.batch.arrays import Array
from cohabit.worlds.statecraft.batch.seeing import Decision, View

Policy = Callable[[View], Decision]


def passive(view: View) -> Decision:
    return Decision(view, rates=False)


def trader(view: View) -> Decision:
    return Decision(view, grants=view.shared(view.money // 2, view.others))


def ring_builder(view: View) -> Decision:
    following = view.index == (view.me + 1) % (view.rivals + 1)
    return Decision(view, grants=view.shared(view.money, following & view.others), disband=view.army)


def free_rider(view: View) -> Decision:
    return Decision(view)


def hawk(view: View) -> Decision:
    buy = view.none if view.last else view.affordable(view.money)
    return Decision(view, purchase=buy, attacks=view.shared(view.army, view.weakest()))


def opportunist(view: View) -> Decision:
    xp, army = view.xp, view.army
    arms = (army < view.rivals) & (view.affordable(view.money) > 0)
    buy = view.none if view.last else xp.astype(arms, xp.int64)
    prey = view.weakest()
    prey_army = xp.sum(xp.where(prey, view.scene.standing.mils, 0), axis=1)
    attacks = xp.where(prey & (army > 2 * prey_army)[:, None], army[:, None], 0)
    back = view.nobody if view.last else xp.where(attacks > 0, 0, view.gifts // 2)
    return Decision(view, purchase=buy, attacks=attacks, grants=back)


def peace_enforcer(view: View) -> Decision:
    xp = view.xp
    guilty = _broke_the_peace(view)
    buy = xp.minimum(xp.maximum(view.rivals - view.army, 0), view.affordable(view.money))
    attacks = view.shared(view.army, view.first_of(guilty, view.army))
    to_share = (view.money - buy * view.rules.c_mil_purchase_price) // 2
    grants = view.shared(to_share, view.others & ~guilty)
    return Decision(view, purchase=buy, attacks=attacks, grants=grants, memory=guilty)


def _broke_the_peace(view: View) -> Array:
    """Who attacked somebody who attacked nobody, and who was no breaker of the peace the turn before. A row."""
    struck, aggressors = view.scene.struck, view.scene.aggressors
    if struck is None or aggressors is None:
        return view.nobody > 0
    fair_game = aggressors if view.memory is None else aggressors | view.memory
    return view.others & view.xp.any((struck > 0) & ~fair_game[:, None, :], axis=2)


def tit_for_tat(view: View) -> Decision:
    if view.first:
        return trader(view)
    xp = view.xp
    missing = xp.maximum(xp.sum(view.attackers, axis=1) - view.army, 0)
    attacks = xp.where((view.army > 0)[:, None], view.attackers, 0)
    gifts = xp.where(view.attackers > 0, 0, view.gifts)
    buy = xp.minimum(missing, view.affordable(view.money))
    return Decision(view, purchase=buy, attacks=attacks, grants=gifts)


def grudger(view: View) -> Decision:
    xp = view.xp
    enemies = view.attackers > 0 if view.memory is None else view.memory | (view.attackers > 0)
    offended = xp.any(enemies, axis=1)
    buy = xp.where(offended, view.affordable(view.money // 2), 0)
    to_share = (view.money - buy * view.rules.c_mil_purchase_price) // 2
    grants = view.shared(to_share, view.others & ~enemies)
    attacks = view.shared(view.army, view.first_of(enemies, view.army))
    return Decision(view, purchase=buy, attacks=attacks, grants=grants, memory=enemies)


POLICIES: dict[str, Policy] = {
    "passive": passive,
    "trader": trader,
    "ring_builder": ring_builder,
    "free_rider": free_rider,
    "hawk": hawk,
    "grudger": grudger,
    "tit_for_tat": tit_for_tat,
    "opportunist": opportunist,
    "peace_enforcer": peace_enforcer,
}
