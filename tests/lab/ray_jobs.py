"""What the workers of ``test_ray`` do: Ray imports it there."""

from cohabit.lab.cluster import Link


def keep_on(link: Link, word: str) -> None:
    """Ask the host again and again to keep a word, until it refuses."""
    while True:
        link.ask("keep", word)


def keep(link: Link, word: str) -> str:
    link.ask("keep", word)
    return "done"


def double(link: Link, number: int) -> int:
    return 2 * number
