import pytest

from cohabit.agents.contract import Agent
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation
from cohabit.testing.brains import Always, Script


def test_a_script_does_its_actions_in_order_and_then_says_that_it_ended():
    brain: Agent = Script(["halt", Action("take", {"n": 2})])
    brain.initialize("Nim", ActionSpace())
    assert brain.decide(Observation()) == Action("halt")
    assert brain.decide(Observation()) == Action("take", {"n": 2})
    with pytest.raises(ValueError, match="ended after 2 actions"):
        brain.decide(Observation())


def test_always_does_the_same_every_time():
    brain: Agent = Always("halt")
    assert [brain.decide(Observation(step=i)).name for i in range(3)] == ["halt"] * 3


def test_a_brain_for_tests_keeps_its_observations_and_results():
    brain = Always("halt")
    brain.decide(Observation(step=4))
    brain.reflect(ActionResult(True, "fine"))
    assert [seen.step for seen in brain.seen] == [4]
    assert [result.message for result in brain.results] == ["fine"]
    assert brain.plan([Goal("a", "win")]) == ["win"]
