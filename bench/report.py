"""What a bench found: numbers, ratios and their targets; as a table, as JSON, as a page."""

import json
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.table import Table

from bench.common import ROOT, median

RESULTS = ROOT / "bench" / "results" / "latest.json"
PAGE = ROOT / "docs" / "bench.md"


class Measure(Struct):
    """One number, as the median of its rounds."""

    name: str
    value: float
    unit: str
    low: float
    high: float


class Ratio(Struct):
    """Ours over theirs, in the same run."""

    name: str
    value: float
    low: float
    high: float
    target: float | None = None
    wanted: Literal["at least", "at most"] = "at least"

    @property
    def met(self) -> bool:
        if self.target is None:
            return True
        return self.value >= self.target if self.wanted == "at least" else self.value <= self.target

    @property
    def aim(self) -> str:
        return f"{'≥' if self.wanted == 'at least' else '≤'} {self.target:g}" if self.target is not None else ""


class Report(Struct):
    """One bench."""

    bench: str
    title: str
    how: str
    measures: list[Measure] = []
    ratios: list[Ratio] = []
    at: str = ""
    quick: bool = False

    def measure(self, name: str, values: Sequence[float], unit: str) -> None:
        self.measures.append(Measure(name, median(values), unit, min(values), max(values)))

    def ratio(
        self,
        name: str,
        values: Sequence[float],
        target: float | None = None,
        wanted: Literal["at least", "at most"] = "at least",
    ) -> None:
        self.ratios.append(Ratio(name, median(values), min(values), max(values), target, wanted))


def digits(value: float) -> str:
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def show(report: Report, console: Console) -> None:
    table = Table(title=report.title, title_justify="left", title_style="bold")
    for column, justify in (("", "left"), ("median", "right"), ("unit", "left"), ("range", "right"), ("aim", "left")):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]  # a literal, spelled right
    for m in report.measures:
        table.add_row(m.name, digits(m.value), m.unit, f"{digits(m.low)} – {digits(m.high)}", "")
    table.add_section()
    for r in report.ratios:
        mark = "" if r.target is None else f"{r.aim} {'yes' if r.met else 'NO'}"
        style = "bold" if r.met else "bold red"
        table.add_row(r.name, f"{r.value:.2f}", "ratio", f"{r.low:.2f} – {r.high:.2f}", mark, style=style)
    console.print(table)


def keep(report: Report) -> None:
    """Put a report among the latest ones, in place of the last of its name."""
    report.at = datetime.now(UTC).isoformat(timespec="seconds")
    kept = {r.bench: r for r in latest()}
    kept[report.bench] = report
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(msgspec.to_builtins(list(kept.values())), indent=1) + "\n", encoding="utf-8")


def latest(path: Path = RESULTS) -> list[Report]:
    return msgspec.json.decode(path.read_bytes(), type=list[Report]) if path.is_file() else []


def write_page(order: Sequence[str]) -> None:
    """``docs/bench.md``, from the JSON."""
    found = {r.bench: r for r in latest()}
    reports = [found[name] for name in order if name in found]
    lines = [
        "# How fast it is",
        "",
        "Made by `make bench` from `bench/results/latest.json`. Only ratios are to be compared: both sides of each",
        "were measured in the same run, taking turns, each in a process of its own, servers on one core and clients",
        "on another. A ratio is the median over rounds, with the lowest and the highest round behind it.",
        "",
        f"{platform.machine()}, Python {platform.python_version()}.",
        "",
        "| | ratio | aim | |",
        "|---|---:|---|---|",
    ]
    lines += [
        f"| {r.name} | {r.value:.2f} ({r.low:.2f} – {r.high:.2f}) | {r.aim} | {'' if r.met else 'missed'} |"
        for report in reports
        for r in report.ratios
        if r.target is not None
    ]
    for report in reports:
        lines += ["", f"## {report.title}", "", report.how, "", "| | median | lowest – highest | |"]
        lines += ["|---|---:|---:|---|"]
        lines += [
            f"| {m.name} | {digits(m.value)} | {digits(m.low)} – {digits(m.high)} | {m.unit} |" for m in report.measures
        ]
        lines += [f"| {r.name} | {r.value:.2f} | {r.low:.2f} – {r.high:.2f} | ratio |" for r in report.ratios]
        lines += ["", f"`python -m bench {report.bench}`, {report.at[:10]}."]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
