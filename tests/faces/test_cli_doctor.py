"""`cohabit doctor` and `cohabit completions`."""

import json
import os
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from cohabit.errors import StorageFailed
from cohabit.faces.cli import main
from cohabit.faces.cli.doctor import _clock, extras
from cohabit.faces.cli.operator import operator_file
from cohabit.faces.cli.verbs import VERBS
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario

SECRET = "sk-this-is-a-key-that-nobody-may-see"


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as one:
        port: int = one.getsockname()[1]
        return port


def findings(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, dict[str, str]]]:
    code = main(["doctor", "--json", *words])
    said = json.loads(capsys.readouterr().out)
    return code, {each["name"]: each for group in said.values() for each in group}


def test_the_doctor_finds_no_problem_on_a_machine_that_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = findings(capsys, "--data", str(tmp_path / "new"), "--port", str(free_port()))
    assert (code, {name for name, each in found.items() if each["state"] == "problem"}) == (0, set())
    assert {"cohabit", "python", "git", "clock", "disk", "database", "local", "openspiel"} <= set(found)


def test_a_port_that_is_taken_is_a_problem_with_a_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        code, found = findings(capsys, "--data", str(tmp_path), "--port", str(taken.getsockname()[1]))
    assert (code, found["port"]["state"]) == (1, "problem")
    assert "--port" in found["port"]["help"]


def test_a_data_folder_that_others_can_read_is_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o755)
    code, found = findings(capsys, "--data", str(tmp_path), "--port", str(free_port()))
    assert (code, found["data folder"]["help"]) == (1, f"chmod 700 {tmp_path}")


def test_a_damaged_database_is_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "cohabit.db").write_bytes(b"this is no database" * 100)
    code, found = findings(capsys, "--data", str(tmp_path), "--port", str(free_port()))
    assert (code, found["database"]["state"]) == (1, "problem")


async def test_the_rooms_of_the_database_are_those_that_people_opened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with House.open(Settings(data=str(tmp_path / "data"))) as house:
        await house.create_room(Scenario(world="nim", agents=[AgentSpec(id="ann", role="player")]), "r")
    code, found = findings(capsys, "--data", str(tmp_path / "data"), "--port", str(free_port()))
    assert (code, found["database"]["text"]) == (0, "SQLite, 1 room")


async def test_a_house_whose_disk_is_full_at_its_start_leaves_nothing_that_stops_the_doctor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with House.open(Settings(data=str(data))) as house:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, allowed[1]))
        try:
            with (
                pytest.raises(StorageFailed, match="free some space"),
                operator_file(house, "http://127.0.0.1:1", 1),
            ):
                pass
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    code, found = findings(capsys, "--data", str(data), "--port", str(free_port()))
    assert (code, found["database"]["state"]) == (0, "ok")


def test_a_full_disk_under_the_output_says_what_to_do() -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "cohabit", "worlds"]
        said = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert "No space left on device; free some space, and try again" in said.stderr


def test_an_embedded_model_that_cannot_be_loaded_is_a_problem_with_a_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xllamacpp.py").write_text('raise ImportError("libgomp.so.1: cannot open shared object file")')
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    code = main(["doctor", "--json", "--data", str(tmp_path / "new"), "--port", str(free_port())])
    (model,) = (each for each in json.loads(capsys.readouterr().out)["Models"] if each["name"] == "local")
    assert (code, model["help"]) == (1, "apt-get install libgomp1")
    assert "libgomp.so.1: cannot open shared object file" in model["text"]


def test_a_clock_before_the_release_is_a_problem() -> None:
    assert (_clock(1_000_000_000).state, _clock(1_900_000_000).state) == ("problem", "ok")


def test_the_output_shows_no_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("COHABIT_TOKEN", SECRET)
    main(["doctor", "--data", str(tmp_path / "new"), "--port", str(free_port())])
    shown = capsys.readouterr().out
    assert "OPENAI_API_KEY is set" in shown
    assert SECRET not in shown


def test_the_extras_are_those_of_the_package() -> None:
    known = extras()
    assert known["postgres"] == ["psycopg"]
    assert "test" not in known


# -- completions ------------------------------------------------------------------------------------
@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], Path]:
    def write(shell: str) -> Path:
        assert main(["completions", shell]) == 0
        path = tmp_path / f"cohabit.{shell}"
        path.write_text(capsys.readouterr().out)
        return path

    return write


def completed(script: Path, *words: str) -> set[str]:
    """What bash offers after these words, the last of which is not complete."""
    line = " ".join(f"'{word}'" for word in words)
    program = (
        f'. {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _cohabit; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "--norc", "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_bash_completes_verbs_their_verbs_and_options(script: Callable[[str], Path]) -> None:
    bash = script("bash")
    assert completed(bash, "cohabit", "") == set(VERBS)
    assert completed(bash, "cohabit", "wo") == {"worlds", "workspace", "worldbox"}
    assert completed(bash, "cohabit", "lab", "re") == {"report"}
    assert completed(bash, "cohabit", "doctor", "--") == {"--json", "--port", "--data", "--store"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_their_script(script: Callable[[str], Path], shell: str) -> None:
    program = shutil.which(shell)
    path = script(shell)
    if program is not None:
        subprocess.run([program, "-n", str(path)], check=True, env={"PATH": os.environ["PATH"]})
    named = {verb for verb in VERBS if verb in path.read_text()}
    assert named == set(VERBS)


def test_a_shell_that_is_not_known_is_refused_with_those_that_are() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cohabit", "completions", "csh"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "bash" in done.stderr
