"""NetHack and MiniHack as worlds: the screen as text, and named keys.

The NetHack Learning Environment gets its randomness through seeds of its own, set before each game. It also looks at
the calendar (the phase of the moon changes the luck of the hero) unless it is told to derive that from the seed.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Literal

import gymnasium
import msgspec
import nle  # noqa: F401  # registers its environments
from msgspec import Struct
from nle import nethack

from cohabit.errors import UnknownAsset
from cohabit.libraries.gymnasium.environment import SEEDS, EnvironmentWorld
from cohabit.libraries.gymnasium.registered import Registered, Table, tried
from cohabit.library import GameName, Listed, checked_parameters
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.model.seat import Eye, Seat
from cohabit.model.stream import Stream
from cohabit.model.table_files import read_table
from cohabit.world import ActionSpec, ArraySpec, Outcome, World, WorldSpec

KEYS_SEEN = ("glyphs", "chars", "blstats", "message", "inv_strs", "inv_letters", "tty_chars", "tty_cursor")
ARRAYS = {
    "glyphs": ArraySpec(shape=(21, 79), dtype="int16", high=nethack.MAX_GLYPH),
    "chars": ArraySpec(shape=(21, 79), dtype="uint8"),
    "blstats": ArraySpec(shape=(27,), dtype="int64", low=-(2**31), high=2**31 - 1),
}
DIRECTIONS = {
    "N": "north", "E": "east", "S": "south", "W": "west", "NE": "northeast", "SE": "southeast", "SW": "southwest",
    "NW": "northwest",
}  # fmt: skip
ARROWS = {"ArrowUp": "north", "ArrowRight": "east", "ArrowDown": "south", "ArrowLeft": "west", "Enter": "more"}
STATUS = {
    "hit_points": nethack.NLE_BL_HP, "max_hit_points": nethack.NLE_BL_HPMAX, "depth": nethack.NLE_BL_DEPTH,
    "gold": nethack.NLE_BL_GOLD, "armour_class": nethack.NLE_BL_AC, "level": nethack.NLE_BL_XP,
    "turn": nethack.NLE_BL_TIME, "score": nethack.NLE_BL_SCORE,
}  # fmt: skip
HOW = (
    "You see the screen of NetHack: @ is you, letters are monsters, . is floor, # a corridor, + a door or spellbook, "
    "| and - are walls or open doors, < and > are stairs, _ an altar, other signs are things to pick up. Each turn you "
    "press one key by its name. If the game asks something, the next key answers: a key that stands for a letter, such "
    "as the one in brackets behind its name, or a direction."
)
PARAMETERS: dict[str, type] = {"character": str, "max_episode_steps": int, "spawn_monsters": bool}
TABLE = read_table(__file__, Table)


class NetHackWorld(EnvironmentWorld):
    """One task."""

    letters: ClassVar[Mapping[str, str]]  # name: the letter that it stands for; their order is that of the numbers
    press_arguments: ClassVar[type[Struct]]

    def seed_environment(self, stream: Stream) -> None:
        game = self.env.unwrapped.nethack
        # By its class: the object of NetHackChallenge refuses to be seeded, and a game without a seed has no replay.
        type(game).set_initial_seeds(game, stream.below(SEEDS), stream.below(SEEDS), False, stream.below(SEEDS))
        self.seen, self.info = self.env.reset()

    def saw(self) -> None:
        # The environment uses its arrays again in the next step.
        self.seen = {name: self.seen[name].copy() for name in KEYS_SEEN}
        self.message = _text(self.seen["message"])

    def decode(self, move: str) -> int:
        return list(self.letters).index(move)

    def tell(self, move: str, before: Any, reward: float) -> Outcome:
        if not self.to_move():
            return Outcome(f"{self.message} {self._end()}".strip())
        return Outcome(self.message.strip() or self._moved(before))

    def _moved(self, before: Any) -> str:
        """Describe the effect of a key about which the game says nothing."""
        (was_row, was_column), (row, column) = before["tty_cursor"].tolist(), self.seen["tty_cursor"].tolist()
        now = "still" if (was_row, was_column) == (row, column) else "now"
        return f"The cursor is {now} in row {row}, column {column + 1}."

    def _end(self) -> str:
        how = str(getattr(self.info.get("end_status"), "name", "")).replace("_", " ").lower()
        return {
            "aborted": "The game is over: it has reached its limit of steps.",
            "task successful": "The game is over: you have done what the task asks.",
            "death": "The game is over: you have died.",
        }.get(how, "The game is over.")

    # -- keys -------------------------------------------------------------------------------------
    def actions(self) -> Sequence[ActionSpec]:
        named = ", ".join(f"{name} ({letter})" if letter else name for name, letter in self.letters.items())
        about = f"Press a key: {named}."
        return [ActionSpec(name="press", run=self._press, description=about, args=self.press_arguments)]

    def _press(self, by: Seat, /, key: str) -> Outcome:
        made: Outcome = self.do(key)
        return made

    def numbered(self) -> Sequence[Action] | None:
        return [Action("press", {"key": name}) for name in self.letters]

    def legal(self, seat: Seat) -> Sequence[Action] | None:
        return self.numbered() if self.to_move() else []

    def fallback(self, seat: Seat) -> Action | None:
        harmless = next(name for name in ("search", "wait", *self.letters) if name in self.letters)
        return Action("press", {"key": harmless})

    # -- what is seen -----------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        rows = [_text(row).rstrip() for row in self.seen["tty_chars"]]
        row, column = (int(n) for n in self.seen["tty_cursor"])
        items = [
            f"{chr(letter)} - {_text(name)}"
            for letter, name in zip(self.seen["inv_letters"].tolist(), self.seen["inv_strs"], strict=True)
            if letter
        ]
        parts = [
            f"Message: {self.message or rows[0] or 'none'}",
            "\n".join(f"{number:2} {text}" for number, text in enumerate(rows) if number and text),
            f"The numbers are those of the rows. The cursor, usually you, is in row {row}, column {column + 1}.",
            "You carry:\n" + "\n".join(items) if items else "You carry nothing.",
        ]
        if not self.to_move():
            parts.append(self._end())
        figures = self.seen["blstats"].tolist()
        status: dict[str, Any] = {name: figures[place] for name, place in STATUS.items()}
        return Observation(text="\n\n".join(parts), status=status, step=self.steps, text_says_all=True)

    def arrays(self) -> Mapping[str, ArraySpec]:
        return ARRAYS

    def array(self, eye: Eye, form: str) -> Any:
        return self.seen[form].astype(ARRAYS[form].dtype)


class NetHack:
    """The library ``nethack``."""

    def __init__(self) -> None:
        try:
            import minihack  # noqa: F401  # it registers its environments
        except ImportError:
            self._has_minihack = False
        else:
            self._has_minihack = True

    @cached_property
    def _registered(self) -> Registered:
        return Registered(TABLE, ("NetHack", "MiniHack-"))

    def games(self) -> Sequence[Listed]:
        return list(self._registered.listed.values())

    def left_out(self) -> Mapping[str, str]:
        return self._registered.left_out()

    def world(self, name: GameName) -> type[World]:
        if name.game.startswith("MiniHack") and not self._has_minihack:
            raise UnknownAsset(f"MiniHack is not installed, so there is no {name}: pip install 'cohabit[nethack]'")
        listed = self._registered.find(name)
        given = {"observation_keys": KEYS_SEEN, "fix_moon_phase": True, **checked_parameters(name, PARAMETERS)}
        make = partial(gymnasium.make, name.game, disable_env_checker=True, **given)
        first = tried(name, make)
        letters = _letters(first.unwrapped.actions)
        first.close()
        rules = " ".join(part for part in (listed.about, HOW, listed.cannot) if part)
        return type(
            "NetHackTask",
            (NetHackWorld,),
            {
                "__doc__": f"{listed.title}. {rules}",
                "spec": WorldSpec(
                    name=name.world_name, title=listed.title, open_information=True, deals_once=True, show_legal=False
                ),
                "new_environment": staticmethod(make),
                "rules": rules,
                "letters": letters,
                "keys": _keyboard(letters),
                "press_arguments": _press_arguments(letters),
            },
        )


def _letters(actions: Sequence[Any]) -> dict[str, str]:
    """The names of the keys, and the letters that they stand for when the game asks for one."""
    return {_key(each): chr(each) if 32 < each < 127 else "" for each in actions}


def _keyboard(letters: Mapping[str, str]) -> dict[str, Action]:
    """The letters of the game, as its players know them, and arrows. The question mark shows the keys."""
    named = {letter: name for name, letter in letters.items() if letter and letter != "?"}
    named |= {key: name for key, name in ARROWS.items() if name in letters}
    return {key: Action("press", {"key": name}) for key, name in named.items()}


def _key(action: Any) -> str:
    family = type(action).__name__
    if family.startswith("Compass"):
        return ("far_" if family.endswith("Longer") else "") + DIRECTIONS[action.name]
    return str(action.name).lower()


def _press_arguments(keys: Mapping[str, str]) -> type[Struct]:
    kind: Any = Annotated[Literal[tuple(keys)], msgspec.Meta(description="the name of a key")]
    return msgspec.defstruct("PressArgs", [("key", kind)], kw_only=True, forbid_unknown_fields=True)


def _text(codes: Any) -> str:
    """The characters of a screen, up to the end of the string."""
    return bytes(codes.tolist()).partition(b"\0")[0].decode("latin-1")
