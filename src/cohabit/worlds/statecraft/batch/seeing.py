"""What one nation sees in every game of a batch, and what it decides: the array form of an agent's input and answer.

Everything is open (observability ``full``). A column has one number per game, a row one per game and nation.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from cohabit.worlds.statecraft.batch.arrays import Array, BatchStanding, BatchTurn
from cohabit.worlds.statecraft.batch.cessions import land
from cohabit.worlds.statecraft.rules import Rules

RATED_BAD, RATED_UNKNOWN, RATED_GOOD = 2, 5, 9
FAR = 2**62
"""Larger than any army: who stands there is not the smallest."""


class Scene:
    """One turn as everybody sees it."""

    def __init__(self, standing: BatchStanding, rules: Rules, last: BatchTurn | None, turns_left: int) -> None:
        self.xp = standing.board.xp
        self.standing = standing
        self.rules = rules
        self.turns_left = turns_left
        self.struck = None if last is None else last.attacks_clamped  # games x attackers x targets
        self.paid = None if last is None else last.grants_paid  # games x givers x receivers

    @cached_property
    def land(self) -> Array:
        return land(self.xp, self.standing.owner, self.standing.board.size)

    @cached_property
    def budgets(self) -> Array:
        """What is left of this turn's income after upkeep, if nobody attacks."""
        upkeep = self.standing.mils * self.rules.c_mil_upkeep_price
        return self.xp.maximum(self.land * self.rules.c_money_per_territory - upkeep, 0)

    @cached_property
    def strength(self) -> Array:
        """Orders nations by army, then by land, most first: the smallest is the weakest."""
        places = len(self.standing.board.territories)
        return self.standing.mils * (places + 1) + (places - self.land)

    @cached_property
    def aggressors(self) -> Array | None:
        """Who attacked anybody last turn. A row."""
        return None if self.struck is None else self.xp.any(self.struck > 0, axis=2)


class View:
    """The scene through the eyes of one nation, with what it remembers."""

    def __init__(self, scene: Scene, me: int, memory: Array | None) -> None:
        xp, standing = scene.xp, scene.standing
        self.xp: Any = xp
        self.scene = scene
        self.rules = scene.rules
        self.me = me
        self.memory = memory
        self.first = scene.struck is None
        self.last = scene.turns_left <= 1
        self.army = standing.mils[:, me]
        self.money = scene.budgets[:, me]
        self.rivals = standing.board.size - 1
        self.index = xp.arange(standing.board.size, dtype=xp.int64)[None, :]
        self.others = xp.broadcast_to(self.index != me, standing.mils.shape)
        self.none = xp.zeros_like(self.army)
        self.nobody = xp.zeros_like(standing.mils)

    @cached_property
    def attackers(self) -> Array:
        """A row: who sent how many mils at me last turn."""
        return self.nobody if self.scene.struck is None else self.scene.struck[:, :, self.me]

    @cached_property
    def gifts(self) -> Array:
        """A row: who paid me how much last turn."""
        return self.nobody if self.scene.paid is None else self.scene.paid[:, :, self.me]

    def affordable(self, money: Array) -> Array:
        return money // self.rules.c_mil_purchase_price

    def weakest(self) -> Array:
        """A row, true at the weakest of the others; of equals at the first."""
        found = self.xp.argmin(self.xp.where(self.others, self.scene.strength, FAR), axis=1)
        return self.index == found[:, None]

    def shared(self, money: Array, among: Array) -> Array:
        """A row: the money in equal whole parts."""
        xp = self.xp
        count = xp.sum(xp.astype(among, xp.int64), axis=1)
        return xp.where(among, (money // xp.maximum(count, 1))[:, None], 0)

    def first_of(self, among: Array, count: Array) -> Array:
        """A row, true at the first ``count`` of those."""
        xp = self.xp
        place = xp.cumulative_sum(xp.astype(among, xp.int64), axis=1)
        return among & (place <= count[:, None])


class Decision:
    """What one nation orders in every game; what it does not say it does not do."""

    def __init__(
        self, view: View, purchase: Array | None = None, attacks: Array | None = None, grants: Array | None = None,
        disband: Array | None = None, memory: Array | None = None, rates: bool = True,
    ) -> None:  # fmt: skip
        self.purchase = view.none if purchase is None else purchase
        self.attacks = view.nobody if attacks is None else attacks
        self.grants = view.nobody if grants is None else grants
        self.disband = view.none if disband is None else disband
        self.memory = memory
        self.keeps_word, self.aggressor = ratings(view) if rates else (view.nobody, view.nobody)


def ratings(view: View) -> tuple[Array, Array]:
    """Both reports, from what showed last turn; none before there was one."""
    xp, aggressors = view.xp, view.scene.aggressors
    if aggressors is None:
        return view.nobody, view.nobody
    word = xp.where(view.gifts > 0, RATED_GOOD, xp.asarray(RATED_UNKNOWN, dtype=xp.int64))
    word = xp.where(view.attackers > 0, RATED_BAD, word)
    aggression = xp.where(aggressors, RATED_GOOD, xp.asarray(RATED_BAD, dtype=xp.int64))
    return xp.where(view.others, word, 0), xp.where(view.others, aggression, 0)
