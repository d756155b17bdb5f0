"""The shape of the code: who may import whom, and what the core must not know."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "cohabit"
ORDER = ["errors", "model", "world", "registry", "room", "house", "faces"]
"""Left to right; a part imports only what stands to its left."""
ASIDE = {
    # One of them is a library of ours: the tools of a workspace are the commands of its room.
    "worlds": {"errors", "model", "world", "worlds", "workspace"},
    "agents": {"errors", "model", "agents"},
    # Experiments play the engine of a world by itself, thousands of rounds without members or a record, so they know worlds
    # by name and need neither room nor house.
    "lab": {"errors", "model", "world", "registry", "worlds", "agents", "lab"},
    "workspace": {"errors", "workspace"},  # stands alone
    "testing": {"errors", "model", "world", "registry", "room", "house", "agents", "faces", "testing"},
}
ALLOWED = {part: {*ORDER[: i + 1]} for i, part in enumerate(ORDER)} | ASIDE
ALLOWED["__main__"] = {"faces"}
ALLOWED["house"] |= {"agents", "workspace"}  # by the contract and the registry of brains; a room can hold a workspace
# `cohabit check`, `cohabit statecraft` and `cohabit workspace` are their command lines.
ALLOWED["faces"] |= {"agents", "testing", "lab", "workspace"}
NO_CLOCK_NO_LOOP = {"asyncio", "time", "random", "secrets", "socket", "threading", "uuid"}


def modules() -> list[Path]:
    return sorted(path for path in SRC.rglob("*.py") if path != SRC / "__init__.py")


def imported(path: Path) -> set[str]:
    """Every module this file imports, wherever in the file; what is for the type checker alone does not count."""
    found: set[str] = set()
    tree = ast.parse(path.read_text())
    skip = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skip:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def part_of(module: str) -> str | None:
    names = module.split(".")
    return names[1] if names[0] == "cohabit" and len(names) > 1 and names[1] in ALLOWED else None


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_imports_only_what_stands_to_its_left(path: Path) -> None:
    own = path.relative_to(SRC).parts[0].removesuffix(".py")
    wrong = {name for name in imported(path) if (part := part_of(name)) is not None and part not in ALLOWED[own]}
    assert not wrong, f"{own} may import {sorted(ALLOWED[own])}, not {sorted(wrong)}"


@pytest.mark.parametrize("part", ["model", "room", "worlds"])
def test_the_core_knows_no_clock_no_event_loop_and_no_chance(part: str) -> None:
    for path in (SRC / part).rglob("*.py"):
        wrong = {name.split(".")[0] for name in imported(path)} & NO_CLOCK_NO_LOOP
        assert not wrong, f"{path.relative_to(SRC)} imports {sorted(wrong)}"


@pytest.mark.parametrize("part", ["formats", "merging"])
def test_the_files_of_a_board_are_read_and_merged_without_a_disk_or_git(part: str) -> None:
    known = tuple(f"cohabit.workspace.{name}" for name in ("formats", "merging", "limits", "person.identity"))
    for path in (SRC / "workspace" / part).glob("*.py"):
        found = imported(path)
        wrong = {name for name in found if name.startswith("cohabit.workspace.") and not name.startswith(known)}
        wrong |= found & {"os", "pathlib", "shutil", "sqlite3", "subprocess", "tempfile"}
        assert not wrong, f"{path.relative_to(SRC)} imports {sorted(wrong)}"


def test_importing_cohabit_loads_nothing_heavy() -> None:
    heavy = {"asyncio", "starlette", "uvicorn", "mcp", "pydantic", "typer", "rich", "websockets", "httpx2", "numpy"}
    script = f"import cohabit, sys; print(sorted(set(sys.modules) & {heavy!r}))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
