"""The scripted nations as array policies, with the same decisions as in ``agents/brains/statecraft``.

All information is visible (observability ``full``). A column has one number per game, a row one per game and nation.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any

from cohabit.worlds.array_library import namespace_of
from cohabit.worlds.statecraft.batch.arrays import Array, BatchLedgers, BatchState
from cohabit.worlds.statecraft.batch.engine import count_territories
from cohabit.worlds.statecraft.rules import Rules

LOW_RATING, NEUTRAL_RATING, HIGH_RATING = 2, 5, 9
BEYOND_ANY_STRENGTH = 2**62
"""Replaces the own strength of a nation, so that it never counts as the weakest."""


class Situation:
    """A turn of every game before the decisions."""

    def __init__(self, state: BatchState, rules: Rules, last: BatchLedgers | None, turns_left: int) -> None:
        self.xp = state.xp
        self.state = state
        self.rules = rules
        self.turns_left = turns_left
        self.attacks = None if last is None else last.attacks_clamped  # games x attackers x targets
        self.grants = None if last is None else last.grants_paid  # games x givers x receivers

    @cached_property
    def territories(self) -> Array:
        return count_territories(self.xp, self.state.owner, self.state.board.size)

    @cached_property
    def budgets(self) -> Array:
        """This turn's income after upkeep, if nobody attacks."""
        upkeep = self.state.mils * self.rules.c_mil_upkeep_price
        return self.xp.maximum(self.territories * self.rules.c_money_per_territory - upkeep, 0)

    @cached_property
    def strength(self) -> Array:
        """Orders nations by army, then by territories, most first. The smallest value is the weakest nation."""
        places = len(self.state.board.territories)
        return self.state.mils * (places + 1) + (places - self.territories)

    @cached_property
    def aggressors(self) -> Array | None:
        """A row: the nations that attacked last turn."""
        return None if self.attacks is None else self.xp.any(self.attacks > 0, axis=2)


class View:
    """The situation from the point of view of one nation, with its memory."""

    def __init__(self, situation: Situation, me: int, memory: Array | None) -> None:
        xp, state = situation.xp, situation.state
        self.xp: Any = xp
        self.situation = situation
        self.rules = situation.rules
        self.me = me
        self.memory = memory
        self.is_first_turn = situation.attacks is None
        self.is_last_turn = situation.turns_left <= 1
        self.army = state.mils[:, me]
        self.money = situation.budgets[:, me]
        self.rivals = state.board.size - 1
        self.index = xp.arange(state.board.size, dtype=xp.int64)[None, :]
        self.others = xp.broadcast_to(self.index != me, state.mils.shape)
        self.zero_column = xp.zeros_like(self.army)
        self.zero_row = xp.zeros_like(state.mils)

    @cached_property
    def attackers(self) -> Array:
        """A row: the mils that each nation sent against this nation last turn."""
        return self.zero_row if self.situation.attacks is None else self.situation.attacks[:, :, self.me]

    @cached_property
    def grants_received(self) -> Array:
        """A row: the money that each nation paid to this nation last turn."""
        return self.zero_row if self.situation.grants is None else self.situation.grants[:, :, self.me]

    def affordable_mils(self, money: Array) -> Array:
        return money // self.rules.c_mil_purchase_price

    def weakest(self) -> Array:
        """A row: true for the weakest other nation; ties go to the first."""
        strength = self.xp.where(self.others, self.situation.strength, BEYOND_ANY_STRENGTH)
        return self.index == self.xp.argmin(strength, axis=1)[:, None]

    def equal_shares(self, amount: Array, among: Array) -> Array:
        """A row: the amount in equal integer parts."""
        xp = self.xp
        count = xp.sum(xp.astype(among, xp.int64), axis=1)
        return xp.where(among, (amount // xp.maximum(count, 1))[:, None], 0)

    def first_of(self, among: Array, count: Array) -> Array:
        """A row: true for the first ``count`` of these nations."""
        xp = self.xp
        place = xp.cumulative_sum(xp.astype(among, xp.int64), axis=1)
        return among & (place <= count[:, None])


class Decision:
    """The orders of one nation in every game. Missing orders do nothing."""

    def __init__(
        self, view: View, purchase: Array | None = None, attacks: Array | None = None, grants: Array | None = None,
        disband: Array | None = None, memory: Array | None = None, rates: bool = True,
    ) -> None:  # fmt: skip
        self.purchase = view.zero_column if purchase is None else purchase
        self.attacks = view.zero_row if attacks is None else attacks
        self.grants = view.zero_row if grants is None else grants
        self.disband = view.zero_column if disband is None else disband
        self.memory = memory
        self.keeps_word, self.aggressor = ratings(view) if rates else (view.zero_row, view.zero_row)

    def if_it(self, arrives: Array, memory: Array | None) -> Decision:
        """This decision in the games in which it arrives; no orders, and the earlier memory, in the others."""
        xp = namespace_of(arrives)
        lost = copy(self)
        for name in ("purchase", "disband", "attacks", "grants", "keeps_word", "aggressor"):
            orders = getattr(self, name)
            setattr(lost, name, xp.where(arrives if orders.ndim == 1 else arrives[:, None], orders, 0))
        if self.memory is not None:
            earlier = xp.zeros_like(self.memory) if memory is None else memory
            lost.memory = xp.where(arrives[:, None], self.memory, earlier)
        return lost


def ratings(view: View) -> tuple[Array, Array]:
    """Both reports, based on the last turn. None before the first turn ends."""
    xp, aggressors = view.xp, view.situation.aggressors
    if aggressors is None:
        return view.zero_row, view.zero_row
    keeps_word = xp.where(view.grants_received > 0, HIGH_RATING, xp.asarray(NEUTRAL_RATING, dtype=xp.int64))
    keeps_word = xp.where(view.attackers > 0, LOW_RATING, keeps_word)
    aggression = xp.where(aggressors, HIGH_RATING, xp.asarray(LOW_RATING, dtype=xp.int64))
    return xp.where(view.others, keeps_word, 0), xp.where(view.others, aggression, 0)


# -- the policies ---------------------------------------------------------------------------------
def passive(view: View) -> Decision:
    return Decision(view, rates=False)


def trader(view: View) -> Decision:
    return Decision(view, grants=view.equal_shares(view.money // 2, view.others))


def ring_builder(view: View) -> Decision:
    next_nation = view.index == (view.me + 1) % (view.rivals + 1)
    return Decision(view, grants=view.equal_shares(view.money, next_nation & view.others), disband=view.army)


def free_rider(view: View) -> Decision:
    return Decision(view)


def hawk(view: View) -> Decision:
    buy = view.zero_column if view.is_last_turn else view.affordable_mils(view.money)
    return Decision(view, purchase=buy, attacks=view.equal_shares(view.army, view.weakest()))


def opportunist(view: View) -> Decision:
    xp, army = view.xp, view.army
    arms = (army < view.rivals) & (view.affordable_mils(view.money) > 0)
    buy = view.zero_column if view.is_last_turn else xp.astype(arms, xp.int64)
    target = view.weakest()
    target_army = xp.sum(xp.where(target, view.situation.state.mils, 0), axis=1)
    attacks = xp.where(target & (army > 2 * target_army)[:, None], army[:, None], 0)
    grants = view.zero_row if view.is_last_turn else xp.where(attacks > 0, 0, view.grants_received // 2)
    return Decision(view, purchase=buy, attacks=attacks, grants=grants)


def peace_enforcer(view: View) -> Decision:
    xp = view.xp
    offenders = _broke_the_peace(view)
    buy = xp.minimum(xp.maximum(view.rivals - view.army, 0), view.affordable_mils(view.money))
    attacks = view.equal_shares(view.army, view.first_of(offenders, view.army))
    to_share = (view.money - buy * view.rules.c_mil_purchase_price) // 2
    grants = view.equal_shares(to_share, view.others & ~offenders)
    return Decision(view, purchase=buy, attacks=attacks, grants=grants, memory=offenders)


def _broke_the_peace(view: View) -> Array:
    """A row: who attacked a nation that attacked nobody and had not broken the peace in the turn before."""
    attacks, aggressors = view.situation.attacks, view.situation.aggressors
    if attacks is None or aggressors is None:
        return view.zero_row > 0
    legitimate_targets = aggressors if view.memory is None else aggressors | view.memory
    return view.others & view.xp.any((attacks > 0) & ~legitimate_targets[:, None, :], axis=2)


def tit_for_tat(view: View) -> Decision:
    if view.is_first_turn:
        return trader(view)
    xp = view.xp
    missing = xp.maximum(xp.sum(view.attackers, axis=1) - view.army, 0)
    attacks = xp.where((view.army > 0)[:, None], view.attackers, 0)
    grants = xp.where(view.attackers > 0, 0, view.grants_received)
    buy = xp.minimum(missing, view.affordable_mils(view.money))
    return Decision(view, purchase=buy, attacks=attacks, grants=grants)


def grudger(view: View) -> Decision:
    xp = view.xp
    enemies = view.attackers > 0 if view.memory is None else view.memory | (view.attackers > 0)
    has_enemies = xp.any(enemies, axis=1)
    buy = xp.where(has_enemies, view.affordable_mils(view.money // 2), 0)
    to_share = (view.money - buy * view.rules.c_mil_purchase_price) // 2
    grants = view.equal_shares(to_share, view.others & ~enemies)
    attacks = view.equal_shares(view.army, view.first_of(enemies, view.army))
    return Decision(view, purchase=buy, attacks=attacks, grants=grants, memory=enemies)


Policy = Callable[[View], Decision]
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
