"""The examples for newcomers work: every program in `examples/`, and every world in the documentation."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from cohabit.lab.statecraft.config import parse_experiment
from cohabit.lab.statecraft.report import write_report
from cohabit.lab.statecraft.run import run
from cohabit.model.seat import Seat
from cohabit.registry import find_world
from cohabit.scenario import parse_scenario, read_scenario
from cohabit.testing.checker import check_here, check_world

from . import forks
from .examples import soak_except
from .ports import free_port

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
MULTI_AGENT = EXAMPLES / "scenarios" / "multi-agent"
LAST_LINES = {
    "two_agents.py": r"\d+ entries on record; run again they give the same room: True",
    "over_the_wire.py": r"ok: one game over three wires; (ada|bob|cleo) wins with \d+",
    "chat_room.py": r"ok: the agent could send messages only while it had permission",
    "agent_key.py": r"ok: owl joined with its key and may send_broadcast",
    "adapter.py": r"ok: warm_night after 5 steps; the same as a world: True",
    "search.py": r"ok: amber, who searches, has \d+ land; blue, who does not, has \d+",
    "train.py": r"ok: (9\d|100) of 100 games won against random",
    "odyssey.py": r"ok: 10 chapters; the records of three rooms, run again, give the same rooms: True",
    "workspace_day.py": r"ok: 8 entries and 3 items, each once; one conflict, resolved; four identical clones",
}
WORLDS = ("pig.py", *(f"worlds/{path.name}" for path in sorted((EXAMPLES / "worlds").glob("*.py"))))
OF_EACH_PACE = ("pig.py", "worlds/corridor.py", "worlds/harvest.py", "worlds/drift.py")
FEATURES = ("poll.py",)
BLOCK = re.compile(r"^```python(?: title=\"[^\"]*\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [(page.name, block) for page in PAGES for block in BLOCK.findall(page.read_text())]
EXCERPTS = [block for _, block in BLOCKS if block.startswith("# examples/")]


def test_every_example_is_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*LAST_LINES, "pig.py", *FEATURES}


# The odyssey takes as long as all others. Journeys between rooms are tested in `tests/nexus/`.
@pytest.mark.parametrize("name", soak_except(LAST_LINES, *(name for name in LAST_LINES if name != "odyssey.py")))
def test_an_example_runs_and_says_that_it_worked(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(LAST_LINES[name], done.stdout.splitlines()[-1]), done.stdout
    assert done.stderr == ""


def test_the_function_in_the_documentation_is_the_one_of_the_example() -> None:
    (shown,) = [block for page, block in BLOCKS if page == "invites.md" and "join_with_key" in block]
    assert shown in (EXAMPLES / "agent_key.py").read_text()


SCENARIOS = sorted(path.name for path in MULTI_AGENT.glob("*.json"))


def test_the_four_scenarios_of_the_bridge_are_shown() -> None:
    assert SCENARIOS == ["coop.json", "hierarchical.json", "pvp.json", "sandbox.json"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_that_is_shown_is_the_preset_without_its_built_in_players_and_holds_no_token(name: str) -> None:
    raw = json.loads((MULTI_AGENT / name).read_text(encoding="utf-8"))
    assert raw["_comment"]
    assert all("token" not in agent for agent in raw["agents"])
    shown, preset = parse_scenario(json.dumps(raw)), read_scenario(name.removesuffix(".json"))
    for agent in preset.agents:
        agent.brain = None
    assert shown == preset
    assert find_world(shown.world).spec.features == ("worldbox",)


@contextmanager
def pvp_room(home: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """A real house with the example's room: the address of its bridge, and the tokens it shows."""
    port = free_port()
    words = [
        "up",
        str(MULTI_AGENT / "pvp.json"),
        "--data",
        "house",
        "--port",
        "0",
        "--bridge-port",
        str(port),
        "--links",
    ]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COHABIT_", "WORLDBOX_"))}
    kept |= {"HOME": str(home), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen([*forks.command(), *words], stdout=subprocess.PIPE, text=True, cwd=home, env=kept) as house:
        try:
            assert house.stdout is not None
            tokens: dict[str, str] = {}
            for line in house.stdout:
                if found := re.match(r"(athena|ares) .* (\w{48})$", line):
                    tokens[found[1]] = found[2]
                if "The house is open" in line:
                    break
            yield f"http://127.0.0.1:{port}", tokens
        finally:
            house.kill()


def smoke(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(MULTI_AGENT / "pvp_smoke.py"), *words]
    kept = {k: v for k, v in os.environ.items() if not k.endswith("_TOKEN")}
    return subprocess.run(program, cwd=home, capture_output=True, text=True, timeout=240, env=kept)


def test_the_pvp_smoke_passes_at_a_real_room_and_fails_with_a_clear_line_where_something_is_wrong(
    tmp_path: Path,
) -> None:
    with pvp_room(tmp_path) as (bridge, tokens):
        done = smoke(tmp_path, "--bridge", bridge, "--athena", tokens["athena"], "--ares", tokens["ares"])
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[-1] == "all checks passed"
        assert done.stdout.count("ok   ") == 11
        swapped = smoke(tmp_path, "--bridge", bridge, "--athena", tokens["ares"], "--ares", tokens["athena"])
        assert swapped.returncode == 1
        assert re.fullmatch(r"FAILED: athena is athena, a faction player; the bridge says: .*\n", swapped.stderr)
        unknown = smoke(tmp_path, "--bridge", bridge, "--athena", "nobody", "--ares", "nobody")
        assert (unknown.returncode, unknown.stderr[:23]) == (1, "FAILED: [UNAUTHORIZED] ")
    gone = smoke(tmp_path, "--bridge", bridge, "--athena", "a", "--ares", "b")
    assert (gone.returncode, gone.stderr[:24]) == (1, "FAILED: nothing answers ")
    assert smoke(tmp_path).returncode == 2


@pytest.mark.parametrize("path", sorted((EXAMPLES / "statecraft").glob("*.json")), ids=lambda path: path.stem)
def test_an_experiment_that_is_shown_can_be_played(path: Path, tmp_path: Path) -> None:
    shown = parse_experiment(path.read_bytes(), folder=str(path.parent))
    small = msgspec.structs.replace(shown, seeds=[1], rounds=1, turns=4)
    rounds = run(small, tmp_path)
    assert [played.place.lineup for played in rounds] == list(shown.lineups)
    assert write_report(small, rounds, tmp_path).read_text().count("<svg") == 6


@pytest.mark.parametrize("name", soak_except(WORLDS, *OF_EACH_PACE))
def test_an_example_world_keeps_the_contract(name: str) -> None:
    report = check_world(str(EXAMPLES / name), seeds=(1,), steps=100)
    assert report.ok, report


@pytest.mark.parametrize("name", [name for name in WORLDS if name not in OF_EACH_PACE])
def test_an_example_world_keeps_the_contract_within_a_process(name: str, without_processes: None) -> None:
    report = check_here(str(EXAMPLES / name), seeds=(1,), steps=100)
    assert report.ok, report


def test_a_newcomers_world_takes_at_most_60_lines() -> None:
    assert len((EXAMPLES / "pig.py").read_text().splitlines()) <= 60


def whole_worlds() -> dict[str, str]:
    found = (block for _, block in BLOCKS if "from cohabit import" in block)
    return {name: block for block in found for name in re.findall(r"class (\w+)\((?:Embodied)?World\)", block)}


def test_the_documentation_shows_a_world_of_each_pace() -> None:
    shown = "\n".join(whole_worlds().values())
    assert set(re.findall(r'pace="(\w+)"', shown)) == {"step", "turns", "rounds", "clock"}


@pytest.mark.sampled
@pytest.mark.parametrize("name", whole_worlds())
def test_a_world_in_the_documentation_keeps_the_contract(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name.lower()}.py"
    file.write_text(whole_worlds()[name])
    report = check_world(str(file), seeds=(1,), steps=100)
    assert report.ok, report


@pytest.mark.parametrize("block", EXCERPTS, ids=lambda block: block.partition("\n")[0])
def test_an_excerpt_of_an_example_is_what_stands_there(block: str) -> None:
    first, _, excerpt = block.partition("\n")
    assert excerpt.rstrip() in (ROOT / first[2:]).read_text()


@pytest.mark.parametrize(("page", "block"), [shown for shown in BLOCKS if shown[1] not in EXCERPTS], ids=str)
def test_python_in_the_documentation_can_be_compiled(page: str, block: str) -> None:
    body = "\n".join("    " + line for line in block.splitlines())
    assert compile(f"async def _block():\n{body}\n    pass\n", page, "exec")


def test_pig_says_what_a_player_did_without_the_number_of_its_seat() -> None:
    game = find_world(str(EXAMPLES / "pig.py"))()
    ada, bob = Seat("1", "1"), Seat("2", "2")
    game.reset(1, [ada, bob])
    said = [game.roll(ada).public for _ in range(20)]
    assert all(re.fullmatch(r"rolls a (one|\d)", text) for text in said)
