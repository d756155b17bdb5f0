"""Whatever comes in from outside is read or refused. `make soak` fuzzes each target, guided by coverage."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cohabit.room.room import Room

from .den import renew
from .targets import SEEDS, TARGETS, http, mcp, run, websocket

ROOT = Path(__file__).parents[2]
FOUND = sorted(path for path in (Path(__file__).parent / "found").iterdir() if "-" in path.name)
RUNS = 1_000_000


def mutated(seed: bytes) -> list[bytes]:
    """A few inputs near a valid one: cut, doubled, and with bytes that break texts, numbers and brackets."""
    cuts = [seed[:at] for at in range(0, len(seed), 7)]
    broken = [
        seed[:at] + bad + seed[at + 1 :] for at in range(0, len(seed), 5) for bad in (b"\xff", b"{", b"\x00", b"9" * 40)
    ]
    return [b"", seed, seed + seed, b"[" * 3_000, *cuts, *broken]


@pytest.mark.parametrize("target", TARGETS)
def test_input_near_a_valid_one_is_read_or_refused(target: str) -> None:
    inputs = [near for seed in SEEDS[target] for near in mutated(seed)]
    assert len(inputs) > 20
    for data in inputs:
        run(target, data)


@pytest.mark.parametrize("data", SEEDS["http"])
def test_an_example_of_a_request_is_answered_with_a_result(data: bytes) -> None:
    assert http(data) == 200


@pytest.mark.parametrize("data", SEEDS["mcp"])
def test_an_example_of_a_message_of_mcp_is_answered_with_a_result(data: bytes) -> None:
    answer = mcp(data)
    assert b'"result":' in answer
    assert b'"isError":true' not in answer


@pytest.mark.parametrize("data", SEEDS["websocket"])
def test_an_example_of_a_frame_is_answered_with_a_result(data: bytes) -> None:
    number = json.loads(data.removeprefix(b"@"))["id"]
    assert [reply["ok"] for reply in websocket(data) if reply.get("id") == number] == [True]


def test_an_internal_error_behind_an_interface_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object, **also: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(Room, "call", broken)
    try:
        with pytest.raises(AssertionError, match="answered with 500"):
            run("http", SEEDS["http"][0])
    finally:
        renew()


def test_inputs_are_tried_in_a_new_house_when_one_has_ended_the_last() -> None:
    assert http(b"@POST /api/rooms/den/archive\n{}") == 200
    assert [http(data) for data in SEEDS["http"]] == [200] * len(SEEDS["http"])
    assert http(b"POST /api/rooms/den/leave\n{}") == 200
    assert [http(data) for data in SEEDS["http"]] == [200] * len(SEEDS["http"])


@pytest.mark.parametrize("case", FOUND, ids=lambda path: path.name)
def test_what_fuzzing_has_found_stays_mended(case: Path) -> None:
    target = case.name.partition("-")[0]
    run(target, case.read_bytes())
    assert target in TARGETS


def test_a_fault_of_a_target_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: bytes) -> None:
        raise KeyError("a bug")

    monkeypatch.setitem(TARGETS, "claims", broken)
    with pytest.raises(KeyError):
        run("claims", b"x")


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)  # those of a house take about an hour
@pytest.mark.skipif(sys.platform != "linux", reason="atheris runs on Linux")
@pytest.mark.parametrize("target", TARGETS)
def test_a_million_inputs_are_read_or_refused(target: str) -> None:
    words = [sys.executable, "-m", "tests.fuzz", target, "--runs", str(RUNS)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    made = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    assert made is not None
    assert int(made[1]) >= RUNS
