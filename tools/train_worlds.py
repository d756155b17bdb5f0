"""Train a policy in each world with MaskablePPO of sb3-contrib, and print what it earned before and after.

    pip install 'cohabit[train]'
    python tools/train_worlds.py             # every world, a minute or two each
    python tools/train_worlds.py nim whist   # some of them

Prints rows as in ``docs/envs.md``. Games are played against random players, where a world needs others. The games of
the test are none of the training. Numbers are the means of total rewards, with their standard errors.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.wrappers import RescaleObservation
from msgspec import Struct
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import cohabit.envs  # noqa: F401 - registers the worlds
from cohabit.registry import find_world

ENVS, STEPS_EACH = 8, 128
"""How many games are played at once, and how many steps of each make an update."""
FIRST_TEST_SEED = 1_000_000
Choose = Callable[[Any, Any], int]
"""An action for an observation and a mask."""


class Course(Struct, frozen=True):
    """The training in one world: how its environment is made, for how many steps, and how many games test it."""

    world: str
    options: dict[str, Any]
    steps: int
    games: int
    discount: float = 0.99


COURSES = (
    Course("nim", {}, 24_000, 200),
    Course("tictactoe", {}, 32_000, 200),
    Course("lanterns", {"step_ticks": 4}, 10_000, 20),
    Course("whist", {}, 24_000, 40),
    Course("statecraft", {"seats": 4}, 10_000, 20),
    Course("crafter", {"config": {"length": 1000}}, 40_000, 40),
    Course("crafter_shared", {"seats": 2, "config": {"length": 1000}}, 24_000, 30),
    Course("planet", {"config": {"length": 200}}, 10_000, 15),
)


class Result(Struct, frozen=True):
    """Total rewards of games: their mean, and its standard error."""

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.error:.2f}" if abs(self.mean) < 100 else f"{self.mean:.0f} ± {self.error:.0f}"


class Trained(Struct, frozen=True):
    """The result of a training course."""

    course: Course
    seconds: float
    random: Result
    before: Result
    after: Result

    def row(self) -> str:
        title = find_world(self.course.world).spec.title
        results = f"{self.random} | {self.before} | **{self.after}**"
        return f"| {title} | {self.course.steps:,} | {self.seconds:.0f} s | {results} |"


HEADER = "| world | steps | CPU time | random | before | after |\n|---|--:|--:|--:|--:|--:|"


def make(course: Course) -> gymnasium.Env[Any, Any]:
    """Small networks learn better from numbers from 0 to 1; most worlds give such numbers anyway."""
    return RescaleObservation(_as_floats(gymnasium.make(f"cohabit/{course.world}-v0", **course.options)), 0, 1)


def _as_floats(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    box = env.observation_space
    assert isinstance(box, gymnasium.spaces.Box)
    floats = gymnasium.spaces.Box(np.float32(box.low), np.float32(box.high), dtype=np.float32)
    return gymnasium.wrappers.TransformObservation(env, np.float32, floats)


def play(course: Course, choose: Choose) -> Result:
    """The games of the test."""
    totals = []
    with make(course) as env:
        for game in range(course.games):
            seen, info = env.reset(seed=FIRST_TEST_SEED + game)
            total, done = 0.0, False
            while not done:
                seen, reward, over, cut, info = env.step(choose(seen, info["action_mask"]))
                total, done = total + float(reward), over or cut
            totals.append(total)
    return Result(float(np.mean(totals)), float(np.std(totals) / np.sqrt(course.games)))


def train(course: Course) -> Trained:
    torch.manual_seed(1)
    dice = np.random.default_rng(1)
    many = VecNormalize(DummyVecEnv([lambda: make(course)] * ENVS), norm_obs=False, gamma=course.discount)
    many.seed(1)
    model = MaskablePPO(
        "MlpPolicy", many, n_steps=STEPS_EACH, batch_size=256, n_epochs=6, learning_rate=1e-3, ent_coef=0.01,
        gamma=course.discount, seed=1, device="cpu",
    )  # fmt: skip

    def by_model(seen: Any, mask: Any) -> int:
        return int(model.predict(seen, action_masks=mask, deterministic=False)[0])

    random = play(course, lambda _, mask: int(dice.choice(np.flatnonzero(mask))))
    before = play(course, by_model)
    began = time.process_time()
    model.learn(course.steps)
    seconds = time.process_time() - began
    many.close()
    return Trained(course, seconds, random, before, play(course, by_model))


def main() -> None:
    torch.set_num_threads(1)
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("worlds", nargs="*", choices=[course.world for course in COURSES], metavar="WORLD")
    chosen = arguments.parse_args().worlds
    print(HEADER)
    for course in COURSES:
        if not chosen or course.world in chosen:
            print(train(course).row(), flush=True)


if __name__ == "__main__":
    main()
