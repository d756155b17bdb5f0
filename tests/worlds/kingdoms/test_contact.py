"""Before there is contact in the world, nothing that a rival does in the fog changes anything of one's own.

``forked`` says what is compared, and what counts as contact.
"""

import pytest

from cohabit.worlds.kingdoms import beginning
from cohabit.worlds.kingdoms.rules import wildlife

from .forked import CONTACT, EVERY, Fork

FAR = 300
"""A distance of the first cities at which rivals do not meet for thousands of ticks."""


@pytest.mark.soak
@pytest.mark.parametrize("seed", [5, 6, 7])
def test_hidden_deeds_of_a_rival_change_nothing_that_a_kingdom_gets_or_is(seed: int) -> None:
    fork = Fork(seed)
    assert not fork.play(16 * EVERY), "there should be no contact so early"
    assert fork.busy.world.sim.creatures.next_id > fork.quiet.world.sim.creatures.next_id + 20
    assert fork.compared > 10_000


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_hidden_deeds_change_nothing_over_thousands_of_ticks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beginning, "GOOD_DISTANCE", FAR)
    monkeypatch.setattr(wildlife, "ARRIVALS", 0)
    fork = Fork(seed, zones=6, animals=False)
    fork.play(4000)
    assert fork.ticks >= 2000
    assert fork.busy.world.sim.tally.cities > 2


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, 13))
def test_hidden_deeds_change_nothing_until_there_is_contact(seed: int) -> None:
    fork = Fork(seed)
    fork.play(3000)
    assert fork.ticks > CONTACT
