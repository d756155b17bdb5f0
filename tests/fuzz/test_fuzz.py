"""Whatever comes in from outside is read or refused. `make soak` fuzzes each target, guided by coverage."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .targets import SEEDS, TARGETS, run

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
@pytest.mark.skipif(sys.platform != "linux", reason="atheris runs on Linux")
@pytest.mark.parametrize("target", TARGETS)
def test_a_million_inputs_are_read_or_refused(target: str) -> None:
    words = [sys.executable, "-m", "tests.fuzz", target, "--runs", str(RUNS)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    made = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    assert made is not None
    assert int(made[1]) >= RUNS
