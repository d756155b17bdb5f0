"""Learn Nim from its rewards alone, with Gymnasium; then let the learned policy play both seats, with PettingZoo.

    pip install 'cohabit[envs]'
    python examples/train.py

Nothing here knows the rules: it sees an array, picks one of the numbers that the mask allows, and adds up rewards. Try
another world by its name, or your own by its file; `docs/envs.md` says what differs.
"""

import random

import gymnasium

import cohabit.envs  # registers the worlds

GAMES, TESTS, EXPLORE, STEP = 1_500, 100, 0.2, 0.2
Values = dict[tuple[bytes, int], float]
"""What an action earned on average, by what was seen and the number of the action."""


def best(values: Values, seen, mask) -> int:
    return max(mask.nonzero()[0], key=lambda number: values.get((seen.tobytes(), number), 0.0))


def play(env, seed: int, choose) -> tuple[list[tuple[bytes, int]], float]:
    """One episode: what was decided in it, and the total reward."""
    seen, info = env.reset(seed=seed)
    decided, total, done = [], 0.0, False
    while not done:
        number = choose(seen, info["action_mask"])
        decided.append((seen.tobytes(), number))
        seen, reward, over, cut, info = env.step(number)
        total, done = total + reward, over or cut
    return decided, total


def learn(env) -> Values:
    values: Values = {}
    dice = random.Random(1)

    def explore(seen, mask) -> int:
        return dice.choice(mask.nonzero()[0]) if dice.random() < EXPLORE else best(values, seen, mask)

    for game in range(GAMES):
        decided, total = play(env, game, explore)
        for at in decided:
            values[at] = values.get(at, 0.0) + STEP * (total - values.get(at, 0.0))
    return values


def against_itself(values: Values) -> str:
    """Both seats by the same policy: the agent that is to move is asked, one after another."""
    env = cohabit.envs.aec("nim")
    env.reset(seed=1)
    winner = ""
    for agent in env.agent_iter():
        seen, reward, over, cut, info = env.last()
        winner = agent if reward > 0 else winner
        env.step(None if over or cut else best(values, seen, info["action_mask"]))
    return winner


def main() -> None:
    with gymnasium.make("cohabit/nim-v0", opponents="random") as env:
        values = learn(env)
        won = sum(play(env, GAMES + n, lambda *seen: best(values, *seen))[1] > 0 for n in range(TESTS))
    print(f"learned {len(values)} values in {GAMES} games; against itself {against_itself(values)} wins")
    print(f"ok: {won} of {TESTS} games won against random")


if __name__ == "__main__":
    main()
