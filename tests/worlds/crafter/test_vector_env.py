"""The vector environment behaves as Gymnasium's own one over single games of the scalar engine."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from cohabit.errors import BadArgs
from cohabit.worlds.crafter import batch
from cohabit.worlds.crafter.batch import vector_env
from cohabit.worlds.crafter.batch.engine import next_seed
from cohabit.worlds.crafter.draws import KeyedDraws
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.land import BORDER
from cohabit.worlds.crafter.rules import ACTIONS, NOOP, VIEW_HEIGHT, VIEW_WIDTH

SIZE = (32, 32)


class Single(gymnasium.Env[Any, Any]):
    """One scalar game with the observations of the vector environment."""

    def __init__(self, length: int) -> None:
        env = vector_env(1)
        self.observation_space, self.action_space = env.single_observation_space, env.single_action_space
        self.length, self.game_seed = length, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.game_seed = next_seed(self.game_seed) if seed is None else seed
        self.game = Game.new(KeyedDraws(self.game_seed), size=SIZE)
        return self._observe(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.game.step({0: int(action)})
        player = self.game.players[0]
        truncated = player.alive and self.game.step_number >= self.length
        return self._observe(), player.reward, not player.alive, truncated, {}

    def _observe(self) -> dict[str, Any]:
        game, player = self.game, self.game.players[0]
        left, up = player.x + BORDER - VIEW_WIDTH // 2, player.y + BORDER - VIEW_HEIGHT // 2
        kinds = [m if t is None else t.kind for m, t in zip(game.land.material, game.land.at, strict=True)]
        grid = np.array(kinds, np.uint8).reshape(-1, game.land.stride)
        return {
            "view": grid[left : left + VIEW_WIDTH, up : up + VIEW_HEIGHT].T,
            "vitals": np.array([player.health, player.food, player.drink, player.energy], np.uint8),
            "inventory": np.array(player.items, np.uint8),
            "daylight": np.array(game.daylight, np.float32),
            "facing": np.array([player.dx, player.dy], np.int8),
            "sleeping": np.array(player.sleeping, np.uint8),
            "achievements": np.array([times > 0 for times in player.achievements], np.int8),
        }


def same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    return one.keys() == two.keys() and all(
        one[name].dtype == two[name].dtype and (one[name] == two[name]).all() for name in one
    )


@pytest.mark.sampled
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_it_does_what_gymnasiums_own_vector_environment_does(mode: AutoresetMode) -> None:
    count, length = 4, 30
    ours = vector_env(count, size=SIZE, length=length, autoreset_mode=mode)
    theirs = SyncVectorEnv([lambda: Single(length)] * count, autoreset_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    chance = np.random.default_rng(3)
    assert same(ours.reset(seed=50)[0], theirs.reset(seed=50)[0])
    ends = 0
    for step in range(100):
        if step == 40:  # the games do not end all at once
            mask = np.array([True, False, True, False])
            seeds = [7, 8, 9, 10]
            seen = [env.reset(seed=seeds, options={"reset_mask": mask.copy()})[0] for env in (ours, theirs)]
            assert same(*seen)
        actions = chance.integers(0, len(ACTIONS), count)
        mine, reference = ours.step(actions), theirs.step(actions)
        assert same(mine[0], reference[0])
        assert mine[0] in ours.observation_space
        for number in (1, 2, 3):  # rewards, terminations, truncations
            assert mine[number].tolist() == reference[number].tolist()
            assert mine[number].dtype == reference[number].dtype
        over = mine[2] | mine[3]
        ends += over.sum()
        if mode is AutoresetMode.SAME_STEP and over.any():
            assert mine[4]["_final_obs"].tolist() == reference[4]["_final_obs"].tolist() == over.tolist()
            for game in np.flatnonzero(over):
                assert same(mine[4]["final_obs"][game], reference[4]["final_obs"][game])
        if mode is AutoresetMode.DISABLED and over.any():
            seen = [env.reset(options={"reset_mask": over.copy()})[0] for env in (ours, theirs)]
            assert same(*seen)
    assert ends >= 2 * count


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_symbols_are_those_of_the_games(mode: AutoresetMode) -> None:
    env = vector_env(3, size=SIZE, length=4, observe="symbols", autoreset_mode=mode)
    seen, _ = env.reset(seed=1)
    for _ in range(9):
        assert seen in env.observation_space
        assert (seen == env.batch.symbols()).all()
        before = seen
        seen, _, _, truncated, infos = env.step([NOOP] * 3)
        if mode is AutoresetMode.SAME_STEP and truncated.any():
            assert infos["final_obs"][0].shape == before[0].shape
            assert not (infos["final_obs"][0] == seen[0]).all()


def test_gymnasiums_wrappers_count_the_episodes() -> None:
    env = RecordEpisodeStatistics(vector_env(3, size=SIZE, length=10))
    env.reset(seed=1)
    for step in range(1, 12):
        _, _, _, truncated, infos = env.step([NOOP] * 3)
        assert truncated.all() == (step == 10)
        if step == 10:
            assert infos["episode"]["l"].tolist() == [10] * 3


def test_gymnasiums_wrappers_list_what_each_game_unlocked() -> None:
    """On its own: in Gymnasium 1.2 this wrapper fails on what `RecordEpisodeStatistics` adds, in any environment."""
    env = DictInfoToList(vector_env(3, size=SIZE, length=2, autoreset_mode=AutoresetMode.SAME_STEP))
    env.reset(seed=1)
    _, _, _, _, infos = env.step([NOOP] * 3)
    assert [sorted(info) for info in infos] == [["unlocked"]] * 3
    _, _, _, truncated, infos = env.step([NOOP] * 3)
    assert truncated.all()
    assert [sorted(info) for info in infos] == [["final_obs", "unlocked"]] * 3


def test_seeds_decide_everything_and_later_games_follow_from_them() -> None:
    def play(seed: Any) -> list[Any]:
        env = vector_env(2, size=SIZE, length=5)
        found = [env.reset(seed=seed)[0]["view"].tolist()]
        found += [env.step([NOOP, NOOP])[0]["view"].tolist() for _ in range(8)]
        return [*found, env.reset()[0]["view"].tolist()]

    assert play(4) == play([4, 5])
    assert play(4) != play(5)
    env = vector_env(2, size=SIZE)
    env.reset(seed=[3, None])
    assert env.batch.seeds[0] == 3
    env.reset(seed=[None, 9])
    assert env.batch.seeds == [next_seed(3), 9]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda env: env.step([0, 0]), "before its first step"),
        (lambda env: env.reset(seed=[1]), "2 seeds, not 1"),
        (lambda env: vector_env(2, observe="pixels"), "'parts' or 'symbols'"),
        (lambda env: env.reset(options={"reset_mask": np.array([True, True])}), "reset all games"),
        (lambda env: [env.reset(seed=1), env.reset(options={"reset_mask": np.array([False, False])})], "at least one"),
        (lambda env: [env.reset(seed=1), env.reset(options={"reset_mask": np.array([1, 0])})], "truth values"),
    ],
)
def test_what_cannot_be_done_is_refused(wrong: Any, says: str) -> None:
    with pytest.raises(BadArgs, match=says):
        wrong(vector_env(2, size=SIZE))


def test_games_that_are_over_must_be_reset_where_that_does_not_happen_by_itself() -> None:
    env = vector_env(2, size=SIZE, length=1, autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=1)
    env.step([NOOP, NOOP])
    with pytest.raises(BadArgs, match="reset them"):
        env.step([NOOP, NOOP])


def test_without_gymnasium_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "find_spec", lambda name: None)
    with pytest.raises(BadArgs, match=r"cohabit\[envs\]"):
        vector_env(2)
