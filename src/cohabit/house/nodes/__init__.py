"""Rooms in several processes: a node is a process with a house that runs some of the rooms. See `docs/design.md`."""
