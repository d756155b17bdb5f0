"""The long run of avatars and transit: the machines of `tests/room` and `tests/nexus`, for much longer.

It takes about an hour on two cores.
"""

import pytest
from hypothesis import settings
from tests.nexus.transit_machine import TransitMachine
from tests.room.avatar_machine import CavesMachine, CrafterMachine

pytestmark = [pytest.mark.soak, pytest.mark.timeout(4 * 3600)]


class Transit(TransitMachine):
    """See there."""


class Caves(CavesMachine):
    """See there."""


class Crafter(CrafterMachine):
    """See there."""


Transit.TestCase.settings = settings(max_examples=1500, stateful_step_count=40)
Caves.TestCase.settings = settings(max_examples=3000, stateful_step_count=50)
Crafter.TestCase.settings = settings(max_examples=500, stateful_step_count=40)
test_agents_items_and_skills_are_in_one_place_whatever_happens = Transit.TestCase
test_no_order_of_commands_brings_avatars_out_of_step_with_seats_and_bodies = Caves.TestCase
test_no_order_of_commands_brings_the_avatars_of_crafter_out_of_step = Crafter.TestCase
