"""Deadlines count the time in which a world computes or is blocked, not the time in which it is kept from running."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import Quarantined, WorldTimeout
from cohabit.house.deadlines import GIL_CREDIT, Measurement, StepTime, counted_s, measure_thread, step_time
from cohabit.house.running import world_thread
from cohabit.house.running.reopening import REOPENINGS
from cohabit.registry import find_world

from .making import make_room, open_house

OWN = str(Path(__file__).parent / "own_world.py")
MODULE: Any = sys.modules[find_world(OWN).__module__]  # as the house loads it
GO, HANGING = MODULE.GO, MODULE.HANGING
TURN = sys.getswitchinterval()


# -- what counts ------------------------------------------------------------------------------------
class Thread:
    """A thread that does what it is told, second by second, and its process."""

    def __init__(self, deadline_s: float = 5.0, every_s: float = 1.0) -> None:
        self.used = Measurement()
        self.at = 0.0
        self.time = StepTime(deadline_s, every_s)
        self.took = 0.0
        self.look()

    def look(self) -> None:
        if self.time.is_due(1, self.at):
            self.took = self.time.count(1, self.used)

    def run(
        self, seconds: float, cpu: float = 0.0, starved: float = 0.0, switches: int = 0, others: float = 0.0
    ) -> None:
        """Let this much time pass until the next look."""
        used = self.used
        self.used = Measurement(
            used.cpu_s + cpu, used.starved_s + starved, used.switches + switches, used.process_cpu_s + cpu + others
        )
        self.at += seconds
        self.look()


def late_after(**second: float) -> int | None:
    """After how many seconds of this kind a thread has reached a deadline of five; None: not within 100."""
    thread = Thread()
    for n in range(100):
        thread.run(1.0, **second)  # type: ignore[arg-type]
        if thread.took >= 5:
            return n + 1
    return None


def test_a_world_that_computes_is_late_when_it_has_used_that_much_cpu_time() -> None:
    assert late_after(cpu=1.0) == 5
    assert late_after(cpu=0.25, starved=0.75) == 20, "three quarters of the time others had the CPU"


def test_a_world_that_sleeps_is_late_by_the_clock() -> None:
    assert late_after(switches=1) == 5
    assert late_after(switches=1, others=1.0) in (5, 6), "however busy the rest of the house is"


def test_a_world_that_is_ready_to_run_and_never_gets_the_cpu_is_not_late() -> None:
    assert late_after(starved=1.0) is None


def test_a_world_that_waits_for_others_in_the_house_has_more_time_but_not_for_ever() -> None:
    waiting = {"switches": int(1 / TURN), "others": 1.0}
    assert late_after(cpu=0.0, **waiting) == 5 * (1 + GIL_CREDIT)


def test_a_world_that_sleeps_again_and_again_in_a_quiet_house_is_late_by_the_clock() -> None:
    assert late_after(switches=1000) == 5


def test_time_in_which_the_whole_process_was_stopped_is_not_counted() -> None:
    thread = Thread()
    for _ in range(4):
        thread.run(3600.0)  # suspended: the next look should have been after a second
        assert thread.took < 5
    thread.run(1.0)
    assert thread.took == 5


def test_another_step_begins_at_zero() -> None:
    step = StepTime(5.0, 1.0)
    for n in range(5):
        assert step.is_due("a", float(n)) == (n == 0)
        if n == 0:
            step.count("a", Measurement())
    assert step.is_due("a", 5.0)
    assert step.count("b", Measurement()) == 0, "the measured one has ended meanwhile"
    assert step.is_due("b", 5.5)
    assert step.count("b", Measurement()) == 0


times = st.floats(0, 10)


@given(cpu=times, starved=times, others=times, wall=times, credit=times, switches=st.integers(0, 10_000))
def test_never_less_counts_than_the_cpu_time_and_never_more_than_it_or_the_clock(
    cpu: float, starved: float, others: float, wall: float, credit: float, switches: int
) -> None:
    after = Measurement(cpu, starved, switches, cpu + others)
    counted, for_gil = counted_s(Measurement(), after, wall, credit)
    assert cpu <= counted <= max(cpu, wall)
    assert 0 <= for_gil <= credit


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a thread has used")
def test_what_a_thread_has_used_is_measured_from_another_one() -> None:
    go, native = threading.Event(), []

    def work() -> None:
        native.append(threading.get_native_id())
        while time.thread_time() < 0.05:
            pass
        go.wait()

    thread = threading.Thread(target=work)
    thread.start()
    while not native:
        time.sleep(0.001)
    before = measure_thread(native[0])
    while (now := measure_thread(native[0])).cpu_s < 0.05:
        time.sleep(0.001)
    assert now.process_cpu_s >= now.cpu_s >= before.cpu_s
    go.set()
    thread.join()
    while measure_thread(native[0]) != Measurement():  # the system may need a moment more
        time.sleep(0.001)


def test_where_the_system_does_not_tell_time_counts_by_the_clock() -> None:
    step = step_time(8.0)
    late = [n for n in range(20) if step.is_due(1, float(n)) and step.count(1, Measurement()) >= 8]
    assert late[0] == 8


# -- rooms on a busy machine ------------------------------------------------------------------------
@contextmanager
def busy_machine(processes: int) -> Iterator[None]:
    """Other processes use every CPU."""
    script = "while True: pass"
    running = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how long a thread waited for the CPU")
async def test_a_healthy_room_stays_open_while_other_processes_use_every_cpu() -> None:
    config = {"hangs_in": "move", "how": "computes", "seconds": 0.3}
    with busy_machine(4 * (os.cpu_count() or 1)):
        async with open_house(trusted_worlds="", world_deadline_s=0.6) as house:
            who = await make_room(house, world=OWN, config=config)
            assert (await who["ann"]("move")).success
            assert house.rooms["den"].failure is None


@pytest.fixture
def never_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A late world has as long as it takes to return, also on a machine on which the test itself is slow."""
    monkeypatch.setattr(world_thread, "GRACE", 1_000_000)


@pytest.mark.usefixtures("never_interrupted")
async def test_a_world_that_is_late_after_its_room_was_closed_is_interrupted_and_takes_no_grace_from_others() -> None:
    go = threading.Event()
    thread = world_thread.WorldThread("closed", 0.05, lambda: None, lambda: None)

    def work(begin_step: Callable[[], None]) -> None:
        begin_step()
        go.wait()

    thread.run(work, lambda result: None, lambda: None)
    thread.close()
    async with asyncio.timeout(120):
        while thread._timer is not None:
            await asyncio.sleep(0.001)
    assert thread not in world_thread._late
    go.set()


@pytest.mark.usefixtures("never_interrupted")
async def test_a_room_whose_world_was_only_slow_is_reopened_without_a_host_and_lost_only_that_call() -> None:
    GO.clear()
    HANGING.clear()
    async with open_house(trusted_worlds="", world_deadline_s=0.2) as house:
        who = await make_room(house, world=OWN, config={"hangs_in": "move", "how": "waits", "from_move": 2})
        for _ in range(2):
            await who["ann"]("move")
        with pytest.raises(WorldTimeout):
            await who["ann"]("move")
        with pytest.raises(Quarantined, match="reopened as soon as its world returns"):
            await who["bob"]("view")
        assert len(house.rooms.problems) == 1
        GO.set()
        async with asyncio.timeout(120):
            while house.rooms.problems:
                await asyncio.sleep(0.001)
        assert (await who["bob"]("view")).observation.status == {"moves": 2}
        assert (await who["ann"]("move")).success


@pytest.mark.usefixtures("never_interrupted")
async def test_a_room_that_is_slow_again_and_again_stays_quarantined_until_a_host_reopens_it() -> None:
    async with open_house(trusted_worlds="", world_deadline_s=0.1) as house:
        who = await make_room(house, world=OWN, config={"hangs_in": "count", "how": "waits"})

        async def slow() -> None:
            GO.clear()
            async with asyncio.timeout(120):
                while True:
                    try:
                        await who["ann"]("count")
                    except WorldTimeout:
                        break
                    except Quarantined:
                        await asyncio.sleep(0.001)
            runner = house.rooms["den"]
            GO.set()
            async with asyncio.timeout(120):
                while house.rooms["den"] is runner and "too slow" not in str(runner.failure):
                    await asyncio.sleep(0.001)

        for _ in range(REOPENINGS):
            await slow()
            assert not house.rooms.problems
        await slow()
        with pytest.raises(Quarantined, match="too slow 4 times in 10 minutes"):
            await who["bob"]("view")
        await who["hostess"]("reopen_room")
        assert (await who["bob"]("view")).text


@pytest.mark.usefixtures("never_interrupted")
async def test_a_house_closes_while_a_slow_room_is_being_reopened() -> None:
    GO.clear()
    async with open_house(trusted_worlds="", world_deadline_s=0.1) as house:
        who = await make_room(house, world=OWN, config={"hangs_in": "move", "how": "waits"})
        with pytest.raises(WorldTimeout):
            await who["ann"]("move")
        GO.set()
