"""Plays one round of an experiment. The same place gives the same round on any machine."""

from collections.abc import Sequence
from typing import Any

from cohabit.agents.brains.statecraft import NATIONS
from cohabit.lab.statecraft.config import Experiment
from cohabit.lab.statecraft.players import Player, TimeLimitedPlayer, make_player
from cohabit.lab.statecraft.pledges import read_pledges
from cohabit.lab.statecraft.rounds import Attack, Column, Grant, Place, Rating, Round, TurnRecord
from cohabit.model.stream import Stream
from cohabit.worlds.statecraft.agent_input import build_agent_input
from cohabit.worlds.statecraft.maps import make_map
from cohabit.worlds.statecraft.ratings import published_ratings, update_ratings
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.setup import initial_state
from cohabit.worlds.statecraft.state import Flows, GameState, Ledgers, TurnResult
from cohabit.worlds.statecraft.turn import run_turn
from cohabit.worlds.statecraft.world import NATION_NAMES


def play_round(experiment: Experiment, place: Place) -> Round:
    """Play a round from the assignment of territories to the last turn."""
    rules, names = experiment.rules, assign_players(experiment, place)
    players = {nation: _player(experiment, name) for nation, name in names.items()}
    game = Game(experiment, rules, first_state(experiment, place))
    turns: list[TurnRecord] = []
    losses = _stream(place, "lost answers")
    for _ in range(experiment.turns):
        answers = {nation: _answer(player, game.agent_input(nation)) for nation, player in players.items()}
        arrived = {nation: answer for nation, answer in answers.items() if not losses.chance(experiment.noise, 100)}
        turns.append(record_turn(game.play_turn(arrived), experiment.open_messages))
    trade_factor = (rules.trade_numerator, rules.trade_denominator)
    return Round(place=place, players=names, trade_factor=trade_factor, turns=turns)


class Game:
    """A round in progress."""

    def __init__(self, experiment: Experiment, rules: Rules, state: GameState) -> None:
        self.experiment, self.rules, self.state = experiment, rules, state
        self.last: TurnResult | None = None
        self.keeps_word: Flows = {name: {} for name in state.nations}
        self.aggressor: Flows = {name: {} for name in state.nations}

    def agent_input(self, nation: str) -> dict[str, Any]:
        """The input of a nation, as the world would build it."""
        publish = self.experiment.publish_ratings
        return build_agent_input(
            self.state,
            nation,
            self.rules,
            turns_left=self.experiment.turns - self.state.turn,
            last=self.last,
            observability=self.experiment.observability,
            open_messages=self.experiment.open_messages,
            ratings=published_ratings(self.keeps_word, self.aggressor) if publish else None,
        )

    def play_turn(self, answers: dict[str, Any]) -> TurnResult:
        self.last = run_turn(self.state, answers, self.rules)
        self.state = self.last.end
        self.keeps_word = update_ratings(self.keeps_word, self.last.ledgers.d_keeps_word_report)
        self.aggressor = update_ratings(self.aggressor, self.last.ledgers.d_aggressor_report)
        return self.last


def assign_players(experiment: Experiment, place: Place) -> dict[str, str]:
    """The player of each nation. All line-ups of a seed and round use the same draw, so that they can be compared."""
    names = list(experiment.lineups[place.lineup])
    if experiment.shuffle:
        _stream(place, "who plays which nation").shuffle(names)
    return dict(zip(NATION_NAMES, names, strict=False))


def first_state(experiment: Experiment, place: Place) -> GameState:
    """The state before the first turn, with a new map and assignment for every seed and round."""
    nations = NATION_NAMES[: len(experiment.lineups[place.lineup])]
    seed = _stream(place, "the land").bits64()
    graph = make_map(experiment.map, seed, experiment.size, experiment.shape)
    return initial_state(graph, nations, experiment.mils, seed)


def _stream(place: Place, purpose: str) -> Stream:
    return Stream(place.seed, f"statecraft experiment/{place.number}/{purpose}")


def _player(experiment: Experiment, name: str) -> Player:
    """A player for one round. Only scripted nations are trusted to answer in time."""
    player = make_player(name, experiment.folder)
    return player if name in NATIONS else TimeLimitedPlayer(player, experiment.act_ms / 1000)


def _answer(player: Player, agent_input: dict[str, Any]) -> Any:
    """The answer of a player. A player that fails orders nothing, and the round continues."""
    try:
        return player.act(agent_input)
    except Exception:
        return None  # the intake logs it as an invalid answer, which is counted in `dropped`


# -- recording a turn -------------------------------------------------------------------------------
def record_turn(turn: TurnResult, open_messages: bool = False) -> TurnRecord:
    """The ledgers of a turn, reduced to what the measures need."""
    nations, ledgers = turn.end.nations, turn.ledgers
    gross = _column(ledgers.d_gross_income, nations)
    after_damage = _column(ledgers.d_available_money, nations)
    after_purchases = _column(ledgers.d_money_after_purchases, nations)
    return TurnRecord(
        gross_income=gross,
        income_destroyed=[before - after for before, after in zip(gross, after_damage, strict=True)],
        military_spending=[before - after for before, after in zip(after_damage, after_purchases, strict=True)],
        grants_paid=_sums(ledgers.d_grants_paid, nations),
        grants_received=_sums(ledgers.d_grants_received, nations),
        welfare=_column(ledgers.d_total_welfare_this_turn, nations),
        mils_lost=_column(ledgers.d_mils_lost_by_attacker, nations),
        mils=_column(turn.end.mils, nations),
        territories=[len(turn.end.territories.get(nation, ())) for nation in nations],
        dropped=[sum(entry.nation == nation for entry in turn.dropped) for nation in nations],
        attacks=[Attack(*entry) for entry in _entries(ledgers.d_attacks_clamped)],
        grants=[Grant(*entry) for entry in _entries(ledgers.d_grants_paid)],
        pledges=read_pledges(ledgers.d_messages_sent, nations, open_messages),
        ratings=_ratings(ledgers, nations),
    )


def _column(ledger: dict[str, int], nations: Sequence[str]) -> Column:
    return [ledger.get(nation, 0) for nation in nations]


def _sums(ledger: Flows, nations: Sequence[str]) -> Column:
    return [sum(ledger.get(nation, {}).values()) for nation in nations]


def _entries(ledger: Flows) -> list[tuple[str, str, int]]:
    return [(one, other, n) for one in sorted(ledger) for other, n in sorted(ledger[one].items()) if n]


def _ratings(ledgers: Ledgers, nations: Sequence[str]) -> list[Rating]:
    keeps_word, aggressor = ledgers.d_keeps_word_report, ledgers.d_aggressor_report
    found = [
        Rating(rater, rated, keeps_word.get(rater, {}).get(rated, 0), aggressor.get(rater, {}).get(rated, 0))
        for rater in nations
        for rated in nations
    ]
    return [rating for rating in found if rating.keeps_word or rating.aggressor]
