"""The packages and programs that benches need besides Cohabit. A bench that lacks one is skipped, with a line that says
which."""

import importlib.util
import sys
from collections.abc import Sequence

from bench.common import ROOT

ALL = ("psutil",)
CROWDS = ("picows",)
"""The client that makes the load."""
PACKAGES = {
    "step": ("pettingzoo", "textarena"), "openspiel": ("pyspiel",), "durable": CROWDS, "fanout": CROWDS,
    "rooms": CROWDS, "workers": CROWDS, "many-rooms": CROWDS, "connections": CROWDS, "reopen": CROWDS,
    "stores": (*CROWDS, "psycopg"), "crafter": ("crafter",), "page-kingdoms": ("playwright",),
    "page-watchers": ("playwright",), "on-ray": ("ray",),
}  # fmt: skip
"""Python packages, by the name that is imported."""
PROGRAMS = {
    "rooms": ("node22", "colyseus"), "page-kingdoms": ("chromium",), "page-watchers": ("chromium",),
    "stores": ("postgres",), "many-rooms": ("postgres",),
}  # fmt: skip
"""As `tools/test_needs.py` names them."""


def missing(bench: str) -> str:
    """The reason why a bench cannot run here, and how to change that; empty if it can."""
    return lacking((*ALL, *PACKAGES.get(bench, ())), PROGRAMS.get(bench, ()))


def lacking(packages: Sequence[str], programs: Sequence[str]) -> str:
    """The first of these that is missing, and how to install it; empty if all are there."""
    absent = [name for name in packages if importlib.util.find_spec(name) is None]
    if absent:
        return f"the Python package {' and '.join(absent)} is missing: `make bench` installs it"
    return next(filter(None, map(_why_not, programs)), "")


def _why_not(program: str) -> str:
    if str(ROOT / "tools") not in sys.path:
        sys.path.append(str(ROOT / "tools"))
    import test_needs

    if test_needs.locate(program) is not None:
        return ""
    return f"{test_needs.reason(program)}; run: python tools/test_needs.py {program}"
