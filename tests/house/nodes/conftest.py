from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.house.nodes.houses import Cluster
from tests.postgres import LONG_MS, Server

from cohabit.house.store import leases


@pytest.fixture
async def cluster(postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cluster]:
    monkeypatch.setattr(leases, "LEASE_MS", LONG_MS)  # what ends here, a test ends
    async with AsyncExitStack() as stack:
        yield Cluster(postgres.new_schema(), tmp_path, stack)
