"""Crafter for up to 64 players in one land, who may come and go while it runs."""

from collections.abc import Mapping, Sequence
from inspect import cleandoc
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from cohabit.bodies import BodyState, DepartMode, EmbodiedWorld
from cohabit.errors import GameRejected
from cohabit.model.action import Action
from cohabit.model.observation import Goal, Observation
from cohabit.model.record import Told
from cohabit.model.seat import Eye, Seat, SeatId
from cohabit.world import ActionSpec, Arrival, Outcome, Range, Standing, WorldSpec, action
from cohabit.worlds.crafter import bodies, saves, trade
from cohabit.worlds.crafter.actions import action_specs, useful_actions
from cohabit.worlds.crafter.arrays import array_of, nothing
from cohabit.worlds.crafter.bodies import CrafterBody
from cohabit.worlds.crafter.drawing.map import map_scene
from cohabit.worlds.crafter.drawing.scene import player_scene
from cohabit.worlds.crafter.draws import KeyedDraws
from cohabit.worlds.crafter.events import death_text, outcome_text
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.layers import everything_layers, player_layers, shared_layers
from cohabit.worlds.crafter.observing import changes_between, crowd_observation, inventory_of, observation_of
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.repeats import Repeats
from cohabit.worlds.crafter.rules import ACHIEVEMENTS, ACTIONS, ITEMS, MOST, SLEEP, VIEW_HEIGHT, VIEW_WIDTH
from cohabit.worlds.crafter.text import WAYS
from cohabit.worlds.crafter.trade import Trade
from cohabit.worlds.crafter.travel import TRAVEL, deeds_of
from cohabit.worlds.crafter.world import Crafter, CrafterWorld, Length, Side, standing
from cohabit.worlds.newcomers import unique_name, why_not_new_body

MAX_PLAYERS = 64
MIN_AWAY = 10
"""Steps before a player who left can come back, so that leaving is no way to dodge a blow."""
Item = Literal[
    "sapling", "wood", "stone", "coal", "iron", "diamond",
    "wood_pickaxe", "stone_pickaxe", "iron_pickaxe", "wood_sword", "stone_sword", "iron_sword",
]  # fmt: skip
Amount = Annotated[int, Range(1, MOST, "how many")]
Goals = Literal["own", "shared", "rival"]


class SavedSharedGame(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The contents of a save."""

    game: saves.SavedGame
    chosen: dict[SeatId, int | Trade]
    returns: dict[SeatId, float]
    unlocked: list[int]
    bodies: list[CrafterBody]
    repeats: Repeats | None = None  # if there are any


class CrafterShared(CrafterWorld, EmbodiedWorld):
    """Crafter for many. Up to 64 players in one wild land. Survive, gather, build, trade, and reach achievements.

    All players choose an action, then everybody acts at once; a player who has not chosen does nothing. If two
    want the same cell, chance decides who comes first. Guests can come and go (`jack_in`, `jack_out`); those who come
    back still have what they carried.
    """

    spec = WorldSpec(
        name="crafter_shared", version=5, title="Crafter, shared", seats=(0, MAX_PLAYERS), pace="rounds",
        show_legal=False, examples=True, front_end="crafter.html",
    )  # fmt: skip

    travel = TRAVEL
    turning_takes_time = True  # one turns by moving, as in the game for one player

    def __init__(
        self,
        length: Length = 10_000,
        goals: Annotated[
            Goals,
            Range(
                doc="own: each player for itself; shared: what one unlocks counts for all; rival: for the first only"
            ),
        ] = "own",
        fighting: Annotated[bool, Range(doc="whether players can hurt each other")] = False,
        size: Side = 64,
        respawns: Annotated[bool, Range(doc="whether the dead can come back to life")] = False,
    ) -> None:
        self.respawns = respawns
        self.length = length
        self.goals_mode = goals
        self.fighting = fighting
        self.size = size

    def describe(self) -> str:
        fight = "Players can hurt each other with `do`." if self.fighting else "Players cannot hurt each other."
        goals = {
            "own": "Everybody unlocks achievements for themselves.",
            "shared": "You share all goals: when one of you is the first to unlock an achievement, each of you gets 1.",
            "rival": "You are rivals: only who unlocks an achievement first gets 1 for it.",
        }[self.goals_mode]
        trade = (
            "`give` hands items to the player in front of you, `drop` puts them on the ground there as a bundle, which "
            "anybody can take with `do`. What a dead player had is left as a bundle, too."
        )
        # The rules of the game for one, without its first words and its end.
        _, *rules, _ = cleandoc(Crafter.__doc__ or "").split("\n\n")
        end = f"The game ends after {self.length} steps, or when all players are dead; the dead can watch."
        if self.respawns:
            end = f"The game ends after {self.length} steps. The dead can come back (`respawn`)."
        return "\n\n".join([super().describe(), f"{fight} {goals} {trade}", *rules, end])

    # -- seats ---------------------------------------------------------------------------------------------
    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.game = Game.new(KeyedDraws(seed), len(seats), (self.size, self.size), self.fighting)
        self.chosen: dict[SeatId, int | Trade] = {}
        self.totals: dict[SeatId, float] = {}
        self.unlocked: list[int] = []  # achievements that somebody has, by number, in the order of unlocking
        self.bodies = [CrafterBody() for _ in seats]
        self.game.length = self.length
        for player, seat in zip(self.game.players, seats, strict=True):
            player.name = self._unique_name(seat.name, player) if seat.name != seat.id else seat.id

    def _player(self, seat: SeatId) -> Player:
        return self.game.players[int(seat) - 1]

    def _present(self) -> list[tuple[SeatId, Player]]:
        """The players who have not left, also dead ones."""
        return [(str(player.number + 1), player) for player in self.game.players if not player.away]

    def seats_now(self) -> Sequence[Seat]:
        return [Seat(seat, player.name) for seat, player in self._present()]

    def why_not_arrive(self, arrival: Arrival, leaves: SeatId | None = None) -> str:
        present = [player for seat, player in self._present() if seat != leaves]
        if (gone := self._returning(arrival)) is None:
            ever = len(self.game.players)
            return why_not_new_body(arrival, self.is_over(), len(present), MAX_PLAYERS, ever, saves.MAX_PLAYERS_EVER)
        since = self.game.step_number - gone.left_at
        if self.bodies[gone.number].dormant or since >= MIN_AWAY or not any(player.alive for player in present):
            return ""
        return f"you have just left; you can come back in {MIN_AWAY - since} steps"

    def arrive(self, arrival: Arrival) -> Seat:
        if why := self.why_not_arrive(arrival):
            raise GameRejected(why)
        if (gone := self._returning(arrival)) is not None:
            back = self._come_back(gone)
            self._set_damage(gone, arrival.damage)
            return back
        x, y = self.game.free_start()
        player = self.game.add_player(x, y)
        player.name = self._unique_name(arrival.name, player)
        self.bodies.append(CrafterBody())
        bodies.begin_with(player, self.bodies[-1], arrival.bonuses)
        self._set_damage(player, arrival.damage)
        return Seat(str(player.number + 1), player.name)

    def _set_damage(self, player: Player, factor: float) -> None:
        self.bodies[player.number].damage = self.game.land.damage[player.number] = factor

    def _returning(self, arrival: Arrival) -> Player | None:
        return self._away(arrival.seat) if arrival.returns and arrival.seat is not None else None

    def _away(self, seat: SeatId) -> Player | None:
        """The player who has left this seat."""
        for player, body in zip(self.game.players, self.bodies, strict=True):
            if player.away and not body.gone and str(player.number + 1) == seat:
                return player
        return None

    def _unique_name(self, name: str, newcomer: Player) -> str:
        taken = {player.name for player in self.game.players if player is not newcomer}
        return unique_name(name, newcomer.number + 1, taken)

    def _come_back(self, player: Player) -> Seat:
        body = self.bodies[player.number]
        if body.dormant:
            body.dormant = player.away = False
            player.begin_step()  # what happened in its sleep is not the doing of its agent
            return Seat(str(player.number + 1), player.name)
        if player.alive:
            self.game.bring_back(player)
        player.away = False
        return Seat(str(player.number + 1), player.name)

    def depart(self, seat: Seat, mode: DepartMode) -> None:
        player, body = self._player(seat.id), self.bodies[int(seat.id) - 1]
        player.away, player.left_at = True, self.game.step_number
        body.dormant = mode == "dormant" and not player.removed
        if not (player.removed or body.dormant):
            self.game.remove_player(player)
        if mode == "despawn":
            body.gone, player.health, player.items = True, 0, [0] * len(ITEMS)
        self.chosen.pop(seat.id, None)

    def goals(self, seat: Seat) -> Sequence[Goal]:
        return bodies.goals_of(self._player(seat.id)) if self.bodies[int(seat.id) - 1].hint else ()

    # -- bodies --------------------------------------------------------------------------------------------
    def body(self, seat: SeatId) -> BodyState:
        return bodies.state_of(self.game, self._player(seat), self.bodies[int(seat) - 1], self.respawns)

    def is_alive(self, seat: SeatId) -> bool:
        return self._player(seat).alive

    def deeds(self, seat: SeatId) -> Mapping[str, int]:
        player = self._player(seat)
        return deeds_of(player.achievements, self.game.land.repeats.of(player))

    def respawn(self, seat: Seat, option: str) -> Outcome:
        bodies.revive(self.game, self._player(seat.id), self.bodies[int(seat.id) - 1], option)
        return Outcome("You live again.")

    def put_items(self, seat: SeatId, item: str, count: int) -> int:
        items = self._player(seat).items
        taken = min(count, MOST - items[ITEMS.index(item)])
        items[ITEMS.index(item)] += taken
        return taken

    def take_items(self, seat: SeatId, item: str, count: int) -> int:
        items = self._player(seat).items
        taken = min(count, items[ITEMS.index(item)])
        items[ITEMS.index(item)] -= taken
        return taken

    def turn_to(self, seat: Seat, target: str) -> Outcome:
        player = self._player(seat.id)
        way = bodies.DIRECTIONS.get(target.strip().lower())
        if way is None:
            raise GameRejected("you can look left, right, up or down")
        player.dx, player.dy = way
        return Outcome(f"You face {WAYS[way]}.")

    def blocked_actions(self, seat: Seat) -> Mapping[str, str]:
        return bodies.blocked(self.game, self._player(seat.id))

    def witnesses(self, seat: SeatId) -> tuple[SeatId, ...]:
        seen = self._player(seat)
        return tuple(
            other
            for other, player in self._present()
            if abs(player.x - seen.x) <= VIEW_WIDTH // 2 and abs(player.y - seen.y) <= VIEW_HEIGHT // 2
        )

    # -- turns ---------------------------------------------------------------------------------------------
    def to_move(self) -> Sequence[SeatId]:
        if self.game.step_number >= self.length:
            return ()
        return [seat for seat, player in self._present() if player.alive and seat not in self.chosen]

    def is_over(self) -> bool:
        """When time is up or all players are dead, also those who have left. A land without players waits for some."""
        if self.game.step_number >= self.length:
            return True
        players = self.game.players
        return bool(players) and not self.respawns and not any(player.alive for player in players)

    def actions(self) -> Sequence[ActionSpec]:
        return [*action_specs(self._choose), *super().actions()]

    def useful(self, seat: Seat) -> Sequence[Action]:
        return useful_actions(self.game, self._player(seat.id))

    def _choose(self, by: Seat, choice: int | Trade) -> Outcome:
        self._check_alive(by)
        before = self.chosen.get(by.id)
        self.chosen[by.id] = choice
        instead = "" if before in (None, choice) else f" instead of {_name(before)}"
        return Outcome(f"You chose {_name(choice)}{instead}.", pending=True)

    def _check_alive(self, by: Seat) -> None:
        if not self._player(by.id).alive:
            back = "`respawn` brings you back to life" if self.respawns else "the game goes on without you"
            raise GameRejected(f"you are dead; {back}")

    @action()
    def give(self, by: Seat, item: Item, amount: Amount = 1) -> Outcome:
        """Hand items to the player in front of you. They take what they can carry, at most 9 of a kind."""
        return self._choose(by, Trade("give", ITEMS.index(item), amount))

    @action()
    def drop(self, by: Seat, item: Item, amount: Amount = 1) -> Outcome:
        """Put items on the ground in front of you, for anybody to take."""
        return self._choose(by, Trade("drop", ITEMS.index(item), amount))

    def resolve(self) -> Sequence[Told]:
        game = self.game
        acting = [player for player in game.players if not player.removed]
        if not acting:
            return ()  # time stands still while nobody is here
        choices = {player.number: SLEEP for player in acting if self.bodies[player.number].dormant}
        game.step(choices | {int(seat) - 1: choice for seat, choice in self.chosen.items()})
        self.chosen = {}
        for player in acting:
            self.bodies[player.number].steps += 1
            self.bodies[player.number].shrug_off(player)
        self._count_rewards(acting)
        told = []
        for player in acting:
            if not player.alive:
                game.remove_player(player)
                self.bodies[player.number].dropped = inventory_of(player)
                trade.leave_behind(game.land, player)
                told.append(Told(f"player {player.name} {death_text(player)}"))
        return told

    def outcome(self, seat: Seat) -> Outcome:
        player = self._player(seat.id)
        achieved = tuple(ACHIEVEMENTS[number] for number in player.new)
        return Outcome(outcome_text(player), achievements=achieved, success=player.failure is None)

    def _count_rewards(self, players: Sequence[Player]) -> None:
        """Add up the rewards. With shared or rival goals only the first time counts that anybody unlocks something."""
        first = sorted({number for player in players for number in player.new} - set(self.unlocked))
        self.unlocked += first
        for player in players:
            reward = player.reward
            if self.goals_mode != "own":
                reward -= 1.0 if player.new else 0.0
                won = first if self.goals_mode == "shared" else [number for number in player.new if number in first]
                reward += 1.0 if won else 0.0
                player.first += len(won)
            if reward:
                seat = str(player.number + 1)
                self.totals[seat] = round(self.totals.get(seat, 0.0) + reward, 1)

    def returns(self) -> Mapping[SeatId, float]:
        return self.totals

    # -- views -----------------------------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        return self._observation(eye, with_text=True)

    def observe_data(self, eye: Eye) -> Observation:
        return self._observation(eye, with_text=False)

    def _map_of(self, eye: Eye) -> Player | None:
        return self._player(eye.seat) if eye.seat is not None and eye.sees != "public" else None

    def _observation(self, eye: Eye, with_text: bool) -> Observation:
        if eye.seat is not None and eye.sees != "public":
            return observation_of(self.game, self._player(eye.seat), with_text, has_chosen=eye.seat in self.chosen)
        return crowd_observation(self.game, [player for _, player in self._present()], eye.sees == "all")

    def changes(self, before: Observation, now: Observation) -> str | None:
        return changes_between(before, now) if "facing" in before.status and "facing" in now.status else None

    def picture(self, eye: Eye) -> bytes | None:
        """The own view of a player; the whole land for those who see all, and nothing for others."""
        if eye.sees == "all":
            return map_scene(self.game, [player for _, player in self._present()])
        if eye.seat is not None and eye.sees == "own":
            return player_scene(self.game, self._player(eye.seat))
        return None

    def scene(self, eye: Eye) -> Mapping[str, Any]:
        # Unlocked achievements are public: the scoreboard shows them for each player.
        goals = {"mode": self.goals_mode, "unlocked": [ACHIEVEMENTS[number] for number in self.unlocked]}
        if eye.seat is not None and eye.sees != "public":
            return player_layers(self.game, self._player(eye.seat)) | {"goals": goals}
        return (everything_layers(self.game) if eye.sees == "all" else shared_layers()) | {"goals": goals}

    def array(self, eye: Eye, form: str) -> NDArray[np.uint8]:
        if eye.seat is None or eye.sees == "public":
            return nothing(form)
        return array_of(self.game, self._player(eye.seat), form)

    def standings(self) -> Sequence[Standing]:
        rows = [standing(seat, player) for seat, player in self._present()]
        if self.goals_mode == "rival":
            rows = [replace(row, score=self._player(row.seat).first) for row in rows]
        return sorted(rows, key=lambda row: -row.score)

    # -- saves -----------------------------------------------------------------------------------------------
    def snapshot(self) -> bytes:
        saved = SavedSharedGame(
            saves.save_game(self.game),
            self.chosen,
            self.totals,
            self.unlocked,
            self.bodies,
            self.game.land.repeats.or_none(),
        )
        return msgspec.msgpack.encode(saved)

    def restore(self, data: bytes) -> None:
        saved = saves.decode(data, SavedSharedGame)
        game = saves.load_game(saved.game)
        known = {str(player.number + 1) for player in game.players}
        if not (known.issuperset(saved.chosen) and known.issuperset(saved.returns)):
            raise GameRejected("this is not a save of Crafter: it has choices of players that it does not have")
        if not set(saved.unlocked) <= set(range(len(ACHIEVEMENTS))):
            raise GameRejected("this is not a save of Crafter: it has unknown achievements")
        if len(saved.bodies) != len(game.players):
            raise GameRejected("this is not a save of Crafter: it has not one body for each player")
        game.length = self.length
        self.bodies = saved.bodies
        self.game, self.chosen, self.totals, self.unlocked = game, saved.chosen, saved.returns, saved.unlocked
        game.land.repeats = saved.repeats or Repeats()
        game.land.damage = {number: body.damage for number, body in enumerate(self.bodies)}


def _name(choice: int | Trade) -> str:
    return ACTIONS[choice] if isinstance(choice, int) else choice.how
