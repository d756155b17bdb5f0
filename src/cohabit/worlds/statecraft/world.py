"""Statecraft as a world: nations hand in their orders, and the round resolves them all at once."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from cohabit.errors import BadArgs
from cohabit.model.action import Action
from cohabit.model.observation import Goal, one_line
from cohabit.world import Eye, Observation, Outcome, Range, Seat, SeatId, Told, World, WorldSpec, action, query
from cohabit.world import Standing as Score
from cohabit.worlds.statecraft import graph, ratings, words
from cohabit.worlds.statecraft.agent_input import assemble
from cohabit.worlds.statecraft.cessions import legal_outbound
from cohabit.worlds.statecraft.dealing import deal
from cohabit.worlds.statecraft.intake import take_in
from cohabit.worlds.statecraft.ledgers import Dropped, Flows, Ledgers, Standing, Turn
from cohabit.worlds.statecraft.report import news, refusals
from cohabit.worlds.statecraft.rules import Rules, rules_from
from cohabit.worlds.statecraft.sight import Observability, Sight, everything
from cohabit.worlds.statecraft.turn import run_turn
from cohabit.worlds.statecraft.worldmap import WORLD

STATE = (Rules, Standing, Ledgers, Dropped, Turn)
"""Classes of which the state is made: a snapshot finds them by their names in this module."""
NAMES = (
    "Arden", "Borland", "Corvia", "Dalmere", "Estara", "Fenmark", "Gallen", "Hollin",
    "Istrel", "Jorvala", "Kestria", "Lorne", "Mirren", "Norvale", "Orlan", "Peloria",
)  # fmt: skip
Constant = int | float | str
Count = Annotated[int, Range(0)]
Rating = Annotated[int, Range(1, 10)]
PurchaseMils = Annotated[int, Range(0, doc="mils to buy")]
DisbandMils = Annotated[int, Range(0, doc="mils to send home after the turn")]
Attacks = Annotated[dict[str, Count], Range(doc="nation -> mils to send against it")]
Cessions = Annotated[dict[str, list[str]], Range(doc="nation -> territories to hand over to it")]
Grants = Annotated[dict[str, Count], Range(doc="nation -> money to grant it")]
Messages = Annotated[dict[str, str], Range(doc='nation, or "all" -> a message')]
Summary = Annotated[str, Range(doc="your note on the turn that has just ended")]
History = Annotated[str, Range(doc="your own short history of the game; it replaces the last one")]
Reasoning = Annotated[str, Range(doc="why, in at most 50 words; it comes back in your own books")]
KeepsWord = Annotated[dict[str, Rating], Range(doc="nation -> how well it keeps its word, 1 to 10")]
Aggressor = Annotated[dict[str, Rating], Range(doc="nation -> how aggressive it is, 1 to 10")]
Whole = Annotated[Any, Range(doc="the whole answer as one object or JSON text, in place of the fields")]
ECHO = 2000
"""How many characters of its own answer a nation is shown again."""
IN_THE_TEXT = ("previous_turn_news", "previous_turn_report", "history_context")
NOTHING: dict[str, Any] = {}


class Statecraft(World):
    """Statecraft. Nations with land, armies and money; whoever has the most welfare at the end has done best.

    Each turn every nation hands in its orders with `submit`, and may hand in again until all have; then they are
    worked out at once. Territories bring money. What you do not spend becomes your welfare; nothing is kept.

    `money_grants`: what you grant is worth more to the receiver than to you (c_trade_factor times, as welfare), so
    nations that grant to each other are all better off than nations that do not. Nothing enforces that.
    `purchase_mils`: an army costs upkeep every turn and earns nothing. `attacks`: each mil that is sent burns
    c_damage_per_attack_mil of the target's income of this turn; mils that stay at home destroy attackers. Land is
    never conquered: `cede_territories` hands it over, to a nation that owns a neighbour of it, and never the capital.

    `messages` reach only their addressee, or everybody under "all". A promise binds nobody; `keeps_word_report` and
    `aggressor_report` say what you think of the others. Orders that make no sense are dropped one by one, and you are
    told; who hands in nothing does nothing.
    """

    spec = WorldSpec(name="statecraft", title="Statecraft", seats=(2, 16), seat_names=NAMES, pace="rounds")

    def __init__(
        self,
        turns: Annotated[int, Range(1, 10_000, "how many turns a game has")] = 20,
        map: Literal["world", "generated"] | dict[str, list[str]] = "world",  # noqa: A002 - what a player calls it
        size: Annotated[int, Range(2, 400, "territories of a generated map")] = 24,
        shape: Literal["elbow", "zigzag", "arch"] = "elbow",
        constants: dict[str, Constant] | None = None,
        mils: Annotated[int, Range(0, 1_000_000, "the army of each nation at the start")] = 0,
        loss_cap: Literal["committed", "army"] = "committed",
        intake: Literal["strict", "lenient"] = "strict",
        observability: Observability = "full",
        open_messages: bool = False,
        publish_ratings: bool = False,
    ) -> None:
        self.turns = turns
        self.map_wanted = map if isinstance(map, str) else graph.checked(map)
        self.size, self.shape = size, shape
        self.mils = mils
        self.rules = rules_from(constants or {}, loss_cap=loss_cap, intake=intake)
        self.observability = observability
        self.open_messages = open_messages
        self.publish_ratings = publish_ratings

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        land = self._land(seed)
        territories, capitals = deal(land, self.order, seed)
        self.standing = Standing(
            turn=0, mils=dict.fromkeys(sorted(self.order), self.mils), territories=territories,
            welfare=dict.fromkeys(sorted(self.order), 0), capitals=capitals, graph=land,
        )  # fmt: skip
        self.handed_in: dict[SeatId, str] = {}  # as text: whatever it is, a snapshot of it is flat
        self.last: Turn | None = None
        self.trust: Flows = {name: {} for name in sorted(self.order)}
        self.aggression: Flows = {name: {} for name in sorted(self.order)}

    def _land(self, seed: int) -> graph.Graph:
        if self.map_wanted == "world":
            return {name: list(neighbours) for name, neighbours in WORLD.items()}
        if isinstance(self.map_wanted, str):
            count = max(self.size, len(self.order))
            return graph.generated([f"T{i:0{len(str(count))}}" for i in range(1, count + 1)], seed, self.shape)
        if len(self.map_wanted) < len(self.order):
            raise BadArgs(f"map: it has {len(self.map_wanted)} territories, and there are {len(self.order)} nations")
        return self.map_wanted

    def to_move(self) -> Sequence[SeatId]:
        return [] if self._turns_left() <= 0 else [name for name in self.order if name not in self.handed_in]

    # -- handing in -------------------------------------------------------------------------------
    @action(raw=True, group="round")
    def submit(
        self,
        by: Seat,
        answer: Whole = None,
        purchase_mils: PurchaseMils = 0,
        attacks: Attacks = NOTHING,
        cede_territories: Cessions = NOTHING,
        money_grants: Grants = NOTHING,
        messages: Messages = NOTHING,
        summary_last_turn: Summary = "",
        history_summary: History = "",
        reasoning: Reasoning = "",
        disband_mils: DisbandMils = 0,
        keeps_word_report: KeepsWord = NOTHING,
        aggressor_report: Aggressor = NOTHING,
    ) -> Outcome:
        """Hand in your orders for this turn, or others instead, until the round ends. All fields are optional."""
        if self._turns_left() <= 0:
            return Outcome("The game is over; nothing was handed in.")
        fields = {
            "purchase_mils": purchase_mils, "attacks": attacks, "cede_territories": cede_territories,
            "money_grants": money_grants, "messages": messages, "summary_last_turn": summary_last_turn,
            "history_summary": history_summary, "reasoning": reasoning, "disband_mils": disband_mils,
            "keeps_word_report": keeps_word_report, "aggressor_report": aggressor_report,
        }  # fmt: skip
        given = {name: value for name, value in fields.items() if value is not None}
        self.handed_in[by.id] = _as_text(given if answer is None else answer)
        dropped = self._dropped(by.id)
        wrong = "".join(f" Not counted: {d.field}: {d.reason}." for d in dropped)
        said = f"Handed in for turn {self.standing.turn}; you may hand in again until the round ends.{wrong}"
        told = Told(f"{by.id} has handed in", "turn")
        return Outcome(said, told=(told,), data={"dropped": [[d.field, d.reason] for d in dropped]})

    def _dropped(self, nation: str) -> list[Dropped]:
        _, dropped = take_in(self.standing, {nation: self.handed_in[nation]}, self.rules)
        return [d for d in dropped if d.nation == nation]

    def resolve(self) -> Sequence[Told]:
        if self._turns_left() <= 0:
            return ()
        self.last = run_turn(self.standing, self.handed_in, self.rules)
        self.standing = self.last.end
        self.handed_in = {}
        self.trust = ratings.entered(self.trust, self.last.ledgers.d_keeps_word_report)
        self.aggression = ratings.entered(self.aggression, self.last.ledgers.d_aggressor_report)
        return [*self._news(self.last), *self._letters(self.last), *self._ending()]

    def _news(self, turn: Turn) -> list[Told]:
        """What everybody may know; then for each nation alone what it may know beyond that, and what was refused."""
        public = dict.fromkeys(news(turn, Sight(None, self.observability)))
        told = [Told(" ".join([f"Turn {turn.end.turn - 1} is over.", *public]), "round")]
        for name in self.order:
            known = () if self.observability == "full" else news(turn, Sight(name, self.observability))
            own = [line for line in known if line not in public]
            told += [Told(text, seats=(name,)) for text in (*own, *refusals(turn, name))]
        return told

    def _letters(self, turn: Turn) -> list[Told]:
        """Each letter to its addressee, as what somebody said; to everybody where letters are open."""
        everybody = Sight(None).letters(turn.ledgers.d_messages_sent, opened=self.open_messages)
        told = [Told(f"{m['from']} says to {m['to']}: {m['text']!r}") for m in everybody]
        for name in () if self.open_messages else self.order:
            letters = Sight(name).letters(turn.ledgers.d_messages_sent)
            own = [m for m in letters if m["to"] == name]
            told += [Told(f"{m['from']} says to you: {m['text']!r}", seats=(name,)) for m in own]
        return told

    def _ending(self) -> list[Told]:
        if self._turns_left() > 0:
            return []
        lines = ", ".join(f"{score.name} {score.score}" for score in self.standings())
        return [Told(f"It is over. Welfare: {lines}.", "round")]

    # -- seeing -----------------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        known = self._known(eye)
        if eye.seat in self.order:
            told = f"You have handed in: {self._handed_in(eye)}" if eye.seat in self.handed_in else ""
            text = words.for_nation(known, told)
        else:
            text = words.for_watchers(known)
        return Observation(text=text, status=_status(known), step=self.standing.turn)

    def _handed_in(self, eye: Eye) -> str:
        wrong = "".join(f"\nNot counted: {d.field}: {d.reason}." for d in self._dropped(str(eye.seat)))
        again = "\nYou may submit again until the round ends; the last one counts."
        return one_line(self.handed_in[str(eye.seat)][:ECHO]) + wrong + again

    def _known(self, eye: Eye) -> dict[str, Any]:
        observability: Observability = "full" if eye.sees == "all" else self.observability
        means = ratings.published(self.trust, self.aggression) if self.publish_ratings else None
        opened = self.open_messages or eye.sees == "all"
        if eye.seat in self.order:
            return assemble(
                self.standing, str(eye.seat), self.rules, turns_left=self._turns_left(), last=self.last,
                observability=observability, open_messages=opened, ratings=means,
            )  # fmt: skip
        return self._known_to_watchers(Sight(None, observability), opened, means)

    def _known_to_watchers(self, sight: Sight, opened: bool, means: dict[str, Any] | None) -> dict[str, Any]:
        known: dict[str, Any] = {
            "turn": self.standing.turn,
            "agents": self.standing.nations,
            "territories": {name: list(land) for name, land in self.standing.territories.items()},
            "capitals": dict(self.standing.capitals),
            "army": dict(sight.armies(self.standing.mils)),
            "welfare": dict(sight.outcomes(self.standing.welfare)),
            "constants": self.rules.constants,
            "turns_left": self._turns_left(),
        }
        if self.last is not None:
            known["previous_turn_news"] = news(self.last, sight)
            known["messages"] = sight.letters(self.last.ledgers.d_messages_sent, opened=opened)
        return known if means is None else {**known, "ratings": means}

    def goals(self, seat: Seat) -> Sequence[Goal]:
        progress = f"{self.standing.welfare[seat.id]} so far, {self._turns_left()} turns left"
        return [Goal("welfare", "Have the most welfare at the end", progress=progress)]

    def standings(self) -> Sequence[Score]:
        """By welfare. In fog nobody knows that of the others before the end."""
        if self.observability == "fog" and self._turns_left() > 0:
            return ()
        welfare = self.standing.welfare
        best_first = sorted(self.order, key=lambda name: (-welfare[name], name))
        return [Score(name, name, welfare[name], data={"territories": self._count(name)}) for name in best_first]

    def legal(self, seat: Seat) -> Sequence[Action]:
        """Plain answers, each with one thing in it: enough for a random player. Any mixture of them is as good."""
        me = seat.id
        rivals = [name for name in self.standing.nations if name != me]
        army, income = self.standing.mils[me], self._count(me) * self.rules.c_money_per_territory
        found: list[dict[str, Any]] = [{}, {"purchase_mils": 1}]
        found += [{"money_grants": {name: income // 2}} for name in rivals if income > 1]
        found += [{"attacks": {name: army}} for name in rivals if army]
        found += [
            {"cede_territories": {to: land[:1]}} for to, land in legal_outbound(self.standing).get(me, {}).items()
        ]
        return [Action("submit", fields) for fields in found]

    # -- questions --------------------------------------------------------------------------------
    @query()
    def ledgers(self, eye: Eye) -> dict[str, Any]:
        """The ledgers of the last turn by their names, as far as you may read them; empty before the first."""
        if self.last is None:
            return {}
        mine = [d for d in self.last.dropped if eye.sees == "all" or d.nation == eye.seat]
        refused = [r for r in self.last.cessions_refused if eye.sees == "all" or r[0] == eye.seat]
        sight = Sight(eye.seat, self.observability)
        shown = (
            everything(self.last.ledgers)
            if eye.sees == "all"
            else sight.ledgers(self.last.ledgers, opened=self.open_messages)
        )
        return {
            "turn": self.standing.turn - 1,
            "ledgers": shown,
            "dropped": [[d.nation, d.field, d.reason] for d in mine],
            "cessions_done": [list(done) for done in self.last.cessions_done],
            "cessions_refused": [list(line) for line in refused],
        }

    @query()
    def map(self, eye: Eye) -> dict[str, Any]:
        """The map: every territory with its neighbours and its owner, and the capitals."""
        owner = {t: name for name, land in self.standing.territories.items() for t in land}
        land: Mapping[str, list[str]] = self.standing.graph or {}
        return {
            "territories": {t: {"neighbours": near, "owner": owner.get(t)} for t, near in land.items()},
            "capitals": dict(self.standing.capitals),
        }

    @query()
    def legal_cessions(self, eye: Eye) -> dict[str, Any]:
        """Who may cede which territory to whom now: giver -> receiver -> territories. The map is open to all."""
        return legal_outbound(self.standing)

    @query()
    def ratings(self, eye: Eye) -> dict[str, Any]:
        """What you said of the others last, by rater and rated; the means too, where the game publishes them."""
        shown = {
            what: {name: dict(row) for name, row in matrix.items() if eye.sees == "all" or name == eye.seat}
            for what, matrix in (("keeps_word", self.trust), ("aggressor", self.aggression))
        }
        means = self.publish_ratings or eye.sees == "all"
        return {**shown, "means": ratings.published(self.trust, self.aggression)} if means else {**shown}

    def _turns_left(self) -> int:
        return self.turns - self.standing.turn

    def _count(self, nation: str) -> int:
        return len(self.standing.territories[nation])


def _status(known: Mapping[str, Any]) -> dict[str, Any]:
    """The input object without the lines that the text has already, and with letters as one quoted value.

    Quoted, because a reader of the status must not take what somebody wrote for something the world says.
    """
    shown = {name: value for name, value in known.items() if name not in IN_THE_TEXT and value != ""}
    if shown.get("messages"):
        shown["messages"] = msgspec.json.encode(shown["messages"]).decode()
    return shown


def _as_text(answer: Any) -> str:
    """What was handed in, as a text; empty, and so no object, where it cannot be written down."""
    try:
        text = answer if isinstance(answer, str) else msgspec.json.encode(answer).decode()
        text.encode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return ""
    return text
