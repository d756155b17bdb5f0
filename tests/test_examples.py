"""What is shown to newcomers works: every program in `examples/`, and every world in the documentation."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cohabit.testing.checker import check_world

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
LAST_LINES = {
    "two_agents.py": r"\d+ entries on record; run again they give the same room: True",
    "over_the_wire.py": r"ok: one game over three wires; (ada|bob|cleo) wins with \d+",
    "chat_room.py": r"ok: the agent spoke when it might, and only then",
}
WORLDS = ("pig.py",)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text())


def test_every_example_is_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*LAST_LINES, *WORLDS}


@pytest.mark.parametrize("name", LAST_LINES)
def test_an_example_runs_and_says_that_it_worked(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(LAST_LINES[name], done.stdout.splitlines()[-1]), done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("name", WORLDS)
def test_an_example_world_keeps_the_contract(name: str) -> None:
    report = check_world(str(EXAMPLES / name), seeds=(1,), steps=100)
    assert report.ok, report


def test_a_newcomers_world_takes_at_most_60_lines() -> None:
    assert len((EXAMPLES / "pig.py").read_text().splitlines()) <= 60


def whole_worlds() -> dict[str, str]:
    found = (block for page in PAGES for block in blocks(page) if "from cohabit import" in block)
    return {name: block for block in found for name in re.findall(r"class (\w+)\(World\)", block)}


def test_the_documentation_shows_a_world_of_each_pace() -> None:
    shown = "\n".join(whole_worlds().values())
    assert set(re.findall(r'pace="(\w+)"', shown)) == {"step", "turns", "rounds", "clock"}


@pytest.mark.parametrize("name", whole_worlds())
def test_a_world_in_the_documentation_keeps_the_contract(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name.lower()}.py"
    file.write_text(whole_worlds()[name])
    report = check_world(str(file), seeds=(1,), steps=100)
    assert report.ok, report


def test_excerpts_of_an_example_are_what_stands_there() -> None:
    for page in PAGES:
        for block in blocks(page):
            first, _, excerpt = block.partition("\n")
            if first.startswith("# examples/"):
                assert excerpt.rstrip() in (ROOT / first[2:]).read_text(), f"{page.name}: {first}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_in_the_documentation_can_be_compiled(page: Path) -> None:
    for block in blocks(page):
        if not block.startswith("# examples/"):
            body = "\n".join("    " + line for line in block.splitlines())
            compile(f"async def _block():\n{body}\n    pass\n", page.name, "exec")
