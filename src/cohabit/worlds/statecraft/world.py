"""Statecraft as a world: nations submit their orders, and each round resolves them all at once."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from cohabit.errors import BadArgs, GameRejected
from cohabit.model.action import Action
from cohabit.model.observation import Goal, Observation, one_line
from cohabit.world import (
    ArraySpec,
    Eye,
    Outcome,
    Range,
    Seat,
    SeatId,
    Standing,
    Stream,
    Told,
    World,
    WorldSpec,
    action,
    query,
)  # fmt: skip
from cohabit.worlds.statecraft import cessions, observation_text, training
from cohabit.worlds.statecraft.agent_input import build_agent_input
from cohabit.worlds.statecraft.imagined import imagine, imagine_ratings
from cohabit.worlds.statecraft.intake import FIELDS
from cohabit.worlds.statecraft.maps import make_map, validate_map
from cohabit.worlds.statecraft.past import MAX_PAST_TURNS, PastTurn, known_past, past_turn, shown_past
from cohabit.worlds.statecraft.pledges import Pledges, pledge_news, pledge_notes, pledges_in
from cohabit.worlds.statecraft.ratings import published_ratings, update_ratings
from cohabit.worlds.statecraft.report import news, problem, refusals
from cohabit.worlds.statecraft.rules import Rules, rules_from
from cohabit.worlds.statecraft.scene import last_turn, read_orders
from cohabit.worlds.statecraft.setup import initial_state
from cohabit.worlds.statecraft.state import DroppedInput, Flows, GameState, Ledgers, Territories, TurnResult
from cohabit.worlds.statecraft.turn import run_turn
from cohabit.worlds.statecraft.visibility import Observability, Visibility
from cohabit.worlds.statecraft.without_effect import check_orders

STATE_CLASSES = (Rules, GameState, Ledgers, DroppedInput, TurnResult)
"""The classes in a snapshot. They must be names of this module, because a snapshot is restored by name."""
NATION_NAMES = (
    "Arden", "Borland", "Corvia", "Dalmere", "Estara", "Fenmark", "Gallen", "Hollin",
    "Istrel", "Jorvala", "Kestria", "Lorne", "Mirren", "Norvale", "Orlan", "Peloria",
)  # fmt: skip
Constant = int | float | str
Count = Annotated[int, Range(0)]
Rating = Annotated[int, Range(1, 10)]
PurchaseMils = Annotated[int, Range(0, doc="mils to buy")]
DisbandMils = Annotated[int, Range(0, doc="mils to disband at the end of the turn")]
Attacks = Annotated[dict[str, Count], Range(doc="nation -> mils to send against it")]
Cessions = Annotated[dict[str, list[str]], Range(doc="nation -> territories to cede to it")]
Grants = Annotated[dict[str, Count], Range(doc="nation -> money to grant to it")]
Messages = Annotated[dict[str, str], Range(doc='nation, or "all" -> a message')]
Summary = Annotated[str, Range(doc="your summary of the turn that has just ended")]
History = Annotated[str, Range(doc="your own short history of the game; it replaces the previous one")]
Reasoning = Annotated[str, Range(doc="your reasons, in at most 50 words; shown in your own report")]
KeepsWord = Annotated[dict[str, Rating], Range(doc="nation -> how well it keeps its word, 1 to 10")]
Aggressor = Annotated[dict[str, Rating], Range(doc="nation -> how aggressive it is, 1 to 10")]
Answer = Annotated[Any, Range(doc="the whole answer as one object or JSON text, instead of the fields")]
AcceptDrops = Annotated[bool, Range(doc="leave out or cut the parts that cannot be used, instead of a refusal")]
MAX_ANSWER_CHARS = 100_000
"""Of an answer that is one text. All fields together, as long as they may be, have fewer."""
MAX_ECHO_CHARS = 2000
"""The number of characters of its submitted answer that a nation is shown."""
TEXT_ONLY_KEYS = ("previous_turn_news", "previous_turn_report", "history_context")
EMPTY: dict[str, Any] = {}
DEFAULTS = {field: kind() for field, (_, kind, _) in FIELDS.items()}
"""The orders of a field that is left out. Forms send these values for fields that were not filled in."""
MAX_PROBLEMS_IN_MESSAGE = 10


class Statecraft(World):
    """Statecraft. Nations with territories, armies and money. The nation with the most welfare at the end wins.

    Each turn every nation submits its orders with `submit`, and can submit again until all nations have; then all
    orders are resolved at once. Territories earn money. It buys mils, is granted to other nations, or becomes welfare.
    A grant is worth more to the receiver than to the giver, so nations that grant to each other are better off than
    nations that do not; nothing enforces that. Mils destroy the income of other nations and earn nothing. Territory is
    never conquered; it can be ceded to a neighbour, except a capital.

    `messages` reach only their recipient, or everybody under "all". If a part of your orders cannot be used, nothing
    is submitted and you are told why. A nation that submits nothing does nothing. Your view says what happened.
    """

    spec = WorldSpec(
        name="statecraft", version=2, title="Statecraft", seats=(2, 16), seat_names=NATION_NAMES, pace="rounds",
        examples=True, show_legal=False, tell_rewards=False, front_end="front_end.html",
    )  # fmt: skip

    __slots__ = ("_legal_cessions",)  # not in a snapshot: they follow from the state

    def __init__(
        self,
        turns: Annotated[int, Range(1, 10_000, "number of turns in a game")] = 20,
        map: Literal["world", "generated"] | dict[str, list[str]] = "world",  # noqa: A002 - the name of the setting
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
        self.map_choice = map if isinstance(map, str) else validate_map(map)
        self.size, self.shape = size, shape
        self.mils = mils
        self.rules = rules_from(constants or {}, loss_cap=loss_cap, intake=intake)
        self.observability = observability
        self.open_messages = open_messages
        self.publish_ratings = publish_ratings
        self._legal_cessions: tuple[Territories, cessions.LegalCessions] = {}, {}
        self.past: list[PastTurn] = []  # for charts

    def describe(self) -> str:
        """With the rules, their numbers and how to answer. A view has them in short."""
        rules = observation_text.rules_text(self.rules.constants, publishes_ratings=self.publish_ratings)
        return f"{super().describe()}\n\n{rules}\n\n{observation_text.HOW_TO_ANSWER}"

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        if not isinstance(self.map_choice, str) and len(self.map_choice) < len(self.order):
            raise BadArgs(f"map: it has {len(self.map_choice)} territories, but there are {len(self.order)} nations")
        graph = make_map(self.map_choice, seed, max(self.size, len(self.order)), self.shape)
        self.state = initial_state(graph, self.order, self.mils, seed)
        self.submitted: dict[SeatId, str] = {}  # as text, so that a snapshot of any answer is flat
        self.last: TurnResult | None = None
        self.missed: list[SeatId] = []  # the nations that submitted nothing in the last turn
        self.pledged: Pledges = {}  # made in the last turn
        self.pledges_due: Pledges = {}  # made in the turn before, for the last one
        self.past = []
        self.keeps_word: Flows = {name: {} for name in sorted(self.order)}
        self.aggressor: Flows = {name: {} for name in sorted(self.order)}

    def to_move(self) -> Sequence[SeatId]:
        return [] if self._turns_left() <= 0 else [name for name in self.order if name not in self.submitted]

    # -- submitting and resolving -----------------------------------------------------------------
    @action(raw=True, group="round", words=("messages", "answer"))
    def submit(
        self,
        by: Seat,
        /,
        answer: Answer = None,
        purchase_mils: PurchaseMils = 0,
        attacks: Attacks = EMPTY,
        cede_territories: Cessions = EMPTY,
        money_grants: Grants = EMPTY,
        messages: Messages = EMPTY,
        summary_last_turn: Summary = "",
        history_summary: History = "",
        reasoning: Reasoning = "",
        disband_mils: DisbandMils = 0,
        keeps_word_report: KeepsWord = EMPTY,
        aggressor_report: Aggressor = EMPTY,
        accept_drops: AcceptDrops = False,
        **unknown: Any,
    ) -> Outcome:
        """Submit your orders for this turn, or replace them until the turn is resolved. All fields are optional.

        If a part cannot be used (an unknown name, a value of the wrong type) or asks for more than you have, nothing is
        submitted and the refusal says why; with `accept_drops` that part is left out or cut to what you have."""
        if self._turns_left() <= 0:
            return Outcome("The game is over; no orders were submitted.")
        fields = {
            "purchase_mils": purchase_mils, "attacks": attacks, "cede_territories": cede_territories,
            "money_grants": money_grants, "messages": messages, "summary_last_turn": summary_last_turn,
            "history_summary": history_summary, "reasoning": reasoning, "disband_mils": disband_mils,
            "keeps_word_report": keeps_word_report, "aggressor_report": aggressor_report, **unknown,
        }  # fmt: skip
        given = {name: value for name, value in fields.items() if value is not None and value != DEFAULTS.get(name)}
        if answer is not None and given:
            raise GameRejected("Nothing was submitted: send either answer or the fields, not both.")
        if isinstance(answer, str) and len(answer) > MAX_ANSWER_CHARS:
            raise GameRejected(f"Nothing was submitted: an answer has at most {MAX_ANSWER_CHARS:,} characters.")
        text = _as_text(given if answer is None else answer)
        dropped, messages_sent = check_orders(self.state, by.id, text, self.rules)
        if accept_drops is not True and any(entry.kind != "changed" for entry in dropped):
            raise _refused(dropped)
        self.submitted[by.id] = text
        told = Told(f"{by.id} has submitted its orders", "turn")
        pledges = pledge_notes(by.id, messages_sent, self.order)
        return Outcome(
            self._confirmation([*map(problem, dropped), *pledges]), told=(told,), data={"dropped": _rows(dropped)},
            pending=True,
        )  # fmt: skip

    def _confirmation(self, notes: Sequence[str]) -> str:
        sentences = [f"Orders for turn {self.state.turn} submitted.", *notes]
        if not self.to_move():
            sentences.append("Yours were the last orders, so the turn is resolved.")
            following = self.state.turn + 1
            again = f"It is your turn again: submit your orders for turn {following}."
            sentences.append(again if following < self.turns else "It was the last turn.")
        else:
            sentences.append("You can submit again until the other nations have submitted.")
            sentences.append("Then wait for your turn (wait_for_turn).")
        return " ".join(sentences)

    def resolve(self) -> Sequence[Told]:
        if self._turns_left() <= 0:
            return ()
        self.last = run_turn(self.state, self.submitted, self.rules)
        self.missed = [name for name in self.order if name not in self.submitted]
        self.pledges_due, self.pledged = self.pledged, pledges_in(self.last.ledgers.d_messages_sent, self.order)
        self.state = self.last.end
        self.submitted = {}
        self.keeps_word = update_ratings(self.keeps_word, self.last.ledgers.d_keeps_word_report)
        self.aggressor = update_ratings(self.aggressor, self.last.ledgers.d_aggressor_report)
        self.past = [*self.past, *self._newest_past()][-MAX_PAST_TURNS:]
        return [*self._tell_news(self.last), *self._tell_messages(self.last), *self._tell_result()]

    def outcome(self, seat: Seat) -> Outcome:
        assert self.last is not None
        refused = refusals(self.last, seat.id)
        return Outcome(" ".join(refused), success=not refused)

    def _tell_news(self, turn: TurnResult) -> list[Told]:
        """The public news; then, for each nation alone, what else it may know and what was refused."""
        viewer = Visibility(None, self.observability)
        public = dict.fromkeys([*news(turn, viewer), *self._pledge_news(viewer, self.open_messages)])
        told = [Told(" ".join([f"Turn {turn.end.turn - 1} is over.", *self._missing(), *public]), "round")]
        for name in self.order:
            viewer = Visibility(name, self.observability)
            known = () if self.observability == "full" else news(turn, viewer)
            own = [line for line in (*known, *self._pledge_news(viewer, self.open_messages)) if line not in public]
            told += [Told(text, seats=(name,)) for text in (*own, *refusals(turn, name))]
        return told

    def _pledge_news(self, visibility: Visibility, open_messages: bool) -> list[str]:
        """The outcomes of the pledges for the last turn that this viewer knows."""
        if self.last is None or not self.pledges_due:
            return []
        return pledge_news(self.pledges_due, self.last.ledgers, visibility, open_messages=open_messages)

    def _missing(self) -> list[str]:
        return [f"{name} submitted no orders." for name in self.missed]

    def _tell_messages(self, turn: TurnResult) -> list[Told]:
        """Each message to its recipient, quoted; to everybody if messages are open."""
        sent = turn.ledgers.d_messages_sent
        public = Visibility(None).messages(sent, open_messages=self.open_messages)
        told = [Told(f"{m['from']} says to {m['to']}:{observation_text.quoted(m['text'])}") for m in public]
        for name in () if self.open_messages else self.order:
            own = [m for m in Visibility(name).messages(sent) if m["to"] == name]
            told += [Told(f"{m['from']} says to you:{observation_text.quoted(m['text'])}", seats=(name,)) for m in own]
        return told

    def _tell_result(self) -> list[Told]:
        if self._turns_left() > 0:
            return []
        scores = ", ".join(f"{standing.name} {standing.score}" for standing in self.standings())
        return [Told(f"The game is over. Welfare: {scores}.", "round")]

    # -- observing --------------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        known = self._known(eye)
        if eye.seat in self.order:
            submitted = self._submitted_text(eye.seat) if eye.seat in self.submitted else ""
            text = observation_text.text_for_nation(known, submitted)
        else:
            text = observation_text.text_for_spectator(known)
        return Observation(text=text, status=_status(known), step=self.state.turn, text_says_all=True)

    def observe_data(self, eye: Eye) -> Observation:
        return Observation(status=_status(self._known(eye, texts=False)), step=self.state.turn)

    def agent_input(self, nation: str, texts: bool = True) -> dict[str, Any]:
        """The input object of a nation, for players that are not given an observation."""
        return self._known(Eye(nation, "own"), texts)

    def _submitted_text(self, nation: str) -> str:
        dropped, _ = check_orders(self.state, nation, self.submitted[nation], self.rules)
        problems = "".join(f"\n{problem(entry)}" for entry in dropped)
        answer = one_line(self.submitted[nation][:MAX_ECHO_CHARS])
        again = "You can submit again until the other nations have submitted; the last submission counts."
        return f"You have submitted: {answer}{problems}\n{again}"

    def _known(self, eye: Eye, texts: bool = True) -> dict[str, Any]:
        """The input object of a nation, or what a spectator knows. ``texts``: with what only the text shows."""
        means, nation, visibility, open_messages = self._published_means(), *self._visibility(eye)
        if nation is None:
            known = self._known_to_spectator(visibility, open_messages, means, texts)
        else:
            known = build_agent_input(
                self.state, nation, self.rules, turns_left=self._turns_left(), last=self.last,
                observability=visibility.observability, open_messages=open_messages, ratings=means,
                texts=texts, legal=self._cessions(),
            )  # fmt: skip
        if self.last is not None and texts:
            happened = known["previous_turn_news"]
            known["previous_turn_news"] = [
                *self._missing(), *happened, *self._pledge_news(visibility, open_messages)
            ]  # fmt: skip
        if self._turns_left() <= 0:
            known["standings"] = dict(self.state.welfare)
        return known

    def _visibility(self, eye: Eye) -> tuple[str | None, Visibility, bool]:
        """The nation of an eye, what it may know, and whether it reads every message."""
        nation = str(eye.seat) if eye.seat in self.order else None
        visibility = Visibility(nation, "full" if eye.sees == "all" else self.observability)
        return nation, visibility, self.open_messages or eye.sees == "all"

    def _published_means(self) -> dict[str, Any] | None:
        return published_ratings(self.keeps_word, self.aggressor) if self.publish_ratings else None

    def _newest_past(self) -> list[PastTurn]:
        means = self._published_means()
        return (
            [] if self.last is None else [past_turn(self.last, self.pledges_due, means["keeps_word"] if means else {})]
        )

    def scene(self, eye: Eye) -> dict[str, Any]:
        """The map, the last turn, the history, and to a nation its own orders, ratings and notes."""
        nation, visibility, open_messages = self._visibility(eye)
        own = nation is not None and eye.sees != "public"
        submitted = self.submitted.get(nation or "") if own else None
        return {
            "map": self.state.graph or {},
            "past": shown_past(known_past(self.past, visibility, open_messages=open_messages)),
            "last": None if self.last is None else last_turn(self.last, self.missed, visibility),
            "orders": None if submitted is None else read_orders(self.state, str(nation), submitted, self.rules),
            "own": None if not own else {
                "keeps_word": self.keeps_word[str(nation)],
                "aggressor": self.aggressor[str(nation)],
                "history": self.state.history.get(str(nation), ""),
            },
        }  # fmt: skip

    def _known_to_spectator(
        self, visibility: Visibility, open_messages: bool, means: dict[str, Any] | None, texts: bool
    ) -> dict[str, Any]:
        known: dict[str, Any] = {
            "turn": self.state.turn,
            "agents": self.state.nations,
            "territories": {name: list(owned) for name, owned in self.state.territories.items()},
            "capitals": dict(self.state.capitals),
            "army": dict(visibility.armies(self.state.mils)),
            "welfare": dict(visibility.outcomes(self.state.welfare)),
            "constants": self.rules.constants,
            "turns_left": self._turns_left(),
        }
        if self.last is not None:
            if texts:
                known["previous_turn_news"] = news(self.last, visibility)
            known["messages"] = visibility.messages(self.last.ledgers.d_messages_sent, open_messages=open_messages)
        return known if means is None else {**known, "ratings": means}

    def goals(self, seat: Seat) -> Sequence[Goal]:
        return [Goal("welfare", "Have the most welfare at the end")]

    def standings(self) -> Sequence[Standing]:
        """By welfare. In fog the welfare of the others is hidden until the end."""
        if self.observability == "fog" and self._turns_left() > 0:
            return ()
        welfare = self.state.welfare
        best_first = sorted(self.order, key=lambda name: (-welfare[name], name))
        return [Standing(name, name, welfare[name], data={"territories": self._count(name)}) for name in best_first]

    def returns(self) -> Mapping[SeatId, float]:
        """Welfare, of which each nation knows its own also in fog."""
        return self.state.welfare

    def legal(self, seat: Seat) -> Sequence[Action]:
        """Simple answers with one order each, for random players. Answers can combine any of them."""
        me, rivals = seat.id, self._rivals(seat.id)
        army, income, money = self._means(me)
        found: list[dict[str, Any]] = [{}]
        found += [{"purchase_mils": 1}] if money >= self.rules.c_mil_purchase_price else []
        found += [{"money_grants": {name: min(income // 2, money)}} for name in rivals if income > 1 and money > 0]
        found += [{"attacks": {name: army}} for name in rivals if army]
        found += [
            {"cede_territories": {receiver: territories[:1]}}
            for receiver, territories in self._cessions().get(me, {}).items()
        ]
        return [Action("submit", fields) for fields in found]

    def _rivals(self, nation: str) -> list[str]:
        return [name for name in self.state.nations if name != nation]

    def _means(self, nation: str) -> tuple[int, int, int]:
        """The army of a nation, its income, and what is left of that after upkeep."""
        army, income = self.state.mils[nation], self._count(nation) * self.rules.c_money_per_territory
        return army, income, income - army * self.rules.c_mil_upkeep_price

    # -- training ---------------------------------------------------------------------------------
    def numbered(self) -> Sequence[Action]:
        return training.numbered(NATION_NAMES, self.rules)

    def useful(self, seat: Seat) -> Sequence[Action]:
        army, _, money = self._means(seat.id)
        return training.useful(self._rivals(seat.id), self.rules, army, money)

    def arrays(self) -> Mapping[str, ArraySpec]:
        return {training.NATIONS: training.form_of(NATION_NAMES)}

    def array(self, eye: Eye, form: str) -> Any:
        return training.array_of(NATION_NAMES, self._known(eye, texts=False), self.turns)

    # -- queries ----------------------------------------------------------------------------------
    @query()
    def ledgers(self, eye: Eye) -> dict[str, Any]:
        """The ledgers of the last turn by name, limited to what you may see. Empty before the first turn ends."""
        if self.last is None:
            return {}
        dropped = [d for d in self.last.dropped if eye.sees == "all" or d.nation == eye.seat]
        refused = [r for r in self.last.cessions_refused if eye.sees == "all" or r[0] == eye.seat]
        visibility = Visibility(eye.seat, self.observability)
        shown = visibility.ledgers(self.last.ledgers, open_messages=self.open_messages)
        return {
            "turn": self.state.turn - 1,
            "ledgers": msgspec.structs.asdict(self.last.ledgers) if eye.sees == "all" else shown,
            "dropped": [[d.nation, d.field, d.reason] for d in dropped],
            "cessions_done": [list(cession) for cession in self.last.cessions_done],
            "cessions_refused": [list(cession) for cession in refused],
        }

    @query()
    def map(self, eye: Eye) -> dict[str, Any]:
        """The map: every territory with its neighbours and its owner, and the capitals."""
        owners = cessions.owners_of(self.state.territories)
        graph: Mapping[str, list[str]] = self.state.graph or {}
        return {
            "territories": {
                territory: {"neighbours": neighbours, "owner": owners.get(territory)}
                for territory, neighbours in graph.items()
            },
            "capitals": dict(self.state.capitals),
        }

    @query()
    def legal_cessions(self, eye: Eye) -> dict[str, Any]:
        """The cessions that are legal now: giver -> receiver -> territories. The map is public."""
        return cessions.legal_cessions(self.state)

    @query()
    def ratings(self, eye: Eye) -> dict[str, Any]:
        """Your latest ratings of the others, by rater and rated; also the means, if the game publishes them."""
        shown = {
            key: {name: dict(row) for name, row in matrix.items() if eye.sees == "all" or name == eye.seat}
            for key, matrix in (("keeps_word", self.keeps_word), ("aggressor", self.aggressor))
        }
        if self.publish_ratings or eye.sees == "all":
            return {**shown, "means": published_ratings(self.keeps_word, self.aggressor)}
        return {**shown}

    def resample(self, eye: Eye, stream: Stream) -> None:
        """Redraw the notes, ratings, orders and messages of other nations, and in fog their armies and results."""
        if eye.sees == "all":
            return
        nation = eye.seat if eye.sees == "own" and eye.seat in self.order else None
        viewer = Visibility(nation, self.observability)
        self.state, self.last = imagine(
            self.state, self.last, self.rules, viewer, stream, open_messages=self.open_messages,
            is_over=self._turns_left() <= 0,
        )  # fmt: skip
        self.pledged = viewer.by_sender(self.pledged, open_messages=self.open_messages)
        self.pledges_due = viewer.by_sender(self.pledges_due, open_messages=self.open_messages)
        self.past = known_past(self.past, viewer, open_messages=self.open_messages)
        if not self.publish_ratings:  # the published means tell much about them
            self.keeps_word = imagine_ratings(self.keeps_word, viewer, stream)
            self.aggressor = imagine_ratings(self.aggressor, viewer, stream)
        for name in self.submitted:
            if name != nation:
                self.submitted[name] = _as_text(stream.choice(self.legal(Seat(name))).parameters)

    def _cessions(self) -> cessions.LegalCessions:
        """The legal cessions. Found once for all nations, and again when a territory has changed hands."""
        territories, found = self._legal_cessions
        if territories is not self.state.territories:
            found = cessions.legal_cessions(self.state)
            self._legal_cessions = self.state.territories, found
        return found

    def _turns_left(self) -> int:
        return self.turns - self.state.turn

    def _count(self, nation: str) -> int:
        return len(self.state.territories[nation])


def _status(known: Mapping[str, Any]) -> dict[str, Any]:
    """The input object without the keys that are in the text, and with the messages as one quoted value.

    Quoted, so that a reader of the status cannot mistake what a nation wrote for something the world says.
    """
    shown = {name: value for name, value in known.items() if name not in TEXT_ONLY_KEYS and value != ""}
    if shown.get("messages"):
        shown["messages"] = msgspec.json.encode(shown["messages"]).decode()
    return shown


def _refused(dropped: Sequence[DroppedInput]) -> GameRejected:
    """The refusal of orders of which some parts cannot be used. ``dropped`` in the error has all of them."""
    problems = [problem(entry) for entry in dropped if entry.kind != "changed"]
    shown = problems[:MAX_PROBLEMS_IN_MESSAGE]
    if len(shown) < len(problems):
        shown.append(f"There are {len(problems) - len(shown)} more problems.")
    advice = "Correct this and submit again, or submit with accept_drops true to order the rest."
    return GameRejected(f"Nothing was submitted. {' '.join(shown)} {advice}", dropped=_rows(dropped))


def _rows(dropped: Sequence[DroppedInput]) -> list[list[str]]:
    return [[entry.field, entry.reason, entry.kind] for entry in dropped]


def _as_text(answer: Any) -> str:
    """The answer as text; empty, and so not a JSON object, if it cannot be encoded."""
    try:
        text = answer if isinstance(answer, str) else msgspec.json.encode(answer).decode()
        text.encode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return ""
    return text
