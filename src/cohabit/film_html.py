"""A film as one HTML file: it opens without a house, and asks no host for anything."""

import re
import zlib
from base64 import b64encode
from html import escape
from pathlib import Path

import msgspec

from cohabit.model.film import Film

PARTS = Path(__file__).parent / "front_ends"
MODULES = ("elements.js", "film.js", "timeline.js", "story.js", "host.js", "player.js", "guard.js")
"""The modules of the player, each after those that it imports."""
STYLES = ("film_page.css", "player.css")
NOTEBOOK_HEIGHT = 560
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./[a-z_]+\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) )", re.MULTILINE)
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "media-src data:; base-uri 'none'; form-action 'none'"
)
"""It also holds in the frame with the front end, which can load or send nothing."""
_OPENING = """
(async () => {
  const main = document.getElementById("film");
  try {
    const packed = atob(document.getElementById("packed").textContent);
    const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const { film, document: page } = JSON.parse(await new Response(unpacked).text());
    new Player(main, film, { document: page && guarded(page) });
  } catch (error) {
    main.replaceChildren(h("p", { role: "alert" }, `This browser cannot show the replay: ${error.message}`));
  }
})();
"""


def film_html(film: Film, document: str = "") -> str:
    """One file with the film, the player, and the front end of the world; without one, the views are shown as text.

    What members have written is in the compressed part and in escaped text, so it cannot become part of the page.
    """
    content = msgspec.json.encode({"film": film, "document": document})
    packed = b64encode(zlib.compress(content, 9)).decode()
    styles = "".join(map(_read, STYLES))
    title = escape(f"{film.title} · {film.room}")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>\n{styles}</style>\n</head>\n<body>\n"
        f'<main id="film"><noscript><p>The replay needs JavaScript. This was seen last:</p>\n'
        f"<pre>{escape(_last_text(film))}</pre></noscript></main>\n"
        f'<script type="text/plain" id="packed">{packed}</script>\n'
        f"<script>\n{player_script()}{_OPENING}</script>\n</body>\n</html>\n"
    )


class Replay:
    """A film and the front end of its world. In a notebook it shows itself."""

    def __init__(self, film: Film, document: str = "") -> None:
        self.film = film
        self.document = document

    def html(self) -> str:
        return film_html(self.film, self.document)

    def save(self, path: Path | str) -> Path:
        """Write it as one HTML file."""
        path = Path(path)
        path.write_text(self.html(), encoding="utf-8")
        return path

    def __repr__(self) -> str:
        return f"<Replay {self.film.room}: {len(self.film.frames)} frames>"

    def _repr_html_(self) -> str:
        """A frame of its own: a notebook does not run the script of an output otherwise, or runs it as its own."""
        style = f"width: 100%; height: {NOTEBOOK_HEIGHT}px; border: 1px solid #8884; border-radius: 8px"
        title, page = escape(f"Replay of {self.film.title}"), escape(self.html())
        return f'<iframe sandbox="allow-scripts" title="{title}" style="{style}" srcdoc="{page}"></iframe>'


def player_script() -> str:
    """The modules of the player as one classic script, which needs no address to import from."""
    return "".join(_EXPORT.sub("", _IMPORT.sub("", _read(name))) for name in MODULES)


def _read(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8")


def _last_text(film: Film) -> str:
    """The text of the last view: it is replaced as a whole whenever it changes."""
    for frame in reversed(film.frames):
        if frame.view is not None and isinstance(text := frame.view.get("text"), str):
            return text
        if frame.whole:
            break
    return ""
