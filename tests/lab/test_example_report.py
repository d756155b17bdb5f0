"""The committed example report is of the committed design, and its records are whole."""

from pathlib import Path

from cohabit.lab.design import parse_design
from cohabit.lab.folder import read_record
from cohabit.lab.report import problems_of
from cohabit.lab.results import Results

ROOT = Path(__file__).parent.parent.parent
FOLDER, DESIGN = ROOT / "docs" / "four-worlds", ROOT / "examples" / "lab" / "four-worlds.json"


def test_every_planned_game_was_played_and_nothing_is_wrong_with_the_results() -> None:
    results = Results.read(FOLDER)
    assert [game.spec for game in results.games] == parse_design(DESIGN.read_bytes(), load=False).specs()
    assert problems_of(results) == []
    assert results.design.name in (FOLDER / "report.html").read_text()


def test_the_record_of_every_game_is_whole() -> None:
    for game in Results.read(FOLDER).games:
        *_, last = read_record(FOLDER, game.spec.id)
        assert last.digest.hex() == game.head


def test_the_example_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 1_000_000


def test_no_path_of_a_machine_is_in_the_example() -> None:
    for path in FOLDER.rglob("*"):
        if path.is_file():
            text = path.read_text()
            for folder in ("tmp", "home", "root"):
                assert f"/{folder}/" not in text
