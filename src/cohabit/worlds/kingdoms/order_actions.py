"""The orders of a kingdom's player, as actions. ``powers.orders`` carries them out."""

from collections.abc import Callable
from typing import Annotated

from cohabit.world import Outcome, Range, Seat, World, action
from cohabit.worlds.kingdoms.answers import Ordered
from cohabit.worlds.kingdoms.arguments import KingdomId, X, Y
from cohabit.worlds.kingdoms.powers import orders
from cohabit.worlds.kingdoms.powers.casting import on_map
from cohabit.worlds.kingdoms.rules.armies import MAX_MUSTER
from cohabit.worlds.kingdoms.sim import Kingdom, Sim

OF_A_SEAT = "act"
GiveOrder = Callable[[Kingdom], str]
"""Gives an order to a kingdom and returns a message about it."""


class OrderActions(World):
    """The part of the world that has the orders."""

    sim: Sim

    def _order(self, by: Seat, name: str, give: GiveOrder) -> Outcome:
        """Give an order to the kingdom of this seat."""
        raise NotImplementedError

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def declare_war(self, by: Seat, kingdom_id: KingdomId) -> Outcome:
        """Declare war on a kingdom. Only you can begin or end a war for your kingdom."""
        return self._order(
            by, "declare_war", lambda mine: orders.make_war(self.sim, mine, orders.find_kingdom(self.sim, kingdom_id))
        )

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def offer_peace(self, by: Seat, kingdom_id: KingdomId) -> Outcome:
        """Offer peace to a kingdom. The war ends when both sides have offered peace."""
        return self._order(
            by, "offer_peace", lambda mine: orders.make_peace(self.sim, mine, orders.find_kingdom(self.sim, kingdom_id))
        )

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def raid(
        self,
        by: Seat,
        kingdom_id: KingdomId | None = None,
        city_id: Annotated[int, Range(doc="the id of a city in your view; default: the nearest one")] | None = None,
    ) -> Outcome:
        """Send the army to attack a city of a kingdom you are at war with."""
        return self._order(by, "raid", lambda mine: self._raid(mine, kingdom_id, city_id))

    def _raid(self, mine: Kingdom, kingdom_id: int | None, city_id: int | None) -> str:
        if city_id is not None:
            return orders.raid_city(self.sim, mine, city_id, kingdom_id)
        return orders.raid_kingdom(self.sim, mine, kingdom_id)

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def rally(self, by: Seat, x: X, y: Y) -> Outcome:
        """Gather the army at a place."""
        on_map(self.sim, x, y)
        return self._order(by, "rally", lambda mine: orders.rally(self.sim, mine, x, y))

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def fortify(self, by: Seat, on: bool = True) -> Outcome:
        """Keep the army at home and build towers first, or end that."""
        return self._order(by, "fortify", lambda mine: orders.fortify(self.sim, mine, on))

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def settle(self, by: Seat, x: X, y: Y) -> Outcome:
        """Send the next settlers to a place."""
        on_map(self.sim, x, y)
        return self._order(by, "settle", lambda mine: orders.settle(self.sim, mine, x, y))

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def muster(
        self, by: Seat, percent: Annotated[int, Range(0, MAX_MUSTER, "of the people; 0: the crown decides")]
    ) -> Outcome:
        """Set how many of your people are under arms."""
        return self._order(by, "muster", lambda mine: orders.muster(self.sim, mine, percent))

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def stand_down(self, by: Seat) -> Outcome:
        """Withdraw all orders; the crown decides again."""
        return self._order(by, "stand_down", lambda mine: orders.stand_down(self.sim, mine))
