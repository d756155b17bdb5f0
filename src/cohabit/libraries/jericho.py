"""Text adventures from story files of the Z-machine, with Jericho: ``jericho:stories/zork1.z5``.

Jericho has no stories of its own, so a name is the path of a file. A player's commands go to an interpreter in this
process, so those that write or read files, or end the story, are refused: the room keeps the record, and can save.
"""

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from jericho import FrotzEnv

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.library import GameName, Listed, checked_parameters
from cohabit.model.action import Action
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

MAX_COMMAND = 120
MAX_STORY_BYTES = 1_000_000
FILE_COMMANDS = frozenset(
    ("save", "restore", "script", "unscript", "transcript", "noscript", "recording", "record", "replay", "commands",
     "quit", "q", "restart", "die")
)  # fmt: skip
"""Words that make a story write or read a file, or end."""
ANYWHERE = ("look", "inventory", "wait", "north", "east", "south", "west", "up", "down", "in", "out")
"""Commands that every story knows."""
ON_THINGS = ("examine", "take", "open")
MOST_THINGS = 8
_COMMAND = re.compile(r"[a-z0-9' ,.?!\"-]+")
_STATUS = re.compile(r"\s*>?\s{20,}(?P<place>.*?)\s*Score:\s*(?P<score>-?\d+).*\Z", re.DOTALL)
_THE_END = re.compile(r"\*\*\*.{1,80}\*\*\*")


class Jericho:
    """Story files. See ``cohabit.library.Library``."""

    def games(self) -> Sequence[Listed]:
        return []

    def left_out(self) -> Mapping[str, str]:
        return {}

    def world(self, name: GameName) -> type[World]:
        path = Path(name.game)
        checked_parameters(name, {})
        if not name.is_code:
            raise UnknownAsset(f"{name}: give the path of a story file, such as jericho:stories/zork1.z5")
        if not path.is_file():
            raise UnknownAsset(f"file not found: {path}")
        if path.stat().st_size > MAX_STORY_BYTES:
            raise BadArgs(f"{path} is too large for a story of the Z-machine")
        title = path.stem.replace("_", " ").replace("-", " ").capitalize()
        return type(
            "Story",
            (Adventure,),
            {
                "__doc__": f"{title}, a text adventure. Say in a few words what to do, such as: open the window.",
                "spec": WorldSpec(name=name.world_name, title=title, open_information=True, examples=True),
                "path": str(path.resolve()),
            },
        )


def _is_thing(word: Any) -> bool:
    return word.is_noun and not (word.is_verb or word.is_prep) and len(word.word) > 2


class Adventure(ReplayedWorld):
    """A story, for one player."""

    path: ClassVar[str]

    def begin(self, seed: int, seats: Sequence[Seat]) -> None:
        self._order = [seat.id for seat in seats]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of stories whose score Jericho cannot read: it is in the status line
            self._story = FrotzEnv(self.path, seed=Stream(seed, "story").between(1, 30_000))
        nouns = {word.word for word in self._story.get_dictionary() if _is_thing(word)}
        self._nouns = sorted(nouns - FILE_COMMANDS)
        self._place, self._score, self._is_over = "", 0, False
        self._read(self._story.reset()[0])

    def make(self, move: str) -> str:
        said, _, over, _ = self._story.step(move)
        self._read(said)
        self._is_over = self._is_over or bool(over)
        return self._said

    def _read(self, said: str) -> None:
        """Take the status line from what the story says."""
        if found := _STATUS.search(said):
            self._place, self._score = found["place"].strip(), int(found["score"])
            said = said[: found.start()]
        self._said = re.sub(r"\n{3,}", "\n\n", said.strip().removesuffix(">").strip())
        self._is_over = bool(_THE_END.search(self._said))

    @action()
    def command(self, by: Seat, words: str) -> Outcome:
        """Say what to do, in a few words, such as `take the lamp` or `go north`."""
        wanted = " ".join(words.lower().split())
        if not wanted or len(wanted) > MAX_COMMAND or not _COMMAND.fullmatch(wanted):
            raise GameRejected(f"use 1 to {MAX_COMMAND} plain letters, such as: open the window")
        if FILE_COMMANDS & {*re.findall(r"[a-z]+", wanted)}:
            raise GameRejected("the story cannot be saved, ended or restarted from inside; the room does that")
        return Outcome(self.do(wanted))

    def to_move(self) -> Sequence[SeatId]:
        return [] if self._is_over else self._order

    def legal(self, seat: Seat) -> Sequence[Action]:
        """Examples: what every story knows, and what can be done with things that were just named."""
        named = [noun for noun in self._nouns if re.search(rf"\b{re.escape(noun)}", self._said.lower())][:MOST_THINGS]
        commands = [*ANYWHERE, *(f"{verb} {noun}" for noun in named for verb in ON_THINGS)]
        return [Action("command", {"words": words}) for words in commands]

    def observe(self, eye: Eye) -> Observation:
        status = {"place": self._place, "score": self._score}
        return Observation(text=self._said, status=status, step=len(self._moves))

    def returns(self) -> Mapping[SeatId, float]:
        return dict.fromkeys(self._order, float(self._score))

    def standings(self) -> Sequence[Standing]:
        return [Standing(seat, seat, self._score) for seat in self._order]
