"""Runs the official MCP conformance suite against our server, in both eras of the protocol.

    tools/conformance/run.py                     start a server, run everything, write docs/conformance.md
    tools/conformance/run.py --url http://…/mcp  use a server that is already running
    tools/conformance/run.py --scenario ping     one scenario, with what went wrong; writes nothing

For each revision the suite names the scenarios that it scores, and runs some more that it does not:
`pending` and `added-after-release` ones belong to the revision all the same, `extension` ones are
optional. We hold ourselves to everything that belongs to the revision; `--gate` says otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
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

# The server under test. {port} and {data} are filled in; it must be listening within START_SECONDS.
SERVER = (
    str(Path(sys.executable).with_name("cohabit")),
    *("serve", "--conformance", "--port", "{port}", "--bridge-port", "0", "--data", "{data}"),
)
ENDPOINT = "/mcp"
START_SECONDS = 30
RUN_SECONDS = 600

ERAS: Mapping[str, str] = {
    "2025-11-25": "sessions, opened by a handshake",
    "2026-07-28": "stateless, every request complete in itself",
}
PAGE = ROOT / "docs/conformance.md"
GATES: Mapping[str, tuple[str, ...]] = {
    "scored": ("scored",),
    "revision": ("scored", "pending", "added-after-release"),
    "everything": ("scored", "pending", "added-after-release", "extension"),
}


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
        """What the failed checks say."""
        if not self.checks:
            return ["no result"]
        failed = (check for check in self.checks if check["status"] == "FAILURE")
        return [f"{check['id']}: {check.get('errorMessage', check.get('description'))}" for check in failed]


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
def server() -> Iterator[str]:
    """Our server with the suite's fixtures on a free port, for as long as the block lasts."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as data:
        command = [part.format(port=port, data=data) for part in SERVER]
        log = Path(data, "server.log")
        with (
            log.open("w") as output,
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output) as process,
        ):
            try:
                wait_for(process, port, log)
                yield f"http://127.0.0.1:{port}{ENDPOINT}"
            finally:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


def wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Until the server listens; gives up with its own words."""
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    why = "ended at once" if process.poll() is not None else f"does not listen after {START_SECONDS} s"
    sys.exit(f"The server {why}: {' '.join(map(str, process.args))}\n{log.read_text()[-2000:]}")  # type: ignore[arg-type]


# The report


def failures(results: Mapping[str, Sequence[Result]], gate: str) -> list[tuple[str, Result]]:
    """What fails among the scenarios that count."""
    return [
        (era, result)
        for era, ran in results.items()
        for result in ran
        if result.standing in GATES[gate] and result.outcome == "fail"
    ]


def cells(results: Mapping[str, Sequence[Result]]) -> list[list[str]]:
    """A row for each scenario: its name, then how it went in each era."""
    by_era = {era: {result.scenario: result for result in ran} for era, ran in results.items()}
    names = list(dict.fromkeys(name for ran in by_era.values() for name in ran))
    return [[name, *(cell(ran.get(name)) for ran in by_era.values())] for name in names]


def cell(result: Result | None) -> str:
    """How it went, in a few words."""
    if result is None:
        return "–"
    notes = [] if result.standing == "scored" else [result.standing]
    if result.count("WARNING"):
        notes.append(f"{result.count('WARNING')} advised")
    return result.outcome + (f" ({', '.join(notes)})" if notes else "")


def summary(era: str, results: Sequence[Result]) -> str:
    """One line on an era."""
    scored = [result for result in results if result.standing == "scored"]
    others = [result for result in results if result.standing != "scored"]
    checks = sum(result.count("SUCCESS") for result in results)
    failed = sum(result.count("FAILURE") for result in results)
    return (
        f"{era}: {passing(scored)} of {len(scored)} scored scenarios pass, "
        f"{passing(others)} of {len(others)} others; {checks} checks pass, {failed} fail"
    )


def passing(results: Sequence[Result]) -> int:
    """How many passed."""
    return sum(result.outcome == "pass" for result in results)


def show(results: Mapping[str, Sequence[Result]]) -> None:
    """The table, for a terminal."""
    rows = [["scenario", *results], *cells(results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    print()
    for era, ran in results.items():
        print(summary(era, ran))


def page(results: Mapping[str, Sequence[Result]]) -> str:
    """The same, for the documentation."""
    rows = [["scenario", *results], ["---"] * (len(results) + 1), *cells(results)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    eras = "\n".join(f"* {summary(era, ran)} ({ERAS[era]})." for era, ran in results.items())
    return f"""# MCP conformance

<!-- Written by `make conformance`. Do not edit. -->

What the official suite, `{test_needs.CONFORMANCE}` {test_needs.conformance_version()}, says of Cohabit.
One endpoint serves both eras of the protocol, so every scenario that belongs to both is run in both.

{eras}

The suite calls tools, prompts and resources by fixed names (`test_simple_text`, `test://static-text`).
A house does not have those; `cohabit serve --conformance` adds them to the same server, behind the same
code, and exists only for this test.

Scenarios without a note are *scored*: they decide conformance. *pending* and *added-after-release* ones
belong to the revision but the suite does not score them yet; *extension* ones are optional. *advised*
counts checks of what the specification recommends and we do not do. *skipped* is skipped by the suite
itself. A dash: the scenario does not exist in that era.

{table}

Run it yourself: `make conformance`.
"""


def main() -> None:
    """Run, report, and exit with 1 if anything that counts fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="the MCP endpoint of a running server")
    parser.add_argument("--era", choices=list(ERAS), action="append", help="only this era (then no page is written)")
    parser.add_argument("--scenario", help="only this scenario")
    parser.add_argument("--gate", choices=list(GATES), default="revision", help="what must pass (default: %(default)s)")
    parser.add_argument("--no-page", action="store_true", help="leave docs/conformance.md alone")
    options = parser.parse_args()
    if options.url and urllib.parse.urlsplit(options.url).scheme not in ("http", "https"):
        parser.error("--url wants the endpoint's whole address, http://127.0.0.1:8724/mcp")

    results: dict[str, list[Result]] = {}
    with contextlib.nullcontext(options.url) if options.url else server() as url:
        for era in options.era or ERAS:
            print(f"running {options.scenario or 'the suite'} for {era} ...", file=sys.stderr, flush=True)
            results[era] = run_era(url, era, options.scenario)
    if not any(results.values()):
        sys.exit(f"No era has a scenario {options.scenario}.")

    show(results)
    if not (options.no_page or options.scenario or options.era):
        PAGE.write_text(page(results))
        print(f"written: {PAGE.relative_to(ROOT)}")

    failed = failures(results, options.gate)
    for era, result in failed:
        print(f"\nFAIL {result.scenario} [{era}]")
        for complaint in result.complaints:
            print(f"  {complaint}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
