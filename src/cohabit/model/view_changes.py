"""What has changed between two views, in words for a reader who has the old one: in those of the world, or else line by
line."""

from cohabit.model.observation import LAST_ACTION, Observation
from cohabit.model.text_changes import changes

HOW_TO_READ = (
    ": = replaces the line that begins alike, + is new, - is gone (-3: with the two after it), ! happened again; the "
    "rest is as it was."
)
LINES_BELOW = "The lines below the world's (= is replaced, + is new, - is gone):"


def view_changes(before: Observation, old: str, now: Observation, text: str, said: str | None) -> str | None:
    """The changes from a view with the text ``old`` to one with ``text``; None if they cannot be told. ``said``: what
    the world says of them; None: nothing."""
    if said is None:
        happened = now.step != before.step
        found = changes(old, text, _is_news if happened else lambda heading: False)
        return f"{HOW_TO_READ}\n{found}" if found else found
    # The text of the observation comes first, and the room's own lines follow.
    rest = changes(old[len(before.to_text()) :], text[len(now.to_text()) :])
    if rest is None:
        return None
    lines = [*filter(None, (said, _last_action(now, before, said), rest and f"{LINES_BELOW}\n{rest}"))]
    return ":\n" + "\n".join(lines).rstrip("\n") if lines else ""


def _last_action(now: Observation, before: Observation, said: str) -> str:
    """A line about the reader's own action, if it is a new one."""
    last, is_new = now.last_action, (now.step, now.last_action) != (before.step, before.last_action)
    return f"{LAST_ACTION}: {last.to_text(said)}" if last is not None and is_new else ""


def _is_news(heading: str) -> bool:
    """True if a section tells what happened in the last step, and not how things are."""
    return heading.startswith(("NEWS", "MESSAGES", "LETTERS", LAST_ACTION)) or heading.endswith("LAST TURN")
