"""The packages ``protocols/worldbox/`` and ``worlds/kingdoms/`` can be deleted: what is left is a working house.

Each test runs in a process in which neither of the two can be imported.
"""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WITHOUT = """
import sys
from importlib.abc import MetaPathFinder

MISSING = ("cohabit.protocols.worldbox", "cohabit.worlds.kingdoms")

class Deleted(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith(MISSING):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Deleted())
"""
CORE = [
    "tests/model",
    "tests/room",
    "tests/house/test_door.py",
    "tests/house/test_rooms.py",
    "tests/house/test_runner.py",
    "tests/house/test_subscriptions.py",
    "tests/testing/test_faces.py",
    "tests/worlds/test_nim.py",
    "tests/worlds/test_lanterns.py",
]


GAME_WORDS = re.compile(r"worldbox|kingdom|faction|\bwbox|wb-token|mod_version|legacy", re.IGNORECASE)
MAY_NAME_IT = {"registry.py", "scenario.py", "house/settings.py"}
"""Import strings, a key of a file format, and a setting."""


def run_without(script: str) -> str:
    """Run a script in which the two packages cannot be imported; what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COHABIT_", "PYTEST_"))}
    program = [sys.executable, "-c", WITHOUT + textwrap.dedent(script)]
    done = subprocess.run(program, capture_output=True, text=True, cwd=ROOT, env=kept, timeout=280, check=False)
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-6_000:]
    return done.stdout


ONE_CASE_OF_EACH = """
import pytest

class OneCaseOfEach:
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        first = {}
        for item in items:
            first.setdefault(item.nodeid.partition("[")[0], item)
        items[:] = first.values()
"""


@pytest.mark.soak
def test_the_core_part_of_the_suite_passes() -> None:
    """Each test once, without the properties and the embedded language model, which take most of the time: which
    packages are there does not depend on the input."""
    chosen = ["-k", "not kingdoms and not workspace and not embedded", "-m", "not soak and not hypothesis"]
    options = ["-q", "-p", "no:cacheprovider", *chosen]
    said = run_without(f"{ONE_CASE_OF_EACH}\nsys.exit(pytest.main({[*options, *CORE]!r}, [OneCaseOfEach()]))")
    assert int(re.findall(r"(\d+) passed", said)[-1]) > 400


def test_nim_is_played_over_python_http_and_websocket() -> None:
    said = run_without("""
        import asyncio
        from cohabit.faces.python import connect
        from cohabit.faces.serve import serve, side_servers
        from cohabit.house.house import House
        from cohabit.house.settings import Settings
        from cohabit.scenario import AgentSpec, Scenario

        async def main():
            async with House.open(Settings(port=0)) as house:
                assert [type(server).__name__ for server in side_servers(house)] == ["NexusServer"]
                agents = [AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(("ann", "bob"))]
                nim = Scenario(scenario="table", world="nim", config={"stones": 7}, agents=agents)
                _, tokens = await house.create_room(nim, "table")
                ready = asyncio.get_running_loop().create_future()
                serving = asyncio.ensure_future(serve(house, ready=ready.set_result, mcp=False))
                url = await ready
                ways = [
                    ("ann", lambda: connect(house, tokens["ann"])),
                    ("bob", lambda: connect(url, tokens["bob"], transport="http")),
                    ("ann", lambda: connect(url, tokens["ann"])),
                ]
                for who, opened in ways:
                    async with opened() as client:
                        assert (await client.call("whoami"))["handle"] == who
                        assert (await client.call("take", {"n": 1}))["success"]
                serving.cancel()
                await asyncio.gather(serving, return_exceptions=True)
                print(house.rooms["table"].room.world.spec.name, "played by", *tokens)

        asyncio.run(main())
    """)
    assert said == "nim played by ann bob\n"


def test_neither_the_lists_nor_the_command_line_mention_what_is_missing() -> None:
    said = run_without("""
        from cohabit.faces.cli import main
        from cohabit.house.commands import every_command
        from cohabit.registry import known_worlds

        assert main(["--help"]) == 0
        print(*known_worlds(), *sorted({tag for tag, _ in every_command()}))
    """)
    assert "nim" in said
    assert "worldbox" not in said.lower()
    assert "kingdoms" not in said.lower()


def test_the_core_has_no_words_of_that_game() -> None:
    source = ROOT / "src" / "cohabit"
    core = [
        path
        for part in ("model", "room", "features", "house", "faces", "testing")
        for path in (source / part).rglob("*")
    ]
    assert {"room.py", "index.html"} <= {path.name for path in core}
    found = [
        f"{path.relative_to(source)}:{number}: {line.strip()}"
        for path in (*source.glob("*.py"), *core)
        if path.suffix in (".py", ".js", ".html") and str(path.relative_to(source)) not in MAY_NAME_IT
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if GAME_WORDS.search(line)
    ]
    assert not found
