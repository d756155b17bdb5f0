"""Write `docs/gallery/`: every world that can be played, with what a player sees, and what is known of each library.

python tools/gallery.py [LIBRARY …]   write the pages of all libraries that are installed, or of these

What was found out by playing is in `tests/libraries/results/` (`python -m tests.libraries.survey`). The views come from
the games themselves, so a page can be written only where its library is installed.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.libraries.survey import RESULTS, Results, Row, read_results

from cohabit.model.seat import Eye
from cohabit.registry import LIBRARIES, find_world, known_games, listed_games
from cohabit.testing.play import Play
from cohabit.world import overridden

FOLDER = Path(__file__).parent.parent / "docs" / "gallery"
NOTE = "<!-- Made by `python tools/gallery.py`; edit that, or the worlds. -->\n"
INTRO = """\
Each of these is a world: open it with `cohabit up NAME`, play it with any [client](../agents.md), compare players in it
with `cohabit match NAME random random`, train in it with [`cohabit.envs`](../envs.md). Names have parameters:
`"openspiel:leduc_poker(players=3)"`. [Games of other libraries](../libraries.md) says how they are installed."""
FOUND = """\
What was found by playing the games in the table (`cohabit worlds --library NAME` lists all): *ended* by random players
within 5,000 moves; *checked* by `cohabit check`, which plays it in rooms, also in another process with another hash
seed, compares reloaded and replayed games byte for byte, and looks at what each seat gets. *Leaks tested* counts games
that hide something, with games that differ only in what a seat may not see. *Kinds* counts games that differ by more
than a size or a level."""
STEPS = 6
"""Moves before the view that is shown."""
MOST_LINES = 40


def index() -> str:
    """The table of the libraries, and links to their pages."""
    lines = [NOTE, "# Gallery of worlds", "", INTRO, "", f"* [Worlds of Cohabit](cohabit.md): {len(known_games())}"]
    found = {name: read_results(name) for name in LIBRARIES if (RESULTS / f"{name}.json").exists()}
    lines += [
        f"* [{name}]({name}.md): {LIBRARIES[name].about}; {len(each.games)} games" for name, each in found.items()
    ]
    lines += ["", "## What was tested", "", FOUND, ""]
    head = ("library", "surveyed", "kinds", "ended", "checked", "hidden", "leaks tested", "left out")
    lines += [*_table(head, (_counts(name, each) for name, each in found.items())), ""]
    for name, each in found.items():
        if each.left_out:
            lines += [f"### Left out of {name}", "", *(f"* `{game}`: {why}" for game, why in each.left_out.items()), ""]
    return "\n".join(lines)


def _counts(name: str, results: Results) -> Sequence[object]:
    rows = list(results.games.values())
    hidden = [row for row in rows if row.hidden]
    kinds = {row.kind or row.title for row in rows}
    ended, checked = sum(row.ended for row in rows), sum(not row.failed for row in rows)
    tested = sum(bool(row.leak) and "not tested" not in row.leak for row in hidden)
    return f"[{name}]({name}.md)", len(rows), len(kinds), ended, checked, len(hidden), tested, len(results.left_out)


def page(library: str) -> str:
    """One library: a table of all games, and a view of one game of each kind."""
    results, listed = read_results(library), listed_games(library)
    lines = [NOTE, f"# {library}", "", f"{LIBRARIES[library].about.capitalize()}.", ""]
    lines += _table(
        ("name", "title", "seats", "information", "moves", "leak test"),
        (_row(name, row) for name, row in results.games.items() if name in listed),
    )
    kinds: dict[str, str] = {}
    for name, game in listed.items():
        kinds.setdefault(game.kind or game.name, name)
    for name in kinds.values():
        lines += ["", *_entry(name, listed[name].title, listed[name].about, listed[name].cannot)]
    return "\n".join(lines) + "\n"


def _row(name: str, row: Row) -> Sequence[object]:
    moves = f"{row.moves}" if row.ended else f"more than {row.moves}"
    leak = row.leak.partition(":")[0] if row.hidden else ""
    return f"`{name}`", row.title, _seats(row.seats), "hidden" if row.hidden else "open", moves, leak


def of_cohabit() -> str:
    """The worlds that are part of Cohabit."""
    lines = [NOTE, "# Worlds of Cohabit", ""]
    for name in known_games():
        title = find_world(name).spec.title or name
        about = " ".join(find_world(name)().describe().split("\n\n")[0].split())
        lines += [*_entry(name, title, about), ""]
        if "picture" in overridden(find_world(name)):
            lines += [f"![{title}, as a player sees it](images/{name}.png)", ""]
    return "\n".join(lines)


def pictures() -> Iterator[tuple[str, bytes]]:
    """The pictures of that page: those of worlds that draw."""
    for name in known_games():
        play = _played(name)
        seat = next(member.seat for member in play.members() if member.seat)
        if (drawn := play.room.world.picture(Eye(seat, "own"))) is not None:
            yield name, drawn


def _played(name: str) -> Play:
    """A game after some moves of random players."""
    play = Play(name, 1, wild=False)
    for _ in range(STEPS):
        if not play.room.world.is_over():
            play.step()
    return play


def _entry(name: str, title: str, about: str, cannot: str = "") -> Iterator[str]:
    """The description of a world, and the view of its first player after some moves."""
    spec, play = find_world(name).spec, _played(name)
    yield f"## {title}"
    yield ""
    yield (
        f"`cohabit up {name if '(' not in name else repr(name)}` · {_seats(spec.seat_range)} · pace {spec.pace} · "
        + ("everything is open" if spec.open_information else "players see different things")
    )
    if about:
        yield ""
        yield about
    if cannot:
        yield ""
        yield f"It cannot: {cannot}"
    player = next(member.id for member in play.members() if member.seat)
    text = play.room.call(player, "view", at=play.at).text.splitlines()
    yield ""
    yield "```text"
    yield from text[:MOST_LINES]
    if len(text) > MOST_LINES:
        yield "…"
    yield "```"


def _seats(seats: tuple[int, int]) -> str:
    fewest, most = seats
    many = str(most) if fewest == most else f"{fewest} to {most}"
    return f"{many} seat{'' if most == 1 else 's'}"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |"


def main(wanted: Sequence[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    pages = {"cohabit": of_cohabit(), "index": index()} if not wanted else {"index": index()}
    for library in wanted or [name for name in LIBRARIES if (RESULTS / f"{name}.json").exists()]:
        pages[library] = page(library)
    if not wanted:
        (FOLDER / "images").mkdir(exist_ok=True)
        for name, drawn in pictures():
            (FOLDER / "images" / f"{name}.png").write_bytes(drawn)
    for name, text in pages.items():
        (FOLDER / f"{name}.md").write_text(text)
        print(f"docs/gallery/{name}.md")


if __name__ == "__main__":
    main(sys.argv[1:])
