"""Which commands the scripts call, by the role of the caller, and whether they are accepted and refused."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .transcript import read_script
from .trees import name_of, transcript

SPECIAL = {"kib": "kibitzer", "wim": "temporary", "lim": "limited"}
"""Members of the generated scripts whose grants are changed at the beginning."""
ROLES = (
    "host", "player", "human", "observer", "narrator", "agent", "app", "resident", "god", "kibitzer", "temporary",
    "limited", "operator", "other",
)  # fmt: skip


def roles_of(name: str, script: Mapping[str, Any]) -> dict[str, str]:
    """The role of each caller of a script, by name."""
    made = [agent for step in script["steps"] if "create" in step for agent in step["create"]["agents"]]
    found = {each["id"]: each.get("role") or each.get("kind", "agent") for each in made} | {"operator": "operator"}
    return found | (SPECIAL if name.startswith(("walk_", "sweep_")) else {})


def outcomes(scripts: Sequence[Path], folder: Path) -> Iterator[tuple[str, str, str]]:
    """Each call of the scripts: the command, the role of the caller, and ``ok`` or the code of the refusal."""
    for path in scripts:
        script = read_script(path)
        roles = roles_of(name_of(path), script)
        for step, line in zip(script["steps"], transcript(folder, path), strict=False):
            if "call" in step or "join" in step:
                role = roles.get(step.get("who", "").partition("@")[0], "other")
                yield step.get("call", "join"), role, line["refused"]["code"] if "refused" in line else "ok"


def table(scripts: Sequence[Path], folder: Path, commands: Sequence[str]) -> Iterator[str]:
    """A line for each command: by role, how often it was accepted and how often refused."""
    count = Counter((command, role, code == "ok") for command, role, code in outcomes(scripts, folder))
    yield f"{'':22}" + "".join(f"{role:>11}" for role in ROLES)
    for command in commands:
        cells = (f"{count[command, role, True]}/{count[command, role, False]}" for role in ROLES)
        yield f"{command:22}" + "".join(f"{cell if cell != '0/0' else '-':>11}" for cell in cells)
    for words, accepted in (("never accepted", True), ("never refused", False)):
        missing = [name for name in commands if not any(count[name, role, accepted] for role in ROLES)]
        yield f"{words}: {', '.join(missing) or 'none'}"
