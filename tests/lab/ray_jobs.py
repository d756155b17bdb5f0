"""What the workers of ``test_ray`` do: Ray imports it there."""

from cohabit.lab.cluster import Link


def keep_when_told(link: Link, word: str) -> str:
    """Submitted before another attempt of the same job, which has begun when this is refused or kept."""
    link.ask("keep", word)
    return "done"


def keep_at_once(link: Link, word: str) -> str:
    link.ask("keep", word)
    return "done"


def double(link: Link, number: int) -> int:
    return 2 * number
