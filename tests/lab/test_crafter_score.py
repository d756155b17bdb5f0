"""The score table in the documentation is the committed result of the committed design."""

import csv
import json
from pathlib import Path

from cohabit.worlds.crafter.rules import ACHIEVEMENTS

ROOT = Path(__file__).parent.parent.parent
FOLDER, PAGE = ROOT / "docs" / "crafter-score", (ROOT / "docs" / "crafter.md").read_text()
ROWS = {
    (row["player"], row["measure"]): row for row in csv.DictReader((FOLDER / "measures.csv").read_text().splitlines())
}


def test_the_table_is_of_the_design_that_is_an_example() -> None:
    ran, example = (
        json.loads(path.read_text()) for path in (FOLDER / "design.json", ROOT / "examples/lab/crafter.json")
    )
    assert ran["players"] == example["players"]
    assert ran["seeds"] == example["seeds"] == 100
    assert {int(row["seeds"]) for row in ROWS.values()} == {100}


def test_the_scores_that_the_page_shows_are_in_the_results() -> None:
    for player, name in (("expert", "**`crafter-expert`**"), ("random", "random")):
        (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {name} |")]
        row = ROWS[player, "Crafter score"]
        assert line.split("|")[2].strip(" *") == f"{float(row['mean']):.1f}"
        assert f"{float(row['low_95']):.1f} to {float(row['high_95']):.1f}" in line


def test_the_results_have_every_achievement() -> None:
    assert {(player, name) for player in ("expert", "random") for name in ACHIEVEMENTS} <= ROWS.keys()


def test_the_expert_is_better_than_human_experts_beyond_doubt() -> None:
    score = ROWS["expert", "Crafter score"]
    assert float(score["low_95"]) > 50.5 + 6.8
    assert f"| **`crafter-expert`** | **{float(score['mean']):.1f}** |" in PAGE
