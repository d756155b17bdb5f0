"""What an operator reads in the log of a house about the others."""

import asyncio
import logging

import pytest
from tests.house.nodes.cluster import scenario
from tests.house.nodes.houses import Cluster


def told(caplog: pytest.LogCaptureFixture) -> str:
    """What an operator has read since the last time."""
    found = "\n".join(record.getMessage() for record in caplog.records if record.levelno >= logging.INFO)
    caplog.clear()
    return found


async def test_the_log_says_when_a_house_joins_is_stopped_and_leaves(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    ours = await cluster.open()
    assert "this house has joined the cluster; other houses: none yet" in told(caplog)
    theirs = await cluster.open()
    assert "other houses: 127.0.0.1:9001" in told(caplog)
    await ours.look()
    assert "house 127.0.0.1:9002 has joined the cluster" in told(caplog)
    await theirs.nodes.houses["w1"].create_room(scenario(), "den")
    await ours.look()
    await asyncio.to_thread(theirs.store.drain)
    await ours.look()
    assert "house 127.0.0.1:9002 is being stopped, and hands over 1 room" in told(caplog)
    await asyncio.to_thread(theirs.store._do, theirs.store._leave)
    await ours.look()
    said = told(caplog)
    assert "house 127.0.0.1:9002 has left the cluster" in said
    assert "gone" not in said


async def test_the_log_says_from_which_dead_house_how_many_rooms_were_taken_over_and_when(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    for room in "ab":
        await theirs.nodes.houses["w1"].create_room(scenario(), room)
    await ours.look()
    told(caplog)
    await cluster.end_leases(theirs)
    await ours.look()
    assert "house 127.0.0.1:9002 is gone: its lease has ended, 2 rooms" in told(caplog)
    await ours.look()
    assert "9002 was taken over from: 2 rooms open again, 2 of them in this house, " in told(caplog)
    await ours.look()
    assert "9002" not in told(caplog), "once is enough"
