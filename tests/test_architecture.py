"""The shape of the code: who may import whom, and what the core must not know."""

import ast
import functools
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "cohabit"
ORDER = [
    "version", "errors", "model", "film_html", "fair", "declare", "world", "wrong_kinds", "bodies", "remote", "saves", "adapter", "replayed", "library", "code_files", "agents/secrets", "agents/spending", "agents/contract", "agents/causes", "agents/brain",
    "registry", "feature_registry", "agents/wire", "agents/process", "agents/program", "agents/isolated", "scenario", "client", "protocols/kibitz", "agents/decision", "agents/spans", "agents/player", "agents/runner", "agents/ready", "room", "features", "protocols/wsap", "house", "workspace", "worlds", "libraries",
    "agents", "lab", "envs",
    "testing", "faces", "nexus", "protocols/worldbox", "protocols/starbound", "protocols",
]  # fmt: skip
"""Top to bottom; a part imports only what is above it."""
BY_REGISTRY_ONLY = {"worlds", "libraries", "protocols/worldbox", "protocols/starbound", "agents", "nexus"}
"""Reached by name through the registry: no other part imports them, except as `KNOWN` says."""
KNOWN = {
    "lab": {"worlds", "agents"},  # experiments run the engine of a world by itself
    "agents": {"worlds"},  # a brain is written for one world
    "protocols/worldbox": {"worlds"},  # its commands take the same arguments as those of Kingdoms
}
STANDS_ALONE = {"workspace": {"version", "errors", "model", "declare", "workspace"}}
ALLOWED = {
    part: STANDS_ALONE.get(part)
    or {p for p in ORDER[: i + 1] if p == part or p not in BY_REGISTRY_ONLY or p in KNOWN.get(part, ())}
    for i, part in enumerate(ORDER)
}
ALLOWED["__main__"] = {"faces"}
NO_CLOCK_NO_LOOP = {"asyncio", "time", "random", "secrets", "socket", "threading", "uuid"}


def modules(part: str = "") -> list[Path]:
    found = sorted(path for path in (SRC / part).rglob("*.py") if path != SRC / "__init__.py")
    assert found, f"there is no {part}: what is tested of it is tested of nothing"
    return found


@functools.cache
def imported(path: Path, *, types: bool = False) -> frozenset[str]:
    """Every module or name of a module that this file imports, wherever in the file. What is for the type checker alone
    counts only with ``types``."""
    return frozenset(name for name, is_for_types in _imports(path) if types or not is_for_types)


@functools.cache
def _imports(path: Path) -> frozenset[tuple[str, bool]]:
    """Every name, and whether it is for the type checker alone."""
    found: set[tuple[str, bool]] = set()
    ahead: list[tuple[ast.AST, bool]] = [(ast.parse(path.read_text()), False)]
    while ahead:
        node, for_types = ahead.pop()
        if isinstance(node, ast.Import):
            found |= {(alias.name, for_types) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {(f"{node.module}.{alias.name}", for_types) for alias in node.names}
        elif isinstance(
            node, ast.stmt | ast.Module | ast.ExceptHandler | ast.match_case
        ):  # an expression imports nothing
            for_types = for_types or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
            ahead += [(inner, for_types) for inner in ast.iter_child_nodes(node)]
    return frozenset(found)


def libraries(path: Path) -> set[str]:
    """The top-level packages that this file imports."""
    return {name.partition(".")[0] for name in imported(path)}


def module_of(path: Path) -> str:
    return ".".join(("cohabit", *path.relative_to(SRC).with_suffix("").parts))


def part_of(module: str) -> str | None:
    names = module.split(".")
    if "/".join(names[1:3]) in ALLOWED:
        return "/".join(names[1:3])
    return names[1] if names[0] == "cohabit" and len(names) > 1 and names[1] in ALLOWED else None


@functools.cache
def files() -> dict[str | None, list[Path]]:
    """The files of each part; under None those that belong to no part."""
    found: dict[str | None, list[Path]] = {}
    for path in modules():
        found.setdefault(part_of(module_of(path)), []).append(path)
    return found


@pytest.mark.parametrize("part", ALLOWED)
def test_a_part_imports_only_what_is_above_it(part: str) -> None:
    assert part in files(), f"{part} has no files; take it out of ORDER"
    wrong = {
        (path.relative_to(SRC).as_posix(), name)
        for path in files()[part]
        for name in imported(path)
        if (other := part_of(name)) is not None and other not in ALLOWED[part]
    }
    assert not wrong, f"{part} may import {sorted(ALLOWED[part])}, not {sorted(wrong)}"


def test_every_file_belongs_to_a_part() -> None:
    assert None not in files(), "these files belong to no part; add it to ORDER"


MOST_IN_A_CIRCLE = 2
"""Files of one folder that may import one another in a circle."""


def circles() -> dict[str, frozenset[str]]:
    """Each file that is in a circle of imports, with all files of that circle. What is imported for the type checker
    alone counts: a file that names another's type has to be read together with it."""
    files = {path.relative_to(SRC).with_suffix("").as_posix(): path for path in SRC.rglob("*.py")}
    file_of = {f"cohabit/{name}".removesuffix("/__init__").replace("/", "."): name for name in files}
    leads_to = {
        name: {
            other
            for full in imported(path, types=True)
            if (other := file_of.get(full) or file_of.get(full.rpartition(".")[0])) and other != name
        }
        for name, path in files.items()
    }
    reached = {name: reachable(leads_to, name) for name in files}
    return {
        name: frozenset(other for other in reached[name] if name in reached[other])
        for name in files
        if name in reached[name]
    }


def reachable(leads_to: dict[str, set[str]], start: str) -> set[str]:
    found, ahead = set[str](), [start]
    while ahead:
        new = leads_to[ahead.pop()] - found
        found |= new
        ahead += new
    return found


def test_no_circle_of_imports_goes_through_several_folders_or_many_files() -> None:
    found = circles()
    assert "room/base" in found, "the kernel has a small circle; without it nothing is tested here"
    wrong = {
        name
        for name, circle in found.items()
        if len(circle) > MOST_IN_A_CIRCLE or len({other.rpartition("/")[0] for other in circle}) > 1
    }
    assert not wrong, f"these files have come into a circle of imports: {sorted(wrong)}"


HOUSE = {
    "values": set(),
    "store": set(),
    "streams": set(),
    "running": {"store", "streams"},
    "calls": {"store", "running"},
    "agents": {"calls", "running"},
    "access": {"store", "running", "calls", "agents"},
    "lifecycle": {"store", "running", "calls", "agents", "access"},
    "reading": {"calls", "running", "streams", "lifecycle", "agents"},
    "films": {"store", "streams", "running", "calls", "agents"},
    "house": {"store", "streams", "running", "calls", "agents", "reading", "films", "access", "lifecycle"},
}
"""The packages of the house, and which others each may import; all may import the values. ``house``: what builds it."""
HOUSE_VALUES = {"clock", "deadlines", "directory", "overload", "settings", "threads"}


def package_of_house(names: Sequence[str]) -> str:
    if names[0] in HOUSE_VALUES:
        return "values"
    return names[0] if names[0] in HOUSE else "house"


@pytest.mark.parametrize("path", modules("house"), ids=lambda path: str(path.relative_to(SRC)))
def test_a_package_of_the_house_imports_only_those_below_it_and_no_feature(path: Path) -> None:
    own = package_of_house(path.relative_to(SRC / "house").with_suffix("").parts)
    found = imported(path, types=True)
    packages = {package_of_house(name.split(".")[2:]) for name in found if name.startswith("cohabit.house.")}
    wrong = packages - HOUSE[own] - {own, "values"}
    assert not wrong, f"{own} may import {sorted(HOUSE[own])}, not {sorted(wrong)}"
    features = {name for name in found if name.startswith("cohabit.features")}
    assert not features, f"the house knows features by their hooks (room/feature.py) only, not {sorted(features)}"


@pytest.mark.parametrize("part", ["model", "room", "features", "worlds"])
def test_the_core_knows_no_clock_no_event_loop_and_no_chance(part: str) -> None:
    for path in modules(part):
        if path.name == "connector.py":  # of a remote world: the house runs it, outside of the room
            continue
        wrong = libraries(path) & NO_CLOCK_NO_LOOP
        if path.parts[-2:] == ("crafter", "draws.py"):  # a generator of its own, with the state of the original's
            wrong -= {"random"}
        assert not wrong, f"{path.relative_to(SRC)} imports {sorted(wrong)}"


@pytest.mark.parametrize("part", ["formats", "merging"])
def test_the_files_of_a_board_are_read_and_merged_without_a_disk_or_git(part: str) -> None:
    known = tuple(f"cohabit.workspace.{name}" for name in ("formats", "merging", "limits", "person.identity"))
    for path in modules(f"workspace/{part}"):
        found = imported(path)
        wrong = {name for name in found if name.startswith("cohabit.workspace.") and not name.startswith(known)}
        wrong |= libraries(path) & {"os", "pathlib", "shutil", "sqlite3", "subprocess", "tempfile"}
        assert not wrong, f"{path.relative_to(SRC)} imports {sorted(wrong)}"


def test_importing_cohabit_loads_nothing_heavy() -> None:
    heavy = {"asyncio", "starlette", "uvicorn", "mcp", "pydantic", "typer", "rich", "websockets", "httpx2", "numpy"}
    script = f"import cohabit, sys; print(sorted(set(sys.modules) & {heavy!r}))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_no_module_imports_the_public_front() -> None:
    """``cohabit`` itself names what users type, from all parts; a module imports each name from where it is defined."""
    parts = {path.stem for path in SRC.iterdir()}
    for path in modules():
        names = {name.partition(".")[2] for name in imported(path, types=True) if name.partition(".")[0] == "cohabit"}
        assert not {name for name in names if name.partition(".")[0] not in parts}, path.relative_to(SRC)


def test_import_strings_are_in_the_registry_only() -> None:
    """An import that is hidden in a string would hide a dependency from the test above."""
    # Two import their own modules late; library.py imports the module of an environment that a user names.
    allowed = {"registry.py", "__init__.py", "faces/cli/__init__.py", "library.py"}
    for path in modules():
        name = str(path.relative_to(SRC))
        if name not in allowed:
            assert "import_module" not in path.read_text(), name


def test_the_room_reads_no_files() -> None:
    for path in modules("room"):
        assert not libraries(path) & {"os", "pathlib", "io", "shutil", "tempfile"}, path.name


LOOKUPS = {"begin", "call", "find", "get", "named", "offer", "resolve", "with_tool_name"}
"""Functions that take the name of a command."""


def test_no_interface_knows_a_command_by_its_name() -> None:
    """Interfaces encode and decode. The verbs of the command line are clients: they call commands as any client does."""
    from cohabit.house.commands import every_command

    names = {made.name for _, made in every_command()}
    found = []
    for path in (SRC / "faces").rglob("*.py"):
        if (SRC / "faces" / "cli") in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and _called(node) in LOOKUPS:
                found += [(path.name, a.value) for a in node.args if isinstance(a, ast.Constant) and a.value in names]
            if isinstance(node, ast.Compare) and any(_is_a_name(side) for side in (node.left, *node.comparators)):
                sides = [inner for side in (node.left, *node.comparators) for inner in ast.walk(side)]
                found += [(path.name, s.value) for s in sides if isinstance(s, ast.Constant) and s.value in names]
            if isinstance(node, ast.Set | ast.List | ast.Tuple) and len(node.elts) > 1:
                listed = [e.value for e in node.elts if isinstance(e, ast.Constant) and e.value in names]
                found += [(path.name, name) for name in listed if len(listed) > 1 and set(listed) - TOPICS]
    assert not found


TOPICS = {"view", "events", "roster"}
"""Also kinds of things that change."""


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_a_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("name", "command", "tool_name")
