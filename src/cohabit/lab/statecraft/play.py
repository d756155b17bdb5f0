"""Plays one round of an experiment, as a game of the lab. The same place gives the same round on any machine."""

from collections.abc import Callable, Sequence
from pathlib import Path
from weakref import proxy

from cohabit.agents.decision import PlayerDecision
from cohabit.agents.player import Act
from cohabit.agents.player import Player as Decider
from cohabit.lab.design import condition_id, game_id
from cohabit.lab.folder import record_lines, write_record
from cohabit.lab.game import Game, GameSpec
from cohabit.lab.games import event_loop
from cohabit.lab.statecraft.config import Experiment
from cohabit.lab.statecraft.players import open_player
from cohabit.lab.statecraft.pledges import read_pledges
from cohabit.lab.statecraft.rounds import Attack, Column, Grant, Place, Rating, Round, TurnRecord
from cohabit.model.action import Action, ActionResult
from cohabit.model.observation import Observation
from cohabit.model.stream import Stream
from cohabit.room.state import Member
from cohabit.worlds.statecraft.state import Flows, Ledgers, TurnResult
from cohabit.worlds.statecraft.world import NATION_NAMES, Statecraft

NOTHING_ORDERED = Action("submit")


def play_round(experiment: Experiment, place: Place, folder: Path | None = None) -> Round:
    """Play a round from the assignment of territories to the last turn. Its record is kept in the folder."""
    played, game = play_game(experiment, place)
    if folder is not None:
        write_record(folder, game.spec.id, record_lines(game.lines()))
    return played


def play_game(experiment: Experiment, place: Place) -> "tuple[Round, RoundGame]":
    """Play a round, and keep nothing."""
    names = assign_players(experiment, place)
    game = RoundGame(experiment, place, list(names.values()))
    with event_loop() as run_in_loop:
        run_in_loop(game.play_all())
    rules, failures = experiment.rules, [player.tally.failures for player in game.players]
    played = Round(
        place=place,
        players=names,
        trade_factor=(rules.trade_numerator, rules.trade_denominator),
        turns=game.recorded,
        failures={nation: n for nation, n in zip(names, failures, strict=True) if n},
    )
    return played, game


class RoundGame(Game):
    """A game of the lab that shows each player its whole input object, in which answers can be lost, and which keeps
    a record of each turn for the measures."""

    def __init__(self, experiment: Experiment, place: Place, names: list[str]) -> None:
        self.recorded: list[TurnRecord] = []
        self._open_messages = experiment.open_messages
        self._lost = lost_answers(experiment, place)
        self._failed: list[int] = []  # the players that failed in this turn, and whose answers were not lost
        agents = [open_player(name, experiment.folder) for name in names]
        me = proxy(self)  # players that referred to the game would keep it until a search for garbage
        super().__init__(game_spec(experiment, place, names), agents=agents, on_decision=lambda *of: me._heard(*of))

    @property
    def world(self) -> Statecraft:
        assert isinstance(self.room.world, Statecraft)
        return self.room.world

    async def play_all(self) -> None:
        await self.play()
        self._record_turn()

    def _look_of(self, player: Decider, member: Member) -> Callable[[], Observation]:
        """With news and reports only for a player that may read them: writing them takes as long as deciding."""
        world, nation = self.world, str(member.seat)
        return lambda: Observation(status=world.agent_input(nation, texts=player.reads_text))

    def _act_of(self, member: Member) -> Act:
        act, world, lost = super()._act_of(member), self.world, self._lost[self.members.index(member)]

        async def act_unless_lost(action: Action | None) -> ActionResult | None:
            is_lost = action is not None and lost[world.state.turn]
            return await act(NOTHING_ORDERED if is_lost else action)

        return act_unless_lost

    def _heard(self, seat: int, decision: PlayerDecision, seconds: float) -> None:
        """A player has decided. The last decision of a turn resolves it."""
        if decision.failed and not self._lost[seat][len(self.recorded)]:
            self._failed.append(seat)
        self._record_turn()

    def _record_turn(self) -> None:
        """Record the last turn, if it is not recorded yet."""
        last = self.world.last
        if last is not None and last.end.turn > len(self.recorded):
            self.recorded.append(record_turn(last, self._open_messages, self._failed))
            self._failed = []


def game_spec(experiment: Experiment, place: Place, players: list[str]) -> GameSpec:
    """The game of a round. The seed is that of the map, which all line-ups have in common."""
    fields = ("turns", "map", "size", "shape", "mils", "constants", "loss_cap", "intake", "observability",
              "open_messages", "publish_ratings")  # fmt: skip
    return GameSpec(
        id=game_id(condition_id("statecraft", {}, place.lineup), place.seed, place.number),
        world="statecraft",
        players=players,
        seed=str(land_seed(place)),
        config={name: getattr(experiment, name) for name in fields},
        max_decisions=experiment.turns * len(players),
        seconds=experiment.act_ms / 1000,
    )


def lost_answers(experiment: Experiment, place: Place) -> list[list[bool]]:
    """For each nation, in which turns its answer is lost. Drawn turn by turn, as the answers arrive."""
    nations = len(experiment.lineups[place.lineup])
    stream = _stream(place, "lost answers")
    by_turn = [[stream.chance(experiment.noise, 100) for _ in range(nations)] for _ in range(experiment.turns)]
    return [list(turns) for turns in zip(*by_turn, strict=True)]


def assign_players(experiment: Experiment, place: Place) -> dict[str, str]:
    """The player of each nation. All line-ups of a seed and round use the same draw, so that they can be compared."""
    names = list(experiment.lineups[place.lineup])
    if experiment.shuffle:
        _stream(place, "who plays which nation").shuffle(names)
    return dict(zip(NATION_NAMES, names, strict=False))


def land_seed(place: Place) -> int:
    return _stream(place, "the land").bits64()


def _stream(place: Place, purpose: str) -> Stream:
    return Stream(place.seed, f"statecraft experiment/{place.number}/{purpose}")


# -- recording a turn -------------------------------------------------------------------------------
def record_turn(turn: TurnResult, open_messages: bool = False, failed: Sequence[int] = ()) -> TurnRecord:
    """The ledgers of a turn, reduced to what the measures need. ``failed``: the nations without an answer, by index."""
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
        dropped=[
            sum(entry.nation == nation for entry in turn.dropped) + failed.count(i) for i, nation in enumerate(nations)
        ],
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
