"""In worlds of rounds agents reflect on what came of their actions, not on their choices, and are paid for it."""

from pathlib import Path
from typing import Any

import pytest

from cohabit.agents.contract import adapted
from cohabit.agents.player import Player
from cohabit.agents.runner import PlayLoop
from cohabit.envs.episodes import Episodes, Setup
from cohabit.lab.game import Game, GameSpec
from cohabit.model.action import Action, ActionResult
from cohabit.model.observation import LastAction, Observation
from cohabit.registry import make_world

CRAFT = Action("craft", {"item": "furnace"})


class Crafter:
    """It tries what is impossible, and notes what it is told."""

    quick = True

    def __init__(self) -> None:
        self.results: list[ActionResult] = []
        self.seen: list[LastAction | None] = []

    def decide(self, observation: Observation) -> Action:
        self.seen.append(observation.last_action)
        return CRAFT

    def reflect(self, result: ActionResult) -> None:
        self.results.append(result)


async def test_in_the_lab_every_player_reflects_on_the_result_once_a_round_also_of_the_last_round() -> None:
    agents = [Crafter(), Crafter(), Crafter()]
    spec = GameSpec("g", "planet", ["a", "b", "c"], config={"length": 2})
    game = Game(spec, agents=[adapted(agent) for agent in agents])
    await game.play()
    for agent in agents:
        assert [(result.success, result.pending) for result in agent.results] == [(False, False)] * 2
        assert all("furnace needs 10 stone" in result.message for result in agent.results)
        assert [last and (last.name, last.success) for last in agent.seen] == [None, ("craft", False)]


@pytest.mark.parametrize("counts", [True, False])
async def test_in_the_lab_players_get_the_rewards_of_their_actions_in_whatever_order_they_chose(
    counts: bool, tmp_path: Path
) -> None:
    text = (Path(__file__).parents[1] / "worlds_samples" / "harvest.py").read_text()
    if not counts:  # the world keeps no totals, and says what an action earned
        text = text.replace("def returns(", "def paid(").replace("success=self.enough)", "reward=2.0)")
    file = tmp_path / "harvest.py"
    file.write_text(text)
    spec = GameSpec("g", str(file), ["a", "b", "c"], config={"rounds": 3})

    class Taker(Crafter):
        def decide(self, observation: Observation) -> Action:
            return Action("take", {"baskets": 2})

    agents = [Taker(), Taker(), Taker()]
    result = await Game(spec, agents=[adapted(agent) for agent in agents]).play()
    assert result.rewards == [6.0, 6.0, 6.0]
    assert [[each.reward for each in agent.results] for agent in agents] == [[2.0] * 3] * 3


@pytest.mark.parametrize("players", [[None], [None, None], [None, "random"]])
def test_an_environment_says_what_came_of_the_action(players: list[str | None]) -> None:
    episodes = Episodes(Setup("planet", players), make_world("planet", {}))
    episodes.reset(1)
    episodes.step(dict.fromkeys(episodes.learners, CRAFT))
    for learner in episodes.learners.values():
        info = learner.result()
        assert (info["last_action"]["name"], info["last_action"]["success"]) == ("craft", False)
        assert "furnace needs 10 stone" in info["message"]
    episodes.close()


async def test_a_player_of_a_room_reflects_when_the_round_has_ended() -> None:
    agent = Crafter()
    calls = OneRound()
    await PlayLoop(calls, Player(adapted(agent))).play(games=1)
    assert [(result.success, result.message, result.done) for result in agent.results] == [
        (False, "No wood.", False),
        (True, "You have a furnace.", True),
    ]


class OneRound:
    """A room in which a round ends between two turns."""

    def __init__(self) -> None:
        self.turns = 0

    async def call(self, command: str, args: Any = None) -> Any:
        match command:
            case "rules":
                return {"description": "", "action_space": {"actions": []}}
            case "session_info":
                return {"world": "w", "over": self.turns > 2}
            case "whoami":
                return {"takes_turns": True}
            case "recv_messages":
                return {"items": [], "next_cursor": 0}
            case "act":
                return {"success": True, "message": "You chose craft.", "pending": True}
        self.turns += 1
        last = {2: (False, "No wood."), 3: (True, "You have a furnace.")}.get(self.turns)
        shown = {"last_action": {"name": "craft", "success": last[0], "message": last[1]}} if last else {}
        return {"text": "", "observation": shown, "your_turn": self.turns < 3, "over": self.turns > 2}

    async def changed(self, wait_ms: int) -> None:
        raise AssertionError("nothing is waited for")
