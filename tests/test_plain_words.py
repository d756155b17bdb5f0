"""What people read is in plain words: no old or literary ones, in pages, docstrings, messages and comments."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("docs", "src", "bench", "tools", "integrations", "examples", "deploy", "skills", "mcpb")
FILES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile")
SUFFIXES = {".md", ".py", ".js", ".sh", ".toml", ".yaml", ".yml", ".css"}
OTHERS_WROTE = ("docs/gallery", "docs/four-worlds", "docs/crafter-score")
"""What libraries of games and models have written is shown as it is."""
INSTEAD = {
    "albeit": "although", "amongst": "among", "anew": "again", "betwixt": "between", "by whatever": "however",
    "for good": "permanently", "goes on where it": "is resumed",
    "handed in": "submitted", "henceforth": "from then on", "hitherto": "until now",
    "makes no sense": "is not valid", "over there": "", "shown out": "removed",
    "thereby": "so", "therein": "in it", "thereof": "of it", "utilize": "use", "what came of": "the outcome of",
    "what comes of": "the outcome of", "whilst": "while", "whoever": "anyone who, or the player who",
    "whomever": "anyone whom", "whosoever": "anyone who",
}  # fmt: skip
"""Words not to use, and what to write instead."""
UNWANTED = re.compile(rf"\b(?:{'|'.join(map(re.escape, INSTEAD))})\b", re.IGNORECASE)


def found_in(text: str) -> list[str]:
    """The words not to use, also those that a line break divides."""
    plain = re.sub(r"\s+(?:#|//|\*)?\s*", " ", text)
    return [f"{word}: write {INSTEAD[word.lower()] or 'it in another way'}" for word in UNWANTED.findall(plain)]


def written() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES and not str(path.relative_to(ROOT)).startswith(OTHERS_WROTE):
                yield path
    yield from (ROOT / name for name in FILES)


def test_nothing_that_people_read_has_words_not_to_use() -> None:
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in written()}
    assert len(texts) > 1000
    assert {name: found for name, text in texts.items() if (found := found_in(text))} == {}


@pytest.mark.parametrize(
    "text", ["Whoever holds a seat", "drawn anew", "it is gone for\n    good", "# what came\n# of it", "use it, whilst"]
)
def test_a_word_not_to_use_is_found_also_across_lines(text: str) -> None:
    assert len(found_in(text)) == 1


@pytest.mark.parametrize("text", ["for goods and items", "a renewed lease", "however it comes"])
def test_longer_words_are_fine(text: str) -> None:
    assert found_in(text) == []
