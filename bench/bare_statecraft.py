"""Rounds of Statecraft by the engine alone: no room, no record, no checks of who may act.

The lab is measured against it, and plays the same rounds.
"""

from typing import Any

from cohabit.agents.brains.statecraft import NATIONS
from cohabit.agents.brains.statecraft_class import Player
from cohabit.lab.statecraft.config import Experiment
from cohabit.lab.statecraft.play import assign_players, land_seed, lost_answers, record_turn
from cohabit.lab.statecraft.players import brain_of
from cohabit.lab.statecraft.rounds import Place, Round, TurnRecord
from cohabit.registry import make_agent
from cohabit.worlds.statecraft.agent_input import build_agent_input
from cohabit.worlds.statecraft.maps import make_map
from cohabit.worlds.statecraft.ratings import published_ratings, update_ratings
from cohabit.worlds.statecraft.setup import initial_state
from cohabit.worlds.statecraft.state import Flows, GameState, TurnResult
from cohabit.worlds.statecraft.turn import run_turn
from cohabit.worlds.statecraft.world import NATION_NAMES


def play_bare(experiment: Experiment, place: Place) -> Round:
    """A round of players that answer in time."""
    rules, names, lost = experiment.rules, assign_players(experiment, place), lost_answers(experiment, place)
    players = {nation: make_player(name, experiment.folder) for nation, name in names.items()}
    state = first_state(experiment, place)
    last: TurnResult | None = None
    keeps_word: Flows = {name: {} for name in state.nations}
    aggressor: Flows = {name: {} for name in state.nations}
    turns: list[TurnRecord] = []
    for turn in range(experiment.turns):
        means = published_ratings(keeps_word, aggressor) if experiment.publish_ratings else None
        answers = {
            nation: answer_of(player, build_agent_input(
                state, nation, rules, turns_left=experiment.turns - turn, last=last,
                observability=experiment.observability, open_messages=experiment.open_messages, ratings=means,
            ))
            for nation, player in players.items()
        }  # fmt: skip
        arrived = {nation: answer for i, (nation, answer) in enumerate(answers.items()) if not lost[i][turn]}
        last = run_turn(state, arrived, rules)
        state = last.end
        keeps_word = update_ratings(keeps_word, last.ledgers.d_keeps_word_report)
        aggressor = update_ratings(aggressor, last.ledgers.d_aggressor_report)
        turns.append(record_turn(last, experiment.open_messages))
    factor = (rules.trade_numerator, rules.trade_denominator)
    return Round(place=place, players=names, trade_factor=factor, turns=turns)


def first_state(experiment: Experiment, place: Place) -> GameState:
    """The state before the first turn, with a new map and assignment for every seed and round."""
    nations = NATION_NAMES[: len(experiment.lineups[place.lineup])]
    seed = land_seed(place)
    graph = make_map(experiment.map, seed, experiment.size, experiment.shape)
    return initial_state(graph, nations, experiment.mils, seed)


def make_player(name: str, folder: str) -> Player:
    """A player in this process, also one from a file."""
    player: Player = NATIONS[name]() if name in NATIONS else make_agent(brain_of(name, folder), "").player
    return player


def answer_of(player: Player, agent_input: dict[str, Any]) -> Any:
    """Nothing from a player that fails; the engine counts that as an answer that it cannot read."""
    try:
        return player.act(agent_input)
    except Exception:
        return None
