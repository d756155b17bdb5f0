"""One game of Crafter, for any number of players.

With one player and ``StockDraws`` this is the original game, draw for draw. With several, each rule that speaks of the
player speaks of the nearest one, and players act in an order that is drawn for each step.
"""

from collections.abc import Mapping

from cohabit.errors import GameRejected
from cohabit.worlds.crafter import draws as purpose
from cohabit.worlds.crafter.acting import act
from cohabit.worlds.crafter.balance import balance
from cohabit.worlds.crafter.creatures import UPDATES, nearest
from cohabit.worlds.crafter.draws import Draws
from cohabit.worlds.crafter.land import BORDER, Land
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import (
    ACTIVE_DISTANCE,
    BALANCE_EVERY,
    CREATURES_WALK,
    NIGHT,
    NOOP,
    VIEW_HEIGHT,
    VIEW_WIDTH,
    daylight,
)  # fmt: skip
from cohabit.worlds.crafter.terrain import first_creatures, make_terrain
from cohabit.worlds.crafter.trade import Trade
from cohabit.worlds.seen_map import SeenMap

LENGTH = 10_000
"""Steps of a game, unless somebody says otherwise."""


class Game:
    """A world, the players in it, and the time."""

    def __init__(self, draws: Draws, land: Land, start: tuple[int, int], fighting: bool = False) -> None:
        self.draws = draws
        self.land = land
        self.start = start
        self.fighting = fighting
        self.length = LENGTH  # steps until the game ends
        self.step_number = 0
        self.daylight = daylight(0)
        self.players: list[Player] = []  # also those who have left or died
        self.seen: list[SeenMap] = []  # what each of them has seen of the land

    @classmethod
    def new(cls, draws: Draws, players: int = 1, size: tuple[int, int] = (64, 64), fighting: bool = False) -> "Game":
        """A new world with its creatures and this many players."""
        start = size[0] // 2, size[1] // 2
        terrain = make_terrain(draws, size, start)
        game = cls(draws, Land(terrain.materials), start, fighting)
        if players:
            game.add_player(*start)
        for kind, x, y in first_creatures(draws, terrain, start):
            game.land.add(kind, x, y)
        for _ in range(players - 1):
            game.add_player(*game.free_start())
        return game

    # -- players -----------------------------------------------------------------------------------------
    def add_player(self, x: int, y: int, player: Player | None = None) -> Player:
        """Put a new player, or one who comes back, on a free cell."""
        if player is None:
            player = Player(number=len(self.players))
            self.players.append(player)
            self.seen.append(SeenMap((self.land.width, self.land.height)))
        player.x, player.y, player.cell = x, y, self.land.cell(x, y)
        player.removed = False
        self.land.at[player.cell] = player
        self.land.enter(player)
        self.look_around(player)
        return player

    def look_around(self, player: Player) -> None:
        """The player remembers what it sees now."""
        land, left, up = self.land, VIEW_WIDTH // 2, VIEW_HEIGHT // 2
        self.seen[player.number].see(
            land.materials().T,
            max(0, player.x - left),
            max(0, player.y - up),
            min(land.width, player.x + left + 1),
            min(land.height, player.y + up + 1),
            self.step_number,
        )

    def remove_player(self, player: Player) -> None:
        """Take a player off the map."""
        player.removed = True
        self.land.at[player.cell] = None

    def bring_back(self, player: Player) -> None:
        """Put a player who left where it was, or near the start if somebody is there now."""
        land = self.land
        if land.at[player.cell] is None and land.material[player.cell] in CREATURES_WALK:
            self.add_player(player.x, player.y, player)
        else:
            self.add_player(*self.free_start(), player)

    def free_start(self) -> tuple[int, int]:
        """The free cell of grass, sand or path that is nearest to the start; of equally near ones, one by chance."""
        land = self.land
        ranks = []
        for cell, material in enumerate(land.material):
            if material in CREATURES_WALK and land.at[cell] is None:
                x, y = cell // land.stride - BORDER, cell % land.stride - BORDER
                ranks.append(((x - self.start[0]) ** 2 + (y - self.start[1]) ** 2, cell, x, y))
        if not ranks:
            raise GameRejected("there is no free cell for another player")
        near = min(ranks)[0]
        best = min(
            (self.draws.uniform(purpose.START, cell), x, y) for distance, cell, x, y in ranks if distance == near
        )
        return best[1:]

    # -- a step ------------------------------------------------------------------------------------------
    def step(self, actions: Mapping[int, int | Trade]) -> None:
        """One step of the world. ``actions`` are by player number; a player who is missing does nothing."""
        self.step_number += 1
        self.daylight = daylight(self.step_number)
        land, draws = self.land, self.draws
        draws.start_step(self.step_number)
        players = [player for player in self.players if not player.removed]
        if len(players) > 1:
            players.sort(key=lambda player: draws.uniform(purpose.PRIORITY, player.number))
        things = list(land.things)  # what appears in this step acts from the next one on
        for player in players:
            player.begin_step()
        for player in players:
            if player.health <= 0 and len(players) > 1:  # killed by another player in this step
                continue
            act(land, draws, player, actions.get(player.number, NOOP), self.fighting)
        if len(players) == 1:
            x, y = players[0].x, players[0].y
            for thing in things:
                if abs(thing.x - x) + abs(thing.y - y) < ACTIVE_DISTANCE:
                    UPDATES[thing.kind](land, draws, players, thing)
        elif players:
            for thing in things:
                if nearest(players, thing.x, thing.y)[1] < ACTIVE_DISTANCE:
                    UPDATES[thing.kind](land, draws, players, thing)
        if players and self.step_number % BALANCE_EVERY == 0:
            balance(land, draws, players, self.daylight)
        if self.daylight < NIGHT:
            draws.night()
        for player in players:
            player.end_step()
            self.look_around(player)
