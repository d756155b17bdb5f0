"""Text adventures that TextWorld generates: ``textworld:treasure_hunter(level=5)``.

TextWorld's own logic runs the game. Its text comes from a compiler that takes many seconds and from a virtual machine,
so the text of a view is written here, from the facts that hold: only what is in the room with the player, and not
inside something that is closed.
"""

import re
import threading  # cohabit: ok, for a lock
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import textworld
from textworld.challenges import CHALLENGES
from textworld.generator.game import GameProgression
from textworld.generator.inform7 import Inform7Game

from cohabit.errors import BadArgs
from cohabit.library import GameName, Listed, Parameter, checked_parameters, no_such_game
from cohabit.model.action import Action
from cohabit.model.suggest import nearest
from cohabit.model.table_files import read_table
from cohabit.replayed import ReplayedWorld
from cohabit.world import (
    Eye,
    GameRejected,
    Observation,
    Outcome,
    Seat,
    SeatId,
    Standing,
    Stream,
    World,
    WorldSpec,
    action,
)

GAMES = read_table(__file__, dict[str, dict[str, Any]])
"""By name: title, rules, TextWorld's name of it, its settings, and the bounds of those that can be chosen."""
DIRECTIONS = ("north", "east", "south", "west")
ONLY_LOOKING = ("look", "inventory")
"""Commands that say what a view says anyway."""
_making = threading.Lock()  # TextWorld makes games with a random state of the process


class TextWorld:
    """The kinds of games that TextWorld can make. See ``cohabit.library.Library``."""

    def games(self) -> Sequence[Listed]:
        return [Listed(name, game["title"], (1, 1), game["rules"], "step") for name, game in GAMES.items()]

    def left_out(self) -> Mapping[str, str]:
        return {}

    def world(self, name: GameName) -> type[World]:
        if name.game not in GAMES:
            raise no_such_game(name, list(GAMES), {})
        game = GAMES[name.game]
        given = checked_parameters(name, {key: type(game["settings"][key]) for key in game["bounds"]})
        for key, value in given.items():
            low, high = game["bounds"][key]
            if not low <= value <= high:
                raise BadArgs(f"{name.game}: {key} must be from {low} to {high}, not {value}")
        return type(
            "TextWorldGame",
            (Adventure,),
            {
                "__doc__": f"{game['title']}. {game['rules']}",
                "spec": WorldSpec(name=name.world_name, title=game["title"], open_information=True),
                "kind": name.game,
                "parameters": tuple(given.items()),
            },
        )


@lru_cache(16)  # making one takes seconds
def generated(kind: str, parameters: tuple[tuple[str, Parameter], ...], seed: int) -> tuple[Any, Any]:
    """A game, and what translates between its actions and commands in words."""
    settings = {**GAMES[kind]["settings"], **dict(parameters)}
    with _making:
        options = textworld.GameOptions()
        options.seeds = seed
        if kind == "house":
            options.nb_rooms, options.nb_objects = settings["rooms"], settings["objects"]
            options.quest_length = settings["steps"]
            game = textworld.generator.make_game(options)
        else:
            game = CHALLENGES[GAMES[kind]["challenge"]][1](settings, options)
    return game, Inform7Game(game)


class Adventure(ReplayedWorld):
    """A game of TextWorld, for one player."""

    kind: ClassVar[str]
    parameters: ClassVar[tuple[tuple[str, Parameter], ...]]

    def begin(self, seed: int, seats: Sequence[Seat]) -> None:
        self._order = [seat.id for seat in seats]
        self._game, self._words = generated(self.kind, self.parameters, Stream(seed, "textworld").between(1, 2**31 - 1))
        self._progress = GameProgression(self._game, track_quests=True)
        self._said = ""

    def make(self, move: str) -> str:
        before = self._progress.score
        self._progress.update(self._commands()[move])
        self._said = _examined(self._game, move) or ("" if move in ONLY_LOOKING else f"Done: {move}.")
        if (more := self._progress.score - before) > 0:
            self._said += f" Your score goes up by {more}."
        return self._said or "\n".join(_Place(self._game, self._progress.state).sentences())

    def _commands(self) -> dict[str, Any]:
        """The actions that are possible now, by the words for them."""
        actions = self._progress.valid_actions
        return dict(sorted(zip(self._words.gen_commands_from_actions(actions), actions, strict=True)))

    # -- what the player does ---------------------------------------------------------------------
    @action()
    def command(self, by: Seat, words: str) -> Outcome:
        """Do something: one of the listed commands, such as `open chest drawer`."""
        wanted = " ".join(words.lower().split())
        possible = self._commands()
        if wanted not in possible:
            near = nearest(wanted[:80], list(possible), 3) or _with_words_of(wanted[:80], possible)
            what = f"perhaps: {', '.join(near)}" if near else "the list of legal actions has what is"
            raise GameRejected(f"that is not possible here; {what}")
        return Outcome(self.do(wanted))

    def to_move(self) -> Sequence[SeatId]:
        return [] if self._progress.done else self._order

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("command", {"words": words}) for words in self._commands() if words not in ONLY_LOOKING]

    # -- what the player sees ---------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        place = _Place(self._game, self._progress.state)
        parts = [f"Your task: {self._game.objective}" if self._game.objective else "", self._said, *place.sentences()]
        parts.append(f"Score: {self._progress.score} of {self._game.max_score}.")
        if self._progress.done:
            parts.append("You have won." if self._progress.completed else "You have lost.")
        return Observation(
            text="\n".join(filter(None, parts)),
            status={
                "score": self._progress.score,
                "of": self._game.max_score,
                "place": place.name,
                "carried": place.carried,
            },
            step=len(self._moves),
            text_says_all=True,
        )

    def returns(self) -> Mapping[SeatId, float]:
        return dict.fromkeys(self._order, float(self._progress.score))

    def standings(self) -> Sequence[Standing]:
        return [Standing(seat, seat, self._progress.score) for seat in self._order]


def _with_words_of(wanted: str, possible: Iterable[str]) -> list[str]:
    """The commands that have every word of another one."""
    words = set(wanted.split())
    return [command for command in possible if words <= {*command.split()}][:3]


class _Place:
    """The room that the player is in, as facts."""

    def __init__(self, game: Any, state: Any) -> None:
        self._infos = game.infos
        self._holds: dict[str, list[str]] = {}  # what is in, on or at something
        self._is: dict[str, list[str]] = {}  # the properties of a thing
        self._exits: dict[str, str] = {}
        self._doors: dict[str, str] = {}
        links: list[tuple[str, ...]] = []
        room = ""
        for fact in sorted(state.facts, key=str):
            names = tuple(argument.name for argument in fact.arguments)
            if fact.name in ("at", "in", "on"):
                self._holds.setdefault(names[1], []).append(names[0])
                room = names[1] if names[0] == "P" else room
            elif fact.name.endswith("_of") and fact.name[:-3] in DIRECTIONS:
                links.append((fact.name[:-3], *names))
            elif fact.name == "link":
                self._doors[f"{names[0]} {names[2]}"] = names[1]
            elif len(names) == 1:
                self._is.setdefault(names[0], []).append(fact.name)
        for direction, there, here in links:
            if here == room:
                self._exits[direction] = self._doors.get(f"{room} {there}", "")
        self._room = room
        self.name = self._named(room)
        self.carried = [self._named(thing) for thing in self._holds.get("I", ())]

    def _named(self, thing: str) -> str:
        return str(self._infos[thing].name or thing) if thing in self._infos else thing

    def _state_of(self, thing: str) -> str:
        """``closed``, ``locked``, ``cooked`` …"""
        return ", ".join(state for state in self._is.get(thing, ()) if state in _TOLD)

    def _described(self, thing: str) -> str:
        state = self._state_of(thing)
        inside = [] if {"closed", "locked"} & {*self._is.get(thing, ())} else self._holds.get(thing, [])
        told = [state] if state else []
        if inside:
            told.append(f"holds {' and '.join(self._described(each) for each in inside)}")
        return self._named(thing) + (f" ({'; '.join(told)})" if told else "")

    def sentences(self) -> list[str]:
        here = [self._described(thing) for thing in self._holds.get(self._room, ()) if thing != "P"]
        exits = [
            f"{direction}{f' through the {self._described(door)}' if door else ''}"
            for direction, door in sorted(self._exits.items(), key=lambda way: DIRECTIONS.index(way[0]))
        ]
        carried = [self._described(thing) for thing in self._holds.get("I", ())]
        return [
            f"You are in the {self.name}.",
            f"Here: {', '.join(here)}." if here else "There is nothing here.",
            f"Exits: {', '.join(exits) or 'none'}.",
            f"You carry: {', '.join(carried) or 'nothing'}.",
        ]


_TOLD = (
    "open", "closed", "locked", "raw", "cooked", "fried", "grilled", "roasted", "burned", "uncut", "chopped", "sliced",
    "diced", "eaten",
)  # fmt: skip
"""Properties of things that one can see."""


def _without_code(text: str, name: str) -> str:
    """A description without the parts for the compiler, such as ``[if the chest is open]``."""
    text = re.sub(r"\[if .*?\[end if\]", " ", text.replace("[noun]", name), flags=re.DOTALL)
    return " ".join(re.sub(r"\[.*?\]", " ", text).split())


def _examined(game: Any, command: str) -> str:
    """The description of a thing on a close look."""
    verb, _, name = command.partition(" ")
    if verb not in ("examine", "read"):
        return ""
    found = next((info for info in game.infos.values() if info.name == name), None)
    return _without_code(found.desc or "", name) if found is not None else ""
