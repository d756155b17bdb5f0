"""The report says what was found, and needs nothing but itself."""

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cohabit.faces.cli import main
from cohabit.lab import findings, plots
from cohabit.lab.config import Experiment, parse_experiment
from cohabit.lab.record import Place, Round
from cohabit.lab.report import NAME, page, write_report
from cohabit.lab.tables import TABLES

from .rounds import a_round, eventful, turn

EXPERIMENT = {"name": "By <b>hand</b>", "lineups": {"a & $b": ["x", "y", "x"]}, "seeds": [1, 2], "turns": 3}


def experiment() -> Experiment:
    return parse_experiment(json.dumps(EXPERIMENT), players=False)


def rounds() -> list[Round]:
    return [eventful(place) for place in experiment().places()]


class Reading(HTMLParser):
    """Collects the text of cells, and whatever would be fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.fetched: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        self.fetched += [
            value or "" for name, value in attrs if name in ("src", "href") and not (value or "").startswith("#")
        ]

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] in ("td", "th") and data.strip():
            self.rows[-1][-1] += data


def read(text: str) -> Reading:
    reading = Reading()
    reading.feed(text)
    return reading


def test_the_page_has_the_numbers_of_the_rounds() -> None:
    found = read(page(experiment(), rounds(), pictures=False)).rows
    # A and C play x: welfare (130 + 60) / 2 nations / 3 turns; B plays y: 150 / 3 turns, and wins.
    assert ["a & $b", "x", "2", "31.67 ± 0.00", "0 %", "0.00 ± 0.00", "0.00 ± 0.00", "2", "2", "4.67"] in found
    assert ["a & $b", "y", "1", "50.00 ± 0.00", "100 %", "0.00 ± 0.00", "3.33 ± 0.00", "0", "0", "–"] in found
    assert ["a & $b", "0.13 ± 0.00", "0.176 ± 0.000", "13.33 ± 0.00"] in found
    assert ["a & $b", "1.00 ± 0.00", "1.00 ± 0.00", "3.33 ± 0.00", "0.00 ± 0.00", "1.00 ± 0.00"] in found
    assert ["all kept", "2", "9.00"] in found
    assert ["none kept", "4", "2.50"] in found


def test_the_page_needs_nothing_from_elsewhere_and_shows_names_as_text() -> None:
    text = page(experiment(), rounds())
    assert "<b>hand</b>" not in text
    reading = read(text)
    assert reading.fetched == []
    assert not {"script", "link", "img", "iframe"} & set(reading.tags)
    assert "@import" not in text
    assert "url(http" not in text


def test_every_picture_is_drawn_well_formed_with_ids_of_its_own_and_the_same_twice() -> None:
    looked = [findings.look(played) for played in rounds()]
    found, words = findings.lineups(looked), findings.words(looked)
    pictures = plots.draw(found, words)
    assert list(pictures) == ["welfare", "results", "cooperation", "gini", "wars", "promises"]
    ids: list[str] = []
    for picture in pictures.values():
        ElementTree.fromstring(picture)
        ids += dict.fromkeys(re.findall(r'clipPath id="([^"]+)"', picture))
    assert len(ids) == len(set(ids))
    assert pictures == plots.draw(found, words)


def test_without_pictures_the_page_says_what_they_need() -> None:
    text = page(experiment(), rounds(), pictures=False)
    assert "<svg" not in text
    assert "cohabit[lab]" in text


def test_a_run_that_is_not_finished_says_so() -> None:
    assert "1 are missing" in page(experiment(), rounds()[:1], pictures=False)
    assert "2 are missing" in page(experiment(), [], pictures=False)
    assert "missing" not in page(experiment(), rounds(), pictures=False)


def test_every_table_is_there_as_csv_and_as_json_lines_with_the_same_rows(tmp_path: Path) -> None:
    write_report(experiment(), rounds(), tmp_path)
    for name, table in TABLES.items():
        with (tmp_path / f"{name}.csv").open(newline="") as file:
            listed = list(csv.DictReader(file))
        lines = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
        assert listed == [{k: "" if v is None else str(v) for k, v in line.items()} for line in lines], name
        assert lines, f"{name} has rows here"
        assert list(lines[0]) == table.columns.split(), name
    assert (tmp_path / NAME).exists()


def test_a_table_without_rows_still_has_its_head(tmp_path: Path) -> None:
    write_report(experiment(), [a_round([turn()], Place("a & $b", 1, 1))], tmp_path)
    assert (tmp_path / "wars.csv").read_text().startswith("lineup,seed,round,one,other")
    assert (tmp_path / "wars.jsonl").read_text() == ""


# -- the command line -------------------------------------------------------------------------------
def test_an_experiment_is_played_and_reported_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, out = tmp_path / "x.json", tmp_path / "out"
    config.write_text(json.dumps({"name": "x", "lineups": {"two": ["trader", "hawk"]}, "seeds": 2, "turns": 3}))
    assert main(["statecraft", "run", str(config), "--out", str(out)]) == 0
    assert str(out / NAME) in capsys.readouterr().out
    before = (out / NAME).read_bytes()
    (out / NAME).unlink()
    assert main(["statecraft", "report", str(out)]) == 0
    assert (out / NAME).read_bytes() == before


def test_mistakes_on_the_command_line_are_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "x.json"
    config.write_text(json.dumps({"name": "x", "lineups": {"two": ["trader", "hauk"]}}))
    assert main(["statecraft", "run", str(config), "--out", str(tmp_path / "out")]) == 1
    assert "lineups.two[1]: there is no nation 'hauk'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main(["statecraft", "report", str(tmp_path)]) == 1
    assert "there is no experiment" in capsys.readouterr().err
    assert main(["statecraft", "run", str(config), "--out", str(tmp_path / "out"), "--workers", "0"]) == 2
