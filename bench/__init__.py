"""Benchmarks against peers: ``python -m bench``. Only ratios within one run are meaningful."""

BENCHES = [
    "step",
    "ws-read",
    "mcp-call",
    "durable",
    "stores",
    "fanout",
    "rooms",
    "reopen",
    "start",
    "overload",
    "hung",
    "agents",
    "kingdoms",
    "statecraft",
    "crafter",
    "nexus",
    "match",
    "workspace",
    "merging",
    "workspace-board",
]
"""The names of all benches, in the order they run."""
