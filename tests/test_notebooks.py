"""The notebooks of `examples/notebooks` run, and their cells show what the text says."""

import ast
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).parent.parent / "examples/notebooks"


def shown_by(name: str) -> list[Any]:
    """Run the cells in one namespace, as a kernel does. Returns the values that they show."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for cell in json.loads((NOTEBOOKS / name).read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "a notebook is kept without what it showed"
            *before, last = ast.parse("".join(cell["source"])).body
            assert isinstance(last, ast.Expr), "a cell ends with what it shows"
            exec(compile(ast.Module(before, []), name, "exec"), namespace)
            shown.append(eval(compile(ast.Expression(last.value), name, "eval"), namespace))
    return shown


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(tmp_path)
    yield
    os.chdir(before)


def test_there_are_three_notebooks() -> None:
    assert sorted(path.name for path in NOTEBOOKS.glob("*")) == ["experiment.ipynb", "match.ipynb", "train.ipynb"]


def test_a_match_shows_itself_with_its_replay_inside() -> None:
    results, another, _, decisions = shown_by("match.ipynb")
    assert "<table" in results._repr_html_()
    assert "<iframe" in results._repr_html_()
    assert "<iframe" in another._repr_html_()
    assert "Tic-tac-toe" in Path("game.html").read_text()
    assert len(decisions) == 5


@pytest.mark.soak
def test_a_player_learns_in_one_of_our_environments() -> None:
    *_, learned = shown_by("train.ipynb")
    won, _, _ = learned.partition(" of 100 games won")
    assert int(won) >= 80


@pytest.mark.soak
def test_an_experiment_shows_its_table_its_plots_and_a_game() -> None:
    results, plot, replay = shown_by("experiment.ipynb")
    assert {row[0] for row in results.rows()} == {"nim · stones 12", "nim · stones 21"}
    assert len(plot.axes) == 2
    assert "<iframe" in replay._repr_html_()
