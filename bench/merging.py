"""Merging by entry: how the cost grows with the entries, in usual files and in ones that are made to be slow."""

import time
from collections.abc import Callable
from functools import partial

from bench.common import quotients, take_turns
from bench.report import Report

HOW = """
Merges of two versions of a file without git, in one process, in CPU time. "In order": a journal of which each side has
the first nine tenths, and a tenth of its own. "Out of order on both sides": entries of the earlier tool, without hidden
comments, all of one author and new on both sides, each earlier than the one before it. "Items with the same numbers":
all items are new on both sides and one side is renumbered. Sizes are entries of each side. The aims: twice the entries
cost at most two and a half times as much, and 30,000 entries out of order at most 20 s.
""".strip()
SIZES = (15_000, 30_000)
ITEMS = (3_000, 6_000)
BUDGET_S = 20.0
Sides = tuple[str, str, str]


def _entry(i: int, minute: int, who: str, comment: str = "") -> str:
    day, rest = divmod(minute, 1440)
    at = f"2026-{1 + day // 28:02}-{1 + day % 28:02} {rest // 60:02}:{rest % 60:02}"
    return f"## {at} \N{EM DASH} {who} (Name)\nnumber {i}\n{comment}\n"


def _journal(*entries: str) -> str:
    return "# Journal\n\n" + "".join(entries)


def in_order(n: int) -> Sides:
    def entries(first: int, last: int, who: str) -> list[str]:
        comment = "<!-- cohabit:{who}{i} at=2026-01-01T{hour:02}:{minute:02}:{second:02}Z -->\n"
        return [
            _entry(i, i, who, comment.format(who=who[0], i=i, hour=i // 3600, minute=i // 60 % 60, second=i % 60))
            for i in range(first, last)
        ]

    shared, cut = entries(0, n * 9 // 10, "ann-cli"), n * 9 // 10
    return (
        _journal(*shared),
        _journal(*shared, *entries(cut, n, "ann-cli")),
        _journal(*shared, *entries(cut, n, "bob-cli")),
    )


def out_of_order(n: int) -> Sides:
    ours = [_entry(i, n - i, "eve-cli") for i in range(n)]
    theirs = [_entry(i, n - i, "eve-cli") for i in [*range(0, n, 2), *range(1, n, 2)]]
    return _journal(), _journal(*ours), _journal(*theirs)


def same_numbers(n: int) -> Sides:
    def inbox(*titles: str) -> str:
        items = [
            f"- [ ] INB-{i:03} @anyone \N{EM DASH} {title}  \n  added 2026-05-22 14:30 by ann-cli\n\n"
            for i, title in enumerate(titles, 1)
        ]
        return f"# Inbox\n\n## Open\n\n{''.join(items)}## Closed\n"

    return inbox(), inbox(*(f"ours {i}" for i in range(n))), inbox(*(f"theirs {i}" for i in range(n)))


def _seconds(path: str, sides: Sides) -> float:
    from cohabit.workspace.merging.merge import merge_file, pushed_ids

    base, ours, theirs = sides
    pushed, before = pushed_ids(path, theirs), time.process_time()
    merge_file(path, base, ours, theirs, pushed)
    return time.process_time() - before


def run(quick: bool) -> Report:
    report = Report("merging", "Merging by entry", HOW)
    kinds: list[tuple[str, str, Callable[[int], Sides], tuple[int, ...]]] = [
        ("in order", "journal.md", in_order, SIZES),
        ("out of order on both sides", "journal.md", out_of_order, SIZES),
        ("items with the same numbers", "inbox.md", same_numbers, ITEMS),
    ]
    for name, path, make, sizes in kinds:
        small, large = (size // 30 for size in sizes) if quick else sizes
        rounds = {f"{n:,}": partial(_seconds, path, make(n)) for n in (small, large)}
        found = take_turns(rounds, 2 if quick else 5)
        for size, seconds in found.items():
            report.measure(f"{name}, {size}", [1000 * each for each in seconds], "CPU-ms")
        ratios = quotients(found[f"{large:,}"], found[f"{small:,}"])
        report.ratio(f"merging: {name}: cost of twice the entries", ratios, 2.5, "at most")
        if make is out_of_order and not quick:
            report.ratio(
                f"merging: {large:,} {name}, over {BUDGET_S:.0f} s",
                [each / BUDGET_S for each in found[f"{large:,}"]], 1.0, "at most",
            )  # fmt: skip
    return report
