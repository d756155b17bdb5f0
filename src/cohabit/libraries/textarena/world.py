"""A game of TextArena as a world: players send texts in turn, and each reads what the library tells it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from cohabit.libraries.textarena import examples, views
from cohabit.libraries.textarena.game import ACTION, EVERYBODY, GAME, PROMPT, Game, Message
from cohabit.model.action import Action
from cohabit.replayed import ReplayedWorld
from cohabit.world import Eye, GameRejected, Observation, Outcome, Seat, SeatId, Standing, Stream, action, query

MAX_WORDS, MAX_MOVE = 2_000, 200
"""Characters of what a player says, and of a move."""
RECENT = 10
"""The number of messages that programs get with each observation."""
REDRAWS = 12
"""The number of other games that are tried when the hidden part of one is redrawn."""
PHRASES = ("I agree.", "I disagree.", "Tell me more.", "What do you suggest?", "Let us work together.")


class Family(Struct, frozen=True):
    """The entry of our table for the games of one family, which differ by a size or a level."""

    title: str
    about: str  # the rules in two sentences
    seats: tuple[int, int]
    information: str  # open: nothing is hidden; luck: only what will be drawn; hidden: seats see different things
    talks: bool = False  # players talk freely; else they name moves
    moves: tuple[str, ...] = ()  # patterns of moves, where the texts of the game name too few
    distinct: bool = False  # the parts of such a move differ from each other
    levels: Mapping[str, tuple[str, ...]] = {}  # patterns of moves by level, where they are others
    untried: bool = False  # whether a move is valid follows from secrets, so trying examples would tell them
    cannot: str = ""


class TextArenaWorld(ReplayedWorld):
    """A game of TextArena. A class for each name fills in the attributes."""

    family: ClassVar[Family]
    game_id: ClassVar[str]
    options: ClassVar[Mapping[str, Any]]
    patterns: ClassVar[Sequence[str]]  # of moves

    # -- the game ---------------------------------------------------------------------------------------
    def begin(self, seed: int, seats: Sequence[Seat]) -> None:
        self.game = self._new_game(seed, len(seats))
        self.tried: list[str] = []  # in vain, since the last valid move
        self._listed: tuple[int, list[str]] = (-1, [])  # examples, with the number of moves before them

    def make(self, move: str) -> tuple[bool, list[Message]]:
        """Send a text. Returns whether it was a valid move, and what players were told."""
        first = len(self.game.messages)
        try:
            is_valid = self.game.step(move)
        except Exception as bug:  # some games fail at texts that they did not expect
            self.game = self._played(self._seed, self._moves)
            raise GameRejected(
                f"{self.family.title} could not read this ({type(bug).__name__}), and nothing has changed; write a "
                "move as the rules show it"
            ) from bug
        self.tried = [] if is_valid else [*self.tried, move]
        return is_valid, self.game.messages[first:]

    def to_move(self) -> Sequence[SeatId]:
        player = self.game.to_move
        return [] if player is None else [self._seats[player].id]

    def is_over(self) -> bool:
        return self.game.is_over

    def returns(self) -> Mapping[SeatId, float]:
        return {self._seats[player].id: reward for player, reward in self.game.rewards.items()}

    def standings(self) -> Sequence[Standing]:
        totals = self.returns()
        lines = [Standing(seat.id, seat.name or seat.id, totals.get(seat.id, 0.0)) for seat in self._seats]
        return sorted(lines, key=lambda line: -line.score)

    def _new_game(self, seed: int, players: int) -> Game:
        return Game(self.game_id, self.options, players, seed)

    def _played(self, seed: int, moves: Sequence[str]) -> Game:
        game = self._new_game(seed, len(self._seats))
        for move in moves:
            game.step(move)
        return game

    # -- acting -----------------------------------------------------------------------------------------
    def send(self, by: Seat, text: str) -> Outcome:
        """Do what an action says."""
        is_valid, messages = self.do(text)
        player = self._player(by.id)
        news = [line for message in messages if _reaches(message, player) and message.sender != player
                for line in views.told(message, player)]  # fmt: skip
        if is_valid:
            return Outcome("\n".join(news) or "Sent.", public=self._public_news(by))
        left = self.game.errors_left
        warning = f"You may make {left} more in a row." if left else "Another one in a row can end your game."
        over = self.game.is_over or self.game.to_move != player
        says = ["This was no valid move.", "It cost you the game." if over else warning, *news]
        return Outcome("\n".join(says), public=self._public_news(by) if over else "", success=False)

    def _public_news(self, by: Seat) -> str:
        """That somebody moved; what it was is in the views of those who may know it."""
        name = by.name or by.id
        return f"{name} has moved. The game is over." if self.game.is_over else f"{name} has moved."

    def skip(self, seat: Seat) -> Outcome:
        for text in self._examples(seat):
            try:
                return self.send(seat, text)
            except GameRejected:
                continue
        raise GameRejected(f"no move is known that {self.family.title} accepts for a missed turn")

    def _examples(self, seat: Seat) -> list[str]:
        """Moves for the seat whose turn it is, of which the game takes all if it takes any."""
        if self._listed[0] != self.game.moves:
            self._listed = self.game.moves, self._new_examples(seat)
        return self._listed[1]

    def _new_examples(self, seat: Seat) -> list[str]:
        heard = self._heard(Eye(seat.id, "own"))
        board = views.board(heard)
        patterns = [move for pattern in self.patterns for move in examples.expanded(pattern, board)]
        if self.family.distinct:
            patterns = [move for move in patterns if examples.is_distinct(move)]
        noted = examples.named(self.game.valid_moves) if self.family.information == "open" else []
        moves = [*(noted or patterns or examples.moves_in(heard)), *(PHRASES if self.family.talks else ())]
        if not self.family.untried:
            valid = self.game.valid(examples.mixed(moves, self.game.moves), examples.MAX_EXAMPLES)
            moves = sorted(valid, key=moves.index) or moves
        return examples.some(moves, self.tried, self.game.moves) or moves or list(PHRASES)

    # -- looking ----------------------------------------------------------------------------------------
    def describe(self) -> str:
        family = self.family
        how = "Write what you say with say(text)." if family.talks else "Write your move with play(move)."
        errors = "Invalid moves are counted: the reply says how many you may make in a row."
        return " ".join([f"{family.title}, of TextArena.", family.about, how, errors])

    def observe(self, eye: Eye) -> Observation:
        heard, player = self._heard(eye), self._player(eye.seat)
        to_move = self.game.to_move
        seen = [message for message in heard if message.kind != PROMPT]
        status: dict[str, Any] = {
            "to_move": None if to_move is None else views.player_name(to_move),
            "board": views.board(heard),
            "messages": [_data(message) for message in seen[-RECENT:]],
        }
        if player is not None:
            status["you"] = views.player_name(player)
        if player is not None and player == to_move:
            status["invalid_moves_left"] = self.game.errors_left
        if self._sees_secrets(eye):
            status["secrets"] = self.game.secrets
        text = "\n".join(self._lines(heard, player, to_move))
        return Observation(text=text, status=status, step=len(heard), text_says_all=True)

    def _lines(self, heard: Sequence[Message], player: int | None, to_move: int | None) -> Iterator[str]:
        yield self.family.title + (f" – you are {views.player_name(player)}." if player is not None else "")
        yield from ["What you were told at the start:" if player is not None else "The rules:", *views.rules(heard)]
        yield from ["", "What happened:", *(views.history(heard, player) or ["(nothing yet)"]), ""]
        if to_move is None:
            reason = views.quoted(self.game.reason(player or 0))
            rewards = ", ".join(f"{views.player_name(p)} {r:g}" for p, r in self.game.rewards.items())
            yield f"The game is over: {reason}. Rewards: {rewards or 'none'}."
        elif player == to_move:
            yield self._may_err()

    def _may_err(self) -> str:
        left = self.game.errors_left
        return f"Invalid moves allowed in a row: {left}." if left else "An invalid move can end your game."

    @query()
    def transcript(self, eye: Eye, first: int = 0) -> list[dict[str, Any]]:
        """Everything that you were told in this game, from message number `first` (0: from the beginning)."""
        return [_data(message) for message in self._heard(eye)[max(0, first) :]]

    def _heard(self, eye: Eye) -> list[Message]:
        """The messages for an eye. Spectators get those for everybody; in games without secrets all, each once."""
        messages, player = self.game.messages, self._player(eye.seat)
        if self._sees_secrets(eye):
            return messages
        if player is not None:
            return [message for message in messages if _reaches(message, player)]
        if self.family.information == "hidden" and self.game.players > 1:
            return [message for message in messages if message.to == EVERYBODY]
        return _once(messages)

    def _sees_secrets(self, eye: Eye) -> bool:
        return eye.sees == "all" and self.family.information != "open"

    def _player(self, seat: SeatId | None) -> int | None:
        return next((number for number, one in enumerate(self._seats) if one.id == seat), None)


class Spoken(TextArenaWorld):
    """A game in which players talk."""

    @action()
    def say(self, by: Seat, text: Annotated[str, Meta(min_length=1, max_length=MAX_WORDS)]) -> Outcome:
        """Say something. Moves in it are in square brackets, as the rules show."""
        return self.send(by, _one_line(text))

    def legal(self, seat: Seat) -> Sequence[Action] | None:
        return [Action("say", {"text": text}) for text in self._examples(seat)] if seat.id in self.to_move() else []


class Played(TextArenaWorld):
    """A game in which players name moves."""

    @action()
    def play(self, by: Seat, move: Annotated[str, Meta(min_length=1, max_length=MAX_MOVE)]) -> Outcome:
        """Make a move, as the rules show it. The square brackets around it can be left out."""
        text = _one_line(move)
        return self.send(by, text if "[" in text or "]" in text else f"[{text}]")

    def legal(self, seat: Seat) -> Sequence[Action] | None:
        return [Action("play", {"move": text}) for text in self._examples(seat)] if seat.id in self.to_move() else []


class WithSecrets(TextArenaWorld):
    """A game that hides something: what others hold, or only what will be drawn."""

    def resample(self, eye: Eye, stream: Stream) -> None:
        """Play other games, with another seed and other secret moves, until one tells this eye the same. If none does,
        nothing is redrawn."""
        if eye.sees == "all":
            return
        for _ in range(REDRAWS):
            other = type(self)()
            if other._retold(self, eye, Stream(stream.bits64(), "another game")):
                vars(self).update(vars(other))
                return

    def _retold(self, known: "TextArenaWorld", eye: Eye, draws: Stream) -> bool:
        """Begin another game and play it as the eye knows the other one. Returns whether it is told the same."""
        self.reset(draws.bits64(), known._seats)
        heard = known._heard(eye)
        reached = {message.step for message in heard}
        own = known._player(eye.seat)
        for number, move in enumerate(known._moves, 1):
            if self.game.is_over or self._heard(eye) != [message for message in heard if message.step < number]:
                return False
            is_secret = number not in reached and self.game.to_move != own
            try:
                self.do(draws.choice(self._examples(self._seats[self.game.to_move or 0])) if is_secret else move)
            except GameRejected:
                return False
        same = self._heard(eye) == heard and self.to_move() == known.to_move() and self.returns() == known.returns()
        return same and self.tried == known.tried


def _one_line(text: str) -> str:
    """Without line breaks and control characters, so it cannot pass for a line of the library's texts."""
    found = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    if not found:
        raise GameRejected("there are no words in this; write something")
    return found


def _reaches(message: Message, player: int | None) -> bool:
    return message.to in (EVERYBODY, player)


def _once(messages: Sequence[Message]) -> list[Message]:
    """Without what several players were told in the same words, and with the rules as the first player has them."""
    found = {(m.step, m.text): m for m in reversed(messages) if m.kind != PROMPT or m.to <= 0}
    return list(reversed(found.values()))


def _data(message: Message) -> dict[str, Any]:
    sender = "game" if message.sender == GAME else views.player_name(message.sender)
    return {"from": sender, "text": message.text, "is_move": message.kind == ACTION}
