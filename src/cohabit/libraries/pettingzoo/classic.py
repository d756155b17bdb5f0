"""Positions and moves of PettingZoo's classic games in words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cohabit.libraries.openspiel import hands
from cohabit.libraries.pettingzoo.words import Words
from cohabit.model.stream import Stream

MARKS = {0: ".", 1: "X", 2: "O", -1: "O"}


class Open(Words):
    """A game without secrets."""

    def told(self, env: Any, agent: str, move: Any) -> str:
        return self.name(env, agent, move)


class ConnectFour(Open):
    def name(self, env: Any, agent: str, move: Any) -> str:
        return f"column {move + 1}"

    def position(self, env: Any, agent: str | None, sees_all: bool) -> str:
        rows = [[MARKS[env.board[7 * row + column]] for column in range(7)] for row in range(6)]
        return _grid([map(str, range(1, 8)), *rows]) + "\nplayer_0 is X, player_1 is O."


class TicTacToe(Open):
    """Its squares are numbered column by column."""

    def name(self, env: Any, agent: str, move: Any) -> str:
        return f"row {move % 3 + 1} column {move // 3 + 1}"

    def position(self, env: Any, agent: str | None, sees_all: bool) -> str:
        rows = [[MARKS[env.board.squares[3 * column + row]] for column in range(3)] for row in range(3)]
        return _grid(rows) + "\nplayer_1 is X, player_2 is O."


class Chess(Open):
    def name(self, env: Any, agent: str, move: Any) -> str:
        from pettingzoo.classic.chess import chess_utils

        return str(chess_utils.action_to_move(env.board, move, env.possible_agents.index(agent)).uci())

    def position(self, env: Any, agent: str | None, sees_all: bool) -> str:
        rows = [f"{8 - number} {row}" for number, row in enumerate(str(env.board).split("\n"))]
        check = "\nThe king of the side to move is in check." if env.board.is_check() else ""
        return "\n".join([*rows, "  a b c d e f g h", f"player_0 is white (capitals), player_1 black.{check}"])


class Go(Open):
    """It keeps the size of the board in a module, so each use sets it again."""

    columns = "ABCDEFGHJKLMNOPQRSTUVWXYZ"

    def prepare(self, env: Any) -> None:
        env._overwrite_go_global_variables(board_size=env._N)

    def name(self, env: Any, agent: str, move: Any) -> str:
        size = env._N
        return "pass" if move == size * size else f"{self.columns[move % size]}{size - move // size}"

    def position(self, env: Any, agent: str | None, sees_all: bool) -> str:
        size = env._N
        rows = [
            [f"{size - number:2}", *(MARKS[int(stone)] for stone in row)] for number, row in enumerate(env._go.board)
        ]
        return _grid([*rows, ["  ", *self.columns[:size]]]) + "\nblack_0 is X, white_0 is O."

    def fallback(self, choices: Mapping[str, Any]) -> Any:
        return choices.get("pass", next(iter(choices.values())))


class RockPaperScissors(Open):
    shows_choices = True
    signs = ("rock", "paper", "scissors")

    def name(self, env: Any, agent: str, move: Any) -> str:
        return self.signs[move]

    def position(self, env: Any, agent: str | None, sees_all: bool) -> str:
        return "Rock beats scissors, scissors beat paper, paper beats rock."


class Poker(Words):
    """The poker games, which PettingZoo has from RLCard."""

    ranks: Mapping[str, str] = {"T": "10"}
    suits: Mapping[str, str] = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}

    def name(self, env: Any, agent: str, move: Any) -> str:
        names = env.env.actions
        found = names[move] if isinstance(names, list) else names(move).name.lower().replace("_", " ")
        return str(found)

    def told(self, env: Any, agent: str, move: Any) -> str:
        return self.name(env, agent, move)

    def fallback(self, choices: Mapping[str, Any]) -> Any:
        return next((choices[name] for name in ("check", "fold") if name in choices), next(iter(choices.values())))

    def position(self, env: Any, agent: str | None, sees_all: bool) -> str:
        game = env.env.game
        table = game.public_cards if hasattr(game, "public_cards") else [game.public_card]
        lines = [f"On the table: {self._cards(table) or 'nothing yet'}"]
        for each, player in zip(env.possible_agents, game.players, strict=True):
            chips = f", {player.remained_chips} left" if hasattr(player, "remained_chips") else ""
            lines.append(f"{each} has put in {player.in_chips}{chips}.")
            if each == agent or sees_all:
                lines.append(f"The hand of {each}: {self._cards(_hand(player))}")
        return "\n".join(lines)

    def redraw(self, env: Any, agent: str | None, stream: Stream) -> None:
        """Deal the cards that an agent has not seen again."""
        game = env.env.game
        others = [p for each, p in zip(env.possible_agents, game.players, strict=True) if each != agent]
        unseen = [*(card for player in others for card in _hand(player)), *game.dealer.deck]
        stream.shuffle(unseen)
        for player in others:
            dealt = [unseen.pop() for _ in _hand(player)]
            player.hand = dealt if isinstance(player.hand, list) else dealt[0]
        game.dealer.deck[:] = unseen

    def _cards(self, cards: Iterable[Any]) -> str:
        held = [card for card in cards if card is not None]
        return " ".join(self.ranks.get(card.rank, card.rank) + self.suits[card.suit] for card in held)


class Hanabi(Words):
    """PettingZoo has it from OpenSpiel, which describes the position to each player."""

    def _state(self, env: Any) -> Any:
        return env.hanabi_env.game_state

    def name(self, env: Any, agent: str, move: Any) -> str:
        return str(self._state(env).action_to_string(env.possible_agents.index(agent), move)).strip("()").lower()

    def told(self, env: Any, agent: str, move: Any) -> str:
        return self.name(env, agent, move)

    def position(self, env: Any, agent: str | None, sees_all: bool) -> str:
        state, players = self._state(env), env.possible_agents
        if sees_all:
            return str(state)
        shown = str(state.observation_string(players.index(agent or players[0])))
        if agent is not None:
            return hands.hanabi(shown, None, None)
        before, _, rest = shown.partition("Hands:\n")
        return before + rest[rest.index("Deck size") :]


def _hand(player: Any) -> list[Any]:
    return list(player.hand) if isinstance(player.hand, list) else [player.hand]


def _grid(rows: Sequence[Iterable[str]]) -> str:
    return "\n".join(" ".join(row) for row in rows)
