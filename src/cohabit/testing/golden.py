"""Golden playthroughs: a game as text, read once by a person and compared in every test run after that.

After a change that is meant to change the world, write its golden again:

    python -m cohabit.testing.golden nim > tests/worlds/goldens/nim.txt
"""

import sys
from hashlib import sha256

from cohabit.registry import find_world
from cohabit.testing.play import Play

SEED = 1
STEPS = 40
VIEWS_EVERY = 20


def playthrough(source: str, seed: int = SEED, steps: int = STEPS) -> str:
    """Random legal play as a transcript: every step, at intervals what every eye sees, and the digest.

    The digest covers only the world, so a golden changes only if the world changes.
    """
    play = Play(source, seed, wild=False)
    spec = find_world(source).spec
    parts = [f"# {spec.name}, version {spec.version}: seed {seed}, {steps} steps"]
    for number in range(steps + 1):
        if number:
            parts.append(f"{number}. {play.step()}")
        if number % VIEWS_EVERY == 0 or number == steps:
            parts += ["", *_views(play), ""]
    parts.append(f"digest {sha256(play.room.world.snapshot()).hexdigest()}")
    return "\n".join(line.rstrip() for part in parts for line in part.split("\n")) + "\n"


def _views(play: Play) -> list[str]:
    shown = []
    for eye in play.eyes():
        heading = f"--- {eye.seat or 'nobody'} sees {eye.sees} "
        shown.append(f"{heading:-<80}\n{play.room.observe(eye).to_text()}")
    movers = ", ".join(play.room.world.to_move()) or ("nobody: it is over" if play.room.is_over() else "nobody")
    scores = ", ".join(f"{s.name} {s.score}" for s in play.room.world.standings())
    return [*shown, f"--- to move: {movers}", f"--- standings: {scores}"]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        sys.stdout.write(playthrough(name))
