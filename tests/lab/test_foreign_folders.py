"""A folder of results, or a record, can come from anybody: reading it runs no code that it names."""

from pathlib import Path

import pytest

from cohabit.faces.cli import main
from cohabit.lab.match import match
from cohabit.lab.report import page
from cohabit.lab.results import Results

WORLD = (Path(__file__).parent.parent / "worlds_samples" / "harvest.py").read_text()
PLAYERS = ("random", "random", "random")


@pytest.fixture
def gift(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose world is the file mine.py. The file has changed since: it leaves a mark when it is executed."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(WORLD)
    match("mine.py", *PLAYERS, games=2, out="gift", progress=False)
    Path("mine.py").write_text(f"{WORLD}\nopen('mark', 'w').close()\n")
    return tmp_path / "gift"


def record(folder: Path) -> str:
    return str(next(iter(sorted((folder / "records").iterdir()))))


def was_run() -> bool:
    return Path("mark").exists()


def test_a_report_of_a_folder_does_not_run_its_world_and_says_how_to_get_the_curves(
    gift: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "report", "gift"]) == 0
    assert not was_run()
    shown = capsys.readouterr().out
    assert "without curves, which need the code of mine.py; if you trust it: --world mine.py" in shown
    assert "In the course of a game" not in (gift / "report.html").read_text()


def test_a_report_has_curves_if_the_world_is_named(gift: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "report", "gift", "--world", "mine.py"]) == 0
    assert was_run()
    assert "without curves" not in capsys.readouterr().out
    assert "In the course of a game" in (gift / "report.html").read_text()


@pytest.mark.usefixtures("gift")
def test_a_world_that_is_named_and_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "report", "gift", "--world", "gone/mine.py"]) == 1
    assert "file not found: gone/mine.py" in capsys.readouterr().err


@pytest.mark.parametrize("verb", [["replay"], ["verify"], ["lab", "export"]])
def test_a_record_does_not_run_the_file_that_it_names(
    gift: Path, verb: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*verb, record(gift)]) == 1
    assert not was_run()
    assert "is not run because a record names it; if you have the file and trust it, name it with --world FILE" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("verb", [["replay"], ["verify"], ["lab", "export"]])
def test_a_record_is_replayed_with_the_world_that_the_user_names(gift: Path, verb: list[str]) -> None:
    Path("moved.py").write_text(WORLD)
    assert main([*verb, record(gift), "--world", "moved.py"]) == 0


def test_the_dataset_of_a_folder_does_not_run_its_world(gift: Path) -> None:
    assert main(["lab", "export", "gift"]) == 1
    assert not was_run()
    assert main(["lab", "export", "gift", "--world", "mine.py"]) == 0


def test_a_record_that_says_its_world_was_moved_to_a_file_does_not_run_it(gift: Path) -> None:
    assert main(["match", "nim", "random", "random", "--games", "1", "--out", "plain"]) == 0
    path = Path(record(Path("plain")))
    path.write_bytes(
        path.read_bytes() + b'{"seq":0,"digest":"","entry":{"do":"rebound","args":{"source":"mine.py"}}}\n'
    )
    assert main(["replay", str(path)]) == 1
    assert not was_run()


def test_the_results_of_a_run_in_this_process_may_load_its_world(gift: Path) -> None:
    Path("mine.py").write_text(WORLD)
    results = match("mine.py", *PLAYERS, games=2, out="gift", progress=False)
    assert "In the course of a game" in page(results)
    assert "In the course of a game" not in page(Results.read("gift"))
    assert "In the course of a game" in page(Results.read("gift", worlds=["mine.py"]))
