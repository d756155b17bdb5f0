"""Merging two journals by entry."""

from cohabit.workspace.formats.journal import Block, Journal
from cohabit.workspace.formats.text import with_gap
from cohabit.workspace.merging.merged import Merged, Prefer, by_key, in_order, merge_text, settle


def merge_journal(path: str, base: str, ours: str, theirs: str, prefer: Prefer = None) -> Merged:
    was, mine, other = Journal.parse(base), Journal.parse(ours), Journal.parse(theirs)
    sides = [by_key(journal.blocks, was.blocks, lambda block: block.heading) for journal in (was, mine, other)]
    preamble, clash = merge_text(was.preamble, mine.preamble, other.preamble, prefer=prefer)
    conflicts = [f"{path}: the text before the first entry"] if clash else []
    kept: dict[str, list[Block]] = {}
    for key in dict.fromkeys(key for side in sides for key in side):
        before, here, there = ({block.content for block in side.get(key, ())} for side in sides)
        contents, clash = settle(before, here, there, prefer)
        found = [block for side in sides for block in side.get(key, ()) if block.content in contents]
        if clash:
            conflicts.append(f"{path}: {found[0].heading.removeprefix('## ')}")
        if contents:
            kept[key] = _each_once(found)
    order = in_order(sides[0], {key: min(block.time for block in blocks) for key, blocks in kept.items()})
    text = preamble + "".join(with_gap(block.text) for key in order for block in kept[key])
    return Merged(text, tuple(sorted(conflicts)))


def _each_once(blocks: list[Block]) -> list[Block]:
    """One block for each content, in an order that does not depend on the sides; blank lines after it stay."""
    widest: dict[str, Block] = {}
    for block in sorted(blocks, key=lambda block: (len(block.text), block.text)):
        widest[block.content] = block
    return [widest[content] for content in sorted(widest)]
