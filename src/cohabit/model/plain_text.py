"""Texts as a reader sees them: without invisible characters, and in one form for each spelling of a word."""

import re
import unicodedata

_IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""The code points that Unicode calls default ignorable."""
BLANK = "\u2800"
INVISIBLE = frozenset({BLANK, *(chr(code) for first, last in _IGNORABLE for code in range(first, last + 1))})
"""Characters that show nothing, many of which count as letters or as printable: fillers, variation selectors, the blank
Braille cell."""
_STROKES = str.maketrans("øłđħŧıɨƀɡɑ", "oldhtiibga")
"""Letters with a stroke and the like, which no decomposition makes plain."""
_LOOKALIKES = str.maketrans("авекмнорстухіјѕһԁԛԝαβεικνορτυχγ", "abekmhopctyxijshdqwabeikvoptuxy")
"""Cyrillic and Greek letters that look like Latin ones."""
_NAMED = re.compile("LATIN LETTER SMALL CAPITAL ([A-Z])")
_PHONETIC = (*range(0x250, 0x300), *range(0x1D00, 0x1DC0), *range(0xA700, 0xA800))
_SMALL_CAPITALS = {
    code: letter[1].lower() for code in _PHONETIC if (letter := _NAMED.fullmatch(unicodedata.name(chr(code), "")))
}
_DOTS = dict.fromkeys((*range(0x2B9, 0x2E0), *range(0xA717, 0xA722), 0xA788, 0xA78F), " ")
"""Characters that Unicode calls letters and that look like dots, quotes and lines."""
_MARKUP = re.compile("<[^<>]*>|[*_~`]+")
REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that draw letters in another order than they have."""
_LATIN = re.compile("[a-z]")
_SPELLED_OUT = re.compile(r"(?<!\S)\w(?: \w){2,}(?!\S)")


def is_blank(text: str) -> bool:
    """True if there is nothing to read in a text: it is empty, or has only spaces, invisible characters and marks."""
    return all(
        c.isspace() or c in INVISIBLE or unicodedata.category(c) in ("Cc", "Cf", "Mn", "Me")
        for c in text
    )  # fmt: skip


def plain(text: str) -> str:
    """Small letters without accents, invisible characters and enclosing marks; everything but letters and digits is a
    space. In a word with Latin letters, Cyrillic and Greek ones that look like them are Latin."""
    found: list[str] = []
    letter = ""
    for c in unicodedata.normalize("NFKD", text):
        if c == BLANK:
            found.append(" ")
        elif c in INVISIBLE:
            continue
        elif c.isalnum():
            found.append(c)
            letter = c
        elif (kind := unicodedata.category(c))[0] == "M":
            found.append(c if letter and _is_spelling(c, letter) else "")
        elif c.isspace() or kind not in ("Cf", "Cc"):
            found.append(" ")
            letter = ""
    words = "".join(found).casefold().translate(_STROKES).split()
    return " ".join(word.translate(_LOOKALIKES) if _LATIN.search(word) else word for word in words)


def readings(text: str) -> list[str]:
    """The ways to read a text, in plain form: as it is, without raised and lowered characters (``word²``), without
    markup (``<b>w</b>ord``), small capitals as letters, and letters that stand alone as a word (``w.o.r.d``)."""
    level = "".join(c for c in text if not unicodedata.decomposition(c).startswith(("<super>", "<sub>")))
    bare = [unify(_MARKUP.sub("", one)) for one in (text, level)]
    found = [plain(one) for one in dict.fromkeys([text, level, unify(text), *bare])]
    return [*found, *(joined for one in found if (joined := _SPELLED_OUT.sub(_joined, one)) != one)]


def unify(text: str) -> str:
    """Small capitals as small letters, and letters that look like dots as spaces. Not a part of ``plain``, which made
    the blocked words in records."""
    return text.translate(_SMALL_CAPITALS).translate(_DOTS)


def _joined(letters: re.Match[str]) -> str:
    return letters[0].replace(" ", "")


def _is_spelling(mark: str, letter: str) -> bool:
    """True for a mark that makes another word, such as a vowel sign, after a letter of its own script. Accents and
    points do not."""
    if (place := unicodedata.combining(mark)) not in (0, 8, 9):
        return False
    script = unicodedata.name(letter, "").partition(" ")[0]
    if place == 8:
        return script in ("HIRAGANA", "KATAKANA")
    return unicodedata.name(mark, "?").partition(" ")[0] == script
