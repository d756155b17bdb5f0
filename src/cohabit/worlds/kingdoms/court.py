"""What a kingdom's player can order. How an order is carried out is in ``powers.orders``."""

from collections.abc import Callable
from typing import Annotated

from cohabit.world import Outcome, Range, Seat, World, action
from cohabit.worldbox.arguments import KingdomId, X, Y
from cohabit.worlds.kingdoms.answers import Ordered
from cohabit.worlds.kingdoms.casting import on_map
from cohabit.worlds.kingdoms.powers import orders
from cohabit.worlds.kingdoms.realms import Kingdom
from cohabit.worlds.kingdoms.sim import Sim

OF_A_SEAT = "act"
GiveOrder = Callable[[Kingdom], str]
"""Gives an order to a kingdom, and says so in words."""


class Court(World):
    """The orders, as actions of the world that is derived from this."""

    sim: Sim

    def _order(self, by: Seat, name: str, give: GiveOrder) -> Outcome:
        """Let the kingdom of this seat have an order."""
        raise NotImplementedError

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def declare_war(self, by: Seat, kingdom_id: KingdomId) -> Outcome:
        """Begin a war. Only you can begin or end one for your kingdom."""
        return self._order(
            by, "declare_war", lambda mine: orders.make_war(self.sim, mine, orders.named(self.sim, kingdom_id))
        )

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def offer_peace(self, by: Seat, kingdom_id: KingdomId) -> Outcome:
        """Offer peace. It is made when the other kingdom wants it too."""
        return self._order(
            by, "offer_peace", lambda mine: orders.make_peace(self.sim, mine, orders.named(self.sim, kingdom_id))
        )

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def raid(
        self,
        by: Seat,
        kingdom_id: KingdomId | None = None,
        city_id: Annotated[int, Range(doc="the id of a city; left out: the one that is nearest to you")] | None = None,
    ) -> Outcome:
        """Send the army against a city of a kingdom you are at war with."""
        return self._order(by, "raid", lambda mine: orders.raid_on(self.sim, mine, kingdom_id, city_id))

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def rally(self, by: Seat, x: X, y: Y) -> Outcome:
        """Gather the army at a place."""
        on_map(self.sim, x, y)
        return self._order(by, "rally", lambda mine: orders.rally(self.sim, mine, x, y))

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def fortify(self, by: Seat, on: bool = True) -> Outcome:
        """Keep the army at home and build towers first, or stop that."""
        return self._order(by, "fortify", lambda mine: orders.fortify(self.sim, mine, on))

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def settle(self, by: Seat, x: X, y: Y) -> Outcome:
        """Send the next settlers to a place."""
        on_map(self.sim, x, y)
        return self._order(by, "settle", lambda mine: orders.settle(self.sim, mine, x, y))

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def muster(
        self, by: Seat, percent: Annotated[int, Range(0, 60, "of the people; 0: as the crown thinks fit")]
    ) -> Outcome:
        """Say how many of your people take up arms."""
        return self._order(by, "muster", lambda mine: orders.muster(self.sim, mine, percent))

    @action(needs=OF_A_SEAT, gives=Ordered, group="orders")
    def stand_down(self, by: Seat) -> Outcome:
        """Take all orders back; the crown decides again."""
        return self._order(by, "stand_down", lambda mine: orders.stand_down(self.sim, mine))
