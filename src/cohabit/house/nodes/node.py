"""The state of a house that is one of several processes."""

from msgspec import Struct

from cohabit.house.directory import Table
from cohabit.house.nodes.link import Link
from cohabit.house.running.computing import Computing


class Node(Struct, frozen=True, eq=False):
    """``link``: to the front, which has the house record; None: this is the front. ``computing``: in a worker."""

    directory: Table
    link: Link | None = None
    computing: Computing | None = None
