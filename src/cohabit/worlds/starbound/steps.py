"""One step of time: everybody acts, then nature."""

from collections.abc import Mapping

from cohabit.worlds.starbound import acting, creatures, environment, quests
from cohabit.worlds.starbound.choices import Choice
from cohabit.worlds.starbound.game import Game


def step(game: Game, choices: Mapping[str, Choice]) -> tuple[dict[str, float], dict[str, str]]:
    """Take a step. Returns the rewards by seat; and for each seat that acted why that failed, or nothing if it did
    not."""
    game.step_number += 1
    living = game.here()
    first = game.step_number % len(living) if living else 0
    for body in living:
        body.events = []
    acted = {}
    for body in living[first:] + living[:first]:  # everybody comes first at times
        choice = choices.get(body.seat)
        if choice is not None and body.here and body.presence == "awake":
            acted[body.seat] = acting.act(game, body, choice.name, choice.args)
    for body in living:
        if body.here:
            environment.live(game, body)
    creatures.step(game)
    for land in game.lands.values():
        environment.grow(game, land)
    rewards = {}
    for body in living:
        game.explore(body)
        if reward := quests.settle(body):
            rewards[body.seat] = reward
    return rewards, acted
