"""Whatever order things come in, and wherever the house is killed: nobody is in two places, nothing is made or lost."""

from hypothesis import settings
from tests.examples import examples

from .transit_machine import TransitMachine

TransitMachine.TestCase.settings = settings(max_examples=examples(12), stateful_step_count=12)
test_agents_items_and_skills_are_in_one_place_whatever_happens = TransitMachine.TestCase
