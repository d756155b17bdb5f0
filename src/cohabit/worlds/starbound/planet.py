"""The planet world: up to 100 players on the planets of one system, seen from the side."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from cohabit.errors import GameRejected
from cohabit.model.action import Action
from cohabit.model.observation import Goal
from cohabit.world import (
    ArraySpec,
    Eye,
    Observation,
    Outcome,
    Range,
    Seat,
    SeatId,
    Standing,
    Stream,
    Told,
    WorldSpec,
    query,
)  # fmt: skip
from cohabit.worlds.seen_map import ExploredMap, no_map
from cohabit.worlds.shifted_view import facts_of
from cohabit.worlds.starbound import acting, arrays, creatures, environment, harm, imagined, maps, quests, saves
from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.choices import Choice
from cohabit.worlds.starbound.drawing.scene import body_scene, system_scene
from cohabit.worlds.starbound.drawing.sprites import seat_colour
from cohabit.worlds.starbound.embodied import MAX_PLAYERS, PlanetBodies
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.layers import KEYS, body_layers, everything_layers, shared_layers
from cohabit.worlds.starbound.legal import NUMBERED, WAIT, sensible, useful
from cohabit.worlds.starbound.planets import HEIGHT, PLANET_NAMES, WIDTH
from cohabit.worlds.starbound.status import crowd_observation, observation_of
from cohabit.worlds.starbound.terrain import make_terrain
from cohabit.worlds.starbound.text import changes_text
from cohabit.worlds.starbound.tiles import TO_LETTERS

NOT_DONE = "You died before you could do it."


class Planet(PlanetBodies):
    """Planets seen from the side. Gather, dig, build, craft, fight, and travel from planet to planet in your ship.

    All players choose an action, then one step passes for everybody; a player who has chosen nothing by then does
    nothing. An action that fails still takes a step. The map is cut open like a cliff: x goes right, y goes down, and
    gravity pulls. You walk over steps of one tile; a jump goes up to three tiles up (more where gravity is low) and
    then sideways. Falling more than five tiles hurts. Planets are round: walking on brings you back.

    On the map: @ you, . air, O another player, E a hostile creature, a any other creature, $ a bundle; a blank is a
    tile that you do not see. R4D1 is the tile four to the right and one down, "here" is your own; x11 means eleven
    tiles, of which the nearest is given.

    `use_tool` digs the tile next to you and gives you its material; trees (T) give wood. Stone and coal need a
    wood_pickaxe, iron and crystal a stone_pickaxe, titanium, diamond and obsidian an iron_pickaxe. `craft` makes items
    by hand or near a station that you have placed: workbench, furnace, anvil, campfire; `open_crafting` lists what each
    item needs. Hunger, drowning, falls, lava, cold, heat, poison and creatures kill; food, bandages, torches, armor and
    shelter help. At night hostile creatures come out and are stronger. In the dark you see only a few tiles; torches
    light the way. You hear what is near behind walls. While you crouch, creatures notice you from half as far and
    nobody hears you, but you go one tile at a time and cannot jump.

    `beam_up` under open sky takes you to your ship. Aboard, `consume` coal (2 fuel) or crystal (20 fuel), `warp` to a
    planet, and `beam_down`; you can always fly home to Verdant, even with little fuel. You can also `buy`, `sell`,
    `store` and `fetch` there. What you carry falls when you die; what is in the ship's locker is safe.

    Each achievement and each quest is worth 1. `map` shows what you have seen of a planet so far.
    """

    spec = WorldSpec(
        name="planet", version=7, title="Planets", seats=(0, MAX_PLAYERS), pace="rounds", show_legal=False,
        examples=True, front_end="planet.html",
    )  # fmt: skip
    keys = KEYS

    def __init__(
        self,
        length: Annotated[int, Range(1, 1_000_000, "steps of a game")] = 10_000,
        fighting: Annotated[bool, Range(doc="whether players can hurt each other")] = False,
        respawn_after: Annotated[
            int, Range(0, 10_000, "steps after which the dead wake up aboard by themselves; 0: never")
        ] = 20,
    ) -> None:
        self.length = length
        self.fighting = fighting
        self.respawn_after = respawn_after

    def describe(self) -> str:
        fight = "Players can hurt each other." if self.fighting else "Players cannot hurt each other."
        return f"{super().describe()} {fight} The game ends after {self.length} steps."

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.game = Game(seed, self.fighting)
        self.chosen: dict[SeatId, Choice] = {}
        self.totals: dict[SeatId, float] = {}
        self._acted: dict[SeatId, str] = {}  # why each action of the last step failed, for `outcome`; not in a snapshot
        for seat in seats:
            self._new_body(seat.name if seat.name != seat.id else "")

    # -- turns ---------------------------------------------------------------------------------------------
    def to_move(self) -> Sequence[SeatId]:
        """The living who have not chosen; if all are dead, they pass the time together."""
        if self.is_over():
            return ()
        return [body.seat for body in self._awaited() if body.seat not in self.chosen]

    def _awaited(self) -> list[Body]:
        """The bodies that a step waits for."""
        present = self._present()
        living = [body for body in present if body.fate is None]
        return living or (present if self.respawn_after else [])

    def is_over(self) -> bool:
        return self.game.step_number >= self.length

    def _choose(self, by: Seat, name: str, **args: Any) -> Outcome:
        body = self._body_of(by.id)
        if not body.alive and name != "wait":
            raise GameRejected("you are dead; `respawn` brings you back, or wait")
        before = self.chosen.get(by.id)
        self.chosen[by.id] = Choice(name, args)
        instead = "" if before is None or before.name == name else f" instead of {before.name}"
        return Outcome(f"You chose {name}{instead}.", pending=True)

    def resolve(self) -> Sequence[Told]:
        if not self._present():
            return ()  # time stands still while nobody is here
        living = [body for body in self.game.bodies if body.alive]
        self._step()
        self._wake_the_dead()
        return [
            Told(f"{body.name} {harm.CAUSES.get(body.fate.cause, 'died')}") for body in living if body.fate is not None
        ]

    def _step(self) -> None:
        """One step of time: everybody acts, then nature."""
        game, chosen = self.game, self.chosen
        game.step_number += 1
        self.chosen, self._acted = {}, {}
        living = game.here()
        first = game.step_number % len(living) if living else 0
        for body in living:
            body.events = []
        for body in living[first:] + living[:first]:  # everybody comes first at times
            choice = chosen.get(body.seat)
            if choice is not None and body.here and body.presence == "awake":
                self._acted[body.seat] = acting.act(game, body, choice.name, choice.args)
        for body in living:
            if body.here:
                environment.live(game, body)
        creatures.step(game)
        for land in game.lands.values():
            environment.grow(game, land)
        for body in living:
            game.explore(body)
            maps.look_around(game, body)
            if reward := quests.settle(body):
                self.totals[body.seat] = self.totals.get(body.seat, 0.0) + reward

    def outcome(self, seat: Seat) -> Outcome:
        body = self._body_of(seat.id)
        if seat.id not in self._acted:
            return Outcome(NOT_DONE, success=False)
        if why := self._acted[seat.id]:
            return Outcome(f"{why}.", success=False)
        return Outcome(" ".join(words for _, words in body.events))

    def _wake_the_dead(self) -> None:
        for body in self._present() if self.respawn_after else ():
            if body.fate is not None and self.game.step_number - body.fate.step >= self.respawn_after:
                harm.respawn(self.game, body, "ship")

    def returns(self) -> Mapping[SeatId, float]:
        return self.totals

    def legal(self, seat: Seat) -> Sequence[Action]:
        return sensible(self.game, self._body_of(seat.id))

    def fallback(self, seat: Seat) -> Action:
        return WAIT

    def goals(self, seat: Seat) -> Sequence[Goal]:
        return quests.goals_of(self._body_of(seat.id))

    # -- training ------------------------------------------------------------------------------------------
    def numbered(self) -> Sequence[Action]:
        return NUMBERED

    def useful(self, seat: Seat) -> Sequence[Action]:
        return useful(self.game, self._body_of(seat.id))

    def arrays(self) -> Mapping[str, ArraySpec]:
        return {arrays.VIEW: arrays.FORM}

    def array(self, eye: Eye, form: str) -> NDArray[np.float32]:
        if eye.seat is None or eye.sees == "public":
            return arrays.nothing()
        return arrays.array_of(self.game, self._body_of(eye.seat))

    # -- views ---------------------------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        return self._observation(eye, with_text=True)

    def observe_data(self, eye: Eye) -> Observation:
        return self._observation(eye, with_text=False)

    def _observation(self, eye: Eye, with_text: bool) -> Observation:
        if eye.seat is not None and eye.sees != "public":
            return observation_of(self.game, self._body_of(eye.seat), with_text, has_chosen=eye.seat in self.chosen)
        return crowd_observation(self.game, self._present(), eye.sees == "all")

    def changes(self, before: Observation, now: Observation) -> str | None:
        if "map" not in before.status or "map" not in now.status:
            return None
        return changes_text(facts_of(before), facts_of(now))

    @query(listed=False)
    def map(self, eye: Eye, planet: Annotated[str, Range(doc="default: yours")] = "") -> ExploredMap:
        """Show what you have seen so far, when, and where the unseen begins."""
        if eye.seat is None or eye.sees == "public":
            return no_map((WIDTH, HEIGHT), self.game.step_number)
        return maps.map_of(self.game, self._body_of(eye.seat), planet)

    @query(sees_all=True, listed=False)
    def chart(self, eye: Eye, planet: Annotated[str, Range(doc="the name of a planet")] = "verdant") -> list[str]:
        """The whole map of a planet, row by row, a letter for each tile."""
        if planet not in PLANET_NAMES:
            raise GameRejected(f"planets: {', '.join(PLANET_NAMES)}")
        land = self.game.lands.get(planet)  # a planet that nobody has visited is as it was made
        tiles = bytes(land.tiles) if land else make_terrain(self.game.lands_seed, planet).tiles
        letters = tiles.translate(TO_LETTERS).decode()
        return [letters[row * WIDTH : (row + 1) * WIDTH] for row in range(HEIGHT)]

    def picture(self, eye: Eye) -> bytes | None:
        """The own view of a player; all planets for those who see all, and nothing for others."""
        if eye.seat is not None and eye.sees == "own":
            return body_scene(self.game, self._body_of(eye.seat))
        return system_scene(self.game, self._present()) if eye.sees == "all" else None

    def scene(self, eye: Eye) -> Mapping[str, Any]:
        if eye.seat is not None and eye.sees != "public":
            return body_layers(self.game, self._body_of(eye.seat))
        return everything_layers(self.game, self._present()) if eye.sees == "all" else shared_layers()

    def standings(self) -> Sequence[Standing]:
        rows = [
            Standing(
                body.seat,
                body.name,
                len(body.achievements) + len(body.quests),
                body.alive,
                {
                    "achievements": len(body.achievements),
                    "quests": len(body.quests),
                    "planets": body.tally.get("planets", 0),
                    "deaths": body.tally.get("deaths", 0),
                    "steps": self.game.step_number,
                },
                seat_colour(body.number),
            )
            for body in self._present()
        ]
        return sorted(rows, key=lambda row: -row.score)

    def resample(self, eye: Eye, stream: Stream) -> None:
        """Redraw what a player has not seen of the planets and other players; for a spectator all but the scores."""
        self.game.draws = Stream(stream.bits64(), "creatures")
        if eye.sees != "all":
            own = self._body_of(eye.seat) if eye.sees == "own" and eye.seat is not None else None
            imagined.resample(self.game, self.chosen, own, stream)

    # -- saves ---------------------------------------------------------------------------------------------
    def snapshot(self) -> bytes:
        return saves.save_game(self.game, self.chosen, self.totals)

    def restore(self, data: bytes) -> None:
        self.game, self.chosen, self.totals = saves.load_game(data, self.fighting)
