"""The sight and hearing of bodies.

It sees open space around it that is lit and not behind walls, and the walls of that space. It hears creatures and
players near it that it does not see; those who crouch or sleep are silent.
"""

from collections.abc import Sequence

from msgspec import Struct

from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.land import Land, across
from cohabit.worlds.starbound.planets import CREATURE, HEIGHT, WIDTH, is_night
from cohabit.worlds.starbound.tiles import LETTER_OF_NAME, OPEN, SOLID, TILES, TO_LETTERS

SIGHT_ACROSS, SIGHT_DOWN = 8, 4
HEARING = 8
CAVE_LIGHT, NIGHT_LIGHT, TORCH_LIGHT = 4, 6, 2
UNSEEN = " "
_LIGHTS = {number: tile.light for number, tile in enumerate(TILES) if tile.light}
_OPEN = bytes(OPEN) + bytes(256 - len(OPEN))
_WALL = next(number for number, tile in enumerate(TILES) if tile.name == "bedrock")


class Seen(Struct, frozen=True, gc=False):
    """A thing in sight, at its offset from the body: x to the right, y down."""

    name: str
    x: int
    y: int
    state: str = ""  # hostile, passive, asleep, dead, crouching
    health: str = ""


class View(Struct, frozen=True):
    """The rows from top to bottom, a letter for each tile; the body is in the middle."""

    rows: list[str]
    things: list[Seen]


def sight(body: Body) -> tuple[int, int]:
    """The number of tiles that a body sees to a side, and up and down."""
    return SIGHT_ACROSS + body.scanner, SIGHT_DOWN + body.scanner // 3


def sees_roof(land: Land, body: Body) -> bool:
    """True if a body sees something solid above itself. It sees the tiles straight above it also in the dark."""
    high = sight(body)[1]
    return any(SOLID[land.at(body.x, y)] for y in range(body.y - high, body.y))


class SeenTiles(Struct, frozen=True, gc=False):
    """The tiles around a body, row by row, and which of them it sees."""

    window: bytearray
    seen: bytes
    wide: int
    high: int


def seen_tiles(game: Game, body: Body) -> SeenTiles:
    land, (wide, high) = game.land_of(body), sight(body)
    window = _window(land, body, wide, high)
    return SeenTiles(window, _seen_cells(game, land, body, window, wide, high), wide, high)


def view_of(game: Game, body: Body) -> View:
    tiles, land = seen_tiles(game, body), game.land_of(body)
    window, seen, wide, high = tiles.window, tiles.seen, tiles.wide, tiles.high
    width = 2 * wide + 1
    letters = bytes(window).translate(TO_LETTERS).decode()
    shown = "".join([letter if seen[i] else UNSEEN for i, letter in enumerate(letters)])
    rows = [shown[start : start + width] for start in range(0, len(shown), width)]
    return View(rows, _things(game, land, body, seen, wide, high))


def nearest_tile(rows: Sequence[str], name: str) -> tuple[int, int] | None:
    """The offset of the nearest tile with this name in the rows of a view."""
    high, wide, letter = len(rows) // 2, len(rows[0]) // 2, LETTER_OF_NAME.get(name)
    spots = [(x - wide, y - high) for y, row in enumerate(rows) for x, shown in enumerate(row) if shown == letter]
    return min(spots, key=lambda spot: (abs(spot[0]) + abs(spot[1]), spot[1], spot[0]), default=None)


def _window(land: Land, body: Body, wide: int, high: int) -> bytearray:
    """The tiles around a body, row by row."""
    width, left = 2 * wide + 1, (body.x - wide) % WIDTH
    window = bytearray()
    for y in range(body.y - high, body.y + high + 1):
        if not 0 <= y < HEIGHT:
            window += bytes([0 if y < 0 else _WALL]) * width
            continue
        row = land.tiles[y * WIDTH : (y + 1) * WIDTH]
        window += row[left : left + width]
        if left + width > WIDTH:
            window += row[: left + width - WIDTH]
    return window


def _seen_cells(game: Game, land: Land, body: Body, window: bytearray, wide: int, high: int) -> bytes:
    """Cells that are lit and that an open way within the window leads to, and those beside such a way.

    The cells are bytes of one large number, so that a step in any direction is a shift. Rows are one byte longer than
    the window: what is shifted over an edge is lost there.
    """
    width, height = 2 * wide + 1, 2 * high + 1
    size, right, down = (width + 1) * height, 8, 8 * (width + 1)
    lit = _number(_lit_cells(game, land, body, window, wide, high), width)
    free = _number(window.translate(_OPEN), width) & lit
    start = 1 << 8 * (high * (width + 1) + wide)
    way = start
    while True:
        wider = way | (way << right | way >> right | way << down | way >> down) & free
        if wider == way:
            break
        way = wider
    rows = way | way << right | way >> right
    seen = (rows | rows << down | rows >> down) & lit | start
    cells = seen.to_bytes(size, "little")
    return b"".join([cells[at : at + width] for at in range(0, size, width + 1)])


def _number(cells: bytearray, width: int) -> int:
    """Cells of 0 and 1, row by row, as the bytes of a number."""
    rows = [cells[at : at + width] for at in range(0, len(cells), width)]
    return int.from_bytes(b"\0".join(rows) + b"\0", "little")


def _lit_cells(game: Game, land: Land, body: Body, window: bytearray, wide: int, high: int) -> bytearray:
    width, height = 2 * wide + 1, 2 * high + 1
    if land.kind is None:
        return bytearray(b"\1") * (width * height)
    lit = bytearray(width * height)
    night = is_night(land.kind, game.step_number)
    outside = land.under_sky(body.x, body.y)
    if not night:
        for column in range(width):
            last = land.surface[(body.x + column - wide) % WIDTH] + 1 - (body.y - high)
            for row in range(min(height, last + 1)):
                lit[row * width + column] = 1
    own = (NIGHT_LIGHT if outside else CAVE_LIGHT) + body.scanner
    _shine(lit, wide, high, width, height, own + (TORCH_LIGHT if "torch" in body.items else 0))
    for cell, tile in enumerate(window):
        if tile in _LIGHTS:
            _shine(lit, cell % width, cell // width, width, height, _LIGHTS[tile])
    return lit


def _shine(lit: bytearray, column: int, row: int, width: int, height: int, radius: int) -> None:
    """Light everything within a radius; the light is a diamond with cut corners."""
    for y in range(max(0, row - radius), min(height, row + radius + 1)):
        half = min(radius, radius + radius // 2 - abs(y - row))
        first, last = max(0, column - half), min(width, column + half + 1)
        if last > first:
            lit[y * width + first : y * width + last] = b"\1" * (last - first)


def _things(game: Game, land: Land, body: Body, seen: bytes, wide: int, high: int) -> list[Seen]:
    width = 2 * wide + 1
    found: list[Seen] = []

    def is_seen(x: int, y: int) -> tuple[int, int] | None:
        dy = y - body.y
        if abs(dy) > high:
            return None
        dx = across(body.x, x)
        return (dx, dy) if abs(dx) <= wide and seen[(dy + high) * width + dx + wide] else None

    for creature in land.creatures:
        if (at := is_seen(creature.x, creature.y)) is not None:
            kind = CREATURE[creature.kind]
            state = "hostile" if kind.damage else "passive"
            found.append(Seen(kind.name, *at, state, f"{creature.health}/{kind.health}"))
    bundles = [is_seen(bundle.x, bundle.y) for bundle in land.bundles]
    found += [Seen("bundle", *at) for at in bundles if at is not None]
    if land.kind is not None:
        for other in game.bodies:
            if other is body or other.place != land.name or other.presence not in ("awake", "dormant"):
                continue
            if (at := is_seen(other.x, other.y)) is not None:
                state = "dead" if not other.alive else "asleep" if other.presence == "dormant" else ""
                if other.crouching:
                    state = "crouching"
                found.append(Seen(f"player {other.name}", *at, state))
    found.sort(key=lambda thing: (abs(thing.x) + abs(thing.y), thing.y, thing.x, thing.name))
    return found


# -- hearing ---------------------------------------------------------------------------------------------
def heard(game: Game, body: Body, view: View) -> list[str]:
    """The kind of each and the side on which it is, the nearest first. Walls do not keep sound away."""
    land = game.land_of(body)
    if land.kind is None:
        return []  # everybody is alone aboard
    seen = {(thing.name, thing.x, thing.y) for thing in view.things}
    loud = [other for other in game.on(body.place) if other.presence == "awake" and not other.crouching]
    sources = [
        *((CREATURE[creature.kind].name, creature.x, creature.y) for creature in land.creatures),
        *((f"player {other.name}", other.x, other.y) for other in loud if other is not body),
    ]
    found = []
    for name, x, y in sources:
        dx, dy = across(body.x, x), y - body.y
        if abs(dx) + abs(dy) <= HEARING and (name, dx, dy) not in seen:
            found.append((abs(dx) + abs(dy), f"{name.partition(' ')[0]} {_side(dx, dy)}"))
    return list(dict.fromkeys(words for _, words in sorted(found)))


def _side(dx: int, dy: int) -> str:
    if abs(dx) >= abs(dy):
        return "right" if dx > 0 else "left"
    return "below" if dy > 0 else "above"
