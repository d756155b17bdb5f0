"""The original game, `crafter` 1.8.3, made reproducible, and a comparison of every part of its state with ours.

Its chunks hold creatures in sets, which iterate in the order of memory addresses. A dict in their place keeps the order
of entering, and is the only change. Its noise is that of `original_noise`.
"""

import collections
import random

import crafter
import numpy as np
from crafter import engine, objects

from cohabit.worlds.crafter.draws import StockDraws
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.rules import (
    ACTIONS,
    ARROW,
    COW,
    DIRECTIONS,
    ITEMS,
    LAVA,
    NOOP,
    PLANT,
    SKELETON,
    VITALS,
    ZOMBIE,
)

from .original_noise import use_lists

use_lists()

KINDS = {
    objects.Cow: COW,
    objects.Zombie: ZOMBIE,
    objects.Skeleton: SKELETON,
    objects.Arrow: ARROW,
    objects.Plant: PLANT,
}
TIMERS = {COW: None, ZOMBIE: "cooldown", SKELETON: "reload", ARROW: None, PLANT: "grown"}


class _InOrder(dict):
    def add(self, item):
        self[item] = None

    def remove(self, item):
        del self[item]


class _World(engine.World):
    def reset(self, seed=None):
        super().reset(seed)
        self._chunks = collections.defaultdict(_InOrder)


class Original(crafter.Env):
    """The original with ordered chunks."""

    def __init__(self, seed, **options):
        ordered, engine.World = engine.World, _World
        try:
            super().__init__(seed=seed, **options)
        finally:
            engine.World = ordered


def theirs(env):
    """The whole state of the original, as plain values."""
    world, player = env._world, env._player
    return {
        "map": world._mat_map.tobytes(),
        "things": [_thing(thing) for thing in world.objects if thing is not player],
        "inventory": {name: int(amount) for name, amount in player.inventory.items()},
        "achievements": list(player.achievements.values()),
        "position": tuple(map(int, player.pos)),
        "facing": tuple(map(int, player.facing)),
        "sleeping": bool(player.sleeping),
        "counters": (player._hunger, player._thirst, player._fatigue, player._recover),
        "chunks": [(_start(chunk), len(things)) for chunk, things in world._chunks.items()],
    }


def _thing(thing):
    kind = KINDS[type(thing)]
    timer = int(getattr(thing, TIMERS[kind])) if TIMERS[kind] else 0
    flight = tuple(map(int, thing.facing)) if kind == ARROW else (0, 0)
    return kind, int(thing.pos[0]), int(thing.pos[1]), int(thing.health), timer, flight


def _start(chunk):
    return int(chunk[0]), int(chunk[2])


def ours(game):
    """The same of our game."""
    land, player = game.land, game.players[0]
    things = collections.Counter(land.chunk_at[thing.cell] for thing in [*land.things, player])
    return {
        "map": land.materials().tobytes(),
        "things": [(t.kind, t.x, t.y, t.health, t.timer, (t.dx, t.dy)) for t in land.things],
        "inventory": {name: getattr(player, name) for name in VITALS} | dict(zip(ITEMS, player.items, strict=True)),
        "achievements": player.achievements,
        "position": (player.x, player.y),
        "facing": (player.dx, player.dy),
        "sleeping": player.sleeping,
        "counters": (player.hunger, player.thirst, player.fatigue, player.recovery),
        "chunks": [((chunk.x, chunk.y), things[chunk.number]) for chunk in land.chunks.values()],
    }


class Policy:
    """Random actions that mix wandering, hitting, building and sleeping in proportions of their own."""

    def __init__(self, seed):
        self.random = random.Random(f"policy {seed}")
        self.weights = [self.random.random() ** 2 for _ in ACTIONS]
        self.way = 1

    def __call__(self):
        luck = self.random.random()
        if luck < 0.1:
            self.way = self.random.choice((1, 2, 3, 4))
        if luck < 0.5:
            return self.way
        if luck < 0.75:
            return 5
        return self.random.choices(range(len(ACTIONS)), self.weights)[0]


def play_both(seed, steps, immortal=False, each=lambda env, game, step: None):
    """Play both games with the same actions, and compare them after every step. Returns the number of steps.

    ``immortal``: now and then the same vitals and items are set in both, and nobody walks into lava, so that games last
    and late rules are used.
    """
    env, game, policy = Original(seed), Game.new(StockDraws(seed)), Policy(seed)
    env.reset()
    assert theirs(env) == ours(game)
    for step in range(1, steps + 1):
        action = policy()
        if immortal:
            if step % 5 == 0:
                _give_both(env._player, game.players[0], policy.random)
            if _is_lava(game, action):
                action = NOOP
        _, reward, done, _ = env.step(action)
        game.step({0: action})
        expected, found = theirs(env), ours(game)
        assert found == expected, (seed, step, [key for key in found if found[key] != expected[key]])
        assert game.players[0].reward == reward, (seed, step)
        assert np.isclose(game.daylight, env._world.daylight, rtol=0, atol=1e-12)
        each(env, game, step)
        if done:
            return step
    return steps


def _is_lava(game, action):
    player = game.players[0]
    dx, dy = DIRECTIONS.get(action, (0, 0))
    return game.land.material[game.land.cell(player.x + dx, player.y + dy)] == LAVA


def _give_both(theirs, ours, luck):
    for name in VITALS:
        amount = luck.randint(5, 9) if name == "energy" else 9
        theirs.inventory[name] = amount
        setattr(ours, name, amount)
    for _ in range(3):
        number = luck.randrange(len(ITEMS))
        amount = luck.randint(0, 9)
        theirs.inventory[ITEMS[number]] = amount
        ours.items[number] = amount
