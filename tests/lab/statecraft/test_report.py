"""The report shows the results, and is self-contained."""

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cohabit.faces.cli import main
from cohabit.lab.report import REPORT_FILE
from cohabit.lab.statecraft import plots
from cohabit.lab.statecraft.config import Experiment, parse_experiment
from cohabit.lab.statecraft.report import page, write_report
from cohabit.lab.statecraft.rounds import Place, Round
from cohabit.lab.statecraft.summaries import analyse, rated_pledges, summarise
from cohabit.lab.statecraft.tables import TABLES, write_tables

from .example_rounds import a_round, eventful, turn

EXPERIMENT = {"name": "By <b>hand</b>", "lineups": {"a & $b": ["x", "y", "x"]}, "seeds": [1, 2], "turns": 3}


def experiment() -> Experiment:
    return parse_experiment(json.dumps(EXPERIMENT), players=False)


def rounds() -> list[Round]:
    return [eventful(place) for place in experiment().places()]


class PageReader(HTMLParser):
    """Collects the text of table cells, and the addresses that a browser would load."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.loaded: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        self.loaded += [
            value or "" for name, value in attrs if name in ("src", "href") and not (value or "").startswith("#")
        ]

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] in ("td", "th") and data.strip():
            self.rows[-1][-1] += data


def read(text: str) -> PageReader:
    reader = PageReader()
    reader.feed(text)
    return reader


def test_the_page_has_the_results_of_the_rounds() -> None:
    found = read(page(experiment(), rounds(), with_plots=False)).rows
    # Player x has A and C: welfare (130 + 60) / 2 nations / 3 turns. Player y has B: 150 / 3 turns, and wins.
    assert ["a & $b", "x", "2", "31.67 ± 0.00", "0 %", "0.00 ± 0.00", "0.00 ± 0.00", "2", "2", "4.67"] in found
    assert ["a & $b", "y", "1", "50.00 ± 0.00", "100 %", "0.00 ± 0.00", "3.33 ± 0.00", "0", "0", "–"] in found
    assert ["a & $b", "0.13 ± 0.00", "0.176 ± 0.000", "13.33 ± 0.00"] in found
    assert ["a & $b", "1.00 ± 0.00", "1.00 ± 0.00", "3.33 ± 0.00", "0.00 ± 0.00", "1.00 ± 0.00"] in found
    assert ["all kept", "2", "9.00"] in found
    assert ["none kept", "4", "2.50"] in found


def test_the_page_is_self_contained_and_escapes_names() -> None:
    text = page(experiment(), rounds())
    assert "<b>hand</b>" not in text
    reader = read(text)
    assert reader.loaded == []
    assert not {"script", "link", "img", "iframe"} & set(reader.tags)
    assert "@import" not in text
    assert "url(http" not in text


def test_every_plot_is_well_formed_and_reproducible_and_has_ids_of_its_own() -> None:
    analyses = [analyse(played) for played in rounds()]
    lineups, rated = summarise(analyses), rated_pledges(analyses)
    drawn = plots.draw(lineups, rated)
    assert list(drawn) == ["welfare", "results", "cooperation", "gini", "wars", "pledges"]
    ids: list[str] = []
    for plot in drawn.values():
        ElementTree.fromstring(plot)
        ids += dict.fromkeys(re.findall(r'clipPath id="([^"]+)"', plot))
    assert len(ids) == len(set(ids))
    assert drawn == plots.draw(lineups, rated)


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["results", "wars"])
def test_a_plot_of_one_round_has_no_error_bars(name: str) -> None:
    one = plots.draw(summarise([analyse(rounds()[0])]), [])[name]
    assert not re.search(r'LineCollection[^"]*">\s*<path d="M', one)


@pytest.mark.soak
def test_error_bars_can_be_seen_on_a_dark_page() -> None:
    text = plots.draw(summarise([analyse(each) for each in (eventful(), a_round([turn()] * 3))]), [])["wars"]
    (bar,) = re.findall(r'LineCollection[^"]*">\s*<path d="M[^>]*stroke: ([^;]*)', text)
    assert bar == "currentColor"


def test_without_plots_the_page_says_how_to_get_them() -> None:
    text = page(experiment(), rounds(), with_plots=False)
    assert "<svg" not in text
    assert "cohabit[lab]" in text


def test_the_report_of_an_unfinished_run_says_so() -> None:
    assert "Missing rounds: 1." in page(experiment(), rounds()[:1], with_plots=False)
    assert "Missing rounds: 2." in page(experiment(), [], with_plots=False)
    assert "Missing" not in page(experiment(), rounds(), with_plots=False)


@pytest.mark.usefixtures("without_plots")
def test_every_table_is_written_as_csv_and_as_json_lines_with_the_same_rows(tmp_path: Path) -> None:
    write_report(experiment(), rounds(), tmp_path)
    for name, table in TABLES.items():
        with (tmp_path / f"{name}.csv").open(newline="") as file:
            listed = list(csv.DictReader(file))
        lines = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
        assert listed == [{k: "" if v is None else str(v) for k, v in line.items()} for line in lines], name
        assert lines, f"{name} has rows in this example"
        assert list(lines[0]) == table.columns, name
    assert (tmp_path / REPORT_FILE).exists()


@pytest.mark.usefixtures("without_plots")
def test_a_table_without_rows_still_has_its_header(tmp_path: Path) -> None:
    write_report(experiment(), [a_round([turn()], Place("a & $b", 1, 1))], tmp_path)
    assert (tmp_path / "wars.csv").read_text().startswith("lineup,seed,round,nation_a,nation_b")
    assert (tmp_path / "wars.jsonl").read_text() == ""


def test_no_name_is_a_formula_in_a_spreadsheet(tmp_path: Path) -> None:
    write_tables([a_round([turn()], Place("=cmd|'/C calc'!A0", 1, 1))], tmp_path)
    with (tmp_path / "by-round.csv").open(newline="") as file:
        assert {row["lineup"] for row in csv.DictReader(file)} == {"'=cmd|'/C calc'!A0"}


# -- the command line -------------------------------------------------------------------------------
@pytest.mark.usefixtures("without_plots")
def test_an_experiment_is_played_and_reported_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, out = tmp_path / "x.json", tmp_path / "out"
    config.write_text(json.dumps({"name": "x", "lineups": {"two": ["trader", "hawk"]}, "seeds": 2, "turns": 3}))
    assert main(["statecraft", "run", str(config), "--out", str(out)]) == 0
    assert str(out / REPORT_FILE) in capsys.readouterr().out
    before = (out / REPORT_FILE).read_bytes()
    (out / REPORT_FILE).unlink()
    assert main(["statecraft", "report", str(out)]) == 0
    assert (out / REPORT_FILE).read_bytes() == before


def test_mistakes_on_the_command_line_are_reported_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "x.json"
    config.write_text(json.dumps({"name": "x", "lineups": {"two": ["trader", "hauk"]}}))
    assert main(["statecraft", "run", str(config), "--out", str(tmp_path / "out")]) == 1
    assert "lineups.two[1]: unknown player 'hauk'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main(["statecraft", "report", str(tmp_path)]) == 1
    assert "there is no experiment" in capsys.readouterr().err
    assert main(["statecraft", "run", str(config), "--out", str(tmp_path / "out"), "--workers", "0"]) == 2
