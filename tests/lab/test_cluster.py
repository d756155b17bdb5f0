"""Our side of runs on a cluster, where Ray is not installed. `test_ray.py` has those on a real one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab.clusters import ATTEMPTS, GAME, ROOT, check_attempts, in_one_process, write_design
from tests.lab.test_lab_runs import files

from cohabit.agents.spending import TotalsHere
from cohabit.agents.wire import Facts
from cohabit.errors import BadArgs, Conflict
from cohabit.faces.cli import main
from cohabit.lab.folder import UNFINISHED
from cohabit.lab.games import RunContext
from cohabit.lab.match import match, match_design
from cohabit.lab.on_ray import Code, Desk, setup_of, variables_of
from cohabit.lab.sources import Sources, sources_of

STAND_IN = Path(__file__).parent / "stand_in"
"""A folder with a module ``ray`` that has what we use of it."""


@pytest.fixture
def design(tmp_path: Path) -> Path:
    return write_design(tmp_path)


# -- with processes in place of a cluster -----------------------------------------------------------
def on_processes(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment["PYTHONPATH"] = f"{STAND_IN}{os.pathsep}{ROOT}"
    return subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=False)


def test_games_of_workers_one_of_which_dies_are_written_as_those_of_one_process(design: Path) -> None:
    mark = design.parent / "games/mark"
    mark.write_text("kill once")
    folder = design.parent / "several"
    words = ["lab", "run", str(design), "--out", str(folder), "--on", "ray", "--workers", "2"]
    done = on_processes("-m", "cohabit", *words)
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
    assert "its games are played again" in done.stderr
    assert files(folder) == in_one_process(design)


def test_a_second_attempt_stops_the_first_and_results_are_in_order() -> None:
    check_attempts(on_processes("-c", ATTEMPTS))


# -- without a cluster ------------------------------------------------------------------------------
def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadArgs, match=r"pip install 'cohabit\[ray\]'"):
        match("nim", "random", "random", games=2, on="ray", progress=False)


def test_a_run_with_nothing_left_to_play_starts_no_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = match("nim", "random", "random", games=2, out=tmp_path / "run", progress=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    again = match("nim", "random", "random", games=2, out=tmp_path / "run", on="ray", progress=False)
    assert again.games == first.games


@pytest.mark.parametrize("on", ["rays", "http://host:8265", "10.0.0.1:6379"])
def test_only_ray_is_a_cluster(on: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "nim", "random", "random", "--on", on]) == 2
    assert "must be ray, or the address of a Ray cluster" in capsys.readouterr().err


def test_a_person_does_not_play_on_a_cluster() -> None:
    with pytest.raises(BadArgs, match="human plays one game at a time, in this process"):
        match("nim", "human", "random", games=2, on="ray", progress=False)


def test_a_machine_with_the_same_files_uses_them_and_another_gets_copies(design: Path) -> None:
    games = design.parent / "games"
    sources = sources_of([f"{games}/fragile.py", f"{design.parent}/careful.py:Careful", "nim"])
    assert [Path(path).name for path in sources.files] == ["fragile.py", "helper.py", "careful.py"]
    assert sources.here() == ""
    (games / "helper.py").write_text("STONES = 3\n")
    root = sources.here()
    assert Path(f"{root}{games}/helper.py").read_text() == "STONES = 2\n"
    assert Path(f"{root}{games}/fragile.py").read_text() == GAME


def test_a_machine_with_other_versions_is_refused_and_named() -> None:
    code = Code({"cohabit": {"version": "1", "code": "a"}}, Sources({}, []))
    assert code.opened(lambda root: code.prints) == ""
    with pytest.raises(Conflict, match=r"other versions.*cohabit has changed \(version was 1, now 2\)"):
        code.opened(lambda root: {"cohabit": {"version": "2", "code": "b"}})


def test_workers_get_the_variables_of_the_models_that_play_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GITHUB_TOKEN", "MY_API_KEY"):
        monkeypatch.setenv(name, f"the value of {name}")
    monkeypatch.setenv("COHABIT_API_KEYS", "https://example.org=MY_API_KEY")
    monkeypatch.delenv("COHABIT_PRICES", raising=False)
    assert variables_of({"random": None, "nim-master": None}) == {}
    assert set(variables_of({"openai:m": None})) == {"OPENAI_API_KEY", "COHABIT_API_KEYS", "MY_API_KEY"}
    asks = Facts(methods=["decide"], backend="anthropic:m")
    assert set(variables_of({"mine.py:Mine": asks})) == {"ANTHROPIC_API_KEY", "COHABIT_API_KEYS", "MY_API_KEY"}


def test_the_text_of_what_a_worker_gets_has_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123456")
    made = {"openai:m@http://localhost:1/v1": None}
    setup = setup_of(RunContext(match_design("nim", ["random", "random"]), None, 1), made)
    assert setup.variables["OPENAI_API_KEY"] == "sk-secret-123456"
    assert "sk-secret" not in f"{setup!r} {setup}"


@pytest.mark.parametrize("kept", [True, False])
def test_the_host_keeps_answers_and_counts_what_is_spent_up_to_the_cap(tmp_path: Path, kept: bool) -> None:
    design = match_design("nim", ["random", "random"], max_cost=1.0)
    context = RunContext(design, tmp_path if kept else None, 1, tmp_path / "cache")
    (tmp_path / UNFINISHED).mkdir()
    desk = Desk(context, context.spending(TotalsHere()), setup_of(context, {}))
    assert desk.answer(0, "reserve", (0.75,))
    assert not desk.answer(0, "reserve", (0.5,))
    desk.answer(0, "settle", (0.75, 0.25))
    assert desk.answer(0, "totals", ()) == (0.25, 0.0)
    assert desk.answer(0, "answers", ("game",))[1] == b""
    desk.answer(0, "append", ("game", b"one\n"))
    desk.answer(1, "append", ("game", b"two\n"))
    assert desk.answer(1, "answers", ("game",))[1] == b"one\ntwo\n"
    assert (tmp_path / UNFINISHED / "game.jsonl").exists() is kept
    assert desk.answer(2, "cached", ("key",)) is None
    desk.answer(2, "keep", ("key", b"answer"))
    assert (tmp_path / "cache/key.json").read_bytes() == desk.answer(3, "cached", ("key",)) == b"answer"
    desk.answer(3, "decisions", (7,))
    desk.answer(3, "decisions", (9,))
    assert desk.decisions == {3: 9}
