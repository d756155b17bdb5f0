"""English that several worlds need in their messages."""

_VOWELS = "aeio"  # words of these worlds that begin with u are pronounced "you"


def with_article(word: str) -> str:
    """``a tree``, ``an anvil``."""
    return f"{'an' if word[0] in _VOWELS else 'a'} {word}"


def counted(number: int, word: str) -> str:
    """``1 tree``, ``3 trees``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
