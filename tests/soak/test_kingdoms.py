"""The long run of Kingdoms: matches come to an end, both kings can win, and a world left alone stays alive.

It takes about an hour on two cores, and writes `docs/kingdoms-soak.md`.
"""

import pytest

from kingdoms_soak import PARTS, keep, run
from kingdoms_soak_page import write_page
from kingdoms_soak_results import Results

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def results() -> Results:
    found = run(PARTS)
    keep(found)
    write_page(found)
    return found


@pytest.mark.timeout(4 * 3600)
def test_everything_that_must_hold_in_the_long_run_does(results: Results) -> None:
    claims = results.claims()
    assert claims
    assert [f"{claim.words}: {claim.seen}" for claim in claims if not claim.holds] == []
