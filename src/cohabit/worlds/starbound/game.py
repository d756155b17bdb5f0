"""The game: bodies and planets. Planets are made when a body first comes to them."""

from cohabit.model.stream import Stream
from cohabit.worlds.seen_map import SeenMap
from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.land import Land, landing_site, make_land, ship_land
from cohabit.worlds.starbound.planets import HOME, SHIP, WIDTH

SECTION = 8  # columns of a planet that count as one when they are explored


class Game:
    """All of a game. ``draws`` decides what creatures do."""

    def __init__(self, seed: int, fighting: bool = False) -> None:
        self.seed = seed
        self.lands_seed = seed  # of planets that are made later; another one where they are only imagined
        self.fighting = fighting
        self.step_number = 0
        self.bodies: list[Body] = []
        self.lands: dict[str, Land] = {}
        self.draws = Stream(seed, "creatures")
        self.creatures_made = 0
        self.seen: dict[tuple[int, str], SeenMap] = {}  # by the number of a body and a planet; see ``maps``

    def land(self, place: str) -> Land:
        """A planet, or the inside of a ship."""
        if place == SHIP:
            return ship_land()
        if place not in self.lands:
            self.lands[place] = make_land(self.lands_seed, place)
        return self.lands[place]

    def land_of(self, body: Body) -> Land:
        return self.land(body.place)

    def add_body(self, name: str) -> Body:
        number = len(self.bodies) + 1
        x, y = landing_site(self.land(HOME), number)
        body = Body(number, name, x, y, tally={"planets": 1, f"visit:{HOME}": 1})
        self.bodies.append(body)
        self.explore(body)
        return body

    def here(self) -> list[Body]:
        """The living bodies in the world, awake or asleep."""
        return [body for body in self.bodies if body.here]

    def on(self, place: str) -> list[Body]:
        """The living bodies on a planet."""
        return [body for body in self.bodies if body.place == place and body.here]

    def explore(self, body: Body) -> None:
        """Count the sections of land that a body sees for the first time."""
        if body.place == SHIP:
            return
        seen = body.explored.get(body.place, 0)
        for x in (body.x - SECTION, body.x, body.x + SECTION):
            bit = 1 << x % WIDTH // SECTION
            if not seen & bit:
                seen |= bit
                body.count("explore")
        body.explored[body.place] = seen
