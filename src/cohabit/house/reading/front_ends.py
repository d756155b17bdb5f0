"""The front end of a world: one HTML document beside its module, which members of its rooms can fetch."""

import re
import sys
from functools import partial
from pathlib import Path

from msgspec import Struct

from cohabit.errors import TooLarge, UnknownAsset
from cohabit.house.calls.context import HouseContext
from cohabit.house.threads import run_in_thread
from cohabit.room.commands import Resource, command
from cohabit.world import World

_BLOCKED = (
    re.compile(r"""(?P<what>\b(?:src|href)\s*=\s*["']?\s*(?:https?:)?//[^\s"'>]*)""", re.IGNORECASE),
    re.compile(r"""(?P<what>@import\b|url\(\s*["']?(?:https?:)?//)""", re.IGNORECASE),
    re.compile(r"\b(?P<what>fetch|XMLHttpRequest|WebSocket|EventSource)\s*\("),
    re.compile(r"\b(?P<what>localStorage|sessionStorage|indexedDB)\b"),
    re.compile(r"""<[a-z][^<>]*\s(?P<what>on[a-z]+\s*=\s*["'])""", re.IGNORECASE),
)
MAX_BYTES = 512 * 1024
SHARED = Path(__file__).parents[2] / "front_ends"
"""Scripts that documents share: each includes what it needs as ``<script src="cohabit:app.js"></script>``."""
GENERIC = SHARED / "generic.html"
"""The document of every world that is played and has none of its own: it is made from what members see."""
_INCLUDED = re.compile(
    r"""<script src="(?P<place>cohabit:|\./)(?P<script>[a-z_]+\.js)"></script>"""
    r"""|<link rel="stylesheet" href="(?P<at>cohabit:|\./)(?P<style>[a-z_]+\.css)">"""
)


def read_front_end(world: type[World]) -> str:
    """The document of a world. It is read each time, so its author sees a change after a reload."""
    path = _path(world)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        text = content.decode()
    except (OSError, ValueError) as wrong:
        problem = "is not UTF-8" if isinstance(wrong, ValueError) else "cannot be read"
        raise UnknownAsset(f"the front end {world.spec.front_end} of world {world.spec.name} {problem}") from None
    if len(content) > MAX_BYTES:
        raise TooLarge(f"the front end {world.spec.front_end} is larger than {MAX_BYTES // 1024} KiB")
    return with_parts(text, path.parent)


def with_parts(document: str, folder: Path) -> str:
    """The document with the scripts and styles that it includes, so that it is one file: shared ones, and as
    ``./name.js`` those in its own folder."""
    return _INCLUDED.sub(partial(_part, folder), document)


def _part(folder: Path, found: re.Match[str]) -> str:
    name, tag = (found["script"], "script") if found["script"] else (found["style"], "style")
    place = found["place"] or found["at"]
    source = SHARED if place == "cohabit:" else folder
    try:
        path = (source / name).resolve(strict=True)
        if not path.is_relative_to(source.resolve()):  # a link that leads elsewhere
            raise FileNotFoundError(name)
        return f"<{tag}>\n{path.read_text()}</{tag}>"
    except OSError:
        known = ", ".join(sorted(path.name for path in source.glob("*.[jc]s*")))
        hint = f"; there are {known}" if known else ""
        raise UnknownAsset(f"there is no {place}{name} for front ends{hint}") from None


def blocked_in(document: str) -> list[str]:
    """The parts of a document that its sandbox blocks: it has no network, no storage, and no scripts in attributes."""
    return sorted({found["what"] for pattern in _BLOCKED for found in pattern.finditer(document)})


def _path(world: type[World]) -> Path:
    """The path of the document, beside the module of the class that has the spec."""
    owner = next(cls for cls in world.__mro__ if "spec" in vars(cls))
    module = getattr(sys.modules.get(owner.__module__), "__file__", None)
    if not world.spec.has_front_end or (world.spec.front_end and module is None):
        raise UnknownAsset(f"world {world.spec.name} has no front end")
    if not world.spec.front_end or module is None:
        return GENERIC
    folder = Path(module).resolve().parent
    path = (folder / world.spec.front_end).resolve()
    if not path.is_relative_to(folder):  # a link that leads elsewhere
        raise UnknownAsset(f"the front end {world.spec.front_end} is not in the folder of its world")
    return path


class FrontEnd(Struct):
    html: str


@command(
    category="read",
    where="house",
    for_model=False,
    for_front_end=True,
    offered_in=lambda runner, member: runner.room.world.spec.has_front_end,
    resource=Resource(
        "front_end", "Front end", "The table of this world, for people to look at and play", text="html", scheme="ui"
    ),
    sends="front ends",
)
async def front_end(ctx: HouseContext) -> FrontEnd:
    """The HTML document that shows this world to people. Run it in a sandboxed frame: it comes with the world."""
    return FrontEnd(await run_in_thread("front end", partial(read_front_end, type(ctx.room.world))))
