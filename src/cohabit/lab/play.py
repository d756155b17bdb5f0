"""Plays one round from its place in an experiment: the same place gives the same round, on any machine."""

from collections.abc import Sequence
from typing import Any

from cohabit.lab.config import Experiment
from cohabit.lab.patience import Patience
from cohabit.lab.players import Player, make_player
from cohabit.lab.promises import read_pledges
from cohabit.lab.record import Attack, Column, Place, Played, Rating, Round
from cohabit.model.stream import Stream
from cohabit.worlds.statecraft import ratings
from cohabit.worlds.statecraft.agent_input import assemble
from cohabit.worlds.statecraft.dealing import deal
from cohabit.worlds.statecraft.graph import checked, generated
from cohabit.worlds.statecraft.ledgers import Flows, Ledgers, Standing, Turn
from cohabit.worlds.statecraft.nations import NATIONS
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.turn import run_turn
from cohabit.worlds.statecraft.world import NAMES
from cohabit.worlds.statecraft.worldmap import WORLD


def play_round(experiment: Experiment, place: Place) -> Round:
    """From dealing the land to the last turn."""
    rules, plays = experiment.rules, cast(experiment, place)
    players = {nation: seated(experiment, kind) for nation, kind in plays.items()}
    table = Table(experiment, rules, beginning(experiment, place))
    turns: list[Played] = []
    for _ in range(experiment.turns):
        last = table.turn({nation: answer(player, table.seen(nation)) for nation, player in players.items()})
        turns.append(played(last, experiment.open_messages))
    return Round(place=place, plays=plays, factor=(rules.trade_numerator, rules.trade_denominator), turns=turns)


class Table:
    """A round while it goes on: what the world would keep."""

    def __init__(self, experiment: Experiment, rules: Rules, standing: Standing) -> None:
        self.experiment, self.rules, self.standing = experiment, rules, standing
        self.last: Turn | None = None
        self.trust: Flows = {name: {} for name in standing.nations}
        self.aggression: Flows = {name: {} for name in standing.nations}

    def seen(self, nation: str) -> dict[str, Any]:
        """Its input, as the world would give it."""
        return assemble(
            self.standing,
            nation,
            self.rules,
            turns_left=self.experiment.turns - self.standing.turn,
            last=self.last,
            observability=self.experiment.observability,
            open_messages=self.experiment.open_messages,
            ratings=ratings.published(self.trust, self.aggression) if self.experiment.publish_ratings else None,
        )

    def turn(self, answers: dict[str, Any]) -> Turn:
        self.last = run_turn(self.standing, answers, self.rules)
        self.standing = self.last.end
        self.trust = ratings.entered(self.trust, self.last.ledgers.d_keeps_word_report)
        self.aggression = ratings.entered(self.aggression, self.last.ledgers.d_aggressor_report)
        return self.last


def cast(experiment: Experiment, place: Place) -> dict[str, str]:
    """What plays which nation. All line-ups of the same seed and round draw alike, so that they can be compared."""
    kinds = list(experiment.lineups[place.lineup])
    if experiment.shuffle:
        _stream(place, "who plays which nation").shuffle(kinds)
    return dict(zip(NAMES, kinds, strict=False))


def beginning(experiment: Experiment, place: Place) -> Standing:
    """The land dealt anew for every seed and round."""
    nations = list(NAMES[: len(experiment.lineups[place.lineup])])
    seed = _stream(place, "the land").bits64()
    graph = land(experiment, seed)
    territories, capitals = deal(graph, nations, seed)
    return Standing(
        turn=0,
        mils=dict.fromkeys(nations, experiment.mils),
        territories=territories,
        welfare=dict.fromkeys(nations, 0),
        capitals=capitals,
        graph=graph,
    )


def land(experiment: Experiment, seed: int) -> dict[str, list[str]]:
    if isinstance(experiment.map, dict):
        return checked(experiment.map)
    if experiment.map == "world":
        return WORLD
    digits = len(str(experiment.size))
    names = [f"T{number:0{digits}}" for number in range(1, experiment.size + 1)]
    return generated(names, seed, experiment.shape)


def _stream(place: Place, purpose: str) -> Stream:
    return Stream(place.seed, f"statecraft experiment/{place.number}/{purpose}")


def seated(experiment: Experiment, kind: str) -> Player:
    """A player for one round. Only those that ship with this are trusted to answer."""
    player = make_player(kind, experiment.folder)
    return player if kind in NATIONS else Patience(player, experiment.act_ms / 1000)


def answer(player: Player, seen: dict[str, Any]) -> Any:
    """What a player hands in; one that fails hands in nothing, and the round goes on."""
    try:
        return player.act(seen)
    except Exception:
        return None  # the intake logs it as no answer, and so it stands in the column `dropped`


# -- what is kept of a turn -------------------------------------------------------------------------
def played(turn: Turn, open_messages: bool = False) -> Played:
    """The ledgers in short."""
    nations, books = turn.end.nations, turn.ledgers
    gross = _column(books.d_gross_income, nations)
    after_damage = _column(books.d_available_money, nations)
    after_arms = _column(books.d_money_after_purchases, nations)
    return Played(
        gross=gross,
        burnt=[have - left for have, left in zip(gross, after_damage, strict=True)],
        arms=[have - left for have, left in zip(after_damage, after_arms, strict=True)],
        granted=_sums(books.d_grants_paid, nations),
        received=_sums(books.d_grants_received, nations),
        welfare=_column(books.d_total_welfare_this_turn, nations),
        lost=_column(books.d_mils_lost_by_attacker, nations),
        mils=_column(turn.end.mils, nations),
        land=[len(turn.end.territories.get(nation, ())) for nation in nations],
        dropped=[sum(one.nation == nation for one in turn.dropped) for nation in nations],
        attacks=[Attack(*entry) for entry in _entries(books.d_attacks_clamped)],
        grants=_entries(books.d_grants_paid),
        pledges=read_pledges(books.d_messages_sent, nations, open_messages),
        ratings=_ratings(books, nations),
    )


def _column(ledger: dict[str, int], nations: Sequence[str]) -> Column:
    return [ledger.get(nation, 0) for nation in nations]


def _sums(ledger: Flows, nations: Sequence[str]) -> Column:
    return [sum(ledger.get(nation, {}).values()) for nation in nations]


def _entries(ledger: Flows) -> list[tuple[str, str, int]]:
    return [(one, other, n) for one in sorted(ledger) for other, n in sorted(ledger[one].items()) if n]


def _ratings(books: Ledgers, nations: Sequence[str]) -> list[Rating]:
    word, aggression = books.d_keeps_word_report, books.d_aggressor_report
    found = [
        Rating(rater, rated, word.get(rater, {}).get(rated, 0), aggression.get(rater, {}).get(rated, 0))
        for rater in nations
        for rated in nations
    ]
    return [rating for rating in found if rating.keeps_word or rating.aggressor]
