"""A game of OpenSpiel as a world. ``SpielWorld`` is the base; each name of a game makes a class of its own."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import msgspec
import pyspiel  # type: ignore[import-not-found,import-untyped,unused-ignore]
from msgspec import Struct

from cohabit.errors import GameRejected
from cohabit.libraries.openspiel import boards, hands
from cohabit.libraries.openspiel.catalogue import About
from cohabit.libraries.openspiel.redraw import Step
from cohabit.library import Parameter
from cohabit.model.action import Action
from cohabit.model.stream import seed_hex
from cohabit.model.suggest import nearest
from cohabit.world import Eye, Observation, Outcome, Range, Seat, SeatId, Standing, Stream, Told, World, action

MOVES_SHOWN = 8
MAX_SEED = 2**31 - 1
CHANCE, SIMULTANEOUS = -1, -2
"""The values of the library for the current player, if it is not one player."""
PREFERRED = re.compile(r"(.*\W)?(pass|fold|stand|stay|stop|none|stop drawing|skip)(es)?\b.*", re.IGNORECASE)
"""A move that changes little, for a player who does not answer."""
NOISE = re.compile(
    r"^(Player: \d+ Action: |player=\d+ move=|Pl\d+: |Player \d+ |\[P\d+\]|p\d+:|\d+ - |P\d(?=\()"
    r"|[xo](?=\(|\d+$|[a-z]\d+$)|[BW] (?=[a-z]\d+$|PASS$)|[XO] (?=From|To|Shoot)|p\d(?=a\d$)"
    r"|[Cc]hance outcome:? \d+ ?)"
)
"""The text that the library puts before some moves: the player or its mark, the number of the move or of an outcome."""
SENTENCE_IN_BRACKETS = re.compile(r"\(([A-Za-z][\w']*:? [^()]*)\)")
REPEATED = re.compile(
    r"((current|cur|turn|previous) player|player|current turn|turn|extra turn|repeated move):? *[-*\w]+"
    r"|non-terminal|terminal\..*",
    re.IGNORECASE,
)
"""Lines of the library that say whose turn it is, as the room does, or that the game is or is not over."""
Move = Annotated[str, Range(doc="the move, as the list of legal actions writes it")]


class _Snapshot(Struct, array_like=True):
    seats: list[Seat]
    seed: int  # of the random numbers that the game draws itself; 0 if it draws none
    luck: tuple[str, str, int]
    steps: list[Step]
    chosen: dict[SeatId, str]


def seats_of(kind: Any, parameters: Mapping[str, Parameter]) -> int:
    """The number of players of a game with these parameters. Loading a game to ask the library can take long."""
    takes = kind.parameter_specification
    for name in ("players", "num_players", "numPlayers"):
        if (count := int(parameters.get(name, takes.get(name, 0)))) > 0:
            return count
    return int(kind.min_num_players)


@lru_cache(4096)
def as_action(move: str) -> Action:
    return Action("play", {"move": move})


@lru_cache(4096)
def _in_words(step: str) -> str:
    words = NOISE.sub("", step).strip(" ;,")
    inside = SENTENCE_IN_BRACKETS.fullmatch(words)
    return inside[1] if inside else words


class SpielWorld(World):
    """The game is its steps, as ``redraw`` explains: a snapshot has those, and restoring it plays them again."""

    kind: ClassVar[Any]  # pyspiel.GameType
    about: ClassVar[About]
    parameters: ClassVar[dict[str, Parameter]]
    hides: ClassVar[bool]  # whether the library shows players different things
    rewards_on_the_way: ClassVar[bool]  # not only at the end
    _shared_game: ClassVar[Any] = None

    # -- beginning, snapshots ---------------------------------------------------------------------
    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        own = 1 + Stream(seed, "game").below(MAX_SEED) if self.about.seed else 0
        self.begin(seats, own, Stream(seed, "chance"))
        self._let_chance_act()

    def begin(self, seats: Sequence[Seat], seed: int, luck: Stream) -> None:
        self.seats = list(seats)
        self.players = {seat.id: player for player, seat in enumerate(seats)}
        self.seed, self.luck = seed, luck
        self.game = self.load_game(seed)
        self.state = self.game.new_initial_state()
        self.steps: list[Step] = []
        self.log: list[tuple[int, str]] = []  # who made which move, in words
        self.turns = 0
        self.awaited = self.state.current_player()
        self.chosen: dict[SeatId, str] = {}  # pace rounds: moves that are made when everybody has chosen
        self.round: list[str] = []  # what was just played, if everybody may know it
        self._moves: dict[int, dict[str, int]] = {}  # by player: the legal moves
        self._listed: dict[int, list[Action]] = {}

    def load_game(self, seed: int) -> Any:
        """The game. One that draws random numbers itself is a new one each time: it draws others for its next state."""
        if seed:
            return pyspiel.load_game(self.game_name, {**self.parameters, self.about.seed: seed})
        cls = type(self)
        if cls._shared_game is None:
            cls._shared_game = pyspiel.load_game(self.game_name, dict(self.parameters))
        return cls._shared_game

    @property
    def game_name(self) -> str:
        return str(self.kind.short_name)

    def snapshot(self) -> bytes:
        if not hasattr(self, "steps"):
            return b""
        luck = seed_hex(self.luck.seed), self.luck.purpose, self.luck.counter
        return msgspec.msgpack.encode(_Snapshot(self.seats, self.seed, luck, self.steps, self.chosen))

    def restore(self, data: bytes) -> None:
        if data:
            kept = msgspec.msgpack.decode(data, type=_Snapshot)
            luck, purpose, counter = kept.luck
            self.begin(kept.seats, kept.seed, Stream(int(luck, 16), purpose, counter))
            self.play_again(kept.steps)
            self.chosen = kept.chosen

    def play_again(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self._apply(step)

    # -- the course of the game -------------------------------------------------------------------
    def _apply(self, step: Step) -> None:
        state = self.state
        mover = state.current_player()
        if isinstance(step, list):
            self.log += [(player, self._words(player, one)) for player, one in enumerate(step)]
            state.apply_actions(step)
        else:
            self.log.append((mover, self._words(mover, step)))
            state.apply_action(step)
        self.steps.append(step)
        self._moves, self._listed = {}, {}
        self._count_turn(state.current_player())

    def _count_turn(self, now: int) -> None:
        """Count the turn. Some games hide how often a player tries in vain: such tries count once together."""
        if now == CHANCE:
            return
        if self.awaited != CHANCE:
            self.turns += not self.hides or len(self.seats) == 1 or now != self.awaited or now == SIMULTANEOUS
        self.awaited = now

    def _let_chance_act(self) -> None:
        while self.state.is_chance_node():
            self._apply(self._drawn(self.state.chance_outcomes()))

    def _drawn(self, outcomes: Sequence[tuple[int, float]]) -> int:
        likely = outcomes[0][1]
        if all(chance == likely for _, chance in outcomes):
            return outcomes[self.luck.below(len(outcomes))][0]
        point = self.luck.bits64() / 2**64
        for step, chance in outcomes:
            point -= chance
            if point < 0:
                return step
        return outcomes[-1][0]  # the chances did not quite add up to 1

    def _words(self, player: int, step: int) -> str:
        return _in_words(self.state.action_to_string(player, step))

    def legal_moves(self, player: int) -> dict[str, int]:
        """The legal moves of a player, in words. Two that are called the same get their numbers."""
        found = self._moves.get(player)
        if found is None:
            found = {}
            for step in self.state.legal_actions(player):
                words = self._words(player, step)
                found[f"{words} #{step}" if words in found else words] = step
            self._moves[player] = found
        return found

    # -- playing ----------------------------------------------------------------------------------
    def to_move(self) -> Sequence[SeatId]:
        state = self.state
        mover = state.current_player()
        if mover >= 0:
            return [self.seats[mover].id] if self.seats[mover].id not in self.chosen else []
        if not state.is_simultaneous_node():
            return []
        return [
            seat.id for seat in self.seats if seat.id not in self.chosen and self.legal_moves(self.players[seat.id])
        ]

    def is_over(self) -> bool:
        return bool(self.state.is_terminal())

    def legal(self, seat: Seat) -> Sequence[Action]:
        if seat.id not in self.to_move():
            return ()
        player = self.players[seat.id]
        if player not in self._listed:
            self._listed[player] = [
                as_action(words) for words in self.legal_moves(player) if self._is_own(player, words)
            ]
        return self._listed[player]

    def _is_own(self, player: int, words: str) -> bool:
        """False: a move does the same as the one it is named after, such as one for each order of two dice."""
        named, number, _ = words.rpartition(" #")
        if not number or self.hides or self.pace == "rounds":
            return True
        moves = self.legal_moves(player)
        return named not in moves or str(self.state.child(moves[words])) != str(self.state.child(moves[named]))

    @action(preconditions=["It is your turn", "The move is legal"])
    def play(self, by: Seat, move: Move) -> Outcome:
        """Make a move."""
        words = self._understood(by, move)
        if self.pace == "rounds":
            self.chosen[by.id] = words
            return Outcome(f"You chose {words}.", pending=True)
        return self._made(by, words, f"{by.name} plays {words}")

    def _made(self, by: Seat, words: str, public: str) -> Outcome:
        self._apply(self.legal_moves(self.players[by.id])[words])
        self._let_chance_act()
        more = " It is still your turn." if len(self.seats) > 1 and by.id in self.to_move() else ""
        return Outcome(f"You play {words}.{more}", public=public if self._moves_are_open else "")

    def _understood(self, by: Seat, move: str) -> str:
        if by.id not in self.to_move():
            raise GameRejected("you have no move now; wait until it is your turn")
        legal = self.legal_moves(self.players[by.id])
        if move in legal:
            return move
        wanted = _plain(move)
        near = [words for words in legal if wanted in (_plain(words), _plain(words.rpartition(": ")[2]))]
        if len(near) == 1:
            return near[0]
        listed = [str(each.parameters["move"]) for each in self.legal(by)]
        more = f" and {len(listed) - MOVES_SHOWN} more" if len(listed) > MOVES_SHOWN else ""
        raise GameRejected(
            f"{move[:60]!r} is not a legal move now; choose one of: {', '.join(listed[:MOVES_SHOWN])}{more}",
            did_you_mean=nearest(move[:60], listed, 3),
        )

    def _harmless(self, player: int) -> str:
        legal = list(self.legal_moves(player))
        return next((words for words in legal if PREFERRED.fullmatch(words)), legal[0])

    def fallback(self, seat: Seat) -> Action | None:
        return as_action(self._harmless(self.players[seat.id])) if seat.id in self.to_move() else None

    def skip(self, seat: Seat) -> Outcome:
        """A player who runs out of time passes or folds, or makes the first legal move."""
        words = self._harmless(self.players[seat.id])
        return self._made(seat, words, f"{seat.name} ran out of time and plays {words}")

    def resolve(self) -> Sequence[Told]:
        state = self.state
        if state.is_terminal():
            return ()
        movers = range(len(self.seats)) if state.is_simultaneous_node() else [state.current_player()]
        steps = [self._step(player) for player in movers]
        self.chosen, said = {}, len(self.log)
        self._apply(steps if state.is_simultaneous_node() else steps[0])
        made = self.log[said:]
        self._let_chance_act()
        self.round = [f"{self.seats[player].name} plays {words}" for player, words in made if self._moves_are_open]
        return [*map(Told, self.round)]

    def _step(self, player: int) -> int:
        """The move of a player in this round. A player without a choice makes a harmless one."""
        legal = self.legal_moves(player)
        words = self.chosen.get(self.seats[player].id)
        return legal[words if words is not None else self._harmless(player)] if legal else 0

    def outcome(self, seat: Seat) -> Outcome | None:
        if self.round:
            return Outcome(f"{'; '.join(self.round)}.")
        player = self.players[seat.id]
        made = next((words for by, words in reversed(self.log) if by == player), None)
        return Outcome(f"You played {made}.") if made is not None else None

    # -- results ----------------------------------------------------------------------------------
    def returns(self) -> Mapping[SeatId, float]:
        return self._scores() if self._scores_are_known else {}

    def _scores(self) -> dict[SeatId, float]:
        return {seat: score + 0.0 for seat, score in zip(self.players, self.state.returns(), strict=True)}  # no -0

    @property
    def _scores_are_known(self) -> bool:
        """Before the end of a game with hidden information, a score can tell what is hidden."""
        return self.rewards_on_the_way or not self.hides or bool(self.state.is_terminal())

    def standings(self) -> Sequence[Standing]:
        is_public = not self.hides or self.state.is_terminal()
        scores = self._scores() if is_public else dict.fromkeys(self.players, 0.0)
        return [Standing(seat, seat, scores[seat]) for seat in sorted(scores, key=lambda seat: -scores[seat])]

    # -- seeing -----------------------------------------------------------------------------------
    @property
    def _moves_are_open(self) -> bool:
        return not self.hides or self.about.open_moves

    def observe(self, eye: Eye) -> Observation:
        player = self.players.get(eye.seat or "")
        everything = eye.sees == "all"
        shown = self._shown(None if everything else player, everything)
        is_readable = everything and self.hides  # the library's own text is made for those who see everything
        board = shown.strip("\n") if is_readable or not shown else self._readable(shown, player)
        parts = [board, self._last_moves(player, everything), self._about_choice(eye), self._about_viewer(eye, player)]
        status: dict[str, Any] = {"you": eye.seat} if eye.seat else {}
        if board != shown.strip("\n"):
            status["position"] = shown
        if self.state.is_terminal():
            status["returns"] = self._scores()
        if everything and self.chosen:
            status["chosen"] = dict(self.chosen)
        text = "\n\n".join(filter(None, parts))
        return Observation(text=text, status=status, step=self.turns, text_says_all=True)

    def _shown(self, player: int | None, everything: bool) -> str:
        """The library's own text for one player, or for somebody who sees everything or what is public."""
        if everything:
            return str(self.state)
        if self.hides and player is None:
            return ""
        return self.text_of(self.state, player or 0)

    def text_of(self, state: Any, player: int) -> str:
        """The library's text for a player of this state."""
        about = self.about
        if about.shows == "state" and not self.hides:
            return str(state)
        from_history = about.shows == "information" or not self.kind.provides_observation_string
        text = str(state.information_state_string(player) if from_history else state.observation_string(player))
        return re.sub(about.conceal, "", text) if about.conceal else text

    def _readable(self, shown: str, player: int | None) -> str:
        reader = self.about.reader
        if reader:
            module = boards if hasattr(boards, reader) else hands
            # A parameter can change the form of the text.
            with suppress(ValueError, IndexError, KeyError, AttributeError):
                shown = str(getattr(module, reader)(shown, self.game, player))
        return "\n".join(line for line in shown.split("\n") if not REPEATED.fullmatch(line)).strip("\n")

    def _last_moves(self, player: int | None, everything: bool) -> str:
        if everything or self._moves_are_open:
            seen = [(by, words) for by, words in self.log if by >= 0 or everything or not self.hides]
            names = [f"{self.seats[by].id} {words}" if by >= 0 else words for by, words in seen if words][-MOVES_SHOWN:]
            return f"Last moves: {'; '.join(names)}" if names else ""
        own = [words for by, words in self.log if by == player][-MOVES_SHOWN:]
        return f"Your last moves: {'; '.join(own)}" if own and player is not None else ""

    def _about_choice(self, eye: Eye) -> str:
        if eye.sees == "all" and self.chosen:
            return "Chosen: " + ", ".join(f"{seat} {words}" for seat, words in self.chosen.items())
        return f"You chose {self.chosen[eye.seat]} for this round." if eye.seat in self.chosen else ""

    def _about_viewer(self, eye: Eye, player: int | None) -> str:
        if not self.state.is_terminal():
            return f"You are {eye.seat}." if player is not None and len(self.seats) > 1 else ""
        scores = ", ".join(f"{seat} {score:g}" for seat, score in self._scores().items())
        return f"Result: {scores}." + (f" You are {eye.seat}." if player is not None and len(self.seats) > 1 else "")


def _plain(words: str) -> str:
    return re.sub(r"[\s()\[\]]+", "", words).lower()
