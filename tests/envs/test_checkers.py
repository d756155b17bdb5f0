"""The checkers of Gymnasium and PettingZoo accept the environments of every world."""

import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from cohabit import envs
from cohabit.registry import known_games

from .playing import CONFIG, WORLDS, aec, gym, parallel

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of PettingZoo's examples, which its tests import
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

CYCLES = {"kingdoms": 5}
EXCUSED = (
    "Observation is not a NumPy array", "Observation space for each agent probably", "Action space for each",
    "Observation numpy array is all zeros",
)  # fmt: skip
"""PettingZoo recommends arrays; worlds that are read and written as text have none. An empty board is all zeros."""


@pytest.fixture(autouse=True)
def _only_these_warnings(recwarn: pytest.WarningsRecorder) -> Iterator[None]:
    yield
    assert [w for w in recwarn if not str(w.message).startswith(EXCUSED)] == []


@pytest.fixture
def lenient() -> Iterator[None]:
    with warnings.catch_warnings():
        for message in EXCUSED:
            warnings.filterwarnings("ignore", message=message)
        yield


@pytest.mark.sampled
@pytest.mark.parametrize("name", list(known_games()))
def test_gymnasium_accepts_every_registered_world(name: str) -> None:
    check_env(gymnasium.make(f"cohabit/{name}-v0", config=CONFIG.get(name, {})).unwrapped)


@pytest.mark.sampled(start=2)
@pytest.mark.parametrize("name", WORLDS)
def test_gymnasium_accepts_every_world_from_its_source(name: str) -> None:
    check_env(gym(name), skip_render_check=True)  # how they look is checked above


@pytest.mark.sampled(start=1)
@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("name", WORLDS)
def test_pettingzoo_accepts_every_world_with_all_agents_at_once(name: str) -> None:
    parallel_api_test(parallel(name), CYCLES.get(name, 50))
    parallel_seed_test(lambda: parallel(name), 5)


@pytest.mark.sampled
@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("name", WORLDS)
def test_pettingzoo_accepts_every_world_with_one_agent_at_a_time(name: str) -> None:
    api_test(aec(name), CYCLES.get(name, 50))
    seed_test(lambda: aec(name), CYCLES.get(name, 50))


def test_importing_the_package_registers_every_listed_world_once() -> None:
    envs.register()
    assert {made for made in gymnasium.registry if made.startswith("cohabit/")} == {
        f"cohabit/{name}-v0" for name in known_games()
    }


@pytest.mark.parametrize("name", list(known_games()))
def test_every_registered_world_runs_as_a_vector(name: str) -> None:
    options = {"config": CONFIG.get(name, {})}
    many = gymnasium.make_vec(f"cohabit/{name}-v0", num_envs=2, vectorization_mode="sync", **options)
    one = gymnasium.make(f"cohabit/{name}-v0", **options)
    try:
        seen, infos = many.reset(seed=1)
        first, info = one.reset(seed=1)
        assert list(infos["seat"]) == [info["seat"]] * 2
        if isinstance(many.single_observation_space, gymnasium.spaces.Box):
            assert seen.shape == (2, *first.shape)
            assert (seen[0] == first).all()
            assert (infos["action_mask"][0] == info["action_mask"]).all()
            number = int(info["action_mask"].argmax())
            assert (many.step([number, number])[0][0] == one.step(number)[0]).all()
        else:
            assert seen["text"][0] == first["text"]
    finally:
        many.close()


@pytest.mark.parametrize("name", ["tictactoe", "crafter"])
def test_arrays_run_as_vectors_in_processes_with_shared_memory(name: str) -> None:
    many = gymnasium.make_vec(f"cohabit/{name}-v0", num_envs=2, vectorization_mode="async")
    one = gymnasium.make(f"cohabit/{name}-v0")
    try:
        first, _ = many.reset(seed=[1, 2])
        second, *_, infos = many.step([4, 0])
        assert (first[0] == one.reset(seed=1)[0]).all()
        seen, *_, info = one.step(4)
        assert (second[0] == seen).all()
        assert (infos["action_mask"][0] == info["action_mask"]).all()
        assert (first[0] != second[0]).any()
    finally:
        many.close()


def test_texts_run_as_vectors_in_processes_without_shared_memory() -> None:
    options: dict[str, Any] = {"observe": "text"}
    many = gymnasium.make_vec(
        "cohabit/tictactoe-v0",
        num_envs=2,
        vectorization_mode="async",
        vector_kwargs={"shared_memory": False},
        **options,
    )
    one = gymnasium.make("cohabit/tictactoe-v0", **options)
    try:
        first, _ = many.reset(seed=1)
        second, *_ = many.step([4, 0])
    finally:
        many.close()
    assert first["action_mask"].tolist() == [[1] * 9] * 2
    assert (first["text"][0], second["text"][0]) == (one.reset(seed=1)[0]["text"], one.step(4)[0]["text"])


def test_texts_are_never_in_shared_memory_because_they_would_be_old() -> None:
    with pytest.raises(ValueError, match="shared_memory=False"):
        gymnasium.make_vec("cohabit/tictactoe-v0", num_envs=2, vectorization_mode="async", observe="text")
