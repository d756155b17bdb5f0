"""Runs the official MCP conformance suite against a house, without fixtures and with them, in both protocol eras.

    tools/conformance/run.py                     run everything and write docs/conformance.md
    tools/conformance/run.py --era 2026-07-28    only this era; writes nothing
    tools/conformance/run.py --scenario ping     only this scenario, with what went wrong; writes nothing
    tools/conformance/run.py --url http://…/mcp  a server that is already running; writes nothing

Exits with 1 unless everything passes with fixtures and, without them, exactly the scenarios fail that `expected.py`
gives a reason for.

For each revision the suite names the scenarios that it scores. It runs some more that it does not score: those that
are `pending` or `added-after-release`, and those of an optional `extension`.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import test_needs  # noqa: E402

from conformance.expected import NEEDS_FIXTURES, PASSES_BY_REFUSAL  # noqa: E402

SERVER = (sys.executable, "-m", "conformance.server")
ENDPOINT = "/mcp"
START_SECONDS = 300
RUN_SECONDS = 600

ERAS: Mapping[str, str] = {
    "2025-11-25": "sessions, opened by a handshake",
    "2026-07-28": "stateless, every request complete in itself",
}
PAGE = ROOT / "docs/conformance.md"


@dataclass(frozen=True, kw_only=True)
class Result:
    """How one scenario went in one era."""

    scenario: str
    standing: str
    checks: Sequence[Mapping[str, object]] | None

    def count(self, status: str) -> int:
        """How many checks ended this way."""
        return sum(check["status"] == status for check in self.checks or ())

    @property
    def outcome(self) -> str:
        """`pass`, `fail`, or `skipped` where the suite itself skips it."""
        if not self.checks or self.count("FAILURE"):
            return "fail"  # no checks at all: the scenario was announced and left no result
        return "pass" if self.count("SUCCESS") or self.count("WARNING") else "skipped"

    @property
    def complaints(self) -> list[str]:
        """The messages of the failed checks."""
        if not self.checks:
            return ["no result"]
        failed = (check for check in self.checks if check["status"] == "FAILURE")
        return [f"{check['id']}: {check.get('errorMessage', check.get('description'))}" for check in failed]


Run = Mapping[str, Sequence[Result]]
"""The results of each era."""


# The suite


def suite(*arguments: str) -> str:
    """Run the suite and return what it prints; its exit code is not asked, because we judge by its checks."""
    node, entry = test_needs.locate("node22"), test_needs.locate("conformance")
    if not (node and entry):
        sys.exit("The suite is not installed: run `make conformance`.")
    done = subprocess.run(
        [node, entry, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    return done.stdout + done.stderr


@functools.cache
def standings(era: str) -> dict[str, str]:
    """The server scenarios of an era, in the suite's order: `scored`, or why not."""
    found: dict[str, str] = {}
    section, why = "", ""
    for line in suite("list", "--server", "--requirements", era).splitlines():
        if line and not line.startswith(" "):
            section = line
        elif reason := re.fullmatch(r"  (\S+) \(\d+\):", line):
            why = reason[1]
        elif (unscored := re.fullmatch(r"    - (\S+) \[server\]", line)) and "never scored" in section:
            found[unscored[1]] = why
        elif (scored := re.fullmatch(r"  - (\S+)", line)) and section.startswith("Server scenarios"):
            found[scored[1]] = "scored"
    if not found:
        sys.exit(f"The suite names no scenario for {era}: has its `list` changed?")
    return found


def run_era(url: str, era: str, scenario: str | None = None) -> list[Result]:
    """Every scenario of an era, or the one that is named, if it belongs to the era."""
    expected = {name: why for name, why in standings(era).items() if scenario in (None, name)}
    if not expected:
        return []
    which = ("--scenario", scenario, "--spec-version", era) if scenario else ("--requirements", era)
    with tempfile.TemporaryDirectory() as folder:
        suite("server", "--url", url, *which, "--output-dir", folder)
        checks = read_checks(Path(folder))
    return [Result(scenario=name, standing=why, checks=checks.get(name)) for name, why in expected.items()]


def read_checks(folder: Path) -> dict[str, list[dict[str, object]]]:
    """The checks that each scenario left in its folder, `server-<scenario>-<time>`."""
    found = {}
    for file in folder.glob("server-*/checks.json"):
        if name := re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z", file.parent.name):
            found[name[1]] = json.loads(file.read_text())
    return found


# The server


@contextlib.contextmanager
def server(*options: str) -> Iterator[str]:
    """The MCP endpoint of a house for the suite, on a free port, for as long as the block lasts."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with tempfile.NamedTemporaryFile("w+") as log:
        command = [*SERVER, "--port", str(port), *options]
        with subprocess.Popen(command, cwd=ROOT / "tools", stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process:
            try:
                wait_for(process, port, Path(log.name))
                yield f"http://127.0.0.1:{port}{ENDPOINT}"
            finally:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


def wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Until the server listens; else exits with what the server printed."""
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    why = "ended at once" if process.poll() is not None else f"does not listen after {START_SECONDS} s"
    sys.exit(f"The server {why}: {' '.join(map(str, process.args))}\n{log.read_text()[-2000:]}")  # type: ignore[arg-type]


# The report


def problems(plain: Run, extended: Run) -> Iterator[str]:
    """The differences from what is expected, in a few lines each."""
    for era, results in extended.items():
        for result in results:
            if result.outcome == "fail":
                yield "\n  ".join([f"{result.scenario} [{era}] fails with fixtures:", *result.complaints])
    for era, results in plain.items():
        for result in results:
            if result.outcome == "fail" and result.scenario not in NEEDS_FIXTURES:
                yield "\n  ".join([f"{result.scenario} [{era}] fails without fixtures:", *result.complaints])
    outcomes: dict[str, set[str]] = {}
    for result in (result for results in plain.values() for result in results):
        outcomes.setdefault(result.scenario, set()).add(result.outcome)
    for scenario in NEEDS_FIXTURES:
        if outcomes.get(scenario, {"fail"}) == {"pass"}:
            yield f"{scenario} passes without fixtures: remove its reason from expected.py"


def rows(plain: Run, extended: Run) -> list[list[str]]:
    """A row for each scenario: its name, then how it went in each era."""
    found: dict[str, dict[str, str]] = {}
    for era in plain:
        for alone, with_fixtures in zip(plain[era], extended[era], strict=True):
            found.setdefault(alone.scenario, {})[era] = cell(alone, with_fixtures)
    return [[scenario, *(cells.get(era, "–") for era in plain)] for scenario, cells in found.items()]


def cell(alone: Result, with_fixtures: Result) -> str:
    """How a scenario went, in a few words."""
    needs = alone.outcome == "fail" and with_fixtures.outcome == "pass"
    shown = with_fixtures if needs else alone
    notes = ["by refusal"] if shown is not with_fixtures and shown.scenario in PASSES_BY_REFUSAL else []
    notes += [] if shown.standing == "scored" else [shown.standing]
    notes += [f"{shown.count('WARNING')} advised"] if shown.count("WARNING") else []
    return ("with fixtures" if needs else shown.outcome) + (f" ({', '.join(notes)})" if notes else "")


def figures(results: Sequence[Result], *, fixtures: bool) -> list[str]:
    """How many scored scenarios pass, how many others, and how many checks pass and fail."""
    scored = [result for result in results if result.standing == "scored"]
    others = [result for result in results if result.standing != "scored"]
    checks = [sum(result.count(status) for result in results) for status in ("SUCCESS", "FAILURE")]
    refusals = 0 if fixtures else sum(result.scenario in PASSES_BY_REFUSAL for result in scored)
    return [
        f"{passing(scored)} of {len(scored)}" + (f", {refusals} of them by refusal" if refusals else ""),
        f"{passing(others)} of {len(others)}",
        f"{checks[0]} pass, {checks[1]} fail",
    ]


def passing(results: Sequence[Result]) -> int:
    """How many passed."""
    return sum(result.outcome == "pass" for result in results)


def summary(plain: Run, extended: Run) -> list[list[str]]:
    """The figures of each era, without fixtures and with them."""
    return [
        row
        for era in plain
        for row in (
            [era, "without fixtures", *figures(plain[era], fixtures=False)],
            [era, "with fixtures", *figures(extended[era], fixtures=True)],
        )
    ]


HEADINGS = ["revision", "server", "scored scenarios that pass", "others", "checks"]


def show(table: Sequence[Sequence[str]]) -> None:
    """A table, for a terminal."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    print()


def markdown(headings: Sequence[str], table: Sequence[Sequence[str]]) -> str:
    """The same, for the documentation."""
    lines = [headings, ["---"] * len(headings), *table]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(plain: Run, extended: Run) -> str:
    """The page of the documentation."""
    eras = "; ".join(f"{era}: {about}" for era, about in ERAS.items())
    version = test_needs.conformance_version()
    scenarios = [[*row, NEEDS_FIXTURES.get(row[0], "")] for row in rows(plain, extended)]
    return f"""# MCP conformance

<!-- Written by `make conformance`. Do not edit. -->

The results of the official suite, `{test_needs.CONFORMANCE}` {version}.
One endpoint serves both eras of the protocol ({eras}), so every scenario that belongs to both is run in both.

{markdown(HEADINGS, summary(plain, extended))}

Most scenarios call tools, prompts and resources by fixed names (`test_simple_text`, `test://static-text`), which no
house has. So there are two figures. *Without fixtures* is the server that every house has. There a scenario that
calls a fixed name fails, or passes because the refusal satisfies its checks (*by refusal*), which says nothing about
the server. *With fixtures*, the names are added to the same server from outside (`tools/conformance/fixtures`),
behind the same authentication, header checks, streams and tasks. The suite sends no credential, so
`tools/conformance/server.py` adds a player's token to its requests.

In the table, *pass* is a scenario that passes without fixtures, and *with fixtures* one that passes only with them.
Scenarios are *scored*, unless a note says otherwise. *pending* and *added-after-release* ones belong to the revision,
but the suite does not score them yet; *extension* ones are optional. *advised* counts recommendations that are not
met. A dash: the scenario does not exist in that era.

{markdown(["scenario", *plain, "why it needs fixtures"], scenarios)}

Run it yourself: `make conformance`.
"""


def main() -> None:
    """Run, report, and exit with 1 if anything is not as it has to be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="the MCP endpoint of a running server")
    parser.add_argument("--era", choices=list(ERAS), action="append", help="only this era")
    parser.add_argument("--scenario", help="only this scenario")
    options = parser.parse_args()
    if options.url and urllib.parse.urlsplit(options.url).scheme not in ("http", "https"):
        parser.error("--url wants the endpoint's whole address, http://127.0.0.1:8724/mcp")

    def run(name: str, url: str) -> Run:
        print(f"running {options.scenario or 'the suite'} {name} ...", file=sys.stderr, flush=True)
        results = {era: run_era(url, era, options.scenario) for era in options.era or ERAS}
        if not any(results.values()):
            sys.exit(f"There is no scenario {options.scenario} in {' or '.join(results)}.")
        return results

    if options.url:
        results = run("", options.url)
        show([["scenario", *results], *rows(results, results)])
        show([HEADINGS, *([era, options.url, *figures(ran, fixtures=True)] for era, ran in results.items())])
        sys.exit(0)
    with server() as url:
        plain = run("without fixtures", url)
    with server("--fixtures") as url:
        extended = run("with fixtures", url)
    show([["scenario", *plain], *rows(plain, extended)])
    show([HEADINGS, *summary(plain, extended)])
    if not (options.era or options.scenario):
        PAGE.write_text(page(plain, extended))
        print(f"written: {PAGE.relative_to(ROOT)}")
    found = list(problems(plain, extended))
    for problem in found:
        print(f"\nFAIL {problem}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
