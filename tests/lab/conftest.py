"""For tests of runs and of their reports."""

from typing import Any

import pytest

from cohabit.lab import plots
from cohabit.lab.statecraft import plots as statecraft_plots


@pytest.fixture
def without_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of what a report says: to draw its plots is most of the work."""

    def blank(name: str, *how: Any, **grid: Any) -> str:
        return "<svg></svg>"

    for module in (plots, statecraft_plots):
        monkeypatch.setattr(module, "svg", blank)
